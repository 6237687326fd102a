"""A figure of `exports` on a page: the very one a paper prints, its caption above it, its files below."""

from __future__ import annotations

import base64
from functools import partial
from html import escape

import streamlit as st

from exports.figures import Figure, as_bytes
from exports.words.captions import told

LARGER = 1.25  # print is 8 pt, a screen is read at 13 px
MIME = {"pdf": "application/pdf", "svg": "image/svg+xml"}


def plot(figure: Figure | None, key: str) -> None:
    """Nothing where there is no figure. `key`: of its buttons, one of a kind on the page."""
    if figure is None:
        return
    st.html(f'<div class="c-page">{plot_html(figure)}</div>')
    with st.container(horizontal=True, gap="medium", key=f"files_of_{key}"):
        for form, mime in MIME.items():
            st.download_button(
                f"Download {form.upper()}", partial(as_bytes, figure, form), f"{figure.name}.{form}", mime,
                key=f"{key}_{form}", type="tertiary", on_click="ignore",
            )  # fmt: skip


def plot_html(figure: Figure) -> str:
    """As a picture that asks for nothing from outside; its caption is its text for who cannot see it."""
    picture = base64.b64encode(as_bytes(figure, "svg")).decode()
    width = round(float(figure.canvas.get_figwidth()) * 96 * LARGER)
    caption = escape(told(figure))
    return (
        f'<figure class="c-plot"><figcaption>{caption}</figcaption>'
        f'<img src="data:image/svg+xml;base64,{picture}" alt="{caption}" style="width: {width}px"></figure>'
    )
