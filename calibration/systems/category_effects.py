"""Does a system do better on some categories of topics, and are some topics hard? One-way ANOVA and correlations.

One score per topic: topics are the units here, so nothing is nested.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy

from calibration.agreement.continuous import spearman_draws
from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.columns import aligned, grouped, numeric
from calibration.arithmetic.correlation import moments, pearson, pearson_of_moments, spearman
from calibration.estimates import Estimate
from calibration.inference.bootstrap import resample
from calibration.settings import CalibrationSettings
from calibration.study import crossing, joining
from calibration.study.bounding import Pair, drawn
from calibration.systems.topic_scores import WINS, TopicScores, topic_scores
from calibration.systems.win_rates import WHOLE, has_ranking

SMALL = 3  # topics; one of a category has no spread, two hardly any
TINY = 1e-12
STEPS = 1 << 40  # in which a noncentrality is sought


@dataclass(frozen=True)
class CategoryAnova:
    """One-way analysis of variance of topic scores over categories.

    `eta_squared` = SSb / SSt is (k - 1) / (N - 1) on average without any effect, `null_eta_squared`; `omega_squared`
    has none of that and may be negative. `low`, `high`: interval of the population's share of variance (Steiger 2004).
    """

    f: float
    p: float
    eta_squared: float
    omega_squared: float
    null_eta_squared: float
    low: float
    high: float
    level: float
    n: int
    categories: int
    small: tuple[str, ...]  # categories of fewer than 3 topics
    note: str = ""


@dataclass(frozen=True)
class FeatureCorrelation:
    """A topic feature against a score of the topics: both coefficients, each with its interval."""

    feature: str
    pearson: Estimate
    spearman: Estimate


def category_anova(scores: Any, categories: Any, level: float = 0.95) -> CategoryAnova:
    """`scores`: one number a topic, shape (topics,); `categories`: their names, likewise; incomplete rows are dropped.

    eta^2 = SSb / SSt; omega^2 = (SSb - (k - 1) MSw) / (SSt + MSw) (Hays 1963). Undefined: fewer than two categories or
    no more topics than categories, `too_few_units`; no spread at all, or F, p and interval where none is within
    categories, `zero_variance`. p > .05 does not show that categories are alike. Raises `misaligned`, `unknown_label`.
    """
    code, columns = grouped(categories, scores)
    (values,) = numeric(*columns)
    names = _names(categories, scores)
    counts = np.bincount(code, minlength=len(names))
    n, k = len(values), len(names)
    small = tuple(name for name, count in zip(names, counts, strict=True) if count < SMALL)
    nan = math.nan
    blank = CategoryAnova(nan, nan, nan, nan, nan, nan, nan, level, n, k, small, "too_few_units")
    if k < 2 or n <= k:
        return blank
    values = values - values.mean()
    blank = replace(blank, null_eta_squared=(k - 1) / (n - 1), note="zero_variance")
    means = np.bincount(code, values) / counts
    total, between = float(values @ values), float(counts @ means**2)
    within = total - between
    if total <= TINY * n * max(1.0, float(np.abs(values).max()) ** 2):
        return blank
    if within <= TINY * total:
        return replace(blank, eta_squared=1.0, omega_squared=1.0)
    f = between / (k - 1) / (within / (n - k))
    p = float(scipy.special.fdtrc(k - 1, n - k, f))
    omega = (between - (k - 1) * within / (n - k)) / (total + within / (n - k))
    low, high = (_population_share(f, k, n, tail) for tail in ((1 + level) / 2, (1 - level) / 2))
    return CategoryAnova(f, p, between / total, omega, (k - 1) / (n - 1), low, high, level, n, k, small)


def category_effects(
    verdicts: pd.DataFrame | joining.Study,
    rater: str | None = None,
    systems: Sequence[str] | None = None,
    settings: CalibrationSettings | None = None,
) -> dict[str, CategoryAnova]:
    """Per system, `category_anova` of its win rate in a topic minus the mean of all `systems` in that category.

    WLC, Table 11. Topics are clusters; one that holds several categories is left out. Name the systems that are no
    reference: its rate mirrors theirs. Raises `CalibrationError`.
    """
    settings = settings or CalibrationSettings()
    scores = topic_scores(verdicts, rater, WINS, settings)
    return effects_of(scores, scores.systems if systems is None else tuple(systems), settings)


def effects_of(
    scores: TopicScores, systems: tuple[str, ...] | None = None, settings: CalibrationSettings | None = None
) -> dict[str, CategoryAnova]:
    """`category_effects` of any score of topics. `systems`: None for all but a reference."""
    settings = settings or CalibrationSettings()
    names, values = scores.of(systems)
    centred = values.copy()
    for name in np.unique(scores.categories):
        own = scores.categories == name
        centred[own] -= np.nanmean(values[own]) if (~np.isnan(values[own])).any() else 0.0
    named = np.array([name or None for name in scores.categories], dtype=object)
    return {system: category_anova(one, named, settings.level) for system, one in zip(names, centred.T, strict=True)}


def effects_by_people(study: joining.Study, settings: CalibrationSettings) -> dict[str, CategoryAnova]:
    """`category_effects` of every system but a reference that is in all pairs.

    Empty where no pair names its systems, nobody labelled, or there are fewer than two categories of topics.
    """
    if len({*study.categories} - {""}) < 2 or not has_ranking(study):
        return {}
    return effects_of(topic_scores(study, None, WINS, settings), None, settings)


def difficulty_of(scores: TopicScores, systems: tuple[str, ...] | None = None) -> pd.Series[float]:
    """Mean score of each topic (cluster) over `systems`, None for all but a reference; low is hard. WLC, Table 3.

    Of win rates name the systems that are no reference: over both sides of every pair the mean is always .5. nan: none
    is there.
    """
    mean = pd.DataFrame(scores.of(systems)[1], index=list(scores.topics)).mean(axis=1)
    return mean.rename("difficulty")


def feature_correlation(
    scores: Any, features: Mapping[str, Any] | pd.DataFrame, settings: CalibrationSettings | None = None
) -> tuple[FeatureCorrelation, ...]:
    """Pearson and Spearman of each feature with the scores, one row a topic, shape (topics,); a gap drops the row.

    Intervals: bootstrap of topics, expanded percentile, ranked anew in each resample. Undefined: `no_items`,
    `too_few_units`, `two_points`, `zero_variance`. Raises `misaligned` and `unknown_label` (a feature of text).
    """
    settings = settings or CalibrationSettings()
    return tuple(_feature(str(name), scores, column, settings) for name, column in features.items())


def _feature(name: str, scores: Any, column: Any, settings: CalibrationSettings) -> FeatureCorrelation:
    x, y = numeric(scores, column)
    n, ones = len(x), np.ones(len(x))
    rows = np.arange(n).astype(np.intp)
    pair = Pair("", "", WHOLE, ones)

    def estimate(statistic: str, function: Callable[[Any, Any], float], draw: Callable[[], Array]) -> Estimate:
        value = function(x, y)
        few = "no_items" if not n else "too_few_units" if n < 2 else "two_points" if n == 2 else ""
        reason = few or ("zero_variance" if math.isnan(value) else "")
        return drawn(statistic, pair, value, None if reason else draw(), reason, settings, f"{name}; over topics")

    sums = moments(x, y, ones, rows, n)
    joined = crossing.Joined("", "", x, y, ones, rows, rows)
    return FeatureCorrelation(
        name,
        estimate("pearson", pearson, lambda: resample(sums, pearson_of_moments, settings.resamples, settings.seed)),
        estimate("spearman", spearman, lambda: spearman_draws(joined, n, settings.resamples, settings.seed)),
    )


def _names(categories: Any, scores: Any) -> tuple[str, ...]:
    """The categories that hold a score, in the order of their codes."""
    named = np.asarray(categories, object)
    whole = np.asarray(pd.notna(named)) & np.asarray(pd.notna(np.asarray(scores, object)))
    return tuple(map(str, np.unique(aligned(named[whole])[0])))


def _population_share(f: float, groups: int, n: int, tail: float) -> float:
    """ncp / (ncp + N), 0 to 1, for the noncentrality at which an F this large or larger has probability 1 - `tail`."""

    def beyond(ncp: float) -> float:
        return float(scipy.special.ncfdtr(groups - 1, n - groups, ncp, f)) - tail

    if scipy.special.fdtr(groups - 1, n - groups, f) <= tail:
        return 0.0
    top = max(1.0, f * groups)
    while beyond(top) > 0:
        top *= 2
    # not by scipy.optimize, which takes a fifth of a short command to import
    ncp = top / STEPS * bisect.bisect_left(range(STEPS), 0.0, key=lambda step: -beyond(max(TINY, top * step / STEPS)))
    return ncp / (ncp + n)
