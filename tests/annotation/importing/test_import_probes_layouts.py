"""Each published tree of probes, with its quirks: the right texts, keys and tags, about the right reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import Engine

from annotation.errors import ImportingError
from annotation.importing.labels.results import ResultRow
from annotation.importing.labels.results_match import StudyPlaces
from annotation.passages import nearest
from annotation.protocol import read_protocol
from db.connect import reading
from db.tables import Study
from tests.annotation.layout_trees import put
from tests.annotation.probe_trees import (
    asking,
    bring_probes,
    fact_probes,
    gym_probes,
    items_of,
    read_probes,
    study_of,
    survey_probes,
    task_probes,
    wiki_probes,
)
from tests.annotation.result_trees import bring_results, verdicts
from tests.small_study import PROBES

pytestmark = pytest.mark.databases("sqlite")  # but where a test says otherwise

CLAIMS = asking("claim", "sources")
STATEMENTS = asking("statement", "sources")
NOT_CITED = STATEMENTS.replace('    {id = "source_unavailable", text = "The source did not load", weight = 0.0},\n', "")
TREES = {
    "deepresearchgym": gym_probes,
    "dr3_eval": task_probes,
    "wlc": wiki_probes,
    "reportbench": survey_probes,
    "fact": fact_probes,
}
LINE = "Fall_River_New_Bedford_Line"


@pytest.mark.databases("sqlite", "postgres")
def test_key_points_are_about_every_report_of_their_query_by_their_number(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "x", asking("key point"), topics=("12", "7"), systems=("alpha", "b_custom"))
    report = bring_probes(engine, study, gym_probes(tmp_path / "gym"), "deepresearchgym")
    found = items_of(engine, study)
    assert set(found) == {("12", system, key) for system in ("alpha", "b_custom") for key in ("1", "2")}
    assert found["12", "alpha", "2"].probe == 'It "falls",\nsays 潮汐.'
    assert report.left_out == {"topics that the study does not have": ("99",)}
    assert report.notes == ("queries without key points 2 (7, 8)",)


def test_results_made_elsewhere_find_one_key_about_each_system(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "x", asking("key point"), topics=("12", "7"), systems=("alpha", "b_custom"))
    bring_probes(engine, study, gym_probes(tmp_path / "gym"), "deepresearchgym")
    found = items_of(engine, study)
    with reading(engine) as session:
        places = StudyPlaces(session, session.get_one(Study, study))
        for system in ("alpha", "b_custom"):
            row = ResultRow("x", "judge", "12", (system,), "", "full", probe="1")
            assert places.place(row).item.id == found["12", system, "1"].id


def test_claims_come_with_the_pages_they_cite(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "x", CLAIMS, topics=("12", "13"))
    root = gym_probes(tmp_path / "gym")
    report = bring_probes(engine, study, root, "deepresearchgym", sources=root / "pages")
    found = items_of(engine, study)
    assert {key: item.context for key, item in found.items()} == {
        ("12", "alpha", "claim_1"): "Salt was mined long ago.\n",
        ("12", "alpha", "claim_3"): (
            "## Source 1\n\nSalt was mined long ago.\n\n\n## Source 2\n\nSalt was made today.\n"
        ),
    }
    assert report.notes == ("reports without claims 2",)
    (root / "pages/pages.csv").write_text("url,file\nhttps://a.org/1,one.txt\n")
    again = read_probes(root, "deepresearchgym", CLAIMS, sources=root / "pages")
    assert again.notes == ("reports without claims 2", "cited pages not fetched 1 (https://a.org/2)")
    with pytest.raises(ImportingError, match="the claims name the pages they cite but do not hold their text"):
        read_probes(root, "deepresearchgym", CLAIMS)
    put(root / "reports/alpha/evaluation_results_citation_o3.json", "{}")
    problems = read_probes(root, "deepresearchgym", CLAIMS, sources=root / "pages").problems
    assert "each judge extracted its own claims (evaluation_results_citation_o3.json lies beside it)" in problems[0]


def test_insights_carry_where_they_come_from(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "x", asking("insight"), topics=("001", "002"), systems=("alpha",))
    report = bring_probes(engine, study, task_probes(tmp_path / "dr3"), "dr3_eval")
    found = items_of(engine, study)
    assert {key: (item.probe, item.tag) for (_, _, key), item in found.items()} == {
        "source_documents-1": ("甲比乙高。", "user"), "source_documents-2": ("Two.", "user"),
        "long_context-1": ("From the sandbox.", "sandbox"), "long_context-2": ("And this.", "sandbox"),
    }  # fmt: skip
    assert report.tags == {"sandbox": 2, "user": 2}
    assert report.notes == (
        "files without any insight 1 (ground_truth/datasets_en/002/gold_insights_from_source.json)",
    )


def test_a_checklist_is_tagged_by_category_and_numbered_as_published(tmp_path: Path) -> None:
    probes = read_probes(task_probes(tmp_path), "dr3_eval", asking("requirement")).probes
    assert [(one.topic, one.key, one.text, one.tag) for one in probes] == [
        ("001", "1", "Compares costs.", "evidence"), ("001", "2b", "Names dates.", "structure"),
    ]  # fmt: skip


def test_required_documents_are_read_from_an_array_or_lines_under_one_name(tmp_path: Path) -> None:
    probes = read_probes(task_probes(tmp_path), "dr3_eval", asking("document")).probes
    assert [(one.topic, one.key) for one in probes] == [
        ("001", "潮汐 - 百科"), ("001", "Tides"), ("002", "Only one"),
    ]  # fmt: skip


def test_published_claims_that_were_cut_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportingError, match="the first 100 characters of each claim only"):
        read_probes(task_probes(tmp_path), "dr3_eval", PROBES)


def test_two_data_sets_with_the_same_tasks_are_told_apart_by_the_user(tmp_path: Path) -> None:
    root = task_probes(tmp_path)
    put(root / "ground_truth/datasets_zh/001/checklist.json", '{"checklist": [{"id": 1, "requirement": "另一个。"}]}')
    problems = read_probes(root, "dr3_eval", asking("requirement")).problems
    assert [problem.partition(": ")[2] for problem in problems] == [
        "task '001' also lies in ground_truth/datasets_en/001; give the folder of one data set"
    ]
    one = read_probes(root / "ground_truth/datasets_zh", "dr3_eval", asking("requirement"))
    assert [probe.text for probe in one.probes] == ["另一个。"]


def test_facts_are_put_to_every_report_but_the_reference(engine: Engine, tmp_path: Path) -> None:
    study = study_of(
        engine, tmp_path / "x", asking("fact"), topics=(LINE, "Salt"), systems=("alpha", "beta", "wiki"),
        reference="wiki",
    )  # fmt: skip
    report = bring_probes(engine, study, wiki_probes(tmp_path / "wlc"), "wlc")
    assert set(items_of(engine, study)) == {(LINE, system, key) for system in ("alpha", "beta") for key in ("1", "2")}
    assert report.notes == ("articles without facts 1 (Salt)",)


def test_where_sources_are_shown_a_fact_stands_beside_the_most_alike_statements_of_the_report(
    engine: Engine, tmp_path: Path
) -> None:
    study = study_of(engine, tmp_path / "x", asking("fact", "sources"), topics=(LINE,), systems=("alpha", "beta"))
    bring_probes(engine, study, wiki_probes(tmp_path / "wlc"), "wlc")
    found = items_of(engine, study)
    assert set(found) == {(LINE, "alpha", "1"), (LINE, "alpha", "2")}  # beta's statements were not extracted
    assert (found[LINE, "alpha", "1"].context or "").startswith("- The line was opened in 1875 by a railroad.\n")
    assert (found[LINE, "alpha", "2"].context or "").startswith("- Its closing came in 1958.")


def test_the_nearest_of_nothing_is_nothing() -> None:
    assert nearest(["tides rise"], [], 3) == [[]]
    assert nearest(["tides rise"], ["bread", "the tides", "tides rise here"], 1) == [[2]]
    assert nearest(["!", "tides"], ["tides"], 1) == [[], [0]]


OPENED, CLOSED = "Opened in\n1875.", "Closed in 1958."


@pytest.mark.parametrize(("sources", "second"), [(False, None), (True, CLOSED)], ids=["the tree's pages", "and others"])
def test_a_statement_is_a_probe_for_every_page_it_cites(
    engine: Engine, tmp_path: Path, sources: bool, second: str | None
) -> None:
    """The text is the tree's own, where it could be fetched; a page of one's own goes before it."""
    study = study_of(engine, tmp_path / "x", STATEMENTS, topics=(LINE,))
    root = wiki_probes(tmp_path / "wlc")
    report = bring_probes(engine, study, root, "wlc", sources=root / "pages" if sources else None)
    found = {key: (item.probe, item.context) for (_, _, key), item in items_of(engine, study).items()}
    first = "The line was opened in 1875 by a railroad."
    assert found == {
        "1-1": (first, OPENED), "1-2": (first, second), "2-2": ("Its closing came in 1958.", second),
        "4-u1": ("Cited by address.", OPENED), "5-1": ("Cited beyond the list.", OPENED),
        "5-u2": ("Cited beyond the list.", None), "6-1": ("Text alone [1].", OPENED),
    }  # fmt: skip
    assert report.without_context == (1 if sources else 3)
    missing = "1 (https://a.org/9)" if sources else "2 (https://a.org/2, https://a.org/9)"
    assert report.notes == ("statements that cite nothing, left out 2", f"cited pages not fetched {missing}")


def test_a_fetched_page_that_no_database_takes_is_kept_with_marks_in_the_place_of_its_broken_characters(
    engine: Engine, tmp_path: Path
) -> None:
    study = study_of(engine, tmp_path / "x", STATEMENTS, topics=("Salt",))
    page = {
        "statements": [{"fact": "Salt is mined.", "ref_idx": "1", "url": "u"}], "citation_urls": {"1": "u"},
        "citation_contents": {"1": {"content": "a\0b \ud800c 😀"}},
    }  # fmt: skip
    put(tmp_path / "test_data/alpha/json_data/Salt.json", json.dumps({"query": {"pages": {"1": page}}}))
    bring_probes(engine, study, tmp_path, "wlc")
    assert items_of(engine, study)["Salt", "alpha", "1-1"].context == "a\ufffdb \ufffdc 😀"


def test_statements_of_a_tree_that_kept_no_pages_need_some(tmp_path: Path) -> None:
    page = {"statements": [{"fact": "Salt is mined.", "ref_idx": "1", "url": "u"}], "citation_urls": {"1": "u"}}
    put(tmp_path / "test_data/alpha/json_data/Salt.json", json.dumps({"query": {"pages": {"1": page}}}))
    with pytest.raises(ImportingError, match="pass --sources FOLDER"):
        read_probes(tmp_path, "wlc", STATEMENTS)
    assert len(read_probes(tmp_path, "wlc", asking("statement")).probes) == 1


def test_cited_statements_keep_their_pages_apart(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "x", STATEMENTS, topics=("2009.12610", "2312.04861"))
    report = bring_probes(engine, study, survey_probes(tmp_path / "rb"), "reportbench")
    found = {key: (item.probe, item.context) for (_, _, key), item in items_of(engine, study).items()}
    assert found == {
        "ab1": ('A, "quoted"\nclaim.', "The page of ab1."), "ab1-2": ("Another claim.", "The page of ab1."),
        "cd2": ("Another claim.", None),
    }  # fmt: skip
    assert report.notes == ("statements of citations.csv", "cited pages not fetched 1 (cd2)")


def test_statements_without_a_citation_are_those_that_were_voted_on(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "x", NOT_CITED, topics=("2009.12610", "2312.04861"))
    report = bring_probes(engine, study, survey_probes(tmp_path / "rb"), "reportbench")
    found = {(topic, key): item.probe for (topic, _, key), item in items_of(engine, study).items()}
    assert found == {
        ("2009.12610", "1"): "Water is wet.", ("2009.12610", "2"): "潮汐有两次。",
        ("2312.04861", "statement-1"): "Bread is baked.",
    }  # fmt: skip
    assert report.without_context == 3


@pytest.mark.parametrize(
    ("layout", "kind", "says"),
    [
        ("deepresearchgym", "fact", "holds no fact, which the protocol asks about, but key point (key_point/"),
        ("dr3_eval", "key point", "holds no key point, which the protocol asks about, but insight (gold_insights"),
        ("wlc", "insight", "holds no insight"),
        ("reportbench", "document", "holds no document"),
        ("deepresearchgym", "key point", "no key points found; expected files like key_point/ID_aggregated.json"),
        ("dr3_eval", "insight", "no insights found; expected files like .../TASK/gold_insights_from_*.json"),
        ("wlc", "fact", "no facts found"),
        ("wlc", "statement", "no statements of agents found"),
        ("reportbench", "statement", "no file citations.csv found"),
        ("fact", "claim", "holds no claim, which the protocol asks about, but statement (fact/SYSTEM/validated.jsonl)"),
    ],
)
def test_a_layout_refuses_what_it_does_not_hold(tmp_path: Path, layout: str, kind: str, says: str) -> None:
    with pytest.raises(ImportingError) as caught:
        read_probes(tmp_path, layout, asking(kind))
    assert says in str(caught.value)


DAMAGES = [
    ("key point", "deepresearchgym", "key_point/12_aggregated.json", '{"key_points": 3}', "key_point/12_aggregated.json: no list 'key_points'"),
    ("key point", "deepresearchgym", "key_point/12_aggregated.json", '{"key_points": [{"point_content": "x"}]}', "key_point/12_aggregated.json: key point 1: no 'point_number'"),
    ("key point", "deepresearchgym", "key_point/12_aggregated.json", '{"key_points": [{"point_number": 1, "point_content": "\\u0000"}]}', "holds a NUL"),
    ("key point", "deepresearchgym", "key_point/12_aggregated.json", '{"key_points": [{"point_number": 1, "point_content": " "}]}', "'point_content' is empty"),
    ("key point", "deepresearchgym", "key_point/12_aggregated.json", '{"key_points": [', "not JSON"),
    ("insight", "dr3_eval", "ground_truth/datasets_en/001/gold_insights_from_source.json", '[{"insight": "x"}, 4]', "entry 2: not an object with 'insight'"),
    ("insight", "dr3_eval", "ground_truth/datasets_en/001/gold_insights_from_elsewhere.json", "[]", "from 'elsewhere'? known are source"),
    ("requirement", "dr3_eval", "ground_truth/datasets_en/001/checklist.json", '{"checklist": [{"requirement": "x"}]}', "entry 1: no 'id'"),
    ("requirement", "dr3_eval", "ground_truth/datasets_en/001/checklist.json", '{"list": []}', "no list 'checklist'"),
    ("fact", "wlc", "wiki_data/cleaned_data/statement/Salt_statements.json", "{}", "Salt_statements.json: not a list of statements"),
    ("statement", "wlc", f"test_data/alpha/json_data/{LINE}.json", '{"query": {}}', "no page under query.pages"),
    ("statement", "reportbench", "alpha/2009.12610/citations.csv", "ID,url\nab1,x\n", "alpha/2009.12610/citations.csv:1: no column 'statement'"),
    ("statement", "reportbench", "alpha/2009.12610/citations.csv", "ID,statement\n,x\nab1,\n", "alpha/2009.12610/citations.csv:2: no ID"),
    ("statement", "reportbench", "alpha/none/citations.csv", "ID,statement\nab1,x\n", "one arXiv id is needed in the path (found: none)"),
    ("statement", "fact", "fact/beta/validated.jsonl", '{"citations_deduped": {}}', "fact/beta/validated.jsonl:1: no 'id'"),
    ("statement", "fact", "fact/beta/validated.jsonl", '{"id": 1, "citations_deduped": {"u": {}}}', "no table 'citations_deduped' of addresses with 'facts'"),
    ("statement", "fact", "fact/beta/validated.jsonl", '{"id": 1, "citations_deduped": {"u": {"facts": [], "validate_res": "no"}}}', "and 'validate_res' as lists"),
    ("statement", "fact", "fact/beta/validated.jsonl", '{"id": 1, "citations_deduped": {"u": {"facts": [null]}}}', "a fact of u is not text"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "layout", "path", "content", "says"), DAMAGES)
def test_a_damaged_file_is_named_and_the_rest_is_still_read(
    tmp_path: Path, kind: str, layout: str, path: str, content: str, says: str
) -> None:
    root = TREES[layout](tmp_path)
    put(root / path, content)
    problems = read_probes(root, layout, asking(kind)).problems
    assert any(says in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("name", "layout", "probes"),
    [
        ("wlc_fact_coverage", "wlc", 2),
        ("wlc_citation", "wlc", 7),
        ("drg_keypoints", "deepresearchgym", 3),
        ("drg_citation_support", "deepresearchgym", 2),
        ("dr3_insights", "dr3_eval", 4),
        ("dr3_citation_coverage", "dr3_eval", 3),
        ("dr3_checklist", "dr3_eval", 2),
        ("rb_cited", "reportbench", 3),
        ("rb_noncited", "reportbench", 3),
        ("wlc_citation", "fact", 5),
    ],
)
def test_each_shipped_protocol_of_probes_reads_its_own_tree(
    tmp_path: Path, name: str, layout: str, probes: int
) -> None:
    root = TREES[layout](tmp_path)
    parsed = read_probes(root, layout, read_protocol(name)[1], sources=root / "pages")
    assert parsed.problems == ()
    assert len(parsed.probes) == probes


def test_statements_of_fact_come_with_their_page_and_their_judges_verdicts_with_their_failures(
    engine: Engine, tmp_path: Path
) -> None:
    study = study_of(engine, tmp_path / "x", read_protocol("wlc_citation")[1])
    report = bring_probes(engine, study, fact_probes(tmp_path), "fact")
    found = {key: (item.probe, item.context) for (_, _, key), item in items_of(engine, study).items()}
    page = "The page\n\n\n\nof https://a.org/"
    assert found == {
        "1-1": ("It rises.", f"{page}1."), "1-2": ("It falls.", f"{page}1."), "2-1": ("It turns.", f"{page}2."),
        "3-1": ("It rises.", f"{page}3."), "4-1": ("It falls.", None),
    }  # fmt: skip
    assert report.notes == ("cited pages not fetched 1 (https://a.org/4)",)
    bring_results(engine, study, tmp_path, "fact", judge="gemini")
    said = verdicts(engine, study).sort_values("item_id")[["label", "status"]].fillna("").to_numpy().tolist()
    assert said == [
        ["support", "ok"],
        ["not_support", "ok"],
        ["source_unavailable", "ok"],
        ["", "invalid"],
        ["", "missing"],
    ]


def test_results_without_a_folder_of_their_system_need_it_named(tmp_path: Path) -> None:
    put(tmp_path / "2009.12610/citations.csv", "ID,statement\nab1,x\n")
    assert (
        "the path does not say which system; pass --system NAME"
        in read_probes(tmp_path, "reportbench", STATEMENTS).problems[0]
    )
    (probe,) = read_probes(tmp_path, "reportbench", STATEMENTS, system="alpha").probes
    assert (probe.system, probe.topic, probe.text) == ("alpha", "2009.12610", "x")


def test_a_page_is_never_read_from_outside_its_folder(tmp_path: Path) -> None:
    put(tmp_path / "secret.txt", "secret")
    put(tmp_path / "rb/alpha/2009.12610/citations.csv", "ID,statement\n../../secret,x\n")
    put(tmp_path / "rb/alpha/raw_texts/ab1.txt", "page")
    assert "is no name of a file" in read_probes(tmp_path / "rb", "reportbench", STATEMENTS).problems[0]
    root = gym_probes(tmp_path / "gym")
    put(root / "pages/pages.csv", "url,file\nhttps://a.org/1,../../secret.txt\n")
    problems = read_probes(root, "deepresearchgym", CLAIMS, sources=root / "pages").problems
    assert "source '../../secret.txt' is not inside pages" in problems[0]
    (tmp_path / "rb/alpha/raw_texts/ab2.txt").symlink_to(tmp_path / "secret.txt")
    put(tmp_path / "rb/alpha/2009.12610/citations.csv", f"ID,statement\nab2,x\n{'c' * 300},y\n")
    parsed = read_probes(tmp_path / "rb", "reportbench", STATEMENTS)
    assert "source 'ab2.txt' is not inside raw_texts" in parsed.problems[0]
    assert [probe.text for probe in parsed.probes] == ["y"]


@pytest.mark.parametrize("bad", ["\ud800", "a\0"], ids=["half a character", "NUL"])
def test_what_no_database_can_keep_is_refused_wherever_it_stands(engine: Engine, tmp_path: Path, bad: str) -> None:
    study = study_of(engine, tmp_path / "tasks", asking("requirement"), topics=("001",))
    checklist = [{"id": bad, "requirement": "x"}, {"id": 2, "requirement": "x", "category": bad}]
    put(tmp_path / "dr3/001/checklist.json", json.dumps({"checklist": checklist}))
    with pytest.raises(ImportingError) as caught:
        bring_probes(engine, study, tmp_path / "dr3", "dr3_eval")
    assert [problem.partition(" holds")[0] for problem in caught.value.problems] == [
        "001/checklist.json: entry 1: 'key'", "001/checklist.json: entry 2: 'tag'",
    ]  # fmt: skip


def test_a_query_of_half_a_character_is_refused_in_words_that_can_be_printed(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "reports", CLAIMS.replace('"sources"', '"report"'), topics=("12",))
    claims = {"\ud800": {"detailed": {"claim_1": {"claim": "x", "urls": []}}}}
    put(tmp_path / "gym/alpha/evaluation_results_citation_m.json", json.dumps(claims))
    with pytest.raises(ImportingError) as caught:
        bring_probes(engine, study, tmp_path / "gym", "deepresearchgym")
    assert str(caught.value).encode().startswith(b"alpha/evaluation_results_citation_m.json: \\ud800 claim_1: 'topic'")


def test_a_file_that_is_a_link_belongs_to_the_task_whose_folder_it_lies_in(tmp_path: Path) -> None:
    put(tmp_path / "store/checklist.json", json.dumps({"checklist": [{"id": 1, "requirement": "x"}]}))
    (tmp_path / "tasks/001").mkdir(parents=True)
    (tmp_path / "tasks/001/checklist.json").symlink_to(tmp_path / "store/checklist.json")
    (probe,) = read_probes(tmp_path / "tasks", "dr3_eval", asking("requirement")).probes
    assert probe.topic == "001"


def test_a_tree_about_another_study_is_refused(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "x", asking("key point"))
    with pytest.raises(
        ImportingError, match=r"no probe is about a report of study 'small' \(topics that the study does"
    ):
        bring_probes(engine, study, gym_probes(tmp_path / "gym"), "deepresearchgym")


def test_json_data_may_hold_several_pages(tmp_path: Path) -> None:
    pages = {"1": {"statements": ["One [1]."], "citation_urls": {"1": "u"}}, "2": {"statements": ["Two [7]."]}}
    put(tmp_path / "test_data/alpha/json_data/Salt.json", json.dumps({"query": {"pages": pages}}))
    parsed = read_probes(tmp_path, "wlc", asking("statement"))
    assert [(one.key, one.text) for one in parsed.probes] == [("1-1", "One [1]."), ("2-7", "Two [7].")]
    assert parsed.notes == ("citations whose address is not listed 1",)
