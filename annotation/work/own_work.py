"""What one annotator may know of their own work: how far they are, their time and pay, their items and remarks.

Never anybody else's labels, which system wrote what, nor why an item was given to them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import func, orm, select

from annotation.errors import AnnotationError
from annotation.items.twins import twins_among, with_twin
from annotation.labels import current_labels
from annotation.people import active_time, principals
from annotation.people.consent import consent_state
from annotation.protocol import Protocol
from annotation.studies import codes_by_topic, protocol_of
from annotation.training.gold import is_careless
from annotation.training.training import TrainingState, closed_gate, training_state
from annotation.work.page import missing_answers, own_assignment
from annotation.work.progress import completion_code, position, waits_until
from annotation.work.remarks import GIVEN, Reply, answers_to
from annotation.work.way_back import address_back
from db.people_tables import Enrollment
from db.tables import HANDED_IN, Assignment, Criterion, Event, Item, Label, Study, Topic

NO_REASON = (0, "")
STATES = {"taken": "in work", "submitted": "submitted", "locked": "locked", "returned": "returned", "void": "withdrawn"}


@dataclass(frozen=True)
class Pay:
    """What the active time so far is worth; not rounded."""

    rate: float  # per active hour
    currency: str
    amount: float


@dataclass(frozen=True)
class OwnRemark:
    """A flag or a comment as this person sent it, and what was answered."""

    kind: str  # flag | comment
    what: str  # of a flag: broken_text | reveals_author | other
    text: str
    replies: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnItem:
    aid: str
    topic: str
    state: str  # one of STATES' values
    returned: str | None  # why it went back: skipped | closed | stale | withdrawn | packet | void
    reason: str  # a skip's, in this person's own words
    may_reopen: bool
    answered: int
    criteria: int  # of two reports rated in one view, of both
    submitted_at: datetime | None
    active_s: float
    remarks: tuple[OwnRemark, ...]
    skip_replies: tuple[str, ...] = ()  # what was answered to the reason of a skip
    is_training: bool = False


@dataclass(frozen=True)
class OwnWork:
    """All of it, in plain values. `pay` is None where the study pays nothing; `items` come newest first."""

    title: str
    status: str  # the study's; held where it is open, but this person is paused
    simulated: bool
    task: str
    guidance: str  # Markdown
    consent: str  # Markdown; empty where the study asks for none
    consented_at: datetime | None
    submitted: int
    in_work: int
    to_come: int
    goes_on: bool  # there is something to continue with, or to take
    active_s: float
    pay: Pay | None
    idle_s: int  # a longer pause is cut to this
    theme: str  # light | dark | system, as this person likes the page
    items: tuple[OwnItem, ...]
    careless: bool = False  # whether the study asks this person to read with more care
    language: str = "en"  # the study's, BCP 47
    more_at: datetime | None = None  # when there is work again, where nothing can be taken before
    completion_code: str | None = None  # for the platform they came from, once nothing is left to do
    is_sent_back: bool = False  # whether that platform wants them back now
    consent_state: str = "none"  # as `annotation.people.consent.consent_state` says
    training: TrainingState = field(default_factory=TrainingState)


def status_for(study: Study, person: Enrollment) -> str:
    """The study's status as this person meets it: `held` where it is open to others, but they are paused."""
    return "held" if study.status == "open" and person.status == "paused" else study.status


def own_work(session: orm.Session, principal: principals.Principal) -> OwnWork:
    """This person's work in their study, in a fixed number of queries. Raises AnnotationError `forbidden`."""
    if principal.rater_id is None or not principals.may_label(session, principal):
        raise AnnotationError("forbidden", "only who labels has work of their own; open the link you were invited by")
    study = session.get_one(Study, principal.study_id)
    person = session.get_one(Enrollment, principal.enrollment_id)
    protocol = protocol_of(study)
    items = _items(session, study, protocol, principal.rater_id)
    done, of = position(session, principal)
    in_work = sum(item.state == "in work" and not item.is_training for item in items)
    to_come = of - done - in_work
    consent = consent_state(protocol, person)
    # to agree is a step of their own; a training that was not passed is not
    may_go_on = consent in ("asked", "outdated") or closed_gate(session, principal) is None
    more_at = waits_until(session, principal)
    may_take = to_come > 0 and person.status == "active" and may_go_on and more_at is None
    in_training = any(item.state == "in work" and item.is_training for item in items)
    active_s = sum(item.active_s for item in items)
    rate, currency = protocol.study.pay.rate, protocol.study.pay.currency
    return OwnWork(
        title=protocol.title,
        language=protocol.language,
        status=status_for(study, person),
        simulated=study.is_simulated,
        task=protocol.task,
        guidance=protocol.guidance,
        consent=protocol.study.consent,
        consented_at=person.consented_at,
        consent_state=consent,
        training=training_state(session, study, person),
        submitted=done,
        in_work=in_work,
        to_come=to_come,
        goes_on=in_training or in_work > 0 or may_take,
        active_s=active_s,
        pay=Pay(rate, currency, active_s / 3600 * rate) if rate > 0 else None,
        idle_s=protocol.study.limits.idle_s,
        theme=person.preferences.get("theme", "system"),
        items=items,
        careless=is_careless(session, principal),
        more_at=more_at,
        completion_code=completion_code(session, principal),
        is_sent_back=address_back(session, principal) is not None,
    )


EARLIER = 5  # reasons


def earlier_reasons(session: orm.Session, principal: principals.Principal, aid: str, code: str) -> list[dict[str, Any]]:
    """`[{topic, choice, rationale}]` of what this person handed in on other items for the criterion, newest first.

    At most five, as the items were shown to them; nothing of this item, on which they may be asked a second time, and
    of no training. Raises AnnotationError `not_found` for work that is not theirs, and where the study shows none.
    """
    study, mine = session.get_one(Study, principal.study_id), own_assignment(session, principal, aid)
    if not protocol_of(study).study.earlier_reasons or mine.purpose == "training":
        raise AnnotationError("not_found", "this study shows no earlier reasons")
    now_shown = [part.item_id for part in with_twin(session, mine)]
    rows = session.execute(
        select(Topic.title.label("topic"), Label.choice, Label.rationale)
        .join(Criterion, Criterion.id == Label.criterion_id)
        .join(Assignment, Assignment.id == Label.assignment_id)
        .join(Item, Item.id == Assignment.item_id)
        .join(Topic, Topic.id == Item.topic_id)
        .where(
            Assignment.study_id == study.id, Assignment.rater_id == principal.rater_id, Assignment.source != "judge",
            Assignment.purpose != "training", Assignment.status.in_(HANDED_IN), Item.id.not_in(now_shown),
            Criterion.code == code, Criterion.retired_at.is_(None), current_labels.is_newest(), Label.rationale != "",
        )
        .order_by(Assignment.submitted_at.desc(), Assignment.id.desc())
        .limit(EARLIER)
    )  # fmt: skip
    return [dict(row) for row in rows.mappings()]


def _items(session: orm.Session, study: Study, protocol: Protocol, rater_id: int) -> tuple[OwnItem, ...]:
    rows = session.execute(
        select(Assignment, Topic)
        .join(Item, Item.id == Assignment.item_id)
        .join(Topic, Topic.id == Item.topic_id)
        .where(Assignment.study_id == study.id, Assignment.rater_id == rater_id, Assignment.source != "judge")
        .order_by(Assignment.taken_at.desc(), Assignment.id.desc())
    ).all()
    beside = twins_among(session, study, [mine for mine, _ in rows])
    asked = codes_by_topic(session, study, {topic.id for _, topic in rows})
    answers = _answers(session, study, rater_id)
    seconds = active_time.seconds_by_assignment(session, study, rater_id)
    replies = answers_to(session, study)[0]
    remarks = _remarks(session, study, rater_id, replies)
    reasons = _reasons(session, study, rater_id)
    return tuple(
        OwnItem(
            aid=mine.aid,
            topic=topic.title,
            state=STATES[mine.status],
            returned=mine.returned,
            reason="".join(reasons.get(part.id, NO_REASON)[1] for part in (mine, *twin)),
            may_reopen=mine.status == "submitted" and mine.purpose != "training" and study.status != "locked",
            is_training=mine.purpose == "training",
            answered=sum(
                len(codes) - len(missing_answers(protocol, codes, answers[part.id])) for part in (mine, *twin)
            ),
            criteria=len(codes) * (1 + len(twin)),
            submitted_at=mine.submitted_at,
            active_s=sum(sum(seconds.get(part.id, {}).values()) for part in (mine, *twin)),
            remarks=tuple(remark for part in (mine, *twin) for remark in remarks[part.id]),
            skip_replies=tuple(
                said.text for part in (mine, *twin) for said in replies.get(reasons.get(part.id, NO_REASON)[0], ())
            ),
        )
        for mine, topic in rows
        if mine.left != "B" or mine not in beside  # the left one stands for the page
        for twin in [[beside[mine]] if mine in beside else []]
        for codes in [_asked(mine, asked[topic.id])]
    )


def _asked(mine: Assignment, codes: list[str]) -> list[str]:
    """An adjudicator is asked what is in dispute, and nothing else."""
    return codes if mine.purpose != "adjudicate" else [code for code in mine.criteria_order or () if code in codes]


def _answers(session: orm.Session, study: Study, rater_id: int) -> dict[int, dict[str, Label]]:
    """assignment -> criterion -> its highest revision."""
    mine = select(Assignment.id).where(Assignment.study_id == study.id, Assignment.rater_id == rater_id)
    newest = (
        select(Label.assignment_id, Label.criterion_id, func.max(Label.revision).label("revision"))
        .where(Label.assignment_id.in_(mine))
        .group_by(Label.assignment_id, Label.criterion_id)
        .subquery()
    )
    rows = session.execute(
        select(Criterion.code, Label)
        .join(Criterion, Criterion.id == Label.criterion_id)
        .join(
            newest,
            (newest.c.assignment_id == Label.assignment_id)
            & (newest.c.criterion_id == Label.criterion_id)
            & (newest.c.revision == Label.revision),
        )
        .where(Criterion.retired_at.is_(None))
    )
    found: dict[int, dict[str, Label]] = defaultdict(dict)
    for code, label in rows:
        found[label.assignment_id][code] = label
    return found


def _remarks(
    session: orm.Session, study: Study, rater_id: int, replies: Mapping[int, Sequence[Reply]]
) -> dict[int, list[OwnRemark]]:
    """assignment -> flags and comments, in the order they were sent."""
    rows = session.execute(
        select(Event.id, Event.assignment_id, Event.kind, Event.what, Event.data)
        .join(Assignment, Assignment.id == Event.assignment_id)
        .where(Assignment.study_id == study.id, Assignment.rater_id == rater_id, Event.kind.in_(("flag", "comment")))
        .order_by(Event.id)
    )
    found: dict[int, list[OwnRemark]] = defaultdict(list)
    for event, assignment, kind, what, data in rows:
        if assignment is not None and what in GIVEN:
            said = tuple(reply.text for reply in replies.get(event, ()))
            found[assignment].append(OwnRemark(kind, what, data.get("text", ""), said))
    return found


def _reasons(session: orm.Session, study: Study, rater_id: int) -> dict[int, tuple[int, str]]:
    """assignment -> the audit line of giving it back, its number and the reason."""
    rows: Any = session.execute(
        select(Event.id, Event.data)
        .where(Event.study_id == study.id, Event.rater_id == rater_id, Event.kind == "audit", Event.what == "give_back")
        .order_by(Event.id)
    )
    return {data["assignment"]: (event, data.get("reason", "")) for event, data in rows}
