"""A figure of `exports` on a page: the very one a paper prints, what it shows above it, its caption and files below."""

from __future__ import annotations

import base64
from functools import partial
from html import escape

import streamlit as st

from exports.figures import Figure, as_bytes
from exports.words.captions import told

LARGER = 1.25  # print is 8 pt, a screen is read at 13 px
MIME = {"pdf": "application/pdf", "svg": "image/svg+xml"}


def plot(figure: Figure | None, key: str, shows: str) -> None:
    """Nothing where there is no figure. `key`: of its buttons; `shows`: as of `plot_html`."""
    if figure is None:
        return
    st.html(f'<div class="c-page">{plot_html(figure, shows)}</div>')
    with st.container(horizontal=True, gap="medium", key=f"files_of_{key}"):
        for form, mime in MIME.items():
            st.download_button(
                f"Download {form.upper()}", partial(as_bytes, figure, form), f"{figure.name}.{form}", mime,
                key=f"{key}_{form}", type="tertiary", on_click="ignore",
            )  # fmt: skip


def plot_html(figure: Figure | None, shows: str) -> str:
    """As a picture that asks for nothing from outside; "" where there is none.

    `shows`: one sentence with this study's numbers, above it, and its text for who cannot see it. How it is drawn
    stands below.
    """
    if figure is None:
        return ""
    picture = base64.b64encode(as_bytes(figure, "svg")).decode()
    width = round(float(figure.canvas.get_figwidth()) * 96 * LARGER)
    caption = escape(told(figure))
    return (
        f'<figure class="c-plot"><p>{escape(shows)}</p><img src="data:image/svg+xml;base64,{picture}" '
        f'alt="{escape(shows)}" style="width: {width}px"><figcaption>{caption}</figcaption></figure>'
    )
