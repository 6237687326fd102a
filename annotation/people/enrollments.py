"""A person's place in a study: their role, and the pseudonym that stands for them in every export."""

from __future__ import annotations

import unicodedata

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.locks import hold_study
from db.people_tables import Enrollment, Rater
from db.tables import Study


def enroll(session: Session, study: Study, name: str, role: str, *, is_simulated: bool = False) -> Enrollment:
    """A new person in the study, with the pseudonym that every export uses."""
    # two who enter at once wait here for each other, so that no pseudonym is given twice
    hold_study(session, study)
    rater = Rater(kind="human", handle=name)
    session.add(rater)
    session.flush()
    number = session.scalar(select(func.count()).where(Enrollment.study_id == study.id, Enrollment.role == role)) or 0
    enrollment = Enrollment(
        study_id=study.id, rater_id=rater.id, role=role, pseudonym=f"{role}-{number + 1:02d}", is_simulated=is_simulated
    )
    session.add(enrollment)
    session.flush()
    return enrollment


def lookalike_of(session: Session, study: Study, name: str) -> str | None:
    """Somebody's name that differs from `name` in capitals, blanks or forms of the same letters only."""
    names = session.scalars(
        select(Rater.handle).join(Enrollment, Enrollment.rater_id == Rater.id).where(Enrollment.study_id == study.id)
    )
    return next((one for one in names if one != name and _folded(one) == _folded(name)), None)


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def find_enrollment(session: Session, study: Study, name: str) -> Enrollment | None:
    """The person whom admins know by this name; None where there is nobody."""
    return session.scalar(
        select(Enrollment)
        .join(Rater, Rater.id == Enrollment.rater_id)
        .where(Enrollment.study_id == study.id, Rater.handle == name.strip())
    )


def enrollment_of(session: Session, study: Study, name: str) -> Enrollment:
    """The same. Raises AnnotationError `unknown_person` where there is nobody."""
    found = find_enrollment(session, study, name)
    if found is None:
        raise AnnotationError(
            "unknown_person", f"nobody called {name.strip()!r} in {study.name!r}; see: calipers people {study.name}"
        )
    return found
