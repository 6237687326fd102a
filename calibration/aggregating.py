"""What published studies print of one system: the rules of a protocol's `aggregate` table. Undefined is nan."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from calibration.closed_forms import ratio
from calibration.columns import aligned, numeric
from calibration.errors import CalibrationError


def share(labels: Sequence[str], wanted: Collection[str]) -> float:
    """Share of usable answers that are among `wanted`, 0 to 1. Undefined: no answers. DeepResearchGym's KPR."""
    (given,) = aligned(labels)
    return float(ratio(np.isin(given, list(wanted)).sum(), len(given)))


def mean(scores: Sequence[float | None], weights: Sequence[float] | None = None) -> float:
    """Mean of scores, weighted on request; a missing score stays missing, and so does its weight.

    Undefined: no scores, or weights that add up to 0. Raises `bad_number` on a negative weight.
    """
    values, weight = numeric(scores, np.ones(len(scores)) if weights is None else weights)
    if (weight < 0).any():
        raise CalibrationError("bad_number", f"a weight is {weight.min():g}; use numbers from 0")
    return float(ratio(values @ weight, weight.sum()))


def target_share(target: float, reference: float) -> float:
    """t / (t + r): .5 where both reports score alike. Undefined: a missing score, or both 0. RACE scores so."""
    return float(ratio(target, target + reference)) if not math.isnan(target + reference) else math.nan


def majority(votes: Sequence[str]) -> tuple[str, float]:
    """The most frequent answer and its share of the votes, the confidence; "" where the top is tied or no vote is."""
    counts = Counter(vote for vote in votes if vote).most_common(2)
    if not counts:
        return "", math.nan
    tied = len(counts) > 1 and counts[0][1] == counts[1][1]
    return "" if tied else counts[0][0], counts[0][1] / sum(1 for vote in votes if vote)
