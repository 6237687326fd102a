"""Attention items: who read carefully enough, and what happens to those who did not.

An item is failed when fewer than half of the answers it was agreed on match.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.people.principals import Principal
from annotation.studies import audit, protocol_of
from annotation.work.gold import gold_results
from db.people_tables import Enrollment
from db.tables import Assignment, Study

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


def attention_results(session: Session, study: Study, *where: Any) -> dict[int, Attention]:
    """rater -> attention items passed and failed; absent for those who handed none in.

    `study` comes from `principals.study_for`; `where`: further conditions on the assignments.
    """
    found: dict[int, Attention] = {}
    for rater, _, fails in attention_items(session, study, *where):
        before = found.get(rater, Attention(0, 0))
        found[rater] = Attention(before.passed + (not fails), before.failed + fails)
    return found


def attention_items(session: Session, study: Study, *where: Any) -> Iterator[tuple[int, int, bool]]:
    """Rater, assignment, and whether it was failed, of every attention item that was handed in."""
    answers = sorted(
        gold_results(session, study, "attention", *where), key=lambda answer: (answer.rater, answer.assignment)
    )
    for (rater, assignment), of_item in groupby(answers, key=lambda answer: (answer.rater, answer.assignment)):
        matches = [answer.matches for answer in of_item]
        yield rater, assignment, 2 * sum(matches) < len(matches)


def is_careless(session: Session, principal: Principal) -> bool:
    """Whether this person is to be told to read with more care: only where the study warns. Never of which item."""
    study = session.get_one(Study, principal.study_id)
    if protocol_of(study).study.attention.policy != "warn" or principal.rater_id is None:
        return False
    mine = attention_results(session, study, Assignment.rater_id == principal.rater_id)
    return any(one.is_too_low for one in mine.values())


def note_attention(session: Session, study: Study, assignment: Assignment) -> None:
    """Act on what was just handed in: where the study pauses, a person who now fails too often gets no more work."""
    if assignment.purpose != "attention" or protocol_of(study).study.attention.policy != "pause":
        return
    just_now = attention_results(session, study, Assignment.id == assignment.id)
    mine = attention_results(session, study, Assignment.rater_id == assignment.rater_id)
    # an admin who lets a person go on is not overruled by what they did before
    if any(one.failed for one in just_now.values()) and any(one.is_too_low for one in mine.values()):
        person = session.scalars(
            select(Enrollment).where(Enrollment.study_id == study.id, Enrollment.rater_id == assignment.rater_id)
        ).one()
        person.status = "paused"
        audit(session, study.id, assignment.rater_id, "attention_pause", enrollment=person.pseudonym)
