"""Taking work and giving it back: exact under race, because the database decides who got the slot."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

from sqlalchemy import Row, Select, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from annotation.errors import AnnotationError
from annotation.people import Principal, may_label
from annotation.studies import audit, protocol_of
from db.people_tables import Enrollment, Rater
from db.tables import Assignment, Item, Report, Study
from db.types import now

LOOKED_AT = 500  # open slots that are ranked, highest priority first
# made once: to make one costs more than to run the statement
MINE, AGAIN = aliased(Assignment), aliased(Assignment)
REPORT_A, REPORT_B = aliased(Report), aliased(Report)


def take(session: Session, principal: Principal) -> Assignment | None:
    """The principal's assignment in work, or a newly taken slot; None when there is nothing (left) to do.

    Raises AnnotationError `forbidden` for those who may not label.
    """
    rater_id, study = _labeller(session, principal)
    # one person's two tabs or double click wait here for each other
    session.execute(select(Rater.id).where(Rater.id == rater_id).with_for_update())
    mine = in_work(session, principal)
    if mine is not None:
        return mine
    if study.status != "open" or _is_paused(session, principal):
        return None
    resumed = _resume(session, study, rater_id)
    if resumed is not None:
        return resumed
    for candidate in _ranked(session, study, rater_id):
        taken: Assignment | None = session.scalar(
            update(Assignment)
            .where(Assignment.id == candidate, Assignment.status == "open")
            .values(status="taken", rater_id=rater_id, taken_at=now(), active_at=now())
            .returning(Assignment)
        )
        if taken is not None:
            audit(session, study.id, rater_id, "take", assignment=taken.id)
            return taken
    return None


def in_work(session: Session, principal: Principal) -> Assignment | None:
    """What this person has taken and not yet submitted, the oldest first."""
    return session.scalar(
        select(Assignment)
        .where(
            Assignment.study_id == principal.study_id,
            Assignment.rater_id == principal.rater_id,
            Assignment.status == "taken",
            Assignment.source != "judge",
        )
        .order_by(Assignment.taken_at, Assignment.id)
        .limit(1)
    )


def give_back(session: Session, assignment: Assignment, returned: str, reason: str = "") -> Assignment:
    """Return the slot: the row keeps person, labels and time; a new open row takes its place with the same order."""
    assignment.status, assignment.returned = "returned", returned
    session.flush()
    again = Assignment(
        study_id=assignment.study_id,
        item_id=assignment.item_id,
        purpose=assignment.purpose,
        slot_no=assignment.slot_no,
        pass_no=assignment.pass_no,
        repeat_no=assignment.repeat_no,
        left=assignment.left,
        criteria_order=assignment.criteria_order,
        plan_seed=assignment.plan_seed,
        priority=assignment.priority,
    )
    session.add(again)
    session.flush()
    audit(session, assignment.study_id, assignment.rater_id, "give_back", assignment=assignment.id, reason=reason)
    return again


def _resume(session: Session, study: Study, rater_id: int) -> Assignment | None:
    """Undo the return of one's own work while its slot is still open: closing a study throws nobody's answers away."""
    mine, again = MINE, AGAIN
    row = session.execute(
        select(mine, again)
        .join(
            again,
            (again.item_id == mine.item_id)
            & (again.purpose == mine.purpose)
            & (again.slot_no == mine.slot_no)
            & (again.status == "open"),
        )
        .where(
            mine.study_id == study.id,
            mine.rater_id == rater_id,
            mine.status == "returned",
            mine.returned == "closed",
        )
        .order_by(mine.taken_at, mine.id)
        .limit(1)
        .with_for_update()
    ).first()
    if row is None:
        return None
    old, new = row
    new.status = "void"
    session.flush()
    old.status, old.returned, old.active_at = "taken", None, now()
    session.flush()
    audit(session, study.id, rater_id, "resume", assignment=old.id)
    return old


def position(session: Session, principal: Principal) -> tuple[int, int]:
    """(submitted, of): how far this person is, where `of` also counts the open slots they could still take."""
    mine = select(func.count()).where(
        Assignment.study_id == principal.study_id,
        Assignment.rater_id == principal.rater_id,
        Assignment.source != "judge",
    )
    done = session.scalar(mine.where(Assignment.status.in_(("submitted", "locked")))) or 0
    taken = session.scalar(mine.where(Assignment.status == "taken")) or 0
    study = session.get_one(Study, principal.study_id)
    return done, done + taken + _still_open(session, study, principal.rater_id or 0)


def _still_open(session: Session, study: Study, rater_id: int) -> int:
    """How many more this person could take: items, or topics where each topic is seen once."""
    if study.status != "open":
        return 0
    unit = Item.topic_id if protocol_of(study).study.topic_once else Item.id
    slots = _open_to(study, rater_id).order_by(None).with_only_columns(func.count(unit.distinct()))
    return session.scalar(slots) or 0


def _labeller(session: Session, principal: Principal) -> tuple[int, Study]:
    if principal.rater_id is None or not may_label(session, principal):
        raise AnnotationError(
            "forbidden", "only annotators label; evaluators and admins can see which system wrote what"
        )
    return principal.rater_id, session.get_one(Study, principal.study_id)


def _is_paused(session: Session, principal: Principal) -> bool:
    return session.get_one(Enrollment, principal.enrollment_id).status != "active"


def _open_to(study: Study, rater_id: int) -> Select[int, int, int]:
    """Open slots (id, item, priority) this person may take: not their items, and with topic_once not their topics."""
    mine = select(Assignment.item_id).where(
        Assignment.rater_id == rater_id, or_(Assignment.returned.is_(None), Assignment.returned != "closed")
    )
    slots = (
        select(Assignment.id, Assignment.item_id, Assignment.priority)
        .join(Item, Item.id == Assignment.item_id)
        .where(
            Assignment.study_id == study.id,
            Assignment.status == "open",
            or_(Assignment.reserved_for.is_(None), Assignment.reserved_for == rater_id),
            Assignment.item_id.not_in(mine),
            Item.excluded_at.is_(None),
        )
        .order_by(Assignment.priority.desc(), Assignment.id)
    )
    protocol = protocol_of(study)
    if protocol.reports.unresolved_flags == "refuse":
        flagged = select(Report.id).where(Report.study_id == study.id, Report.open_flags > 0)
        for shown in (Item.report_a_id, Item.report_b_id, Item.reference_id):
            slots = slots.where(or_(shown.is_(None), shown.not_in(flagged)))
    if protocol.study.topic_once:
        slots = slots.where(Item.topic_id.not_in(select(Item.topic_id).where(Item.id.in_(mine))))
    return slots


def _ranked(session: Session, study: Study, rater_id: int) -> list[int]:
    """Ids of open slots, best first: mine, urgent, about the report I just probed, keeping my left and right even,
    new systems, then a seeded draw."""
    slots = session.execute(_with_systems(_open_to(study, rater_id)).limit(LOOKED_AT)).all()
    before, last = _my_sides(session, rater_id), _last_probed(session, study, rater_id)

    def rank(slot: Row[Any]) -> tuple[bool, int, bool, int, int, bytes]:
        left, right = _sides(slot)
        lean = sum(
            abs(before[system, "left"] - before[system, "right"] + step) for system, step in ((left, 1), (right, -1))
        )
        seen = sum(before[system, side] for system in (left, right) for side in ("left", "right"))
        probed = slot.report_a_id if slot.kind == "probe" else None
        draw = hashlib.sha256(f"{study.seed}|claim|{rater_id}|{slot.id}".encode()).digest()
        return slot.reserved_for != rater_id, -slot.priority, probed != last, lean, seen, draw

    return [slot.id for slot in sorted(slots, key=rank)]


def _last_probed(session: Session, study: Study, rater_id: int) -> int | None:
    """The report of this person's newest probe: its other probes come next, so that the context stays on screen."""
    mine = select(Item.report_a_id).join(Assignment, Assignment.item_id == Item.id)
    mine = mine.where(Assignment.study_id == study.id, Assignment.rater_id == rater_id, Item.kind == "probe")
    return session.scalar(mine.order_by(Assignment.taken_at.desc(), Assignment.id.desc()).limit(1))


def _my_sides(session: Session, rater_id: int) -> Counter[tuple[int, str]]:
    mine = select(Assignment.id).join(Item, Item.id == Assignment.item_id).where(Assignment.rater_id == rater_id)
    counts: Counter[tuple[int, str]] = Counter()
    for left, right in map(_sides, session.execute(_with_systems(mine))):
        counts[left, "left"] += 1
        counts[right, "right"] += 1
    return counts


def _with_systems(assignments: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """The same rows of Assignment and Item, with what ranking them takes."""
    return (
        assignments.outerjoin(REPORT_A, REPORT_A.id == Item.report_a_id)
        .outerjoin(REPORT_B, REPORT_B.id == Item.report_b_id)
        .add_columns(Assignment.left, Assignment.reserved_for, Item.kind, Item.report_a_id)
        .add_columns(REPORT_A.system_id.label("system_a"), REPORT_B.system_id.label("system_b"))
    )


def _sides(row: Row[Any]) -> tuple[int, int]:
    """(system on the left, system on the right), 0 where none is: beside a report that is rated, and for probes."""
    if row.kind == "probe":
        return 0, 0
    a, b = row.system_a, row.system_b or 0
    return (a, b) if row.left == "A" else (b, a)
