"""What ReportBench's code does wrong (SEEDS 5), each beside what happens here."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import Engine, select

from annotation.importing.claims.probe_records import ProbeOptions
from annotation.importing.labels.results import ResultOptions
from annotation.importing.layouts import PROBE_LAYOUTS
from annotation.importing.published_labels.results_reportbench import (
    read_reportbench_citations,
    read_reportbench_results,
)
from annotation.judges.defining.panel import decide
from annotation.judges.planning.plan import plan_judges
from annotation.judges.replies.reply import parse_reply
from annotation.judges.running.run import run_judges
from calibration.calibrate import calibrate
from calibration.results import Aggregate, CalibrationSettings, Estimate
from calibration.study.joining import study_of
from calibration.systems.aggregates import aggregate_estimates
from db.connect import reading
from db.tables import Label
from tests.annotation.judges import conftest as provider
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import attempts, judges, make_study
from tests.annotation.layout_trees import put
from tests.annotation.probe_trees import table
from tests.calibration.aggregated import probe

sqlite = provider.sqlite  # the fixture
SURVEY = "openai/2401.00011"
SETTINGS = CalibrationSettings(resamples=99)
RATES = (
    Aggregate("Match rate", "mean", ("true", "false")),
    Aggregate("Sources that cannot be read", "share", ("source_unavailable",)),
)
WORTH = {"true": 1.0, "false": 0.0, "source_unavailable": 0.0}


def vote(decision: str, reason: str, attempt: int = 1) -> dict[str, Any]:
    return {"ID": "1", "statement": "Water is wet.", "llm_model": "pro", "attempt": attempt, "decision": decision,
            "reason": reason, "success": "True"}  # fmt: skip


@pytest.mark.parametrize("reason", ["JSON解析失败: Expecting value", "验证过程出错: timeout", "无法判断", ""])
def test_a_vote_that_could_not_be_parsed_is_no_false_vote_though_it_says_success(tmp_path: Path, reason: str) -> None:
    put(tmp_path / SURVEY / "no_citations_web_verification.csv", table([vote("false", reason), vote("false", "no", 2)]))
    found = read_reportbench_results(tmp_path, ResultOptions(probe="statement"))
    assert [(row.answer, row.status) for row in found.rows] == [(None, "invalid"), ("incorrect", "ok")]


def votes(*said: str, status: str = "ok") -> list[dict[str, Any]]:
    """Twelve statements on as many surveys: two people say correct, and a judge votes so."""
    rows = []
    for number in range(12):
        rows += [probe("correct", person, f"t{number}", str(number)) for person in ("ann1", "ann2")]
        rows += [
            probe(one, "pro", f"t{number}", str(number), run=run, status="ok" if one else "invalid")
            for run, one in enumerate(said, 1)
        ]
    return rows


def measured(rows: list[dict[str, Any]]) -> dict[str, Estimate]:
    return {one.statistic: one for one in calibrate(pd.DataFrame(rows), SETTINGS).estimates if one.rater == "pro"}


def test_three_against_three_is_neither_right_nor_wrong_and_counted_by_itself() -> None:
    """Theirs: 3-3 is "wrong", so that twelve such statements are a factual accuracy of 0."""
    draw = decide({"pro": ["correct"] * 3, "flash": ["incorrect"] * 3}, {"pro": 1.0, "flash": 1.0})
    assert (draw.status, draw.label, draw.share) == ("missing", None, 0.5)
    found = measured(votes(*["correct"] * 3, *["incorrect"] * 3))
    assert "confidence_accuracy_of_votes" not in found
    assert (found["no_majority_share_of_votes"].value, found["no_majority_share_of_votes"].n) == (1.0, 12)


def test_failed_votes_take_nothing_from_a_statement_that_all_others_call_correct() -> None:
    """Theirs: 3 of 6 fail, so 3-3, so wrong. Here three votes of three, with three failures said."""
    found = measured(votes(*["correct"] * 3, *[""] * 3))
    assert found["confidence_accuracy_of_votes"].value == found["mean_confidence_of_votes"].value == 1.0
    assert found["no_majority_share_of_votes"].value == 0


@pytest.mark.parametrize(
    ("said", "kept"), [("false", "false"), ("False", "false"), (False, "false"), ("true", "true"), (True, "true")]
)
def test_the_text_false_is_not_true(said: object, kept: str) -> None:
    """Theirs: bool("false") is True."""
    raw = json.dumps({"judgments": [{"criterion": "match", "rationale": "so", "label": said}]})
    (answer,) = parse_reply(raw, ("match",), ("true", "false", "source_unavailable"), task_type="probe_label")
    assert (answer.status, answer.choice) == ("ok", kept)


@pytest.mark.parametrize("broken", [0, 5, 10])
def test_broken_links_do_not_raise_the_rate_unseen(broken: int) -> None:
    """Of ten pages eight match; then the pages of the two that do not, and others, are gone."""
    answers = ["true"] * 8 + ["false"] * 2
    rows = [probe(one, topic=f"t{topic}", key=str(k)) for topic in range(4) for k, one in enumerate(answers)]
    rows += [probe("source_unavailable", topic=f"t{topic}", key=f"x{k}") for topic in range(4) for k in range(broken)]
    chosen = CalibrationSettings(resamples=99, aggregates=RATES, answer_values=WORTH)
    found, _ = aggregate_estimates(study_of(pd.DataFrame(rows), chosen), chosen)
    value = {
        one.criterion: one.value for one in found if one.statistic == "aggregate" and one.rater == "each_annotator"
    }
    assert value["Match rate"] == pytest.approx(0.8)
    assert value["Sources that cannot be read"] == pytest.approx(broken / (10 + broken)), "beside it, always"


def test_a_system_none_of_whose_pages_can_be_read_has_no_rate_instead_of_a_perfect_one() -> None:
    rows = [probe("source_unavailable", topic=f"t{topic}", key=str(k)) for topic in range(4) for k in range(3)]
    rows += [probe("true", topic=f"t{topic}", key=str(k), system="y") for topic in range(4) for k in range(3)]
    chosen = CalibrationSettings(resamples=99, aggregates=RATES, answer_values=WORTH)
    found, _ = aggregate_estimates(study_of(pd.DataFrame(rows), chosen), chosen)
    rate = next(one for one in found if one.criterion == "Match rate" and one.category.endswith("x"))
    assert math.isnan(rate.value)
    assert rate.note


def test_a_provider_that_never_answers_is_asked_five_times_with_pauses_and_then_no_more(
    sqlite: Engine,
    fake: Fake,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Theirs: for ever, without a wait."""
    waited: list[int] = []

    def pause(tries: int, luck: float) -> float:
        waited.append(tries)
        return 0.01

    monkeypatch.setattr("annotation.judges.running.work.back_off_s", pause)
    fake.reset(p_500=1.0)
    study = make_study(sqlite, 1)
    chosen = judges(f'name = "j"\nmodel = "openai/fake"\napi_base = "{fake.base}"\norder = "random"\n')
    plan_judges(sqlite, study, chosen)
    summary = run_judges(sqlite, study, chosen).judges[0]
    assert (summary.done, summary.failed) == (0, 1)
    assert len(attempts(sqlite)) == 5
    assert len(waited) >= 4
    with reading(sqlite) as session:
        assert {(row.status, row.choice) for row in session.scalars(select(Label))} == {("missing", None)}


def test_a_sentence_that_was_not_found_is_no_match_and_said(tmp_path: Path) -> None:
    line = {"ID": "ab1", "statement": "Water is wet.", "source_sentence": "NOT_FOUND", "url": "https://a.org",
            "match": "True", "reason": "nothing contradicts it"}  # fmt: skip
    put(tmp_path / SURVEY / "citations.csv", table([line, line | {"ID": "cd2", "source_sentence": "Wet, it says."}]))
    found = read_reportbench_citations(tmp_path, ResultOptions(judge="gpt-4o", probe="statement"))
    assert [row.answer for row in found.rows] == ["false", "true"]
    assert found.notes == ("NOT_FOUND 1: not matched here, matched in their rate",)


def test_a_report_without_a_url_is_named_and_not_dropped_in_silence(tmp_path: Path) -> None:
    one = {"ID": "ab1", "statement": "Water is wet.", "url": "https://a.org"}
    put(tmp_path / SURVEY / "citations.csv", table([one]))
    put(tmp_path / "openai/2401.00012/citations.csv", "ID,statement,url\n")
    options = ProbeOptions(answers=("true", "false", "source_unavailable"), kind="statement")
    parsed = PROBE_LAYOUTS["reportbench"].read(tmp_path, options)
    assert len(parsed.probes) == 1
    assert "reports without a statement 1 (2401.00012 of openai)" in parsed.notes
