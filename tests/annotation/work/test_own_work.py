"""One's own work: counted right, paid right, in a fixed number of queries, and nobody else's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, select

from annotation.errors import AnnotationError
from annotation.labelling import reopen, save, skip, submit
from annotation.labels.entries import read_entry
from annotation.people.active_time import seconds_by_assignment
from annotation.people.principals import Principal
from annotation.verdicts import load_verdicts
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.own_work import OwnWork, Pay, earlier_reasons, own_work
from annotation.work.page import assignment_page
from db.connect import reading, transaction
from db.people_tables import Rater
from db.tables import Assignment, Event, Study
from db.types import now
from tests.small_study import PROTOCOL, SYSTEMS, a_person, answer, answer_all, make_study

PAID = PROTOCOL.replace("[study]", '[study]\npay = {rate = 10.0, currency = "EUR"}')


def begin(engine: Engine, root: Path, **kinds: Any) -> tuple[int, Principal]:
    study_id = make_study(engine, root, **kinds)
    with transaction(engine) as session:
        return study_id, a_person(session, study_id)


def taken(engine: Engine, principal: Principal) -> dict[str, Any]:
    with transaction(engine) as session:
        mine = take(session, principal)
        assert mine is not None
        return assignment_page(session, principal, mine.aid)


def hand_in(engine: Engine, principal: Principal) -> str:
    page = taken(engine, principal)
    with transaction(engine) as session:
        revs = answer_all(session, principal, page["aid"])
        submit(session, principal, page["aid"], page["page"], f"submit-{page['aid']}", revs)
    return str(page["aid"])


def spend(engine: Engine, aid: str, *minutes: tuple[float, float], criterion: str | None = None) -> None:
    """Report intervals, in minutes since an hour ago, of an assignment that was taken before."""
    start = now() - timedelta(hours=1)
    intervals = [
        {
            "criterion": criterion,
            "start": (start + timedelta(minutes=begins)).isoformat(),
            "end": (start + timedelta(minutes=ends)).isoformat(),
        }
        for begins, ends in minutes
    ]
    with transaction(engine) as session:
        mine = session.scalars(select(Assignment).where(Assignment.aid == aid)).one()
        mine.taken_at = start - timedelta(hours=1)
        session.add(
            Event(
                study_id=mine.study_id, rater_id=mine.rater_id, assignment_id=mine.id, kind="activity",
                what="intervals", data={"intervals": intervals}, client_ts=now().isoformat(),
            )
        )  # fmt: skip


def work_of(engine: Engine, principal: Principal) -> OwnWork:
    with reading(engine) as session:
        return own_work(session, principal)


@pytest.mark.databases("sqlite")
def test_progress_states_and_answers_are_told_newest_first(engine: Engine, tmp_path: Path) -> None:
    _, ada = begin(engine, tmp_path)
    first = hand_in(engine, ada)
    second = taken(engine, ada)
    with transaction(engine) as session:
        skip(session, ada, second["aid"], "I wrote about this myself")
    third = taken(engine, ada)
    with transaction(engine) as session:
        save(session, ada, [answer(third, "clear", "left"), answer(third, "deep", "right", rationale="no")])
    work = work_of(engine, ada)
    assert (work.submitted, work.in_work, work.to_come, work.goes_on) == (1, 1, 6, True)
    assert [(i.aid, i.state, i.answered, i.criteria, i.returned, i.reason, i.may_reopen) for i in work.items] == [
        (third["aid"], "in work", 1, 2, None, "", False),  # the second rationale is too short to count
        (second["aid"], "returned", 0, 2, "skipped", "I wrote about this myself", False),
        (first, "submitted", 2, 2, None, "", True),
    ]
    assert [item.submitted_at is not None for item in work.items] == [False, False, True]
    assert {item.topic for item in work.items} <= {"tides", "bread", "noise"}
    assert (work.title, work.status, work.guidance) == ("A small study", "open", "Read **both**.")


@pytest.mark.databases("sqlite")
def test_closing_and_locking_show_in_every_item(engine: Engine, tmp_path: Path) -> None:
    study_id, ada = begin(engine, tmp_path)
    hand_in(engine, ada)
    with transaction(engine) as session:
        move_study(session, session.get_one(Study, study_id), "closed")
    work = work_of(engine, ada)
    assert [(i.state, i.returned, i.may_reopen) for i in work.items] == [
        ("returned", "closed", False),
        ("submitted", None, True),
    ]
    assert (work.to_come, work.goes_on) == (0, False)
    with transaction(engine) as session:
        reopen(session, ada, work.items[1].aid)
    assert work_of(engine, ada).goes_on
    with transaction(engine) as session:
        move_study(session, session.get_one(Study, study_id), "locked")
    assert [(i.state, i.may_reopen) for i in work_of(engine, ada).items] == [("returned", False), ("locked", False)]


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("protocol", "pay"), [(PAID, Pay(rate=10.0, currency="EUR", amount=2.5)), (PROTOCOL, None)], ids=["paid", "unpaid"]
)
def test_a_quarter_of_an_hour_at_ten_an_hour_pays_two_and_a_half(
    engine: Engine, tmp_path: Path, protocol: str, pay: Pay | None
) -> None:
    _, ada = begin(engine, tmp_path, protocol=protocol)
    spend(engine, hand_in(engine, ada), (0, 9), (9, 15))
    work = work_of(engine, ada)
    assert work.active_s == pytest.approx(900)
    assert (work.pay.amount if work.pay else None) == (pytest.approx(2.5) if pay else None)
    assert (work.pay and (work.pay.rate, work.pay.currency)) == (pay and (pay.rate, pay.currency))


def test_what_two_tabs_report_at_once_counts_once_also_over_two_items(engine: Engine, tmp_path: Path) -> None:
    study_id, ada = begin(engine, tmp_path)
    first, second = hand_in(engine, ada), hand_in(engine, ada)
    spend(engine, first, (0, 6))
    spend(engine, first, (4, 8), criterion="clear")  # another tab of the same item
    spend(engine, second, (7, 10))  # another item that stands open in a second window
    work = work_of(engine, ada)
    assert work.active_s == pytest.approx(600, abs=1)
    assert {i.aid: round(i.active_s) for i in work.items if i.active_s} == {first: 480, second: 120}
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, study_id))
        page = assignment_page(session, ada, second)
    assert verdicts["seconds"].sum() == pytest.approx(600, abs=1)  # what is exported is what was shown
    assert page["active_s"] == {"item": pytest.approx(120, abs=1), "study": pytest.approx(600, abs=1)}


@pytest.mark.databases("sqlite")
def test_one_persons_time_is_not_cut_by_anothers(engine: Engine, tmp_path: Path) -> None:
    study_id, ada = begin(engine, tmp_path, overlap=2)
    with transaction(engine) as session:
        ben = a_person(session, study_id, "Ben")
    for person in (ada, ben):
        spend(engine, hand_in(engine, person), (0, 5))
    assert [work_of(engine, person).active_s for person in (ada, ben)] == pytest.approx([300, 300])


@pytest.mark.databases("sqlite")
def test_own_flags_and_comments_are_shown_with_their_item(engine: Engine, tmp_path: Path) -> None:
    _, ada = begin(engine, tmp_path)
    page = taken(engine, ada)
    common = {"aid": page["aid"], "page": page["page"]}
    said = [
        {"kind": "flag", "flag": "broken_text", "text": "a table is cut", "client_uuid": "flag-0001"} | common,
        {"kind": "comment", "text": "a remark", "client_uuid": "comment-0001"} | common,
    ]
    with transaction(engine) as session:
        assert save(session, ada, [read_entry(one) for one in said]).refused == []
    (item,) = work_of(engine, ada).items
    assert [(r.kind, r.what, r.text) for r in item.remarks] == [
        ("flag", "broken_text", "a table is cut"),
        ("comment", "comment", "a remark"),
    ]


@pytest.mark.databases("sqlite")
def test_nothing_of_others_no_system_no_purpose_and_no_row_number_is_in_it(engine: Engine, tmp_path: Path) -> None:
    study_id, ada = begin(engine, tmp_path, overlap=2)
    with transaction(engine) as session:
        ben = a_person(session, study_id, "Ben")
    bens = hand_in(engine, ben)
    mine = hand_in(engine, ada)
    work = work_of(engine, ada)
    told = json.dumps(asdict(work), default=str)
    assert mine in told
    assert not [word for word in (*SYSTEMS, bens, "Ben", "purpose", "pass_no", "slot", "item_id") if word in told]
    assert not [name for name in asdict(work.items[0]) if name.endswith("id") and name != "aid"]


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("role", ["evaluator", "admin"])
def test_those_who_do_not_label_have_no_work_of_their_own(engine: Engine, tmp_path: Path, role: str) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        person = a_person(session, study_id, "Eve", role)
    with pytest.raises(AnnotationError) as caught:
        work_of(engine, person)
    assert caught.value.code == "forbidden"


@pytest.mark.databases("sqlite")
def test_before_the_first_item_there_is_something_to_begin(engine: Engine, tmp_path: Path) -> None:
    _, ada = begin(engine, tmp_path)
    work = work_of(engine, ada)
    assert (work.submitted, work.in_work, work.to_come, work.goes_on, work.items) == (0, 0, 9, True, ())


def queries(engine: Engine, ask: Any) -> int:
    seen: list[str] = []

    def note(_c: Any, _u: Any, statement: str, *_: Sequence[Any]) -> None:
        seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        ask()
    finally:
        event.remove(engine, "before_cursor_execute", note)
    return len([one for one in seen if one.lstrip().upper().startswith("SELECT")])


@pytest.mark.databases("sqlite")
def test_ten_items_ask_the_database_no_more_often_than_one(engine: Engine, tmp_path: Path) -> None:
    study_id, ada = begin(engine, tmp_path)

    def both() -> None:
        with reading(engine) as session:
            own_work(session, ada)
            load_verdicts(session, session.get_one(Study, study_id))

    spend(engine, hand_in(engine, ada), (0, 1))
    after_one = queries(engine, both)
    for _ in range(7):
        spend(engine, hand_in(engine, ada), (0, 1))
    assert queries(engine, both) == after_one


@pytest.mark.databases("sqlite")
def test_skipping_needs_a_reason_and_the_item_is_never_offered_again(engine: Engine, tmp_path: Path) -> None:
    _, ada = begin(engine, tmp_path, overlap=2)
    page = taken(engine, ada)
    for reason in ("", "  \n"):
        with pytest.raises(AnnotationError) as caught, transaction(engine) as session:
            skip(session, ada, page["aid"], reason)
        assert caught.value.code == "no_reason"
    with transaction(engine) as session:
        skip(session, ada, page["aid"], "the text is broken")
    skipped = item_of(engine, page["aid"])
    offered = set()
    while work_of(engine, ada).goes_on:
        offered.add(item_of(engine, hand_in(engine, ada)))
    assert len(offered) == 8
    assert skipped not in offered


def item_of(engine: Engine, aid: str) -> int:
    with reading(engine) as session:
        return session.scalars(select(Assignment.item_id).where(Assignment.aid == aid)).one()


@pytest.mark.databases("sqlite")
def test_a_name_no_row_can_have_is_unknown_like_any_other(engine: Engine, tmp_path: Path) -> None:
    _, ada = begin(engine, tmp_path)
    with transaction(engine) as session:
        ben = a_person(session, ada.study_id, "Ben")
    bens = taken(engine, ben)["aid"]
    refusals = set()
    for aid in (bens, "f" * 32, "", "a\0b", "' OR 1=1 --"):
        with pytest.raises(AnnotationError) as caught, reading(engine) as session:
            assignment_page(session, ada, aid)
        refusals.add((caught.value.code, caught.value.text))
    assert len(refusals) == 1


def test_time_of_a_person_without_reports_of_activity_is_nothing(engine: Engine, tmp_path: Path) -> None:
    study_id, ada = begin(engine, tmp_path)
    hand_in(engine, ada)
    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        rater = session.scalars(select(Rater.id).where(Rater.opaque_id == ada.opaque_id)).one()
        assert seconds_by_assignment(session, study, rater) == {}


STEERED = PROTOCOL.replace("[study]", "[study]\nearlier_reasons = true")


def test_own_reasons_of_other_items_come_newest_first_and_nobody_elses(engine: Engine, tmp_path: Path) -> None:
    study_id, ada = begin(engine, tmp_path, protocol=STEERED, overlap=2)
    with transaction(engine) as session:
        bea = a_person(session, study_id, "Bea")
    hand_in(engine, bea)
    done = [hand_in(engine, ada) for _ in range(6)]
    page = taken(engine, ada)
    with reading(engine) as session:
        topics = [assignment_page(session, ada, aid)["topic"]["title"] for aid in done]
        told = earlier_reasons(session, ada, page["aid"], "clear")
        assert [one["topic"] for one in told] == topics[::-1][:5]
        assert all(one["rationale"] and one["choice"] == "left" for one in told)
        assert set(told[0]) == {"topic", "choice", "rationale"}
        again = earlier_reasons(session, ada, done[-1], "clear")  # of what is looked at nothing is told
        assert [one["topic"] for one in again] == topics[:-1][::-1]
        assert earlier_reasons(session, ada, page["aid"], "no such criterion") == []
        with pytest.raises(AnnotationError, match="no such work"):
            earlier_reasons(session, bea, page["aid"], "clear")


@pytest.mark.databases("sqlite")
def test_a_study_that_does_not_say_so_shows_no_earlier_reasons(engine: Engine, tmp_path: Path) -> None:
    _, ada = begin(engine, tmp_path)
    hand_in(engine, ada)
    page = taken(engine, ada)
    assert page["earlier_reasons"] is False
    with reading(engine) as session, pytest.raises(AnnotationError, match="shows no earlier reasons"):
        earlier_reasons(session, ada, page["aid"], "clear")
