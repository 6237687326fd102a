"""A run asked for in the app is a row; whoever waits on the command line carries it out, once or again."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import pytest
from sqlalchemy import Engine, select

from annotation.errors import AnnotationError
from annotation.judges.planning import requests as asked_for
from annotation.judges.planning.plan import plan_judges
from annotation.judges.planning.requests import end_request, next_request, planned_judges, request_run
from annotation.judges.replies.outcomes import Reply
from annotation.people.principals import Principal, local_admin
from db.connect import reading, transaction
from db.judge_tables import JudgeRequest
from db.tables import Study
from plain.wording import Sentence, speaking, worded
from tests.annotation.judges.judged_study import (
    STUB_JUDGE,
    Stub,
    account,
    attempts,
    call_states,
    describe,
    judges,
    judgments,
    make_study,
    run_stub,
)
from tests.small_study import a_person


def ask(engine: Engine, study: int, *names: str, role: str = "evaluator") -> int:
    with transaction(engine) as session:
        return request_run(session, a_person(session, study, f"{role} {names}", role), names)


@pytest.mark.databases("sqlite")
def test_requests_are_carried_out_in_order_by_whoever_knows_their_judges(engine: Engine) -> None:
    study = make_study(engine, 1)
    assert next_request(engine, study, ["mini"]) is None
    other, mini, every = ask(engine, study, "haiku"), ask(engine, study, "mini"), ask(engine, study)
    first = next_request(engine, study, ["mini"])
    assert first is not None
    assert (first.id, first.judges) == (mini, ("mini",)), "haiku is in somebody else's file"
    assert next_request(engine, study, ["mini"]) == first, "a worker that died had it: it is open still"
    end_request(engine, first)
    second = next_request(engine, study, ["mini"])
    assert second is not None
    assert (second.id, second.judges) == (every, ())
    end_request(engine, second)
    assert next_request(engine, study, ["mini"]) is None
    assert next_request(engine, study + 1, ["mini", "haiku"]) is None
    with reading(engine) as session:
        row = session.get_one(JudgeRequest, other)
        assert (row.started_at, row.done_at) == (None, None)


def test_judges_of_one_request_go_on_while_another_of_it_is_paused(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it is split once, though two workers look at the same moment."""
    study = make_study(engine, 1)
    plan_judges(engine, study, judges(STUB_JUDGE, STUB_JUDGE.replace("mini", "haiku")), describe=describe)
    with transaction(engine) as session:
        owner = a_person(session, study, "Olga", "admin")
        asked_for.pause_judges(session, owner, ["mini"])
    ask(engine, study, "mini", "haiku")
    both_look, paused = threading.Barrier(2), asked_for._paused

    def meanwhile(*asked: Any) -> set[str]:
        with contextlib.suppress(threading.BrokenBarrierError):  # the second one waits for the first
            both_look.wait(0.3)
        return paused(*asked)

    with monkeypatch.context() as slowed, ThreadPoolExecutor() as workers:
        slowed.setattr(asked_for, "_paused", meanwhile)
        taken, also = workers.map(lambda _: next_request(engine, study, ["mini", "haiku"]), range(2))
    assert taken is not None
    assert also is not None
    assert {(one.id, one.judges) for one in (taken, also)} == {(taken.id, ("haiku",))}
    assert {*taken.held, *also.held} == {"mini"}
    with reading(engine) as session:
        assert [row.judges for row in session.scalars(select(JudgeRequest))] == [["haiku"], ["mini"]]
    with transaction(engine) as session:
        asked_for.pause_judges(session, owner, ["haiku"])
    end_request(engine, taken)
    assert next_request(engine, study, ["mini", "haiku"]) is None
    with transaction(engine) as session:
        asked_for.go_on(session, owner, ["mini", "haiku"])
    for name in ("haiku", "mini"):
        taken = next_request(engine, study, ["mini", "haiku"])
        assert taken is not None
        assert (taken.judges, taken.held) == ((name,), ())
        end_request(engine, taken, {name: Sentence("at most {end}", end=3)} if name == "mini" else {})
    assert next_request(engine, study, ["mini", "haiku"]) is None
    with reading(engine) as session:
        told = asked_for.not_run(session, session.get_one(Study, study))
    assert told == {"mini": "at most 3"}, "kept in English"
    with speaking("zh_CN"):
        assert told["mini"].text == worded("at most {end}", end=3) != "at most 3"
    for names, why in ((["mini"], "a setting is refused"), ([], "it has no key still"), ([], "")):
        again = ask(engine, study, *names)
        with reading(engine) as session:
            assert asked_for.not_run(session, session.get_one(Study, study)) == {}, "it is asked for again"
            assert session.get_one(JudgeRequest, again).done_at is None
        taken = next_request(engine, study, ["mini", "haiku"])
        assert taken is not None
        end_request(engine, taken, {"mini": why} if why else {})
        with reading(engine) as session:
            assert asked_for.not_run(session, session.get_one(Study, study)) == ({"mini": why} if why else {})


@pytest.mark.databases("sqlite")
def test_a_pause_that_ends_while_its_request_is_being_ended_leaves_it_open(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(engine, 1)
    plan_judges(engine, study, judges(STUB_JUDGE), describe=describe)
    ask(engine, study, "mini")
    taken, paused = next_request(engine, study, ["mini"]), asked_for._paused
    assert taken is not None
    with transaction(engine) as session:
        owner = a_person(session, study, "Olga", "admin")
        asked_for.pause_judges(session, owner, ["mini"])

    def go_on() -> None:
        with transaction(engine) as session:
            asked_for.go_on(session, owner, ["mini"])

    def meanwhile(*asked: Any) -> set[str]:
        monkeypatch.undo()
        going_on.append(beside.submit(go_on))
        wait(going_on, 0.3)  # it waits for the end
        return paused(*asked)

    going_on: list[Future[None]] = []
    with ThreadPoolExecutor(1) as beside:
        monkeypatch.setattr(asked_for, "_paused", meanwhile)
        end_request(engine, taken)
        going_on[0].result(30)
    again = next_request(engine, study, ["mini"])
    assert again is not None
    assert (again.id, again.held) == (taken.id, ())


@pytest.mark.databases("sqlite")
def test_who_may_not_see_the_study_may_not_start_its_judges(engine: Engine) -> None:
    study = make_study(engine, 1)
    with pytest.raises(AnnotationError, match="needs the role evaluator"):
        ask(engine, study, role="annotator")
    with transaction(engine) as session, pytest.raises(AnnotationError, match="runs judges itself"):
        request_run(session, local_admin(session.get_one(Study, study)))
    with transaction(engine) as session, pytest.raises(AnnotationError, match="needs the role evaluator"):
        request_run(session, Principal(study, "annotator", 1))


@pytest.mark.databases("sqlite")
def test_only_judges_with_a_plan_can_go_on(engine: Engine) -> None:
    study = make_study(engine, 1)
    both = judges(STUB_JUDGE, STUB_JUDGE.replace("mini", "haiku"))
    assert planned_judges(engine, study, both) == ()
    plan_judges(engine, study, both[:1], describe=describe)
    assert [judge.name for judge in planned_judges(engine, study, both)] == ["mini"]


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(("goes_on", "stopped"), [(False, "paused by hand"), (True, "AuthenticationError: no")])
def test_what_was_in_flight_ends_no_pause_and_makes_none_again(engine: Engine, goes_on: bool, stopped: str) -> None:
    study, stub, seen = make_study(engine, 10), Stub(), set[str | None]()
    with transaction(engine) as session:
        owner = a_person(session, study, "Olga", "admin")

    async def transport(*request: Any) -> Reply:
        if len(stub.requests) != 2:
            return await stub(*request)
        stub.requests.append({})
        with transaction(engine) as session:
            asked_for.pause_judges(session, owner, ["mini"])
        async with asyncio.timeout(30):
            while goes_on and "paused by hand" not in seen:
                await asyncio.sleep(0.01)
        if goes_on:
            with transaction(engine) as session:
                asked_for.go_on(session, owner, ["mini"])
        return Reply("fatal", 0.0, http_status=401, error="AuthenticationError: no")

    run_stub(
        engine, study, transport, on_progress=lambda judges: seen.update(one.stopped for one in judges), tick_s=0.01
    )
    assert account(engine).stopped == stopped


@pytest.mark.databases("sqlite")
def test_a_pause_is_seen_while_claimed_calls_wait_for_the_rate(engine: Engine) -> None:
    study = make_study(engine, 30)
    with transaction(engine) as session:
        owner = a_person(session, study, "Olga", "admin")

    def paused_at_the_third(text: str, number: int) -> str:
        if number == 3:
            with transaction(engine) as session:
                asked_for.pause_judges(session, owner, ["mini"])
        return judgments(text)

    stub = Stub(paused_at_the_third)
    run_stub(engine, study, stub, STUB_JUDGE.replace("concurrency = 8", "concurrency = 64\nrpm = 600"))
    assert len(stub.requests) < 30, "all 60 are claimed at once, and sent in 6 s"
    assert call_states(engine) == {"done": len(stub.requests), "planned": 60 - len(stub.requests)}


def test_a_paused_run_loses_nothing_pays_nothing_twice_and_goes_on_where_it_was(engine: Engine) -> None:
    study = make_study(engine, 30)
    with transaction(engine) as session:
        owner = a_person(session, study, "Olga", "admin")
    request = ask(engine, study, "mini")
    taken = next_request(engine, study, ["mini"])
    assert taken is not None

    def paused_at_the_fifth(text: str, number: int) -> str:
        if number == 5:
            with transaction(engine) as session:
                asked_for.pause_judges(session, owner, ["mini"])
        return judgments(text)

    stub = Stub(paused_at_the_fifth, seconds=0.02)
    (summary,) = run_stub(engine, study, stub).judges
    assert summary.stopped == "paused by hand"
    sent = len(stub.requests)
    assert sent < 60, "calls are left"
    assert call_states(engine) == {"done": sent, "planned": 60 - sent}, "none is held, and each that was sent is kept"
    assert len(attempts(engine)) == sent
    assert account(engine).reserved == pytest.approx(0)
    end_request(engine, taken)
    run_stub(engine, study, stub)
    assert len(stub.requests) == sent, "who starts a run does not end a pause"
    assert next_request(engine, study, ["mini"]) is None, "nor does a worker that waits"
    with transaction(engine) as session:
        asked_for.go_on(session, owner, ["mini"])
    end_request(engine, taken)  # by a worker that came to its end in this very moment
    again = next_request(engine, study, ["mini"])
    assert again is not None
    assert again.id == request, "one request, which goes on"
    end_request(engine, taken, {"mini": "no key"})  # the first worker once more, after another took it
    assert next_request(engine, study, ["mini"]) == again
    run_stub(engine, study, stub)
    assert call_states(engine) == {"done": 60}
    assert len(attempts(engine)) == len(stub.requests) == 60
    with transaction(engine) as session:
        asked_for.pause_judges(session, owner, ["mini"])
        asked_for.go_on(session, local_admin(session.get_one(Study, study)), ["mini"])
        with pytest.raises(AnnotationError, match="no run here"):
            asked_for.pause_judges(session, owner, ["nobody"])
    assert account(engine).stopped is None
