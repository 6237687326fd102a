"""What every layout is read into, and how a file's bytes become text."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.documents.reading import SUFFIXES as DOCUMENTS
from annotation.documents.reading import read_document
from annotation.errors import ImportingError
from annotation.files.decoding import decode, nfc, plain, read_bytes
from plain.wording import Sentence, worded

NO_ANSWER = ("No final answer", "No final report generated")  # what DR3-Eval's agents write in place of a report
TITLE_LENGTH = 100
REPORT_MAX = 16 << 20  # bytes


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

    Where it was in a row of a larger file, `original` is that value in UTF-8 and `path` names file and line. Of a
    document `text` is the Markdown it was converted to, `encoding` says by what, `lost` what that left behind, and
    `images` where its pictures lie in it.
    """

    topic: str
    system: str
    path: str
    original: bytes
    text: str
    encoding: str
    lost: tuple[str, ...] | None = None  # None for a text
    images: tuple[str, ...] = ()

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
    notes: tuple[Sentence, ...] = ()  # what the reader decided or left aside, one sentence each
    bom: int = 0  # of files that hold many reports; a report's own is counted from its bytes
    crlf: int = 0
    criteria: tuple[CriterionRecord, ...] = ()
    criteria_problems: tuple[str, ...] = ()
    criteria_file: str = ""  # the file that they stand in


def title_of(prompt: str) -> str:
    """A topic's name where only its prompt is known: the first line, cut between words at 100 characters."""
    line = " ".join((prompt.strip().splitlines() or [""])[0].split())
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[: TITLE_LENGTH - 1]
    head, blank, _ = cut.rpartition(" ")
    return (head if blank else cut).rstrip(" ,;:") + "…"


def without_copies(files: Iterable[Path]) -> list[Path]:
    """The files without the documents beside the same report as text, which are another copy of it."""
    found = [(path, path.suffix.lower() in DOCUMENTS, (path.parent, nfc(path.stem))) for path in files]
    texts = {key for _, is_document, key in found if not is_document}
    return [path for path, is_document, key in found if not is_document or key not in texts]


def read_report(path: Path, shown: str, topic: str, system: str, encoding: str = "utf-8") -> ReportRecord:
    """The file's bytes and text. Raises ImportingError naming the byte, its offset and line; never guesses a codec.

    A document (`.docx`, `.html`, …) is known by its suffix and converted.
    """
    if not (topic and system):  # names are trimmed, and here nothing is left of one
        raise ImportingError(
            "{shown}: its {topic} has a name of blanks only; rename it", shown=shown,
            topic=worded("topic" if system else "system"),
        )  # fmt: skip
    if path.is_file() and path.stat().st_size > REPORT_MAX:
        raise ImportingError(
            "{shown}: over {report_max} MB; a report is one document, give each its own file", shown=shown,
            report_max=REPORT_MAX >> 20,
        )  # fmt: skip
    original = read_bytes(path, shown)
    if path.suffix.lower() in DOCUMENTS:
        made = read_document(original, path.suffix.lower(), shown, encoding)
        return ReportRecord(topic, system, shown, original, plain(made.text), made.by, made.lost, made.images)
    return ReportRecord(topic, system, shown, original, decode(original, shown, encoding), encoding)


def report_in_row(value: str, where: str, topic: str, system: str) -> ReportRecord:
    """A report that was one value in a larger file."""
    return ReportRecord(topic, system, where, value.encode(), plain(value), "utf-8")


def duplicate_keys(reports: Iterable[ReportRecord]) -> list[str]:
    """A problem for each second report of one system on one topic, naming both places."""
    first: dict[tuple[str, str], str] = {}
    problems = []
    for report in reports:
        key = (report.topic, report.system)
        if key in first:
            problems.append(worded(
                "{path}: a second report by system {system!r} on topic {topic!r} (the first is {first}); remove one",
                path=report.path, system=report.system, topic=report.topic, first=first[key],
            ))  # fmt: skip
        first.setdefault(key, report.path)
    return problems
