"""From scores of units to values of reports, and from reports to each system in each cluster.

A probe's claim may stand before several sources, its tag is a part of the report; a rating's report is its item. A
report that lacks one of the scores that its rule needs has no value: nothing is renormalised in silence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.engine.closed_forms import Array, ratio
from calibration.engine.joining import Mask, Study
from calibration.reading.columns import Codes, tally
from calibration.settings import Aggregate

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


def tree_of(study: Study, one: Aggregate, wanted: Mask, is_rating: bool) -> Tree:
    """`wanted`: the units that the aggregate is about, shape (units,), of which there is at least one."""
    first = _first_rows(study)[wanted]
    number = np.flatnonzero(wanted)
    used, system = np.unique(first["system_a"].cat.codes, return_inverse=True)
    names = tuple(map(str, first["system_a"].cat.categories[used]))
    item = first["item_id"].cat.codes.to_numpy().astype(np.intp)
    cell_of_unit = study.unit_cluster[number] * len(names) + system
    report = _codes(item if is_rating else cell_of_unit)
    tag = _codes(first["tag"].cat.codes.to_numpy()) if one.by and "tag" in first else np.zeros(len(first), np.intp)
    part = report * (tag.max(initial=0) + 1) + tag
    claim = np.arange(len(first))
    if one.rule in COUNTING and "claim" in first:
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
        one.rule, one.several, is_rating, names, len(study.clusters), number, claim, weight[top], part_of_claim,
        report_of_claim, report_of_claim[_first_of(part_of_claim)], cell_of_unit[_first_of(report)], beside,
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


def _first_rows(study: Study) -> pd.DataFrame:
    """The first row of each unit, in the order of units."""
    return study.frame.iloc[np.unique(study.frame["unit"].to_numpy(), return_index=True)[1]]


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
