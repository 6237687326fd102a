"""What each judge that was tried has to show: agreement, a constant answer's agreement, gap, usable answers, price."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from calibration.biases.answering import WHOLE, per_item, raters
from calibration.bootstrap import se_of_sums
from calibration.choosing.choice import Candidate
from calibration.choosing.constant_baseline import constant_baseline
from calibration.choosing.label_scores import LabelScores, label_scores
from calibration.choosing.noninferiority import Claim, ComparisonPlan, against_best, against_ceiling
from calibration.choosing.simultaneous import max_t_band
from calibration.compare import cluster_sums
from calibration.engine.bounding import Group, Pair, made
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.counted import cluster_word
from calibration.engine.joining import Mask, Scale, Study
from calibration.errors import CalibrationError
from calibration.estimates import Estimate
from calibration.people.left_out import SUFFIX, LeftOutScores, left_out_scores, ties_rule
from calibration.reading.columns import tally
from calibration.settings import CalibrationSettings


@dataclass(frozen=True)
class Price:
    """USD and seconds per item, every row billed, nan where unknown; `valid_share`: usable answers of all rows."""

    cost: float
    seconds: float
    valid_share: float


@dataclass(frozen=True)
class Tried:
    """The judges tried, by name, with all that is known of them before anything is resampled.

    `beside`: each with the left-out annotator; empty where no unit has two annotators.
    """

    plan: ComparisonPlan
    scores: LabelScores
    beside: Mapping[str, LeftOutScores]
    baseline: Mapping[str, float]
    prices: Mapping[str, Price]

    def without(self, judges: Collection[str]) -> Tried:
        """As if these judges had never been tried."""
        kept = tuple(name for name in self.plan.judges if name not in judges)
        scores = LabelScores({name: self.scores.judges[name] for name in kept}, self.scores.clusters)
        return replace(self, plan=replace(self.plan, judges=kept), scores=scores,
                       beside={name: self.beside[name] for name in kept if name in self.beside})  # fmt: skip


def prices_of(study: Study, settings: CalibrationSettings) -> dict[str, Price]:
    """Of each judge of the study."""
    found, judges = {}, [one.rater for one in study.judges]
    for name, rows in raters(study):
        if name in judges:
            answered = {one.statistic: one.value for one in per_item(name, rows, settings)}
            cost, seconds = (answered.get(f"{one}_per_item", math.nan) for one in ("cost", "seconds"))
            found[name] = Price(cost, seconds, float((rows["status"] == "ok").mean()))
    return {name: found[name] for name in judges}


def tried(
    study: Study, group: Group, scale: Scale, prices: Mapping[str, Price], settings: CalibrationSettings
) -> Tried:
    """All judges of the study: against the ceiling where any unit has two annotators, else against the best other."""
    has_ceiling = bool(len(left_out_scores(study, group, scale, None, settings).human))
    ties = ties_rule(scale, settings)
    plan = ComparisonPlan(
        tuple(one.rater for one in study.judges), study.criteria, settings.margin,
        "ceiling" if has_ceiling else "best_judge", settings.level, ties=ties, not_applicable=settings.not_applicable,
        references=settings.references, cluster=cluster_word(study.frame),
    )  # fmt: skip
    beside = {
        one.rater: left_out_scores(study, group, scale, one, settings, True) for one in study.judges if has_ceiling
    }
    units = {one.rater: np.union1d(one.unit, one.unreadable).astype(np.intp) for one in study.judges}
    baseline = {name: constant_baseline(study, unit[group.chosen[unit]], scale, ties) for name, unit in units.items()}
    return Tried(plan, label_scores(study, ties, missing_as_wrong=True), beside, baseline, prices)


def candidates_of(found: Tried, settings: CalibrationSettings, told: bool = True) -> list[Candidate]:
    """The candidates, cheapest first. `told`: with the band of their agreements, and what would decide open claims."""
    plan, scores = found.plan, found.scores
    if plan.against == "ceiling":
        tested = against_ceiling(found.beside, plan, told)
    else:
        tested = against_best(scores.judges, scores.clusters, plan, told)
    claims: dict[str, Claim] = {one.judge: one for one in tested}
    statistic = f"percent_agreement{SUFFIX[plan.ties]}_missing_as_wrong"
    if told:
        band = max_t_band(scores.judges, scores.clusters, settings.level, settings.resamples, settings.seed, statistic)
        # the band is symmetric and may pass the ends of a share; nan stays nan
        each = tuple(replace(one, low=max(one.low, 0.0), high=min(one.high, 1.0)) for one in band)
    else:
        each = _without_interval(scores, statistic, settings)
    costs = [found.prices[name].cost for name in plan.judges]
    frontier = cost_agreement_frontier(costs, [one.value for one in each])
    candidates = []
    for name, agreement, on_frontier in zip(plan.judges, each, frontier, strict=True):
        price, baseline = found.prices[name], found.baseline[name]
        se = _standard_error(scores, name)
        beats = agreement.value > baseline + se
        # to the last digit a constant answer itself; by chance alone a judge comes out below one too
        below = math.isclose(agreement.value, baseline, abs_tol=1e-12) or agreement.value < baseline - se
        candidates.append(
            Candidate(
                name, agreement, baseline, beats, claims.get(name), price.valid_share, price.cost, price.seconds,
                bool(on_frontier), "", below and agreement.clusters > 1,
            )
        )  # fmt: skip
    return sorted(candidates, key=by_cost)


def cost_agreement_frontier(cost: npt.ArrayLike, agreement: npt.ArrayLike) -> Mask:
    """Which judges are on the frontier: no other costs no more and agrees no less, one of the two strictly.

    `cost`, `agreement`: shape (judges,); so is the result. Judges equal in both stand together; one with a nan is not
    on it and keeps nobody off. Raises `misaligned`.
    """
    price, agreed = np.asarray(cost, float), np.asarray(agreement, float)
    if price.ndim != 1 or price.shape != agreed.shape:
        raise CalibrationError("misaligned", f"costs have shape {price.shape} and agreements {agreed.shape}")
    price, agreed = _steady(price), _steady(agreed)
    dominates = (price[:, None] <= price) & (agreed[:, None] >= agreed)
    dominates &= (price[:, None] < price) | (agreed[:, None] > agreed)
    return np.asarray(~np.isnan(price + agreed) & ~dominates.any(axis=0))


def by_cost(one: Candidate) -> tuple[bool, float, float, str]:
    """What candidates are sorted by: known costs first, the cheaper, the one that agrees more, the name."""
    cost, agreed = (float(_steady(np.array(value))) for value in (one.cost_per_item, one.agreement.value))
    return math.isnan(cost), 0.0 if math.isnan(cost) else cost, 0.0 if math.isnan(agreed) else -agreed, one.judge


def _without_interval(scores: LabelScores, statistic: str, settings: CalibrationSettings) -> tuple[Estimate, ...]:
    """The agreements of the band, summed as it sums them, so that no last digit differs; and nothing resampled."""
    names, count = list(scores.judges), int(scores.clusters.max(initial=-1)) + 1
    if not names:
        return ()
    known = [~np.isnan(scores.judges[name]) for name in names]
    held = list(zip(names, known, strict=True))
    sizes = np.stack([tally(scores.clusters[own], count) for own in known], axis=-1)
    totals = np.stack([tally(scores.clusters[own], count, scores.judges[name][own]) for name, own in held], axis=-1)
    values = ratio(totals.sum(axis=0), sizes.sum(axis=0))
    none, notes = (math.nan, math.nan), ["no interval: nobody asked for one"]
    return tuple(
        made(statistic, Pair(name, "each_annotator", WHOLE, sizes[:, at]), values[at], none, "none", notes, settings)
        for at, name in enumerate(names)
    )


def _standard_error(scores: LabelScores, judge: str) -> float:
    """Clustered, of the agreement; 0 where one cluster knows none, as the caution `baseline_not_beaten` has it."""
    se = se_of_sums(*cluster_sums(scores.judges[judge], scores.clusters))
    return 0.0 if math.isnan(se) else se


def _steady(values: Array) -> Array:
    """To twelve digits: costs that were summed in another order are the same cost."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.abs(values))) - 11)
    return np.where(values == 0, 0.0, np.round(values / np.where(values == 0, 1.0, unit)) * unit)
