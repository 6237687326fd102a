"""A long list a page at a time: where one is in it, the pages beside, and a box to find one of its lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TypeVar

import streamlit as st

PAGE = 50  # lines sent to the browser at once
T = TypeVar("T")


def paged(rows: Sequence[T], named: Callable[[T], str], key: str, find: str) -> Sequence[T]:
    """The lines to show now; under controls of their own where there are more than a page holds.

    `named`: what of a line the box `find` looks through. `key`: of the controls, one for each list of a page.
    """
    if len(rows) <= PAGE:
        return rows
    at = f"{key}_first"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        words = st.text_input(find, key=f"{key}_find", on_change=_go, args=(at, 0), width=280)
        found = matching(rows, named, words)
        first = start(st.session_state.get(at, 0), len(found))
        earlier, later = first - PAGE, first + PAGE
        st.button("Previous", key=f"{key}_previous", disabled=earlier < 0, on_click=_go, args=(at, earlier))
        st.button("Next", key=f"{key}_next", disabled=later >= len(found), on_click=_go, args=(at, later))
        st.html(f'<p class="c-place c-beside" role="status">{escape(place(first, len(found)))}</p>', width="content")
    return found[first:later]


def matching(rows: Sequence[T], named: Callable[[T], str], words: str) -> Sequence[T]:
    """Those in which every word stands somewhere, small and large letters alike."""
    wanted = words.casefold().split()
    return [one for one in rows if _has(named(one).casefold(), wanted)] if wanted else rows


def start(first: int, of: int) -> int:
    """The beginning of the page that line `first` is on; of the last page where there are fewer lines by now."""
    return max(0, min(first, of - 1)) // PAGE * PAGE


def place(first: int, of: int) -> str:
    """`51–100 of 20,000`."""
    return f"{first + 1:,}–{min(first + PAGE, of):,} of {of:,}" if of else "None found"


def _has(text: str, wanted: Sequence[str]) -> bool:
    return all(word in text for word in wanted)


def _go(at: str, first: int) -> None:
    st.session_state[at] = first
