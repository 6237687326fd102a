"""Tests of gaps against a margin, one judge or several beside each other, from the differences of labels.

A gap is a mean over labels of reference score - candidate score, both 0 to 1. Its t is compared with what resampled
clusters make of it (Efron & Tibshirani 1993, ch. 12; Hall 1992), with three additions for small studies.

1. The error is the jackknife's over clusters (CR3), so that a large cluster does not hide its own.
2. A study that happens to miss the faults of a judge sees a small gap and a small error at once. What K clusters did
   not show may lie in 3.7 / K of them (the rule of three, of a two-sided 95 %; Hanley & Lippman-Hand 1983), so such
   faults are added to the A of labels that differ: se^2 is multiplied by 1 + 3.7 (q w / K + (1 - w) / I) / A, where I
   is the number of items, K that of clusters if all were of one size (Kish 1965), and w the share of the variance that
   lies between clusters.
3. Where most of the variance lies within clusters and many items differ, sums of clusters are nearly normal, and an
   estimate of their skewness is mostly noise. The law is then shrunk towards t with K - 1 df: 1 - q times the quantile
   of t at the rank of t*, and q times t* itself, q = min(1, (w / .7)^2 + 10 / (I A) + 1 - K / C) of C clusters: the
   more their sizes differ, the less is a t near the truth.

All that is needed are sums per cluster; no label is touched again. Levels reached: `benchmarks/level.py`.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from calibration.arithmetic import closed_forms, tails
from calibration.arithmetic.columns import Codes, tally
from calibration.inference.bootstrap import MAX_UNDEFINED, ROUNDING
from calibration.inference.compare import Difference, studentised

Outcome = Literal["non_inferior", "inferior", "cannot_tell"]
LARGEST = 0.45  # of the labels in one cluster: with more there is next to nothing to know its spread by
FEWEST = 12  # clusters: with fewer the test is not known to hold its level
RESAMPLES = 9_999


@dataclass(frozen=True)
class Gap:
    """A gap and its error; `se` is 0 where all clusters show one difference, nan for fewer than two clusters."""

    value: float
    se: float  # with the faults that may not have been seen
    clusters: int
    unseen: float  # the share that they add to the variance
    trust: float  # q: how far the bootstrap is the law, and not t
    even: float  # K: clusters, if all were of one size
    largest: float  # share of the labels that the largest cluster holds
    ends: tuple[float, float]  # the smallest and the largest mean difference of a cluster


@dataclass(frozen=True, eq=False)
class Law:
    """A gap and what its t may come out as by chance. `resampled`: shape (resamples,), -inf where one has no spread."""

    gap: Gap
    resampled: closed_forms.Array

    @cached_property
    def order(self) -> Codes:
        """The resamples by what t comes out as in them, the smallest first; shape (resamples,)."""
        return np.argsort(self.resampled, kind="stable")

    @cached_property
    def undefined(self) -> float:
        """Share of resamples without spread, 0 to 1."""
        return float(np.isinf(self.resampled).mean())

    @property
    def seen(self) -> float:
        """The error without faults that were not seen, which can only make the gap larger."""
        return self.gap.se / math.sqrt(1 + self.gap.unseen)

    def t(self, margin: float) -> float:
        """(gap - margin) / se."""
        return (self.gap.value - margin) / self.gap.se

    def p_below(self, margin: float) -> float:
        """One-sided p of a gap of at least the margin: (1 + resamples of at most t) / (1 + resamples)."""
        return (1 + self.at_most(self.t(margin))) / (1 + len(self.resampled))

    def at_most(self, t: float) -> int:
        """How many resamples, the first of `order`, come out as t at most, shrunk towards Student's t by rank."""
        if t not in self._counted:
            self._counted[t] = bisect_right(range(len(self.resampled)), t, key=self._at)
        return self._counted[t]

    @cached_property
    def _counted(self) -> dict[float, int]:
        """t -> `at_most`: every step of an adjustment, and every study without one of its judges, asks for the same."""
        return {}

    def p_above(self, margin: float) -> float:
        """One-sided p of a gap of at most the margin, by t with C - 1 df."""
        return float(tails.Student.sf((self.gap.value - margin) / self.seen, self.gap.clusters - 1))

    def upper(self, error: float) -> float:
        """The margin above which `p_below` is under `error`; inf where no p of these resamples can be so small."""
        place = self._place(error)
        if place < 1:
            return math.inf
        return self.gap.value - self._at(place - 1) * self.gap.se

    def lower(self, error: float) -> float:
        """The margin below which `p_above` is under `error`.

        By t and not by resamples: where most topics show the largest gap there is, a few that do not make the upper
        tail of t* explode, and t errs on the safe side there (in 1 to 4.5 % of studies at a level of 5 %).
        """
        return float(self.gap.value - tails.Student.isf(error, self.gap.clusters - 1) * self.seen)

    def _place(self, error: float) -> int:
        """How many resamples beyond t make p reach `error`."""
        return math.ceil(error * (len(self._sorted) + 1) - 1 - ROUNDING)

    @cached_property
    def _sorted(self) -> closed_forms.Array:
        return np.sort(self.resampled)

    def _at(self, rank: int) -> float:
        """The draw of this rank, from 0: a quantile of t takes a thousand times as long as a look at the resample, and
        a bound needs few."""
        drawn, trust = float(self._sorted[rank]), self.gap.trust
        if trust == 1:
            return drawn
        return trust * drawn + (1 - trust) * _quantile(rank, len(self._sorted), max(1.0, self.gap.even - 1))


@lru_cache(maxsize=65_536)  # one search after another begins at the same ranks
def _quantile(rank: int, of: int, df: float) -> float:
    """Of Student's t, at the middle of this rank."""
    return float(tails.Student.ppf((rank + 0.5) / of, df))


@dataclass(frozen=True)
class NonInferiority:
    """One-sided test of a candidate against a reference. `outcome` is `cannot_tell` unless a bound clears the margin.

    `method`: `cluster_bootstrap_t`, see `calibration.inference.gap_test`; `exact_bound` where (nearly) all clusters
    show one difference; `none`, with nan, where `difference.note` says why. The smallest p there is is
    1 / (resamples + 1). `reason`: `too_few_clusters` where they alone keep the test from deciding.
    """

    outcome: Outcome
    difference: Difference  # score of the reference - score of the candidate: above 0 the candidate is worse
    upper: float  # one-sided bounds, each at the level
    lower: float
    p: float  # of a gap of at least the margin; below 1 - level exactly where `upper` is below the margin
    margin: float
    method: str
    reason: str = ""
    law: Law | None = field(default=None, repr=False, compare=False)  # what t may come out as by chance


@dataclass(frozen=True)
class Rows:
    """Reference score - candidate score of each label, nan where either is missing, with its cluster and its item."""

    difference: closed_forms.Array  # shape (labels,)
    code: Codes
    items: Codes | None = None  # labels that stand or fall together; None: each is its own
    shares: bool = True  # scores of 0 to 1
    weight: closed_forms.Array | None = None  # of each label, by the draw of its cluster

    @property
    def reach(self) -> float:
        """The largest difference seen."""
        return float(np.nanmax(np.abs(self.difference), initial=0.0)) or 1.0


@dataclass(frozen=True)
class Rule:
    """What a gap is held against, and how."""

    margin: float
    level: float
    min_clusters: int = FEWEST
    resamples: int = RESAMPLES
    seed: int = 0


def gaps_tested(rows: Sequence[Rows], rule: Rule) -> list[NonInferiority]:
    """Each judge's test; their codes name the same clusters, and their resamples are shared."""
    count = max((int(row.code.max(initial=-1)) + 1 for row in rows), default=0)
    sums = [gap_sums(row.difference, row.code, row.items, count, row.weight) for row in rows]
    return from_sums(sums, rule, [None if row.shares else row.reach for row in rows])


@dataclass(frozen=True)
class GapSums:
    """Of each cluster, shape (clusters,): its labels, the sum of their differences, its items, and the sum over items
    of the squares and of the absolute values of each item's sum of differences."""

    labels: closed_forms.Array
    gaps: closed_forms.Array
    items: closed_forms.Array
    squares: closed_forms.Array
    sizes: closed_forms.Array


def from_sums(sums: Sequence[GapSums], rule: Rule, reaches: Sequence[float | None] = ()) -> list[NonInferiority]:
    """The same from sums of the same clusters. `reaches`: the largest difference seen of scores that are no shares."""
    reach = reaches or [None] * len(sums)
    gaps = [gap_of(one, 1.0 if own is None else own) for one, own in zip(sums, reach, strict=True)]
    spread = [at for at, gap in enumerate(gaps) if gap.se > 0]
    drawn = laws([sums[at] for at in spread], [gaps[at] for at in spread], rule.resamples, rule.seed)
    known = dict(zip(spread, drawn, strict=True))
    return [
        _tested(round(float(one.labels.sum())), reach[at] is None, gap, known.get(at), rule)
        for at, (one, gap) in enumerate(zip(sums, gaps, strict=True))
    ]


def adjusted(tests: Sequence[NonInferiority], gone: int = 0) -> closed_forms.Array:
    """p of each for all of them, step by step: the smallest is adjusted for all, the next for those left; nan stays.

    Among those with resamples it is the smallest t of every shared resample that counts (Romano & Wolf 2005); they
    and each one tested by the exact bound share the error by their number (Bonferroni, so with none but these Holm).
    `gone`: further tests that were made and whose p nobody knows any more; each has its share of every step.
    """
    out, least = np.array([test.p for test in tests]), 0.0
    left = [at for at, p in enumerate(out) if not math.isnan(p)]
    while left:
        p = _adjusted_for(tests, left, len(left) + gone)
        least = max(least, min(p.values()))
        for at in [at for at in left if p[at] <= least]:
            out[at] = min(1.0, least)
            left.remove(at)
    return out


def _adjusted_for(tests: Sequence[NonInferiority], left: Sequence[int], family: int) -> dict[int, float]:
    """p of each of these, adjusted for all of these and for as many more as are of the family."""
    drawn = {at: law for at in left if (law := tests[at].law) is not None}
    p = {at: family * tests[at].p for at in left}
    for at, law in drawn.items():
        reached = np.zeros(len(law.resampled), bool)
        for other in drawn.values():
            reached[other.order[: other.at_most(law.t(tests[at].margin))]] = True
        p[at] = family / len(drawn) * (1 + np.count_nonzero(reached)) / (1 + len(reached))
    return p


def _tested(n: int, shares: bool, gap: Gap, law: Law | None, rule: Rule) -> NonInferiority:
    error = 1 - rule.level
    note = "too_few_units" if gap.clusters < 2 else "" if law else "zero_variance"
    found = Difference(gap.value, math.nan, math.nan, math.nan, n, gap.clusters, note)
    lower = upper = p = math.nan
    method = "none"
    if gap.clusters > 1 and shares and (law is None or law.undefined > MAX_UNDEFINED):
        lower, upper, p = _exact_bounds(gap, error)[0], _exact_bounds(gap, error)[1], _exact_p(gap, rule.margin)
        if law is not None:
            lower = law.lower(error)
            found = replace(found, low=law.lower(error / 2), high=_exact_bounds(gap, error / 2)[1])
        method, law = "exact_bound", None
    elif law is not None:
        method, lower, upper, p = "cluster_bootstrap_t", law.lower(error), law.upper(error), law.p_below(rule.margin)
        two_sided = 2 * (law.p_below(0.0) if gap.value < 0 else law.p_above(0.0))
        found = replace(found, low=law.lower(error / 2), high=law.upper(error / 2), p=min(1.0, two_sided))
    reason = "too_few_clusters" if 2 <= gap.clusters < rule.min_clusters else ""
    if gap.clusters >= FEWEST and gap.largest > LARGEST:
        reason = "one_large_cluster"
    outcome = _outcome(lower, upper, rule.margin, reason)
    return NonInferiority(outcome, found, upper, lower, p, rule.margin, method, reason, law)


def _exact_bounds(gap: Gap, error: float) -> tuple[float, float]:
    root = error ** (1 / gap.clusters)
    return (1 + gap.ends[0]) * root - 1, 1 - (1 - gap.ends[1]) * root


def _exact_p(gap: Gap, margin: float) -> float:
    largest = gap.ends[1]
    return float((max(0.0, 1 - margin) / (1 - largest)) ** gap.clusters) if largest < margin else 1.0


def _outcome(lower: float, upper: float, margin: float, reason: str) -> Outcome:
    if reason:
        return "cannot_tell"
    if upper < margin:
        return "non_inferior"
    return "inferior" if lower > margin else "cannot_tell"


GROUPS = 1_000  # above so many clusters groups of them are drawn: of that many even sums are normal enough
UNSEEN = 3.7  # of the rule of three: -ln .025
MOST = 0.7  # share of variance between clusters from which the bootstrap alone is the law
FEW = 10  # items that differ, up to which it is so too
DRAWS = 999  # at least, however few are asked for elsewhere


def gap_sums(
    difference: closed_forms.Array, code: Codes, items: Codes | None = None, count: int = 0,
    weight: closed_forms.Array | None = None,
) -> GapSums:  # fmt: skip
    """`difference`, `code` (the cluster), `items`: shape (labels,); nan is left out. Clusters: at least `count`.

    `items` is a code of the labels that stand or fall together within a cluster; without it each label is an item.
    `weight`: of each label, one in each cluster; scaled so that weighted labels sum to the number of labels.
    """
    known = ~np.isnan(difference)
    d, code = difference[known], code[known]
    count = max(count, int(code.max(initial=-1)) + 1)
    total, home = d, code
    if items is not None:
        item = items[known]
        there = tally(item, 0) > 0
        home = np.zeros(len(there), np.intp)
        home[item] = code
        total, home = tally(item, 0, d)[there], home[there]
    found = GapSums(
        tally(code, count), tally(code, count, d), tally(home, count), tally(home, count, total**2),
        tally(home, count, np.abs(total)),
    )  # fmt: skip
    if weight is None or not len(code):
        return found
    own = np.zeros(count)
    own[code] = weight[known] / weight[known].mean()
    return weighted_sums(found, own)


def weighted_sums(sums: GapSums, weight: closed_forms.Array) -> GapSums:
    """Of clusters that were drawn unequally; `weight`: shape (clusters,). Items stay as many as they are."""
    return GapSums(
        sums.labels * weight, sums.gaps * weight, sums.items, sums.squares * weight**2, sums.sizes * weight
    )  # fmt: skip


def gap_of(sums: GapSums, reach: float = 1.0) -> Gap:
    """`reach`: the largest difference there can be, 1 of scores from 0 to 1. Undefined, nan: no labels."""
    held = sums.labels > 0
    n, d, items = sums.labels[held], sums.gaps[held], sums.items[held]
    count, total = len(n), float(n.sum())
    value = float(d.sum() / total) if total else math.nan
    if count < 2:
        return Gap(value, math.nan, count, math.nan, math.nan, float(count), 1.0, (math.nan, math.nan))
    left = d - n * value
    left[np.abs(left) <= ROUNDING * np.maximum(np.abs(d), n * reach)] = 0.0  # rounding of equal means is no spread
    spread = count / (count - 1) * float(left @ left)
    within = float(closed_forms.ratio(items * (sums.squares[held] - d * d / items), items - 1)[items > 1].sum())
    between = max(0.0, 1 - max(0.0, within) / spread) if spread else 1.0
    differing = float(sums.sizes.sum()) / total / reach  # A
    trust, unseen, even = 1.0, 0.0, total**2 / float(n @ n)
    if spread:
        trust = min(1.0, (between / MOST) ** 2 + FEW / (float(items.sum()) * differing) + 1 - even / count)
        unseen = UNSEEN * (trust * between / even + (1 - between) / float(items.sum())) / differing
    jackknife = (count - 1) / count * float(((left / (1 - n / total)) ** 2).sum())
    means = d / n
    return Gap(
        value, math.sqrt(jackknife * (1 + unseen)) / total, count, unseen, trust, even, float(n.max()) / total,
        (float(means.min()), float(means.max())),
    )  # fmt: skip


def laws(sums: Sequence[GapSums], gaps: Sequence[Gap], resamples: int = 9_999, seed: int = 0) -> list[Law]:
    """What the t of each judge may come out as by chance, row by row of one shared resample.

    `sums`: over the same clusters; a judge may have no labels in some. A resample without spread never speaks for a
    judge. The draws depend on the seed, the clusters and the resamples, and on nothing else.
    """
    if not sums:
        return []
    sizes, totals = (np.stack([getattr(one, name) for one in sums], axis=-1) for name in ("labels", "gaps"))
    if len(sizes) > GROUPS:
        group = np.arange(len(sizes)) % GROUPS
        sizes, totals = (np.stack([tally(group, GROUPS, one) for one in table.T], -1) for table in (sizes, totals))
    drawn = studentised(totals, sizes, max(resamples, DRAWS), seed)
    return [Law(gap, np.where(np.isnan(own), -np.inf, own)) for gap, own in zip(gaps, drawn.T, strict=True)]
