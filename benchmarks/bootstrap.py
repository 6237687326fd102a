"""How fast are cluster intervals? Ten judges, agreement + kappa + AC1, B = 10,000, one thread, against what people use.

`python benchmarks/bootstrap.py` runs every workload in a fresh process and prints one JSON line each; it exits with 1
when a promise is broken. CPU seconds, the engine timed between the others, on the same seeded labels:

- scipy: `scipy.stats.bootstrap` with scikit-learn's kappa. Does less: it resamples labels, not clusters, kappa only.
- pandas: whole clusters concatenated, scikit-learn's kappa. One judge, as scipy; both times ten.
- loop: numpy indices of whole clusters, one count for all judges and the engine's closed forms.
- multinomial: one confusion table per judge drawn anew from its own shares, what the fastest tools do. Does less: its
  labels are independent, so its intervals are too narrow (see coverage.py).
- floor: weights and matrix product alone, which no closed form can undercut.

The first three run a few resamples and are extrapolated linearly. The engine's draws are compared with scikit-learn's
on explicitly resampled rows in the same run. `calibrate` is the full report from the table of verdicts.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy
import sklearn
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bootstrap_labels import JUDGES, SEED, Labels, made_labels
from benchmarks.promises import Figure, record
from calibration.agreement.agreeing import agreement_estimates
from calibration.arithmetic import closed_forms
from calibration.arithmetic.closed_forms import Array
from calibration.calibrate import calibrate
from calibration.choosing.choose import choice_of
from calibration.inference.bootstrap import cluster_weights, expanded_percentile, resample, wilson_effective
from calibration.results import CalibrationSettings
from calibration.study.counted import groups_of
from calibration.study.joining import scale_of, study_of

RESAMPLES = 10_000
COMPARED = {"scipy": 200, "pandas": 20, "loop": 50}  # resamples, of which the time of all is extrapolated


@dataclass(frozen=True)
class Workload:
    """Pairs of 39 labels each, and what is promised: seconds and megabytes at most, times faster at least."""

    pairs: int
    seconds: float = np.inf  # of the engine: from labels to intervals
    megabytes: float = np.inf  # by which the engine's peak memory grows
    floor: float = np.inf  # times weights and product
    report_seconds: float = np.inf  # of agreement, alpha, correlations and the max-t choice of a judge
    faster: dict[str, float] = field(default_factory=dict)
    resamples: dict[str, int] = field(default_factory=COMPARED.copy)
    checked: int = 20  # resamples compared with scikit-learn
    by_criterion: bool = False
    report: bool = True


WORKLOADS = {
    "390 labels": Workload(10, report_seconds=1, faster={"scipy": 1_000, "loop": 15, "multinomial": 1}),
    "8,190 labels": Workload(210, 0.1, 50, 2, faster={"scipy": 1_000, "pandas": 1_500, "loop": 35, "multinomial": 1}),
    "8,190 labels, 39 criteria and pooled": Workload(
        210, 1, 250, faster={"multinomial": 1}, by_criterion=True, resamples={}
    ),
    "90,909 labels": Workload(2_331, resamples={}, checked=5),  # a million rows of eleven raters
    "1,000,000 labels": Workload(25_641, 4, 300, 1.5, faster={"scipy": 1_000, "loop": 100}, checked=2, report=False),
}


def three(table: Array) -> Array:
    return np.stack([closed_forms.agreement(table), closed_forms.kappa(table), closed_forms.gwet_ac1(table)], axis=-1)


def engine(labels: Labels, by_criterion: bool = False) -> tuple[Array, list[tuple[float, float]]]:
    """Draws and intervals as `calibrate` makes them: agreement by Wilson, kappa and AC1 by expanded percentile."""
    tables = labels.tables(by_criterion)
    draws = resample(tables, three, RESAMPLES, SEED)
    agree, n = closed_forms.diagonal(tables), tables.sum(axis=(-2, -1))
    intervals = []
    for cell in np.ndindex(draws.shape[1:-1]):
        intervals.append(wilson_effective(agree[:, *cell], n[:, *cell]))
        intervals += [expanded_percentile(draws[:, *cell, position], len(tables)) for position in (1, 2)]
    return draws, intervals


def floor(labels: Labels, by_criterion: bool = False) -> None:
    tables = labels.tables(by_criterion)
    cells = np.ascontiguousarray(tables.reshape(len(tables), -1).T, np.float32)
    for weights in cluster_weights(len(tables), RESAMPLES, SEED):
        _ = cells @ weights.T.astype(np.float32)


def multinomial(labels: Labels, by_criterion: bool = False) -> list[Array]:
    tables = labels.tables(by_criterion).sum(axis=0).reshape(-1, 9)
    rng, intervals = np.random.default_rng(SEED), []
    for table in tables:
        drawn = rng.multinomial(int(table.sum()), table / table.sum(), RESAMPLES).astype(float)
        intervals.append(np.quantile(three(drawn.reshape(-1, 3, 3)), [0.025, 0.975], axis=0))
    return intervals


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # megabytes


def seconds(work: Callable[..., object], *args: object) -> float:
    start = time.process_time()
    work(*args)
    return time.process_time() - start


def by_scipy(labels: Labels, times: int) -> Iterator[None]:
    data = labels.judges[:, 0], labels.person
    options = {"paired": True, "vectorized": False, "method": "percentile", "batch": 10_000_000 // len(labels.person)}
    stats.bootstrap(data, lambda x, y: cohen_kappa_score(x, y), n_resamples=times, rng=SEED, **options)
    yield


def by_pandas(labels: Labels, times: int) -> Iterator[None]:
    frame = pd.DataFrame({"cluster": labels.clusters, "a": labels.judges[:, 0], "b": labels.person})
    parts = dict(iter(frame.groupby("cluster")))
    rng = np.random.default_rng(SEED)
    yield  # grouping is done once: only what follows is timed
    for _ in range(times):
        drawn = pd.concat([parts[index] for index in rng.integers(0, len(parts), len(parts))])
        (drawn["a"] == drawn["b"]).mean()
        cohen_kappa_score(drawn["a"], drawn["b"])
    yield


def by_loop(labels: Labels, times: int) -> Iterator[None]:
    rows = np.split(np.arange(len(labels.person)), np.flatnonzero(np.diff(labels.clusters)) + 1)
    cell = (np.arange(JUDGES) * 3 + labels.judges) * 3 + labels.person[:, None]
    rng = np.random.default_rng(SEED)
    yield
    for _ in range(times):
        drawn = np.concatenate([rows[index] for index in rng.integers(0, len(rows), len(rows))])
        three(np.bincount(cell[drawn].ravel(), minlength=JUDGES * 9).reshape(JUDGES, 3, 3).astype(float))
    yield


def extrapolated(kind: str, labels: Labels, times: int) -> float:
    """CPU seconds of `RESAMPLES` resamples of ten judges, from `times` of them."""
    run = {"scipy": by_scipy, "pandas": by_pandas, "loop": by_loop}[kind](labels, times)
    if kind != "scipy":
        next(run)
    one = seconds(next, run)
    return one * RESAMPLES / times * (1 if kind == "loop" else JUDGES)  # the loop counts all judges at once


def largest_error(labels: Labels, draws: Array, resamples: int) -> float:
    """Of agreement and kappa of the first judge, against scikit-learn on rows of explicitly repeated clusters."""
    pooled = draws[:, 0] if draws.ndim == 3 else draws[:, 0, -1]
    weights = next(cluster_weights(int(labels.clusters[-1]) + 1, resamples, SEED))
    judge, worst = labels.judges[:, 0], 0.0
    for weight, found in zip(weights, pooled, strict=False):
        rows = np.repeat(np.arange(len(judge)), weight[labels.clusters])
        kappa = cohen_kappa_score(judge[rows], labels.person[rows])
        agreed = float((judge[rows] == labels.person[rows]).mean())
        worst = max(worst, abs(found[0] - agreed), abs(found[1] - kappa))
    return worst


def measure(name: str) -> dict[str, Any]:
    """One workload in this process, whose peak memory is its own."""
    promised = WORKLOADS[name]
    engine(made_labels(2))  # imports
    labels, by = made_labels(promised.pairs), promised.by_criterion
    before = peak()
    own, base, others = [seconds(engine, labels, by)], [], {}
    grown = peak() - before
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in ("multinomial", *promised.resamples):
            times = promised.resamples.get(kind, 0)
            others[kind] = extrapolated(kind, labels, times) if times else seconds(multinomial, labels, by)
            for _ in range(5 if own[0] < 1 else 1):
                base.append(seconds(floor, labels, by))
                own.append(seconds(engine, labels, by))
        draws, intervals = engine(labels, by)
        error = largest_error(labels, draws, promised.checked)
    return {
        "workload": f"{name}, {promised.pairs:,} pairs, {JUDGES} judges",
        "intervals": len(intervals),
        "engine_seconds": round(min(own), 4),
        "times_floor": round(min(own) / min(base), 2),
        "rss_growth_mb": round(grown, 1),
        "other_seconds": {kind: round(value, 3) for kind, value in others.items()},
        "times_faster": {kind: round(value / min(own), 1) for kind, value in others.items()},
        "extrapolated": list(promised.resamples),
        "largest_error": error,
    }


def measure_report(name: str) -> dict[str, Any]:
    """The same labels from the table to agreement, alpha, correlations and choice; and `calibrate` with all it adds."""
    promised = WORKLOADS[name]
    calibrate(made_labels(2).verdicts(), CalibrationSettings(resamples=9))  # imports
    verdicts = made_labels(promised.pairs).verdicts()
    settings = CalibrationSettings(resamples=RESAMPLES, seed=SEED, per_criterion=promised.by_criterion)
    before, start = peak(), time.process_time()
    report = calibrate(verdicts, settings)
    own, grown = [time.process_time() - start], peak() - before
    if own[0] < 5:
        own += [seconds(calibrate, verdicts, settings) for _ in range(2)]
    part = min(seconds(agreement_and_choice, verdicts, settings) for _ in range(3 if own[0] < 5 else 1))
    return {
        "workload": f"{name}, {promised.pairs:,} pairs, {JUDGES} judges: full report",
        "rows": len(verdicts),
        "intervals": sum(not np.isnan(one.low) for one in report.estimates),
        "report_seconds": round(part, 3),
        "with_biases_and_rankings": round(min(own), 3),
        "report_rss_growth_mb": round(grown, 1),
    }


def agreement_and_choice(verdicts: pd.DataFrame, settings: CalibrationSettings) -> int:
    """What the promise is about."""
    study = study_of(verdicts, settings)
    scale = scale_of(study, study.criteria, settings)
    assert scale is not None
    groups = groups_of(study, settings, pooled=True)
    choice_of(study, groups[0], scale, settings)
    return sum(1 for group in groups for _ in agreement_estimates(study, group, settings))


def figures(name: str, found: dict[str, Any]) -> Iterator[Figure]:
    """What was found of this workload beside what was promised."""
    promised = WORKLOADS[name]
    limits = {
        "engine_seconds": promised.seconds,
        "times_floor": promised.floor,
        "rss_growth_mb": promised.megabytes,
        "report_seconds": promised.report_seconds,
        "largest_error": 1e-12,
    }
    for key, most in limits.items():
        if key in found:
            yield Figure(f"{name}: {key}", found[key], high=most)
    for kind, ratio in found.get("times_faster", {}).items():
        yield Figure(f"{name}: times as fast as {kind}", ratio, low=promised.faster.get(kind, -math.inf))


def main(arguments: list[str]) -> int:
    """Each workload in processes of its own, so that memory is its own."""
    if len(arguments) == 2:
        found = (measure_report if arguments[1] == "report" else measure)(arguments[0])
        versions = {"numpy": np.__version__, "scipy": scipy.__version__, "sklearn": sklearn.__version__}
        print(json.dumps({**found, "versions": versions, "load_average": round(os.getloadavg()[0], 2)}))
        return 0
    told: list[Figure] = []
    for name in arguments or WORKLOADS:
        for part in ("engine", "report") if WORKLOADS[name].report else ("engine",):
            command = [sys.executable, __file__, name, part]
            line = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
            print(line, flush=True)
            told += figures(name, json.loads(line))
    record(told)
    broken = [str(figure) for figure in told if not figure.kept]
    print("\n".join(broken) or "every promise is kept", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
