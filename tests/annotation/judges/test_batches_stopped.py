"""Where a batch meets a limit, a refusal, or silence: money is kept, and nothing is sent again that may have been."""

from __future__ import annotations

import asyncio
import signal
import threading
from datetime import timedelta
from typing import IO

import pytest
from sqlalchemy import Engine, func, select, update

from annotation.errors import AnnotationError
from annotation.judges.asking.material import rebuilt_prompt
from annotation.judges.batches import batch_rows
from annotation.judges.batches.batch_api import Batch, BatchApi
from annotation.judges.batches.batches import attach, release
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.queue.settling import clock
from annotation.judges.replies.outcomes import Reply
from annotation.judges.running.retrying import plan_again
from db.connect import reading, transaction
from db.judge_tables import JudgeCall
from db.tables import Report
from tests.annotation.judges.batched_study import (
    BATCHED,
    Killed,
    Killing,
    batch_ids,
    judge,
    only,
    resume,
    run,
    run_until,
    shown,
    usd,
)
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import account, attempts, call_states, judges, labels, make_study


def by_batch(engine: Engine) -> dict[str | None, int]:
    with reading(engine) as session:
        rows = session.execute(select(JudgeCall.batch_id, func.count()).group_by(JudgeCall.batch_id))
        return {batch: count for batch, count in rows}


@pytest.mark.databases("sqlite")
def test_no_batch_is_sent_that_the_budget_could_not_pay(engine: Engine, fake: Fake) -> None:
    study = make_study(engine, 6)
    stopped = run(engine, study, judge(fake, "max_cost = 0.002"))
    assert "budget" in str(only(stopped).stopped)
    sent = only(stopped).submitted
    assert 0 < sent < 12
    assert account(engine).reserved <= 0.002
    last = run_until(engine, study, judge(fake, "max_cost = 0.002"), lambda now: only(now).submitted == 0)
    assert only(last).spent == pytest.approx(usd(fake.bill(), **BATCHED))
    assert only(last).spent <= 0.002, "what one batch leaves pays the next"
    assert only(last).done > sent


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(("limit", "value", "batches"), [("LINES", 5, [5, 5, 2]), ("BYTES", 20_000, None)])
def test_a_large_batch_is_split(
    engine: Engine, fake: Fake, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, batches: list[int] | None
) -> None:
    monkeypatch.setattr(batch_rows, limit, value)
    monkeypatch.setattr("annotation.judges.batches.batches.LINES", 5)
    study = make_study(engine, 6)
    assert len(run(engine, study, judge(fake), limit=2).batches) == 1
    assert call_states(engine) == {"planned": 10, "submitted": 2}
    release(engine, study, str(next(batch for batch in batch_ids(engine) if batch)))
    run(engine, study, judge(fake))
    if batches is not None:
        assert sorted(by_batch(engine).values(), reverse=True) == batches
    assert len(by_batch(engine)) > 2
    assert only(run(engine, study, judge(fake))).labels == {"ok": 36}


class Interrupting(BatchApi):
    """Somebody presses Ctrl-C while a file goes out."""

    async def upload(self, judge: JudgeDefinition, file: IO[bytes]) -> str | Reply:
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0)
        return await super().upload(judge, file)


def test_ctrl_c_finishes_the_batch_in_hand_and_starts_no_other(
    sqlite: Engine, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_rows, "LINES", 2)
    study = make_study(sqlite, 3)
    ended = run(sqlite, study, judge(fake), api=Interrupting())
    assert (ended.interrupted, only(ended).stopped, only(ended).submitted) == (True, "interrupted", 2)
    assert call_states(sqlite) == {"planned": 4, "submitted": 2}
    assert not any(str(batch).startswith("pending:") for batch in batch_ids(sqlite))


def test_a_line_that_fits_nowhere_is_a_batch_of_its_own(
    sqlite: Engine, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_rows, "BYTES", 10)
    study = make_study(sqlite, 1)
    assert len(run(sqlite, study, judge(fake)).batches) == 2


@pytest.mark.databases("sqlite")
def test_a_created_batch_whose_answer_was_lost_is_found_again(engine: Engine, fake: Fake) -> None:
    fake.reset(batch_create="lost")
    study = make_study(engine, 2)
    lost = run(engine, study, judge(fake))
    assert "nobody knows whether pending:" in str(only(lost).stopped)
    assert call_states(engine) == {"submitted": 4}
    last = run(engine, study, judge(fake))
    assert "found: 4 calls wait for it" in last.batches[0]
    assert only(last).labels == {"ok": 12}
    assert fake.stats()["dup_billed"] == 0


class TimingOut(BatchApi):
    """A provider that answers too late."""

    async def create(self, judge: JudgeDefinition, file_id: str, mark: str) -> Batch | Reply:
        await super().create(judge, file_id, mark)
        return Reply("timeout", 600.0, http_status=408, error="Timeout")


class Sleeping(BatchApi):
    """A process that sleeps so long that another takes some of its calls."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def upload(self, judge: JudgeDefinition, file: IO[bytes]) -> str | Reply:
        with transaction(self._engine) as session:
            session.execute(update(JudgeCall).where(JudgeCall.id == 1).values(state="planned", batch_id=None))
        return await super().upload(judge, file)


def test_a_late_answer_is_no_refusal(sqlite: Engine, fake: Fake) -> None:
    study = make_study(sqlite, 2)
    run(sqlite, study, judge(fake), api=TimingOut())
    assert call_states(sqlite) == {"submitted": 4}
    assert only(run(sqlite, study, judge(fake))).labels == {"ok": 12}
    assert fake.stats()["creates"] == 1


def test_a_batch_is_not_created_once_somebody_plans_its_calls_again(sqlite: Engine, fake: Fake) -> None:
    study = make_study(sqlite, 2)
    run(sqlite, study, judge(fake), api=Sleeping(sqlite), limit=4)
    assert (fake.stats()["creates"], call_states(sqlite)) == (0, {"planned": 4})


@pytest.mark.databases("sqlite")
def test_where_nothing_can_be_listed_a_person_says_what_became_of_it(engine: Engine, fake: Fake) -> None:
    fake.reset(batch_create="lost", batch_listing=0)
    study = make_study(engine, 2)
    run(engine, study, judge(fake))
    (pending,) = map(str, batch_ids(engine))
    for _ in range(2):
        said = run(engine, study, judge(fake)).batches
        assert f"--attach {pending} --to NAME" in said[0]
        assert f"--release {pending}" in said[0]
        assert call_states(engine) == {"submitted": 4}, "never sent again by itself"
    assert fake.stats()["billed"] == 4
    run_until(engine, study, judge(fake), lambda _: not held(engine, study, pending))
    with pytest.raises(AnnotationError, match="no calls wait for a batch 'other'"):
        attach(engine, study, "other", "batch_x")
    fake.set(batch_listing=1, batch_create="ok")
    (name,) = [batch["id"] for batch in fake.batches() if batch["metadata"] == {"calipers": pending}]
    assert attach(engine, study, pending, name) == 4
    with pytest.raises(AnnotationError, match="is a provider's name already"):
        attach(engine, study, name, "batch_x")
    assert only(run(engine, study, judge(fake))).labels == {"ok": 12}
    assert fake.stats()["dup_billed"] == 0


def held(engine: Engine, study: int, pending: str) -> bool:
    """Whether the lease of whoever was creating it still runs."""
    try:
        attach(engine, study, pending, pending)
    except AnnotationError as error:
        return error.code == "held"
    return False


def test_a_batch_that_was_never_sent_is_released_for_nothing(engine: Engine, fake: Fake) -> None:
    fake.reset(batch_listing=0)
    study = make_study(engine, 2)
    with pytest.raises(Killed):
        run(engine, study, judge(fake), api=Killing("before create"), lease_s=3600)
    (pending,) = map(str, batch_ids(engine))
    with pytest.raises(AnnotationError, match="being created right now"):
        release(engine, study, pending)
    with transaction(engine) as session:  # an hour later
        session.execute(update(JudgeCall).values(lease_until=clock(session) - timedelta(seconds=1)))
    run_until(engine, study, judge(fake), lambda _: not held(engine, study, pending))
    assert release(engine, study, pending) == 4
    assert account(engine).spent == 0
    assert account(engine).reserved == pytest.approx(0, abs=1e-12)
    assert attempts(engine) == []
    run(engine, study, judge(fake))
    assert only(run(engine, study, judge(fake))).labels == {"ok": 12}


def test_a_wrong_name_settles_nothing(sqlite: Engine, fake: Fake) -> None:
    study = make_study(sqlite, 1)
    run(sqlite, study, judge(fake))
    with transaction(sqlite) as session:
        session.execute(update(JudgeCall).values(key="other-" + JudgeCall.key))
    assert "is the name right?" in resume(sqlite, study, judge(fake)).batches[0]
    assert call_states(sqlite) == {"submitted": 2}


def test_a_refused_batch_stops_the_judge_and_costs_nothing(engine: Engine, fake: Fake) -> None:
    fake.reset(batch_create="refused")
    study = make_study(engine, 2)
    refused = run(engine, study, judge(fake))
    assert "Invalid batch" in str(only(refused).stopped)
    assert (call_states(engine), batch_ids(engine)) == ({"planned": 4}, {None})
    assert account(engine).spent == 0
    assert account(engine).reserved == pytest.approx(0, abs=1e-12)


def test_two_that_fetch_the_same_batch_settle_it_once(engine: Engine, fake: Fake) -> None:
    study = make_study(engine, 20)
    run(engine, study, judge(fake))
    threads = [threading.Thread(target=run, args=(engine, study, judge(fake))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert call_states(engine) == {"done": 40}
    assert len(attempts(engine)) == 40
    assert account(engine).spent == pytest.approx(usd(fake.bill(), **BATCHED))


def test_a_text_that_changed_meanwhile_leaves_no_label_and_a_true_hash(engine: Engine, fake: Fake) -> None:
    study = make_study(engine, 1)
    run(engine, study, judge(fake))
    with transaction(engine) as session:
        session.execute(update(Report).where(Report.id == 1).values(shown_text="another", shown_sha256="f" * 64))
    resume(engine, study, judge(fake))
    assert (call_states(engine), labels(engine)) == ({"failed": 2}, [])
    assert all(row.cost for row in attempts(engine)), "it is paid for all the same"
    with reading(engine) as session, pytest.raises(AnnotationError, match="changed after it was made"):
        rebuilt_prompt(session, attempts(engine)[0].call_id, 1)


@pytest.mark.databases("sqlite")
def test_what_was_sent_with_other_settings_is_fetched_all_the_same(engine: Engine, fake: Fake) -> None:
    study = make_study(engine, 2)
    run(engine, study, judge(fake))
    run(engine, study, judge(fake).replace("max_output_tokens = 1000", "max_output_tokens = 900"))
    assert call_states(engine) == {"done": 4, "submitted": 4}


def test_a_retry_goes_through_batches_too(sqlite: Engine, fake: Fake) -> None:
    study = make_study(sqlite, 1, text=shown("refusalx4"))
    run(sqlite, study, judge(fake))
    assert only(run(sqlite, study, judge(fake))).labels == {"refused": 6}
    (again,) = plan_again(sqlite, study, judges(judge(fake)), ["refused"])
    assert again.calls == 2
    run(sqlite, study, judge(fake))
    assert call_states(sqlite) == {"submitted": 2}
