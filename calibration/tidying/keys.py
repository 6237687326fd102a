"""What names an item: the smallest set of columns on which no rater answers one thing twice."""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from calibration.arithmetic.columns import Codes

MOST = 3  # columns beside those that are known; more make a key of anything


def smallest_key(
    table: pd.DataFrame, known: Sequence[str], told_apart: Sequence[str], candidates: Iterable[str]
) -> tuple[str, ...] | None:
    """The fewest `candidates` that tell the rows of `table` apart together with `known` and `told_apart`.

    `known`: columns that belong to the key in any case; `told_apart`: who answered what, when. The earlier candidates
    win; None where no set of up to three does.
    """
    start = codes_of(table, [*known, *told_apart])
    if is_unique(start):
        return ()
    listed = [name for name in candidates if table[name].nunique() > 1]
    single = {name: pd.factorize(table[name])[0] for name in listed}
    for size in range(1, MOST + 1):
        for chosen in combinations(listed, size):
            if is_unique(joint([start, *(single[name] for name in chosen)])):
                return chosen
    return None


def codes_of(table: pd.DataFrame, columns: Sequence[str]) -> Codes:
    """One number for each distinct row of `columns`; shape (rows,). Zeros without columns."""
    return joint([pd.factorize(table[name])[0] for name in columns]) if columns else np.zeros(len(table), np.intp)


def joint(codes: Sequence[Codes]) -> Codes:
    """One number for each distinct combination; shape (rows,)."""
    out = codes[0]
    for one in codes[1:]:
        out = pd.factorize(out.astype(np.int64) * (int(one.max(initial=0)) + 1) + one)[0]
    return np.asarray(out)


def is_unique(codes: Codes) -> bool:
    """Whether no two rows are alike."""
    return bool(pd.Series(codes).is_unique)
