"""A run that is interrupted, killed or watched: nothing is lost, and nothing done is paid again."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from annotation.judges.asking import steps
from annotation.judges.planning.plan import plan_judges
from annotation.judges.queue.journal import journals_of
from annotation.judges.replies.outcomes import Reply
from annotation.judges.running import work
from annotation.judges.running.progress import Snapshot
from annotation.judges.running.run import run_judges
from db.connect import transaction
from db.judge_tables import Judge, JudgeAttempt, JudgeCall
from tests.annotation.judges.judged_study import (
    CODES,
    STUB_JUDGE,
    Stub,
    account,
    attempts,
    call_states,
    describe,
    judges,
    judgments,
    make_study,
    replied,
    run_stub,
)

pytestmark = pytest.mark.databases("sqlite")  # but where a test says otherwise


def test_the_raw_reply_is_on_disk_before_it_is_read_and_stored_where_it_cannot_be(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(engine, 1)
    seen: list[int] = []

    def broken(*_: Any, **__: Any) -> Any:
        lines = [line for file in journals_of(engine.url).glob("*/*.jsonl") for line in file.read_text().splitlines()]
        seen.append(sum("raw_reply" in line for line in lines))
        raise RuntimeError("a bug in the parser")

    monkeypatch.setattr("annotation.judges.asking.steps.parse_reply", broken)
    with pytest.raises(RuntimeError):
        run_stub(engine, study, Stub())
    monkeypatch.undo()
    assert seen
    assert all(count > 0 for count in seen)
    stored = len(attempts(engine))
    assert stored > 0
    again = Stub()
    assert run_stub(engine, study, again).judges[0].complete
    assert len(again.requests) == 2 - stored, "what was stored is labelled without another call"
    assert {a.kind for a in attempts(engine)} == {"first"}


@pytest.mark.timeout(60)
def test_a_reply_whose_reading_is_cancelled_is_stored_and_its_call_goes_on(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, stub, read, cancelled = make_study(engine, 1), Stub(), steps.parse_reply, list[object]()

    def cancelled_once(*given: Any, **named: Any) -> Any:
        if not cancelled:
            cancelled.append(given)
            raise asyncio.CancelledError
        return read(*given, **named)

    monkeypatch.setattr(steps, "parse_reply", cancelled_once)
    summary = run_stub(engine, study, stub)
    assert (summary.judges[0].complete, summary.abandoned, len(stub.requests)) == (True, 0, 2)
    assert [attempt.outcome for attempt in attempts(engine)] == ["ok", "ok"]


@pytest.mark.timeout(60)
def test_a_judge_that_had_ended_was_not_interrupted(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    study, both = make_study(engine, 2), judges(STUB_JUDGE, STUB_JUDGE.replace("mini", "late"))
    plan_judges(engine, study, both, describe=describe)
    close, ended = work.JudgeWork.close, set[str]()

    async def closed(self: work.JudgeWork) -> None:
        await close(self)
        ended.add(self.progress().name)

    async def say(judge: Any, messages: Any, *_: Any) -> Reply:
        while judge.name == "late" and "mini" not in ended:
            await asyncio.sleep(0.01)
        if judge.name == "late":
            os.kill(os.getpid(), signal.SIGINT)
        return replied(judgments(messages[1]["content"]))

    monkeypatch.setattr(work.JudgeWork, "close", closed)
    summary = run_judges(engine, study, both, transport=say)
    assert {one.name: one.stopped for one in summary.judges} == {"mini": None, "late": "interrupted"}


def test_a_re_ask_is_not_sent_once_the_judge_has_stopped(engine: Engine) -> None:
    study = make_study(engine, 1)

    def say(text: str, number: int) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "prose"

    stub = Stub(say)
    summary = run_stub(engine, study, stub, STUB_JUDGE + 'order = "random"\n')
    assert (summary.interrupted, len(stub.requests), call_states(engine)) == (True, 1, {"planned": 1})
    helped = Stub()
    assert run_stub(engine, study, helped, STUB_JUDGE + 'order = "random"\n').judges[0].labels == {"ok": 3}
    assert [len(request["messages"]) for request in helped.requests] == [4], "only the re-ask was left to do"


def test_progress_is_reported(engine: Engine) -> None:
    study = make_study(engine, 4)
    seen: list[Snapshot] = []
    run_stub(engine, study, Stub(seconds=0.05), STUB_JUDGE.replace("= 8", "= 2"), on_progress=seen.append, tick_s=0.05)
    assert len(seen) > 2
    (last,) = seen[-1]
    assert (last.name, last.planned, last.done, last.in_flight, dict(last.labels)) == ("mini", 8, 8, 0, {"ok": 24})
    assert last.spent == pytest.approx(account(engine).spent)
    assert max(snapshot[0].in_flight for snapshot in seen) == 2


def test_a_display_that_fails_ends_the_run_in_good_order(engine: Engine) -> None:
    study = make_study(engine, 8)

    def broken(snapshot: Snapshot) -> None:
        if snapshot[0].in_flight:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_stub(engine, study, Stub(seconds=0.2), STUB_JUDGE.replace("= 8", "= 2"), on_progress=broken, tick_s=0.05)
    assert set(call_states(engine)) == {"done", "planned"}
    assert {a.outcome for a in attempts(engine)} == {"ok"}


@pytest.mark.parametrize("signals", [1, 2])
def test_the_first_ctrl_c_finishes_what_is_in_flight_the_second_gives_it_up(engine: Engine, signals: int) -> None:
    study = make_study(engine, 8)

    def say(text: str, number: int) -> str:
        return judgments(text)

    stub = Stub(say, seconds=0.6)
    sent = 0

    def interrupt(_: Snapshot) -> None:
        nonlocal sent
        if sent < signals and stub.in_flight == 4:
            sent += 1
            os.kill(os.getpid(), signal.SIGINT)

    summary = run_stub(engine, study, stub, STUB_JUDGE.replace("= 8", "= 4"), on_progress=interrupt, tick_s=0.02)
    assert summary.interrupted
    assert len(stub.requests) == 4
    outcomes = Counter(a.outcome for a in attempts(engine))
    if signals == 1:
        assert (call_states(engine), outcomes) == ({"done": 4, "planned": 12}, {"ok": 4})
    else:
        assert (call_states(engine), outcomes) == ({"planned": 16}, {"abandoned": 4})
        assert account(engine).spent > 0
    assert account(engine).reserved == pytest.approx(0, abs=1e-12)
    again = Stub()
    assert run_stub(engine, study, again).judges[0].complete
    assert len(again.requests) == (12 if signals == 1 else 16), "nothing that was done is billed again"


@pytest.mark.databases("sqlite", "postgres")
def test_a_dead_workers_calls_are_taken_over_and_counted(engine: Engine) -> None:
    study = make_study(engine, 3)
    definitions = judges(STUB_JUDGE + 'order = "random"\n')
    plan_judges(engine, study, definitions, describe=describe)
    with transaction(engine) as session:
        first, second, third = session.scalars(select(JudgeCall).order_by(JudgeCall.id)).all()
        long_ago = first.created_at.replace(year=2020)
        for call, outcome, reserved in ((first, None, 0.5), (second, "replied", 0.0)):
            call.state, call.worker, call.lease_until = "leased", "dead", long_ago
            call.outcome, call.reserved = outcome, reserved
        session.execute(update(Judge).values(reserved=0.5))
        text = "\n".join(f"criterion: {code}" for code in CODES)
        raw = judgments(text + "\n[[q=0.1]] [[q=0.9]]")
        session.add(
            JudgeAttempt(
                call_id=second.id, attempt_no=1, outcome="ok", rung="json_schema", raw_reply=raw, finish_reason="stop",
                cost=0.1, seconds=1.0,
            )
        )  # fmt: skip
    stub = Stub()
    summary = run_judges(engine, study, definitions, transport=stub)
    assert summary.abandoned == 1
    assert summary.judges[0].complete
    assert len(stub.requests) == 2, "the stored reply was labelled without a call"
    assert [(a.call_id, a.kind) for a in attempts(engine)] == [
        (first.id, "abandoned"), (first.id, "first"), (second.id, "first"), (third.id, "first"),
    ]  # fmt: skip
    row = account(engine)
    assert row.reserved == pytest.approx(0, abs=1e-12)
    assert row.spent > 0.5


@pytest.mark.databases("sqlite", "postgres")
def test_a_call_held_by_a_living_worker_is_waited_for(engine: Engine) -> None:
    study = make_study(engine, 1)
    definitions = judges(STUB_JUDGE + 'order = "random"\n')
    plan_judges(engine, study, definitions, describe=describe)
    with transaction(engine) as session:
        call = session.scalars(select(JudgeCall)).one()
        soon = call.created_at.timestamp() + 1.5
        call.state, call.worker = "leased", "another"
        call.lease_until = call.created_at.fromtimestamp(soon, call.created_at.tzinfo)
    stub = Stub()
    summary = run_judges(engine, study, definitions, transport=stub)
    assert summary.seconds > 0.5
    assert summary.judges[0].complete


@pytest.mark.databases("sqlite", "postgres")
def test_a_lease_is_kept_alive_while_a_call_is_out(engine: Engine) -> None:
    study = make_study(engine, 1)
    stub = Stub(seconds=1.2)
    summary = run_stub(engine, study, stub, lease_s=0.4)
    assert (len(stub.requests), summary.judges[0].done) == (2, 2)
    assert {a.kind for a in attempts(engine)} == {"first"}


@pytest.mark.databases("sqlite", "postgres")
def test_a_reply_that_comes_after_the_lease_was_lost_is_kept_and_used(engine: Engine) -> None:
    study = make_study(engine, 1)
    definitions = judges(STUB_JUDGE + 'order = "random"\n')
    plan_judges(engine, study, definitions, describe=describe)

    def say(text: str, number: int) -> str:
        with transaction(engine) as session:  # another worker took the call over and gave it back
            session.execute(update(JudgeCall).values(state="planned", worker=None))
        return judgments(text)

    stub = Stub(say, seconds=0.1)
    assert run_judges(engine, study, definitions, transport=stub).judges[0].complete
    assert [a.kind for a in attempts(engine)] == ["surplus"]
    assert len(stub.requests) == 1
