"""Consent: the text a study shows before the first item, its version, and who agreed to which.

On the enrollment: no `consented_at`, never agreed; a `consent_sha256`, agreed to the text of that version; a
`consented_at` without one, agreed then and took it back since.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.people.principals import Principal, may_label
from annotation.people.visits import begin_by_one_visit
from annotation.protocol import Pay, Protocol
from annotation.studies import audit, hold_person, protocol_of
from db import tables, types
from db.people_tables import Enrollment
from plain.hashes import text_sha256


@dataclass(frozen=True)
class Consent:
    """What the page of consent shows. `state`: none (nothing is asked) | asked | given | outdated | withdrawn."""

    state: str
    text: str  # Markdown
    sha256: str  # the version
    given_at: datetime | None
    title: str
    simulated: bool
    task: str
    guidance: str  # Markdown
    pay: Pay
    idle_s: int
    theme: str
    language: str = "en"  # the study's, BCP 47


def consent_version(text: str) -> str:
    """A consent text's version: the sha256 of its UTF-8 bytes, as hex."""
    return text_sha256(text)


def consent_state(protocol: Protocol, person: Enrollment) -> str:
    """none | asked | given | outdated (an earlier text) | withdrawn."""
    if person.consented_at is not None and person.consent_sha256 is None:
        return "withdrawn"
    if not protocol.study.consent.strip():
        return "none"
    if person.consent_sha256 is None:
        return "asked"
    return "given" if person.consent_sha256 == consent_version(protocol.study.consent) else "outdated"


def consent_needed(session: Session, principal: Principal) -> bool:
    """Whether this person must agree to the study's consent text, as it reads now, before taking work."""
    if principal.enrollment_id is None:
        return False
    protocol = protocol_of(session.get_one(tables.Study, principal.study_id))
    return consent_state(protocol, session.get_one(Enrollment, principal.enrollment_id)) not in ("none", "given")


def view_consent(session: Session, principal: Principal) -> Consent:
    """Task, instructions and consent text for whoever labels. Raises AnnotationError `forbidden`."""
    study, protocol, person = own_consent(session, principal)
    return Consent(
        state=consent_state(protocol, person),
        text=protocol.study.consent,
        sha256=consent_version(protocol.study.consent),
        given_at=person.consented_at,
        title=protocol.title,
        simulated=study.is_simulated,
        task=protocol.task,
        guidance=protocol.guidance,
        pay=protocol.study.pay,
        idle_s=protocol.study.limits.idle_s,
        theme=person.preferences.get("theme", "system"),
        language=protocol.language,
    )


def give_consent(session: Session, principal: Principal, sha256: str) -> None:
    """Note that this person agrees to the text with this sha256. Raises AnnotationError `out_of_date` for another."""
    study, protocol, person = own_consent(session, principal)
    if sha256 != consent_version(protocol.study.consent):
        raise AnnotationError("out_of_date", "the consent text was changed meanwhile; read it again as it is now")
    before = consent_state(protocol, person)
    if before in ("none", "given"):
        return
    hold_person(session, person.rater_id)
    begin_by_one_visit(session, person, principal)
    person.consent_sha256, person.consented_at = sha256, types.now()
    audit(session, study.id, principal.rater_id, "consent", sha256=sha256, before=before)


def own_consent(session: Session, principal: Principal) -> tuple[tables.Study, Protocol, Enrollment]:
    """Study, protocol and enrollment of whoever labels. Raises AnnotationError `forbidden` for others."""
    if principal.enrollment_id is None or not may_label(session, principal):
        raise AnnotationError("forbidden", "only annotators are asked for consent; open the link you were invited by")
    study = session.get_one(tables.Study, principal.study_id)
    return study, protocol_of(study), session.get_one(Enrollment, principal.enrollment_id)
