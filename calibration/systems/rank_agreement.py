"""Do two raters put the same reports in the same order? Kendall's tau-b and the two rank agreements of a study."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from calibration.engine.bounding import FEW_CLUSTERS, Group, Pair, drawn, made, share
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.concordance import (
    MOST_ROWS,
    Ranked,
    concordance_draws,
    counts_of,
    pair_matrices,
    rank_share,
    tau_b,
)
from calibration.engine.joining import Scale, Study
from calibration.estimates import Estimate
from calibration.reading.columns import tally
from calibration.scores.paired_scores import Joined, by_criterion, parts_of
from calibration.settings import CalibrationSettings

RULES = {
    "strict": ("", "a tie on either side is disagreement"),
    "exclude": ("_exclude_ties", "pairs with a tie on either side dropped"),
    "half_credit": ("_half_credit", "a tie against an order counts one half"),
}


def rank_estimates(study: Study, group: Group, scale: Scale, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Rank agreement of each comparison under each tie rule: each two raters' reports, criterion by criterion, pooled.

    Within a topic only where its cluster holds several reports; of two single raters only there, because pairs across
    clusters cost their square in every resample. n counts pairs of reports.
    """
    clusters = len(study.clusters)
    for rater, reference, parts in parts_of(study, scale, group.chosen):
        if (rater, reference) == ("each_annotator", "others") or reference != "others":
            ranked = by_criterion(study, parts)
            if max((len(one.x) for one in ranked), default=0) > MOST_ROWS:
                pair = Pair(
                    rater, reference, group, sum((tally(one.cluster, clusters) for one in ranked), np.zeros(clusters))
                )
                yield _too_many("rank_agreement_across_items", pair, settings)
                continue
            matrices = pair_matrices(ranked, clusters)
            yield from _within_topic(rater, reference, group, matrices, settings)
            if reference in ("each_annotator", "others"):
                yield from _across_items(rater, reference, group, matrices, settings)


def kendall(one: Joined, pair: Pair, settings: CalibrationSettings) -> Estimate:
    """Tau-b of joined scores, with its interval from cluster concordance matrices."""
    note = "over scores of single reports"
    if len(one.x) > MOST_ROWS:
        return _too_many("kendall_tau_b", pair, settings)
    matrices = pair_matrices([Ranked(one.x, one.y, one.weight, one.cluster)], len(pair.sizes))
    value = float(tau_b(_whole(matrices)))
    draws = tau_b(concordance_draws(matrices, settings.resamples, settings.seed)) if _wanted(pair) else None
    few = "too_few_units" if pair.n else "no_items"
    reason = few if pair.n < 2 else "zero_variance" if math.isnan(value) else "two_points" if pair.n == 2 else ""
    return drawn("kendall_tau_b", pair, value, draws, reason, settings, note)


def _within_topic(
    rater: str, reference: str, group: Group, matrices: Array, settings: CalibrationSettings
) -> Iterator[Estimate]:
    counts = np.moveaxis(np.diagonal(matrices, axis1=1, axis2=2), 0, -1) / 2  # (clusters, kinds)
    if not counts[:, 4].any():
        return
    for ties, (suffix, rule) in RULES.items():
        if ties == "half_credit":
            continue  # no share of whole pairs: across items has it
        agree, pairs = rank_share(counts, ties)
        pair = Pair(rater, reference, group, pairs)
        yield share(f"rank_agreement_within_topic{suffix}", pair, agree, settings, _note(rule, counts.sum(axis=0)))


def _across_items(
    rater: str, reference: str, group: Group, matrices: Array, settings: CalibrationSettings
) -> Iterator[Estimate]:
    whole = _whole(matrices)
    sizes = matrices[4].sum(axis=1) / 2  # each pair of reports counts half for either of its clusters
    pair = Pair(rater, reference, group, sizes)
    drawn_counts = concordance_draws(matrices, settings.resamples, settings.seed) if _wanted(pair) else None
    for ties, (suffix, rule) in RULES.items():
        agree, pairs = rank_share(whole, ties)
        value = float(ratio(agree, pairs))
        own = Pair(rater, reference, group, sizes * float(ratio(pairs, whole[4])) if whole[4] else sizes)
        draws = None if drawn_counts is None else ratio(*rank_share(drawn_counts, ties))
        reason = "no_items" if math.isnan(value) else ""
        note = _note(rule, whole)
        yield drawn(f"rank_agreement_across_items{suffix}", own, value, draws, reason, settings, note)


def _note(rule: str, counts: Array) -> str:
    tied = round(float(counts[4] - counts[0] - counts[1]))
    return f"{rule}; ties: {tied:,} of {round(float(counts[4])):,} pairs of reports"


def _whole(matrices: Array) -> Array:
    return np.asarray(counts_of(matrices, np.ones((1, matrices.shape[-1])))[0])


def _wanted(pair: Pair) -> bool:
    return len(pair.sizes) >= (FEW_CLUSTERS if pair.group.single else 2)


def _too_many(statistic: str, pair: Pair, settings: CalibrationSettings) -> Estimate:
    note = f"too_many_rows: pairs of more than {MOST_ROWS:,} scores are too many to resample"
    return made(statistic, pair, math.nan, (math.nan, math.nan), "none", [note], settings)
