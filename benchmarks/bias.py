"""Are planted biases found, and absent ones not? Judges are simulated with known biases, so the truth is known.

`python benchmarks/bias.py [STUDIES]` makes 200 studies of each kind, or so many (topics whose labels share their
difficulty; people and a judge who see the truth with some probability; a judge that takes the first, the longer or its
own family's report regardless of it with another), asks the bias functions of `calibration` as a report does, prints
how often each said found, not_found and cannot_tell beside what is promised, and exits with 1 when a promise is broken.
Some minutes.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.promises import Figure, record
from calibration.biases.position_bias import position_bias
from calibration.biases.preference_bias import length_bias, self_preference
from calibration.results import CalibrationSettings
from calibration.study.bias import Bias, Outcome
from calibration.study.joining import Study, study_of

SYSTEMS = ("own", "other1", "other2", "other3")
SETTINGS = CalibrationSettings()
SURE = 1e-3  # chance that a kept promise looks broken


@dataclass(frozen=True)
class Design:
    """A study: its size, how good its raters are, and what is planted in the judge. Rates are probabilities.

    `better_longer`, `better_own`: log-odds that the report twice as long, or the own family's, is truly better.
    """

    topics: int = 60
    labels: int = 6  # criteria of the one item of each topic
    annotators: int = 2
    people: float = 0.85
    judge: float = 0.8
    shared: float = 0.2  # correlation of the truth within a topic
    both_orders: bool = True
    own_always_first: bool = False
    position: float = 0.0
    length: float = 0.0
    own: float = 0.0
    better_longer: float = 0.0
    better_own: float = 0.0


def made_verdicts(design: Design, rng: np.random.Generator) -> pd.DataFrame:
    """The table of verdicts of one study."""
    one = design.topics
    a = rng.integers(0, 4, one)
    b = (a + rng.integers(1, 4, one)) % 4
    doubled = rng.normal(0, 1, one)  # log2 of len_a / len_b
    lengths = np.rint(4_000 * 2 ** np.stack([doubled / 2, -doubled / 2]))
    is_own = (a == 0).astype(float) - (b == 0)
    chance = 1 / (1 + np.exp(-design.better_longer * doubled - design.better_own * is_own))
    k = 1 / design.shared - 1
    of_topic = rng.beta(chance * k, (1 - chance) * k)
    truth = rng.random((design.labels, one)) < of_topic
    frames = []
    for name in [*(f"ann{n}" for n in range(design.annotators)), "judge"]:
        judge = name == "judge"
        order = np.where(rng.random(one) < 0.5, 1, -1)
        if design.own_always_first:
            order = np.where(is_own == 0, order, is_own).astype(int)
        for shown in (order, -order) if judge and design.both_orders else (order,):
            says = np.where(rng.random(truth.shape) < (design.judge if judge else design.people), truth, ~truth)
            for rate, favours_a in ((design.position, shown), (design.length, doubled), (design.own, is_own)):
                if judge and rate:
                    k = 9.0  # biases differ between topics too: correlation .1
                    taken = rng.random(truth.shape) < rng.beta(rate * k, (1 - rate) * k, one)
                    says = np.where(taken & (favours_a != 0), favours_a > 0, says)
            frames.append(_rows(name, says, shown))
    items = pd.DataFrame(
        {
            "cluster_id": [f"t{n:03}" for n in range(one)],
            "system_a": np.array(SYSTEMS)[a],
            "system_b": np.array(SYSTEMS)[b],
            "len_a": lengths[0],
            "len_b": lengths[1],
        }
    )
    return pd.concat(frames, ignore_index=True).join(items, on="item")


def _rows(name: str, says_a: np.typing.NDArray[np.bool_], shown: np.typing.NDArray[np.int_]) -> pd.DataFrame:
    labels, topics = says_a.shape
    item = np.tile(np.arange(topics), labels)
    return pd.DataFrame(
        {
            "item": item,
            "item_id": np.char.add("i", item.astype(str)),
            "criterion": np.char.add("c", np.repeat(np.arange(labels), topics).astype(str)),
            "rater_id": name,
            "rater_kind": "judge" if name == "judge" else "human",
            "label": np.where(says_a.ravel(), "A", "B"),
            "presentation": np.where(np.tile(shown, labels) > 0, "AB", "BA"),
        }
    )


def position(study: Study) -> tuple[Outcome, Bias]:
    found = position_bias(study, "judge", SETTINGS)
    return found.outcome, found.headline


def length(study: Study) -> tuple[Outcome, Bias]:
    found = length_bias(study, "judge", settings=SETTINGS)
    return found.outcome, found.difference


def own(study: Study) -> tuple[Outcome, Bias]:
    found = self_preference(study, "judge", "x", {"own": "x"}, SETTINGS)
    return found.outcome, found.own


@dataclass(frozen=True)
class Promise:
    """One kind of study, and bounds on how often a word may be said there."""

    text: str
    design: Design
    measure: Callable[[Study], tuple[Outcome, Bias]]
    most: dict[str, float] = field(default_factory=dict)
    least: dict[str, float] = field(default_factory=dict)
    truth: float = math.nan  # the headline's effect; then its interval must cover it


BASE, SMALL, LARGE = Design(), Design(topics=10), Design(topics=400, labels=3)
ONE_ORDER = replace(BASE, both_orders=False)
ABSENT = {"found": 0.06}
PROMISES = (
    Promise("position, absent, both orders", BASE, position, ABSENT, truth=0.0),
    Promise("position, absent, one order, truth shared in topics", ONE_ORDER, position, ABSENT, truth=0.0),
    Promise(
        "position, absent, one order, own reports better",
        replace(ONE_ORDER, better_own=2.0),
        position,
        ABSENT,
        truth=0.0,
    ),
    Promise(
        "position, absent, the better own reports always first",
        replace(ONE_ORDER, better_own=2.0, own_always_first=True),
        position,
        ABSENT,
    ),
    Promise("position, .2 planted, both orders", replace(BASE, position=0.2), position, least={"found": 0.95}),
    Promise(
        "position, .2 planted, one order, 200 topics",
        replace(ONE_ORDER, topics=200, position=0.2),
        position,
        least={"found": 0.8},
        truth=0.1,
    ),
    Promise("length, absent", BASE, length, ABSENT, truth=0.0),
    Promise(
        "length, absent, longer is better, judge noisier than people",
        replace(BASE, better_longer=1.5, people=0.98, judge=0.75),
        length,
        ABSENT,
    ),
    Promise(
        "length, absent, longer is better, judge as noisy as people",
        replace(BASE, better_longer=1.5, people=0.8),
        length,
        ABSENT,
    ),
    Promise("length, .2 planted", replace(BASE, length=0.2), length, least={"found": 0.95}, truth=0.1),
    Promise("own family, absent", BASE, own, ABSENT, truth=0.0),
    Promise(
        "own family, absent, its reports better, noisy people",
        replace(BASE, better_own=2.0, people=0.8),
        own,
        ABSENT,
    ),
    Promise(
        "own family, absent, its reports worse, noisy judge",
        replace(BASE, better_own=-2.0, people=0.98, judge=0.7),
        own,
        ABSENT,
    ),
    Promise("own family, .3 planted", replace(BASE, own=0.3), own, least={"found": 0.9}, truth=0.15),
    # sizes that the data could not have seen
    *(
        Promise(f"{name}, absent, 10 topics", SMALL, measure, {"not_found": 0.05} | ABSENT)
        for name, measure in (("position", position), ("length", length), ("own family", own))
    ),
    Promise("position, as large as the floor", replace(BASE, position=0.05), position, {"not_found": 0.05}),
    Promise("length, as large as the floor, 400 topics", replace(LARGE, length=0.1), length, {"not_found": 0.05}),
    Promise("own family, as large as the floor, 400 topics", replace(LARGE, own=0.1), own, {"not_found": 0.05}),
    # and sizes that they could
    Promise("position, absent, 400 topics", LARGE, position, ABSENT, {"not_found": 0.6}),
    Promise("length, absent, 400 topics", LARGE, length, {"found": 0.06}, {"not_found": 0.5}),
    Promise("own family, absent, 400 topics", LARGE, own, {"found": 0.06}, {"not_found": 0.3}),
)


@dataclass(frozen=True)
class Tally:
    """How often each word was said in so many studies, how often the interval held the truth, and the power.

    `promised_power`: the mean over studies of the power at the true effect that their `detectable` implies.
    """

    studies: int
    words: Counter[str]
    covered: float
    promised_power: float


def tally_of(promise: Promise, studies: int, seed: int) -> Tally:
    """What was said of `studies` made ones."""
    rng = np.random.default_rng(seed)
    words, covered, power = Counter[str](), 0, 0.0
    for _ in range(studies):
        word, bias = promise.measure(study_of(made_verdicts(promise.design, rng), SETTINGS))
        words[word] += 1
        covered += bias.estimate.low - bias.null <= promise.truth <= bias.estimate.high - bias.null
        power += implied_power(bias, promise.truth)
    return Tally(studies, words, covered / studies, power / studies)


def implied_power(bias: Bias, truth: float) -> float:
    """The power at `truth` of a test whose power is .8 at `bias.detectable`."""
    df = max(1, bias.estimate.clusters - 1)
    t = float(stats.t.ppf(0.975, df))
    se = bias.detectable / (t + float(stats.t.ppf(0.8, df)))
    return float(stats.t.sf(t - abs(truth) / se, df)) if se > 0 else math.nan


def broken(promise: Promise, found: Tally) -> Iterator[str]:
    """The bounds that these counts break beyond what luck allows."""
    for word, bound in promise.most.items():
        if stats.binom.sf(found.words[word] - 1, found.studies, bound) < SURE:
            yield f"{promise.text}: {word} in {found.words[word]} of {found.studies}, promised at most {bound:.0%}"
    for word, bound in promise.least.items():
        if stats.binom.cdf(found.words[word], found.studies, bound) < SURE:
            yield f"{promise.text}: {word} in {found.words[word]} of {found.studies}, promised at least {bound:.0%}"
    held = round(found.covered * found.studies)
    if not math.isnan(promise.truth) and stats.binom.cdf(held, found.studies, 0.93) < SURE:
        yield f"{promise.text}: the interval covers the truth in {held} of {found.studies}, promised 93 %"


def figures(promise: Promise, found: Tally) -> Iterator[Figure]:
    """The shares that something is promised of, for the table of all benchmarks."""
    for word in sorted({*promise.most, *promise.least}):
        percent = 100 / found.studies
        # a bound is broken where chance does not explain it: the bounds here are those that `broken` holds them to
        low = stats.binom.ppf(SURE, found.studies, promise.least[word]) if word in promise.least else -math.inf
        high = stats.binom.isf(SURE, found.studies, promise.most[word]) if word in promise.most else math.inf
        name = f"{promise.text}: {word}"
        yield Figure(name, percent * found.words[word], "%", percent * float(low), percent * float(high))


def main(studies: int = 200) -> int:
    """The table, one line per kind of study."""
    failures, width = [], max(len(promise.text) for promise in PROMISES)
    print(f"{studies} studies each; percent of studies")
    heads = ("found", "not_found", "cannot_tell", "covered", "power", "implied", "seconds")
    print(" " * width, *(f"{head:>11}" for head in heads), " promised")
    for seed, promise in enumerate(PROMISES):
        start = time.process_time()
        found = tally_of(promise, studies, seed)
        failures += broken(promise, found)
        record(figures(promise, found))
        cells = [100 * found.words[word] / studies for word in ("found", "not_found", "cannot_tell")]
        cells += [100 * found.covered if not math.isnan(promise.truth) else math.nan]
        cells += [cells[0], 100 * found.promised_power] if promise.truth > 0 else [math.nan, math.nan]
        said = [f"{word} <= {100 * bound:.0f}" for word, bound in promise.most.items()]
        said += [f"{word} >= {100 * bound:.0f}" for word, bound in promise.least.items()]
        numbers = [f"{cell:11.1f}" if not math.isnan(cell) else f"{'-':>11}" for cell in cells]
        print(f"{promise.text:{width}}", *numbers, f"{time.process_time() - start:11.1f} ", ", ".join(said), flush=True)
    print("\n".join(failures) or "every promise is kept", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
