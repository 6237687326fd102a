"""The intervals of a walk a second time, worked out of labels by topic: by their formula, or by drawing topics anew.

Draws are by a generator of our own, so that their ends agree with those that calipers drew as far as two samples of
draws of one distribution do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

Numbers = npt.NDArray[np.float64]
DRAWS, TIMES = 499, 40  # as many draws as a walk takes, so many times over: how far their ends lie apart


@dataclass(frozen=True)
class Interval:
    """`slack`: how far an end may lie from this one, where both were drawn."""

    value: float
    low: float
    high: float
    slack: float = 0.0


def wilson(right: pd.Series[bool], topic: pd.Series[str]) -> Interval:
    """Of a share: Wilson's score interval with t of C - 1, of as many labels as whole topics are worth."""
    sums = right.astype("float").groupby(topic.to_numpy()).agg(["sum", "size"])
    count, n, share = len(sums), int(sums["size"].sum()), float(right.mean())
    off = sums["sum"] - share * sums["size"]
    variance = count / (count - 1) * float((off**2).sum()) / n**2
    worth = min(n, share * (1 - share) / variance)
    t = float(stats.t.ppf(0.975, count - 1))
    low, high = (
        (2 * worth * share + t**2 + sign * t * np.sqrt(t**2 + 4 * worth * share * (1 - share))) / (2 * (worth + t**2))
        for sign in (-1, 1)
    )
    return Interval(share, float(low), float(high))


def resampled(statistic: Callable[[Numbers], Numbers], topics: int) -> Interval:
    """`statistic`: how often each topic is drawn, shape (draws, topics), to its values.

    Hesterberg's expanded percentile: the tails are those of t, a little wider for few topics.
    """
    draw = np.random.default_rng(97)
    weights = draw.multinomial(topics, np.full(topics, 1 / topics), DRAWS * TIMES).astype("float")
    tail = float(stats.norm.cdf(-np.sqrt(topics / (topics - 1)) * stats.t.ppf(0.975, topics - 1)))
    drawn = statistic(weights).reshape(TIMES, DRAWS)
    ends = np.nanquantile(drawn, [tail, 1 - tail], axis=1)
    low, high = ends.mean(axis=1)
    return Interval(
        float(statistic(np.ones((1, topics)))[0]), float(low), float(high), 3 * float(ends.std(axis=1).max())
    )


def of_alpha(pairs: pd.DataFrame, topic: pd.Series[str]) -> Interval:
    """Krippendorff's α of numbers, of units of two labels each (`label_x`, `label_y`), from sums of each topic."""
    x, y = (pairs[f"label_{name}"].astype("float") for name in "xy")
    each = pd.DataFrame({"n": 2.0, "apart": (x - y) ** 2, "sum": x + y, "squares": x**2 + y**2}).groupby(topic).sum()

    def alpha(weights: Numbers) -> Numbers:
        n, apart, total, squares = (weights @ each.to_numpy()).T
        return 1 - (2 * apart / n) / (2 * (n * squares - total**2) / (n * (n - 1)))

    return resampled(alpha, len(each))


def of_kappa(pairs: pd.DataFrame, topic: pd.Series[str]) -> Interval:
    """Cohen's κ of two columns of answers, from a table of each topic."""
    said = sorted({*pairs["label_x"], *pairs["label_y"]})
    tables = np.array(
        [pd.crosstab(own["label_x"], own["label_y"]).reindex(said, fill_value=0).reindex(columns=said, fill_value=0)
         for _, own in pairs.groupby(topic)], dtype=float,
    )  # fmt: skip

    def kappa(weights: Numbers) -> Numbers:
        table = np.tensordot(weights, tables, 1)
        table /= table.sum(axis=(1, 2), keepdims=True)
        chance = (table.sum(axis=1) * table.sum(axis=2)).sum(axis=1)
        return (np.trace(table, axis1=1, axis2=2) - chance) / (1 - chance)

    return resampled(kappa, len(tables))


def of_four(people: pd.DataFrame, judge: pd.DataFrame) -> Interval:
    """RACE's overall, per cent, of shares by system (rows) and task: the mean of PAR, OPC, FAP and FAS."""
    one, other = np.triu_indices(len(people), 1)
    a, b = people.to_numpy(), judge.to_numpy()
    par = ((a[one] - a[other]) * (b[one] - b[other]) > 0).mean(axis=0)
    of_tasks = np.array([par, *(people.corrwith(judge, method=how).to_numpy() for how in ("pearson", "spearman"))])

    def overall(weights: Numbers) -> Numbers:
        by_task = of_tasks @ weights.T / weights.sum(axis=1)
        off = [means - means.mean(axis=0) for means in (a @ weights.T, b @ weights.T)]
        opc = (off[0] * off[1]).sum(axis=0) / np.sqrt((off[0] ** 2).sum(axis=0) * (off[1] ** 2).sum(axis=0))
        return 100 * (by_task.sum(axis=0) + opc) / 4

    return resampled(overall, a.shape[1])
