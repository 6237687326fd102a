"""What choosing a judge returns: every candidate with its reasons, the one chosen, and what a gate makes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from calibration.choosing.noninferiority import Claim, ComparisonPlan, Outcome
from calibration.engine.bounding import SAME
from calibration.errors import CalibrationError
from calibration.estimates import Estimate

Status = Literal["chosen", "cannot_tell", "none_adequate"]
Standing = Literal["adequate", "open", "ruled_out"]
Reason = Literal[
    "", "inferior", "baseline_not_beaten", "cost_unknown", "cannot_tell", "no_reference", "dearer", "lower_agreement"
]


@dataclass(frozen=True)
class Candidate:
    """One judge, panel, cascade or setting that was tried. An item without a usable answer counts as disagreement."""

    judge: str
    agreement: Estimate  # with every annotator's label; its interval holds for all candidates at once
    baseline: float  # what the best constant answer reaches on the same labels
    beats_baseline: bool  # by more than one clustered standard error
    claim: Claim | None  # against the plan's reference: gap, one-sided p, Holm p, clusters needed; None without any
    valid_share: float  # of all rows asked
    cost_per_item: float  # USD, every row billed; nan: unknown, which is not 0
    seconds_per_item: float  # nan: unknown
    on_frontier: bool  # no other candidate costs no more and agrees no less
    reason: Reason  # why it was not chosen, "" for the one that was
    below_baseline: bool = False  # the very share of the constant answer, or less by more than one clustered se

    @property
    def outcome(self) -> Outcome:
        """Of the claim alone, whatever the constant answer reaches."""
        return self.claim.outcome if self.claim else "cannot_tell"

    @property
    def standing(self) -> Standing:
        """`adequate`: non-inferior and better than a constant answer. `ruled_out`: inferior, or no better than that.

        Each by a clustered standard error; one cluster rules nobody out.
        """
        if self.outcome == "inferior" or self.below_baseline:
            return "ruled_out"
        return "adequate" if self.outcome == "non_inferior" and self.beats_baseline else "open"

    @property
    def clusters_needed(self) -> int | None:
        """In all, to decide an open claim; None where it is not open, or no number is known to."""
        return self.claim.needed.clusters if self.claim and self.claim.needed else None


@dataclass(frozen=True)
class Choice:
    """The answer, with a sentence to print. `pairs_needed`: clusters in all that would decide the first open judge.

    That judge is one cheaper than the chosen one, or any where none is chosen; None: no number is known to decide.
    """

    status: Status
    judge: str | None
    sentence: str
    candidates: tuple[Candidate, ...]  # the cheapest first, unknown costs last
    pairs_needed: int | None
    plan: ComparisonPlan

    @property
    def foremost(self) -> Candidate | None:
        """The chosen judge, or the one that comes closest; None where no gap is known."""
        chosen = next((one for one in self.candidates if one.judge == self.judge), None)
        return chosen or closest(self.candidates)


def closest(candidates: Sequence[Candidate]) -> Candidate | None:
    """The best standing, and of these the smallest gap to the reference; None where no gap is known.

    Of several that are level the first by name: see `as_close`.
    """
    known = [one for one in candidates if one.claim and not math.isnan(one.claim.test.difference.value)]
    standings: tuple[Standing, ...] = ("adequate", "open", "ruled_out")

    def distance(one: Candidate) -> tuple[int, float, str]:
        gap = one.claim.test.difference.value if one.claim else math.nan
        return standings.index(one.standing), gap, one.judge

    return min(known, key=distance, default=None)


def as_close(one: Candidate, candidates: Sequence[Candidate]) -> list[str]:
    """The judges of its standing with its very agreement and gap, itself among them, by name."""

    def reached(other: Candidate) -> tuple[Standing, float, float]:
        gap = other.claim.test.difference.value if other.claim else math.nan
        return other.standing, other.agreement.value, gap

    return sorted(other.judge for other in candidates if other is one or reached(other) == reached(one))


def gate(choice: Choice, judge: str = "") -> Status:
    """What a pipeline acts on: the status of the choice, or of one named judge, whatever it costs.

    `chosen`: the named judge is adequate. Raises `unknown_form` for a judge that is no candidate.
    """
    if not judge:
        return choice.status
    named = {one.judge: one for one in choice.candidates}
    if judge not in named:
        raise CalibrationError("unknown_form", f"no judge is called {judge!r}; there are {', '.join(sorted(named))}")
    by_standing: dict[Standing, Status] = {
        "adequate": "chosen", "open": "cannot_tell", "ruled_out": "none_adequate"
    }  # fmt: skip
    return by_standing[named[judge].standing]


def open_candidates(candidates: Sequence[Candidate], chosen: Candidate | None) -> list[Candidate]:
    """Those that more labels may show to be adequate, where one of them would then be chosen: the cheaper ones."""
    waiting = [one for one in candidates if one.standing == "open"]
    return [one for one in waiting if chosen is None or one.cost_per_item < chosen.cost_per_item * (1 - SAME)]
