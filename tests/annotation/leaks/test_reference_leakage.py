"""Which reports copy the reference they are held against, and which cite its own page."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.leaks.reference_leakage import RUN, is_page, quoted_share
from annotation.source_lists.cited_works import addresses_in

TWELVE = "the lake rises in spring when snow melts on the high hills"
ELEVEN = TWELVE.removesuffix(" hills")


@pytest.mark.parametrize(
    ("report", "reference", "share"),
    [
        (TWELVE, f"Here {TWELVE}, it says.", 1.0),
        (f"{TWELVE} and five other words follow", f"They say: {TWELVE}.", 12 / 17),
        ("The LAKE rises in spring, when *snow* melts -- on the high hills.", TWELVE, 1.0),
        (ELEVEN, TWELVE, 0.0),  # a run too short is what everybody writes
        (f"{TWELVE} twice {TWELVE}", TWELVE, 24 / 25),
        ("wholly other words", TWELVE, 0.0),
        ("湖水在春天上涨因为山上的雪融化了", "湖水在春天上涨因为山上的雪融化了。", 1.0),
    ],
)
def test_words_in_runs_of_the_reference_are_quoted(report: str, reference: str, share: float) -> None:
    assert len(TWELVE.split()) == RUN
    assert quoted_share(report, reference) == pytest.approx(share)


def test_a_report_without_words_quotes_nothing_that_can_be_counted() -> None:
    assert math.isnan(quoted_share("—", TWELVE))


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=60), st.lists(st.sampled_from("abcde"), max_size=60))
def test_it_is_a_share_and_a_text_quotes_itself_whole(report: list[str], reference: list[str]) -> None:
    share = quoted_share(" ".join(report), " ".join(reference))
    assert 0 <= share <= 1
    assert quoted_share(" ".join(report), " ".join(report)) == (1 if len(report) >= RUN else 0)


@pytest.mark.parametrize(
    ("address", "same"),
    [
        ("https://en.wikipedia.org/wiki/Lake_(song)", True),
        ("http://www.en.wikipedia.org/wiki/Lake_(song)/", True),
        ("https://en.m.wikipedia.org/wiki/Lake_%28song%29#History", True),
        ("https://de.wikipedia.org/wiki/Lake_(song)", False),
        ("https://en.wikipedia.org/wiki/Lake", False),
        ("https://[en.wikipedia.org/wiki/Lake_(song)", False),
    ],
)
def test_one_page_has_many_addresses(address: str, same: bool) -> None:
    assert is_page(address, "https://en.wikipedia.org/wiki/Lake_(song)") is same
    assert not is_page(address, ""), "a topic whose page nobody named has none"
    assert not is_page(address, "https://[")


def test_addresses_end_where_the_sentence_or_its_bracket_does() -> None:
    text = "See (https://a.org/x_(y)), [b](https://b.org/z) and <https://c.org>: https://d.org/e."
    assert addresses_in(text) == ["https://a.org/x_(y)", "https://b.org/z", "https://c.org", "https://d.org/e"]
