"""A whole report as one HTML file that fetches nothing and runs nothing: one page, and the rest folded behind it."""

import base64
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markdown_it import MarkdownIt
from markupsafe import Markup

from calibration.choosing.choice_words import short_sentence
from calibration.results import CalibrationReport
from exports import bibliography, facts, forms, index
from exports.answer import answer_of
from exports.figures import Figure, as_bytes, told
from exports.tables import Table
from exports.words.sentences import folded, opening, told_headline

PIXELS = 120  # of CSS for an inch: 8 pt become nearly the text of the page; in print as wide as the page
LONG = 24  # rows, from which a table scrolls in a box of its own
FEW = 12  # criteria that are listed each with its kind
TITLE = "Do the judges agree with the annotators?"
OF_SYSTEMS = ("systems", "systems_apart", "system_orders")  # by the study's own measures
# id, heading, figures, tables; what has no place here stands under "More tables"
SECTIONS = (
    ("judges", "Which judge to use", ("frontier",), ("judges", "comparisons")),
    ("alone", "What a judge may decide alone", ("alone",), ("alone", "alone_steps")),
    ("warnings", "Before you use a number", (), ()),
    ("agreement", "Agreement", ("agreement", "answers"), ("agreement", "categories")),
    ("passing", "Pass and fail", ("pass_fail", "pass_rates"), ("pass_fail", "confusion", "label_rates", "pass_rates")),
    ("criteria", "Criterion by criterion", ("criteria", "reliability"), ("criteria",)),
    ("bias", "Biases", ("position", "bias"), ("bias",)),
    ("confidence", "Confidence", ("confidence",), ("confidence", "confidence_levels", "votes")),
    ("systems", "Systems", ("ranking", "win_matrix"), (*OF_SYSTEMS, "ranking", "system_pairs", "system_differences")),
    ("annotators", "Annotators", ("annotators", "annotator_pairs"), ("annotators",)),
)
WARNINGS = "warnings"
CARRYING = ("frontier", "agreement")  # the figure of the one page, the first there is


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
    words: str = ""
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[Printed, ...] = ()


def report_page(
    report: CalibrationReport, tables: Sequence[Table], figures: Sequence[Figure], methods: str = "", title: str = "",
    *, images: bool = True, brief: bool = False,
) -> str:  # fmt: skip
    """One self-contained HTML file; equal inputs and equal software give equal text.

    `methods`: `methods_paragraph(...).markdown`, or plain text. Every name is text, whatever it looks like. `images`:
    False leaves out what takes longest to draw, where the text alone is compared. `brief`: the one page alone.
    """
    answer = answer_of(report)
    first = next((one for name in CARRYING for one in figures if one.name == name), None)
    behind = [one for one in figures if one is not first]
    return _template().render(
        title=title or TITLE,
        simulated=report.is_simulated,
        answer=answer,
        drawing=_drawing(first, images) if first else None,
        short=[Markup(forms.as_html(one)) for one in (answer.card, answer.asked) if one],
        brief=brief,
        sections=[] if brief else list(_sections(report, tables, behind, images)),
        holds=[] if brief else index.index_of(tables, figures),
        warnings=folded(report),
        methods=methods_html(methods),
        sources=sources_of(methods),
        made={"Data": _data(report), "Settings": _settings(report), "Software": facts.software_versions()},
    )


@cache
def _template() -> Template:
    return Environment(
        loader=PackageLoader("exports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    ).get_template("page.html.jinja")  # fmt: skip


def _sections(
    report: CalibrationReport, tables: Sequence[Table], figures: Sequence[Figure], images: bool
) -> Iterator[Section]:
    """Those that hold something; the judges' own opens with what the answer rests on, and what would change it."""
    drawn, printed = {figure.name: figure for figure in figures}, {table.name: table for table in tables}
    for key, heading, own_figures, own_tables in SECTIONS:
        drawings = tuple(_drawing(drawn.pop(name), images) for name in own_figures if name in drawn)
        shown = tuple(_printed(printed.pop(name), report) for name in own_tables if name in printed)
        if drawings or shown or (key == WARNINGS and report.warnings):
            words = opening(report).removeprefix(told_headline(report)).strip() if key == "judges" else ""
            yield Section(key, heading, words, drawings, shown)
    if drawn or printed:
        drawings = tuple(_drawing(figure, images) for figure in drawn.values())
        shown = tuple(_printed(table, report) for table in printed.values())
        yield Section("more", "More tables" if printed else "More figures", "", drawings, shown)


def _drawing(figure: Figure, images: bool) -> Drawing:
    width, height = (round(PIXELS * float(side)) for side in figure.canvas.get_size_inches())
    encoded = base64.b64encode(as_bytes(figure, "svg")).decode() if images else ""
    return Drawing(figure.name, told(figure), f"data:image/svg+xml;base64,{encoded}", width, height)


def _printed(table: Table, report: CalibrationReport) -> Printed:
    notes = tuple(note for note in table.notes if not (report.choice and note == short_sentence(report.choice)))
    return Printed(
        table.name, table.title, Markup(forms.as_html(replace(table, notes=notes), folded=True)), len(table.rows) > LONG
    )  # as_html has escaped it


def _data(report: CalibrationReport) -> Mapping[str, str]:
    labels = report.labels
    counted = {"Rows": f"{labels.rows:,}", "Items": f"{labels.items:,}", "Clusters": f"{labels.clusters:,}"}
    named = {"Annotators": labels.annotators, "Judges": labels.judges, "Systems": labels.systems or ()}
    kinds = {f"Criterion {name}": kind for name, kind in labels.criteria.items()}
    criteria = kinds if len(kinds) <= FEW else {"Criteria": f"{len(kinds)}: {', '.join(labels.criteria)}"}
    found = counted | {"Cluster": labels.cluster} | {name: ", ".join(who) for name, who in named.items()} | criteria
    found["SHA-256 of the verdicts"] = labels.verdicts_sha256
    if report.choice is not None:
        found["SHA-256 of the plan"] = report.choice.plan.plan_sha256
    return {name: value for name, value in found.items() if value}


def _settings(report: CalibrationReport) -> Mapping[str, str]:
    """Every choice that changes a number, under its name in a protocol; mappings as `name: value`."""
    return {name: _said(value) for name, value in asdict(report.settings).items() if value not in ("", {}, (), None)}


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_said(one)}" for name, one in value.items())
    return ", ".join(map(_said, value)) if isinstance(value, list | tuple) else str(value)


CITED = re.compile(r"\[(@[\w:-]+(?:; @[\w:-]+)*)\]")
WHERE = ("journal", "booktitle", "publisher", "howpublished")
ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303"}
# paragraphs, strong words and what `as_markdown` escapes; no address can come of it
_MARKDOWN = MarkdownIt("zero").enable(["emphasis", "escape", "entity"])


def methods_html(markdown: str) -> Markup:
    """The paragraphs of `methods_paragraph`, or any plain text, as HTML; an unknown key stays as it is."""
    known = bibliography.entries()
    return Markup(_MARKDOWN.render(CITED.sub(lambda found: _cited(found, known), markdown)))


def sources_of(markdown: str) -> list[str]:
    """Every source that is cited, one line each, by name."""
    known = bibliography.entries()
    keys = {key for match in CITED.finditer(markdown) for key in _keys(match) if key in known}
    return sorted(_line(_fields(known[key])) for key in keys)


def _cited(match: re.Match[str], known: Mapping[str, str]) -> str:
    keys = list(_keys(match))
    if not {*keys} <= {*known}:
        return match[0]
    sources = (_fields(known[key]) for key in keys)
    return f"({'; '.join(f'{_names(source)} {_year(source)}' for source in sources)})"


def _keys(match: re.Match[str]) -> Iterator[str]:
    yield from (key.removeprefix("@") for key in match[1].split("; "))


def _fields(entry: str) -> dict[str, str]:
    """Of a BibTeX entry with one field a line; braces only keep capitals."""
    found = re.findall(r"^\s*(\w+)\s*=\s*\{(.*)\},?\s*$", entry, flags=re.M)
    return {name: _plain(value) for name, value in found}


def _plain(value: str) -> str:
    """`Jo{\\~a}o` as João, `DR$^3$` as DR³."""
    text = re.sub(r"[{}]", "", value).replace("$^3$", "³").replace(r"\O ", "Ø").replace(r"\O", "Ø").replace("--", "–")
    accented = re.sub(r"\\(['`^\"~])(\w)", lambda found: found[2] + ACCENTS[found[1]], text)
    return unicodedata.normalize("NFC", accented).replace("\\", "")


def _names(fields: Mapping[str, str]) -> str:
    authors = [name.partition(",")[0] for name in fields.get("author", "").split(" and ")]
    return f"{authors[0]} et al." if len(authors) > 2 else " and ".join(authors)


def _year(fields: Mapping[str, str]) -> str:
    return fields.get("year", "n.d.")


def _line(fields: Mapping[str, str]) -> str:
    authors = fields.get("author", "").replace(" and ", "; ")
    where = next((fields[name] for name in WHERE if name in fields), "")
    doi = f"doi:{fields['doi']}" if "doi" in fields else ""
    parts = (authors, fields.get("title", ""), where, _year(fields), doi)
    return " ".join(f"{part.rstrip('.')}." for part in parts if part)
