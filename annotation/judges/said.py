"""What a judge said in calls that were made, read from the stored replies with the parser of today."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.item_codes import item_code
from annotation.judges.answers import Answered
from annotation.judges.material import CallRows, load_calls
from annotation.judges.probing import CHUNK
from annotation.judges.steps import settled_answers
from annotation.judges.texts_kept import Texts
from annotation.studies import protocol_of
from annotation.verdicts import unblind
from db.judge_tables import JudgeCall, JudgeCallAssignment
from db.tables import Assignment, Item, Study, Topic


@dataclass(frozen=True)
class Said:
    """One answer of one call. `verdict`: None where it was not usable. `texts`: as they were sent, A first; empty
    where nothing is paired. `scale`: ends of a rating's scale.
    """

    item: int
    cluster: str
    left: str | None
    repeat: int
    criterion: str
    row: int
    verdict: str | None
    scale: tuple[float, float] | None
    texts: tuple[str, ...]
    page: int  # the first of the items that the call served

    @property
    def thing(self) -> tuple[Any, ...]:
        """What was asked, in which order; another repeat asks the same."""
        return self.item, self.left, self.row


def said(session: Session, study: Study, call_ids: Sequence[int], *, stale: bool = False) -> Iterator[Said]:
    """The answers of these calls, some calls at a time; nothing of one that never got a reply.

    Calls on texts or questions that changed since are left out unless `stale`; `texts` would not be what those read.
    """
    by_item = protocol_of(study).calibration.get("cluster") == "item"
    texts = Texts()
    for start in range(0, len(call_ids), CHUNK):
        ids = call_ids[start:][:CHUNK]
        served = (
            select(JudgeCall.id, Assignment.id, Assignment.left, Assignment.repeat_no, Item.id, Topic.key)
            .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
            .join(Assignment, Assignment.id == JudgeCallAssignment.assignment_id)
            .join(Item, Item.id == Assignment.item_id)
            .join(Topic, Topic.id == Item.topic_id)
            .where(JudgeCall.id.in_(ids))
        )
        places: dict[tuple[int, int], Sequence[Any]] = {
            (call, assignment): place for call, assignment, *place in session.execute(served)
        }
        for call, rows in load_calls(session, study, ids, texts).items():
            asked = {one.own_code: one for one in rows.material.criteria}
            for reply in () if rows.stale and not stale else _replies(rows):
                left, repeat, item, topic = places[call, reply.assignment_ids[0]]
                page = min(places[call, key][2] for key in rows.assignment_ids)
                sent = rows.material.texts if left is not None and not rows.stale else ()
                for answer in reply.answers:
                    one = asked[answer.criterion]
                    yield Said(
                        item, item_code(item) if by_item else topic, left, repeat, answer.criterion, one.row,
                        unblind(answer.choice, left), (one.scale.min, one.scale.max) if one.scale else None,
                        sent[::-1] if left == "B" else sent, page,
                    )  # fmt: skip


def _replies(rows: CallRows) -> tuple[Answered, ...]:
    """What the call says about each of its assignments, be it a probe or not; nothing where no reply came."""
    answers = settled_answers(rows.material, rows.tried)
    return replace(rows, probe_kind=None).answered(answers) if answers is not None else ()
