"""Two columns of labels, aligned by position, from which every point function starts, and verdicts on pairs.

Tables and counts of verdicts on pairs are in the order A, tie, B (then not_applicable where it is a category).
"""

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.arithmetic.closed_forms import Array, ratio
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


PAIRWISE = ("A", "tie", "B")  # this order, so that renaming A and B is reading it backwards
SCORES = np.array([1.0, 0.5, 0.0])
SWAP = np.array([2, 1, 0, 3])  # A and B exchanged; tie and not_applicable stay


def without_ties(table: Array) -> Array:
    """The rows and columns A and B of tables of shape (..., K, K)."""
    return table[..., [0, 2], :][..., :, [0, 2]]


def credits(counts: Array, ties: str) -> tuple[Array, Array]:
    """What always saying k earns against a reference that said l `counts` times, and out of how many rows.

    `counts`: shape (..., K); the results have shape (..., answers) and (...). `exclude` leaves the answers A and B.
    """
    if ties == "exclude":
        counts = counts[..., [0, 2]]
    if ties == "half_credit":
        counts = counts[..., :3]
        return counts @ (1 - np.abs(SCORES[:, None] - SCORES[None, :])), counts.sum(axis=-1)
    return counts, counts.sum(axis=-1)


def best_constant(counts: Array, ties: str) -> tuple[float, int]:
    """Agreement of the best constant answer and its position among the answers. `counts`: shape (K,). nan: no rows."""
    earned, total = credits(counts, ties)
    return float(ratio(earned.max(), total)), int(np.argmax(earned))


def best_constant_by_group(counts: Array, ties: str) -> float:
    """The same with the best answer of each group. `counts`: shape (groups, K). nan: no rows."""
    earned, total = credits(counts, ties)
    return float(ratio(earned.max(axis=-1).sum(), total.sum()))


def best_places(counts: Array, ties: str) -> Codes:
    """Position among the labels of the best constant answer of each row of `counts`, shape (rows, K) -> (rows,)."""
    earned, _ = credits(counts, ties)
    best = np.argmax(earned, axis=-1)
    return np.asarray(2 * best if ties == "exclude" else best, np.intp)


def best_answer(labels: Labels, ties: str) -> tuple[float, float]:
    """What the best constant answer earns on text labels (a tie is `tie`), and out of how many rows."""
    names, counts = np.unique(labels[labels != "tie"], return_counts=True)
    tied, decided = float((labels == "tie").sum()), float(counts.sum())
    top = float(counts.max(initial=0))
    if ties == "exclude":
        return top, decided
    if ties == "half_credit":
        return max(top + tied / 2 if len(names) else 0.0, tied + decided / 2), decided + tied
    return max(top, tied), decided + tied
