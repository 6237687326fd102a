"""Does a judge that is as much worse as the margin allows pass more often than the level says? And who is lost for it?

`python benchmarks/level.py` draws studies of nested labels whose true gap is known (`nested_labels.py`) and decides
them by the functions that decide a choice, with the resamples of a report. 2,000 studies a setting, fixed before any
was run: 12, 20, 30 and 60 topics; sizes even, uneven, lognormal, with a gap that depends on them, or one topic with
40 % of labels; people who err in 20 or 3 % of items; faults that gather in topics (icc .2, or whole topics); one judge
at the margin, or eight. The cluster t that decided before is told beside each. Power is that at no gap, where faults
gather little (icc .02), since there the level of t held. What comes near its bound is drawn again, 10,000 studies and
another seed, so that chance is told from excess; and with each single judge at the margin, how often it is called
inferior, which should be in no more than 5 % either. Exits with 1 when a promise is broken. Ten minutes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.nested_labels import Array, Setting, Sums, simulated
from benchmarks.promises import Promise, promise, tell
from calibration.inference.gap_test import GapSums, Rule, adjusted, from_sums

MARGIN, LEVEL, STUDIES, RESAMPLES = 0.05, 0.95, 2_000, 1_999
RULE = Rule(MARGIN, LEVEL, 2, RESAMPLES)
KINDS = (
    {}, {"sizes": "uneven"}, {"sizes": "lognormal"}, {"sizes": "size_bound"}, {"sizes": "dominating"}, {"error": 0.03},
    {"icc": 1.0},
)  # fmt: skip
EIGHT = ({}, {"sizes": "uneven"}, {"sizes": "lognormal"}, {"error": 0.03}, {"icc": 1.0})
TOPICS = (12, 20, 30, 60)
AGAIN, SEED_AGAIN = 10_000, 1  # studies of what came near its bound, fixed before they were drawn
NEAR = (Setting(12, sizes="size_bound"), Setting(20, icc=1.0))
LITTLE = 0.02  # icc of faults that gather little


@dataclass(frozen=True)
class Outcomes:
    """Of each study, shape (studies,): whether any judge is adequate, by t with Holm too, and the first inferior."""

    adequate: Array
    by_t: Array
    inferior: Array


def noise(studies: int) -> float:
    """Of a simulated share: two Monte-Carlo standard errors."""
    return 2 * math.sqrt(0.06 * 0.94 / studies)


def sums_of(found: Sums, study: int) -> list[GapSums]:
    """Of each judge of one simulated study."""
    gaps = found.human[study, :, None] - found.judge[study]
    return [
        GapSums(found.rows[study], gap, found.items[study], squares, sizes)
        for gap, squares, sizes in zip(gaps.T, found.squares[study].T, found.sizes[study].T, strict=True)
    ]


def outcomes(setting: Setting, studies: int = STUDIES, seed: int = 0) -> Outcomes:
    """Decided by the test, and by the cluster t."""
    found = simulated(setting, studies, seed)
    tests = [from_sums(sums_of(found, at), RULE) for at in range(studies)]
    return Outcomes(
        np.array([adjusted(each).min() < 1 - LEVEL for each in tests]),
        p_by_t(found).min(axis=1) * setting.judges < 1 - LEVEL,
        np.array([each[0].lower > MARGIN for each in tests]),
    )


def p_by_t(found: Sums) -> Array:
    """What decided before: t over clusters; shape (studies, judges)."""
    gaps, rows = found.human[..., None] - found.judge, found.rows[..., None]
    count, total = rows.shape[1], rows.sum(axis=1)
    value = gaps.sum(axis=1) / total
    left = gaps - rows * value[:, None]
    se = np.sqrt(count / (count - 1) * (left**2).sum(axis=1)) / total
    p = stats.t.cdf((value - MARGIN) / np.maximum(se, 1e-12), count - 1)
    return np.asarray(np.where(se > 1e-12, p, 1.0))


def at_margin(setting: Setting, bound: float, studies: int = STUDIES, seed: int = 0) -> Iterator[Promise]:
    """How often (any of) the judges at the margin is called adequate, and a single one inferior."""
    found = outcomes(setting, studies, seed)
    who = "one judge" if setting.judges == 1 else f"any of {setting.judges}"
    again = f", {studies:,} studies" * (studies != STUDIES)
    by_t = f"(t: {100 * found.by_t.mean():.1f})"
    yield promise(
        f"{who} at the margin, {setting.name}{again} {by_t}", found.adequate, 0, bound + noise(studies)
    )  # fmt: skip
    if setting.judges == 1:
        yield promise("  and called inferior" + again, found.inferior, 0, 0.05 + noise(studies))


def at_no_gap(topics: int, studies: int = STUDIES, seed: int = 0) -> Promise:
    """Power lost against the cluster t, where that holds its level."""
    found = outcomes(Setting(topics, icc=LITTLE, gap=0.0), studies, seed)
    lost = found.by_t.astype(float) - found.adequate
    error = float(np.std(lost) / math.sqrt(studies))
    again = f", {studies:,} studies" * (studies != STUDIES)
    name = f"power lost at no gap, {topics} topics, icc .02{again} (t: {100 * found.by_t.mean():.1f})"
    return Promise(name, float(lost.mean()), error, -1, 0.04 + 2 * error)


def promises() -> Iterator[Promise]:
    """One judge, one of eight, and power."""
    for topics in TOPICS:
        for kind in KINDS:
            yield from at_margin(Setting(topics, **kind), bound_of(topics, kind))  # type: ignore[arg-type]  # by name
    for topics in TOPICS:
        for kind in EIGHT:
            setting = replace(Setting(topics, **kind), judges=8)  # type: ignore[arg-type]  # fields of Setting
            yield from at_margin(setting, 0.075 if topics < 20 else 0.065)
    for topics in TOPICS[1:]:
        yield from at_margin(Setting(topics, icc=LITTLE), 0.06)
        yield at_no_gap(topics)
    for setting in NEAR:
        yield from at_margin(setting, bound_of(setting.topics, {}), AGAIN, SEED_AGAIN)
    yield from at_margin(Setting(20, icc=LITTLE), 0.06, AGAIN, SEED_AGAIN)
    yield at_no_gap(20, AGAIN, SEED_AGAIN)


def bound_of(topics: int, kind: Mapping[str, object]) -> float:
    """Of one judge at the margin, as it was promised before any was drawn."""
    return 0.075 if topics < 20 else 0.07 if kind.get("sizes") == "dominating" else 0.06


def main() -> int:
    """One line per promise."""
    return tell(f"Level and power: percent of {STUDIES:,} studies, with Monte-Carlo standard error", promises())


if __name__ == "__main__":
    sys.exit(main())
