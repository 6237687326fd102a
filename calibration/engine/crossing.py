"""Two raters joined on the units (item x criterion) that both answered, as count tables.

A crowd of annotators costs what they answered, never annotators times units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from calibration.engine.closed_forms import Array
from calibration.engine.joining import Answers, Mask, Scale, Study
from calibration.reading.columns import Codes, tally


@dataclass(frozen=True)
class Comparison:
    """Two raters' joined answers. `table`: shape (clusters, K, K), counts times `scale`; rows: the rater's labels."""

    rater: str
    reference: str
    table: Array
    scale: int
    coincidences: Array | None = None  # shape (clusters, K, K) where units have more than two ratings
    coincidence_scale: int = 1


def votes(answers: Sequence[Answers], scale: Scale, units: int, common: int) -> Array:
    """How often each unit was given each label, every rater counting `common` once; shape (units, K)."""
    size = len(scale.labels)
    cells, weights = [np.zeros(0, np.intp)], [np.zeros(0, np.int64)]
    for one in answers:
        label = scale.recode[one.label]
        kept = label >= 0
        cells.append(one.unit[kept] * size + label[kept])
        weights.append(one.weight[kept] * (common // one.scale))
    return tally(np.concatenate(cells), units * size, np.concatenate(weights)).reshape(units, size)


def people_votes(study: Study, scale: Scale) -> tuple[Array, int]:
    """The `votes` of all annotators, and what each of them counts."""
    common = math.lcm(1, *(one.scale for one in study.annotators))
    return votes(study.annotators, scale, study.units, common), common


def on_own_units(one: Answers) -> tuple[Codes, Answers]:
    """The units with a usable answer of this rater, sorted, and the answers with `unit` as a position among them."""
    unit, place = np.unique(one.unit, return_inverse=True)
    return unit, replace(one, unit=place.astype(np.intp))


def cross(one: Answers, other: Array, scale: Scale, chosen: Mask, group: Codes, count: int) -> Array:
    """How often `one` says k where the `votes` of others say l, in the chosen units, by group: shape (count, K, K).

    `group`: shape (units,), such as the cluster of each unit; from 0 to `count` - 1.
    """
    size = len(scale.labels)
    label = scale.recode[one.label]
    kept = (label >= 0) & chosen[one.unit]
    unit, weight = one.unit[kept], one.weight[kept]
    cell = group[unit] * size + label[kept]
    columns = [tally(cell, count * size, weight * other[unit, label]) for label in range(size)]
    return np.stack(columns, axis=-1).reshape(count, size, size)


def comparisons(study: Study, scale: Scale, chosen: Mask) -> list[Comparison]:
    """Each judge with every annotator, each annotator with the others, and all annotators among themselves."""
    people, common = people_votes(study, scale)
    clusters = study.unit_cluster, len(study.clusters)
    out = [
        Comparison(judge.rater, "each_annotator", cross(judge, people, scale, chosen, *clusters), judge.scale * common)
        for judge in study.judges
    ]
    if len(study.annotators) < 2:
        return out
    size = len(study.clusters), len(scale.labels), len(scale.labels)
    raters = np.rint(people.sum(axis=1) / common).astype(int)
    shared = np.unique(raters[chosen & (raters > 1)]) - 1
    fan = math.lcm(1, *(int(count) for count in shared))
    per_unit = (fan / np.maximum(1, raters - 1))[:, None]
    coincidences, own_tables = np.zeros(size), []
    for one in study.annotators:
        unit, own = on_own_units(one)
        others = people[unit] - votes([own], scale, len(unit), common)
        inside = chosen[unit], study.unit_cluster[unit], len(study.clusters)
        table = cross(own, others, scale, *inside)
        coincidences += cross(own, others * per_unit[unit], scale, *inside) * (common // one.scale)
        own_tables.append(Comparison(one.rater, "others", table, one.scale * common))
    out += own_tables
    # Two annotators make one table whichever comes first; of more, each pair counts in both directions, half each.
    if len(own_tables) == 2:
        pooled, scale_of_pairs = own_tables[0].table, own_tables[0].scale
    else:
        scale_of_pairs = 2 * common * common
        pooled = sum((own.table * (common * common // own.scale) for own in own_tables), np.zeros(size))
    total = common * common * fan
    out.append(Comparison("each_annotator", "others", pooled, scale_of_pairs, np.rint(coincidences), total))
    return out


def shared_units(raters: Sequence[Answers], alike: bool = False) -> npt.NDArray[np.int64]:
    """On how many units each two raters both have a usable answer, shape (raters, raters).

    `alike`: only those with the same label, of several passes the first.
    """
    firsts = [np.unique(one.unit, return_index=True) for one in raters]
    units = np.concatenate([np.zeros(0, np.intp), *(unit for unit, _ in firsts)])
    labels = np.concatenate(
        [np.zeros(0, np.intp), *(one.label[at] for one, (_, at) in zip(raters, firsts, strict=True))]
    )
    rater = np.repeat(np.arange(len(raters)), [len(unit) for unit, _ in firsts])
    if alike:
        units = units * (labels.max(initial=0) + 1) + labels
    column = np.unique(units, return_inverse=True)[1]
    given = sparse.csr_array((np.ones(len(rater), np.int64), (rater, column)), (len(raters), column.max(initial=0) + 1))
    return np.asarray((given @ given.T).todense())
