"""Estimates with their intervals: which method each gets, when an interval is refused, and the reason why.

Beside the main interval there may be a linearised one where clusters are few, and one of single labels where a reader
asks for it; their statistics carry a suffix, so that no table can take them for the main interval.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy

from calibration.arithmetic import closed_forms, columns
from calibration.arithmetic.closed_forms import Array
from calibration.estimates import Estimate
from calibration.inference import bootstrap
from calibration.remarks import Reason, Remark, Said, no_interval, remarks_of, told, undefined
from calibration.settings import CalibrationSettings
from calibration.study.joining import Mask, Scale

FEW_CLUSTERS = 20

SAME = 1e-9  # draws that differ by less are one value: ranks summed in another order differ by 1e-16
FEWEST = 5  # clusters; with four there are 35 distinct resamples, and a percentile of them is their range


@dataclass(frozen=True)
class Group:
    """The units that one set of estimates rests on: everything, one criterion, or one category of topics."""

    criteria: tuple[str, ...]
    criterion: str  # "all" when pooled
    category: str  # "all" when pooled
    chosen: Mask  # shape (units,)

    @property
    def single(self) -> bool:
        """A part of the study: below 20 clusters it gets no interval at all."""
        return self.criterion != "all" or self.category != "all"


WHOLE = Group((), "all", "all", np.ones(0, dtype=bool))


@dataclass(frozen=True)
class Pair:
    """Who is compared with whom, on how much, in which group."""

    rater: str
    reference: str
    group: Group
    sizes: Array  # comparisons per cluster, shape (clusters,)
    weights: Array | None = None  # of clusters that were drawn unequally, shape (clusters,)

    def weighed(self, column: Array) -> Array:
        """Sums of clusters, shape (clusters, ...), each times the weight of its cluster."""
        if self.weights is None:
            return column
        return np.asarray(column * self.weights.reshape(-1, *[1] * (np.ndim(column) - 1)))

    @property
    def may_have_interval(self) -> bool:
        """Whether there are clusters enough for one."""
        return len(self.sizes) >= (FEW_CLUSTERS if self.group.single else 2)

    @cached_property
    def n(self) -> int:
        """Comparisons."""
        return round(float(self.sizes.sum()))

    @cached_property
    def clusters(self) -> int:
        """Clusters with at least one comparison."""
        return int((self.sizes > 0).sum())


def share(statistic: str, pair: Pair, agree: Array, settings: CalibrationSettings, said: Said = ()) -> Estimate:
    """A share, `agree` of `pair.sizes` per cluster, with its Wilson interval. `said`: how it was measured."""
    agree, sizes = pair.weighed(agree), pair.weighed(pair.sizes)
    total = float(sizes.sum())
    value = float(agree.sum() / total) if total else math.nan
    low, high = bootstrap.wilson_effective(agree, sizes, settings.level)
    remarks = [*remarks_of(said)]
    refusal = _refusal(pair)
    if not total:
        remarks.append(undefined(Reason.NO_ITEMS))
    elif refusal:
        low = high = math.nan
        remarks.append(refusal)
    elif value in (0.0, 1.0):
        deff = bootstrap.effective_of_sums(agree, sizes, float(agree.sum())).deff
        remarks.append(told(Reason.NO_VARIATION, deff=deff))
    return made(statistic, pair, value, (low, high), "wilson_effective_n", remarks, settings)


def drawn(
    statistic: str,
    pair: Pair,
    value: float,
    draws: Array | None,
    reason: str,
    settings: CalibrationSettings,
    said: Said = (),
    perfect: Callable[[], float] = lambda: math.nan,
) -> Estimate:
    """A bootstrapped statistic. `draws`: shape (resamples,). `reason`: why the value is not shown, or "".

    `said`: how it was measured. `perfect`: gives the lower bound to use where every resample shows perfect agreement.
    Where all resamples are one value there is no interval; where fewer differ than an end leaves out, its ends are the
    value of the others, and one of them `value` where that is a mean. Raises ValueError for a reason not on the list.
    """
    remarks = [*remarks_of(said)]
    interval = math.nan, math.nan
    refusal = _refusal(pair)
    if reason:
        value = math.nan
        remarks.append(undefined(reason))
    elif refusal or draws is None:
        remarks += [refusal] if refusal else []
    elif pair.clusters < FEWEST:
        remarks.append(no_interval(Reason.TOO_FEW_RESAMPLES, clusters=pair.clusters))
    else:
        undefined_percent = 100 * bootstrap.undefined_share(draws)
        interval = bootstrap.expanded_percentile(draws, pair.clusters, settings.level)
        if math.isnan(interval[0]):
            remarks.append(no_interval(Reason.UNDEFINED_RESAMPLES, percent=undefined_percent))
        elif undefined_percent:
            remarks.append(told(Reason.UNDEFINED_RESAMPLES, percent=undefined_percent))
        if interval[1] - interval[0] <= SAME:
            if np.nanmax(draws) - np.nanmin(draws) > SAME:
                interval = min(interval[0], value), max(interval[1], value)
            elif math.isclose(value, 1.0, abs_tol=SAME) and not math.isnan(bound := perfect()):
                interval = bound, value
                remarks.append(told(Reason.PERFECT))
            else:
                interval = math.nan, math.nan
                remarks.append(no_interval(Reason.ZERO_VARIANCE, "every resample gives the same value"))
    return made(statistic, pair, value, interval, "cluster_bootstrap_expanded", remarks, settings)


def made(
    statistic: str,
    pair: Pair,
    value: float,
    interval: tuple[float, float],
    method: str,
    said: Said,
    settings: CalibrationSettings,
) -> Estimate:
    """The estimate; its method is `none` where there is no interval."""
    return Estimate(
        statistic,
        pair.rater,
        pair.reference,
        pair.group.criterion,
        pair.group.category,
        float(value),
        float(interval[0]),
        float(interval[1]),
        settings.level,
        pair.n,
        pair.clusters,
        "none" if math.isnan(interval[0]) else method,
        remarks_of(said),
    )


def _refusal(pair: Pair) -> Remark | None:
    if pair.clusters < 2:
        return no_interval(Reason.TOO_FEW_UNITS)
    if pair.group.single and pair.clusters < FEW_CLUSTERS:
        return no_interval(Reason.TOO_FEW_CLUSTERS, fewest=FEW_CLUSTERS)
    return None


def median_estimate(
    statistic: str, rater: str, values: npt.ArrayLike, clusters: npt.ArrayLike, settings: CalibrationSettings, note: str
) -> Estimate:
    """The median of `values`, shape (rows,), in `clusters`, shape (rows,): of two middle values the lower one.

    nan is left out and counted in the note. Interval: expanded percentile of resampled clusters, from `FEWEST` on.
    Undefined: no values.
    """
    values, clusters = np.asarray(values, float), np.asarray(clusters)
    known = ~np.isnan(values)
    if not known.all():
        note += f"; {int((~known).sum())} of {len(known)} unknown and left out"
    order = np.argsort(values[known], kind="stable")
    ranked = values[known][order]
    code = np.unique(clusters[known][order], return_inverse=True)[1].astype(np.intp)
    pair = Pair(rater, "", WHOLE, columns.tally(code, 0))
    value = float(_medians(np.ones((1, pair.clusters), np.int64), code, ranked)[0]) if len(ranked) else math.nan
    draws = np.zeros(0) if pair.clusters > 1 else None
    if pair.clusters >= FEWEST:
        blocks = bootstrap.cluster_weights(pair.clusters, settings.resamples, settings.seed)
        draws = np.concatenate([_medians(weights, code, ranked) for weights in blocks])
    return drawn(statistic, pair, value, draws, "" if len(ranked) else "no_items", settings, note)


def _medians(weights: npt.NDArray[np.int64], code: columns.Codes, ranked: Array) -> Array:
    """Of each row of cluster weights; the values are in rising order."""
    running = np.cumsum(weights[:, code], axis=1)
    half = (running[:, -1:] + 1) // 2
    return np.asarray(ranked[(running >= half).argmax(axis=1)])


UNCLUSTERED = "unclustered: treats nested labels as independent, which covers 33-86 % where it says 95 %"


def linearised(
    name: str, pair: Pair, table: Array, weights: Array | None, value: float, settings: CalibrationSettings
) -> Iterator[Estimate]:
    """`<name>_linearised` below 20 clusters: Fisher z with t of C - 1, of a kappa of this value.

    `table`: shape (clusters, K, K), and `weights`, as `kappa_se` takes them.
    """
    if pair.clusters >= FEW_CLUSTERS or pair.clusters < 2 or pair.group.single:
        return
    interval = bootstrap.fisher_z_linearised(
        value, kappa_se(pair.weighed(table), weights), pair.clusters, settings.level
    )
    said: list[str | Remark] = ["a second opinion on the bootstrap at few clusters"]
    if math.isnan(interval[0]):
        said.append(no_interval(Reason.ZERO_VARIANCE))
    yield made(f"{name}_linearised", pair, value, interval, "fisher_z_linearised", said, settings)


def kappa_se(table: Array, weights: Array | None = None) -> float:
    """Linearised standard error of kappa, sqrt(C / (C - 1) sum z_c^2), z_c = gradient . counts of cluster c.

    `table`: shape (clusters, K, K); empty clusters are left out. Undefined: fewer than 2 clusters.
    """
    table = table[table.sum(axis=(-2, -1)) > 0]
    count = len(table)
    if count < 2:
        return math.nan
    z = (table * closed_forms.kappa_gradient(table.sum(axis=0), weights)).sum(axis=(-2, -1))
    return float(math.sqrt(count / (count - 1) * (z @ z)))


def kappa_and_se(table: Array, scale: Scale, rule: str) -> tuple[float, float]:
    """The kappa that a choice may rest on, and its linearised standard error. `table`: shape (clusters, K, K).

    Of pairs the symmetrised one, which no naming of A and B can change; of scores by distance the weighted one.
    """
    weights = None
    if scale.kind == "pairwise":
        table = closed_forms.symmetrised(table, columns.SWAP[: table.shape[-1]])
    elif rule in ("linear", "quadratic"):
        size = len(np.asarray(scale.numbers))
        table, weights = table[..., :size, :size], closed_forms.disagreement(size, rule)
    return float(closed_forms.kappa(table.sum(axis=0), weights)), kappa_se(table, weights)


def unclustered(pair: Pair, table: Array, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Agreement and kappa as if every comparison were a cluster. Wilson 1927; Fleiss, Cohen & Everitt 1969."""
    summed = table.sum(axis=0)
    total, level = round(float(summed.sum())), settings.level
    if not total:
        return
    agree = float(closed_forms.diagonal(summed))
    found = scipy.stats.binomtest(round(agree), total).proportion_ci(level, method="wilson")
    wilson = float(found.low), float(found.high)
    share = agree / float(summed.sum())
    yield made("percent_agreement_unclustered", pair, share, wilson, "wilson_unclustered", [UNCLUSTERED], settings)
    value = float(closed_forms.kappa(summed))
    gradient = closed_forms.kappa_gradient(summed)
    se = math.sqrt(float((summed * gradient**2).sum())) if not math.isnan(value) else math.nan
    interval = bootstrap.fisher_z_linearised(value, se, total, level)
    said = [*remarks_of(UNCLUSTERED), *[no_interval(Reason.ZERO_VARIANCE, "no spread")] * math.isnan(interval[0])]
    yield made("cohen_kappa_unclustered", pair, value, interval, "fisher_z_unclustered", said, settings)
