"""The layouts in which reports may lie, one line each, and which of them a path looks like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from annotation.errors import ImportingError
from annotation.importing.deepresearch_bench import QUERIES, read_deepresearch_bench
from annotation.importing.deepresearchgym import read_deepresearchgym
from annotation.importing.dr3_eval import read_dr3_eval
from annotation.importing.folder import read_folder
from annotation.importing.records import Parsed
from annotation.importing.reportbench import read_reportbench
from annotation.importing.table import SUFFIXES, read_table
from annotation.importing.wlc import read_wlc

AUTO = "auto"


@dataclass(frozen=True)
class Layout:
    """How a tree or file is read, what it looks like, and the patterns below a folder that tell it from the others."""

    read: Callable[[Path, str], Parsed]
    looks_like: str
    signs: tuple[str, ...]


LAYOUTS = {
    "folder": Layout(read_folder, "SYSTEM/TOPIC.md, and topics.csv, systems.csv where wanted", ("*/*.md", "*/*.txt")),
    "wlc": Layout(read_wlc, "Wiki Live Challenge: test_data and wiki_data", ("test_data/agencies.json",)),
    "table": Layout(read_table, "one JSONL, JSON, CSV or Parquet file, a report a row", ()),
    "deepresearchgym": Layout(read_deepresearchgym, "DeepResearchGym: reports/SYSTEM/ID.a", ("reports/*/*.a", "*/*.a")),
    "deepresearch_bench": Layout(read_deepresearch_bench, "DeepResearch Bench: the folder that holds data", (QUERIES,)),
    "reportbench": Layout(read_reportbench, "ReportBench: SYSTEM/ARXIV_ID.json", ("ReportBench*.jsonl",)),
    "dr3_eval": Layout(read_dr3_eval, "DR3-Eval: RESULTS/SYSTEM/TASK/final_report.md", ("**/final_report.md",)),
}  # fmt: skip


def layout_lines() -> str:
    """One line a layout, for errors and help."""
    return "\n".join(f"  {name}: {layout.looks_like}" for name, layout in LAYOUTS.items())


def propose(path: Path) -> tuple[str, str]:
    """The layout that `path` looks like and the file that says so. Raises ImportingError unless exactly one does."""
    if path.is_file():
        if path.suffix.lower() in SUFFIXES:
            return "table", path.name
        raise ImportingError(f"{path}: no layout reads this file; give a folder, or a table ({', '.join(SUFFIXES)})")
    found: dict[str, str] = {}
    for name, layout in LAYOUTS.items():
        convincing = next((hit for sign in layout.signs for hit in sorted(path.glob(sign)) if hit.is_file()), None)
        if convincing:
            found[name] = convincing.relative_to(path).as_posix()
    if len(found) > 1:
        found.pop("folder", None)  # every tree may hold texts two folders deep
    if len(found) == 1:
        return next(iter(found.items()))
    reason = "; ".join(f"{name} because of {sign}" for name, sign in found.items()) or "no file of a known layout found"
    raise ImportingError(f"{path}: cannot tell the layout ({reason}); pass --layout with one of\n{layout_lines()}")
