"""Is a judge worse than people, or than the best judge, by less than a margin fixed before anyone looked?"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from calibration.choosing.deciding import POWER, Needed, clusters_needed
from calibration.compare import Difference, holm, paired_difference, scores_and_clusters
from calibration.engine.closed_forms import Array
from calibration.errors import CalibrationError
from calibration.people.left_out import LeftOutScores
from calibration.reading.columns import Codes

Outcome = Literal["non_inferior", "inferior", "cannot_tell"]
Against = Literal["ceiling", "best_judge"]


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

    def __post_init__(self) -> None:
        _need_margin(self.margin)
        if self.against not in ("ceiling", "best_judge"):
            raise CalibrationError("unknown_form", f"against is {self.against!r}; use ceiling or best_judge")

    @property
    def plan_sha256(self) -> str:
        """SHA-256 over every field; the order of judges and of criteria does not matter."""
        return str(self.kept["plan_sha256"])

    @property
    def kept(self) -> dict[str, Any]:
        """Every field and the hash, as JSON can hold them: what is stored before a result is shown."""
        fields = asdict(self) | {"judges": sorted(self.judges), "criteria": sorted(self.criteria)}
        text = json.dumps(fields, ensure_ascii=False, sort_keys=True)
        return fields | {"plan_sha256": hashlib.sha256(text.encode()).hexdigest()}


@dataclass(frozen=True)
class NonInferiority:
    """One-sided test of a candidate against a reference. `outcome` is `cannot_tell` unless a bound clears the margin.

    `method`: `cluster_t`; `exact_bound` where all clusters show one difference; `none`, with nan, where
    `difference.note` says why.
    """

    outcome: Outcome
    difference: Difference  # score of the reference - score of the candidate: above 0 the candidate is worse
    upper: float  # one-sided bounds, each at the level
    lower: float
    p: float  # of a gap of at least the margin
    margin: float
    method: str


@dataclass(frozen=True)
class Claim:
    """One judge of several. `outcome` follows `p_holm` and `test.lower`; `needed` stands beside `cannot_tell`."""

    judge: str
    reference: str  # human_ceiling, or the best of the other judges
    test: NonInferiority
    p_holm: float
    outcome: Outcome
    needed: Needed | None


def non_inferiority(
    candidate: npt.ArrayLike,
    reference: npt.ArrayLike,
    clusters: npt.ArrayLike,
    margin: float,
    level: float = 0.95,
) -> NonInferiority:
    """Test of H0: reference - candidate >= `margin`, cluster t with C - 1 df. Wellek 2010.

    `candidate`, `reference`, `clusters`: shape (labels,); a label where either is nan is left out. `non_inferior`:
    upper < margin; `inferior`: lower > margin. Where all clusters show the same difference v and scores lie in 0 to 1,
    p = ((1 - margin) / (1 - v))^C, since a mean of at least the margin puts at least 1 - (1 - margin) / (1 - v) of
    clusters above v. Undefined: fewer than 2 clusters. Raises `misaligned` and `margin_missing`.
    """
    _need_margin(margin)
    found = paired_difference(reference, candidate, clusters, level)
    bounded = found.note == "zero_variance" and _are_shares(candidate, reference)
    lower, upper = _bounds(found, level, level, bounded)
    method = "exact_bound" if bounded else "none" if found.note else "cluster_t"
    p = _p(found, margin, level, bounded)
    return NonInferiority(_outcome(lower, upper, margin), found, upper, lower, p, margin, method)


def against_ceiling(
    judges: Mapping[str, LeftOutScores], plan: ComparisonPlan, advise: bool = True
) -> tuple[Claim, ...]:
    """Each judge against the left-out annotator on identical references; Holm over the judges.

    `judges`: every judge planned, with its and the annotator's scores. `advise`: whether an open claim says how many
    clusters would decide it. Raises `unknown_form` where the judges are others.
    """
    each = []
    for judge, rows in judges.items():
        (own, human), code = scores_and_clusters([rows.judge, rows.human], rows.cluster)
        each.append(_Contest(judge, own, (("human_ceiling", human),), code))
    return _claims(each, plan, advise)


def against_best(
    judges: Mapping[str, npt.ArrayLike], clusters: npt.ArrayLike, plan: ComparisonPlan, advise: bool = True
) -> tuple[Claim, ...]:
    """Each judge against the best of the others, whichever that truly is; Holm over the judges.

    `judges`: every judge planned, its scores on the labels, shape (labels,), nan where it has none; `clusters`: shape
    (labels,). Non-inferior to the best is non-inferior to all: p and `upper` are the largest over the others (Berger
    1982), so the best observed is never taken for the best there is. `lower` is the largest at level
    1 - (1 - level) / (judges - 1): inferior to one is inferior to the best. A single judge has no other: no claims.
    `advise` as in `against_ceiling`. Raises `misaligned` and, where the judges are not those planned, `unknown_form`.
    """
    columns, code = scores_and_clusters(list(judges.values()), clusters)
    named = list(zip(judges, columns, strict=True))
    each = [_Contest(judge, own, tuple(one for one in named if one[0] != judge), code) for judge, own in named]
    return _claims(each if len(each) > 1 else [], plan, advise)


def among(claims: Sequence[Claim], plan: ComparisonPlan) -> tuple[Claim, ...]:
    """The same tests as if only these judges had been tried: Holm over them alone, and no advice.

    For claims against the ceiling: the best of the others is another one where others are left.
    """
    adjusted = holm([one.test.p for one in claims])
    return tuple(
        replace(one, p_holm=float(p), outcome=_claimed(one.test, float(p), plan), needed=None)
        for one, p in zip(claims, adjusted, strict=True)
    )


@dataclass(frozen=True)
class _Contest:
    judge: str
    own: Array
    references: tuple[tuple[str, Array], ...]
    code: Codes


def _claims(each: Sequence[_Contest], plan: ComparisonPlan, advise: bool) -> tuple[Claim, ...]:
    if each and {one.judge for one in each} != {*plan.judges}:
        raise CalibrationError(
            "unknown_form", f"the plan compares {', '.join(plan.judges)}; give all of them and no other judge"
        )
    tests = [_hardest(one, plan) for one in each]
    p = np.array([test.p for _, test in tests])
    out = []
    for one, (reference, test), p_holm, step in zip(each, tests, holm(p), _steps(p), strict=True):
        outcome, needed = _claimed(test, float(p_holm), plan), None
        if advise and outcome == "cannot_tell":
            references, level = [scores for _, scores in one.references], 1 - (1 - plan.level) / step
            needed = clusters_needed(one.own, references, one.code, plan.margin, level, plan.power)
        out.append(Claim(one.judge, reference, test, float(p_holm), outcome, needed))
    return tuple(out)


def _claimed(test: NonInferiority, p_holm: float, plan: ComparisonPlan) -> Outcome:
    if test.lower > plan.margin:
        return "inferior"
    return "non_inferior" if p_holm < 1 - plan.level else "cannot_tell"


def _hardest(one: _Contest, plan: ComparisonPlan) -> tuple[str, NonInferiority]:
    """The reference with the largest gap, and the test against all of them in one."""
    found = [non_inferiority(one.own, scores, one.code, plan.margin, plan.level) for _, scores in one.references]
    at = max(range(len(found)), key=lambda index: (found[index].difference.value, one.references[index][0]))
    strict = 1 - (1 - plan.level) / len(found)
    lowest = [_bounds(test.difference, plan.level, strict, test.method == "exact_bound")[0] for test in found]
    lower, upper = max(lowest, key=_nan_first), max((test.upper for test in found), key=_nan_first)
    p = max((test.p for test in found), key=_nan_first)
    outcome = _outcome(lower, upper, plan.margin)
    return one.references[at][0], replace(found[at], outcome=outcome, lower=lower, upper=upper, p=p)


def _bounds(found: Difference, level: float, one_sided: float, exact: bool) -> tuple[float, float]:
    """Lower and upper bound, each at `one_sided`, of a difference whose interval has `level`."""
    if exact:
        root = (1 - one_sided) ** (1 / found.clusters)
        return (1 + found.value) * root - 1, 1 - (1 - found.value) * root
    if found.note:
        return math.nan, math.nan
    half = _t_quantile(one_sided, found.clusters) * _standard_error(found, level)
    return found.value - half, found.value + half


def _p(found: Difference, margin: float, level: float, exact: bool) -> float:
    if exact:
        return (max(0.0, 1 - margin) / (1 - found.value)) ** found.clusters if found.value < margin else 1.0
    if found.note:
        return math.nan
    return float(stats.t.cdf((found.value - margin) / _standard_error(found, level), found.clusters - 1))


def _standard_error(found: Difference, level: float) -> float:
    return float((found.high - found.low) / 2 / _t_quantile((1 + level) / 2, found.clusters))


@cache
def _t_quantile(p: float, clusters: int) -> float:
    return float(stats.t.ppf(p, clusters - 1))


def _nan_first(value: float) -> float:
    return math.inf if math.isnan(value) else value  # one reference that cannot be tested leaves all open


def _steps(p: Array) -> Array:
    """By how much Holm multiplies each p: the level at which it is tested once the smaller ones are rejected.

    Equal ones get the larger step, as in the adjusted p: which judge is named first decides nothing.
    """
    known = p[~np.isnan(p)]
    return np.array([max(1, len(known) - np.count_nonzero(known < one)) for one in p])


def _outcome(lower: float, upper: float, margin: float) -> Outcome:
    if upper < margin:
        return "non_inferior"
    return "inferior" if lower > margin else "cannot_tell"


def _are_shares(*scores: npt.ArrayLike) -> bool:
    known = [np.asarray(one, float)[~np.isnan(np.asarray(one, float))] for one in scores]
    return all(bool(((one >= 0) & (one <= 1)).all()) for one in known)


def _need_margin(margin: float) -> None:
    if not margin > 0:
        raise CalibrationError("margin_missing", f"the margin is {margin}; fix one above 0 before results are seen")
