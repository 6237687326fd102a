"""Labels and judge results made elsewhere: the same label rows, an honest order, honest texts, nothing twice."""

from __future__ import annotations

import hashlib
import io
import unicodedata
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import Engine, select, update

from annotation.errors import AnnotationError, ImportingError
from annotation.judges.money.accounts import refuse_taken_name
from annotation.judges.reviewing.judge_standings import standings
from annotation.studies import protocol_of
from annotation.verdicts import labels_csv
from app.results.reporting import settings_of
from calibration.calibrate import calibrate
from db.connect import reading, transaction
from db.people_tables import Enrollment
from db.tables import Assignment, Import, Label, Report, Study
from tests.annotation.layout_trees import everything
from tests.annotation.result_trees import bring_results, labels_file, pairs, stored, verdicts, winners
from tests.small_study import TOPICS, make_study, write_reports

pytestmark = pytest.mark.databases("sqlite")  # but where a test says otherwise

CAFE = unicodedata.normalize("NFD", "café")


def test_a_winner_stays_the_winner_whichever_report_this_study_calls_a(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    rows = [
        {"cluster_id": topic, "item_id": topic, "system_a": one, "system_b": other, "label": label, "presentation": order}
        for topic, one, other, label, order in [
            ("tides", "alpha", "beta", "A", "AB"), ("tides", "gamma", "alpha", "B", "BA"), ("bread", "beta", "alpha", "A", ""),
            ("bread", "beta", "gamma", "tie", "AB"), ("noise", "gamma", "beta", "B", "AB"),
        ]
    ]  # fmt: skip
    report = bring_results(engine, study, labels_file(tmp_path / "labels.csv", rows), "labels")
    assert (report.rows, report.new, report.items, report.order_unknown) == (5, 5, 5, 1)
    table = verdicts(engine, study)
    table["winner"] = table.apply(
        lambda row: {"A": row.system_a, "B": row.system_b}.get(row.label, row.label), axis="columns"
    )
    found = {(row.cluster_id, frozenset((row.system_a, row.system_b))): row for row in table.itertuples()}
    expected = {
        ("tides", frozenset(("alpha", "beta"))): ("alpha", "alpha"),
        ("tides", frozenset(("gamma", "alpha"))): ("alpha", "alpha"),
        ("bread", frozenset(("beta", "alpha"))): ("beta", None),
        ("bread", frozenset(("beta", "gamma"))): ("tie", "beta"),
        ("noise", frozenset(("gamma", "beta"))): ("beta", "gamma"),
    }
    assert found.keys() == expected.keys()
    for key, (winner, first) in expected.items():
        row = found[key]
        shown = {"AB": row.system_a, "BA": row.system_b}.get(row.presentation)
        assert (row.winner, shown) == (winner, first), key
        assert (row.rater_id, row.rater_kind, row.status) == ("mini", "judge", "ok")


@pytest.mark.databases("sqlite", "postgres")
def test_an_unknown_order_is_stored_as_none_and_the_choice_as_a_or_b(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    both = [{"presentation": ""}, {"presentation": "AB", "criterion": "deep", "item_id": "x2", "cluster_id": "bread"}]
    bring_results(engine, study, labels_file(tmp_path / "labels.csv", both), "labels")
    items = pairs(engine)
    verdict = {topic: "A" if items[topic, frozenset(("alpha", "beta"))][0] == "alpha" else "B" for topic in TOPICS}
    (first, second) = stored(engine)
    assert first[:4] == ("tides", "ok", verdict["tides"], None)
    assert second[:4] == ("bread", "ok", "left", verdict["bread"])
    with reading(engine) as session:
        assert set(session.scalars(select(Assignment.source).where(Assignment.rater_id.is_not(None)))) == {"import"}
        assert set(session.scalars(select(Label.parser_version))) == {"import/1"}
        assert set(session.scalars(select(Label.renderer_version))) == {None}


def test_from_the_file_to_a_report_that_says_the_order_is_unknown(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    rows = [
        {"cluster_id": topic, "item_id": topic, "criterion": criterion, "label": label, **rater}
        for topic, label in zip(TOPICS, "AAB", strict=True)
        for criterion in ("clear", "deep")
        for rater in ({}, {"rater_id": "ann", "rater_kind": "human"}, {"rater_id": "bob", "rater_kind": "human"})
    ]
    report = bring_results(engine, study, labels_file(tmp_path / "labels.csv", rows), "labels", kind="labels")
    assert report.raters == {"mini": 6, "ann": 6, "bob": 6}
    with reading(engine) as session:
        protocol = protocol_of(session.get_one(Study, study))
        people = select(Enrollment.pseudonym, Enrollment.role).where(Enrollment.study_id == study)
        assert sorted(map(tuple, session.execute(people))) == [("ann", "annotator"), ("bob", "annotator")]
        assert [one.judge for one in standings(session, session.get_one(Study, study))] == ["mini"]
    result = calibrate(verdicts(engine, study), settings_of(protocol, 7, resamples=99))
    agreement = [
        found.value
        for found in result.estimates
        if (found.statistic, found.rater, found.criterion) == ("percent_agreement", "mini", "all")
    ]
    assert set(agreement) == {1.0}
    assert "order_unknown" in {warning.code for warning in result.warnings}


@pytest.mark.databases("sqlite", "postgres")
def test_importing_twice_adds_nothing_to_any_table(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    rows = [{"presentation": "AB"}, {"presentation": "BA", "label": "B"}, {"criterion": "deep", "presentation": "AB"}]
    path = labels_file(tmp_path / "labels.csv", rows)
    assert bring_results(engine, study, path, "labels").new == 3
    before = everything(engine)
    report = bring_results(engine, study, path, "labels")
    assert (report.new, report.unchanged, report.revised) == (0, 3, 0)
    assert everything(engine) == before


@pytest.mark.databases("sqlite", "postgres")
def test_an_answer_that_differs_is_refused_unless_it_is_to_be_a_new_revision(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    bring_results(engine, study, labels_file(tmp_path / "labels.csv", [{}, {"criterion": "deep"}]), "labels")
    other = labels_file(tmp_path / "labels.csv", [{"label": "B"}, {"criterion": "deep"}])
    with pytest.raises(ImportingError, match=r"labels.csv:2: differs from what was imported .*--revise"):
        bring_results(engine, study, other, "labels")
    report = bring_results(engine, study, other, "labels", revise=True)
    assert (report.new, report.unchanged, report.revised) == (0, 1, 1)
    assert winners(engine, study, "mini") == {("tides", "clear"): "beta", ("tides", "deep"): "alpha"}
    with reading(engine) as session:
        assert sorted(session.scalars(select(Label.revision))) == [1, 1, 2]


def test_one_item_in_both_orders_is_two_passes(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    rows = [{"presentation": "BA", "run": "2"}, {"presentation": "AB"}, {"presentation": "BA"}, {"presentation": "AB", "run": "2"}]  # fmt: skip
    bring_results(engine, study, labels_file(tmp_path / "labels.csv", rows), "labels")
    table = verdicts(engine, study)
    assert list(table.pass_no) == [1, 2, 3, 4]
    assert list(table.run) == [1, 1, 2, 2]
    assert table.presentation.nunique() == 2
    assert list(table.presentation[:2]) == list(table.presentation[2:])


@pytest.mark.parametrize(
    ("given", "stamp", "in_verdicts"),
    [("", "unproved:{shown}", True), ("{shown}", "{shown}", True), ("f" * 64, "f" * 64, False)],
    ids=["no hash", "the shown text", "another text"],
)
def test_a_label_never_claims_a_text_that_nobody_proved_was_read(
    engine: Engine, tmp_path: Path, given: str, stamp: str, in_verdicts: bool
) -> None:
    study = make_study(engine, tmp_path / "reports")
    one, _, sha_a, sha_b = pairs(engine)["tides", frozenset(("alpha", "beta"))]
    alpha, beta = (sha_a, sha_b) if one == "alpha" else (sha_b, sha_a)
    row = {"presentation": "AB", "sha256_a": given.format(shown=alpha).upper(), "sha256_b": given.format(shown=beta)}
    report = bring_results(engine, study, labels_file(tmp_path / "labels.csv", [row]), "labels")
    counted = (report.texts_unproved, report.texts_proved, report.texts_other)
    assert counted == {"": (2, 0, 0), "{shown}": (0, 2, 0)}.get(given, (0, 0, 2))
    with reading(engine) as session:
        label = session.scalars(select(Label)).one()
        assert (label.left_sha256, label.right_sha256) == (stamp.format(shown=alpha), stamp.format(shown=beta))
    assert (len(verdicts(engine, study)) == 1) is in_verdicts


def test_an_unproved_label_is_stale_once_its_text_is_replaced(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    bring_results(engine, study, labels_file(tmp_path / "labels.csv", [{}]), "labels")
    assert len(verdicts(engine, study)) == 1
    with transaction(engine) as session:
        session.execute(update(Report).values(shown_sha256=hashlib.sha256(b"another").hexdigest()))
    assert verdicts(engine, study).empty


def test_failures_keep_their_status_and_never_become_labels(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    rows = [
        {"cluster_id": "tides", "label": "unparsed"}, {"cluster_id": "tides", "criterion": "deep", "label": ""},
        {"cluster_id": "bread", "label": "A", "status": "refused"},
        {"cluster_id": "bread", "criterion": "deep", "label": "", "status": "truncated"},
        {"cluster_id": "noise", "label": "tie_inconsistent"}, {"cluster_id": "noise", "criterion": "deep", "label": "hmm"},
    ]  # fmt: skip
    path = labels_file(tmp_path / "labels.csv", rows)
    report = bring_results(engine, study, path, "labels", answers={"hmm": "invalid"})
    assert report.statuses == {"invalid": 2, "missing": 1, "refused": 1, "truncated": 1, "ok": 1}
    assert [(status, choice, flags) for _, status, choice, _, _, flags in stored(engine)] == [
        ("invalid", None, ["raw:unparsed"]), ("missing", None, []), ("refused", None, ["raw:A"]), ("truncated", None, []),
        ("ok", "tie", ["raw:tie_inconsistent"]), ("invalid", None, ["raw:hmm"]),
    ]  # fmt: skip
    table = verdicts(engine, study)
    assert set(table.status[table.label.isna()]) == {"invalid", "missing", "refused"}
    assert list(table.label.dropna()) == ["tie"]


def test_sides_are_read_through_the_order_and_refused_without_one(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    rows = [
        {"cluster_id": topic, "label": label, "presentation": order}
        for topic, label, order in (("tides", "A", "BA"), ("bread", "left", "AB"), ("noise", "second", "BA"))
    ]
    path = labels_file(tmp_path / "labels.csv", rows)
    with pytest.raises(ImportingError, match="'left' is a side, not a system; pass --labels-are sides"):
        bring_results(engine, study, path, "labels")
    bring_results(engine, study, path, "labels", labels_are="sides")
    assert winners(engine, study, "mini") == {
        ("tides", "clear"): "beta", ("bread", "clear"): "alpha", ("noise", "clear"): "alpha",
    }  # fmt: skip


def test_names_are_matched_as_files_are_and_what_matches_nothing_is_listed(engine: Engine, tmp_path: Path) -> None:
    root = write_reports(tmp_path / "reports", ("tides", "fall_river", "café"))
    study = make_study(engine, root)
    rows = [
        {"cluster_id": CAFE}, {"cluster_id": "fall/river", "criterion": "CLEAR"}, {"cluster_id": "seas"},
        {"cluster_id": "tides", "system_b": "delta"}, {"cluster_id": "tides", "criterion": "long"},
        {"cluster_id": "tides", "system_b": "", "presentation": ""},
    ]  # fmt: skip
    report = bring_results(engine, study, labels_file(tmp_path / "labels.csv", rows), "labels")
    assert (report.rows, report.new) == (6, 2)
    assert report.matched_by_fallback == ("fall/river -> fall_river", "CLEAR -> clear")
    assert report.unmatched == {
        "no topic 'seas' in the study": ("labels.csv:4",),
        "no system 'delta' in the study": ("labels.csv:5",),
        "no criterion 'long' asked of this topic": ("labels.csv:6",),
        "no item of alpha on topic 'tides'": ("labels.csv:7",),
    }
    assert "unmatched: no topic 'seas' in the study: 1 (labels.csv:4)" in report.lines()


def test_our_own_export_of_an_import_comes_in_again_as_equal_rows(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    rows = [
        {"cluster_id": topic, "presentation": order, "label": label, "rationale": "-1 is fewer, \"so\" left",
         "seconds": "2.5", "cost_usd": "" if label == "tie" else "0.0021"}
        for topic, order, label in (("tides", "AB", "A"), ("bread", "", "tie"), ("noise", "BA", "B"))
    ]  # fmt: skip
    bring_results(engine, study, labels_file(tmp_path / "labels.csv", rows), "labels")
    exported = labels_csv(verdicts(engine, study))
    again = tmp_path / "again.csv"
    again.write_text(exported, encoding="utf-8")
    other = make_study(engine, tmp_path / "reports", name="other", seed=8)
    report = bring_results(engine, other, again, "labels", kind="labels")
    assert (report.new, report.left_out) == (3, {})
    compared = ["rater_id", "criterion", "cluster_id", "status", "rationale", "run", "pass_no", "seconds"]
    back = pd.read_csv(io.StringIO(labels_csv(verdicts(engine, other))))
    first = pd.read_csv(io.StringIO(exported))
    assert sorted(map(tuple, back[compared].values)) == sorted(map(tuple, first[compared].values))
    assert winners(engine, other, "mini") == winners(engine, study, "mini")
    # what is unknown stays unknown, and is not 0
    assert sorted(back["cost_usd"].fillna(-1)) == [-1, 0.0021, 0.0021]


@pytest.mark.parametrize(("name", "value"), [("seconds", "-1"), ("cost_usd", "two"), ("cost_usd", "inf")])
def test_a_price_that_is_no_amount_is_refused_by_its_line(
    engine: Engine, tmp_path: Path, name: str, value: str
) -> None:
    study = make_study(engine, tmp_path / "reports")
    with pytest.raises(ImportingError, match=f"labels.csv:2: {name} is not a number from 0"):
        bring_results(engine, study, labels_file(tmp_path / "labels.csv", [{name: value}]), "labels")


@pytest.mark.databases("sqlite", "postgres")
def test_a_persons_pseudonym_that_studies_give_out_becomes_another_name(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    path = labels_file(tmp_path / "labels.csv", [{"rater_id": "annotator-01", "rater_kind": "human"}])
    bring_results(engine, study, path, "labels", kind="labels")
    assert set(verdicts(engine, study).rater_id) == {"imported annotator-01"}
    assert bring_results(engine, study, path, "labels", kind="labels").unchanged == 1


def test_judge_results_leave_peoples_rows_out_and_say_so(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    path = labels_file(tmp_path / "labels.csv", [{}, {"rater_id": "ann", "rater_kind": "human"}])
    report = bring_results(engine, study, path, "labels")
    assert (report.new, report.left_out) == (1, {"people's rows; calipers import labels takes them": 1})
    with reading(engine) as session:
        kept = session.scalars(select(Import).where(Import.kind == "judge-results")).one()
        assert (kept.layout, kept.report["new"], kept.options["labels_are"]) == ("labels", 1, "systems")


def test_no_judge_is_run_under_the_name_of_imported_results(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    bring_results(engine, study, labels_file(tmp_path / "labels.csv", [{"rater_id": "mini"}]), "labels")
    with reading(engine) as session, pytest.raises(AnnotationError, match="results were imported under that name"):
        refuse_taken_name(session, session.get_one(Study, study), "mini")
