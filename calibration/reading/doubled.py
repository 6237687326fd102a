"""Rows that answer what the same rater already answered: copies, other orders, repeats, items of many pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calibration.reading.columns import Codes
from calibration.reading.roles import as_text, roles_of
from calibration.reading.typed_cells import refuse, row_number
from calibration.verdicts import EXTRA, KNOWN_COLUMNS

KEY = ["item_id", "criterion", "rater_id", "run", "presentation"]
SEVERAL = "give each pair its own item_id if this one holds several"
ADVICE = (
    f"keep one row; {SEVERAL}; write the order, AB or BA, in the column presentation if the judge was asked in both; "
    "or number repeats in the column run"
)
TELLING = {"presentation": "write AB (A left or first) or BA", "run": "number the repeats 1, 2, ..."}


def once_in_order(out: pd.DataFrame) -> Codes:
    """The rows of a normalised table by `KEY`, shape (rows,). Raises `duplicate_verdict` where one stands there twice.

    A row is a copy where it is like the other in every column of `out`, also in those that no statistic reads.
    """
    keys = [out[name].cat.codes.to_numpy() if name != "run" else out[name].to_numpy() for name in KEY]
    order = np.lexsort(keys[::-1])  # the last key is the first
    again = np.logical_and.reduce([key[order[1:]] == key[order[:-1]] for key in keys])
    if again.any():
        at = int(np.flatnonzero(again)[np.argmin(order[1:][again])])  # the first of the file, behind its only like
        _refuse(out, int(order[at]), int(order[at + 1]))
    return np.asarray(order)


def _refuse(out: pd.DataFrame, first: int, second: int) -> None:
    before = row_number(first)
    what = f"this rater already answered this criterion of this item in row {before}, also in run {{run}}, presentation"
    what, remedy = f"{what} '{{presentation}}'", _meant(out.iloc[[first, second]]) or ADVICE
    if [*map(str, out.iloc[first])] == [*map(str, out.iloc[second])]:  # as text, nan is like nan
        what, remedy = f"the same as row {before} in every column", f"remove one of the two, or {SEVERAL}"
    refuse(out, np.arange(len(out)) == second, "duplicate_verdict", what, remedy)


def _meant(rows: pd.DataFrame) -> str:
    """What two rows differ in by the name of a column that tells such rows apart, and is no column of ours yet."""
    free, _ = as_text(rows[[name for name in rows.columns if name not in (*KNOWN_COLUMNS, *EXTRA)]])
    roles = roles_of(free)
    for role, how in TELLING.items():
        name = roles.get(role, "")
        if name and free[name].nunique() == 2:
            return f"they differ in {name!r}: is this the {role}? rename {name} to {role} and {how}"
    return ""
