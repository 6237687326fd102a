"""Thresholds of a judge's sureness, each with the error on what it decides, tested from the strictest on.

Items are sorted by how sure the judge is of them, which no person's label enters. One threshold after the other is
tested on all topics, and the first that fails ends it (fixed-sequence testing: Angelopoulos et al. 2021, Learn then
Test). So no threshold is chosen by the labels that it is checked on.

No spread between the topics at hand can tell how bad an unseen one is, so a bound from their spread alone fails where
faults are rare and fill a topic. So the topics are weighted by a flat Dirichlet, and one more is added, as large as the
topic in which a random label lies, where every label is wrong.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from calibration import estimates, remarks
from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import Codes, tally
from calibration.choosing.looking import looking_of
from calibration.confidence.sureness import NEVER, ItemSureness
from calibration.inference import bootstrap, looks
from calibration.settings import CalibrationSettings
from calibration.study import crossing, left_out
from calibration.study.bounding import WHOLE, Pair, made, share
from calibration.study.joining import Mask, Scale, Study

FEWEST_TOPICS = 12
MOST_STEPS = 10  # of more levels of sureness the tenths of the items
PARTS = 0.5, 0.25, 0.0  # of the error allowed, that a judge makes which should pass the step tested first
MOST_TIMES = 64.0  # as many topics as there are; a study that would need more is no advice
SOME_DRAWS = 999  # for how many topics would do, which is a forecast anyway


@dataclass(frozen=True)
class Step:
    """One threshold: the judge decides items at least so sure. `level`: as `ItemSureness.level`.

    `error`: of the labels of these items that annotators have a majority on; `low` is 0 and `high` the one-sided bound,
    which holds for all judges tried at once. `outcome`: `passed`, `failed`, or `not_tested`.
    """

    level: int
    agreement: float  # of the least sure item that is decided
    confidence: float
    share: estimates.Estimate  # of the items asked of the judge
    error: estimates.Estimate
    outcome: str


@dataclass(frozen=True)
class Checked:
    """One judge's labels that a majority can check, shape (labels,): the level of their item, and how wrong they are.

    `without`: the level of the item of each annotated label without a majority.
    """

    level: Codes
    cluster: Codes
    wrong: Array
    without: Codes


@dataclass(frozen=True)
class Tested:
    """The steps from the strictest; `at`: the place of the loosest that passed, None for none; `first`: of the one
    tested first. `wrong`, `n`: labels of each topic and step, shape (topics, steps)."""

    steps: tuple[Step, ...]
    at: int | None
    first: int
    wrong: Array
    n: Array


def each_unit_a_cluster(study: Study) -> Study:
    """So that scores of left-out annotators, which come with the cluster of their row, tell which unit they are of."""
    return replace(study, unit_cluster=np.arange(study.units))


def checked(study: Study, scale: Scale, own: ItemSureness, settings: CalibrationSettings) -> Checked:
    """Every label with a verdict, on an item that may be decided, beside the annotators' majority.

    How wrong it is follows `settings.ties`; what annotators are divided on, `settings.majority_ties`.
    """
    people, common = crossing.people_votes(study, scale)
    level = np.full(len(study.frame["item_id"].cat.categories), NEVER, np.intp)
    level[own.item] = own.level
    unit = np.flatnonzero(own.verdict.any(axis=1) & people.any(axis=1) & (level[own.unit_item] != NEVER))
    rows = left_out.LeftOut("", unit, own.verdict[unit], own.verdict[unit], people[unit] / common, np.zeros(len(unit)))
    as_labels = replace(settings, references="others_majority", distance="exact"), replace(scale, weights=())
    found = left_out.scores_of_left_out(each_unit_a_cluster(study), rows, as_labels[1], as_labels[0])
    kept, without = found.cluster, np.setdiff1d(unit, found.cluster)
    return Checked(
        level[own.unit_item[kept]], study.unit_cluster[kept], 1 - found.judge, level[own.unit_item[without]]
    )  # fmt: skip


def tested(study: Study, own: ItemSureness, labels: Checked, judges: int, settings: CalibrationSettings) -> Tested:
    """One judge of `judges`, which share the error of the level among them (Bonferroni)."""
    levels = _levels(own)
    wrong, n = _by_step(labels, levels, len(study.clusters))
    bounds, first, end = in_order(wrong, n, error_of_one(judges, settings, len(study.clusters)), settings)
    steps = tuple(
        Step(
            int(level), *_least(own, int(level)), _share(study, own, int(level), settings),
            _error(own, wrong[:, at], n[:, at], float(bounds[at]), judges, settings),
            "passed" if first <= at < end else "failed" if at == end else "not_tested",
        )
        for at, level in enumerate(levels)
    )  # fmt: skip
    return Tested(steps, end - 1 if end > first else None, first, wrong, n)


def in_order(wrong: Array, n: Array, error: float, settings: CalibrationSettings) -> tuple[Array, int, int]:
    """The bound of every step, the step tested first, and the first one that failed (`first` itself: nothing passed).

    `wrong`, `n`: labels of each topic and step, shape (topics, steps), from the strictest step. `error`: how often a
    bound may fail.
    """
    drawn = drawn_topics(wrong, n, settings.resamples, settings.seed)
    bounds = upper_bounds(drawn.shares, error)
    end = first = _first(drawn, (n > 0).sum(axis=0) >= FEWEST_TOPICS, error, settings.alone_error)
    while end < len(bounds) and bounds[end] <= settings.alone_error:
        end += 1
    return bounds, first, end


def error_of_one(judges: int, settings: CalibrationSettings, topics: int) -> float:
    """How often the bound of one judge may fail at this look, on `topics` clusters of the study.

    What the plan of looks newly spends, shared by the judges: errors of looks and judges add up at worst, whatever the
    bound. 0 where an earlier look spent all, and with `any_time`, which plans no looks to share it among.
    """
    looking, error = looking_of(settings, topics), 1 - settings.level
    if looking.mode == "any_time" or looking.is_spent or looking.topics < 1:
        return 0.0
    spent = [looks.spent_by(look.share, error, looking.spending) for look in looking.looks]
    return (spent[-1] - (spent[-2] if len(spent) > 1 else 0.0)) / judges


def _levels(own: ItemSureness) -> Codes:
    """The thresholds, from the strictest: every level of sureness, or those at the tenths of the items."""
    levels, count = np.unique(own.level[own.level != NEVER], return_counts=True)
    levels, reached = levels[::-1], np.cumsum(count[::-1])
    if len(levels) <= MOST_STEPS:
        return np.asarray(levels)
    tenths = np.searchsorted(reached, reached[-1] * np.arange(1, MOST_STEPS + 1) / MOST_STEPS - 1e-9)
    return np.asarray(levels[np.unique(tenths)])


def _by_step(labels: Checked, levels: Codes, clusters: int) -> tuple[Array, Array]:
    """Wrong and all labels of each cluster and step, shape (topics with labels, steps)."""
    inside = [labels.level >= level for level in levels]
    n = np.stack([tally(labels.cluster[one], clusters) for one in inside], axis=-1)
    wrong = np.stack([tally(labels.cluster[one], clusters, labels.wrong[one]) for one in inside], axis=-1)
    known = n.any(axis=1)
    return wrong[known], n[known]


@dataclass(frozen=True)
class Drawn:
    """Drawn populations of topics, each number of shape (draws, cases): labels, wrong ones, and the further topic's."""

    n: Array
    wrong: Array
    worst: Array

    @property
    def shares(self) -> Array:
        """The share of wrong labels in each."""
        return np.asarray((self.wrong + self.worst) / (self.n + self.worst))

    def if_wrong_in(self, share: float) -> Array:
        """The same if that share of the labels of every topic were wrong."""
        return np.asarray((share * self.n + self.worst) / (self.n + self.worst))


def _first(drawn: Drawn, enough: Mask, error: float, allowed: float) -> int:
    """The strictest step on which a judge would pass that errs half as often as allowed, alike in every topic; where
    there is none, one that errs a quarter as often, or never. If that is none either, the loosest step is tested alone.

    It is found without anybody's answers. `enough`: steps with labels in enough topics, shape (steps,).
    """
    for part in PARTS:
        able = enough & (upper_bounds(drawn.if_wrong_in(allowed * part), error) <= allowed)
        if able.any():
            return int(able.argmax())
    return len(enough) - 1


def _least(own: ItemSureness, level: int) -> tuple[float, float]:
    decided = own.level >= level
    return float(own.agree[decided].min()), float(own.confidence[decided].min())


def _share(study: Study, own: ItemSureness, level: int, settings: CalibrationSettings) -> estimates.Estimate:
    sizes = tally(own.cluster, len(study.clusters))
    decided = tally(own.cluster, len(study.clusters), own.level >= level)
    return share("decided_share", Pair(own.judge, "", WHOLE, sizes), decided, settings, "of items")


def _error(
    own: ItemSureness, wrong: Array, n: Array, bound: float, judges: int, settings: CalibrationSettings
) -> estimates.Estimate:
    value = float(wrong.sum() / n.sum()) if n.any() else math.nan
    note = f"one-sided, at once for {judges} judges" if judges > 1 else "one-sided"
    said, low = (note, 0.0) if n.any() else (remarks.undefined(remarks.Reason.NO_ITEMS), math.nan)
    return made("decided_error", Pair(own.judge, "majority", WHOLE, n), value, (low, bound), "further_topic", said,
                settings)  # fmt: skip


def needed(found: Tested, judges: int, settings: CalibrationSettings) -> tuple[int, int] | None:
    """The step that needs the fewest topics to pass if errors stay as seen, and how many; None where none would."""
    able = [
        at for at, one in enumerate(found.steps)
        if one.error.value < settings.alone_error and one.error.clusters >= FEWEST_TOPICS
    ]  # fmt: skip
    error = (1 - settings.level) / judges
    times = {}
    for at in able:
        wrong, n = found.wrong[:, [at]], found.n[:, [at]]
        # with so many the step would also be the first to be tested
        both = [_times(one, n, error, settings) for one in (wrong, n * settings.alone_error * PARTS[0])]
        times[at] = max(one or math.inf for one in both)
    known = {at: math.ceil(one * len(found.n)) for at, one in times.items() if one < math.inf}
    return min(known.items(), key=lambda pair: (pair[1], -pair[0]), default=None)


def _times(wrong: Array, n: Array, error: float, settings: CalibrationSettings) -> float | None:
    """As how many times these topics, alike, would pass: within a fiftieth."""

    def passes(times: float) -> bool:
        drawn = drawn_topics(wrong, n, SOME_DRAWS, settings.seed, times)
        return bool(upper_bounds(drawn.shares, error)[0] <= settings.alone_error)

    low, high = 0.5, 1.0
    while not passes(high):
        low, high = high, 2 * high
        if high > MOST_TIMES:
            return None
    while high > 1.02 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


BLOCK = 2**21  # weights in memory at once: 16 MB


def drawn_topics(wrong: Array, n: Array, draws: int, seed: int, times: float = 1.0) -> Drawn:
    """`wrong`, `n`: how many of how many labels, shape (topics, cases); nan where a case has none. `times`: as if so
    many times the topics had been seen, alike.

    Quantiles of the shares are upper bounds on the mean share: for topics of one label each the bound of Clopper &
    Pearson (1934), in general that of Gaffke (2005), which Learned-Miller & Thomas (2019) could not find to fail; that
    of unequal topics is checked by simulation alone (`benchmarks/alone.py`).
    """
    rng, topics, cases = np.random.default_rng(seed), *n.shape
    size = ratio((n**2).sum(axis=0), n.sum(axis=0))
    both, rows, found = np.concatenate([n, wrong], axis=1), max(1, BLOCK // (topics + 1)), []
    with bootstrap.one_thread():
        for start in range(0, draws, rows):
            count = min(rows, draws - start)
            worst = rng.standard_exponential((count, 1)) * size
            found.append(np.concatenate([rng.standard_gamma(times, (count, topics)) @ both, worst], axis=1))
    return Drawn(*np.split(np.concatenate(found), [cases, 2 * cases], axis=1))


def upper_bounds(shares: Array, error: float) -> Array:
    """The smallest drawn share that at most `error` of the draws exceed, shape (cases,); 1 where that is no draw."""
    if error * len(shares) < 1:
        return np.ones(shares.shape[1])
    return np.asarray(np.quantile(shares, 1 - error, axis=0, method="higher"))
