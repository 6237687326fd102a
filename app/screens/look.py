"""How every page but the annotator's looks: the tokens of the reading room as CSS, its language, tables, long lists."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from html import escape
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.component import SCRIPTS
from app.texts import Texts, local
from app.tokens import as_css
from plain.wording import ENGLISH, nearest, set_language, spoken, worded

FOLDER = Path(__file__).parent
CSS = "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("look.css", "widgets.css"))
# in place of its own words, which are English
STREAMLITS = """[data-testid="stFileUploaderDropzone"] button p { font-size: 0 !important; }
[data-testid="stFileUploaderDropzone"] button p::after { content: "%s"; font-size: 14px; }
[data-testid="stFileUploaderDropzoneInstructions"] > * { display: none; }
[data-testid="stFileUploaderDropzoneInstructions"]::after { content: "%s"; font-size: 14px; }"""
SKIP = """[data-testid="stSkipToContent"] { font-size: 0 !important; }
[data-testid="stSkipToContent"]::after { content: "%s"; font-size: 14px; }"""


def style(theme: str = "system", words: Texts | None = None) -> None:
    """Put the style sheet on the page: our class names, and Streamlit's test ids, which outlive its class names.

    `theme`: light, dark, or system, which is what the browser prefers. `words`: of an annotator's page.
    """
    most = worded("at most {mb} MB a file", mb=st.get_option("server.maxUploadSize"))
    skip = SKIP % (words.tell("screens.skip") if words else worded("Skip to the page's content"))
    told = f"{STREAMLITS % (worded('Choose what to upload'), most)}\n" if spoken() != ENGLISH else ""
    st.html(f"<style>{as_css(theme)}{SCRIPTS}{CSS}{told}{skip}</style>")


def attributes(words: Texts) -> str:
    """`lang` and `dir` of an element that speaks these words."""
    return f'lang="{words.language}" dir="{words.dir}"'


def table(name: str, heads: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """A table that scrolls where it is wider than the page. Cells are HTML already, name and heads English.

    `name`: what it is called where it is not seen. A column without a head holds what one can do with its row.
    """
    head = "".join(f'<th scope="col">{worded(head)}</th>' if head else "<td></td>" for head in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<div class="c-scroll" tabindex="0" role="region" aria-label="{worded(name)}">'
        f'<table class="c-table {kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def advance(bar: DeltaGenerator, doing: str, done: int, of: int) -> None:
    """Move a bar on, and say how far it is."""
    bar.progress(done / max(1, of), worded("{doing}: {done:,} of {of:,}", doing=doing, done=done, of=of))


def local_time(moment: datetime, language: str = "") -> str:
    """`2026-11-22 09:00` in the zone that the reader's browser names; `… UTC` where it names none we know.

    `language`: as it writes times instead.
    """
    zone = _zone(st.context.timezone)
    there = moment.astimezone(zone or UTC)
    said = local.minute(there, language) if language else f"{there:%Y-%m-%d %H:%M}"
    return f"{said}{'' if zone else ' UTC'}"


def local_day(moment: datetime, language: str) -> str:
    """`November 22, 2026`, as the language writes it, in the zone that the reader's browser names, else in UTC."""
    return local.day(moment.astimezone(_zone(st.context.timezone) or UTC), language)


def _zone(name: str | None) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a browser may say anything
        return None


LANGUAGE = "language"  # as it was chosen, "" where nothing was


def speak() -> None:
    """Say the rest of this run in the language that was chosen, or the browser's.

    For the head of a page, and of a fragment and what a widget calls, which may run in threads of their own.
    """
    set_language(st.session_state.get(LANGUAGE) or nearest(st.context.locale or ""))


PAGE = 50  # lines sent to the browser at once
T = TypeVar("T")


def link_back(words: Texts, address: str = "/back") -> str:
    """The way to the crowd platform that sent somebody here, as HTML."""
    return f'<a href="{escape(address)}" target="_self">{escape(words.tell("page.go_back"))}</a>'


def paged(rows: Sequence[T], named: Callable[[T], str], key: str, find: str) -> Sequence[T]:
    """The lines to show now; under controls of their own where there are more than a page holds.

    `named`: what of a line the box `find` looks through. `key`: of the controls, one for each list of a page.
    """
    if len(rows) <= PAGE:
        return rows
    at = f"{key}_first"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        words = st.text_input(find, key=f"{key}_find", on_change=_go, args=(at, 0), width=280)
        left = matching(rows, named, words)
        first = start(st.session_state.get(at, 0), len(left))
        earlier, later = first - PAGE, first + PAGE
        st.button(
            worded("Previous page"), key=f"{key}_previous", disabled=earlier < 0, on_click=_go, args=(at, earlier)
        )
        st.button(worded("Next page"), key=f"{key}_next", disabled=later >= len(left), on_click=_go, args=(at, later))
        st.html(f'<p class="c-place c-beside" role="status">{escape(place(first, len(left)))}</p>', width="content")
    return left[first:later]


def matching(rows: Sequence[T], named: Callable[[T], str], words: str) -> Sequence[T]:
    """Return the rows that contain every word, small and large letters alike."""
    wanted = words.casefold().split()
    return [row for row in rows if all(word in named(row).casefold() for word in wanted)] if wanted else rows


def start(first: int, of: int) -> int:
    """The beginning of the page that line `first` is on; of the last page where there are fewer lines by now."""
    return max(0, min(first, of - 1)) // PAGE * PAGE


def place(first: int, of: int) -> str:
    """`51–100 of 20,000`."""
    return (
        worded("{first:,}–{page:,} of {of:,}", first=first + 1, page=min(first + PAGE, of), of=of)
        if of
        else worded("None found")
    )


def _go(at: str, first: int) -> None:
    st.session_state[at] = first
