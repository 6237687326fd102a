"""Do 95 % intervals of a judge's rates, and of pass rates without its errors, hold the truth when labels are nested?

Settings, fixed before the first run: C = 30 topics (12 is told, and nothing promised of it) of 39 answers; an answer
passes with a probability drawn for each topic, Beta(mean .6, ICC .2); the judge finds what passes with Beta(mean .85,
ICC .1) and what fails with Beta(mean .75, ICC .1), drawn for each topic. Beside it a judge that is nearly always right
(.95 and .90), and answers of which few pass (.15). People labelled all topics, or 30 of 120. 2,000 studies, B = 999.
Promised: true positive rate, true negative rate, Youden's J, F1 and the Rogan-Gladen pass rate cover 92.5 to 97 %,
where Wilson's interval for independent labels covers less than 80 %. A minute.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.coverage import Interval, iid_wilson
from benchmarks.promises import Figure, beta, standard_error, tell
from calibration.arithmetic import metrics
from calibration.arithmetic.closed_forms import Array
from calibration.inference.bootstrap import expanded_percentile, resample, wilson_effective
from calibration.systems.pass_rates import rogan_gladen

STUDIES, RESAMPLES, LABELS = 2_000, 999, 39
PASSING_ICC, RIGHT_ICC = 0.2, 0.1


@dataclass(frozen=True)
class Design:
    """Topics that people labelled, topics that only the judge saw, and what is true."""

    name: str
    clusters: int = 30
    elsewhere: int = 0
    passing: float = 0.6
    sensitivity: float = 0.85
    specificity: float = 0.75
    is_promised: bool = True


DESIGNS = (
    Design("30 topics"),
    Design("30 topics of 120 labelled", elsewhere=90),
    Design("30 topics, judge nearly always right", sensitivity=0.95, specificity=0.90),
    Design("30 topics, few pass", passing=0.15),
    Design("12 topics", clusters=12, is_promised=False),
)


def made_studies(design: Design, studies: int, seed: int) -> tuple[Array, Array]:
    """Tables of labelled topics, shape (clusters, studies, 2, 2), what passes first, rows the judge's; and the judge's
    pass rate in every topic, shape (clusters + elsewhere, studies)."""
    rng = np.random.default_rng(seed)
    size = design.clusters + design.elsewhere, studies
    truly = rng.binomial(LABELS, beta(rng, design.passing, PASSING_ICC, size))
    found = rng.binomial(truly, beta(rng, design.sensitivity, RIGHT_ICC, size))
    refused = rng.binomial(LABELS - truly, beta(rng, design.specificity, RIGHT_ICC, size))
    wrongly = LABELS - truly - refused
    tables = np.moveaxis(np.array([[found, wrongly], [truly - found, refused]], float), (0, 1), (2, 3))
    return tables[: design.clusters], (found + wrongly) / LABELS


def intervals(design: Design, studies: int, resamples: int, seed: int) -> dict[str, tuple[float, Sequence[Interval]]]:
    """By name: the truth, and an interval for each study."""
    tables, passed = made_studies(design, studies, seed)
    shown, summed = np.zeros((len(passed), *tables.shape[1:])), tables.sum(axis=0)
    shown[: design.clusters] = tables
    parts = passed[..., None], np.ones_like(passed)[..., None], shown.reshape(*passed.shape, 4)
    sums = np.concatenate(parts, axis=-1)

    def both(block: Array) -> Array:
        table = block[..., 2:].reshape(*block.shape[:-1], 2, 2)
        corrected = rogan_gladen((block[..., 0] / block[..., 1])[..., None], table)[..., 0]
        return np.stack([metrics.youden(table), metrics.f1(table), corrected], axis=-1)

    drawn = resample(sums, both, resamples, seed)
    right, j = design.sensitivity, design.sensitivity + design.specificity - 1
    f1 = 2 * design.passing * right / (design.passing * (1 + right) + (1 - design.passing) * (1 - design.specificity))
    hits = {"true positive rate": (0, right), "true negative rate": (1, design.specificity)}
    out: dict[str, tuple[float, Sequence[Interval]]] = {}
    for name, (place, truth) in hits.items():
        of = tables[:, :, :, place].sum(axis=-1)
        pairs = zip(tables[:, :, place, place].T, of.T, strict=True)
        out[name] = truth, [wilson_effective(hit, n) for hit, n in pairs]
        out[f"{name}, iid Wilson"] = truth, iid_wilson(summed[:, place, place], summed[:, :, place].sum(axis=-1))
    for place, (name, truth) in enumerate({"Youden's J": j, "F1": f1, "Rogan-Gladen": design.passing}.items()):
        out[name] = truth, [expanded_percentile(draws, design.clusters) for draws in drawn[:, :, place].T]
    out["Rogan-Gladen, iid delta"] = design.passing, _iid_rogan_gladen(passed.mean(axis=0), len(passed), summed)
    return out


def promises(
    designs: Sequence[Design] = DESIGNS, studies: int = STUDIES, resamples: int = RESAMPLES
) -> Iterator[Figure]:
    """Of each design the share of studies whose interval holds the truth, in percent."""
    for design in designs:
        for name, (truth, found) in intervals(design, studies, resamples, 20).items():
            low, high = _bounds(name, design)
            share = float(np.mean([one[0] <= truth <= one[1] for one in found]))
            error = 100 * standard_error(share, studies)
            yield Figure(f"{name}, {design.name}", 100 * share, "%", low, high, error)


def _bounds(name: str, design: Design) -> tuple[float, float]:
    """Where nothing is promised, none."""
    if "iid" in name:
        return -math.inf, 80.0 if name.endswith("iid Wilson") and design == DESIGNS[0] else math.inf
    return (92.5, 97.0) if design.is_promised else (-math.inf, math.inf)


def main() -> int:
    """The table."""
    return tell(f"Coverage of nominal 95 % intervals, {LABELS} answers a topic, {STUDIES:,} studies", promises())


def _iid_rogan_gladen(passed: Array, topics: int, table: Array) -> list[Interval]:
    """Their own variance, of independent answers."""
    truly, truly_not = table[:, :, 0].sum(axis=-1), table[:, :, 1].sum(axis=-1)
    right, refused = metrics.of_positives(table), metrics.of_negatives(table)
    j = right + refused - 1
    value = (passed + refused - 1) / j
    variance = passed * (1 - passed) / (topics * LABELS) + value**2 * right * (1 - right) / truly
    variance += (1 - value) ** 2 * refused * (1 - refused) / truly_not
    half = 1.96 * np.sqrt(variance) / j
    return [(float(v - h), float(v + h)) for v, h in zip(value, half, strict=True)]


if __name__ == "__main__":
    sys.exit(main())
