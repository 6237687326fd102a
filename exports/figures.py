"""A figure for print: what it shows, its caption, and the same bytes whenever it is drawn again.

The figures themselves are in `plots`; matplotlib is imported when one is drawn.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from calibration.results import Estimate
from exports import forms, tables
from exports.cells import number, shown
from exports.latex.tex_text import fonts_needed, needs_t1, prose
from exports.plots.names import fitted, width_of
from exports.plots.theme import FULL_PAGE, INK, INK_SOFT, ONE_COLUMN, TEXT, advice, cut_to_glyphs, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Onto = Callable[[float, float], "Canvas"]  # inches wide and tall -> where a figure is drawn

FORMATS: dict[str, dict[str, Any]] = {  # nothing that differs from one run to the next
    "pdf": {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}},
    "svg": {"metadata": {"Date": None, "Creator": None}},
    "png": {"metadata": {"Software": None}, "dpi": 300},
}
WIDE = 5.0  # inches from which a figure has room for long names and for numbers in words
EDGE = 0.04  # inches
VALUE, INTERVAL = 6, 27  # points right of a panel where a value and its interval begin
IN_WORDS = 0.98  # inches that most of them need


def falling(estimate: Estimate | None) -> float:
    """What sorts the largest value first and what has none last."""
    return math.inf if estimate is None or math.isnan(estimate.value) else -estimate.value


def tick_text(value: float) -> str:
    """A share under an axis: with two decimals where one does not say it."""
    return number(value, 2 if round(10 * value, 6) % 1 else 1)


def own_canvas(width: float, height: float) -> Canvas:
    """A canvas that holds nothing else; sides in inches."""
    from matplotlib.figure import Figure as Canvas

    return Canvas(figsize=(width, height))


@dataclass(frozen=True)
class Figure:
    """A drawn figure. `caption`: one sentence; `drawn`: the estimates behind its marks, as the tables hold them.

    Raises `bare_number` on an estimate without a method, or without an interval and a note that says why.
    """

    name: str
    caption: str
    drawn: tuple[Estimate, ...]
    canvas: Canvas

    def __post_init__(self) -> None:
        for estimate in self.drawn:
            tables.refuse_bare(estimate, self.name)

    @cached_property
    def svg(self) -> bytes:
        """A pack and its page both need it."""
        return self.saved("svg")

    @cached_property
    def caution(self) -> str:
        """What is not drawn as it is written, for want of a font, and what to do; empty where all is."""
        from matplotlib.text import Text

        return advice(text.get_text() for text in self.canvas.findobj(Text))

    def saved(self, form: str) -> bytes:
        """Drawn anew, as `as_bytes` says."""
        out = io.BytesIO()
        with themed(), cut_to_glyphs() if form == "pdf" else nullcontext():
            self.canvas.savefig(out, format=form, **FORMATS[form])
        return out.getvalue()


def as_bytes(figure: Figure, form: str) -> bytes:
    """The figure as `pdf`, `svg` or `png`; equal bytes for equal figures."""
    return figure.svg if form == "svg" else figure.saved(form)


@dataclass(frozen=True)
class Names:
    """The names at the left of a figure's rows, fitted, and the room they take in inches."""

    lines: tuple[str, ...]
    room: float

    def write(
        self, canvas: Canvas, heights: Sequence[float], colours: Sequence[str] | None = None, left: float = 0.0
    ) -> None:
        """`heights`: the middle of each row in inches from below; `left`: inches from the edge of the figure."""
        width, height = canvas.bbox.width / canvas.dpi, canvas.bbox.height / canvas.dpi
        for name, y, colour in zip(self.lines, heights, colours or [INK] * len(self.lines), strict=True):
            level = "center" if "\n" in name else "center_baseline"  # whatever hangs below its letters
            canvas.text((left + EDGE) / width, y / height, name, va=level, ha="left", linespacing=0.95, color=colour)


def names_at_left(names: Sequence[str], width: float, lines: int = 2, room: float = 0.0) -> Names:
    """Fitted to a figure `width` inches wide, or to `room` inches."""
    room = room or (2.0 if width > WIDE else 1.05)
    found = tuple(fitted(name, room, TEXT, lines) for name in names)
    return Names(found, EDGE + max(width_of(line, TEXT) for name in found for line in name.split("\n")))


def room_in_words(estimates: Iterable[Estimate | None]) -> float:
    """Inches at the right of a panel for the values and intervals of its rows."""
    longest = max((width_of(shown(estimate)[1], TEXT) for estimate in estimates if estimate is not None), default=0.0)
    return max(IN_WORDS, INTERVAL / 72 + longest + EDGE)


def write_in_words(axes: Axes, y: float, estimate: Estimate) -> None:
    """Value and interval at the right of a panel, in the row at `y`."""
    for text, points, ink in zip(shown(estimate), (VALUE, INTERVAL), (INK, INK_SOFT), strict=True):
        axes.annotate(
            text, (1.0, y), (points, 0), xycoords=axes.get_yaxis_transform(), textcoords="offset points",
            va="center", color=ink, size=TEXT,
        )  # fmt: skip


_FIGURE = r"""\begin{figure}
\centering
\includegraphics[width=\ifdim\linewidth<%(narrow)sin \linewidth\else %(narrow)sin\fi]{%(name)s_column.pdf}
\caption{%(caption)s}
\label{fig:%(label)s}
\end{figure}
"""


def told(figure: Figure) -> str:
    """Its caption, and what of it could not be drawn here."""
    return " ".join(filter(None, (figure.caption, figure.caution)))


def captions(figures: Iterable[Figure]) -> str:
    """A list in Markdown; each caption stands for both widths of its figure."""
    widths = f"{FULL_PAGE} in, `_column` {ONE_COLUMN} in"
    return "".join(f"- `{figure.name}` ({widths}): {forms.escaped(told(figure))}\n" for figure in figures)


def figures_tex(figures: Iterable[Figure]) -> str:
    """Every figure in one column, with its caption and the label `fig:name`, to take what a paper needs."""
    listed = list(figures)
    texts = [figure.caption for figure in listed]
    lines = ["% Figures of one column. Across two: figure* with \\linewidth and the name without _column."]
    lines += ["% Where the files lie: \\graphicspath{{report/}}", "% \\usepackage{graphicx}"]
    fonts = fonts_needed(texts)
    lines += [f"% {line}" for line in fonts] or [r"% \usepackage[T1]{fontenc}"] * needs_t1(texts)
    floats = [
        _FIGURE
        % {
            "narrow": ONE_COLUMN,
            "name": figure.name,
            "caption": prose(figure.caption),
            "label": figure.name.replace("_", "-"),
        }
        for figure in listed
    ]
    return "\n".join([*lines, *floats])
