"""The tables of the published studies, each in its own form with our intervals and counts beside it, by its layout."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from calibration.agreement import score_preferences
from calibration.errors import CalibrationError
from calibration.remarks import remarks_of
from calibration.results import CalibrationReport, Estimate
from calibration.systems.ranking import FEW_SYSTEMS
from calibration.table.verdicts import BOTH_ORDERS
from calibration.totals import inter_human, total_scores
from calibration.totals.topic_totals import FEWEST_REPORTS, disputed_topics, reference_in_views, topic_agreement
from exports import tables
from exports.cells import Cell
from exports.errors import ExportError
from exports.sheets.agreement import Found, baseline
from exports.tables import AMONG, COUNTS, PEOPLE, Column, Table
from exports.words.notes import methods, origin, remarks

GYM_COLUMNS = (
    Column("score", "Score"),
    Column("judge", "Judge"),
    Column("cohen_kappa", "Cohen's κ", "κ"),
    Column("cohen_kappa_symmetrised", "κ, symmetrised", "κ-s"),
    Column("kept", "Kept (k of n)", "k of n"),
    Column("kept_share", "Kept share", "kept"),
    *COUNTS,
)


def deepresearchgym_table(verdicts: pd.DataFrame, report: CalibrationReport) -> Table:
    """One row per score and judge, then the annotators among themselves.

    Raises `wrong_task` unless people answer one pairwise criterion and some judge has scores or preferences.
    """
    verdicts, as_shown = score_preferences.named_as_shown(verdicts)
    try:
        people = score_preferences.peoples_preferences(verdicts, report.settings)
        agreements = score_preferences.preference_agreement(verdicts, report.settings)
    except CalibrationError as error:
        raise ExportError("wrong_task", f"preset deepresearchgym: {error.text}") from None
    if not agreements and report.labels.judges:
        raise ExportError(
            "wrong_task",
            "preset deepresearchgym: no judge scored both reports of a pair that people compared; give judges' rows "
            "with system_a and the topic as cluster_id, as the people's rows name them",
        )
    among = inter_human.mean_kappa_of_people(people, report.settings)
    rows: list[tuple[Cell, ...]] = [_gym_row(agreement) for agreement in agreements]
    rows.append((str(people["criterion"].iloc[0]), AMONG, among, None, None, None, among.n, among.clusters))
    stated = [f"{agreement.judge} on {agreement.score}" for agreement in agreements if not agreement.derived]
    given = f"Preferences that stand in the data as such, not derived here from scores: {', '.join(stated)}."
    named = "as named when a pair was made"
    if as_shown:
        named = "what stood first and second, for all annotators of a pair saw it in one order"
    reading = (
        "Label agreement over pairs of systems inside one topic: a person's preference against the sign of the "
        "difference of two scores (no margin), by Cohen's κ. Ties on either side are dropped: kept k of n.",
        "Annotators' rows are pooled, so that a topic counts as often as people answered it, as in the paper, which "
        "prints no intervals; there all annotators of a topic saw one order.",
        *([given] if stated else []),
        f"{AMONG.capitalize()}: unweighted mean of κ over pairs of annotators, as in the paper; a tie is a label there."
        " It is no ceiling of the rows above: their reference is every annotator, pooled.",
        f"A and B are {named}; κ, symmetrised, does not depend on that naming. n counts preferences compared, "
        f"clusters the {clusters_word(report)}; a preference is lost where the judge has no score of a report or "
        "either side ties.",
    )
    notes = notes_below(report, GYM_COLUMNS, rows, reading, names=2)
    return Table(
        "preset_deepresearchgym", "Judges in the form of DeepResearchGym, Table 3", GYM_COLUMNS, tuple(rows), notes
    )


def _gym_row(agreement: score_preferences.PreferenceAgreement) -> tuple[Cell, ...]:
    kept = f"{agreement.kappa.n:,} of {agreement.kept.n:,}"
    kappas = agreement.kappa, agreement.symmetrised
    return (agreement.score, agreement.judge, *kappas, kept, agreement.kept, kappas[0].n, kappas[0].clusters)


DR3_COLUMNS = (
    Column("rater", "Rater"),
    Column("pearson", "Pearson r", "r"),
    Column("spearman", "Spearman ρ", "ρ"),
    Column("rank_agreement_across_items", "Pairwise agreement", "PA"),
    Column("rank_agreement_across_items_exclude_ties", "Pairwise agreement, ties excluded", "PA-"),
    Column("cost", "Cost per report (USD)", "USD"),
    Column("sd_over_runs", "SD over runs", "SD"),
    *COUNTS,
)
RUNS = "SD over runs: of a report's total (n - 1), mean over reports that were run twice or more."
TWO_BY_TWO, WITH_MEAN = "inter-human, two by two", "inter-human, each with the mean of the others"


def dr3_eval_table(verdicts: pd.DataFrame, report: CalibrationReport) -> Table:
    """One row per judge, then people by one construction, or two where there are three. Raises `wrong_task`."""
    refuse_other_kinds("dr3_eval", report, "rating", "correlations of scores of single reports")
    own = own_statistics(report)
    rows = [
        _dr3_judge(agreement, own, verdicts) for agreement in total_scores.total_agreement(verdicts, report.settings)
    ]
    several = len(report.labels.annotators) > 2
    for name, construction in ((TWO_BY_TWO, "pairs"), (WITH_MEAN, "others_mean"))[: 1 + several]:
        people = inter_human.score_correlations_of_people(verdicts, report.settings, construction)
        rows.append((name, *people, None, None, None, people[0].n, people[0].clusters))
    optional = ("cost", "sd_over_runs", "rank_agreement_across_items_exclude_ties")
    columns, cells = kept_columns(DR3_COLUMNS, rows, optional)
    reading = (
        "Pairwise agreement is rank agreement across items: the share of all pairs of reports in the sample that judge "
        "and people put in the same order; strict: a tie on either side is disagreement. Beside it such pairs are "
        "dropped.",
        "A total is the mean of all criteria asked of a report, and runs of a judge are averaged. A judge is compared "
        "with the mean total of the annotators who have one (the paper: of four). There a failed score enters as 0 or "
        "-1; here a total that lacks a criterion is left out. The paper prints no intervals.",
        "The paper does not say how its inter-human row was made. Here it is the mean over pairs of annotators"
        + (", and in a second row over annotators, each with the mean of the others" if several else "")
        + "; a judge's row has the mean of all of them as its reference, so that it is no ceiling.",
        *(RUNS for column in columns if column.key == "sd_over_runs"),
        "n counts reports (in rows of people: reports two people scored, part by part), clusters their "
        f"{clusters_word(report)}. Intervals, pairs without ties, n and clusters are ours.",
    )
    notes = notes_below(report, columns, cells, reading)
    return Table("preset_dr3_eval", "Judges in the form of DR3-Eval, Table 4", columns, cells, notes)


def _dr3_judge(
    agreement: total_scores.TotalAgreement, own: Mapping[tuple[str, str], Estimate], verdicts: pd.DataFrame
) -> tuple[Cell, ...]:
    cost = _of_a_report(own.get((agreement.judge, "cost_per_item")), verdicts, agreement.judge, "")
    measured = agreement.pearson, agreement.spearman, agreement.ordered, agreement.ordered_without_ties
    return (agreement.judge, *measured, cost, agreement.run_sd, agreement.pearson.n, agreement.pearson.clusters)


RACE_COLUMNS = (
    Column("judge", "Judge"),
    Column("overall", "Overall", "all"),
    Column("par", "PAR"),
    Column("opc", "OPC"),
    Column("fap", "FAP"),
    Column("fas", "FAS"),
    Column("cost", "Cost per report (USD)", "USD"),
    Column("n", "Pairs of systems", "n"),
    Column("topics_kept", "Topics in FAP", "T"),
    Column("clusters", "Clusters", "C"),
)


def race_table(verdicts: pd.DataFrame, report: CalibrationReport) -> Table:
    """One row per judge, then the annotators' PAR. Raises `wrong_task` unless all labels are scores."""
    refuse_other_kinds("race", report, "rating", "correlations of scores of single reports")
    settings, own = report.settings, own_statistics(report)
    rows: list[tuple[Cell, ...]] = []
    in_views = reference_in_views(verdicts, settings) if "beside" in verdicts else ""
    for agreement in topic_agreement(verdicts, settings):
        four = (agreement.overall, agreement.ordered, agreement.systems, agreement.pearson, agreement.spearman)
        counts = agreement.ordered.n, agreement.pearson.n, agreement.overall.clusters
        cost = _of_a_report(own.get((agreement.judge, "cost_per_item")), verdicts, agreement.judge, in_views)
        rows.append((agreement.judge, *map(percent, four), cost, *counts))
    people = inter_human.rank_agreement_of_people(verdicts, settings)
    rows.append((AMONG, None, percent(people), None, None, None, None, people.n, None, people.clusters))
    columns, cells = kept_columns(RACE_COLUMNS, rows, ("cost",))
    notes = notes_below(report, columns, cells, _race_reading(verdicts, report, in_views))
    return Table("preset_race", "Judges in the form of DeepResearch Bench's README", columns, cells, notes)


def _race_reading(verdicts: pd.DataFrame, report: CalibrationReport, in_views: str) -> list[str]:
    """`in_views`: the reference that is in every view, "" where there is none."""
    disputed = disputed_topics(verdicts, report.settings)
    systems = len(report.labels.systems or ()) - bool(in_views)
    few = f", fewer than {FEW_SYSTEMS}: it is no correlation over reports" if systems < FEW_SYSTEMS else ""
    return [
        "In percent. PAR is rank agreement within a topic: of all pairs of systems of one topic, pooled, the share "
        "that judge and people put in the same order; strict: a tie on either side is disagreement.",
        f"OPC: Pearson of the systems' mean totals ({systems} systems{few}). FAP, FAS: Pearson and Spearman of the "
        "totals inside a topic, mean over topics. Overall: mean of the four, as in the paper.",
        f"FAP and FAS leave out {len(disputed)} of {report.labels.clusters} topics on which people disagree: ICC(1,1) "
        "of the annotators' totals below 0. This is our reading of the paper's filter and not confirmed; so is that of "
        f"OPC, FAP and FAS. Topics with fewer than {FEWEST_REPORTS} reports, or a side that never varies, have none.",
        f"A total is {_total(verdicts, in_views)}; people's is the mean over annotators. In the paper a report that "
        "fails disappears; here it is left out of that judge's row only, and its n says so.",
        f"{AMONG.capitalize()}: pairs of systems that two annotators put in the same order, all pairs of annotators "
        "pooled; a judge's row has their mean as reference, so this is no ceiling.",
        f"n counts pairs of systems, clusters are the {clusters_word(report)}. Intervals and counts are ours.",
    ]


def _of_a_report(cost: Estimate | None, verdicts: pd.DataFrame, judge: str, reference: str) -> Estimate | None:
    """What a judge's total of one report costs: every run, of which it is the mean, every order of its view, and the
    half of a call that is on the reference beside it."""
    own = verdicts[verdicts["rater_id"] == judge]
    runs = max(1, int(own["run"].nunique())) if "run" in own else 1
    orders = int(own.groupby(["item_id", "criterion", "run"], dropna=False).size().max()) if "run" in own else 1
    times = runs * orders * (2 if reference else 1)
    if cost is None or times < 2:
        return cost
    notes = [f"{runs} runs, of which it is the mean"] * (runs > 1) + [f"{orders} orders of each view"] * (orders > 1)
    notes += ["with the reference beside it"] * bool(reference)
    return replace(cost.times(times), remarks=remarks_of(cost.remarks, notes))


def _total(verdicts: pd.DataFrame, reference: str) -> str:
    if "weight" not in verdicts and "beside" not in verdicts:
        return "the mean of the criteria asked of a report, here without the paper's weights for each topic"
    mean = "mean of the criteria asked of a report" + (" by the topic's weights" if "weight" in verdicts else "")
    if "beside" not in verdicts:
        return f"the {mean}"
    left_out = f", and {reference}, which stands in every view, is no system compared" if reference else ""
    return f"t / (t + r) of the {mean}, t, and of the report rated in the same view, r, as in the paper{left_out}"


MISSING, BASELINE = "par_missing_as_wrong", "baseline"
CONSTANT = (
    "The commonest answer is what a judge reaches that always gives it and does not read; the best of several, so no "
    "interval."
)
WLC_COLUMNS = (
    Column("judge", "Judge"),
    Column("par", "PAR (%)", "PAR"),
    Column("cost", "Cost per article (USD)", "USD"),
    Column(MISSING, "PAR, unusable as wrong (%)", "PAR-"),
    Column("cohen_kappa_symmetrised", "κ, symmetrised", "κ-s"),
    Column(BASELINE, "Commonest answer (%)", "common"),
    Column("valid_share", "Valid answers", "valid"),
    *COUNTS,
)


def wlc_table(verdicts: pd.DataFrame, report: CalibrationReport) -> Table:
    """One row per judge, in the order of the report, then the annotators. Raises `wrong_task` unless all are pairs."""
    refuse_other_kinds("wlc", report, "pairwise", "agreement of labels on pairs")
    pooled, own = tables.pooled_in(report), own_statistics(report)
    rows: list[tuple[Cell, ...]] = []
    for judge in tables.compared_with_people(pooled):
        estimates = tables.by_statistic(pooled, judge, PEOPLE)
        row = judge, estimates["percent_agreement"], own.get((judge, "cost_per_item")), own.get((judge, "valid_share"))
        rows.append(_wlc_row(*row, estimates))
    people = inter_human.label_agreement_of_people(verdicts, replace(report.settings, ties="three_class"))
    rows.append(_wlc_row(PEOPLE_ROW, people, None, None, tables.by_statistic(pooled, PEOPLE, "others")))
    if report.settings.ties != "three_class":  # a constant answer under another rule is no peer of PAR
        place = [column.key for column in WLC_COLUMNS].index(BASELINE)
        rows = [tables.dashed(row, place) for row in rows]
    columns, cells = kept_columns(WLC_COLUMNS, rows, (MISSING, BASELINE))
    reading = _wlc_reading(report, {column.key for column in columns})
    notes = notes_below(report, columns, cells, reading, bare=(BASELINE,))
    return Table("preset_wlc", "Judges in the form of Wiki Live Challenge, Table 4", columns, cells, notes)


def _wlc_reading(report: CalibrationReport, kept: Collection[str]) -> tuple[str, ...]:
    return (
        "PAR is label agreement, in percent: the share of all labels where judge = annotator, not "
        "of pairs of reports in the same order. Ties: a tie is a label like another.",
        "The paper prints neither intervals nor agreement of people, and does not say how its annotators' labels "
        "overlap; here every annotator's label counts. Its code turns an unreadable or missing answer into a tie, "
        "which is then wrong; here PAR leaves such answers out"
        + (", and a column of its own counts them as wrong." if MISSING in kept else "."),
        "Cost: mean of judging one article on all criteria once, every billed call; both orders cost both. All "
        "columns but PAR and cost, and the row of the annotators (all pairs of them, pooled), are ours.",
        *_not_applicable(report),
        f"n counts comparisons of two labels on the same article and criterion, clusters the {clusters_word(report)}."
        + (f" {CONSTANT}" if BASELINE in kept else ""),
    )


def _wlc_row(
    name: str, agreement: Estimate, cost: Estimate | None, valid: Estimate | None, estimates: Found
) -> tuple[Cell, ...]:
    return (
        name,
        percent(agreement),
        cost,
        percent(estimates.get("percent_agreement_missing_as_wrong")),
        estimates.get("cohen_kappa_symmetrised"),
        percent(baseline(estimates)),
        valid,
        agreement.n,
        agreement.clusters,
    )


def _not_applicable(report: CalibrationReport) -> list[str]:
    said = any("not_applicable" in labels for labels in (report.labels.marginals or {}).values())
    if not said or report.settings.not_applicable != "drop":
        return []
    return ["Rows where either side says not applicable, an answer that the paper does not offer, are dropped."]


PRESETS: Mapping[str, Callable[[pd.DataFrame, CalibrationReport], Table]] = {
    "wlc": wlc_table,
    "deepresearchgym": deepresearchgym_table,
    "dr3_eval": dr3_eval_table,
    "deepresearch_bench": race_table,  # the layout of its reports
    "race": race_table,  # the layout of its judges' results
}


def preset_table(name: str, verdicts: pd.DataFrame, report: CalibrationReport) -> Table:
    """The judge table of one study, with our intervals and counts beside its own columns; changes neither input.

    `verdicts`: those that `report` was made of. Raises `unknown_preset`, `other_verdicts`, and `wrong_task` where the
    labels are not of the kind that the study's table is about.
    """
    if name not in PRESETS:
        raise ExportError("unknown_preset", f"no preset is called {name!r}; use one of {', '.join(PRESETS)}")
    if len(verdicts) != report.labels.rows:
        raise ExportError(
            "other_verdicts",
            f"preset {name}: the report was made of {report.labels.rows:,} rows and these are {len(verdicts):,}; "
            "give the very verdicts that were calibrated",
        )
    try:
        return PRESETS[name](verdicts, report)
    except CalibrationError as error:
        raise ExportError("wrong_task", f"preset {name}: {error.text}") from None


PEOPLE_ROW = f"{AMONG} (ours)"
ELSEWHERE = "Published values rest on other reports, judges and people, and are not comparable with these."
BLANK_COST = "A blank cost is unknown, as of a local judge without a price; it is not 0."


def percent(estimate: Estimate | None) -> Estimate | None:
    """The same estimate in hundredths, with its interval."""
    return estimate and estimate.times(100)


def own_statistics(report: CalibrationReport) -> Mapping[tuple[str, str], Estimate]:
    """What is known of a rater alone, such as (judge, `cost_per_item`), pooled over criteria."""
    return {(one.rater, one.statistic): one for one in tables.pooled_in(report) if one.reference == ""}


def kept_columns(
    columns: Sequence[Column], rows: Sequence[tuple[Cell, ...]], optional: Sequence[str]
) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
    """Without those optional columns that no row has anything for."""
    kept = [
        index
        for index, column in enumerate(columns)
        if column.key not in optional or any(row[index] is not None for row in rows)
    ]
    return tuple(columns[index] for index in kept), tuple(tuple(row[index] for index in kept) for row in rows)


def notes_below(
    report: CalibrationReport,
    columns: Sequence[Column],
    rows: Sequence[tuple[Cell, ...]],
    reading: Sequence[str],
    names: int = 1,
    bare: Sequence[str] = (),
) -> tuple[str, ...]:
    """`reading`, then what every preset says. `bare`: columns whose lack of an interval `reading` explains."""
    about = [index for index, column in enumerate(columns) if column.key not in bare]
    told = [tuple(row[index] for index in about) for row in rows]
    blank = any(column.key == "cost" for column in columns) and any(_blank(report, columns, row) for row in rows)
    return (
        *reading,
        *([BLANK_COST] if blank else []),
        ELSEWHERE,
        *methods(tables.estimates_in(rows), report),
        *remarks([columns[index].title for index in about], told, names),
        origin(report),
    )


def clusters_word(report: CalibrationReport) -> str:
    """What the clusters are that n lies in."""
    return "topics" if report.labels.cluster == "topic" else "items"


def refuse_other_kinds(name: str, report: CalibrationReport, wanted: str, words: str) -> None:
    """Raises `wrong_task` where a criterion has labels of another kind. `wanted`: pairwise, rating or probe."""
    other = next((one for one, kind in report.labels.criteria.items() if kind != wanted), None)
    if other is not None:
        raise ExportError(
            "wrong_task",
            f"preset {name} prints {words}, and criterion '{other}' has labels of kind {report.labels.criteria[other]}"
            f"; use another preset, or give the rows of its {wanted} criteria only",
        )


def _blank(report: CalibrationReport, columns: Sequence[Column], row: Sequence[Cell]) -> bool:
    place = next(index for index, column in enumerate(columns) if column.key == "cost")
    return row[place] is None and str(row[0]).removesuffix(BOTH_ORDERS) in report.labels.judges
