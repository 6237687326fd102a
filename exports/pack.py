"""The paper pack: everything a paper takes from one report, as files by name."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import pandas as pd

from calibration.results import CalibrationReport
from exports.as_csv import as_csv
from exports.as_json import as_json, report_json
from exports.as_latex import as_latex
from exports.as_markdown import as_markdown
from exports.bibliography import bibtex, used
from exports.facts import StudyFacts
from exports.figures import FORMATS as FIGURE_FORMATS
from exports.figures import Figure, as_bytes
from exports.methods import Methods, methods_paragraph
from exports.page import report_page
from exports.plots.annotators_figure import annotator_pairs, annotators_figure
from exports.plots.answers import answers
from exports.plots.bias_figure import bias_figure
from exports.plots.confidence_figure import confidence_figure
from exports.plots.criteria_map import criteria_map
from exports.plots.forest import forest
from exports.plots.frontier import frontier
from exports.plots.position_figure import position_figure
from exports.plots.ranking_figure import ranking_figure
from exports.plots.theme import FULL_PAGE, ONE_COLUMN
from exports.plots.win_matrix import win_matrix
from exports.published.presets import PRESETS, preset_table
from exports.sheets.annotators import annotators_table
from exports.sheets.bias import bias_table
from exports.sheets.categories import categories_table
from exports.sheets.comparisons import comparisons_table
from exports.sheets.confidence import confidence_levels_table, confidence_table
from exports.sheets.criteria import criteria_table
from exports.sheets.judges import judges_table
from exports.sheets.ranking import ranking_table
from exports.sheets.system_differences import system_differences_table
from exports.sheets.system_pairs import system_pairs_table
from exports.sheets.systems import system_orders_table, systems_apart_table, systems_table
from exports.sheets.votes import votes_table
from exports.tables import Table, agreement_table
from exports.words.captions import captions, figures_tex
from exports.words.checklists import alt_test_checklist, blinding_checklist

REPORT = "calibration-report.json"
log = logging.getLogger("calipers")
FORMATS: dict[str, Callable[[Table], str]] = {"tex": as_latex, "md": as_markdown, "csv": as_csv, "json": as_json}
TABLES = (
    agreement_table, criteria_table, annotators_table, judges_table, comparisons_table, bias_table, ranking_table,
    system_pairs_table, systems_table, systems_apart_table, system_orders_table, categories_table, confidence_table,
    confidence_levels_table, votes_table,
)  # fmt: skip
CHECKLISTS = (alt_test_checklist, blinding_checklist)
FIGURES = (
    forest, criteria_map, answers, frontier, bias_figure, ranking_figure, win_matrix, position_figure,
    annotators_figure, annotator_pairs, confidence_figure,
)  # fmt: skip
DRAWN = (
    "agreement", "criteria", "answers", "frontier", "bias", "ranking", "win_matrix", "position", "annotators",
    "annotator_pairs", "confidence",
)  # fmt: skip
# every file a pack may hold: what an earlier report left in a folder and a later one lacks is taken away
MAY_HOLD = frozenset(
    f"{name}.{suffix}"
    for name in (
        *DRAWN, *(f"{name}_column" for name in DRAWN), "judges", "comparisons", "system_pairs", "systems",
        "systems_apart", "system_orders", "system_differences",
        "categories", "confidence_levels", "votes",
        *(f"preset_{name}" for name in PRESETS),
    )
    for suffix in (*FORMATS, *FIGURE_FORMATS)
)  # fmt: skip


def tables_of(
    report: CalibrationReport, verdicts: pd.DataFrame, facts: StudyFacts | None = None, presets: Sequence[str] = ()
) -> list[Table]:
    """Every table the report has numbers for, the two checklists, then the published studies' own tables asked for."""
    own = [table for make in TABLES if (table := make(report)) is not None]
    differences = system_differences_table(verdicts, report)
    own += [differences] if differences is not None else []
    own += [make(report, facts) for make in CHECKLISTS]
    return own + [preset_table(name, verdicts, report) for name in presets]


def texts_of(tables: Sequence[Table], report: CalibrationReport, facts: StudyFacts | None = None) -> dict[str, str]:
    """File name to text: the report, each table in every form, the methods paragraph, what it cites."""
    methods = methods_paragraph(report, facts)
    texts = {REPORT: report_json(report)}
    for table in tables:
        texts |= {f"{table.name}.{suffix}": form(table) for suffix, form in FORMATS.items()}
    return texts | {
        "methods.md": _with_open_questions(methods),
        "methods.tex": methods.latex,
        "references.bib": bibtex({*used(report), *methods.cited}),
    }


def pack(
    report: CalibrationReport,
    verdicts: pd.DataFrame,
    facts: StudyFacts | None = None,
    presets: Sequence[str] = (),
    advance: Callable[[int, int], None] = lambda done, of: None,
) -> dict[str, bytes]:
    """File name to bytes: tables, figures, methods paragraph and one page of all. The same input gives the same bytes.

    `facts` None: a bare table of labels. `advance(done, of)` is called as figures are drawn. Raises ExportError for a
    preset that does not fit.
    """
    tables = tables_of(report, verdicts, facts, presets)
    files = {name: text.encode() for name, text in texts_of(tables, report, facts).items()}
    shown: list[Figure] = []
    drawn = [(draw, width) for draw in FIGURES for width in (FULL_PAGE, ONE_COLUMN)]
    for done, (draw, width) in enumerate(drawn):
        advance(done, len(drawn))
        figure: Figure | None = draw(report, width)
        if figure is not None:
            name = figure.name if width == FULL_PAGE else f"{figure.name}_column"
            files |= {f"{name}.{form}": as_bytes(figure, form) for form in FIGURE_FORMATS}
            shown += [figure] * (width == FULL_PAGE)
            if width == FULL_PAGE and figure.caution:
                log.warning("figure %s: %s", figure.name, figure.caution)
    files |= {"captions.md": captions(shown).encode(), "figures.tex": figures_tex(shown).encode()}
    methods, title = methods_paragraph(report, facts).markdown, (facts.title if facts else "") or ""
    files["report.html"] = report_page(report, tables, shown, methods, title).encode()
    return files


def _with_open_questions(methods: Methods) -> str:
    """What a reviewer will ask and the data cannot answer stands below the paragraph, as a list to write from."""
    if not methods.to_state:
        return methods.markdown
    asked = "".join(f"- {one}\n" for one in methods.to_state)
    return f"{methods.markdown.rstrip()}\n\n## Left for you to state\n\n{asked}"
