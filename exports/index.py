"""What a pack holds, a line each: for the folder, for the page and for the terminal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from exports.figures import Figure
from exports.forms import escaped
from exports.tables import Table

TABLE_FORMS, FIGURE_FORMS = ".tex .md .csv .json", ".pdf .svg .png, and _column"
ALONE = {
    "answer.pdf": "the answer on one page: the sentence, its figure, the judge's card, what a reviewer asks",
    "report.html": "the same page, and everything else folded behind it",
    "methods.tex": "the methods section to paste",
    "methods.md": "the same as Markdown, with what only you can state",
    "references.bib": "what the methods section cites",
    "figures.tex": "every figure with its caption and label, to copy from",
    "captions.md": "the captions alone",
    "calibration-report.json": "every number with every digit, for programs",
    "comparison-plan.json": "what was fixed before a result was shown; later reports are held to it",
}


@dataclass(frozen=True)
class Held:
    """A file, or one thing in several forms. `forms`: their endings, "" for a file by its whole name."""

    name: str
    forms: str
    says: str


def index_of(tables: Sequence[Table], figures: Sequence[Figure]) -> list[Held]:
    """What a paper takes first, then tables, then figures."""
    return [
        *(Held(name, "", says) for name, says in ALONE.items()),
        *(Held(table.name, TABLE_FORMS, f"table: {table.title}") for table in tables),
        *(Held(figure.name, FIGURE_FORMS, f"figure: {in_short(figure.caption)}") for figure in figures),
    ]


def in_short(caption: str) -> str:
    """What a figure shows, without how to read it."""
    return re.split(r"[:;(]|, with ", caption, maxsplit=1)[0].strip().rstrip(".")


def index_md(held: Sequence[Held]) -> str:
    """The lines as a list in Markdown."""
    return "".join(f"- `{one.name}`{one.forms and f' ({one.forms})'}: {escaped(one.says)}\n" for one in held)
