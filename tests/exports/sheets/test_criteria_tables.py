"""The tables criterion by criterion and of people among themselves, and the warnings folded for one screen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from app.commands.results.terminal import print_report
from calibration.calibrate import calibrate
from calibration.remarks import no_interval, undefined
from calibration.results import CalibrationReport, CalibrationSettings, Estimate, ReportWarning
from exports.as_json import as_json
from exports.as_latex import as_latex
from exports.errors import ExportError
from exports.forms import as_csv, as_markdown
from exports.sheets.agreement import annotators_table, criteria_table, summary_table
from exports.tables import Table, agreement_table
from exports.words.sentences import folded
from tests.calibration.studies import made_pairs
from tests.exports.toy import BOOTSTRAP, NAN, WILSON, toy_estimate, toy_report

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
FORMS = [("tex", as_latex), ("md", as_markdown), ("csv", as_csv), ("json", as_json)]
FEW = no_interval("too_few_clusters", fewest=20)
BEST, SAME = no_interval("best_of_several", "the best"), undefined("constant_rater", "always the same answer")


def on(criterion: str, estimate: Estimate) -> Estimate:
    return replace(estimate, criterion=criterion)


def toy_criteria() -> CalibrationReport:
    """Clarity with intervals, depth on too few pairs and with an undefined κ; two annotators."""
    people = "each_annotator"
    estimates = (
        on("clarity", toy_estimate("percent_agreement", "gpt_5", 0.741, 0.684, 0.798, WILSON)),
        on("clarity", toy_estimate("cohen_kappa", "gpt_5", 0.5, 0.42, 0.58, BOOTSTRAP)),
        on("clarity", toy_estimate("constant_judge_baseline", "gpt_5", 0.47, note=["always A", BEST])),
        on("clarity", toy_estimate("percent_agreement", people, 0.8, 0.74, 0.85, WILSON, reference="others", n=1100)),
        on("depth", toy_estimate("percent_agreement", "gpt_5", 0.7, note=FEW, n=40, clusters=12)),
        on("depth", toy_estimate("cohen_kappa", "gpt_5", NAN, note=SAME, n=40, clusters=12)),
        toy_estimate("percent_agreement", "ann1", 0.8, 0.74, 0.85, WILSON, reference="others", n=1100),
        toy_estimate("cohen_kappa", "ann1", 0.62, 0.54, 0.7, BOOTSTRAP, reference="others", n=1100),
        toy_estimate("krippendorff_alpha_nominal", "ann1", 0.61, 0.53, 0.69, BOOTSTRAP, reference="others", n=1100),
    )  # fmt: skip
    report = toy_report()
    labels = replace(report.labels, criteria={"clarity": "pairwise", "depth": "pairwise"})
    return replace(report, labels=labels, estimates=estimates)


@pytest.mark.parametrize("make", [criteria_table, annotators_table])
@pytest.mark.parametrize(("suffix", "write"), FORMS)
def test_the_tables_are_the_ones_a_person_has_read(make, suffix, write):
    table = make(toy_criteria())
    assert write(table) == (GOLDEN / f"{table.name}.{suffix}").read_text(encoding="utf-8")


def test_too_few_pairs_is_a_dash_with_its_reason():
    table = criteria_table(toy_criteria())
    row = as_markdown(table).splitlines()[6]
    assert row == "| depth | gpt\\_5 | .70 [–] | – |  | 40 | 12 |"
    assert "No interval [–]: Agreement of depth of gpt_5 (too few pairs, fewer than 20 clusters)." in table.notes


def test_every_criterion_and_rater_has_its_row_and_the_report_its_numbers():
    report = calibrate(made_pairs(), CalibrationSettings(resamples=99, per_criterion=True))
    table = criteria_table(report)
    raters = ["judge-x", "judge-y", "annotators among themselves"]
    assert [row[:2] for row in table.rows] == [(f"c{number}", rater) for number in range(3) for rater in raters]
    shown = {(row[0], cell.rater): cell for row in table.rows for cell in row if isinstance(cell, Estimate)}
    assert all(cell in report.estimates for cell in shown.values())


def test_the_only_criterion_is_the_pooled_one():
    report = calibrate(made_pairs(criteria=1), CalibrationSettings(resamples=99))
    table, pooled = criteria_table(report), agreement_table(report)
    assert [row[2] for row in table.rows] == [row[1] for row in pooled.rows]


def test_without_numbers_there_is_no_table():
    assert criteria_table(calibrate(made_pairs(), CalibrationSettings(resamples=20))) is None
    assert annotators_table(calibrate(made_pairs(annotators=1), CalibrationSettings(resamples=20))) is None


def test_people_stand_one_by_one_and_together():
    report = calibrate(made_pairs(annotators=3), CalibrationSettings(resamples=99))
    names = [row[0] for row in annotators_table(report).rows]
    assert names[-4:] == [
        "ann1 and the others",
        "ann2 and the others",
        "ann3 and the others",
        "annotators among themselves",
    ]


def test_a_bare_number_is_refused():
    bare = on("clarity", toy_estimate("percent_agreement", "gpt_5", 0.5))
    with pytest.raises(ExportError):
        criteria_table(replace(toy_criteria(), estimates=(bare,)))


def test_many_dashes_are_counted_and_not_listed():
    report = calibrate(made_pairs(pairs=8, criteria=20), CalibrationSettings(resamples=20, per_criterion=True))
    notes = [note for note in criteria_table(report).notes if "too few pairs" in note]
    (note,) = notes
    assert note.startswith("No interval [–]: Agreement in every row, Cohen's κ in ")
    assert note.endswith("(too few pairs, fewer than 20 clusters).")
    assert len(note) < 120


def test_a_table_longer_than_a_page_breaks_over_pages():
    table = agreement_table(toy_report())
    long = Table(table.name, table.title, table.columns, table.rows * 20, table.notes)
    assert as_latex(table).count(r"\begin{table*}") == 1
    assert as_latex(long).count(r"\begin{table*}") >= as_latex(long).count(r"\toprule") > 1


def test_the_summary_opens_with_the_best_judge_and_ends_with_people():
    names = [row[0] for row in summary_table(toy_report()).rows]
    assert names == ["gpt-5_mini", "tiny", "=cmd|'&%$ #1", "annotators among themselves"]


def test_two_numbers_that_a_constant_answer_reaches_are_told_apart(capsys):
    rows = [
        (f"t{at}", who, kind, criterion, "AB"[(at % 4 == 0) != (criterion == "depth")])
        for at in range(24)
        for criterion in ("clarity", "depth")
        for who, kind in (("ann_1", "human"), ("ann_2", "human"), ("mini [v2]", "judge"))
    ]
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "rater_kind", "criterion", "label"])
    settings, said = CalibrationSettings(resamples=99), "The choice holds judges against another number, the best"
    for own, is_told in ((frame, True), (frame[frame["criterion"] == "depth"], False)):
        report = calibrate(own.assign(cluster_id=own["item_id"]), settings)
        told = [note for note in summary_table(report).notes if note.startswith(said)]
        assert [note.rpartition(": ")[2] for note in told] == ["mini [v2] .75."] * is_told, "half, of both together"
        print_report(report)
        assert ("mini [v2] .75." in " ".join(capsys.readouterr().out.split())) == is_told


def test_warnings_are_folded_by_kind_and_the_gravest_comes_first():
    warnings = (
        ReportWarning("nested_labels", {}, "j1", words="N = 10"),
        ReportWarning("undefined_shown_as_dash", {}, "j1", words="shown as a dash for j1: x"),
        *(ReportWarning("labels_dropped", {}, f"j{n}", words=f"{n} rows") for n in range(1, 7)),
        ReportWarning("something_new", words="new"),
    )
    found = folded(replace(toy_report(), warnings=warnings))
    assert [one.code for one in found] == [
        "labels_dropped",
        "nested_labels",
        "something_new",
        "undefined_shown_as_dash",
    ]
    assert found[0].text == "j1: 1 rows (likewise j2, j3, j4 and 2 more)"
    assert (found[0].count, found[1].text) == (6, "j1: N = 10")
