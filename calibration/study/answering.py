"""How raters answered, whatever they agreed on, and how often an adjudicator sided with each."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import Codes, tally
from calibration.estimates import Estimate
from calibration.inference.bootstrap import cluster_t, se_of_sums
from calibration.remarks import Reason, Remark, no_interval, undefined
from calibration.settings import CalibrationSettings
from calibration.study.bounding import WHOLE, Pair, made, share
from calibration.study.counted import currency_of
from calibration.study.joining import Answers, Study, both_orders, turned
from calibration.study.label_scores import scores_of
from calibration.table.typed_cells import where
from calibration.table.verdicts import BOTH_ORDERS

KNOWN_ENOUGH = 0.9  # share of a rater's rows whose price must be known before their mean stands for all


def answering_estimates(study: Study, settings: CalibrationSettings) -> Iterator[Estimate]:
    """`valid_share`, `swap_consistency`, `cost_per_item` and `seconds_per_item` of judges and of people."""
    for rater, rows in raters(study):
        if rater.endswith(BOTH_ORDERS):
            yield from per_item(rater, rows, settings)
            continue
        if rows["rater_kind"].iloc[0] == "judge":
            yield _share("valid_share", rater, rows, where(rows["status"], "ok".__eq__), settings)
        yield from _swap_consistency(study, rater, rows, settings)
        yield from per_item(rater, rows, settings)


def coverage(study: Study, pair: Pair, agree: Array, settings: CalibrationSettings) -> Iterator[Estimate]:
    """For a judge.

    `kept_share` of the annotators' rows, and agreement with unusable answers counted as disagreement.
    """
    judge = next((one for one in study.judges if one.rater == pair.rater), None)
    if judge is None or pair.reference != "each_annotator":
        return
    chosen, clusters = pair.group.chosen, len(study.clusters)
    rows, failed, halves = np.zeros(clusters), np.zeros(clusters), 0
    unreadable, partly = study.among(judge.unreadable), study.among(judge.partly)
    for annotator in study.annotators:
        rows += tally(study.unit_cluster[annotator.asked[chosen[annotator.asked]]], clusters)
        lost = np.unique(annotator.unit[chosen[annotator.unit] & unreadable[annotator.unit]])
        failed += tally(study.unit_cluster[lost], clusters)
        halves += len(np.unique(annotator.unit[chosen[annotator.unit] & partly[annotator.unit]]))
    whole = Pair(pair.rater, pair.reference, pair.group, rows, pair.weights)
    kept = np.minimum(pair.sizes, rows)
    yield share("kept_share", whole, kept, settings, "of the annotators' rows, those compared with this judge")
    yield from _applicability(study, pair, judge, settings)
    if failed.any() or halves:
        note = "an item without a usable answer counts as disagreement"
        if halves:
            note += f"; of n, {halves:,} rest on one order or repeat where another failed, and that is a disagreement"
            agree = np.maximum(agree - _lost_by_failed_orders(study, judge, chosen), 0.0)
        asked = Pair(pair.rater, pair.reference, pair.group, pair.sizes + failed, pair.weights)
        yield share("percent_agreement_missing_as_wrong", asked, agree, settings, note)


def _lost_by_failed_orders(study: Study, judge: Answers, chosen: np.typing.NDArray[np.bool_]) -> Array:
    """How much agreement is lost where a judge's other order failed, shape (clusters,)."""
    unit = np.concatenate([annotator.by_unit[0] for annotator in study.annotators])
    whole, less = (scores_of(study, judge, missing_as_wrong=wrong) for wrong in (False, True))
    rows = chosen[unit] & ~np.isnan(whole)
    return tally(study.unit_cluster[unit[rows]], len(study.clusters), (whole - less)[rows])


def _applicability(study: Study, pair: Pair, judge: Answers, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Where not_applicable is dropped: do judge and annotator agree on what applies, and how much is lost."""
    if not any(len(one.not_applicable) for one in (judge, *study.annotators)):
        return
    clusters = len(study.clusters)
    both, same, either = np.zeros(clusters), np.zeros(clusters), 0.0
    applies, spared = study.among(judge.unit), study.among(judge.not_applicable)
    for annotator in study.annotators:
        own, own_spared = (
            units[pair.group.chosen[units]] for units in (annotator.by_unit[0], annotator.not_applicable)
        )
        agreed = np.concatenate([own[applies[own]], own_spared[spared[own_spared]]])
        split = np.concatenate([own[spared[own]], own_spared[applies[own_spared]]])
        same += tally(study.unit_cluster[agreed], clusters)
        both += tally(study.unit_cluster[np.concatenate([agreed, split])], clusters)
        either += int(spared[own_spared].sum()) + len(split)
    if either:
        note = f"either side says not applicable in {100 * either / both.sum():.1f} % of rows, and these are dropped"
        compared = Pair(pair.rater, pair.reference, pair.group, both)
        yield share("applicability_agreement", compared, same, settings, note)


def raters(study: Study) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each judge's rows, each judge's answers made of both orders, and the rows of all annotators together."""
    judges = where(study.frame["rater_kind"], "judge".__eq__)
    for rater, rows in study.frame[judges].groupby("rater_id", observed=True):
        yield str(rater), rows
        both = both_orders(rows)
        if len(both):
            yield f"{rater}{BOTH_ORDERS}", both
    people = study.frame[~judges & (study.frame["run"] == 1).to_numpy()]
    if len(people):
        yield "each_annotator", people


def decisive(study: Study, rows: pd.DataFrame) -> pd.DataFrame:
    """Pairwise rows that name a winner, with a known presentation, and whether the winner was shown first."""
    named = study.of_kind(rows, "pairwise").to_numpy() & where(rows["label"], lambda text: text in ("A", "B"))
    ok = rows[named & where(rows["status"], "ok".__eq__) & where(rows["presentation"], bool)]
    return ok.assign(first=where(ok["label"], "A".__eq__) == where(ok["presentation"], "AB".__eq__))


def swap_table(study: Study, rows: pd.DataFrame) -> pd.DataFrame:
    """Units and runs each rater answered ok in both orders: the row shown AB, with the columns `turned`, the label of
    the row shown BA, and `same`."""
    ok = rows[study.of_kind(rows, "pairwise").to_numpy() & where(rows["status"], "ok".__eq__)]
    first, second = turned(ok)
    label = ok["label"].array
    return ok.iloc[first].assign(turned=label[second], same=label.codes[first] == label.codes[second])


def clusters_of(rows: pd.DataFrame) -> Codes:
    """The cluster of each row as a code, shape (rows,)."""
    return rows["cluster_id"].cat.codes.to_numpy().astype(np.intp)


def _swap_consistency(
    study: Study, rater: str, rows: pd.DataFrame, settings: CalibrationSettings
) -> Iterator[Estimate]:
    both = swap_table(study, rows)
    if len(both):
        yield _share("swap_consistency", rater, both, both["same"].to_numpy(), settings)


def _share(
    statistic: str, rater: str, rows: pd.DataFrame, hit: np.typing.NDArray[np.bool_], settings: CalibrationSettings
) -> Estimate:
    cluster = clusters_of(rows)
    pair = Pair(rater, "", WHOLE, tally(cluster, 0))
    return share(statistic, pair, tally(cluster, 0, hit), settings)


def per_item(rater: str, rows: pd.DataFrame, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Mean price and time of one item: the sum over its criteria, every row billed, divided by the passes over it.

    Where up to a tenth of the rows do not say, the others stand for them, and the note says how many; beyond that the
    mean is nan, for what is unknown is not 0.
    """
    first, place, passes = _items(rows)
    cluster = clusters_of(rows)[first]
    money = currency_of(rows)
    for statistic, column, unit in (("cost_per_item", "cost_usd", money), ("seconds_per_item", "seconds", "seconds")):
        known = rows[column].notna().to_numpy()
        if not known.any():
            continue
        each = sums_per_item(rows[column].to_numpy(float), place) / passes
        told = ~np.isnan(each)
        sizes = tally(cluster, 0, told if told.any() else ~told)
        pair = Pair(rater, "", WHOLE, sizes)
        said: list[str | Remark] = [f"{unit} per item, every row billed"]
        value, interval = math.nan, (math.nan, math.nan)
        if told.any():
            value = float(each[told].mean())
            se = se_of_sums(tally(cluster, 0, np.nan_to_num(each)), sizes)
            interval = cluster_t(value, se, pair.clusters, settings.level)
            if math.isnan(interval[0]):
                said.append(no_interval(Reason.ZERO_VARIANCE))
        if not known.all():
            said.append(_incomplete(known))
        yield made(statistic, pair, value, interval, "cluster_t", said, settings)


def sums_per_item(values: Array, place: Codes) -> Array:
    """The sum over the rows of each item, shape (items,); nan where none of its rows has a value.

    A row without one counts as the item's other rows do. All nan where fewer than `KNOWN_ENOUGH` of the rows have one.
    """
    known = ~np.isnan(values)
    rows = tally(place, 0)
    if known.mean() < KNOWN_ENOUGH:
        return np.full(len(rows), math.nan)
    size = len(rows)
    return np.asarray(tally(place, size, np.nan_to_num(values)) * ratio(rows, tally(place, size, known)))


def _incomplete(known: np.typing.NDArray[np.bool_]) -> str | Remark:
    missing, share = f"{int((~known).sum()):,} of {len(known):,} rows", f"{100 * known.mean():.1f} %"
    if known.mean() < KNOWN_ENOUGH:
        enough = f"fewer than {100 * KNOWN_ENOUGH:.0f} %"
        return undefined(Reason.UNKNOWN, f"not given in {missing} (known in {share}, {enough}), and unknown is not 0")
    return f"not given in {missing} (known in {share}): the rows that say so stand for them"


def _items(rows: pd.DataFrame) -> tuple[Codes, Codes, Array]:
    """The first row of each rater and item, the place among these of each row, and each one's passes."""
    rater, item, criterion = (
        rows[name].cat.codes.to_numpy().astype(np.intp) for name in ("rater_id", "item_id", "criterion")
    )
    _, first, place = np.unique(rater * (item.max(initial=0) + 1) + item, return_index=True, return_inverse=True)
    criteria = criterion.max(initial=0) + 1
    answered, times = np.unique(place * criteria + criterion, return_counts=True)
    passes = np.zeros(len(first))
    np.maximum.at(passes, answered // criteria, times)
    return first, place, passes


def sided_with(settled: pd.DataFrame, settings: CalibrationSettings) -> tuple[Estimate, ...]:
    """One share for each rater, by name, with its Wilson interval over clusters; none for an empty table.

    `settled`: one row a settled dispute and rater who answered it, with `rater_id`, `label`, `decided` (the adjudicated
    verdict) and `cluster_id`. Disputes are no sample of all questions: two raters who differ cannot both be high.
    """
    found = []
    for rater, rows in settled.groupby("rater_id", sort=True):
        by_cluster = (rows["label"] == rows["decided"]).groupby(rows["cluster_id"], sort=True)
        pair = Pair(str(rater), "adjudicator", WHOLE, np.asarray(by_cluster.size(), float))
        found.append(share("sided_with", pair, np.asarray(by_cluster.sum(), float), settings))
    return tuple(found)
