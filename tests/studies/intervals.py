"""The intervals of a walk a second time, worked out of labels by topic: by their formula, or by drawing topics anew.

Draws are by a generator of our own, so that their ends agree with those that calipers drew as far as two samples of
draws of one distribution do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

Numbers = npt.NDArray[np.float64]
DRAWS, TIMES = 499, 40  # as many draws as a walk takes, so many times over: how far their ends lie apart
ERRORS = 3  # so many standard errors of an end of that many draws may it lie off

ALIKE = 1e-9  # draws of one value, summed in another order
ASSUMED = 0.1  # how alike labels of one topic are, where none differs


@dataclass(frozen=True)
class Interval:
    """`slack`: how far the lower and the upper end may lie from these, where both were drawn; each by its own error.

    `drawn`: our draws, sorted, of which a share `tail` lies beyond each end: by these an end is told that may take few
    values, of which the next one lies far off.
    """

    value: float
    low: float
    high: float
    slack: tuple[float, float] = (0.0, 0.0)
    drawn: Numbers | None = field(default=None, compare=False, repr=False)
    tail: float = 0.0

    def holds(self, numbers: Sequence[float], rounding: Sequence[float]) -> bool:
        """Whether a value and its two ends are these, but for what was rounded."""
        if len(numbers) != 3:
            return False
        ends = zip(numbers, (self.value, self.low, self.high), (0.0, *self.slack), rounding, strict=True)
        near = all(abs(found - end) <= slack + rounded for found, end, slack, rounded in ends)
        return near and (self.drawn is None or self._has_its_tails(numbers[1:], rounding[1:]))

    def _has_its_tails(self, ends: Sequence[float], rounding: Sequence[float]) -> bool:
        """Whether a share `tail` of our draws lies beyond each end, as far as two samples of draws tell."""
        assert self.drawn is not None
        tail, count = self.tail, len(self.drawn)
        off = ERRORS * float(np.sqrt(tail * (1 - tail) * (1 / DRAWS + 1 / count)))
        found = []
        for end, rounded in zip(ends, rounding, strict=True):
            near = [end - rounded - ALIKE, end + rounded + ALIKE]
            found.append(
                (np.searchsorted(self.drawn, near[0]) / count, np.searchsorted(self.drawn, near[1], "right") / count)
            )
        (below, to_low), (to_high, above) = found
        return bool(
            below <= tail + off and to_low >= tail - off and 1 - above <= tail + off and 1 - to_high >= tail - off
        )


def wilson(right: pd.Series[bool], topic: pd.Series[str]) -> Interval:
    """Of a share: Wilson's score interval with t of C - 1, of as many labels as whole topics are worth."""
    sums = right.astype("float").groupby(topic.to_numpy()).agg(["sum", "size"])
    count, n, share = len(sums), int(sums["size"].sum()), float(right.mean())
    off = sums["sum"] - share * sums["size"]
    return _wilson(share, count / (count - 1) * float((off**2).sum()) / n**2, n, count)


def _wilson(share: float, variance: float, n: int, count: int) -> Interval:
    worth = min(n, share * (1 - share) / variance)
    t = float(stats.t.ppf(0.975, count - 1))
    low, high = (
        (2 * worth * share + t**2 + sign * t * np.sqrt(t**2 + 4 * worth * share * (1 - share))) / (2 * (worth + t**2))
        for sign in (-1, 1)
    )
    return Interval(share, float(low), float(high))


def tail_of(topics: int) -> float:
    """The share of draws below an end of Hesterberg's expanded percentile: that of t, a little wider for few topics."""
    return float(stats.norm.cdf(-np.sqrt(topics / (topics - 1)) * stats.t.ppf(0.975, topics - 1)))


def resampled(statistic: Callable[[Numbers], Numbers], topics: int) -> Interval:
    """`statistic`: how often each topic is drawn, shape (draws, topics), to its values."""
    draw = np.random.default_rng(97)
    weights = draw.multinomial(topics, np.full(topics, 1 / topics), DRAWS * TIMES).astype("float")
    tail = tail_of(topics)
    drawn = statistic(weights).reshape(TIMES, DRAWS)
    ends = np.nanquantile(drawn, [tail, 1 - tail], axis=1)
    low, high = ends.mean(axis=1)
    error = ends.std(axis=1, ddof=1) * np.sqrt(1 + 1 / TIMES)  # of one end of theirs, and of the mean of ours
    value = float(statistic(np.ones((1, topics)))[0])
    return Interval(value, float(low), float(high), _slack(error), _known(drawn.ravel()), tail)


def _known(drawn: Numbers) -> Numbers:
    return np.sort(drawn[~np.isnan(drawn)])


def _slack(error: Numbers) -> tuple[float, float]:
    low, high = ERRORS * error
    return float(low), float(high)


def times(by: float, found: Interval) -> Interval:
    low, high = found.slack
    drawn = None if found.drawn is None else by * found.drawn
    return Interval(by * found.value, by * found.low, by * found.high, (by * low, by * high), drawn, found.tail)


def t_of(value: float, without: Numbers) -> Interval:
    """By t of C - 1 and the jackknife's error about the value itself (CR3), and what it is `without` each topic in turn."""
    count = len(without)
    error = float(np.sqrt((count - 1) / count * ((without - value) ** 2).sum()))
    half = float(stats.t.ppf(0.975, count - 1)) * error
    return Interval(value, value - half, value + half)


def t_mean(of_topics: pd.Series[float]) -> Interval:
    """Of the mean of one value a topic."""
    half = float(stats.t.ppf(0.975, len(of_topics) - 1) * of_topics.sem())
    return Interval(value := float(of_topics.mean()), value - half, value + half)


class Without:
    """A desk of the same labels but those of one topic."""

    def __init__(self, labels: pd.DataFrame, study: str, gone: str) -> None:
        self._labels, self._study = labels[labels["cluster_id"] != gone], study

    def verdicts(self, study: str) -> pd.DataFrame:
        assert study == self._study
        return self._labels


def by_t(worked: Any, study: str, labels: int = 0) -> Any:
    """A number of a study's labels by t of C - 1 and the jackknife's error.

    `labels`: of each topic, where the number is an effect of which none may be there. An interval that holds none, or
    has no width, is then at least that of labels which all show this effect, were there others that nobody drew: their
    share is Wilson's bound of 1, with the design effect of an intraclass correlation of .1.
    """

    def interval(desk: Any, decide: Any) -> Interval:
        whole, value = desk.verdicts(study), float(worked(desk, decide))
        topics = sorted(whole["cluster_id"].unique())
        without = [worked(Without(whole, study, gone), decide) for gone in topics]
        found = t_of(value, np.array(without, dtype=float))
        if not labels or (found.low < found.high and (found.low > 0 or found.high < 0)):
            return found
        worth = labels * len(topics) / (1 + (labels - 1) * ASSUMED)
        like = worth / (worth + float(stats.t.ppf(0.975, len(topics) - 1)) ** 2)
        ends = like * value - (1 - like), like * value + 1 - like
        return replace(found, low=min(found.low, ends[0]), high=max(found.high, ends[1]))

    return interval


def ends_of(value: float, drawn: Numbers, topics: int) -> Interval:
    """As `resampled`, of fewer draws: how far two samples of them lie apart is told by drawing from these."""
    tail = tail_of(topics)
    low, high = np.nanquantile(drawn, [tail, 1 - tail])
    again = np.random.default_rng(98).choice(drawn[~np.isnan(drawn)], (200, DRAWS))
    error = np.quantile(again, [tail, 1 - tail], axis=1).std(axis=1, ddof=1) * np.sqrt(1 + DRAWS / len(drawn))
    return Interval(value, float(low), float(high), _slack(error), _known(drawn), tail)


def over_rows(of: Callable[[Any], Sequence[Any]], statistic: Callable[..., float]) -> Any:
    """A number of arrays that hold one row a topic, with its ends where rows are drawn; the tails are of those that say
    anything.
    """

    def interval(desk: Any, _: Any) -> Interval:
        rows = [np.asarray(array) for array in of(desk)]
        draw, topics = np.random.default_rng(97), len(rows[0])
        picked = (draw.integers(0, topics, topics) for _ in range(4 * DRAWS))
        drawn = np.array([statistic(*(array[one] for array in rows)) for one in picked], dtype=float)
        told = np.nan_to_num(rows[0].astype("float")).reshape(topics, -1).any(axis=1).sum()
        return ends_of(float(statistic(*rows)), drawn, int(told))

    return interval


def of_alpha(labels: pd.DataFrame) -> Interval:
    """Krippendorff's α of numbers, from sums of each topic. `labels`: `topic`, `unit`, `label`, and its unit's `weight`."""
    x = labels.assign(label=labels["label"].astype("float"), squares=labels["label"].astype("float") ** 2, n=1.0)
    units = x.groupby(["topic", "unit", "weight"])[["n", "label", "squares"]].sum().query("n > 1")
    apart = 2 * (units["n"] * units["squares"] - units["label"] ** 2) / (units["n"] - 1)
    weighted = units.assign(apart=apart).mul(units.index.get_level_values("weight"), axis=0)
    each = weighted.groupby("topic")[["n", "apart", "label", "squares"]].sum()

    def alpha(weights: Numbers) -> Numbers:
        n, apart, total, squares = (weights @ each.to_numpy()).T
        return 1 - (apart / n) / (2 * (n * squares - total**2) / (n * (n - 1)))

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
