"""Made labels of one annotator and ten judges, for `bootstrap.py`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.arithmetic.closed_forms import Array

JUDGES, CRITERIA, SEED = 10, 39, 0
LABELS = np.array(["A", "tie", "B"], dtype=object)


@dataclass(frozen=True)
class Labels:
    """One annotator and ten judges on the same units; a label is 0, 1 or 2."""

    clusters: np.ndarray  # shape (rows,), sorted
    person: np.ndarray  # shape (rows,)
    judges: np.ndarray  # shape (rows, judges)

    def tables(self, by_criterion: bool = False) -> Array:
        """Counts per cluster and judge, shape (clusters, judges, 3, 3); with criteria (clusters, judges, 40, 3, 3)."""
        count, groups = int(self.clusters[-1]) + 1, CRITERIA if by_criterion else 1
        cell = self.clusters * groups + (np.arange(len(self.person)) % CRITERIA if by_criterion else 0)
        cell = cell * 9 + self.person
        size = count, groups, 3, 3
        counts = [np.bincount(cell + 3 * judge, minlength=int(np.prod(size))).reshape(size) for judge in self.judges.T]
        out = np.stack(counts, axis=1).astype(float)
        return np.concatenate([out, out.sum(axis=2, keepdims=True)], axis=2) if by_criterion else out[:, :, 0]

    def verdicts(self) -> pd.DataFrame:
        """The table that `calibrate` takes."""
        names = np.array([f"p{index:06}" for index in range(int(self.clusters[-1]) + 1)], dtype=object)[self.clusters]
        criteria = np.tile([f"c{index:02}" for index in range(CRITERIA)], len(names) // CRITERIA)
        shown = np.where(np.random.default_rng(SEED).random(len(names)) < 0.5, "AB", "BA")
        base = pd.DataFrame({"item_id": names, "cluster_id": names, "criterion": criteria, "presentation": shown})
        base = base.assign(system_a="atlas", system_b="borealis")
        raters = {("ann", "human"): self.person} | {(f"judge{i}", "judge"): one for i, one in enumerate(self.judges.T)}
        rows = [base.assign(rater_id=name, rater_kind=kind, label=LABELS[one]) for (name, kind), one in raters.items()]
        return pd.concat(rows, ignore_index=True)


def made_labels(pairs: int) -> Labels:
    """Judges repeat the annotator's label in 80 % of rows."""
    rng = np.random.default_rng(SEED)
    person = rng.integers(0, 3, pairs * CRITERIA)
    same = (rng.random(len(person)) < 0.7 for _ in range(JUDGES))
    judges = [np.where(one, person, rng.integers(0, 3, len(person))) for one in same]
    return Labels(np.repeat(np.arange(pairs), CRITERIA), person, np.stack(judges, axis=1))
