"""Result files that score or label probes: DR3-Eval's metrics, the gym's citations, ReportBench's cited statements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from annotation.errors import ImportingError
from annotation.protocol import read_protocol
from db.connect import transaction
from db.tables import Item, Report
from tests.annotation.layout_trees import put
from tests.annotation.result_trees import (
    bring_results,
    citation_file,
    dr3_depth,
    dr3_file,
    matches_file,
    stored,
    verdicts,
)
from tests.small_study import make_study, source_of, write_reports

pytestmark = pytest.mark.databases("sqlite")  # but where a test says otherwise

LONG = "The valley's reservoirs lost a third of their volume between 1994 and 2019, mostly to sediment, and the rest"
WHOLE, TWIN = f"{LONG} to evaporation.", f"{LONG} to leaks."


def shipped(engine: Engine, root: Path, name: str, topics: tuple[str, ...] = ("001", "002")) -> int:
    return make_study(engine, write_reports(root, topics, ("alpha", "beta")), protocol=without_flags(name))


def without_flags(name: str) -> str:
    return read_protocol(name)[1]


def probed(engine: Engine, root: Path, name: str, probes: dict[str, str], topic: str = "001") -> int:
    """A study of a shipped protocol with these probes (key: text) about alpha's report on the topic, and no others."""
    write_reports(root, (topic,), ("alpha",))
    study = make_study(engine, root, protocol=without_flags(name))
    with transaction(engine) as session:
        for item in session.scalars(select(Item).where(Item.study_id == study)):
            item.purpose = "attention"  # what make_study planned stays out of the way
        report = session.scalars(select(Report).where(Report.study_id == study)).one()
        for key, text in probes.items():
            session.add(
                Item(
                    study_id=study, topic_id=report.topic_id, kind="probe", report_a_id=report.id, probe=text,
                    probe_key=key, source=source_of(session, study, "A source."),
                )
            )  # fmt: skip
    return study


def answers(engine: Engine, study: int) -> list[tuple[str, str | None]]:
    table = verdicts(engine, study)
    return [
        (status, label if status == "ok" else None) for status, label in zip(table.status, table.label, strict=True)
    ]


@pytest.mark.databases("sqlite", "postgres")
def test_the_newest_file_of_each_metric_is_read_and_their_two_totals_are_not(engine: Engine, tmp_path: Path) -> None:
    study, results = shipped(engine, tmp_path / "reports", "dr3_total"), tmp_path / "results"
    dr3_file(results, "overall_quality", 40.0, dr3_depth(40), stamp="")
    dr3_file(results, "overall_quality", 60.0, dr3_depth(60), stamp="20251231_235959")
    dr3_file(results, "overall_quality", 80.0, dr3_depth(80), stamp="20260101_000000")
    dr3_file(results, "format_compliance", 66.66666666666667)
    dr3_file(results, "tool_usage", 50.0)
    put(results / "alpha/001/combined_result.json", '{"total_score": 63.8, "metrics": {}}')
    put(results / "alpha/001/eval_report.txt", "TOTAL SCORE: 64.0/100")
    report = bring_results(engine, study, results, "dr3_eval", judge="gpt-5.1")
    table = verdicts(engine, study)
    assert dict(zip(table.criterion, table.label, strict=True)) == {"DQ": "80", "IF": "66.66666666666667"}
    assert report.notes == (
        "older results left out 2: the newest of each metric is read", "files of other metrics left out 1",
    )  # fmt: skip


NO_GOLD = {"components": {"long_context": {"available": False}, "source_documents": {"available": False}}}


@pytest.mark.parametrize(
    ("metric", "score", "details", "flag"),
    [
        ("overall_quality", -1, {"error": "no valid reply after 3 attempts", "status": "failed"}, "raw:-1 failed"),
        ("overall_quality", 0.0, dr3_depth(0, "Failed to parse response"), "raw:0.0 below the scale"),
        (
            "overall_quality", 100.0, dr3_depth(100, "Extracted from unstructured response"),
            "raw:100.0 guessed from prose",
        ),
        ("information_recall", 100.0, NO_GOLD, "raw:100.0 nothing was asked"),
        ("citation_coverage", 100.0, {"total_required": 0, "cited": []}, "raw:100.0 nothing was asked"),
        ("factual_accuracy", -1, {"error": "No claims extracted", "claim_count": 0}, "raw:-1 failed"),
    ],
)  # fmt: skip
def test_a_number_that_stands_for_a_failure_or_for_nothing_asked_is_invalid(
    engine: Engine, tmp_path: Path, metric: str, score: float, details: dict[str, Any], flag: str
) -> None:
    study = shipped(engine, tmp_path / "reports", "dr3_total")
    dr3_file(tmp_path / "results", metric, score, details)
    report = bring_results(engine, study, tmp_path / "results", "dr3_eval", judge="gpt-5.1")
    assert report.statuses == {"invalid": 1}
    assert [flags for *_, flags in stored(engine)] == [[flag]]


def test_one_score_may_be_all_that_a_study_asks(engine: Engine, tmp_path: Path) -> None:
    study, results = shipped(engine, tmp_path / "reports", "dr3_depth"), tmp_path / "results"
    dr3_file(results, "overall_quality", 70.0, dr3_depth(70))
    dr3_file(results, "format_compliance", 50.0)
    bring_results(engine, study, results, "dr3_eval", judge="gpt-5.1", columns={"answer": "DQ"}, times=0.1)
    assert list(verdicts(engine, study).label) == ["7"]
    with pytest.raises(ImportingError, match=r"no such score \(there are: IR, FA, CC, IF, DQ"):
        bring_results(engine, study, results, "dr3_eval", judge="gpt-5.1", columns={"answer": "XX"})


def test_files_without_an_answer_to_the_studys_probes_are_refused(engine: Engine, tmp_path: Path) -> None:
    study = probed(engine, tmp_path / "reports", "rb_cited", {"1": "It rises."})
    dr3_file(tmp_path / "results", "factual_accuracy", 50.0)
    with pytest.raises(
        ImportingError, match="answer probes of the kinds insight, claim, document, requirement, not st"
    ):
        bring_results(engine, study, tmp_path / "results", "dr3_eval", judge="gpt-5.1")


def test_insights_keep_their_half_scores_and_an_unanswered_one_is_missing(engine: Engine, tmp_path: Path) -> None:
    study = probed(engine, tmp_path / "reports", "dr3_insights", {"sandbox-1": WHOLE, "user-1": "Sediment.", "user-2": "Leaks."})  # fmt: skip
    found = [
        {"id": 1, "score": 0.5, "explanation": "", "insight_text": "Sediment."},
        {"id": 2, "score": 0.0, "explanation": "No result from LLM for this insight", "insight_text": "Leaks."},
    ]
    cut = [{"id": 1, "score": 1.0, "explanation": "", "insight_text": f"{WHOLE[:100]}..."}]
    parts = {
        "long_context": {"available": True, "details": {"evaluation_result": {"covered_insights": cut}}},
        "source_documents": {"available": True, "details": {"evaluation_result": {"covered_insights": found}}},
    }
    dr3_file(tmp_path / "results", "information_recall", 50.0, {"components": parts})
    report = bring_results(engine, study, tmp_path / "results", "dr3_eval", judge="gpt-5.1")
    assert answers(engine, study) == [("ok", "full"), ("ok", "partial"), ("missing", None)]
    assert report.notes == (
        "texts cut to 100 characters 1: matched by their beginning; nobody can label them again from these files",
    )


@pytest.mark.databases("sqlite", "postgres")
def test_claims_that_begin_alike_are_not_told_apart_by_100_characters(engine: Engine, tmp_path: Path) -> None:
    study = probed(engine, tmp_path / "reports", "dr3_factual", {"one": WHOLE, "two": TWIN, "three": "Short."})
    checked = [
        {"id": 1, "claim_text": WHOLE[:100], "supported": True, "citation_results": []},
        {
            "id": 2, "claim_text": "Short.", "supported": False,
            "citation_results": [{"citation": "a.md", "supported": False, "explanation": "No result"}],
        },
    ]  # fmt: skip
    dr3_file(tmp_path / "results", "factual_accuracy", 50.0, {"verification_result": {"verifications": checked}})
    report = bring_results(engine, study, tmp_path / "results", "dr3_eval", judge="gpt-5.1")
    assert answers(engine, study) == [("invalid", None)], "a claim without a result is not an unsupported one"
    assert [reason for reason in report.unmatched if "2 probes" in reason and "it may be any of them" in reason]


def test_words_that_stand_under_two_claims_are_found_by_number_and_others_whatever_their_key_is(
    engine: Engine, tmp_path: Path
) -> None:
    study = probed(engine, tmp_path / "reports", "dr3_factual", {"1.1": "Short.", "own": "Other."})
    checked = [
        {"id": number, "claim_text": text, "supported": supported, "citation_results": []}
        for number, (text, supported) in enumerate([("Short.", True), ("Short.", False), ("Other.", False)], start=1)
    ]
    dr3_file(tmp_path / "results", "factual_accuracy", 50.0, {"verification_result": {"verifications": checked}})
    report = bring_results(engine, study, tmp_path / "results", "dr3_eval", judge="gpt-5.1")
    assert answers(engine, study) == [("ok", "true"), ("ok", "false")]
    assert len(report.unmatched) == 1


OF_WLC = {"layout": "wlc", "judge": "gemini-2.5-pro", "system": "alpha"}


def test_verdicts_on_wikipedias_facts_go_by_number_and_words_together(engine: Engine, tmp_path: Path) -> None:
    study = probed(engine, tmp_path / "a", "wlc_fact_coverage", {"1": "One.", "2": "Two.", "3": "One."})
    said = [("One.", "consistent"), ("Two.", ""), ("Else.", "consistent")]
    listed = [{"gt_sentence": text, "verify": {"verdict": verdict, "reason": "."}} for text, verdict in said]
    put(tmp_path / "f/001_verifiability.json", json.dumps({"title": "001", "coverage_alignments": listed}))
    report = bring_results(engine, study, tmp_path / "f", **OF_WLC)
    assert answers(engine, study) == [("ok", "consistent"), ("missing", None)]
    assert len(report.unmatched) == 1, "the third fact has other words"


def test_a_verdict_on_a_cited_statement_is_of_the_page_it_cites(engine: Engine, tmp_path: Path) -> None:
    study = probed(engine, tmp_path / "a", "wlc_citation", {"1-1": "One.", "1-3": "One.", "2-1": "Two."})
    cited = [(0, "3", "One.", "conflict"), (0, "1", "One.", "support"), (1, "1", "Two.", "not_support")]
    results = [
        {"statement_index": index, "citation_num": mark, "statement": text, "verdict": verdict, "reason": "."}
        for index, mark, text, verdict in cited
    ]
    file = put(tmp_path / "s/001_citation.json", json.dumps({"title": "001", "results": results}))
    bring_results(engine, study, tmp_path / "s", **OF_WLC)
    assert answers(engine, study) == [("ok", "support"), ("ok", "conflict"), ("ok", "not_support")]
    put(file, json.dumps({"title": "001", "results": [{"verdict": "support"}]}))
    with pytest.raises(ImportingError, match="results 1: no 'statement_index'; restore the file"):
        bring_results(engine, study, tmp_path / "s", **OF_WLC)
    put(file, json.dumps({"title": "001"}))
    with pytest.raises(ImportingError, match=r"no list 'results'; give files that end in _citation\.json"):
        bring_results(engine, study, tmp_path / "s", **OF_WLC)


def test_required_documents_and_checklists_come_in_as_answers(engine: Engine, tmp_path: Path) -> None:
    documents = probed(engine, tmp_path / "a", "dr3_citation_coverage", {"1": "Water report", "2": "plan.pdf"})
    details = {"cited": ["Water report"], "missing": ["plan.pdf"], "total_required": 2}
    dr3_file(tmp_path / "results", "citation_coverage", 50.0, details)
    bring_results(engine, documents, tmp_path / "results", "dr3_eval", judge="gpt-5.1")
    assert answers(engine, documents) == [("ok", "yes"), ("ok", "no")]


def test_a_requirement_that_was_not_answered_is_not_an_unmet_one(engine: Engine, tmp_path: Path) -> None:
    study = probed(engine, tmp_path / "a", "dr3_checklist", {"1": "Name three.", "2": "Compare.", "3": "In German."})
    checks = [
        {"id": 1, "requirement": "Name three.", "satisfied": True, "status": "success"},
        {"id": 2, "requirement": "Compare.", "satisfied": None, "status": "error"},
        {"id": 3, "requirement": "In German.", "satisfied": "false", "status": "success"},
    ]
    dr3_file(tmp_path / "results", "format_compliance", 50.0, {"checklist_evaluation": checks})
    bring_results(engine, study, tmp_path / "results", "dr3_eval", judge="gpt-5.1")
    assert answers(engine, study) == [("ok", "true"), ("missing", None), ("ok", "false")]


def test_citations_of_the_gym_without_a_page_are_uncited_and_a_text_or_null_gives_no_label(
    engine: Engine, tmp_path: Path
) -> None:
    study = probed(engine, tmp_path / "a", "drg_citation_support", {"claim_1": "One.", "claim_2": "Two.", "claim_3": "Three.", "claim_4": "Four."})  # fmt: skip
    claims = {
        "claim_1": {"claim": "One.", "urls": ["https://a"], "score": 0.5, "justification": "in part"},
        "claim_2": {"claim": "Two.", "urls": ["https://b"], "score": 0, "justification": "'support'"},
        "claim_3": {"claim": "Three.", "urls": ["https://c"], "score": 0.0, "justification": "it says otherwise"},
        "claim_4": {"claim": "Four.", "urls": [], "score": 0, "justification": ""},
    }
    content = {
        "001": {"score": 0.16666666666666666, "detailed": claims},
        "002": {"score": 0, "detailed": "No URLs found in text."}, "003": {"score": 0, "detailed": None},
    }  # fmt: skip
    citation_file(tmp_path / "results", content)
    report = bring_results(engine, study, tmp_path / "results", "deepresearchgym")
    assert answers(engine, study) == [("ok", "partial"), ("invalid", None), ("ok", "no"), ("ok", "uncited")]
    assert report.notes == (
        "reports without a judged claim 1: No URLs found in text; they count as 0 there",
        "reports without a judged claim 1: no claim was extracted; they count as 0 there",
    )


def test_cited_statements_are_a_line_a_url_and_one_that_was_not_found_is_not_matched(
    engine: Engine, tmp_path: Path
) -> None:
    probes = {"1": "It rises.", "2": "It rises.", "1-2": "It falls.", "3": "It stays.", "4": "It ends."}
    study = probed(engine, tmp_path / "a", "rb_cited", probes, topic="2312.04861")
    rows: list[tuple[Any, ...]] = [
        (1, "It rises.", "The sea rises.", "https://a", "True", "it says so"),
        (2, "It rises.", "The sea falls.", "https://b", "False", "it does not"),
        (1, "It falls.", "NOT_FOUND", "https://a", "True", "nothing contradicts it"),
        (3, "It stays.", "The sea stays.", "https://c", "", ""),
        (4, "It ends.", "The sea ends.", "https://d", "False", "JSONDecodeError: Expecting value"),
        (5, "It ends.", "It ends so.", "https://e", "True", "a second source, which is no probe of this study"),
    ]
    matches_file(tmp_path / "results", rows)
    matches_file(tmp_path / "results", rows[:1], "citations.csv")  # the same verdicts before the last step
    report = bring_results(engine, study, tmp_path / "results", "reportbench_citations", judge="gpt-4o")
    assert answers(engine, study) == [
        ("ok", "true"), ("ok", "false"), ("ok", "false"), ("missing", None), ("invalid", None),
    ]  # fmt: skip
    assert report.notes == ("NOT_FOUND 1: not matched here, matched in their rate",)
    assert len(report.unmatched) == 1, "the same words under another source are another probe"


def test_a_list_of_citations_without_verdicts_is_no_result(engine: Engine, tmp_path: Path) -> None:
    study = probed(engine, tmp_path / "a", "rb_cited", {"1": "It rises."}, topic="2312.04861")
    put(tmp_path / "results/alpha/2312.04861/citations.csv", "ID,statement,url\n1,It rises.,https://a\n")
    with pytest.raises(ImportingError, match=r"no final\.csv, and no citations\.csv with a column 'match'"):
        bring_results(engine, study, tmp_path / "results", "reportbench_citations", judge="gpt-4o")
