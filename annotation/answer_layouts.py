"""The layouts of files that tools and benchmarks write, one line each, and how a file is told by the names it holds."""

import csv
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from annotation.files.decoding import BOM
from annotation.published_answers import alpaca_eval, judge_bench, judgebench, llmbar, mt_bench, pandalm, summeval
from annotation.tool_answers.argilla import read_argilla
from annotation.tool_answers.deepeval import read_deepeval
from annotation.tool_answers.entries import Found, Reading
from annotation.tool_answers.inspect_logs import HEADERS, read_inspect
from annotation.tool_answers.label_studio import read_label_studio
from annotation.tool_answers.langfuse import read_langfuse
from annotation.tool_answers.langsmith import read_langsmith
from annotation.tool_answers.mlflow import read_mlflow
from annotation.tool_answers.openai_evals import read_openai_evals
from annotation.tool_answers.phoenix import read_phoenix
from annotation.tool_answers.potato import KINDS, read_potato
from annotation.tool_answers.prodigy import read_prodigy
from annotation.tool_answers.promptfoo import read_promptfoo


@dataclass(frozen=True)
class AnswerLayout:
    """How it is read, what it looks like, and its signs: a file that holds all names of one of them is in it."""

    read: Callable[[Path, Reading], Found]
    looks_like: str
    signs: tuple[frozenset[str], ...]


def _signs(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(one.split()) for one in sets)


ANSWER_LAYOUTS = {
    "inspect": AnswerLayout(
        read_inspect, "a log of Inspect, .eval or JSON", _signs("eval plan status", "eval samples")
    ),
    "promptfoo": AnswerLayout(
        read_promptfoo, "promptfoo eval --output FILE.json", _signs("evalId results", "gradingResult promptIdx")
    ),
    "deepeval": AnswerLayout(
        read_deepeval, "a test run saved by DeepEval",
        _signs("testCases metricsData", "test_cases metrics_data", "testCases metricsMetadata"),
    ),
    "mlflow": AnswerLayout(
        read_mlflow, "MLflow's traces with assessments, or an evaluation table",
        _signs("assessments trace_id", "assessments request_id", "assessments info"),
    ),
    "langfuse": AnswerLayout(
        read_langfuse, "Langfuse's scores, of evaluators and of annotation queues",
        _signs("traceId source dataType", "traceId source stringValue", "trace_id source data_type"),
    ),
    "langsmith": AnswerLayout(read_langsmith, "LangSmith's feedback", _signs("feedback_source key run_id")),
    "phoenix": AnswerLayout(
        read_phoenix, "Phoenix's annotations or evaluations of spans",
        _signs("annotator_kind span_id", "annotator_kind context.span_id", "context.span_id score label"),
    ),
    "openai_evals": AnswerLayout(
        read_openai_evals, "a log of openai/evals, or output items of the Evals API",
        _signs("spec eval_name", "spec completion_fns", "datasource_item results", "event_id sample_id type"),
    ),
    "label_studio": AnswerLayout(
        read_label_studio, "Label Studio's JSON, JSON_MIN or CSV",
        _signs("annotations completed_by", "from_name to_name", "annotation_id annotator lead_time"),
    ),
    "argilla": AnswerLayout(read_argilla, "Argilla 2: records.to_json", _signs("responses suggestions fields")),
    "potato": AnswerLayout(
        read_potato, "Potato: a project's folder, or its exported annotations",
        _signs("instance_id_to_label_to_value", "instance_id user_id labels", "label_annotations"),
    ),
    "prodigy": AnswerLayout(read_prodigy, "Prodigy's db-out", _signs("_input_hash _task_hash answer")),
    "alpaca_eval": AnswerLayout(
        alpaca_eval.read_alpaca_eval, "AlpacaEval's annotations", _signs("instruction output_1 output_2 preference")
    ),
    "mt_bench": AnswerLayout(
        mt_bench.read_mt_bench, "MT-Bench's judgments: MODEL_pair.jsonl, MODEL_single.jsonl, human votes",
        _signs("g1_winner g2_winner", "question_id model_a winner judge turn", "question_id model judge judgment turn"),
    ),
    "judge_bench": AnswerLayout(
        judge_bench.read_judge_bench, "a file of JUDGE-BENCH",
        _signs("instances individual_human_scores", "instances majority_human", "instances mean_human"),
    ),
    "judgebench": AnswerLayout(
        judgebench.read_judgebench, "JudgeBench's pairs, and the outputs of judges on them",
        _signs("pair_id original_id response_A label", "pair_id response_A judge_name judgments"),
    ),
    "pandalm": AnswerLayout(
        pandalm.read_pandalm, "PandaLM's test set, and results on it beside", _signs("cmp_key annotator1 response1")
    ),
    "summeval": AnswerLayout(
        summeval.read_summeval, "SummEval's annotations, and results of G-Eval beside",
        _signs("expert_annotations turker_annotations", "doc_id system_id all_responses"),
    ),
    "llmbar": AnswerLayout(
        llmbar.read_llmbar, "LLMBar's dataset.json and result.json", _signs("input output_1 output_2 label")
    ),
}  # fmt: skip


def answer_layout_lines() -> str:
    """One line a layout, for errors and help."""
    return "\n".join(f"  {name}: {layout.looks_like}" for name, layout in ANSWER_LAYOUTS.items())


def told_by_file(path: Path) -> dict[Path, str]:
    """The layout of each file of a folder, "" where it is none; a project of Potato is one as a whole."""
    held = sorted(one for one in path.rglob("*") if one.is_file())
    shown = [one for one in held if not any(part.startswith(".") for part in one.relative_to(path).parts)]
    if any(one.name in KINDS for one in shown):
        return dict.fromkeys(shown, "potato")
    return {one: told_by_names(one) for one in shown}


START = 1 << 18  # bytes of a file in which its names are looked for
NAME = re.compile(r'"((?:[^"\\\n]|\\.){1,80})"\s*:')
METRIC = re.compile(r".+/v\d+/(?:score|justification)|.+/rationale")  # a column RATER/score may be anybody's
CALLED = {"llmbar": ("dataset.json", "result.json")}  # names so plain that the file's own has to say it too


def told_by_names(path: Path) -> str:
    """The layout that a file or folder is in beyond doubt, "" where it is none, or could be two.

    A folder is in a layout where one of its files is, and none is in another.
    """
    if path.is_dir():
        found = {layout for layout in told_by_file(path).values() if layout}
        return found.pop() if len(found) == 1 else ""
    if path.suffix.lower() == ".eval" or _is_inspect(path):
        return "inspect"
    names = names_of(path)
    found = {
        name
        for name, layout in ANSWER_LAYOUTS.items()
        if any(sign <= names for sign in layout.signs) and path.name in CALLED.get(name, (path.name,))
    }
    if any(map(METRIC.fullmatch, names)) and not found:
        return "mlflow"
    return found.pop() if len(found) == 1 else ""


def names_of(path: Path) -> frozenset[str]:
    """The names of columns, or of members anywhere in the beginning of a JSON file."""
    suffix = path.suffix.lower()
    try:
        if suffix in (".parquet", ".pq"):
            return _of_parquet(path)
        with path.open("rb") as file:
            start = file.read(START).removeprefix(BOM).decode("utf-8", "ignore")
    except OSError:
        return frozenset()
    if suffix in (".json", ".jsonl", ".ndjson") or (
        suffix not in (".csv", ".tsv") and start.lstrip()[:1] in ("{", "[")
    ):
        columns = re.match(r'\s*\{"columns"\s*:\s*(\[[^\]]*\])', start)
        return frozenset(NAME.findall(start)) | frozenset(re.findall(r'"([^"]*)"', columns[1]) if columns else ())
    if suffix in (".csv", ".tsv"):
        mark = "\t" if suffix == ".tsv" else ","
        return frozenset(next(csv.reader(start.splitlines()[:1], delimiter=mark), []))
    return frozenset()


def _of_parquet(path: Path) -> frozenset[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return frozenset(pq.read_schema(path).names)
    except (pa.ArrowException, OSError, ValueError):
        return frozenset()


def _is_inspect(path: Path) -> bool:
    if path.suffix.lower() in (".xlsx", ".ods") or not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as held:
            return any(name in held.namelist() for name in HEADERS)
    except (zipfile.BadZipFile, OSError):
        return False
