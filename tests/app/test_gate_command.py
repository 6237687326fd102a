"""`calipers calibrate --gate`: a pipeline reads the decision from the exit code and the last line."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from annotation.errors import AnnotationError
from app.command_line import app
from calibration.errors import CalibrationError
from exports.errors import ExportError
from tests.calibration.priced import priced

GOOD, DEAR, BAD = {"mini": (0.85, 0.001)}, {"large": (0.85, 0.005)}, {"tiny": (0.2, 0.0001)}


def calibrated(folder: Path, labels: pd.DataFrame, *words: str) -> Result:
    labels.to_csv(folder / "labels.csv", index=False)
    return CliRunner().invoke(app, ["calibrate", str(folder / "labels.csv"), "--resamples", "199", *words])


@pytest.mark.parametrize(
    ("labels", "judge", "code", "last"),
    [
        (priced(GOOD | DEAR | BAD), "", 0, "mini is the cheapest adequate judge of 3 tried"),
        (priced(GOOD | DEAR | BAD), "large", 0, "large is adequate: it agrees with the annotators in"),
        (priced(GOOD | BAD), "tiny", 3, "tiny is not adequate: it agrees with the annotators in"),
        (priced(BAD), "", 3, "tiny, the one judge tried, is not adequate. It agrees with"),
        (
            priced(GOOD, pairs=10),
            "",
            4,
            "Cannot tell from 10 topics whether mini, the one judge tried, can replace an annotator. It",
        ),
        (priced(GOOD | BAD, pairs=10), "mini", 4, "mini may be adequate or not (cannot tell): it agrees with"),
    ],
)
def test_the_exit_code_and_the_last_line_are_the_decision(
    tmp_path: Path, labels: pd.DataFrame, judge: str, code: int, last: str
) -> None:
    done = calibrated(tmp_path, labels, "--gate", *(["--judge", judge] if judge else []))
    assert done.exit_code == code, done.output
    assert done.stdout.rstrip().split("\n")[-1].startswith(last)


def test_ten_pairs_say_how_many_more_would_decide(tmp_path: Path) -> None:
    done = calibrated(tmp_path, priced(GOOD, pairs=10), "--gate")
    assert "in all), at power" in done.stdout.rstrip().split("\n")[-1]


def test_without_the_gate_a_decision_is_no_exit_code(tmp_path: Path) -> None:
    assert calibrated(tmp_path, priced(BAD)).exit_code == 0


def test_json_holds_the_decision_and_nothing_stands_behind_it(tmp_path: Path) -> None:
    done = calibrated(tmp_path, priced(GOOD | DEAR | BAD), "--gate", "--json")
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert (report["choice"]["status"], report["choice"]["judge"]) == ("chosen", "mini")
    assert len(report["choice"]["plan_sha256"]) == 64
    assert {one["question"] for one in report["card"] if one["judge"] == "mini"} == {
        "agreement", "ceiling gap", "order", "length", "repeats", "answers",
    }  # fmt: skip


def test_what_cannot_be_decided_at_all_breaks_and_does_not_decide(tmp_path: Path) -> None:
    people = priced({}, pairs=12)
    assert isinstance(calibrated(tmp_path, people, "--gate").exception, AnnotationError)
    unknown = calibrated(tmp_path, priced(GOOD, pairs=12), "--gate", "--judge", "nobody")
    assert isinstance(unknown.exception, CalibrationError)
    assert "there are mini" in str(unknown.exception)


@pytest.mark.usefixtures("undrawn")
def test_the_plan_is_kept_before_the_first_result_and_a_later_change_is_said(tmp_path: Path) -> None:
    out = tmp_path / "report"
    assert calibrated(tmp_path, priced(GOOD, pairs=12), "--out", str(out)).exit_code == 0
    kept = (out / "comparison-plan.json").read_bytes()
    assert json.loads(kept)["judges"] == ["mini"]
    again = calibrated(tmp_path, priced(GOOD | DEAR, pairs=12), "--out", str(out))
    assert again.exit_code == 0
    assert (out / "comparison-plan.json").read_bytes() == kept
    warnings = json.loads((out / "calibration-report.json").read_text())["warnings"]
    (changed,) = [one["text"] for one in warnings if one["code"] == "changed_after_labels"]
    assert "judges added: large" in changed
    (out / "comparison-plan.json").write_text("[]")
    broken = calibrated(tmp_path, priced(GOOD, pairs=12), "--out", str(out))
    assert isinstance(broken.exception, ExportError)
    assert "comparison-plan.json is no comparison plan" in str(broken.exception)


def test_a_family_shows_whether_a_judge_favours_its_own(tmp_path: Path) -> None:
    labels = priced(GOOD, pairs=12)
    done = calibrated(tmp_path, labels, "--family", "mini=acme", "--family", "atlas=acme", "--json")
    (row,) = [one for one in json.loads(done.stdout)["card"] if one["question"] == "self-preference"]
    assert row["estimate"]["n"] == 12 * 3 * 3
    assert isinstance(calibrated(tmp_path, labels, "--family", "acme").exception, AnnotationError)
    misspelt = calibrated(tmp_path, labels, "--family", "mni=acme").exception
    assert "no judge or system is called 'mni'; the judges are " in str(misspelt)


def test_a_table_that_leaves_unusable_answers_out_says_so(tmp_path: Path) -> None:
    labels, told = priced(GOOD, pairs=12), "Unusable answers are left out here"
    assert told not in " ".join(calibrated(tmp_path, labels).stdout.split())
    labels.loc[labels.index[-1], ["label", "status"]] = ["", "invalid"]
    assert told in " ".join(calibrated(tmp_path, labels.fillna({"status": ""})).stdout.split())


def test_a_table_of_equal_scores_says_that_the_sentence_counts_near_ones(tmp_path: Path) -> None:
    labels, told = priced(GOOD, pairs=12), "near scores agree in part"
    assert told not in " ".join(calibrated(tmp_path, labels).stdout.split())
    scores = labels.assign(label=labels["label"].map({"A": "1", "B": "5", "tie": "3"}), system_b="")
    assert told in " ".join(calibrated(tmp_path, scores).stdout.split())


def test_a_cascade_is_one_more_candidate_and_a_person_may_stand_at_its_end(tmp_path: Path) -> None:
    labels = priced({"mini": (0.6, 0.001)} | DEAR, pairs=40)
    mini = labels["rater_id"] == "mini"
    turned = labels[mini].assign(presentation="BA")
    turned.loc[turned["item_id"] < "p010", "label"] = "tie"  # where its two orders differ, the next one decides
    both = pd.concat([labels.assign(presentation=labels["rater_id"].map({"mini": "AB"})), turned])
    asked = ["--cascade", "mini then large", "--cascade", "mini then a person"]
    report = json.loads(calibrated(tmp_path, both, *asked, "--json").stdout)
    assert "mini then large" in [one["judge"] for one in report["choice"]["candidates"]]
    judges, person = report["data"]["cascades"]
    assert (judges["name"], person["name"]) == ("mini then large", "mini then a person")
    assert 0 < judges["escalated"]["value"] == person["escalated"]["value"] <= 10 / 40
    # two calls of mini for every item, and large for the ten that go on
    assert judges["usd_per_1000_items"] == pytest.approx(1000 * 3 * (2 * 0.001 + 10 / 40 * 0.005))
    assert person["outcome"] in ("non_inferior", "inferior", "cannot_tell")
    said = " ".join(calibrated(tmp_path, both, *asked).stdout.split())
    assert "of items go on, and it costs 9.75 USD per 1,000 items." in said
    assert isinstance(calibrated(tmp_path, both, "--cascade", "mini").exception, CalibrationError)
