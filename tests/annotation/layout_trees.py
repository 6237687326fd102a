"""Small trees in every layout, and how tests bring them in: a few topics, two or three systems, real quirks in the names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Engine

from annotation.importing.reports.import_report import ImportReport
from annotation.importing.reports.records import Parsed
from annotation.importing.reports.write import import_reports
from annotation.people.principals import local_admin
from annotation.studies import init_study
from db.connect import reading, transaction
from db.types import Record
from tests.small_study import PROTOCOL

WORDS = "Tides rise and fall twice a day, because the Earth turns under two bulges of water. "
CHINESE = "潮汐每天涨落两次，因为地球在两个水峰之下转动。" * 20


def text(of: str) -> str:
    """A report of more than fifty words, unlike any other."""
    return f"# On {of}\n\n{WORDS * 5}This one is about {of} [1].\n\n## References\n\n[1] https://example.org/{of}\n"


def put(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def json_lines(rows: Iterable[Any]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def gym_tree(root: Path) -> Path:
    """Paired conditions `X_custom` and, once, `search-r1-custom`: three systems, none of them split."""
    put(
        root / "queries/researchy.jsonl",
        json_lines([{"id": "879779", "query": "is the tide a wave"}, {"id": "12", "query": "why salt"}]),
    )
    put(
        root / "queries/sample_2.jsonl",
        json_lines([{"id": "12", "query": "why salt"}, {"id": "99", "query": "never asked"}]),
    )
    for system in ("OpenAI", "OpenAI_custom", "search-r1-custom"):
        for key in ("879779", "12"):
            put(root / "reports" / system / f"{key}.a", text(f"{system}-{key}"))
        put(root / "reports" / system / "12.q", "why salt\n")
    put(root / "reports/OpenAI/log.txt", "not a report")
    put(root / "key_point/12_aggregated.json", '{"question": "why salt", "key_points": []}')
    put(root / "key_point/12.json", "{}")
    return root


def bench_tree(root: Path) -> Path:
    queries = [
        {"id": 1, "topic": "Finance & Business", "language": "zh", "prompt": "收集整理目前世界上关于潮汐发电的研究"},
        {"id": 2, "topic": "Science", "language": "en", "prompt": "Write on tides.\nSay why."},
    ]
    put(root / "data/prompt_data/query.jsonl", json_lines(queries))
    for system in ("gemini-2.5-pro-deepresearch", "claude-3-7"):
        rows = [{"id": q["id"], "prompt": q["prompt"], "article": text(f"{system}-{q['id']}")} for q in queries]
        rows[0]["article"] = f"## 一、潮汐\n\n{CHINESE}{system}。"
        put(root / f"data/test_data/raw_data/{system}.jsonl", json_lines(rows))
        put(root / f"data/test_data/cleaned_data/{system}.jsonl", json_lines([{"id": 1, "article": "rewritten"}]))
    gold = [{"id": q["id"], "prompt": q["prompt"], "article": text(f"reference-{q['id']}")} for q in queries]
    put(root / "data/test_data/cleaned_data/reference.jsonl", json_lines(gold))
    put(root / "data/criteria_data/criteria.jsonl", json_lines([{"id": 1, "dimension_weight": {"insight": 0.36}}]))
    return root


def survey_tree(root: Path) -> Path:
    """ReportBench: an id that ends in 0, an answer under another name, and captures of a chat product."""
    surveys = [
        {
            "arxiv_id": "2009.12610",
            "title": "A Survey of Tides",
            "prompt": "Write a survey on tides.",
            "application_domain": "Physics",
            "update_date": "2025-04-22",
        },
        {
            "arxiv_id": "2312.04861",
            "title": "Breads",
            "prompt": "Write a survey on bread.",
            "application_domain": "Food",
            "update_date": "2025-05-01",
        },
    ]
    put(root / "ReportBench_v1.1.jsonl", json_lines(surveys))
    put(root / "ReportBench_v1.1_GT/2009.12610.jsonl", '{"bib_id": "b1", "title": "Seen twice"}\n')
    put(root / "o3/2009.12610.json", json.dumps({"prompt": "p" * 9999, "response": text("o3-tides")}))
    put(root / "o3/2312.04861.json", json.dumps({"prompt": "p" * 9999, "essay": text("o3-bread"), "model": "o3"}))
    put(root / "o3/summary.json", "{}")
    for number, survey in enumerate(surveys):
        name = f"parsed_ann+Gemini 2.5+{survey['arxiv_id']}.json"
        capture = {
            "file_info": {},
            "prompt": survey["prompt"],
            "response": text(f"gemini-{number}"),
            "activity": "a" * 9999,
            "reference": "",
        }
        put(root / "gemini-parsed" / name, json.dumps(capture))
    return root


def task_tree(root: Path) -> Path:
    """DR3-Eval: tasks numbered 001, Chinese queries, its own words for an empty report."""
    put(
        root / "query.jsonl",
        json_lines([{"task": "001", "query": "分析潮汐发电的前景"}, {"number": "002", "query": "Assess tides."}]),
    )
    for system in ("glm-4.7", "qwen3"):
        put(root / f"results/{system}/001/final_report.md", f"# 潮汐\n\n{CHINESE}{system}。[file.md, 第3页]\n")
        put(root / f"results/{system}/002/final_report.md", text(f"{system}-002"))
    put(root / "datasets_zh/001/useful_search.jsonl", "[]")
    put(root / "datasets_en/002/文件.txt", "a user's file")
    return root


def bring_in(engine: Engine, parsed: Parsed, layout: str = "x", **options: Any) -> ImportReport:
    with transaction(engine) as session:
        study = init_study(session, "small", PROTOCOL, 7)
        return import_reports(session, local_admin(study), parsed, layout=layout, source="here", **options)


def everything(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, as plain values."""
    with reading(engine) as session:
        return {
            table.name: sorted((tuple(map(repr, row)) for row in session.execute(sa.select(table))), key=repr)
            for table in Record.metadata.sorted_tables
        }


Damage = Callable[[Path], object]


def edit(path: str, old: str, new: str) -> Damage:
    """A change of one file below a tree's root; it must apply."""

    def change(root: Path) -> None:
        content = (root / path).read_bytes()
        assert old.encode() in content, f"{path} holds no {old!r}"
        (root / path).write_bytes(content.replace(old.encode(), new.encode(), 1))

    return change


def write(path: str, content: str | bytes) -> Damage:
    return lambda root: put(root / path, content)


def remove(path: str) -> Damage:
    return lambda root: (root / path).unlink()
