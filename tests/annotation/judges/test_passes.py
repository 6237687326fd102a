"""Order and batching: swapped sides, balanced coins, and what stands is never drawn again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.errors import AnnotationError
from annotation.judges.defining.judge_file import maker, own_family
from annotation.judges.planning.calls import LabelledItem, Pass, batches, draw_first, passes_of, plan_passes
from tests.annotation.judges.judged_study import judges

ROWS = ("a1", "b1", "a2", "c1")


def pair(item: int, reference: str | None = "B") -> LabelledItem:
    return LabelledItem(item, 1, ("x", "y"), 10, 10, reference)


def test_both_swaps_the_sides_in_every_repeat() -> None:
    assert plan_passes("both", 2, "A") == (Pass(1, 1, "A"), Pass(2, 1, "B"), Pass(3, 2, "A"), Pass(4, 2, "B"))
    assert plan_passes("random", 2, "B") == (Pass(1, 1, "B"), Pass(2, 2, "B"))


@pytest.mark.parametrize(
    ("batching", "calls"),
    [
        ("all", [ROWS]),
        ("by_category", [("a1", "a2"), ("b1",), ("c1",)]),
        ("one_criterion", [(row,) for row in ROWS]),
    ],
)
def test_criteria_per_call(batching: str, calls: list[tuple[str, ...]]) -> None:
    assert batches(ROWS, [row[0] for row in ROWS], batching) == calls  # type: ignore[arg-type]


@given(st.sets(st.integers(1, 500), max_size=60), st.sets(st.integers(1, 500), max_size=60), st.integers())
def test_coins_are_balanced_and_stand_when_items_are_added(early: set[int], late: set[int], seed: int) -> None:
    first = draw_first(early, seed=seed, judge="mini", standing={})
    assert abs(sum(side == "A" for side in first.values()) * 2 - len(first)) <= 1
    assert first == draw_first(sorted(early, reverse=True), seed=seed, judge="mini", standing={})
    both = draw_first(early | late, seed=seed, judge="mini", standing=first)
    assert both.items() >= first.items()
    assert abs(sum(side == "A" for side in both.values()) * 2 - len(both)) <= 1


def test_coins_differ_between_judges() -> None:
    drawn = [draw_first(range(40), seed=1, judge=name, standing={}) for name in ("mini", "haiku")]
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize(("first_report", "left"), [("A", "A"), ("reference", "B"), ("other", "A")])
def test_first_only_says_which_report_comes_first(first_report: str, left: str) -> None:
    (judge,) = judges(f'name = "j"\nmodel = "m"\norder = "first_only"\nfirst_report = "{first_report}"')
    assert passes_of(judge, [pair(1)], {}, 7) == {1: (Pass(1, 1, left),)}


def test_first_only_needs_a_reference_in_every_pair() -> None:
    (judge,) = judges('name = "j"\nmodel = "m"\norder = "first_only"\nfirst_report = "other"')
    with pytest.raises(AnnotationError, match="item 2 has none or two"):
        passes_of(judge, [pair(1), pair(2, None)], {}, 7)


def test_an_order_is_changed_only_where_what_stands_can_be_part_of_it() -> None:
    standing = {1: {1: Pass(1, 1, "B")}}
    both, first = judges('name = "j"\nmodel = "m"', 'name = "k"\nmodel = "m"\norder = "first_only"')
    assert passes_of(both, [pair(1)], standing, 7)[1] == (Pass(1, 1, "B"), Pass(2, 1, "A"))
    with pytest.raises(AnnotationError, match="give the judge with the new order a new name"):
        passes_of(first, [pair(1)], standing, 7)
    with pytest.raises(AnnotationError, match="another order"):
        passes_of(both, [pair(1)], {1: {1: Pass(1, 1, "A"), 2: Pass(2, 2, "A")}}, 7)


@pytest.mark.parametrize(
    ("model", "who"),
    [
        ("openai/gpt-4o-mini", "openai"),
        ("o3", "openai"),
        ("openrouter/anthropic/claude-sonnet-4", "anthropic"),
        ("openai/qwen3-80b", "alibaba"),
        ("hosted_vllm/meta-llama", "meta"),
        ("gemini/gemini-2.5-flash", "google"),
        ("openai/ernie-4.0", "baidu"),
        ("microsoft/phi-4", "microsoft"),
        ("philips-1", ""),
        ("openai/fake-acc-0.85", ""),
    ],
)
def test_the_maker_is_in_the_models_own_name(model: str, who: str) -> None:
    assert maker(model) == who


def test_a_judge_of_a_systems_family_is_named() -> None:
    systems = [("a", "Google"), ("b", "gemini-2.5-pro"), ("c", "openai"), ("d", "")]
    assert [text.split("'")[3] for text in own_family("j", "google", systems)] == ["a", "b"]
    assert own_family("j", "", systems) == []
