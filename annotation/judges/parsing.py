"""Read stored replies again with the parser of today: no call is made, and what changes is a later revision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.judges.answers import Answer, Answered
from annotation.judges.material import CallRows, load_calls
from annotation.judges.reply import PARSER_VERSION
from annotation.judges.standing import label_counts
from annotation.judges.steps import settled_answers
from annotation.labelling import record_answers
from db.connect import reading, transaction
from db.judge_tables import Judge, JudgeCall, JudgeCallAssignment
from db.tables import Assignment, Study

CHUNK = 100  # assignments per transaction: stopped half-way, it is simply run again


@dataclass(frozen=True)
class Reparsed:
    """One judge's current labels by status, before and after."""

    judge: str
    before: Mapping[str, int]
    after: Mapping[str, int]


def parse_again(
    engine: Engine, study_id: int, *, on_progress: Callable[[int, int], None] | None = None
) -> tuple[Reparsed, ...]:
    """Label every stored reply of the study anew; twice changes nothing more.

    Where several calls answered a question, the last one finished still does. Replies on replaced texts stay as they
    are. Raises AnnotationError where the study is locked.
    """
    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        if study.status == "locked":
            raise AnnotationError("locked", f"study {study.name!r} is locked; no label can change any more")
        before = label_counts(session, study)
        judged = select(Assignment.id).join(Judge, Judge.rater_id == Assignment.rater_id)
        ids = session.scalars(judged.where(Judge.study_id == study_id).order_by(Assignment.id)).all()
    remaining = iter(ids)
    done = 0
    while chunk := list(islice(remaining, CHUNK)):
        with transaction(engine) as session:
            _parse(session, session.get_one(Study, study_id), chunk)
        done += len(chunk)
        if on_progress is not None:
            on_progress(done, len(ids))
    with reading(engine) as session:
        after = label_counts(session, session.get_one(Study, study_id))
    return tuple(Reparsed(judge, before.get(judge, {}), counts) for judge, counts in sorted(after.items()))


def _parse(session: Session, study: Study, assignments: Sequence[int]) -> None:
    answering = _answering_calls(session, assignments)
    record_answers(
        session,
        [
            Answered((key,), kept)
            for call, rows in load_calls(session, study, sorted(set(answering.values()))).items()
            for key, answers in _answers(rows)
            if (kept := tuple(a for a in answers if answering.get((key, rows.row_of(a.criterion))) == call))
        ],
        parser_version=PARSER_VERSION,
    )


def _answering_calls(session: Session, assignments: Sequence[int]) -> dict[tuple[int, int], int]:
    """(assignment, criterion row) -> the call that answered it last."""
    finished = (
        select(JudgeCall.id, JudgeCallAssignment.assignment_id, JudgeCall.criteria)
        .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
        .where(
            JudgeCallAssignment.assignment_id.in_(assignments),
            JudgeCall.done_at.is_not(None),
            JudgeCall.outcome != "stale",  # it left no label
            JudgeCall.probe_kind.is_(None),  # nor does a probe
        )
        .order_by(JudgeCall.done_at, JudgeCall.id)
    )
    return {(key, row): call for call, key, criteria in session.execute(finished) for row in criteria}


def _answers(rows: CallRows) -> Iterator[tuple[int, Sequence[Answer]]]:
    """Assignments of a call with what its stored replies say; none where the texts or questions were replaced."""
    answers = None if rows.stale else settled_answers(rows.material, rows.tried)
    for reply in rows.answered(answers or ()):
        for assignment in reply.assignment_ids:
            yield assignment, reply.answers
