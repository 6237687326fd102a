"""Any file of labels as one table of text, whatever its form: what was found out about the form is told."""

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.errors import AnnotationError, ImportingError
from annotation.files import arrow_tables, decimals, decoding, nested
from annotation.files.delimited import SAMPLE, SEPARATORS, decoded, encoding_of, read_delimited, separator_of
from annotation.files.rows import read_parquet
from annotation.files.workbooks import SUFFIXES as WORKBOOKS
from annotation.files.workbooks import read_workbook

TEXTS, JSONS = (".csv", ".tsv", ".tab", ".txt"), (".jsonl", ".ndjson", ".json")
FILE_SUFFIXES = (*TEXTS, *JSONS, ".parquet", ".pq", ".arrow", *WORKBOOKS)
OTHER_FILES = {
    b"%PDF": "a PDF", b"SQLite format": "a database", b"\x1f\x8b": "packed by gzip: unpack it",
    b"\x28\xb5\x2f\xfd": "packed by zstd: unpack it",
}  # fmt: skip
BESIDE = ("dataset_info.json", "state.json", "dataset_dict.json", "README.json")  # of a Hugging Face dataset
FILE = "file"  # names the file of a row, where a folder holds several
NAMES = {"encoding", "separator", "decimal", "sheet", "records"}


@dataclass(frozen=True)
class Form:
    """How a file is written; "" where it is to be found out, or where its kind knows no such thing."""

    encoding: str = ""
    separator: str = ""
    decimal: str = ""
    sheet: str = ""
    records: str = ""  # of JSON: the list of which each record is a row


AS_FOUND = Form()


@dataclass(frozen=True)
class Table:
    """Every cell as text, empty where nothing was given; `form` as it was found, `told` in words."""

    frame: pd.DataFrame
    form: Form
    told: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wants:
    """What a reader may use: which columns to keep, which of them have few texts, and which names tell an answer."""

    keep: Callable[[Iterable[Any]], list[str]] = lambda names: [str(name) for name in names]
    coded: Collection[str] = ()
    telling: Collection[str] = ()


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
    table = _read_file(path, start, asked, wants)
    frame, sign = decimals.with_points(table.frame, str(path), asked.decimal)
    told = table.told + (("numbers have decimal commas",) if sign == "," else ())
    return Table(frame, replace(table.form, decimal=sign), told)


def _read_file(path: Path, start: bytes, asked: Form, wants: Wants) -> Table:
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq") or start.startswith(b"PAR1"):
        return _read_parquet(path, wants)
    if suffix == ".arrow" or start.startswith(b"ARROW1"):
        return _read_arrow(path, wants)
    if suffix in WORKBOOKS or start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        frame, sheet, told = read_workbook(path, asked.sheet)
        return Table(frame, Form(sheet=sheet), (*((f"sheet {sheet!r}",) if sheet else ()), *told))
    if suffix in JSONS or (suffix == ".txt" and start.removeprefix(decoding.BOM).lstrip()[:1] in (b"{", b"[")):
        encoding = encoding_of(start, asked.encoding)
        frame, told = nested.read_nested(path, encoding, wants.telling, asked.records)
        return Table(frame, Form(encoding=encoding, records=asked.records), told)
    what = next((name for head, name in OTHER_FILES.items() if start.startswith(head)), "")
    if what:
        raise AnnotationError("bad_file", f"{path}: this is {what}, not text; save the table as a CSV in UTF-8")
    return _read_text(path, start, asked, wants)


def _read_text(path: Path, start: bytes, asked: Form, wants: Wants) -> Table:
    encoding = encoding_of(start, asked.encoding)
    whole = start[:SAMPLE] if len(start) <= SAMPLE else start[:SAMPLE].rpartition(b"\n")[0] or start[:SAMPLE]
    sample = whole.removeprefix(decoding.BOM).decode("utf-8" if encoding == "utf-8" else encoding, "ignore")
    separator = asked.separator or separator_of(sample)
    frame = None
    if encoding.lower() in ("utf-8", "utf8", "utf-8-sig") and not sample.startswith("sep="):
        frame = arrow_tables.read_regular_csv(path, wants.keep, wants.coded, separator)
    if frame is None:
        text, encoding = decoded(path, path.read_bytes(), encoding, bool(asked.encoding))
        frame = read_delimited(path, text, separator)
    told: tuple[str, ...] = (
        () if separator == "," else (f"columns are separated by {SEPARATORS.get(separator, repr(separator))}",)
    )
    if encoding.lower() not in ("utf-8", "utf8", "utf-8-sig"):
        told += (f"text is in {encoding}" + " (it is not UTF-8)" * (not asked.encoding and encoding == "cp1252"),)
    return Table(frame, Form(encoding=encoding, separator=separator), told)


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
    return _worded(nested.flat_table([row.values for row in rows], (), wants.telling), words)


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
    return _worded(nested.flat_table(rows, (), wants.telling), class_words(table.schema.metadata))


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


def _read_folder(path: Path, asked: Form, wants: Wants) -> Table:
    """All tables of a folder, one below the other, each row's file in the column `file`."""
    found = [one for one in sorted(path.rglob("*")) if one.suffix.lower() in FILE_SUFFIXES and one.is_file()]
    kept = [one for one in found if not any(part.startswith(".") for part in one.relative_to(path).parts)]
    if any(one.name in BESIDE for one in kept):  # a Hugging Face dataset: its tables, not what describes them
        kept = [one for one in kept if one.suffix in (".arrow", ".parquet")]
    if not kept:
        raise AnnotationError("bad_file", f"{path}: a folder without any table; give {', '.join(FILE_SUFFIXES)}")
    every = Wants(telling=wants.telling)
    tables = [read_table(one, asked, every) for one in kept]
    names = [one.relative_to(path).with_suffix("").as_posix() for one in kept]
    is_named = len(kept) > 1 and not any(FILE in one.frame for one in tables)
    frames = [
        one.frame.assign(**{FILE: name}) if is_named else one.frame for one, name in zip(tables, names, strict=True)
    ]
    told = tuple(dict.fromkeys(sentence for one in tables for sentence in one.told))
    if len(kept) > 1:
        told = (f"{len(kept)} files of a folder are one table" + f", named in the column {FILE!r}" * is_named, *told)
    return Table(pd.concat(frames, ignore_index=True).fillna("").astype("str"), asked, told)
