"""A labels file as a table of text: CSV, JSON Lines or Parquet. What cannot be read is refused in one sentence."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.errors import AnnotationError, ImportingError
from annotation.importing.csv_rows import FIELD_LIMIT, OTHER_SEPARATORS
from annotation.importing.json_rows import read_json_rows
from annotation.importing.parquet_rows import plain_value, read_parquet
from annotation.importing.records import BOM, Row
from annotation.leaks.redaction import Redactor, folders_of, secrets_of
from annotation.spreadsheets import unguarded
from app.regular_tables import BLOCK, read_regular_csv, read_regular_parquet
from calibration.errors import CalibrationError
from calibration.reading.doubled import once_in_order
from calibration.verdicts import DERIVED, EXTRA, EXTRA_TEXTS, KNOWN_COLUMNS, REQUIRED, TEXT_DEFAULTS, known, normalise

FILE_SUFFIXES = (".csv", ".jsonl", ".ndjson", ".json", ".parquet")
# columns whose texts return many times over: as categories they take a tenth of the memory
SHORT = frozenset({*REQUIRED, *TEXT_DEFAULTS, *EXTRA_TEXTS, "len_a", "len_b", "run", "pass_no"} - {"rationale"})
USED = frozenset({*KNOWN_COLUMNS, *EXTRA, DERIVED, "pass_no"})
OTHER_FILES = {b"PK\x03\x04": "a spreadsheet or an archive", b"%PDF": "a PDF", b"SQLite format": "a database"}


def read_labels(path: Path, used_only: bool = False) -> pd.DataFrame:
    """Every cell as text, empty where nothing was given; `SHORT` columns are categories.

    `used_only`: without the columns that no statistic reads, unless one is lacking that statistics need, which may be
    a misspelt one. Raises AnnotationError, ImportingError.
    """

    def wanted(names: Iterable[Any]) -> list[str]:
        all_names = [str(name) for name in names]
        return [name for name in all_names if not used_only or name in USED or not {*REQUIRED} <= {*all_names}]

    if path.is_dir():
        raise AnnotationError("bad_file", f"{path} is a folder; give the path of one labels file")
    try:
        with path.open("rb") as file:
            start = file.read(BLOCK)
            is_blank = not start.removeprefix(BOM).strip() and not file.read().strip()
    except OSError as error:
        raise AnnotationError("no_file", f"{path}: {error.strerror}; give the path of a labels file") from None
    if is_blank:
        raise AnnotationError("bad_file", f"{path}: the file is empty; give it a header and at least one label")
    problems: list[str] = []
    if path.suffix == ".parquet" or start.startswith(b"PAR1"):
        frame = read_regular_parquet(path, wanted, SHORT, lambda value: _text(plain_value(value)))
        if frame is None:
            frame = _frame(read_parquet(path, str(path), problems)[1])
    elif path.suffix in (".jsonl", ".ndjson", ".json"):
        frame = _frame(read_json_rows(path, str(path), problems))
    else:
        what = next((name for head, name in OTHER_FILES.items() if start.startswith(head)), "")
        if what:
            raise AnnotationError("bad_file", f"{path}: this is {what}, not text; save the table as a CSV in UTF-8")
        frame = read_regular_csv(path, wanted, SHORT)
        if frame is None:
            frame = _read_csv(path)
    if problems:
        raise ImportingError(problems)
    return pd.DataFrame({name: _unguarded(frame.pop(name)) for name in wanted(frame)})


def publishable(labels: pd.DataFrame) -> pd.DataFrame:
    """The columns that statistics read, and rationales without e-mail addresses, keys and folders.

    Other columns may hold anything, and stay at home. Raises AnnotationError `not_pseudonymous` where a name of a
    rater, item or system is an e-mail address, a key or a folder.
    """
    kept = known(labels) if "pass_no" not in labels else known(labels).assign(pass_no=labels["pass_no"])
    redact = Redactor(secrets=secrets_of(os.environ), folders=folders_of(os.environ))
    for name in [one for one in kept if one != "rationale"]:
        told = next((text for text in kept[name].unique() if redact(str(text)) != str(text)), None)
        if told is not None:
            what = "an e-mail address, a key or a folder of a machine"
            raise AnnotationError("not_pseudonymous", f"{name} {told!r} is or holds {what}; write a pseudonym instead")
    return kept.assign(rationale=kept["rationale"].map(redact)) if "rationale" in kept else kept


@contextmanager
def every_column_asked(path: Path) -> Iterator[None]:
    """Where two rows answer the same, the columns that no statistic reads say why: a copy, another order, a repeat."""
    try:
        yield
    except CalibrationError as error:
        if error.code == "duplicate_verdict" and path.is_file():
            once_in_order(normalise(read_labels(path))[0])
        raise


@contextmanager
def no_labels_file(what: str) -> Iterator[None]:
    """Where no study is called `what`, the refusal says that it is no labels file either."""
    try:
        yield
    except AnnotationError as error:
        if error.code not in ("unknown_study", "no_database"):
            raise
        found = f"{what} is a folder, not a labels file" if Path(what).is_dir() else f"there is no file {what!r}"
        raise AnnotationError(error.code, f"{found}; {error.text}") from None


def _unguarded(column: pd.Series[Any]) -> pd.Series[Any]:
    """The texts without the quotes that our own export put before them."""
    if column.name in SHORT:
        column = column.astype("category")
        texts = [unguarded(text) for text in column.cat.categories]
        if len({*texts}) < len(texts):
            return column.astype("str").map(unguarded).astype("category")
        return column.cat.rename_categories(texts)
    quoted = column.str.startswith("'")
    return column.where(~quoted, column[quoted].map(unguarded)) if quoted.any() else column


def _read_csv(path: Path) -> pd.DataFrame:
    csv.field_size_limit(FIELD_LIMIT)
    text = _decoded(path, path.read_bytes())
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    line = 1
    try:
        for values in reader:
            if values:
                if rows and len(values) != len(rows[0]):
                    raise AnnotationError(
                        "bad_file",
                        f"{path}:{line}: not as many values as columns ({len(values)}, not {len(rows[0])}); put values "
                        "with commas in quotes",
                    )
                if not rows:
                    _check_header(path, values)
                rows.append(values)
            line = reader.line_num + 1
    except csv.Error as error:
        first = text.strip().partition("\n")[0]
        if not rows and "," not in first:  # quotes beside another separator
            _check_header(path, [first])
        remedy = "shorten the cell" if "limit" in str(error) else "the file may be cut off"
        raise AnnotationError("bad_file", f"{path}:{line}: not a CSV table ({error}); {remedy}") from None
    return pd.DataFrame(rows[1:], columns=rows[0], dtype="str")


def _decoded(path: Path, raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = f"byte {error.object[error.start]:#04x} at {error.start:,}"
        raise AnnotationError("bad_file", f"{path}: {at} is not UTF-8; save it as a CSV in UTF-8") from None
    if "\0" in text:
        raise AnnotationError(
            "bad_file", f"{path}: holds zero bytes, so it is no text; save the table as a CSV in UTF-8"
        )
    return text


def _check_header(path: Path, header: list[str]) -> None:
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise AnnotationError("bad_file", f"{path}:1: column {repeated[0]!r} appears twice; rename or remove one")
    if len(header) == 1:
        found = next((word for mark, word in OTHER_SEPARATORS.items() if mark in header[0]), "")
        what = f"columns are separated by {found}, not by commas" if found else "there is only one column"
        also = " and with points as decimal marks" if found == OTHER_SEPARATORS[";"] else ""
        raise AnnotationError("bad_file", f"{path}:1: {what}; save the table as a CSV with commas{also}")


def _frame(rows: list[Row]) -> pd.DataFrame:
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    return pd.DataFrame({name: [_text(row.values.get(name)) for row in rows] for name in names}, dtype="str")


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
