"""What a ballot is, the file `calipers-ballot/1`, and who signed it: a packet with its own secret, or a signed-in page.

The online page signs what it could not send with a key that follows from its sign-in, and of that the server keeps
only a hash. So such a file proves whose answers it holds, also after signing out, and whoever reads it learns nothing
that signs anybody in.
"""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from sqlalchemy import orm, select

from annotation.errors import AnnotationError
from annotation.labels.entries import Id, Timestamp, read_entry
from annotation.people.principals import Principal
from db.people_tables import Enrollment, Packet, Rater, SignIn
from db.tables import Study
from plain.hashes import canonical, read_json, text_sha256

FORMAT = "calipers-ballot/1"
ENTRIES_MAX = 50_000
NOT_WORK = ("place", "preferences")  # where the reader was and how they like the page: nothing to import


class Ballot(BaseModel):
    """The file. Its entries are read one by one, so that a bad one is refused alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["calipers-ballot/1"]
    packet_id: Id
    packet_sha256: Annotated[str, StringConstraints(max_length=64)]
    made_at: Timestamp
    entries: Annotated[list[Any], Field(max_length=ENTRIES_MAX)]
    hmac: Annotated[str, StringConstraints(max_length=64)]


class SubmitEntry(BaseModel):
    """The person said that this item is done."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["submit"]
    aid: Id
    page: Id
    client_uuid: Id
    client_ts: Timestamp = ""
    seq: int = 0


class ConsentEntry(BaseModel):
    """The person agreed to the consent text of this version."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["consent"]
    sha256: Annotated[str, StringConstraints(max_length=64)]
    client_uuid: Id
    client_ts: Timestamp = ""


def read_ballot(raw: bytes) -> tuple[Ballot, dict[str, Any]]:
    """The ballot, and what its `hmac` signs. Raises AnnotationError `bad_ballot`."""
    try:
        content = read_json(raw)
        ballot = Ballot.model_validate(content)
    except (ValueError, ValidationError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else None
        said = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first else str(error)
        raise AnnotationError("bad_ballot", f"this is no ballot that a packet saved ({said})") from None
    return ballot, {name: value for name, value in content.items() if name != "hmac"}


def read_work(raw: Any) -> Any:
    """One entry about an item. Raises AnnotationError `invalid`: a bad entry spoils no other."""
    if kind_of(raw) != "submit":
        return read_entry(raw)
    try:
        return SubmitEntry.model_validate(raw)
    except ValidationError as error:
        raise AnnotationError("invalid", f"{error.errors()[0]['loc'][0]}: {error.errors()[0]['msg']}") from None


def kind_of(raw: Any) -> str:
    """What an entry says it is; "unreadable" where it says nothing."""
    kind = raw.get("kind") if isinstance(raw, dict) else None
    return kind if isinstance(kind, str) else "unreadable"


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
    secret = _rescue_secret(text_sha256(cookie))
    return {"packet_id": _rescue_id(secret), "packet_sha256": "", "secret": secret}


def find_signer(session: orm.Session, study: Study, packet_id: str) -> Signer:
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


def rater_of(session: orm.Session, enrollment: Enrollment) -> Principal:
    """The person as they act themselves."""
    rater = session.get_one(Rater, enrollment.rater_id)
    return Principal(enrollment.study_id, enrollment.role, rater.id, enrollment.id, rater.opaque_id)


def _rescue_secret(cookie_sha256: str) -> str:
    return hmac.new(cookie_sha256.encode(), b"calipers rescue", hashlib.sha256).hexdigest()


def _rescue_id(secret: str) -> str:
    return hashlib.sha256(bytes.fromhex(secret)).hexdigest()[:32]
