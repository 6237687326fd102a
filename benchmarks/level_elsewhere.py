"""Two equal judges told apart, and a judge at the margin of the alternative annotator test passed: how often by chance?

`python benchmarks/level_elsewhere.py` draws 3,000 studies a setting of the labels of `nested_labels.py`, settings
fixed before any was run: 12, 20 and 40 topics; sizes even, uneven, lognormal, or one topic with 40 % of labels; people
who err in 20 or 3 % of items; faults that gather in topics (icc .2), fill them, or gather little (icc .02). Two judges
have the same rates of error, and their difference is tested two-sided by the jackknife's error over topics. The
alternative annotator test leaves out the first of three annotators; its epsilon is the true difference of the setting,
from 240,000 topics. The cluster t that decided before is told beside each. Exits with 1 when a promise is broken.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.many_studies import ManySums, laws_of
from benchmarks.nested_labels import SIZES, Array, Setting, _labels, _rates, simulated
from benchmarks.promises import Promise, promise, tell
from calibration.inference.bootstrap import cluster_weights, jackknife_se_of_sums, se_of_sums

LEVEL, STUDIES, AT_ONCE, RESAMPLES, GAP = 0.05, 3_000, 500, 4_999, 0.1
KNOWN_FROM = 240_000  # topics
TOPICS = (12, 20, 40)
KINDS = (
    {}, {"sizes": "uneven"}, {"sizes": "lognormal"}, {"sizes": "dominating"}, {"error": 0.03}, {"icc": 1.0},
    {"icc": 0.02},
)  # fmt: skip


def told_apart(setting: Setting, seed: int = 0) -> tuple[Array, Array]:
    """Two-sided p of two equal judges of each study, by the jackknife's error and by that of t."""
    found = simulated(setting, STUDIES, seed)
    gaps = found.judge[..., 0] - found.judge[..., 1]
    errors = jackknife_se_of_sums, se_of_sums
    p = [[_two_sided(d, n, se) for se in errors] for d, n in zip(gaps, found.rows, strict=True)]
    return tuple(np.array(p).T)  # type: ignore[return-value]  # two arrays, which numpy does not say


def _two_sided(sums: Array, sizes: Array, error: Callable[[Array, Array], float]) -> float:
    se = error(sums, sizes)
    return float(2 * stats.t.sf(abs(sums.sum() / sizes.sum()) / se, len(sums) - 1)) if se > 0 else 1.0


def left_out(setting: Setting, studies: int, seed: int) -> ManySums:
    """Of the first annotator: [at least as close to the others as the judge] - [the judge is], summed per topic."""
    rng = np.random.default_rng(seed)
    sizes = SIZES[setting.sizes](rng, studies, setting.topics)
    people, judges = _rates(rng, setting, sizes)
    topic = np.repeat(np.arange(sizes.size), sizes.ravel())
    starts = np.concatenate([[0], np.cumsum(sizes.ravel())[:-1]])
    own, one, other, judge = (_labels(rng, rate.ravel(), topic, setting.icc == 1) for rate in (*people, judges[0]))
    lead = (own == one).astype(int) + (own == other) - (judge == one) - (judge == other)
    difference = np.sign(lead)

    def summed(each: Array) -> Array:
        return np.add.reduceat(each, starts).reshape(sizes.shape).astype(float)

    n = sizes.astype(float)
    return ManySums(n, summed(difference), n, summed(difference**2), summed(np.abs(difference)))


def passed(setting: Setting, seed: int = 0) -> tuple[Array, Array]:
    """One-sided p of each study at the true difference, by the test and by t."""
    each = KNOWN_FROM // 8 // setting.topics
    known = [left_out(setting, each, 900 + part) for part in range(8)]
    epsilon = sum(one.gaps.sum() for one in known) / sum(one.labels.sum() for one in known)
    weights = np.concatenate(list(cluster_weights(setting.topics, RESAMPLES)))
    ours, by_t = [], []
    for start in range(0, STUDIES, AT_ONCE):
        sums = left_out(setting, AT_ONCE, seed + start)
        ours.append(laws_of(sums, weights).p_below(epsilon))
        se = np.array([se_of_sums(d, n) for d, n in zip(sums.gaps, sums.labels, strict=True)])
        value = sums.gaps.sum(axis=1) / sums.labels.sum(axis=1)
        t = (value - epsilon) / np.where(se > 0, se, math.inf)
        by_t.append(stats.t.cdf(t, setting.topics - 1))
    return np.concatenate(ours), np.concatenate(by_t)


def promises() -> Iterator[Promise]:
    """No more than 6 % from 20 topics on and 7.5 % at 12, and two Monte-Carlo standard errors."""
    for topics in TOPICS:
        bound = 0.075 if topics < 20 else 0.06
        bound += 2 * math.sqrt(bound * (1 - bound) / STUDIES)
        for kind in KINDS:
            for told, test, judges in (("two equal judges", told_apart, 2), ("alternative annotator", passed, 1)):
                setting = Setting(topics, judges=judges, gap=GAP if judges == 1 else 0.05, **kind)
                ours, by_t = (p < LEVEL for p in test(setting))
                icc = f", icc {setting.icc:g}" * (setting.icc < 0.2)
                yield promise(f"{told}, {setting.name}{icc} (t: {100 * by_t.mean():.1f})", ours, 0, bound)


def main() -> int:
    """One line per promise."""
    return tell(f"Level elsewhere: percent of {STUDIES:,} studies, with Monte-Carlo standard error", promises())


if __name__ == "__main__":
    sys.exit(main())
