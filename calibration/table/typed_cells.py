"""Cells of a table of labels as texts, categories, numbers and percentages; the refusal names the first bad row."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.arithmetic.columns import Codes, tally
from calibration.errors import CalibrationError

PERCENT = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*[%％]\s*")


def number_text(label: str) -> str:
    """The one spelling of a number: `7` for 7.0, `7.5` for 7.50."""
    value = float(label)
    return str(int(value)) if value.is_integer() else repr(value)


SOURCE = "rows of the file"  # in the attrs of a table that was made of another: its `SourceRows`


@dataclass(frozen=True, eq=False)
class SourceRows:
    """Where each row of a table that was made of a file stands in it. `places`: the file's row from 0, shape (rows,);
    `columns`: the place of its column in `heads`.
    """

    places: Codes
    columns: Codes | None = None
    heads: Sequence[str] = ()

    def __deepcopy__(self, _memo: object) -> SourceRows:  # which pandas does with each table made of another
        return self


def _source(out: pd.DataFrame | None) -> SourceRows | None:
    source: SourceRows | None = None if out is None else out.attrs.get(SOURCE)
    return source if source and out is not None and len(source.places) == len(out) else None


def row_number(position: int, out: pd.DataFrame | None = None) -> int:
    """The number of a row as a spreadsheet shows it, which counts the header; of the file that `out` was made of."""
    source = _source(out)
    return int(source.places[position] if source else position) + 2


def refuse(out: pd.DataFrame, bad: Any, code: str, what: str, remedy: str) -> None:
    """Raises `CalibrationError` with the first `bad` row of `out`; `{name}` in `what` is its cell of that column."""
    if not bad.any():
        return
    position = int(np.flatnonzero(bad)[0])
    row = {str(key): value for key, value in out.iloc[position].items()}
    told = "the header is row 1; item '{item_id}', rater '{rater_id}', criterion '{criterion}'".format(**row)
    source, at = _source(out), f"row {row_number(position, out)}"
    if source and source.columns is not None:
        at += f", column {source.heads[source.columns[position]]!r}"
    raise CalibrationError(code, f"{at} ({told}): {what.format(**row)}; {remedy}")


def where(column: pd.Series[Any], holds: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
    """Which cells of a column of categories hold, asked once for each text; shape (rows,)."""
    found = np.array([holds(text) for text in column.cat.categories], dtype=bool)
    return found[column.cat.codes] if found.any() else np.zeros(len(column), dtype=bool)


def percent_number(text: str) -> str:
    """The number before the sign, spelt the one way; "" where the text is no percentage."""
    found = PERCENT.fullmatch(text)
    return number_text(found[1]) if found else ""


def spelling(label: str) -> str:
    """A label with its number, if it is one or a percentage, written the one way."""
    return number_text(label) if is_number(label) else percent_number(label) or label


def is_number(label: str) -> bool:
    """Whether a label is a finite number."""
    try:
        return bool(np.isfinite(float(label)))
    except ValueError:
        return False


def as_text(column: pd.Series[Any]) -> pd.Series[Any]:
    """Text as text; a number that pandas made of an id or a score is written without a trailing `.0`."""
    if column.dtype == "str" and not column.hasnans:
        return column
    if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.categories.dtype == "str" and not column.hasnans:
        return column
    code, distinct = pd.factorize(column)
    made_of_numbers = pd.api.types.is_float_dtype(column)
    text = [number_text(str(value)) if made_of_numbers and np.isfinite(value) else str(value) for value in distinct]
    return pd.Series(np.array([*text, ""], dtype=object)[code], index=column.index, dtype="str")


def as_category(column: pd.Series[Any]) -> pd.Series[Any]:
    """Categories are the texts that occur, sorted."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype("category")
    code, texts = column.cat.codes.to_numpy(), list(column.cat.categories)
    used = np.bincount(code[code >= 0], minlength=len(texts)) > 0
    kept = sorted(text for text, is_used in zip(texts, used, strict=True) if is_used)
    return column if kept == texts else column.cat.set_categories(kept, ordered=False)


def with_text(column: pd.Series[Any], rows: npt.NDArray[np.bool_], text: str) -> pd.Series[Any]:
    """The column of categories with `text` in these rows."""
    if not rows.any():
        return column
    column = column if text in column.cat.categories else column.cat.add_categories(text)
    return column.mask(rows, text)


def as_number(out: pd.DataFrame, name: str) -> pd.Series[Any]:
    """A column as float64, empty cells nan. Raises `bad_number`."""
    column = out[name]
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.astype("float64")
    if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.categories.dtype == "str" and not column.hasnans:
        numbers = plain_numbers(column.cat.categories.to_series())
        if numbers is not None:
            return pd.Series(numbers[column.cat.codes.to_numpy()], index=column.index)
    elif column.dtype == "str" and (numbers := plain_numbers(column)) is not None:
        return pd.Series(numbers, index=column.index)
    column = column.astype("object").replace("", np.nan) if column.dtype == "category" else column.replace("", np.nan)
    read = pd.to_numeric(column, errors="coerce")
    unread = column.notna() & read.isna()
    remedy = "write it as 1234.5, or leave it empty if unknown"
    refuse(out, unread, "bad_number", f"{name} is '{{{name}}}', which is not a number", remedy)
    # pandas reads some decimals one unit in the last place off, each version others; Python reads them exactly
    codes, texts = pd.factorize(column.where(read.notna()))
    return pd.Series(np.array([*map(float, texts), np.nan])[codes], index=column.index, dtype="float64")


def plain_numbers(texts: pd.Series[str]) -> npt.NDArray[np.float64] | None:
    """Each text as the nearest float64, nan where it is empty; None where any is not plainly a number."""
    given = texts.ne("").fillna(False)
    try:
        read = texts.where(given).astype(
            "Float64"
        )  # Arrow's, as exact as Python's own and without a Python object each
    except ValueError:
        return None
    if read[given].isna().any():
        return None
    return np.asarray(read.to_numpy("float64", na_value=np.nan), np.float64)


Mask = npt.NDArray[np.bool_]


def percent_rows(texts: Sequence[str], label: Codes, criterion: Codes, usable: Mask) -> Mask:
    """Rows of criteria whose usable answers are percentages one and all, shape (rows,).

    `label`: the place of each row's answer in `texts`. Percentages beside plain numbers stay texts: whether 0.85 is
    meant by 85% nobody can tell, and the table is refused for its mixed labels.
    """
    percent = np.array([bool(percent_number(text)) for text in texts], dtype=bool)
    if not percent.any():
        return np.zeros(len(label), dtype=bool)
    criteria = int(criterion.max(initial=-1)) + 1
    written = percent[label] & usable
    whole = tally(criterion[usable], criteria) == tally(criterion[written], criteria)
    return np.asarray(written & whole[criterion])


def as_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """A table of text, its columns named by role, with percentages as `normalise` reads them."""
    if not {"label", "criterion"} <= set(table.columns) or table.empty:
        return table
    (label, texts), (criterion, _) = (pd.factorize(table[name]) for name in ("label", "criterion"))
    usable = ~table["label"].isin(["", "not_applicable", "n/a", "unparsed"]).to_numpy()
    if "status" in table.columns:
        usable &= table["status"].isin(["ok", ""]).to_numpy()
    rows = percent_rows(list(map(str, texts)), label.astype(np.intp), criterion.astype(np.intp), usable)
    return table.assign(label=table["label"].where(~rows, table["label"].map(percent_number))) if rows.any() else table
