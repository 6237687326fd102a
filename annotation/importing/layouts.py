"""The layouts in which reports may lie, one line each, and which of them a path looks like."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from annotation.documents.reading import SUFFIXES as DOCUMENTS
from annotation.errors import ImportingError
from annotation.files.rows import SUFFIXES
from annotation.importing.reports import dr3_eval, records, reportbench, table, wlc
from annotation.importing.reports.deepresearch_bench import QUERIES, read_deepresearch_bench
from annotation.importing.reports.deepresearchgym import read_deepresearchgym
from annotation.importing.reports.folder import read_folder

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
    "deepresearchgym": Layout(read_deepresearchgym, "DeepResearchGym: reports/SYSTEM/ID.a", ("reports/*/*.a", "*/*.a")),
    "deepresearch_bench": Layout(read_deepresearch_bench, "DeepResearch Bench: the folder that holds data", (QUERIES,)),
    "reportbench": Layout(reportbench.read_reportbench, "ReportBench: SYSTEM/ARXIV_ID.json", ("ReportBench*.jsonl",)),
    "dr3_eval": Layout(dr3_eval.read_dr3_eval, "DR3-Eval: RESULTS/SYSTEM/TASK/final_report.md", TASKS),
}  # fmt: skip


def layout_lines() -> str:
    """One line a layout, for errors and help."""
    return "\n".join(f"  {name}: {layout.looks_like}" for name, layout in LAYOUTS.items())


DEPTHS = ("", "*/", "*/*/")  # where a tree is looked for: here, else in a folder below, else one further


def propose(path: Path) -> tuple[str, str, Path]:
    """The layout that `path` looks like, the file that says so, and the folder to read: `path` or one not far below.

    Raises ImportingError unless exactly one layout and folder does.
    """
    if path.is_file():
        if path.suffix.lower() in SUFFIXES:
            return "table", path.name, path
        raise ImportingError(f"{path}: no layout reads this file; give a folder, or a table ({', '.join(SUFFIXES)})")
    for depth in DEPTHS:
        found = _signs(path, depth)
        if len(found) == 1:
            (name, folder), sign = next(iter(found.items()))
            return name, sign, folder
        if found:
            reason = "; ".join(f"{name} because of {sign}" for (name, _), sign in found.items())
            break
    else:
        reason = "no file of a known layout found"
    raise ImportingError(f"{path}: cannot tell the layout ({reason}); pass --layout with one of\n{layout_lines()}")


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
