"""How somebody whom a crowd platform sent ends here, and the address at which it wants them back."""

from urllib.parse import quote

from sqlalchemy import orm

from annotation.people import consent, links, platforms, principals
from annotation.studies import audit, protocol_of
from annotation.training.training import training_state
from annotation.work.progress import completion_code, position
from db import people_tables, tables


def end_of(session: orm.Session, principal: principals.Principal, *, declined: bool = False) -> str | None:
    """completed | screened_out (the training) | no_consent | full (nothing is left for them).

    None while there is work for them, while the study is paused, and for whoever came by no open link. `declined`: they
    say so now, of a consent text that asks for an answer.
    """
    person = session.get(people_tables.Enrollment, principal.enrollment_id) if principal.enrollment_id else None
    if person is None or person.participant_sha256 is None:
        return None
    if completion_code(session, principal) is not None:
        return "completed"
    study = session.get_one(tables.Study, principal.study_id)
    agreed = consent.consent_state(protocol_of(study), person)
    if agreed == "withdrawn" or (declined and agreed in ("asked", "outdated")):
        return "no_consent"
    if training_state(session, study, person).status == "failed":
        return "screened_out"
    is_over = position(session, principal) == (0, 0) and study.status not in ("draft", "paused")
    return "full" if is_over and person.status == "active" else None


def address_back(session: orm.Session, principal: principals.Principal, *, declined: bool = False) -> str | None:
    """Where the platform wants this person, who ends here now; None while they do not, or where it said nothing."""
    end = end_of(session, principal, declined=declined)
    if end is None:
        return None
    person = session.get_one(people_tables.Enrollment, principal.enrollment_id)
    link = session.get(people_tables.OpenLink, person.open_link_id) if person.open_link_id else None
    return None if link is None else links.made_for(session, link)[1].get(end)


def go_back(session: orm.Session, principal: principals.Principal, participant: str) -> str | None:
    """The same with this person's id in it, where it asks for that; noted in the study's audit trail.

    `participant`: the id as their browser holds it, for nothing of it is stored here; another person's leads nowhere.
    """
    address = address_back(session, principal, declined=True)
    if address is None:
        return None
    person = session.get_one(people_tables.Enrollment, principal.enrollment_id)
    asks_id = platforms.ID in address
    if asks_id and principals.participant_hash(session, person.study_id, participant) != person.participant_sha256:
        return None
    end = end_of(session, principal, declined=True)
    audit(session, person.study_id, person.rater_id, "sent_back", enrollment=person.pseudonym, end=end)
    return address.replace(platforms.ID, quote(participant, safe=""))
