"""Ratings of two raters side by side, one row per comparison: what statistics of numbers start from."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calibration.engine.bounding import Group
from calibration.engine.closed_forms import Array
from calibration.engine.concordance import Ranked
from calibration.engine.joining import Answers, Mask, Scale, Study
from calibration.reading.columns import Codes, tally
from calibration.verdicts import BOTH_ORDERS

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
    judges = [one for one in study.judges if not one.rater.endswith(BOTH_ORDERS)]
    people = study.annotators if 2 < len(study.annotators) <= FEW_PEOPLE else ()
    return [*itertools.combinations(judges, 2), *itertools.combinations(people, 2)]


def transposed(study: Study, group: Group) -> bool:
    """More annotators than labels to give: the table may lie on its side, and an alpha of it is refused."""
    return len(study.annotators) > int(group.chosen.sum()) > 1


def parts_of(study: Study, scale: Scale, chosen: Mask) -> Iterator[tuple[str, str, list[Joined]]]:
    """Who is compared with whom, and the joined scores of each two raters that make up this comparison."""
    people = study.annotators
    for judge in study.judges:
        yield judge.rater, "each_annotator", [_join(study, scale, chosen, judge, one) for one in people]
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
        np.concatenate([getattr(one, name) for one in parts]) for name in ("x", "y", "weight", "unit", "cluster")
    )
    return Joined(rater, reference, x, y, weight, unit, cluster)


def by_criterion(study: Study, parts: Sequence[Joined]) -> list[Ranked]:
    """The mean scores of each two raters on each unit, one entry per criterion: what may be put in an order."""
    out = []
    for one in parts:
        unit, position = np.unique(one.unit, return_inverse=True)
        count = tally(position, len(unit))
        x, y = (tally(position, len(unit), side) / count for side in (one.x, one.y))
        for criterion in np.unique(study.unit_criterion[unit]):
            own = study.unit_criterion[unit] == criterion
            out.append(Ranked(x[own], y[own], np.ones(own.sum()), study.unit_cluster[unit[own]]))
    return out


def scores_of(scale: Scale, one: Answers, chosen: Mask) -> tuple[Codes, Array, Array]:
    """Unit, number and weight (1 / passes) of each answer of one rater in the chosen units, sorted by unit."""
    label = scale.recode[one.label]
    kept = (label >= 0) & chosen[one.unit]
    if scale.numbers is not None:
        kept &= label < len(scale.numbers)
    order = np.argsort(one.unit[kept], kind="stable")
    values = np.asarray(scale.numbers)[label[kept]][order]
    return one.unit[kept][order], values, one.weight[kept][order] / one.scale


def _join(study: Study, scale: Scale, chosen: Mask, one: Answers, other: Answers) -> Joined:
    left, x, wx = scores_of(scale, one, chosen)
    right, y, wy = scores_of(scale, other, chosen)
    start, stop = np.searchsorted(right, left, "left"), np.searchsorted(right, left, "right")
    count = stop - start
    first = np.repeat(np.arange(len(left)), count)
    second = np.repeat(start - np.cumsum(count) + count, count) + np.arange(count.sum())
    unit = left[first]
    return Joined(one.rater, other.rater, x[first], y[second], wx[first] * wy[second], unit, study.unit_cluster[unit])
