"""The statistics of count tables: which ones a kind of labels has, how each is coded, when its value says nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from calibration.bootstrap import wilson_effective
from calibration.engine import closed_forms, moments
from calibration.engine.closed_forms import Array
from calibration.engine.crossing import Comparison
from calibration.engine.joining import Scale
from calibration.engine.unit_disagreement import ratio_distance
from calibration.metrics import METRICS
from calibration.reading.columns import Codes
from calibration.scores.pairwise import SCORES, SWAP
from calibration.settings import CalibrationSettings

CODING = {
    "cohen_kappa": "labels A, tie and B are categories, A and B as named when the pair was made",
    "cohen_kappa_symmetrised": "every row and its mirrored copy: no naming of A and B changes it",
    "krippendorff_alpha_nominal": "labels are categories without order",
    "pearson": "coded A = 1, tie = .5, B = 0",
    "spearman": "coded A = 1, tie = .5, B = 0; midranks",
    "kendall_tau_b": "coded A = 1, tie = .5, B = 0",
}
CORRELATIONS = ("pearson", "spearman", "kendall_tau_b")
WEIGHTED = ("cohen_kappa_linear", "cohen_kappa_quadratic")
# of two single raters only these are drawn: forty-five pairs of ten judges would cost as much as all else together
BRIEF = (
    "chance_agreement",
    "cohen_kappa",
    "cohen_kappa_symmetrised",
    *WEIGHTED,
    "krippendorff_alpha_interval",
    *CORRELATIONS[:2],
    "icc_2_1",
)


@dataclass(frozen=True)
class Summed:
    """What every statistic is evaluated on: shape (block, comparisons, K, K) each, added up over clusters."""

    tables: Array
    coincidences: Array
    scales: Array  # of the coincidences, shape (comparisons,)
    table_scales: Array  # of the tables, shape (comparisons,)
    by_system: Array | None = None  # the tables with A and B replaced by system names


Statistic = Callable[[Summed], Array]


def statistics_of(scale: Scale, used: Codes, by_system: bool = False) -> dict[str, Statistic]:
    """The bootstrapped statistics of a kind of labels. `used`: positions of the labels that occur or are declared."""
    out: dict[str, Statistic] = {}
    if scale.kind == "pairwise":
        swap = SWAP[: len(scale.labels)]
        out["percent_agreement_half_credit"] = lambda s: closed_forms.half_credit(s.tables[..., :3, :3], SCORES)
        out["cohen_kappa_symmetrised"] = lambda s: closed_forms.kappa(closed_forms.symmetrised(s.tables, swap))
        if by_system:
            out["cohen_kappa_by_system"] = lambda s: closed_forms.kappa(np.asarray(s.by_system))
    out["chance_agreement"] = lambda s: closed_forms.chance(s.tables)
    out["cohen_kappa"] = lambda s: closed_forms.kappa(s.tables)
    if scale.kind != "rating":
        for metric in METRICS:
            if metric.of_table is not None and scale.kind in metric.kinds:
                out[metric.name] = partial(_of_used, used=used, of_table=metric.of_table)
    return out | _of_numbers(scale)


def _of_used(s: Summed, used: Codes, of_table: Callable[[Array], Array]) -> Array:
    return of_table(s.tables[..., used, :][..., :, used])


def _of_numbers(scale: Scale) -> dict[str, Statistic]:
    """Statistics that need an order of the labels or their numbers; not_applicable has none."""
    if scale.numbers is None:
        return {"krippendorff_alpha_nominal": lambda s: closed_forms.alpha(s.coincidences, None, s.scales)}
    size, numbers = len(scale.numbers), scale.numbers - scale.numbers[0]  # an offset would only cost digits
    out: dict[str, Statistic] = {}
    if scale.declared and scale.kind != "pairwise":
        for form in ("linear", "quadratic"):
            weights = closed_forms.disagreement(size, form)
            out[f"cohen_kappa_{form}"] = partial(_weighted, size=size, weights=weights)
    if scale.kind == "rating":
        out["krippendorff_alpha_interval"] = partial(
            _alpha, size=size, distance=np.subtract.outer(numbers, numbers) ** 2
        )
        if scale.numbers.min() >= 0:
            distance = ratio_distance(scale.numbers, scale.numbers[:, None])
            out["krippendorff_alpha_ratio"] = partial(_alpha, size=size, distance=distance)
        for form in ("ICC(2,1)", "ICC(3,1)"):
            out[moments.icc_name(form)] = partial(_icc, size=size, numbers=numbers, form=form)
    else:
        out["krippendorff_alpha_nominal"] = lambda s: closed_forms.alpha(s.coincidences, None, s.scales)
    if scale.declared and scale.kind != "pairwise":
        out["krippendorff_alpha_ordinal"] = partial(_alpha, size=size, distance=None)
    if scale.kind != "probe":
        out["pearson"] = lambda s: closed_forms.pearson(s.tables[..., :size, :size], numbers, numbers)
    out["spearman"] = lambda s: closed_forms.spearman(s.tables[..., :size, :size])
    out["kendall_tau_b"] = lambda s: closed_forms.kendall(s.tables[..., :size, :size])
    return out


def _weighted(s: Summed, size: int, weights: Array | None) -> Array:
    return closed_forms.kappa(s.tables[..., :size, :size], weights)


def _alpha(s: Summed, size: int, distance: Array | None) -> Array:
    """Alpha with these distances; None is ordinal, whose distances are those of each resample's own margins."""
    ordered = s.coincidences[..., :size, :size]
    return closed_forms.alpha(
        ordered, closed_forms.ordinal_distance(ordered) if distance is None else distance, s.scales
    )


def _icc(s: Summed, size: int, numbers: Array, form: str) -> Array:
    six = moments.moments_of_table(s.tables[..., :size, :size] / s.table_scales[:, None, None], numbers)
    return moments.icc_of_sums(moments.two_rater_sums(six), form)


def why_not_shown(name: str, table: Array, value: float) -> str:
    """Why this number is a dash: undefined, or defined and empty of information. "" when it is shown.

    `table`: shape (K, K), in comparisons.
    """
    total = float(table.sum())
    if not total:
        return "no_items"
    if name in CORRELATIONS or name.startswith("icc"):
        if total < 2:
            return "too_few_units"
        points = total == 2 and name in CORRELATIONS
        return "zero_variance" if math.isnan(value) else "two_points" if points else ""
    constant = min(np.count_nonzero(table.sum(axis=0)), np.count_nonzero(table.sum(axis=1))) == 1
    if math.isnan(value):
        if name in ("gwet_ac1", "pabak"):
            return "one_category_scale"
        several = np.count_nonzero(table.sum(axis=0) + table.sum(axis=1)) > 1
        return "zero_variance" if constant and several else "one_category"
    if name.startswith("krippendorff_alpha") and total == 1:
        return "one_unit"
    return "constant_rater" if constant and name in ("cohen_kappa", "cohen_kappa_by_system", *WEIGHTED) else ""


def note_of(name: str, scale: Scale, used: Codes, one: Comparison, table: Array) -> str:
    """How the statistic codes the labels, and what must be known beside it. `table`: shape (K, K), in comparisons."""
    if name == "chance_agreement":
        return margins_note(scale, used, one, table)
    if name in ("gwet_ac1", "pabak"):
        labels = ", ".join(scale.labels[index] for index in used)
        return f"secondary, over the labels {labels}: high for any rater that always gives the prevalent one"
    if name == "balanced_accuracy":
        return f"mean over the labels of {one.reference} of the share {one.rater} gives too"
    if scale.kind == "rating" and (name in CORRELATIONS or name.startswith("icc")):
        return "over scores of single reports"
    return CODING.get(name, "") if scale.kind == "pairwise" else ""


def margins_note(scale: Scale, used: Codes, one: Comparison, table: Array) -> str:
    """Both raters' shares of each label, among the rows compared."""
    if not table.sum() or len(used) > 6:
        return ""
    told = []
    for name, counts in ((one.rater, table.sum(axis=1)), (one.reference, table.sum(axis=0))):
        shares = ", ".join(f"{scale.labels[index]} {100 * counts[index] / table.sum():.1f} %" for index in used)
        told.append(f"{name} says {shares}")
    return "; ".join(told)


def perfect_bound(name: str, table: Array, used: Codes, settings: CalibrationSettings) -> float:
    """(p_low - Pe) / (1 - Pe) with the Wilson bound of agreement; nan for statistics that have no such form.

    `table`: shape (clusters, K, K).
    """
    nominal = name.startswith(("cohen_kappa", "percent_agreement", "krippendorff_alpha_nominal", "gwet_ac1", "pabak"))
    if not nominal or name in WEIGHTED:
        return math.nan
    low, _ = wilson_effective(closed_forms.diagonal(table), table.sum(axis=(-2, -1)), settings.level)
    if name.startswith("percent_agreement"):
        return low
    summed = table.sum(axis=0)
    if name == "pabak":
        return (len(used) * low - 1) / (len(used) - 1)
    if name == "gwet_ac1":
        shares = (summed.sum(axis=0) + summed.sum(axis=1)) / (2 * summed.sum())
        expected = float((shares * (1 - shares)).sum() / (len(used) - 1))
    else:
        pooled = closed_forms.both_ways(summed) if name.startswith("kripp") else summed
        expected = float(closed_forms.chance(pooled))
    return (low - expected) / (1 - expected) if expected < 1 else math.nan
