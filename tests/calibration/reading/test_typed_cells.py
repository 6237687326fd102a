"""Cells become numbers and categories: the same ones whatever pandas had made of the column."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.errors import CalibrationError
from calibration.table.typed_cells import as_category, as_number, plain_numbers, with_text

ROW = {"item_id": "p1", "rater_id": "ann", "criterion": "clarity"}
numbers = st.one_of(
    st.floats().map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=6).map(str),
    st.integers().map(str),
    st.from_regex(r"[-+]?[0-9]{0,25}\.?[0-9]{0,25}([eE][-+]?[0-9]{1,3})?", fullmatch=True),
    st.sampled_from(
        ["", "nan", "NaN", "NA", "inf", "-Infinity", " 5", "5 ", "1_000", "0x1p3", "١", "1,5", "+3", "true"]
    ),
)


def read(column: pd.Series) -> list[float] | str:
    try:
        return as_number(pd.DataFrame([ROW] * len(column)).assign(seconds=column), "seconds").tolist()
    except CalibrationError as error:
        return error.text


@given(st.lists(numbers, min_size=1, max_size=6))
def test_a_number_is_what_python_reads_whatever_holds_the_text(texts: list[str]) -> None:
    as_objects = read(pd.Series(texts, dtype=object))
    for dtype in ("str", "category"):
        found = read(pd.Series(texts, dtype="str").astype(dtype))
        assert np.array_equal(found, as_objects, equal_nan=True) if isinstance(found, list) else found == as_objects


@given(st.lists(numbers, min_size=1, max_size=6))
def test_what_is_plainly_a_number_is_read_as_python_reads_it(texts: list[str]) -> None:
    found = plain_numbers(pd.Series(texts, dtype="str"))
    if found is not None:
        assert np.array_equal(found, [float(text) if text else math.nan for text in texts], equal_nan=True)


def test_a_million_seconds_need_no_look_at_each() -> None:
    assert plain_numbers(pd.Series(["7", "7.50", "1e-3", ""])).tolist()[:3] == [7.0, 7.5, 0.001]
    assert plain_numbers(pd.Series(["7", "long"])) is None
    assert plain_numbers(pd.Series(["nan"])) is None


@pytest.mark.parametrize("dtype", ["str", "category", "object"])
def test_the_row_that_is_no_number_is_named_with_its_text(dtype: str) -> None:
    assert read(pd.Series(["1", "", "7.0 s"], dtype=dtype)) == (
        "row 4 (the header is row 1; item 'p1', rater 'ann', criterion 'clarity'): seconds is '7.0 s', which is not a number; "
        "write it as 1234.5, or leave it empty if unknown"
    )


@given(st.lists(st.sampled_from("abcd"), min_size=1), st.sampled_from("abx"))
def test_categories_are_the_texts_that_occur_in_order(texts: list[str], text: str) -> None:
    column = as_category(pd.Series(pd.Categorical(texts, categories=list("dcba"))))
    assert list(column.cat.categories) == sorted({*texts})
    rows = column.eq("a")
    changed = as_category(with_text(column, rows, text))
    assert list(changed) == [text if one == "a" else one for one in texts]
    assert list(changed.cat.categories) == sorted({*changed})
