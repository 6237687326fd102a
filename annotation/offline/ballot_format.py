"""What a ballot is: the file `calipers-ballot/1`, and the entries that only a packet writes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from annotation.canonical_json import read_json
from annotation.entries import Id, Timestamp, read_entry
from annotation.errors import AnnotationError

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
