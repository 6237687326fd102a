"""How exported figures look: one rc table for print, nothing from the machine, and the fonts that have the letters."""

import logging
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any

from exports.latex.tex_text import script_of
from plain.wording import speaking, worded

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


# matplotlib brings DejaVu with it (Latin, Greek, Cyrillic, Arabic, Hebrew …), so the same figure is the same bytes on
# every machine; the others stand in for letters it lacks, where they are installed
FAMILIES = (
    "DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "Hiragino Sans", "Microsoft YaHei",
    "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans Devanagari", "Noto Sans Thai", "Noto Sans Bengali",
    "Noto Sans Tamil", "Nirmala UI", "Leelawadee UI", "Noto Sans",
)  # fmt: skip
PACKAGES = {"Chinese, Japanese or Korean": "fonts-noto-cjk", "emoji": "fonts-noto-color-emoji"}  # of Debian and Ubuntu
OTHER = "fonts-noto-core"
# how letters are put together: a PDF names every glyph and its place, and to cut these takes a third of a pack's time
LAYOUT = ("GSUB", "GPOS", "GDEF", "BASE", "MATH", "kern")


@lru_cache(maxsize=1)
def families() -> tuple[str, ...]:
    """Those of FAMILIES that this machine has, also what was installed since matplotlib last listed its fonts."""
    from matplotlib import font_manager

    known = font_manager.fontManager
    wanted = {name.replace(" ", "") for name in FAMILIES} | {"NotoSansCJK"}
    listed = {font.fname for font in known.ttflist}
    for path in font_manager.findSystemFonts():
        family, _, face = Path(path).stem.partition("-")
        if family in wanted and face in ("", "Regular") and path not in listed:
            known.addfont(path)
    installed = {font.name for font in known.ttflist}
    return tuple(name for name in FAMILIES if name in installed)


@contextmanager
def cut_to_glyphs() -> Iterator[None]:
    """Inside the block a PDF's fonts keep the glyphs that are drawn. Only within `themed`: one thread at a time."""
    from fontTools import subset

    usual = subset.Options

    class Glyphs(usual):  # type: ignore[misc, valid-type]  # fontTools says nothing of its types
        def __init__(self, **asked: object) -> None:
            super().__init__(**asked)
            self.drop_tables += LAYOUT

    subset.Options = Glyphs  # matplotlib asks for it when it writes
    try:
        yield
    finally:
        subset.Options = usual


def lettered(sentence: str, /, **fields: object) -> str:
    """The sentence as `worded` says it; in English where no font here has its letters."""
    told = worded(sentence, **fields)
    if not boxed([told]):
        return told
    with speaking():
        return worded(sentence, **fields)


def boxed(texts: Iterable[str]) -> list[str]:
    """The scripts among these texts of which some letter has no glyph here and is drawn as a box, each once."""
    letters = dict.fromkeys("".join(texts))
    return list(dict.fromkeys(script_of(letter) for letter in letters if _is_boxed(letter)))


def advice(texts: Iterable[str]) -> str:
    """One sentence that says which letters are boxes and what to install; empty where all are drawn."""
    scripts = boxed(texts)
    if not scripts:
        return ""
    packages = dict.fromkeys(PACKAGES.get(script, OTHER) for script in scripts)
    return (
        f"Drawn as boxes, because no font here has them: letters of {', '.join(scripts)}; install one "
        f"(Debian, Ubuntu: {' '.join(packages)}) and draw again."
    )


@lru_cache(maxsize=4096)
def _is_boxed(letter: str) -> bool:
    if letter.isascii() or not letter.isprintable():
        return False
    from matplotlib import font_manager

    paths = (font_manager.findfont(name, fallback_to_default=False) for name in families())
    return not any(font_manager.get_font(path).get_char_index(ord(letter)) for path in paths)
