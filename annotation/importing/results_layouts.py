"""The layouts in which labels and judge results made elsewhere may lie, one line each."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from annotation.answer_layouts import ANSWER_LAYOUTS
from annotation.importing.labels import results, results_labels
from annotation.importing.labels.results_entries import reading_of, results_of
from annotation.importing.published_labels import results_dr3_eval, results_race, results_reportbench, results_wlc
from annotation.importing.published_labels.results_deepresearchgym import read_deepresearchgym_results
from annotation.tool_answers.entries import FIELDS


@dataclass(frozen=True)
class ResultLayout:
    """How it is read, what it looks like, and which fields --map may place."""

    read: Callable[[Path, results.ResultOptions], results.Results]
    looks_like: str
    fields: tuple[str, ...] = ()


def _read_of(name: str) -> Callable[[Path, results.ResultOptions], results.Results]:
    return lambda path, options: results_of(ANSWER_LAYOUTS[name].read(path, reading_of(options)), options)


RESULT_LAYOUTS = {
    "labels": ResultLayout(results_labels.read_labels_results, "labels.csv, or its columns as JSON Lines or Parquet"),
    "wlc": ResultLayout(results_wlc.read_wlc_results, "Wiki Live Challenge: TITLE_writing.json"),
    "deepresearchgym": ResultLayout(
        read_deepresearchgym_results, "DeepResearchGym: SYSTEM/evaluation_results_*.json, ANNOTATOR/ID", ("answer",)
    ),
    "dr3_eval": ResultLayout(
        results_dr3_eval.read_dr3_eval_results, "DR3-Eval: SYSTEM/TASK/eval_METRIC_YYYYMMDD_HHMMSS.json", ("answer",)
    ),
    "race": ResultLayout(results_race.read_race_results, "DeepResearch Bench: race/SYSTEM/raw_results.jsonl"),
    "reportbench": ResultLayout(
        results_reportbench.read_reportbench_results, "ReportBench: SYSTEM/ARXIV_ID/no_citations_web_verification.csv"
    ),
    "reportbench_citations": ResultLayout(
        results_reportbench.read_reportbench_citations,
        "ReportBench: SYSTEM/ARXIV_ID/final.csv or citations.csv, with a column match",
    ),
    **{name: ResultLayout(_read_of(name), layout.looks_like, FIELDS) for name, layout in ANSWER_LAYOUTS.items()},
}


def result_layout_lines() -> str:
    """One line a layout, for errors and help."""
    return "\n".join(f"  {name}: {layout.looks_like}" for name, layout in RESULT_LAYOUTS.items())
