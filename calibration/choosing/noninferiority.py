"""Is a judge worse than people by less than a margin fixed before anyone looked?"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from calibration.arithmetic.closed_forms import Array
from calibration.errors import CalibrationError
from calibration.inference import gap_test
from calibration.inference.compare import scores_and_clusters
from calibration.inference.deciding import POWER, Needed, at_least, clusters_needed
from calibration.study.left_out import LeftOutScores

OF_LOOKS = ("looks", "planned_topics", "spending")
# without a word about them a plan's hash is as it was before they were part of it
USUAL: Mapping[str, Any] = {"alone_error": 0.0, "min_clusters": gap_test.FEWEST}
Against = Literal["ceiling", "floor", "nobody"]


@dataclass(frozen=True)
class ComparisonPlan:
    """What must be fixed before a result is shown. Raises `margin_missing` without a margin above 0."""

    judges: tuple[str, ...]  # every judge, prompt and setting tried, not only the promising ones
    criteria: tuple[str, ...]
    margin: float
    against: Against = "ceiling"
    level: float = 0.95
    power: float = POWER
    ties: str = "three_class"
    not_applicable: str = "drop"
    references: str = "others_each"
    missing_as_wrong: bool = True  # an item without a usable answer counts as disagreement
    cluster: str = "topic"
    at_least: float | None = None  # the floor that agreement must be above, stated instead of a gap
    at_least_kappa: float | None = None
    required: tuple[str, ...] = ("agreement", "ceiling gap", "answers")  # rows of the card that decide
    weights: tuple[tuple[float, ...], ...] = ()  # of the rule `weighted`
    epsilon: float = 0.15  # of the alternative annotator test
    alone_error: float = 0.0  # that a judge may make on what it decides without a person; 0: not asked, and not kept
    looks: str = "one"  # how results are looked at; see `looking`
    planned_topics: int | None = None
    spending: str = "obrien_fleming"  # of the error, over planned looks
    min_clusters: int = gap_test.FEWEST  # with fewer no claim is decided
    resamples: int = gap_test.RESAMPLES  # of every test; with the seed, so that nobody draws until one of them passes
    seed: int = 0
    replaced: Mapping[str, int] = field(default_factory=dict)  # judge -> settings it was asked with before, if any

    def __post_init__(self) -> None:
        _need_margin(self.margin)
        if self.against not in ("ceiling", "floor", "nobody"):
            raise CalibrationError("unknown_form", f"against is {self.against!r}; use ceiling, floor or nobody")

    @property
    def gone(self) -> int:
        """Settings that were tried and whose answers later ones replaced: nobody knows their p any more."""
        return sum(self.replaced.get(judge, 0) for judge in self.judges)

    @property
    def plan_sha256(self) -> str:
        """SHA-256 over all that is `kept`; the order of judges and of criteria does not matter."""
        return str(self.kept["plan_sha256"])

    @property
    def kept(self) -> dict[str, Any]:
        """The hash and every field but `replaced`, as JSON can hold them: what is stored before a result is shown.

        What was replaced is no intention but what happened to the labels, which the choice tells by itself.
        """
        fields = asdict(self) | {"judges": sorted(self.judges), "criteria": sorted(self.criteria)}
        del fields["replaced"]
        fields = {name: value for name, value in fields.items() if USUAL.get(name, self) != value}
        if self.looks == "one":
            fields = {name: value for name, value in fields.items() if name not in OF_LOOKS}
        text = json.dumps(fields, ensure_ascii=False, sort_keys=True)
        return fields | {"plan_sha256": hashlib.sha256(text.encode()).hexdigest()}


@dataclass(frozen=True)
class Claim:
    """One judge of several. `outcome` follows `p_adjusted` and `test.lower`; `needed` comes with `cannot_tell`."""

    judge: str
    reference: str  # human_ceiling
    test: gap_test.NonInferiority
    p_adjusted: float  # for all judges tried
    outcome: gap_test.Outcome
    needed: Needed | None


def non_inferiority(
    candidate: npt.ArrayLike,
    reference: npt.ArrayLike,
    clusters: npt.ArrayLike,
    margin: float,
    level: float = 0.95,
    items: npt.ArrayLike | None = None,
    min_clusters: int = gap_test.FEWEST,
    resamples: int = gap_test.RESAMPLES,
    seed: int = 0,
) -> gap_test.NonInferiority:
    """Test of H0: reference - candidate >= `margin`, by the studentised cluster bootstrap of `gap_law`.

    `candidate`, `reference`: scores of 0 to 1, shape (labels,), a label where either is nan left out; `clusters`
    likewise, and `items`: labels that stand or fall together, each its own where they are not told. `non_inferior`:
    upper < margin; `inferior`: lower > margin; `cannot_tell` below `min_clusters`. At least 999 resamples are drawn.
    Where all clusters show the same difference v and scores lie in 0 to 1, p = ((1 - margin) / (1 - v))^C, since a
    mean of at least the margin puts at least 1 - (1 - margin) / (1 - v) of clusters above v; so too, with the largest
    difference as v, where more than 5 % of resamples show no spread. Undefined: fewer than 2 clusters. Raises
    `misaligned` and `margin_missing`.
    """
    _need_margin(margin)
    (first, second), code = scores_and_clusters([reference, candidate], clusters)
    unit = None if items is None else np.unique(np.asarray(items), return_inverse=True)[1]
    return gap_test.gaps_tested(
        [gap_test.Rows(first - second, code, unit, _are_shares(first, second))],
        gap_test.Rule(margin, level, min_clusters, resamples, seed),
    )[0]


def against_ceiling(
    judges: Mapping[str, LeftOutScores],
    plan: ComparisonPlan,
    advise: bool = True,
    resamples: int = gap_test.RESAMPLES,
    seed: int = 0,
) -> tuple[Claim, ...]:
    """Each judge against the left-out annotator on identical references; p adjusted for all judges as by `adjusted`.

    `judges`: every judge planned, with its and the annotator's scores. `advise`: whether an open claim says how many
    clusters would decide it. Raises `unknown_form` where the judges are others.
    """
    if judges and {*judges} != {*plan.judges}:
        raise CalibrationError(
            "unknown_form", f"the plan compares {', '.join(plan.judges)}; give all of them and no other judge"
        )
    places = np.concatenate([np.zeros(0, np.intp), *(judge.cluster for judge in judges.values())])
    code, ends = np.unique(places, return_inverse=True)[1], np.cumsum([len(judge.cluster) for judge in judges.values()])
    rows = [
        gap_test.Rows(one.human - one.judge, at, one.unit, weight=one.weight)
        for one, at in zip(judges.values(), np.split(code, ends[:-1]), strict=False)
    ]
    tests = gap_test.gaps_tested(rows, gap_test.Rule(plan.margin, plan.level, plan.min_clusters, resamples, seed))
    return _claims(tuple(judges), rows, tests, plan, advise)


def _claims(
    judges: Sequence[str],
    rows: Sequence[gap_test.Rows],
    tests: Sequence[gap_test.NonInferiority],
    plan: ComparisonPlan,
    advise: bool,
) -> tuple[Claim, ...]:
    steps, out = holm_steps(np.array([test.p for test in tests]), plan.gone), []
    for judge, own, test, p, step in zip(judges, rows, tests, gap_test.adjusted(tests, plan.gone), steps, strict=True):
        outcome, needed = _claimed(test, float(p), plan), None
        if advise and outcome == "cannot_tell":
            none, level = np.zeros(len(own.difference)), 1 - (1 - plan.level) / step
            needed = clusters_needed(
                none, [own.difference], own.code, plan.margin, level, plan.power, own.items, own.weight
            )
            needed = at_least(needed, plan.min_clusters)
        out.append(Claim(judge, "human_ceiling", test, float(p), outcome, needed))
    return tuple(out)


def _claimed(test: gap_test.NonInferiority, p_adjusted: float, plan: ComparisonPlan) -> gap_test.Outcome:
    if test.reason:
        return "cannot_tell"
    if test.lower > plan.margin:
        return "inferior"
    return "non_inferior" if p_adjusted < 1 - plan.level else "cannot_tell"


def holm_steps(p: Array, gone: int = 0) -> Array:
    """By how much Holm multiplies each p: the level at which it is tested once the smaller ones are rejected.

    Equal ones get the larger step, as in the adjusted p: which judge is named first decides nothing. `gone`: as of
    `gap_test.adjusted`.
    """
    known = p[~np.isnan(p)]
    return np.array([max(1, gone + len(known) - np.count_nonzero(known < one)) for one in p])


def _are_shares(*scores: Array) -> bool:
    return all(bool(((score >= 0) & (score <= 1) | np.isnan(score)).all()) for score in scores)


def _need_margin(margin: float) -> None:
    if not margin > 0:
        raise CalibrationError("margin_missing", f"the margin is {margin}; fix one above 0 before results are seen")
