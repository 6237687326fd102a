"""Money, rate limits, retries and the ladder: what a run may do, and what it costs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from sqlalchemy import Engine

from annotation.judges.planning.plan import plan_judges
from annotation.judges.replies.outcomes import Reply
from annotation.judges.reviewing.judge_standings import standings
from annotation.judges.running.run import run_judges
from db.connect import reading
from tests.annotation.judges.judged_study import (
    STUB_JUDGE,
    Stub,
    account,
    attempts,
    call_states,
    describe,
    judges,
    judgments,
    labels,
    make_study,
    replied,
    run_stub,
    study_row,
)

pytestmark = pytest.mark.databases("sqlite")  # but where a test says otherwise


def test_the_ledger_is_stored_with_tokens_cost_and_the_raw_reply(engine: Engine) -> None:
    study = make_study(engine, 2)
    stub = Stub()
    summary = run_stub(engine, study, stub)
    stored = attempts(engine)
    assert [(a.kind, a.outcome, a.rung, a.http_status, a.finish_reason) for a in stored] == [
        ("first", "ok", "json_schema", 200, "stop")
    ] * 4
    by_hand = sum((a.tokens_in or 0) * 0.15e-6 + (a.tokens_out or 0) * 0.60e-6 for a in stored)
    assert summary.judges[0].cost == pytest.approx(by_hand)
    row = account(engine)
    assert row.spent == pytest.approx(by_hand)
    assert row.reserved == pytest.approx(0, abs=1e-12)
    assert all("judgments" in (a.raw_reply or "") for a in stored)


def test_a_re_ask_that_helps_is_marked_and_paid(engine: Engine) -> None:
    study = make_study(engine, 1)
    stub = Stub(lambda text, number: judgments(text) if "cannot be used as it stands" in text else "prose")
    summary = run_stub(engine, study, stub, STUB_JUDGE + 'order = "random"\n')
    assert summary.judges[0].labels == {"ok": 3}
    assert {tuple(row["flags"]) for row in labels(engine)} == {("reasked",)}
    assert [message["role"] for message in stub.requests[1]["messages"]] == ["system", "user", "assistant", "user"]
    assert summary.judges[0].cost == pytest.approx(sum(a.cost or 0 for a in attempts(engine)))


@pytest.mark.parametrize(
    ("reply", "kinds", "unknown"),
    [
        (Reply("server_error", 0.1, http_status=500), ["first"] + ["retry"] * 4, 0),
        (Reply("dropped", 0.1), ["first", "retry", "retry"], 3),
        (Reply("timeout", 0.1, http_status=408), ["first", "retry", "retry"], 3),
        (Reply("too_long", 0.1, http_status=400), ["first"], 0),
        (Reply("bad_request", 0.1, http_status=400), ["first"], 0),
    ],
)
def test_a_call_that_never_succeeds_is_missing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, reply: Reply, kinds: list[str], unknown: int
) -> None:
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.01)
    study = make_study(engine, 1)
    summary = run_stub(engine, study, Stub(lambda text, number: reply), STUB_JUDGE + 'order = "random"\n')
    assert [a.kind for a in attempts(engine)] == kinds
    (judge,) = summary.judges
    assert (judge.failed, judge.labels, judge.unknown_costs) == (1, {"missing": 3}, unknown)
    reason = "input_too_long" if reply.outcome == "too_long" else "call_failed"
    assert {tuple(row["flags"]) for row in labels(engine)} == {(reason,)}
    assert (account(engine).spent > 0) == (unknown > 0), "a try of unknown cost keeps its reservation"
    with reading(engine) as session:
        (standing,) = standings(session, study_row(engine, study))
    assert standing.money.unknown_costs == unknown


def test_a_429_pauses_the_whole_judge_and_is_no_try(engine: Engine) -> None:
    study = make_study(engine, 6)
    limited = Reply("rate_limited", 0.0, http_status=429, retry_after_s=0.3)
    stub = Stub(lambda text, number: limited if number <= 8 else judgments(text), seconds=0.02)
    summary = run_stub(engine, study, stub)
    assert summary.judges[0].complete
    counts = Counter(a.outcome for a in attempts(engine))
    assert counts == {"ok": 12, "rate_limited": 8}
    assert {a.kind for a in attempts(engine)} == {"first"}
    assert account(engine).paused_until is not None
    assert summary.seconds > 0.3


def test_a_fatal_error_stops_one_judge_leaves_its_calls_and_lets_the_others_go_on(engine: Engine) -> None:
    study = make_study(engine, 3)
    no_key = Reply("fatal", 0.0, http_status=401, error="AuthenticationError: no")
    stub = Stub(lambda text, number: judgments(text))

    async def transport(judge: Any, messages: Any, schema: Any, rung: Any) -> Reply:
        return no_key if judge.name == "bad" else await stub(judge, messages, schema, rung)

    definitions = judges(STUB_JUDGE, STUB_JUDGE.replace("mini", "bad", 1))
    plan_judges(engine, study, definitions, describe=describe)
    good, bad = run_judges(engine, study, definitions, transport=transport).judges
    assert (good.done, good.stopped) == (6, None)
    assert (bad.done, bad.failed, bad.stopped) == (0, 0, "AuthenticationError: no")
    assert call_states(engine) == {"done": 6, "planned": 6}
    # with the key in place the same command finishes
    assert all(judge.complete for judge in run_judges(engine, study, definitions, transport=stub).judges)


def test_the_ladder_is_stepped_down_once_and_remembered(engine: Engine) -> None:
    study = make_study(engine, 3)

    async def transport(judge: Any, messages: Any, schema: Any, rung: Any) -> Reply:
        text = "\n".join(message["content"] for message in messages)
        return Reply("format_rejected", 0, http_status=400) if rung == "json_schema" else replied(judgments(text), text)

    definitions = judges(STUB_JUDGE.replace("concurrency = 8", "concurrency = 1"))
    plan_judges(engine, study, definitions, describe=describe)
    assert run_judges(engine, study, definitions, transport=transport).judges[0].complete
    rungs = Counter((a.rung, a.outcome) for a in attempts(engine))
    assert rungs == {("json_schema", "format_rejected"): 1, ("json_object", "ok"): 6}
    assert account(engine).rung == 1
    shorter = judges(STUB_JUDGE + 'structured = ["plain"]\n')
    plan_judges(engine, study, shorter, describe=describe)
    assert run_judges(engine, study, shorter, transport=transport).judges[0].complete
    only = judges(STUB_JUDGE + 'structured = ["json_schema"]\n')
    plan_judges(engine, study, only, describe=describe)
    summary = run_judges(engine, study, only, transport=transport).judges[0]
    assert (summary.done, summary.stopped) == (0, "format_rejected"), "no step is left: every call would be rejected"


@pytest.mark.databases("sqlite", "postgres")
def test_the_budget_is_never_exceeded_and_a_larger_one_goes_on(engine: Engine) -> None:
    study = make_study(engine, 6)
    plan_judges(engine, study, judges(STUB_JUDGE), describe=describe)
    (planned,) = plan_judges(engine, study, judges(STUB_JUDGE), describe=describe, write=False)
    assert planned.calls == 12
    cap = 0.0012  # a call costs 0.0001, and at worst about 0.0003
    summary = run_stub(engine, study, Stub(seconds=0.01), STUB_JUDGE + f"max_cost = {cap}\n")
    (judge,) = summary.judges
    assert judge.stopped is not None
    assert judge.stopped.startswith("budget: ")
    assert 0 < judge.done < 12
    assert judge.spent <= cap
    assert account(engine).reserved == pytest.approx(0, abs=1e-12)
    assert run_stub(engine, study, Stub(), STUB_JUDGE + "max_cost = 1.0\n").judges[0].complete


def test_dropped_calls_eat_the_budget_too(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.0)
    study = make_study(engine, 6)
    stub = Stub(lambda text, number: Reply("dropped", 0.1))
    (judge,) = run_stub(engine, study, stub, STUB_JUDGE + "max_cost = 0.002\n").judges
    assert judge.stopped is not None
    assert 0 < judge.spent <= 0.002
    assert (judge.cost, judge.unknown_costs) == (0.0, len(stub.requests))


def test_an_unpriced_judge_has_a_blank_cost(engine: Engine) -> None:
    study = make_study(engine, 1)
    summary = run_stub(engine, study, Stub(), 'name = "local"\nmodel = "openai/x"\n')
    assert (summary.judges[0].cost, summary.judges[0].spent) == (None, 0.0)
    assert {a.cost for a in attempts(engine)} == {None}


def test_a_limit_is_kept(engine: Engine) -> None:
    study = make_study(engine, 4)
    stub = Stub(seconds=0.01)
    (judge,) = run_stub(engine, study, stub, limit=3).judges
    assert (judge.done, len(stub.requests), judge.complete) == (3, 3, False)
    assert call_states(engine) == {"done": 3, "planned": 5}


def test_no_more_calls_are_out_than_the_concurrency_allows(engine: Engine) -> None:
    study = make_study(engine, 8)
    stub = Stub(seconds=0.05)
    run_stub(engine, study, stub, STUB_JUDGE.replace("concurrency = 8", "concurrency = 3"))
    assert stub.most_in_flight == 3


def test_a_known_limit_per_minute_is_kept(engine: Engine) -> None:
    study = make_study(engine, 5)
    summary = run_stub(engine, study, Stub(), STUB_JUDGE + "rpm = 1200\n")
    assert summary.seconds > 9 * 60 / 1200
