"""Packets: work that one person takes home as a file, and does without the server."""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, orm, select

from annotation import rendering, studies
from annotation.errors import AnnotationError
from annotation.figures.kept import embedded
from annotation.offline.ballot_format import rater_of
from annotation.open_work import quotas, returns
from annotation.people.consent import consent_needed, consent_version, view_consent
from annotation.people.principals import Principal, enrollment_of, may_label, study_for
from annotation.texts.scripts import direction
from annotation.training.training import needs_training
from annotation.work.claiming import take_slot
from annotation.work.page import assignment_page
from db.people_tables import Enrollment, Packet, Rater
from db.tables import HANDED_IN, Assignment, Study
from db.types import now
from plain.hashes import canonical

FORMAT = "calipers-packet/1"
MOST_ITEMS = 500  # each with two reports in one file


@dataclass(frozen=True)
class PacketFile:
    """What a packet's file is made of. `secret` signs its ballots and is kept in the packet's row alone."""

    packet_id: str
    rater: str  # pseudonym
    data: dict[str, Any]
    sha256: str  # of the canonical JSON of `data`
    secret: str


def reserve_packet(session: orm.Session, principal: Principal, name: str, items: int) -> PacketFile:
    """Take this person's next `items` slots into a packet: exactly so many, or AnnotationError `too_few`.

    Raises AnnotationError `forbidden`, `unknown_person`, `not_open`, `not_active`, `consent` or `training` where they
    could not take work online either. Who has not agreed to the consent text yet does so in the packet.
    """
    study = study_for(session, principal, "admin")
    if not 1 <= items <= MOST_ITEMS:
        raise AnnotationError("too_many", f"a packet holds 1 to {MOST_ITEMS} items, not {items}")
    if studies.protocol_of(study).rates_both:
        raise AnnotationError(
            "no_packets",
            "two reports rated in one view are labelled online only; a packet asks about one item at a time",
        )
    person = enrollment_of(session, study, name)
    rater = rater_of(session, person)
    _refuse_unready(session, study, person, rater)
    studies.hold_person(session, person.rater_id)
    quotas.one_at_a_time(session, study, always=True)
    packet = Packet(study_id=study.id, enrollment_id=person.id, secret=secrets.token_hex(32))
    session.add(packet)
    session.flush()
    for number in range(items):
        slot = take_slot(session, study, rater)
        if slot is None:
            left = f"ask for {number}" if number else "none is left"
            raise AnnotationError("too_few", f"only {number} of {items} items are open to {name.strip()!r}; {left}")
        slot.source, slot.packet_id = "packet", packet.id
        session.flush()
    data = packet_data(session, packet)
    packet.sha256 = hashlib.sha256(canonical(data)).hexdigest()
    facts = {"packet": packet.packet_id, "enrollment": person.pseudonym, "items": items, "sha256": packet.sha256}
    studies.audit(session, study.id, principal.rater_id, "packet", **facts)
    return PacketFile(packet.packet_id, person.pseudonym, data, packet.sha256, packet.secret)


def packet_data(session: orm.Session, packet: Packet) -> dict[str, Any]:
    """Everything a packet's file says: its items as their page shows them, instructions, consent, and no more."""
    study = session.get_one(Study, packet.study_id)
    protocol = studies.protocol_of(study)
    rater = rater_of(session, session.get_one(Enrollment, packet.enrollment_id))
    aids = session.scalars(
        select(Assignment.aid).where(Assignment.packet_id == packet.id).order_by(Assignment.taken_at, Assignment.id)
    )
    pages = [assignment_page(session, rater, aid) for aid in aids]
    for text in (text for page in pages for text in (*page["panes"], page["brought"]) if text):
        text["html"] = embedded(session, study.id, text["html"])
    consent = None
    if protocol.study.consent.strip():
        consent = {
            "html": rendering.render_report(protocol.study.consent),
            "sha256": consent_version(protocol.study.consent),
            "needed": consent_needed(session, rater),
        }
    return {
        "format": FORMAT,
        "packet_id": packet.packet_id,
        "study": {"title": protocol.title, "simulated": study.is_simulated},
        "language": protocol.language,
        "dir": direction(protocol.language),
        "task": protocol.task,
        "guidance_html": rendering.render_report(protocol.guidance),
        "consent": consent,
        # the desk counts place and time itself, the person is the packet, and only a server asks for a guess
        "items": [{name: value for name, value in page.items() if name not in ("person", "guess")} for page in pages],
    }


def withdraw_packet(session: orm.Session, principal: Principal, packet_id: str) -> int:
    """No ballot of this packet counts any more, and what was not handed in goes back; returns how many items did."""
    study = study_for(session, principal, "admin")
    packet = session.scalar(
        select(Packet).where(Packet.study_id == study.id, Packet.packet_id == packet_id.strip()).with_for_update()
    )
    if packet is None:
        raise AnnotationError("unknown_packet", f"no packet {packet_id!r}; see: calipers packet {study.name} --list")
    if packet.withdrawn_at is not None:
        return 0
    packet.withdrawn_at = now()
    inside = select(Assignment).where(Assignment.packet_id == packet.id, Assignment.status == "taken")
    returned = 0
    for assignment in session.scalars(inside.with_for_update()).all():
        if assignment.submitted_at is not None:
            assignment.status = "submitted"  # reopened: it counts as handed in again, with the answers it has now
        else:
            returns.give_back(session, assignment, "packet")
            returned += 1
    studies.audit(session, study.id, principal.rater_id, "withdraw_packet", packet=packet.packet_id, returned=returned)
    return returned


def list_packets(session: orm.Session, principal: Principal) -> list[dict[str, Any]]:
    """Every packet of the study, the oldest first; for admins."""
    study = study_for(session, principal, "admin")
    counted = (
        select(Assignment.packet_id, Assignment.status, func.count())
        .where(Assignment.study_id == study.id, Assignment.packet_id.is_not(None))
        .group_by(Assignment.packet_id, Assignment.status)
    )
    counts: dict[int | None, dict[str, int]] = {}
    for packet, status, number in session.execute(counted):
        counts.setdefault(packet, {})[status] = number
    rows = session.execute(
        select(Packet, Rater.handle)
        .join(Enrollment, Enrollment.id == Packet.enrollment_id)
        .join(Rater, Rater.id == Enrollment.rater_id)
        .where(Packet.study_id == study.id)
        .order_by(Packet.id)
    )
    return [
        {
            "packet": packet.packet_id,
            "name": name,
            "made_at": f"{packet.created_at:%Y-%m-%dT%H:%M:%SZ}",
            "items": sum(counts.get(packet.id, {}).values()),
            "handed_in": sum(counts.get(packet.id, {}).get(status, 0) for status in HANDED_IN),
            "withdrawn": packet.withdrawn_at is not None,
        }
        for packet, name in rows
    ]


def _refuse_unready(session: orm.Session, study: Study, person: Enrollment, rater: Principal) -> None:
    if person.role == "adjudicator" or not may_label(session, rater):
        raise AnnotationError("forbidden", f"only annotators take packets, and this person is {person.role}")
    if study.status != "open":
        raise AnnotationError("not_open", f"study {study.name!r} is {study.status}; packets are made while it is open")
    if person.status != "active":
        raise AnnotationError("not_active", f"this person is {person.status}; let them work again first")
    if view_consent(session, rater).state == "withdrawn":
        raise AnnotationError("consent", "this person has taken their consent back, and can give it again online only")
    if needs_training(session, study, person):
        raise AnnotationError("training", "this person has not passed the training, which is done online")
