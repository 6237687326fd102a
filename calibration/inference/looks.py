"""How strict the test of this look has to be, so that all looks at a study together err no more than one would.

Each planned look spends part of the error, by the share of the planned topics that is labelled. Lan & DeMets 1983.
Looks that were not planned are tested by bounds that hold however often and for whatever reason one looks. These assume
only that topics come in random order, as a study's slots do, and that no look's result decides which topic comes next;
the test of a look is of all topics at hand, and asks no history.

Looks are tested at levels far below the usual one. There the law of the statistic hangs on faults of a judge that
strike few topics, and a sample that holds none of them shows neither their share nor the skewness that they make: at 20
topics of simulated nested labels a studentised bootstrap's p of .002 comes up in .8 to 4 % of studies at the margin, at
60 topics in .6 %, while its p of .05 is right. So beyond .05 the tail of t with (topics - 1) / 6 degrees of freedom
stands in for the normal one: the two agree at .05, and everywhere for many topics. It was fitted to four kinds of
simulated study; `benchmarks/looks.py` says how often looks err with it, also in others.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import scipy
from scipy import special

from calibration.arithmetic import closed_forms, tails
from calibration.errors import CalibrationError

Spending = Literal["obrien_fleming", "pocock"]
SPENDINGS: tuple[Spending, ...] = ("obrien_fleming", "pocock")
TABULATED = (0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
TINY = 1e-15
NOTHING = 1e-10  # an error that no p-value reaches: such a look has no boundary
DEEP = 6.0  # standard deviations below 0 that are followed from look to look
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
HIGH = 8.0  # and above 0: a bound there is crossed by nobody
NEAR = 8.0  # standard deviations of one step that are followed
WIDE = 2.0  # of a panel of 8 nodes, in standard deviations of what the next look adds: integrals err by some 1e-9


@dataclass(frozen=True)
class Look:
    """One time a result was shown: on how many topics, and what share of the planned ones that was then, 0 to 1.

    A look that was meant as the only one has share 1: it may spend the whole error.
    """

    topics: int
    share: float

    def __post_init__(self) -> None:
        if self.topics < 1 or not 0 <= self.share <= 1:
            raise CalibrationError(
                "bad_number", f"a look at {self.topics} topics, share {self.share:g}; use topics from 1, a share 0 to 1"
            )


def spent_by(share: float, error: float, spending: str = "obrien_fleming") -> float:
    """Of a one-sided `error`, what may be spent once `share` of the planned topics is labelled; all of it from 1 on.

    `obrien_fleming`: 2 - 2 Phi(z / sqrt(share)) with z the 1 - error / 2 quantile, hardly anything early; `pocock`:
    error ln(1 + (e - 1) share), nearly even. Lan & DeMets 1983. Raises `unknown_form` for another spending.
    """
    if spending not in SPENDINGS:
        raise CalibrationError("unknown_form", f"spending is {spending!r}; use one of {', '.join(SPENDINGS)}")
    if share >= 1 or not share > 0:
        return error if share >= 1 else 0.0
    if spending == "pocock":
        return error * math.log1p((math.e - 1) * share)
    return float(2 * tails.Normal.sf(tails.Normal.isf(error / 2) / math.sqrt(share)))


def in_order(looks: Sequence[Look]) -> tuple[Look, ...]:
    """Looks by topics, each number once, with a share that never falls.

    Two looks at one number of topics are one, with the larger share: what changed between them is no new topic. Where
    the plan grew between looks, so that the share fell, what was spent stays spent.
    """
    largest: dict[int, float] = {}
    for one in sorted(looks, key=lambda one: one.topics):
        largest[one.topics] = max(largest.get(one.topics, 0.0), one.share)
    shares = np.maximum.accumulate(np.array([*largest.values()], float))
    return tuple(Look(topics, float(share)) for topics, share in zip(largest, shares, strict=True))


def spending_levels(looks: Sequence[Look], error: float = 0.05, spending: str = "obrien_fleming") -> tuple[float, ...]:
    """The one-sided level of each look, as `in_order` has them, of exactly normal statistics.

    Solved look by look: given that no earlier bound was crossed, this one is crossed with the probability that is newly
    spent, where the standardised statistics are jointly normal with correlation sqrt(topics / later topics), as sums
    over topics in random order are. Numerical integration after Armitage, McPherson & Rowe 1969; Jennison & Turnbull
    2000, chapter 19. 0: nothing is left to spend, or less than 1e-10, and the look cannot decide. All is spent where
    the share reaches 1, so a last look beyond the planned topics takes what is left, at the correlation that it really
    has; a look after one that reached 1 has none. Shares and topics must not have been chosen by results seen; see
    `any_time` where they may be.
    """
    ordered = in_order(looks)
    spent = tuple(spent_by(one.share, error, spending) for one in ordered)
    return _solved(tuple(one.topics for one in ordered), spent)


def nominal_levels(looks: Sequence[Look], error: float = 0.05, spending: str = "obrien_fleming") -> tuple[float, ...]:
    """At which each look's own p is tested: `spending_levels`, made stricter far from .05 as `strict_level` says.

    One look that may spend all keeps the level as it is.
    """
    ordered = in_order(looks)
    if ordered and ordered[0].share >= 1:
        return (error, *[0.0] * (len(ordered) - 1))
    found = spending_levels(ordered, error, spending)
    return tuple(strict_level(level, one.topics) for level, one in zip(found, ordered, strict=True))


def over_looks(
    p: float, topics: int, share: float, earlier: Sequence[Look] = (), spending: str = "obrien_fleming"
) -> float:
    """The smallest error at which this look's own one-sided `p` would be significant: p adjusted for all looks.

    Under the hypothesis the smallest of them over all looks is below any a in a share of at most a of studies. So Holm
    over several judges, of p that were adjusted so before, holds over all looks; Holm's p of each look, compared with
    the level of one judge, errs more often (eight judges, six looks: 5.5 % for 5). Jennison & Turnbull 2000, section
    8.4 (repeated p); Maurer & Bretz 2013 (each step of Holm spends its own share). nan stays nan; 1 where nothing is
    left to spend.
    """
    looks = in_order(with_earlier(topics, share, earlier))
    if math.isnan(p) or (len(looks) == 1 and looks[0].share >= 1):
        return p
    levels, errors = _tabulated(looks, spending)
    place = float(tails.Normal.isf(min(max(cautious_p(p, topics), TINY), 1 - TINY)))
    if len(levels) < 2 or place < levels[0]:
        return 1.0
    return float(tails.Normal.sf(scipy.interpolate.PchipInterpolator(levels, errors)(min(place, levels[-1]))))


def shown_by(topics: Sequence[int], levels: Sequence[float], drift: float) -> float:
    """The probability that any of these looks rejects, where each topic adds `drift` standard deviations: the power.

    `topics`: ascending; `levels`: the one-sided level of each look. Of normal statistics with a known spread. Without a
    drift it is the error: `shown_by([40, 80], [.05, .05], 0)` is .080.
    """
    return float(shown_by_each(topics, levels, drift)[-1])


def shown_by_each(topics: Sequence[int], levels: Sequence[float], drift: float) -> closed_forms.Array:
    """The same after each of the looks, shape (looks,)."""
    standing, found = BEGINNING, np.zeros(len(topics))
    for at, (count, level) in enumerate(zip(topics, levels, strict=True)):
        standing = _after(standing, count, level, topics[at + 1] if at + 1 < len(topics) else 2 * count)
        # mass under no drift, weighed by the likelihood ratio of the drift
        found[at] = 1 - float(standing.mass @ np.exp(drift * standing.places - drift * drift * count / 2))
    return np.clip(found, 0.0, 1.0)


def with_earlier(topics: int, share: float, earlier: Sequence[Look]) -> tuple[Look, ...]:
    """This look after the earlier ones; those at as many topics or more (labels were withdrawn since) are this one."""
    before = [one for one in earlier if one.topics < topics]
    same = [one.share for one in earlier if one.topics >= topics]
    return (*before, Look(topics, max([share, *same])))


@lru_cache(maxsize=64)
def _tabulated(looks: tuple[Look, ...], spending: str) -> tuple[closed_forms.Array, closed_forms.Array]:
    """The last look's level for errors from .9 down to 1e-6, both as normal quantiles, ascending; none where it has 0.

    In between they are nearly a line: an interpolated error is right to 1e-4 of itself.
    """
    errors = np.asarray(tails.Normal.isf(np.array(TABULATED)))
    levels = np.asarray(tails.Normal.isf([spending_levels(looks, one, spending)[-1] for one in TABULATED]))
    known = np.isfinite(levels)
    return levels[known], errors[known]


@lru_cache(maxsize=256)
def _solved(topics: tuple[int, ...], spent: tuple[float, ...]) -> tuple[float, ...]:
    """Level of each look, whose error up to there is `spent`."""
    levels: list[float] = []
    standing = BEGINNING
    for at, (count, so_far) in enumerate(zip(topics, spent, strict=True)):
        new = so_far - (spent[at - 1] if at else 0.0)
        levels.append(_level(standing, count, new))
        if at + 1 < len(topics):
            standing = _after(standing, count, levels[-1], topics[at + 1])
    return tuple(levels)


@dataclass(frozen=True)
class _Standing:
    """Where a sum of variance 1 a topic is that crossed no bound so far: `mass` at `places`, ascending."""

    topics: int
    places: closed_forms.Array
    mass: closed_forms.Array


BEGINNING = _Standing(0, np.zeros(1), np.ones(1))


def _level(standing: _Standing, topics: int, new: float) -> float:
    """That crosses for the first time with probability `new`."""
    step, root = math.sqrt(topics - standing.topics), math.sqrt(topics)

    def excess(z: float) -> float:
        return float(standing.mass @ special.ndtr((standing.places - z * root) / step)) - new

    if new <= NOTHING:
        return 0.0
    return 1.0 if excess(-DEEP) <= 0 else float(tails.Normal.sf(scipy.optimize.brentq(excess, -DEEP, HIGH, xtol=1e-10)))


def _after(standing: _Standing, topics: int, level: float, following: int) -> _Standing:
    """Once the look at `topics` was not crossed; places as close to each other as a look at `following` needs."""
    step, root = math.sqrt(topics - standing.topics), math.sqrt(topics)
    low, high = -DEEP * root, min(float(tails.Normal.isf(level)), HIGH) * root
    panels = max(1, math.ceil((high - low) / (WIDE * math.sqrt(following - topics))))
    edges, half = np.linspace(low, high, panels + 1), (high - low) / panels / 2
    places = ((edges[:-1] + half)[:, None] + half * NODES).ravel()
    # of the earlier places only those within NEAR steps weigh anything
    first = np.searchsorted(standing.places, places - NEAR * step)
    span = int((np.searchsorted(standing.places, places + NEAR * step) - first).max(initial=0))
    near = np.minimum(first[:, None] + np.arange(span), len(standing.places) - 1)
    mass = np.where(first[:, None] + np.arange(span) < len(standing.places), standing.mass[near], 0.0)
    apart = (places[:, None] - standing.places[near]) / step
    density = (mass * np.exp(-apart * apart / 2)).sum(axis=1) / (step * math.sqrt(2 * math.pi))
    return _Standing(topics, places, np.tile(half * WEIGHTS, panels) * density)


USUAL = 0.05  # down to here a test's own p is taken as it is
TOPICS_PER_DF = 6
FEWEST_DF = 3.0


def strict_level(level: float, topics: int) -> float:
    """The level at which a look's own p is to be tested, so that it errs in `level`; lower the further from .05.

    The level itself from .05 on.
    """
    if not 0 < level < USUAL:
        return level
    df, ratio = _tail(topics)
    return float(tails.Normal.sf(tails.Student.isf(level, df) * ratio))


def cautious_p(p: float, topics: int) -> float:
    """A look's own one-sided p as it may be read: the inverse of `strict_level`, so larger the further from .05."""
    if math.isnan(p) or p >= USUAL:
        return p
    df, ratio = _tail(topics)
    return float(tails.Student.sf(tails.Normal.isf(max(p, 1e-300)) / ratio, df))


def _tail(topics: int) -> tuple[float, float]:
    """Degrees of freedom, and by how much their quantiles are shrunk to agree with the normal one at .05."""
    df = max(FEWEST_DF, (topics - 1) / TOPICS_PER_DF)
    return df, float(tails.Normal.isf(USUAL) / tails.Student.isf(USUAL, df))


FIRST = 20  # topics before the first look that decides: the statistic's law is nearly normal from there on
# of the bound, by simulation: the fewest topics at power .8 where looks come after every topic
WANTED = 7.7  # topics times the square of the effect at which it bends: 1.25 times what one look needs
LEAST = 60.0  # topics at which it bends at the earliest: a spread seen to be small in fewer is often seen by luck
SLOPE = 0.55  # behind the bend, in effects: a gap of up to .4 of the margin is found in the end, whatever the spread
OVERSHOOT = 0.583  # by how much a sum that is looked at once a topic oversteps a bound, in its sd. Siegmund 1985
TIGHTEST = 60  # topics at which a confidence sequence is narrowest beside the interval of one look


def any_time_level(topics: int, effect: float, error: float = 0.05) -> float:
    """The one-sided level at which a look at `topics` is tested, so that looks at any topics err in `error` in all.

    `effect`: the margin in standard deviations of a topic's difference, margin / (standard error sqrt(topics)): a gap
    of 0 is what the test is made for. The sum of standardised differences, whose law is that of Brownian motion in
    topics (Donsker 1951; for e-processes so made Waudby-Smith et al. 2024), has to cross a bound that is flat up to
    7.7 / effect^2 topics, at least 60, and rises by .55 effects a topic behind them. Its crossing probability is known
    in closed form (reflection, and Doob's inequality behind the bend: Siegmund 1985, chapter 3), with Siegmund's
    correction for looks at whole topics. 0 before 20 topics, and where the effect is not above 0 or unknown.
    """
    if topics < FIRST or not effect > 0:
        return 0.0
    bend, slope = _shape(effect)
    bound = scipy.optimize.brentq(
        lambda bound: crossing(bound, bend, slope) - error, -OVERSHOOT, 40 * math.sqrt(bend) + 40, xtol=1e-9
    )
    return strict_level(float(tails.Normal.sf((bound + slope * max(0.0, topics - bend)) / math.sqrt(topics))), topics)


def any_time_p(p: float, topics: int, effect: float) -> float:
    """The smallest error at which a look at `topics` whose own one-sided p is `p` would be significant at any time.

    Under the hypothesis the smallest of them over all looks is below any a in a share of at most a of studies, so that
    Holm over several judges holds at any time. `effect` as in `any_time_level`. nan stays nan; 1 before 20 topics.
    """
    if math.isnan(p):
        return math.nan
    if topics < FIRST or not effect > 0:
        return 1.0
    bend, slope = _shape(effect)
    place = float(tails.Normal.isf(max(cautious_p(p, topics), 1e-300)))
    bound = place * math.sqrt(topics) - slope * max(0.0, topics - bend)
    return crossing(bound, bend, slope)


def crossing(bound: float, bend: float, slope: float) -> float:
    """The probability that Brownian motion ever crosses `bound`, which rises by `slope` a topic from `bend` topics on.

    Looked at once a topic; 1 for a bound that is below -.583.
    """
    high, root = bound + OVERSHOOT, math.sqrt(bend)
    if high <= 0:
        return 1.0
    by_bend = 2 * float(special.ndtr(-high / root))
    # behind the bend from x below the bound: exp(-2 slope (bound - x)), over the law of what did not cross before
    first = special.log_ndtr(high / root - 2 * slope * root) - 2 * slope * high
    mirrored = special.log_ndtr(-high / root - 2 * slope * root) + 2 * slope * high
    lift = 2 * slope * slope * bend
    return float(min(1.0, by_bend + math.exp(first + lift) - math.exp(mirrored + lift)))


def _shape(effect: float) -> tuple[float, float]:
    """Topics up to which the bound is flat, and by how much it rises a topic behind them."""
    bend = max(LEAST, WANTED / effect**2)
    return bend, SLOPE * math.sqrt(WANTED / bend)


def sequence_level(clusters: int, level: float = 0.95, tightest: int = TIGHTEST) -> float:
    """The level of an ordinary two-sided interval that makes it one of a confidence sequence at `level`, which holds
    the truth at all numbers of clusters at once.

    By it any interval is made one: of a share, of a coefficient that is resampled. About .998 at `tightest` clusters,
    where it is lowest. Of whole clusters in random order; normal mixture, asymptotic, t in place of normal quantiles.
    Robbins 1970; Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024.
    """
    error = 1 - level
    # the spread of the mixture that is narrowest at `tightest`. Waudby-Smith et al. 2024, appendix
    spread = (-2 * math.log(error) + math.log(1 - 2 * math.log(error))) / tightest
    seen = clusters * spread
    z = math.sqrt((1 + 1 / seen) * (math.log1p(seen) - 2 * math.log(error)))
    return 1 - 2 * float(tails.Normal.sf(z))
