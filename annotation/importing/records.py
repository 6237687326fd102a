"""What every layout is read into, and how a file's bytes become text."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError

BOM = b"\xef\xbb\xbf"
NO_ANSWER = ("No final answer", "No final report generated")  # what DR3-Eval's agents write in place of a report
TITLE_LENGTH = 100
REPORT_MAX = 16 << 20  # bytes


@contextmanager
def collecting(problems: list[str]) -> Iterator[None]:
    """What is refused inside the block joins `problems`, so that the next file is still read."""
    try:
        yield
    except ImportingError as error:
        problems += error.problems


@dataclass(frozen=True)
class TopicRecord:
    key: str  # NFC, trimmed: what reports are matched by
    title: str
    prompt: str = ""
    category: str = ""
    language: str = ""  # empty: the protocol's
    features: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SystemRecord:
    key: str
    public_name: str
    is_reference: bool = False
    family: str = ""


@dataclass(frozen=True)
class ReportRecord:
    """One report as read: `original` are its bytes, `text` the same decoded, without BOM and with LF line ends.

    Where it stood in a row of a larger file, `original` is that value in UTF-8 and `path` names file and line.
    """

    topic: str
    system: str
    path: str
    original: bytes
    text: str
    encoding: str

    @property
    def sha256(self) -> str:
        """Of the bytes as read, hex."""
        return hashlib.sha256(self.original).hexdigest()

    @property
    def is_empty(self) -> bool:
        """Nothing but blanks, or an agent's notice that it wrote nothing."""
        return self.text.strip().rstrip(".") in ("", *NO_ANSWER)


@dataclass(frozen=True)
class CriterionRecord:
    """A question that comes with one topic; `where` is `file:line`. No scale of its own: the protocol's."""

    where: str
    topic: str
    id: str
    label: str
    text: str
    category: str = ""
    subcategory: str = ""
    weight: float = 1.0
    scale: dict[str, Any] | None = None


@dataclass(frozen=True)
class Row:
    """One line of a table: `where` is `file:line`, the values are as spelled in the file (numbers stay text)."""

    where: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Parsed:
    """Everything a layout's reader found, before any check against the database.

    Criteria of topics are read wherever they lie; they, and what is wrong with them, count only in a study whose
    protocol asks for them. What else a layout brings becomes one more field beside `reports`.
    """

    topics: tuple[TopicRecord, ...]
    systems: tuple[SystemRecord, ...]
    reports: tuple[ReportRecord, ...]
    problems: tuple[str, ...] = ()
    ignored: int = 0
    disabled: tuple[str, ...] = ()
    matched_by_fallback: tuple[str, ...] = ()
    nfd_names: int = 0
    notes: tuple[str, ...] = ()  # what the reader decided or left aside, one sentence each
    bom: int = 0  # of files that hold many reports; a report's own is counted from its bytes
    crlf: int = 0
    criteria: tuple[CriterionRecord, ...] = ()
    criteria_problems: tuple[str, ...] = ()
    criteria_file: str = ""  # the file that they stand in


def nfc(name: str) -> str:
    """A topic key as it is compared: NFC and trimmed (macOS copies spell names in NFD)."""
    return unicodedata.normalize("NFC", name).strip()


def title_of(prompt: str) -> str:
    """A topic's name where only its prompt is known: the first line, cut between words at 100 characters."""
    line = " ".join((prompt.strip().splitlines() or [""])[0].split())
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[: TITLE_LENGTH - 1]
    head, blank, _ = cut.rpartition(" ")
    return (head if blank else cut).rstrip(" ,;:") + "…"


def read_report(path: Path, shown: str, topic: str, system: str, encoding: str = "utf-8") -> ReportRecord:
    """The file's bytes and text. Raises ImportingError naming the byte, its offset and line; never guesses a codec."""
    if not (topic and system):  # names are trimmed, and here nothing is left of one
        raise ImportingError(f"{shown}: its {'topic' if system else 'system'} has a name of blanks only; rename it")
    if path.is_file() and path.stat().st_size > REPORT_MAX:
        raise ImportingError(f"{shown}: over {REPORT_MAX >> 20} MB; a report is one document, give each its own file")
    original = read_bytes(path, shown)
    return ReportRecord(topic, system, shown, original, decode(original, shown, encoding), encoding)


def report_in_row(value: str, where: str, topic: str, system: str) -> ReportRecord:
    """A report that stood as one value in a larger file."""
    return ReportRecord(topic, system, where, value.encode(), plain(value), "utf-8")


def read_bytes(path: Path, shown: str) -> bytes:
    """The file as it is. Raises ImportingError where it cannot be read, or has a name that no database can keep."""
    visible = shown.encode("utf-8", "backslashreplace").decode()
    if visible != shown:
        raise ImportingError(f"{visible}: the file's name is not UTF-8; rename it")
    try:
        return path.read_bytes()
    except OSError as error:
        remedy = "check the path" if isinstance(error, FileNotFoundError) else "make it readable or remove it"
        raise ImportingError(f"{shown}: cannot be read ({error.strerror}); {remedy}") from None


def decode(original: bytes, shown: str, encoding: str = "utf-8") -> str:
    """Text of a file as the user declared it, BOM dropped and line ends as LF. Raises ImportingError."""
    return plain(decode_as_read(original, shown, encoding))


def decode_as_read(original: bytes, shown: str, encoding: str = "utf-8") -> str:
    """The same with its line ends, which belong to the bytes of a report that stands in a CSV cell."""
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    try:
        text = original.decode(codec)
    except UnicodeDecodeError as error:
        line = original.count(b"\n", 0, error.start) + 1
        raise ImportingError(
            f"{shown}:{line}: byte {original[error.start]:#04x} at {error.start:,} is not {encoding.upper()}; "
            "re-save the file as UTF-8 or pass --encoding cp1252"
        ) from None
    except LookupError:
        raise ImportingError(f"--encoding {encoding}: no such encoding; try utf-8 or cp1252") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ImportingError(f"{shown}:{line}: holds a NUL character, so it is not a text file; replace or remove it")
    return text


def plain(text: str) -> str:
    """Without BOM, with LF line ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def as_text(value: Any) -> str | None:
    """A row's value as text: null is empty, a number as spelled; None where it is a list, an object or bytes."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else None


def shortened(name: str) -> str:
    """Quoted for an error, at most 60 characters of it: a misplaced report must not fill the screen."""
    return repr(name if len(name) <= 60 else name[:59] + "…")


def some_of(names: Sequence[str], most: int, between: str = ", ") -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return between.join(names[:most]) + more


def counted(count: int, thing: str) -> str:
    """`1 topic`, `2,400 topics`, `3 new versions`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def storable_rows(rows: Iterable[Row], problems: list[str]) -> list[Row]:
    """The rows that a database can keep; each other one joins `problems`."""
    kept = []
    for row in rows:
        bad = [name for name, value in row.values.items() if not _is_storable([name, value])]
        if bad:
            problems.append(
                f"{row.where}: {shortened(bad[0])} holds a NUL or half a character (\\u0000, \\ud800); remove it"
            )
        else:
            kept.append(row)
    return kept


def _is_storable(value: Any) -> bool:
    """Whether every string in `value` can be kept: Postgres takes no NUL, and nothing takes half a surrogate pair."""
    if isinstance(value, str):
        return "\0" not in value and value.encode("utf-8", "replace").decode() == value
    if isinstance(value, dict):
        return all(_is_storable(held) for pair in value.items() for held in pair)
    return not isinstance(value, list) or all(_is_storable(held) for held in value)


def storable(value: Any) -> Any:
    """What an import reports as a database can keep it: NUL and half characters of a file's words are spelled out."""
    if isinstance(value, str):
        return value.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {storable(name): storable(held) for name, held in value.items()}
    return [storable(held) for held in value] if isinstance(value, list | tuple) else value


def duplicate_keys(reports: Iterable[ReportRecord]) -> list[str]:
    """A problem for each second report of one system on one topic, naming both places."""
    first: dict[tuple[str, str], str] = {}
    problems = []
    for report in reports:
        key = (report.topic, report.system)
        if key in first:
            problems.append(
                f"{report.path}: a second report by system {report.system!r} on topic {report.topic!r} "
                f"(the first is {first[key]}); remove one"
            )
        first.setdefault(key, report.path)
    return problems
