"""The look of evaluator and owner pages, in one place: the tokens of the reading room as CSS."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from app.component import SCRIPTS
from app.texts import Texts

INK, INK_SOFT, LINE, ACCENT, AMBER, RED = "#1c1f23", "#5a5f66", "#ddd9d0", "#14606e", "#8a5a00", "#a3261b"
LIGHT = {
    "paper": "#fcfbf8", "surface": "#f3f1ec", "ink": INK, "ink-soft": INK_SOFT, "line": LINE, "edge": "#878379",
    "accent": ACCENT, "accent-wash": "#e2eff1", "on-accent": "#fcfbf8", "amber": AMBER, "red": RED, "green": "#2c6a45",
}  # fmt: skip
DARK = {
    "paper": "#15171a", "surface": "#1d2024", "ink": "#e8e6e1", "ink-soft": "#a4a9b0", "line": "#30343a",
    "edge": "#767c84", "accent": "#6cc3d1", "accent-wash": "#1c343a", "on-accent": "#15171a", "amber": "#e0b050",
    "red": "#f08a7e", "green": "#7cc79a",
}  # fmt: skip
FONT = 'system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif'
READING = 'Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif'

CSS = f"""
[data-testid="stMainBlockContainer"] {{ padding-top: 72px; }}
@media (max-width: 1100px) {{ [data-testid="stMainBlockContainer"] {{ padding-inline: 24px; }} }}
.c-page, .c-empty {{ color: var(--c-ink); font: 14px/1.45 {FONT}; text-align: start; }}
:is(.c-page, .c-empty)[lang] {{ font-family: var(--sans); }}
.c-page [lang] {{ --w-serif: var(--serif); }}
.c-table:dir(rtl) :is(th, td) {{ text-align: left; padding-inline: 0 12px; }}
.c-table:dir(rtl) :is(th, td):is(:first-child, :nth-child(2), :last-child) {{ text-align: right; }}
.c-empty {{ max-width: 34rem; margin: 18vh auto 0; padding-top: 24px; border-top: 2px solid var(--c-accent); }}
.c-page h1, .c-empty h1 {{ font-size: 20px; font-weight: 600; line-height: 1.3; margin: 0 0 8px; padding: 0; }}
.c-page h2 {{ font-size: 14px; font-weight: 600; margin: 24px 0 8px; padding: 0; }}
.c-page p, .c-empty p {{ margin: 0 0 8px; max-width: 46rem; font-size: 14px; }}
.c-soft {{ color: var(--c-ink-soft); }}
.c-answer {{ font-size: 20px !important; line-height: 1.4; max-width: 52rem !important; }}
.c-simulated {{ display: inline-block; color: var(--c-amber); border: 1px solid currentColor; border-radius: 6px;
  padding: 0 8px; font-size: 12px; margin-bottom: 12px; }}
.c-table {{ border-collapse: collapse; width: auto; font-variant-numeric: tabular-nums; }}
.c-table th {{ text-align: right; font-weight: 600; font-size: 12px; color: var(--c-ink-soft); padding: 4px 12px 4px 0;
  border: 0; border-bottom: 1px solid var(--c-ink); vertical-align: bottom; }}
.c-table td {{ text-align: right; padding: 8px 12px 8px 0; border: 0; border-bottom: 1px solid var(--c-line);
  white-space: nowrap; vertical-align: baseline; }}
.c-table th:first-child, .c-table td:first-child {{ text-align: left; }}
.c-table .ci {{ color: var(--c-ink-soft); font-size: 12px; margin-left: 4px; }}
.c-table .c-said {{ text-align: left; }}
.c-table .c-wraps {{ white-space: normal; min-width: 9rem; max-width: 16rem; overflow-wrap: anywhere; }}
.c-remarks th, .c-remarks td {{ text-align: left; }}
.c-table .c-words {{ white-space: normal; min-width: 24rem; }}
.c-scroll {{ overflow-x: auto; }}
.c-notes {{ color: var(--c-ink-soft); font-size: 12px; max-width: 60rem; padding-left: 16px; }}
.c-notes li {{ font-size: 12px; margin: 2px 0; }}
.c-diff {{ display: grid; grid-template-columns: 1fr 1fr; gap: 24px; padding-top: 12px;
  border-top: 1px solid var(--c-line); }}
.c-text {{ white-space: pre-wrap; overflow-wrap: anywhere; font: 14px/1.5 {FONT}; max-height: 62vh; overflow: auto; }}
.c-text del {{ color: var(--c-red); background: #f7e6e3; text-decoration-thickness: 1px; }}
.c-text mark {{ color: inherit; background: #f4e7c8; border-bottom: 2px solid var(--c-amber); }}
.c-text mark.done {{ background: none; border-bottom-color: var(--c-line); }}
.c-table small, .c-page summary small {{ color: var(--c-ink-soft); font-size: 12px; }}
.c-under {{ display: block; min-height: 1.4em; }}
.c-table td:first-child .c-under {{ white-space: normal; overflow-wrap: anywhere; min-width: 8rem; max-width: 16rem; }}
.c-page .c-foot {{ font-size: 12px; margin-top: 8px; max-width: 60rem; }}
.c-page .c-amber {{ color: var(--c-amber); max-width: 60rem; }}
.c-red {{ color: var(--c-red); }}
.c-page code, .c-empty code {{ color: inherit; background: var(--c-surface); font-size: 13px; padding: 2px 4px; }}
.c-remarks .c-wrap, .c-remarks .c-raw-line {{ display: block; white-space: normal; overflow-wrap: anywhere;
  min-width: 8rem; max-width: 16rem; }}
.c-remarks .c-raw-line {{ min-width: 16rem; max-width: 44rem; color: var(--c-ink-soft); }}
.c-fold {{ border-top: 1px solid var(--c-line); padding: 8px 0; max-width: 60rem; }}
.c-fold summary {{ cursor: pointer; }}
.c-fold dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 8px 0 0 16px; }}
.c-fold :is(dt, dd) {{ font-size: 14px; margin: 0; padding: 0; overflow-wrap: anywhere; }}
.c-fold dt {{ color: var(--c-ink-soft); }}
.c-place {{ text-align: center; color: var(--c-ink-soft); margin: 0; font: 14px/1.4 {FONT};
  font-variant-numeric: tabular-nums; }}
.c-place.c-beside {{ line-height: 40px; }}
.c-line {{ font: 14px/1.3 {FONT}; color: var(--c-ink); overflow-wrap: anywhere; }}
.c-line small {{ display: block; color: var(--c-ink-soft); font-size: 12px; }}
.c-probe {{ border-left: 2px solid var(--c-accent); padding-left: 12px; }}
.c-answers, .c-panes {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: 0 24px; }}
.c-given {{ border-top: 1px solid var(--c-line); padding: 8px 0; }}
.c-given small {{ color: var(--c-ink-soft); font-size: 12px; margin-left: 8px; }}
.c-given .c-why {{ white-space: pre-wrap; overflow-wrap: anywhere; }}
.c-given ul {{ margin: 0 0 8px; padding-left: 16px; }}
.c-given li {{ font-size: 14px; line-height: 1.45; margin: 2px 0; }}
.c-page mark {{ color: inherit; background: var(--c-accent-wash); }}
.c-panes {{ margin-top: 16px; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); }}
.c-pane > h2 small {{ color: var(--c-ink-soft); font-size: 12px; font-weight: 400; margin-left: 8px; }}
.c-pane {{ background: var(--c-paper); border-top: 1px solid var(--c-ink); max-height: 70vh; overflow: auto; }}
.c-pane > h2 {{ position: sticky; top: 0; margin: 0; padding: 8px 0; background: var(--c-paper); }}
.c-report {{ font: 16px/1.55 {READING}; overflow-wrap: anywhere; max-width: 70ch; padding-right: 12px; }}
.c-report p, .c-report li {{ font-size: 16px; line-height: 1.55; }}
.c-report :is(h3, h4, h5, h6) {{ font: 600 16px/1.4 {READING}; margin: 16px 0 8px; padding: 0; }}
.c-report h3 {{ font-size: 20px; }}
.c-report table {{ display: block; overflow-x: auto; font-size: 14px; }}
.c-raw {{ white-space: pre-wrap; overflow-wrap: anywhere; max-height: 60vh; overflow: auto; font-size: 12px;
  background: var(--c-surface); padding: 12px; border-radius: 6px; }}
.c-fold h3 {{ font-size: 12px; font-weight: 600; margin: 12px 0 4px; padding: 0; }}
.c-to, .c-to:visited {{ color: inherit !important; text-decoration: none !important; border-radius: 2px; }}
.c-to:hover {{ color: var(--c-accent) !important; text-decoration: underline !important; }}
.c-to:focus-visible {{ color: var(--c-accent) !important; outline: 2px solid var(--c-accent); outline-offset: 2px; }}
.c-scroll + .c-fold {{ border-top: 0; }}
.c-plot {{ margin: 0; }}
.c-plot figcaption {{ color: var(--c-ink-soft); font-size: 14px; max-width: 46rem; margin: 0 0 8px; }}
.c-plot img {{ display: block; max-width: 100%; height: auto; mix-blend-mode: multiply; }}
.c-warnings {{ padding: 0 !important; margin: 0 !important; list-style: none; max-width: 60rem; }}
.c-warnings li {{ border-left: 2px solid var(--c-amber); padding: 2px 0 2px 12px; margin: 0 0 8px !important;
  font-size: 14px; }}
.c-warnings code {{ color: var(--c-amber); background: none; font-size: 12px; padding: 0 8px 0 0; }}
"""


def style(theme: str = "light") -> None:
    """Put the style sheet on the page; our own class names, never Streamlit's, which change each release.

    `theme`: light, as the plots are; or dark, or system (as the browser prefers), for pages without plots.
    """
    st.html(f"<style>{_tokens(theme)}{SCRIPTS}{CSS}</style>")


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


def _tokens(theme: str) -> str:
    light, dark = (
        f":root {{ color-scheme: {scheme}; {' '.join(f'--c-{name}: {value};' for name, value in tokens.items())} }}"
        for scheme, tokens in (("light", LIGHT), ("dark", DARK))
    )
    if theme == "system":
        return f"{light} @media (prefers-color-scheme: dark) {{ {dark} }}"
    return dark if theme == "dark" else light
