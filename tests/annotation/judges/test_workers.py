"""Several workers on one queue: a shared budget, a shared pace, and writing back in groups."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, update

from annotation.judges.asking.material import step_of, worst
from annotation.judges.asking.prompt import shipped_template
from annotation.judges.asking.steps import Ask, Tried, as_row, next_step
from annotation.judges.money.accounts import Account, find_account
from annotation.judges.planning.plan import plan_judges
from annotation.judges.queue import queue
from annotation.judges.queue.queue import Work
from annotation.judges.queue.settling import AskedAgain, Ended, GivenBack, Settled, Worker, write_back
from annotation.judges.replies.outcomes import Reply
from annotation.judges.running.run import run_judges
from annotation.labelling import record_answers
from db.connect import open_database, reading, transaction
from db.judge_tables import Judge, JudgeCall
from db.tables import Report, Study
from db.types import now
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
)

ME, ANOTHER = Worker("me", 60.0), Worker("another", 60.0)


def test_four_workers_together_never_spend_more_than_the_budget(engine: Engine, database_url: str) -> None:
    study = make_study(engine, 60)
    cap = 0.006  # a call costs about 0.0001, and at worst about 0.0003
    definitions = judges(STUB_JUDGE + f"max_cost = {cap}\n")
    plan_judges(engine, study, definitions, describe=describe)
    dropped = Reply("dropped", 0.01)
    stubs = [Stub(lambda said, number: dropped if number % 9 == 0 else judgments(said), seconds=0.01) for _ in range(4)]

    def work(stub: Stub) -> str | None:
        own = open_database(database_url)
        try:
            return run_judges(own, study, definitions, transport=stub).judges[0].stopped
        finally:
            own.dispose()

    with ThreadPoolExecutor(4) as threads:
        stopped = list(threads.map(work, stubs))
    assert all(reason and reason.startswith("budget: ") for reason in stopped)
    row, stored = account(engine), attempts(engine)
    assert sum(attempt.cost or 0.0 for attempt in stored) <= row.spent <= cap + 1e-9
    assert row.reserved == pytest.approx(0, abs=1e-9)
    assert len(stored) == sum(len(stub.requests) for stub in stubs)
    assert Counter(attempt.call_id for attempt in stored if attempt.outcome == "ok").most_common(1)[0][1] == 1
    assert 0 < call_states(engine)["done"] < 120


def test_what_is_left_and_a_known_limit_are_shared_by_the_workers_that_hold_leases(engine: Engine) -> None:
    study = make_study(engine, 10)
    mine = planned(engine, study, STUB_JUDGE + "rpm = 600\n")
    assert claimed(engine, study, mine, ME, 2).share == queue.ALONE
    shares = [claimed(engine, study, mine, ANOTHER, 2).share, claimed(engine, study, mine, ME, 2).share]
    assert shares == [queue.Share(0, 2), queue.Share(1, 2)]
    with reading(engine) as session:
        row = session.get_one(Study, study)
        mine_and_anothers = [
            {one.call_id for one in queue.due_calls(session, row, mine, most, share=share)}
            for most in (6, 20)
            for share in shares
        ]
    assert [len(calls) for calls in mine_and_anothers] == [6, 6, 14, 14], (
        "whatever is left, where the own is too little"
    )
    assert not mine_and_anothers[0] & mine_and_anothers[1], "none is read in vain"
    with transaction(engine) as session:
        long_ago = now() - timedelta(hours=1)
        session.execute(update(JudgeCall).where(JudgeCall.worker == ANOTHER.id).values(lease_until=long_ago))
    assert claimed(engine, study, mine, ME, 2).share == queue.ALONE, "a dead worker takes no share"


def test_changes_of_many_calls_are_written_back_together(engine: Engine) -> None:
    study = make_study(engine, 6)
    mine = planned(engine, study, STUB_JUDGE + "max_cost = 1.0\n")
    work = claimed(engine, study, mine, ME, 12).taken
    reserved = account(engine).reserved
    assert reserved == pytest.approx(sum(one.worst for one in work))
    lost, unknown, given_back, *usual = work
    with transaction(engine) as session:
        taken_over = update(JudgeCall).where(JudgeCall.id == lost.rows.call_id)
        session.execute(taken_over.values(state="planned", worker=None, reserved=0.0))
        session.execute(update(Judge).values(reserved=Judge.reserved - lost.worst))
    changes = [settled(one, spent=None if one is unknown else 0.001) for one in (lost, unknown, *usual)]
    with transaction(engine) as session:
        mine_still = write_back(session, ME, [*changes, GivenBack(given_back.rows.call_id)])
    assert mine_still == [False] + [True] * 11
    row = account(engine)
    assert row.spent == pytest.approx(unknown.worst + 0.001 * len(usual)), "of unknown cost: the reservation is kept"
    assert row.reserved == pytest.approx(0, abs=1e-12)
    assert Counter(attempt.kind for attempt in attempts(engine)) == {"first": 10, "surplus": 1}

    rows = [one.rows for one in usual]
    said = [
        next_step(one.material, [Tried("ok", "json_schema", judgments(text_of(one)))], "json_schema") for one in rows
    ]
    ended = [Ended(one.call_id, one.answered(step.answers), step) for one, step in zip(rows, said, strict=True) if not isinstance(step, Ask)]  # fmt: skip
    with transaction(engine) as session:
        assert write_back(session, ANOTHER, ended) == [False] * 9, "they are not another's to end"
        assert write_back(session, ME, ended) == [True] * 9
    assert len(labels(engine)) == 9 * 3
    assert call_states(engine) == {"done": 9, "leased": 1, "planned": 2}


def test_an_answer_about_a_replaced_text_ends_its_own_call_only(engine: Engine) -> None:
    study = make_study(engine, 2)
    mine = planned(engine, study, STUB_JUDGE + 'order = "random"\n')
    first, second = claimed(engine, study, mine, ME, 2).taken
    with transaction(engine) as session:
        session.execute(update(Report).where(Report.topic_id == 1, Report.system_id == 1).values(shown_sha256="n"))
    step = next_step(first.rows.material, [Tried("ok", "plain", judgments(text_of(first.rows), "first"))], "plain")
    assert not isinstance(step, Ask)
    ended = [Ended(one.rows.call_id, one.rows.answered(step.answers), step) for one in (first, second)]
    with transaction(engine) as session:
        assert write_back(session, ME, ended) == [True, True]
    assert call_states(engine) == {"done": 1, "failed": 1}
    assert {row["item"] for row in labels(engine)} == {2}


@pytest.mark.databases("sqlite")
def test_a_re_ask_is_paid_for_before_it_is_sent(engine: Engine) -> None:
    study = make_study(engine, 2)
    mine = planned(engine, study, STUB_JUDGE + "max_cost = 1.0\n")
    work = claimed(engine, study, mine, ME, 4).taken
    with transaction(engine) as session:
        write_back(session, ME, [settled(one, spent=0.0) for one in work])
        asked = [AskedAgain(one.rows.call_id, cost) for one, cost in zip(work, (0.6, 0.5, 0.3, 0.2), strict=True)]
        assert write_back(session, ME, asked) == [True, False, True, False]
    assert account(engine).reserved == pytest.approx(0.9)


def test_one_change_that_cannot_be_written_takes_no_other_with_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(engine, 8)
    spoiled = 5

    def broken(session: Any, replies: Any, **more: Any) -> Any:
        if any(spoiled in reply.assignment_ids for reply in replies):
            raise ZeroDivisionError
        return record_answers(session, replies, **more)

    monkeypatch.setattr("annotation.judges.queue.settling.record_answers", broken)
    with pytest.raises(ZeroDivisionError):
        run_stub(engine, study, Stub(seconds=0.05))
    monkeypatch.undo()
    assert {row["status"] for row in labels(engine)} == {"ok"}
    again = Stub()
    assert run_stub(engine, study, again).judges[0].complete
    assert {attempt.kind for attempt in attempts(engine)} == {"first"}, "the reply that was stored is not paid again"


def test_a_claim_reads_only_what_is_unfinished(sqlite: Engine) -> None:
    mine = planned(sqlite, make_study(sqlite, 1), STUB_JUDGE)
    due = queue.due(mine, now()).limit(5).compile(sqlite, compile_kwargs={"render_postcompile": True})
    with reading(sqlite) as session:
        told = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {due}", (1,) * len(due.params)).all()
    assert ["USING INDEX ix_judge_calls_unfinished" in str(told), "TEMP B-TREE" in str(told)] == [True, False], told


def planned(engine: Engine, study_id: int, toml: str) -> Account:
    (definition,) = judges(toml)
    plan_judges(engine, study_id, [definition], describe=describe)
    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        return find_account(session, study, definition, shipped_template("pairwise_choice"))


def claimed(engine: Engine, study_id: int, mine: Account, worker: Worker, most: int) -> queue.Claim:
    with reading(engine) as session:
        due = queue.due_calls(session, session.get_one(Study, study_id), mine, most)
    work = [Work(rows, step := step_of(rows, "json_schema"), worst(step, mine)) for rows in due]
    with transaction(engine) as session:
        return queue.claim(session, mine, worker, work)


def settled(one: Work, *, spent: float | None) -> Settled:
    assert isinstance(one.step, Ask)
    said = replied(judgments(text_of(one.rows)))
    return Settled(one.rows.call_id, as_row(said, replace(one.step), None), spent)


def text_of(rows: Any) -> str:
    return "\n".join((*rows.material.texts, *(f"criterion: {asked.code}" for asked in rows.material.criteria)))
