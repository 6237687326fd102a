"""Numbers as they are written in a table: which sign is decimal, and which stands between thousands."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import pandas as pd

from annotation.errors import AnnotationError

SIGN, END = r"\s*[+-]?", r"\s*[%％]?\s*"
WHOLE = re.compile(rf"{SIGN}\d+{END}")
POINT = re.compile(rf"{SIGN}\d*\.\d+{END}")
COMMA = re.compile(rf"{SIGN}(?:\d+|\d{{1,3}}(?:\.\d{{3}})+),\d+{END}")
THOUSANDS = re.compile(rf"{SIGN}(?!0)\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?{END}")
GROUPED = re.compile(rf"{SIGN}(?!0)\d{{1,3}}(?:\.\d{{3}})+{END}")  # points between thousands, where commas are decimal
LONGEST = 40  # characters of a number; a longer cell tells that its column holds texts


def with_points(frame: pd.DataFrame, where: str, asked: str) -> tuple[pd.DataFrame, str]:
    """The table with every number written with a decimal point, and the decimal sign it was written with.

    `asked`: `,` or `.`, "" to find it out; the sign is "" where no number holds a comma. Of a number that is written
    with the other sign, `4.5` beside `4,5`, nothing is changed. `1,234` alone may be either, and so may `4.125` beside
    `4,5`: raises AnnotationError, unless another number tells.
    """
    if asked not in ("", ",", "."):
        raise AnnotationError("bad_option", f"--read decimal={asked}: write a comma or a point")
    columns = {str(name): _distinct(frame[name]) for name in frame if _has_comma(frame[name])}
    numbers = {name: texts for name, texts in columns.items() if all(map(_is_number, texts))}
    if not numbers:
        return frame, ""
    sure = {_sign(text) for texts in numbers.values() for text in texts} - {""}
    unsure = [(name, text) for name, texts in numbers.items() for text in texts if "," in text and len(sure) != 1]
    if sure == {","}:
        unsure = [(name, text) for name, texts in numbers.items() if not any(map(_is_both, texts))
                  for text in texts if GROUPED.fullmatch(text)]  # fmt: skip
    if unsure and not asked:
        (name, text), *_ = unsure
        mark = "comma" if "," in text else "point"
        raise AnnotationError(
            "bad_file",
            f"{where}: {text.strip()!r} in column {name!r} may have a decimal {mark} or one between thousands; say "
            "which: --read decimal=, or --read decimal=.",
        )
    sign = asked or sure.pop()
    return frame.assign(**{name: _rewritten(frame[name], sign) for name in numbers}), sign


def ungrouped(frame: pd.DataFrame, decimal: str, names: Iterable[str], scores: Collection[str] = ()) -> pd.DataFrame:
    """Where commas are decimal, the table without points between thousands in `names`, which are read as numbers.

    Of `scores`, which are written alike, nothing is changed where one of them has a decimal point.
    """
    if decimal != ",":
        return frame
    texts = (text for name in scores if name in frame for text in _distinct(frame[name]))
    kept = {*scores} if any(POINT.fullmatch(text) and not GROUPED.fullmatch(text) for text in texts) else set()
    grouped = [name for name in names if name in frame and name not in kept and _is_grouped(frame[name])]
    return frame.assign(**{name: _rewritten(frame[name], ",") for name in grouped})


def _is_grouped(column: pd.Series[str]) -> bool:
    """Whether all cells are whole numbers, some with points between thousands."""
    texts = _distinct(column) if column.iloc[:50].str.fullmatch(rf"{GROUPED.pattern}|{WHOLE.pattern}|\s*").all() else []
    grouped = [text for text in texts if GROUPED.fullmatch(text)]
    return bool(grouped) and all(WHOLE.fullmatch(text) or text in grouped for text in texts)


def _has_comma(column: pd.Series[str]) -> bool:
    is_long = bool((column.iloc[:50].str.len() > LONGEST).any())
    return not is_long and bool(column.str.contains(",", regex=False).any())


def _distinct(column: pd.Series[str]) -> list[str]:
    return [text for text in map(str, column.unique()) if text.strip()]


def _is_number(text: str) -> bool:
    return len(text) <= LONGEST and any(form.fullmatch(text) for form in (WHOLE, POINT, COMMA, THOUSANDS, GROUPED))


def _is_both(text: str) -> bool:
    """Whether a decimal comma proves that points stand between thousands."""
    return "." in text and "," in text


def _sign(text: str) -> str:
    """The decimal sign that a number with a comma shows beyond doubt, "" where it allows two readings."""
    thousands, comma = THOUSANDS.fullmatch(text), COMMA.fullmatch(text)
    return "" if bool(thousands) == bool(comma) else "." if thousands else ","


def _rewritten(column: pd.Series[str], sign: str) -> pd.Series[str]:
    texts = column.astype("str")
    if sign == ".":
        thousands = texts.str.fullmatch(THOUSANDS.pattern)
        return texts.str.replace(",", ".", regex=False).mask(thousands, texts.str.replace(",", "", regex=False))
    plain = texts.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
    return plain.mask(texts.str.fullmatch(POINT.pattern) & ~texts.str.fullmatch(GROUPED.pattern), texts)
