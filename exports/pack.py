"""The paper pack: everything a paper takes from one report, as files by name."""

import gc
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from calibration.results import CalibrationReport
from calibration.warnings.comparison_cautions import changed_plan
from exports import answer, bibliography, errors, index, page
from exports.as_json import as_json, report_json
from exports.as_latex import as_latex
from exports.facts import StudyFacts
from exports.figures import FORMATS as FIGURE_FORMATS
from exports.figures import Figure, as_bytes, captions, figures_tex
from exports.forms import as_csv, as_markdown
from exports.plots import panels, theme
from exports.plots.annotators_figure import annotator_pairs, annotators_figure
from exports.plots.answers import answers
from exports.plots.bias_figure import bias_figure
from exports.plots.forest import forest, pass_fail_figure, pass_rates_figure
from exports.plots.frontier import frontier
from exports.plots.position_figure import position_figure
from exports.plots.ranking_figure import ranking_figure
from exports.plots.value_maps import criteria_map
from exports.plots.win_matrix import win_matrix
from exports.presets import PRESETS, preset_table
from exports.sheets import alone, bias, passing, ranking, system_pairs, systems, topics
from exports.sheets.agreement import annotators_table, criteria_table
from exports.sheets.confidence import confidence_levels_table, confidence_table, votes_table
from exports.sheets.judges import comparisons_table, judges_table
from exports.tables import Table, agreement_table
from exports.words.checklists import alt_test_checklist, blinding_checklist
from exports.words.methods import Methods, methods_in, methods_paragraph
from plain.wording import ENGLISH, LANGUAGES, speaking

REPORT = "calibration-report.json"
COMPARISON_PLAN = "comparison-plan.json"
log = logging.getLogger("calipers")
FORMATS: dict[str, Callable[[Table], str]] = {"tex": as_latex, "md": as_markdown, "csv": as_csv, "json": as_json}
# name of a table -> how it is made; None where a report has nothing for it
TABLES: dict[str, Callable[[CalibrationReport], Table | None]] = {
    "agreement": agreement_table, "criteria": criteria_table, "annotators": annotators_table, "judges": judges_table,
    "comparisons": comparisons_table, "bias": bias.bias_table, "ranking": ranking.ranking_table,
    "system_pairs": system_pairs.system_pairs_table, "systems": systems.systems_table,
    "systems_apart": systems.systems_apart_table,
    "system_orders": systems.system_orders_table, "categories": topics.categories_table, "confidence": confidence_table,
    "confidence_levels": confidence_levels_table, "votes": votes_table, "confusion": passing.confusion_table,
    "pass_fail": passing.pass_fail_table, "label_rates": passing.label_rates_table,
    "pass_rates": passing.pass_rates_table, "alone": alone.alone_table, "alone_steps": alone.alone_steps_table,
}  # fmt: skip
CHECKLISTS = (alt_test_checklist, blinding_checklist)
FIGURES: dict[str, Callable[[CalibrationReport, float], Figure | None]] = {
    "agreement": forest, "criteria": criteria_map, "answers": answers, "frontier": frontier, "bias": bias_figure,
    "ranking": ranking_figure, "win_matrix": win_matrix, "position": position_figure,
    "annotators": annotators_figure, "annotator_pairs": annotator_pairs, "confidence": panels.confidence_figure,
    "pass_fail": pass_fail_figure, "pass_rates": pass_rates_figure, "alone": panels.alone_figure,
}  # fmt: skip
# language -> the methods section in it, beside the English one
METHODS_IN = {language: f"methods.{language.replace('_', '-')}.md" for language in LANGUAGES if language != ENGLISH}
# every file a pack may hold: what an earlier report left in a folder and a later one lacks is taken away
MAY_HOLD = frozenset({*index.ALONE, "index.md", *METHODS_IN.values()} - {COMPARISON_PLAN}) | frozenset(
    f"{name}.{suffix}"
    for name in (*TABLES, "system_differences", *(f"preset_{name}" for name in PRESETS),
                 *FIGURES, *(f"{name}_column" for name in FIGURES))
    for suffix in (*FORMATS, *FIGURE_FORMATS)
)  # fmt: skip


def tables_of(
    report: CalibrationReport, verdicts: pd.DataFrame, facts: StudyFacts | None = None, presets: Sequence[str] = ()
) -> list[Table]:
    """Every table the report has numbers for, the two checklists, then the published studies' own tables asked for."""
    own = [table for make in TABLES.values() if (table := make(report)) is not None]
    differences = system_pairs.system_differences_table(verdicts, report)
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
        "references.bib": bibliography.bibtex({*bibliography.used(report), *methods.cited}),
    }


@speaking()
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
    drawn = [(draw, width) for draw in FIGURES.values() for width in (theme.FULL_PAGE, theme.ONE_COLUMN)]
    if thaws := not gc.get_freeze_count():  # what a server or a judge run has frozen stays so
        gc.freeze()  # what was there before need not be looked through for what a figure leaves
    try:
        for done, (draw, width) in enumerate(drawn):
            advance(done, len(drawn))
            figure: Figure | None = draw(report, width)
            if figure is not None:
                name = figure.name if width == theme.FULL_PAGE else f"{figure.name}_column"
                files |= {f"{name}.{form}": as_bytes(figure, form) for form in FIGURE_FORMATS}
                shown += [figure] * (width == theme.FULL_PAGE)
                if width == theme.FULL_PAGE and figure.caution:
                    log.warning("figure %s: %s", figure.name, figure.caution)
                figure.canvas.clear()  # its bytes and its caution are kept
                gc.collect()
    finally:
        if thaws:
            gc.unfreeze()
    files |= {"captions.md": captions(shown).encode(), "figures.tex": figures_tex(shown).encode()}
    methods, title = methods_paragraph(report, facts).markdown, (facts.title if facts else "") or ""
    files["index.md"] = index.index_md(index.index_of(tables, shown)).encode()
    files["report.html"] = page.report_page(report, tables, shown, methods, title).encode()
    return {"answer.pdf": answer.answer_pdf(report, title).saved("pdf"), **files}


@speaking()
def brief_pack(report: CalibrationReport, facts: StudyFacts | None = None) -> dict[str, bytes]:
    """The one page as PDF and HTML, and what a paper pastes: the table of agreement, the methods and what they cite.

    Beside them the report as JSON: a later look reads in it what this one looked at.
    """
    methods, title = methods_paragraph(report, facts), (facts.title if facts else "") or ""
    first = answer.carrying(report)
    return {
        REPORT: report_json(report).encode(),
        "answer.pdf": answer.answer_pdf(report, title).saved("pdf"),
        "report.html": page.report_page(report, (), [first] if first else [], title=title, brief=True).encode(),
        "agreement.tex": as_latex(agreement_table(report)).encode(),
        "methods.tex": methods.latex.encode(),
        "references.bib": bibliography.bibtex({*bibliography.used(report), *methods.cited}).encode(),
    }


def methods_file(language: str | None, report: CalibrationReport, facts: StudyFacts | None) -> dict[str, bytes]:
    """File name to bytes: the methods section in a language of `METHODS_IN` too; nothing where none is asked for."""
    return {METHODS_IN[language]: methods_in(language, report, facts).encode()} if language else {}


def with_kept_plan(report: CalibrationReport, out: Path) -> CalibrationReport:
    """Keep the plan of the comparison in `out`, once and before any result, and warn where it is another by now.

    Raises ExportError `bad_plan` where the file of that name is none.
    """
    if report.choice is None:
        return report
    kept = out / COMPARISON_PLAN
    if not kept.exists():
        out.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(report.choice.plan.kept, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        return report
    try:
        changed = tuple(changed_plan(report.choice.plan, json.loads(kept.read_text(encoding="utf-8"))))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise errors.ExportError(
            "bad_plan", f"{kept} is no comparison plan; move it away, or write to another folder"
        ) from None
    return replace(report, warnings=(*changed, *(one for one in report.warnings if one not in changed)))


def write_pack(files: Mapping[str, bytes], out: Path) -> list[Path]:
    """Write a `pack` to `out`; returns its files, and the plan where `with_kept_plan` keeps it there.

    Files of an earlier report that this one does not have are removed, so that a folder holds one report.
    """
    out.mkdir(parents=True, exist_ok=True)
    for stale in MAY_HOLD - {*files}:
        (out / stale).unlink(missing_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
    return [out / name for name in (*files, *[COMPARISON_PLAN] * (out / COMPARISON_PLAN).exists())]


def _with_open_questions(methods: Methods) -> str:
    """What a reviewer will ask and the data cannot answer is below the paragraph, as a list to write from."""
    if not methods.to_state:
        return methods.markdown
    asked = "".join(f"- {one}\n" for one in methods.to_state)
    return f"{methods.markdown.rstrip()}\n\n## Left for you to state\n\n{asked}"
