"""Pass rates of systems: by people, by a judge, and by the judge without its errors, in two ways.

Rogan & Gladen 1978 take the judge's rates of right answers, found where people labelled, for its rates everywhere;
prediction-powered inference (Angelopoulos, Duchi & Zrnic 2023) takes its mean error there. Every cluster counts once.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from calibration.agreement.detection import Positive, confusions, positive_of
from calibration.arithmetic import metrics
from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import Codes, tally
from calibration.estimates import Estimate
from calibration.inference.bootstrap import resample
from calibration.remarks import Reason, no_interval, told
from calibration.settings import CalibrationSettings
from calibration.study import bias, crossing
from calibration.study.bounding import Group, Pair, drawn, share
from calibration.study.joining import Answers, Mask, Scale, Study, scale_of
from calibration.systems.corrected import ClusterMeans, corrected_estimate, corrected_mean
from calibration.table.verdicts import SYSTEM_PAIR

PASS_RATE, CORRECTED, ROGAN_GLADEN = "pass_rate", "judge_corrected_pass_rate", "rogan_gladen_pass_rate"
ONCE = "each cluster counts once"
ASSUMED = "the judge is taken to err alike on every system, labelled or not, and people's labels to be true"


@dataclass(frozen=True)
class Places:
    """The units of one group by system, and the systems; the first of them is all together."""

    group: Group
    systems: tuple[str, ...]
    cells: tuple[Mask, ...]  # which units are of each system, shape (units,) each
    cluster: Codes
    clusters: int

    def rates(self, score: Array) -> Array:
        """Mean score of each system in each cluster, shape (clusters, systems), nan where it has none."""
        return ratio(*self.sums(score))

    def sums(self, score: Array) -> tuple[Array, Array]:
        """Sum and number of the known scores, shape (clusters, systems) each."""
        known = [cell & ~np.isnan(score) for cell in self.cells]
        total = [tally(self.cluster[rows], self.clusters, score[rows]) for rows in known]
        return np.stack(total, axis=-1), np.stack([tally(self.cluster[rows], self.clusters) for rows in known], axis=-1)


def pass_rate_estimates(study: Study, groups: list[Group], settings: CalibrationSettings) -> Iterator[Estimate]:
    """Of everything, and of each system that is named: what share passes, by people, by each judge, and corrected.

    Pooled over criteria that share a scale, else of each criterion. Nothing where no answer is known to pass.
    """
    for group in groups:
        scale = scale_of(study, group.criteria, settings) if group.category == "all" else None
        positive = None if scale is None else positive_of(study, group.criteria, scale, settings)
        if scale is not None and positive is not None and positive.chosen:
            yield from _of_group(study, group, scale, positive, settings)
            if group.criterion == "all":
                return


def rogan_gladen(passed: Array, table: Array) -> Array:
    """(p + TNR - 1) / (TPR + TNR - 1), unbounded. `passed`: what passes by the judge, shape (..., systems); `table`:

    shape (..., 2, 2), the judge's answers by the people's. Undefined where the judge is no better than chance, TPR +
    TNR <= 1, or people never say one of the two. Rogan & Gladen 1978.
    """
    informed = metrics.youden(table)[..., None]
    wrongly = 1 - metrics.of_negatives(table)[..., None]
    return ratio(passed - wrongly, np.where(informed > 0, informed, np.nan))


def _of_group(
    study: Study, group: Group, scale: Scale, positive: Positive, settings: CalibrationSettings
) -> Iterator[Estimate]:
    places = _places(study, group)
    people, _ = crossing.people_votes(study, scale)
    human = np.where(group.chosen, _passed(people, positive), np.nan)
    if study.annotators:
        yield from _plain(bias.EVERYONE, places, human, settings)
    tables = {
        confusion.rater: confusion.table / confusion.scale
        for confusion in confusions(positive, crossing.comparisons(study, scale, group.chosen))
    }
    for judge in study.judges:
        score = _passed(crossing.votes([judge], scale, study.units, judge.scale), positive)
        score = np.where(group.chosen, score, np.nan)
        yield from _plain(judge.rater, places, score, settings)
        if judge.rater in tables:
            yield from _rogan_gladen(judge, places, score, tables[judge.rater], settings)
            yield from _corrected(study, judge, places, score, human, settings)


def _places(study: Study, group: Group) -> Places:
    """A system is that of a unit that names one and no more."""
    first = np.unique(study.frame["unit"].to_numpy(), return_index=True)[1]
    rows = study.frame[["system_a", "system_b"]].iloc[first]
    named = np.where((rows["system_b"] == "").to_numpy(), rows["system_a"].astype("str").to_numpy(), "")
    systems = sorted({*map(str, named[group.chosen])} - {""})
    cells = (group.chosen, *(group.chosen & (named == name) for name in systems))
    return Places(group, ("", *systems), cells, study.unit_cluster, len(study.clusters))


def _passed(given: Array, positive: Positive) -> Array:
    """The share of a unit's votes that pass, shape (units,); nan without any."""
    passed = given[:, positive.place]
    return ratio(passed, passed + given[:, positive.others].sum(axis=1))


def _plain(rater: str, places: Places, score: Array, settings: CalibrationSettings) -> Iterator[Estimate]:
    means, (_, sizes) = places.rates(score), places.sums(score)
    for place in range(len(places.systems)):
        held = sizes[:, place] > 0
        size = float(sizes[:, place].sum() / max(1, held.sum()))  # each cluster is given the mean number of answers
        pair = Pair(rater, "", places.group, np.where(held, size, 0.0))
        found = share(PASS_RATE, pair, np.nan_to_num(means[:, place]) * size, settings, ONCE)
        yield _of(places, place, found)


def _rogan_gladen(
    judge: Answers, places: Places, score: Array, table: Array, settings: CalibrationSettings
) -> Iterator[Estimate]:
    """Resampled together: what passes by the judge, and how often it is right, lie in the same clusters."""
    means, (_, sizes) = places.rates(score), places.sums(score)
    known, wide = ~np.isnan(means), len(places.systems)
    sums = np.concatenate([np.nan_to_num(means), known, table.reshape(len(table), 4)], axis=1)

    def statistic(summed: Array) -> Array:
        passed = ratio(summed[:, :wide], summed[:, wide : 2 * wide])
        return rogan_gladen(passed, summed[:, 2 * wide :].reshape(-1, 2, 2))

    value, draws = statistic(sums.sum(axis=0)[None])[0], resample(sums, statistic, settings.resamples, settings.seed)
    summed = table.sum(axis=0)
    right = f"TPR {metrics.of_positives(summed):.3f}, TNR {metrics.of_negatives(summed):.3f}"
    note = f"{right} from {round(float(summed.sum())):,} comparisons; {ASSUMED}"
    reason = metrics.why_no_rate("youden_j", summed) or ("" if metrics.youden(summed) > 0 else "uninformative")
    labelled = Pair(judge.rater, "people", places.group, table.sum(axis=(1, 2)))
    for place in range(wide):
        pair = Pair(judge.rater, "people", places.group, sizes[:, place])
        fewer = min((pair, labelled), key=lambda one: one.clusters)  # what the interval rests on
        why = reason if known[:, place].any() else "no_items"
        found = drawn(ROGAN_GLADEN, fewer, float(value[place]), draws[:, place], why, settings, note)
        yield _of(places, place, replace(_within(found), n=pair.n, clusters=pair.clusters))


def _within(found: Estimate) -> Estimate:
    """A share: value and bounds cut at 0 and 1, and told."""
    value, low, high = (min(1.0, max(0.0, end)) if end == end else end for end in (found.value, found.low, found.high))
    remarks = list(found.remarks)
    if value != found.value and not math.isnan(value):
        remarks.append(told(Reason.CUT, before=found.value, value=value))
    if low == high:
        remarks.append(no_interval(Reason.OUTSIDE))
        return replace(found, value=value, low=math.nan, high=math.nan, method="none", remarks=tuple(remarks))
    return replace(found, value=value, low=low, high=high, remarks=tuple(remarks))


def _corrected(
    study: Study, judge: Answers, places: Places, score: Array, human: Array, settings: CalibrationSettings
) -> Iterator[Estimate]:
    """As `judge_corrected_win_rates` with `joint`: units that people were asked and did not answer are left out."""
    asked = study.among(np.concatenate([np.zeros(0, np.intp), *(annotator.asked for annotator in study.annotators)]))
    labelled, rest = ~np.isnan(human) & ~np.isnan(score), np.isnan(human) & ~asked & ~np.isnan(score)
    (h, of), (g, _), (more, others) = (
        places.sums(np.where(rows, values, np.nan))
        for rows, values in ((labelled, human), (labelled, score), (rest, score))
    )
    for place in range(len(places.systems)):
        n, m = of[:, place], others[:, place]
        both = int(((n > 0) & (m > 0)).sum())
        reference = ratio(more[:, place], m)
        if both:
            reference = ratio(g[:, place] + more[:, place], n + m)
        means = ClusterMeans(ratio(h[:, place], n), ratio(g[:, place], n), reference, n + m, both)
        found = corrected_estimate(judge.rater, means, corrected_mean(means, "joint"), "", settings, CORRECTED)
        yield _of(places, place, replace(found, criterion=places.group.criterion))


def _of(places: Places, place: int, found: Estimate) -> Estimate:
    return replace(found, category=f"{SYSTEM_PAIR}{places.systems[place]}" if place else "all")
