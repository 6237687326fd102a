"""Stored replies are read again with the parser of today: what a judge said, and what changes as a later revision."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from sqlalchemy import Engine, orm, select

from annotation import errors, labelling, studies, verdicts
from annotation.items.shown import item_code
from annotation.judges.asking import material, steps
from annotation.judges.replies.reply import PARSER_VERSION
from annotation.judges.reviewing.judge_standings import label_counts
from annotation.labels.answers import Answer, Answered
from db.connect import reading, transaction
from db.judge_tables import Judge, JudgeCall, JudgeCallAssignment
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
    rationale: str = ""

    @property
    def thing(self) -> tuple[Any, ...]:
        """What was asked, in which order; another repeat asks the same."""
        return self.item, self.left, self.row


def said(session: orm.Session, study: Study, call_ids: Sequence[int], *, stale: bool = False) -> Iterator[Said]:
    """The answers of these calls, some calls at a time; nothing of one that never got a reply.

    Calls on texts or questions that changed since are left out unless `stale`; `texts` would not be what those read.
    """
    by_item = studies.protocol_of(study).calibration.get("cluster") == "item"
    texts, cluster = material.Texts(), studies.cluster_of(study)
    for start in range(0, len(call_ids), material.CHUNK):
        ids = call_ids[start:][: material.CHUNK]
        served = (
            select(JudgeCall.id, Assignment.id, Assignment.left, Assignment.repeat_no, Item.id, cluster)
            .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
            .join(Assignment, Assignment.id == JudgeCallAssignment.assignment_id)
            .join(Item, Item.id == Assignment.item_id)
            .join(Topic, Topic.id == Item.topic_id)
            .where(JudgeCall.id.in_(ids))
        )
        places: dict[tuple[int, int], Sequence[Any]] = {
            (call, assignment): place for call, assignment, *place in session.execute(served)
        }
        for call, rows in material.load_calls(session, study, ids, texts).items():
            asked = {criterion.own_code: criterion for criterion in rows.material.criteria}
            for reply in () if rows.stale and not stale else _replies(rows):
                left, repeat, item, topics = places[call, reply.assignment_ids[0]]
                page = min(places[call, key][2] for key in rows.assignment_ids)
                sent = rows.material.texts[:2] if left is not None and not rows.stale else ()
                for answer in reply.answers:
                    one = asked[answer.criterion]
                    yield Said(
                        item, item_code(item) if by_item else topics, left, repeat, answer.criterion, one.row,
                        verdicts.unblind(answer.choice, left), (one.scale.min, one.scale.max) if one.scale else None,
                        sent[::-1] if left == "B" else sent, page, answer.rationale,
                    )  # fmt: skip


def _replies(rows: material.CallRows) -> tuple[Answered, ...]:
    """What the call says about each of its assignments, be it a stress test or not; nothing where no reply came."""
    answers = steps.settled_answers(rows.material, rows.tried)
    return replace(rows, stress=None).answered(answers) if answers is not None else ()


READ_AT_ONCE = 100  # assignments per transaction: stopped half-way, it is simply run again


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
            raise errors.AnnotationError("locked", f"study {study.name!r} is locked; no label can change any more")
        before = label_counts(session, study)
        judged = select(Assignment.id).join(Judge, Judge.rater_id == Assignment.rater_id)
        ids = session.scalars(judged.where(Judge.study_id == study_id).order_by(Assignment.id)).all()
    remaining = iter(ids)
    done = 0
    while chunk := list(islice(remaining, READ_AT_ONCE)):
        with transaction(engine) as session:
            _parse(session, session.get_one(Study, study_id), chunk)
        done += len(chunk)
        if on_progress is not None:
            on_progress(done, len(ids))
    with reading(engine) as session:
        after = label_counts(session, session.get_one(Study, study_id))
    return tuple(Reparsed(judge, before.get(judge, {}), counts) for judge, counts in sorted(after.items()))


def _parse(session: orm.Session, study: Study, assignments: Sequence[int]) -> None:
    answering = _answering_calls(session, assignments)
    labelling.record_answers(
        session,
        [
            Answered((key,), kept)
            for call, rows in material.load_calls(session, study, sorted(set(answering.values()))).items()
            for key, answers in _answers(rows)
            if (kept := tuple(a for a in answers if answering.get((key, rows.row_of(a.criterion))) == call))
        ],
        parser_version=PARSER_VERSION,
    )


def _answering_calls(session: orm.Session, assignments: Sequence[int]) -> dict[tuple[int, int], int]:
    """(assignment, criterion row) -> the call that answered it last."""
    finished = (
        select(JudgeCall.id, JudgeCallAssignment.assignment_id, JudgeCall.criteria)
        .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
        .where(
            JudgeCallAssignment.assignment_id.in_(assignments),
            JudgeCall.done_at.is_not(None),
            JudgeCall.outcome != "stale",  # it left no label
            JudgeCall.stress.is_(None),  # nor does a stress test
        )
        .order_by(JudgeCall.done_at, JudgeCall.id)
    )
    return {(key, row): call for call, key, criteria in session.execute(finished) for row in criteria}


def _answers(rows: material.CallRows) -> Iterator[tuple[int, Sequence[Answer]]]:
    """Assignments of a call with what its stored replies say; none where the texts or questions were replaced."""
    answers = None if rows.stale else steps.settled_answers(rows.material, rows.tried)
    for reply in rows.answered(answers or ()):
        for assignment in reply.assignment_ids:
            yield assignment, reply.answers
