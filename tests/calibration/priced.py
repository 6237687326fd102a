"""Made studies of judges with known accuracies and prices, for the tests and the benchmark of choosing one."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

LABELS = np.array(["A", "tie", "B"])
# probability of the hidden verdict, USD of one answer; annotators give it with .8
EIGHT = {
    "tiny": (0.30, 0.0001), "small": (0.45, 0.0003), "mini": (0.80, 0.001), "medium": (0.82, 0.002),
    "unpriced": (0.85, math.nan), "dull": (0.45, 0.004), "large": (0.85, 0.005), "huge": (0.90, 0.02),
}  # fmt: skip


def priced(
    judges: Mapping[str, tuple[float, float]],
    pairs: int = 120,
    criteria: int = 3,
    annotators: int = 3,
    seed: int = 1,
    prevalence: tuple[float, float, float] = (0.45, 0.1, 0.45),
    skill: float = 0.8,
) -> pd.DataFrame:
    """Verdicts on pairs of two systems, one pair a cluster; a judge's skill below 0 always answers A."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, (pairs, criteria), p=prevalence)
    people = {f"ann{n}": (skill, math.nan) for n in range(annotators)}
    frames = []
    for rater, (knows, cost) in {**people, **judges}.items():
        other = rng.choice(3, truth.shape, p=prevalence)
        said = np.where(rng.random(truth.shape) < knows, truth, other) if knows >= 0 else np.zeros_like(truth)
        item, criterion = np.divmod(np.arange(truth.size), criteria)
        frames.append(
            pd.DataFrame({
                "item_id": [f"p{n:03}" for n in item], "criterion": [f"c{n}" for n in criterion], "rater_id": rater,
                "rater_kind": "judge" if rater in judges else "human", "label": LABELS[said.ravel()],
                "cluster_id": [f"t{n:03}" for n in item], "system_a": "atlas", "system_b": "borealis",
                "cost_usd": cost, "seconds": 2.0 if rater in judges else math.nan,
            })
        )  # fmt: skip
    return pd.concat(frames, ignore_index=True)
