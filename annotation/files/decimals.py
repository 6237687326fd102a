"""Numbers with a decimal comma, or with marks between thousands: read where the file allows one reading alone."""

from __future__ import annotations

import re

import pandas as pd

from annotation.errors import AnnotationError

SIGN, END = r"\s*[+-]?", r"\s*[%％]?\s*"
WHOLE = re.compile(rf"{SIGN}\d+{END}")
POINT = re.compile(rf"{SIGN}\d*\.\d+{END}")
COMMA = re.compile(rf"{SIGN}(?:\d+|\d{{1,3}}(?:\.\d{{3}})+),\d+{END}")
THOUSANDS = re.compile(rf"{SIGN}\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?{END}")
GROUPED = re.compile(rf"{SIGN}\d{{1,3}}(?:\.\d{{3}})+{END}")  # points between thousands, where commas are decimal
LONGEST = 40  # characters of a number; a longer cell tells that its column holds texts


def with_points(frame: pd.DataFrame, where: str, asked: str) -> tuple[pd.DataFrame, str]:
    """The table with every number written with a decimal point, and the decimal sign it was written with.

    `asked`: `,` or `.`, "" to find it out; the sign is "" where no number holds a comma. `1,234` alone may be either:
    raises AnnotationError, unless another number of the file tells.
    """
    if asked not in ("", ",", "."):
        raise AnnotationError("bad_option", f"--read decimal={asked}: write a comma or a point")
    columns = {str(name): _distinct(frame[name]) for name in frame if _has_comma(frame[name])}
    numbers = {name: texts for name, texts in columns.items() if all(map(_is_number, texts))}
    if not numbers:
        return frame, ""
    sure = {_sign(text) for texts in numbers.values() for text in texts} - {""}
    if not asked and len(sure) != 1:
        name = next(iter(numbers))
        text = next(text for text in numbers[name] if "," in text)
        raise AnnotationError(
            "bad_file",
            f"{where}: {text.strip()!r} in column {name!r} may have a decimal comma or one between thousands; say "
            "which: --read decimal=, or --read decimal=.",
        )
    sign = asked or sure.pop()
    return frame.assign(**{name: _rewritten(frame[name], sign) for name in numbers}), sign


def _has_comma(column: pd.Series[str]) -> bool:
    first = column.iloc[:50]
    if (first.str.len() > LONGEST).any():
        return False
    return bool(column.str.contains(",", regex=False).any())


def _distinct(column: pd.Series[str]) -> list[str]:
    return [text for text in map(str, column.unique()) if text.strip()]


def _is_number(text: str) -> bool:
    return len(text) <= LONGEST and any(form.fullmatch(text) for form in (WHOLE, POINT, COMMA, THOUSANDS, GROUPED))


def _sign(text: str) -> str:
    """The decimal sign that a number shows beyond doubt, "" where it shows none or allows two readings."""
    if "," not in text:
        return ""
    thousands, comma = THOUSANDS.fullmatch(text), COMMA.fullmatch(text)
    if comma and (not thousands or text.strip().lstrip("+-").startswith("0")):
        return ","
    return "." if thousands and not comma else ""


def _rewritten(column: pd.Series[str], sign: str) -> pd.Series[str]:
    if sign == ".":
        return column.astype("str").str.replace(",", "", regex=False)
    return column.astype("str").str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
