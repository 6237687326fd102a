"""Does a verdict hold, however often people look? Simulated, so the truth is known.

`python benchmarks/looks.py` makes 2,000 studies of up to 120 topics for each setting, judge at the margin, and looks
after every topic from 20 to 120, by the test that decides (`many_studies.py`): by that of one look again and again, by
planned looks, and at any time. Then it finds how many topics each way of looking takes, as against one look of the same
power, where there is no gap.

Settings, fixed before the first run: the nested labels of `made`, 13 items a topic, three annotators, two answers. An
item is mistaken by each person at its topic's rate (mean .12, intraclass correlation .1); the judge besides at a rate
of faults of its own that differs between topics (intraclass correlation .05, .1 or .2), of the mean that makes the gap
5 points. Uneven: sizes lognormal, sigma .5 or 1. Near-perfect people: they err at .03. And four kinds of study of
`nested_labels.py`, 20 items a topic and faults of icc .2: even, lognormal of sigma 1, people who err at .03, and topics
all right or all wrong. Bounds are widened by two Monte-Carlo standard errors. Exits with 1 when a promise is broken.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import nested_labels
from benchmarks.many_studies import ManySums, laws_of
from benchmarks.promises import Promise, beta, promise, tell
from calibration.arithmetic.closed_forms import Array
from calibration.choosing.looking import any_time_clusters, planned_clusters
from calibration.inference.looks import FIRST, Look, any_time_level, nominal_levels, shown_by_each

MARGIN, LAST, LEVEL = 0.05, 120, 0.05
TOPICS = np.arange(FIRST, LAST + 1)
RESAMPLES, AT_ONCE = 9_999, 250  # studies at once: what they draw stays in cache
HOPELESS = -1.0  # of t: no law of it has so much below there that p is .05
EFFECTS = np.geomspace(0.02, 3, 60)  # any-time levels are interpolated between them


@dataclass(frozen=True)
class Setting:
    """One kind of study. `faults`: intraclass correlation of the judge's own faults within a topic."""

    name: str
    faults: float = 0.05
    people: float = 0.88
    sigma: float = 0.0  # of the logarithm of topics' sizes


SETTINGS = (
    Setting("faults spread thinly"),
    Setting("faults that cluster", faults=0.1),
    Setting("faults that cluster strongly", faults=0.2),
    Setting("uneven topics", faults=0.1, sigma=0.5),
    Setting("very uneven topics", faults=0.1, sigma=1.0),
    Setting("near-perfect people", faults=0.1, people=0.97),
)
NESTED = (
    nested_labels.Setting(LAST),
    nested_labels.Setting(LAST, "lognormal"),
    nested_labels.Setting(LAST, error=0.03),
    nested_labels.Setting(LAST, icc=1.0),
)


def made(rng: np.random.Generator, setting: Setting, studies: int, gap: float = MARGIN) -> ManySums:
    """Of each topic what people agree in more than the judge; shape (studies, topics).

    With two answers the gap of a topic is (f - e)(1 - 2e), e and f the rates of error; f = e + (1 - e) b with b of the
    mean that makes its mean over topics `gap`. People: k of three in error; rows as `left_out_scores` has them.
    """
    shape, error = (studies, LAST), 1 - setting.people
    e = beta(rng, error, 0.1, shape)
    mean = gap / (1 - 3 * error + 2 * (error**2 + error * (1 - error) * 0.1))
    f = e + (1 - e) * beta(rng, mean, setting.faults, shape) if gap > 0 else e
    items = np.maximum(1, np.round(13 * np.exp(rng.normal(-(setting.sigma**2) / 2, setting.sigma, shape)))).astype(int)
    left, rest = items.copy(), np.ones(shape)
    sums, squares, sizes = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for mistaken, human in enumerate((3, 1, 1, 3)):
        rate = math.comb(3, mistaken) * e**mistaken * (1 - e) ** (3 - mistaken)
        for judge_errs, share in ((False, 1 - f), (True, f)):
            chance = np.clip(rate * share / np.maximum(rest, 1e-12), 0, 1)
            drawn = rng.binomial(left, chance)
            left, rest = left - drawn, np.maximum(rest - rate * share, 0)
            of_item = human - (mistaken if judge_errs else 3 - mistaken)
            sums += drawn * of_item
            squares += drawn * of_item**2
            sizes += drawn * abs(of_item)
    return ManySums(3.0 * items, sums, items.astype(float), squares, sizes)


def nested(setting: nested_labels.Setting, studies: int, seed: int) -> ManySums:
    """The same of nested labels with three answers."""
    found = nested_labels.simulated(setting, studies, seed)
    return ManySums(
        found.rows, found.human - found.judge[..., 0], found.items, found.squares[..., 0], found.sizes[..., 0]
    )  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """After each number of topics, shape (studies, looks): p by the test, p by t, and the effect as `looked` has it."""

    p: Array
    by_t: Array
    effect: Array


def one_sided(sums: ManySums, rng: np.random.Generator) -> Seen:
    """One-sided p of a gap of at least the margin; all studies share the resamples of one look."""
    found = [_at(sums.first(int(count)), rng) for count in TOPICS]
    return Seen(*(np.stack(one, axis=1) for one in zip(*found, strict=True)))


def _at(sums: ManySums, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    count = sums.labels.shape[1]
    total = sums.labels.sum(axis=1)
    gap = sums.gaps.sum(axis=1) / total
    left = sums.gaps - sums.labels * gap[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (gap - MARGIN) / (np.sqrt(count / (count - 1) * (left**2).sum(axis=1)) / total)
    p, effect = np.ones(len(t)), np.zeros(len(t))
    weights = rng.multinomial(count, np.full(count, 1 / count), RESAMPLES)
    near = np.flatnonzero(~(t > HOPELESS))
    for some in np.array_split(near, max(1, len(near) // AT_ONCE)):
        law = laws_of(sums.of(some), weights)
        half = (law.upper(LEVEL / 2) - law.lower(LEVEL / 2)) / 2
        p[some] = law.p_below(MARGIN)
        with np.errstate(divide="ignore"):
            effect[some] = MARGIN / (half / stats.t.isf(LEVEL / 2, count - 1) * math.sqrt(count))
    return p, stats.t.cdf(t, count - 1), effect


def planned_levels(step: int) -> Array:
    """The level of each look of a plan of 120 topics, every `step` topics from 20 on; 0 between them."""
    at = [int(count) for count in TOPICS if (count - FIRST) % step == 0]
    levels = np.zeros(len(TOPICS))
    levels[np.array(at) - FIRST] = nominal_levels([Look(count, count / LAST) for count in at], LEVEL)
    return levels


def any_time_levels(effect: Array) -> Array:
    """Of each study and look, shape (studies, looks)."""
    known = _levels_by_effect()
    found = [np.interp(effect[:, at], EFFECTS, known[:, at]) for at in range(len(TOPICS))]
    return np.asarray(stats.norm.sf(np.stack(found, axis=1)))


@cache
def _levels_by_effect() -> Array:
    """As normal quantiles, shape (effects, looks)."""
    levels = [[max(any_time_level(int(count), one, LEVEL), 1e-300) for count in TOPICS] for one in EFFECTS]
    return np.asarray(stats.norm.isf(levels))


def errors(studies: int, seed: int = 51) -> Iterator[Promise]:
    """False `adequate` at any look, judge at the margin."""
    most = 0.055 + 2 * math.sqrt(0.055 * 0.945 / studies)
    for number, setting in enumerate((*SETTINGS, *NESTED)):
        rng = np.random.default_rng([seed, number])
        is_made = isinstance(setting, Setting)
        seen = one_sided(made(rng, setting, studies) if is_made else nested(setting, studies, seed), rng)
        name = setting.name if is_made else f"nested labels: {setting.name}"
        yield promise(f"{name}: one look at 120 topics, t", seen.by_t[:, -1] < LEVEL, 0, 1)
        yield promise("  one look at 120 topics", seen.p[:, -1] < LEVEL, 0, 1)
        yield promise("  after every topic by t, as 1.0.0 did", (seen.by_t < LEVEL).any(axis=1), 0.15, 1)
        yield promise("  after every topic, planned", (seen.p < planned_levels(1)).any(axis=1), 0, most)
        yield promise("  six planned looks", (seen.p < planned_levels(20)).any(axis=1), 0, most)
        yield promise(
            "  after every topic, at any time", (seen.p < any_time_levels(seen.effect)).any(axis=1), 0, most
        )  # fmt: skip


def costs() -> Iterator[Promise]:
    """Topics at power .8 where there is no gap, for one look's 60, 80 and 100, as a share of these; exact for normal
    statistics. `on average`: topics until it is shown, or until that many are labelled."""
    for one_look in (60, 80, 100):
        drift = float(stats.norm.isf(LEVEL) - stats.norm.isf(0.8)) / math.sqrt(one_look)
        six, whenever = planned_clusters(one_look, 6), any_time_clusters(one_look)
        at = [round(six * number / 6) for number in range(1, 7)]
        shown = shown_by_each(at, nominal_levels([Look(one, one / six) for one in at]), drift)
        yield _share(f"{one_look} topics of one look, six planned looks: at most", six / one_look, 1.1)
        yield _share("  on average", float(six - np.diff(at) @ shown[:-1]) / one_look, 2)
        each = range(FIRST, whenever + 1)
        shown = shown_by_each(each, [any_time_level(one, drift) for one in each], drift)
        yield _share("  at any time: at most", whenever / one_look, 1.35)
        yield _share("  on average", float(whenever - shown[:-1].sum()) / one_look, 2)


def _share(name: str, value: float, most: float) -> Promise:
    return Promise(name, value, 0.0, 0.0, most)


def main() -> int:
    """One line per promise."""
    found = chain(errors(2_000), costs())
    return tell("Looking again: percent of simulated studies, and of one look's topics", found)


if __name__ == "__main__":
    sys.exit(main())
