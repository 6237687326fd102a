"""What people are paid: every active minute once, whatever it was spent on, and rounded once."""

from __future__ import annotations

import stat
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.labelling import submit
from annotation.participation import standing
from annotation.participation.people_list import PayLine, list_people, pay_lines
from annotation.people.active_time import split
from annotation.people.principals import Principal, local_admin
from annotation.protocol import parse_protocol
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from app.files.people_files import links_csv, pay_csv, write_new
from db.connect import reading, transaction
from db.tables import Assignment, Event, Item, Study
from db.types import now
from tests.small_study import PROTOCOL, a_person, answer_all, make_study

PAID = PROTOCOL.replace("[study]", '[study]\npay = {rate = 12.5, currency = "EUR"}')
START = now() - timedelta(hours=5)
LINE = PayLine("Ada", "annotator-01", "annotator", 3, 1 / 3, 2.0, 10.0, "USD", 10 / 3)


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def worked(session: Session, assignment: Assignment, taken: float, *intervals: tuple[float, float]) -> None:
    """Taken, and active in these intervals, in minutes since START."""
    assignment.taken_at = at(taken)
    told = [{"criterion": None, "start": at(a).isoformat(), "end": at(b).isoformat()} for a, b in intervals]
    session.add(
        Event(
            study_id=assignment.study_id, rater_id=assignment.rater_id, assignment_id=assignment.id, kind="activity",
            what="intervals", data={"intervals": told}, client_ts=at(intervals[-1][1]).isoformat(),
        )
    )  # fmt: skip


def hand_in(session: Session, person: Principal) -> Assignment:
    mine = take(session, person)
    assert mine is not None
    page = assignment_page(session, person, mine.aid)
    submit(session, person, mine.aid, page["page"], f"submit-{mine.aid}", answer_all(session, person, mine.aid))
    return mine


def test_training_repeats_voided_and_unfinished_work_are_paid_and_no_minute_twice(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, tmp_path, protocol=PAID)
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        ada = a_person(session, study_id)
        a_person(session, study_id, "Val", "evaluator")
        item = session.scalars(select(Item)).first()
        assert item is not None
        labelled = hand_in(session, ada)
        worked(session, labelled, 0, (0, 9), (20, 24))
        labelled.submitted_at = at(60)
        for number, purpose in enumerate(("training", "attention", "retest")):
            beside = Assignment(
                study_id=study_id, item_id=item.id, rater_id=ada.rater_id, purpose=purpose, slot_no=7, pass_no=1,
                left="A", plan_seed=0, status="submitted", submitted_at=at(100),
            )  # fmt: skip
            session.add(beside)
            session.flush()
            worked(session, beside, 70 + 10 * number, (70 + 10 * number, 76 + 10 * number))
        in_hand = take(session, ada)
        assert in_hand is not None
        worked(session, in_hand, 94, (94, 99))  # two minutes of these were counted with the retest
        session.flush()
        (line,) = pay_lines(session, local_admin(study))
        # 9 + 4, 3 x 6, and 5 of which 2 overlap
        assert line.active_h * 60 == pytest.approx(13 + 18 + 3)
        assert line.wall_h * 60 == pytest.approx(60 + 30 + 20 + 10)
        assert (line.name, line.pseudonym, line.items, line.rate, line.currency) == ("Ada", "annotator-01", 4, 12.5, "EUR")  # fmt: skip
        assert line.amount == pytest.approx(34 / 60 * 12.5)
        ada_line = next(one for one in list_people(session, local_admin(study)) if one.name == "Ada")
        assert (ada_line.active_s, ada_line.handed_in) == (pytest.approx(34 * 60), 1)
        standing.void_work(session, local_admin(study), "Ada", "a reason")
        (after,) = pay_lines(session, local_admin(study))
        assert (after.amount, after.items) == (line.amount, line.items)


def test_a_study_that_pays_nothing_still_says_the_hours(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        worked(session, hand_in(session, ada), 0, (0, 6))
        (line,) = pay_lines(session, local_admin(session.get_one(Study, study_id)))
    assert (line.active_h * 60, line.rate, line.amount) == (pytest.approx(6), 0, 0)


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(1, 60), st.sampled_from("ab")), max_size=12))
def test_however_tabs_overlap_a_minute_counts_once(intervals: list[tuple[int, int, str]]) -> None:
    minutes = {minute for start, length, _ in intervals for minute in range(start, start + length)}
    spent = split([(tab, at(start), at(start + length)) for start, length, tab in intervals])
    assert sum(spent.values()) / 60 == pytest.approx(len(minutes))


def test_the_amount_is_rounded_once_and_from_unrounded_hours() -> None:
    assert pay_csv([LINE]).splitlines() == [
        "name,pseudonym,role,items,active_hours,wall_hours,rate,currency,amount",
        "Ada,annotator-01,annotator,3,0.3333,2.0000,10,USD,3.33",
    ]
    many = replace(LINE, active_h=0.00004, rate=1000.0, amount=0.04)  # of hours as printed it would be nothing
    assert pay_csv([many]).splitlines()[1].endswith("0.0000,2.0000,1000,USD,0.04")


@pytest.mark.parametrize("name", ["=1+1", "@SUM(A1)", "+491", "-x", "＝1", " \t=1"])
def test_no_name_runs_as_a_formula(name: str) -> None:
    for text in (
        pay_csv([replace(LINE, name=name)]),
        links_csv({name: "https://x.org/invite/t"}, "annotator", parse_protocol(PROTOCOL)),
    ):
        assert text.splitlines()[1].lstrip('"').startswith("'")


def test_a_file_with_names_is_its_owners_alone_and_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "pay.csv"
    write_new(path, "names\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(AnnotationError, match="exists already"):
        write_new(path, "others\n")
    assert path.read_text() == "names\n"


def test_who_never_labelled_is_on_no_pay_list(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        for name, role in (("Val", "evaluator"), ("Root", "admin"), ("Ina", "adjudicator")):
            a_person(session, study_id, name, role)
    with reading(engine) as session:
        assert session.scalar(select(func.count(Event.id)).where(Event.kind == "activity")) == 0
        assert [one.name for one in pay_lines(session, local_admin(session.get_one(Study, study_id)))] == ["Ina"]
