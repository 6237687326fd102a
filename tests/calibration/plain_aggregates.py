"""What published studies print of one report or system, as functions of plain values. Undefined is nan.

`calibration.systems.aggregates` does the same for whole studies, with intervals.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from calibration.arithmetic.closed_forms import ratio
from calibration.arithmetic.columns import aligned, numeric
from calibration.errors import CalibrationError


@dataclass(frozen=True)
class Overlap:
    """What was found against what was wanted, each counted once. Precision of nothing found is nan, and so is recall
    of nothing wanted: without gold there is no value, and never 1."""

    precision: float  # hits / found
    recall: float  # hits / wanted
    hits: int
    found: int
    wanted: int


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


def overlap(found: Iterable[str], wanted: Iterable[str]) -> Overlap:
    """Precision and recall of a set of items: references, claims, documents, by whatever name makes two of them one.

    ReportBench's precision and recall of a bibliography (by `normal_title`), DR3-Eval's of extracted claims.
    """
    one, other = set(found), set(wanted)
    hits = len(one & other)
    return Overlap(float(ratio(hits, len(one))), float(ratio(hits, len(other))), hits, len(one), len(other))


def normal_title(title: str) -> str:
    """A title as two spellings of it are compared: lower case, letters and digits of any script, without accents."""
    plain = unicodedata.normalize("NFKD", title).casefold()
    kept = "".join(_kept(mark) for mark in plain)
    return " ".join(kept.split())


def _kept(mark: str) -> str:
    if unicodedata.combining(mark):
        return ""  # an accent
    return mark if unicodedata.category(mark)[0] in "LNM" else " "
