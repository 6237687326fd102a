"""The files of a report: every table and every figure in every format, in one folder that holds one report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from calibration.results import CalibrationReport
from exports.annotators import annotators_table
from exports.answers import answers
from exports.as_csv import as_csv
from exports.as_json import as_json, report_json
from exports.as_latex import as_latex
from exports.as_markdown import as_markdown
from exports.criteria import criteria_table
from exports.criteria_map import criteria_map
from exports.figures import FORMATS as FIGURE_FORMATS
from exports.figures import as_bytes
from exports.forest import forest
from exports.tables import Table, agreement_table
from exports.theme import FULL_PAGE, ONE_COLUMN

FORMATS = {"tex": as_latex, "md": as_markdown, "csv": as_csv, "json": as_json}
FIGURES = (forest, criteria_map, answers)
DRAWN = ("agreement", "criteria", "answers")
NAMES = (*DRAWN, *(f"{name}_column" for name in DRAWN), "annotators")


def tables_of(report: CalibrationReport) -> list[Table]:
    """Every table the report has numbers for."""
    return [agreement_table(report), *filter(None, (criteria_table(report), annotators_table(report)))]


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
