"""Malformed input is refused in one sentence (file, line, remedy) and leaves every row of every table as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from annotation.errors import ImportingError
from annotation.importing.layouts import LAYOUTS
from annotation.importing.reports.folder import read_folder
from tests.annotation.layout_trees import (
    Damage,
    bench_tree,
    bring_in,
    edit,
    everything,
    gym_tree,
    json_lines,
    put,
    remove,
    survey_tree,
    task_tree,
    text,
    write,
)
from tests.annotation.test_importing import write_wlc
from tests.small_study import write_reports

RAW = "data/test_data/raw_data/claude-3-7.jsonl"
QUERY = "data/prompt_data/query.jsonl"
CSV = "id,model,answer\n007,atlas,The tide rises.\n"


def table_file(root: Path) -> Path:
    return put(root / "a.jsonl", json_lines([{"topic": "1", "system": "atlas", "text": text("one")}]))


def both(*damages: Damage) -> Damage:
    return lambda root: [damage(root) for damage in damages]


TREES: dict[str, Callable[[Path], Path]] = {
    "folder": write_reports,
    "table": table_file,
    "wlc": write_wlc,
    "deepresearchgym": gym_tree,
    "deepresearch_bench": bench_tree,
    "reportbench": survey_tree,
    "dr3_eval": task_tree,
}
# layout, what is wrong with the tree, and the sentence that must be among those printed
REFUSED: list[tuple[str, Damage, str]] = [
    ("table", write("a.jsonl", '{"topic": "1", "system": "s", "text": "a"}\n{"topic": "2", "sys'),
     "a.jsonl:2: not JSON (Unterminated string starting at column 16); the file may be cut off"),
    ("table", write("a.jsonl", '{"topic": "1", "system": "s", "text": "a"}\n\n{"topic": 2 "system"}\n{"topic": "3", "system": "s", "text": "c"}\n'),
     "a.jsonl:3: not JSON (Expecting ',' delimiter at column 13); correct or remove the line"),
    ("table", write("a.jsonl", '{"topic": "1", "system": "s", "text": "a"}\n{"topic": "1", "system": "s", "text": "b"}\n'),
     "a.jsonl:2: a second report by system 's' on topic '1' (the first is a.jsonl:1); remove one"),
    ("table", write("a.jsonl", '[\n{"topic": "1", "system": "s", "text": "a"},\n3\n]'),
     "a.jsonl:3: holds one value, not an object with named fields; correct the line"),
    ("table", write("a.jsonl", '[\n{"topic": "1", "system": "s", "text": "a"},\n{"topic": "2"'),
     "a.jsonl:3: not JSON (Expecting ',' delimiter at column 14); the file may be cut off"),
    ("table", write("a.jsonl", '{\n "topic": "1",\n "text": "a"\n}\n'),
     "a.jsonl:1: one object over several lines; write one object a line, or an array of objects"),
    ("table", write("a.jsonl", '{"topic": "1", "system": "s", "text": "a", "text": "b"}\n'),
     "a.jsonl:1: name 'text' twice in one object; remove one"),
    ("table", write("a.jsonl", '{"topic": "1", "system": "s", "text": "a\\u0000b"}\n{"topic": "2", "system": "s", "text": "c"}\n'),
     "a.jsonl:1: 'text' holds a NUL or half a character (\\u0000, \\ud800); remove it"),
    ("table", write("a.jsonl", '{"topic": "\\ud83d", "system": "s", "text": "a"}\n{"topic": "2", "system": "s", "text": "c"}\n'),
     "a.jsonl:1: 'topic' holds a NUL or half a character (\\u0000, \\ud800); remove it"),
    ("table", write("a.jsonl", '{"topic": null, "system": "s", "text": "a"}\n'),
     "a.jsonl:1: no topic in 'topic'; fill it in or remove the row"),
    ("table", write("a.jsonl", '{"topic": "1", "system": " ", "text": "a"}\n'),
     "a.jsonl:1: no system in 'system'; fill it in or remove the row"),
    ("table", write("a.jsonl", '{"topic": "1", "system": "s", "text": ["a"]}\n'),
     "a.jsonl:1: 'text' is not text but a list, an object or bytes; give one text a row"),
    ("table", write("a.jsonl", '{"topic": "1", "system": "s", "text": "a"}\n{"topic": "2", "system": "s"}\n'),
     "a.jsonl:2: no 'text' here; add it (null for an empty report) or remove the row"),
    ("table", write("a.jsonl", '{"topic": "1", "system": "s", "text": "a", "title": "T"}\n{"topic": "1", "system": "r", "text": "b", "title": "U"}\n'),
     "a.jsonl:2: topic '1' has 'title' 'U', but 'T' at a.jsonl:1; make them equal"),
    ("table", write("a.jsonl", '{"topic": "1", "system": "s", "text": null}\n'),
     "a.jsonl:1: holds no text; add the report, remove the file, or pass --allow-empty to import it as empty (it then never enters an item)"),
    ("table", write("a.jsonl", "\n \n"), "a.jsonl: no rows; give a file with a report a row"),
    ("table", write("a.jsonl", b'{"topic": "1", "system": "s", "text": "a"}\n{"topic": "it\x92s"}'),
     "a.jsonl:2: byte 0x92 at 56 is not UTF-8; re-save the file as UTF-8 or pass --encoding cp1252"),
    ("table", write("a.jsonl", "[" * 100_000), "a.jsonl:1: nested too deeply to be read; is this the right file?"),
    ("deepresearchgym", write("reports/OpenAI/0012.a", text("x")),
     "reports/OpenAI/0012.a: id '0012' is not in queries (as a number it would be '12'; ids are compared as written); add it there or rename the file"),
    ("deepresearchgym", edit("queries/sample_2.jsonl", "why salt", "why sugar"),
     "queries/sample_2.jsonl:1: id '12' has another query at queries/researchy.jsonl:2; remove one"),
    ("deepresearchgym", edit("queries/sample_2.jsonl", '"99"', '"12"'),
     "queries/sample_2.jsonl:2: id '12' has another query at queries/researchy.jsonl:2; remove one"),
    ("deepresearchgym", write("reports/ /12.a", text("x")),
     "reports/ /12.a: its system has a name of blanks only; rename it"),
    ("deepresearchgym", remove("reports/OpenAI_custom/12.a"),
     "OpenAI_custom: no report for 1 of 2 topics (12); add them or pass --allow-missing"),
    ("deepresearchgym", write("reports/OpenAI/12.a", b"caf\xe9"),
     "reports/OpenAI/12.a:1: byte 0xe9 at 3 is not UTF-8; re-save the file as UTF-8 or pass --encoding cp1252"),
    ("deepresearch_bench", edit(RAW, '{"id": 2', '{"id": "002"'),
     f"{RAW}:2: id '002' is not in {QUERY} (as a number it would be '2'; ids are compared as written); add it there or remove the line"),
    ("deepresearch_bench", edit(RAW, '"article"', '"text"'),
     f"{RAW}:1: no text in 'article'; fill it in (null for an empty report)"),
    ("deepresearch_bench", edit(RAW, '{"id": 2', '{"id": 1'),
     f"{RAW}:2: a second report by system 'claude-3-7' on topic '1' (the first is {RAW}:1); remove one"),
    ("deepresearch_bench", edit(QUERY, '{"id": 2', '{"id": 1'),
     f"{QUERY}:2: id '1' appears twice (first at {QUERY}:1); remove one"),
    ("deepresearch_bench", edit(QUERY, '"prompt": "Write on tides.\\nSay why."', '"prompt": ""'),
     f"{QUERY}:2: no 'id' or no 'prompt'; fill it in or remove the line"),
    ("reportbench", edit("ReportBench_v1.1.jsonl", '"2009.12610"', "2009.1261"),
     "ReportBench_v1.1.jsonl:1: arxiv_id '2009.1261' is not like 2312.04861; restore the file as published (read as a number, an id loses its last 0)"),
    ("reportbench", edit("ReportBench_v1.1.jsonl", "2312.04861", "2009.12610"),
     "ReportBench_v1.1.jsonl:2: arxiv_id '2009.12610' appears twice (first at ReportBench_v1.1.jsonl:1); remove one"),
    ("reportbench", write("o3/2401.00001.json", '{"response": "x"}'),
     "o3/2401.00001.json: 2401.00001 is not in ReportBench_v1.1.jsonl; add it there or remove the file"),
    ("reportbench", write("o3/2009.12610-2312.04861.json", '{"response": "x"}'),
     "o3/2009.12610-2312.04861.json: two arXiv ids in the name (2009.12610, 2312.04861); keep one"),
    ("reportbench", write("o3/2009.12610.json", '{"prompt": "Write a survey.", "tokens": ["a"]}'),
     "o3/2009.12610.json: no text under response, content, text, message, output, result (found: prompt, tokens); name it 'response'"),
    ("reportbench", write("o3/2009.12610.json", '["a"]'),
     "o3/2009.12610.json: not an object with named fields; expected the report under 'response'"),
    ("reportbench", write("o3/2009.12610v2.json", '{"response": "x"}'),
     "o3/2009.12610v2.json: a second report by system 'o3' on topic '2009.12610' (the first is o3/2009.12610.json); remove one"),
    ("reportbench", write("o3/2009.12610.json", '{"response": "The tide'),
     "o3/2009.12610.json:1: not JSON (Unterminated string starting at column 14); the file may be cut off"),
    ("dr3_eval", write("results/qwen3/1/final_report.md", text("x")),
     "results/qwen3/1/final_report.md: task '1' is not in query.jsonl (as a number it would be '001'; ids are compared as written); add it or rename the folder"),
    ("dr3_eval", edit("query.jsonl", '"number": "002"', '"number": "001"'),
     "query.jsonl:2: task '001' appears twice (first at query.jsonl:1); remove one"),
    ("dr3_eval", edit("query.jsonl", '"number"', '"nr"'),
     "query.jsonl:2: no 'task' or no 'query'; fill it in or remove the line"),
    ("dr3_eval", write("more/qwen3/001/final_report.md", text("x")),
     "results/qwen3/001/final_report.md: a second report by system 'qwen3' on topic '001' (the first is more/qwen3/001/final_report.md); remove one"),
    ("dr3_eval", write("001/final_report.md", text("x")),
     "001/final_report.md: no system and task in the path; expected RESULTS/SYSTEM/TASK/final_report.md"),
    ("dr3_eval", remove("results/qwen3/002/final_report.md"),
     "qwen3: no report for 1 of 2 topics (002); add them or pass --allow-missing"),
    ("folder", both(write("topics.csv", "topic;title\ntides;T\n")),
     "topics.csv:1: values are separated by semicolons, not by commas; save the file with commas"),
    ("folder", write("topics.csv", "topic,title,title\ntides,T,T\n"),
     "topics.csv:1: column 'title' appears twice; rename or remove one"),
    ("folder", write("topics.csv", 'topic,title\ntides,"T\n2"\nbread,B\ntides,"again\n"\n'),
     "topics.csv:5: topic 'tides' appears twice (first at line 2); remove one"),
    ("wlc", edit("wiki_data/ga_sample.json", '"title"', '"name"'), "wiki_data/ga_sample.json:1: no 'title'; restore the file"),
    ("wlc", write("test_data/atlas/md_data/Tidal power.md", text("x")),
     "test_data/atlas/md_data/Tidal_power.md: a second report by system 'atlas' on topic 'Tidal_power' (the first is test_data/atlas/md_data/Tidal power.md); remove one"),
]  # fmt: skip


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("layout", "damage", "says"), REFUSED, ids=[f"{n}-{case[0]}" for n, case in enumerate(REFUSED)]
)
def test_what_is_malformed_is_refused_by_file_and_line_and_leaves_nothing(
    engine: Engine, tmp_path: Path, layout: str, damage: Damage, says: str
) -> None:
    bring_in(engine, read_folder(write_reports(tmp_path / "before", ("older",))), "folder")
    before = everything(engine)
    root = tmp_path / "tree"
    path = TREES[layout](root)
    damage(root)
    with pytest.raises(ImportingError) as caught:
        bring_in(engine, LAYOUTS[layout].read(path, "utf-8"), layout)
    assert says in caught.value.problems
    assert everything(engine) == before


@pytest.mark.parametrize(
    ("layout", "damage", "says"),
    [
        ("deepresearchgym", lambda root: [path.unlink() for path in root.rglob("*.a")], r"no reports found; expected files like reports/SYSTEM/ID\.a"),
        ("deepresearch_bench", remove(QUERY), r"^data/prompt_data/query\.jsonl: not under .*; give the folder that holds data"),
        ("deepresearch_bench", lambda root: (root / "data/test_data/raw_data").rename(root / "raw"), r"raw_data: not there; add it \(cleaned_data will not do"),
        ("reportbench", write("ReportBench_v1.2.jsonl", ""), r"one file ReportBench_v1\.1\.jsonl is needed \(found: ReportBench_v1\.1\.jsonl, ReportBench_v1\.2\.jsonl\)"),
        ("reportbench", remove("ReportBench_v1.1.jsonl"), r"one file ReportBench_v1\.1\.jsonl is needed \(found: none\)"),
        ("dr3_eval", remove("query.jsonl"), r"no query\.jsonl found; give a folder that holds one"),
    ],
)  # fmt: skip
def test_a_tree_without_its_landmark_is_refused_at_once(tmp_path: Path, layout: str, damage: Damage, says: str) -> None:
    root = TREES[layout](tmp_path)
    damage(root)
    with pytest.raises(ImportingError, match=says):
        LAYOUTS[layout].read(root, "utf-8")


@pytest.mark.databases("sqlite")
def test_all_problems_of_all_files_are_told_and_twenty_are_printed(tmp_path: Path, engine: Engine) -> None:
    lines = "".join(f'{{"topic": "{number}", "system": "s"}}\n' for number in range(25))
    path = put(tmp_path / "a.jsonl", lines + '{"topic": "x", "system": "s", "text": "a"}\n{"text": ')
    with pytest.raises(ImportingError) as caught:
        bring_in(engine, LAYOUTS["table"].read(path, "utf-8"))
    assert len(caught.value.problems) == 26
    assert str(caught.value).splitlines()[20:] == ["and 6 more (all of them with --json)"]


def test_a_file_name_that_no_database_can_keep_is_refused(tmp_path: Path) -> None:
    write_reports(tmp_path, ("tides",), ("alpha",))
    Path(bytes(tmp_path / "alpha").decode() + "/caf\udce9.md").write_text("text")
    parsed = read_folder(tmp_path)
    assert parsed.problems == ("alpha/caf\\udce9.md: the file's name is not UTF-8; rename it",)


def test_a_report_that_cannot_be_opened_is_one_problem_among_others(tmp_path: Path) -> None:
    root = write_wlc(tmp_path)
    (root / "test_data/atlas/md_data/Folder.md").mkdir()
    problems = LAYOUTS["wlc"].read(root, "utf-8").problems
    assert problems == (
        "test_data/atlas/md_data/Folder.md: cannot be read (Is a directory); make it readable or remove it",
    )
