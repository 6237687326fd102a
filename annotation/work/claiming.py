"""Taking work, exact under race because the database decides who got the slot, and what a browser is told next."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Row, Select, bindparam, func, orm, select, update

from annotation import adjudication, errors, studies
from annotation.items.twins import once_a_page, open_twin, with_twin
from annotation.open_work import due, quotas, returns
from annotation.people.principals import Principal, may_label
from annotation.people.visits import begin_by_one_visit
from annotation.training.training import closed_gate, next_training
from annotation.work.progress import position
from db import connect, people_tables, types
from db.tables import REPORT_A, REPORT_B, Assignment, Item, Study
from plain.hashes import identity_digest

LOOKED_AT = 500  # open slots that are ranked, highest priority first
Place = tuple[int | None, int, int | None, int, int, int]


def take(session: orm.Session, principal: Principal) -> Assignment | None:
    """The principal's assignment in work, or newly taken work; None when there is nothing (left) to do.

    Own work that came back comes first, then training, what is due between the items, and at last a slot. Of two
    reports rated in one view it is the left one's. Raises AnnotationError `forbidden` for those who may not label.
    """
    taken = _take(session, principal)
    return taken and with_twin(session, taken)[0]


def _take(session: orm.Session, principal: Principal) -> Assignment | None:
    rater_id, study = _labeller(session, principal)
    if principal.role == "adjudicator":
        return adjudication.take_dispute(session, principal)
    studies.hold_person(session, rater_id)
    mine = in_work(session, principal)
    if mine is not None:
        if (mine.active_at or mine.taken_at or types.now()) < returns.idle_since(study):
            _touch(session, with_twin(session, mine))
        return mine
    person = session.get_one(people_tables.Enrollment, principal.enrollment_id)
    if study.status != "open" or person.status != "active" or closed_gate(session, principal):
        return None
    begin_by_one_visit(session, person, principal)
    limited = quotas.one_at_a_time(session, study)
    returns.return_stale(session, study)
    within = quotas.reach(session, study, rater_id, limited=limited)
    return (
        returns.undo_return(session, study, rater_id, within)
        or next_training(session, study, principal)
        or due.take_due(session, study, rater_id, person.id)
        or _take_slot(session, study, rater_id, within)
    )


def _touch(session: orm.Session, work: Sequence[Assignment]) -> None:
    """They are back. Work that somebody holds is left as it is: that one may wait for the person, held here."""
    ids = [assignment.id for assignment in work]
    free = select(Assignment.id).where(Assignment.id.in_(ids)).order_by(Assignment.id).with_for_update(skip_locked=True)
    if len(session.scalars(free).all()) == len(ids):
        for assignment in work:
            assignment.active_at = types.now()


def in_work(session: orm.Session, principal: Principal) -> Assignment | None:
    """What this person has taken here and not yet submitted, the oldest first; what went home in a packet is apart."""
    study = session.get_one(Study, principal.study_id)
    return session.scalar(_in_work(study), {"rater": principal.rater_id})


@studies.built_once
def _in_work(study: Study) -> Select[Assignment]:
    ours = Assignment.status == "taken", Assignment.source.not_in(("judge", "packet")), *once_a_page(study)
    mine = select(Assignment).where(Assignment.study_id == study.id, Assignment.rater_id == quotas.RATER, *ours)
    return mine.order_by(Assignment.taken_at, Assignment.id).limit(1)


def claim_back(session: orm.Session, study: Study, assignment: Assignment) -> None:
    """Undo a stale return when its person goes on with the work after all, while the slot is still open.

    Raises AnnotationError `returned` where the work went back for good. The caller holds the assignment's row.
    """
    if assignment.status not in ("returned", "void"):
        return
    if assignment.returned == "stale" and assignment.rater_id is not None and study.status == "open":
        studies.hold_person(session, assignment.rater_id)
        limited = quotas.one_at_a_time(session, study)
        person = select(people_tables.Enrollment.status).where(
            people_tables.Enrollment.study_id == study.id, people_tables.Enrollment.rater_id == assignment.rater_id
        )
        within = quotas.reach(session, study, assignment.rater_id, limited=limited)
        if session.scalar(person) == "active" and returns.undo_return(
            session, study, assignment.rater_id, within, only=with_twin(session, assignment)
        ):
            return
    raise errors.AnnotationError("returned", "this work went back to the pool; your text is kept here, but not stored")


def take_slot(session: orm.Session, study: Study, principal: Principal) -> Assignment | None:
    """One more slot, the best for this person, whatever else they have in work: for a packet; None if none is left."""
    rater_id, _ = _labeller(session, principal)
    limited = quotas.one_at_a_time(session, study, always=True)
    return _take_slot(session, study, rater_id, quotas.reach(session, study, rater_id, limited=limited))


def _take_slot(session: orm.Session, study: Study, rater_id: int, within: quotas.Reach | None) -> Assignment | None:
    for candidate in _ranked(session, study, rater_id, within):
        # who hands in holds a row of their own: to wait for another's could be to wait for each other
        free = select(Assignment.id).where(Assignment.id == candidate, Assignment.status == "open")
        held = free.with_for_update(skip_locked=True).scalar_subquery()
        taken: Assignment | None = session.scalar(
            update(Assignment)
            .where(Assignment.id == held, Assignment.status == "open")
            .values(status="taken", rater_id=rater_id, taken_at=types.now(), active_at=types.now())
            .returning(Assignment)
        )
        if taken is not None:
            if (twin := open_twin(session, taken)) is not None:
                twin.status, twin.rater_id = taken.status, rater_id
                twin.taken_at = twin.active_at = taken.taken_at
                session.flush()
            studies.audit(session, study.id, rater_id, "take", assignment=taken.id)
            return taken
    return None


def _labeller(session: orm.Session, principal: Principal) -> tuple[int, Study]:
    if principal.rater_id is None or not may_label(session, principal):
        raise errors.AnnotationError(
            "forbidden", "only annotators label; evaluators and admins can see which system wrote what"
        )
    return principal.rater_id, session.get_one(Study, principal.study_id)


def _ranked(session: orm.Session, study: Study, rater_id: int, within: quotas.Reach | None) -> Iterator[int]:
    """Ids of open slots, best first: mine, urgent, about the report I just probed, keeping my left and right even,
    new topics, new systems, then a seeded draw."""
    slots = _candidates(session, study, rater_id, within)
    sides, topics = _my_sides(session, study, rater_id)
    last = _last_probed(session, study, rater_id) if any(slot.kind == "probe" for slot in slots) else None

    @cache  # there are few pairs of systems
    def balance(left: int, right: int) -> tuple[int, int]:
        lean = sum(
            abs(sides[system, "left"] - sides[system, "right"] + step) for system, step in ((left, 1), (right, -1))
        )
        return lean, sum(sides[system, side] for system in (left, right) for side in ("left", "right"))

    @cache  # and few of these beside the hundreds of slots
    def rank(place: Place) -> tuple[bool, int, bool, int, int, int]:
        reserved_for, priority, probed, left, right, topic = place
        lean, seen = balance(left, right)
        return reserved_for != rater_id, -priority, probed != last, lean, topics[topic], seen

    def draw(slot: int) -> bytes:
        return identity_digest(study.seed, "claim", rater_id, slot)

    ranked = sorted(((rank(_place(slot)), slot[0]) for slot in slots), key=itemgetter(0))
    for _, equals in groupby(ranked, key=itemgetter(0)):
        yield from sorted((slot for _, slot in equals), key=draw)


def _place(slot: tuple[Any, ...]) -> Place:
    """What ranks a slot: whom it is reserved for, its priority, a probe's report, who is on which side, its topic."""
    _, _, priority, left, reserved_for, kind, report, topic, system_a, system_b = slot  # quicker than by name
    probed = report if kind == "probe" else None
    return reserved_for, priority, probed, *_sides(left, kind, system_a, system_b), topic


def _candidates(session: orm.Session, study: Study, rater_id: int, within: quotas.Reach | None) -> Sequence[Row[Any]]:
    """The most urgent open slots this person may have; where quotas leave none of them, all that they leave."""
    for most in (LOOKED_AT, quotas.EVERY):
        slots = connect.rows_of(session, _wanted(study), {"rater": rater_id, "most": most})
        allowed = [slot for slot in slots if within is None or within(slot.item_id, slot.reserved_for)]
        if allowed or len(slots) < LOOKED_AT:
            break
    return allowed


@studies.built_once
def _wanted(study: Study) -> Select[*tuple[Any, ...]]:
    return _with_systems(quotas.open_to(study)).limit(bindparam("most"))


def _last_probed(session: orm.Session, study: Study, rater_id: int) -> int | None:
    """The report of this person's newest probe: its other probes come next, so that the context stays on screen."""
    mine = select(Item.report_a_id).join(Assignment, Assignment.item_id == Item.id)
    mine = mine.where(
        Assignment.study_id == study.id, Assignment.rater_id == rater_id, Assignment.purpose == "label",
        Item.kind == "probe",
    )  # fmt: skip
    return session.scalar(mine.order_by(Assignment.taken_at.desc(), Assignment.id.desc()).limit(1))


def _my_sides(session: orm.Session, study: Study, rater_id: int) -> tuple[Counter[tuple[int, str]], Counter[int]]:
    """How often I had each system on each side, and each topic, in label work."""
    sides: Counter[tuple[int, str]] = Counter()
    topics: Counter[int] = Counter()
    for _, stands_left, _, kind, _, topic, system_a, system_b in connect.rows_of(
        session, _labelled(study), {"rater": rater_id}
    ):
        left, right = _sides(stands_left, kind, system_a, system_b)
        sides[left, "left"] += 1
        sides[right, "right"] += 1
        topics[topic] += 1
    return sides, topics


@studies.built_once
def _labelled(study: Study) -> Select[*tuple[Any, ...]]:
    mine = Assignment.study_id == study.id, Assignment.rater_id == quotas.RATER, Assignment.purpose == "label"
    items = select(Assignment.id).join(Item, Item.id == Assignment.item_id)
    return _with_systems(items.where(*mine, *once_a_page(study)))


def _with_systems(assignments: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """The same rows of Assignment and Item, with what ranking them takes."""
    return (
        assignments.outerjoin(REPORT_A, REPORT_A.id == Item.report_a_id)
        .outerjoin(REPORT_B, REPORT_B.id == func.coalesce(Item.report_b_id, Item.reference_id))
        .add_columns(Assignment.left, Assignment.reserved_for, Item.kind, Item.report_a_id, Item.topic_id)
        .add_columns(REPORT_A.system_id.label("system_a"), REPORT_B.system_id.label("system_b"))
    )


def _sides(stands_left: str | None, kind: str, system_a: int, system_b: int | None) -> tuple[int, int]:
    """(system on the left, system on the right), 0 where none is: beside a report that is rated, and for probes."""
    if kind == "probe":
        return 0, 0
    b = (system_b or 0) if stands_left else 0
    return (system_a, b) if stands_left == "A" else (b, system_a)


def next_work(session: orm.Session, principal: Principal) -> dict[str, Any]:
    """`{next, position}`: the aid in work or newly taken; where there is none because a gate is closed, also `gate`:
    consent, training, or held, which says that this person was paused."""
    following = take(session, principal)
    done, of = position(session, principal)
    told = {"next": following.aid if following else None, "position": {"done": done, "of": of}}
    if following is not None:
        return told
    held = session.get_one(people_tables.Enrollment, principal.enrollment_id).status == "paused"
    gate = closed_gate(session, principal) or ("held" if held else None)
    return told | ({"gate": gate} if gate else {})
