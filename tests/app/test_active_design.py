"""From the first batch to an early end by commands: topics drawn with chances that are kept, part of the plan and of
labels.csv, and a report that is weighted by them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.labelling import submit
from annotation.people.principals import Principal, local_admin
from annotation.planning.draws import draw_probabilities, kept_draws
from annotation.planning.plan_root import root_of, study_plan
from annotation.planning.slots import make_plan
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from app.results.next_topics import next_words
from db.connect import reading, transaction
from db.tables import Assignment, Item, Report, Study, Topic
from tests.annotation.result_trees import labels_file
from tests.app.conftest import Shell
from tests.small_study import PROTOCOL, a_person, answer_all, uuids

TOPICS = [f"topic{number:02}" for number in range(24)]
JUDGES = "\n".join(f'[[judge]]\nname = "{name}"\nbaseline = "{name}"\n' for name in ("longer", "random"))


@pytest.fixture
def topics() -> list[str]:
    return TOPICS


@pytest.fixture
def shell(typed: Shell, tmp_path: Path, topics: list[str]) -> Shell:
    (tmp_path / "small.toml").write_text(PROTOCOL.replace("[study]", '[study]\nnext = "active"\nretest_share = 0.0'))
    (tmp_path / "judges.toml").write_text(JUDGES)
    for system in ("alpha", "beta"):
        (tmp_path / "reports" / system).mkdir(parents=True)
        for number, topic in enumerate(topics):
            words = "It rises twice a day. " * (1 + (number + (system == "beta")) % 2)
            (tmp_path / "reports" / system / f"{topic}.md").write_text(f"# Report\n\n{words}\n")
    typed("init", "s", "--protocol", "small.toml", "--seed", "7")
    typed("import", "reports", "reports", "--layout", "folder")
    return typed


def third_right(session: Session, row: Assignment) -> str:
    return "right" if row.item_id % 3 == 0 else "left"


def longer(session: Session, row: Assignment) -> str:
    """Where the longer report stands, as the judge of that name says; of some items, not the same for each, the other one."""
    item = session.get_one(Item, row.item_id)
    a, b = (len(session.get_one(Report, report).shown_text) for report in (item.report_a_id, item.report_b_id))
    best = "A" if (a > b) == bool((row.item_id + (row.rater_id or 0)) % 6) else "B"
    return "left" if row.left == best else "right"


def all_labelled(
    engine: Engine, people: list[Principal], says: Callable[[Session, Assignment], str] = third_right
) -> None:
    """Everything that is open is handed in."""
    with transaction(engine) as session:
        for person in people:
            while (row := take(session, person)) is not None:
                aid = row.aid
                revs = answer_all(session, person, aid, says(session, row))
                submit(
                    session, person, aid, assignment_page(session, person, aid)["page"], next(uuids), revs, onward=False
                )


def drawn(session: Session) -> tuple[list[str], set[str]]:
    """Topics of all batches, and topics with slots."""
    study = session.scalars(select(Study)).one()
    with_slots = select(Topic.key).join(Item).join(Assignment).where(Assignment.source != "judge").distinct()
    return [topic for batch in kept_draws(session, study) for topic in batch.topics], {*session.scalars(with_slots)}


@pytest.mark.databases("sqlite")
@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_study_runs_from_its_first_batch_to_an_early_end_by_commands(
    shell: Shell, engine_here: Engine, tmp_path: Path
) -> None:
    told = shell("pairs", "--batch", "12", "--overlap", "2")
    assert "batch 1: 12 of 24 waiting topics, each with a chance of 0.500" in told
    assert "nothing was written" in told
    told = json.loads(shell("pairs", "--batch", "12", "--overlap", "2", "--apply", "--json"))
    assert (told["pairs"], told["new_slots"], len(told["draw"]["topics"])) == (24, 24, 12)
    with reading(engine_here) as session:
        topics, with_slots = drawn(session)
        assert len(topics) == 12
        assert {*topics} == with_slots == {*told["draw"]["topics"]}
        first = root_of(study_plan(session, session.scalars(select(Study)).one()))
    shell("open", "s")
    shell("judge", "run", "s", "--judges", "judges.toml")
    with transaction(engine_here) as session:
        study = session.scalars(select(Study)).one()
        people = [a_person(session, study.id, name) for name in ("Ada", "Bo")]
    all_labelled(engine_here, people)
    again = [shell("pairs", "--design", "active", "--batch", "6", "--json") for _ in range(2)]
    assert again[0] == again[1]  # the same labels and seed: the same batch
    told = shell("pairs", "--batch", "6", "--overlap", "1")
    assert "no gap to people's own agreement is learnt: take 2" in told
    assert re.search(r"worth \d+ topics drawn at random, beside the 12 that .*: intervals about 1\d % narrower", told)
    shell("pairs", "--batch", "6", "--overlap", "2", "--apply")
    with reading(engine_here) as session:
        topics, with_slots = drawn(session)
        study = session.scalars(select(Study)).one()
        assert "batch 3: 6 of 6 waiting topics" in next_words(session, local_admin(study))
        assert len({*topics}) == len(topics) == 18
        assert with_slots == {*topics}
        assert len(draw_probabilities(session, study)) == 12  # the others are not labelled yet
        assert root_of(study_plan(session, study)) != first  # which topics are drawn, and how, is in it
        assert min(chance for batch in kept_draws(session, study) for chance in batch.chances) >= 0.2 * 6 / 12
        with pytest.raises(AnnotationError, match="--design active"):
            make_plan(session, local_admin(study), design="all", overlap=1)
    assert "18 of 24 topics are drawn, in 2 batches; the next one" in shell("status", "s")
    all_labelled(engine_here, people)
    shell("close", "s")
    shell("export", "labels", "s", "--out", "labels.csv")
    labels = pd.read_csv(tmp_path / "labels.csv")
    people_rows = labels[labels["rater_kind"] == "human"]
    assert people_rows["draw_probability"].between(0, 1).all()
    assert people_rows["cluster_id"].nunique() == 18
    assert labels["draw_probability"].isna().sum() == labels[~labels["cluster_id"].isin(topics)].shape[0] > 0
    shell("calibrate", "s", "--out", "of_study")
    found = json.loads((tmp_path / "of_study" / "calibration-report.json").read_text())
    assert any(warning["code"] == "drawn_topics" for warning in found["warnings"]) == (
        people_rows["draw_probability"].nunique() > 1
    )
    assert found["settings"]["planned_topics"] == 24  # 6 of them were not needed
    shell("calibrate", "labels.csv", "--protocol", "small.toml", "--out", "of_file")
    alone = json.loads((tmp_path / "of_file" / "calibration-report.json").read_text())
    values = [
        {(one["statistic"], one["rater"], one["reference"], one["criterion"]): (one["value"], one["n"])
         for one in report["estimates"] if one["value"] is not None}
        for report in (found, alone)
    ]  # fmt: skip
    shared = values[0].keys() & values[1].keys()
    assert {key[0] for key in shared} >= {"percent_agreement", "cohen_kappa", "human_ceiling", "gap_to_ceiling"}
    assert {key: values[0][key] for key in shared} == {key: values[1][key] for key in shared}


@pytest.mark.slow
@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("topics", [[f"topic{number:03}" for number in range(90)]])
def test_batches_go_on_until_enough_is_said_and_the_owner_closes_early(
    shell: Shell, engine_here: Engine, tmp_path: Path
) -> None:
    for number in range(5):
        shell("pairs", "--batch", "15", "--overlap", "2", "--apply")
        if not number:
            shell("open", "s")
            shell("judge", "run", "s", "--judges", "judges.toml")
            with transaction(engine_here) as session:
                study = session.scalars(select(Study)).one()
                people = [a_person(session, study.id, name) for name in ("Ada", "Bo")]
        all_labelled(engine_here, people, longer)
        shell("calibrate", "s", "--out", f"look{number}", "--margin", "0.1")
        said = (tmp_path / f"look{number}" / "report.html").read_text()
        if "Enough:" in said:
            break
    labelled = 15 * (number + 1)
    assert labelled < 90
    assert f"Enough: longer is adequate, {labelled} of 90 topics labelled, {90 - labelled} not needed." in said
    shell("close", "s")
    assert "closed" in shell("status", "s")


@pytest.mark.databases("sqlite")
def test_topics_whose_chances_are_unknown_and_batches_of_other_designs_are_refused(shell: Shell) -> None:
    assert "--design active" in shell("pairs", "--design", "all", "--batch", "3", exit_code=2)
    assert "gap, agreement, difference, win_rate" in shell("pairs", "--for", "luck", exit_code=2)
    shell("pairs", "--design", "all", "--per-category", "2", "--apply")
    assert "no draw gave them" in shell("pairs", "--design", "active", exit_code=1)


@pytest.mark.slow
@pytest.mark.databases("sqlite")
def test_topics_and_labels_that_no_draw_knows_are_refused_at_their_import(
    shell: Shell, engine_here: Engine, tmp_path: Path
) -> None:
    shell("pairs", "--batch", "12", "--overlap", "2", "--apply")
    shell("import", "reports", "reports", "--layout", "folder")  # the same ones are no new topics
    with reading(engine_here) as session:
        given, _ = drawn(session)
    undrawn = min({*TOPICS} - {*given})
    for topic, rater, exit_code in ((undrawn, "human", 1), (undrawn, "judge", 0), (given[0], "human", 0)):
        about = {"cluster_id": topic, "item_id": f"{topic}/alpha/beta", "rater_kind": rater}
        labels_file(tmp_path / "labels.csv", [about | {"rater_id": rater}])
        said = shell("import", "labels", "labels.csv", "--study", "s", exit_code=exit_code)
        assert exit_code == 0 or f"people's labels on 1 topic that no draw gave ({undrawn})" in said
    for system in ("alpha", "beta"):
        (tmp_path / "reports" / system / "topic99.md").write_text("# Report\n\nIt rises.\n")
    said = shell("import", "reports", "reports", "--layout", "folder", exit_code=1)
    assert "1 new topic (topic99): topics of study 's' are drawn" in said
