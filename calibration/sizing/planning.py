"""How many topics a study needs: for an interval, to show a judge non-inferior, or to tell two judges apart.

Topics are what counts, and what `power` and `pairs_needed` call pairs, since most studies have one pair a topic. Labels
of one topic are alike: m of them are worth m / (1 + (m - 1) icc), never more than 1 / icc. Kish 1965. Whether so many
topics decide as often as planned is tried on simulated studies, by the rule that will decide.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache

import numpy as np
import numpy.typing as npt
import scipy

from calibration.arithmetic import closed_forms, tails
from calibration.arithmetic.columns import Codes
from calibration.errors import CalibrationError
from calibration.inference import deciding
from calibration.inference.compare import paired_difference
from calibration.inference.deciding import POWER, TINY, Needed, clusters_without_spread, power
from calibration.inference.gap_test import DRAWS, FEWEST, GROUPS, RESAMPLES, GapSums, gap_of, gap_sums, laws
from plain.wording import Sentence

MOST = 1_000_000  # topics; a plan that would need more is none
CAUTION = 0.8  # one-sided confidence that the true spread is no larger than the cautious one. Browne 1995


@dataclass(frozen=True)
class Spread:
    """How a score, or a difference of two, varies between topics.

    `sd` / sqrt(topics) is the standard error of the mean. `topics`: values with this mean and sd to draw studies from.
    `expected`: how far judges' answers alone said each of them was to be off; empty where that is not known.
    """

    mean: float
    sd: float
    topics: closed_forms.Array  # shape (topics,)
    pilot: int = 0  # topics seen; 0: assumed
    note: str = ""  # why mean or sd is nan
    expected: closed_forms.Array = field(default_factory=lambda: np.empty(0))  # shape (topics,) or (0,)
    sums: GapSums | None = None  # of the pilot's labels, by which the test is redone; None: a mean a topic is known

    @property
    def cautious_sd(self) -> float:
        """Upper limit of the sd, which ten topics know within a third. Undefined: assumed, not seen. Browne 1995."""
        if self.pilot < 2:
            return math.nan
        return self.sd * math.sqrt((self.pilot - 1) / float(scipy.stats.chi2.ppf(1 - CAUTION, self.pilot - 1)))


@dataclass(frozen=True)
class DesignRow:
    """What one topic's labels are worth, and the half-width of agreement for each number of topics asked about."""

    labels_per_pair: float  # of one topic; inf: as many as one likes
    deff: float
    effective_labels: float
    half_widths: tuple[float, ...]


def design_effect(labels_per_pair: float, icc: float) -> float:
    """1 + (m - 1) icc: how much wider a variance is than that of independent labels. Kish 1965.

    A negative `icc`, which an estimate may be, counts as 0. Undefined: `icc` is nan. Raises `bad_number`.
    """
    _need("labels per pair", labels_per_pair, 1, math.inf)
    if math.isnan(icc):
        return math.nan
    _need("the icc", icc, -1, 1)
    return 1 + (labels_per_pair - 1) * max(0.0, icc) if icc > 0 else 1.0


def effective_labels(labels_per_pair: float, icc: float) -> float:
    """How many independent labels the m of one topic are worth, at most 1 / icc. Undefined: `icc` is nan."""
    if math.isinf(labels_per_pair):
        return math.nan if math.isnan(icc) else 1 / icc if icc > 0 else math.inf
    return labels_per_pair / design_effect(labels_per_pair, icc)


def sd_of_pair_means(agreement: float, labels_per_pair: float, icc: float) -> float:
    """Spread of agreement between topics of m labels, sqrt(p (1 - p) (1 + (m - 1) icc) / m). Raises `bad_number`."""
    if not 0 < agreement < 1:
        raise CalibrationError(
            "bad_number",
            "agreement is {agreement:g}; use one between 0 and 1, as without disagreement nothing varies",
            agreement=agreement,
        )  # fmt: skip
    return math.sqrt(agreement * (1 - agreement) / effective_labels(labels_per_pair, icc))


def sd_of_pair_differences(
    agreement: float, other: float, labels_per_pair: float, icc: float, correlation: float = 0.0
) -> float:
    """Spread between topics of the difference of two raters, whose topic means have `correlation`.

    0 is the cautious assumption: raters who find the same topics hard differ less. Raises `bad_number`.
    """
    if not -1 <= correlation < 1:
        raise CalibrationError(
            "bad_number",
            "the correlation is {correlation:g}; use one from -1 to below 1, at which nothing would vary",
            correlation=correlation,
        )  # fmt: skip
    one, two = (sd_of_pair_means(p, labels_per_pair, icc) for p in (agreement, other))
    return math.sqrt(max(0.0, one * one + two * two - 2 * correlation * one * two))


def half_width(
    pairs: int, agreement: float = 0.8, labels_per_pair: float = 39, icc: float = 0.1, level: float = 0.95
) -> float:
    """Half the cluster t interval of agreement, as expected. Undefined: fewer than 2 pairs. Raises `bad_number`."""
    return half_width_of_sd(pairs, sd_of_pair_means(agreement, labels_per_pair, icc), level)


def half_width_of_sd(pairs: int, sd: float, level: float = 0.95) -> float:
    """t_{C-1} sd / sqrt(C). Undefined: fewer than 2 pairs."""
    return float(tails.Student.ppf((1 + level) / 2, pairs - 1)) * sd / math.sqrt(pairs) if pairs >= 2 else math.nan


def pairs_needed(
    half_width: float, agreement: float = 0.8, labels_per_pair: float = 39, icc: float = 0.1, level: float = 0.95
) -> int:
    """The fewest C with t_{C-1} sqrt(p (1 - p) (1 + (m - 1) icc) / (C m)) <= `half_width`. Raises `bad_number`.

    About half of such studies come out a little wider; `needed_for_interval` with an assurance says how many more.
    """
    sd = sd_of_pair_means(agreement, labels_per_pair, icc)
    found = needed_for_interval(Spread(agreement, sd, np.empty(0)), half_width, level)
    if found.clusters is None:
        raise CalibrationError(
            "bad_number", "a half-width of {half_width:g} needs over a million pairs; ask for less",
            half_width=half_width,
        )  # fmt: skip
    return found.clusters


def needed_for_interval(
    spread: Spread, half_width: float, level: float = 0.95, assurance: float | None = None
) -> Needed:
    """The fewest topics whose interval has this half-width: as expected, or with probability `assurance`.

    The pilot's sd is taken as the truth. None: no spread is known (the note of `spread`, `zero_variance`), or
    `too_many`. Kupper & Hafner 1989. Raises `bad_number`.
    """
    _need("the half-width", half_width, TINY, 1)
    _need("the level", level, TINY, 1 - TINY)
    spread = replace(spread, mean=math.nan)  # an interval assumes no gap
    if not spread.sd > TINY:
        return _none(spread, spread.note or "zero_variance")
    if assurance is None:
        return _fewest(spread, lambda count: half_width_of_sd(count, spread.sd, level) <= half_width)
    _need("the assurance", assurance, TINY, 1 - TINY)
    return _fewest(spread, lambda count: assured(count, spread.sd, half_width, level) >= assurance)


def assured(pairs: int, sd: float, half_width: float, level: float = 0.95) -> float:
    """Probability that the interval comes out no wider than that: chi-square, C - 1 df. Undefined: fewer than 2 pairs.

    Kupper & Hafner 1989.
    """
    if pairs < 2:
        return math.nan
    if sd <= TINY:
        return 1.0
    return float(scipy.stats.chi2.cdf((pairs - 1) * (half_width / half_width_of_sd(pairs, sd, level)) ** 2, pairs - 1))


def needed_for_claim(
    spread: Spread, margin: float, level: float = 0.95, wanted: float = POWER, tried: int = 1
) -> Needed:
    """The fewest topics with power `wanted` to show a judge non-inferior, if the true gap is `spread.mean`, at least 0.

    `spread`: of reference - candidate. `tried`: judges tested; the first of Holm's steps then has level
    1 - (1 - level) / tried. Of a pilot's labels it is the number that `clusters_needed` gives. No fewer than the 12
    topics below which nothing is decided. None: `gap_reaches_margin`, the note of `spread`, or `too_many`. Julious
    2004. Raises `margin_missing` and `bad_number`.
    """
    if not margin > 0:
        raise CalibrationError(
            "margin_missing", "the margin is {margin:g}; fix one above 0 before results are seen", margin=margin
        )
    _check(level, wanted, tried)
    strict, gap = 1 - (1 - level) / tried, max(0.0, spread.mean)
    spread = replace(spread, mean=gap)
    if math.isnan(spread.sd) or math.isnan(spread.mean):
        return _none(spread, spread.note)
    if gap >= margin:
        return _none(spread, "gap_reaches_margin")
    if spread.sd <= TINY:
        least = clusters_without_spread(gap, margin, strict) if margin < 1 else 2
        return _fewest(spread, lambda count: count >= least)
    found = _fewest(spread, lambda count: power_of_claim(count, spread, margin, level, tried) >= wanted)
    return deciding.at_least(found, FEWEST)


def power_of_claim(topics: int, spread: Spread, margin: float, level: float = 0.95, tried: int = 1) -> float:
    """Probability that so many topics show it, with faults that the pilot may not have seen. Undefined as `power`."""
    like = None if spread.sums is None else gap_of(spread.sums)
    return deciding.claim_power(topics, spread.sd, margin, max(0.0, spread.mean), 1 - (1 - level) / tried, like)


def needed_to_tell_apart(
    spread: Spread, difference: float, level: float = 0.95, wanted: float = POWER, tried: int = 2
) -> Needed:
    """The fewest topics with power `wanted` to find, two-sided, that of two judges one is better by `difference`.

    `tried`: judges compared; Holm over all pairs of them. The mean of `spread` does not matter. None: no spread is
    known, or `too_many`. Raises `bad_number`.
    """
    _need("the difference", difference, TINY, 1)
    _check(level, wanted, tried)
    spread = replace(spread, mean=difference)
    if not spread.sd > TINY:
        return _none(spread, spread.note or "zero_variance")
    return _fewest(spread, lambda count: power_to_tell_apart(count, spread.sd, difference, level, tried) >= wanted)


def power_to_tell_apart(pairs: int, sd: float, difference: float, level: float = 0.95, tried: int = 2) -> float:
    """Probability that the two-sided cluster t test finds the better of two judges better. Undefined as `power`."""
    # the right tail alone: finding the worse one better is no success
    return power(pairs, sd, difference, 0.0, 1 - (1 - level) / 2 / comparisons(tried))


def design_table(
    variance: float, icc: float, labels_per_pair: Sequence[float], pairs: Sequence[int], level: float = 0.95
) -> tuple[DesignRow, ...]:
    """Why labels do not replace topics: for each number of labels in a topic, its worth and the half-widths.

    `variance`: of one label's agreement, p (1 - p) where it is 0 or 1. Undefined, nan: `icc` is. Raises `bad_number`.
    """
    rows = []
    for labels in labels_per_pair:
        worth = effective_labels(labels, icc)
        sd = math.sqrt(variance / worth)
        widths = tuple(half_width_of_sd(count, sd, level) for count in pairs)
        rows.append(DesignRow(labels, design_effect(labels, icc), worth, widths))
    return tuple(rows)


def _fewest(spread: Spread, enough: Callable[[int], bool]) -> Needed:
    """The smallest number from 2 that is enough; more is never less than enough."""
    if not enough(MOST):
        return _none(spread, "too_many")
    count = 2 + bisect_left(range(2, MOST), True, key=enough)
    return Needed(count, max(0, count - spread.pilot), spread.mean, spread.sd)


def _none(spread: Spread, note: str) -> Needed:
    return Needed(None, None, spread.mean, spread.sd, note)


def comparisons(tried: int) -> int:
    """Pairs of judges, over which Holm adjusts; at least 1."""
    return max(1, tried * (tried - 1) // 2)


def _check(level: float, wanted: float, tried: int) -> None:
    _need("the level", level, TINY, 1 - TINY)
    _need("the power", wanted, TINY, 1 - TINY)
    _need("the number of judges tried", tried, 1, math.inf)


def _need(what: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        least = Sentence("a number above 0") if low == TINY else Sentence("a number from {low:g}", low=low)
        most = Sentence(" to below 1") if high < 1 else Sentence(" to {high:g}", high=high)
        raise CalibrationError(
            "bad_number", "{what} is {value:g}; use {least}{most}", what=Sentence(what), value=value, least=least,
            most="" if math.isinf(high) else most,
        )  # fmt: skip


Mask = npt.NDArray[np.bool_]
STUDIES = 400  # simulated; the share of them that decides may fall short of the power by SLACK
SLACK = 0.03
DRAWS_BEYOND = 10  # resamples that should lie beyond the bound
SIMULATED_UP_TO = 20_000  # topics; means of more are normal, and the formula stands


def confirmed(
    needed: Needed,
    spread: Spread,
    margin: float,
    level: float = 0.95,
    wanted: float = POWER,
    tried: int = 1,
    seed: int = 0,
) -> tuple[Needed, float]:
    """`needed_for_claim` tried out: 400 studies of topics drawn from `spread`, decided as by `non_inferiority`.

    A pilot's topics are drawn with all their labels: of their means alone the test knows less, and asks for more.

    They share their resamples, of which there are as many as the level needs, at least 999. By t with the same error,
    in the place of the resampled law, above 1,000 topics and for levels that no p of 9,999 resamples reaches.
    Where fewer than `wanted` - .03 of them are non-inferior, topics grow by a twentieth and are tried again. Returns
    the number and the share of studies, nan where there is none or it is above 20,000.
    """
    error, shift = (1 - level) / tried, needed.gap - spread.mean
    sums = gap_sums(spread.topics, np.arange(len(spread.topics))) if spread.sums is None else spread.sums
    if spread.sums is not None and len(sums.labels) > 1:  # as `spread.topics`: they vary as the population does
        mean, wider = sums.labels * spread.mean, math.sqrt(len(sums.labels) / (len(sums.labels) - 1))
        sums = replace(sums, gaps=mean + wider * (sums.gaps - mean))

    def decided(studies: Sequence[Codes]) -> Mask:
        drawn = [GapSums(*(getattr(sums, each.name)[study] for each in fields(sums))) for study in studies]
        return _uppers(drawn, error) + shift < margin

    return _grown(needed, spread, decided, wanted, seed)


def _uppers(sums: Sequence[GapSums], error: float) -> closed_forms.Array:
    """The upper bound of each study's gap, shape (studies,); all have as many topics."""
    topics, gaps = len(sums[0].labels), [gap_of(one) for one in sums]
    value, se = (np.array([getattr(gap, name) for gap in gaps]) for name in ("value", "se"))
    draws = min(RESAMPLES, max(DRAWS, math.ceil(DRAWS_BEYOND / error)))
    if topics > GROUPS or error * (draws + 1) < 2:
        return np.asarray(value + _t_quantile(1 - error, topics) * se)
    spread = [int(at) for at in np.flatnonzero(se > 0)]
    value[spread] = [law.upper(error) for law in laws([sums[at] for at in spread], [gaps[at] for at in spread], draws)]
    return value


def confirmed_apart(
    needed: Needed, spread: Spread, level: float = 0.95, wanted: float = POWER, tried: int = 2, seed: int = 0
) -> tuple[Needed, float]:
    """The same for `needed_to_tell_apart`, decided by `paired_difference`."""
    strict, centred = (1 - level) / comparisons(tried), spread.topics + (needed.gap - spread.mean)

    def decided(studies: Sequence[Codes]) -> Mask:
        none, code = np.zeros(len(studies[0])), np.arange(len(studies[0]))
        found = [paired_difference(centred[study], none, code, level) for study in studies]
        return np.array([one.value > 0 and one.p < strict for one in found])

    return _grown(needed, spread, decided, wanted, seed)


@cache
def _t_quantile(p: float, clusters: int) -> float:
    return float(tails.Student.ppf(p, clusters - 1))


def _grown(
    needed: Needed, spread: Spread, decided: Callable[[Sequence[Codes]], Mask], wanted: float, seed: int
) -> tuple[Needed, float]:
    """`decided`: which studies are, by the places of their topics among those of `spread`."""
    if needed.clusters is None or spread.sd <= TINY:
        return needed, math.nan
    rng, count = np.random.default_rng(seed), needed.clusters
    among = len(spread.topics)
    while count <= SIMULATED_UP_TO:
        share = float(decided([rng.integers(among, size=count) for _ in range(STUDIES)]).mean())
        if wanted - 3 * SLACK <= share < wanted:  # perhaps by chance: four times as many tell
            more = float(decided([rng.integers(among, size=count) for _ in range(4 * STUDIES)]).mean())
            share = (share + 4 * more) / 5
        if share >= wanted - SLACK:
            return replace(needed, clusters=count, more=max(0, count - spread.pilot)), share
        count += -(-count // 20)
    return replace(needed, clusters=count, more=max(0, count - spread.pilot)), math.nan
