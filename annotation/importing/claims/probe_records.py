"""What every layout of probes is read into, claims, facts, key points, with the source passages that lie in files."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.documents.reading import PACKED
from annotation.documents.shown_files import PICTURES, TABLES, shown_file
from annotation.errors import ImportingError
from annotation.files.decoding import Row, decode, plain, read_bytes, storable_rows
from annotation.files.rows import read_rows


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


PAGES = "pages.csv"


def read_source(folder: Path, name: str, where: str, encoding: str = "utf-8") -> str:
    """Text of the file `name` inside `folder`; of a table or document its Markdown, of a picture that it is one.

    Raises ImportingError where it lies outside, by whatever way.
    """
    path = folder / name
    outside = ImportingError(
        f"{where}: source {name!r:.80} is not inside {folder.name or folder}; name a file below that folder"
    )
    if "\\" in name or "\0" in name or Path(name).is_absolute() or ".." in Path(name).parts:
        raise outside
    if not is_file(path):
        raise ImportingError(f"{where}: no source file {name!r:.80}; add it, or leave the source empty")
    if not path.resolve().is_relative_to(folder.resolve()):  # a link that leads out
        raise outside
    if path.suffix.lower() in (*PACKED, ".pdf", *PICTURES, *TABLES):
        return shown_file(path, name, encoding)
    return decode(read_bytes(path, name), name, encoding)


def is_file(path: Path) -> bool:
    """Whether a file is there; a name that no file can have, or a link to itself, is none."""
    try:
        return path.is_file()
    except OSError:  # longer than file names may be
        return False


class Pages:
    """Fetched pages: `FOLDER/pages.csv` with the columns url and file, the files below the folder."""

    def __init__(self, folder: Path, encoding: str = "utf-8") -> None:
        listed = folder / PAGES
        if not listed.is_file():
            raise ImportingError(f"--sources {folder}: holds no {PAGES}; list the fetched pages there: url,file")
        rows = read_rows(listed, PAGES, key="url", required=("file",), encoding=encoding)
        self.folder, self.encoding = folder, encoding
        self._files = {row["url"]: row["file"] for row in rows}
        self._read: dict[str, str] = {}
        self.missing: dict[str, None] = {}  # addresses of which no page is there

    def text(self, url: str) -> str:
        """The page's text; empty where it was not fetched, which is the raters' to say (source_unavailable)."""
        name = self._files.get(url.strip(), "").strip()
        if not name:
            self.missing[url] = None
            return ""
        if name not in self._read:
            self._read[name] = read_source(self.folder, name, PAGES, self.encoding)
        return self._read[name]

    def texts(self, urls: Sequence[str]) -> str:
        """Of several pages one after another under numbered headings; of one page its text alone."""
        found = [text for url in urls if (text := self.text(url))]
        if len(found) < 2:
            return "".join(found)
        return "\n\n".join(f"## Source {number}\n\n{text}" for number, text in enumerate(found, start=1))

    def notes(self) -> list[str]:
        """How many cited pages were not there."""
        return not_fetched(self.missing)


def not_fetched(addresses: Collection[str]) -> list[str]:
    """A note on cited pages of which no text is there; none where all are."""
    some = ", ".join(printable(url[:60]) for url in list(addresses)[:5])
    return [f"cited pages not fetched {len(addresses)} ({some})"] if addresses else []


def pages_of(sources: Path | None, what: str, encoding: str = "utf-8") -> Pages:
    """The user's pages. Raises ImportingError without any: nobody could tell whether a source supports a claim."""
    if sources is None:
        raise ImportingError(
            f"{what} name the pages they cite but do not hold their text; pass --sources FOLDER with the fetched "
            f"pages and {PAGES} (url,file)"
        )
    return Pages(sources, encoding)
