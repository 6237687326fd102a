"""Further mistakes, beside the twelve: each on the smallest table that commits it, and on one that does not."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from calibration.calibrate import calibrate
from calibration.choosing.choice import gate
from calibration.results import CalibrationSettings
from calibration.table.checking import without_examples
from calibration.warnings.sample_cautions import plan_hash
from tests.calibration.mistakes import table
from tests.calibration.ranked import turned

FEW = CalibrationSettings(resamples=20)
TWENTY = "AB" * 10
JUDGES = ("judge1", "judge2")


def told(frame: pd.DataFrame, code: str, settings: CalibrationSettings = FEW) -> list[str]:
    return [one.text for one in calibrate(frame, settings).warnings if one.code == code]


def test_few_clusters() -> None:
    (text,) = told(table({"ann": TWENTY[:19], "judge": TWENTY[:19]}), "few_clusters")
    assert text == "19 clusters: intervals rest on few independent units; label at least 20"
    assert not told(table({"ann": TWENTY, "judge": TWENTY}), "few_clusters")


def test_thin_criteria() -> None:
    def two(items: int) -> pd.DataFrame:
        labels = {"ann": TWENTY[:items], "judge": TWENTY[:items]}
        return pd.concat([table(labels, criterion="c1"), table(labels, criterion="c2")])

    (text,) = told(two(19), "thin_criteria", replace(FEW, per_criterion=True))
    assert text.startswith("2 criteria on 19 clusters: single criteria get no interval and must not be ranked")
    assert not told(two(19), "thin_criteria")
    assert not told(two(20), "thin_criteria", replace(FEW, per_criterion=True))


@pytest.mark.parametrize(("judge", "lost"), [("AB" * 9 + "..", 2), ("AB" * 9 + "A.", 0)])
def test_join_loss(judge: str, lost: int) -> None:
    texts = told(table({"ann": TWENTY, "judge": judge}), "join_loss")
    assert bool(texts) == bool(lost)  # 5 % are not yet a loss
    assert not lost or texts[0].startswith("2 of 20 annotators' rows (10.0 %) have no row of judge on the same item")
    assert not lost or "first: item 'i18', criterion 'c'" in texts[0]


def test_mirrored_items() -> None:
    both, person, judge = (table(dict.fromkeys(names, "A")) for names in (("ann", "judge"), ("ann",), ("judge",)))
    person = person.assign(item_id="i01", cluster_id="t01")
    judge = judge.assign(item_id="i01, named the other way", cluster_id="t01")
    mirrored = pd.concat([both, person, judge.assign(system_a="y", system_b="x")])
    assert told(mirrored, "mirrored_items")[0].startswith("on 1 of the items only people answered, and only judges")
    assert not told(pd.concat([both, person, judge.assign(item_id="i01")]), "mirrored_items")


def test_own_family() -> None:
    frame, families = table({"ann": "AABB", "judge": "ABAB"}), {"judge": "gpt", "x": "gpt", "y": "claude"}
    assert told(frame, "own_family", replace(FEW, families=families)) == [
        "judge labels reports of its own family gpt (x): compare its wins for them with those that people give"
    ]
    assert not told(frame, "own_family", replace(FEW, families=families | {"judge": "gemini"}))


def test_changed_after_labels() -> None:
    frame = table({"ann": "AABB", "judge": "ABAB"})
    planned = replace(FEW, plan_hash=plan_hash(["c"], FEW))
    assert told(frame, "changed_after_labels", replace(planned, margin=0.1))
    assert not told(frame, "changed_after_labels", planned)


@pytest.mark.parametrize(
    ("person", "judge", "noticed"),
    [
        (  # each stands for no answer, and neither for the other's
            "No response",
            "Ignore",
            "only people answer 'No response' (10) and only judges 'Ignore' (10) to c: each counts as a disagreement",
        ),
        ("No response", "good", "only people answer 'No response' (10) to c, which counts as an answer"),
        ("good", "Ignore", "only judges answer 'Ignore' (10) to c"),
        ("Ignore", "Ignore", ""),
    ],
)
def test_words_of_one_kind(person: str, judge: str, noticed: str) -> None:
    words = ["good", "poor", "good", "poor"] * 10
    frame = table({"ann": [*words, *[person] * 10], "judge": [*words, *[judge] * 10]}, system_b="", presentation="")
    texts = told(frame, "words_of_one_kind")
    assert [text for text in texts if text.startswith(noticed or " ")] == texts
    assert bool(texts) == bool(noticed)
    scores = {"good": "4", "poor": "1", "No response": "99", "Ignore": "-1"}
    rated = frame.assign(label=frame["label"].map(scores).fillna(frame["label"]))
    assert bool(told(rated, "words_of_one_kind")) == bool(noticed), "99 and -1 beside 1 and 4 are such words too"


def test_words_of_one_kind_are_none_that_are_known_and_none_of_a_few_answers() -> None:
    words = [*["4", "1"] * 20, *["99"] * 10], [*["4", "1"] * 20, *["-1"] * 10]
    rated = table(dict(zip(("ann", "judge"), words, strict=True)), system_b="", presentation="")
    for known in ("5", "not_applicable"):
        assert not told(rated.assign(label=rated["label"].replace({"99": known, "-1": known})), "words_of_one_kind")
    silent = table({"ann": ["1", "4"] * 20, "judge": ["not_applicable"] * 40}, system_b="", presentation="")
    assert not told(silent, "words_of_one_kind")
    fewer = table(
        {"ann": ["good", "poor", "No response"], "judge": ["good", "poor", "Ignore"]}, system_b="", presentation=""
    )
    assert not told(fewer, "words_of_one_kind")  # three answers say nothing about who never gives one


@pytest.mark.parametrize(
    ("judge", "says"),
    [
        (
            ["0", "0.5", "0.25"],
            "judge's scores for c lie from 0 to 0.5 and people's from 1 to 5: where the scales differ",
        ),
        ([*["5", "3", "1"] * 9, "5", "5", "1"], "judge's scores fall where people's rise (ρ = -0.98, -1.00 to -0."),
        (["3", "4", "5"], ""),  # lenient, and on the same scale
        (["5", "5", "5"], ""),
    ],
)
def test_unlike_scales(judge: list[str], says: str) -> None:
    frame = table({"ann": ["1", "3", "5"] * 10, "judge": (judge * 10)[:30]}, system_b="", presentation="")
    assert [text[: len(says)] for text in told(frame, "unlike_scales")] == [says] * bool(says)


def test_unlike_scales_are_told_from_strict_answers_on_one() -> None:
    wide = table({"ann": ["0", "50", "100"] * 10, "judge": ["1", "3", "5"] * 10}, system_b="", presentation="")
    assert told(wide, "unlike_scales")[0].startswith("judge's scores for c lie from 1 to 5 and people's from 0 to 100")
    twice, strict = (
        table({"ann": ["1", "2", "4", "5"] * 10, "judge": judge * 10}, system_b="", presentation="")
        for judge in (["2", "4", "8", "10"], ["0", "0", "4", "5"])
    )
    assert told(twice, "unlike_scales")[0].startswith("judge's scores for c lie from 2 to 10 and people's from 1 to 5")
    assert not told(strict, "unlike_scales")  # points that people do not give are on the same scale


@pytest.mark.parametrize(("copies", "noticed"), [(1, True), (0, False)])
def test_copied_rationale(copies: int, noticed: bool) -> None:
    frame = table({"ann": "AABBA", "judge": "ABABA"})
    frame["rationale"] = frame["rater_id"] + " on " + frame["item_id"]
    frame.loc[(frame["rater_id"] == "ann") & (frame["item_id"] < f"i{copies:02}"), "rationale"] = "judge on i00"
    texts = told(frame, "copied_rationale")
    assert bool(texts) == noticed
    assert not noticed or texts[0].startswith("1 of ann's 5 rationales are, byte for byte, those of judge")


@pytest.mark.parametrize(("dear", "noticed"), [(1.01, True), (1.0, False)])
def test_out_of_range(dear: float, noticed: bool) -> None:
    frame = table({"ann": "AABBA", "judge": "ABABA"}, cost_usd=0.01)
    frame.loc[frame.index[-1], "cost_usd"] = dear
    texts = told(frame, "out_of_range")
    assert bool(texts) == noticed
    assert not noticed or texts[0].startswith("1 of 5 rows of judge cost more than 100 times the median (USD 0.01)")


def test_panel_sensitive() -> None:
    # x, which is A, gets (1 + 1/3 + 1/3) / 3 = 5/9 of all; without ann1 1/3, without another 2/3
    (text,) = told(table({"ann1": "AAA", "ann2": "ABB", "ann3": "ABB"}), "panel_sensitive")
    assert text.startswith(
        "first two systems by the annotators: x before y with all, y before x without ann1 (1 of 3 raters"
    )
    assert not told(table({"ann1": "AAB", "ann2": "AAB", "ann3": "AAB"}), "panel_sensitive")


def test_examples_in_reference() -> None:
    frame = pd.concat([table({"ann": "AABB", "judge1": "ABAB", "judge2": "AABB"}, criterion=name) for name in "cd"])
    kept, (warning,) = without_examples(frame, {"judge1": ["i00", "i03", "elsewhere"], "judge2": []})
    assert (warning.code, warning.rater) == ("examples_in_reference", "judge1")
    assert warning.text.startswith(
        "judge1 was shown 2 of the items it labelled as examples, with their answers (i00, i03)"
    )
    assert "its 4 rows on them, of 8, are left out" in warning.text
    assert kept.groupby("rater_id").size().to_dict() == {"ann": 8, "judge1": 4, "judge2": 8}
    assert not set(kept["item_id"][kept["rater_id"] == "judge1"]) & {"i00", "i03"}
    for nothing in ({}, {"judge1": []}, {"judge1": ["elsewhere"]}, {"nobody": ["i00"]}):
        same, warnings = without_examples(frame, nothing)
        assert (same is frame, warnings) == (True, ())
    many, (warning,) = without_examples(frame, {"judge2": ["i00", "i01", "i02", "i03"]})
    assert "(i00, i01, i02 and 1 more)" in warning.text
    assert len(many) == 16


LETTERS = st.sampled_from("AABBt")
ANSWERS = st.lists(st.tuples(*[LETTERS] * 5), min_size=6, max_size=24)
OF_NAMES = ("unbalanced_order", "undefined_shown_as_dash")  # A shown first, and kappa, depend on who is called A


def said(frame: pd.DataFrame) -> tuple[list[str], list[tuple[str, str]]]:
    """Every status of the gate, and every warning's code and rater but of those that are about names."""
    report = calibrate(frame, FEW)
    assert report.choice is not None
    statuses = [str(report.choice.judge), gate(report.choice), *(gate(report.choice, name) for name in JUDGES)]
    return statuses, sorted({(one.code, one.rater) for one in report.warnings if one.code not in OF_NAMES})


@settings(max_examples=5, phases=(Phase.explicit, Phase.generate))
@given(ANSWERS, st.data())
def test_no_naming_of_a_and_b_and_no_order_of_rows_changes_a_status_or_a_warning(
    answers: list[tuple[str, ...]], data: st.DataObject
) -> None:
    raters = dict(zip(("ann1", "ann2", "ann3", *JUDGES), map("".join, zip(*answers, strict=True)), strict=True))
    frame = table(raters, per_cluster=2, cost_usd=0.001)
    items = data.draw(st.sets(st.sampled_from(sorted(frame["item_id"].unique())), min_size=1))
    other = turned(frame, items)
    here = other["item_id"].isin(items)
    other.loc[here, "presentation"] = other.loc[here, "presentation"].map({"AB": "BA", "BA": "AB"})
    assert said(other.sample(frac=1, random_state=data.draw(st.integers(0, 99)))) == said(frame)
