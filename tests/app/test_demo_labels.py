"""The labels-only demo: whoever looks finds a good cheap judge, a biased one, a dear one, and an unsteady annotator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.planning.plan import plan_judges
from annotation.people.principals import local_admin
from annotation.verdicts import load_verdicts
from app.commands.people.quality import print_status
from app.commands.results.terminal import print_report
from app.demo.labels import NAME, TOPICS, make_labels_demo, pairs, story
from app.progress import StudyProgress, far, study_parts, study_progress
from app.results.quality import StudyQuality, listed, study_quality
from app.results.study_reports import study_report
from app.screens.results.bias import sentence
from app.screens.study.progress_parts import strip_html
from calibration.choosing.choice import Candidate
from calibration.results import CalibrationReport
from db.connect import open_database, reading
from db.tables import Study
from exports.forms import as_markdown
from exports.sheets.bias import headlines
from exports.tables import PEOPLE, agreement_table
from tests.annotation.judges.judged_study import describe
from tests.conftest import new_postgres
from tests.migrated import new_sqlite

MARGIN = 0.05


@dataclass(frozen=True)
class Found:
    engine: Engine
    study: Study
    report: CalibrationReport
    quality: StudyQuality
    progress: StudyProgress

    def candidate(self, judge: str) -> Candidate:
        assert self.report.choice is not None
        return next(one for one in self.report.choice.candidates if one.judge == judge)

    def card(self, judge: str) -> dict[str, str]:
        return {row.question: row.outcome for row in self.report.card if row.judge == judge}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    engine = open_database(new_sqlite(tmp_path_factory.mktemp("demo") / "demo.db"))
    assert make_labels_demo(engine)
    with reading(engine) as session:
        study = session.scalars(select(Study).where(Study.name == NAME)).one()
        admin = local_admin(study)
        yield Found(engine, study, study_report(session, admin, resamples=199).report,
                    study_quality(session, admin, resamples=199), study_progress(session, admin))  # fmt: skip
    engine.dispose()


def answers(engine: Engine) -> list[tuple[object, ...]]:
    """Whatever is calibrated, in an order of its own."""
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.scalars(select(Study).where(Study.name == NAME)).one())
    return sorted(
        map(tuple, verdicts[["cluster_id", "rater_id", "criterion", "presentation", "label"]].to_numpy()), key=repr
    )


def test_a_judge_of_it_is_warned_that_there_is_nothing_to_read(found: Found) -> None:
    judge = JudgeDefinition(name="own", model="openai/x", max_output_tokens=99)
    (plan,) = plan_judges(found.engine, found.study.id, [judge], describe=describe, write=False)
    assert [warning for warning in plan.warnings if "has labels only" in warning and "study 'demo'" in warning]


@pytest.mark.slow
def test_on_postgres_it_holds_the_same_answers(found: Found, postgres: Any) -> None:
    with new_postgres(postgres) as url:
        engine = open_database(url)
        assert make_labels_demo(engine)
        assert answers(engine) == answers(found.engine)
        engine.dispose()


def test_the_good_cheap_judge_is_chosen_clearly_within_the_margin_and_whoever_is_left_out(found: Found) -> None:
    choice = found.report.choice
    assert choice is not None
    assert (choice.status, choice.judge) == ("chosen", "simulated-mini")
    # no bootstrap has a part in these: the same everywhere, to the last digit that is printed
    assert "At 1.97 USD per 1,000 items it agrees with the annotators in 78.7 % of labels" in choice.sentence
    claim = found.candidate("simulated-mini").claim
    assert claim is not None
    assert claim.test.upper < 0
    assert claim.test.difference.high < MARGIN / 2
    assert "panel_sensitive" not in {warning.code for warning in found.report.warnings}


def test_the_biased_judge_is_cheapest_and_ruled_out_and_its_card_says_what_pulls_it(found: Found) -> None:
    flash, mini = found.candidate("simulated-flash"), found.candidate("simulated-mini")
    assert flash.cost_per_item < mini.cost_per_item
    assert flash.reason == "inferior"
    card = found.card("simulated-flash")
    assert [card[asked] for asked in ("ceiling gap", "order", "length", "self-preference")] == ["beyond"] * 4
    for other in ("simulated-mini", "simulated-max"):
        assert "beyond" not in found.card(other).values()
    told = sentence([one for one in headlines(found.report) if one.bias.estimate.rater != PEOPLE])
    assert "7 found (simulated-flash: report shown first wins; turns to first in other order; " in told
    assert "simulated-mini" not in told


def test_the_dear_judge_agrees_best_and_costs_twenty_times_as_much(found: Found) -> None:
    large, mini = found.candidate("simulated-max"), found.candidate("simulated-mini")
    assert large.agreement.value > mini.agreement.value
    assert large.standing == "adequate"
    assert large.reason == "dearer"
    assert large.cost_per_item / mini.cost_per_item == pytest.approx(20, rel=0.1)


def test_the_unsteady_annotator_alone_needs_a_second_look_and_changes_their_own_mind(found: Found) -> None:
    looks = {one.rater: [flag.name for flag in one.flags] for one in found.quality.annotators}
    assert looks == {"simulated-ada": [], "simulated-ben": [], "simulated-cleo": ["agreement"]}
    self_agreement = {one.rater: one.self_agreement.value for one in found.quality.annotators}
    assert (
        self_agreement["simulated-cleo"] < min(self_agreement["simulated-ada"], self_agreement["simulated-ben"]) - 0.1
    )
    facts = {one.rater: listed(one) for one in found.quality.annotators}
    assert [name for name, said in facts.items() if said] == ["simulated-cleo"]
    assert facts["simulated-cleo"][0].startswith("on retests gave the same answer again in 55 % [")


def test_progress_says_that_the_labels_were_imported_and_shows_no_empty_slots(
    found: Found, capsys: pytest.CaptureFixture[str]
) -> None:
    assert far(found.progress) == "Labels of people were imported, for 160 items; nobody was asked here."
    print_status(found.progress)
    assert far(found.progress) in capsys.readouterr().out
    assert strip_html(found.progress.by_item) == '<p class="c-soft">No item has a slot: nobody was asked here.</p>'
    with reading(found.engine) as session:
        assert study_parts(session, local_admin(found.study)).by_criterion == ()


def test_it_is_made_once_and_everything_in_it_is_called_simulated(
    found: Found, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not make_labels_demo(found.engine)
    assert found.study.is_simulated
    print_report(found.report)
    assert "Simulated answers, of made-up people and judges but for whoever labelled here." in capsys.readouterr().out
    assert found.study.status == "closed"  # so that systems have their names and judges' families count
    assert "still_blind" not in {warning.code for warning in found.report.warnings}


def test_two_annotators_at_least_read_each_pair_and_judges_read_it_in_both_orders() -> None:
    assert len({one.topic for one in pairs()}) == len(TOPICS) == 40
    assert {len(one.annotators) for one in pairs()} == {2, 3}
    rows = list(story())
    assert {row.rater.partition("-")[0] for row in rows} == {"simulated"}
    first = Counter(
        (row.rater, row.topic, row.systems, row.criterion, row.first) for row in rows if row.kind == "judge"
    )
    assert set(first.values()) == {1}
    assert len(first) == 3 * 2 * 3 * 160


def test_the_readme_prints_rows_of_this_studys_agreement_table(found: Found) -> None:
    readme = Path(__file__).parents[2].joinpath("README.md").read_text(encoding="utf-8").splitlines()
    table = [line.strip("| ").split(" | ") for line in as_markdown(agreement_table(found.report)).splitlines()]
    rows = {row[0]: row for row in table if len(row) > 7}
    shown = [line.strip("| ").split(" | ") for line in readme if line.startswith(("| simulated-", "| annotators "))]
    assert len(shown) == 4
    for name, agreement, kappa, *counts in shown:
        # kappa's interval is a bootstrap's, which this fixture draws less often
        assert (agreement, kappa[:3], counts) == (rows[name][1], rows[name][2][:3], rows[name][7:])
