"""Every published layout comes in as it lies on disk, with its quirks, and no id, name or text is touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from annotation.errors import ImportingError
from annotation.importing.layouts import LAYOUTS, propose, tree_of
from annotation.importing.reports.deepresearch_bench import read_deepresearch_bench
from annotation.importing.reports.deepresearchgym import read_deepresearchgym
from annotation.importing.reports.dr3_eval import read_dr3_eval
from annotation.importing.reports.records import Parsed
from annotation.importing.reports.reportbench import read_reportbench
from annotation.importing.reports.wlc import read_wlc
from db.connect import reading
from db.tables import Import, Report, System, Topic
from tests.annotation.layout_trees import (
    bench_tree,
    bring_in,
    gym_tree,
    json_lines,
    put,
    survey_tree,
    task_tree,
    text,
)
from tests.annotation.test_importing import write_wlc
from tests.small_study import write_reports
from tests.studies.own_trees import wiki_tree

TREES: dict[str, Callable[[Path], Path]] = {
    "folder": write_reports,
    "wlc": write_wlc,
    "deepresearchgym": gym_tree,
    "deepresearch_bench": bench_tree,
    "reportbench": survey_tree,
    "dr3_eval": task_tree,
}


def topics(parsed: Parsed) -> dict[str, str]:
    return {topic.key: topic.title for topic in parsed.topics}


def systems(parsed: Parsed) -> list[str]:
    return [system.key for system in parsed.systems]


def reports(parsed: Parsed) -> dict[tuple[str, str], str]:
    return {(report.system, report.topic): report.text for report in parsed.reports}


@pytest.mark.parametrize(
    ("layout", "counts"),
    [
        ("folder", (3, 3, 0, 9)),
        ("wlc", (2, 3, 1, 6)),
        ("deepresearchgym", (2, 3, 0, 6)),
        ("deepresearch_bench", (2, 3, 1, 6)),
        ("reportbench", (2, 2, 0, 4)),
        ("dr3_eval", (2, 2, 0, 4)),
    ],
)
def test_a_tree_of_each_layout_comes_in_whole_and_again_changes_nothing(
    engine: Engine, tmp_path: Path, layout: str, counts: tuple[int, ...]
) -> None:
    root = TREES[layout](tmp_path / "tree")
    outcome = bring_in(engine, LAYOUTS[layout].read(root, "utf-8"), layout, options={"encoding": "utf-8"})
    assert (outcome.topics, outcome.systems, outcome.references, outcome.new) == counts
    assert (outcome.missing, outcome.empty) == ({}, ())
    again = bring_in(engine, LAYOUTS[layout].read(root, "utf-8"), layout)
    assert (again.new, again.unchanged) == (0, counts[3])
    with reading(engine) as session:
        stored = session.scalars(select(Report)).all()
        assert {report.status for report in stored} == {"ready"}
        assert len(stored) == counts[3]
        first = session.scalars(select(Import).order_by(Import.id)).first()
        assert first is not None
        assert (first.layout, first.options, first.report["new"]) == (layout, {"encoding": "utf-8"}, counts[3])


@pytest.mark.parametrize("layout", list(TREES))
def test_auto_proposes_the_layout_and_names_the_file_that_convinced_it(tmp_path: Path, layout: str) -> None:
    root = TREES[layout](tmp_path / "tree")
    proposed, sign, folder = propose(root)
    assert (proposed, folder) == (layout, root)
    assert (root / sign).is_file()


def test_auto_finds_a_published_tree_one_or_two_folders_further_down(tmp_path: Path) -> None:
    root = write_wlc(put(tmp_path / "clone/README.md", "A clone.").parent / "data/tree")
    for folder, sign in ((root.parent, "tree/"), (root.parent.parent, "data/tree/")):
        assert propose(folder) == ("wlc", f"{sign}test_data/agencies.json", root)
        assert tree_of("wlc", folder) == root, "a layout that is named is looked for in the same places"
    assert tree_of("wlc", root) == root
    assert tree_of("folder", root.parent) == root.parent, "any tree may hold a folder of texts"
    bench_tree(root.parent / "other")
    with pytest.raises(
        ImportingError, match=r"cannot tell the layout \(wlc because of tree/test_data/.*; deepresearch"
    ):
        propose(root.parent)


@pytest.mark.parametrize("layout", list(TREES))
def test_what_a_mac_leaves_beside_files_is_never_read(tmp_path: Path, layout: str) -> None:
    root = TREES[layout](tmp_path / "tree")
    clean = LAYOUTS[layout].read(root, "utf-8")
    for path in list(root.rglob("*")):
        if path.is_file():
            (path.parent / f"._{path.name}").write_bytes(b"\x00\x05\x16\x07")
    (root / ".cache/system/001").mkdir(parents=True)
    put(root / ".cache/system/001/final_report.md", "old")
    again = LAYOUTS[layout].read(root, "utf-8")
    assert (again.topics, again.systems, again.reports, again.problems) == (
        clean.topics,
        clean.systems,
        clean.reports,
        (),
    )


def test_auto_takes_a_table_by_its_suffix_and_refuses_to_guess_the_rest(tmp_path: Path) -> None:
    assert propose(put(tmp_path / "a.jsonl", "")) == ("table", "a.jsonl", tmp_path / "a.jsonl")
    with pytest.raises(ImportingError, match=r"no layout reads this file; give a folder, or a table"):
        propose(put(tmp_path / "a.docx", ""))
    (tmp_path / "none").mkdir()
    with pytest.raises(
        ImportingError, match=r"cannot tell the layout \(no file of a known layout found\); pass --layout"
    ):
        propose(tmp_path / "none")
    both = task_tree(bench_tree(tmp_path / "both"))
    with pytest.raises(
        ImportingError, match=r"deepresearch_bench because of data/prompt_data/query\.jsonl; dr3_eval because"
    ):
        propose(both)


def test_deepresearchgym_keeps_system_names_whole_and_takes_queries_by_id(tmp_path: Path) -> None:
    parsed = read_deepresearchgym(gym_tree(tmp_path))
    assert systems(parsed) == ["OpenAI", "OpenAI_custom", "search-r1-custom"]
    assert topics(parsed) == {"879779": "is the tide a wave", "12": "why salt"}
    assert parsed.ignored == 1
    assert parsed.notes == (
        "queries without any report 1: not made topics",
        "key point files 1: read by calipers import probes --layout deepresearchgym",
    )
    assert reports(parsed)["OpenAI_custom", "12"] == text("OpenAI_custom-12")


def test_deepresearchgym_reads_the_public_repository_where_systems_lie_at_the_root(tmp_path: Path) -> None:
    put(tmp_path / "GPTResearcher/1000983.a", text("one"))
    put(tmp_path / "GPTResearcher/1000983.q", "is it so\n")
    put(tmp_path / "perplexity.v2/1000983.a", text("two"))
    put(tmp_path / "perplexity.v2/1000983.q", "is it really so\n")
    put(tmp_path / "GPTResearcher/7.a", text("three"))
    parsed = read_deepresearchgym(tmp_path)
    assert systems(parsed) == ["GPTResearcher", "perplexity.v2"]
    assert topics(parsed) == {"1000983": "is it so", "7": "7"}
    assert parsed.notes == (
        "topics without a query 1 (7): the id is the title",
        "query files that differ from the query listed 1 (perplexity.v2/1000983.q)",
    )


def test_deepresearch_bench_reads_raw_texts_both_languages_and_the_reference(tmp_path: Path) -> None:
    parsed = read_deepresearch_bench(bench_tree(tmp_path))
    assert systems(parsed) == ["claude-3-7", "gemini-2.5-pro-deepresearch", "reference"]
    assert [system.key for system in parsed.systems if system.is_reference] == ["reference"]
    assert topics(parsed) == {"1": "收集整理目前世界上关于潮汐发电的研究", "2": "Write on tides."}
    assert [(t.language, t.category) for t in parsed.topics] == [("zh", "Finance & Business"), ("en", "Science")]
    assert reports(parsed)["claude-3-7", "1"].startswith("## 一、潮汐\n")
    assert "rewritten" not in {report.text for report in parsed.reports}
    (tmp_path / "data/test_data/cleaned_data/reference.jsonl").unlink()
    assert systems(read_deepresearch_bench(tmp_path)) == ["claude-3-7", "gemini-2.5-pro-deepresearch"]


def test_deepresearch_bench_goes_by_id_and_says_where_the_prompt_is_another(tmp_path: Path) -> None:
    root = bench_tree(tmp_path)
    path = root / "data/test_data/raw_data/claude-3-7.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[1] |= {"prompt": "Something else."}
    put(path, b"\xef\xbb\xbf" + json.dumps(list(reversed(rows)), indent=1).replace("\n", "\r\n").encode())
    parsed = read_deepresearch_bench(root)
    assert reports(parsed)["claude-3-7", "2"] == rows[1]["article"]
    assert parsed.notes[0].endswith("1 (data/test_data/raw_data/claude-3-7.jsonl:2)")
    assert (parsed.bom, parsed.crlf, parsed.problems) == (1, 1, ())


def test_reportbench_keeps_the_last_zero_of_an_id_and_names_the_field_it_read(tmp_path: Path) -> None:
    root = survey_tree(tmp_path)
    put(
        root / "ReportBench_v1.1.jsonl",
        (root / "ReportBench_v1.1.jsonl").read_text().replace('"2009.12610"', "2009.12610"),
    )
    marked = root / "o3/2312.04861.json"
    marked.write_bytes(b"\xef\xbb\xbf" + marked.read_bytes() + b"\r\n")
    parsed = read_reportbench(root)
    assert (parsed.bom, parsed.crlf) == (1, 1)
    assert topics(parsed) == {"2009.12610": "A Survey of Tides", "2312.04861": "Breads"}
    assert [topic.features for topic in parsed.topics] == [{"update_date": "2025-04-22"}, {"update_date": "2025-05-01"}]
    assert systems(parsed) == ["Gemini 2.5", "o3"]
    assert reports(parsed)["o3", "2312.04861"] == text("o3-bread")
    assert parsed.ignored == 1
    assert parsed.notes == ("text from field response 3", "text from field essay (the longest) 1: o3/2312.04861.json")


@pytest.mark.parametrize("name", ["content", "text", "message", "output", "result"])
def test_reportbench_reads_an_answer_under_each_of_its_names_before_any_longer_field(tmp_path: Path, name: str) -> None:
    root = survey_tree(tmp_path)
    put(root / "o3/2009.12610.json", json.dumps({"thoughts": "t" * 9999, name: "The answer."}))
    parsed = read_reportbench(root)
    assert reports(parsed)["o3", "2009.12610"] == "The answer."
    assert f"text from field {name} 1: o3/2009.12610.json" in parsed.notes


def test_dr3_takes_domains_from_a_topics_csv_beside_its_tasks(tmp_path: Path) -> None:
    root = task_tree(tmp_path)
    put(root / "topics.csv", "topic,title,category,files\n001,Tides,Energy,4\n2,,Coasts,1\n")
    parsed = read_dr3_eval(root)
    (problem,) = parsed.problems
    assert problem.startswith("topics.csv: topic '2' is not in query.jsonl (as a number it would be '002'")
    put(root / "topics.csv", "topic,domain\n001,Energy\n")
    assert "column of topics.csv that is a feature, and no category domain" in read_dr3_eval(root).notes[-1]
    put(root / "topics.csv", "topic,title,category,files\n001,Tides,Energy,4\n002,,Coasts,1\n")
    parsed = read_dr3_eval(root)
    assert [(topic.key, topic.category, topic.features) for topic in parsed.topics] == [
        ("001", "Energy", {"files": "4"}),
        ("002", "Coasts", {"files": "1"}),
    ]
    assert topics(parsed) == {"001": "Tides", "002": "Assess tides."}
    assert parsed.topics[0].prompt == "分析潮汐发电的前景"
    assert parsed.topics[0].language == "zh"


def test_dr3_compares_tasks_as_text_and_takes_its_languages_from_the_datasets(tmp_path: Path) -> None:
    parsed = read_dr3_eval(task_tree(tmp_path))
    assert topics(parsed) == {"001": "分析潮汐发电的前景", "002": "Assess tides."}
    assert [topic.language for topic in parsed.topics] == ["zh", "en"]
    assert systems(parsed) == ["glm-4.7", "qwen3"]
    for language in ("en", "zh"):  # as its dataset comes: both number their tasks from 001
        put(tmp_path / f"datasets_{language}/query.jsonl", (tmp_path / "query.jsonl").read_text())
    (tmp_path / "query.jsonl").unlink()
    says = r"task '001' stands twice in datasets_en/query\.jsonl, datasets_zh/query\.jsonl"
    with pytest.raises(ImportingError, match=says):
        read_dr3_eval(tmp_path)
    put(tmp_path / "datasets_en/query.jsonl", json_lines([{"task": "en_001", "query": "Assess locks."}]))
    assert topics(read_dr3_eval(tmp_path))["en_001"] == "Assess locks.", "with numbers of its own each language counts"
    put(tmp_path / "datasets_en/query.jsonl", (tmp_path / "datasets_zh/query.jsonl").read_text())
    run = (tmp_path / "results").rename(tmp_path / "run")
    run.rename(put(tmp_path / "results/README.md", "").with_name("datasets_zh"))
    assert systems(read_dr3_eval(tmp_path)) == ["glm-4.7", "qwen3"]


@pytest.mark.parametrize("says", ["No final answer", "No final report generated.", " \n\n", ""])
def test_an_agents_notice_that_it_wrote_nothing_is_an_empty_report(engine: Engine, tmp_path: Path, says: str) -> None:
    root = task_tree(tmp_path)
    put(root / "results/qwen3/002/final_report.md", says)
    with pytest.raises(ImportingError) as caught:
        bring_in(engine, read_dr3_eval(root))
    assert caught.value.problems == (
        "results/qwen3/002/final_report.md: holds no text; add the report, remove the file, or pass --allow-empty to "
        "import it as empty (it then never enters an item)",
    )
    outcome = bring_in(engine, read_dr3_eval(root), allow_empty=True)
    assert (outcome.new, outcome.empty) == (3, ("results/qwen3/002/final_report.md",))
    with reading(engine) as session:
        statuses = (
            select(System.key, Topic.key)
            .join(Report, Report.system_id == System.id)
            .join(Topic, Topic.id == Report.topic_id)
        )
        assert session.execute(statuses.where(Report.status == "empty")).all() == [("qwen3", "002")]


def test_a_json_array_under_a_jsonl_name_and_blank_lines_are_read(tmp_path: Path) -> None:
    root = task_tree(tmp_path)
    rows = [{"task": "001", "query": "一"}, {"id": "002", "query": "Two"}]
    put(root / "query.jsonl", json.dumps(rows, indent=2))
    assert topics(read_dr3_eval(root)) == {"001": "一", "002": "Two"}
    put(root / "query.jsonl", "\n" + json_lines(rows).replace("\n", "\n\n") + "  \n")
    assert topics(read_dr3_eval(root)) == {"001": "一", "002": "Two"}


def test_wikipedias_statements_are_counted_for_each_topic(tmp_path: Path) -> None:
    titles, _ = wiki_tree(tmp_path, ["clear", "deep"])
    put(tmp_path / f"wiki_data/cleaned_data/statement/{titles[0]}_statements.json", '["It turns.", "It is old."]')
    put(tmp_path / f"wiki_data/cleaned_data/statement/{titles[1]}_statements.json", "[cut off")
    counted = {topic.key: topic.features.get("statements") for topic in read_wlc(tmp_path).topics}
    assert counted == dict.fromkeys(titles) | {titles[0]: "2"}
