"""Who acts, in which role, and what a role may do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.studies import protocol_of
from db.tables import Study


@dataclass(frozen=True)
class Principal:
    """Who acts, in which study, in which role. `rater_id` is None for the command line's local admin.

    `seen_at`: when this sign-in was last noted as being used; None where there is none.
    """

    study_id: int
    role: str
    rater_id: int | None = None
    enrollment_id: int | None = None
    opaque_id: str = ""
    seen_at: datetime | None = None


def local_admin(study: Study) -> Principal:
    """Whoever can start the command line on this database is its admin."""
    return Principal(study_id=study.id, role="admin")


def study_for(session: Session, principal: Principal, *roles: str) -> Study:
    """The principal's study, if the role is one of `roles`. Raises AnnotationError `forbidden` otherwise."""
    require_role(principal, *roles)
    return session.get_one(Study, principal.study_id)


def require_role(principal: Principal, *roles: str) -> None:
    """Raises AnnotationError `forbidden` unless the role is one of `roles`; an admin may what an evaluator may."""
    held = {principal.role} | ({"evaluator"} if principal.role == "admin" else set())
    if not held & set(roles):
        raise AnnotationError("forbidden", f"this needs the role {' or '.join(roles)}; ask the study's admin")


def may_label(session: Session, principal: Principal) -> bool:
    """Annotators and adjudicators may; those who can see systems only where the protocol says so."""
    if principal.role in ("annotator", "adjudicator"):
        return True
    study = session.get_one(Study, principal.study_id)
    return principal.role in ("evaluator", "admin") and protocol_of(study).study.may_see_and_label
