"""The files of a report, set beside what its labels print: words to the letter, full digits as far as machines agree.

Images are not compared: another font draws other bytes. They stand under the hash of the bundle alone.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from calibration.results import CalibrationReport, ReportWarning
from exports import pack
from exports.facts import StudyFacts
from exports.figures import FORMATS as FIGURE_FORMATS
from exports.methods import methods_paragraph
from exports.pack import DRAWN, REPORT, texts_of
from exports.page import report_page
from exports.plots.theme import FULL_PAGE
from exports.strict_json import loads
from exports.tables import Table
from exports.words.captions import captions, figures_tex

IMAGES = {f"{name}{width}.{form}" for name in DRAWN for width in ("", "_column") for form in FIGURE_FORMATS}
EXPLAINED = ("join_loss", "unpaired_judges", "order_unknown")  # a study that knows its panels leaves these out
CLOSE = {"rel_tol": 1e-6, "abs_tol": 1e-9}  # what every machine's arithmetic gives alike
# what a page owes to who prints it: the bytes of its images, and the software
OWN = re.compile(
    r'(?<=<img src=")data:image/svg\+xml;base64,[\w+/=]*(?=")|(?<=<h3>Software</h3>\n)<dl>.*?</dl>', re.DOTALL
)


def printed_otherwise(
    report: CalibrationReport, tables: Sequence[Table], facts: StudyFacts | None, printed: Path
) -> list[str]:
    """The names of files in `printed` that say something else than computed again, and of those that are no part."""
    warned = _warnings(printed / REPORT)
    missing = [one for one in report.warnings if one not in warned and one.code not in EXPLAINED]
    # a study adds warnings of its own, that labels cannot tell
    report = replace(report, warnings=(*warned, *missing))
    methods, title = methods_paragraph(report, facts).markdown, (facts.title if facts else "") or ""
    figures = [figure for draw in pack.FIGURES if (figure := draw(report, FULL_PAGE)) is not None]
    texts = {
        **texts_of(tables, report, facts), "captions.md": captions(figures), "figures.tex": figures_tex(figures),
        "report.html": report_page(report, tables, figures, methods, title, images=False),
    }  # fmt: skip
    known = {*texts, *IMAGES}
    strange = {path.relative_to(printed).as_posix() for path in printed.rglob("*") if path.is_file()} - known
    return [*(name for name, text in texts.items() if not _prints(printed / name, text)), *sorted(strange)]


def _warnings(path: Path) -> tuple[ReportWarning, ...]:
    try:
        return tuple(ReportWarning(**one) for one in loads(path.read_text(encoding="utf-8"))["warnings"])
    except (OSError, ValueError, LookupError, TypeError):
        return ()


def _prints(path: Path, text: str) -> bool:
    same = SAME.get(path.suffix, str.__eq__)
    try:
        return bool(same(path.read_bytes().decode(), text))
    except (OSError, ValueError, csv.Error):
        return False


def _same_values(printed: str, text: str) -> bool:
    return _alike(loads(printed), loads(text))


def _same_cells(printed: str, text: str) -> bool:
    return _alike(
        *([[_number(cell) for cell in row] for row in csv.reader(io.StringIO(one))] for one in (printed, text))
    )


def _same_page(printed: str, text: str) -> bool:
    return OWN.sub("", printed) == OWN.sub("", text)


def _number(cell: str) -> Any:
    try:
        return int(cell) if cell.isdecimal() else float(cell)
    except ValueError:
        return cell


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, **CLOSE)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return type(one) is type(other) and bool(one == other)


SAME: dict[str, Callable[[str, str], bool]] = {".json": _same_values, ".csv": _same_cells, ".html": _same_page}
