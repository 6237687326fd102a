"""What every layout of probes is read into: claims, facts, key points … as files hold them, whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.importing.records import Row, plain, storable_rows


@dataclass(frozen=True)
class ProbeRecord:
    """One text to be asked about. `key` tells the probes of one report apart; results made elsewhere name it.

    `system` empty: the same probe about every report of the topic, but for references where `spares_references`. With
    source passages alone as context it is one probe about no report. `gold`: the true answer, as the file says it.
    """

    where: str  # file:line, for errors
    key: str
    topic: str
    system: str
    text: str
    context: str = ""
    tag: str = ""
    gold: str = ""
    spares_references: bool = False


@dataclass(frozen=True)
class ParsedProbes:
    """Everything a reader found. `exceeds`: a published tree holds topics and systems that a study may leave out."""

    probes: tuple[ProbeRecord, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    exceeds: bool = False


@dataclass(frozen=True)
class ProbeOptions:
    """How files are to be read: what the protocol asks about (`kind`, `context`, `answers`), and the user's own words.

    `sources`: a folder of fetched pages with pages.csv; `columns`: field -> column of a table.
    """

    kind: str = ""
    context: str = "report"
    answers: tuple[str, ...] = ()
    encoding: str = "utf-8"
    columns: Mapping[str, str] = field(default_factory=dict)
    system: str = ""
    sources: Path | None = None

    @property
    def needs_sources(self) -> bool:
        """Whether raters read source passages."""
        return self.context != "report"


def printable(name: str) -> str:
    """The name with half characters spelled out, which no terminal takes."""
    return name.encode("utf-8", "backslashreplace").decode()


def refuse_unstorable(where: str, **values: str) -> None:
    """Raises ImportingError where a database could not keep one of the values."""
    problems: list[str] = []
    if not storable_rows([Row(printable(where), values)], problems):
        raise ImportingError(problems)


def probe_text(where: str, value: Any, what: str) -> str:
    """A probe's text, whole: only line ends become LF. Raises ImportingError where there is none."""
    if not isinstance(value, str):
        raise ImportingError(f"{where}: {what} is not text; correct it or remove it")
    text = plain(value)
    if not text.strip():
        raise ImportingError(f"{where}: {what} is empty; fill it in or remove it")
    refuse_unstorable(where, text=text)
    return text


def refuse_kind(layout: str, options: ProbeOptions, kinds: Mapping[str, str]) -> None:
    """Raises ImportingError where the layout's files hold nothing of the kind that the protocol asks about."""
    if options.kind not in kinds:
        held = ", ".join(f"{kind} ({where})" for kind, where in kinds.items())
        raise ImportingError(
            f"--layout {layout}: holds no {options.kind}, which the protocol asks about, but {held}; set "
            "answers.probe, or bring your own with --layout table"
        )
