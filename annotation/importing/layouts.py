"""The layouts in which reports, claims and labels made elsewhere may lie, one line each; which of them a path is in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from annotation.answer_layouts import ANSWER_LAYOUTS
from annotation.documents.reading import SUFFIXES as DOCUMENTS
from annotation.errors import ImportingError
from annotation.files.rows import SUFFIXES
from annotation.importing.claims import probe_records, probes_deepresearchgym, probes_table
from annotation.importing.claims.probes_dr3_eval import read_dr3_eval_probes
from annotation.importing.claims.probes_reportbench import read_reportbench_probes
from annotation.importing.claims.probes_wlc import read_wlc_probes
from annotation.importing.labels import results, results_labels
from annotation.importing.labels.results_entries import reading_of, results_of
from annotation.importing.published_labels import fact, results_dr3_eval, results_race, results_reportbench, results_wlc
from annotation.importing.published_labels.results_deepresearchgym import read_deepresearchgym_results
from annotation.importing.reports import dr3_eval, records, reportbench, table, wlc
from annotation.importing.reports.deepresearch_bench import QUERIES, read_deepresearch_bench
from annotation.importing.reports.deepresearchgym import read_deepresearchgym
from annotation.importing.reports.folder import read_folder
from annotation.tool_answers.entries import FIELDS
from plain.wording import worded

AUTO = "auto"


@dataclass(frozen=True)
class Layout:
    """How a tree or file is read, what it looks like, and the patterns below a folder that tell it from the others."""

    read: Callable[[Path, str], records.Parsed]
    looks_like: str
    signs: tuple[str, ...]


TEXTS = tuple(f"*/*{suffix}" for suffix in (".md", ".txt", *DOCUMENTS))
TASKS = tuple(f"**/{name}" for name in dr3_eval.REPORTS)
LAYOUTS = {
    "folder": Layout(read_folder, "SYSTEM/TOPIC.md, .docx, .html …, and topics.csv, systems.csv where wanted", TEXTS),
    "wlc": Layout(wlc.read_wlc, "Wiki Live Challenge: test_data and wiki_data", ("test_data/agencies.json",)),
    "table": Layout(table.read_table, "one JSONL, JSON, CSV or Parquet file, a report a row", ()),
    "deepresearchgym": Layout(
        read_deepresearchgym, "DeepResearchGym: reports/SYSTEM/ID.a",
        ("reports/*/*.a", "*/*.a", "key_point/*_aggregated.json"),
    ),
    "deepresearch_bench": Layout(read_deepresearch_bench, "DeepResearch Bench: the folder that holds data", (QUERIES,)),
    "reportbench": Layout(reportbench.read_reportbench, "ReportBench: SYSTEM/ARXIV_ID.json", ("ReportBench*.jsonl",)),
    "dr3_eval": Layout(dr3_eval.read_dr3_eval, "DR3-Eval: RESULTS/SYSTEM/TASK/final_report.md", TASKS),
}  # fmt: skip


@dataclass(frozen=True)
class ProbeLayout:
    """How a tree or file is read, and what it looks like."""

    read: Callable[[Path, probe_records.ProbeOptions], probe_records.ParsedProbes]
    looks_like: str


PROBE_LAYOUTS = {
    "table": ProbeLayout(probes_table.read_probe_table, "one JSONL, JSON, CSV or Parquet file, a probe a row"),
    "deepresearchgym": ProbeLayout(
        probes_deepresearchgym.read_deepresearchgym_probes,
        "DeepResearchGym: key_point/ID_aggregated.json; claims of SYSTEM/evaluation_results_citation_JUDGE.json",
    ),
    "dr3_eval": ProbeLayout(
        read_dr3_eval_probes, "DR3-Eval: gold_insights_from_*.json, checklists, useful_search.jsonl by task"
    ),
    "wlc": ProbeLayout(read_wlc_probes, "Wiki Live Challenge: statements of Wikipedia (facts) and of the agents"),
    "reportbench": ProbeLayout(read_reportbench_probes, "ReportBench: SYSTEM/ARXIV_ID/citations.csv, no_citations.csv"),
    "fact": ProbeLayout(fact.read_fact_probes, fact.LOOKS_LIKE),
}


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
    "fact": ResultLayout(fact.read_fact_results, fact.LOOKS_LIKE),
    "reportbench": ResultLayout(
        results_reportbench.read_reportbench_results, "ReportBench: SYSTEM/ARXIV_ID/no_citations_web_verification.csv"
    ),
    "reportbench_citations": ResultLayout(
        results_reportbench.read_reportbench_citations,
        "ReportBench: SYSTEM/ARXIV_ID/final.csv or citations.csv, with a column match",
    ),
    **{name: ResultLayout(_read_of(name), layout.looks_like, FIELDS) for name, layout in ANSWER_LAYOUTS.items()},
}
DEPTHS = ("", "*/", "*/*/")  # where a tree is looked for: here, else in a folder below, else one further


def layout_lines(layouts: Mapping[str, Layout | ProbeLayout | ResultLayout]) -> str:
    """One line a layout, for errors and help."""
    return "\n".join(f"  {name}: {worded(layout.looks_like)}" for name, layout in layouts.items())


def propose(path: Path) -> tuple[str, str, Path]:
    """The layout that `path` looks like, the file that says so, and the folder to read: `path` or one not far below.

    Raises ImportingError unless exactly one layout and folder does.
    """
    if path.is_file():
        if path.suffix.lower() in SUFFIXES:
            return "table", path.name, path
        raise ImportingError(
            "{path}: no layout reads this file; give a folder, or a table ({suffixes})", path=path,
            suffixes=", ".join(SUFFIXES),
        )  # fmt: skip
    here = _signs(path, DEPTHS[0])
    is_folder = [name for name, _ in here] == ["folder"]  # a clone's README is a text too, above the tree of a study
    found = next(filter(None, (_signs(path, depth) for depth in DEPTHS[is_folder:])), here)
    if len(found) == 1:
        (name, folder), sign = next(iter(found.items()))
        return name, sign, folder
    told = (worded("{name} because of {sign}", name=name, sign=sign) for (name, _), sign in found.items())
    reason = worded("; ").join(told) or worded("no file of a known layout found")
    raise ImportingError(
        "{path}: cannot tell the layout ({reason}); pass --layout with one of\n{layout_lines}", path=path,
        reason=reason, layout_lines=layout_lines(LAYOUTS),
    )  # fmt: skip


def tree_of(layout: str, path: Path) -> Path:
    """The folder to read as `layout`: `path`, or the one not far below it that alone holds the layout's signs.

    A clone of a study's repository keeps its tree some folders down; any tree may hold a folder of texts, so that
    `folder` is read where it is said to be.
    """
    if layout not in LAYOUTS or layout == "folder" or not path.is_dir():
        return path
    for depth in DEPTHS:
        if folders := {folder for name, folder in _signs(path, depth) if name == layout}:
            return folders.pop() if len(folders) == 1 else path
    return path


def _signs(path: Path, depth: str) -> dict[tuple[str, Path], str]:
    """Layout and folder so far below `path` -> the first file that tells it. Any tree may hold a folder of texts."""
    found: dict[tuple[str, Path], str] = {}
    for name, layout in LAYOUTS.items():
        for hit in (hit for sign in layout.signs for hit in sorted(path.glob(depth + sign)) if hit.is_file()):
            below = hit.relative_to(path).parts
            above = below[: depth.count("/")]
            if any(part.startswith(".") for part in above):
                continue
            found.setdefault((name, path.joinpath(*above)), "/".join(below))
            if not depth:
                break
    if depth or len(found) > 1:
        found = {place: sign for place, sign in found.items() if place[0] != "folder"}
    return found
