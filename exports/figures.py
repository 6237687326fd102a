"""A figure for print: what it shows, its caption, and the same bytes whenever it is drawn again.

The figures themselves are in `forest`, `criteria_map` and `answers`; matplotlib is imported when one is drawn.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from calibration.results import Estimate
from exports.cells import shown
from exports.plots.fitting import fitted, width_of
from exports.plots.fonts import advice, cut_to_glyphs
from exports.plots.theme import INK, INK_SOFT, TEXT, themed
from exports.tables import refuse_bare

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

FORMATS: dict[str, dict[str, Any]] = {  # nothing that differs from one run to the next
    "pdf": {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}},
    "svg": {"metadata": {"Date": None, "Creator": None}},
    "png": {"metadata": {"Software": None}, "dpi": 300},
}
WIDE = 5.0  # inches from which a figure has room for long names and for numbers in words
EDGE = 0.04  # inches
VALUE, INTERVAL = 6, 27  # points right of a panel where a value and its interval begin
IN_WORDS = 0.98  # inches that most of them need


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
        for one in self.drawn:
            refuse_bare(one, self.name)

    @cached_property
    def svg(self) -> bytes:
        """A pack and its page both need it."""
        return self.saved("svg")

    @property
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
        width, height = canvas.get_size_inches()
        for name, y, colour in zip(self.lines, heights, colours or [INK] * len(self.lines), strict=True):
            canvas.text((left + EDGE) / width, y / height, name, va="center", ha="left", linespacing=0.95, color=colour)


def names_at_left(names: Sequence[str], width: float, lines: int = 2, room: float = 0.0) -> Names:
    """Fitted to a figure `width` inches wide, or to `room` inches."""
    room = room or (2.0 if width > WIDE else 1.05)
    found = tuple(fitted(name, room, TEXT, lines) for name in names)
    return Names(found, EDGE + max(width_of(line, TEXT) for name in found for line in name.split("\n")))


def room_in_words(found: Iterable[Estimate | None]) -> float:
    """Inches at the right of a panel for the values and intervals of its rows."""
    longest = max((width_of(shown(one)[1], TEXT) for one in found if one is not None), default=0.0)
    return max(IN_WORDS, INTERVAL / 72 + longest + EDGE)


def write_in_words(axes: Axes, y: float, one: Estimate) -> None:
    """Value and interval at the right of a panel, in the row at `y`."""
    for text, points, ink in zip(shown(one), (VALUE, INTERVAL), (INK, INK_SOFT), strict=True):
        axes.annotate(
            text, (1.0, y), (points, 0), xycoords=axes.get_yaxis_transform(), textcoords="offset points",
            va="center", color=ink, size=TEXT,
        )  # fmt: skip
