"""Small files of results in every layout, about the study of `small_study`, and how tests bring them in."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import Engine, select
from sqlalchemy.orm import aliased

from annotation.importing.labels.results import ResultOptions
from annotation.importing.labels.results_write import ResultsReport, import_results
from annotation.importing.layouts import RESULT_LAYOUTS
from annotation.people.principals import local_admin
from annotation.studies import protocol_of
from annotation.verdicts import load_verdicts
from db.connect import reading, transaction
from db.tables import Assignment, Item, Label, Report, Study, System, Topic
from tests.annotation.layout_trees import json_lines, put
from tests.small_study import PROBES, PROTOCOL, RATING

RATED = RATING.replace("min = 0, max = 10, step = 1", "min = 0, max = 10, step = 0.5").replace(
    "scale = {min = 0, max = 100, step = 0.5}\n", ""
)
SHARES = RATING.split("[[criterion]]")[0].replace(
    'min = 0, max = 10, step = 1, anchors = {0 = "not at all", 5 = "in part", 10 = "fully"}',
    "min = 0, max = 1, step = 0",
) + "".join(
    f'[[criterion]]\nid = "{name}"\nlabel = "{name.title()}"\ntext = "How is it?"\n'
    for name in ("comprehensiveness", "insight", "instruction_following", "readability")
)
VOTES = (
    PROBES.split("labels = [")[0]
    + """labels = [{id = "correct", text = "Correct"}, {id = "incorrect", text = "Incorrect"}]
[study]
blind_until = "open"
[[criterion]]
id = "true"
label = "True"
text = "Is it true?"
"""
)
NO_TIE = PROTOCOL.replace("allow_tie = true", "allow_tie = false")


def bring_results(
    engine: Engine, study_id: int, path: Path, layout: str, kind: str = "judge-results", revise: bool = False,
    **options: Any,
) -> ResultsReport:  # fmt: skip
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        protocol = protocol_of(study)
        paired = protocol.task_type == "pairwise_choice"
        chosen = ResultOptions(paired=paired, probe=protocol.answers.probe or "", **options)
        return import_results(
            session, local_admin(study), RESULT_LAYOUTS[layout].read(path, chosen), kind=kind, layout=layout,
            source="here", options=chosen, revise=revise,
        )  # fmt: skip


def verdicts(engine: Engine, study_id: int) -> pd.DataFrame:
    with reading(engine) as session:
        return load_verdicts(session, session.get_one(Study, study_id))


def winners(engine: Engine, study_id: int, rater: str) -> dict[tuple[str, str], str | None]:
    """(topic, criterion) -> the winning system's key, or the answer itself; None where there is none."""
    table = verdicts(engine, study_id)
    found = {}
    for row in table[table.rater_id == rater].itertuples():
        named = {"A": row.system_a, "B": row.system_b} if isinstance(row.system_b, str) else {}
        found[row.cluster_id, row.criterion] = named.get(row.label, row.label) if row.status == "ok" else None
    return found


def stored(engine: Engine) -> list[tuple[Any, ...]]:
    """Every imported label: topic, criterion row, status, choice, the order, and its flags."""
    with reading(engine) as session:
        rows = session.execute(
            select(Topic.key, Label.status, Label.choice, Assignment.left, Assignment.pass_no, Label.flags)
            .join(Assignment, Assignment.id == Label.assignment_id)
            .join(Item, Item.id == Assignment.item_id)
            .join(Topic, Topic.id == Item.topic_id)
            .where(Assignment.source == "import")
            .order_by(Label.id)
        )
        return [tuple(row) for row in rows]


def pairs(engine: Engine) -> dict[tuple[str, frozenset[str]], tuple[str, str, str, str]]:
    """(topic, both systems) -> system A, system B, and the sha256 of what each shows."""
    a, b, system_a, system_b = aliased(Report), aliased(Report), aliased(System), aliased(System)
    with reading(engine) as session:
        rows = session.execute(
            select(Topic.key, system_a.key, system_b.key, a.shown_sha256, b.shown_sha256)
            .select_from(Item)
            .join(Topic, Topic.id == Item.topic_id)
            .join(a, a.id == Item.report_a_id)
            .join(system_a, system_a.id == a.system_id)
            .join(b, b.id == Item.report_b_id)
            .join(system_b, system_b.id == b.system_id)
        )
        return {(topic, frozenset((one, two))): (one, two, x, y) for topic, one, two, x, y in rows}


def labels_file(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """A labels.csv; each row starts from an answer of the judge `mini` about alpha and beta on tides."""
    usual = {
        "item_id": "x1", "rater_id": "mini", "rater_kind": "judge", "criterion": "clear", "label": "A",
        "cluster_id": "tides", "system_a": "alpha", "system_b": "beta", "presentation": "", "run": "1", "status": "",
        "rationale": "", "sha256_a": "", "sha256_b": "",
    }  # fmt: skip
    rows = [usual | dict(row) for row in rows]
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(dict.fromkeys(name for row in rows for name in row)), restval="")
    writer.writeheader()
    writer.writerows(rows)
    return put(path, out.getvalue())


def writing(winners: Mapping[str, str], topic: str = "tides", allow_tie: bool = False) -> str:
    """A result file of Wiki Live Challenge; indices are wrong on purpose, for nothing may go by them."""
    entries = [
        {"criterion_id": name, "criterion_index": 99, "winner": winner, "winner_code": 1, "reason": f"about {name}"}
        for name, winner in winners.items()
    ]
    return json.dumps({"topic": topic, "mode": "winrate", "allow_tie": allow_tie, "details": {"Neutral": entries}})


def gym_results(root: Path) -> Path:
    """Scores of three systems by one model, and one person's folders beside them."""
    for system, clear, deep in (("alpha", 8, 7), ("beta", 6, 7), ("gamma", 9, None)):
        scores = {"Clear": [clear, "it reads well"], "Deep": [deep, "none"]}
        content = {"tides": {"scores": scores, "normalized_score": 70.0}}
        put(root / system / "evaluation_results_detailed_gpt-4.1-mini.json", json.dumps(content))
        put(
            root / system / "evaluation_results_citation_gpt-4.1-mini.json", '{"tides": {"score": 1, "detailed": null}}'
        )
    for topic, kept in (("tides", "A"), ("bread", "B"), ("noise", "AB")):
        put(root / "ann1" / topic / "mapping.txt", "A: alpha\nB: beta\n")
        put(root / "ann1" / topic / "label.csv", "")
        for letter in kept:
            put(root / "ann1" / topic / f"{letter}.txt", "text")
    return root


def points_file(root: Path, labels: Mapping[str, Any]) -> Path:
    path = root / "alpha" / "evaluation_results_kpr_gpt-4.1-mini.json"
    return put(path, json.dumps({"tides": {"labels": labels, "support_rate": 50.0, "ommitted_rate": 50.0}}))


def race_file(root: Path, rows: Iterable[Any] = ()) -> Path:
    scores = {"comprehensiveness": 0.4721359549995794, "insight": 0.5, "instruction_following": 0.44}
    usual = [
        {"id": "tides", "prompt": "Write.", **scores, "readability": 0.51, "overall_score": 0.48},
        {"id": "bread", "prompt": "Write.", "error": "no JSON in the reply"},
        {"id": "noise", "prompt": "Write.", **scores},
    ]
    return put(root / "race" / "alpha" / "raw_results.jsonl", json_lines(rows or usual))


def votes_file(root: Path, rows: Iterable[tuple[Any, ...]]) -> Path:
    lines = ["ID,statement,llm_model,attempt,decision,reason,success", *(",".join(map(str, row)) for row in rows)]
    content = "\ufeff" + "\r\n".join(lines) + "\r\n"
    return put(root / "alpha" / "2312.04861" / "no_citations_web_verification.csv", content)


def inspect_log(samples: Iterable[Mapping[str, Any]], **run: Any) -> str:
    run = {"task": "writing", "model": "openai/o3", "model_roles": {"grader": {"model": "mini"}}} | run
    return json.dumps({"version": 2, "status": "success", "eval": run, "samples": list(samples)})


def inspect_sample(metadata: Mapping[str, Any], scores: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": 1, "epoch": 1, "input": "…", "metadata": dict(metadata), "scores": dict(scores), **more}


def promptfoo_log(results: Iterable[Mapping[str, Any]]) -> str:
    return json.dumps({"evalId": "eval-1", "results": {"version": 3, "timestamp": "…", "results": list(results)}})


def promptfoo_result(variables: Mapping[str, Any], components: Iterable[tuple[str, Any, str]], **more: Any) -> Any:
    graded = [
        {"pass": True, "score": score, "reason": reason, "assertion": {"type": "llm-rubric", "metric": metric}}
        for metric, score, reason in components
    ]
    return {
        "vars": dict(variables), "provider": {"id": "openai:o3"}, "failureReason": 0, "success": True, "score": 1,
        "gradingResult": {"pass": True, "score": 1, "reason": "all", "componentResults": graded}, **more,
    }  # fmt: skip


def deepeval_run(metadata: Mapping[str, Any], metrics: Iterable[Mapping[str, Any]]) -> str:
    usual = {"threshold": 0.5, "success": True, "evaluationModel": "mini"}
    case = {
        "name": "test_case_0", "input": "…", "actualOutput": "…", "metadata": dict(metadata),
        "metricsData": [usual | dict(metric) for metric in metrics],
    }  # fmt: skip
    return json.dumps({"testFile": None, "testCases": [case], "metricsScores": []})


def dr3_file(
    root: Path, metric: str, score: Any, details: Mapping[str, Any] | None = None, *, task: str = "001",
    system: str = "alpha", stamp: str = "20260101_120000",
) -> Path:  # fmt: skip
    """One metric of one report as DR3-Eval saves it; `root` is what lies above the systems."""
    content = {"metric_name": metric, "score": score, "weight": 1.0, "details": dict(details or {})}
    name = f"eval_{metric}_{stamp}.json" if stamp else f"eval_{metric}.json"
    return put(root / system / task / name, json.dumps(content, ensure_ascii=False))


def dr3_depth(score: float, justification: str = "It weighs evidence.") -> dict[str, Any]:
    """The details of the metric overall_quality."""
    told = {"score": score / 100, "justification": justification}
    return {"raw_evaluation": {"metric_result": {"depth_quality": told}, "score": score / 100}}


def citation_file(root: Path, content: Mapping[str, Any], system: str = "alpha", judge: str = "gpt-4.1-mini") -> Path:
    return put(root / system / f"evaluation_results_citation_{judge}.json", json.dumps(content))


def matches_file(root: Path, rows: Iterable[tuple[Any, ...]], name: str = "final.csv") -> Path:
    """ReportBench's verdicts on cited statements, a line a URL."""
    out = io.StringIO()
    csv.writer(out).writerows([("ID", "statement", "source_sentence", "url", "match", "reason"), *rows])
    return put(root / "alpha" / "2312.04861" / name, "\ufeff" + out.getvalue())
