"""The files of a report: every table and every figure in every format, in one folder that holds one report."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from annotation.errors import AnnotationError
from calibration.comparison_cautions import changed_plan
from calibration.results import CalibrationReport
from exports.annotators import annotators_table
from exports.answers import answers
from exports.as_csv import as_csv
from exports.as_json import as_json, report_json
from exports.as_latex import as_latex
from exports.as_markdown import as_markdown
from exports.bias import bias_table
from exports.bias_figure import bias_figure
from exports.categories import categories_table
from exports.comparisons import comparisons_table
from exports.criteria import criteria_table
from exports.criteria_map import criteria_map
from exports.figures import FORMATS as FIGURE_FORMATS
from exports.figures import as_bytes
from exports.forest import forest
from exports.frontier import frontier
from exports.judges import judges_table
from exports.ranking import ranking_table
from exports.ranking_figure import ranking_figure
from exports.tables import Table, agreement_table
from exports.theme import FULL_PAGE, ONE_COLUMN

PLAN = "comparison-plan.json"
FORMATS = {"tex": as_latex, "md": as_markdown, "csv": as_csv, "json": as_json}
TABLES = (
    agreement_table, criteria_table, annotators_table, judges_table, comparisons_table, bias_table, ranking_table,
    categories_table,
)  # fmt: skip
FIGURES = (forest, criteria_map, answers, frontier, bias_figure, ranking_figure)
DRAWN = ("agreement", "criteria", "answers", "frontier", "bias", "ranking")
NAMES = (*DRAWN, *(f"{name}_column" for name in DRAWN), "annotators", "judges", "comparisons", "categories")


def tables_of(report: CalibrationReport) -> list[Table]:
    """Every table the report has numbers for."""
    return [table for make in TABLES if (table := make(report)) is not None]


def with_kept_plan(report: CalibrationReport, out: Path) -> CalibrationReport:
    """Keep the plan of the comparison in `out`, once and before any result, and warn where it is another by now."""
    if report.choice is None:
        return report
    kept = out / PLAN
    if not kept.exists():
        out.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(report.choice.plan.kept, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        return report
    try:
        first = json.loads(kept.read_text(encoding="utf-8"))
        changed = tuple(changed_plan(report.choice.plan, first))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise AnnotationError(
            "bad_plan", f"{kept} is no comparison plan; move it away, or write to another folder"
        ) from None
    return replace(report, warnings=(*changed, *(one for one in report.warnings if one not in changed)))


def write_report(
    report: CalibrationReport, out: Path, advance: Callable[[int, int], None] = lambda done, of: None
) -> list[Path]:
    """calibration-report.json, every table and every figure in every format; returns the files written.

    Files of an earlier report that this one does not have are removed, so that a folder holds one report.
    """
    files: dict[str, bytes] = {"calibration-report.json": report_json(report).encode()}
    for table in tables_of(report):
        files |= {f"{table.name}.{suffix}": form(table).encode() for suffix, form in FORMATS.items()}
    drawn = [(draw, width) for draw in FIGURES for width in (FULL_PAGE, ONE_COLUMN)]
    captions = []
    for done, (draw, width) in enumerate(drawn):
        advance(done, len(drawn))
        figure = draw(report, width)
        if figure is not None:
            name = figure.name if width == FULL_PAGE else f"{figure.name}_column"
            files |= {f"{name}.{form}": as_bytes(figure, form) for form in FIGURE_FORMATS}
            captions.append(f"- `{name}` ({width} in): {figure.caption}")
    files["captions.md"] = ("\n".join(captions) + "\n").encode()
    out.mkdir(parents=True, exist_ok=True)
    for stale in {f"{name}.{suffix}" for name in NAMES for suffix in (*FORMATS, *FIGURE_FORMATS)} - set(files):
        (out / stale).unlink(missing_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
    return [out / name for name in files]
