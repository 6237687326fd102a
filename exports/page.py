"""A whole report as one HTML file that fetches nothing and runs nothing: the answer, then what carries it."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from calibration.choosing.choice_words import short_sentence
from calibration.results import CalibrationReport
from exports.as_html import as_html
from exports.facts import software_versions
from exports.figures import Figure, as_bytes
from exports.sheets.cautions import folded
from exports.tables import Table
from exports.words.captions import told
from exports.words.page_methods import methods_html, sources_of
from exports.words.sentences import opening

PIXELS = 120  # of CSS for an inch: 8 pt become nearly the text of the page; in print as wide as the page
LONG = 24  # rows, from which a table scrolls in a box of its own
FEW = 12  # criteria that are listed each with its kind
TITLE = "Do the judges agree with the annotators?"
OF_SYSTEMS = ("systems", "systems_apart", "system_orders")  # by the study's own measures
# id, heading, figures, tables; what has no place here stands under "More tables"
SECTIONS = (
    ("judges", "Which judge to use", ("frontier",), ("judges", "comparisons")),
    ("warnings", "Before you use a number", (), ()),
    ("agreement", "Agreement", ("agreement", "answers"), ("agreement", "categories")),
    ("criteria", "Criterion by criterion", ("criteria", "reliability"), ("criteria",)),
    ("bias", "Biases", ("position", "bias"), ("bias",)),
    ("confidence", "Confidence", ("confidence",), ("confidence", "confidence_levels", "votes")),
    ("systems", "Systems", ("ranking", "win_matrix"), (*OF_SYSTEMS, "ranking", "system_pairs", "system_differences")),
    ("annotators", "Annotators", ("annotators", "annotator_pairs"), ("annotators",)),
)
WARNINGS = "warnings"


@dataclass(frozen=True)
class Drawing:
    """A figure as an image inside the page. An image runs no script, and its ids are its own."""

    name: str
    caption: str
    source: str
    width: int
    height: int


@dataclass(frozen=True)
class Printed:
    """A table as HTML. `long`: it has a box of its own to scroll in."""

    name: str
    title: str
    html: Markup
    long: bool


@dataclass(frozen=True)
class Section:
    """One part of the page, and what the contents call it."""

    key: str
    heading: str
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[Printed, ...] = ()


def report_page(
    report: CalibrationReport, tables: Sequence[Table], figures: Sequence[Figure], methods: str = "", title: str = "",
    *, images: bool = True,
) -> str:  # fmt: skip
    """One self-contained HTML file; equal inputs and equal software give equal text.

    `methods`: `methods_paragraph(...).markdown`, or plain text. Every name is text, whatever it looks like. `images`:
    False leaves out what takes longest to draw, where the text alone is compared.
    """
    sentence, rests_on = _answer(report)
    return _template().render(
        title=title or TITLE,
        simulated=report.data.get("is_simulated", False),
        sentence=sentence,
        rests_on=rests_on,
        sections=list(_sections(report, tables, figures, images)),
        warnings=folded(report),
        methods=methods_html(methods),
        sources=sources_of(methods),
        made={"Data": _data(report), "Settings": _settings(report), "Software": software_versions()},
    )


@cache
def _template() -> Template:
    return Environment(
        loader=PackageLoader("exports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    ).get_template("page.html.jinja")  # fmt: skip


def _answer(report: CalibrationReport) -> tuple[str, str]:
    """The first of several sentences is the answer; the others say what it rests on."""
    first, end, others = opening(report).partition(". ")
    return first + end.rstrip(), others


def _sections(
    report: CalibrationReport, tables: Sequence[Table], figures: Sequence[Figure], images: bool
) -> Iterator[Section]:
    """Those that hold something; the judges' own opens the page, for the answer is about them."""
    drawn, printed = {one.name: one for one in figures}, {one.name: one for one in tables}
    for key, heading, own_figures, own_tables in SECTIONS:
        drawings = tuple(_drawing(drawn.pop(name), images) for name in own_figures if name in drawn)
        shown = tuple(_printed(printed.pop(name), report) for name in own_tables if name in printed)
        if drawings or shown or (key == WARNINGS and report.warnings):
            yield Section(key, heading, drawings, shown)
    if drawn or printed:
        more = (
            tuple(_drawing(one, images) for one in drawn.values()),
            tuple(_printed(one, report) for one in printed.values()),
        )
        yield Section("more", "More tables" if printed else "More figures", *more)


def _drawing(figure: Figure, images: bool) -> Drawing:
    width, height = (round(PIXELS * float(side)) for side in figure.canvas.get_size_inches())
    encoded = base64.b64encode(as_bytes(figure, "svg")).decode() if images else ""
    return Drawing(figure.name, told(figure), f"data:image/svg+xml;base64,{encoded}", width, height)


def _printed(table: Table, report: CalibrationReport) -> Printed:
    notes = tuple(note for note in table.notes if not (report.choice and note == short_sentence(report.choice)))
    return Printed(
        table.name, table.title, Markup(as_html(replace(table, notes=notes))), len(table.rows) > LONG
    )  # as_html has escaped it


def _data(report: CalibrationReport) -> Mapping[str, str]:
    data = report.data
    counted = {name.capitalize(): f"{data[name]:,}" for name in ("rows", "items", "clusters")}
    named = {name.capitalize(): ", ".join(data.get(name, ())) for name in ("annotators", "judges", "systems")}
    kinds = {f"Criterion {name}": kind for name, kind in data["criteria"].items()}
    criteria = kinds if len(kinds) <= FEW else {"Criteria": f"{len(kinds)}: {', '.join(data['criteria'])}"}
    found = counted | {"Cluster": str(data["cluster"])} | named | criteria
    found["SHA-256 of the verdicts"] = str(data["verdicts_sha256"])
    if report.choice is not None:
        found["SHA-256 of the plan"] = report.choice.plan.plan_sha256
    return {name: value for name, value in found.items() if value}


def _settings(report: CalibrationReport) -> Mapping[str, str]:
    """Every choice that changes a number, under its name in a protocol; mappings as `name: value`."""
    return {name: _said(value) for name, value in asdict(report.settings).items() if value not in ("", {}, ())}


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_said(one)}" for name, one in value.items())
    return ", ".join(map(_said, value)) if isinstance(value, list | tuple) else str(value)
