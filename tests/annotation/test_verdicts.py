"""Verdicts follow from choices and recorded orders, whatever the order was, and agreement is of verdicts."""

from __future__ import annotations

import csv
import io
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from annotation.errors import AnnotationError
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.judges.planning.calls import Pass
from annotation.judges.planning.plan import open_assignments
from annotation.labelling import record_answers
from annotation.labels.answers import Answer, Answered
from annotation.people.active_time import clamp, split
from annotation.people.principals import local_admin
from annotation.planning.draws import TopicDraw, keep_draw
from annotation.planning.looks import topics_labelled
from annotation.verdicts import labels_csv, load_verdicts, require_revealed
from app.commands.results import topics
from calibration.arithmetic.metrics import cohen_kappa, percent_agreement
from calibration.calibrate import calibrate
from calibration.results import CalibrationSettings
from db.connect import reading, transaction
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment, JudgeConfig
from db.people_tables import Enrollment, Rater
from db.tables import Assignment, Criterion, Event, Item, Label, Report, Study, Topic
from db.types import now
from tests.small_study import PROTOCOL, make_study, write_reports


def verdict_to_choice(verdict: str, left: str) -> str:
    return verdict if verdict == "tie" else ("left" if verdict == left else "right")


def submit_known(engine: Engine, study_id: int, orders: str, seed: int) -> dict[tuple[int, str, str], str]:
    """Two annotators give known verdicts on every item, each through an order of their own; returns the verdicts."""
    draw = random.Random(seed)
    known = {}
    with transaction(engine) as session:
        criteria = session.scalars(select(Criterion).order_by(Criterion.position)).all()
        for number in (1, 2):
            rater = Rater(kind="human", handle=f"p{number}")
            session.add(rater)
            session.flush()
            session.add(
                Enrollment(study_id=study_id, rater_id=rater.id, role="annotator", pseudonym=f"annotator-{number}")
            )
            for item in session.scalars(select(Item).order_by(Item.id)).all():
                left = draw.choice("AB") if orders == "random" else "A"
                a, b = session.get_one(Report, item.report_a_id), session.get_one(Report, item.report_b_id)
                shown = (a, b) if left == "A" else (b, a)
                assignment = Assignment(
                    study_id=study_id, item_id=item.id, rater_id=rater.id, left=left, plan_seed=1, status="submitted",
                    slot_no=10 + number,
                )  # fmt: skip
                session.add(assignment)
                session.flush()
                for criterion in criteria:
                    truth = random.Random(f"{item.id}-{criterion.code}").choices(("A", "B", "tie"), (5, 4, 1))[0]
                    verdict = truth if draw.random() < 0.8 else draw.choice(("A", "B", "tie"))
                    known[item.id, f"annotator-{number}", criterion.code] = verdict
                    session.add(
                        Label(
                            assignment_id=assignment.id, criterion_id=criterion.id, revision=1,
                            choice=verdict_to_choice(verdict, left), left_sha256=shown[0].shown_sha256,
                            right_sha256=shown[1].shown_sha256, stripper_version="1",
                        )
                    )  # fmt: skip
    return known


@pytest.fixture
def four_hundred(engine: Engine, tmp_path: Path) -> tuple[Engine, int, dict[tuple[int, str, str], str]]:
    """34 topics x 3 pairs x 2 criteria x 2 annotators = 408 labels with independent random orders."""
    topics = tuple(f"t{number:02d}" for number in range(34))
    root = write_reports(tmp_path, topics)
    study_id = study_on(engine, root)
    return engine, study_id, submit_known(engine, study_id, "random", seed=3)


def study_on(engine: Engine, root: Path) -> int:
    from annotation.planning.slots import apply_plan, make_plan
    from annotation.studies import init_study

    with transaction(engine) as session:
        study = init_study(session, "small", PROTOCOL, 7)
        import_reports(session, local_admin(study), read_folder(root), layout="folder", source="here")
        apply_plan(
            session, local_admin(study), make_plan(session, local_admin(study), design="all", per_topic=None, overlap=1)
        )
        return study.id


@pytest.mark.databases("sqlite")
def test_four_hundred_labels_with_independent_orders_give_back_exactly_what_was_meant(four_hundred: tuple) -> None:
    engine, study_id, known = four_hundred
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, study_id))
        choices = session.scalars(select(Label.choice)).all()
    assert len(verdicts) == len(known) == 408
    got = {(int(row.item_id[5:]), row.rater_id, row.criterion): row.label for row in verdicts.itertuples()}
    assert got == known
    # agreement is of verdicts: on what was clicked it would be another number altogether
    report = calibrate(verdicts, CalibrationSettings(resamples=99))
    agreed = next(
        e
        for e in report.estimates
        if e.statistic == "percent_agreement" and e.reference == "others" and e.criterion == "all"
    )
    one = [known[key] for key in sorted(known) if key[1] == "annotator-1"]
    two = [known[key] for key in sorted(known) if key[1] == "annotator-2"]
    assert agreed.value == pytest.approx(percent_agreement(one, two))
    half = len(choices) // 2
    assert cohen_kappa(choices[:half], choices[half:]) < 0.35 < cohen_kappa(one, two)


def test_a_topic_in_two_languages_is_one_cluster_and_keeps_its_languages(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_reports(tmp_path, ("bread", "bread.de", "noise", "tides.en", "tides.zh"))
    said = "topic,language{}\nbread,en{}\nbread.de,de{}\nnoise,en{}\ntides.en,en{}\ntides.zh,zh{}\n"
    (root / "topics.csv").write_text(said.format(*[""] * 6))
    study_id = study_on(engine, root)
    (root / "topics.csv").write_text(said.format(",cluster_id,hard", ",,5", ",bread,1", ",,7", ",7,2", ",7,9"))
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        told = import_reports(session, local_admin(study), read_folder(root), layout="folder", source="here")
    assert "several topics of one cluster_id, one topic in every interval 2 (bread, 7)" in told.lines()
    submit_known(engine, study_id, "random", seed=3)
    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        verdicts = load_verdicts(session, study)
        known = dict(session.execute(select(Topic.key, Topic.language)).all())
        assert topics_labelled(session, study).planned == 3
    assert set(verdicts["cluster_id"]) == {"bread", "noise", "7"}
    assert (known["bread.de"], known["tides.zh"], known["noise"]) == ("de", "zh", "en")
    assert {*verdicts["topic"].dropna()} == {"bread.de", "tides.en", "tides.zh"}
    report = calibrate(verdicts, CalibrationSettings(resamples=99))
    agreed = [one for one in report.estimates if one.statistic == "percent_agreement" and one.criterion == "all"]
    assert {(one.n, one.clusters) for one in agreed} == {(30, 3)}
    (tmp_path / "hard.csv").write_text("topic,hard\ntides.zh,9\ntides.en,2\nbread.de,1\nbread,5\nnoise,7\n")
    monkeypatch.setattr("app.commands.opening.opened", lambda: engine)
    for file in (tmp_path / "hard.csv", None):
        assert topics._features(study.name, file)["hard"].to_dict() == {"7": 2, "bread": 5, "noise": 7}
    (shared,) = [one for one in report.warnings if one.code == "shared_clusters"]
    assert shared.facts == {"topics": 5, "clusters": 3}
    with transaction(engine) as session:  # as before cluster_id was more than a feature
        study = session.get_one(Study, study_id)
        keep_draw(session, study, None, TopicDraw(("bread",), (0.3,), 5, 0.1, "", "random", {}, ""))
        drawn = load_verdicts(session, study)
        assert "topic" not in drawn
        assert {*drawn["cluster_id"]} == {"bread", "bread.de", "noise", "tides.en", "tides.zh"}
        assert topics_labelled(session, study).planned == 5


@pytest.mark.databases("sqlite")
def test_symmetrised_kappa_is_the_same_whichever_report_was_called_a(four_hundred: tuple) -> None:
    engine, study_id, _ = four_hundred
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, study_id))
    draw = random.Random(11)
    flipped = {item: draw.random() < 0.5 for item in sorted(verdicts["item_id"].unique())}
    renamed = verdicts.copy()
    flips = renamed["item_id"].map(flipped)
    swap = {"A": "B", "B": "A", "tie": "tie"}
    renamed.loc[flips, "label"] = renamed.loc[flips, "label"].map(swap)
    renamed.loc[flips, ["system_a", "system_b"]] = renamed.loc[flips, ["system_b", "system_a"]].to_numpy()
    renamed.loc[flips, "presentation"] = renamed.loc[flips, "presentation"].map({"AB": "BA", "BA": "AB"})

    def kappa(frame):  # type: ignore[no-untyped-def]
        report = calibrate(frame, CalibrationSettings(resamples=99))
        return {
            e.statistic: e.value
            for e in report.estimates
            if e.reference == "others"
            and e.criterion == "all"
            and e.statistic in ("cohen_kappa_symmetrised", "percent_agreement")
        }

    assert flips.any()
    assert not flips.all()
    assert kappa(verdicts) == pytest.approx(kappa(renamed), abs=1e-12)


def test_a_label_on_a_replaced_text_is_stale_and_stays_out(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    submit_known(engine, study_id, "A", seed=1)
    with transaction(engine) as session:
        before = len(load_verdicts(session, session.get_one(Study, study_id)))
        item = session.scalars(select(Item).order_by(Item.id)).first()
        assert item is not None
        report = session.get_one(Report, item.report_a_id)
        report.shown_text, report.shown_sha256 = "stripped anew", "0" * 64
    with reading(engine) as session:
        after = load_verdicts(session, session.get_one(Study, study_id))
    gone = {f"item-{row:05d}" for row in _items_with(engine, report.id)}
    assert len(after) < before
    assert not gone & set(after["item_id"])


def _items_with(engine: Engine, report: int) -> list[int]:
    with reading(engine) as session:
        return list(session.scalars(select(Item.id).where((Item.report_a_id == report) | (Item.report_b_id == report))))


def test_only_handed_in_labelling_work_counts(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    submit_known(engine, study_id, "A", seed=1)
    with transaction(engine) as session:
        mine = session.scalars(select(Assignment).where(Assignment.status == "submitted").order_by(Assignment.id)).all()
        mine[0].status = "taken"
        mine[1].status = "void"
    with reading(engine) as session:
        assert len(load_verdicts(session, session.get_one(Study, study_id))) == 9 * 2 * 2 - 4


def test_a_judges_share_of_time_and_cost_adds_up_and_unknown_stays_empty(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        rater = Rater(kind="judge", handle="mini")
        session.add(rater)
        session.flush()
        judge = Judge(study_id=study_id, rater_id=rater.id, name="mini")
        session.add(judge)
        session.flush()
        config = JudgeConfig(
            judge_id=judge.id, sha256="c", model="m", params={}, asked_params={}, template="", template_sha256="",
            structured=[], batching="all", max_output_tokens=1, price={}, price_source="none",
        )  # fmt: skip
        session.add(config)
        session.flush()
        criteria = session.scalars(select(Criterion).order_by(Criterion.position)).all()
        for number, cost in enumerate((0.02, None)):
            item = session.scalars(select(Item).order_by(Item.id)).all()[number]
            (assignment,) = open_assignments(session, study, rater.id, {(item.id, 1): Pass(1, 1, "B")}).values()
            call = JudgeCall(
                key=f"k{number}",
                judge_id=judge.id,
                config_id=config.id,
                criteria=[c.id for c in criteria],
                shown_sha256=[],
            )
            session.add(call)
            session.flush()
            session.add(JudgeCallAssignment(call_id=call.id, assignment_id=assignment))
            session.add(JudgeAttempt(call_id=call.id, attempt_no=1, outcome="dropped", seconds=1.0, cost=0.01))
            session.add(JudgeAttempt(call_id=call.id, attempt_no=2, outcome="ok", seconds=3.0, cost=cost))
            reply = Answered((assignment,), (Answer("clear", "ok", "left"), Answer("deep", "truncated")))
            record_answers(session, [reply], parser_version="1")
        verdicts = load_verdicts(session, study)
    rows = verdicts.sort_values(["item_id", "criterion"]).to_dict("records")
    assert [row["label"] for row in rows if row["status"] == "ok"] == ["B", "B"]
    assert verdicts["label"].isna().sum() == 2
    assert [row["status"] for row in rows] == ["ok", "invalid", "ok", "invalid"]
    assert [row["seconds"] for row in rows] == [2.0] * 4
    assert [row["cost_usd"] for row in rows][:2] == pytest.approx([0.015, 0.015])
    assert verdicts["cost_usd"].isna().sum() == 2
    assert {row["rater_id"] for row in rows} == {"mini"}


def test_active_time_is_a_union_and_never_more_than_passed_on_the_server() -> None:
    start = datetime(2026, 11, 20, 10, tzinfo=UTC)

    def at(second: int) -> datetime:
        return start + timedelta(seconds=second)

    spent = split([("a", at(0), at(10)), ("b", at(5), at(20)), (None, at(6), at(8)), ("a", at(30), at(31))])
    assert spent == {"a": 11.0, "b": 10.0}
    assert clamp(spent, possible=100) == spent
    assert clamp(spent, possible=10.5) == pytest.approx({"a": 5.5, "b": 5.0})


def test_reading_time_is_shared_and_own_time_is_own(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(
        engine, tmp_path, protocol=PROTOCOL.replace("[study]", '[study]\npay = {rate = 36.0, currency = "USD"}')
    )
    submit_known(engine, study_id, "A", seed=1)
    with transaction(engine) as session:
        mine = session.scalars(
            select(Assignment).where(Assignment.status == "submitted").order_by(Assignment.id)
        ).first()
        assert mine is not None
        mine.taken_at = now() - timedelta(hours=1)
        begin = now() - timedelta(minutes=5)
        intervals = [
            {"criterion": None, "start": begin.isoformat(), "end": (begin + timedelta(seconds=40)).isoformat()},
            {
                "criterion": "clear",
                "start": (begin + timedelta(seconds=40)).isoformat(),
                "end": (begin + timedelta(seconds=50)).isoformat(),
            },
        ]
        session.add(
            Event(
                study_id=study_id,
                assignment_id=mine.id,
                kind="activity",
                what="intervals",
                data={"intervals": intervals},
                client_ts=now().isoformat(),
            )
        )
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, study_id))
    known = verdicts.dropna(subset=["seconds"]).set_index("criterion")
    assert known["seconds"].to_dict() == pytest.approx({"clear": 30.0, "deep": 20.0})
    assert known["cost_usd"].to_dict() == pytest.approx({"clear": 0.30, "deep": 0.20})


def test_the_exchange_file_has_its_columns_and_starts_no_formula(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    submit_known(engine, study_id, "A", seed=1)
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, study_id))
    verdicts.loc[0, "rationale"] = "=HYPERLINK(1)"
    rows = list(csv.DictReader(io.StringIO(labels_csv(verdicts))))
    assert len(rows) == 36
    assert rows[0]["rationale"] == "'=HYPERLINK(1)"
    assert {row["rater_id"] for row in rows} == {"annotator-1", "annotator-2"}


@pytest.mark.parametrize(
    ("status", "blind_until", "revealed", "allowed"),
    [
        ("open", "closed", False, False),
        ("closed", "closed", False, True),
        ("open", "open", False, True),
        ("open", "closed", True, True),
    ],
)
def test_labels_and_systems_are_joined_only_when_the_protocol_lets_them(
    status: str, blind_until: str, revealed: bool, allowed: bool
) -> None:
    text = PROTOCOL.replace('blind_until = "open"', f'blind_until = "{blind_until}"')
    study = Study(
        name="s", protocol_text=text, protocol_sha256="", seed=1, status=status, revealed_at=now() if revealed else None
    )
    if allowed:
        require_revealed(study)
    else:
        with pytest.raises(AnnotationError, match="calipers reveal"):
            require_revealed(study)
