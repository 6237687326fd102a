"""Through a provider's batch API: what it bills is what the ledger says, and whoever is killed sends nothing twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from annotation.judges.batches.batches import any_ended, release
from annotation.judges.reviewing.judge_standings import standings
from db.connect import open_database, reading
from tests.annotation.judges.batched_study import (
    BATCHED,
    ORDINARY,
    Killed,
    Killing,
    batch_ids,
    judge,
    only,
    run,
    run_until,
    shown,
    usd,
)
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import (
    account,
    attempts,
    call_states,
    judges,
    labels,
    make_study,
    study_row,
    verdict,
)
from tests.migrated import new_sqlite

pytestmark = pytest.mark.databases("sqlite")  # but where a test says otherwise


@pytest.mark.databases("sqlite", "postgres")
def test_the_ledger_is_the_providers_at_the_price_of_batches(engine: Engine, fake: Fake) -> None:
    study = make_study(engine, 6)
    first = run(engine, study, judge(fake))
    assert call_states(engine) == {"submitted": 12}
    assert (only(first).done, only(first).submitted, only(first).complete) == (0, 12, False)
    assert account(engine).reserved > 0
    (batch,) = batch_ids(engine)
    assert batch is not None
    assert first.batches == (f"j: batch {batch} submitted: 12 calls wait for it",)

    assert any_ended(engine, study, judges(judge(fake))) is True
    second = run(engine, study, judge(fake))
    assert second.batches == (f"j: batch {batch} completed: 12 lines settled",)
    assert (only(second).complete, only(second).labels) == (True, {"ok": 36})
    assert only(second).cost == pytest.approx(usd(fake.bill(), **BATCHED), rel=1e-12)
    assert account(engine).spent == pytest.approx(only(second).cost)
    assert account(engine).reserved == pytest.approx(0, abs=1e-12)
    for row in attempts(engine):
        assert (row.kind, row.outcome, row.rung, row.batch_id) == ("first", "ok", "json_schema", batch)
        assert row.price == {"input": 0.075, "output": 0.30}
    assert all(verdict(row) == ("A" if row["item"] % 2 == 1 else "B") for row in labels(engine))
    assert fake.stats()["requests"] == 0, "no ordinary request was made"
    assert fake.stats()["dup_billed"] == 0


@pytest.mark.databases("sqlite", "postgres")
@pytest.mark.parametrize(
    "moment",
    ["before upload", "after upload", "before create", "after create", "before retrieve", "before content"],
)
def test_whoever_is_killed_sends_nothing_twice_and_loses_nothing(engine: Engine, fake: Fake, moment: str) -> None:
    study = make_study(engine, 3)
    if moment in ("before retrieve", "before content"):
        run(engine, study, judge(fake))
    with pytest.raises(Killed):
        run(engine, study, judge(fake), api=Killing(moment))
    assert call_states(engine) == {"submitted": 6}, "the mark is written before the provider hears of it"
    (batch,) = batch_ids(engine)
    assert batch is not None
    assert batch.startswith("pending:") == (moment not in ("before retrieve", "before content"))
    last = run_until(engine, study, judge(fake), lambda summary: only(summary).complete)
    assert only(last).labels == {"ok": 18}
    assert (fake.stats()["billed"], fake.stats()["dup_billed"], len(attempts(engine))) == (6, 0, 6)
    assert only(last).cost == pytest.approx(usd(fake.bill(), **BATCHED), rel=1e-12)
    assert account(engine).reserved == pytest.approx(0, abs=1e-12)


def test_an_open_batch_is_told_of_and_left_alone(engine: Engine, fake: Fake) -> None:
    fake.reset(batch_s=3600)
    study = make_study(engine, 2)
    run(engine, study, judge(fake))
    (batch,) = batch_ids(engine)
    assert run(engine, study, judge(fake)).batches == (
        f"j: batch {batch}: in progress, 0 of 4 lines; 4 calls wait for it",
    )
    with reading(engine) as session:
        (standing,) = standings(session, study_row(engine, study))
    (waiting,) = standing.batches
    assert (waiting.judge, waiting.batch_id, waiting.calls, waiting.is_pending) == ("j", batch, 4, False)
    assert waiting.reserved == pytest.approx(account(engine).reserved)
    assert any_ended(engine, study, judges(judge(fake))) is False
    assert fake.stats()["billed"] == 4


def test_every_fault_of_a_reply_ends_as_it_does_without_a_batch(engine: Engine, fake: Fake, tmp_path: Path) -> None:
    faults = ("malformed", "malformedx1", "truncate", "truncatex1", "refusal", "refusalx1", "wrongcount", "nonex0")
    study = make_study(engine, 8, text=shown(*faults))
    run(engine, study, judge(fake))
    last = run(engine, study, judge(fake))
    bill = fake.bill()
    in_batches = [row for row in attempts(engine) if row.batch_id]
    assert (len(in_batches), len(bill)) == (16, only(last).attempts)
    assert {row.kind for row in in_batches} == {"first"}
    assert {row.kind for row in attempts(engine) if not row.batch_id} == {"reask"}, "re-asks are ordinary requests"
    assert only(last).cost == pytest.approx(usd(bill[:16], **BATCHED) + usd(bill[16:], **ORDINARY), rel=1e-12)
    assert only(last).complete
    fake.reset()
    ordinary = open_database(new_sqlite(tmp_path / "ordinary.db"))
    alone = run(ordinary, make_study(ordinary, 8, text=shown(*faults)), judge(fake).replace("batch_api = true", ""))
    assert only(alone).labels == only(last).labels
    assert set(only(alone).labels) >= {"ok", "truncated", "refused"}
    assert labels(ordinary) == labels(engine)
    ordinary.dispose()


@pytest.mark.parametrize(
    ("fault", "tries"),
    [
        ("500x1", [("first", "server_error", 0.0), ("retry", "ok", None)]),
        ("429x1", [("first", "rate_limited", 0.0), ("first", "ok", None)]),
        ("hangx1", [("first", "ok", None)]),  # expired: it was never tried
    ],
)
def test_a_line_that_failed_goes_out_again_with_the_next_batch(
    engine: Engine, fake: Fake, fault: str, tries: list[tuple[str, str, float | None]]
) -> None:
    study = make_study(engine, 2, text=shown(fault, "nonex0"))
    run(engine, study, judge(fake))
    second = run(engine, study, judge(fake))
    assert call_states(engine) == {"done": 2, "submitted": 2}
    assert account(engine).stopped is None
    assert len(second.batches) == 2
    third = run(engine, study, judge(fake))
    assert only(third).labels == {"ok": 12}
    first_call = [row for row in attempts(engine) if row.call_id == attempts(engine)[0].call_id]
    assert [(row.kind, row.outcome) for row in first_call] == [(kind, outcome) for kind, outcome, _ in tries]
    assert all(row.cost == cost for row, (_, _, cost) in zip(first_call, tries, strict=True) if cost is not None)
    assert only(third).cost == pytest.approx(usd(fake.bill(), **BATCHED), rel=1e-12)
    assert len({row.batch_id for row in attempts(engine) if row.outcome == "ok"}) == 2


def test_a_line_in_no_file_may_have_been_billed_and_is_tried_three_times(sqlite: Engine, fake: Fake) -> None:
    study = make_study(sqlite, 1, text=shown("drop"))
    for _ in range(4):
        last = run(sqlite, study, judge(fake))
    assert (only(last).failed, only(last).labels) == (2, {"missing": 6})
    assert [row.outcome for row in attempts(sqlite)] == ["dropped"] * 6
    assert all(row.cost is None and row.batch_id for row in attempts(sqlite))
    assert account(sqlite).spent > 0, "its reservation counts as spent"


@pytest.mark.parametrize("ends", ["expired", "cancelled", "failed"])
def test_a_batch_that_comes_to_nothing_goes_back_to_planned(engine: Engine, fake: Fake, ends: str) -> None:
    fake.reset(batch_ends=ends)
    study = make_study(engine, 2)
    run(engine, study, judge(fake))
    fake.reset(batch_s=3600)  # forgets the batch
    missing = run(engine, study, judge(fake))
    assert "404" in missing.batches[0]
    assert call_states(engine) == {"submitted": 4}, "what the provider does not know is for a person to say"

    (batch,) = batch_ids(engine)
    assert release(engine, study, str(batch)) == 4
    assert call_states(engine) == {"planned": 4}
    assert [row.outcome for row in attempts(engine)] == ["abandoned"] * 4
    fake.reset(batch_ends=ends)
    run(engine, study, judge(fake))
    fake.set(batch_ends="completed")
    again = run(engine, study, judge(fake))
    assert f"{ends}: 0 lines settled; 4 calls without a line are planned again" in again.batches[0]
    if ends == "failed":
        assert only(again).stopped == account(engine).stopped
        assert "Enqueued token limit reached" in str(only(again).stopped)
        assert call_states(engine) == {"planned": 4}, "it would only fail again"
        run(engine, study, judge(fake))
    assert only(run(engine, study, judge(fake))).labels == {"ok": 12}
    assert fake.stats()["dup_billed"] == 0
