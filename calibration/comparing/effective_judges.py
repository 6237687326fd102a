"""How many independent judges is a panel worth? Judges that err on the same items vote as fewer than they are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pandas as pd

from calibration.arithmetic import closed_forms, columns
from calibration.errors import CalibrationError
from calibration.settings import CalibrationSettings
from calibration.study import bounding, crossing, left_out
from calibration.study.joining import Answers, Scale, Study, scale_of, study_of
from calibration.table.verdicts import BOTH_ORDERS

TINY = 1e-12
PERMUTATIONS = 999
FEWEST_PERMUTATIONS = 99
AT_ONCE = 2**17  # errors whose correlations are worked out together: a few megabytes
CELLS = 50_000_000  # errors permuted in all: a larger table is permuted less often, and at last not at all


@dataclass(frozen=True)
class EffectiveJudges:
    """`kish` = k / (1 + (k - 1) phi) and `eigen` = k / lambda_max of k judges whose errors correlate by phi on average.

    `null_low`, `null_high`: where the value lies for judges that err each for itself; `p`: of a value that low among
    such. Each nan where `note` says why.
    """

    judges: tuple[str, ...]
    phi: float
    kish: float
    eigen: float
    null_low: float
    null_high: float
    p: float
    n: int  # labels: units that all judges answered and whose annotators have a majority
    clusters: int
    permutations: int
    note: str = ""

    @property
    def value(self) -> float:
        """The lower of the two. That is `eigen`: lambda_max is no less than 1 + (k - 1) phi."""
        return float(min(self.kish, self.eigen)) if not math.isnan(self.kish) else self.eigen


def effective_judges(
    verdicts: pd.DataFrame | Study, judges: Sequence[str] | None = None, settings: CalibrationSettings | None = None
) -> EffectiveJudges:
    """The effective number of `judges` (None: all, each as deployed), from errors against the annotators' majority.

    A label errs by the share of the judge's passes that are not the majority; a tied majority has none, or is a tie
    (`settings.majority_ties`). A majority that errs itself makes all judges err together. Null: whole clusters permuted
    within each judge, 999 times (in tables of many labels 99 at least), at `settings.level`. Kish 1965. Undefined:
    fewer than two judges (`too_few_units`), no label (`no_shared_units`), a judge that errs always or never
    (`zero_variance`); null and p also below five clusters. Raises `unknown_rater`, and `mixed_label_types` where the
    criteria share no scale.
    """
    settings = settings or CalibrationSettings()
    study = study_of(verdicts, settings)
    scale = scale_of(study, study.criteria, settings)
    if scale is None:
        raise CalibrationError("mixed_label_types", "the criteria share no scale; give the rows of one of them")
    chosen = _chosen(study, judges)
    names = tuple(one.rater for one in chosen)
    unit, errors = _errors(study, scale, chosen, settings)
    cluster = np.unique(study.unit_cluster[unit], return_inverse=True)[1].astype(np.intp)
    count = int(cluster.max(initial=-1)) + 1
    why = _why_undefined(names, errors)
    none = math.nan
    if why:
        return EffectiveJudges(names, none, none, none, none, none, none, len(unit), count, 0, why)
    phi, kish, eigen = (float(one) for one in _effective(errors))
    notes = ["kish undefined: the judges' errors cancel"] if math.isnan(kish) else []
    draws = min(PERMUTATIONS, CELLS // errors.size)
    if count < bounding.FEWEST or draws < FEWEST_PERMUTATIONS:
        few = f"{count} clusters are too few" if count < bounding.FEWEST else f"{len(unit):,} labels are too many"
        note = "; ".join([*notes, f"no null: {few} to permute"])
        return EffectiveJudges(names, phi, kish, eigen, none, none, none, len(unit), count, 0, note)
    null = _null(errors, cluster, draws, settings.seed)
    low, high = np.quantile(null, [(1 - settings.level) / 2, (1 + settings.level) / 2])
    p = (1 + int((null <= eigen + TINY).sum())) / (1 + draws)
    return EffectiveJudges(names, phi, kish, eigen, float(low), float(high), p, len(unit), count, draws, *notes)


def _chosen(study: Study, judges: Sequence[str] | None) -> list[Answers]:
    known = {judge.rater: judge for judge in study.judges}
    names = [name for name in known if not name.endswith(BOTH_ORDERS)] if judges is None else [*dict.fromkeys(judges)]
    for name in names:
        if name not in known:
            raise CalibrationError(
                "unknown_rater", "no judge is called '{name}'; they are {known}", name=name,
                known=', '.join(known) or 'none',
            )  # fmt: skip
    return [known[name] for name in names]


def _errors(
    study: Study, scale: Scale, judges: Sequence[Answers], settings: CalibrationSettings
) -> tuple[columns.Codes, closed_forms.Array]:
    """Units with a majority that all judges answered, by cluster; and each judge's errors, shape (judges, units)."""
    people, common = crossing.people_votes(study, scale)
    majority = left_out.majority_votes(people / common, scale, settings) * (people.sum(axis=1, keepdims=True) > 0)
    said = [crossing.votes([judge], scale, study.units, judge.scale) / judge.scale for judge in judges]
    answered = reduce(np.logical_and, [one.any(axis=1) for one in said], majority.any(axis=1))
    unit = np.flatnonzero(answered)
    unit = unit[np.argsort(study.unit_cluster[unit], kind="stable")]
    errors = [1 - (one[unit] * majority[unit]).sum(axis=1) for one in said]
    return unit.astype(np.intp), np.stack([np.zeros(len(unit)), *errors])[1:]


def _why_undefined(names: Sequence[str], errors: closed_forms.Array) -> str:
    if len(names) < 2:
        return "too_few_units: fewer than two judges"
    if not errors.shape[1]:
        return "no_shared_units: no label with a majority that all judges answered"
    stuck = [name for name, own in zip(names, errors, strict=True) if np.ptp(own) < TINY]
    return f"zero_variance: {', '.join(stuck)} always errs alike" if stuck else ""


def _effective(errors: closed_forms.Array) -> tuple[closed_forms.Array, closed_forms.Array, closed_forms.Array]:
    """phi, kish and eigen of errors of shape (..., judges, units)."""
    left = errors - errors.mean(axis=-1, keepdims=True)
    left /= np.sqrt((left * left).sum(axis=-1, keepdims=True))
    correlation = left @ np.swapaxes(left, -1, -2)
    k = errors.shape[-2]
    phi = (correlation.sum(axis=(-1, -2)) - k) / (k * (k - 1))
    shared = 1 + (k - 1) * phi
    kish = np.where(shared > TINY, k / np.where(shared > TINY, shared, 1.0), math.nan)
    return phi, kish, k / np.linalg.eigvalsh(correlation)[..., -1]


def _null(errors: closed_forms.Array, cluster: columns.Codes, draws: int, seed: int) -> closed_forms.Array:
    """`eigen` with each judge's clusters in an order of their own; they stay whole, their labels in order."""
    rng = np.random.Generator(np.random.PCG64(seed))
    sizes = columns.tally(cluster, 0).astype(np.intp)
    starts = np.cumsum(sizes) - sizes
    out = np.empty(draws)
    block = max(1, AT_ONCE // errors.size)
    for start in range(0, draws, block):
        size = min(block, draws - start), len(errors)
        order = np.array([rng.permutation(len(sizes)) for _ in range(size[0] * size[1])])
        lengths = sizes[order]
        shift = starts[order] - np.cumsum(lengths, axis=1) + lengths
        # each of these orders has all labels, so that one row of places is as long as another
        place = np.repeat(shift.ravel(), lengths.ravel()).reshape(*size, -1) + np.arange(errors.shape[1])
        out[start : start + block] = _effective(np.take_along_axis(errors[None], place, axis=2))[2]
    return out
