"""A labels file as a table of text: CSV, JSON Lines or Parquet. What cannot be read is refused in one sentence."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.errors import AnnotationError, ImportingError
from annotation.importing.csv_rows import FIELD_LIMIT, OTHER_SEPARATORS
from annotation.importing.json_rows import read_json_rows
from annotation.importing.parquet_rows import read_parquet
from annotation.importing.records import Row
from annotation.redaction import Redactor, folders_of, secrets_of
from annotation.spreadsheets import unguarded
from calibration.verdicts import known

FILE_SUFFIXES = (".csv", ".jsonl", ".ndjson", ".json", ".parquet")
OTHER_FILES = {b"PK\x03\x04": "a spreadsheet or an archive", b"%PDF": "a PDF", b"SQLite format": "a database"}


def read_labels(path: Path) -> pd.DataFrame:
    """Every cell as text, empty where nothing was given. Raises AnnotationError, ImportingError."""
    if path.is_dir():
        raise AnnotationError("bad_file", f"{path} is a folder; give the path of one labels file")
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise AnnotationError("no_file", f"{path}: {error.strerror}; give the path of a labels file") from None
    if not raw.strip():
        raise AnnotationError("bad_file", f"{path}: the file is empty; give it a header and at least one label")
    problems: list[str] = []
    if path.suffix == ".parquet" or raw.startswith(b"PAR1"):
        frame = _frame(read_parquet(path, str(path), problems)[1])
    elif path.suffix in (".jsonl", ".ndjson", ".json"):
        frame = _frame(read_json_rows(path, str(path), problems))
    else:
        frame = _read_csv(path, raw)
    if problems:
        raise ImportingError(problems)
    return frame.assign(
        **{str(name): frame[name].map(unguarded) for name in frame}
    )  # quotes that our own export put there


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


def _read_csv(path: Path, raw: bytes) -> pd.DataFrame:
    csv.field_size_limit(FIELD_LIMIT)
    text = _decoded(path, raw)
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
                rows.append(values)
            line = reader.line_num + 1
    except csv.Error as error:
        remedy = "shorten the cell" if "limit" in str(error) else "the file may be cut off"
        raise AnnotationError("bad_file", f"{path}:{line}: not a CSV table ({error}); {remedy}") from None
    _check_header(path, rows[0])
    return pd.DataFrame(rows[1:], columns=rows[0], dtype="str")


def _decoded(path: Path, raw: bytes) -> str:
    what = next((name for start, name in OTHER_FILES.items() if raw.startswith(start)), "")
    if what:
        raise AnnotationError("bad_file", f"{path}: this is {what}, not text; save the table as a CSV in UTF-8")
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
        raise AnnotationError("bad_file", f"{path}:1: {what}; save the table as a CSV with commas")


def _frame(rows: list[Row]) -> pd.DataFrame:
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    return pd.DataFrame({name: [_text(row.values.get(name)) for row in rows] for name in names}, dtype="str")


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
