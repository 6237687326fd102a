"""What stands between a person and the first item: consent, then training."""

from __future__ import annotations

from typing import Literal

from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.people.consent import consent_needed
from annotation.people.principals import Principal
from annotation.people.training import needs_training, training_state
from db.tables import Assignment, Study

Gate = Literal["consent", "training"]


def closed_gate(session: Session, principal: Principal) -> Gate | None:
    """The gate that keeps this person from taking work: `training` once it is failed for good, or cannot be given."""
    if consent_needed(session, principal):
        return "consent"
    study = session.get_one(Study, principal.study_id)
    if not needs_training(session, study, principal):
        return None
    return "training" if training_state(session, study, principal).status in ("failed", "unready") else None


def refuse_skip(assignment: Assignment) -> None:
    """Training is the same for everybody. Raises AnnotationError `forbidden`."""
    if assignment.purpose == "training":
        raise AnnotationError("forbidden", "training cannot be skipped; answer as well as you can, or flag a problem")


def refuse_reopen(session: Session, principal: Principal, assignment: Assignment) -> None:
    """Nothing is taken up again once its agreed answers were shown, nor without consent. Raises AnnotationError."""
    if assignment.purpose == "training":
        raise AnnotationError("locked", "training cannot be reopened: its agreed answers have been shown")
    if consent_needed(session, principal):
        raise AnnotationError("forbidden", "agree to the study's consent text first; it is on the app's first page")
