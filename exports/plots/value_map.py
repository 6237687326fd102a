"""A map of values: rows by columns, every value printed in its place on a shade that says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exports.cells import DASH
from exports.figures import EDGE, WIDE, Names, names_at_left
from exports.plots.fitting import fitted, width_of
from exports.plots.theme import INK, INK_SOFT, PAPER, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ROW, THIN_ROW, PAGE = 0.2, 0.15, 7.6  # inches; rows grow thinner before the map outgrows a page
BROAD = 0.62  # inches of a column that has the room
HEAD = 1.3  # inches for a column's name, set upright
LEVEL_HEAD = 0.13
TWO_LINES = 0.3  # inches of a column that has room for two lines set upright
GAP = 0.08


@dataclass(frozen=True)
class Printed:
    """What stands in one place: its fill, its text and the ink of that; `below`: a second line."""

    fill: str
    text: str
    ink: str
    bold: bool = False
    below: str = ""


NOTHING = Printed(PAPER, DASH, INK_SOFT)


@dataclass(frozen=True)
class Grid:
    """A map laid out: what stands where, and its sizes in inches."""

    rows: Sequence[str]
    columns: Sequence[str]
    printed: Mapping[tuple[str, str], Printed]
    names: Names
    heads: Sequence[str]
    upright: bool
    row: float
    column: float
    head: float
    apart: tuple[str, str]

    @property
    def width(self) -> float:
        """With the names at the left."""
        return self.names.room + GAP + self.across + EDGE

    @property
    def height(self) -> float:
        """With the heads above."""
        return EDGE + self.down + GAP + self.head + 3 * EDGE

    @property
    def across(self) -> float:
        """Of the values alone."""
        return self.column * len(self.columns) + GAP

    @property
    def down(self) -> float:
        """Of the values alone."""
        return self.row * len(self.rows) + GAP * (self.apart[0] in self.rows)

    def draw(self, canvas: Canvas, left: float, low: float, named: bool = True) -> None:
        """Put it on `canvas`, inches from its lower left corner. `named`: with the names of the rows."""
        width, height = canvas.get_size_inches()
        start = left + self.names.room + GAP
        spot = start / width, (low + EDGE) / height, self.across / width, self.down / height
        axes = canvas.add_axes(spot)
        axes.set_xlim(0, self.across)
        axes.set_ylim(self.down, 0)
        axes.axis("off")
        tops = [place * self.row + GAP * (name == self.apart[0]) for place, name in enumerate(self.rows)]
        for place, (name, head) in enumerate(zip(self.columns, self.heads, strict=True)):
            x = place * self.column + GAP * (name == self.apart[1])
            for top, of_row in zip(tops, self.rows, strict=True):
                self._place(axes, x, top, self.printed.get((of_row, name), NOTHING))
            axes.text(
                x + self.column / 2, -GAP, head, rotation=90 if self.upright else 0, ha="center", linespacing=0.95,
                va="bottom" if self.upright else "baseline", color=INK_SOFT if name == self.apart[1] else INK,
            )  # fmt: skip
        if named:
            colours = [INK_SOFT if name == self.apart[0] else INK for name in self.rows]
            self.names.write(canvas, [low + EDGE + self.down - top - self.row / 2 for top in tops], colours, left)

    def _place(self, axes: Axes, x: float, top: float, one: Printed) -> None:
        from matplotlib.patches import Rectangle

        axes.add_patch(Rectangle((x, top), self.column, self.row, facecolor=one.fill, edgecolor=PAPER, linewidth=0.8))
        lines = [(one.text, one.ink, "bold" if one.bold else "normal")]
        lines += [(one.below, one.ink, "normal")] if one.below else []
        for line, (text, ink, weight) in enumerate(lines):
            y = top + self.row * (line + 0.5) / len(lines) + (0.012 - 0.024 * line) * (len(lines) - 1)
            axes.text(x + self.column / 2, y, text, ha="center", va="center_baseline", color=ink, weight=weight)


def grid(
    rows: Sequence[str],
    columns: Sequence[str],
    printed: Mapping[tuple[str, str], Printed],
    width: float,
    narrow: float,
    apart: tuple[str, str] = ("", ""),
    heads: Mapping[str, str] | None = None,
    tall: float = ROW,
    room: float = 0.0,
) -> Grid | None:
    """None where columns of `narrow` inches, the least a value needs, do not fit `width`.

    `printed`: by (row, column). `apart`: the row and the column that sum up the others. `heads`: a row or a column in
    other words. `tall`: inches of a row where there is room, and at any rate where values have a second line. `room`:
    inches for the names of rows, where those of any figure are too many.
    """
    said = {name: (heads or {}).get(name, name) for name in (*rows, *columns)}
    names = names_at_left([said[name] for name in rows], width, lines=1, room=room)
    wanted = max(width_of(said[name], TEXT) for name in columns) + 2 * GAP
    column = min(max(BROAD, wanted), (width - names.room - 2 * GAP - EDGE) / len(columns))
    if column < narrow:
        return None
    row = tall if tall > ROW else max(THIN_ROW, min(tall, PAGE / len(rows)))
    upright = wanted - GAP > column
    column = min(column, max(BROAD, narrow)) if upright else column
    above, lines = HEAD if width < WIDE else 1.4 * HEAD, 2 if column > TWO_LINES else 1
    shown = [fitted(said[name], above, TEXT, lines) if upright else said[name] for name in columns]
    head = max(width_of(line, TEXT) for name in shown for line in name.split("\n")) if upright else LEVEL_HEAD
    return Grid(rows, columns, printed, names, shown, upright, row, column, head, apart)


def draw_map(
    rows: Sequence[str],
    columns: Sequence[str],
    printed: Mapping[tuple[str, str], Printed],
    width: float,
    narrow: float,
    apart: tuple[str, str] = ("", ""),
    heads: Mapping[str, str] | None = None,
) -> Canvas | None:
    """A grid alone on a canvas `width` inches wide; None where `grid` is."""
    from matplotlib.figure import Figure as Canvas

    found = grid(rows, columns, printed, width, narrow, apart, heads)
    if found is None:
        return None
    canvas = Canvas(figsize=(width, found.height))
    found.draw(canvas, max(0.0, (width - found.width) / 2), 0.0)
    return canvas
