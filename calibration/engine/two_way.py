"""Intervals for other pairs and other annotators than these: both were drawn, and both make an estimate uncertain.

Over pairs alone an interval says how the same annotators would have judged other pairs. It covers 29-41 % of the time
where annotators differ and the question is how a judge agrees with such people.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import stats

from calibration.ceiling import FIXED_PANEL
from calibration.engine.bounding import FEW_CLUSTERS, Group
from calibration.engine.closed_forms import Array, diagonal
from calibration.engine.crossing import cross, votes
from calibration.engine.joining import Answers, Scale, Study, scale_of
from calibration.estimates import Estimate
from calibration.people.left_out import left_out_scores
from calibration.reading.columns import tally
from calibration.settings import CalibrationSettings

FEWEST = 3  # annotators: the spread between two has one degree of freedom
WIDENED = (("percent_agreement", "each_annotator"), ("gap_to_ceiling", "others"))
PEOPLE = ("each_annotator", "others", "majority", "people")


@dataclass(frozen=True)
class TwoWay:
    """A mean with its two-way interval, and the three variances it is made of. nan where `note` says why."""

    value: float
    low: float
    high: float
    over_pairs: float
    over_annotators: float
    over_cells: float  # one annotator in one cluster: what the two above both count
    clusters: int
    annotators: int
    note: str = ""

    @property
    def variance(self) -> float:
        """V_pairs + V_annotators - V_cells, but never below either of the first two."""
        both = self.over_pairs + self.over_annotators - self.over_cells
        return max(both, self.over_pairs, self.over_annotators)


def two_way(
    sums: npt.ArrayLike, sizes: npt.ArrayLike, lost: npt.ArrayLike, lost_sizes: npt.ArrayLike, level: float = 0.95
) -> TwoWay:
    """sum(sums) / sum(sizes), and its interval: t of min(C, A) - 1. Cameron, Gelbach & Miller 2011.

    `sums`, `sizes`: scores and their number in each cluster, shape (clusters,). `lost`, `lost_sizes`: what goes from
    each cluster when one annotator is deleted, shape (clusters, annotators): that annotator's own scores, and where the
    others were scored against that annotator also what they change by. Undefined: nothing scored, `no_items`; without
    interval: 2 annotators or fewer, `two_annotators`; one cluster, `too_few_units`; no spread, `zero_variance`.
    """
    sums, sizes, lost, lost_sizes = (np.asarray(one, float) for one in (sums, sizes, lost, lost_sizes))
    n, nan = float(sizes.sum()), math.nan
    moved = (lost != 0) | (lost_sizes != 0)
    clusters, people = int((sizes > 0).sum()), int(moved.any(axis=0).sum())
    if not n:
        return TwoWay(nan, nan, nan, nan, nan, nan, clusters, people, "no_items")
    value = float(sums.sum() / n)
    if people < FEWEST or clusters < 2:
        why = "two_annotators" if people < FEWEST else "too_few_units"
        return TwoWay(value, nan, nan, nan, nan, nan, clusters, people, why)
    influence = (lost - value * lost_sizes) / n
    over_pairs = _variance((sums - value * sizes) / n, clusters)
    over_annotators, over_cells = (
        _variance(influence.sum(axis=0), people),
        _variance(influence[moved], int(moved.sum())),
    )
    found = TwoWay(value, nan, nan, over_pairs, over_annotators, over_cells, clusters, people)
    if found.variance <= (1e-12 * max(1.0, abs(value))) ** 2:  # rounding of equal means is no spread
        return replace(found, note="zero_variance")
    half = float(stats.t.ppf((1 + level) / 2, min(clusters, people) - 1)) * math.sqrt(found.variance)
    return replace(found, low=value - half, high=value + half)


def agreement_two_way(
    study: Study, group: Group, scale: Scale, judge: Answers, settings: CalibrationSettings
) -> TwoWay:
    """`percent_agreement` of a judge with each annotator: every annotator's label stands for itself."""
    clusters = study.unit_cluster, len(study.clusters)
    agree, sizes = [], []
    for one in study.annotators:
        table = cross(judge, votes([one], scale, study.units, one.scale), scale, group.chosen, *clusters)
        table = table / (judge.scale * one.scale)
        agree.append(diagonal(table))
        sizes.append(table.sum(axis=(-2, -1)))
    lost, lost_sizes = np.stack(agree, axis=1), np.stack(sizes, axis=1)
    return two_way(lost.sum(axis=1), lost_sizes.sum(axis=1), lost, lost_sizes, settings.level)


def gap_two_way(study: Study, group: Group, scale: Scale, judge: Answers, settings: CalibrationSettings) -> TwoWay:
    """Left-out annotator minus judge. An annotator is left out once and a reference for all others: deletion counts
    both."""

    def gaps(people: Sequence[Answers]) -> tuple[Array, Array]:
        rows = left_out_scores(replace(study, annotators=tuple(people)), group, scale, judge, settings)
        clusters = len(study.clusters)
        return tally(rows.cluster, clusters, rows.human - rows.judge), tally(rows.cluster, clusters)

    sums, sizes = gaps(study.annotators)
    without = [gaps([other for other in study.annotators if other is not one]) for one in study.annotators]
    lost, lost_sizes = (np.stack([one[side] for one in without], axis=1) for side in (0, 1))
    return two_way(sums, sizes, sums[:, None] - lost, sizes[:, None] - lost_sizes, settings.level)


def over_annotators(
    study: Study, groups: Sequence[Group], estimates: Sequence[Estimate], settings: CalibrationSettings
) -> Iterator[Estimate]:
    """The estimates of a report with `generalise_to` pairs_and_annotators, in their order, values unchanged.

    Each judge's `percent_agreement` with each_annotator and its `gap_to_ceiling` get the interval `two_way_t`; what
    else rests on annotators keeps its own and says that the panel is fixed.
    """
    by_name = {(one.criterion, one.category): one for one in groups}
    judges = {one.rater: one for one in study.judges}
    people = {*PEOPLE, *(one.rater for one in study.annotators)}
    for one in estimates:
        group, judge = by_name.get((one.criterion, one.category)), judges.get(one.rater)
        if (one.statistic, one.reference) in WIDENED and group and judge and one.n:
            yield _widened(one, group, _found(study, group, judge, one.statistic, settings))
        elif (
            (people & {one.rater, one.reference} or one.statistic == "agreement_difference")
            and one.method != "none"
            and FIXED_PANEL not in one.note
        ):
            yield replace(one, note="; ".join(filter(None, [one.note, FIXED_PANEL])))
        else:
            yield one


def _found(study: Study, group: Group, judge: Answers, statistic: str, settings: CalibrationSettings) -> TwoWay:
    scale = scale_of(study, group.criteria, settings)
    assert scale is not None  # the group has an estimate
    form = gap_two_way if statistic == "gap_to_ceiling" else agreement_two_way
    return form(study, group, scale, judge, settings)


def _widened(one: Estimate, group: Group, found: TwoWay) -> Estimate:
    low, high = found.low, found.high
    if one.statistic == "percent_agreement":
        low, high = map(float, np.clip([low, high], 0, 1))
    told = f"over pairs and over annotators, of whom these {found.annotators} are a sample"
    if found.note == "two_annotators":
        told = f"no interval: {found.annotators} annotators are too few to speak for others, {FEWEST} are needed"
    elif found.note:
        told = f"no interval: {found.note}"
    elif group.single and found.clusters < FEW_CLUSTERS:
        low, high, told = math.nan, math.nan, f"no interval: too few pairs, fewer than {FEW_CLUSTERS} clusters"
    replaced = FIXED_PANEL, "no interval", "no variation"
    kept = [part for part in one.note.split("; ") if part and not part.startswith(replaced)]
    method = "none" if math.isnan(low) else "two_way_t"
    return replace(one, low=low, high=high, method=method, note="; ".join([*kept, told]))


def _variance(influence: Array, count: int) -> float:
    return float(count / (count - 1) * (influence @ influence)) if count > 1 else 0.0
