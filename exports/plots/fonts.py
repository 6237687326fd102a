"""Fonts of figures: which letters the installed ones have, and what to install for those they have not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from exports.latex.tex_text import script_of

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
