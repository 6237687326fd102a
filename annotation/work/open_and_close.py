"""Open, pause, close and lock a study: who may still work, and what happens to work that is not handed in."""

from typing import Any

from sqlalchemy import orm, select, update

from annotation import errors, studies
from annotation.items.shown import refuse_unasked
from annotation.open_work.returns import give_back
from annotation.people.principals import Principal, study_for
from annotation.planning import plan_root, planned_items
from annotation.training.training import refuse_too_few
from annotation.work.guesses import refuse_unknown_kinds
from db.tables import Assignment, Item, Report, Study
from db.types import now
from plain.wording import several, worded

# from -> to; anything else is refused by name
MOVES = {
    "open": ("draft", "paused", "closed"),
    "paused": ("open",),
    "closed": ("open", "paused"),
    "locked": ("closed",),
}


def set_status(session: orm.Session, principal: Principal, status: str) -> Study:
    """`move_study` for whoever asks: admins only. Returns the study."""
    study = study_for(session, principal, "admin")
    move_study(session, study, status, principal.rater_id)
    return study


def reveal(session: orm.Session, principal: Principal) -> Study:
    """Let labels be joined with systems before the study is closed; labels given later are marked `after_reveal`."""
    study = study_for(session, principal, "admin")
    study.revealed_at = study.revealed_at or now()
    studies.audit(session, study.id, principal.rater_id, "reveal")
    return study


def move_study(session: orm.Session, study: Study, status: str, rater_id: int | None = None) -> None:
    """Open, pause, close or lock. Opening keeps the plan's root, closing returns taken work, locking freezes labels."""
    if study.status not in MOVES[status]:
        allowed = worded(" or ").join(worded(one) for one in MOVES[status])
        raise errors.AnnotationError(
            "wrong_status", "study {name!r} is {status}; only a study that is {allowed} can become {wanted}",
            name=study.name, status=worded(study.status), allowed=allowed, wanted=worded(status),
        )  # fmt: skip
    items = select(Item.id).where(Item.study_id == study.id, Item.purpose == "label")
    if status == "open" and session.scalar(items.limit(1)) is None:
        raise errors.AnnotationError(
            "no_items", "study {name!r} has no items; make them with: calipers pairs {name} --apply", name=study.name
        )
    if status == "open":
        _refuse_unresolved(session, study)
        refuse_too_few(session, study)
        refuse_unknown_kinds(session, study)
        asked_about = select(Item.topic_id).where(Item.study_id == study.id, Item.excluded_at.is_(None))
        refuse_unasked(session, study, set(session.scalars(asked_about)))
        plan_root.keep_plan_root(session, study)
    mine = Assignment.study_id == study.id, Assignment.source != "judge"
    # what was handed in once and reopened counts as handed in again, with the answers it has now
    reopened = *mine, Assignment.status == "taken", Assignment.submitted_at.is_not(None)
    if status == "closed":
        session.execute(update(Assignment).where(*reopened).values(status="submitted"))
        _give_back(session, *mine, Assignment.purpose != "adjudicate")  # disputes are settled when the others are done
    if status == "locked":
        session.execute(update(Assignment).where(*reopened).values(status="locked"))
        _give_back(session, *mine)
        session.execute(update(Assignment).where(*mine, Assignment.status == "submitted").values(status="locked"))
    studies.audit(session, study.id, rater_id, "status", old=study.status, new=status)
    study.status = status


def _give_back(session: orm.Session, *which: Any) -> None:
    # held, so that what is handed in at this moment is over first and stays handed in
    taken = select(Assignment).where(*which, Assignment.status == "taken").order_by(Assignment.id).with_for_update()
    for unfinished in session.scalars(taken.execution_options(populate_existing=True)).all():
        if unfinished.status == "taken":  # not gone back with its twin
            give_back(session, unfinished, "closed")


def _refuse_unresolved(session: orm.Session, study: Study) -> None:
    """Passages that may say who wrote a report are the owner's to decide before anybody reads them."""
    if studies.protocol_of(study).reports.unresolved_flags == "allow":
        return
    shown = planned_items.shown_reports(session, study)
    waiting = select(Report.id, Report.open_flags).where(Report.study_id == study.id, Report.open_flags > 0)
    counts = [count for report, count in session.execute(waiting) if report in shown]
    reports, flags = len(counts), sum(counts)
    if reports:
        raise errors.AnnotationError(
            "unresolved_flags",
            "{flags} in {reports} may say who wrote them, and nobody has decided about them; look "
            "with: calipers audit {name}, then decide there or on the blinding page", flags=several(flags, "passage"),
            reports=several(reports, "report"), name=study.name,
        )  # fmt: skip
