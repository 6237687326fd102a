"""One number with its uncertainty, and what a reader must know before using one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from calibration.remarks import Fact, Kind, Reason, Remark, note_of
from calibration.warning_words import warning_text

LACKING = (Kind.UNDEFINED, Kind.NO_INTERVAL, Kind.BARE)


@dataclass(frozen=True)
class Estimate:
    """One number with its uncertainty. `value` is nan when undefined, the bounds when refused; `reason` says why."""

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
    remarks: tuple[Remark, ...] = ()

    def times(self, factor: float) -> "Estimate":
        """The same in a smaller or larger unit, value and bounds alike."""
        return replace(self, value=factor * self.value, low=factor * self.low, high=factor * self.high)

    @property
    def lack(self) -> Remark | None:
        """Why there is no value or no interval: the last that was found, else the last that was said; None: both."""
        if not math.isnan(self.value) and not math.isnan(self.low):
            return None
        lacks = [one for one in self.remarks if one.kind in LACKING]
        return next(reversed(lacks or self.remarks), None)

    @property
    def reason(self) -> Reason | None:
        """The reason of `lack`."""
        return self.lack.reason if self.lack else None

    @property
    def note(self) -> str:
        """The remarks in words, for people; no rule reads it."""
        return note_of(self.remarks)

    def remark(self, reason: Reason) -> Remark | None:
        """The remark with this reason, None where there is none."""
        return next((one for one in self.remarks if one.reason == reason), None)

    def fact(self, reason: Reason, name: str) -> Fact | None:
        """A fact of the remark with this reason, None where there is none."""
        found = self.remark(reason)
        return found.fact(name) if found else None


@dataclass(frozen=True)
class ReportWarning:
    """What a reader must know before using a number: the facts, of which `text` tells with the remedy.

    `rater`, `criterion`: "" when general. `facts`: numbers, names and lists of them, as JSON has them. `words`: what is
    told where no sentence is known, as of a report that an older release wrote.
    """

    code: str
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)
    rater: str = ""
    criterion: str = ""
    words: str = ""

    @property
    def text(self) -> str:
        """Facts, rater and criterion in a sentence, for people; no rule reads it."""
        return self.words or warning_text(self.code, {"rater": self.rater, "criterion": self.criterion, **self.facts})


def first_few(found: Sequence[Any], most: int = 3) -> dict[str, Any]:
    """The first of many, and how many more there are: a fact that a sentence can tell."""
    return {"names": [*found[:most]], "more": len(found) - most if len(found) > most else None}
