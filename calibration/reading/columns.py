"""Two columns of labels, aligned by position: what every point function starts from."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.engine.closed_forms import Array
from calibration.errors import CalibrationError

Labels = npt.NDArray[Any]
Codes = npt.NDArray[np.intp]


def aligned(*columns: Any) -> tuple[Labels, ...]:
    """The columns as arrays without the rows where any of them is None, NaN or NA; all numbers (float) or all text.

    Raises `misaligned` (different lengths, or Series with different indexes) and `unknown_label` (text beside numbers).
    """
    first = columns[0]
    for other in columns[1:]:
        if isinstance(first, pd.Series) and isinstance(other, pd.Series) and not first.index.equals(other.index):
            raise CalibrationError("misaligned", "the two Series have different indexes; reset or align them first")
    arrays = [np.asarray(column, dtype=object).reshape(-1) for column in columns]
    if len({len(array) for array in arrays}) > 1:
        lengths = " and ".join(str(len(array)) for array in arrays)
        raise CalibrationError("misaligned", f"the columns have {lengths} rows; give them row by row")
    kept = ~np.logical_or.reduce([np.asarray(pd.isna(array), dtype=bool) for array in arrays])
    arrays = [array[kept] for array in arrays]
    numbers = [isinstance(label, Number | np.bool_) for array in arrays for label in array]
    if any(numbers) and not all(numbers):
        raise CalibrationError("unknown_label", "text stands among numbers; make the labels one type")
    return tuple(array.astype(float if numbers and all(numbers) else str) for array in arrays)


def grouped(groups: Any, *columns: Any) -> tuple[Codes, tuple[Labels, ...]]:
    """The group of each complete row as a code, and the columns as `aligned` gives them; groups have any one type."""
    if any(len(column) != len(groups) for column in columns):
        raise CalibrationError("misaligned", "groups and labels have different lengths; give them row by row")
    whole = np.logical_and.reduce([np.asarray(pd.notna(np.asarray(one, object))) for one in (groups, *columns)])
    _, code = np.unique(aligned(np.asarray(groups, object)[whole])[0], return_inverse=True)
    return code.astype(np.intp), aligned(*[np.asarray(column, object)[whole] for column in columns])


def numeric(*columns: Any) -> tuple[Array, ...]:
    """As `aligned`, but only numbers. Raises `unknown_label` on text."""
    arrays = aligned(*columns)
    if any(len(array) and array.dtype.kind == "U" for array in arrays):
        raise CalibrationError("unknown_label", "a correlation needs numbers, and these labels are text")
    return tuple(array.astype(float) for array in arrays)


def categories_of(arrays: Sequence[Labels], declared: Sequence[Any] | None) -> Labels:
    """The declared categories in their order, or the sorted labels seen. Raises `unknown_label` on one not declared."""
    seen = np.unique(np.concatenate(arrays))
    if declared is None:
        return seen
    scale = aligned(list(declared))[0]
    outside = seen[~np.isin(seen, scale)] if len(seen) else seen
    if len(outside):
        raise CalibrationError("unknown_label", f"the label {outside[0]!r} is not among the declared categories")
    return scale


def distinct(code: Codes) -> tuple[Codes, Codes]:
    """`np.unique(code, return_inverse=True)` of codes from 0, without sorting them."""
    present = np.bincount(code.ravel()) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[code]


def tally(code: Codes, count: int, weights: Any = None) -> Array:
    """How often, or with what total weight, each of 0 .. count - 1 occurs in `code`; shape (count,)."""
    return np.bincount(code, weights=weights, minlength=count).astype(float)


def count_table(a: Labels, b: Labels, categories: Labels) -> Array:
    """How often `a` said k and `b` said l; shape (K, K), in the order of `categories`."""
    order = np.argsort(categories, kind="stable")
    k, m = (order[np.searchsorted(categories[order], side)] if len(side) else np.zeros(0, int) for side in (a, b))
    size = len(categories)
    return tally(k * size + m, size * size).reshape(size, size)
