"""Work that goes back, handed back or untouched for long: its slot is free again, and its person may get it back."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Select, bindparam, func, or_, orm, select

from annotation.items.twins import twin_assignment, with_twin
from annotation.open_work.quotas import CAME_BACK, RATER, one_at_a_time, open_to
from annotation.studies import audit, built_once, hold_person, protocol_of
from db.tables import Assignment, Study
from db.types import now

# made once: to make one costs more than to run the statement
MINE, AGAIN = orm.aliased(Assignment), orm.aliased(Assignment)
BACK = (
    select(MINE.id)
    .where(
        MINE.study_id == bindparam("study"), MINE.rater_id == RATER, MINE.status == "returned",
        MINE.returned.in_(CAME_BACK), MINE.source == "app",
    )
    .limit(1)
)  # fmt: skip


def give_back(session: orm.Session, assignment: Assignment, returned: str, reason: str = "") -> Assignment | None:
    """Return the work: the row keeps person, labels and time, and a new open row takes its slot with the same order.

    What was made on demand (training, attention, retest, adjudication) leaves no slot, and returns None. A slot
    stays reserved for its person unless they skipped it: nobody else could ever take it. Of two reports rated in one
    view both go back.
    """
    if returned == "skipped":
        # whoever works out what quotas leave room for reads a state that nobody changes meanwhile; the person before
        # the study, as in `take`, which comes next: two tabs of theirs would else wait for each other
        hold_person(session, assignment.rater_id or 0)
        one_at_a_time(session, session.get_one(Study, assignment.study_id))
    _, *twin = sorted(with_twin(session, assignment), key=lambda part: part is not assignment)
    for part in (assignment, *twin):
        part.status, part.returned = "returned", returned
    session.flush()
    audit(session, assignment.study_id, assignment.rater_id, "give_back", assignment=assignment.id, reason=reason)
    for part in twin:
        _free(session, part)
    return _free(session, assignment)


def _free(session: orm.Session, assignment: Assignment) -> Assignment | None:
    """The slot of work that went back, open again."""
    if assignment.purpose != "label":
        return None
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
        reserved_for=assignment.reserved_for if assignment.returned in CAME_BACK else None,
    )
    session.add(again)
    session.flush()
    return again


def undo_return(
    session: orm.Session,
    study: Study,
    rater_id: int,
    may_have: Callable[[int, int | None], bool] | None = None,
    only: Sequence[Assignment] = (),
) -> Assignment | None:
    """Give one's own work back to its person while its slot is still open: neither closing a study nor a day's pause
    throws anybody's answers away.

    `may_have`: whether a slot of this item is within the person's reach, see `quotas.reach`; `only`: this work or none.
    Of two reports rated in one view both come back.
    """
    if session.scalar(BACK, {"study": study.id, "rater": rater_id}) is None:
        return None
    mine, again = MINE, AGAIN
    ours = [mine.study_id == study.id, mine.rater_id == rater_id, mine.status == "returned"]
    ours += [mine.returned.in_(CAME_BACK), mine.source == "app"]
    ours += [mine.id.in_([work.id for work in only])] if only else []
    still_open = open_to(study, rater_id).order_by(None).with_only_columns(Assignment.id)
    waiting = (
        select(mine, again)
        .join(again, (again.item_id == mine.item_id) & (again.slot_no == mine.slot_no) & again.id.in_(still_open))
        # once more of the row itself: only that is looked at again when somebody took the slot a moment ago
        .where(*ours, mine.purpose == "label", again.status == "open")
        .order_by(mine.taken_at, mine.id)
        .with_for_update(skip_locked=True)  # somebody is taking that slot: it is theirs
    )
    for old, new in session.execute(waiting):
        if may_have is None or may_have(new.item_id, new.reserved_for):
            for part in with_twin(session, new):
                part.status = "void"
            session.flush()
            return _resumed(session, study, old)
    alone = select(mine).where(*ours, mine.purpose.in_(("training", "attention", "retest")))
    beside = session.scalar(alone.order_by(mine.taken_at, mine.id).limit(1).with_for_update(skip_locked=True))
    return _resumed(session, study, beside) if beside is not None else None


def _resumed(session: orm.Session, study: Study, assignment: Assignment) -> Assignment:
    for part in with_twin(session, assignment):
        part.status, part.returned, part.active_at = "taken", None, now()
    session.flush()
    audit(session, study.id, assignment.rater_id, "resume", assignment=assignment.id)
    return assignment


def return_stale(session: orm.Session, study: Study) -> int:
    """Return work that had no event for `limits.stale_h` hours; returns how many pieces of work went back.

    What was handed in once and reopened counts as handed in again, with the answers it has now. Packets wait for
    their ballot, and training, attention and retests hold nobody up, so they stay with their person.
    """
    since = idle_since(study)
    # a time far ahead was stamped by a wrong clock: waiting for that day would keep the slot for good
    found = session.scalars(_idle(study), {"since": since, "until": now() + (now() - since)}).all()
    returned = 0
    for assignment in found:
        twin = twin_assignment(session, assignment)
        if assignment.status != "taken" or (twin is not None and twin not in found):
            continue  # gone back with its twin, or somebody is at work on that one
        if assignment.submitted_at is not None:
            assignment.status = "submitted"
            audit(session, study.id, assignment.rater_id, "handed_in_again", assignment=assignment.id)
        else:
            give_back(session, assignment, "stale")
            returned += 1
    return returned


@built_once
def _idle(study: Study) -> Select[Assignment]:
    """Work without an event between `since` and `until`."""
    return (
        select(Assignment)
        .where(
            # the index's own rows name the few in work: SQLite would read all of a large study
            Assignment.id.in_(select(AGAIN.id).where(AGAIN.study_id == study.id, AGAIN.status == "taken")),
            Assignment.status == "taken",
            Assignment.source == "app",
            or_(Assignment.purpose.in_(("label", "adjudicate")), Assignment.submitted_at.is_not(None)),
            ~func.coalesce(Assignment.active_at, Assignment.taken_at).between(bindparam("since"), bindparam("until")),
        )
        .order_by(Assignment.id)
        .with_for_update(skip_locked=True)  # a locked one has its person at work this moment
    )


def idle_since(study: Study) -> datetime:
    """Work whose last event is older than this is stale."""
    return now() - timedelta(hours=protocol_of(study).study.limits.stale_h)
