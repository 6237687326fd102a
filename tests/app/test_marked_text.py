"""What the owner sees of a report: every removed passage struck, every flag marked, and text that stays text."""

from __future__ import annotations

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from app.screens.study.blinding import marked_original, marked_shown


def test_neighbours_that_touch_are_one_passage() -> None:
    html = marked_original("It rose [1]. Then", [(7, 8, "space"), (8, 11, "number")])
    assert html == 'It rose<del title="characters 7 to 11"> [1]</del>. Then'


def test_undecided_flags_stand_out_and_decided_ones_step_back() -> None:
    flags = [
        {"start": 0, "end": 5, "kind": "product", "resolution": "keep"},
        {"start": 9, "end": 14, "kind": "system", "resolution": None},
    ]
    html = marked_shown("Atlas or Atlas", flags)
    assert html == '<mark class="done" title="product: keep">Atlas</mark> or <mark title="system">Atlas</mark>'


@given(st.text(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=6))
def test_no_character_is_lost_and_none_becomes_markup(text: str, places: list[tuple[int, int]]) -> None:
    spans = [(min(a, b, len(text)), min(max(a, b), len(text)), "number") for a, b in places]
    flags = [{"start": start, "end": end, "kind": "x", "resolution": None} for start, end, _ in spans]
    for html in (marked_original(text, spans), marked_shown(text, flags)):
        assert unescape(re.sub(r"</?(?:del|mark)[^>]*>", "", html)) == text.replace("\r", "\r")
