"""A hundred calls through litellm to a provider that does everything wrong: all end, and the ledger is its bill.

tests/faults/test_two_thousand_calls.py makes more of them, to a provider that fails more seldom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest
from sqlalchemy import Engine, select

from db.connect import reading
from db.judge_tables import Judge, JudgeCall
from db.tables import Assignment
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import CODES, PRICE, attempts, labels, make_study, verdict
from tests.annotation.judges.test_provider import run

pytestmark = pytest.mark.slow

FAULTS = {
    "p_429": 0.1, "p_500": 0.1, "p_malformed": 0.05, "p_truncate": 0.05, "p_wrongcount": 0.05, "p_refusal": 0.05,
    "p_drop": 0.05, "p_hang": 0.02,
}  # fmt: skip


def test_a_hundred_calls_against_every_fault_end_and_the_ledger_is_the_providers(
    sqlite: Engine, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.01)
    all_end_and_the_ledger_is_the_bill(sqlite, fake, 100, FAULTS, lost=0.1)


def all_end_and_the_ledger_is_the_bill(
    engine: Engine, fake: Fake, calls: int, faults: Mapping[str, float], lost: float
) -> None:
    """So many calls to a provider with these faults; at most the share `lost` of the questions gets no answer."""
    fake.reset(**faults, latency_ms=2.0, retry_after_ms=10, cached_share=0.25)
    study = make_study(engine, calls // 2)
    judge = f'name = "j"\nmodel = "openai/fake"\napi_base = "{fake.base}"\n{PRICE}\nconcurrency = 32\ntimeout_s = 4.0\n'
    summary = run(engine, study, judge)
    assert (summary.planned, summary.done + summary.failed, summary.stopped) == (calls, calls, None)

    found = labels(engine)
    assert len(found) == calls * len(CODES), "every question of every item has a final state"
    assert all((row["status"] == "ok") == (row["choice"] is not None) for row in found)
    assert {verdict(row) == ("A" if row["item"] % 2 == 1 else "B") for row in found if row["choice"]} == {True}
    assert sum(row["status"] == "ok" for row in found) / len(found) == pytest.approx(1.0, abs=lost)

    stored, bill, stats = attempts(engine), fake.bill(), fake.stats()
    outcomes = Counter(one.outcome for one in stored)
    arrived = [line for line in bill if line["outcome"] != "drop"]
    assert len(stored) == stats["requests"], "to the call"
    assert outcomes["ok"] + outcomes["refused"] == len(arrived)
    for outcome, fault in (("rate_limited", "429"), ("server_error", "500"), ("dropped", "drop"), ("timeout", "hang")):
        assert outcomes[outcome] == stats[f"f_{fault}"] > 0
    known = [one for one in stored if one.outcome in ("ok", "refused")]
    assert sum(one.tokens_in or 0 for one in known) == sum(line["in"] for line in arrived)
    assert sum(one.tokens_out or 0 for one in known) == sum(line["out"] for line in arrived)
    cached = [int(line["in"] * 0.25) for line in arrived]
    usd = sum(0.15 * (line["in"] - n) + 0.075 * n + 0.60 * line["out"] for line, n in zip(arrived, cached, strict=True))
    assert summary.cost == pytest.approx(usd / 1e6, rel=1e-9), "to the cent, and far below"
    assert {one.cost for one in stored if one.outcome in ("dropped", "timeout")} == {None}
    assert summary.unknown_costs == outcomes["dropped"] + outcomes["timeout"]

    with reading(engine) as session:
        account = session.scalars(select(Judge)).one()
        assert set(session.scalars(select(JudgeCall.state))) <= {"done", "failed"}
        assert set(session.scalars(select(Assignment.status))) == {"submitted"}
    assert account.reserved == pytest.approx(0, abs=1e-9)
    assert account.spent > usd / 1e6, "what may have been billed counts against the budget"
