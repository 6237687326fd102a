"""Small samples of each system's own files, with the quirks of the published ones; six topics, planted answers."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.annotation.layout_trees import json_lines, put
from tests.annotation.result_trees import citation_file, dr3_depth, dr3_file, writing

PEOPLE = ("ann1", "ann2")
NUMBERS = range(6)


def prose(of: str) -> str:
    """A report unlike any other, long enough for no warning."""
    draw = random.Random(of)
    words = ("water", "salt", "moon", "mill", "harbour", "turbine", "sediment", "gate", "cost", "season")
    said = " ".join(f"The {draw.choice(words)} of {of} meets the {draw.choice(words)}." for _ in range(12))
    return f"# On {of}\n\n{said}\n\n## What follows\n\nIt ends with {of}.\n"


def labels_csv(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """People's labels in our own exchange file; each row says who, topic, systems, criterion and label."""
    usual = {"rater_kind": "human", "system_b": "", "presentation": ""}
    filled = [usual | {"item_id": f"{row['cluster_id']}-{number}"} | row for number, row in enumerate(rows)]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(filled[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(filled)
    return put(path, out.getvalue())


def wiki_tree(root: Path, codes: list[str]) -> tuple[list[str], dict[tuple[str, str], str]]:
    """Wiki Live Challenge: articles and `_writing.json`. Titles, and what the files say of each criterion (gt or gen).

    One article has a tie although ties were off, one criterion has no winner, and every index is wrong.
    """
    titles = [f"Tidal_mill_{number}" for number in NUMBERS] + ["Zürich_(canton)"]
    agencies = {"openai": {"name": "OpenAI", "description": "", "has_citations": True, "enabled": True}}
    put(root / "test_data/agencies.json", json.dumps({"version": "1", "agencies": agencies}))
    entries, said = [], {}
    for number, title in enumerate(titles):
        put(root / f"test_data/openai/md_data/{title}.md", prose(f"openai {title}"))
        put(root / f"wiki_data/cleaned_data/article/{title}.md", prose(f"people {title}"))
        entries.append({"id": number, "title": title, "url": "https://example.org", "question": f"Write on {title}."})
        draw = random.Random(title)
        answers = {code: draw.choices(["gt", "gen"], [0.8, 0.2])[0] for code in codes}
        said |= {(title, code): winner for code, winner in answers.items()}
        odd = {codes[0]: "tie"} if number == 0 else {codes[1]: ""} if number == 1 else {}
        put(root / f"results/openai/{title}_writing.json", writing(answers | odd, topic=title))
    put(root / "wiki_data/ga_sample.json", json.dumps(entries, ensure_ascii=False))
    rows = "".join(f"{title},https://example.org,Engineering\n" for title in titles)
    put(root / "wiki_data/ga_sample.csv", f"title,url,category\n{rows}")
    return titles, said


def gym_tree(root: Path) -> dict[tuple[str, str], float]:
    """DeepResearchGym: reports, a person's folders, and the three kinds of evaluation files. (query, system) -> clarity.

    As there, a person's mapping.txt calls `search-r1_custom` otherwise than its folder is called.
    """
    queries = [str(354532 + number) for number in NUMBERS]
    put(root / "queries/sample.jsonl", json_lines({"id": key, "query": f"why {key}"} for key in queries))
    clarity = {}
    for system, shift in (("GPTResearcher", 2), ("search-r1_custom", 0)):
        folder = root / "reports" / system
        scores, points, cited = {}, {}, {}
        for number, key in enumerate(queries):
            put(folder / f"{key}.q", f"why {key}\n")
            put(folder / f"{key}.a", prose(f"{system} {key}"))
            clarity[key, system] = value = 4 + shift - (3 if number == 5 and shift else 0) + number % 3 * 0
            scores[key] = {
                "scores": {"Clarity": [value, "it reads well"], "Insightfulness": [5, "."]},
                "normalized_score": 50,
            }
            label = "Supported" if (number + shift) % 3 else "Omitted"
            points[key] = {
                "labels": {"1": [label, "said"], "2": ["Supported", "."], "3": [None if number == 2 else "Contradicted", "."]},
                "support_rate": 66.7, "ommitted_rate": 33.3,
            }  # fmt: skip
            claim = {
                "claim": f"Claim about {key}.",
                "urls": ["https://a.org/1"],
                "score": 0.5 * (number % 3),
                "justification": ".",
            }
            failed = {
                "claim": f"Failed about {key}.",
                "urls": ["https://a.org/1"],
                "score": 0,
                "justification": "Connection error.",
            }
            cited[key] = {"score": 0.25, "detailed": {"claim_1": claim, "claim_2": failed}}
        cited[queries[4]] = {"score": 0, "detailed": "No URLs found in text."}
        cited[queries[5]] = {"score": 0, "detailed": None}
        put(folder / "evaluation_results_detailed_gpt-4.1-mini.json", json.dumps(scores))
        put(folder / "evaluation_results_kpr_gpt-4.1-mini.json", json.dumps(points))
        citation_file(root / "reports", cited, system)
    for key in queries:
        found = [
            {"point_number": n, "point_content": f"Point {n} of {key}.", "original_point_number": [n]}
            for n in (1, 2, 3)
        ]
        put(root / f"key_point/{key}_aggregated.json", json.dumps({"question": f"why {key}", "key_points": found}))
    put(root / "pages/pages.csv", "url,file\nhttps://a.org/1,one.txt\n")
    put(root / "pages/one.txt", "A page.\n")
    for person in PEOPLE:
        for number, key in enumerate(queries):
            folder = root / "people" / person / key
            better = "GPTResearcher" if number != 5 and (person, number) != ("ann2", 1) else "search-r1-custom"
            first, other = ("search-r1-custom", "GPTResearcher")[:: 1 if number in (0, 5) else -1]
            put(folder / "mapping.txt", f"A: {first}\nB: {other}\n")
            put(folder / "label.csv", "")
            put(folder / ("A.txt" if better == first else "B.txt"), "the winner")
    return clarity


def race_tree(root: Path) -> list[str]:
    """DeepResearch Bench: raw texts and raw_results.jsonl of three systems, one line of them failed."""
    queries = [
        {"id": n + 1, "topic": "Science", "language": "en", "prompt": f"Write on tide {n + 1}."} for n in NUMBERS
    ]
    put(root / "data/prompt_data/query.jsonl", json_lines(queries))
    for place, system in enumerate(("alpha", "beta", "gamma")):
        rows = [{"id": q["id"], "prompt": q["prompt"], "article": prose(f"{system} {q['id']}")} for q in queries]
        put(root / f"data/test_data/raw_data/{system}.jsonl", json_lines(rows))
        results: list[dict[str, Any]] = [
            {"id": q["id"], "prompt": q["prompt"], **race_scores(system, n, 0.004 * place), "overall_score": 0.5}
            for n, q in enumerate(queries)
        ]
        if system == "beta":
            results[2] = {"id": 3, "prompt": "Write on tide 3.", "error": "no JSON in the reply"}
        put(root / f"results/race/{system}/raw_results.jsonl", json_lines(results))
    return ["alpha", "beta", "gamma"]


def race_scores(who: str, number: int, shift: float) -> dict[str, float]:
    """Shares of the target, four of them; close to .5 as published ones are. Each of them, on each task, has its own
    order of systems: who takes one for another, or a mean over tasks for one of them, gets other preferences.
    """
    draw, system = random.Random(f"{who} {number}"), ("alpha", "beta", "gamma").index(who.split()[-1])
    found = {}
    for name in ("comprehensiveness", "insight", "instruction_following", "readability"):
        place = random.Random(f"{name} {number}").sample(range(3), 3)[system]
        found[name] = 0.46 + 0.02 * place + shift + draw.uniform(-0.012, 0.012)
    return found


def survey_tree(root: Path) -> list[str]:
    """ReportBench: surveys, six votes a statement (some of them failures), and verdicts on cited statements."""
    ids = [f"2312.0{4860 + number}" for number in NUMBERS]
    put(
        root / "ReportBench_v1.1.jsonl",
        json_lines(
            {"arxiv_id": one, "title": f"Survey {one}", "prompt": f"Write on {one}.", "application_domain": "Physics", "update_date": "2025-04-22"}
            for one in ids
        ),
    )  # fmt: skip
    for number, one in enumerate(ids):
        put(root / f"o3/{one}.json", json.dumps({"prompt": "p", "response": prose(f"o3 {one}")}))
        votes: list[tuple[Any, ...]] = [("ID", "statement", "llm_model", "attempt", "decision", "reason", "success")]
        for statement in (1, 2, 3):
            true = (number + statement) % 3 != 0
            for model in ("gemini-2.5-pro", "gemini-2.5-flash"):
                for attempt in (1, 2, 3):
                    failed = (statement, model, attempt) == (2, "gemini-2.5-flash", 3)
                    slip = (number, statement, attempt) == (1, 1, 2)
                    reason = "JSON解析失败: Expecting value" if failed else "a source says so"
                    decision = "False" if failed else "正确" if true != slip else "错误"
                    votes.append(
                        (f"s{statement}", f"Statement {statement} of {one}.", model, attempt, decision, reason, "True")
                    )
        _sheet(root / f"results/o3/{one}/no_citations_web_verification.csv", votes)
        listed = [
            ("ID", "statement", "url"),
            ("7", f"Cited of {one}.", "https://a.org/7"),
            ("8", f"Cited of {one}.", "https://a.org/8"),
        ]
        _sheet(root / f"results/o3/{one}/citations.csv", listed)
        verdicts: list[tuple[Any, ...]] = [("ID", "statement", "source_sentence", "url", "match", "reason")]
        verdicts.append(("7", f"Cited of {one}.", "It says so.", "https://a.org/7", str(number % 2 == 0), "."))
        verdicts.append(
            ("8", f"Cited of {one}.", "NOT_FOUND" if number == 3 else "It says.", "https://a.org/8", "True", ".")
        )
        _sheet(root / f"results/o3/{one}/final.csv", verdicts)
    for page in ("7", "8"):
        put(root / f"results/o3/raw_texts/{page}.txt", f"The page {page}.")
    return ids


def metric_tree(root: Path) -> dict[tuple[str, str], dict[str, float]]:
    """DR3-Eval: reports and metric files of two systems. (task, system) -> score by criterion, 0 to 100.

    Older files stand beside newer ones, one DQ failed with -1, and one insight has no result.
    """
    metrics = {
        "information_recall": "IR", "factual_accuracy": "FA", "citation_coverage": "CC", "format_compliance": "IF",
        "overall_quality": "DQ",
    }  # fmt: skip
    tasks = [f"{number + 1:03}" for number in NUMBERS]
    put(root / "datasets_en/query.jsonl", json_lines({"task": task, "query": f"Why {task}?"} for task in tasks))
    told: dict[tuple[str, str], dict[str, float]] = {}
    results = root / "results/128k"
    for system, level in (("glm-4.7", 60), ("qwen3", 45)):
        for number, task in enumerate(tasks):
            put(results / system / task / "final_report.md", prose(f"{system} {task}"))
            draw = random.Random(f"{system} {task}")
            scores = {code: round(level + 3 * number + draw.uniform(-8, 8), 2) for code in metrics.values()}
            scores["DQ"] = float(10 * round(scores["DQ"] / 10))
            told[task, system] = scores
            for metric, code in metrics.items():
                details: dict[str, Any] = dr3_depth(scores[code]) if code == "DQ" else {}
                if metric == "information_recall":
                    details = {"components": _insights(number)}
                dr3_file(results, metric, 1.0, task=task, system=system, stamp="20251201_000000")
                dr3_file(results, metric, scores[code], details, task=task, system=system)
    dr3_file(results, "overall_quality", -1, {"status": "failed"}, task="002", system="qwen3", stamp="20260202_000000")
    for task in tasks:
        gold = root / "ground_truth/datasets_en" / task
        put(
            gold / "gold_insights_from_source.json",
            json.dumps({"gold_insights": [{"insight": f"{n} rises."} for n in (1, 2)]}),
        )
        put(gold / "gold_insights_from_long_context.json", json.dumps({"gold_insights": [{"insight": LONG}]}))
    return told


LONG = "The reservoirs of the upper valley lost a third of their volume between 1994 and 2019, and most of that to fine sediment."


def _insights(number: int) -> dict[str, Any]:
    """What the judge says of three insights; one of them got no result, which their code calls not covered."""

    def of(entries: list[dict[str, Any]]) -> dict[str, Any]:
        return {"available": True, "details": {"evaluation_result": {"covered_insights": entries}}}

    failed = {"id": 2, "score": 0.0, "explanation": "No result from LLM for this insight", "insight_text": "2 rises."}
    answered = {"id": 2, "score": 1.0, "explanation": "", "insight_text": "2 rises."}
    own = [{"id": 1, "score": 0.5 * (number % 3), "explanation": "", "insight_text": "1 rises."}]
    own.append(failed if number == 1 else answered)
    cut = [{"id": 1, "score": 1.0, "explanation": "", "insight_text": f"{LONG[:100]}..."}]
    return {"source_documents": of(own), "long_context": of(cut)}


def _sheet(path: Path, rows: Iterable[tuple[Any, ...]]) -> Path:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return put(path, "\ufeff" + out.getvalue())
