"""Agreement estimates of one group of units, and what is printed beside each of them.

Points and draws come from the same closed forms, intervals from whole clusters. Beside an agreement are the ties told
apart, the best constant answer, kappa within criteria and agreement by system.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from calibration.agreement import catalogue, continuous, detection, panel
from calibration.agreement.statistic import Counts, Statistic, Variety, needs_one_system, perfect_bound
from calibration.arithmetic import closed_forms
from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.columns import SWAP, Codes, best_constant, best_constant_by_group, tally, without_ties
from calibration.estimates import Estimate
from calibration.inference.bootstrap import resample
from calibration.remarks import Reason, Remark, no_interval, undefined
from calibration.settings import CalibrationSettings
from calibration.study.answering import coverage
from calibration.study.bounding import FEW_CLUSTERS, Group, Pair, drawn, linearised, made, share, unclustered
from calibration.study.crossing import Comparison, comparisons, cross, people_votes, single_pairs, transposed, votes
from calibration.study.joining import MANY_LABELS, Answers, Mask, Scale, Study, scale_of
from calibration.table.verdicts import BOTH_ORDERS

AT_ONCE = 64  # comparisons whose draws are kept at once: a crowd of annotators must not fill the memory


def agreement_estimates(
    study: Study, group: Group, settings: CalibrationSettings, only: Collection[str] | None = None
) -> Iterator[Estimate]:
    """Every statistic of every comparison in the group's units. Nothing when its criteria are of different kinds.

    `only`: names of the statistics asked for; what makes none of them is not computed. None: all.
    """
    scale = scale_of(study, group.criteria, settings)
    if scale is not None:
        made = _estimates(study, group, scale, settings, only)
        yield from (one for one in made if only is None or one.statistic in only)


def _estimates(
    study: Study, group: Group, scale: Scale, settings: CalibrationSettings, only: Collection[str] | None
) -> Iterator[Estimate]:
    if len(scale.labels) > MANY_LABELS:
        if scale.kind == "rating":
            yield from continuous.continuous_estimates(study, group, scale, settings)
    else:
        found = comparisons(study, scale, group.chosen)
        used = used_labels(group, scale, settings, found)
        for start in range(0, len(found), AT_ONCE):  # every part is resampled with the same weights
            yield from _table_estimates(study, group, scale, used, found[start : start + AT_ONCE], settings, only)
        single = between_single_raters(study, scale, group)
        for start in range(0, len(single), AT_ONCE):
            yield from _table_estimates(
                study, group, scale, used, single[start : start + AT_ONCE], settings, only, brief=True
            )
        if _asks(only, {metric.name for metric in catalogue.METRICS if metric.of_passing}):
            yield from detection.detection_estimates(study, group, scale, found, settings)
            yield from detection.label_estimates(group, scale, used, found, settings)
        if scale.kind != "rating" and _asks(only, panel.OF_PANEL):
            yield from panel.panel_estimates(study, group, scale, found, settings)
    if scale.kind == "rating":
        if _asks(only, panel.OF_PEOPLE):
            yield from panel.icc_of_people(study, group, scale, settings)
        if only is None or any(name.startswith("rank_agreement") for name in only):
            yield from continuous.rank_estimates(study, group, scale, settings)


def _asks(only: Collection[str] | None, names: Collection[str]) -> bool:
    return only is None or not {*only}.isdisjoint(names)


def between_single_raters(study: Study, scale: Scale, group: Group) -> list[Comparison]:
    """Judges with judges, and few annotators pair by pair."""
    clusters = study.unit_cluster, len(study.clusters)
    return [
        Comparison(
            one.rater,
            other.rater,
            cross(one, votes([other], scale, study.units, other.scale), scale, group.chosen, *clusters),
            one.scale * other.scale,
        )
        for one, other in single_pairs(study)
    ]


def used_labels(group: Group, scale: Scale, settings: CalibrationSettings, found: Sequence[Comparison]) -> Codes:
    """Positions of the labels that are declared or that anybody in the group gave: the K of AC1 and PABAK."""
    size = len(scale.labels)
    seen = sum((one.table.sum(axis=0) for one in found), np.zeros((size, size)))
    declared = {label for name in group.criteria for label in settings.scales.get(name, ())}
    named = np.array([scale.declared and (scale.kind != "pairwise" or label in declared) for label in scale.labels])
    return np.flatnonzero((seen.sum(axis=0) + seen.sum(axis=1) > 0) | named)


@dataclass(frozen=True)
class CountTable:
    """How often `rater` said one label (row) where `reference` said another (column), of one group of units."""

    rater: str
    reference: str
    criterion: str
    category: str
    labels: Sequence[str]
    counts: Sequence[Sequence[float]]


def count_tables(study: Study, group: Group, settings: CalibrationSettings) -> Iterator[CountTable]:
    """How often the rater said k where the reference said l, for each comparison with a judge or among all people."""
    scale = scale_of(study, group.criteria, settings)
    if scale is None or len(scale.labels) > 10:
        return
    for one in comparisons(study, scale, group.chosen):  # judges first, then single annotators, then all of them
        if "each_annotator" not in (one.rater, one.reference):
            continue
        counts = [[detection.whole(count / one.scale) for count in row] for row in one.table.sum(axis=0)]
        yield CountTable(one.rater, one.reference, group.criterion, group.category, list(scale.labels), counts)


def _table_estimates(
    study: Study,
    group: Group,
    scale: Scale,
    used: Codes,
    found: list[Comparison],
    settings: CalibrationSettings,
    only: Collection[str] | None = None,
    brief: bool = False,
) -> Iterator[Estimate]:
    coded = {metric.name for metric in catalogue.METRICS if metric.needs is needs_one_system}
    by_system = by_system_tables(study, group, scale, found) if not brief and _asks(only, coded) else None
    statistics = [
        one
        for one in catalogue.drawn_of(scale, by_system is not None)
        if (one.of_single_raters or not brief) and (only is None or one.name in only)
    ]
    many = [index for index, one in enumerate(found) if one.coincidences is not None]
    stack = [one.table for one in found] + [np.asarray(found[index].coincidences) for index in many]
    sums = np.stack([*stack, *(by_system.tables if by_system else ())], axis=1)
    weights = [study.drawn if _of_people(study, one) else None for one in found]
    if study.drawn is not None:
        even = np.ones(len(study.drawn))
        each = [even if own is None else own for own in weights] + [study.drawn] * (sums.shape[1] - len(found))
        sums = sums * np.stack(each, axis=1)[..., None, None]
    table_scales = np.array([one.scale for one in found], float)
    scales = np.array([one.scale if one.coincidences is None else one.coincidence_scale for one in found], float)

    def evaluate(summed: Array) -> Array:
        tables, rest = summed[:, : len(found)], summed[:, len(found) :]
        coincidences = closed_forms.both_ways(tables)
        coincidences[:, many] = rest[:, : len(many)]
        named = rest[:, len(many) :] if by_system else None
        counts = Counts(scale, used, tables, coincidences, scales, table_scales, named)
        values = [statistic.of(counts) for statistic in statistics]
        return np.stack(values, axis=-1) if values else np.zeros((len(summed), len(found), 0))

    points = evaluate(sums.sum(axis=0)[None])[0]
    wanted = statistics and len(study.clusters) >= (FEW_CLUSTERS if group.single else 2)
    draws = resample(sums, evaluate, settings.resamples, settings.seed) if wanted else None
    for index, one in enumerate(found):
        table = one.table / one.scale
        pair = Pair(one.rater, one.reference, group, table.sum(axis=(-2, -1)), weights[index])
        yield from (shares_of_single_raters if brief else shares)(study, pair, table, scale, settings)
        for position, statistic in enumerate(statistics):
            if one.reference == "others" and not statistic.of_all_people:
                continue
            value = float(points[index, position])
            own = None if draws is None else draws[:, index, position]
            named = by_system if by_system is not None and statistic.needs is needs_one_system else None
            counts = table if named is None else named.tables[index] / one.scale
            reason = statistic.undefined(Variety.of(counts.sum(axis=0)), value)
            if statistic.of_ratings and one.coincidences is not None and transposed(study, group):
                reason = "maybe_transposed"
            note = named.coding if named else _note(statistic, scale, used, one, counts.sum(axis=0))
            bound = partial(perfect_bound, statistic, pair.weighed(counts), used, settings)
            yield drawn(statistic.name, pair, value, own, reason, settings, note, bound)
            if statistic.linearised is not None and not reason:
                yield from linearised(statistic.name, pair, *statistic.linearised(counts, scale), value, settings)
        if settings.unclustered and weights[index] is None:
            yield from unclustered(pair, table, settings)


def _of_people(study: Study, one: Comparison) -> bool:
    """Whether it is with annotators: only what they labelled was drawn, and judges answered all."""
    return not {one.rater, one.reference} <= {judge.rater for judge in study.judges}


def _note(statistic: Statistic, scale: Scale, used: Codes, comparison: Comparison, table: Array) -> str:
    """What must be known beside the statistic, and how it codes A, tie and B. `table`: shape (K, K), in comparisons."""
    own = statistic.note(scale, used, comparison, table) if statistic.note is not None else ""
    return own or (statistic.coding if scale.kind == "pairwise" else "")


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
        left = Pair(pair.rater, pair.reference, pair.group, decisive.sum(axis=(-2, -1)), pair.weights)
        whole = float(pair.sizes.sum())
        part = {"share": 100 * float(left.sizes.sum()) / whole, "left": left.n, "all": pair.n} if whole else {}
        words = "kept {share:.1f} % ({left} of {all})" if whole else "kept none"
        said = "rows with a tie on either side dropped", Remark(Reason.MEASURED, facts=tuple(part.items()), words=words)
        yield share("percent_agreement_exclude_ties", left, closed_forms.diagonal(decisive), settings, said)


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
    return next((judge for judge in study.judges if judge.rater == pair.rater), None)


def _baselines(
    study: Study, pair: Pair, table: Array, scale: Scale, settings: CalibrationSettings
) -> Iterator[Estimate]:
    """What a rater earns who always says the same; for a judge also the best such answer for each pair of systems."""
    ties = settings.ties if scale.kind == "pairwise" else "three_class"
    answers = {"exclude": ("A", "B"), "half_credit": scale.labels[:3]}.get(ties, scale.labels)
    value, best = best_constant(pair.weighed(table).sum(axis=(0, 1)), ties)
    none = math.nan, math.nan
    told = f"always answering {answers[best]}, ties {ties}"
    why = no_interval(Reason.BEST_OF_SEVERAL, f"the best of {len(answers)} constant answers")
    yield made("constant_judge_baseline", pair, value, none, "none", [told, why], settings)
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
        told = f"the best answer for each of {len(groups)} pairs of systems, ties {ties}"
        why = no_interval(Reason.BEST_OF_SEVERAL, "the best of several")
        yield made("constant_judge_baseline_by_system", pair, value, none, "none", [told, why], settings)


def _within_criteria(study: Study, pair: Pair, scale: Scale, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Kappa within criteria: what is left when knowing each criterion's base rates earns nothing."""
    judge = _judge_of(study, pair)
    if judge is None or len(pair.group.criteria) < 2:
        return
    people, common = people_votes(study, scale)
    tables = cross(judge, people, scale, pair.group.chosen, study.unit_criterion, len(study.criteria))
    value = float(closed_forms.stratified_kappa(tables / (judge.scale * common)))
    why = no_interval(Reason.NOT_ASKED, "a check on pooling criteria")
    if math.isnan(value):
        why = undefined(Reason.ONE_CATEGORY, "in every criterion")
    yield made("stratified_kappa", pair, value, (math.nan, math.nan), "none", why, settings)


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
    left = Pair(pair.rater, pair.reference, pair.group, table.sum(axis=(-2, -1)), pair.weights)
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
