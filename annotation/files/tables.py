"""Any file of labels as one table of text, whatever its form: what was found out about the form is told.

Text, JSON, Parquet, Arrow and workbooks; numbers with a decimal comma have a point afterwards.
"""

from __future__ import annotations

import gzip
import json
import re
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.errors import AnnotationError, ImportingError
from annotation.files import arrow_tables, containers, decimals, decoding, delimited, nested
from annotation.files.rows import read_parquet
from annotation.files.workbooks import UNPACKED_MAX, read_workbook

WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
TEXTS, JSONS = (".csv", ".tsv", ".tab", ".txt"), (".jsonl", ".ndjson", ".json")
FILE_SUFFIXES = (*TEXTS, *JSONS, ".parquet", ".pq", ".arrow", *WORKBOOKS)
OTHER_FILES = {
    b"%PDF": "a PDF", b"SQLite format": "a database", b"\x1f\x8b": "packed by gzip (whose name ends in .gz)",
    b"\x28\xb5\x2f\xfd": "packed by zstd: unpack it",
}  # fmt: skip
PROSE = ("readme.txt", "license.txt", "licence.txt")  # no table, in a folder of them
BESIDE = ("dataset_info.json", "state.json", "dataset_dict.json", "README.json")  # of a Hugging Face dataset
PAGE = re.compile(rb"\s*<(?:!doctype html|html|head|meta|table|style|\?xml[^>]*\?>\s*<html)\b", re.I)
FILE = "file"  # names the file of a row, where a folder holds several
NAMES = {"encoding", "separator", "decimal", "sheet", "records", "turned"}
GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Form:
    """How a file is written; "" where it is to be found out, or where its kind knows no such thing."""

    encoding: str = ""
    separator: str = ""
    decimal: str = ""
    sheet: str = ""
    records: str = ""  # of JSON: the list of which each record is a row
    turned: str = ""  # the column that names who answered, where a row is a rater and a column an item


AS_FOUND = Form()


@dataclass(frozen=True)
class Table:
    """Every cell as text, empty where nothing was given; `form` as it was found, `told` in words.

    `written`: columns of numbers as the file has them, which `frame` has with a decimal point. `asks`: a sentence for
    each column whose numbers allow two readings.
    """

    frame: pd.DataFrame
    form: Form
    told: tuple[str, ...] = ()
    written: Mapping[str, pd.Series[str]] = field(default_factory=dict)
    asks: tuple[str, ...] = ()

    def points_unread(self, names: Iterable[str]) -> set[str]:
        """Those of `names` whose points may stand between thousands: nothing was read of them beside decimal commas."""
        return {*names} - {*self.written} if self.form.decimal == "," else set()

    def as_written(self) -> pd.DataFrame:
        """The table with its numbers as the file has them."""
        own = {name: cells.reindex(self.frame.index) for name, cells in self.written.items() if name in self.frame}
        return self.frame.assign(**{name: cells.fillna(self.frame[name]) for name, cells in own.items()})


@dataclass(frozen=True)
class Wants:
    """What a reader may use: which columns to keep, which of them have few texts, and what tells an answer.

    `says_none`: whether a word under a head is no answer among numbers.
    """

    keep: Callable[[Iterable[Any]], list[str]] = lambda names: [str(name) for name in names]
    coded: Collection[str] = ()
    telling: Collection[str] = ()
    said: containers.Said = nested.UNSAID
    says_none: Callable[[str, str], bool] = lambda head, word: False


def form_asked(given: Collection[str]) -> Form:
    """`NAME=VALUE` of --read as a form. Raises AnnotationError `bad_option`."""
    parts = [one.partition("=") for one in given]
    wrong = next((name for name, sign, value in parts if name not in NAMES or not sign or not value), None)
    if wrong is not None:
        names = ", ".join(sorted(NAMES))
        raise AnnotationError("bad_option", f"--read {wrong}: write NAME=VALUE with one of {names}")
    asked = {name: value for name, _, value in parts}
    mark = {"tab": "\t", "\\t": "\t"}.get(asked.get("separator", ""), asked.get("separator", ""))
    if len(mark) > 1:
        raise AnnotationError("bad_option", f"--read separator={mark}: write one mark, or tab")
    return replace(Form(**asked), separator=mark)


ALL = Wants()
FIRST = 100  # cells by which a column is seen to hold JSON
WINNERS = {"winner_model_a": "model_a", "winner_model_b": "model_b"}  # a column for each answer; any other is a tie's
MARKED, UNMARKED = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no", "")


def read_table(path: Path, asked: Form = AS_FOUND, wants: Wants = ALL) -> Table:
    """The table in a file, or in all files of a folder. Raises AnnotationError, ImportingError."""
    if path.is_dir():
        return _read_folder(path, asked, wants)
    try:
        with path.open("rb") as file:
            start = file.read(arrow_tables.BLOCK)
            is_blank = not start.removeprefix(decoding.BOM).strip() and not file.read().strip()
    except OSError as error:
        raise AnnotationError("no_file", f"{path}: {error.strerror}; give the path of a labels file") from None
    if is_blank:
        raise AnnotationError("bad_file", f"{path}: the file is empty; give it a header and at least one label")
    if start.startswith(GZIP) and path.suffix.lower() == ".gz":
        return _read_packed(path, asked, wants)
    table = _read_file(path, start, asked, wants)
    asked_for, surveyed = delimited.without_questions(table.frame)
    once, again = delimited.without_heads(asked_for)
    table = replace(table, frame=once, told=(*table.told, *surveyed, *again))
    changed, sign, signs, asks = decimals.with_points(table.frame, asked.decimal, wants.says_none)
    frame, told = table.frame.assign(**changed), (*table.told, *([signs] if signs else []))
    if {*WINNERS} <= {*frame} and "winner" not in frame:
        marks = frame.filter(regex="^winner_(model_[ab]$|.*(tie|both|draw))")
        frame = frame.drop(columns=[*marks]).assign(winner=_winner(marks, str(path)))
        told += (f"{', '.join(map(str, marks))} are one column, winner",)
    written = {name: table.frame[name].astype("str") for name in changed}
    return Table(frame, replace(table.form, decimal=sign), told, written, tuple(asks))


def _with_records(table: Table, wants: Wants) -> Table:
    """The table with what stands as JSON in its cells, an object or a list of objects, as in a file of JSON."""
    held = {name: values for name, cells in table.frame.items() if wants.telling and (values := _records_in(cells))}
    if not held:
        return table
    columns = {str(name): held.get(name) or cells.tolist() for name, cells in table.frame.items()}
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    frame, told = nested.flat_table(records, (), wants.telling, table.form.records, wants.said)
    left = {*wants.said.ignored} | {name for name in held if any(f"list {name!r} is left out" in one for one in told)}
    read = [str(name) for name in held if name not in left]
    sayings = (f"cells of JSON are read: {', '.join(read)}",) if read else ()
    return replace(table, frame=frame, told=(*table.told, *sayings, *told))


def _records_in(cells: pd.Series[str]) -> list[Any]:
    """What the cells of a column of JSON hold; [] where any holds something else."""
    first = next((cell for cell in cells.iloc[:FIRST] if cell), "")
    if not first.lstrip().startswith(("{", "[{")):
        return []
    try:
        values = [json.loads(cell) if cell else "" for cell in cells]
    except (ValueError, RecursionError):
        return []
    return values if all(isinstance(one, dict) or one == "" or containers.is_records(one) for one in values) else []


def _read_packed(path: Path, asked: Form, wants: Wants) -> Table:
    """The table in a file that gzip packed, read under its name without `.gz`."""
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Path(folder) / path.stem
        try:
            with gzip.open(path) as packed, unpacked.open("wb") as file:
                while block := packed.read(arrow_tables.BLOCK):
                    file.write(block)
                    if file.tell() > UNPACKED_MAX:
                        raise AnnotationError("bad_file", f"{path}: holds over {UNPACKED_MAX >> 20:,} MB unpacked")
        except (OSError, EOFError, zlib.error) as error:
            raise AnnotationError("bad_file", f"{path}: gzip cannot unpack it ({error}); it may be cut off") from None
        try:
            return read_table(unpacked, asked, wants)
        except AnnotationError as error:
            raise AnnotationError(error.code, error.text.replace(str(unpacked), str(path))) from None
        except ImportingError as error:
            raise ImportingError([one.replace(str(unpacked), str(path)) for one in error.problems]) from None


def _winner(marks: pd.DataFrame, where: str) -> pd.Series[str]:
    """The answer whose column each row marks, blank where all are. Raises AnnotationError for other rows."""
    cells = marks.apply(lambda column: column.str.strip().str.casefold())
    ones, is_blank = cells.isin(MARKED), (cells == "").all(axis=1)
    wrong = ~(cells.isin([*MARKED, *UNMARKED]).all(axis=1) & (is_blank | (ones.sum(axis=1) == 1)))
    if wrong.any():
        records = [str(number) for number, is_wrong in enumerate(wrong, start=1) if is_wrong]
        names = ", ".join(map(str, marks))
        raise AnnotationError(
            "bad_file", f"{where}: {names} do not say one winner in record {decoding.some_of(records, 5)}: mark one "
            "with 1 and the others with 0, a tie in a column winner_tie, or leave all blank where nobody answered"
        )  # fmt: skip
    words: pd.Series[str] = ones.idxmax(axis=1).map(lambda name: WINNERS.get(name, "tie")).mask(is_blank, "")
    return words.astype("str")


def _read_file(path: Path, start: bytes, asked: Form, wants: Wants) -> Table:
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq") or start.startswith(b"PAR1"):
        return _read_parquet(path, wants)
    if suffix == ".arrow" or start.startswith(b"ARROW1"):
        return _read_arrow(path, wants)
    if PAGE.match(start.removeprefix(decoding.BOM)):
        raise AnnotationError(
            "bad_file",
            f"{path}: this is a web page, as some tools write a table that they call a spreadsheet: open it in a "
            "spreadsheet and save it as .xlsx, or as a CSV in UTF-8",
        )
    if suffix in WORKBOOKS or start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        frame, sheet, told = read_workbook(path, asked.sheet)
        form = Form(sheet=sheet, records=asked.records)
        return _with_records(Table(frame, form, (*((f"sheet {sheet!r}",) if sheet else ()), *told)), wants)
    if suffix in JSONS or (suffix == ".txt" and start.removeprefix(decoding.BOM).lstrip()[:1] in (b"{", b"[")):
        encoding = delimited.encoding_of(start, asked.encoding)
        frame, told = nested.read_nested(path, encoding, wants.telling, asked.records, wants.said)
        return Table(frame, Form(encoding=encoding, records=asked.records), told)
    what = next((name for head, name in OTHER_FILES.items() if start.startswith(head)), "")
    if what:
        raise AnnotationError("bad_file", f"{path}: this is {what}, not text; save the table as a CSV in UTF-8")
    return _read_text(path, start, asked, wants)


def _read_text(path: Path, start: bytes, asked: Form, wants: Wants) -> Table:
    encoding = delimited.encoding_of(start, asked.encoding)
    cut = start[: delimited.SAMPLE]
    whole = cut if len(start) <= delimited.SAMPLE else cut.rpartition(b"\n")[0] or cut
    sample = whole.removeprefix(decoding.BOM).decode("utf-8" if encoding == "utf-8" else encoding, "ignore")
    separator = asked.separator or delimited.separator_of(sample)
    frame, told = None, tuple[str, ...]()
    if encoding.lower() in ("utf-8", "utf8", "utf-8-sig") and not sample.startswith("sep="):
        frame = arrow_tables.read_regular_csv(path, wants.keep, wants.coded, separator)
    if frame is None:
        text, encoding = delimited.decoded(path, path.read_bytes(), encoding, bool(asked.encoding))
        frame, told = delimited.read_delimited(path, text, separator)
    if separator != ",":
        told = (f"columns are separated by {delimited.SEPARATORS.get(separator, repr(separator))}", *told)
    if encoding.lower() not in ("utf-8", "utf8", "utf-8-sig"):
        told += (f"text is in {encoding}" + " (it is not UTF-8)" * (not asked.encoding and encoding == "cp1252"),)
    return _with_records(Table(frame, Form(encoding, separator, records=asked.records), told), wants)


def _read_parquet(path: Path, wants: Wants) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        words = class_words(pq.read_schema(path).metadata)
    except (pa.ArrowException, OSError, ValueError):
        words = {}
    frame = None if words else arrow_tables.read_regular_parquet(path, wants.keep, wants.coded, nested.as_cell)
    if frame is not None:
        return Table(frame, Form())
    problems: list[str] = []
    rows = read_parquet(path, str(path), problems)[1]
    if problems:
        raise ImportingError(problems)
    return _worded(nested.flat_table([row.values for row in rows], (), wants.telling, said=wants.said), words)


def _read_arrow(path: Path, wants: Wants) -> Table:
    """An Arrow file, as a stream (as Hugging Face's datasets save it) or with its footer."""
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as source:
            try:
                table = pa.ipc.open_stream(source).read_all()
            except pa.ArrowInvalid:
                table = pa.ipc.open_file(source).read_all()
            rows = table.to_pylist()
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0][:100]
        raise AnnotationError("bad_file", f"{path}: not an Arrow table ({reason}); the file may be cut off") from None
    return _worded(nested.flat_table(rows, (), wants.telling, said=wants.said), class_words(table.schema.metadata))


def class_words(metadata: Any) -> dict[str, list[str]]:
    """Column -> the words of its numbers, where Hugging Face's datasets keeps classes (ClassLabel) by number."""
    try:
        features = json.loads((metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
        return {name: one["names"] for name, one in features.items() if one.get("_type") == "ClassLabel"}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _worded(made: tuple[pd.DataFrame, tuple[str, ...]], words: dict[str, list[str]]) -> Table:
    frame, told = made
    for name in [one for one in words if one in frame]:
        known = {str(number): word for number, word in enumerate(words[name])}
        frame[name] = frame[name].map(lambda cell, known=known: known.get(cell, cell))
        told += (f"the numbers of {name!r} are read as the words that the file keeps for them",)
    return Table(frame, Form(), told)


def tables_in(path: Path) -> list[Path]:
    """The files of a folder that are tables, those of a Hugging Face dataset without what describes them."""
    found = [one for one in sorted(path.rglob("*")) if one.suffix.lower() in FILE_SUFFIXES and one.is_file()]
    kept = [one for one in found if not any(part.startswith(".") for part in one.relative_to(path).parts)]
    kept = [one for one in kept if one.name.casefold() not in PROSE]
    is_described = any(one.name in BESIDE for one in kept)
    return [one for one in kept if one.suffix in (".arrow", ".parquet")] if is_described else kept


def _read_folder(path: Path, asked: Form, wants: Wants) -> Table:
    """All tables of a folder, one below the other, each row's file in the column `file`."""
    kept = tables_in(path)
    if not kept:
        raise AnnotationError("bad_file", f"{path}: a folder without any table; give {', '.join(FILE_SUFFIXES)}")
    every = Wants(telling=wants.telling, said=wants.said, says_none=wants.says_none)
    tables = [read_table(one, asked, every) for one in kept]
    names = [one.relative_to(path).with_suffix("").as_posix() for one in kept]
    is_named = len(kept) > 1 and not any(FILE in one.frame for one in tables)
    frames = [
        one.frame.assign(**{FILE: name}) if is_named else one.frame for one, name in zip(tables, names, strict=True)
    ]
    told = tuple(dict.fromkeys(sentence for one in tables for sentence in one.told))
    if left := [one.name for one in sorted(path.rglob("*.*")) if one.name.casefold() in PROSE]:
        told = (*told, f"left out, being no table: {', '.join(left)}")
    if len(kept) > 1:
        told = (f"{len(kept)} files of a folder are one table" + f", named in the column {FILE!r}" * is_named, *told)
    decimal = "," if {one.form.decimal for one in tables} == {","} else asked.decimal
    whole, form = pd.concat(frames, ignore_index=True).fillna("").astype("str"), replace(asked, decimal=decimal)
    changed = dict.fromkeys(name for one in tables for name in one.written)
    written = pd.concat([one.as_written().reindex(columns=[*changed]) for one in tables], ignore_index=True)
    asks = tuple(f"{name}: {ask}" for one, name in zip(tables, names, strict=True) for ask in one.asks)
    return Table(whole, form, told, {str(name): cells for name, cells in written.items()}, asks)
