"""This look at a study: which it is, and what its tests and intervals have to allow for.

Tests are held to what all looks together may err in. Intervals are made at a stricter level, and told at the level at
which those of all looks hold.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from calibration.arithmetic.tails import Normal, Student
from calibration.choosing.above import Above
from calibration.choosing.noninferiority import Claim, ComparisonPlan
from calibration.estimates import Estimate
from calibration.inference import compare, deciding, gap_test
from calibration.inference.looks import (
    FIRST,
    Look,
    any_time_level,
    any_time_p,
    in_order,
    nominal_levels,
    over_looks,
    sequence_level,
    shown_by,
    shown_by_each,
    with_earlier,
)
from calibration.remarks import Reason, told
from calibration.settings import CalibrationSettings

SCALE = 100  # topics of one look beyond which the others are reckoned in proportion


@dataclass(frozen=True)
class Looking:
    """A look at `topics`. `mode`: one of `settings.LOOKS`; `earlier`: before this one, ascending, each number once.

    `begun`: topics with any label, of which those labelled in part count in part; 0: as many.
    """

    mode: str
    topics: int
    planned: int | None = None
    earlier: tuple[Look, ...] = ()
    spending: str = "obrien_fleming"
    begun: int = 0

    @property
    def number(self) -> int:
        """1 for the first look. Looks at as many topics as now are this one."""
        return 1 + sum(one.topics < self.topics for one in in_order(self.earlier))

    @property
    def share(self) -> float:
        """Of the planned topics, 0 to 1; 1 where none are planned: then this look is meant as the only one."""
        return min(1.0, self.topics / self.planned) if self.mode == "planned" and self.planned else 1.0

    @property
    def looks(self) -> tuple[Look, ...]:
        """All so far, this one last; the earlier ones alone where nothing is labelled yet."""
        if self.topics < 1:
            return in_order(self.earlier)
        return in_order(with_earlier(self.topics, self.share, self.earlier))

    @property
    def is_only(self) -> bool:
        """Whether this look may err in all that is allowed, as if nobody ever looked before or after."""
        return self.topics > 0 and self.mode != "any_time" and self.share >= 1 and len(self.looks) == 1

    @property
    def is_spent(self) -> bool:
        """Whether an earlier look on fewer topics spent the whole error, so that this one cannot decide."""
        return self.mode != "any_time" and len(self.looks) > 1 and self.looks[-2].share >= 1

    def on(self, clusters: int) -> Looking:
        """The look of one judge, who may have answered in fewer clusters: at any time it is theirs that count."""
        return replace(self, topics=min(self.topics, clusters)) if self.mode == "any_time" else self

    def level(self, error: float = 0.05, effect: float = math.nan) -> float:
        """The one-sided level of this look's own tests and bounds, so that all looks err in `error`.

        0: this look cannot decide. `effect`: margin / (standard error sqrt(clusters)) of the test, which `any_time`
        needs and nothing else. `error`: 1 - the plan's level; divided by Holm's step for one judge of several.
        """
        if self.topics < 1:
            return 0.0
        if self.mode == "any_time":
            return any_time_level(self.topics, effect, error)
        return nominal_levels(self.looks, error, self.spending)[-1]

    def p(self, p: float, effect: float = math.nan) -> float:
        """This look's own one-sided p, adjusted for all looks: before Holm, and never after it. nan stays nan."""
        if self.topics < 1 or math.isnan(p):
            return math.nan if math.isnan(p) else 1.0
        if self.mode == "any_time":
            return any_time_p(p, self.topics, effect)
        return over_looks(p, self.topics, self.share, self.earlier, self.spending)

    def interval_level(self, level: float = 0.95) -> float:
        """At which two-sided intervals are made, so that with those of every other look they hold at `level`.

        Only with `any_time` are they a confidence sequence; else each is of its own look, at `level` itself.
        """
        return sequence_level(self.topics, level) if self.mode == "any_time" and self.topics > 1 else level

    def needed(self, one_look: deciding.Needed, error: float = 0.05, power: float = deciding.POWER) -> deciding.Needed:
        """Clusters that decide with these looks where `one_look` has those of a single look at 1 - `error`.

        `planned`: at the next look, after the earlier ones. `any_time`: with looks after every topic. None where this
        cannot be: an earlier look spent all (`looks_spent`), this one does (`last_look`), too little is left
        (`little_left`), or nothing was known before.
        """
        if one_look.clusters is None or self.is_only:
            return one_look
        at_hand = one_look.clusters - one_look.more if one_look.more else self.topics
        if self.mode == "any_time":
            clusters = any_time_clusters(one_look.clusters, error, power)
        else:
            found = self._next_look(one_look.clusters, error, power)
            if found is None:
                return replace(one_look, clusters=None, more=None, note=self._why_none())
            clusters = found
        return replace(one_look, clusters=clusters, more=max(0, clusters - at_hand))

    def _why_none(self) -> str:
        return "looks_spent" if self.is_spent else "last_look" if self.share >= 1 else "little_left"

    def _next_look(self, one_look: int, error: float, power: float) -> int | None:
        """The fewest topics, more than now, at which one more look has the power; None: at none."""

        def enough(topics: int) -> bool:
            level = self._level_at(topics, error)
            return level > 0 and topics >= _at_level(one_look, error, level, power)

        low, high = self.topics, max(self.topics + 1, self.planned or 0, 2 * one_look)
        if not enough(high):
            return None
        return bisect_left(range(high), True, low + 1, high, key=enough)

    def _level_at(self, topics: int, error: float) -> float:
        """Of a next look at so many topics."""
        then = Look(topics, replace(self, topics=topics).share)
        return nominal_levels((*(self.looks if self.topics else ()), then), error, self.spending)[-1]


def looking_of(settings: CalibrationSettings, clusters: int) -> Looking:
    """This look, by the settings: `clusters` topics, or as many as are labelled in full where the settings know.

    Labels of topics in part count in part: a bound is never looser for topics that were only begun.
    """
    labelled = settings.topics_labelled
    topics = clusters if labelled is None else min(clusters, labelled)
    return Looking(settings.looks, topics, settings.planned_topics, settings.earlier_looks, settings.spending, clusters)


@lru_cache(maxsize=256)
def planned_clusters(one_look: int, looks: int, error: float = 0.05, power: float = deciding.POWER) -> int:
    """Topics of a plan with so many evenly spaced looks that has the power of `one_look` topics looked at once.

    Normal, with the spread known. Jennison & Turnbull 2000, chapter 7.
    """
    drift = _drift(one_look, error, power)
    topics = one_look
    while True:
        at = sorted({max(1, round(topics * number / looks)) for number in range(1, looks + 1)})
        levels = nominal_levels([Look(one, one / topics) for one in at], error)
        if shown_by(at, levels, drift) >= power:
            return topics
        topics += max(1, one_look // 200)


@lru_cache(maxsize=256)
def any_time_clusters(one_look: int, error: float = 0.05, power: float = deciding.POWER) -> int:
    """The same for looks after every topic from the twentieth on; the most that are needed, on average fewer are."""
    if one_look > SCALE:
        return math.ceil(one_look * any_time_clusters(SCALE, error, power) / SCALE)
    drift = _drift(one_look, error, power)
    at = range(FIRST, 3 * max(FIRST, one_look) + 1)
    reached = shown_by_each(at, [any_time_level(one, drift, error) for one in at], drift) >= power
    return at[int(np.argmax(reached))] if reached.any() else at[-1]


def _drift(one_look: int, error: float, power: float) -> float:
    """In standard deviations a topic, at which one look at so many topics has the power."""
    return float(Normal.isf(error) - Normal.isf(power)) / math.sqrt(one_look)


def _at_level(one_look: int, error: float, level: float, power: float) -> int:
    """Topics of one look at another level, with the power of `one_look` topics at `error`."""
    ratio = (Normal.isf(level) - Normal.isf(power)) / (Normal.isf(error) - Normal.isf(power))
    return max(one_look, math.ceil(one_look * float(ratio) ** 2 - 1e-9))


TINY = 1e-12


def looked_claims(claims: Sequence[Claim], plan: ComparisonPlan, looking: Looking) -> tuple[Claim, ...]:
    """The claims with p over all looks, bounds of this look, and the clusters that decide with such looks.

    `p_adjusted` is adjusted over all judges already, by Holm or by a maximum: m times the p over all looks of its m-th
    part is at least what Holm makes of p that were adjusted for looks first, and holds for a maximum as for Bonferroni.
    """
    if looking.is_only:
        return tuple(claims)
    least_p = least_p_of(plan.resamples)
    return tuple(_claim(claim, plan, looking, len(claims) + plan.gone, least_p) for claim in claims)


def least_p_of(resamples: int) -> float:
    """The smallest p of a test of the gap, which draws 999 at least."""
    return 1 / (max(gap_test.DRAWS, resamples) + 1)


def looked_above(
    found: Sequence[Above], plan: ComparisonPlan, looking: Looking, resamples: int = gap_test.RESAMPLES
) -> tuple[Above, ...]:
    """The same of a test against a constant answer or a floor; at any time it is made for an excess of the margin.

    `resamples`: of the tests, no p of which is below 1 / (resamples + 1): early looks may ask for less.
    """
    if looking.is_only:
        return tuple(found)
    return tuple(_above(one, plan, looking, len(found) + plan.gone, 1 / (resamples + 1)) for one in found)


def _claim(claim: Claim, plan: ComparisonPlan, looking: Looking, tried: int, least_p: float) -> Claim:
    test, error, effect = claim.test, 1 - plan.level, effect_of(claim.test.difference, plan)
    value, clusters = test.difference.value, test.difference.clusters
    looking = looking.on(clusters)
    level = looking.level(error, effect)
    lower, upper = (_moved(value, bound, error, level, clusters) for bound in (test.lower, test.upper))
    p = _family_p(claim.p_adjusted, looking, effect, tried)
    if test.law is not None and not can_show(least_p, looking, effect, tried, error):
        upper = math.nan  # far beyond what so few resamples know
    outcome: gap_test.Outcome = "inferior" if lower > plan.margin else "non_inferior" if p <= error else "cannot_tell"
    if claim.outcome == "cannot_tell" or math.isnan(p):
        outcome = "cannot_tell"  # what one look could not show, several do not
    one_look = claim.needed or (_needed_once(claim.test.difference, plan) if outcome == "cannot_tell" else None)
    needed = looking.needed(one_look, error, plan.power) if one_look else None
    held = replace(test, lower=lower, upper=upper)
    return replace(claim, test=held, p_adjusted=p, outcome=outcome, needed=needed)


def _above(above: Above, plan: ComparisonPlan, looking: Looking, tried: int, least_p: float) -> Above:
    error = 1 - plan.level
    half = (above.upper - above.lower) / 2
    se = half / float(Student.ppf(plan.level, above.clusters - 1)) if above.clusters > 1 else math.nan
    effect = plan.margin / (se * math.sqrt(above.clusters)) if se > TINY else math.nan
    looking = looking.on(above.clusters)
    level, excess = looking.level(error, effect), above.value - above.bound
    lower, upper = (_moved(excess, bound, error, level, above.clusters) for bound in (above.lower, above.upper))
    p = _family_p(above.p_adjusted, looking, effect, tried)
    outcome = above.outcome
    if outcome == "above" and not p <= error:
        outcome = "cannot_tell"
    if outcome == "below" and not upper < 0 and excess != 0:  # of none at all nothing hangs on a test
        outcome = "cannot_tell"
    needed = looking.needed(above.needed, error, plan.power) if above.needed else None
    can_be = math.isnan(p) or can_show(least_p, looking, effect, tried, error)
    if not can_be and plan.at_least is not None:
        lower = math.nan
    return replace(above, lower=lower, upper=upper, p_adjusted=p, outcome=outcome, needed=needed, can_be_shown=can_be)


def effect_of(found: compare.Difference, plan: ComparisonPlan) -> float:
    """The margin in standard deviations of a cluster's difference; nan where no spread is known."""
    if found.clusters < 2 or not math.isfinite(found.high):  # in few clusters no resample may reach so far
        return math.nan
    se = (found.high - found.low) / 2 / float(Student.ppf((1 + plan.level) / 2, found.clusters - 1))
    return plan.margin / (se * math.sqrt(found.clusters)) if se > TINY else math.nan


def _needed_once(found: compare.Difference, plan: ComparisonPlan) -> deciding.Needed | None:
    """Clusters of one look with the plan's power, normal, where one look has shown already what several do not."""
    effect, gap = effect_of(found, plan), max(0.0, found.value)
    if math.isnan(effect):
        return None
    if gap >= plan.margin - TINY:
        return deciding.Needed(None, None, gap, plan.margin / effect, "gap_reaches_margin")
    drift = effect * (plan.margin - gap) / plan.margin
    clusters = math.ceil(((Normal.isf(1 - plan.level) - Normal.isf(plan.power)) / drift) ** 2)
    if clusters > deciding.reach(found.clusters):
        return deciding.Needed(None, None, gap, plan.margin / effect, "too_many")
    return deciding.Needed(max(2, clusters), None, gap, plan.margin / effect)


def can_show(least_p: float, looking: Looking, effect: float, tried: int, error: float) -> bool:
    """Whether the smallest p there is would be small enough at this look, for one of so many judges tried."""
    return _family_p(least_p, looking, effect, tried) <= error


def _family_p(p: float, looking: Looking, effect: float, tried: int) -> float:
    return p if math.isnan(p) else min(1.0, tried * looking.p(p / tried, effect))


def _moved(value: float, bound: float, error: float, level: float, clusters: int) -> float:
    """A one-sided bound at `error`, as far from the value as one at `level` is; nan, no bound, at level 0."""
    if math.isnan(bound) or clusters < 2:
        return bound
    if level <= 0:
        return math.nan
    wider = Student.isf(level, clusters - 1) / Student.isf(error, clusters - 1)
    return value + (bound - value) * float(wider)


METHOD = "confidence_sequence"


def widened(settings: CalibrationSettings, clusters: int) -> CalibrationSettings:
    """The settings that intervals are made with: `settings` itself but where results are looked at at any time."""
    level = looking_of(settings, clusters).interval_level(settings.level)
    return settings if level == settings.level else replace(settings, level=level)


def sequence(estimate: Estimate, settings: CalibrationSettings, wide: CalibrationSettings) -> Estimate:
    """An estimate whose interval was made with `wide`, told as part of a confidence sequence at `settings.level`.

    A bound without a value stays as it is, and so does everything where the two settings are one.
    """
    if wide is settings or estimate.level != wide.level:
        return estimate
    if math.isnan(estimate.low) and math.isnan(estimate.high):
        return replace(estimate, level=settings.level)
    how = told(Reason.AT_EVERY_LOOK, method=estimate.method, percent=100 * wide.level)
    return replace(estimate, level=settings.level, method=METHOD, remarks=(*estimate.remarks, how))
