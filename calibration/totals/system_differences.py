"""Two systems topic by topic: how far their scores lie apart, and whether a topic that is hard for one is for both.

DR3-Eval tests systems against each other by whether two intervals overlap, and by Wilcoxon's test; DeepResearchGym
correlates the scores of one system under two conditions over topics.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
import scipy

from calibration import estimates, remarks
from calibration.agreement.drawn_topics import refuse_unweighted
from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.columns import Codes
from calibration.errors import CalibrationError
from calibration.inference.compare import holm, paired_difference
from calibration.settings import CalibrationSettings
from calibration.study import joining, left_out
from calibration.study.bounding import Group, Pair, drawn, made
from calibration.totals import total_scores

PEOPLE = "each_annotator"
FEWEST = 2  # topics with both systems


@dataclass(frozen=True)
class SystemDifference:
    """One rater (`each_annotator`: the mean of the annotators) on two systems; n of both estimates counts topics.

    `p_wilcoxon`: two-sided, of differences that lie symmetrically around 0; `p_holm` over all pairs of this rater and
    criterion. `zeros`: topics without a difference, which that test drops.
    """

    rater: str
    criterion: str
    system: str
    other: str
    difference: estimates.Estimate
    p_wilcoxon: float
    p_holm: float
    zeros: int
    spearman: estimates.Estimate


def system_differences(
    verdicts: pd.DataFrame,
    settings: CalibrationSettings | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    criterion: str = "all",
) -> tuple[SystemDifference, ...]:
    """Every two systems (or those of `pairs`) by the annotators and by each judge, on the topics both have.

    `verdicts`: ratings of single reports; the topic is `cluster_id`. `criterion` "all": the mean of all criteria asked
    of a report. Difference: mean over topics, t interval. Wilcoxon 1945, exact without ties, zeros dropped; undefined
    where nothing differs. Spearman over topics, ranked anew in each resample of topics. That two intervals of single
    systems overlap is no test (Schenker & Gentleman 2001), so the difference is what is bounded here. Raises
    `not_scores`, `unknown_system`, `same_system`, `same_pair`, `unknown_criterion`, and `unknown_form` for people's
    labels on topics that were drawn unequally.
    """
    settings = settings or CalibrationSettings()
    if criterion != "all":
        verdicts = _of_criterion(verdicts, criterion)
    study, group, scale = left_out.pooled(verdicts, settings)
    if study.annotators:
        refuse_unweighted(study, "differences between systems")
    named = [name for name in study.systems if name]
    asked = _known(pairs, named) or tuple(combinations(named, 2))
    return tuple(
        one
        for rater, scores in _by_topic(study, group, scale)
        for one in _adjusted([_compared(rater, criterion, two, scores, study, group, settings) for two in asked])
    )


def _of_criterion(verdicts: pd.DataFrame, criterion: str) -> pd.DataFrame:
    rows = verdicts[verdicts["criterion"].astype(str) == criterion]
    if rows.empty:
        known = ", ".join(sorted(verdicts["criterion"].astype(str).unique()))
        raise CalibrationError("unknown_criterion", f"no label is about {criterion!r}; the criteria are {known}")
    return rows


def _known(pairs: Sequence[tuple[str, str]], systems: Sequence[str]) -> tuple[tuple[str, str], ...]:
    for name in (name for pair in pairs for name in pair):
        if name not in systems:
            raise CalibrationError("unknown_system", f"no report is by {name!r}; the systems are {', '.join(systems)}")
    for number, pair in enumerate(pairs):
        if pair[0] == pair[1]:
            raise CalibrationError("same_system", f"{pair[0]!r} is named on both sides; name two systems")
        if {*pair} in [{*other} for other in pairs[:number]]:
            raise CalibrationError("same_pair", f"{' and '.join(pair)} are compared twice; name each two once")
    return tuple(pairs)


def _by_topic(study: joining.Study, group: Group, scale: joining.Scale) -> Iterator[tuple[str, Array]]:
    """Rater and its mean total of each topic and system, shape (clusters, systems); nan where it has none."""
    people = total_scores.mean_known(total_scores.totals_of(study, study.annotators, group, scale), axis=0)
    judged = total_scores.totals_of(study, study.judges, group, scale)
    raters = [
        *[(PEOPLE, people)] * bool(study.annotators),
        *zip((judge.rater for judge in study.judges), judged, strict=True),
    ]
    cluster, system = total_scores.clusters_of_reports(study), total_scores.systems_of_reports(study)
    for rater, totals in raters:
        yield rater, _means(totals, cluster, system, (len(study.clusters), len(study.systems)))


def _means(totals: Array, cluster: Codes, system: Codes, shape: tuple[int, int]) -> Array:
    known = ~np.isnan(totals)
    cell = (cluster * shape[1] + system)[known]
    count, total = (np.bincount(cell, part, shape[0] * shape[1]) for part in (np.ones(len(cell)), totals[known]))
    with np.errstate(invalid="ignore"):
        return np.asarray(total / count).reshape(shape)


def _compared(
    rater: str,
    criterion: str,
    systems: tuple[str, str],
    scores: Array,
    study: joining.Study,
    group: Group,
    settings: CalibrationSettings,
) -> SystemDifference:
    x, y = (scores[:, list(study.systems).index(name)] for name in systems)
    one = total_scores.paired(x, y, np.arange(len(x)))
    pair = Pair(rater, "", group, (~np.isnan(x - y)).astype(float))
    found = paired_difference(one.x, one.y, one.cluster, settings.level)
    note = f"{systems[0]} minus {systems[1]}, mean over topics with both"
    words = {"": "", "too_few_units": "fewer than 2 topics", "zero_variance": "no spread"}[found.note]
    said = remarks.remarks_of(note, remarks.no_interval(found.note, words) if words else ())
    gap = made("system_difference", pair, found.value, (found.low, found.high), "cluster_t", said, settings)
    value = float(total_scores.rank_correlation(one.x, one.y))
    reason = total_scores.why_no_correlation(pair.n, value)
    draws = None if reason or pair.n < FEWEST else total_scores.ranked_draws(one, len(x), settings)
    spearman = drawn("system_spearman", pair, value, draws, reason, settings, "over topics, of the two systems' scores")
    differences = np.round(one.x - one.y, 9)
    p = float(scipy.stats.wilcoxon(differences).pvalue) if np.any(differences != 0) else math.nan
    zeros = int((differences == 0).sum())
    category = f"systems: {', '.join(systems)}"
    gap, spearman = (replace(one, criterion=criterion, category=category) for one in (gap, spearman))
    return SystemDifference(rater, criterion, *systems, gap, p, math.nan, zeros, spearman)


def _adjusted(found: Sequence[SystemDifference]) -> Iterator[SystemDifference]:
    for one, p in zip(found, holm([one.p_wilcoxon for one in found]), strict=True):
        yield replace(one, p_holm=float(p))
