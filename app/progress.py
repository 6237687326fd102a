"""How far a study is: counts a screen and the command line both show, by rater, item, topic, system and criterion."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from shlex import quote
from typing import Any

from sqlalchemy import and_, case, func, not_, or_, orm, select

from annotation.items.shown import item_code
from annotation.items.twins import once_a_page
from annotation.open_work.returns import idle_since
from annotation.people.principals import Principal, study_for
from annotation.planning.draws import TopicDraw, kept_draws
from annotation.studies import protocol_of
from annotation.work.remarks import Remark, remarks_of
from db.judge_tables import Judge, JudgeAttempt, JudgeCall
from db.people_tables import Enrollment
from db.tables import HANDED_IN, LIVE, SLOT_SOURCES, Assignment, Criterion, Item, Label, Report, Study, System, Topic
from plain.wording import several, worded

DONE = Assignment.status.in_(HANDED_IN)
SHOWN = orm.aliased(Report)
SLOTS = Assignment.source.in_(SLOT_SOURCES), Assignment.purpose == "label"
N_DONE, N_IN_WORK = (func.sum(case((is_so, 1), else_=0)) for is_so in (DONE, Assignment.status == "taken"))


@dataclass(frozen=True)
class RaterProgress:
    rater: str  # pseudonym or judge's name
    kind: str
    submitted: int  # label slots, and of a judge all its passes
    in_work: int
    cost_usd: float | None  # judges: all billed attempts; None where a price is unknown
    quota: int | None = None  # most slots this person may take; None: as many as there are
    status: str = "active"  # of a person: active | paused | withdrawn


@dataclass(frozen=True)
class Part:
    """One item, topic, system or criterion. `slots`: what it is to have; of a criterion, its items times overlap."""

    name: str
    submitted: int
    in_work: int
    slots: int


@dataclass(frozen=True)
class StaleClaim:
    """Work in hand without an event for longer than the study allows; it goes back when somebody takes work."""

    rater: str
    item: str
    since: datetime


@dataclass(frozen=True)
class StudyProgress:
    study: str
    status: str
    reports: int
    items: int
    slots: int
    submitted: int
    raters: tuple[RaterProgress, ...]
    by_item: tuple[Part, ...]
    stale: tuple[StaleClaim, ...]
    remarks: tuple[Remark, ...]  # the newest first
    short: str = ""  # how many annotators are missing, and what to do; "" where they suffice, or nothing is planned
    drawn: str = ""  # how many topics are drawn by now, and how the next batch is; "" where topics are not drawn


@dataclass(frozen=True)
class StudyParts:
    by_topic: tuple[Part, ...]
    by_system: tuple[Part, ...]  # counts only: no label stands beside a system here
    by_criterion: tuple[Part, ...]


def far(progress: StudyProgress) -> str:
    """Say in one sentence how far the work is."""
    if not progress.slots and any(rater.submitted for rater in progress.raters if rater.kind == "human"):
        return worded(
            "Labels of people were imported, for {items:,} items; nobody was asked here.", items=progress.items
        )
    return f"{handed_in(progress.slots, progress.submitted)} {progress.drawn}".rstrip()


def drawn_words(study: str, batches: Sequence[TopicDraw]) -> str:
    """How many topics are drawn by now, and what draws the next batch; empty where topics are not drawn."""
    if not batches:
        return ""
    drawn, topics = sum(len(batch.topics) for batch in batches), batches[0].waiting
    told = worded(
        "{drawn:,} of {topics} are drawn, in {batchs}",
        drawn=drawn, topics=several(topics, "topic"), batchs=several(len(batches), "batch"),
    )  # fmt: skip
    if drawn >= topics:
        return worded("{told}: nothing is left to draw.", told=told)
    return worded(
        "{told}; the next one, by all that is answered by then: calipers pairs {quote} --design active.",
        told=told, quote=quote(study),
    )  # fmt: skip


def handed_in(slots: int, submitted: int) -> str:
    share = f" ({100 * submitted / slots:.0f} %)" if slots else ""
    return worded(
        "{submitted:,} of {slots:,} slots are handed in{share}.", submitted=submitted, slots=slots, share=share
    )


def study_progress(session: orm.Session, principal: Principal) -> StudyProgress:
    """Counts of items, slots and work handed in, in a fixed number of queries; people by pseudonym.

    Training, attention, retest and adjudication are nobody's slot and count nowhere.
    """
    study = study_for(session, principal, "evaluator")
    slots, submitted = label_slots(session, study)
    # by way of the topics: an index of theirs holds every report, whose own rows are as long as their texts
    reports = select(func.count(Report.id)).join(Topic, Topic.id == Report.topic_id).where(Topic.study_id == study.id)
    items = select(func.count(Item.id)).where(Item.study_id == study.id)
    by_item, people = _by(session, study, Item.id, {}), _people(session, study)
    return StudyProgress(
        study=study.name,
        status=study.status,
        reports=session.scalar(reports) or 0,
        items=(session.scalar(items) or 0) - _not_labelled(session, study),
        slots=slots,
        submitted=submitted,
        raters=(*people, *_judges(session, study)),
        by_item=tuple(Part(item_code(int(item.name)), item.submitted, item.in_work, item.slots) for item in by_item),
        stale=_stale(session, study),
        remarks=remarks_of(session, principal),
        short=_short(session, study, by_item, sum(person.status != "withdrawn" for person in people)),
        drawn=drawn_words(study.name, kept_draws(session, study)),
    )


def _short(session: orm.Session, study: Study, by_item: Sequence[Part], people: int) -> str:
    """`3 annotators an item, 2 invited`, or the topic with too many open slots where nobody is to see one twice.

    Empty where no work is given out any more.
    """
    if study.status in ("closed", "locked"):
        return ""
    asked, name = max((part.slots for part in by_item), default=0), quote(study.name)
    if people < asked:
        return worded(
            "{asked} annotators an item, {people} invited: {people2} more must come before every item can be done "
            "(calipers invite {quote} NAME)",
            asked=asked, people=people, people2=asked - people, quote=name,
        )  # fmt: skip
    if not protocol_of(study).study.topic_once:
        return ""
    there = func.sum(case((Assignment.status == "open", 1), else_=0))
    took = func.count(Enrollment.rater_id.distinct())
    of_people = (Enrollment.study_id == study.id, Enrollment.role == "annotator", Enrollment.status != "withdrawn")
    rows = (
        select(Topic.key, there, took)
        .join(Item, Item.topic_id == Topic.id)
        .join(Assignment, Assignment.item_id == Item.id)
        .outerjoin(Enrollment, and_(Enrollment.rater_id == Assignment.rater_id, *of_people))
        .where(*_standing(study))
        .group_by(Topic.key)
    )
    counts = [(slots - (people - had), slots, key, people - had) for key, slots, had in session.execute(rows)]
    missing, slots, topic, left = max(counts, default=(0, 0, "", 0))
    if missing <= 0:
        return ""
    return worded(
        "topic {topic} has {slots} open slots, nobody is to see a topic twice, and {left} of {people} invited have not "
        "had it: {missing} more must come before every item can be done (calipers invite {quote} NAME), or set "
        "topic_once = false in the protocol",
        topic=topic, slots=slots, left=left, people=people, missing=missing, quote=name,
    )  # fmt: skip


def study_parts(session: orm.Session, principal: Principal) -> StudyParts:
    """The same counts in parts; reading the answers to each question takes as long as all of `study_progress`."""
    study = study_for(session, principal, "evaluator")
    return StudyParts(
        by_topic=_by(session, study, Topic.key, {Topic: Topic.id == Item.topic_id}),
        by_system=_by_system(session, study),
        by_criterion=_by_criterion(session, study, label_slots(session, study)[0]),
    )


def label_slots(session: orm.Session, study: Study) -> tuple[int, int]:
    """All that are wanted, and those handed in: the quickest of the counts."""
    rows = select(func.count(), N_DONE).select_from(Assignment).join(Item, Item.id == Assignment.item_id)
    every, done = session.execute(rows.where(*_standing(study))).one()
    return every, done or 0


def _standing(study: Study) -> tuple[Any, ...]:
    """Label slots that are still wanted, or done: those of an item left out are wanted no more."""
    return (
        Assignment.study_id == study.id, *SLOTS, Assignment.status.in_(LIVE),
        or_(Item.excluded_at.is_(None), DONE), *once_a_page(study),
    )  # fmt: skip


def _not_labelled(session: orm.Session, study: Study) -> int:
    """Items of training and attention, which nobody labels, and the second of two rated in one view."""
    seconds = not_(and_(True, *once_a_page(study, Item.id)))
    return (
        session.scalar(select(func.count()).where(Item.study_id == study.id, (Item.purpose != "label") | seconds)) or 0
    )


def _by(session: orm.Session, study: Study, column: Any, joined: Mapping[Any, Any]) -> tuple[Part, ...]:
    rows = select(column, N_DONE, N_IN_WORK, func.count()).join(Item, Item.id == Assignment.item_id)
    for table, on in joined.items():
        rows = rows.join(table, on)
    counts = session.execute(rows.where(*_standing(study)).group_by(column).order_by(column))
    return tuple(Part(str(name), done or 0, taken or 0, every) for name, done, taken, every in counts)


def _by_system(session: orm.Session, study: Study) -> tuple[Part, ...]:
    """A slot on a pair, or on two reports rated in one view, counts for both of its systems."""
    rated = (Item.report_a_id, Item.report_b_id, *([Item.reference_id] if protocol_of(study).rates_both else []))
    shown = or_(*(SHOWN.id == report for report in rated))
    return _by(session, study, System.key, {SHOWN: shown, System: System.id == SHOWN.system_id})


def _by_criterion(session: orm.Session, study: Study, slots: int) -> tuple[Part, ...]:
    """Answers handed in and not handed in yet, of the questions asked now; none where nobody is asked here."""
    if not slots:
        return ()
    asked = select(Criterion.id, Criterion.code, Criterion.topic_id).where(
        Criterion.study_id == study.id, Criterion.retired_at.is_(None)
    )
    criteria = session.execute(asked.order_by(Criterion.position, Criterion.code)).all()
    if any(topic is not None for _, _, topic in criteria):
        return ()  # questions come with each topic: hundreds, each of a few slots
    answered = session.execute(
        select(Label.criterion_id, Assignment.status, func.count(Assignment.id.distinct()))
        .join(Assignment, Assignment.id == Label.assignment_id)
        .where(
            Assignment.study_id == study.id, *SLOTS, Assignment.status.in_(("taken", *HANDED_IN)),
            Label.choice.is_not(None),
        )
        .group_by(Label.criterion_id, Assignment.status)
    )  # fmt: skip
    done, taken = Counter[int](), Counter[int]()
    for criterion, status, count in answered:
        (taken if status == "taken" else done)[criterion] += count
    slots *= 2 if protocol_of(study).rates_both else 1
    return tuple(Part(code, done[key], taken[key], slots) for key, code, _ in criteria)


def _people(session: orm.Session, study: Study) -> list[RaterProgress]:
    own = (Assignment.rater_id == Enrollment.rater_id) & (Assignment.study_id == study.id) & (
        Assignment.purpose == "label"
    ) & and_(True, *once_a_page(study))  # fmt: skip
    rows = session.execute(
        select(Enrollment.pseudonym, N_DONE, N_IN_WORK, Enrollment.quota, Enrollment.status)
        .outerjoin(Assignment, own)
        .where(Enrollment.study_id == study.id, Enrollment.role == "annotator")
        .group_by(Enrollment.pseudonym, Enrollment.quota, Enrollment.status)
        .order_by(Enrollment.pseudonym)
    )
    return [
        RaterProgress(name, "human", done or 0, taken or 0, None, quota, status)
        for name, done, taken, quota, status in rows
    ]


def _judges(session: orm.Session, study: Study) -> list[RaterProgress]:
    spent = {
        judge: cost if attempts == priced else None
        for judge, cost, attempts, priced in session.execute(
            select(
                JudgeCall.judge_id, func.sum(JudgeAttempt.cost), func.count(JudgeAttempt.id),
                func.count(JudgeAttempt.cost),
            )
            .join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id)
            .join(Judge, Judge.id == JudgeCall.judge_id)
            .where(Judge.study_id == study.id)
            .group_by(JudgeCall.judge_id)
        )
    }  # fmt: skip
    rows = session.execute(
        select(Judge.id, Judge.name, N_DONE, N_IN_WORK)
        .outerjoin(Assignment, Assignment.rater_id == Judge.rater_id)
        .where(Judge.study_id == study.id)
        .group_by(Judge.id, Judge.name)
        .order_by(Judge.name)
    )
    return [RaterProgress(name, "judge", done or 0, taken or 0, spent.get(judge)) for judge, name, done, taken in rows]


def _stale(session: orm.Session, study: Study) -> tuple[StaleClaim, ...]:
    last = func.coalesce(Assignment.active_at, Assignment.taken_at)
    rows = session.execute(
        select(Enrollment.pseudonym, Assignment.item_id, last)
        .join(Enrollment, (Enrollment.rater_id == Assignment.rater_id) & (Enrollment.study_id == study.id))
        .where(
            Assignment.study_id == study.id, Assignment.status == "taken", *SLOTS, Assignment.source == "app",
            last < idle_since(study), *once_a_page(study),
        )
        .order_by(last)
    )  # fmt: skip
    return tuple(StaleClaim(rater, item_code(item), since) for rater, item, since in rows)
