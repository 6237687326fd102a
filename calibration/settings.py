"""Every choice that changes a number, and what a study prints of its systems: fixed before results are seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from calibration.errors import CalibrationError
from calibration.inference.looks import SPENDINGS, Look
from plain.wording import Sentence

LOOKS = ("one", "planned", "any_time")
_ALLOWED: dict[str, tuple[str, ...]] = {
    "ties": ("three_class", "half_credit", "exclude"),
    "not_applicable": ("drop", "category"),
    "references": ("others_each", "others_majority"),
    "majority_ties": ("drop", "tie"),
    "distance": ("linear", "quadratic", "exact"),
    "generalise_to": ("pairs", "pairs_and_annotators"),
    "looks": LOOKS,
    "spending": SPENDINGS,
}
REQUIRABLE = (
    "ceiling gap",
    "order",
    "length",
    "self-preference",
    "repeats",
)  # what a plan may require of a judge besides
RULES = ("win_rate", "mean", "weighted_mean", "share", "target_share", "majority")


def refuse_no_share(what: str, value: float, unit: str = "points") -> None:
    """Raises `unknown_form` unless 0 < `value` < 1, with the share that a percentage may have been meant as."""
    if not 0 < value < 1:
        is_meant = 1 < value < 100
        meant = value if is_meant else 5.0 if unit == "points" else 80.0
        mend = f"{'' if is_meant else 'such as '}{meant / 100:g}".replace("0.", ".")
        raise CalibrationError(
            "unknown_form",
            "{what} is {value:g}, and is a share of labels between 0 and 1: write {mend} for {meant:g} {unit}",
            what=Sentence(what), value=value, mend=mend, meant=meant, unit=unit,
        )  # fmt: skip


def _is_range(ends: Sequence[float]) -> bool:
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        return False
    return all(type(end) in (int, float) and abs(end) < float("inf") for end in ends) and ends[0] < ends[1]


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
                    "unknown_form", "aggregate {name!r}: {key} is {found!r}; use one of {allowed}",
                    name=self.name, key=name, found=getattr(self, name), allowed=allowed,
                )  # fmt: skip


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
    min_clusters: int = 12  # with fewer no judge is called adequate or not: there the test errs more often than it says
    epsilon: float = 0.15
    generalise_to: str = "pairs"
    per_criterion: bool = False
    per_category: bool = False
    scales: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # criterion -> its answers in order
    scale_ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # of a scale on which any number goes
    families: Mapping[str, str] = field(default_factory=dict)  # judge or system -> model family
    length_unit: str = "characters"
    plan_hash: str = ""
    per_system_pair: bool = False
    unclustered: bool = False  # beside the clustered intervals, never instead of them
    bias_floor: float = 0.05  # of rates: a smaller bias does not matter
    aggregates: tuple[Aggregate, ...] = ()
    answer_values: Mapping[str, float] = field(default_factory=dict)  # a probe's answer -> what it counts in a mean
    score_times: Mapping[str, float] = field(default_factory=dict)  # rated criterion -> its factor in print, if not 1
    positive: str = ""  # the answer that passes; "": recognised by its word where there are two
    alone_error: float = 0.0  # that a judge may make on items it decides without a person; 0: nobody asked
    off_scale: tuple[str, ...] = ()  # answers that are none of an ordered scale: out of agreement, in for aggregates
    distance: str = "linear"  # how scores agree where a judge is chosen: exact asks for the very same score
    weights: tuple[tuple[float, ...], ...] = ()  # what each answer of a declared scale earns beside each other, 0 to 1
    at_least: float | None = None  # agreement that is good enough, instead of a gap to a left-out annotator
    at_least_kappa: float | None = None  # the same of Cohen's kappa
    require: tuple[str, ...] = ()  # questions of the card that an adequate judge must keep besides, of REQUIRABLE
    looks: str = "one"  # at results: one, as many as one likes of planned topics, or at any time without a plan
    planned_topics: int | None = None  # in the end; None: those at hand, so that this look is the last
    spending: str = "obrien_fleming"  # of the error, over planned looks
    earlier_looks: tuple[Look, ...] = ()  # at which results were shown before; no choice, but what was done
    topics_labelled: int | None = None  # by now, those in part counted in part; None: every cluster with a label

    @property
    def dropped(self) -> tuple[str, ...]:
        """Answers that no agreement is about."""
        return (*self.off_scale, *["not_applicable"] * (self.not_applicable == "drop"))

    def __post_init__(self) -> None:
        for name, lists in (("scales", self.scales), ("scale_ends", self.scale_ends)):
            if not isinstance(lists, Mapping) or not all(isinstance(one, list | tuple) for one in lists.values()):
                raise CalibrationError(
                    "unknown_form",
                    "settings.{name} is {lists!r}; write a list for each criterion, such as {{overall = [{such}]}}",
                    name=name, lists=lists, such="1, 2, 3" if name == "scales" else "0, 10",
                )  # fmt: skip
        object.__setattr__(self, "scales", {name: tuple(map(str, answers)) for name, answers in self.scales.items()})
        for name, ends in self.scale_ends.items():
            if not _is_range(ends) or name in self.scales:
                raise CalibrationError(
                    "unknown_form",
                    "settings.scale_ends gives {name} {ends!r}; write its lowest and highest score, such as [0, 10], "
                    "and no scales of it",
                    name=name, ends=ends,
                )  # fmt: skip
        ends_of = {name: (float(low), float(high)) for name, (low, high) in self.scale_ends.items()}
        object.__setattr__(self, "scale_ends", ends_of)
        for name, allowed in _ALLOWED.items():
            if getattr(self, name) not in allowed:
                raise CalibrationError(
                    "unknown_form", "settings.{name} is {found!r}; use one of {allowed}", name=name,
                    found=getattr(self, name), allowed=", ".join(allowed),
                )  # fmt: skip
        self._check_what_is_good_enough()
        if not 0 < self.level < 1:
            raise CalibrationError(
                "unknown_form", "settings.level is {level}; use a number between 0 and 1", level=self.level
            )
        if not 0 < self.bias_floor < 0.5:
            raise CalibrationError(
                "unknown_form", "settings.bias_floor is {bias_floor}; use a rate between 0 and .5, such as .05",
                bias_floor=self.bias_floor,
            )  # fmt: skip
        if not 0 <= self.alone_error < 1:
            raise CalibrationError(
                "unknown_form", "settings.alone_error is {alone_error}; use a share below 1, such as .1",
                alone_error=self.alone_error,
            )  # fmt: skip
        if self.planned_topics is not None and (type(self.planned_topics) is not int or self.planned_topics < 1):
            raise CalibrationError(
                "unknown_form", "settings.planned_topics is {planned_topics!r}; use a whole number from 1",
                planned_topics=self.planned_topics,
            )  # fmt: skip
        if self.resamples < 1:
            raise CalibrationError(
                "unknown_form", "settings.resamples is {resamples}; use a number above 0", resamples=self.resamples
            )

    def _check_what_is_good_enough(self) -> None:
        unknown = next((question for question in self.require if question not in REQUIRABLE), None)
        if unknown is not None:
            raise CalibrationError(
                "unknown_form", "settings.require names {unknown!r}; use some of {requirable}", unknown=unknown,
                requirable=", ".join(REQUIRABLE),
            )  # fmt: skip
        refuse_no_share("settings.margin", self.margin)
        if self.at_least is not None:
            refuse_no_share("settings.at_least", self.at_least, "%")
        if self.at_least_kappa is not None and not 0 < self.at_least_kappa < 1:
            raise CalibrationError(
                "unknown_form", "settings.at_least_kappa is {at_least_kappa:g}; use a number between 0 and 1",
                at_least_kappa=self.at_least_kappa,
            )  # fmt: skip
        size = len(self.weights)
        if any(len(row) != size or any(not 0 <= cell <= 1 for cell in row) for row in self.weights):
            raise CalibrationError(
                "unknown_form", "settings.weights is no square of numbers from 0 to 1; give one row and one column each"
            )
        if self.at_least is not None and self.at_least_kappa is not None:
            raise CalibrationError("unknown_form", "settings.at_least and settings.at_least_kappa exclude each other")
