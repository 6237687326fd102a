"""What a reader must know before using the numbers.

Each caution with its exact condition, its numbers and the remedy.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from calibration.agreement.detection import positive_cautions
from calibration.biases.position_bias import turns_with_order
from calibration.choosing.choice import Choice
from calibration.choosing.panel_sensitivity import PanelSensitivity
from calibration.estimates import Estimate, ReportWarning
from calibration.examining.examining import named_sides
from calibration.remarks import Reason
from calibration.settings import CalibrationSettings
from calibration.study.bias import Bias
from calibration.study.crossing import shared_units
from calibration.study.joining import MANY_LABELS, Study, scale_of
from calibration.table.typed_cells import where
from calibration.warnings import comparison_cautions, judge_cautions
from calibration.warnings.sample_cautions import few_clusters, plan_cautions, sample_cautions

Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
SHARED = 30  # equal labels of two annotators, none unequal, from which on they may be one person
UNLIKELY = 0.05  # of such pairs in a panel, by chance alone
UNDEFINED_TOLD = 1.0  # % of resamples without a value beside an interval: fewer move its ends by less than is printed
Z_OF_A_COIN = 2.576  # 1 of 100 drawn orders lies further out


def cautions(
    study: Study,
    settings: CalibrationSettings,
    estimates: Sequence[Estimate],
    biases: Sequence[Bias] = (),
    choice: Choice | None = None,
    panel: PanelSensitivity | None = None,
) -> tuple[ReportWarning, ...]:
    """Every warning that applies, the general ones first; those of one rater in the order of the report's raters."""
    out = [*few_clusters(study, settings), *_kinds(study, settings), *_named(study, settings), *_people(study)]
    out += [*sample_cautions(study), *_mirrored(study), *positive_cautions(study, settings)]
    for judge in study.judges:
        out += [
            *judge_cautions.nested_labels(study, judge),
            *judge_cautions.lost_answers(study, judge, settings),
            *judge_cautions.constant_answers(judge, estimates, choice),
        ]
    out += comparison_cautions.choice_cautions(study, choice, settings, panel)
    out += comparison_cautions.reference_cautions(estimates, {judge.rater for judge in study.judges})
    out += comparison_cautions.system_cautions(estimates)
    out += plan_cautions(study, settings, estimates)
    return (*out, *_orders(study, estimates, biases), *_dashes(estimates))


def _kinds(study: Study, settings: CalibrationSettings) -> Iterator[ReportWarning]:
    if scale_of(study, study.criteria, settings) is None:
        kinds = ", ".join(f"{name} ({kind})" for name, kind in study.kinds.items())
        yield ReportWarning(
            "mixed_criteria",
            f"criteria of different kinds or scales are never pooled: {kinds}; every criterion is reported by itself",
        )
    for name, kind in study.kinds.items():
        found = scale_of(study, (name,), settings)
        if found is not None and kind != "rating" and len(found.labels) > MANY_LABELS:
            yield ReportWarning(
                "many_labels",
                f"{name} has {len(found.labels)} different answers, more than {MANY_LABELS}: no agreement is computed; "
                "code the answers into fewer labels",
                criterion=name,
            )


def _named(study: Study, settings: CalibrationSettings) -> Iterator[ReportWarning]:
    frame = study.frame
    free = study.of_kind(frame, "probe") & ~frame["criterion"].isin(list(settings.scales))
    said = free & frame["status"].eq("ok") & frame["label"].ne("not_applicable")
    if text := named_sides(frame.loc[said, ["item_id", "label"]]):
        yield ReportWarning("named_sides", text)


def _people(study: Study) -> Iterator[ReportWarning]:
    people = study.annotators
    if len(people) < 2:
        count = "one annotator" if people else "no annotator"
        text = f"{count}: how far people agree with each other is unknown; have each item labelled by two at least"
        yield ReportWarning("one_annotator", text)
    elif len(people) == 2:
        text = "2 annotators: nothing separates one unusual annotator from a hard task; add a third"
        yield ReportWarning("two_annotators", text)
    if len(people) > 200:
        return  # a crowd: pairs of people are too many, and two of its members rarely meet
    shared, alike = (np.triu(shared_units(people, alike=alike), 1) for alike in (False, True))
    for one, two in np.argwhere((shared >= SHARED) & (shared == alike) & ~_by_chance(shared, alike)):
        yield ReportWarning(
            "duplicate_raters",
            f"{people[one].rater} and {people[two].rater} gave identical labels on all {shared[one, two]} they share: "
            "check that they are two people",
            people[one].rater,
        )


def _by_chance(shared: Counts, alike: Counts) -> Flags:
    """Whether `SHARED` equal labels or more are to be expected of some pair, as often as all other pairs agree.

    `shared`, `alike`: labels that two annotators share, and those of them that are equal, above the diagonal. Where all
    others agree in everything, or share nothing, nothing says that it is chance.
    """
    others = shared.sum() - shared
    share = np.divide(alike.sum() - alike, others, out=np.ones(shared.shape), where=others != 0)
    expected = (shared >= SHARED).sum() * share**shared
    return np.asarray((share < 1) & (expected >= UNLIKELY))


def _mirrored(study: Study) -> Iterator[ReportWarning]:
    human, item = where(study.frame["rater_kind"], "human".__eq__), study.frame["item_id"].cat.codes.to_numpy()
    of_people, of_judges = np.unique(item[human]), np.unique(item[~human])
    if not len(np.setdiff1d(of_people, of_judges)) or not len(np.setdiff1d(of_judges, of_people)):
        return
    kinds = study.frame.groupby("item_id", observed=True).agg(
        {"rater_kind": ["nunique", "first"], "cluster_id": "first", "system_a": "first", "system_b": "first"}
    )
    kinds.columns = ["kinds", "kind", "cluster", "a", "b"]
    alone = kinds[(kinds["kinds"] == 1) & (kinds["b"] != "")].astype({"a": str, "b": str, "cluster": str})
    people, judges = alone[alone["kind"] == "human"], alone[alone["kind"] == "judge"]
    mirror = set(zip(judges["cluster"], judges["b"], judges["a"], strict=True))
    found = sum(key in mirror for key in zip(people["cluster"], people["a"], people["b"], strict=True))
    if found:
        yield ReportWarning(
            "mirrored_items",
            f"on {found} of the items only people answered, and only judges on their mirror image: "
            "name A and B once per pair",
        )


def _orders(study: Study, estimates: Sequence[Estimate], biases: Sequence[Bias]) -> Iterator[ReportWarning]:
    frame = study.frame
    seen = frame[["rater_id", "item_id", "run", "presentation"]]
    pairwise = seen[study.of_kind(frame, "pairwise")]
    unknown = pairwise[pairwise["presentation"] == ""]
    if len(unknown):
        counts = unknown["rater_id"].astype(str).value_counts().sort_index()
        named = ", ".join(f"{rater} {count}" for rater, count in counts.head(5).items())
        more = f" and {len(counts) - 5} more raters" if len(counts) > 5 else ""
        yield ReportWarning(
            "order_unknown",
            f"presentation is empty in {len(unknown)} of {len(pairwise)} pairwise rows ({named}{more}): position bias "
            "cannot be seen there; fill presentation with AB or BA",
        )
    # one item is shown in one order whatever the number of its criteria
    known = pairwise[pairwise["presentation"] != ""].drop_duplicates()
    for rater, shown in known.groupby("rater_id", observed=True)["presentation"]:
        share = float((shown == "AB").mean())
        drawn = Z_OF_A_COIN * math.sqrt(len(shown))  # of A first minus B first, were each order a fair coin's
        if len(shown) >= 20 and not 0.4 <= share <= 0.6 and abs(2 * share - 1) * len(shown) > drawn:
            text = f"{rater} saw A first in {100 * share:.0f} % of {len(shown)} items"
            text += ": a habit of side looks like a verdict"
            yield ReportWarning("unbalanced_order", f"{text}; balance the sides", str(rater))
    for bias in biases:
        rate = bias.estimate
        if (rate.statistic, rate.category) == ("first_rate", "all") and bias.p < 0.05:
            text = f"{rate.rater} prefers the report shown first in {100 * rate.value:.1f} % of {rate.n} decisive rows "
            text += f"(cluster t-test, p = {bias.p:.2g}); label in both orders and report both"
            yield ReportWarning("position_bias", text, rate.rater)
    for estimate in estimates:
        if estimate.statistic == "swap_consistency" and turns_with_order(estimate):
            kept = f"{100 * estimate.value:.1f} % of {estimate.n} labels made in both orders"
            text = f"{estimate.rater} keeps its verdict in {kept}"
            yield ReportWarning(
                "order_inconsistent", f"{text}; report the candidate made of both orders too", estimate.rater
            )


def _dashes(estimates: Sequence[Estimate]) -> Iterator[ReportWarning]:
    dashed: dict[str, Counter[str]] = {}
    for estimate in estimates:
        if math.isnan(estimate.value):
            reason = estimate.reason or Reason.UNKNOWN
            dashed.setdefault(estimate.rater, Counter())[f"{estimate.statistic} ({reason})"] += 1
        elif (percent := _undefined_percent(estimate)) >= UNDEFINED_TOLD:
            what, share = (
                ("interval", f"{percent:.1f}") if math.isnan(estimate.low) else ("resamples", f"{percent:.2g}")
            )
            dashed.setdefault(estimate.rater, Counter())[f"{what} of {estimate.statistic} ({share} % undefined)"] += 1
    for rater, found in dashed.items():
        names = ", ".join(f"{name} × {count}" if count > 1 else name for name, count in found.items())
        text = f"undefined for {rater}, shown as a dash or left out: {names}"
        yield ReportWarning("undefined_shown_as_dash", text, rater)


def _undefined_percent(estimate: Estimate) -> float:
    """Of its resamples, 0 to 100."""
    return float(estimate.fact(Reason.UNDEFINED_RESAMPLES, "percent") or 0)
