"""The row "inter-human" as each published study prints it: four formulas that are not comparable with each other.

None of them is a ceiling: their references are not those a judge is compared with. `leave_one_out_ceiling` is.
"""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from calibration.agreement.panel import THIN
from calibration.arithmetic import closed_forms
from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import SCORES, Codes, tally, without_ties
from calibration.arithmetic.correlation import Ranked, pair_matrices, pearson, rank_agreement_across_items, rank_share
from calibration.arithmetic.metrics import percent_agreement
from calibration.errors import CalibrationError
from calibration.estimates import Estimate
from calibration.inference.bootstrap import resample
from calibration.settings import CalibrationSettings
from calibration.study.bounding import Group, Pair, drawn, share
from calibration.study.crossing import comparison_of_people, cross, votes
from calibration.study.joining import Scale, Study
from calibration.study.left_out import SUFFIX, TIE_RULE, pooled
from calibration.totals import total_scores

CONSTRUCTIONS = ("pairs", "others_mean")


def label_agreement_of_people(verdicts: pd.DataFrame, settings: CalibrationSettings | None = None) -> Estimate:
    """Wiki Live Challenge's PAR between people: share of equal labels, pooled over all pairs of annotators; 0 to 1.

    The paper has no inter-human row; this is its formula for judges. MT-Bench prints it as human-human agreement.
    `verdicts`: as for `calibrate`; ties as `settings` say. Undefined: no label that two people gave.
    """
    study, group, scale, settings = _opened(verdicts, settings)
    ties = settings.ties if scale.kind == "pairwise" else "three_class"  # equal labels, whatever their distance
    people = comparison_of_people(study, scale, group.chosen)
    size = len(study.clusters), len(scale.labels), len(scale.labels)
    table = people.table / people.scale if people else np.zeros(size)
    if ties == "exclude":
        table = without_ties(table)
    if ties == "half_credit":
        table = table[..., :3, :3]
    pair = Pair("each_annotator", "others", group, table.sum(axis=(-2, -1)))
    name, note = f"{percent_agreement.__name__}{SUFFIX[ties]}", f"wlc: all pairs of annotators; {TIE_RULE[ties]}"
    if ties != "half_credit":
        return share(name, pair, closed_forms.diagonal(table), settings, note)
    return _drawn(name, pair, table, lambda one: closed_forms.half_credit(one, SCORES), settings, note)


def mean_kappa_of_people(verdicts: pd.DataFrame, settings: CalibrationSettings | None = None) -> Estimate:
    """DeepResearchGym's inter-annotator kappa: Cohen's kappa of each two annotators, unweighted mean; -1 to 1.

    Pairs who share nothing, or whose kappa is undefined, are left out and counted. Undefined: no pair is left. This is
    `light_kappa`, never weighted by how much two people share. n counts the labels two people gave, pair by pair.
    """
    study, group, scale, settings = _opened(verdicts, settings)
    tables = [
        cross(one, votes([other], scale, study.units, other.scale), scale, group.chosen, *_clusters(study))
        / (one.scale * other.scale)
        for one, other in itertools.combinations(study.annotators, 2)
    ]
    size = len(study.clusters), len(scale.labels), len(scale.labels)
    sums = np.stack(tables or [np.zeros(size)], axis=1)
    pair = Pair("each_annotator", "others", group, sums.sum(axis=(1, 2, 3)))
    defined = ~np.isnan(closed_forms.kappa(sums.sum(axis=0)))
    thin = int((defined & (sums.sum(axis=(0, 2, 3)) < THIN)).sum())
    note = f"drg: unweighted mean over {int(defined.sum())} of {len(tables)} pairs of annotators"
    note += f"; {thin} of them share fewer than {THIN} labels and weigh as much as the others" if thin else ""
    return _drawn(
        "light_kappa", pair, sums, lambda one: total_scores.mean_known(closed_forms.kappa(one)), settings, note
    )


def score_correlations_of_people(
    verdicts: pd.DataFrame, settings: CalibrationSettings | None = None, construction: str = "pairs"
) -> tuple[Estimate, Estimate, Estimate]:
    """DR3-Eval's inter-human Pearson, Spearman and strict pairwise agreement of total scores, over reports.

    The paper does not say between whom. `construction`: `pairs`, the mean over pairs of annotators; `others_mean`, the
    mean over annotators of each against the mean of the others. A total is the mean of all criteria asked of a report;
    where an annotator left one out there is none. Undefined parts are left out and counted. n counts reports two
    people scored, part by part. Raises `unknown_form`, and `not_scores` where labels have no numbers.
    """
    if construction not in CONSTRUCTIONS:
        raise CalibrationError(
            "unknown_form", f"construction is {construction!r}; use one of {', '.join(CONSTRUCTIONS)}"
        )
    study, group, scale, settings = _opened(verdicts, settings)
    totals, cluster = (
        total_scores.totals_of(study, study.annotators, group, scale),
        total_scores.clusters_of_reports(study),
    )
    sides = _pairs(totals) if construction == "pairs" else _against_others(totals)
    parts = [total_scores.paired(x, y, cluster) for x, y in sides]
    clusters = len(study.clusters)
    pair = Pair(
        "each_annotator", "others", group, sum((tally(part.cluster, clusters) for part in parts), np.zeros(clusters))
    )
    estimates = []
    for name, function, draws_of in (
        ("pearson", pearson, total_scores.pearson_draws),
        ("spearman", total_scores.rank_correlation, total_scores.ranked_draws),
        ("rank_agreement_across_items", rank_agreement_across_items, total_scores.order_draws),
    ):
        values = np.array([function(part.x, part.y) for part in parts])
        value = float(total_scores.mean_known(values))
        draws = None
        if not math.isnan(value) and pair.clusters > 1:
            draws = total_scores.mean_known(np.stack([draws_of(part, clusters, settings) for part in parts], axis=-1))
        note = f"dr3: totals of reports, mean over {int((~np.isnan(values)).sum())} of {len(parts)} "
        note += "pairs of annotators" if construction == "pairs" else "annotators, each with the mean of the others"
        note += "; a tie on either side is disagreement" if draws_of is total_scores.order_draws else ""
        reason = "" if not math.isnan(value) else "zero_variance" if pair.n > 1 else "no_items"
        estimates.append(drawn(name, pair, value, draws, reason, settings, note))
    return estimates[0], estimates[1], estimates[2]


def rank_agreement_of_people(
    verdicts: pd.DataFrame, settings: CalibrationSettings | None = None, ties: str = "strict"
) -> Estimate:
    """DeepResearch Bench's human PAR: pairs of systems of one topic that two annotators put in the same order, 0 to 1.

    Pooled over topics (clusters) and pairs of annotators; totals as `race_totals` makes them. `ties`: `strict`, a tie
    on either side is disagreement, or `exclude`. Undefined: no two reports of one topic by two people. Raises
    `not_scores`, `unknown_form`.
    """
    if ties not in ("strict", "exclude"):
        raise CalibrationError("unknown_form", f"ties is {ties!r}; use strict or exclude")
    study, group, scale, settings = _opened(verdicts, settings)
    totals, cluster = (
        total_scores.race_totals(study, study.annotators, group, scale),
        total_scores.clusters_of_reports(study),
    )
    parts = [total_scores.paired(x, y, cluster) for x, y in _pairs(totals)]
    matrices = pair_matrices((Ranked(part.x, part.y, part.weight, part.cluster) for part in parts), len(study.clusters))
    counts = np.moveaxis(np.diagonal(matrices, axis1=1, axis2=2), 0, -1) / 2
    agree, pairs = rank_share(counts, ties)
    rule = "a tie on either side is disagreement" if ties == "strict" else "pairs with a tie on either side dropped"
    name = "rank_agreement_within_topic" + ("" if ties == "strict" else "_exclude_ties")
    pair = Pair("each_annotator", "others", group, pairs)
    return share(name, pair, agree, settings, f"race: {len(parts)} pairs of annotators pooled; {rule}")


def _opened(
    verdicts: pd.DataFrame, settings: CalibrationSettings | None
) -> tuple[Study, Group, Scale, CalibrationSettings]:
    settings = settings or CalibrationSettings()
    return *pooled(verdicts, settings), settings


def _clusters(study: Study) -> tuple[Codes, int]:
    return study.unit_cluster, len(study.clusters)


def _drawn(
    name: str, pair: Pair, sums: Array, statistic: Callable[[Array], Array], settings: CalibrationSettings, note: str
) -> Estimate:
    value = float(statistic(sums.sum(axis=0)[None])[0])
    draws = resample(sums, statistic, settings.resamples, settings.seed) if pair.clusters > 1 else None
    reason = "" if not math.isnan(value) else "one_category" if pair.n else "no_items"
    return drawn(name, pair, value, draws, reason, settings, note)


def _pairs(totals: Array) -> list[tuple[Array, Array]]:
    return list(itertools.combinations(list(totals), 2))


def _against_others(totals: Array) -> list[tuple[Array, Array]]:
    known = ~np.isnan(totals)
    everyone, count = np.nan_to_num(totals).sum(axis=0), known.sum(axis=0)
    return [(own, ratio(everyone - np.nan_to_num(own), count - seen)) for own, seen in zip(totals, known, strict=True)]
