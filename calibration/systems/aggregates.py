"""What studies print of every system, by people and by each judge: the rules of a protocol's `aggregate` at work.

The value of a system is the mean over clusters (topics) of its reports' mean value there, so that a topic with many
probes counts as one topic. Annotators' answers to one question are averaged first. Each rule:

win_rate: win score (1, .5, 0) of pairs. share: of a report's probes, those answered with one of `labels`. mean: of
what a probe's answers count, or of a report's ratings. weighted_mean: of its ratings by the weights of the criteria.
target_share: t / (t + r) of the two weighted means of one view. majority: share of probes whose most frequent answer,
of a judge's runs or the annotators, is one of `labels`; where two are equally frequent there is none. `by` tag: the
mean of a report's tags. `several`: a claim before several sources counts once. not_applicable, and answers that are
no answers, enter nothing; a rated report without one of its scores is left out, and so is one with an empty tag.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibration.bias import EVERYONE
from calibration.biases.answers_by_status import NAMELESS, answers_by_status
from calibration.compare import paired_difference
from calibration.engine.bounding import Pair, drawn, made, share
from calibration.engine.closed_forms import Array
from calibration.engine.joining import Mask, Study
from calibration.engine.unit_scores import Rows, Scored, scores_by
from calibration.estimates import Estimate
from calibration.settings import Aggregate, CalibrationSettings
from calibration.systems.report_values import Rates, rates_of, tree_of
from calibration.systems.system_orders import order_estimates
from calibration.systems.win_rates import rate_draws
from calibration.systems.win_scores import WHOLE, cluster_rates, units_of, win_scores, win_sums
from calibration.verdicts import BOTH_ORDERS, SYSTEM_PAIR

AGGREGATE, DIFFERENCE = "aggregate", "aggregate_difference"
SHARES = ("share", "majority", "win_rate")  # means of answers that count or do not: a Wilson interval

NO_DIFFERENCE = {
    "": "",
    "no_items": "no_items: nothing to compare",
    "too_few_units": "no interval: fewer than 2 clusters",
    "zero_variance": "no interval: every cluster has the same difference",
}


@dataclass(frozen=True)
class Measure:
    """One aggregate over one study: `scored` gives a rater's scores of units, `rates` what systems make of them."""

    about: Aggregate
    systems: tuple[str, ...]
    wanted: Mask  # units, shape (units,)
    scored: Callable[[str], Scored]
    rates: Callable[[Array], Rates]
    merged: int = 0  # probes that stand with others for one claim


def aggregate_estimates(
    study: Study, settings: CalibrationSettings
) -> tuple[tuple[Estimate, ...], list[dict[str, Any]]]:
    """Of every aggregate: each system by people and by each judge; judges minus people, and how alike their orders are.

    `criterion` is the aggregate's name, `category` `systems: X`. With them, for each rater and system, how many answers
    were asked for and of which status they are, and how many reports were left out.
    """
    estimates, counts, rows = [], [], Rows(study)
    for one in settings.aggregates:
        measure = measure_of(rows, one, settings)
        if measure is None:
            continue
        found, counted = _measured(study, measure, settings)
        estimates += found
        counts += counted
    return tuple(estimates), counts


def measure_of(rows: Rows, one: Aggregate, settings: CalibrationSettings) -> Measure | None:
    """None where the study has no labels of the kind that the rule is about."""
    study = rows.study
    pairs = np.array([study.kinds[name] == "pairwise" for name in study.criteria])
    named = np.array([not one.criteria or name in one.criteria for name in study.criteria])
    wanted = (named & (pairs == (one.rule == "win_rate")))[study.unit_criterion]
    if one.rule == "win_rate":
        return _wins(study, one, wanted & (study.unit_systems >= 0), settings)
    if not wanted.any():
        return None
    is_rating = one.rule in ("weighted_mean", "target_share") or (one.rule == "mean" and not settings.answer_values)
    tree = tree_of(study, one, wanted, is_rating)
    names = tuple(name or NAMELESS for name in tree.systems)
    scored = scores_by(rows, one, wanted, settings)
    return Measure(one, names, wanted, scored, lambda score: rates_of(tree, score), len(tree.number) - len(tree.report))


def _wins(study: Study, one: Aggregate, wanted: Mask, settings: CalibrationSettings) -> Measure | None:
    if not wanted.any():
        return None
    units = units_of(study, settings)

    def scored(rater: str) -> Scored:
        score = np.full(study.units, np.nan)
        score[units.number] = win_scores(units, rater)
        return Scored(np.where(wanted, score, np.nan), np.zeros(study.units, bool))

    def rates(score: Array) -> Rates:
        values, sizes = cluster_rates(win_sums(units, score[units.number]))
        nothing = np.zeros(len(units.systems))
        return Rates(values, sizes, nothing, nothing)

    return Measure(one, units.systems, wanted, scored, rates)


def _measured(
    study: Study, measure: Measure, settings: CalibrationSettings
) -> tuple[list[Estimate], list[dict[str, Any]]]:
    scored = {name: measure.scored(name) for name in _raters(study, measure)}
    rates = {name: measure.rates(one.score) for name, one in scored.items()}
    shared = dict(_shared(measure, scored))
    stacked = [one.values for one in rates.values()] + [side.values for pair in shared.values() for side in pair]
    draws = rate_draws(np.stack(stacked, axis=1), settings)
    estimates: list[Estimate] = []
    counts: list[dict[str, Any]] = []
    for place, (name, found) in enumerate(rates.items()):
        estimates += _values(measure, name, scored[name], found, draws[:, place], settings)
        counts += _counts(study, measure, name, scored[name], found)
    for place, ((rater, reference), (own, other)) in enumerate(shared.items()):
        first = len(rates) + 2 * place
        if reference == EVERYONE:
            estimates += _differences(measure, rater, own, other, settings)
        pair = Pair(rater, reference, WHOLE, own.sizes.sum(axis=1))
        sides = (own.values, other.values), (draws[:, first], draws[:, first + 1])
        estimates += [_of(measure, "all", one) for one in order_estimates(pair, *sides, settings)]
    return estimates, counts


def _raters(study: Study, measure: Measure) -> Iterator[str]:
    """People, then every judge that was asked anything the aggregate is about."""
    if any(measure.wanted[one.asked].any() for one in study.annotators):
        yield EVERYONE
    for one in study.judges:
        if measure.wanted[one.asked].any():
            yield one.rater


def _shared(measure: Measure, scored: Mapping[str, Scored]) -> Iterator[tuple[tuple[str, str], tuple[Rates, Rates]]]:
    """Each judge and the people, and every two judges, on the units that both have; in the cells where both have a
    value."""
    judges = [name for name in scored if name != EVERYONE]
    single = [name for name in judges if not name.endswith(BOTH_ORDERS)]
    with_people = [(judge, EVERYONE) for judge in judges] if EVERYONE in scored else []
    for rater, reference in (*with_people, *itertools.combinations(single, 2)):
        scores = scored[rater].score, scored[reference].score
        both = ~np.isnan(scores[0]) & ~np.isnan(scores[1])
        own, other = (measure.rates(np.where(both, side, np.nan)) for side in scores)
        known = ~np.isnan(own.values) & ~np.isnan(other.values)
        yield (rater, reference), (_kept(own, known), _kept(other, known))


def _kept(rates: Rates, known: Mask) -> Rates:
    return replace(rates, values=np.where(known, rates.values, np.nan), sizes=np.where(known, rates.sizes, 0.0))


def _values(
    measure: Measure, rater: str, scored: Scored, rates: Rates, draws: Array, settings: CalibrationSettings
) -> Iterator[Estimate]:
    note = _note(measure, scored)
    for place, system in enumerate(measure.systems):
        values, sizes = rates.values[:, place], rates.sizes[:, place]
        held = ~np.isnan(values)
        said = note + (f"; {rates.left_out[place]:g} of {rates.reports[place]:g} reports left out, a score missing"
                       if rates.left_out[place] else "")  # fmt: skip
        pair = Pair(rater, "", WHOLE, sizes)
        if measure.about.rule in SHARES:
            size = float(sizes.sum() / max(1, held.sum()))  # every cluster counts alike: each is given the mean number
            even = Pair(rater, "", WHOLE, np.where(held, size, 0.0))
            estimate = share(AGGREGATE, even, np.nan_to_num(values) * size, settings, said)
        else:
            value = float(values[held].mean()) if held.any() else math.nan
            reason = "" if held.any() else "no_items"
            estimate = drawn(AGGREGATE, pair, value, draws[:, place] if pair.clusters > 1 else None, reason, settings,
                             said)  # fmt: skip
        yield _of(measure, system, estimate)


def _note(measure: Measure, scored: Scored) -> str:
    if measure.about.rule != "majority":
        return f"{measure.about.rule}; each cluster counts once"
    told = f"majority; {int(scored.undecided.sum())} questions without one are left out"
    return told + ("" if math.isnan(scored.vote_share) else f"; its mean share of the votes is {scored.vote_share:.2f}")


def _differences(
    measure: Measure, judge: str, own: Rates, people: Rates, settings: CalibrationSettings
) -> Iterator[Estimate]:
    """The judge's value minus the people's, on the same labels: paired by cluster."""
    clusters = np.arange(len(own.values))
    for place, system in enumerate(measure.systems):
        found = paired_difference(own.values[:, place], people.values[:, place], clusters, settings.level)
        pair = Pair(judge, EVERYONE, WHOLE, own.sizes[:, place])
        reason = NO_DIFFERENCE["no_items" if not found.n else found.note]
        notes = ["on the same labels, each cluster once", *([reason] if reason else [])]
        estimate = made(DIFFERENCE, pair, found.value, (found.low, found.high), "cluster_t", notes, settings)
        yield _of(measure, system, estimate)


def _of(measure: Measure, system: str, estimate: Estimate) -> Estimate:
    return replace(estimate, criterion=measure.about.name, category=f"{SYSTEM_PAIR}{system}")


def _counts(study: Study, measure: Measure, rater: str, scored: Scored, rates: Rates) -> Iterator[dict[str, Any]]:
    answered = answers_by_status(study, measure.wanted, rater, measure.systems)
    votes = {"undecided": int(scored.undecided.sum()), "vote_share": scored.vote_share}
    for place, (system, statuses) in enumerate(zip(measure.systems, answered, strict=True)):
        yield {
            "aggregate": measure.about.name, "rater": rater, "system": system, **statuses,
            "reports": int(rates.reports[place]), "left_out": int(rates.left_out[place]), "merged": measure.merged,
            **(votes if measure.about.rule == "majority" else {}),
        }  # fmt: skip
