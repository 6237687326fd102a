"""Near-identical texts: what speeds the search up hides none of them."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from calibration.study.alike_texts import (
    ALIKE,
    MANY_PAIRS,
    Shingler,
    WordNumbers,
    alike_of_all,
    alike_pairs,
    shingles,
    words_of,
)

WORDS = st.lists(st.sampled_from(["a", "b", "c", "Dé", "e_1"]), min_size=1, max_size=14).map(" ".join)
CUT = st.integers(12, 30).map(lambda length: " ".join(f"w{place}" for place in range(length)))  # alike, or nearly so


@given(
    st.lists(WORDS | CUT, min_size=1, max_size=6), st.lists(WORDS | CUT, min_size=1, max_size=6),
    st.sampled_from([MANY_PAIRS, 0]),
)  # fmt: skip
def test_texts_are_near_identical_by_the_jaccard_similarity_of_their_sets_of_shingles(
    one: list[str], two: list[str], most: int
) -> None:
    shingler = Shingler()
    first, second = shingler.of(one), shingler.of(two)
    row, column = (place.ravel() for place in np.indices((len(one), len(two))))
    sets = [(shingles(one[i]), shingles(two[j])) for i, j in zip(row, column, strict=True)]
    expected = [len(a & b) / len(a | b) >= ALIKE - 1e-9 for a, b in sets]
    assert alike_pairs(first, second, row, column).tolist() == expected
    with patch("calibration.study.alike_texts.MANY_PAIRS", most):
        found = set(zip(*alike_of_all(first, second), strict=True))
    assert found == {(i, j) for i, j, near in zip(row, column, expected, strict=True) if near}


@given(st.lists(st.text(), max_size=8), st.lists(st.text(st.characters(max_codepoint=127)), max_size=8))
def test_words_cut_all_at_once_are_the_words_of_each_text(some: list[str], plain: list[str]) -> None:
    numbers = WordNumbers()
    numbers["known"]  # numbers go on from what was asked for before
    for texts in ([*some, *plain], plain, plain[1:]):
        flat, size = numbers.of(pd.Series(texts, dtype="str"))
        assert flat.tolist() == [numbers[word] for text in texts for word in words_of(text)]
        assert size.tolist() == [len(words_of(text)) for text in texts]


def test_words_of_a_slice_of_a_longer_column_are_its_own() -> None:
    texts = pd.Series(["one two three", "", "four, FIVE_5 six;", "\u00e9t\u00e9 seven eight nine", "ten"], dtype="str")
    numbers = WordNumbers()
    flat, size = numbers.of(texts.iloc[1:4])
    known = {number: word for word, number in numbers.items()}
    assert [known[one] for one in flat] == ["", "four", "five_5", "six", "\u00e9t\u00e9", "seven", "eight", "nine"]
    assert size.tolist() == [1, 3, 4]
