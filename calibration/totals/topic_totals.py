"""Judges' total scores against the mean of the annotators', topic by topic: what DeepResearch Bench's table holds."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import Codes, tally
from calibration.arithmetic.correlation import KINDS, icc, pearson, pearson_of_moments, rank_share, sign_counts
from calibration.estimates import Estimate
from calibration.inference.bootstrap import resample
from calibration.remarks import Reason, told
from calibration.settings import CalibrationSettings
from calibration.study import crossing, joining, left_out
from calibration.study.bounding import Group, Pair, drawn, made, share
from calibration.systems.ranking import FEW_SYSTEMS
from calibration.totals import total_scores

FEWEST_REPORTS = 3  # of a topic: a correlation of two points is always 1 or -1
Draws = Array  # shape (resamples,)


@dataclass(frozen=True)
class TopicAgreement:
    """One judge. `ordered` counts pairs of systems, the others topics."""

    judge: str
    overall: Estimate  # mean of the four below
    ordered: Estimate  # rank_agreement_within_topic: a tie on either side is disagreement
    systems: Estimate  # Pearson of the systems' mean totals
    pearson: Estimate  # of each topic, mean over topics on which people agree
    spearman: Estimate


def disputed_topics(verdicts: pd.DataFrame, settings: CalibrationSettings | None = None) -> tuple[str, ...]:
    """Topics (clusters) on which people disagree: ICC(1,1) of the annotators' totals of its reports is below 0.

    Of reports that every annotator of the topic scored. Where that ICC is undefined (one annotator, equal scores) the
    topic is not disputed. Raises `not_scores`.
    """
    study, group, scale = left_out.pooled(verdicts, settings or CalibrationSettings())
    disputed = _disputed(
        total_scores.race_totals(study, study.annotators, group, scale), total_scores.clusters_of_reports(study), study
    )
    return tuple(name for name, held in zip(study.clusters, disputed, strict=True) if held)


def reference_in_views(verdicts: pd.DataFrame, settings: CalibrationSettings | None = None) -> str:
    """The system that every other one was rated beside, in one view; "" where there is none."""
    study, _, _ = left_out.pooled(verdicts, settings or CalibrationSettings())
    place = total_scores.reference_of(study)
    return str(study.systems[place]) if place >= 0 else ""


def topic_agreement(verdicts: pd.DataFrame, settings: CalibrationSettings | None = None) -> tuple[TopicAgreement, ...]:
    """The four columns of DeepResearch Bench for each judge, and their mean; each from -1 or 0 to 1.

    `verdicts`: ratings, alone or two in one view; the topic is `cluster_id`. Totals as `race_totals` makes them. PAR:
    pairs of systems of one topic in the same order, pooled. OPC: Pearson of the systems' mean totals over reports both
    scored. FAP, FAS: Pearson, Spearman within a topic, mean over topics that are not disputed, have three reports
    scored by both and vary on both sides. Undefined parts make the mean undefined. Raises `not_scores`.
    """
    settings = settings or CalibrationSettings()
    study, group, scale = left_out.pooled(verdicts, settings)
    cluster, system = total_scores.clusters_of_reports(study), total_scores.systems_of_reports(study)
    people = total_scores.race_totals(study, study.annotators, group, scale)
    agreed = ~_disputed(people, cluster, study)
    judged = total_scores.race_totals(study, study.judges, group, scale)
    return tuple(
        _agreement(
            study,
            group,
            judge.rater,
            total_scores.paired(own, total_scores.mean_known(people, axis=0), cluster),
            system,
            agreed,
            settings,
        )
        for judge, own in zip(study.judges, judged, strict=True)
    )


def _disputed(people: Array, cluster: Codes, study: joining.Study) -> joining.Mask:
    out = np.zeros(len(study.clusters), bool)
    for topic in np.unique(cluster):
        scores = people[:, cluster == topic]
        scores = scores[~np.isnan(scores).all(axis=1)]
        out[topic] = len(scores) > 1 and icc(scores.T, "ICC(1,1)", crowd=True) < 0
    return out


def _agreement(
    study: joining.Study,
    group: Group,
    judge: str,
    joined: crossing.Joined,
    system: Codes,
    agreed: joining.Mask,
    settings: CalibrationSettings,
) -> TopicAgreement:
    clusters = len(study.clusters)
    ordered, order_draws = _ordered(group, judge, joined, clusters, settings)
    systems, system_draws = _of_systems(group, judge, joined, system[joined.unit], clusters, settings)
    parts = [(ordered, order_draws), (systems, system_draws)]
    parts.append(_within_topics(group, judge, joined, pearson, agreed, settings))
    parts.append(_within_topics(group, judge, joined, total_scores.rank_correlation, agreed, settings))
    overall = _overall(
        Pair(judge, total_scores.MEAN, group, (tally(joined.cluster, clusters) > 0).astype(float)), parts, settings
    )
    return TopicAgreement(judge, overall, *(estimate for estimate, _ in parts))


def _overall(pair: Pair, parts: Sequence[tuple[Estimate, Draws | None]], settings: CalibrationSettings) -> Estimate:
    """The four share their resamples, so that the mean of their draws is a draw of their mean."""
    value = float(np.mean([estimate.value for estimate, _ in parts]))
    if math.isnan(value):
        none = math.nan, math.nan
        return made("mean_of_four", pair, value, none, "none", told(Reason.PART_UNDEFINED), settings)
    known = [draws for _, draws in parts if draws is not None]
    draws = np.mean(known, axis=0) if len(known) == len(parts) else None
    return drawn("mean_of_four", pair, value, draws, "", settings, "mean of the four beside it")


def _ordered(
    group: Group, judge: str, joined: crossing.Joined, clusters: int, settings: CalibrationSettings
) -> tuple[Estimate, Draws | None]:
    counts = np.zeros((clusters, KINDS))
    for topic in np.unique(joined.cluster):
        counts[topic] = sign_counts(joined.x[joined.cluster == topic], joined.y[joined.cluster == topic])
    agree, pairs = rank_share(counts, "strict")
    tied = round(float((pairs - rank_share(counts, "exclude")[1]).sum()))
    pair = Pair(judge, total_scores.MEAN, group, pairs)
    note = f"a tie on either side is disagreement: {tied:,} of {pair.n:,} pairs of systems"
    estimate = share("rank_agreement_within_topic", pair, agree, settings, note)
    return estimate, _draws(np.stack([agree, pairs], axis=-1), _share, pair, settings)


def _of_systems(
    group: Group, judge: str, joined: crossing.Joined, system: Codes, clusters: int, settings: CalibrationSettings
) -> tuple[Estimate, Draws | None]:
    names, code = np.unique(system, return_inverse=True)
    count, cell = len(names), joined.cluster * len(names) + code
    sums = np.stack([tally(cell, clusters * count, part) for part in (joined.weight, joined.x, joined.y)], axis=-1)
    sums = sums.reshape(clusters, count, 3)
    pair = Pair(judge, total_scores.MEAN, group, (tally(joined.cluster, clusters) > 0).astype(float))
    value = float(_pearson_of_systems(sums.sum(axis=0)[None])[0]) if count else math.nan
    reason = total_scores.why_no_correlation(count, value)
    draws = None if reason else _draws(sums, _pearson_of_systems, pair, settings)
    note = f"means of {count} systems" + (f", fewer than {FEW_SYSTEMS}" if count < FEW_SYSTEMS else "")
    return drawn("pearson_of_systems", pair, value, draws, reason, settings, note), draws


def _pearson_of_systems(sums: Array) -> Array:
    """`sums`: reports, judge's and people's totals of each system, shape (block, systems, 3). nan: one has none."""
    x, y = (ratio(sums[..., side], sums[..., 0]) for side in (1, 2))
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    six = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1).sum(axis=-2)
    return pearson_of_moments(six)


def _within_topics(
    group: Group,
    judge: str,
    joined: crossing.Joined,
    correlate: Callable[[Array, Array], float],
    agreed: joining.Mask,
    settings: CalibrationSettings,
) -> tuple[Estimate, Draws | None]:
    found = np.full(len(agreed), np.nan)
    for topic in np.unique(joined.cluster):
        own = joined.cluster == topic
        if agreed[topic] and own.sum() >= FEWEST_REPORTS:
            found[topic] = correlate(joined.x[own], joined.y[own])
    known = ~np.isnan(found)
    pair = Pair(judge, total_scores.MEAN, group, known.astype(float))
    value, asked = float(total_scores.mean_known(found)), len(np.unique(joined.cluster))
    sums = np.stack([np.nan_to_num(found), known], axis=-1)
    draws = _draws(sums, _share, pair, settings)
    note = f"mean over {pair.n} of {asked} topics, {int((~agreed[np.unique(joined.cluster)]).sum())} disputed by people"
    reason = "no_items" if math.isnan(value) else ""
    name = "pearson_within_topic" if correlate is pearson else "spearman_within_topic"
    return drawn(name, pair, value, draws, reason, settings, note), draws


def _share(sums: Array) -> Array:
    return ratio(sums[..., 0], sums[..., 1])


def _draws(sums: Array, statistic: Callable[[Array], Array], pair: Pair, settings: CalibrationSettings) -> Draws | None:
    return resample(sums, statistic, settings.resamples, settings.seed) if pair.clusters > 1 else None
