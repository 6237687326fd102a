"""One number with its uncertainty, and what a reader must know before using one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """One number with its uncertainty. `value` is nan when undefined, the bounds when refused; `note` says why."""

    statistic: str
    rater: str
    reference: str  # an annotator, each_annotator, majority, others, a judge, or ""
    criterion: str  # "all" when pooled
    category: str  # of topics; `systems: X, Y` for one pair of systems; "all" when pooled
    value: float
    low: float
    high: float
    level: float
    n: int  # comparisons (or rows, or items: the statistic's own unit)
    clusters: int  # clusters that hold at least one of them
    method: str
    note: str


@dataclass(frozen=True)
class ReportWarning:
    """What a reader must know before using a number: the numbers, and the remedy. `rater`, `criterion`.

    "" when general.
    """

    code: str
    text: str
    rater: str = ""
    criterion: str = ""
