"""Precision and recall of found items against wanted ones, and when two titles are one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.calibration.plain_aggregates import normal_title, overlap

names = st.frozensets(st.sampled_from("abcdefgh"))


@given(names, names)
def test_precision_and_recall_are_hits_over_found_and_over_wanted(
    found: frozenset[str], wanted: frozenset[str]
) -> None:
    one = overlap([*found, *found], wanted)  # each counts once, however often it is listed
    hits = sum(name in wanted for name in found)
    assert (one.hits, one.found, one.wanted) == (hits, len(found), len(wanted))
    assert one.precision == pytest.approx(hits / len(found) if found else math.nan, nan_ok=True)
    assert one.recall == pytest.approx(hits / len(wanted) if wanted else math.nan, nan_ok=True)
    assert overlap(wanted, found).recall == pytest.approx(one.precision, nan_ok=True)


def test_without_gold_there_is_no_recall_and_never_a_hundred() -> None:
    assert math.isnan(overlap(["a"], []).recall)
    assert math.isnan(overlap([], ["a"]).precision)
    assert overlap([], ["a"]).recall == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Attention Is All You Need", "attention is all you need."),
        ("BERT: Pre-training of Deep Transformers", "Bert – Pre‑Training of deep transformers"),
        ("Über naïve Schätzer", "Uber naive Schatzer"),
        ("  A  survey\nof surveys ", "A Survey of Surveys"),
        ("深度研究：综述", "深度研究 综述"),
    ],
)
def test_two_spellings_of_a_title_are_one(one: str, other: str) -> None:
    assert normal_title(one) == normal_title(other) != ""


@pytest.mark.parametrize(("one", "other"), [("GPT-3", "GPT-4"), ("On x", "On y"), ("कि", "की"), ("研究", "研")])
def test_two_titles_stay_two(one: str, other: str) -> None:
    assert normal_title(one) != normal_title(other)
