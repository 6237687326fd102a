"""Agreement estimates of one group of units.

Points and draws from the same closed forms, intervals of whole clusters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from calibration.bootstrap import resample
from calibration.engine import closed_forms
from calibration.engine.beside import by_system_tables, shares, shares_of_single_raters
from calibration.engine.bounding import FEW_CLUSTERS, Group, Pair, drawn
from calibration.engine.closed_forms import Array
from calibration.engine.continuous import continuous_estimates
from calibration.engine.crossing import Comparison, comparisons, cross, votes
from calibration.engine.joining import MANY_LABELS, Scale, Study, scale_of
from calibration.engine.second_opinions import linearised, unclustered
from calibration.engine.tabular import BRIEF, Summed, note_of, perfect_bound, statistics_of, why_not_shown
from calibration.estimates import Estimate
from calibration.people.panel import icc_of_people, panel_estimates
from calibration.reading.columns import Codes
from calibration.scores.paired_scores import single_pairs, transposed
from calibration.settings import CalibrationSettings
from calibration.systems.rank_agreement import rank_estimates

AT_ONCE = 64  # comparisons whose draws are kept at once: a crowd of annotators must not fill the memory


def agreement_estimates(study: Study, group: Group, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Every statistic of every comparison in the group's units. Nothing when its criteria are of different kinds."""
    scale = scale_of(study, group.criteria, settings)
    if scale is None:
        return
    if len(scale.labels) > MANY_LABELS:
        if scale.kind == "rating":
            yield from continuous_estimates(study, group, scale, settings)
    else:
        found = comparisons(study, scale, group.chosen)
        used = used_labels(group, scale, settings, found)
        for start in range(0, len(found), AT_ONCE):  # every part is resampled with the same weights
            yield from _table_estimates(study, group, scale, used, found[start : start + AT_ONCE], settings)
        single = between_single_raters(study, scale, group)
        for start in range(0, len(single), AT_ONCE):
            yield from _table_estimates(
                study, group, scale, used, single[start : start + AT_ONCE], settings, brief=True
            )
        if scale.kind != "rating":
            yield from panel_estimates(study, group, scale, found, settings)
    if scale.kind == "rating":
        yield from icc_of_people(study, group, scale, settings)
        yield from rank_estimates(study, group, scale, settings)


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
    named = np.array([scale.declared and (scale.kind != "pairwise" or one in declared) for one in scale.labels])
    return np.flatnonzero((seen.sum(axis=0) + seen.sum(axis=1) > 0) | named)


def count_tables(study: Study, group: Group, settings: CalibrationSettings) -> Iterator[dict[str, Any]]:
    """How often the rater said k where the reference said l, for each comparison with a judge or among all people."""
    scale = scale_of(study, group.criteria, settings)
    if scale is None or len(scale.labels) > 10:
        return
    judged = [one for one in comparisons(study, scale, group.chosen) if one.reference == "each_annotator"]
    pooled = [one for one in comparisons(study, scale, group.chosen) if one.rater == "each_annotator"]
    for one in (*judged, *pooled):
        yield {
            "rater": one.rater,
            "reference": one.reference,
            "criterion": group.criterion,
            "category": group.category,
            "labels": list(scale.labels),
            "counts": [[_whole(count / one.scale) for count in row] for row in one.table.sum(axis=0)],
        }


def _whole(count: float) -> int | float:
    return int(count) if float(count).is_integer() else float(count)


def _table_estimates(
    study: Study,
    group: Group,
    scale: Scale,
    used: Codes,
    found: list[Comparison],
    settings: CalibrationSettings,
    brief: bool = False,
) -> Iterator[Estimate]:
    by_system = None if brief else by_system_tables(study, group, scale, found)
    statistics = statistics_of(scale, used, by_system is not None)
    if brief:
        statistics = {name: statistic for name, statistic in statistics.items() if name in BRIEF}
    many = [index for index, one in enumerate(found) if one.coincidences is not None]
    stack = [one.table for one in found] + [np.asarray(found[index].coincidences) for index in many]
    sums = np.stack([*stack, *(by_system.tables if by_system else ())], axis=1)
    table_scales = np.array([one.scale for one in found], float)
    scales = np.array([one.scale if one.coincidences is None else one.coincidence_scale for one in found], float)

    def evaluate(summed: Array) -> Array:
        tables, rest = summed[:, : len(found)], summed[:, len(found) :]
        coincidences = closed_forms.both_ways(tables)
        coincidences[:, many] = rest[:, : len(many)]
        given = Summed(tables, coincidences, scales, table_scales, rest[:, len(many) :] if by_system else None)
        return np.stack([statistic(given) for statistic in statistics.values()], axis=-1)

    points = evaluate(sums.sum(axis=0)[None])[0]
    wanted = len(study.clusters) >= (FEW_CLUSTERS if group.single else 2)
    draws = resample(sums, evaluate, settings.resamples, settings.seed) if wanted else None
    for index, one in enumerate(found):
        table = one.table / one.scale
        pair = Pair(one.rater, one.reference, group, table.sum(axis=(-2, -1)))
        yield from (shares_of_single_raters if brief else shares)(study, pair, table, scale, settings)
        for position, name in enumerate(statistics):
            value = float(points[index, position])
            if name.startswith("icc") and one.reference == "others":
                continue  # `panel_estimates` has the ICC of all annotators
            own = None if draws is None else draws[:, index, position]
            counts = by_system.tables[index] / one.scale if by_system and name.endswith("by_system") else table
            reason = why_not_shown(name, counts.sum(axis=0), value)
            if name.startswith("krippendorff") and one.coincidences is not None and transposed(study, group):
                reason = "maybe_transposed"
            note = by_system.coding if by_system and name.endswith("by_system") else ""
            note = note or note_of(name, scale, used, one, counts.sum(axis=0))
            bound = partial(perfect_bound, name, counts, used, settings)
            yield drawn(name, pair, value, own, reason, settings, note, bound)
            if not reason:
                yield from linearised(name, pair, counts, value, scale, settings)
        if settings.unclustered:
            yield from unclustered(pair, table, settings)
