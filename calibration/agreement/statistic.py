"""What a statistic of agreement is: one record, which the engine, tables, figures, pages and the bibliography read."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibration.arithmetic import closed_forms
from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.columns import Codes
from calibration.inference.bootstrap import wilson_effective
from calibration.settings import CalibrationSettings
from calibration.study.crossing import Comparison
from calibration.study.joining import Scale

BOOTSTRAP, WILSON, NO_INTERVAL = "cluster_bootstrap_expanded", "wilson_effective_n", "none"
ALL_KINDS, NAMES = ("pairwise", "rating", "probe"), ("pairwise", "probe")
ORDERED, PAIRS, SCORES, SINGLE = ("pairwise", "rating"), ("pairwise",), ("rating",), ("probe", "rating")


@dataclass(frozen=True)
class Counts:
    """What a statistic is evaluated on: counts of a block of resamples, added up over clusters, and their labels.

    `tables`, `coincidences`, `by_system`: shape (block, comparisons, K, K). The scales, shape (comparisons,), are what
    counts were multiplied by to be whole.
    """

    scale: Scale
    used: Codes  # positions of the labels that occur or are declared
    tables: Array
    coincidences: Array
    coincidence_scales: Array
    table_scales: Array
    by_system: Array | None = None  # the tables with A and B replaced by system names

    @cached_property
    def of_used(self) -> Array:
        """The tables of the labels that occur or are declared."""
        return self.tables[..., self.used, :][..., :, self.used]

    @cached_property
    def numbers(self) -> Array:
        """Of each label that has one, less the first: an offset would only cost digits."""
        given = np.asarray(self.scale.numbers)
        return np.asarray(given - given[0])

    @property
    def of_numbers(self) -> Array:
        """The tables of the labels that have a number or an order."""
        return self.tables[..., : len(self.numbers), : len(self.numbers)]

    @property
    def coincidences_of_numbers(self) -> Array:
        """The coincidences of the labels that have a number or an order."""
        return self.coincidences[..., : len(self.numbers), : len(self.numbers)]


@dataclass(frozen=True)
class Variety:
    """What decides whether a statistic says something: rows compared, and whether labels vary."""

    rows: float
    constant: bool  # one side, or both, always gives the same label
    several: bool  # the two sides together give more than one label

    @classmethod
    def of(cls, table: Array) -> Variety:
        """`table`: shape (K, K)."""
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        constant = min(np.count_nonzero(columns), np.count_nonzero(rows)) == 1
        return cls(float(table.sum()), constant, int(np.count_nonzero(rows + columns)) > 1)


Rule = Callable[[Variety, float], str]  # why this value is a dash; "" where it is shown


def undefined_without_rows(seen: Variety, value: float) -> str:
    """Undefined only where nothing is compared."""
    return "" if seen.rows and not math.isnan(value) else "no_items"


def undefined_without_chance(seen: Variety, value: float) -> str:
    """Undefined where agreement by chance is complete."""
    if not seen.rows:
        return "no_items"
    return ("zero_variance" if seen.constant and seen.several else "one_category") if math.isnan(value) else ""


def empty_of_constant(seen: Variety, value: float) -> str:
    """A κ of a rater that always says the same is 0 whatever the other says, and tells nothing."""
    return undefined_without_chance(seen, value) or ("constant_rater" if seen.constant else "")


def undefined_on_one_label(seen: Variety, value: float) -> str:
    """Undefined on a scale of one label."""
    return "no_items" if not seen.rows else "one_category_scale" if math.isnan(value) else ""


def undefined_without_spread(seen: Variety, value: float) -> str:
    """Undefined where a side never varies."""
    if not seen.rows:
        return "no_items"
    return "too_few_units" if seen.rows < 2 else "zero_variance" if math.isnan(value) else ""


def empty_of_two_points(seen: Variety, value: float) -> str:
    """A correlation of two points is 1 or -1, and tells nothing."""
    return undefined_without_spread(seen, value) or ("two_points" if seen.rows == 2 else "")


def empty_of_one_unit(seen: Variety, value: float) -> str:
    """One unit shows no reliability."""
    return undefined_without_chance(seen, value) or ("one_unit" if seen.rows == 1 else "")


def always(kinds: Collection[str]) -> bool:
    """Whatever kinds of labels a report holds."""
    return True


def with_scores(kinds: Collection[str]) -> bool:
    """Where some of the criteria are scored."""
    return "rating" in kinds


def scores_alone(kinds: Collection[str]) -> bool:
    """Where every criterion is scored."""
    return {*kinds} == {"rating"}


def not_scores_alone(kinds: Collection[str]) -> bool:
    """Where some labels are names, or preferences."""
    return not scores_alone(kinds)


@dataclass(frozen=True)
class Shown:
    """A place where a statistic is printed, such as `table agreement`, in reports whose kinds of labels fit `when`.

    `later`: after those of the same place that have less. `words`: what it is called there, if not by its title.
    """

    where: str
    when: Callable[[Collection[str]], bool] = always
    later: int = 0
    words: str = ""


def no_need(scale: Scale, by_system: bool) -> bool:
    """Any labels will do."""
    return True


def needs_numbers(scale: Scale, by_system: bool) -> bool:
    """Labels that have numbers, or an order."""
    return scale.numbers is not None


def needs_declared_order(scale: Scale, by_system: bool) -> bool:
    """Labels whose order, and whose number, the protocol has declared."""
    return scale.numbers is not None and scale.declared


def needs_ratios(scale: Scale, by_system: bool) -> bool:
    """Scores from 0."""
    return scale.numbers is not None and bool(np.min(scale.numbers) >= 0)


def needs_one_system(scale: Scale, by_system: bool) -> bool:
    """Pairs that all share one system."""
    return by_system


@dataclass(frozen=True)
class Statistic:
    """One statistic, and all that is known of it in one place.

    `source`: keys of the bibliography; `bibtex` holds an entry that exports/references.bib lacks. `function`: the
    definition, over columns of labels. `kinds`: of labels that have it: pairwise, rating, probe. `interval`: how it is
    bounded. `of_table`: its closed form on count tables of the labels used, shape (..., K, K) to (...); `of_counts`: in
    its place where tables alone do not say it. A statistic with either that is bounded by the bootstrap is in every
    report whose labels `needs` allows. `shown`: where else than in calibration-report.json it is printed.
    """

    name: str
    title: str
    symbol: str  # where a page is narrow
    source: tuple[str, ...]
    function: Callable[..., float]
    kinds: tuple[str, ...]
    interval: str
    of_table: Callable[[Array], Array] | None = None
    bibtex: str = ""
    shown: tuple[Shown, ...] = ()
    undefined: Rule = undefined_without_chance
    of_counts: Callable[[Counts], Array] | None = None
    of_passing: Callable[[Array], Array] | None = None  # on tables of shape (..., 2, 2), the label that passes first
    needs: Callable[[Scale, bool], bool] = no_need
    family: str = ""  # the statistic that it is a form of; a table prints the last form of its family that a report has
    of_single_raters: bool = False  # drawn for two single raters too, of whom there are many pairs
    of_all_people: bool = True  # False: the panel of all annotators has an estimator of its own
    of_ratings: bool = False  # rests on all ratings of a unit at once, and so not on more raters than units
    coding: str = ""  # how A, tie and B are read
    note: Callable[[Scale, Codes, Comparison, Array], str] | None = None  # what must be known beside it
    perfect: Callable[[float, Array, int], float] | None = None  # its value at this agreement, on these margins
    linearised: Callable[[Array, Scale], tuple[Array, Array | None]] | None = None  # tables and weights of its Fisher z
    why: Callable[..., str] | None = None  # why `function` is nan, where its arguments are no two columns of labels

    @property
    def head(self) -> str:
        """The family, or its own name where it is the only form."""
        return self.family or self.name

    @property
    def is_drawn(self) -> bool:
        """Whether count tables alone give it and its bootstrap."""
        return self.interval == BOOTSTRAP and (self.of_table is not None or self.of_counts is not None)

    def of(self, counts: Counts) -> Array:
        """Its values, shape (block, comparisons). Defined where `is_drawn`."""
        if self.of_counts is not None:
            return self.of_counts(counts)
        assert self.of_table is not None
        return self.of_table(counts.of_used)

    def at(self, where: str, kinds: Collection[str]) -> Shown | None:
        """How it is printed there; None where it is not."""
        return next((place for place in self.shown if place.where == where and place.when(kinds)), None)

    def title_at(self, where: str) -> str:
        """What it is called there."""
        return next((place.words for place in self.shown if place.where == where and place.words), self.title)


def at_agreement(low: float, table: Array, labels: int) -> float:
    """Agreement itself."""
    return low


def kappa_at(low: float, table: Array, labels: int) -> float:
    """(p - Pe) / (1 - Pe), Pe the chance agreement of this table, shape (K, K)."""
    return beyond(low, float(closed_forms.chance(table)))


def alpha_at(low: float, table: Array, labels: int) -> float:
    """The same, Pe over both raters' labels together."""
    return beyond(low, float(closed_forms.chance(closed_forms.both_ways(table))))


def ac1_at(low: float, table: Array, labels: int) -> float:
    """The same with Gwet's Pe."""
    shares = (table.sum(axis=0) + table.sum(axis=1)) / (2 * table.sum())
    return beyond(low, float((shares * (1 - shares)).sum() / (labels - 1)))


def pabak_at(low: float, table: Array, labels: int) -> float:
    """The same with Pe = 1 / K."""
    return (labels * low - 1) / (labels - 1)


def beyond(low: float, expected: float) -> float:
    """(p - Pe) / (1 - Pe), nan where Pe is 1."""
    return (low - expected) / (1 - expected) if expected < 1 else math.nan


def margins_note(scale: Scale, used: Codes, comparison: Comparison, table: Array) -> str:
    """Both raters' shares of each label, among the rows compared."""
    if not table.sum() or len(used) > 6:
        return ""
    told = []
    for name, counts in ((comparison.rater, table.sum(axis=1)), (comparison.reference, table.sum(axis=0))):
        shares = ", ".join(f"{scale.labels[index]} {100 * counts[index] / table.sum():.1f} %" for index in used)
        told.append(f"{name} says {shares}")
    return "; ".join(told)


def prevalent_note(scale: Scale, used: Codes, comparison: Comparison, table: Array) -> str:
    """Over which labels, and what it hides."""
    labels = ", ".join(scale.labels[index] for index in used)
    return f"secondary, over the labels {labels}: high for any rater that always gives the prevalent one"


def recall_note(scale: Scale, used: Codes, comparison: Comparison, table: Array) -> str:
    """Whose labels are the reference."""
    return f"mean over the labels of {comparison.reference} of the share {comparison.rater} gives too"


def single_reports_note(scale: Scale, used: Codes, comparison: Comparison, table: Array) -> str:
    """Of scores."""
    return "over scores of single reports" if scale.kind == "rating" else ""


def perfect_bound(statistic: Statistic, table: Array, used: Codes, settings: CalibrationSettings) -> float:
    """The statistic at the Wilson bound of agreement, margins as they are; nan where agreement does not give it.

    `table`: shape (clusters, K, K).
    """
    if statistic.perfect is None:
        return math.nan
    low, _ = wilson_effective(closed_forms.diagonal(table), table.sum(axis=(-2, -1)), settings.level)
    return statistic.perfect(low, table.sum(axis=0), len(used))
