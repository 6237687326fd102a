"""What stands beside every agreement: ties told apart, the best constant answer, kappa in criteria and by system."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calibration.biases.answering import coverage
from calibration.engine import closed_forms
from calibration.engine.bounding import Group, Pair, made, share
from calibration.engine.closed_forms import Array
from calibration.engine.crossing import Comparison, comparisons, cross, people_votes
from calibration.engine.joining import Answers, Mask, Scale, Study
from calibration.estimates import Estimate
from calibration.reading.columns import tally
from calibration.scores.pairwise import SWAP, best_constant, best_constant_by_group, without_ties
from calibration.settings import CalibrationSettings
from calibration.verdicts import BOTH_ORDERS

TIES_APART = {
    "same": "equal verdicts",
    "soft": "a tie against a winner; never counted as agreement",
    "hard": "opposite winners",
}


@dataclass(frozen=True)
class BySystem:
    """Tables with A and B replaced by system names, one per comparison, and how they are coded."""

    tables: tuple[Array, ...]
    coding: str


def shares(study: Study, pair: Pair, table: Array, scale: Scale, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Agreement, without ties too, ties told apart; the best constant answer; and how many rows it all rests on.

    `table`: shape (clusters, K, K), in comparisons.
    """
    yield from shares_of_single_raters(study, pair, table, scale, settings)
    agree = closed_forms.diagonal(table)
    if scale.kind == "pairwise":
        soft = table[:, 1, [0, 2]].sum(axis=-1) + table[:, [0, 2], 1].sum(axis=-1)
        parts = {"same": agree, "soft": soft, "hard": table[:, 0, 2] + table[:, 2, 0]}
        for name, note in TIES_APART.items():
            yield share(name, pair, parts[name], settings, note)
    if pair.n:
        yield from _baselines(study, pair, table, scale, settings)
        yield from _within_criteria(study, pair, scale, settings)
    yield from coverage(study, pair, agree, settings)
    yield from _consistent_orders(study, pair, scale, settings)


def shares_of_single_raters(
    study: Study, pair: Pair, table: Array, scale: Scale, settings: CalibrationSettings
) -> Iterator[Estimate]:
    """Agreement with and without ties, of two raters."""
    yield share("percent_agreement", pair, closed_forms.diagonal(table), settings)
    if scale.kind == "pairwise":
        decisive = without_ties(table)
        left = Pair(pair.rater, pair.reference, pair.group, decisive.sum(axis=(-2, -1)))
        whole = float(pair.sizes.sum())
        kept = f"kept {100 * left.sizes.sum() / whole:.1f} % ({left.n} of {pair.n})" if whole else "kept none"
        note = f"rows with a tie on either side dropped; {kept}"
        yield share("percent_agreement_exclude_ties", left, closed_forms.diagonal(decisive), settings, note)


def by_system_tables(study: Study, group: Group, scale: Scale, found: Sequence[Comparison]) -> BySystem | None:
    """Where all pairs share one system, a reference: the tables coded by whether it wins. None where they do not."""
    known = group.chosen & (study.unit_systems >= 0)
    if scale.kind != "pairwise" or not known.any() or not found:
        return None
    codes = np.unique(study.unit_systems[known])
    shared = set.intersection(*({*divmod(int(pair), len(study.systems))} for pair in codes))
    if not shared or (group.chosen & (study.unit_systems < 0)).any():
        return None
    reference = min(shared)
    swap = SWAP[: len(scale.labels)]
    first = np.where(
        study.unit_mirrored, study.unit_systems % len(study.systems), study.unit_systems // len(study.systems)
    )
    turned = comparisons(study, scale, known & (first != reference))
    by_name = {(one.rater, one.reference): one.table for one in turned}
    tables = []
    for one in found:
        other = by_name[one.rater, one.reference]
        tables.append(one.table - other + other[..., swap, :][..., :, swap])
    rest = (
        "the other system"
        if len(codes) > 1
        else study.systems[sum(divmod(int(codes[0]), len(study.systems))) - reference]
    )
    return BySystem(tuple(tables), f"coded by system: {study.systems[reference]} wins, tie, {rest} wins")


def _judge_of(study: Study, pair: Pair) -> Answers | None:
    """The judge whose agreement with the annotators this is."""
    if pair.reference != "each_annotator":
        return None
    return next((one for one in study.judges if one.rater == pair.rater), None)


def _baselines(
    study: Study, pair: Pair, table: Array, scale: Scale, settings: CalibrationSettings
) -> Iterator[Estimate]:
    """What a rater earns who always says the same; for a judge also the best such answer for each pair of systems."""
    ties = settings.ties if scale.kind == "pairwise" else "three_class"
    answers = {"exclude": ("A", "B"), "half_credit": scale.labels[:3]}.get(ties, scale.labels)
    value, best = best_constant(table.sum(axis=(0, 1)), ties)
    none = math.nan, math.nan
    note = f"always answering {answers[best]}, ties {ties}; no interval: the best of {len(answers)} constant answers"
    yield made("constant_judge_baseline", pair, value, none, "none", [note], settings)
    judge = _judge_of(study, pair)
    if judge is None or scale.kind != "pairwise" or not len(judge.unit):
        return
    unit = np.unique(judge.unit[pair.group.chosen[judge.unit] & (scale.recode[judge.label] >= 0)])
    unit = unit[study.unit_systems[unit] >= 0]
    people, common = people_votes(study, scale)
    counts = people[unit] / common
    mirrored = study.unit_mirrored[unit]
    counts[mirrored] = counts[mirrored][:, SWAP[: counts.shape[1]]]
    systems = np.unique(study.unit_systems[unit], return_inverse=True)[1]
    groups = np.stack([tally(systems, 0, column) for column in counts.T], axis=-1)
    value = best_constant_by_group(groups, ties)
    if not math.isnan(value):
        note = (
            f"the best answer for each of {len(groups)} pairs of systems, ties {ties}; no interval: the best of several"
        )
        yield made("constant_judge_baseline_by_system", pair, value, none, "none", [note], settings)


def _within_criteria(study: Study, pair: Pair, scale: Scale, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Kappa within criteria: what is left when knowing each criterion's base rates earns nothing."""
    judge = _judge_of(study, pair)
    if judge is None or len(pair.group.criteria) < 2:
        return
    people, common = people_votes(study, scale)
    tables = cross(judge, people, scale, pair.group.chosen, study.unit_criterion, len(study.criteria))
    value = float(closed_forms.stratified_kappa(tables / (judge.scale * common)))
    note = "no interval: a check on pooling criteria" if not math.isnan(value) else "one_category: in every criterion"
    yield made("stratified_kappa", pair, value, (math.nan, math.nan), "none", [note], settings)


def _consistent_orders(study: Study, pair: Pair, scale: Scale, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Agreement where the judge kept its verdict in both orders: what a filter on order would leave."""
    judge = _judge_of(study, pair)
    both = next((one for one in study.judges if one.rater == f"{pair.rater}{BOTH_ORDERS}"), None)
    if judge is None or both is None:
        return
    same = consistent_units(study, judge, both)
    people, common = people_votes(study, scale)
    chosen = pair.group.chosen
    clusters = study.unit_cluster, len(study.clusters)
    table = cross(judge, people, scale, chosen & same, *clusters) / (judge.scale * common)
    tried = np.unique(both.unit[chosen[both.unit]])
    left = Pair(pair.rater, pair.reference, pair.group, table.sum(axis=(-2, -1)))
    note = f"only where the judge gives one verdict in both orders: {int(same[tried].sum())} of {len(tried)} labels"
    yield share("percent_agreement_consistent_orders", left, closed_forms.diagonal(table), settings, note)


def consistent_units(study: Study, judge: Answers, both: Answers) -> Mask:
    """Units a judge answered in both orders, always with the same label; shape (units,)."""
    least, most = np.full(study.units, len(study.labels)), np.full(study.units, -1)
    np.minimum.at(least, judge.unit, judge.label)
    np.maximum.at(most, judge.unit, judge.label)
    answered = np.zeros(study.units, dtype=bool)
    answered[both.unit] = True
    return np.asarray(answered & (least == most))
