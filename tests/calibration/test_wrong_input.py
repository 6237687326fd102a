"""Wrong input is refused by name: a code, the first offending row, and what to do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from calibration.arithmetic.metrics import krippendorff_alpha, light_kappa
from calibration.calibrate import calibrate
from calibration.errors import CalibrationError
from calibration.results import CalibrationReport, CalibrationSettings
from tests.calibration.studies import made_pairs, made_ratings

FEW = CalibrationSettings(resamples=20)
POINTS = tuple(map(str, range(1, 11)))
PAIRS = made_pairs(pairs=6)
TWICE = pd.concat([PAIRS, PAIRS.iloc[[4]]])


def with_label(frame: pd.DataFrame, row: int, label: object) -> pd.DataFrame:
    labels = frame["label"].astype(object).copy()
    labels.iloc[row] = label
    return frame.assign(label=labels)


def exchanged(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.rename(columns={"item_id": "rater_id", "rater_id": "item_id"})


def wide(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.pivot(index="item_id", columns="rater_id", values="label").reset_index()


WRONG: list[tuple[str, Callable[[], pd.DataFrame], dict[str, object], str, str, str]] = [
    ("a column is missing", lambda: PAIRS.drop(columns="label"), {}, "missing_column", "'label'", "it needs item_id"),
    ("raters are columns", lambda: wide(PAIRS[PAIRS["criterion"] == "c0"]), {}, "missing_column", "'rater_id'", "needs"),
    ("a word outside the vocabulary", lambda: with_label(PAIRS, 7, "left"), {}, "unknown_label", "row 9 ", "write A, B"),
    (
        "a tie where the protocol has none",
        lambda: with_label(PAIRS[PAIRS["label"] != "tie"], 2, "tie"),
        {"scales": dict.fromkeys(("c0", "c1", "c2"), ("A", "B"))},
        "unknown_label",
        "row 4 ",
        "the declared scale is A, B",
    ),
    (
        "text where scores are declared",
        lambda: with_label(made_ratings(), 5, "good"),
        {"scales": {"quality": POINTS}},
        "unknown_label",
        "row 7 ",
        "the declared scale is 1, 2",
    ),
    ("text among scores", lambda: with_label(made_ratings(), 5, "good"), {}, "mixed_label_types", "row 7 ", "not both"),
    (
        "a score outside the declared scale",
        lambda: with_label(made_ratings(), 3, 11),
        {"scales": {"quality": POINTS}},
        "unknown_label",
        "row 5 ",
        "'11' is not on the declared scale",
    ),
    (
        "a score beyond the declared ends",
        lambda: with_label(made_ratings(), 3, 10.5),
        {"scale_ends": {"quality": (0, 10)}},
        "unknown_label",
        "row 5 ",
        "the declared scale goes from 0 to 10",
    ),
    ("one vote given twice", lambda: TWICE, {}, "duplicate_verdict", f"row {len(TWICE) + 1} ", "keep one row"),
    ("items and raters exchanged", lambda: exchanged(PAIRS), {}, "rater_kind_conflict", "row 2 ", "are exchanged, turn"),
    ("no usable answer", lambda: PAIRS.assign(label="", status="invalid"), {}, "no_usable_label", "none of", "add the"),
    ("one rater only", lambda: PAIRS[PAIRS["rater_id"] == "ann1"], {}, "one_rater", "every row", "add the labels of"),
    (
        "nothing joins",
        lambda: PAIRS.assign(item_id=PAIRS["rater_id"] + PAIRS["item_id"]),
        {},
        "no_shared_items",
        f"{len(PAIRS)} of {len(PAIRS)} rows",
        "check that item_id",
    ),
    ("a reserved category", lambda: PAIRS.assign(category="systems: a, b"), {}, "reserved_name", "row 2 ", "rename"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("frame", "settings", "code", "where", "remedy"), [c[1:] for c in WRONG], ids=[c[0] for c in WRONG]
)
def test_wrong_input_is_refused_by_code_place_and_remedy(frame, settings, code, where, remedy):
    with pytest.raises(CalibrationError) as refusal:
        calibrate(frame(), CalibrationSettings(resamples=20, **settings))
    assert refusal.value.code == code
    assert where in refusal.value.text
    assert remedy in refusal.value.text


def warned(report: CalibrationReport) -> dict[str, str]:
    return {one.code: one.text for one in report.warnings}


def test_pairs_that_do_not_join_are_counted_and_the_first_is_named():
    frame = made_pairs(pairs=10, annotators=2)
    lost = (frame["rater_kind"] == "judge") & (frame["item_id"] < "p002")
    frame.loc[lost, "item_id"] += "-b"
    people = frame[(frame["rater_kind"] == "human") & (frame["item_id"] < "p002")]
    report = calibrate(frame, FEW)
    text = warned(report)["join_loss"]
    total = int((frame["rater_kind"] == "human").sum())
    assert text.startswith(f"{len(people)} of {total} annotators' rows")
    assert "first: item 'p000', criterion 'c0'" in text
    assert report.labels.joins["judge-x"]["human_rows_without_judge"] == len(people)


@pytest.mark.parametrize("function", [light_kappa, lambda ratings, **kw: krippendorff_alpha(ratings, "nominal", **kw)])
def test_a_ratings_table_on_its_side_is_refused(function):
    ratings = [["A", "B", "A", "B"], ["A", "B", "B", "B"]]
    value = function(ratings)
    with pytest.raises(CalibrationError) as refusal:
        function(np.transpose(ratings).tolist())
    assert refusal.value.code == "maybe_transposed"
    assert "4 raters for 2 units" in refusal.value.text
    assert isinstance(value, float)
    assert isinstance(function(np.transpose(ratings).tolist(), crowd=True), float)
