from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from calibration.errors import CalibrationError
from calibration.table.checking import check_verdicts
from calibration.table.verdicts import kind_of, normalise
from tests.calibration.studies import made_pairs

ROW = {
    "item_id": "p1",
    "rater_id": "ann",
    "rater_kind": "human",
    "criterion": "clarity",
    "label": "A",
    "cluster_id": "t1",
    "system_a": "atlas",
    "system_b": "borealis",
}


def table(*changes: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([ROW | change for change in changes])


REFUSED = [
    ("bad_rater_kind", [{"rater_kind": "model"}], "row 2"),
    ("rater_kind_conflict", [{}, {"item_id": "p2", "cluster_id": "t2", "rater_kind": "judge"}], "row 2"),
    ("raters_alike", [{"rater_id": "Bo"}, {"rater_id": "bo ", "label": "B"}], "row 3"),
    ("bad_status", [{"status": "truncated"}], "written as invalid"),
    ("empty_label", [{"label": "", "status": "ok"}], "row 2"),
    (
        "unknown_label",
        [{}, {"rater_id": "bo", "label": "left"}],
        "row 3 (the header is row 1; item 'p1', rater 'bo', criterion 'clarity')",
    ),
    (
        "unknown_label",
        [{"label": "1"}],
        "the number 1 is no verdict on atlas and borealis; write A, B or tie; for a score",
    ),
    (
        "unknown_label",
        [
            {"system_a": "", "system_b": "", "label": word, "rater_id": f"r{word}"}
            for word in ("tie", "atlas", "cirrus")
        ],
        "row 3 (the header is row 1; item 'p1', rater 'ratlas', criterion 'clarity'): the label 'atlas' is not a verdict on a pair; tie",
    ),
    ("mixed_label_types", [{}, {"rater_id": "bo", "label": "B"}, {"rater_id": "cy", "label": "7"}], "row 4"),
    ("duplicate_verdict", [{}, {}], "): the same as row 2 in every column; remove one of the two, or give each pair"),
    (
        "duplicate_verdict",
        [{}, {}, {}],
        "row 3 (the header is row 1; item 'p1', rater 'ann', criterion 'clarity'): the",
    ),
    ("duplicate_verdict", [{}, {}, {}], "holds several. Further rows that answer again (1): 4"),
    ("duplicate_verdict", [{"label": "B"}, {}], "in row 2, also in run 1, presentation ''; keep one row; give"),
    (
        "duplicate_verdict",
        [{}, {"session": "2"}],
        "AB or BA, in the column presentation if the judge was asked in both",
    ),
    (
        "duplicate_verdict",
        [{"order": "original", "label": "B"}, {"order": "swapped"}],
        "they differ in 'order': is this the presentation? rename order to presentation and write AB (A left",
    ),
    ("duplicate_verdict", [{"trial": 1}, {"trial": 2}], "in 'trial': is this the run? rename trial to run and number"),
    ("duplicate_verdict", [{"order": "1"}, {"order": "2"}], "keep one row"),
    ("item_in_two_clusters", [{}, {"rater_id": "bo", "cluster_id": "t2"}], "row 3"),
    ("systems_conflict", [{}, {"rater_id": "bo", "system_a": "cirrus"}], "'cirrus'"),
    ("category_conflict", [{"category": "x"}, {"rater_id": "bo", "category": "y"}], "row 3"),
    ("same_system", [{"system_b": "atlas"}], "both 'atlas'"),
    ("one_system_only", [{"system_a": ""}], "row 2"),
    ("one_system_only", [{}, {"rater_id": "bo", "system_b": ""}], "row 3"),
    ("bad_presentation", [{"presentation": "left"}], "'left'"),
    ("bad_number", [{"seconds": -1}], "seconds"),
    ("bad_number", [{"cost_usd": "inf"}], "cost_usd"),
    ("bad_number", [{"len_a": "long"}], "'long'"),
    ("bad_number", [{"run": -1}], "run"),
    *(("bad_number", [{"settings_tried": n}], f"settings_tried is {n}") for n in (1e308, 10_001.0, 2.7, 0.0)),
    ("reserved_name", [{"criterion": "all"}], "'all'"),
    ("reserved_name", [{"rater_id": "each_annotator"}], "rename"),
    ("reserved_name", [{"rater_id": "gpt [both orders]"}], "rename"),
    ("missing_column", [{"cluster_id": ""}], "cluster_id is empty"),
]


@pytest.mark.parametrize(("code", "changes", "named"), REFUSED)
def test_a_bad_table_is_refused_by_code_row_and_remedy(code, changes, named):
    with pytest.raises(CalibrationError) as refusal:
        check_verdicts(table(*changes))
    assert refusal.value.code == code
    assert named in refusal.value.text


def test_a_missing_column_and_an_empty_table_are_refused():
    with pytest.raises(CalibrationError, match="'cluster_id'"):
        check_verdicts(table({}).drop(columns="cluster_id"))
    with pytest.raises(CalibrationError, match="is 'criteron' a misspelt 'criterion'"):
        check_verdicts(table({}).rename(columns={"criterion": "criteron"}))
    with pytest.raises(CalibrationError) as refusal:
        check_verdicts(table({}).iloc[:0])
    assert refusal.value.code == "empty_table"


def test_a_label_outside_the_declared_scale_is_refused():
    frame = table({"label": "Supported", "system_b": ""}, {"label": "Perhaps", "system_b": "", "rater_id": "bo"})
    assert len(check_verdicts(frame)) == 2
    with pytest.raises(CalibrationError) as refusal:
        check_verdicts(frame, {"clarity": ("Contradicted", "Omitted", "Supported")})
    assert refusal.value.code == "unknown_label"


def test_four_spellings_are_mapped_and_counted_and_nothing_else():
    frame = table(
        {"label": "tie_inconsistent"},
        {"label": "n/a", "rater_id": "bo"},
        {"label": "unparsed", "rater_id": "cy"},
        {"label": "", "rater_id": "di"},
    )
    out, aliases = normalise(frame)
    assert aliases == {"tie_inconsistent": 1, "n/a": 1, "unparsed": 1, "empty label": 1}
    assert list(out["label"]) == ["tie", "not_applicable", "", ""]
    assert list(out["status"]) == ["ok", "ok", "invalid", "missing"]
    again, none = normalise(out)
    assert none == {}
    pd.testing.assert_frame_equal(again, out)


def test_ids_stay_text_and_the_order_of_rows_does_not_matter():
    frame = made_pairs(pairs=5)
    frame["item_id"] = frame["item_id"].str.removeprefix("p")  # 000 .. 004
    before = frame.copy(deep=True)
    checked = check_verdicts(frame)
    assert set(checked["item_id"]) == {f"{i:03}" for i in range(5)}
    pd.testing.assert_frame_equal(checked, check_verdicts(frame.sample(frac=1, random_state=3)))
    pd.testing.assert_frame_equal(frame, before)


def test_ids_read_as_numbers_lose_neither_digits_nor_become_floats():
    frame = table({"item_id": 9007199254740993, "cluster_id": 7.0})
    checked = check_verdicts(frame)
    assert (checked["item_id"][0], checked["cluster_id"][0]) == ("9007199254740993", "7")


def test_a_person_may_label_one_item_in_both_orders():
    assert len(check_verdicts(table({"presentation": "AB"}, {"presentation": "BA", "label": "B"}))) == 2


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["A", "tie"], "pairwise"),
        (["7", "8.5", "not_applicable"], "rating"),
        (["Supported", "Omitted"], "probe"),
        (["A", "Supported"], "probe"),
    ],
)
def test_the_kind_of_a_criterion_is_read_from_its_labels(labels, kind):
    assert kind_of(labels) == kind


LABELS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "labels"

if LABELS.is_dir():

    @pytest.mark.parametrize(("name", "rows"), [("mtbench_votes", 5755), ("pandalm_testset", 4995)])
    @pytest.mark.parametrize("options", [{}, {"dtype": str, "keep_default_na": False}])
    def test_published_label_files_load_without_options(name, rows, options):
        assert len(check_verdicts(pd.read_csv(LABELS / f"{name}.csv", **options))) == rows
