"""Quoted passages are marked where they stand, and the report keeps its text and its elements."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.labels.evidence import highlighted, plain_text
from annotation.rendering import render_report

MARK = re.compile("</?mark>")


@pytest.mark.parametrize(
    ("markdown", "spans", "html"),
    [
        ("Rivers rise.", [], "<p>Rivers rise.</p>\n"),
        ("Rivers rise.", [(0, 6)], "<p><mark>Rivers</mark> rise.</p>\n"),
        ("A *very* long one.", [(0, 11)], "<p><mark>A </mark><em><mark>very</mark></em><mark> long</mark> one.</p>\n"),
        ("a & b < c", [(0, 9)], "<p><mark>a &amp; b &lt; c</mark></p>\n"),
        ("one two three", [(4, 7), (0, 5)], "<p><mark>one two</mark> three</p>\n"),
        ("😀 smile", [(0, 1)], "<p><mark>😀</mark> smile</p>\n"),
        ("One.\n\nTwo.", [(0, 9)], "<p><mark>One.</mark></p>\n<p><mark>Two.</mark></p>\n"),
        ("short", [(3, 99)], "<p>sho<mark>rt</mark></p>\n"),
    ],
)
def test_a_passage_is_marked_where_it_stands(markdown: str, spans: list[tuple[int, int]], html: str) -> None:
    assert highlighted(render_report(markdown), spans) == html


def test_no_mark_stands_between_the_rows_of_a_table() -> None:
    html = render_report("| a | b |\n| - | - |\n| 1 | 2 |\n")
    marked = highlighted(html, [(0, len(plain_text("| a | b |\n| - | - |\n| 1 | 2 |\n")))])
    assert not re.search(r"</(?:t[hdr]|thead|tbody)>\s*<mark>|<(?:table|tr|thead|tbody)>\s*<mark>", marked)
    assert marked.count("<mark>") == 4


@given(st.text(max_size=60), st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=4))
def test_marks_are_all_that_is_added(markdown: str, spans: list[tuple[int, int]]) -> None:
    html = render_report(markdown)
    assert MARK.sub("", highlighted(html, spans)) == html
