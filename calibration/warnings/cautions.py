"""What a reader must know before using the numbers.

Each caution with its exact condition, its numbers and the remedy.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from calibration.agreement.detection import positive_cautions
from calibration.arithmetic import closed_forms, columns
from calibration.biases.position_bias import turns_with_order
from calibration.choosing.above import Above
from calibration.choosing.choice import Choice
from calibration.choosing.panel_sensitivity import PanelSensitivity
from calibration.estimates import Estimate, ReportWarning
from calibration.examining.examining import named_sides
from calibration.inference.bootstrap import effective_of_sums
from calibration.remarks import Reason
from calibration.settings import CalibrationSettings
from calibration.study.bias import Bias
from calibration.study.crossing import shared_units
from calibration.study.joining import MANY_LABELS, Answers, Study, scale_of
from calibration.study.label_scores import IN_WORDS
from calibration.table.typed_cells import where
from calibration.table.verdicts import BOTH_ORDERS
from calibration.warnings import comparison_cautions
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
            *nested_labels(study, judge),
            *lost_answers(study, judge, settings),
            *constant_answers(judge, estimates, choice),
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


def nested_labels(study: Study, judge: Answers) -> Iterator[ReportWarning]:
    agree, n = agreement_by_cluster(study, judge)
    clusters, total = int((n > 0).sum()), float(n.sum())
    if not clusters:
        return
    made = effective_of_sums(agree, n, float(agree.sum()))
    if made.deff > 1.5 or total / clusters >= 2:
        icc = "unknown" if math.isnan(made.icc) else f"{round(made.icc, 3) + 0.0:.3f}"
        worth = f"design effect {made.deff:.2f}) are worth {made.n_eff:.0f} independent ones; "
        if math.isnan(made.deff):
            worth = "design effect unknown); "
        yield ReportWarning(
            "nested_labels",
            f"N = {total:.0f} comparisons in C = {clusters} {'cluster' if clusters == 1 else 'clusters'} "
            f"(N/C = {total / clusters:.1f}, icc {icc}, {worth}"
            "only intervals that resample clusters are shown; more clusters help where more labels in each do not",
            judge.rater,
        )


def agreement_by_cluster(study: Study, judge: Answers) -> tuple[closed_forms.Array, closed_forms.Array]:
    """Comparisons of equal label, and all comparisons, of a judge with the annotators, per cluster.

    Passes count 1 / passes.
    """
    count = len(study.clusters)
    agree, n = np.zeros(count), np.zeros(count)
    judged = columns.tally(judge.unit, study.units, judge.weight / judge.scale)
    for annotator in study.annotators:
        own = annotator.weight / annotator.scale
        same = judge.share_said(annotator.unit, annotator.label)
        cluster = study.unit_cluster[annotator.unit]
        agree += columns.tally(cluster, count, own * same)
        n += columns.tally(cluster, count, own * (judged[annotator.unit] > 0))
    return agree, n


def _asked_alike(study: Study, judge: Answers) -> bool:
    """Whether people were asked anything of the kind the judge was: of two joined studies one rates, one prefers."""
    frame = study.frame
    own, people = frame["rater_id"] == judge.rater, frame["rater_kind"] == "human"
    kinds = [{study.kinds[name] for name in frame.loc[rows, "criterion"].unique()} for rows in (own, people)]
    return not kinds[0] or bool(kinds[0] & kinds[1])


def lost_answers(study: Study, judge: Answers, settings: CalibrationSettings) -> Iterator[ReportWarning]:
    both = judge.rater.endswith(BOTH_ORDERS)
    rows = study.frame[study.frame["rater_id"] == judge.rater]
    failed = rows["status"].astype(str)[rows["status"] != "ok"].value_counts().sort_index()
    if len(failed):
        causes = ", ".join(f"{count} {status}" for status, count in failed.items())
        yield ReportWarning(
            "missing_answers",
            f"{failed.sum()} of {len(rows)} rows of {judge.rater} have no usable answer ({causes}); they are no ties: "
            "see valid_share and percent_agreement_missing_as_wrong",
            judge.rater,
        )
    total = sum(len(annotator.asked) for annotator in study.annotators)
    if not total:
        return
    if not _asked_alike(study, judge):
        return
    asked = study.among(judge.asked)
    unasked = sum(int((~asked[annotator.asked]).sum()) for annotator in study.annotators)
    if unasked > 0.05 * total and not both:
        yield ReportWarning(
            "join_loss",
            f"{unasked} of {total} annotators' rows ({100 * unasked / total:.1f} %) have no row of {judge.rater} on "
            f"the same item and criterion{_first_lost(study, judge)}: check that item_ids agree and that A and B were "
            "named once per pair",
            judge.rater,
        )
    people_dropped = sum(len(np.setdiff1d(annotator.asked, annotator.unit)) for annotator in study.annotators)
    unusable = study.among(judge.unreadable) | study.among(judge.not_applicable)
    judge_dropped = sum(int(unusable[annotator.unit].sum()) for annotator in study.annotators)
    answered = study.among(judge.unit)
    compared = sum(int(answered[annotator.by_unit[0]].sum()) for annotator in study.annotators)
    ties = 0.0
    if settings.ties == "exclude":
        ties = _tied(study, judge)
    kept = (compared - ties) / total
    if kept < 0.95:
        yield ReportWarning(
            "labels_dropped",
            f"{100 * kept:.1f} % of the annotators' {total} rows are compared with {judge.rater}; {unasked} have "
            f"no row of the judge, {judge_dropped} an unusable or not_applicable answer of it, {people_dropped} one of "
            f"the annotator, {ties:.0f} dropped as ties: say so beside the value",
            judge.rater,
        )


def _first_lost(study: Study, judge: Answers) -> str:
    lost = np.setdiff1d(np.concatenate([annotator.asked for annotator in study.annotators]), judge.asked)
    row = study.frame[study.frame["unit"] == lost[0]].iloc[0]
    return f" (first: item '{row['item_id']}', criterion '{row['criterion']}')"


def _tied(study: Study, judge: Answers) -> float:
    """Comparisons with a tie on either side, passes counting 1 / passes."""
    if "tie" not in study.labels:
        return 0.0
    tie = study.labels.index("tie")
    share = columns.tally(judge.unit, study.units, judge.weight / judge.scale * (judge.label == tie))
    judged = columns.tally(judge.unit, study.units) > 0
    return sum(
        float(
            (
                annotator.weight
                / annotator.scale
                * np.where(annotator.label == tie, judged[annotator.unit], share[annotator.unit])
            ).sum()
        )
        for annotator in study.annotators
    )


def constant_answers(judge: Answers, estimates: Sequence[Estimate], choice: Choice | None) -> Iterator[ReportWarning]:
    """`baseline_not_beaten` and `skewed_reference`, as the choice found them, and `pooled_criteria`."""
    own = {
        estimate.statistic: estimate
        for estimate in estimates
        if (estimate.rater, estimate.reference) == (judge.rater, "each_annotator")
        and estimate.criterion == estimate.category == "all"
    }
    candidates = choice.candidates if choice else ()
    found = next((candidate.constant for candidate in candidates if candidate.judge == judge.rater), None)
    if found is not None and not math.isnan(found.value):
        yield from _no_better_than_constant(found)
    pooled, within = own.get("cohen_kappa"), own.get("stratified_kappa")
    if pooled and within and abs(pooled.value - within.value) > 0.1:
        yield ReportWarning(
            "pooled_criteria",
            f"kappa is {pooled.value:.2f} over all criteria together and {within.value:.2f} within criteria: part of "
            "it is knowledge of the criteria's base rates; report both",
            judge.rater,
        )


def _no_better_than_constant(found: Above) -> Iterator[ReportWarning]:
    if found.outcome != "above" and not (found.note and found.value > found.bound):  # too few say nothing either way
        told = "" if math.isnan(found.p_adjusted) else f" (one-sided p = {found.p_adjusted:.2g} over all judges tried)"
        why = "it has not shown that it reads the reports"
        if not found.can_be_shown:
            why = f"at this look, of {found.clusters} clusters, no p of its test would be small enough"
        yield ReportWarning(
            "baseline_not_beaten",
            f"agreement {found.value:.3f} is not shown to be above {found.bound:.3f}, which {IN_WORDS} reaches{told}: "
            f"{why}",
            found.judge,
        )
    if found.bound >= 0.9:
        yield ReportWarning(
            "skewed_reference",
            f"always giving the same answer agrees in {found.bound:.3f}: high agreement says little; look at kappa",
            found.judge,
        )
