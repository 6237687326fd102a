"""Agreed answers: how people answered items of training and attention, and what follows for those who did not read."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import orm, select

from annotation.labels.current_labels import is_newest
from annotation.people.principals import Principal
from annotation.studies import audit, protocol_of
from db.people_tables import Enrollment
from db.tables import HANDED_IN, Assignment, Criterion, Item, Label, Study


@dataclass(frozen=True)
class GoldResult:
    """One answer to a question whose answer is agreed. `answer` and `gold` as on that page: left, right, tie, a score …

    `attempt` is the pass: 1 for attention, the number of the try for training.
    """

    assignment: int  # id
    rater: int  # id
    item: int  # id
    attempt: int
    criterion: str
    answer: str | None
    gold: str
    reason: str

    @property
    def matches(self) -> bool:
        """The same answer. A score must be the very number."""
        return self.answer == self.gold


def as_shown(gold: str, left: str | None) -> str:
    """An agreed answer in the words of one page: A and B become the sides they were on, all else stays."""
    if left is None or gold not in ("A", "B"):
        return gold
    return "left" if gold == left else "right"


def told_reason(reason: str, left: str | None) -> str:
    """A reason in the words of one page: {A} and {B} become the left and the right report."""
    begins = reason.startswith("{")
    for letter in ("A", "B"):
        said = "this report" if left is None else f"the {as_shown(letter, left)} report"
        reason = reason.replace(f"{{{letter}}}", said)
    return reason[:1].upper() + reason[1:] if begins else reason


def gold_results(session: orm.Session, study: Study, purpose: str, *where: Any) -> list[GoldResult]:
    """Every handed-in answer to an agreed question of items with this purpose, in the order handed in.

    `study` comes from `principals.study_for`, or is the person's own; `where`: further conditions on their assignments.
    """
    rows = session.execute(
        select(
            Assignment.id, Assignment.rater_id, Assignment.item_id, Assignment.pass_no, Assignment.left,
            Criterion.code, Label.choice,
        )
        .join(Assignment, Assignment.id == Label.assignment_id)
        .join(Criterion, Criterion.id == Label.criterion_id)
        .where(
            Assignment.study_id == study.id, Assignment.purpose == purpose, Assignment.status.in_(HANDED_IN),
            Criterion.retired_at.is_(None), is_newest(), *where,
        )
        .order_by(Assignment.submitted_at, Assignment.id, Criterion.position)
    )  # fmt: skip
    # read once an item, not once a label
    golds = session.execute(select(Item.id, Item.gold).where(Item.study_id == study.id, Item.gold.is_not(None)))
    agreed_on = {item: gold or {} for item, gold in golds}
    return [
        GoldResult(
            row.id, row.rater_id, row.item_id, row.pass_no, row.code, row.choice,
            as_shown(agreed["answer"], row.left), told_reason(agreed["reason"], row.left),
        )
        for row in rows
        if (agreed := agreed_on.get(row.item_id, {}).get(row.code))
    ]  # fmt: skip


FAILED_MIN = 2  # one slip is nobody's habit
FAILED_SHARE_MAX = 1 / 3


@dataclass(frozen=True)
class Attention:
    """Attention items one person handed in."""

    passed: int
    failed: int

    @property
    def is_too_low(self) -> bool:
        """At least two failed, and more than a third."""
        return self.failed >= FAILED_MIN and self.failed > FAILED_SHARE_MAX * (self.passed + self.failed)


def attention_results(session: orm.Session, study: Study, *where: Any) -> dict[int, Attention]:
    """rater -> attention items passed and failed; absent for those who handed none in.

    `study` comes from `principals.study_for`; `where`: further conditions on the assignments.
    """
    found: dict[int, Attention] = {}
    for rater, _, fails in attention_items(session, study, *where):
        before = found.get(rater, Attention(0, 0))
        found[rater] = Attention(before.passed + (not fails), before.failed + fails)
    return found


def attention_items(session: orm.Session, study: Study, *where: Any) -> Iterator[tuple[int, int, bool]]:
    """Rater, assignment, and whether it was failed, of every attention item that was handed in."""
    answers = sorted(
        gold_results(session, study, "attention", *where), key=lambda answer: (answer.rater, answer.assignment)
    )
    for (rater, assignment), of_item in groupby(answers, key=lambda answer: (answer.rater, answer.assignment)):
        matches = [answer.matches for answer in of_item]
        yield rater, assignment, 2 * sum(matches) < len(matches)


def is_careless(session: orm.Session, principal: Principal) -> bool:
    """Whether this person is to be told to read with more care: only where the study warns. Never of which item."""
    study = session.get_one(Study, principal.study_id)
    if protocol_of(study).study.attention.policy != "warn" or principal.rater_id is None:
        return False
    mine = attention_results(session, study, Assignment.rater_id == principal.rater_id)
    return any(rate.is_too_low for rate in mine.values())


def note_attention(session: orm.Session, study: Study, assignment: Assignment) -> None:
    """Act on what was just handed in: where the study pauses, a person who now fails too often gets no more work."""
    if assignment.purpose != "attention" or protocol_of(study).study.attention.policy != "pause":
        return
    just_now = attention_results(session, study, Assignment.id == assignment.id)
    mine = attention_results(session, study, Assignment.rater_id == assignment.rater_id)
    # an admin who lets a person go on is not overruled by what they did before
    if any(rate.failed for rate in just_now.values()) and any(rate.is_too_low for rate in mine.values()):
        person = session.scalars(
            select(Enrollment).where(Enrollment.study_id == study.id, Enrollment.rater_id == assignment.rater_id)
        ).one()
        person.status = "paused"
        audit(session, study.id, assignment.rater_id, "attention_pause", enrollment=person.pseudonym)
