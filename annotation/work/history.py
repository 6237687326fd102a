"""How answers became what they are, every revision with typing in progress folded, and what was handed in by whom."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pandas as pd
from sqlalchemy import func, orm, select

from annotation.items.shown import item_code
from annotation.items.twins import beside_by_id, once_a_page
from annotation.people import active_time, principals
from annotation.training.gold import attention_items
from annotation.work.page import own_assignment
from db.people_tables import Enrollment
from db.tables import HANDED_IN, REFERENCE, REPORT_A, REPORT_B, Assignment, Criterion, Event, Item, Label, Study

PAUSE = timedelta(minutes=2)


@dataclass(frozen=True)
class Revision:
    """One revision of an answer, as far as its history tells it."""

    time: datetime
    choice: str | None
    confidence: int | None
    rationale: str
    evidence: int  # quoted passages
    writer: str
    reopens: int  # how often the work had been reopened by then
    wording: int  # row of the criterion: another one where its words were changed in between
    earlier_words: bool

    def goes_on_from(self, before: "Revision") -> bool:
        """The same sitting at the same answer: only text, quotes and a first confidence may be new, without a pause."""
        same = self._sitting() == before._sitting() and before.confidence in (None, self.confidence)
        return same and self.time - before.time <= PAUSE

    def _sitting(self) -> tuple[object, ...]:
        return self.choice, self.writer, self.reopens, self.wording


def fold(revisions: Sequence[Revision]) -> list[Revision]:
    """The last revision of every sitting, for the revisions of one criterion, oldest first.

    Consecutive revisions fold into the later one if they have the same choice, writer and wording, and the same
    confidence or none before, lie at most `PAUSE` apart, and the work was not reopened in between. Nothing is folded in
    the database.
    """
    return [
        revision
        for revision, later in zip(revisions, [*revisions[1:], None], strict=False)
        if later is None or not later.goes_on_from(revision)
    ]


def answer_history(session: orm.Session, principal: principals.Principal, aid: str) -> list[dict[str, Any]]:
    """`[{criterion, revisions: [{time, choice, confidence, rationale, evidence, reopened, earlier_words}]}]`.

    Own work only; times in UTC, oldest first. `evidence` counts quotes; `reopened`: given after the work was handed in
    and reopened; `earlier_words`: the criterion asked something else then. Raises AnnotationError `not_found`.
    """
    assignment = own_assignment(session, principal, aid)
    reopens = _reopens(session, assignment)
    rows = session.execute(
        select(Criterion, Label)
        .join(Criterion, Criterion.id == Label.criterion_id)
        .where(Label.assignment_id == assignment.id)
        .order_by(Label.id)
    )
    given: dict[str, list[Revision]] = defaultdict(list)
    for criterion, label in rows:
        given[criterion.code].append(
            Revision(
                time=label.created_at, choice=label.choice, confidence=label.confidence, rationale=label.rationale,
                evidence=len(label.evidence), writer=label.writer, reopens=bisect_right(reopens, label.created_at),
                wording=criterion.id, earlier_words=criterion.retired_at is not None,
            )
        )  # fmt: skip
    return [
        {"criterion": code, "revisions": [_told(revision) for revision in fold(revisions)]}
        for code, revisions in given.items()
    ]


def _reopens(session: orm.Session, assignment: Assignment) -> Sequence[datetime]:
    return session.scalars(
        select(Event.created_at)
        .where(
            Event.study_id == assignment.study_id,
            Event.kind == "audit",
            Event.what == "reopen",
            Event.data["assignment"].as_integer() == assignment.id,
        )
        .order_by(Event.created_at)
    ).all()


def _told(revision: Revision) -> dict[str, Any]:
    return {
        "time": revision.time.isoformat(),
        "choice": revision.choice,
        "confidence": revision.confidence,
        "rationale": revision.rationale,
        "evidence": revision.evidence,
        "reopened": revision.reopens > 0,
        "earlier_words": revision.earlier_words,
    }


COLUMNS = ("rater_id", "item_id", "purpose", "submitted_at", "active_s", "words", "attention")


def work_log(session: orm.Session, study: Study) -> pd.DataFrame:
    """`COLUMNS` of people's work handed in, in the order handed in; three queries. `study` from `principals.study_for`.

    `rater_id` is the pseudonym, `item_id` that of `labels.csv`. `active_s`: nan where no page reported any, as for
    packets and imported labels. `words`: of all texts shown. `attention`: `passed` or `failed` where it is one. Two
    reports rated in one view are one row.
    """
    texts = a, b, reference = REPORT_A, REPORT_B, REFERENCE
    words = func.coalesce(a.words, 0) + func.coalesce(b.words, 0) + func.coalesce(reference.words, 0)
    rows = (
        select(Assignment.id, Enrollment.pseudonym, Assignment.item_id, Assignment.purpose, Assignment.submitted_at,
               words)
        .join(Enrollment, (Enrollment.rater_id == Assignment.rater_id) & (Enrollment.study_id == study.id))
        .join(Item, Item.id == Assignment.item_id)
        .where(
            Assignment.study_id == study.id, Assignment.status.in_(HANDED_IN),
            Assignment.purpose.in_(("label", "retest", "attention")), *once_a_page(study),
        )
        .order_by(Assignment.submitted_at, Assignment.id)
    )  # fmt: skip
    for text, column in zip(texts, (Item.report_a_id, Item.report_b_id, Item.reference_id), strict=True):
        rows = rows.outerjoin(text, text.id == column)
    seconds = {key: sum(own.values()) for key, own in active_time.seconds_by_assignment(session, study).items()}
    for work, twin in beside_by_id(session, study).items():
        if work < twin and {work, twin} & seconds.keys():
            seconds[work] = seconds[twin] = seconds.get(work, 0.0) + seconds.get(twin, 0.0)
    verdict = {
        assignment: "failed" if failed else "passed" for _, assignment, failed in attention_items(session, study)
    }
    found = [
        (rater, item_code(item), purpose, submitted, seconds.get(key), shown,
         verdict.get(key, ""))
        for key, rater, item, purpose, submitted, shown in session.execute(rows)
    ]  # fmt: skip
    log = pd.DataFrame(found, columns=list(COLUMNS))
    return log.assign(
        active_s=log["active_s"].astype(float), submitted_at=pd.to_datetime(log["submitted_at"], utc=True)
    )
