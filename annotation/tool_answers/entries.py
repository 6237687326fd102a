"""What every reader of a tool's file finds: one entry an answer, with the record that a place points into.

Places are dotted paths in a record. Records come from JSON, JSON Lines, CSV or Parquet, a list under a name or by
itself.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import Row, as_text, collecting
from annotation.files.folders import files
from annotation.files.rows import DECODER, read_columns, read_csv, read_json, read_json_rows
from plain.model_names import ANY_FAMILY, PERSONS
from plain.typed_options import split_at_commas

FAILED = ("invalid", "missing", "refused", "truncated")  # an answer that is none keeps why, and never becomes a label
FIELDS = (
    "topic", "system", "system_a", "system_b", "first", "criterion", "answer", "judge", "run", "reason", "probe",
    "sha256_a", "sha256_b",
)  # fmt: skip
FAMILY = rf"(?:{ANY_FAMILY}|claude|palm|{'|'.join(PERSONS)})"
VARIANT = (
    r"(?:opus|sonnet|haiku|instant|pro|flash|lite|ultra|nano|chat|coder|reasoner|large|medium|small|tiny|mini|max|plus"
    r"|turbo|bison|instruct|preview|latest)"
)
MODEL = re.compile(rf"(?:.*/)?(?:{FAMILY}(?:[\w.:-]*\d|(?:-{VARIANT})+$)|o[1345](?![^\W_]))", re.I)
SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".pq")


@dataclass(frozen=True)
class Entry:
    """One answer as a tool keeps it. `usual`: field -> places in `record`, tried in order.

    `status` says why there is no answer. `name`: what the tool calls the item, for files without topics; `item`: what
    our own export calls it. `kind`: human or judge, "" where the file does not say. `sides`: whether A and B, left and
    right are known to be places on the screen; None: as the user says. `is_bare`: a probe of our own without a report.
    `unnamed`: what stands for the rater where the file names none.
    """

    where: str
    record: Mapping[str, Any]
    usual: Mapping[str, Sequence[str]]
    status: str = ""
    kind: str = "judge"
    name: str = ""
    item: str = ""
    pass_no: str = ""
    sides: bool | None = None
    is_ours: bool = False
    is_bare: bool = False
    unnamed: str = ""
    flags: tuple[str, ...] = ()

    def told(self, part: str) -> str:
        """The text at the first of a field's usual places that holds one."""
        return next((text for place in self.usual.get(part, ()) if (text := text_at(self.record, place))), "")


@dataclass
class Found:
    """Entries as they are found, problems, and what was left aside, counted. `scale`: lowest and highest score."""

    entries: list[Entry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    aside: dict[str, int] = field(default_factory=dict)
    scale: tuple[float, float] | None = None

    def leave(self, why: str, count: int = 1) -> None:
        """Count what is not read; 0 is not mentioned."""
        if count:
            self.aside[why] = self.aside.get(why, 0) + count

    def notes(self) -> tuple[str, ...]:
        """One sentence for each kind of thing left aside."""
        return tuple(f"{why} {count}" for why, count in self.aside.items())


@dataclass(frozen=True)
class Reading:
    """How a file is read: `places` as --map says, field -> place; `pseudonym`: what an address is called here.

    `leave_out`: files of a folder that are of another layout.
    """

    encoding: str = "utf-8"
    places: Mapping[str, str] = field(default_factory=dict)
    pseudonym: Callable[[str], str] = str
    leave_out: frozenset[Path] = frozenset()

    def files(self, path: Path, pattern: str) -> list[tuple[Path, str]]:
        """The files below `path` that fit, with the name each is called by. Raises ImportingError for none."""
        return [one for one in files(path, pattern) if one[0] not in self.leave_out]


def flat(**places: str | Sequence[str]) -> dict[str, list[str]]:
    """Usual places, one or several a field."""
    return {name: [one] if isinstance(one, str) else [*one] for name, one in places.items()}


def metadata_places(*holders: str) -> dict[str, list[str]]:
    """Every field under its own name, in each of the tables that may hold metadata."""
    return {name: [f"{holder}.{name}" for holder in holders] for name in FIELDS if name not in ("answer", "reason")}


def text_at(record: Any, place: str) -> str | None:
    """The text at a dotted path, None where there is none; a name may hold dots itself."""
    if not isinstance(record, Mapping):
        return None
    if place in record:
        return as_text(record[place]) or None
    head, _, rest = place.partition(".")
    while rest:
        if head in record and (found := text_at(record[head], rest)):
            return found
        more, _, rest = rest.partition(".")
        head = f"{head}.{more}"
    return None


def near(record: Mapping[str, Any], place: str) -> str:
    """What there is instead, at the deepest level of the path that exists."""
    level: Any = record
    for name in place.split(".")[:-1]:
        if not (isinstance(level, Mapping) and isinstance(level.get(name), Mapping)):
            break
        level = level[name]
    return f"there are: {', '.join(map(str, list(level)[:12]))}"


def records(path: Path, reading: Reading, found: Found, below: tuple[str, ...] = ("data",)) -> Iterator[Row]:
    """Every record below `path`, with its place. `below`: names under which one object may hold the list of records.

    A file that cannot be read joins the problems, and the next one is read.
    """
    for file, shown in reading.files(path, "*"):
        if file.suffix.lower() in SUFFIXES or path.is_file():
            with collecting(found.problems):
                yield from _of_file(file, shown, reading.encoding, found.problems, below)


def _of_file(file: Path, shown: str, encoding: str, problems: list[str], below: tuple[str, ...]) -> Iterator[Row]:
    suffix = file.suffix.lower()
    if suffix == ".tsv":
        yield from read_csv(file, shown, problems, encoding, "\t")[1]
    elif suffix in (".csv", ".parquet", ".pq"):
        yield from read_columns(file, problems, encoding)[1]
    elif suffix == ".json" and isinstance(held := _whole(file, shown, encoding), dict):
        yield from _listed(held, shown, below)
    else:
        yield from read_json_rows(file, shown, problems, encoding)


def _whole(file: Path, shown: str, encoding: str) -> Any:
    """The value of the file, None where it is JSON Lines under another name."""
    with suppress(ImportingError):
        return read_json(file, shown, encoding)
    return None


def _listed(held: dict[str, Any], shown: str, below: tuple[str, ...]) -> Iterator[Row]:
    columns, data = held.get("columns"), held.get("data")
    if isinstance(columns, list) and isinstance(data, list):  # a table split by pandas
        listed: Any = [dict(zip(map(str, columns), row, strict=False)) for row in data if isinstance(row, list)]
    elif held and all(isinstance(cells, Mapping) for cells in held.values()):  # columns of cells by their index
        index = list(dict.fromkeys(key for cells in held.values() for key in cells))
        listed = [{name: cells.get(key) for name, cells in held.items()} for key in index]
    else:
        listed = next((held[name] for name in below if isinstance(held.get(name), list)), [held])
    for number, one in enumerate(listed, start=1):
        if not isinstance(one, dict):
            raise ImportingError(f"{shown}: record {number} is no object with named fields; export the file again")
        yield Row(f"{shown}: record {number}", one)


def value_of(cell: Any) -> Any:
    """A cell, read as JSON where it holds a list or an object as text, as CSV and some exports keep them."""
    if isinstance(cell, str) and cell.lstrip()[:1] in ("{", "["):
        with suppress(json.JSONDecodeError, RecursionError):
            return DECODER.decode(cell)
    return cell


def one_of(record: Mapping[str, Any], *names: str) -> Any:
    """The value under the first of these names that holds one; None where none does."""
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


def is_model(name: str) -> bool:
    """Whether somebody is called as models are, with a version: gpt-4o, claude-opus, and not a person Claude."""
    return bool(MODEL.match(name))


def parse_fields(text: str, fields: Sequence[str]) -> dict[str, str]:
    """`topic=metadata.qid,"1,5=2"` as field -> place. Raises ImportingError.

    `fields` empty: any name, which may hold signs of equality.
    """
    found: dict[str, str] = {}
    for part in split_at_commas(text):
        name, sign, place = (piece.strip() for piece in (part.partition if fields else part.rpartition)("="))
        if not sign or not place or not name:
            raise ImportingError(
                f"{part}: no value named; write NAME=VALUE, such as topic=metadata.qid (with a comma: '\"1,5=2\"')"
            )
        if fields and name not in fields:
            raise ImportingError(f"--map {part}: no field {name!r} (there are: {', '.join(fields)})")
        if name in found:
            raise ImportingError(f"{part}: {name!r} is named twice; keep one")
        found[name] = place
    return found
