"""Text tables of any separator and encoding: both are found out where nobody says them, and told."""

import codecs
import csv
import io
import re
from itertools import pairwise
from pathlib import Path

import pandas as pd

from annotation.errors import AnnotationError
from annotation.files.decoding import BOM
from annotation.files.rows import FIELD_LIMIT

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SAMPLE, SAMPLE_ROWS = 200_000, 200  # bytes and rows from which the separator is told
MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
FIRST_LINE = re.compile(r"sep=(.)\r?\n")  # a spreadsheet's own note
NUMBER = re.compile(r"[+-]?[\d.,]+%?")
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")  # of no text that anybody wrote


def encoding_of(start: bytes, asked: str) -> str:
    """The encoding as far as the first bytes say it: UTF-8 unless marks or zero bytes say otherwise."""
    if asked:
        return asked
    marked = next((name for mark, name in MARKS.items() if start.startswith(mark)), "")
    if marked:
        return marked
    ends = start[1:400:2].count(0), start[0:400:2].count(0)  # ASCII in UTF-16 has a zero in each pair
    half = len(start[:400]) // 2
    if half > 1 and ends[0] > 0.8 * half and not ends[1]:
        return "utf-16-le"
    return "utf-16-be" if half > 1 and ends[1] > 0.8 * half and not ends[0] else "utf-8"


def separator_of(text: str) -> str:
    """The separator by which the first rows are equally long, the most columns first; a comma where none is."""
    note = FIRST_LINE.match(text)
    if note:
        return note[1]
    found = []
    for place, mark in enumerate(SEPARATORS):
        widths = _widths(text, mark)
        columns = widths[0] if widths else 0
        found.append((columns > 1 and len({*widths}) == 1, columns, -place))
    return list(SEPARATORS)[-max(found)[2]]


def _widths(text: str, mark: str) -> list[int]:
    widths: list[int] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark):
            widths += [len(row)] if row else []
            if len(widths) > SAMPLE_ROWS:
                break
    except csv.Error:
        return widths
    return widths


def decoded(path: Path, raw: bytes, encoding: str, asked: bool) -> tuple[str, str]:
    """The text without its byte order mark, and the encoding that it is in.

    Where nobody asked for UTF-8 and the bytes are none, they are read as GB 18030, as Chinese spreadsheets write it, if
    they look like it, else as Windows-1252, which holds the letters of Western Europe.
    Raises AnnotationError `bad_file`.
    """
    try:
        text = raw.removeprefix(BOM).decode(encoding)
    except LookupError:
        raise AnnotationError("bad_file", f"{path}: there is no encoding {encoding!r}; try utf-8 or cp1252") from None
    except UnicodeDecodeError as error:
        at = f"byte {error.object[error.start]:#04x} at {error.start:,}"
        refusal = f"{path}: {at} is not {encoding.upper()}; save it as a CSV in UTF-8, or name its encoding: "
        refusal += "--read encoding=NAME"
        if asked or encoding != "utf-8":
            raise AnnotationError("bad_file", refusal) from None
        try:
            encoding = "gb18030" if _looks_chinese(raw) else "cp1252"
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            raise AnnotationError("bad_file", refusal) from None
        if CONTROL.search(text):
            raise AnnotationError("bad_file", refusal) from None
    if "\0" in text:
        raise AnnotationError(
            "bad_file", f"{path}: holds zero bytes, so it is no text; save the table as a CSV in UTF-8"
        )
    return text, encoding


def _looks_chinese(raw: bytes) -> bool:
    """Whether all bytes that are no ASCII stand in pairs that GB 18030 has, two pairs in a row among them.

    Letters of Western Europe stand one by one, seldom two together, and hardly ever four.
    """
    runs = set(re.findall(rb"[\x80-\xff]+", raw))
    try:
        raw.decode("gb18030")
    except UnicodeDecodeError:
        return False
    return all(len(run) % 2 == 0 for run in runs) and any(len(run) > 3 for run in runs)


def read_delimited(path: Path, text: str, separator: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Every cell as text, as `framed`. Raises AnnotationError with the line where no table can be made out."""
    csv.field_size_limit(FIELD_LIMIT)
    note = FIRST_LINE.match(text)
    skipped = 1 if note else 0
    reader = csv.reader(io.StringIO(text[note.end() :] if note else text, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    line = 1 + skipped
    try:
        for values in reader:
            if values:
                if rows and len(values) != len(rows[0]) == 1:
                    raise AnnotationError(
                        "bad_file",
                        f"{path}: this is no table of labels: its first line names one column, and line {line} holds "
                        f"{len(values)} values; give a CSV whose first line names the columns",
                    )
                if rows and len(values) != len(rows[0]):
                    raise AnnotationError(
                        "bad_file",
                        f"{path}:{line}: not as many values as columns ({len(values)}, not {len(rows[0])}); put values "
                        f"with {SEPARATORS.get(separator, 'separators')} in quotes",
                    )
                rows.append(values)
            line = reader.line_num + 1 + skipped
    except csv.Error as error:
        remedy = "shorten the cell" if "limit" in str(error) else "the file may be cut off"
        raise AnnotationError("bad_file", f"{path}:{line}: not a CSV table ({error}); {remedy}") from None
    return framed(f"{path}:{1 + skipped}", rows)


def framed(where: str, rows: list[list[str]]) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Rows of text as a table, the first as its heads, or the first two together, which is told.

    Raises AnnotationError where a table has one column, one name for two, or columns without any.
    """
    header = [name.strip() for name in rows[0]] if rows else [""]  # merged cells may be saved as a blank
    if joined := _two_heads([header, *rows[1:]]):
        return pd.DataFrame(rows[2:], columns=joined, dtype="str"), (
            f"heads of two rows are joined: {', '.join(one for one in joined if '.' in one)}",
        )
    repeated = sorted({name for name in header if header.count(name) > 1})
    if "" in repeated:
        before = next((f"after {name!r}" for name, after in pairwise(header) if name and not after), "at the start")
        raise AnnotationError(
            "bad_file",
            f"{where}: the column {before} has no head, nor have {header.count('') - 1} more: each needs one "
            "of its own in the first row, or, under a head that stands over several (merged cells), in the second",
        )
    if repeated:
        raise AnnotationError("bad_file", f"{where}: column {repeated[0]!r} appears twice; rename or remove one")
    if len(header) == 1:
        raise AnnotationError(
            "bad_file",
            f"{where}: there is only one column; save the table as a CSV with commas, or name what separates its "
            "columns: --read separator=MARK",
        )
    return pd.DataFrame(rows[1:], columns=header, dtype="str"), ()


def _two_heads(rows: list[list[str]]) -> list[str]:
    """The names that two rows make together, as merged cells are saved: `Anna`, blank over `clarity`, `depth`.

    [] where the second row may hold answers: a number, a word that stands below it again, or one that stands under a
    head of its column alone and under no other; or where no head of the first stands over two columns.
    """
    if len(rows) < 3 or len({*rows[0]} - {""}) == len(rows[0]):
        return []
    second = [below.strip() for below in rows[1]]
    groups: list[str] = []
    for above, below in zip(rows[0], second, strict=True):
        groups.append((above or (groups[-1] if groups else "")) if below else "")
    names = [
        ".".join(filter(None, (group, below))) or above
        for group, above, below in zip(groups, rows[0], second, strict=True)
    ]
    is_answer = any(
        below
        and (
            NUMBER.fullmatch(below)
            or any(row[place].strip() == below for row in rows[2:])
            or (rows[0][place] and groups.count(groups[place]) == 1 and second.count(below) == 1)
        )
        for place, below in enumerate(second)
    )
    is_wide = any(group and group == after for group, after in pairwise(groups))
    return names if is_wide and not is_answer and all(names) and len({*names}) == len(names) else []
