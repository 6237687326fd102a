"""Which answers are in dispute, by rule and kind of task; and that sides have no part in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, event, select, update

from annotation.designs.sides_and_orders import OTHER
from annotation.disputes.differing import in_dispute, reasons_of
from annotation.disputes.disputes import disputes, turned
from annotation.errors import AnnotationError
from annotation.protocol import parse_protocol
from annotation.studies import audit, not_yet_active
from annotation.verdicts import unblind
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.page import assignment_page
from db.connect import reading, transaction
from db.people_tables import Rater
from db.tables import Assignment, Event, Report, Study
from tests.adjudicated_study import ANN, BEN, UNLIKE, decide, make_adjudicated
from tests.small_study import PROBES, PROTOCOL, RATING, a_person, make_study, write_reports

ONLY_DEEP, NO_MAJORITY = (
    PROTOCOL.replace("[study]", f"[study]\nadjudicate = {rule}") for rule in ('["deep"]', '"no_majority"')
)
FAR_APART = RATING.replace("[study]", "[study]\nadjudicate = {apart = 15}")
ANSWERS = st.sampled_from(["A", "B", "tie", "not_applicable"])


@pytest.mark.parametrize(
    ("verdicts", "rule", "step", "expected"),
    [
        (["A", "A"], "any", 0, False),
        (["A", "B"], "any", 0, True),
        (["A", "tie"], "any", 0, True),
        (["A", "A", "A", "not_applicable"], "any", 0, True),
        (["A", "A", "B"], "no_majority", 0, False),
        (["A", "B"], "no_majority", 0, True),  # one of two is no majority
        (["A", "A", "B", "B"], "no_majority", 0, True),
        (["A", "B", "tie"], "no_majority", 0, True),
        (["A", "A"], "no_majority", 0, False),
        (["A", "B"], ("clear", "deep"), 0, True),
        (["A", "B"], ("deep",), 0, False),
        (["A", "B"], (), 0, False),
        (["7", "8"], "any", 1, False),  # scores one step apart
        (["7", "9"], "any", 1, True),
        (["7", "7.5", "8"], "any", 0.5, True),
        (["7", "7.5"], "any", 0.5, False),
        (["0.1", "0.2", "0.3"], "any", 0.2, False),  # and not for want of a digit
        (["7", "8", "9"], "no_majority", 1, False),  # all three lie within a step of 8
        (["1", "5", "9"], "no_majority", 1, True),
        (["7", "7.1"], "any", 0, True),  # any number goes: there is no step
        (["7", "not_applicable"], "any", 1, True),
        (["full", "part"], "any", 0, True),
        (["full", "full"], "any", 0, False),
        (["A"], "any", 0, False),
        ([], "any", 0, False),
    ],
)
def test_the_protocols_rule_says_which_answers_are_in_dispute(
    verdicts: list[str], rule: str | tuple[str, ...], step: float, expected: bool
) -> None:
    assert in_dispute(verdicts, rule, "clear", step) is expected


@pytest.mark.parametrize(
    ("verdicts", "confidences", "flagged", "expected"),
    [
        (["A", "B"], [None, None], False, ["disagreement"]),
        (["A", "tie"], [3, 5], False, ["disagreement", "tie_against_winner"]),
        (["tie", "not_applicable"], [3, None], False, ["disagreement", "not_applicable"]),
        (["A", "B"], [2, 5], True, ["disagreement", "low_confidence", "flag"]),
        (["7", "9"], [1], False, ["disagreement", "low_confidence"]),
    ],
)
def test_a_dispute_says_why_it_is_one(
    verdicts: list[str], confidences: list[int | None], flagged: bool, expected: list[str]
) -> None:
    assert list(reasons_of(verdicts, confidences, flagged=flagged)) == expected


@given(st.lists(st.tuples(ANSWERS, st.sampled_from("AB"), st.booleans()), min_size=2, max_size=6))
def test_who_saw_which_side_changes_no_dispute(raters: list[tuple[str, str, bool]]) -> None:
    given_so = [unblind(turned(verdict, left), left) for verdict, left, _ in raters]
    flipped = [(verdict, OTHER[left] if flips else left) for verdict, left, flips in raters]
    otherwise = [unblind(turned(verdict, left), left) for verdict, left in flipped]
    assert given_so == otherwise == [verdict for verdict, _, _ in raters]
    for rule in ("any", "no_majority"):
        assert in_dispute([str(one) for one in given_so], rule) == in_dispute([str(one) for one in otherwise], rule)


@given(st.lists(ANSWERS, min_size=2, max_size=7))
def test_a_majority_is_missing_only_where_people_differ_and_the_order_of_raters_says_nothing(said: list[str]) -> None:
    assert in_dispute(said, "any") == (len(set(said)) > 1)
    assert in_dispute(said, "no_majority") == (max(map(said.count, said)) * 2 <= len(said))
    assert in_dispute(said, "no_majority") == in_dispute(sorted(said), "no_majority")


def found(engine: Engine, study: int, *, early: bool = False) -> list[tuple[str, tuple[str, ...], str]]:
    with reading(engine) as session:
        return [
            (one.criterion, one.reasons, one.state)
            for one in disputes(session, session.get_one(Study, study), early=early)
        ]


def test_an_item_takes_part_once_nobody_is_still_to_hand_it_in(engine: Engine, tmp_path: Path) -> None:
    study = make_adjudicated(engine, tmp_path, {name: UNLIKE[name] for name in (ANN, BEN)})
    expected = [("clear", ("disagreement",), "open")]
    assert found(engine, study) == expected * 9
    with transaction(engine) as session:
        ben = session.scalars(select(Rater).where(Rater.handle == BEN)).one()
        mine = list(
            session.scalars(select(Assignment).where(Assignment.rater_id == ben.id).order_by(Assignment.item_id))
        )
        mine[0].status = "taken"  # reopened
        session.add(Event(study_id=study, rater_id=ben.id, assignment_id=mine[1].id, kind="flag", what="other"))
        mine[2].status, mine[2].returned = "void", None
    assert found(engine, study) == [("clear", ("disagreement", "flag"), "open"), *expected * 6]
    with transaction(engine) as session:
        session.execute(update(Report).values(shown_sha256="another text"))
        audit(session, study, None, "import")  # as whoever brings a new text in leaves it
    assert found(engine, study) == [], "an answer to a text that was replaced is no answer to the new one"


@pytest.mark.databases("sqlite")
def test_a_slot_that_nobody_took_holds_the_item_back_until_the_study_is_closed(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path, overlap=3)
    for name in (ANN, BEN):
        with transaction(engine) as session:
            person = a_person(session, study, name)
            while (work := take(session, person)) is not None:
                decide(session, person, work, UNLIKE[name])
    assert found(engine, study) == []
    assert len(found(engine, study, early=True)) == 9
    with transaction(engine) as session:
        move_study(session, session.get_one(Study, study), "closed")
    assert len(found(engine, study)) == 9


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("protocol", "one", "other", "expected"),
    [
        (RATING, {"clear": "7", "deep": "50"}, {"clear": "8", "deep": "51"}, {"deep"}),
        (RATING, {"clear": "7", "deep": "50"}, {"clear": "9", "deep": "50.5"}, {"clear"}),
        (FAR_APART, {"clear": "1", "deep": "50"}, {"clear": "9", "deep": "65"}, set()),
        (FAR_APART, {"clear": "1", "deep": "50"}, {"clear": "9", "deep": "65.5"}, {"deep"}),
        (PROBES, {"supported": "full"}, {"supported": "source_unavailable"}, {"supported"}),
        (PROBES, {"supported": "full"}, {"supported": "full"}, set()),
        (ONLY_DEEP, {"clear": "A", "deep": "A"}, {"clear": "B", "deep": "tie"}, {"deep"}),
        (NO_MAJORITY, {"clear": "A", "deep": "A"}, {"clear": "A", "deep": "B"}, {"deep"}),
    ],
)
def test_scores_and_probes_are_compared_on_their_own_scale(
    engine: Engine, tmp_path: Path, protocol: str, one: dict[str, str], other: dict[str, str], expected: set[str]
) -> None:
    write_reports(tmp_path, ("tides",), ("alpha", "beta"))
    study = make_adjudicated(engine, tmp_path, {ANN: one, BEN: other}, protocol=protocol)
    assert {criterion for criterion, _, _ in found(engine, study)} == expected


def test_a_rule_that_names_an_unknown_criterion_is_refused_by_its_name() -> None:
    with pytest.raises(AnnotationError, match=r"study\.adjudicate names 'depth'"):
        parse_protocol(PROTOCOL.replace("[study]", '[study]\nadjudicate = ["clear", "depth"]'))
    with pytest.raises(AnnotationError, match="apart is a distance of scores"):
        parse_protocol(PROTOCOL.replace("[study]", "[study]\nadjudicate = {apart = 15}"))
    assert not_yet_active(parse_protocol(ONLY_DEEP)) == []


@pytest.mark.databases("sqlite")
def test_the_queue_reads_no_system(engine: Engine, tmp_path: Path) -> None:
    study = make_adjudicated(engine, tmp_path, {name: UNLIKE[name] for name in (ANN, BEN)})
    asked: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *call: asked.append(call[2].casefold()))
    with transaction(engine) as session:
        assert disputes(session, session.get_one(Study, study))
        zoe = a_person(session, study, "Zoe Zimmer", "adjudicator")
        work = take(session, zoe)
        assert work is not None
        assert assignment_page(session, zoe, work.aid)["others"]["clear"]
    assert len(asked) > 10
    assert [one for one in asked if "systems" in one or "public_name" in one] == []
