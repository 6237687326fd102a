"""What a page may send: each entry carries its own assignment and the whole state of what it changes, and a score
is a number on its criterion's scale.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
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
from annotation.protocol import Protocol, Scale


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
NOTES_MAX = 10_000
BOOKMARKS_MAX = 40  # per item
QUOTE_MAX = 2_000
SPANS_MAX = 20  # per answer
ENTRIES_MAX = 64
GUESS = "guess"


class Sent(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    client_uuid: Id
    client_ts: Timestamp = ""


class Span(BaseModel):
    """A passage of a shown report: `quote` was at [start, end), UTF-16 units of the `textContent` of its pane."""

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


class Bookmark(BaseModel):
    """A passage of a shown report, as the number of its block."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    side: Side
    block: Annotated[int, Field(ge=0, lt=2**31)]


class Place(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    criterion: Annotated[str, StringConstraints(max_length=200)] | None = None
    left: Fraction | None = None
    right: Fraction | None = None
    left_read: Fraction | None = None  # the furthest that was on screen
    right_read: Fraction | None = None
    bookmarks: Annotated[tuple[Bookmark, ...], Field(max_length=BOOKMARKS_MAX)] | None = None


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
    pace: bool | None = None
    # the person's own letter by the usual key
    letters: (
        Annotated[
            dict[Annotated[str, StringConstraints(max_length=4)], Annotated[str, StringConstraints(max_length=1)]],
            Field(max_length=32),
        ]
        | None
    ) = None
    # to oneself
    notes: (
        Annotated[str, StringConstraints(max_length=NOTES_MAX), AfterValidator(lambda notes: clean(notes))] | None
    ) = None


class PreferencesEntry(Sent):
    kind: Literal["preferences"]
    preferences: Preferences


class Interval(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    criterion: Annotated[str, StringConstraints(max_length=200)] | None = None
    start: Timestamp
    end: Timestamp


class EventEntry(Sent):
    """Something that happened on the page: time spent, a flag, a comment, a guess."""

    aid: Id
    page: Id

    @property
    def what(self) -> str:
        raise NotImplementedError

    @property
    def data(self) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def stored_as(self) -> str:
        """The kind of its event."""
        return self.kind

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


class GuessEntry(EventEntry):
    """Which kind of writer a report has; empty: none was recognised, left out: nothing was said of it."""

    kind: Literal["guess"]
    left: Annotated[str, StringConstraints(max_length=200)] | None = None
    right: Annotated[str, StringConstraints(max_length=200)] | None = None

    @property
    def said(self) -> dict[str, str]:
        """Side -> what was said of it."""
        return {side: kind for side, kind in (("left", self.left), ("right", self.right)) if kind is not None}

    @property
    def what(self) -> str:
        return GUESS

    @property
    def data(self) -> dict[str, Any]:
        return dict(self.said)

    @property
    def stored_as(self) -> str:
        return "comment"  # beside what else people say of an item, and no part of its labels


Entry = AnswerEntry | PlaceEntry | PreferencesEntry | ActivityEntry | FlagEntry | CommentEntry | GuessEntry


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
    return "".join(character if character.isprintable() else "?" for character in text[:most])


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


POINTS_MAX = 201
NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?")


def scale_of(protocol: Protocol, own: Mapping[str, Any] | None) -> Scale | None:
    """A criterion's `own` scale as its row keeps it, else the protocol's; None where nothing is rated."""
    return Scale.model_validate(own) if own else protocol.answers.scale


def off_scale(number: float, scale: Scale) -> str:
    """`out_of_range`, `off_step`, or nothing where the number is one of the scale's. Steps count from its lower end."""
    if not scale.min <= number <= scale.max:
        return "out_of_range"
    steps = (number - scale.min) / scale.step if scale.step else 0.0
    return "off_step" if abs(steps - round(steps)) > 1e-9 else ""


def scale_points(scale: Scale) -> tuple[str, ...]:
    """Every score of the scale in order, as stored; none where any number goes, or there are more than 201."""
    steps = round((scale.max - scale.min) / scale.step) if scale.step else POINTS_MAX
    if steps >= POINTS_MAX:
        return ()
    step, low = Decimal(repr(scale.step)), Decimal(repr(scale.min))
    return tuple(score_text(float(low + number * step)) for number in range(steps + 1))


def score_text(number: float) -> str:
    """A score as it is stored, without exponent or idle zeros: `7`, `7.5`."""
    return str(int(number)) if number == int(number) else format(Decimal(repr(number)), "f")


def stored_choice(protocol: Protocol, own_scale: Mapping[str, Any] | None, choice: str | None) -> str | None:
    """A person's answer as it is stored: one of the protocol's, or a number of the criterion's scale.

    Raises AnnotationError `invalid` naming what is allowed.
    """
    if choice is None or choice in protocol.choices:
        return choice
    scale = scale_of(protocol, own_scale)
    if scale is None:
        allowed = ", ".join(protocol.choices)
        raise AnnotationError("invalid", f"{choice!r:.60} is not an answer this study allows ({allowed})")
    if NUMBER.fullmatch(choice) and not off_scale(float(choice), scale):
        return score_text(float(choice))
    steps = f" in steps of {scale.step:g}" if scale.step else ""
    raise AnnotationError("invalid", f"{choice!r:.60} is not a score from {scale.min:g} to {scale.max:g}{steps}")
