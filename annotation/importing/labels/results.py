"""What a file of labels or judge results made elsewhere is read into: one row an answer, in the file's own names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, nfc, shortened
from annotation.tool_answers.entries import FAILED

TIE, NOT_APPLICABLE = "tie", "not_applicable"
LABELS_ARE = ("systems", "sides")
FIRST, SECOND = ("A", "left", "first"), ("B", "right", "second")
CUT = 100  # characters of a probe's text that some files keep
EXCEPTION = re.compile(
    r"(?:[A-Za-z_.]*(?:Error|Exception)\b|Traceback \(|HTTP(?:SConnection)? ?[45]\d\d|Connection error|'\w+'$)"
)


@dataclass(frozen=True)
class ResultRow:
    """One answer. `answer` of a pair is a system's name or tie; else a score or a probe answer. None where it failed.

    `first` is the system shown first, empty where the file does not say. `sha256` holds, by system, the hash that the
    file gives of the text that was read; `probe` a probe's key or text, and `probe_key` the number it has beside its
    text, without which its words find nothing where `by_number`: they may stand under another number; an empty
    criterion is the study's only one.
    """

    where: str
    rater: str
    topic: str
    systems: tuple[str, ...]
    criterion: str
    answer: str | None
    kind: str = "judge"
    status: str = "ok"
    first: str = ""
    probe: str = ""
    probe_key: str = ""
    by_number: bool = False
    item: str = ""  # as our own labels.csv numbers items; only believed where topic and systems agree
    run: int = 1
    pass_no: int | None = None
    rationale: str = ""
    seconds: float | None = None  # None: not given, which is not 0
    cost_usd: float | None = None
    confidence: int | None = None  # 1 to 5
    sha256: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    is_derived: bool = False  # a preference worked out from two scores: where it is no item, nothing is missed


@dataclass(frozen=True)
class Results:
    """Everything a layout's reader found. `scale`: the lowest and highest score that its numbers can be."""

    rows: tuple[ResultRow, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None


@dataclass(frozen=True)
class ResultOptions:
    """What the user decides about reading: who judged, what files leave out, and how other words are to be read."""

    judge: str = ""
    system: str = ""
    first: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    labels_are: str = "systems"
    answers: Mapping[str, str] = field(default_factory=dict)  # --map-label: the file's word -> ours, or a status
    times: float = 1.0
    paired: bool = False  # whether the study compares two reports
    probe: str = ""  # what a probe of the study is (claim, insight, ...); empty where it labels none
    encoding: str = "utf-8"
    key: str = field(default="", repr=False)  # of the database: what hides addresses of people


def winner(answer: str, systems: tuple[str, ...], first: str, labels_are: str) -> str:
    """The system that `answer` names, or `answer` itself where it names none (tie, not_applicable, other words).

    Raises ImportingError, without a place, for a side of an order that nobody knows.
    """
    if len(systems) != 2:
        return answer
    if labels_are == "sides" and answer in (*FIRST, *SECOND):
        if first not in systems:
            raise ImportingError(
                f"{answer!r} is a side, but no order is recorded; name the system shown first, or pass --first SYSTEM"
            )
        return first if answer in FIRST else systems[1 - systems.index(first)]
    if answer in (*FIRST[1:], *SECOND[1:]):
        raise ImportingError(f"{answer!r} is a side, not a system; pass --labels-are sides")
    return systems[0] if answer == "A" else systems[1] if answer == "B" else answer


def said(answer: str, options: ResultOptions) -> tuple[str | None, str, tuple[str, ...]]:
    """(answer, status, flags) once --map-label has been followed; a word that was mapped stays as the flag `raw:`."""
    meant = options.answers.get(answer, answer)
    flags = (f"raw:{answer[:60]}",) if meant != answer else ()
    return (None, meant, flags) if meant in FAILED else (meant, "ok", flags)


def whole(value: Any, where: str, name: str) -> int:
    """A number from 1, such as a repeat's. Raises ImportingError."""
    text = (as_text(value) or "").strip().removesuffix(".0")
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= 1):
        raise ImportingError(f"{where}: {name} is not a whole number from 1 ({shortened(text)}); correct it")
    return int(text)


def amount(value: Any, where: str, name: str) -> float | None:
    """Seconds or money from 0, None where nothing is given. Raises ImportingError."""
    text = (as_text(value) or "").strip()
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ImportingError(f"{where}: {name} is not a number from 0 ({shortened(text)}); leave it empty if unknown")
    return number


def named(value: Any) -> str:
    """A name as it is compared: NFC and trimmed; empty where there is none."""
    return nfc(as_text(value) or "")


def is_exception(reason: str) -> bool:
    """Whether what is in a reason's place is the text of an exception: the call failed, whatever was noted."""
    return EXCEPTION.match(reason.strip()) is not None


def judge_of(options: ResultOptions, found: str, where: str) -> str:
    """--judge, else who the file says judged. Raises ImportingError where neither says."""
    if not (options.judge or found):
        raise ImportingError(f"{where}: does not say which judge answered; pass --judge NAME")
    return options.judge or found
