"""From each rater's answers to scores of units, from these to values of reports, and from reports to each system.

A unit (item x criterion) counts once: a rater's passes over it are averaged first, then the annotators, each of whom
counts once. nan: no such answer. A probe's claim may have several sources, its tag is a part of the report; a rating's
report is its item. A report that lacks one of the scores that its rule needs has no value: nothing is renormalised in
silence.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import Codes, tally
from calibration.settings import Aggregate, CalibrationSettings
from calibration.study.bias import EVERYONE
from calibration.study.joining import Mask, Study

COUNTING = ("share", "majority")  # the rules that count answers: a claim with several sources counts once


@dataclass(frozen=True)
class Tree:
    """Where each wanted unit belongs: to a claim (itself, mostly), that to a part (tag) of a report, that to a cell.

    A cell is one system in one cluster. `beside`: the report rated in the same view, -1 where there is none.
    """

    rule: str
    several: str
    is_rating: bool
    systems: tuple[str, ...]
    clusters: int
    number: Codes  # of each wanted unit in the study
    claim: Codes  # shape (wanted,), as the next
    weight: Array  # of the claim's criterion, shape (claims,), as the next two
    part: Codes
    report: Codes
    report_of_part: Codes
    cell: Codes  # shape (reports,), as the next
    beside: Codes
    lacking: Mask  # nobody was asked a criterion here that another report of the cluster was asked


@dataclass(frozen=True)
class Rates:
    """Values of systems, shape (clusters, systems), nan where a system has none; and what they are made of.

    `sizes`: claims, or reports of ratings, behind each; `reports`: with any score, `left_out`: of these, without a
    value, both of shape (systems,).
    """

    values: Array
    sizes: Array
    reports: Array
    left_out: Array


def tree_of(study: Study, aggregate: Aggregate, wanted: Mask, is_rating: bool) -> Tree:
    """`wanted`: the units that the aggregate is about, shape (units,), of which there is at least one."""
    first = study.frame.iloc[np.unique(study.frame["unit"].to_numpy(), return_index=True)[1]][wanted]  # of each unit
    number = np.flatnonzero(wanted)
    used, system = np.unique(first["system_a"].cat.codes, return_inverse=True)
    names = tuple(map(str, first["system_a"].cat.categories[used]))
    item = first["item_id"].cat.codes.to_numpy().astype(np.intp)
    cell_of_unit = study.unit_cluster[number] * len(names) + system
    topic = first["topic"].cat.codes.to_numpy().astype(np.intp) if "topic" in first else study.unit_cluster[number]
    report = _codes(item if is_rating else topic * len(names) + system)
    tag = (
        _codes(first["tag"].cat.codes.to_numpy()) if aggregate.by and "tag" in first else np.zeros(len(first), np.intp)
    )
    part = report * (tag.max(initial=0) + 1) + tag
    claim = np.arange(len(first))
    if aggregate.rule in COUNTING and "claim" in first:
        named = _items_named(first, "claim")
        same = np.where(named < 0, item, named)
        claim = _codes((same * len(study.criteria) + study.unit_criterion[number]) * len(names) + system)
    weight = first["weight"].fillna(1.0).to_numpy(float) if "weight" in first else np.ones(len(first))
    top = _first_of(claim)
    beside = np.full(report.max() + 1, -1)
    if "beside" in first:
        report_of_item = np.full(item.max() + 2, -1)  # the last is that of an item which is none of these
        report_of_item[item] = report
        named = _items_named(first, "beside")
        beside[report] = report_of_item[np.where((named < 0) | (named > item.max()), -1, named)]
    part_of_claim, report_of_claim = _codes(part[top]), report[top]
    return Tree(
        aggregate.rule, aggregate.several, is_rating, names, len(study.clusters), number, claim,
        weight[top], part_of_claim, report_of_claim, report_of_claim[_first_of(part_of_claim)],
        cell_of_unit[_first_of(report)], beside,
        _lacking(report, study.unit_cluster[number], study.unit_criterion[number]),
    )  # fmt: skip


def _lacking(report: Codes, cluster: Codes, criterion: Codes) -> Mask:
    """Which reports have fewer criteria than were asked in their cluster; shape (reports,). All arguments by unit."""
    count = criterion.max() + 1
    asked = tally((np.unique(cluster * count + criterion) // count).astype(np.intp), int(cluster.max()) + 1)
    own = tally((np.unique(report * count + criterion) // count).astype(np.intp), int(report.max()) + 1)
    found: Mask = own < asked[cluster[_first_of(report)]]
    return found


def rates_of(tree: Tree, score: Array) -> Rates:
    """`score`: of all units of the study, shape (units,), nan where there is none."""
    claims = _claims(tree, score[tree.number])
    known = ~np.isnan(claims)
    values = _of_whole_reports(tree, claims) if tree.is_rating else _of_parts(tree, claims)
    count, cells = len(tree.cell), tree.clusters * len(tree.systems)
    has, asked = ~np.isnan(values), tally(tree.report[known], count) > 0
    within = tally(tree.cell[has], cells)
    sums = tally(tree.cell[has], cells, values[has])
    sizes = within if tree.is_rating else tally(tree.cell[tree.report[known & has[tree.report]]], cells)
    shape = tree.clusters, len(tree.systems)
    system = tree.cell % len(tree.systems)
    return Rates(
        ratio(sums, within).reshape(shape), sizes.reshape(shape), tally(system[asked], shape[1]),
        tally(system[asked & ~has], shape[1]),
    )  # fmt: skip


def _claims(tree: Tree, score: Array) -> Array:
    """The score of each claim: the highest of its sources' for `any`, the lowest for `all`.

    A source without a score leaves it open, unless another one settles it.
    """
    count = len(tree.report)
    sign = 1.0 if tree.several == "any" else -1.0
    known = ~np.isnan(score)
    best = np.full(count, -np.inf)
    np.maximum.at(best, tree.claim[known], sign * score[known])
    settled = (tally(tree.claim, count) == tally(tree.claim[known], count)) | (best == (sign + 1) / 2)
    return np.where(settled & np.isfinite(best), sign * best + 0.0, np.nan)


def _of_parts(tree: Tree, claims: Array) -> Array:
    """Mean over a report's parts of the mean of their claims; a report with an empty part has none."""
    known = ~np.isnan(claims)
    parts, reports = len(tree.report_of_part), len(tree.cell)
    mean = ratio(tally(tree.part[known], parts, claims[known]), tally(tree.part[known], parts))
    total = tally(tree.report_of_part, reports, np.nan_to_num(mean))
    complete = tally(tree.report_of_part[np.isnan(mean)], reports) == 0
    return np.where(complete, total / tally(tree.report_of_part, reports), np.nan)


def _of_whole_reports(tree: Tree, claims: Array) -> Array:
    """Mean of a report's scores, weighted by criterion where the rule says so; a share of both reports' for a view."""
    reports = len(tree.cell)
    weight = np.ones(len(claims)) if tree.rule == "mean" else tree.weight
    total = ratio(tally(tree.report, reports, weight * np.nan_to_num(claims)), tally(tree.report, reports, weight))
    total[(tally(tree.report[np.isnan(claims)], reports) > 0) | tree.lacking] = np.nan
    if tree.rule != "target_share":
        return total
    other = np.where(tree.beside >= 0, total[tree.beside], np.nan)
    return ratio(total, total + other)


def _items_named(rows: pd.DataFrame, column: str) -> Codes:
    """The items that a column names, as codes of `item_id`; -1 for none, numbers beyond those for items not there."""
    items, names = rows["item_id"].cat.categories, rows[column].cat.categories
    place = items.get_indexer(names)
    place = np.where(place < 0, len(items) + np.arange(len(names)), place)
    place[names == ""] = -1
    return place[rows[column].cat.codes].astype(np.intp)


def _codes(keys: np.typing.NDArray[np.integer]) -> Codes:
    code: Codes = np.unique(keys, return_inverse=True)[1].astype(np.intp)
    return code


def _first_of(code: Codes) -> Codes:
    """The position of the first row of each code."""
    return np.unique(code, return_index=True)[1]


ROUNDING = 1e-9  # votes that differ by less are equally many


@dataclass(frozen=True)
class Scored:
    """Scores of the study's units, shape (units,). `undecided`: units whose votes have no majority; `vote_share`.

    The mean share of the votes that a majority had; nan for other rules.
    """

    score: Array
    undecided: Mask
    vote_share: float = float("nan")


@dataclass(frozen=True)
class Rows:
    """The rows of a study as arrays, shape (rows,); `rater` counts the annotators' first runs and all of a judge's."""

    study: Study

    @cached_property
    def unit(self) -> Codes:
        return self.study.frame["unit"].to_numpy().astype(np.intp)

    @cached_property
    def ok(self) -> Mask:
        return (self.study.frame["status"] == "ok").to_numpy()

    @cached_property
    def label(self) -> Codes:
        return self.study.frame["label"].cat.codes.to_numpy().astype(np.intp)

    def of(self, rater: str) -> tuple[Mask, ...]:
        """Which rows are whose: of each annotator for everyone, else of the one judge."""
        frame = self.study.frame
        code = frame["rater_id"].cat.codes.to_numpy()
        names = list(frame["rater_id"].cat.categories)
        if rater != EVERYONE:
            own = code == names.index(rater)
            person = rater in [annotator.rater for annotator in self.study.annotators]
            return (own & self._first_run if person else own,)
        return tuple((code == names.index(annotator.rater)) & self._first_run for annotator in self.study.annotators)

    @cached_property
    def _first_run(self) -> Mask:
        return (self.study.frame["run"] == 1).to_numpy()


def scores_by(rows: Rows, aggregate: Aggregate, wanted: Mask, settings: CalibrationSettings) -> Callable[[str], Scored]:
    """How a rater's answers become scores under the aggregate's rule; `wanted`: the units it is about."""
    study = rows.study
    values = _values(study, aggregate, settings)
    factor = np.array([settings.score_times.get(name, 1.0) for name in study.criteria])[study.unit_criterion]

    def scored(rater: str) -> Scored:
        masks = rows.of(rater)
        if aggregate.rule == "majority":
            return _majority(rows, masks, aggregate, wanted)
        known = rows.ok & wanted[rows.unit] & ~np.isnan(values)[rows.label]
        total, raters = np.zeros(study.units), np.zeros(study.units)
        for mask in masks:
            own = known & mask
            passes = tally(rows.unit[own], study.units)
            total += np.nan_to_num(ratio(tally(rows.unit[own], study.units, values[rows.label[own]]), passes))
            raters += passes > 0
        return Scored(ratio(total, raters) * factor, np.zeros(study.units, bool))

    return scored


def _values(study: Study, aggregate: Aggregate, settings: CalibrationSettings) -> Array:
    """What each of the study's labels counts; nan: it does not enter."""
    labels = pd.Index(study.labels)
    applies = labels != "not_applicable"
    if aggregate.rule == "share":
        return np.where(applies, labels.isin(aggregate.labels).astype(float), np.nan)
    if settings.answer_values:
        found = np.array([settings.answer_values.get(label, np.nan) for label in labels])
        return np.where(labels.isin(aggregate.labels) | (not aggregate.labels), found, np.nan)
    numbers = pd.to_numeric(pd.Series(study.labels), errors="coerce").to_numpy(float)
    return np.where(applies, numbers, np.nan)


def _majority(rows: Rows, masks: tuple[Mask, ...], aggregate: Aggregate, wanted: Mask) -> Scored:
    """1 where the most frequent answer is among the aggregate's labels, 0 where another is; where two are tied, none.

    Votes are a judge's runs, or the annotators.
    """
    study, units = rows.study, rows.study.units
    known = rows.ok & wanted[rows.unit] & (np.array(study.labels) != "not_applicable")[rows.label]
    used, column = np.unique(rows.label[known], return_inverse=True)
    place = np.zeros(len(study.labels), np.intp)
    place[rows.label[known]] = column
    votes = np.zeros((units, max(1, len(used))))
    for mask in masks:
        own = known & mask
        unit = rows.unit[own]
        passes = tally(unit, units)
        cell = unit * votes.shape[1] + place[rows.label[own]]
        each = 1.0 if len(masks) == 1 else 1 / passes[unit]
        votes += tally(cell, votes.size, np.broadcast_to(each, len(cell))).reshape(votes.shape)
    total, top = votes.sum(axis=1), votes.max(axis=1)
    tied = (total > 0) & ((votes >= top[:, None] - ROUNDING).sum(axis=1) > 1)
    decided = (total > 0) & ~tied
    hit = np.isin(np.array(study.labels)[used], aggregate.labels) if len(used) else np.zeros(1, bool)
    score = np.where(decided, hit[votes.argmax(axis=1)], np.nan)
    share = float((top[decided] / total[decided]).mean()) if decided.any() else float("nan")
    if total.max(initial=0) <= 1:  # one vote each says nothing of how firm it is, but a panel's row does
        share = _share_of_panel(rows, known & np.logical_or.reduce(masks))
    return Scored(score, tied, share)


def _share_of_panel(rows: Rows, used: Mask) -> float:
    """Mean confidence of rows that have a share of votes there; nan without, or where it is a person's 1 to 5."""
    if "confidence" not in rows.study.frame or not used.any():
        return float("nan")
    stated = rows.study.frame["confidence"].to_numpy()[used]
    return float(stated.mean()) if (stated <= 1).all() else float("nan")
