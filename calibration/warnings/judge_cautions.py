"""Cautions about one judge: nested labels, answers that are missing, and a baseline that a constant answer reaches."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from calibration.arithmetic import closed_forms, columns
from calibration.choosing.above import Above
from calibration.choosing.choice import Choice
from calibration.estimates import Estimate, ReportWarning
from calibration.inference.bootstrap import effective_of_sums
from calibration.settings import CalibrationSettings
from calibration.study.joining import Answers, Study
from calibration.study.label_scores import IN_WORDS
from calibration.table.verdicts import BOTH_ORDERS


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
