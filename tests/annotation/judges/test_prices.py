"""Money: cost from tokens, blank where nobody knows, and a worst case that is one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.errors import AnnotationError
from annotation.judges.asking.steps import cost_of, spent_by
from annotation.judges.defining.judge_file import Price
from annotation.judges.money.prices import CallSize, cost, estimate, snapshot, worst_cost
from annotation.judges.replies.outcomes import Reply, Usage
from tests.annotation.judges.judged_study import PRICE, judges

EXAMPLE = Price(input=0.15, output=0.60, cached=0.075)


def test_the_worked_example() -> None:
    assert cost(Usage(input=10_000, cached=4_000, output=1_000), EXAMPLE) == pytest.approx(0.0018, abs=1e-15)


@pytest.mark.parametrize(
    ("usage", "price", "usd"),
    [
        (Usage(10_000, 4_000, 1_000, reasoning=900), EXAMPLE, 0.0018),  # reasoning is already inside the output
        (Usage(10_000, 4_000, 1_000), Price(input=0.15, output=0.60), 0.0021),  # no cached price: as input
        (Usage(10_000, None, 1_000), EXAMPLE, 0.0021),
        (Usage(10_000, 0, 1_000), Price(input=0, output=0), 0.0),  # the user may state 0
        (Usage(10_000, 0, 1_000), None, None),
        (Usage(None, None, 1_000), EXAMPLE, None),
        (Usage(10_000, 0, None), EXAMPLE, None),
    ],
)
def test_cost_is_blank_where_it_is_unknown(usage: Usage, price: Price | None, usd: float | None) -> None:
    assert cost(usage, price) == (None if usd is None else pytest.approx(usd))


@pytest.mark.parametrize(
    ("reply", "costs", "spends"),
    [
        (Reply("ok", 1, usage=Usage(10_000, 4_000, 1_000), http_status=200), 0.0018, 0.0018),
        (Reply("refused", 1, usage=Usage(10_000, 4_000, 1_000), http_status=200), 0.0018, 0.0018),
        (Reply("refused", 1, http_status=400), 0.0, 0.0),
        (Reply("ok", 1, http_status=200), None, None),
        (Reply("rate_limited", 1), 0.0, 0.0),
        (Reply("server_error", 1), 0.0, 0.0),
        (Reply("dropped", 1), None, None),
        (Reply("timeout", 1), None, None),
        (Reply("abandoned", 1), None, None),
    ],
)
def test_a_try_of_unknown_cost_keeps_its_reservation(reply: Reply, costs: float | None, spends: float | None) -> None:
    assert cost_of(reply, EXAMPLE) == (None if costs is None else pytest.approx(costs))
    assert spent_by(reply, EXAMPLE) == (None if spends is None else pytest.approx(spends))
    assert (cost_of(reply, None), spent_by(reply, None)) == (None, 0.0)


def test_the_users_price_wins_and_a_budget_needs_one() -> None:
    user, mapped, free, blind = judges(
        f'name = "u"\nmodel = "m"\n{PRICE}', 'name = "m"\nmodel = "m"', 'name = "f"\nmodel = "m"',
        'name = "b"\nmodel = "m"\nmax_cost = 1.0',
    )  # fmt: skip
    known = Price(input=1, output=2)
    assert snapshot(user, known, "map 1.2").source == "user"
    assert snapshot(mapped, known, "map 1.2") == snapshot(free, known, "map 1.2")
    assert snapshot(free, None, "map 1.2").source == "none"
    assert snapshot(blind, known, "map 1.2").price == known
    with pytest.raises(AnnotationError, match="judge 'b' has max_cost but no known price"):
        snapshot(blind, None, "map 1.2")


def test_an_estimate_by_hand() -> None:
    # 2 calls of 4,000 characters and 3 criteria: 1,000 tokens in each; 270 out likely, 90 at least
    made = estimate([CallSize(4_000, 4_000, 3)] * 2, EXAMPLE, 1_000)
    assert (made.calls, made.tokens_in, made.tokens_out) == (2, 2_000, 540)
    assert made.likely == pytest.approx(2_000 * 0.15e-6 + 540 * 0.60e-6)
    assert made.low == pytest.approx(2_000 * 0.15e-6 + 180 * 0.60e-6)
    first = (1_334 * 0.15 + 1_000 * 0.60) / 1e6
    again = (2_667 * 0.15 + 1_000 * 0.60) / 1e6
    assert made.worst == pytest.approx(2 * (first + again))
    by_call = estimate([CallSize(4_000, 4_000, 3)] * 36, Price(input=0, output=0, call=0.5), 1_000)
    assert (by_call.low, by_call.likely, by_call.worst) == (18, 18, 36)
    assert estimate([], Price(input=0, output=0, call=0.5), 1_000).likely == 0
    blank = estimate([CallSize(4_000, 4_000, 3)], None, 1_000)
    assert (blank.low, blank.likely, blank.worst, blank.tokens_in) == (None, None, None, 1_000)


@given(st.text(max_size=2_000), st.integers(1, 8_000), st.floats(0, 50), st.floats(0, 50), st.none() | st.floats(0, 90))
def test_no_reply_counted_at_four_characters_a_token_costs_more_than_the_worst_case(
    prompt: str, out: int, into: float, output: float, cached: float | None
) -> None:
    price = Price(input=into, output=output, cached=cached)
    tokens = -(-len(prompt) // 4)
    most = worst_cost(len(prompt.encode()), out, price)
    for read in (0, tokens):
        spent = cost(Usage(tokens, read, out), price)
        assert spent is not None
        assert spent <= most * (1 + 1e-12)
