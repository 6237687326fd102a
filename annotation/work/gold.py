"""Agreed answers: how people answered the items of training and attention, beside what was agreed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.current_labels import is_newest
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
    """An agreed answer in the words of one page: A and B become the sides they stood on, all else stays."""
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


def gold_results(session: Session, study: Study, purpose: str, *where: Any) -> list[GoldResult]:
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
