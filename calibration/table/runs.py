"""Which answer of a rater came first: a run is the same one over all items, and the first the lowest there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

ANSWER = ["item_id", "criterion", "presentation"]
RATER = ["rater_id", "rater_kind"]


def numbered(order: pd.Series[Any], table: pd.DataFrame, do_count: bool = True) -> pd.Series[Any]:
    """Whole numbers from 1 for the runs of each rater, in the order of the numbers `order`; shape (rows,).

    Numbers that count from 0 or 1 without a gap (unless `do_count` says that they do not), and those of which some
    answer has all (three seeds), name the same run in every item. Others, such as a seed or a time for each call, order
    the repeats of each answer alone. `table`: the rows' raters, items, criteria and presentations, where there are any.
    """
    rater, answer = ([table[name] for name in names if name in table] for names in (RATER, [*RATER, *ANSWER]))
    of_rater, of_answer = (order.groupby(keys, observed=True, sort=False) for keys in (rater, answer))
    several = of_rater.transform("nunique")
    low, high = of_rater.transform("min"), of_rater.transform("max")
    counted = do_count & (low <= 1) & (high - low + 1 == several)
    most = of_answer.transform("nunique").groupby(rater, observed=True, sort=False).transform("max")
    return pd.Series(
        np.where(counted | (most == several), of_rater.rank("dense"), of_answer.rank("dense")), order.index
    )
