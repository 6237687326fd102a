"""What is special about verdicts on pairs: scores, the renaming of A and B, rows without ties, and constant answers.

Tables and counts are in the order A, tie, B (then not_applicable where it is a category).
"""

from __future__ import annotations

import numpy as np

from calibration.engine.closed_forms import Array, ratio
from calibration.reading.columns import Labels

SCORES = np.array([1.0, 0.5, 0.0])
SWAP = np.array([2, 1, 0, 3])  # A and B exchanged; tie and not_applicable stay


def without_ties(table: Array) -> Array:
    """The rows and columns A and B of tables of shape (..., K, K)."""
    return table[..., [0, 2], :][..., :, [0, 2]]


def credits(counts: Array, ties: str) -> tuple[Array, Array]:
    """What always saying k earns against a reference that said l `counts` times, and out of how many rows.

    `counts`: shape (..., K); the results have shape (..., answers) and (...). `exclude` leaves the answers A and B.
    """
    if ties == "exclude":
        counts = counts[..., [0, 2]]
    if ties == "half_credit":
        counts = counts[..., :3]
        return counts @ (1 - np.abs(SCORES[:, None] - SCORES[None, :])), counts.sum(axis=-1)
    return counts, counts.sum(axis=-1)


def best_constant(counts: Array, ties: str) -> tuple[float, int]:
    """Agreement of the best constant answer and its position among the answers. `counts`: shape (K,). nan: no rows."""
    earned, total = credits(counts, ties)
    return float(ratio(earned.max(), total)), int(np.argmax(earned))


def best_constant_by_group(counts: Array, ties: str) -> float:
    """The same with the best answer of each group. `counts`: shape (groups, K). nan: no rows."""
    earned, total = credits(counts, ties)
    return float(ratio(earned.max(axis=-1).sum(), total.sum()))


def best_answer(labels: Labels, ties: str) -> tuple[float, float]:
    """What the best constant answer earns on text labels (a tie is `tie`), and out of how many rows."""
    names, counts = np.unique(labels[labels != "tie"], return_counts=True)
    tied, decided = float((labels == "tie").sum()), float(counts.sum())
    top = float(counts.max(initial=0))
    if ties == "exclude":
        return top, decided
    if ties == "half_credit":
        return max(top + tied / 2 if len(names) else 0.0, tied + decided / 2), decided + tied
    return max(top, tied), decided + tied
