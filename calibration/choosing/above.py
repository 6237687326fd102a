"""Is there agreement to speak of: do people, and does a judge, agree more than the best constant answer?

Where people hardly agree among themselves, a judge that agrees as they do has shown little. A floor may be stated
beforehand instead of the constant answer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.tails import Student
from calibration.choosing.noninferiority import ComparisonPlan
from calibration.inference.bootstrap import fisher_z_linearised, se_of_sums
from calibration.inference.compare import cluster_sums, holm
from calibration.inference.deciding import Needed, at_least, clusters_needed
from calibration.inference.gap_test import NonInferiority, Rows, Rule, adjusted, gaps_tested
from calibration.settings import CalibrationSettings
from calibration.study.bounding import Group, kappa_and_se
from calibration.study.crossing import comparison_of_people
from calibration.study.joining import MANY_LABELS, Mask, Scale, Study
from calibration.study.label_scores import LabelScores, constant_judge, scores_of
from calibration.study.left_out import left_out_scores, ties_rule

Place = Literal["above", "below", "cannot_tell"]


@dataclass(frozen=True)
class Above:
    """One judge of several: whether what it reaches is above `bound`, by a one-sided test over whole clusters.

    `lower` and `upper` are one-sided bounds of value - bound, each at the level and unadjusted; `outcome` follows
    `p_adjusted`, over all judges tried, and `upper`. All are nan where `note` says why; with too few clusters for the
    plan it says that, and nothing is decided.
    """

    judge: str
    value: float
    bound: float
    lower: float
    upper: float
    p: float  # of a value that is at most the bound
    p_adjusted: float
    outcome: Place
    n: int
    clusters: int
    needed: Needed | None = None  # beside `cannot_tell`, where a number is known
    note: str = ""
    can_be_shown: bool = True  # at this look: False where no p of the test would be small enough


def above_constant(
    scores: LabelScores, constant: Mapping[str, Array], plan: ComparisonPlan, resamples: int, seed: int
) -> tuple[Above, ...]:
    """Each judge against the best constant answer on the same labels.

    `constant`: judge to what the constant answer scores, shape (labels,), nan where it has none. A judge that scores as
    the constant answer does on every label is `below`: it has shown no reading at all.
    """
    found = []
    for one in _tested(scores, constant, plan, resamples, seed):
        own, other = scores.judges[one.judge], constant[one.judge]
        known = ~np.isnan(own)
        same = one.clusters > 1 and np.array_equal(own[known], other[known])
        found.append(replace(one, outcome="below") if same else one)
    return tuple(found)


def above_floor(
    scores: LabelScores, plan: ComparisonPlan, floor: float, resamples: int, seed: int
) -> tuple[Above, ...]:
    """Each judge's agreement against a floor that was stated before anyone looked; 0 < `floor` < 1."""
    bounds = {name: np.where(np.isnan(own), math.nan, floor) for name, own in scores.judges.items()}
    return tuple(
        replace(one, bound=floor, needed=_needed(scores, one, plan))
        for one in _tested(scores, bounds, plan, resamples, seed)
    )


def _tested(
    scores: LabelScores, bounds: Mapping[str, Array], plan: ComparisonPlan, resamples: int, seed: int
) -> list[Above]:
    """The test of the gap at a margin of 0, all judges on the resamples that they share."""
    rows = [
        Rows(bounds[name] - own, scores.clusters, scores.units, shares=True, weight=scores.weight)
        for name, own in scores.judges.items()
    ]
    tests = gaps_tested(rows, Rule(0.0, plan.level, plan.min_clusters, resamples, seed))
    return [
        _of_test(name, (scores.judges[name], bounds[name], scores.weight), test, float(p), plan)
        for name, test, p in zip(scores.judges, tests, adjusted(tests, plan.gone), strict=True)
    ]


def _of_test(
    judge: str, scores: tuple[Array, Array, Array | None], test: NonInferiority, p_adjusted: float, plan: ComparisonPlan
) -> Above:
    own, bound, weight = scores
    known = ~np.isnan(own) & ~np.isnan(bound)
    value, reached = (_mean(side, known, weight) for side in (own, bound))
    seen, none = test.difference, math.isnan(test.p)
    lower, upper, p, p_adjusted = (math.nan,) * 4 if none else (-test.upper, -test.lower, test.p, p_adjusted)
    note = seen.note if none else test.reason
    made = Above(judge, value, reached, lower, upper, p, p_adjusted, "cannot_tell", seen.n, seen.clusters, None, note)
    return replace(made, outcome=_place(made, plan))


def _mean(values: Array, known: Mask, weight: Array | None) -> float:
    if not known.any():
        return math.nan
    return float(values[known].mean() if weight is None else np.average(values[known], weights=weight[known]))


def _place(above: Above, plan: ComparisonPlan) -> Place:
    if above.note:
        return "cannot_tell"
    return "above" if above.p_adjusted < 1 - plan.level else "below" if above.upper < 0 else "cannot_tell"


def kappa_above_floor(
    kappas: Sequence[tuple[str, float, float, int, int]], plan: ComparisonPlan, floor: float
) -> tuple[Above, ...]:
    """Each judge's kappa against a floor, by Fisher's z of the kappa with its linearised standard error over clusters.

    `kappas`: judge, kappa, standard error, labels, clusters; t with C - 1 degrees of freedom, Holm over the judges.
    Undefined: fewer than 2 clusters, no spread between them, a kappa of 1 or -1 or without a value; `cannot_tell` too
    below the plan's fewest clusters.
    """
    each = [_of_kappa(*kappa, floor, plan.level) for kappa in kappas]
    adjusted_p = holm([one.p for one in each], plan.gone)
    out = []
    for one, p in zip(each, adjusted_p, strict=True):
        few = "too_few_clusters" if one.clusters < plan.min_clusters else ""
        made = replace(one, p_adjusted=math.nan if math.isnan(p) else float(p), note=one.note or few)
        out.append(replace(made, outcome=_place(made, plan)))
    return tuple(out)


def _of_kappa(judge: str, kappa: float, se: float, n: int, clusters: int, floor: float, level: float) -> Above:
    if clusters < 2 or not se > 0 or not abs(kappa) < 1:
        nan = math.nan
        reason = "too_few_units" if clusters < 2 else "zero_variance"
        return Above(judge, kappa, floor, nan, nan, nan, nan, "cannot_tell", n, clusters, None, reason)
    z, spread = math.atanh(kappa), se / (1 - kappa * kappa)
    half = float(Student.ppf(level, clusters - 1)) * spread
    p = float(Student.sf((z - math.atanh(floor)) / spread, clusters - 1))
    lower, upper = math.tanh(z - half) - floor, math.tanh(z + half) - floor
    return Above(judge, kappa, floor, lower, upper, p, math.nan, "cannot_tell", n, clusters)


def _needed(scores: LabelScores, above: Above, plan: ComparisonPlan) -> Needed | None:
    """Clusters that would show the excess seen, which must be above 0."""
    own, excess = scores.judges[above.judge], above.value - above.bound
    if above.outcome != "cannot_tell" or math.isnan(above.p):
        return None
    if not excess > 0:
        sums, sizes = cluster_sums(own, scores.clusters)
        return Needed(None, None, excess, se_of_sums(sums, sizes) * math.sqrt(len(sizes)), "gap_reaches_margin")
    even = [np.where(np.isnan(own), math.nan, above.value)]
    found = clusters_needed(own, even, scores.clusters, excess, plan.level, plan.power, scores.units, scores.weight)
    return at_least(found, plan.min_clusters)


CHANCE = 0.2  # a kappa among people whose interval reaches down to this is hardly more than chance


@dataclass(frozen=True)
class AmongPeople:
    """A left-out annotator's agreement with the others, what the best constant answer reaches there, and kappa.

    `kappa` is weighted as distances are; it and its bounds are nan where no table of labels can be made.
    """

    agreement: float
    constant: float
    kappa: float
    low: float
    high: float
    margin: float

    @property
    def hardly(self) -> bool:
        """They beat the best constant answer by less than the margin, or their kappa may be .2 or less."""
        return self.agreement - self.constant < self.margin or self.low <= CHANCE


def among_people(study: Study, group: Group, scale: Scale, settings: CalibrationSettings) -> AmongPeople | None:
    """Of all units that two annotators answered; None without any."""
    rows = left_out_scores(study, group, scale, None, settings)
    if not len(rows.human):
        return None
    rule = ties_rule(scale, settings)
    constant = _constant(study, group, scale, rule)
    kappa, low, high = math.nan, math.nan, math.nan
    if len(scale.labels) <= MANY_LABELS:
        kappa, low, high = _kappa(study, group, scale, rule, settings.level)
    agreement = _mean(rows.human, ~np.isnan(rows.human), rows.weight)
    return AmongPeople(agreement, constant, kappa, low, high, settings.margin)


def _constant(study: Study, group: Group, scale: Scale, rule: str) -> float:
    """What the best constant answer earns with each annotator's label where a second annotator answered."""
    answered = sum(
        (study.among(annotator.unit).astype(int) for annotator in study.annotators), np.zeros(study.units, int)
    )
    unit = np.flatnonzero((answered > 1) & group.chosen).astype(np.intp)
    scores = scores_of(study, constant_judge(study, unit, scale, rule), rule, scale)
    given = np.concatenate([unit[:0], *(annotator.by_unit[0] for annotator in study.annotators)])
    return _mean(scores, ~np.isnan(scores), study.weight_of(study.unit_cluster[given]))


def _kappa(study: Study, group: Group, scale: Scale, rule: str, level: float) -> tuple[float, float, float]:
    people = comparison_of_people(study, scale, group.chosen)
    if people is None:
        return math.nan, math.nan, math.nan
    table = people.table / people.scale
    if study.drawn is not None:
        table = table * study.drawn[:, None, None]
    value, se = kappa_and_se(table, scale, rule)
    if math.isnan(value):
        return math.nan, math.nan, math.nan
    clusters = int((table.sum(axis=(-2, -1)) > 0).sum())
    return value, *fisher_z_linearised(value, se, clusters, level)
