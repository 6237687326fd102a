"""What a page may send: each entry carries its own assignment and the whole state of what it changes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from annotation.errors import AnnotationError


def _a_time(text: str) -> str:
    """An ISO time of our days, or nothing: it is stored for good, so it must be readable for good."""
    if text and not 2000 <= datetime.fromisoformat(text).year <= 2200:
        raise ValueError("a time of another age")
    return text


Timestamp = Annotated[str, StringConstraints(max_length=40), AfterValidator(_a_time)]
Id = Annotated[str, StringConstraints(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Fraction = Annotated[float, Field(ge=0, le=1)]
Side = Literal["left", "right"]
RATIONALE_MAX = 10_000
COMMENT_MAX = 2_000
QUOTE_MAX = 2_000
SPANS_MAX = 20  # per answer
ENTRIES_MAX = 64


class Sent(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    client_uuid: Id
    client_ts: Timestamp = ""


class Span(BaseModel):
    """A passage of a shown report: `quote` stood at [start, end), UTF-16 units of the `textContent` of its pane."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    side: Side
    start: Annotated[int, Field(ge=0, lt=2**31)]
    end: Annotated[int, Field(ge=0, lt=2**31)]
    quote: Annotated[
        str,
        BeforeValidator(lambda quote: clean(quote) if isinstance(quote, str) else quote),
        StringConstraints(min_length=1, max_length=QUOTE_MAX),
    ]


class AnswerEntry(Sent):
    kind: Literal["label"]
    aid: Id
    page: Id
    criterion: Annotated[str, StringConstraints(max_length=200)]
    choice: Annotated[str, StringConstraints(max_length=200)] | None
    rationale: Annotated[str, StringConstraints(max_length=RATIONALE_MAX)] = ""
    evidence: Annotated[list[Span], Field(max_length=SPANS_MAX)] = []
    confidence: Annotated[int, Field(ge=1, le=5)] | None = None
    writer: Id
    seq: Annotated[int, Field(ge=1, lt=2**31)]
    base_rev: Annotated[int, Field(ge=0)] = 0


class Place(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    criterion: Annotated[str, StringConstraints(max_length=200)] | None = None
    left: Fraction | None = None
    right: Fraction | None = None
    left_read: Fraction | None = None  # the furthest that was on screen
    right_read: Fraction | None = None


class PlaceEntry(Sent):
    kind: Literal["place"]
    aid: Id
    page: Id
    place: Place
    writer: Id = "unknown0"
    seq: int = 0


class Preferences(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    font: Annotated[int, Field(ge=14, le=22)] | None = None
    theme: Literal["light", "dark", "system"] | None = None
    form: Literal["auto", "right", "bottom"] | None = None
    sync: Literal["off", "proportional", "matching"] | None = None
    keys: bool | None = None


class PreferencesEntry(Sent):
    kind: Literal["preferences"]
    preferences: Preferences


class Interval(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    criterion: Annotated[str, StringConstraints(max_length=200)] | None = None
    start: Timestamp
    end: Timestamp


class EventEntry(Sent):
    """Something that happened on the page: time spent, a flag, a comment."""

    aid: Id
    page: Id

    @property
    def what(self) -> str:
        raise NotImplementedError

    @property
    def data(self) -> dict[str, Any]:
        raise NotImplementedError

    kind: str


class ActivityEntry(EventEntry):
    kind: Literal["activity"]
    intervals: Annotated[list[Interval], Field(max_length=200)]
    clock: Literal["client"] | None = None  # of a ballot: no server saw the time pass

    @property
    def what(self) -> str:
        return "intervals"

    @property
    def data(self) -> dict[str, Any]:
        clock = {"clock": self.clock} if self.clock else {}
        return {"intervals": [interval.model_dump() for interval in self.intervals], **clock}


class FlagEntry(EventEntry):
    kind: Literal["flag"]
    flag: Literal["broken_text", "reveals_author", "other"]
    text: Annotated[str, StringConstraints(max_length=COMMENT_MAX)] = ""

    @property
    def what(self) -> str:
        return self.flag

    @property
    def data(self) -> dict[str, Any]:
        return {"text": self.text}


class CommentEntry(EventEntry):
    kind: Literal["comment"]
    text: Annotated[str, StringConstraints(min_length=1, max_length=COMMENT_MAX)]

    @property
    def what(self) -> str:
        return "comment"

    @property
    def data(self) -> dict[str, Any]:
        return {"text": self.text}


Entry = AnswerEntry | PlaceEntry | PreferencesEntry | ActivityEntry | FlagEntry | CommentEntry


ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


def read_entry(raw: Any) -> Entry:
    """One entry as it was sent. Raises AnnotationError `invalid` naming the field: a bad entry spoils no other."""
    try:
        return ENTRY.validate_python(_cleaned(raw))
    except ValidationError as error:
        first = error.errors()[0]
        place = place_of(first["loc"][1:]) or "entry"
        said = _readable(first["msg"], 300)  # it quotes a `kind` that nobody knows
        raise AnnotationError("invalid", f"{place}: {said}") from None


def place_of(steps: Iterable[object]) -> str:
    """Where in a request something is wrong, fit to be read: names are the sender's own."""
    return _readable(".".join(map(str, steps)), 100)


def _readable(text: str, most: int) -> str:
    return "".join(one if one.isprintable() else "?" for one in text[:most])


def sent_id(raw: Any) -> str | None:
    """The id of an entry that could not be read, if it has a usable one: the page then knows which was refused."""
    known = raw.get("client_uuid") if isinstance(raw, dict) else None
    return known if isinstance(known, str) and re.fullmatch(r"[A-Za-z0-9_-]{8,64}", known) else None


def clean(text: str) -> str:
    """Text as both databases can hold it: no NUL, no half of a surrogate pair."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _cleaned(raw: Any) -> Any:
    if not isinstance(raw, dict):
        return raw
    return {name: clean(value) if isinstance(value, str) else value for name, value in raw.items()}


class Beside(BaseModel):
    """The other report's part of a page that asks about both."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    aid: Id
    page: Annotated[str, StringConstraints(max_length=64)]
    revs: dict[str, int] = {}


class SubmitRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    aid: Id
    page: Annotated[str, StringConstraints(max_length=64)] = ""
    outcome: Literal["submit", "skip", "reopen"]
    reason: Annotated[str, StringConstraints(max_length=COMMENT_MAX)] = ""
    client_uuid: Id
    revs: dict[str, int] = {}
    beside: Beside | None = None
