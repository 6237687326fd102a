"""The ledger: one line a try, sums that hold to the cent, and blank where a price is unknown."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from sqlalchemy import Engine, update

from annotation.errors import AnnotationError
from annotation.judges.money.ledger import COLUMNS, study_cost, write_ledger
from annotation.judges.replies.outcomes import Usage
from annotation.judges.reviewing.inspecting import show_call
from annotation.judges.reviewing.judge_standings import JudgeStanding, standings
from annotation.judges.running.run import run_judges
from db.connect import reading, transaction
from db.tables import Report, Study
from tests.annotation.judges.judged_study import (
    PRICE,
    STUB_JUDGE,
    Stub,
    attempts,
    judges,
    judgments,
    make_study,
    replied,
    run_stub,
    study_row,
)

pytestmark = pytest.mark.databases("sqlite")  # but where a test says otherwise

ONE_ORDER = STUB_JUDGE + 'order = "random"\n'
USED = Usage(10_000, 4_000, 1_000, 300)
COST = (6_000 * 0.15 + 4_000 * 0.075 + 1_000 * 0.60) / 1e6  # JUDGES.md section 6: 0.0018 USD


def lines(engine: Engine, study: int) -> list[dict[str, str]]:
    out = io.StringIO()
    with reading(engine) as session:
        count = write_ledger(session, study_row(engine, study), out)
    found = list(csv.DictReader(io.StringIO(out.getvalue())))
    assert len(found) == count == len(out.getvalue().splitlines()) - 1, "one line a try"
    return found


def standing(engine: Engine, study: int) -> JudgeStanding:
    with reading(engine) as session:
        (found,) = standings(session, study_row(engine, study))
    return found


def test_every_try_is_a_line_with_its_price_and_the_sums_hold(engine: Engine) -> None:
    study = make_study(engine, 2)

    def say(text: str, number: int) -> Any:
        good = "topic 0" in text or "cannot be used" in text
        return replied(judgments(text) if good else "prose", usage=USED, seconds=float(number))

    run_stub(engine, study, Stub(say), ONE_ORDER.replace("= 8", "= 1"))
    found = lines(engine, study)
    assert tuple(found[0]) == COLUMNS
    assert [(row["items"], row["kind"], row["outcome"], row["run"], row["criteria"]) for row in found] == [
        ("item-00001", "first", "ok", "1", "3"),
        ("item-00002", "first", "ok", "1", "3"),
        ("item-00002", "reask", "ok", "1", "3"),
    ]
    assert {(row["price_input"], row["price_output"], row["price_cached"]) for row in found} == {
        ("0.15", "0.6", "0.075")
    }
    assert [float(row["cost_usd"]) for row in found] == pytest.approx([COST] * 3)
    one = standing(engine, study)
    assert (one.planned, one.done, one.failed, one.unfinished, one.coverage) == (2, 2, 0, 0, 1.0)
    money = one.money
    assert (money.calls, money.attempts, money.items, money.valid_labels, money.unknown_costs) == (2, 3, 2, 6, 0)
    assert money.cost == pytest.approx(0.0054)
    assert (money.cost_per_call, money.cost_per_item) == pytest.approx((0.0027, 0.0027))
    assert money.cost_per_valid_label == pytest.approx(0.0009)
    assert money.cost_per_1000_items == pytest.approx(2.7)
    assert (money.wasted, money.waste_share) == (pytest.approx(0.0018), pytest.approx(1 / 3))

    with transaction(engine) as session:  # both texts of the first pair are replaced
        session.execute(
            update(Report)
            .where(Report.topic_id == 1)
            .values(shown_text=Report.shown_text + "New.", shown_sha256="0" * 64)
        )
    run_stub(engine, study, Stub(say), ONE_ORDER)
    after = standing(engine, study).money
    assert (after.cost, after.cost_per_item) == pytest.approx((0.0072, 0.0027)), "what is paid, and what counts"
    assert (money.p50_s, money.p95_s) == (2.0, 3.0)
    assert (money.tokens_in, money.tokens_cached, money.tokens_out, money.tokens_reasoning) == (
        30_000, 12_000, 3_000, 900,
    )  # fmt: skip


def test_a_later_price_is_the_price_of_later_tries_alone(engine: Engine) -> None:
    study = make_study(engine, 2)
    stub = Stub(lambda text, number: replied(judgments(text), usage=USED))
    run_stub(engine, study, stub, ONE_ORDER, limit=1)
    dearer = judges(ONE_ORDER.replace(PRICE, "price = {input = 1.5, output = 6.0}"))
    run_judges(engine, study, dearer, transport=stub)
    assert [(row["price_input"], row["price_cached"]) for row in lines(engine, study)] == [
        ("0.15", "0.075"),
        ("1.5", ""),
    ]
    assert [a.price for a in attempts(engine)] == [
        {"input": 0.15, "output": 0.6, "cached": 0.075},
        {"input": 1.5, "output": 6.0},
    ]


def test_without_a_price_cost_is_blank_and_not_0(engine: Engine) -> None:
    study = make_study(engine, 1)
    run_stub(engine, study, Stub(lambda text, number: judgments(text)), ONE_ORDER.replace(PRICE, ""))
    (row,) = lines(engine, study)
    assert (row["cost_usd"], row["price_input"]) == ("", "")
    money = standing(engine, study).money
    assert (money.cost, money.cost_per_item, money.cost_per_1000_items, money.waste_share) == (None, None, None, None)
    assert money.p50_s == 0.01


def test_a_free_judge_costs_0_and_wastes_no_share_of_it(engine: Engine) -> None:
    study = make_study(engine, 1)
    free = ONE_ORDER.replace(PRICE, "price = {input = 0, output = 0}")
    run_stub(engine, study, Stub(lambda text, number: judgments(text)), free)
    money = standing(engine, study).money
    assert (money.cost, money.cost_per_1000_items, money.waste_share) == (0.0, 0.0, None)


def test_a_try_of_unknown_cost_is_counted_and_in_no_sum(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.0)
    study = make_study(engine, 1)

    def say(text: str, number: int) -> Any:
        dropped = replied("", outcome="dropped", http_status=None, usage=Usage(), error="broken\nline")
        return dropped if number == 1 else replied(judgments(text), usage=USED)

    run_stub(engine, study, Stub(say), ONE_ORDER)
    assert next((row["cost_usd"], row["error"]) for row in lines(engine, study)) == ("", "broken line")
    money = standing(engine, study).money
    assert (money.attempts, money.unknown_costs) == (2, 1)
    assert money.cost == pytest.approx(COST)
    assert money.waste_share == 0.0
    with reading(engine) as session:
        assert study_cost(session, session.get_one(Study, study)) == (money.cost, 1)


@pytest.mark.databases("sqlite", "postgres")
@pytest.mark.parametrize("opening", ["=", "+", "-", "@", "\t=", "\r\n="])
def test_what_a_provider_says_cannot_start_a_formula(engine: Engine, opening: str) -> None:
    study = make_study(engine, 1)
    said = replied("prose", model=f"{opening}1+1", system_fingerprint=f"{opening}cmd")
    run_stub(engine, study, Stub(lambda text, number: said), ONE_ORDER)
    for row in lines(engine, study):
        assert row["model_reported"].startswith("'")
        assert row["system_fingerprint"].startswith("'")


@pytest.mark.databases("sqlite", "postgres")
def test_a_judge_that_was_asked_nothing_has_no_numbers(engine: Engine) -> None:
    study = make_study(engine, 1)
    run_stub(engine, study, Stub(), ONE_ORDER, limit=1)
    with reading(engine) as session:
        (one,) = standings(session, study_row(engine, study))
    assert one.repeats == {}


def test_repeats_are_compared_within_one_order(engine: Engine) -> None:
    study = make_study(engine, 1)
    # an always-first judge repeats itself perfectly, though its verdicts flip with the order
    stub = Stub(lambda text, number: judgments(text, "first"))
    run_stub(engine, study, stub, STUB_JUDGE + "repeats = 2\n")
    one = standing(engine, study)
    assert one.repeats == {(2,): 6}
    noisy = Stub(lambda text, number: judgments(text, "first" if number % 2 else "second"))
    other = make_other(engine, study, noisy)
    assert set(other.repeats) == {(1, 1)}


def make_other(engine: Engine, study: int, stub: Stub) -> JudgeStanding:
    toml = STUB_JUDGE.replace("mini", "noisy").replace("= 8", "= 1") + 'repeats = 2\norder = "first_only"\n'
    run_stub(engine, study, stub, toml)
    with reading(engine) as session:
        return next(one for one in standings(session, study_row(engine, study)) if one.judge == "noisy")


def test_one_call_is_shown_with_its_proved_prompt_tries_and_labels(engine: Engine) -> None:
    study = make_study(engine, 1)
    stub = Stub(lambda text, number: judgments(text) if "cannot be used" in text else "prose")
    run_stub(engine, study, stub, ONE_ORDER)
    with reading(engine) as session:
        call = show_call(session, study_row(engine, study), attempts(engine)[0].call_id)
        assert (call.judge, call.state, call.items, call.criteria) == (
            "mini", "done", (("item-00001", "t0", 1, 1),), ("c_one", "c_two", "d_one"),
        )  # fmt: skip
        assert [[dict(m) for m in one.messages] for one in call.attempts] == [r["messages"] for r in stub.requests]
        assert call.attempts[0].raw_reply == "prose"
        assert {one.unproved for one in call.attempts} == {""}
        assert [(one.criterion, one.revision, one.status) for one in call.labels] == [
            ("c_one", 1, "ok"), ("c_two", 1, "ok"), ("d_one", 1, "ok"),
        ]  # fmt: skip
        with pytest.raises(AnnotationError, match="has no call 999"):
            show_call(session, study_row(engine, study), 999)
