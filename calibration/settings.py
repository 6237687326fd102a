"""Every choice that changes a number, and what a study prints of its systems: fixed before results are seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from calibration.errors import CalibrationError

_ALLOWED: dict[str, tuple[str, ...]] = {
    "ties": ("three_class", "half_credit", "exclude"),
    "not_applicable": ("drop", "category"),
    "references": ("others_each", "others_majority"),
    "majority_ties": ("drop", "tie"),
    "generalise_to": ("pairs", "pairs_and_annotators"),
}
RULES = ("win_rate", "mean", "weighted_mean", "share", "target_share", "majority")


@dataclass(frozen=True)
class Aggregate:
    """What a study prints of every system: one `aggregate` of a protocol. See `calibration.systems.aggregates`."""

    name: str
    rule: str  # one of RULES
    labels: tuple[str, ...] = ()  # answers that count (share, majority) or enter (mean); none: all
    criteria: tuple[str, ...] = ()  # none: all
    by: str = ""  # tag: the mean of each tag's values
    several: str = "all"  # of a claim's sources must bear it out, or any

    def __post_init__(self) -> None:
        for name, allowed in (("rule", RULES), ("by", ("", "tag")), ("several", ("any", "all"))):
            if getattr(self, name) not in allowed:
                raise CalibrationError(
                    "unknown_form", f"aggregate {self.name!r}: {name} is {getattr(self, name)!r}; use one of {allowed}"
                )


@dataclass(frozen=True)
class CalibrationSettings:
    """Every choice that changes a number, fixed before results are seen.

    Raises `unknown_form` on a value it does not know.
    """

    level: float = 0.95
    resamples: int = 9_999
    seed: int = 0
    ties: str = "three_class"
    not_applicable: str = "drop"
    references: str = "others_each"
    majority_ties: str = "drop"
    margin: float = 0.05
    epsilon: float = 0.15
    generalise_to: str = "pairs"
    per_criterion: bool = False
    per_category: bool = False
    scales: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # criterion -> its answers in order
    families: Mapping[str, str] = field(default_factory=dict)  # judge or system -> model family
    length_unit: str = "characters"
    plan_hash: str = ""
    per_system_pair: bool = False
    unclustered: bool = False  # beside the clustered intervals, never instead of them
    bias_floor: float = 0.05  # of rates: a smaller bias does not matter
    aggregates: tuple[Aggregate, ...] = ()
    answer_values: Mapping[str, float] = field(default_factory=dict)  # a probe's answer -> what it counts in a mean
    score_times: Mapping[str, float] = field(default_factory=dict)  # rated criterion -> its factor in print, if not 1
    off_scale: tuple[str, ...] = ()  # answers that are none of an ordered scale: out of agreement, in for aggregates

    @property
    def dropped(self) -> tuple[str, ...]:
        """Answers that no agreement is about."""
        return (*self.off_scale, *["not_applicable"] * (self.not_applicable == "drop"))

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            if getattr(self, name) not in allowed:
                raise CalibrationError(
                    "unknown_form", f"settings.{name} is {getattr(self, name)!r}; use one of {', '.join(allowed)}"
                )
        if not 0 < self.level < 1:
            raise CalibrationError("unknown_form", f"settings.level is {self.level}; use a number between 0 and 1")
        if not 0 < self.bias_floor < 0.5:
            raise CalibrationError(
                "unknown_form", f"settings.bias_floor is {self.bias_floor}; use a rate between 0 and .5, such as .05"
            )
        if self.resamples < 1 or not 0 < self.margin < 1:
            raise CalibrationError(
                "unknown_form",
                f"settings.resamples is {self.resamples} and settings.margin {self.margin}; use a number above 0, and "
                "a share between 0 and 1, such as .05",
            )
