"""Adjudication: blind, once for each dispute, beside the labels it is about and never in their place."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.adjudication import take_dispute
from annotation.disputes.disputes import disputes
from annotation.disputes.settled import adjudication, settled, systems_by_item
from annotation.errors import AnnotationError, Incomplete
from annotation.facts.label_rows import label_rows
from annotation.facts.study_facts import study_facts
from annotation.labelling import reopen, save, skip, submit
from annotation.people.consent import consent_version, give_consent
from annotation.people.principals import Principal, local_admin
from annotation.verdicts import load_verdicts
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.own_work import own_work
from annotation.work.page import assignment_page
from annotation.work.progress import position
from db.connect import reading, transaction
from db.tables import Assignment, Item, Label, Report, Study
from db.types import now
from tests.adjudicated_study import ANN, BEN, UNLIKE, decide, make_adjudicated, own, person, zoe
from tests.small_study import PROTOCOL, SYSTEMS, a_person, answer, make_study, write_reports

TWO = {name: UNLIKE[name] for name in (ANN, BEN)}
MAY_ALL = PROTOCOL.replace("[study]", "[study]\nmay_see_and_label = true")


def states(session: Session, study: int) -> Counter[str]:
    return Counter(one.state for one in disputes(session, session.get_one(Study, study)))


def all_labels(session: Session) -> list[tuple[Any, ...]]:
    rows = select(Label.id, Label.choice, Label.rationale, Label.revision).order_by(Label.id)
    return [tuple(row) for row in session.execute(rows)]


@pytest.mark.databases("sqlite")
def test_disputes_come_one_after_another_and_only_what_is_in_dispute_is_asked(engine: Engine, tmp_path: Path) -> None:
    study = make_adjudicated(engine, tmp_path, TWO)
    with transaction(engine) as session:
        me = zoe(session, study)
        assert position(session, me) == (0, 9)
        before, labels = load_verdicts(session, session.get_one(Study, study)), all_labels(session)
        while (work := take(session, me)) is not None:
            assert take(session, me) is work, "the same until it is handed in"
            page = assignment_page(session, me, work.aid)
            assert [one["id"] for one in page["criteria"]] == ["clear"]
            refused = save(session, me, [answer(page, "deep", "left")]).refused
            assert [one["code"] for one in refused] == ["invalid"]
            with pytest.raises(Incomplete):
                submit(session, me, work.aid, page["page"], "too-soon-1", {})
            decide(session, me, work, {"clear": "tie"})
        assert position(session, me) == (9, 9)
        shown = own_work(session, me)
        assert {(one.answered, one.criteria, one.state) for one in shown.items} == {(1, 1, "submitted")}
        assert (shown.submitted, shown.to_come, shown.goes_on) == (9, 0, False)
        mine = own(session, me)
        assert {(one.purpose, one.slot_no, one.pass_no, one.status) for one in mine} == {
            ("adjudicate", 1, 1, "submitted")
        }
        assert len({one.item_id for one in mine}) == 9
        lean = Counter[str]()
        for one in mine:
            item = session.get_one(Item, one.item_id)
            left, right = (item.report_a_id, item.report_b_id)[:: 1 if one.left == "A" else -1]
            lean[system_of(session, left)] += 1
            lean[system_of(session, right)] -= 1
        assert max(map(abs, lean.values())) <= 1, "every system stands left as often as right"

        found = session.get_one(Study, study)
        assert all_labels(session)[: len(labels)] == labels, "what annotators said stands as it was"
        pd.testing.assert_frame_equal(load_verdicts(session, found), before)
        rows = settled(session, found)
        assert [(one.criterion, one.verdict, one.adjudicator) for one in rows] == [
            ("clear", "tie", "adjudicator-01")
        ] * 9
        assert {tuple(one.raters.items()) for one in rows} == {(("annotator-01", "A"), ("annotator-02", "B"))}
        dataset = Counter(row["purpose"] for row in label_rows(session, found))
        assert dataset == {"label": len(labels), "adjudicate": 9}
        assert study_facts(session, found)["purposes"] == {"label": len(labels), "adjudicate": 9}
        assert states(session, study) == {"settled": 9}


def system_of(session: Session, report: int | None) -> str:
    return str(session.get_one(Report, report).system_id)


@pytest.mark.databases("sqlite")
def test_a_changed_verdict_opens_its_dispute_again_and_changed_words_do_not(engine: Engine, tmp_path: Path) -> None:
    study = make_adjudicated(engine, tmp_path, TWO)
    with transaction(engine) as session:
        me, ben = zoe(session, study), person(session, study, BEN)
        first = take(session, me)
        assert first is not None
        decide(session, me, first, {"clear": "A"})
        theirs = own(session, ben, Assignment.item_id == first.item_id)[0]
        reopen(session, ben, theirs.aid)
        decide(session, ben, theirs, {"clear": "B", "deep": "A"}, rationale="the same, said better")
        assert states(session, study) == {"settled": 1, "in work": 1, "open": 7}
        reopen(session, ben, theirs.aid)
        decide(session, ben, theirs, {"clear": "tie", "deep": "tie"})
        assert states(session, study) == {"in work": 1, "open": 9}, (
            "and the criterion that was no dispute before is one now"
        )
        works = []
        while (work := take(session, me)) is not None:
            works.append(work)
            decide(session, me, work, {"clear": "B", "deep": "B"})
        assert [(one.pass_no, one.criteria_order) for one in works if one.item_id == first.item_id] == [
            (2, ["clear", "deep"])
        ]
        assert states(session, study) == {"settled": 10}
        again = [one for one in settled(session, session.get_one(Study, study)) if one.pass_no == 2]
        assert [(one.criterion, one.verdict, one.reasons[-1]) for one in again] == [
            ("clear", "B", "tie_against_winner"),
            ("deep", "B", "tie_against_winner"),
        ]


def test_racing_adjudicators_settle_every_item_once(engine: Engine, tmp_path: Path) -> None:
    study = make_adjudicated(engine, tmp_path, TWO)
    with transaction(engine) as session:
        people = [zoe(session, study, f"Zoe {number}") for number in range(6)]

    def work_through(me: Principal) -> int:
        done = 0
        while True:
            with transaction(engine) as session:
                work = take(session, me)
                if work is None:
                    return done
                aid = work.aid
            with transaction(engine) as session:
                mine = session.scalars(select(Assignment).where(Assignment.aid == aid)).one()
                decide_only(session, me, mine)
            done += 1

    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(work_through, people))
    assert sum(done) == 9
    with reading(engine) as session:
        rows = session.scalars(select(Assignment).where(Assignment.purpose == "adjudicate")).all()
        assert sorted(Counter(one.item_id for one in rows).values()) == [1] * 9
        assert {(one.status, one.pass_no) for one in rows} == {("submitted", 1)}
        assert states(session, study) == {"settled": 9}


def decide_only(session: Session, me: Principal, work: Assignment) -> None:
    """Hand in without taking the next, so that all race for it."""
    page = assignment_page(session, me, work.aid)
    assert save(session, me, [answer(page, "clear", "left")]).refused == []
    work.status, work.submitted_at = "submitted", now()


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(("role", "protocol"), [("annotator", MAY_ALL), ("evaluator", PROTOCOL), ("admin", PROTOCOL)])
def test_whoever_may_not_adjudicate_gets_no_dispute(engine: Engine, tmp_path: Path, role: str, protocol: str) -> None:
    study = make_study(engine, tmp_path, protocol=protocol)
    with pytest.raises(AnnotationError, match="only adjudicators"), transaction(engine) as session:
        take_dispute(session, a_person(session, study, "Eve", role))


@pytest.mark.databases("sqlite")
def test_nobody_settles_what_they_annotated(engine: Engine, tmp_path: Path) -> None:
    write_reports(tmp_path, ("tides",))
    study = make_study(engine, tmp_path, overlap=2, protocol=MAY_ALL)
    with transaction(engine) as session:
        ann, eve = a_person(session, study, ANN), a_person(session, study, "Eve", "evaluator")
        for one, verdict in ((ann, "A"), (eve, "B")):
            while (work := take(session, one)) is not None:
                decide(session, one, work, {"clear": verdict, "deep": verdict})
        assert states(session, study) == {"open": 6}
        assert take_dispute(session, eve) is None
        assert take_dispute(session, a_person(session, study, "Uma", "evaluator")) is not None
        assert len({work.item_id for work in own(session, eve)}) == 3


@pytest.mark.databases("sqlite")
def test_what_is_skipped_goes_to_somebody_else_and_what_lies_idle_comes_back(engine: Engine, tmp_path: Path) -> None:
    study = make_adjudicated(engine, tmp_path, TWO)
    with transaction(engine) as session:
        me, yan = zoe(session, study), zoe(session, study, "Yan Young")
        first = take(session, me)
        assert first is not None
        skip(session, me, first.aid, "I wrote about this")
        second = take(session, me)
        assert second is not None
        assert second.item_id != first.item_id
        page = assignment_page(session, me, second.aid)
        save(session, me, [answer(page, "clear", "left")])
        second.active_at = now() - timedelta(hours=25)
        items = []
        while (work := take(session, yan)) is not None:
            items.append(work.item_id)
            if len(items) == 8:
                break
            decide(session, yan, work, {"clear": "A"})
        assert first.item_id in items
        assert session.get_one(Assignment, second.id).returned == "stale"
        if second.item_id not in items:
            again = take(session, me)
            assert again is second, "with all that was typed there"


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("status", "gets_one"), [("open", True), ("paused", False), ("closed", True), ("locked", False)]
)
def test_disputes_are_given_out_while_a_study_is_open_or_closed(
    engine: Engine, tmp_path: Path, status: str, gets_one: bool
) -> None:
    study = make_adjudicated(engine, tmp_path, TWO)
    with transaction(engine) as session:
        me, found = zoe(session, study), session.get_one(Study, study)
        if status == "locked":
            move_study(session, found, "closed")
        if status != "open":
            move_study(session, found, status)
        assert (take(session, me) is not None) is gets_one
        assert position(session, me) == (0, 9 if gets_one else 0)


@pytest.mark.databases("sqlite")
def test_an_adjudicator_agrees_to_the_consent_text_first_and_needs_no_training(engine: Engine, tmp_path: Path) -> None:
    study = make_adjudicated(engine, tmp_path, TWO)
    with transaction(engine) as session:
        found = session.get_one(Study, study)
        found.protocol_text = PROTOCOL.replace(
            "[study]", '[study]\nconsent = "You may stop."\ntraining = {items = 1, attempts = 1}'
        )
        me = zoe(session, study)
        assert take(session, me) is None
        give_consent(session, me, consent_version("You may stop."))
        assert take(session, me) is not None


def test_closing_leaves_an_adjudication_in_work_and_locking_takes_it_back(engine: Engine, tmp_path: Path) -> None:
    study = make_adjudicated(engine, tmp_path, TWO)
    with transaction(engine) as session:
        me, found = zoe(session, study), session.get_one(Study, study)
        work = take(session, me)
        assert work is not None
        move_study(session, found, "closed")
        assert take(session, me) is work
        decide(session, me, work, {"clear": "A"})
        second = take(session, me)
        assert second is not None
        move_study(session, found, "locked")
        assert [one.status for one in own(session, me)] == ["locked", "returned"]
        assert states(session, study) == {"settled": 1, "open": 8}


@pytest.mark.databases("sqlite")
def test_an_evaluator_sees_how_many_disputes_of_which_kind_are_left(engine: Engine, tmp_path: Path) -> None:
    write_reports(tmp_path, ("tides",))
    study = make_adjudicated(engine, tmp_path, protocol=PROTOCOL.replace('blind_until = "open"', ""))
    with transaction(engine) as session:
        me = zoe(session, study)
        work = take(session, me)
        assert work is not None
        decide(session, me, work, {"clear": "A"})
        found = adjudication(session, local_admin(session.get_one(Study, study)))
        assert (found.rule, found.states, found.items) == ("any", {"open": 1, "in work": 1, "settled": 1}, 1)
        (row,) = found.rows
        assert (row.criterion, row.label, row.total) == ("clear", "Clear", 3)
        assert row.reasons == {
            "disagreement": 3, "low_confidence": 0, "flag": 0, "not_applicable": 0, "tie_against_winner": 3,
        }  # fmt: skip
        with pytest.raises(AnnotationError, match="needs the role evaluator"):
            adjudication(session, me)
        with pytest.raises(AnnotationError, match="calipers reveal"):
            systems_by_item(session, session.get_one(Study, study))
        move_study(session, session.get_one(Study, study), "closed")
        named = systems_by_item(session, session.get_one(Study, study)).values()
        assert {frozenset(pair) for pair in named} == {frozenset(pair) for pair in combinations(SYSTEMS, 2)}
