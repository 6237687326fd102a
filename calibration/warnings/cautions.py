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
from calibration.estimates import Estimate, ReportWarning, first_few
from calibration.examining.examining import named_sides
from calibration.inference.bootstrap import effective_of_sums
from calibration.remarks import Reason
from calibration.settings import CalibrationSettings
from calibration.study.bias import Bias
from calibration.study.crossing import shared_units
from calibration.study.joining import MANY_LABELS, Answers, Study, scale_of
from calibration.table.typed_cells import where
from calibration.table.verdicts import BOTH_ORDERS
from calibration.warnings import comparison_cautions
from calibration.warnings.sample_cautions import asked_of_people, few_clusters, plan_cautions, sample_cautions

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
    tried: Study | None = None,
) -> tuple[ReportWarning, ...]:
    """Every warning that applies, the general ones first; those of one rater in the order of the report's raters.

    `tried`: what the choice is about where that is not the study itself, but preferences derived from its scores.
    """
    tried = tried or study
    out = [*few_clusters(study, settings), *_kinds(study, settings), *_named(study, settings), *_people(study)]
    out += [*sample_cautions(study), *_mirrored(study), *positive_cautions(study, settings)]
    for judge in study.judges:
        out += [
            *nested_labels(study, judge),
            *lost_answers(study, judge, settings),
            *constant_answers(judge, estimates, choice),
        ]
    asked = {judge.rater for judge in study.judges}
    for judge in tried.judges:
        out += constant_answers(judge, estimates, choice) if judge.rater not in asked else ()
    out += comparison_cautions.choice_cautions(tried, choice, settings, panel)
    out += comparison_cautions.reference_cautions(estimates, asked)
    out += comparison_cautions.system_cautions(estimates)
    out += plan_cautions(study, settings, estimates, tried)
    is_joined = len({*study.kinds.values()}) > 1  # people were not asked what judges were, nor judges what they were
    dashed = [one for one in estimates if not (is_joined and one.reason == Reason.NO_ITEMS)]
    return (*out, *_orders(study, estimates, biases), *_dashes(dashed))


def _kinds(study: Study, settings: CalibrationSettings) -> Iterator[ReportWarning]:
    if scale_of(study, asked := asked_of_people(study), settings) is None:
        yield ReportWarning("mixed_criteria", {"kinds": [f"{name} ({study.kinds[name]})" for name in asked]})
    for name, kind in study.kinds.items():
        found = scale_of(study, (name,), settings)
        if found is not None and kind != "rating" and len(found.labels) > MANY_LABELS:
            yield ReportWarning("many_labels", {"answers": len(found.labels), "most": MANY_LABELS}, criterion=name)


def _named(study: Study, settings: CalibrationSettings) -> Iterator[ReportWarning]:
    frame = study.frame
    free = study.of_kind(frame, "probe") & ~frame["criterion"].isin(list(settings.scales))
    said = free & frame["status"].eq("ok") & frame["label"].ne("not_applicable")
    if words := named_sides(frame.loc[said, ["item_id", "label"]]):
        yield ReportWarning("named_sides", {"words": words})


def _people(study: Study) -> Iterator[ReportWarning]:
    people = study.annotators
    if len(people) < 2:
        yield ReportWarning("one_annotator", {"who": "one annotator" if people else "no annotator"})
    elif len(people) == 2:
        yield ReportWarning("two_annotators")
    if len(people) > 200:
        return  # a crowd: pairs of people are too many, and two of its members rarely meet
    shared, alike = (np.triu(shared_units(people, alike=alike), 1) for alike in (False, True))
    for one, two in np.argwhere((shared >= SHARED) & (shared == alike) & ~_by_chance(shared, alike)):
        facts = {"twin": people[two].rater, "shared": int(shared[one, two])}
        yield ReportWarning("duplicate_raters", facts, people[one].rater)


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
        yield ReportWarning("mirrored_items", {"items": found})


def _orders(study: Study, estimates: Sequence[Estimate], biases: Sequence[Bias]) -> Iterator[ReportWarning]:
    frame = study.frame
    seen = frame[["rater_id", "item_id", "run", "presentation"]]
    pairwise = seen[study.of_kind(frame, "pairwise")]
    unknown = pairwise[pairwise["presentation"] == ""]
    if len(unknown):
        counts = unknown["rater_id"].astype(str).value_counts().sort_index()
        named = first_few([f"{rater} {count}" for rater, count in counts.items()], 5)
        yield ReportWarning("order_unknown", {"unknown": len(unknown), "rows": len(pairwise), "named": named})
    # one item is shown in one order whatever the number of its criteria
    known = pairwise[pairwise["presentation"] != ""].drop_duplicates()
    for rater, shown in known.groupby("rater_id", observed=True)["presentation"]:
        share = float((shown == "AB").mean())
        drawn = Z_OF_A_COIN * math.sqrt(len(shown))  # of A first minus B first, were each order a fair coin's
        if len(shown) >= 20 and not 0.4 <= share <= 0.6 and abs(2 * share - 1) * len(shown) > drawn:
            yield ReportWarning("unbalanced_order", {"percent": 100 * share, "items": len(shown)}, str(rater))
    for bias in biases:
        rate = bias.estimate
        if (rate.statistic, rate.category) == ("first_rate", "all") and bias.p < 0.05:
            facts = {"percent": 100 * rate.value, "rows": rate.n, "p": bias.p}
            yield ReportWarning("position_bias", facts, rate.rater)
    for estimate in estimates:
        if estimate.statistic == "swap_consistency" and turns_with_order(estimate):
            facts = {"percent": 100 * estimate.value, "labels": estimate.n}
            yield ReportWarning("order_inconsistent", facts, estimate.rater)


def _dashes(estimates: Sequence[Estimate]) -> Iterator[ReportWarning]:
    dashed: dict[str, Counter[tuple[str, str, str | float]]] = {}
    for estimate in estimates:
        if (lack := _lack(estimate)) is not None:
            dashed.setdefault(estimate.rater, Counter())[lack] += 1
    for rater, found in dashed.items():
        lacking = [
            {"statistic": statistic, what: why, "count": count if count > 1 else None}
            for (statistic, what, why), count in found.items()
        ]
        yield ReportWarning("undefined_shown_as_dash", {"lacking": lacking}, rater)


def _lack(estimate: Estimate) -> tuple[str, str, str | float] | None:
    """The statistic, and the reason of its dash or the percentage of its resamples that is undefined, as printed."""
    if math.isnan(estimate.value):
        return estimate.statistic, "reason", str(estimate.reason or Reason.UNKNOWN)
    percent = float(estimate.fact(Reason.UNDEFINED_RESAMPLES, "percent") or 0)
    if percent < UNDEFINED_TOLD:
        return None
    if math.isnan(estimate.low):
        return estimate.statistic, "no_interval", round(percent, 1)
    return estimate.statistic, "left_out", float(f"{percent:.2g}")


def nested_labels(study: Study, judge: Answers) -> Iterator[ReportWarning]:
    agree, n = agreement_by_cluster(study, judge)
    clusters, total = int((n > 0).sum()), float(n.sum())
    if not clusters:
        return
    made = effective_of_sums(agree, n, float(agree.sum()))
    if made.deff > 1.5 or total / clusters >= 2:
        facts = {"comparisons": total, "clusters": clusters, "each": total / clusters}
        found = {"icc": round(made.icc, 3) + 0.0, "deff": float(made.deff), "worth": float(made.n_eff)}
        yield ReportWarning("nested_labels", facts | found, judge.rater)


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


def _comparable(study: Study, judge: Answers) -> Flags:
    """Which units people could share with the judge, shape (units,): asked of the criterion, or alike of the item.

    Of joined studies one rates and one prefers, or each rates on criteria of its own: neither is a loss of the join.
    """
    item = np.zeros(study.units, np.intp)
    item[study.frame["unit"]] = study.frame["item_id"].cat.codes
    criterion = study.unit_criterion
    kind = np.unique([study.kinds[name] for name in study.criteria], return_inverse=True)[1][criterion]
    both = item * len(study.criteria) + kind
    return np.asarray(np.isin(criterion, criterion[judge.asked]) | np.isin(both, both[judge.asked]))


def lost_answers(study: Study, judge: Answers, settings: CalibrationSettings) -> Iterator[ReportWarning]:
    both = judge.rater.endswith(BOTH_ORDERS)
    rows = study.frame[study.frame["rater_id"] == judge.rater]
    failed = rows["status"].astype(str)[rows["status"] != "ok"].value_counts().sort_index()
    if len(failed):
        causes = [f"{count} {status}" for status, count in failed.items()]
        facts = {"failed": int(failed.sum()), "rows": len(rows), "causes": causes}
        yield ReportWarning("missing_answers", facts, judge.rater)
    could = _comparable(study, judge)
    total = sum(int(could[annotator.asked].sum()) for annotator in study.annotators)
    if not total:
        return
    lost = could & ~study.among(judge.asked)
    unasked = sum(int(lost[annotator.asked].sum()) for annotator in study.annotators)
    if unasked > 0.05 * total and not both:
        facts = {"lost": unasked, "rows": total, "percent": 100 * unasked / total}
        yield ReportWarning("join_loss", facts | _first_lost(study, lost), judge.rater)
    people_dropped = sum(
        int(could[np.setdiff1d(annotator.asked, annotator.unit)].sum()) for annotator in study.annotators
    )
    unusable = study.among(judge.unreadable) | study.among(judge.not_applicable)
    judge_dropped = sum(int(unusable[annotator.unit].sum()) for annotator in study.annotators)
    answered = study.among(judge.unit)
    compared = sum(int(answered[annotator.by_unit[0]].sum()) for annotator in study.annotators)
    ties = 0.0
    if settings.ties == "exclude":
        ties = _tied(study, judge)
    kept = (compared - ties) / total
    if kept < 0.95:
        dropped = {"judge_dropped": judge_dropped, "people_dropped": people_dropped, "ties": ties}
        facts = {"percent": 100 * kept, "rows": total, "unasked": unasked}
        yield ReportWarning("labels_dropped", facts | dropped, judge.rater)


def _first_lost(study: Study, lost: Flags) -> dict[str, str]:
    asked = np.unique(np.concatenate([annotator.asked for annotator in study.annotators]))
    row = study.frame[study.frame["unit"] == asked[lost[asked]][0]].iloc[0]
    return {"first_item": str(row["item_id"]), "first_criterion": str(row["criterion"])}


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
    found = next((candidate for candidate in candidates if candidate.judge == judge.rater), None)
    if found is not None and not math.isnan(found.constant.value):
        yield from _no_better_than_constant(found.constant, found.is_by_distance)
    pooled, within = own.get("cohen_kappa"), own.get("stratified_kappa")
    if pooled and within and abs(pooled.value - within.value) > 0.1:
        yield ReportWarning("pooled_criteria", {"pooled": pooled.value, "within": within.value}, judge.rater)


def _no_better_than_constant(found: Above, near: bool) -> Iterator[ReportWarning]:
    if found.outcome != "above" and not (found.note and found.value > found.bound):  # too few say nothing either way
        facts = {"near" if near else "agreement": found.value, "bound": found.bound, "p": found.p_adjusted}
        at_this_look = {} if found.can_be_shown else {"clusters": found.clusters}
        yield ReportWarning("baseline_not_beaten", facts | at_this_look, found.judge)
    if found.bound >= 0.9:
        yield ReportWarning("skewed_reference", {"bound": found.bound}, found.judge)
