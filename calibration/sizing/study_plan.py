"""A study planned: topics, hours and money for each thing one may want to show, from a pilot or from assumptions."""

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from typing import Literal

import numpy as np

from calibration.arithmetic import tails
from calibration.arithmetic.closed_forms import Array
from calibration.choosing.looking import any_time_clusters, planned_clusters
from calibration.errors import CalibrationError
from calibration.inference.deciding import POWER, Needed
from calibration.settings import refuse_no_share
from calibration.sizing import planning
from calibration.sizing.draw_gain import draw_gain
from calibration.sizing.pilot import Pilot
from plain.wording import Sentence


@dataclass(frozen=True)
class Design:
    """What one topic brings. Raises `bad_number` below one of each."""

    pairs_per_topic: float = 1
    labels_per_pair: float = 39  # criteria times annotators
    annotators_per_pair: float = 1

    def __post_init__(self) -> None:
        for what, value in (
            ("pairs per topic", self.pairs_per_topic),
            ("labels per pair", self.labels_per_pair),
            ("annotators per pair", self.annotators_per_pair),
        ):
            if not 0 < value < math.inf:
                raise CalibrationError(
                    "bad_number", "{what} is {value:g}; use a number above 0", what=Sentence(what), value=value
                )

    @property
    def labels_per_topic(self) -> float:
        """All of them answer for one topic, and are alike."""
        return self.pairs_per_topic * self.labels_per_pair


@dataclass(frozen=True)
class Prices:
    """nan is unknown, which is not 0. Raises `bad_number` below 0."""

    minutes_per_pair: float = math.nan  # of one annotator
    hourly_rate: float = math.nan  # USD
    judge_per_pair: float = math.nan  # USD
    other_judge_per_pair: float = math.nan  # USD

    def __post_init__(self) -> None:
        for what, value in vars(self).items():
            if value < 0 or math.isinf(value):
                raise CalibrationError(
                    "bad_number", "{what} is {value:g}; use a number from 0", what=Sentence(what.replace("_", " ")),
                    value=value,
                )  # fmt: skip


NO_PRICES = Prices()


@dataclass(frozen=True)
class Cost:
    """Of one study size. Hours and USD are nan where a price they rest on is unknown."""

    pairs: int
    labels: int
    hours: float
    annotators: float
    judges: float
    total: float


def cost_of(topics: int, design: Design, prices: Prices, judges: int = 1) -> Cost:
    """Hours and USD of so many topics; `judges`: 1 or 2 of the two that have a price."""
    pairs = math.ceil(topics * design.pairs_per_topic - 1e-9)
    hours = pairs * design.annotators_per_pair * prices.minutes_per_pair / 60
    per_pair = prices.judge_per_pair + (prices.other_judge_per_pair if judges == 2 else 0.0)
    people, machines = hours * prices.hourly_rate, pairs * per_pair
    return Cost(pairs, round(pairs * design.labels_per_pair), hours, people, machines, people + machines)


Aim = Literal["interval", "non_inferior", "tell_apart"]
ASSUMED_TOPICS = 20_000  # made, to draw simulated studies from
TABLE_TOPICS = (10, 30, 100, 210)
LIMIT = (math.inf,)  # as many labels in a topic as one likes: 1 / icc independent ones, where there is an icc
FEWEST_TOPICS = 5  # of a pilot, as of every interval over whole clusters
MOST_TIMES = 4  # as many topics that judges answer as are labelled: more bring hardly more, and each costs
WHY = {
    "no_items": "nothing to compare",
    "few_topics": "a pilot of fewer than 5 topics does not show how topics vary",
    "too_few_units": "one topic cannot show how topics vary",
    "zero_variance": "all topics show the same value, so it is not known how far others vary",
    "gap_reaches_margin": "the gap is as large as the margin, so more topics will not show it is smaller",
    "too_many": "over a million topics",
    "one_annotator": "one annotator, so no left-out one to compare the judge with",
    "one_judge": "one judge only",
    "mixed_label_types": "the criteria share no scale and cannot be pooled",
}


@dataclass(frozen=True)
class Goals:
    """What the study is to show. Raises `margin_missing`, `unknown_form` for a margin that is no share and, from the
    functions that use them, `bad_number`.
    """

    half_width: float = 0.05  # of the interval of agreement
    margin: float = 0.05  # of non-inferiority to a left-out annotator
    difference: float = 0.05  # between two judges, to be found
    level: float = 0.95
    power: float = POWER
    tried: int = 0  # judges; Holm over all of them. 0: not said, so the pilot's, and its claim at its step of Holm
    looks: int = 1  # at the claim, evenly spaced over the planned topics
    any_time: bool = False  # or whenever one likes

    def __post_init__(self) -> None:
        if not self.margin > 0:
            raise CalibrationError(
                "margin_missing", "the margin is {margin:g}; fix one above 0 before results are seen",
                margin=self.margin,
            )  # fmt: skip
        refuse_no_share("the margin", self.margin)


@dataclass(frozen=True)
class Drawn:
    """An aim reached by topics drawn where they say most, of those that judges answer: all there are, or enough."""

    topics: int
    of: int
    saved: float  # share of the topics that it takes at random, as the pilot shows it
    low: float  # of its interval at the goals' level
    high: float
    cost: Cost
    ratios: tuple[tuple[int, float], ...]  # topics labelled, variance over that of as many at random


@dataclass(frozen=True)
class Planned:
    """One aim: `needed.clusters` topics, and what they give."""

    aim: Aim
    target: float  # half-width, margin or difference
    needed: Needed
    reached: float  # expected half-width, or power by the noncentral t, at that many
    simulated: float  # share of 400 simulated studies that decided; nan for an interval
    cautious: int | None  # topics at the upper 80 % limit of the pilot's sd; for an interval, with assurance .8
    cost: Cost | None  # None where no number of topics is enough
    why: str  # why there is none, in words
    formula: int | None = None  # of one look, before studies were simulated: what `calibrate` says of the pilot
    drawn: Drawn | None = None  # None: not known, or it takes all topics that one could have


@dataclass(frozen=True)
class At:
    """What a given number of topics gives."""

    topics: int
    half_width: float
    assured: float  # probability that the interval is no wider than the goal
    power: float  # of the non-inferiority claim
    power_apart: float
    cost: Cost


@dataclass(frozen=True)
class StudyPlan:
    """`rows`: labels in a topic against topics, -> half-width; empty where the ICC is not estimable."""

    aims: tuple[Planned, ...]
    rows: tuple[planning.DesignRow, ...]
    topics: tuple[int, ...]  # columns of `rows`
    at: At | None
    pilot: Pilot | None
    design: Design
    icc: float
    variance: float


@dataclass(frozen=True)
class _Known:
    """Everything a plan rests on, wherever it comes from."""

    scores: planning.Spread
    gap: planning.Spread
    difference: planning.Spread
    variance: float
    icc: float
    design: Design
    pilot: Pilot | None = None


def plan_from_assumptions(
    goals: Goals,
    design: Design,
    prices: Prices = NO_PRICES,
    agreement: float = 0.8,
    icc: float = 0.1,
    correlation: float = 0.0,
    true_gap: float = 0.0,
    topics: int | None = None,
) -> StudyPlan:
    """Judges that agree with people as often as `agreement` says, their topic means with `correlation`.

    `true_gap`: how much less the judge agrees than a left-out annotator. `topics`: also what so many would give.
    Raises `bad_number`.
    """
    labels = design.labels_per_topic
    scores = planning.Spread(agreement, planning.sd_of_pair_means(agreement, labels, icc), np.empty(0))
    gap, difference = (_assumed(agreement, one, labels, icc, correlation) for one in (true_gap, goals.difference))
    known = _Known(scores, gap, difference, agreement * (1 - agreement), icc, design)
    return _planned(known, goals, prices, topics)


def plan_from_numbers(
    goals: Goals, given: Mapping[str, float], prices: Prices = NO_PRICES, topics: int | None = None
) -> StudyPlan:
    """`plan_from_assumptions` of a study described by its numbers of criteria, annotators and pairs of a topic."""
    design = Design(given["pairs_per_topic"], given["criteria"] * given["annotators"], given["annotators"])
    known = {name: given[name] for name in ("agreement", "icc", "correlation", "true_gap")}
    return plan_from_assumptions(goals, design, prices, topics=topics, **known)


def plan_from_pilot(pilot: Pilot, goals: Goals, prices: Prices = NO_PRICES, topics: int | None = None) -> StudyPlan:
    """Topics like those of the pilot: its spreads and its gap taken as the truth, its prices where none is given."""
    design = Design(pilot.pairs_per_topic, max(pilot.labels_per_pair, 1e-9), pilot.annotators_per_pair)
    prices = _priced(pilot, prices)
    scores, gap, difference = (_known_of_few(one) for one in (pilot.scores, pilot.gap, pilot.difference))
    known = _Known(scores, gap, difference, pilot.variance, pilot.icc.value, design, pilot)
    return _planned(known, goals, prices, topics)


def _known_of_few(spread: planning.Spread) -> planning.Spread:
    """The spread, unknown where the pilot has topics but too few of them to show one."""
    return replace(spread, sd=math.nan, note="few_topics") if 1 < spread.pilot < FEWEST_TOPICS else spread


def _priced(pilot: Pilot, prices: Prices) -> Prices:
    """The pilot's own prices where none is given."""
    seconds, pay, judge, other = (
        one.value if one else math.nan
        for one in (pilot.seconds_per_pair, pilot.pay_per_pair, pilot.cost_per_pair, pilot.other_cost_per_pair)
    )
    own = Prices(seconds / 60, pay / seconds * 3600 if seconds > 0 else math.nan, judge, other)
    return Prices(
        *(mine if math.isnan(given) else given for given, mine in zip(astuple(prices), astuple(own), strict=True))
    )


def _planned(known: _Known, goals: Goals, prices: Prices, topics: int | None) -> StudyPlan:
    spreads = {"interval": known.scores, "non_inferior": known.gap, "tell_apart": known.difference}
    claimed = replace(goals, tried=goals.tried or (known.pilot.step(goals.margin) if known.pilot else 1))
    goals = replace(goals, tried=goals.tried or (known.pilot.tried if known.pilot else 1))
    aims = tuple(
        replace(aim, drawn=_drawn(aim, spreads[aim.aim], known, goals, prices, topics or 0))
        for aim in (_interval(known, goals, prices), _claim(known, claimed, prices), _apart(known, goals, prices))
    )
    rows: tuple[planning.DesignRow, ...] = ()
    columns = tuple(sorted({*TABLE_TOPICS, *([topics] if topics else [])}))
    if not math.isnan(known.icc) and known.variance > 0:
        labels = max(1, round(known.design.labels_per_topic))
        shown = sorted({1.0, max(1.0, labels // 4), *(n * labels for n in (1, 2, 4)), *LIMIT[: known.icc > 0]})
        rows = planning.design_table(known.variance, known.icc, shown, columns, goals.level)
    at = None if topics is None else _at(known, goals, claimed, prices, topics)
    return StudyPlan(aims, rows, columns, at, known.pilot, known.design, known.icc, known.variance)


def _interval(known: _Known, goals: Goals, prices: Prices) -> Planned:
    found = planning.needed_for_interval(known.scores, goals.half_width, goals.level)
    wide = replace(known.scores, sd=known.scores.cautious_sd if known.scores.pilot else known.scores.sd)
    safe = planning.needed_for_interval(wide, goals.half_width, goals.level, planning.CAUTION)
    reached = planning.half_width_of_sd(found.clusters or 0, known.scores.sd, goals.level)
    return _aim("interval", goals.half_width, found, reached, math.nan, safe, _cost(found, known, prices))


def _claim(known: _Known, goals: Goals, prices: Prices) -> Planned:
    wanted = goals.margin, goals.level, goals.power, goals.tried
    formula = planning.needed_for_claim(known.gap, *wanted)
    once, simulated = planning.confirmed(formula, known.gap, *wanted)
    # with looks the larger number has the power that one look has at its own
    reached = planning.power_of_claim(once.clusters or 0, known.gap, goals.margin, goals.level, goals.tried)
    found = _with_looks(once, known.gap, goals)
    safe = _with_looks(
        planning.needed_for_claim(replace(known.gap, sd=known.gap.cautious_sd), *wanted), known.gap, goals
    )
    aim = _aim("non_inferior", goals.margin, found, reached, simulated, safe, _cost(found, known, prices))
    return replace(aim, formula=formula.clusters)


def _with_looks(once: Needed, spread: planning.Spread, goals: Goals) -> Needed:
    """The most topics that so many looks take, for the power of one look at `once`."""
    if once.clusters is None or (goals.looks == 1 and not goals.any_time):
        return once
    error = (1 - goals.level) / goals.tried
    if goals.any_time:
        clusters = any_time_clusters(once.clusters, error, goals.power)
    else:
        clusters = planned_clusters(once.clusters, goals.looks, error, goals.power)
    return replace(once, clusters=clusters, more=max(0, clusters - spread.pilot))


def _as_one_look(topics: int, spread: planning.Spread, goals: Goals) -> int:
    """Topics of one look that have about the power of so many with these looks, 2 at least."""
    with_looks = _with_looks(Needed(topics, 0, 0.0, spread.sd), spread, goals).clusters or topics
    return max(2, topics * topics // with_looks)


def _apart(known: _Known, goals: Goals, prices: Prices) -> Planned:
    tried = max(2, goals.tried)
    wanted = goals.level, goals.power, tried
    found = planning.needed_to_tell_apart(known.difference, goals.difference, *wanted)
    found, simulated = planning.confirmed_apart(found, known.difference, *wanted)
    reached = planning.power_to_tell_apart(
        found.clusters or 0, known.difference.sd, goals.difference, goals.level, tried
    )
    wide = replace(known.difference, sd=known.difference.cautious_sd)
    safe = planning.needed_to_tell_apart(wide, goals.difference, *wanted)
    cost = _cost(found, known, prices, 2)
    return _aim("tell_apart", goals.difference, found, reached, simulated, safe, cost)


def _drawn(aim: Planned, spread: planning.Spread, known: _Known, goals: Goals, prices: Prices, of: int) -> Drawn | None:
    random = aim.needed.clusters
    if random is None or random >= of:
        return None
    of = min(of, MOST_TIMES * random)
    gain = draw_gain(spread, of)
    if gain is None:
        return None
    topics, judges = gain.needed(random, of), 2 if aim.aim == "tell_apart" else 1
    people, machines = (cost_of(count, known.design, prices, judges) for count in (topics, of))
    cost = replace(people, judges=machines.judges, total=people.annotators + machines.judges)
    ratio, se = gain.at(topics)
    wide = float(tails.Normal.isf((1 - goals.level) / 2)) * se
    ratios = tuple(zip(gain.topics.astype(int).tolist(), gain.ratio.tolist(), strict=True))
    return Drawn(topics, of, 1 - ratio, 1 - ratio - wide, 1 - ratio + wide, cost, ratios)


def _aim(
    aim: Aim, target: float, found: Needed, reached: float, simulated: float, safe: Needed, cost: Cost | None
) -> Planned:
    # a number that simulation raised is never undercut by the formula
    cautious = None if safe.clusters is None else max(safe.clusters, found.clusters or 0)
    return Planned(aim, target, found, reached, simulated, cautious, cost, WHY.get(found.note, found.note))


def _cost(found: Needed, known: _Known, prices: Prices, judges: int = 1) -> Cost | None:
    return None if found.clusters is None else cost_of(found.clusters, known.design, prices, judges)


def _at(known: _Known, goals: Goals, claimed: Goals, prices: Prices, topics: int) -> At:
    if topics < 2:
        raise CalibrationError("bad_number", "{topics} is too few topics for an interval; use 2 or more", topics=topics)
    once = _as_one_look(topics, known.gap, claimed)
    return At(
        topics,
        planning.half_width_of_sd(topics, known.scores.sd, goals.level),
        planning.assured(topics, known.scores.sd, goals.half_width, goals.level),
        planning.power_of_claim(once, known.gap, goals.margin, goals.level, claimed.tried),
        planning.power_to_tell_apart(topics, known.difference.sd, goals.difference, goals.level, max(2, goals.tried)),
        cost_of(topics, known.design, prices),
    )


def _assumed(agreement: float, gap: float, labels: float, icc: float, correlation: float) -> planning.Spread:
    """Differences of two raters, Beta-binomial in each topic, with exactly the planned mean and sd."""
    other = agreement - gap
    if not 0 < other < 1:
        raise CalibrationError(
            "bad_number", "{gap:g} less than {agreement:g} leaves an agreement of {other:g}; use a smaller difference",
            gap=gap, agreement=agreement, other=other,
        )  # fmt: skip
    sd = planning.sd_of_pair_differences(agreement, other, labels, icc, correlation)
    rng = np.random.default_rng(0)
    raw = _topic_means(rng, agreement, labels, icc) - _topic_means(rng, other, labels, icc)
    return planning.Spread(gap, sd, gap + (raw - raw.mean()) / raw.std() * sd)


def _topic_means(rng: np.random.Generator, agreement: float, labels: float, icc: float) -> Array:
    m = max(1, round(labels))
    if icc <= 0:
        p: float | Array = agreement
    elif icc >= 1:
        p = (rng.random(ASSUMED_TOPICS) < agreement).astype(float)
    else:
        k = 1 / icc - 1
        p = rng.beta(agreement * k, (1 - agreement) * k, ASSUMED_TOPICS)
    return np.asarray(rng.binomial(m, p, ASSUMED_TOPICS) / m)
