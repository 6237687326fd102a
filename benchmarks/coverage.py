"""Do 95 % intervals hold the truth 95 % of the time when labels are nested in pairs? Simulated, so the truth is known.

`python benchmarks/coverage.py` simulates studies of STATISTICS section 8 (for each pair the human chooses A with
probability Beta(mean .5, ICC .3) and the judge agrees with Beta(mean .8, ICC rho); truth: agreement .80, kappa .60),
prints a table with its Monte-Carlo error and exits with 1 when a promise is broken. About a minute.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.promises import Figure, beta, in_columns, record, standard_error
from calibration.arithmetic import closed_forms
from calibration.arithmetic.closed_forms import Array
from calibration.inference.bootstrap import (
    expanded_percentile,
    fisher_z_linearised,
    percentile,
    resample,
    wilson_effective,
)
from calibration.study.bounding import kappa_se

AGREEMENT, KAPPA, LEVEL = 0.8, 0.6, 0.95
Interval = tuple[float, float]


@dataclass(frozen=True)
class Design:
    """Pairs, labels in each, and how alike the labels of one pair are."""

    clusters: int
    labels: int = 39
    rho: float = 0.1


def made_studies(design: Design, studies: int, seed: int) -> Array:
    """Tables of shape (clusters, studies, 2, 2)."""
    rng = np.random.default_rng(seed)
    size = design.clusters, studies
    says_a = rng.binomial(design.labels, beta(rng, 0.5, 0.3, size))
    agrees = beta(rng, AGREEMENT, design.rho, size)
    both_a, both_b = rng.binomial(says_a, agrees), rng.binomial(design.labels - says_a, agrees)
    tables = [[both_a, says_a - both_a], [design.labels - says_a - both_b, both_b]]
    return np.moveaxis(np.array(tables, float), (0, 1), (2, 3))


def coverage(design: Design, studies: int = 1_000, resamples: int = 999, seed: int = 20) -> dict[str, float]:
    """Share of studies whose interval holds the truth, by method."""
    tables = made_studies(design, studies, seed)
    agree, n = closed_forms.diagonal(tables), tables.sum(axis=(-2, -1))
    agreements = resample(tables, closed_forms.agreement, resamples, seed)
    kappas = resample(tables, closed_forms.kappa, resamples, seed)
    count = design.clusters
    intervals: dict[str, tuple[float, Sequence[Interval]]] = {
        "agreement, iid Wilson": (AGREEMENT, iid_wilson(agree.sum(axis=0), n.sum(axis=0))),
        "agreement, percentile": (AGREEMENT, [percentile(draws) for draws in agreements.T]),
        "agreement, wilson_effective": (AGREEMENT, [wilson_effective(a, m) for a, m in zip(agree.T, n.T, strict=True)]),
        "kappa, percentile": (KAPPA, [percentile(draws) for draws in kappas.T]),
        "kappa, expanded_percentile": (KAPPA, [expanded_percentile(draws, count) for draws in kappas.T]),
        "kappa, fisher_z_linearised": (KAPPA, [_linearised(table) for table in np.moveaxis(tables, 1, 0)]),
    }
    return {
        name: float(np.mean([low <= truth <= high for low, high in found]))
        for name, (truth, found) in intervals.items()
    }


def broken(design: Design, covered: dict[str, float]) -> Iterator[str]:
    """The promises that these shares do not keep."""
    if design == Design(30):
        for name in ("agreement, wilson_effective", "kappa, expanded_percentile"):
            if not 0.925 <= covered[name] <= 0.97:
                yield f"{name} covers {covered[name]:.3f} at 30 pairs, promised .925 to .97"
        if covered["agreement, iid Wilson"] >= 0.75:
            yield "iid Wilson covers as if labels were independent: the simulation cannot tell right from wrong"
    if design == Design(10):
        if covered["kappa, expanded_percentile"] < 0.92:
            yield f"expanded percentile covers {covered['kappa, expanded_percentile']:.3f} at 10 pairs, promised .92"
        if covered["kappa, percentile"] >= covered["kappa, expanded_percentile"]:
            yield "the plain percentile interval covers no less than the expanded one at 10 pairs"


def figures(design: Design, covered: dict[str, float], studies: int) -> Iterator[Figure]:
    """The same for the table of all benchmarks, with the bounds that `broken` holds them to."""
    bounds = {
        (30, "agreement, wilson_effective"): (92.5, 97.0),
        (30, "kappa, expanded_percentile"): (92.5, 97.0),
        (10, "kappa, expanded_percentile"): (92.0, math.inf),
    }  # fmt: skip
    for name, share in covered.items():
        low, high = bounds.get((design.clusters, name), (-math.inf, math.inf)) if design.rho else (-math.inf, math.inf)
        where = f"{name}, {design.clusters} topics, rho {design.rho:g}"
        yield Figure(where, 100 * share, "%", low, high, 100 * standard_error(share, studies))


def main() -> int:
    """The table, one column per design."""
    studies, failures = 4_000, []
    designs = [Design(count, rho=rho) for count in (10, 30, 210) for rho in (0.0, 0.1)]
    columns = []
    for design in designs:
        columns.append(coverage(design, studies))
        failures += broken(design, columns[-1])
        record(figures(design, columns[-1], studies))
    heads = [f"C={design.clusters} rho={design.rho:g}" for design in designs]
    print(f"Coverage of nominal 95 % intervals, {designs[0].labels} labels per pair, {studies:,} studies, B = 999,")
    print("percent with Monte-Carlo standard error")
    print(*in_columns(columns, heads, lambda _: studies), sep="\n")
    print("\n".join(failures) or "every promise is kept", file=sys.stderr)
    return 1 if failures else 0


def iid_wilson(agree: Array, n: Array) -> list[Interval]:
    """As if labels were independent; `agree` of `n` in each study."""
    found = (
        stats.binomtest(round(a), round(m)).proportion_ci(LEVEL, method="wilson") for a, m in zip(agree, n, strict=True)
    )
    return [(float(bounds.low), float(bounds.high)) for bounds in found]


def _linearised(table: Array) -> Interval:
    value = float(closed_forms.kappa(table.sum(axis=0)))
    return fisher_z_linearised(value, kappa_se(table), len(table), LEVEL)


if __name__ == "__main__":
    sys.exit(main())
