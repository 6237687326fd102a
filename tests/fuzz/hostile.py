"""What nobody should send: hostile values, and strategies that put them into requests and files that were valid."""

from __future__ import annotations

import codecs
import contextlib
import copy
import csv
import gzip
import io
import json
import os
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, Phase, reject, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("CALIPERS_FUZZ", "0"))  # of each route and each kind of file; 0: few
TEXTS = (
    "", " ", "\0", "a\0b", "\ud800", "x\udfff", "\u202eevil\u202c", "\u200b\u200d", "\ufeff", "=1+1", "=cmd|'/C calc'!A0",
    "+1", "-1", "@SUM(A1)", "\t=1", "'=1", "../../etc/passwd", "/etc/passwd", "C:\\x", "file:///etc/passwd", ".", "..",
    "%2e%2e%2f", "%00", "'; DROP TABLE labels;--", "{{7*7}}", "${x}", "\\input{/etc/passwd}", "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>", "NaN", "nan", "inf", "-Infinity", "1e999", "1e-999", "9" * 5_000, "٣", "１２", "²",
    "½", "0x10", "1_000", "1,5", "-0", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59+14:00", "2026-02-30",
    "2026-11-20T10:00:00", "2026-11-20", "2026-W47", "true", "null", "None", "all", "A", "B", "tie", "left", "right",
    "e\u0301" * 40, "\x1b[31mred\x1b[0m", "\x07", "two\nlines", "two\rlines", "line\u2028end", "\x85", "\x1c", "𝕬", "👩‍👩‍👧‍👦",
    '"', "'", ",", "\\", "x" * 11_000, "y" * 300, "0" * 32,
)  # fmt: skip
DEEP, LONG, TWICE = "@@deep@@", "@@long@@", "@@twice@@"  # `written` makes of these what json.dumps would not write
VALUES = (
    *TEXTS, DEEP, LONG, None, True, False, 0, 1, -1, 2, 5, 6, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1,
    10**400, 0.1, -0.0, 1e308, 5e-324, float("nan"), float("inf"), float("-inf"), [], {}, [[]], [None], {"": ""}, [""] * 70,
    {"a": [{"b": {}}]}, ["left"], {"left": 1},
)  # fmt: skip
MARKS = {f'"{DEEP}"': "[" * 3_000 + "]" * 3_000, f'"{LONG}"': "9" * 5_000, TWICE: ""}
BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, b"")
CODECS = ("utf-16", "utf-16-le", "utf-32", "cp1252", "latin-1", "utf-7", "shift_jis", "utf-8-sig", "cp037")
TOKEN = re.compile(r'"[^"\n]*"|-?\d[\d.]*|\w+')


def fuzzing(few: int, share: float = 1.0) -> settings:
    """`few` examples in `make slow`; with CALIPERS_FUZZ=1000 so many, or of slow commands a share of them."""
    return settings(
        max_examples=max(few, int(EXAMPLES * share)), derandomize=True, deadline=None, database=None,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate],
    )  # fmt: skip


def written(value: Any) -> str:
    """As JSON, with what no honest program writes: names twice, endless numbers, a cellar of brackets."""
    text = json.dumps(value, allow_nan=True)
    for mark, meant in MARKS.items():
        text = text.replace(mark, meant)
    return text


@st.composite
def mutated(draw: st.DrawFn, valid: Any, known: Sequence[Any] = (), most: int = 3) -> Any:
    """A copy of `valid` with up to `most` changes anywhere in it; `known` are values worth trying, ids of others say."""
    value = [copy.deepcopy(valid)]
    for _ in range(draw(st.integers(1, most))):
        _change(draw, value, known)
    return value[0]


def _change(draw: st.DrawFn, value: list[Any], known: Sequence[Any]) -> None:
    places = list(_places(value))
    within, key = draw(st.sampled_from(places))
    how = draw(st.sampled_from(("replace", "replace", "replace", "drop", "twice", "extra", "move", "wrap", "spoil")))
    other = copy.deepcopy(draw(st.sampled_from((*known, *VALUES)))) if how in ("replace", "extra", "twice") else None
    if how == "drop" and within is not value:
        del within[key]
    elif how == "twice" and isinstance(within, dict):
        within[f"{key}{TWICE}"] = other
    elif how == "twice" and within is not value:
        within.insert(key, copy.deepcopy(within[key]))
    elif how == "extra" and isinstance(within[key], dict):
        within[key][
            draw(st.sampled_from(("id", "study_id", "rater_id", "__class__", "", "status", "\0", "x" * 300)))
        ] = other
    elif how == "move":
        source, name = draw(st.sampled_from(places))
        within[key] = copy.deepcopy(source[name])
    elif how == "wrap":
        within[key] = [within[key]]
    elif how == "spoil" and isinstance(within[key], str):
        at = draw(st.integers(0, len(within[key])))
        within[key] = within[key][:at] + draw(st.sampled_from(TEXTS)) + within[key][at:]
    else:
        within[key] = other


def _places(value: Any) -> Any:
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


@st.composite
def spoiled(draw: st.DrawFn, raw: bytes) -> bytes:
    """Bytes of a file that is cut off, doubled, of another encoding, with holes, or nothing but noise."""
    how = draw(
        st.sampled_from(("cut", "cut", "bom", "codec", "flip", "insert", "hole", "double", "zip", "noise", "empty"))
    )
    at = draw(st.integers(0, max(len(raw) - 1, 0)))
    if how == "cut":
        return raw[:at]
    if how == "bom":
        return draw(st.sampled_from(BOMS)) + raw
    if how == "codec":
        return raw.decode("utf-8", "replace").encode(draw(st.sampled_from(CODECS)), "replace")
    if how == "flip" and raw:
        return raw[:at] + bytes([raw[at] ^ draw(st.integers(1, 255))]) + raw[at + 1 :]
    if how == "insert":
        return (
            raw[:at]
            + draw(st.sampled_from((b"\0", b"\xff\xfe", b"\r", b"\x1a", b'"', b"\n\n", b"\xed\xa0\x80")))
            + raw[at:]
        )
    if how == "hole":
        return raw[:at] + raw[at + draw(st.integers(1, 400)) :]
    if how == "double":
        return raw + raw
    if how == "zip":
        return gzip.compress(raw, mtime=0)
    return b"" if how == "empty" else draw(st.binary(max_size=200))


@st.composite
def reworded(draw: st.DrawFn, text: str) -> str:
    """Lines dropped, doubled or exchanged, and words replaced, in any kind of text."""
    lines = text.splitlines(keepends=True) or [""]
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        how = draw(st.sampled_from(("word", "word", "word", "drop", "double", "exchange", "insert")))
        words = list(TOKEN.finditer(lines[at]))
        if how == "word" and words:
            word = draw(st.sampled_from(words))
            lines[at] = lines[at][: word.start()] + draw(st.sampled_from(TEXTS)) + lines[at][word.end() :]
        elif how == "drop" and len(lines) > 1:
            del lines[at]
        elif how == "double":
            lines.insert(at, lines[at])
        elif how == "exchange":
            other = draw(st.integers(0, len(lines) - 1))
            lines[at], lines[other] = lines[other], lines[at]
        else:
            place = draw(st.integers(0, len(lines[at])))
            lines[at] = lines[at][:place] + draw(st.sampled_from(TEXTS)) + lines[at][place:]
    return "".join(lines)


@st.composite
def mutated_csv(draw: st.DrawFn, text: str, separator: str = ",") -> str:
    """Cells, columns and rows replaced, dropped, doubled; still a table most of the time."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator)) or [[""]]
    except csv.Error:  # spoiled before
        return draw(reworded(text))
    for _ in range(draw(st.integers(1, 3))):
        at, column = draw(st.integers(0, len(rows) - 1)), draw(st.integers(0, max(len(rows[0]) - 1, 0)))
        how = draw(
            st.sampled_from(("cell", "cell", "cell", "cell", "row", "again", "column", "twice", "ragged", "many"))
        )
        if how == "cell" and column < len(rows[at]):
            rows[at][column] = draw(st.sampled_from(TEXTS))
        elif how == "row" and len(rows) > 1:
            del rows[at]
        elif how == "again":
            rows.insert(at, list(rows[at]))
        elif how == "column":
            rows = [row[:column] + row[column + 1 :] for row in rows]
        elif how == "twice":
            rows = [[*row, *row[column : column + 1]] for row in rows]
        elif how == "ragged":
            rows[at].append(draw(st.sampled_from(TEXTS)))
        else:
            rows += [list(row) for row in rows[1:]] * 3
        rows = rows if any(rows) else [[""]]
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(rows)
    return out.getvalue()


def encoded(text: str) -> bytes:
    """In UTF-8; halves of surrogate pairs as the bytes they would be, which is not UTF-8."""
    return text.encode("utf-8", "surrogatepass")


@st.composite
def mutated_file(draw: st.DrawFn, name: str, raw: bytes, known: Sequence[Any] = ()) -> bytes:
    """A file of this name that was valid: changed by what it means, by its words, or by its bytes."""
    how = draw(st.sampled_from(("meaning", "meaning", "meaning", "words", "bytes")))
    if how == "bytes":
        return draw(spoiled(raw))
    suffix = name.rpartition(".")[2].lower()
    if suffix in ("parquet", "pq"):
        return draw(mutated_parquet(raw))
    text = raw.decode("utf-8", "replace")
    if how == "meaning" and (suffix in ("json", "jsonl", "ndjson") or "." not in name) and (held := _held(text)):
        changed = draw(mutated(held[0] if len(held) == 1 else held, known))
        as_lines = len(held) > 1 and isinstance(changed, list)
        return encoded("".join(written(one) + "\n" for one in changed) if as_lines else written(changed))
    if how == "meaning" and suffix in ("csv", "tsv", "tab"):
        return encoded(draw(mutated_csv(text, "," if suffix == "csv" else "\t")))
    return encoded(draw(reworded(text)))


def _held(text: str) -> list[Any]:
    """The one JSON value of a file, or one a line; nothing where it was spoiled before."""
    for parts in ([text], [line for line in text.split("\n") if line.strip()]):
        with contextlib.suppress(ValueError, RecursionError):
            return [json.loads(part) for part in parts]
    return []


@st.composite
def mutated_parquet(draw: st.DrawFn, raw: bytes) -> bytes:
    """A table whose columns have other types, other names, the same name twice, or nothing in them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(raw))
    except (pa.ArrowException, OSError):  # spoiled before
        return draw(spoiled(raw))
    columns = [list(table.column(index).to_pylist()) for index in range(table.num_columns)]
    names = list(table.column_names)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(columns) - 1))
        how = draw(st.sampled_from(("cell", "cell", "type", "name", "again", "drop")))
        if how == "cell" and columns[at]:
            row = draw(st.integers(0, len(columns[at]) - 1))
            columns[at][row] = copy.deepcopy(draw(st.sampled_from(VALUES)))
        elif how == "type":
            fill = draw(st.sampled_from(ODD_CELLS))
            columns[at] = [fill] * len(columns[at])
        elif how == "name":
            names[at] = draw(st.sampled_from(TEXTS))
        elif how == "again":
            columns.append(columns[at])
            names.append(names[at])
        elif len(columns) > 1:
            del columns[at], names[at]
    arrays = [_array(pa, column) for column in columns]
    names = [name.encode("utf-8", "replace").decode() for name in names]
    out = io.BytesIO()
    try:
        pq.write_table(pa.Table.from_arrays(arrays, names=names), out)
    except pa.ArrowNotImplementedError:  # a value that no Parquet file can hold, as {} alone
        reject()
    return out.getvalue()


ODD_CELLS = (
    None, b"\xff\0", 1.5, float("nan"), float("inf"), 2**63 - 1, True, ["a", None], {"a": 1}, [], date(1, 1, 1),
    datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC), timedelta(days=-1), Decimal("1.50"),
)  # fmt: skip


def _array(pa: Any, column: list[Any]) -> Any:
    try:
        return pa.array(column)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        return pa.array([None if one is None else str(one).encode("utf-8", "replace").decode() for one in column])
