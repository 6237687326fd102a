"""Each layout of results from a small file, with the quirks of the published ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from annotation.errors import ImportingError
from annotation.protocol import read_protocol
from annotation.studies import criteria_of
from annotation.tool_answers.entries import Reading
from annotation.tool_answers.promptfoo import read_promptfoo
from db.connect import reading, transaction
from db.judge_tables import Judge
from db.tables import Item, Study
from tests.annotation.layout_trees import put
from tests.annotation.result_trees import (
    NO_TIE,
    RATED,
    SHARES,
    VOTES,
    bring_results,
    deepeval_run,
    gym_results,
    inspect_log,
    inspect_sample,
    points_file,
    promptfoo_log,
    promptfoo_result,
    race_file,
    stored,
    verdicts,
    votes_file,
    winners,
    writing,
)
from tests.small_study import PROBES, PROTOCOL, make_study, write_reports

pytestmark = pytest.mark.databases("sqlite")  # but where a test says otherwise

WLC = {"layout": "wlc", "judge": "gemini-2.5-pro", "system": "alpha"}
SCORED = {"topic": "tides", "system": "alpha"}
PAIR = {"topic": "tides", "system_a": "alpha", "system_b": "beta"}
KEY_POINTS = (
    PROBES.replace('"claim"', '"key point"').replace("full", "Supported").replace('id = "part"', 'id = "Omitted"')
)


def wlc_study(engine: Engine, root: Path, protocol: str = PROTOCOL) -> int:
    return make_study(engine, write_reports_of(root), protocol=protocol)


def write_reports_of(root: Path) -> Path:
    """As in small_study, but one of the systems is called wikipedia."""
    write_reports(root, systems=("alpha", "gamma"))
    (root / "gamma").rename(root / "wikipedia")
    return root


@pytest.mark.parametrize(
    ("given", "expected", "status"),
    [
        ("gt", "wikipedia", "ok"), ("gen", "alpha", "ok"), ("tie", None, "invalid"), ("2", None, "invalid"),
        ("", None, "missing"),
    ],
)  # fmt: skip
def test_a_failed_reply_that_looks_like_a_tie_is_invalid_where_ties_were_off(
    engine: Engine, tmp_path: Path, given: str, expected: str | None, status: str
) -> None:
    study = wlc_study(engine, tmp_path / "reports")
    put(tmp_path / "results/run/Tides_writing.json", writing({"clear": given, "deep": "gt"}))
    report = bring_results(engine, study, tmp_path / "results", **WLC)
    assert winners(engine, study, "gemini-2.5-pro") == {("tides", "clear"): expected, ("tides", "deep"): "wikipedia"}
    assert report.statuses == ({"ok": 2} if status == "ok" else {status: 1, "ok": 1})
    assert report.order_unknown == 2


def test_where_ties_were_on_a_tie_stays_and_the_doubt_is_said(engine: Engine, tmp_path: Path) -> None:
    study = wlc_study(engine, tmp_path / "reports")
    path = put(tmp_path / "tides_writing.json", writing({"clear": "tie"}, topic="", allow_tie=True))
    report = bring_results(engine, study, path, **WLC)  # the topic comes from the file's name
    assert winners(engine, study, "gemini-2.5-pro") == {("tides", "clear"): "tie"}
    assert report.notes == ("ties 1: in these files a failed reply looks the same",)


def test_who_was_first_is_recorded_where_the_user_declares_it(engine: Engine, tmp_path: Path) -> None:
    study = wlc_study(engine, tmp_path / "reports")
    path = put(tmp_path / "tides_writing.json", writing({"clear": "gt"}))
    report = bring_results(engine, study, path, **WLC, first="wikipedia")
    table = verdicts(engine, study)
    assert report.order_unknown == 0
    assert {"AB": table.system_a[0], "BA": table.system_b[0]}[table.presentation[0]] == "wikipedia"
    assert [choice for _, _, choice, *_ in stored(engine)] == ["left"]


def test_the_published_shape_of_one_article_gives_two_of_39(engine: Engine, tmp_path: Path) -> None:
    """SEEDS.md: agent wins 1/21, 1/8, 0/10; here by the ids of the shipped protocol."""
    study = wlc_study(engine, tmp_path / "reports", read_protocol("wlc_writing_39")[1])
    with reading(engine) as session:
        codes = [(row.code, row.category) for row in criteria_of(session, session.get_one(Study, study))]
    categories = list(dict.fromkeys(category for _, category in codes))
    assert [sum(mine == category for _, mine in codes) for category in categories] == [21, 8, 10]
    wins = {next(code for code, mine in codes if mine == category) for category in categories[:2]}
    answers = {code: "gen" if code in wins else "gt" for code, _ in codes}
    bring_results(engine, study, put(tmp_path / "tides_writing.json", writing(answers)), **WLC)
    found = winners(engine, study, "gemini-2.5-pro")
    assert len(found) == 39
    assert {code for (_, code), winner in found.items() if winner == "alpha"} == wins


def test_scores_of_the_gym_come_in_as_ratings_and_an_absent_one_is_missing(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports", protocol=RATED)
    put(gym_results(tmp_path / "results") / "ann1/lost/A.txt", "text")
    report = bring_results(engine, study, tmp_path / "results", "deepresearchgym")
    table = verdicts(engine, study)
    found = {(row.system_a, row.criterion): row.label for row in table.itertuples() if row.status == "ok"}
    assert found == {
        ("alpha", "clear"): "8", ("alpha", "deep"): "7", ("beta", "clear"): "6", ("beta", "deep"): "7",
        ("gamma", "clear"): "9",
    }  # fmt: skip
    assert set(table.rater_id) == {"gpt-4.1-mini"}
    assert report.statuses == {"ok": 5, "missing": 1}
    assert report.notes == (
        "folders without a choice 1: both texts are still there",
        "choices left out 1: no mapping.txt says whose report A.txt or B.txt is",
        "result files about something else left out 3",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("protocol", "tie", "left_out"),
    [(PROTOCOL, "tie", {}), (NO_TIE, "absent", {"equal scores, where the study has no ties": 1})],
)
def test_preferences_derived_from_scores_are_marked_and_equal_scores_counted(
    engine: Engine, tmp_path: Path, protocol: str, tie: str, left_out: dict[str, int]
) -> None:
    study = make_study(engine, tmp_path / "reports", protocol=protocol)
    report = bring_results(engine, study, gym_results(tmp_path / "results"), "deepresearchgym")
    table = verdicts(engine, study)
    found: dict[Any, Any] = {
        (*sorted((row.system_a, row.system_b)), row.criterion): {"A": row.system_a, "B": row.system_b}.get(
            row.label, row.label if row.status == "ok" else row.status
        )
        for row in table.itertuples()
    }
    assert found.pop(("alpha", "beta", "deep"), "absent") == tie
    assert found == {
        ("alpha", "beta", "clear"): "alpha", ("alpha", "gamma", "clear"): "gamma", ("beta", "gamma", "clear"): "gamma",
        ("alpha", "gamma", "deep"): "missing", ("beta", "gamma", "deep"): "missing",
    }  # fmt: skip
    people = {"people's rows; calipers import labels takes them": 2}
    assert report.left_out == left_out | people
    assert all("derived" in flags for *_, flags in stored(engine))


def test_one_score_may_decide_the_studys_only_criterion(engine: Engine, tmp_path: Path) -> None:
    one = PROTOCOL.rpartition("[[criterion]]")[0]
    study = make_study(engine, tmp_path / "reports", protocol=one)
    bring_results(engine, study, gym_results(tmp_path / "results"), "deepresearchgym", columns={"answer": "Clear"})
    assert set(verdicts(engine, study).criterion) == {"clear"}
    assert len(verdicts(engine, study)) == 3


def test_a_persons_choice_is_the_file_that_remains(engine: Engine, tmp_path: Path) -> None:
    one = PROTOCOL.rpartition("[[criterion]]")[0]
    study = make_study(engine, tmp_path / "reports", protocol=one)
    root = gym_results(tmp_path / "results")
    report = bring_results(engine, study, root, "deepresearchgym", kind="labels", columns={"answer": "Clear"})
    assert winners(engine, study, "ann1") == {("tides", "clear"): "alpha", ("bread", "clear"): "beta"}
    assert set(verdicts(engine, study).query("rater_id == 'ann1'").rater_kind) == {"human"}
    assert report.order_unknown == 3, "of preferences made of scores; mapping.txt says what a person saw as A"


@pytest.mark.databases("sqlite", "postgres")
def test_key_points_are_found_by_number(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports", protocol=KEY_POINTS)
    number_probes(engine)
    labels = {"1": ["Supported", "said"], "2": ["Omitted", ""], "3": [None, "the call failed"], "9": ["Omitted", ""]}
    report = bring_results(engine, study, points_file(tmp_path, labels).parents[1], "deepresearchgym")
    table = verdicts(engine, study)
    assert list(table.label.astype(object).fillna("–")) == ["Supported", "Omitted", "–"]
    assert (report.rows, report.statuses) == (4, {"ok": 2, "missing": 1})
    assert list(report.unmatched) == ["no probe of alpha on topic 'tides' is called or begins like '9'"]


def number_probes(engine: Engine) -> None:
    """Key points are numbered from 1 within each topic, as aggregated key point files number them."""
    with transaction(engine) as session:
        rows = session.scalars(select(Item).where(Item.kind == "probe").order_by(Item.id)).all()
        for place, row in enumerate(rows):
            row.probe_key = str(place % 3 + 1)


def test_race_dimensions_come_in_as_shares_and_failed_lines_stay_missing(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports", protocol=SHARES)
    report = bring_results(engine, study, race_file(tmp_path / "results").parents[2], "race", judge="gemini")
    assert report.statuses == {"ok": 7, "missing": 5}
    table = verdicts(engine, study).set_index(["cluster_id", "criterion"])
    assert table.label["tides", "comprehensiveness"] == "0.4721359549995794"
    assert table.status["bread", "insight"] == table.status["noise", "readability"] == "missing"
    assert set(table.system_a) == {"alpha"}
    assert report.notes == ("overall_score left out 1: it is worked out from the four",)


@pytest.mark.databases("sqlite", "postgres")
def test_shares_are_never_taken_for_ratings_of_another_scale(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports", protocol=SHARES.replace("max = 1", "max = 10"))
    with pytest.raises(
        ImportingError, match=r"the file's scores run from 0 to 1, the study's from 0 to 10; pass --times"
    ):
        bring_results(engine, study, race_file(tmp_path / "results"), "race", judge="gemini")


@pytest.mark.databases("sqlite", "postgres")
def test_votes_keep_six_apart_and_a_false_vote_that_is_an_exception_is_invalid(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, write_reports(tmp_path / "reports", ("2312.04861",)), protocol=VOTES)
    says = "It rises twice a day."
    rows: list[tuple[Any, ...]] = [
        ("s1", says, "gemini-2.5-pro", 1, True, "a tide table says so", True),
        ("s1", says, "gemini-2.5-pro", 2, False, "JSON解析失败: Expecting value", True),
        ("s1", says, "gemini-2.5-pro", 3, "错误", "no tide table says so", True),
        ("s1", says, "gemini-2.5-flash", 1, "正确", "yes", True),
        ("s1", says, "gemini-2.5-flash", 2, False, "验证过程出错: timeout", True),
        ("s1", says, "gemini-2.5-flash", 3, False, "TimeoutError: 60 s", False),
        ("s2", "It falls  twice a day.", "gemini-2.5-flash", 1, False, "无法判断", True),
    ]
    report = bring_results(engine, study, votes_file(tmp_path / "results", rows).parents[2], "reportbench")
    table = verdicts(engine, study)
    votes = table[table.item_id == table.item_id.min()].astype({"label": object}).fillna({"label": ""})
    assert [(row.rater_id, row.run, row.status, row.label) for row in votes.itertuples()] == [
        ("gemini-2.5-flash", 1, "ok", "correct"), ("gemini-2.5-flash", 2, "invalid", ""),
        ("gemini-2.5-flash", 3, "invalid", ""), ("gemini-2.5-pro", 1, "ok", "correct"),
        ("gemini-2.5-pro", 2, "invalid", ""), ("gemini-2.5-pro", 3, "ok", "incorrect"),
    ]  # fmt: skip
    assert report.statuses == {"ok": 3, "invalid": 4}


def test_a_log_of_inspect_gives_one_answer_a_scorer_with_its_grader_as_the_judge(
    engine: Engine, tmp_path: Path
) -> None:
    study = make_study(engine, tmp_path / "reports", protocol=RATED)
    samples = [
        inspect_sample(
            SCORED, {"clear": {"value": 7.5, "explanation": "it reads well", "metadata": {"system": "alpha"}}}
        ),
        inspect_sample(
            SCORED,
            {"clear": {"value": 7}, "deep": {"value": float("nan")}},
            epoch=2,
            model_usage={"mini": {"input_tokens": 9}},
        ),
        inspect_sample(SCORED | {"system": "beta"}, {"rubric": {"value": {"clear": 4, "deep": None}}}),
        inspect_sample(SCORED | {"system": "beta"}, {}, epoch=3, error={"message": "out of time"}),
        inspect_sample(SCORED, {}, epoch=4),
    ]
    report = bring_results(engine, study, put(tmp_path / "log.json", inspect_log(samples)), "inspect")
    table = verdicts(engine, study).fillna({"label": "–"})
    assert [(row.system_a, row.criterion, row.run, row.label, row.status) for row in table.itertuples()] == [
        ("alpha", "clear", 1, "7.5", "ok"), ("alpha", "clear", 2, "7", "ok"), ("alpha", "deep", 2, "–", "missing"),
        ("beta", "clear", 1, "4", "ok"), ("beta", "deep", 1, "–", "missing"),
        ("beta", "clear", 3, "–", "missing"), ("beta", "deep", 3, "–", "missing"),
    ]  # fmt: skip
    assert report.raters == {"mini": 7}
    unpriced = "answers with the judge's tokens and without a price (cost_usd in a score's metadata is one) 2"
    assert report.notes == ("samples without a score 1", unpriced)


def test_places_of_a_log_are_named_by_the_user(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    sample = inspect_sample(
        {"qid": "tides", "one": "alpha", "two": "beta", "shown": "beta"},
        {"choice": {"value": "C", "answer": "first", "metadata": {"asked": "deep"}}},
    )
    places = {
        "topic": "metadata.qid", "system_a": "metadata.one", "system_b": "metadata.two", "first": "metadata.shown",
        "criterion": "score.metadata.asked", "answer": "score.answer", "judge": "eval.model",
    }  # fmt: skip
    path = put(tmp_path / "log.json", inspect_log([sample]))
    bring_results(engine, study, path, "inspect", columns=places, labels_are="sides")
    assert winners(engine, study, "openai/o3") == {("tides", "deep"): "beta"}
    assert [choice for _, _, choice, *_ in stored(engine)] == ["left"]


def test_promptfoo_gives_one_answer_a_metric_and_a_failed_call_is_missing(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports", protocol=RATED)
    results = [
        promptfoo_result(SCORED, [("clear", 0.75, "mostly"), ("deep", 0.5, "half")]),
        promptfoo_result(SCORED | {"system": "beta"}, [("clear", 0, "rate limit")], failureReason=2, error="429"),
        promptfoo_result(SCORED | {"system": "gamma"}, []),
    ]
    path = put(tmp_path / "results.json", promptfoo_log(results))
    report = bring_results(engine, study, path, "promptfoo", judge="rubric", times=10.0)
    table = verdicts(engine, study).fillna({"label": "–"})
    assert [(row.system_a, row.criterion, row.label, row.status) for row in table.itertuples()] == [
        ("alpha", "clear", "7.5", "ok"), ("alpha", "deep", "5", "ok"), ("beta", "clear", "–", "missing"),
    ]  # fmt: skip
    assert report.notes == ("results without an assertion that names a metric or that a model grades 1",)
    lines = put(tmp_path / "lines.jsonl", "".join(json.dumps(result) + "\n" for result in results))
    assert bring_results(engine, study, lines, "promptfoo", judge="rubric", times=10.0).unchanged == 3


def test_promptfoo_s_rubrics_without_a_metric_are_told_where_several_are_one_criterion(tmp_path: Path) -> None:
    results = [
        promptfoo_result({"topic": name, "system": "alpha"}, [("", 1, "yes")]) for name in ("tides", "bread", "salt")
    ]
    for result, asked in zip(results, ("Is it deep?", "Is it clear?", "Is it clear?"), strict=True):
        result["gradingResult"]["componentResults"][0]["assertion"]["value"] = asked
    path = put(tmp_path / "results.json", promptfoo_log(results))
    assert read_promptfoo(path, Reading()).notes() == (
        "different texts that are one criterion, 'llm-rubric', for want of a metric (name each in promptfoo's file) 2",
    )


def test_promptfoo_may_have_asked_the_judge_itself(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    result = promptfoo_result(PAIR | {"criterion": "deep"}, [], response={"output": "B"})
    path = put(tmp_path / "results.json", promptfoo_log([result]))
    places = {"answer": "response.output", "judge": "provider.id"}
    bring_results(engine, study, path, "promptfoo", columns=places)
    assert winners(engine, study, "openai:o3") == {("tides", "deep"): "beta"}


@pytest.mark.databases("sqlite", "postgres")
def test_deepeval_metrics_come_in_under_their_own_names(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports", protocol=RATED)
    metrics = [
        {"name": "Clear [GEval]", "score": 0.8, "reason": "it reads well"},
        {"name": "Deep [GEval]", "score": 0.0, "error": "no JSON in the reply"},
    ]
    path = put(tmp_path / "20260101_000000", deepeval_run(SCORED, metrics))
    report = bring_results(engine, study, path, "deepeval", times=10.0)
    table = verdicts(engine, study).fillna({"label": "–"})
    assert [(row.criterion, row.label, row.status, row.rater_id) for row in table.itertuples()] == [
        ("clear", "8", "ok", "mini"), ("deep", "–", "missing", "mini"),
    ]  # fmt: skip
    assert report.matched_by_fallback == ("Clear -> clear", "Deep -> deep")
    with reading(engine) as session:
        assert session.scalars(select(Judge.name)).all() == ["mini"]
