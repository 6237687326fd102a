"""One set of answers as each tool and benchmark writes it, in its documented format; the version stands beside it.

Eight items, two people, one judge: scores of 0 and 1 for tools that rate, A, B and tie for those that compare.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

ITEMS = tuple(f"q{number}" for number in range(1, 9))
PEOPLE, JUDGE = ("ann-1", "ann-2"), "gpt-4o"
SCORES = dict(zip(ITEMS, ("111", "000", "110", "010", "111", "001", "000", "100"), strict=True))  # both people, judge
VERDICTS = dict(zip(ITEMS, ("AAB", "BBB", "ttA", "BAB", "AAA", "BtB", "AAt", "tBB"), strict=True))
SYSTEMS = ("atlas", "borel")
WORD = {"A": "A", "B": "B", "t": "tie"}
Record = dict[str, Any]


def lines(rows: Sequence[Record]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


def table(rows: Sequence[Record]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def rated() -> list[tuple[str, str, str, int]]:
    """(item, rater, kind, score) of every answer."""
    return [
        (item, rater, kind, int(given[place]))
        for item, given in SCORES.items()
        for place, (rater, kind) in enumerate(((PEOPLE[0], "human"), (PEOPLE[1], "human"), (JUDGE, "judge")))
    ]


# Inspect, inspect_ai 0.3.130: https://inspect.aisi.org.uk/eval-logs.html
INSPECT_HEADER = {
    "version": 2, "status": "success", "plan": {"name": "plan", "steps": []}, "results": {}, "stats": {},
    "eval": {
        "task": "helpful", "model": "openai/small", "packages": {"inspect_ai": "0.3.130"},
        "model_roles": {"grader": {"model": JUDGE}},
    },
}  # fmt: skip


def inspect_samples() -> list[Record]:
    return [
        {
            "id": item, "epoch": 1, "input": "Say it.", "target": "C" if given[0] == "1" else "I",
            "metadata": {"person_1": given[0], "person_2": given[1]},
            "output": {"model": "small", "choices": []},
            "scores": {"model_graded_qa": {
                "value": "C" if given[2] == "1" else "I", "answer": "…", "explanation": "because", "history": [],
            }},
        }
        for item, given in SCORES.items()
    ]  # fmt: skip


def inspect_eval(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as held:
        held.writestr("_journal/start.json", json.dumps({"version": 2, "eval": INSPECT_HEADER["eval"]}))
        for sample in inspect_samples():
            held.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        held.writestr("summaries.json", "[]")
        held.writestr("header.json", json.dumps(INSPECT_HEADER))


# promptfoo 0.118, `promptfoo eval --output`: https://www.promptfoo.dev/docs/configuration/outputs/
def promptfoo() -> Record:
    def result(number: int, item: str, given: str) -> Record:
        component = {
            "pass": given[2] == "1", "score": int(given[2]), "reason": "because",
            "assertion": {"type": "llm-rubric", "value": "Is it helpful?", "metric": "helpful", "provider": JUDGE},
        }  # fmt: skip
        return {
            "promptIdx": 0, "testIdx": number, "provider": {"id": "small"}, "success": True, "failureReason": 0,
            "vars": {"id": item, "person_1": given[0], "person_2": given[1]}, "response": {"output": "…"},
            "gradingResult": {"pass": True, "score": 1, "componentResults": [component]},
        }  # fmt: skip

    results = [result(number, item, given) for number, (item, given) in enumerate(SCORES.items())]
    return {"evalId": "eval-1", "results": {"version": 3, "prompts": [], "results": results}, "config": {}}


# DeepEval 3.6, DEEPEVAL_RESULTS_FOLDER: https://deepeval.com/docs/evaluation-flags-and-configs
def deepeval() -> Record:
    return {
        "testCases": [
            {
                "name": item, "input": "Say it.", "actualOutput": "…",
                "additionalMetadata": {"person_1": given[0], "person_2": given[1]},
                "metricsData": [{
                    "name": "helpful [GEval]", "score": float(given[2]), "reason": "because", "threshold": 0.5,
                    "evaluationModel": JUDGE, "error": None,
                }],
            }
            for item, given in SCORES.items()
        ],
        "conversationalTestCases": [], "hyperparameters": None,
    }  # fmt: skip


# MLflow 3.4, Trace.to_dict: https://mlflow.org/docs/latest/genai/concepts/trace
def mlflow_traces() -> list[Record]:
    def assessment(rater: str, kind: str, score: int) -> Record:
        source = {"source_type": "HUMAN" if kind == "human" else "LLM_JUDGE", "source_id": rater}
        return {
            "assessment_id": f"a-{rater}", "assessment_name": "helpful", "source": source, "rationale": "because",
            "feedback": {"value": score}, "valid": True,
        }  # fmt: skip

    expected = {"assessment_name": "expected", "source": {"source_type": "HUMAN"}, "expectation": {"value": "x"}}
    return [
        {
            "info": {
                "trace_id": item, "state": "OK",
                "assessments": [assessment(*one[1:]) for one in rated() if one[0] == item] + [expected],
            },
            "data": {"spans": []},
        }
        for item in ITEMS
    ]  # fmt: skip


# MLflow 2.22, mlflow.evaluate: eval_results_table.json, https://mlflow.org/docs/2.22.0/llms/llm-evaluate
def mlflow_table() -> Record:
    columns = ["id", "inputs", "outputs", "person_1", "person_2", "helpful/v1/score", "helpful/v1/justification"]
    data = [[item, "Say it.", "…", given[0], given[1], int(given[2]), "because"] for item, given in SCORES.items()]
    return {"columns": columns, "data": data}


# Langfuse 3.112, scores: https://langfuse.com/docs/evaluation/evaluation-methods/data-model
def langfuse() -> list[Record]:
    return [
        {
            "id": f"s-{item}-{rater}", "timestamp": "2026-01-05T10:00:00.000Z", "traceId": item, "observationId": "",
            "name": "helpful", "dataType": "NUMERIC", "value": score, "stringValue": "",
            "source": "ANNOTATION" if kind == "human" else "EVAL", "comment": "because",
            "authorUserId": rater if kind == "human" else "", "queueId": "queue-1" if kind == "human" else "",
            "metadata": json.dumps({"judge": JUDGE}) if kind == "judge" else "",
        }
        for item, rater, kind, score in rated()
    ]  # fmt: skip


# LangSmith, langsmith 0.4: https://docs.langchain.com/langsmith/feedback-data-format
def langsmith() -> list[Record]:
    return [
        {
            "id": f"f-{item}-{rater}", "run_id": item, "key": "helpful", "score": score, "value": None,
            "comment": "because", "correction": None, "session_id": "p-1",
            "feedback_source": (
                {"type": "app", "metadata": None, "user_id": rater}
                if kind == "human"
                else {"type": "auto_eval", "metadata": {"model": JUDGE}}
            ),
        }
        for item, rater, kind, score in rated()
    ]  # fmt: skip


# Phoenix, arize-phoenix-client 1.18: get_span_annotations_dataframe().reset_index()
def phoenix() -> list[Record]:
    return [
        {
            "span_id": item, "annotation_name": "helpful", "annotator_kind": "HUMAN" if kind == "human" else "LLM",
            "label": "good" if score else "bad", "score": float(score), "explanation": "because",
            "metadata": json.dumps({"model": JUDGE} if kind == "judge" else {"reviewer": rater}), "identifier": "",
            "source": "APP" if kind == "human" else "API",
        }
        for item, rater, kind, score in rated()
    ]  # fmt: skip


# openai/evals 3.0.1, oaieval --record_path: https://github.com/openai/evals
def openai_evals() -> list[Record]:
    spec = {
        "completion_fns": ["small", JUDGE], "eval_name": "helpful.dev.v0", "base_eval": "helpful", "split": "dev",
        "run_id": "r1",
    }  # fmt: skip
    events = [
        {
            "run_id": "r1", "event_id": number, "sample_id": item, "type": kind, "data": data, "created_by": "",
            "created_at": "2026-01-05 10:00:00",
        }
        for item, given in SCORES.items()
        for number, (kind, data) in enumerate(
            (("sampling", {"prompt": "…", "sampled": "…"}), ("metrics", {"choice": "Y" if given[2] == "1" else "N"}))
        )
    ]  # fmt: skip
    return [{"spec": spec}, *events, {"final_report": {"counts/Y": 4}}]


# Label Studio 1.20, JSON: https://labelstud.io/guide/export
def label_studio() -> list[Record]:
    def result(score: int) -> list[Record]:
        return [{
            "from_name": "helpful", "to_name": "text", "type": "rating", "value": {"rating": score}, "id": "x",
            "origin": "manual",
        }]  # fmt: skip

    return [
        {
            "id": int(item[1:]), "data": {"text": "…"}, "meta": {}, "project": 1,
            "annotations": [
                {"id": number, "completed_by": number, "result": result(int(given[number - 1])), "was_cancelled": False}
                for number in (1, 2)
            ],
            "predictions": [{"model_version": JUDGE, "score": 0.9, "result": result(int(given[2]))}],
        }
        for item, given in SCORES.items()
    ]  # fmt: skip


# Argilla 2.8, dataset.records.to_json: https://docs.argilla.io
def argilla() -> list[Record]:
    return [
        {
            "id": item, "fields": {"text": "…"}, "metadata": {}, "vectors": {}, "_server_id": "u",
            "responses": {"helpful": [
                {"value": int(given[place]), "user_id": PEOPLE[place], "status": "submitted"} for place in (0, 1)
            ]},
            "suggestions": {"helpful": {"value": int(given[2]), "score": None, "agent": JUDGE}},
        }
        for item, given in SCORES.items()
    ]  # fmt: skip


# Potato 2.12: user_state.json of each annotator, and of a model
def potato(path: Path) -> None:
    for place, user in enumerate((*PEOPLE, JUDGE)):
        origin = {"kind": "model", "model": JUDGE} if user == JUDGE else {"kind": "human"}
        held = {item: [[{"schema": "helpful", "name": given[place]}, given[place]]] for item, given in SCORES.items()}
        (path / "annotation_output" / user).mkdir(parents=True)
        state = {"user_id": user, "origin": origin, "instance_id_to_label_to_value": held}
        (path / "annotation_output" / user / "user_state.json").write_text(json.dumps(state))


# Prodigy 1.18, db-out: https://prodi.gy/docs/api-interfaces
def prodigy() -> list[Record]:
    return [
        {
            "text": "…", "_input_hash": int(item[1:]), "_task_hash": int(item[1:]), "_view_id": "choice",
            "options": [{"id": "0", "text": "no"}, {"id": "1", "text": "yes"}], "accept": [given[place]],
            "answer": "accept", "_annotator_id": PEOPLE[place], "_session_id": f"helpful-{PEOPLE[place]}",
        }
        for item, given in SCORES.items()
        for place in (0, 1)
    ]  # fmt: skip


# MT-Bench, FastChat 0.2.36: data/mt_bench/model_judgment/gpt-4_pair.jsonl; lmsys/mt_bench_human_judgments
def mt_bench_human() -> list[Record]:
    word = {"A": "model_a", "B": "model_b", "t": "tie"}
    return [
        {
            "question_id": int(item[1:]), "model_a": SYSTEMS[0], "model_b": SYSTEMS[1], "winner": word[given[place]],
            "judge": f"expert_{place + 1}", "conversation_a": [{"role": "user", "content": "…"}],
            "conversation_b": [{"role": "user", "content": "…"}], "turn": 1,
        }
        for item, given in VERDICTS.items()
        for place in (0, 1)
    ]  # fmt: skip


def mt_bench_pair() -> list[Record]:
    word = {"A": "model_1", "B": "model_2", "t": "tie"}
    return [
        {
            "question_id": int(item[1:]), "model_1": SYSTEMS[0], "model_2": SYSTEMS[1], "g1_winner": word[given[2]],
            "g2_winner": word[given[2]], "judge": ["gpt-4", "pair-v2"], "g1_user_prompt": "…", "g1_judgment": "[[A]]",
            "g2_user_prompt": "…", "g2_judgment": "[[B]]", "turn": 1, "tstamp": 1686286924.3,
        }
        for item, given in VERDICTS.items()
    ]  # fmt: skip


def mt_bench(path: Path) -> None:
    path.mkdir()
    pd.DataFrame(mt_bench_human()).to_parquet(path / "human-00000-of-00001.parquet", index=False)
    (path / "gpt-4_pair.jsonl").write_bytes(lines(mt_bench_pair()))


# AlpacaEval 0.6.6, annotations.json, and alpaca_farm_human_crossannotations.json
def alpaca_eval(path: Path) -> None:
    number = {"A": 1, "B": 2, "t": 0}
    texts = {item: {"instruction": item, "output_1": f"one {item}", "output_2": f"two {item}"} for item in ITEMS}
    people = [
        texts[item] | {"preference": number[given[place]], "annotator_index": place + 1, "dataset": "helpful_base"}
        for item, given in VERDICTS.items()
        for place in (0, 1)
    ]
    judge = [
        texts[item] | {
            "preference": {"A": 1.0, "B": 1.93, "t": 1.5}[given[2]], "annotator": JUDGE, "generator_1": SYSTEMS[0],
            "generator_2": SYSTEMS[1], "dataset": "helpful_base", "price_per_example": 0.0021, "time_per_example": 0.7,
            "raw_completion": "m",
        }
        for item, given in VERDICTS.items()
    ]  # fmt: skip
    path.mkdir()
    (path / "human_crossannotations.json").write_text(json.dumps(people))
    (path / "annotations.json").write_text(json.dumps(judge))


# JUDGE-BENCH, data/*/*.json: https://github.com/dmg-illc/JUDGE-BENCH (data/example.json)
def judge_bench() -> Record:
    metric = {"metric": "helpful", "category": "graded", "prompt": "{{ instance }}", "worst": 0, "best": 1}
    return {
        "dataset": "made here", "dataset_url": "", "annotations": [metric],
        "instances": [
            {
                "id": int(item[1:]), "instance": "…",
                "annotations": {"helpful": {
                    "mean_human": (int(given[0]) + int(given[1])) / 2,
                    "individual_human_scores": [int(given[0]), int(given[1])],
                }},
                JUDGE: {"helpful": [int(given[2])]}, f"{JUDGE}_raw": {"helpful": [f"[{given[2]}]"]},
            }
            for item, given in SCORES.items()
        ],
    }  # fmt: skip


# PandaLM, data/testset-v1.json and gpt-3.5-turbo-testset-v1.json: https://github.com/WeOpenML/PandaLM
def pandalm(path: Path) -> None:
    number = {"A": 1, "B": 2, "t": 0}
    pairs = [
        {
            "idx": place, "motivation_app": "Grammarly", "cmp_key": "_".join(SYSTEMS), "instruction": item,
            "input": float("nan"), "response1": "…", "response2": "…", "annotator1": number[given[0]],
            "annotator2": number[given[1]],
        }
        for place, (item, given) in enumerate(VERDICTS.items())
    ]  # fmt: skip
    results = [
        {"idx": place, "gpt_result": {"A": "1", "B": "2", "t": "Tie"}[given[2]], "gpt_reason": "…"}
        for place, given in enumerate(VERDICTS.values())
    ]
    path.mkdir()
    (path / "testset-v1.json").write_text(json.dumps(pairs, indent=4))
    (path / "gpt-3.5-turbo-testset-v1.json").write_text(json.dumps(results, indent=4))


# LLMBar, Dataset/LLMBar/Natural: dataset.json and evaluators/GPT-4/Vanilla/result.json
def llmbar(path: Path) -> None:
    data = [
        {"input": item, "output_1": f"one {item}", "output_2": f"two {item}", "label": 1 + (given[0] == "B")}
        for item, given in VERDICTS.items()
    ]
    results = [
        one | {"results": [{
            f"swap = {swap}": {"completion": ["Output (a)", "stop"], "winner": {"A": "1", "B": "2", "t": "tie"}[given[2]]}
            for swap in (False, True)
        }]}
        for one, given in zip(data, VERDICTS.values(), strict=True)
    ]  # fmt: skip
    evaluator = path / "Natural" / "evaluators" / "GPT-4" / "Vanilla"
    evaluator.mkdir(parents=True)
    (path / "Natural" / "dataset.json").write_text(json.dumps(data))
    (evaluator / "result.json").write_text(json.dumps(results))


# JudgeBench, outputs/ of run_judge.py: github.com/ScalerLab/JudgeBench
def judgebench() -> list[Record]:
    decided = {"A": ("A>B", "B>A"), "B": ("B>A", "A>B"), "t": ("A=B", "A=B")}
    return [
        {
            "pair_id": item, "original_id": 1420, "source": "mmlu-pro-law", "question": f"question {item}",
            "response_model": "gpt-4o-2024-05-13", "response_A": "…", "response_B": "…",
            "label": decided[given[0].replace("t", "A")][0], "judge_name": "arena_hard",
            "judgments": [
                {"judgment": {"judge_model": JUDGE, "prompt": "…", "response": "…"}, "decision": one}
                for one in decided[given[2]]
            ],
        }
        for item, given in VERDICTS.items()
    ]  # fmt: skip


# SummEval, model_annotations.aligned.jsonl, and G-Eval, results/gpt4_coh_detailed.json
def summeval(path: Path) -> None:
    people = [
        {
            "id": item, "model_id": "M11", "decoded": "…", "references": [], "turker_annotations": [],
            "expert_annotations": [{"coherence": int(given[place])} for place in (0, 1)],
        }
        for item, given in SCORES.items()
    ]  # fmt: skip
    judge = [
        {"doc_id": item, "system_id": "M11", "system_output": "…", "all_responses": [f"{given[2]}: …"]}
        for item, given in SCORES.items()
    ]
    path.mkdir()
    (path / "model_annotations.aligned.jsonl").write_bytes(lines(people))
    (path / "gpt4_coh_detailed.json").write_text(json.dumps(judge))


FILES: Mapping[str, tuple[str, str, bytes | Callable[[Path], object]]] = {  # what: (layout, name, how it is written)
    "an archive of Inspect": ("inspect", "run.eval", inspect_eval),
    "a JSON log of Inspect": (
        "inspect", "run.json", json.dumps(INSPECT_HEADER | {"samples": inspect_samples()}).encode(),
    ),
    "promptfoo": ("promptfoo", "output.json", json.dumps(promptfoo()).encode()),
    "promptfoo, a line a result": ("promptfoo", "output.jsonl", lines(promptfoo()["results"]["results"])),
    "DeepEval": ("deepeval", "20260105_100000", json.dumps(deepeval()).encode()),
    "traces of MLflow": ("mlflow", "traces.json", json.dumps({"traces": mlflow_traces()}).encode()),
    "a table of mlflow.evaluate": ("mlflow", "eval_results_table.json", json.dumps(mlflow_table()).encode()),
    "scores of Langfuse as CSV": ("langfuse", "scores.csv", table(langfuse())),
    "scores of Langfuse's API": ("langfuse", "scores.json", json.dumps({"data": langfuse(), "meta": {}}).encode()),
    "LangSmith": ("langsmith", "feedback.jsonl", lines(langsmith())),
    "Phoenix as CSV": ("phoenix", "annotations.csv", table(phoenix())),
    "Phoenix as Parquet": (
        "phoenix", "annotations.parquet", lambda path: pd.DataFrame(phoenix()).to_parquet(path, index=False),
    ),
    "openai/evals": ("openai_evals", "log.jsonl", lines(openai_evals())),
    "Label Studio": ("label_studio", "export.json", json.dumps(label_studio()).encode()),
    "Argilla": ("argilla", "records.json", json.dumps(argilla()).encode()),
    "Potato": ("potato", "project", potato),
    "Prodigy": ("prodigy", "helpful.jsonl", lines(prodigy())),
    "MT-Bench": ("mt_bench", "mt_bench", mt_bench),
    "AlpacaEval": ("alpaca_eval", "results", alpaca_eval),
    "JUDGE-BENCH": ("judge_bench", "recipes.json", json.dumps(judge_bench()).encode()),
    "JudgeBench": ("judgebench", "judgebench.jsonl", lines(judgebench())),
    "PandaLM": ("pandalm", "data", pandalm),
    "LLMBar": ("llmbar", "LLMBar", llmbar),
    "SummEval": ("summeval", "SummEval", summeval),
}  # fmt: skip


def written(name: str, folder: Path) -> tuple[str, Path]:
    """The layout, and the file or folder as it was written below `folder`."""
    layout, called, content = FILES[name]
    path = folder / called
    if callable(content):
        content(path)
    else:
        path.write_bytes(content)
    return layout, path
