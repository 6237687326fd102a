"""The look of evaluator and owner pages, in one place: the tokens of the reading room as CSS."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import streamlit as st

from app.component import SCRIPTS
from app.texts import Texts
from app.tokens import as_css

FOLDER = Path(__file__).parent
CSS = "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("look.css", "widgets.css"))


def style(theme: str = "system") -> None:
    """Put the style sheet on the page: our class names, and Streamlit's test ids, which outlive its class names.

    `theme`: light, dark, or system, which is what the browser prefers.
    """
    st.html(f"<style>{as_css(theme)}{SCRIPTS}{CSS}</style>")


def attributes(words: Texts) -> str:
    """`lang` and `dir` of an element that speaks these words."""
    return f'lang="{words.language}" dir="{words.dir}"'


def table(name: str, heads: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """A table that scrolls where it is wider than the page. Cells are HTML already.

    `name`: what it is called where it is not seen. A column without a head holds what one can do with its row.
    """
    head = "".join(f'<th scope="col">{one}</th>' if one else "<td></td>" for one in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<div class="c-scroll" tabindex="0" role="region" aria-label="{name}">'
        f'<table class="c-table {kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )
