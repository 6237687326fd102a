"""How exported figures look: the tokens of the reading room for print, one rc table, and nothing from the machine."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

from exports.plots.fonts import families

ONE_COLUMN, FULL_PAGE = 3.3, 6.9  # inches
INK, INK_SOFT, LINE, PAPER, BAND = "#1c1f23", "#5a5f66", "#ddd9d0", "#ffffff", "#e4e1da"
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
TEXT = 8.0  # points
BAR = 1.2  # points, of an interval
ONE_AT_A_TIME = RLock()  # matplotlib keeps its settings for the whole process, and pages are drawn in threads
inside = False  # whether they are those of this theme; only who holds the lock reads or writes it

RC: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": TEXT,
    "text.color": INK,
    "text.parse_math": False,  # a rater may be called $x$
    "axes.edgecolor": LINE,
    "axes.labelcolor": INK_SOFT,
    "axes.labelsize": TEXT,
    "axes.titlesize": TEXT,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.unicode_minus": True,
    "xtick.color": INK_SOFT,
    "xtick.labelsize": TEXT,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.major.size": 0,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "pdf.fonttype": 42,  # TrueType, embedded; journals refuse Type 3
    "pdf.use14corefonts": False,
    "svg.fonttype": "path",  # no reader needs the font
    "svg.hashsalt": "calipers",
    "path.simplify": False,
}


@contextmanager
def themed() -> Iterator[None]:
    """Inside the block matplotlib draws in this theme, whatever a matplotlibrc on this machine says.

    A block within a block changes nothing: each change takes milliseconds, and every width of a name asks for one.
    """
    global inside
    with ONE_AT_A_TIME:
        if inside:
            yield
            return
        inside = True
        try:
            with _set():
                yield
        finally:
            inside = False


@contextmanager
def _set() -> Iterator[None]:
    from matplotlib import style

    fonts = logging.getLogger("matplotlib.font_manager")
    with warnings.catch_warnings(), style.context(["default", {**RC, "font.family": [*families()]}]):
        # said once for the whole figure, with what to install: Figure.caution
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        fonts.addFilter(_is_worth_saying)
        try:
            yield
        finally:
            fonts.removeFilter(_is_worth_saying)


def _is_worth_saying(record: logging.LogRecord) -> bool:
    """Not that a font which stands in for single letters has no bold."""
    return "Failed to find font weight" not in record.getMessage()


def tint(share: float, colour: str = OKABE_ITO[0]) -> str:
    """From paper (0) to the first colour of the plots (1), or another `colour`, as `#rrggbb`."""
    share = min(1.0, max(0.0, share))
    full, none = (tuple(int(code[at : at + 2], 16) for at in (1, 3, 5)) for code in (colour, PAPER))
    mixed = (round(low + share * (high - low)) for low, high in zip(none, full, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
