"""Text tables of any separator and encoding: both are found out where nobody says them, and told."""

import codecs
import csv
import io
import re
from itertools import dropwhile, pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.errors import AnnotationError
from annotation.files.decoding import BOM
from annotation.files.rows import FIELD_LIMIT

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SAMPLE, SAMPLE_ROWS = 200_000, 200  # bytes and rows from which the separator is told
MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
FIRST_LINE = re.compile(r"sep=(.)\r?\n")  # a spreadsheet's own note
RULE = re.compile(r"\s*:?-{2,}:?\s*")  # under the heads of a table in Markdown
COMMENTS = re.compile(r"\A(?:#.*\r?\n)+")
NUMBER = re.compile(r"[+-]?[\d.,]+%?")
IMPORTED = re.compile(r"""\{\s*['"]ImportId['"]""")
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
        widths = _widths(COMMENTS.sub("", text), mark)
        below = [*dropwhile(lambda width: width == 1, widths)]  # titles
        is_regular = len({*below}) == 1
        found.append((is_regular and below == widths, is_regular, below[0] if below else 0, -place))
    return list(SEPARATORS)[-max(found)[-1]]


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
    note = FIRST_LINE.match(text)
    skipped = 1 if note else 0
    body, told = text[note.end() :] if note else text, tuple[str, ...]()
    try:
        rows, lines = _rows(body, delimiter=separator)
    except csv.Error as error:
        try:
            if '\\"' not in body:
                raise
            rows, lines = _rows(body, delimiter=separator, escapechar="\\", doublequote=False)
            told = ("quotes within cells are written with a backslash",)
        except csv.Error:
            number, reason = error.args[1] + skipped, error.args[0]
            remedy = "shorten the cell" if "limit" in reason else "the file may be cut off"
            raise AnnotationError("bad_file", f"{path}:{number}: not a CSV table ({reason}); {remedy}") from None
    above = _above_head(rows)
    table, lines = rows[above:], lines[above:]
    wrong = next((at for at, row in enumerate(table) if len(row) != len(table[0])), None)
    if wrong is not None:
        line, values, columns = lines[wrong] + skipped, len(table[wrong]), len(table[0])
        if above or columns == 1:
            raise AnnotationError(
                "bad_file",
                f"{path}: this is no table of labels: its first line names one column, and line {line} holds "
                f"{values} values; give a CSV whose first line names the columns",
            )
        is_cut = values < columns and wrong == len(table) - 1 > 1
        remedy = (
            "the last line may be cut off: mend it, or remove it"
            if is_cut
            else f"put values with {SEPARATORS.get(separator, 'separators')} in quotes"
        )
        raise AnnotationError(
            "bad_file", f"{path}:{line}: not as many values as columns ({values}, not {columns}); {remedy}"
        )
    frame, said = framed(f"{path}:{lines[0] + skipped if lines else 1}", table)
    return frame, (*told, *_passed_over(above), *said)


def _rows(text: str, **dialect: Any) -> tuple[list[list[str]], list[int]]:
    """The rows that are not blank, and the line at which each begins. Raises csv.Error with a reason and a line."""
    csv.field_size_limit(FIELD_LIMIT)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, **dialect)
    rows: list[list[str]] = []
    lines: list[int] = []
    line = 1
    try:
        for values in reader:
            if values:
                rows.append(values)
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise csv.Error(str(error), line) from None
    return rows, lines


def _above_head(rows: list[list[str]]) -> int:
    """How many rows stand above the head of a table of two rows and more: titles in the first cell, and comments by
    `#`, which are not as long as the rows below.
    """
    body = next((row for row in rows if row[0][:1] != "#" and sum(map(bool, row)) > 1), [])
    above = 0
    for row in rows:
        is_title = sum(map(bool, row)) < 2 and (row[0] or not any(row))  # elsewhere a cell alone is a head
        is_comment = row[0].startswith("#") and len(row) != len(body)
        if not body or len(rows) - above < 3 or not (is_comment or is_title):
            break
        above += 1
    return above


def framed(where: str, rows: list[list[str]]) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Rows of text as a table, the first as its heads, or the first two together, which is told. Titles above the
    head, and columns without any cell, are passed over.

    Raises AnnotationError where a table has one column, one name for two, or columns without any.
    """
    above = _above_head(rows)
    rows = [row for at, row in enumerate(rows[above:]) if at != 1 or not all(map(RULE.fullmatch, filter(None, row)))]
    used = [place for place in range(len(rows[0])) if any(row[place] for row in rows)] if rows else []
    if (
        rows and len(used) < len(rows[0]) and used != [*range(1, len(rows[0]))]
    ):  # a first column alone may be an index without a head
        rows = [[row[place] for place in used] for row in rows]
    # merged cells may be saved as a blank; no option takes a line break
    header = [" ".join(name.strip().splitlines()) for name in rows[0]] if rows else [""]
    if joined := _two_heads([header, *rows[1:]]):
        told = f"heads of two rows are joined: {', '.join(one for one in joined if '.' in one)}"
        return pd.DataFrame(rows[2:], columns=joined, dtype="str"), (*_passed_over(above), told)
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
    return pd.DataFrame(rows[1:], columns=header, dtype="str"), _passed_over(above)


def _passed_over(above: int) -> tuple[str, ...]:
    return (f"rows above the head are passed over: {above}",) if above else ()


def without_heads(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The table without rows that are its heads again, as files that were put together have them; and what is told."""
    again = pd.Series(True, index=frame.index)
    for name in frame:
        again &= frame[name].eq(str(name))
        if not again.any():
            return frame, ()
    if frame.empty or frame.shape[1] < 2 or again.all():
        return frame, ()
    left = frame[~again].reset_index(drop=True)
    count = len(frame) - len(left)
    return left, (f"rows that are the heads again are left out: {count:,}",)


def without_questions(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The table without the rows of Qualtrics between its heads and its answers: the questions' texts, and `ImportId`
    of each column as JSON; and what is told.
    """
    for at in range(min(2, len(frame) - 1)):
        if frame.iloc[at].astype("str").str.match(IMPORTED).all():
            told = "an export of Qualtrics: its rows of questions and of ImportId are passed over"
            return frame.iloc[at + 1 :].reset_index(drop=True), (told,)
    return frame, ()


def _two_heads(rows: list[list[str]]) -> list[str]:
    """The names that two rows make together, as merged cells are saved: `Anna`, blank over `clarity`, `depth`.

    [] where the second row may hold answers: a number, a word that stands below it again, or one that stands under a
    head of its column alone and under no other; or where no head of the first stands over two columns.
    """
    if len(rows) < 3 or len({*rows[0]} - {""}) == len(rows[0]):
        return []
    second = [" ".join(below.strip().splitlines()) for below in rows[1]]
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
