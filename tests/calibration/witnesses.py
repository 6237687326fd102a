"""How a point statistic is compared with an implementation that is not ours, and the tables it is tried on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import strategies as st

from calibration.agreement.catalogue import why_undefined

NAN = math.nan


def agrees(function: Callable[..., float], witness: Any, *args: Any, **options: Any) -> None:
    """`function` gives a float within 1e-9 of `witness`, silently; nan exactly where `witness` is, with a reason."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, reason = function(*args, **options), why_undefined(function, *args, **options)
    assert type(value) is float
    assert math.isnan(value) == bool(reason), (value, reason)
    assert value == pytest.approx(float(witness), abs=1e-9, nan_ok=True)


def silent(function: Callable[..., Any], *args: Any, **options: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function(*args, **options))


def share(top: Fraction | int, bottom: Fraction | int) -> Fraction | float:
    return Fraction(top) / Fraction(bottom) if bottom else NAN


def complete(*columns: Sequence[Any]) -> list[tuple[Any, ...]]:
    return [row for row in zip(*columns, strict=True) if not any(one is None or one != one for one in row)]


def columns_of(rows: Sequence[tuple[Any, ...]], width: int) -> tuple[list[Any], ...]:
    return tuple([row[i] for row in rows] for i in range(width))


def side(alphabet: Sequence[Any]) -> st.SearchStrategy[Any]:
    """One rater: all of the alphabet or a part of it, down to a single label; some answers missing."""
    parts = st.lists(st.sampled_from(alphabet), min_size=1, unique=True)
    return parts.map(lambda some: st.sampled_from([*some, *some, *some, None, NAN]))


def raters(alphabet: Sequence[Any], count: int, most: int = 16) -> st.SearchStrategy[Any]:
    """Columns of `count` raters, aligned."""
    sides = st.tuples(*[side(alphabet)] * count)
    rows = sides.flatmap(lambda some: st.lists(st.tuples(*some), max_size=most))
    return rows.map(lambda given: columns_of(given, count))
