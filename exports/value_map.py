"""A map of values: rows by columns, every value printed in its place on a shade that says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exports.cells import DASH
from exports.figures import EDGE, WIDE, names_at_left
from exports.fitting import fitted, width_of
from exports.theme import INK, INK_SOFT, PAPER, TEXT

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

ROW, THIN_ROW, PAGE = 0.2, 0.15, 7.6  # inches; rows grow thinner before the map outgrows a page
BROAD = 0.62  # inches of a column that has the room
HEAD = 1.3  # inches for a column's name, set upright
TWO_LINES = 0.3  # inches of a column that has room for two lines set upright
GAP = 0.08


@dataclass(frozen=True)
class Printed:
    """What stands in one place: its fill, its text and the ink of that."""

    fill: str
    text: str
    ink: str


NOTHING = Printed(PAPER, DASH, INK_SOFT)


def draw_map(
    rows: Sequence[str],
    columns: Sequence[str],
    printed: Mapping[tuple[str, str], Printed],
    width: float,
    narrow: float,
    apart: tuple[str, str] = ("", ""),
    heads: Mapping[str, str] | None = None,
) -> Canvas | None:
    """`printed`: by (row, column). None where columns of `narrow` inches, the least a value needs, do not fit `width`.

    `apart`: the row and the column that sum up the others. `heads`: a row or a column in other words.
    """
    from matplotlib.figure import Figure as Canvas
    from matplotlib.patches import Rectangle

    said = {name: (heads or {}).get(name, name) for name in (*rows, *columns)}
    left = names_at_left([said[name] for name in rows], width, lines=1)
    wanted = max(width_of(said[name], TEXT) for name in columns) + 2 * GAP
    column = min(max(BROAD, wanted), (width - left.room - 2 * GAP - EDGE) / len(columns))
    if column < narrow:
        return None
    row = max(THIN_ROW, min(ROW, PAGE / len(rows)))
    upright = wanted > column
    column = min(column, max(BROAD, narrow)) if upright else column
    room, lines = HEAD if width < WIDE else 1.4 * HEAD, 2 if column > TWO_LINES else 1
    shown = {name: fitted(said[name], room, TEXT, lines) if upright else said[name] for name in columns}
    head = max(width_of(line, TEXT) for name in columns for line in shown[name].split("\n")) if upright else 0.13
    below = GAP * (apart[0] in rows)
    height = EDGE + row * len(rows) + below + GAP + head + 3 * EDGE
    canvas = Canvas(figsize=(width, height))
    size = column * len(columns) + GAP, row * len(rows) + below
    axes = canvas.add_axes(((left.room + GAP) / width, EDGE / height, size[0] / width, size[1] / height))
    axes.set_xlim(0, size[0])
    axes.set_ylim(size[1], 0)
    axes.axis("off")
    tops = [down * row + GAP * (name == apart[0]) for down, name in enumerate(rows)]
    for across, name in enumerate(columns):
        x = across * column + GAP * (name == apart[1])
        for top, of_row in zip(tops, rows, strict=True):
            one = printed.get((of_row, name), NOTHING)
            axes.add_patch(Rectangle((x, top), column, row, facecolor=one.fill, edgecolor=PAPER, linewidth=0.8))
            axes.text(x + column / 2, top + row / 2, one.text, ha="center", va="center_baseline", color=one.ink)
        axes.text(
            x + column / 2, -GAP, shown[name], rotation=90 if upright else 0, ha="center", linespacing=0.95,
            va="bottom" if upright else "baseline", color=INK_SOFT if name == apart[1] else INK,
        )  # fmt: skip
    colours = [INK_SOFT if name == apart[0] else INK for name in rows]
    left.write(canvas, [height - 3 * EDGE - head - GAP - top - row / 2 for top in tops], colours)
    return canvas
