"""Who signed a ballot: a packet with its own secret, or the page of somebody who was signed in.

The online page signs what it could not send with a key that follows from its sign-in, and of that the server keeps
only a hash. So such a file proves whose answers it holds, also after signing out, and whoever reads it learns nothing
that signs anybody in.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.canonical_json import canonical
from annotation.errors import AnnotationError
from annotation.people.principals import Principal
from db.people_tables import Enrollment, Packet, Rater, SignIn
from db.tables import Study


@dataclass(frozen=True)
class Signer:
    """Whose ballots these are, and by which packet; None: by the online page."""

    rater: Principal
    pseudonym: str
    secret: str  # 32 bytes as hex
    packet_sha256: str
    packet: Packet | None = None


def signature(secret: str, content: dict[str, Any]) -> str:
    """HMAC-SHA256 over the canonical JSON of a ballot without its `hmac`, as lowercase hex."""
    return hmac.new(bytes.fromhex(secret), canonical(content), hashlib.sha256).hexdigest()


def rescue_signer(cookie: str) -> dict[str, str]:
    """What the online page signs with: `{packet_id, packet_sha256, secret}`, of this sign-in."""
    secret = _rescue_secret(hashlib.sha256(cookie.encode()).hexdigest())
    return {"packet_id": _rescue_id(secret), "packet_sha256": "", "secret": secret}


def find_signer(session: Session, study: Study, packet_id: str) -> Signer:
    """Raises AnnotationError `unknown_packet` where nothing of this study signs under that id."""
    packet = session.scalar(select(Packet).where(Packet.packet_id == packet_id, Packet.study_id == study.id))
    if packet is not None:
        enrollment = session.get_one(Enrollment, packet.enrollment_id)
        rater = rater_of(session, enrollment)
        return Signer(rater, enrollment.pseudonym, packet.secret, packet.sha256, packet)
    signed_in = select(SignIn.cookie_sha256, Enrollment).join(Enrollment, Enrollment.id == SignIn.enrollment_id)
    for cookie_sha256, enrollment in session.execute(signed_in.where(Enrollment.study_id == study.id)):
        secret = _rescue_secret(cookie_sha256)
        if _rescue_id(secret) == packet_id:
            return Signer(rater_of(session, enrollment), enrollment.pseudonym, secret, "")
    raise AnnotationError("unknown_packet", "no packet or sign-in of this study signed it; is it another study's?")


def rater_of(session: Session, enrollment: Enrollment) -> Principal:
    """The person as they act themselves."""
    rater = session.get_one(Rater, enrollment.rater_id)
    return Principal(enrollment.study_id, enrollment.role, rater.id, enrollment.id, rater.opaque_id)


def _rescue_secret(cookie_sha256: str) -> str:
    return hmac.new(cookie_sha256.encode(), b"calipers rescue", hashlib.sha256).hexdigest()


def _rescue_id(secret: str) -> str:
    return hashlib.sha256(bytes.fromhex(secret)).hexdigest()[:32]
