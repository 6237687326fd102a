"""Two raters joined on the units (item x criterion) that both answered, as count tables and as ratings side by side.

A crowd of annotators costs what they answered, never annotators times units.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.columns import Codes, tally
from calibration.arithmetic.correlation import Ranked
from calibration.study.bounding import Group
from calibration.study.joining import Answers, Mask, Scale, Study
from calibration.table.verdicts import BOTH_ORDERS


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
    for answer in answers:
        label = scale.recode[answer.label]
        kept = label >= 0
        cells.append(answer.unit[kept] * size + label[kept])
        weights.append(answer.weight[kept] * (common // answer.scale))
    return tally(np.concatenate(cells), units * size, np.concatenate(weights)).reshape(units, size)


def people_votes(study: Study, scale: Scale) -> tuple[Array, int]:
    """The `votes` of all annotators, read-only, and what each of them counts."""
    key = scale.recode.tobytes() + bytes(len(scale.labels))
    if key not in study.counted_votes:
        common = math.lcm(1, *(annotator.scale for annotator in study.annotators))
        counted = votes(study.annotators, scale, study.units, common)
        counted.flags.writeable = False
        study.counted_votes[key] = counted, common
    return study.counted_votes[key]


def on_own_units(answers: Answers) -> tuple[Codes, Answers]:
    """The units with a usable answer of this rater, sorted, and the answers with `unit` as a position among them."""
    unit, place = answers.by_unit
    return unit, replace(answers, unit=place)


def cross(answers: Answers, other: Array, scale: Scale, chosen: Mask, group: Codes, count: int) -> Array:
    """How often `answers` says k where the `votes` of others say l, in the chosen units, by group: shape (count, K, K).

    `group`: shape (units,), such as the cluster of each unit; from 0 to `count` - 1.
    """
    size = len(scale.labels)
    label = scale.recode[answers.label]
    kept = (label >= 0) & chosen[answers.unit]
    unit, weight = answers.unit[kept], answers.weight[kept]
    cell = group[unit] * size + label[kept]
    columns = [tally(cell, count * size, weight * other[unit, label]) for label in range(size)]
    return np.stack(columns, axis=-1).reshape(count, size, size)


def comparison_of_people(study: Study, scale: Scale, chosen: Mask) -> Comparison | None:
    """All annotators among themselves; None where there are fewer than two."""
    return next((one for one in comparisons(study, scale, chosen) if one.rater == "each_annotator"), None)


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
    for annotator in study.annotators:
        unit, own = on_own_units(annotator)
        others = people[unit] - votes([own], scale, len(unit), common)
        inside = chosen[unit], study.unit_cluster[unit], len(study.clusters)
        table = cross(own, others, scale, *inside)
        coincidences += cross(own, others * per_unit[unit], scale, *inside) * (common // annotator.scale)
        own_tables.append(Comparison(annotator.rater, "others", table, annotator.scale * common))
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


FEW_PEOPLE = 10  # annotators up to which every pair of them is compared by itself


@dataclass(frozen=True)
class Joined:
    """Comparisons of one rater with a reference: two numbers, a weight, a unit and a cluster each; shape (rows,)."""

    rater: str
    reference: str
    x: Array
    y: Array
    weight: Array
    unit: Codes
    cluster: Codes

    @property
    def single(self) -> bool:
        """Of two single raters, as no comparison with all annotators is."""
        return self.reference not in ("each_annotator", "others")


def single_pairs(study: Study) -> list[tuple[Answers, Answers]]:
    """Judges with judges, and annotators with annotators where three to ten of them are not one pair nor a crowd."""
    judges = [judge for judge in study.judges if not judge.rater.endswith(BOTH_ORDERS)]
    people = study.annotators if 2 < len(study.annotators) <= FEW_PEOPLE else ()
    return [*itertools.combinations(judges, 2), *itertools.combinations(people, 2)]


def transposed(study: Study, group: Group) -> bool:
    """More annotators than labels to give: the table may lie on its side, and an alpha of it is refused."""
    return len(study.annotators) > int(group.chosen.sum()) > 1


def parts_of(study: Study, scale: Scale, chosen: Mask) -> Iterator[tuple[str, str, list[Joined]]]:
    """Who is compared with whom, and the joined scores of each two raters that make up this comparison."""
    people = study.annotators
    for judge in study.judges:
        yield judge.rater, "each_annotator", [_join(study, scale, chosen, judge, person) for person in people]
    if len(people) > 1:
        for one in people:
            others = [_join(study, scale, chosen, one, other) for other in people if other is not one]
            yield one.rater, "others", others
        found = [_join(study, scale, chosen, one, other) for one, other in itertools.combinations(people, 2)]
        yield "each_annotator", "others", found
    for one, other in single_pairs(study):
        yield one.rater, other.rater, [_join(study, scale, chosen, one, other)]


def stacked(rater: str, reference: str, parts: Sequence[Joined]) -> Joined:
    """All parts in one. More than two annotators among themselves are counted in both directions, half each."""
    if (rater, reference) == ("each_annotator", "others") and len(parts) > 1:
        turned = [Joined(o.rater, o.reference, o.y, o.x, o.weight / 2, o.unit, o.cluster) for o in parts]
        parts = [Joined(o.rater, o.reference, o.x, o.y, o.weight / 2, o.unit, o.cluster) for o in parts] + turned
    nothing, no_codes = np.zeros(0), np.zeros(0, np.intp)
    parts = [Joined(rater, reference, nothing, nothing, nothing, no_codes, no_codes), *parts]
    x, y, weight, unit, cluster = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("x", "y", "weight", "unit", "cluster")
    )
    return Joined(rater, reference, x, y, weight, unit, cluster)


def by_criterion(study: Study, parts: Sequence[Joined]) -> list[Ranked]:
    """The mean scores of each two raters on each unit, one entry per criterion: what may be put in an order."""
    out = []
    for part in parts:
        unit, position = np.unique(part.unit, return_inverse=True)
        count = tally(position, len(unit))
        x, y = (tally(position, len(unit), side) / count for side in (part.x, part.y))
        for criterion in np.unique(study.unit_criterion[unit]):
            own = study.unit_criterion[unit] == criterion
            out.append(Ranked(x[own], y[own], np.ones(own.sum()), study.unit_cluster[unit[own]]))
    return out


def scores_of(scale: Scale, answers: Answers, chosen: Mask) -> tuple[Codes, Array, Array]:
    """Unit, number and weight (1 / passes) of each answer of one rater in the chosen units, sorted by unit."""
    label = scale.recode[answers.label]
    kept = (label >= 0) & chosen[answers.unit]
    if scale.numbers is not None:
        kept &= label < len(scale.numbers)
    order = np.argsort(answers.unit[kept], kind="stable")
    values = np.asarray(scale.numbers)[label[kept]][order]
    return answers.unit[kept][order], values, answers.weight[kept][order] / answers.scale


def _join(study: Study, scale: Scale, chosen: Mask, answers: Answers, other: Answers) -> Joined:
    left, x, wx = scores_of(scale, answers, chosen)
    right, y, wy = scores_of(scale, other, chosen)
    start, stop = np.searchsorted(right, left, "left"), np.searchsorted(right, left, "right")
    count = stop - start
    first = np.repeat(np.arange(len(left)), count)
    second = np.repeat(start - np.cumsum(count) + count, count) + np.arange(count.sum())
    unit = left[first]
    return Joined(
        answers.rater, other.rater, x[first], y[second], wx[first] * wy[second], unit, study.unit_cluster[unit]
    )
