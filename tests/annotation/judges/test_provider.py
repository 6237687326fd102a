"""Through litellm to a provider that bills: what it charges is what the ledger says, and no fault becomes a label."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from annotation.errors import AnnotationError
from annotation.judges.asking import client
from annotation.judges.money.accounts import WATCH, Watch
from annotation.judges.planning.plan import plan_judges
from annotation.judges.running.progress import JudgeSummary
from annotation.judges.running.run import run_judges
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import CODES, PRICE, attempts, judges, labels, make_study, verdict


def judge(fake: Fake, model: str = "openai/fake", more: str = "") -> str:
    return f'name = "j"\nmodel = "{model}"\napi_base = "{fake.base}"\n{PRICE}\nconcurrency = 8\n{more}\n'


def run(engine: Engine, study: int, toml: str) -> JudgeSummary:
    definitions = judges(toml)
    plan_judges(engine, study, definitions)
    return run_judges(engine, study, definitions).judges[0]


def shown(fault: str) -> Any:
    """Reports whose first one carries a marker that makes the provider misbehave."""
    return lambda number, side: f"[[q={0.8 if side == 'A' else 0.2}]] [[fault:{fault}]] report {number} {side}"


def test_the_ledger_is_the_providers_to_the_call_and_the_cent(
    sqlite: Engine, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And each answer is a line of the journal as it came, from which the same attempt is read again."""
    fake.reset(cached_share=0.4, reasoning_tokens=11)
    study, lines = make_study(sqlite, 6), list[str]()
    write = os.write
    monkeypatch.setattr(os, "write", lambda to, line: lines.append(line.decode()) or write(to, line))
    summary = run(sqlite, study, judge(fake))
    monkeypatch.undo()
    unread, read = ([json.loads(line) for line in lines if f'"{what}":' in line] for what in ("raw", "attempt"))
    assert len(unread) == len(read) == 12
    with asyncio.Runner() as runner:
        again = {tuple(said["key"]): runner.run(client.reread(said)) for said in unread}
        runner.run(client.close())
    for said in read:
        twin = again[tuple(said["key"])]
        assert twin
        assert {**twin["attempt"], "seconds": 0} == {**said["attempt"], "seconds": 0}
        assert (twin["spent"], twin["tries"]) == (said["spent"], said["tries"])
    assert (summary.done, summary.labels) == (12, {"ok": 36})
    stored, bill = attempts(sqlite), fake.bill()
    assert len(stored) == len(bill) == fake.stats()["requests"] == 12
    assert sum(a.tokens_in or 0 for a in stored) == sum(line["in"] for line in bill)
    assert sum(a.tokens_out or 0 for a in stored) == sum(line["out"] + 11 for line in bill)
    usd = sum(
        (line["in"] - int(line["in"] * 0.4)) * 0.15 + int(line["in"] * 0.4) * 0.075 + (line["out"] + 11) * 0.60
        for line in bill
    )
    assert summary.cost == pytest.approx(usd / 1e6, rel=1e-12)
    assert {(a.tokens_reasoning, a.system_fingerprint, a.model_reported, a.rung) for a in stored} == {
        (11, "fp_fake1", "fake", "json_schema")
    }
    for row in labels(sqlite):
        assert verdict(row) == ("A" if row["item"] % 2 == 1 else "B"), "swapping sides swaps labels, not verdicts"


def test_a_reply_is_told_while_everything_else_in_the_process_is_busy(fake: Fake) -> None:
    """So that a kill at that moment has it in the journal, and not paid again."""
    fake.reset(latency_ms=150)
    told: list[float] = []

    async def busy() -> float:
        await client.ask(*asked)  # from now on it is said of this model when a request leaves, and not before
        WATCH.set(Watch(lambda: told.append(time.monotonic()), lambda raw: told.append(time.monotonic())))
        asking = asyncio.create_task(client.ask(*asked))
        while not told and not asking.done():
            await asyncio.sleep(0)
        until = time.monotonic() + 1.5
        while time.monotonic() < until:  # holds the interpreter, as litellm's own work does
            pass
        assert (await asking).outcome == "ok"
        await client.close()
        return until

    asked: Any = judges(judge(fake))[0], [{"role": "user", "content": "criterion: c"}], client.UNREAD, "plain"
    until = asyncio.run(busy())
    assert len(told) >= 2
    assert told[-1] < until - 0.5


def test_a_judge_with_a_taste_for_the_first_report_is_reported_as_such(sqlite: Engine, fake: Fake) -> None:
    study = make_study(sqlite, 50)
    run(sqlite, study, judge(fake, "openai/fake-first-0.7"))
    found = labels(sqlite)
    first = sum(row["choice"] == "left" for row in found) / len(found)
    # 300 draws at .7: four standard errors are .106
    assert first == pytest.approx(0.7, abs=0.106)
    by_order: dict[Any, set[str | None]] = {}
    for row in found:
        by_order.setdefault((row["item"], row["code"]), set()).add(verdict(row))
    consistent = sum(len(verdicts) == 1 for verdicts in by_order.values()) / len(by_order)
    assert consistent == pytest.approx(0.42, abs=0.162)  # 2 x .7 x .3; 150 draws


def test_each_fault_of_a_reply_has_its_status_and_never_a_label(sqlite: Engine, fake: Fake) -> None:
    faults = ("malformed", "truncate", "wrongcount", "refusal")
    study = make_study(sqlite, 12, text=lambda number, side: shown(faults[number % 4])(number, side))
    summary = run(sqlite, study, judge(fake))
    found = labels(sqlite)
    by_fault: dict[str, Counter[str]] = {fault: Counter() for fault in faults}
    for row in found:
        by_fault[faults[(row["item"] - 1) % 4]][row["status"]] += 1
        assert (row["status"] == "ok") == (row["choice"] is not None)
        if row["choice"]:
            assert verdict(row) == "A"
    assert by_fault["malformed"] == {"ok": 18}
    assert by_fault["truncate"] == {"truncated": 18}
    assert by_fault["refusal"] == {"refused": 18}
    # one criterion dropped, or given twice, in every reply
    assert by_fault["wrongcount"]["ok"] == 12
    assert by_fault["wrongcount"]["missing"] + by_fault["wrongcount"]["invalid"] == 6
    assert any("repaired" in row["flags"] for row in found)
    assert sum(summary.labels.values()) == len(found) == 12 * 2 * len(CODES)
    assert summary.cost == pytest.approx(sum(line["in"] * 0.15 + line["out"] * 0.60 for line in fake.bill()) / 1e6)
    assert len(attempts(sqlite)) == len(fake.bill())


def test_a_refusal_field_is_a_refusal(sqlite: Engine, fake: Fake) -> None:
    fake.reset(refusal_field=True)
    study = make_study(sqlite, 1, text=shown("refusal"))
    assert run(sqlite, study, judge(fake)).labels == {"refused": 6}
    assert {a.outcome for a in attempts(sqlite)} == {"refused"}


def test_without_structured_output_the_answers_a_and_b_are_coerced(sqlite: Engine, fake: Fake) -> None:
    study = make_study(sqlite, 2)
    assert run(sqlite, study, judge(fake, more='structured = ["plain"]')).labels == {"ok": 12}
    assert {tuple(row["flags"]) for row in labels(sqlite)} == {("coerced",)}
    assert {verdict(row) for row in labels(sqlite) if row["item"] == 1} == {"A"}


def test_a_dropped_line_is_two_attempts_and_both_were_billed(
    sqlite: Engine, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.01)
    study = make_study(sqlite, 1, text=shown("dropx1"))
    summary = run(sqlite, study, judge(fake))
    assert summary.labels == {"ok": 6}
    assert [(a.kind, a.outcome, a.cost is None) for a in attempts(sqlite)] == [
        ("first", "dropped", True), ("retry", "ok", False),
    ] * 2  # fmt: skip
    assert [line["outcome"] for line in fake.bill()].count("drop") == 2
    known = sum((line["in"] * 0.15 + line["out"] * 0.60) / 1e6 for line in fake.bill() if line["outcome"] == "ok")
    assert summary.cost == pytest.approx(known)
    assert summary.unknown_costs == 2
    assert summary.spent > known, "the dropped ones keep their reservation"


def test_a_500_is_tried_again_each_time_later_and_a_hang_of_an_hour_is_given_up(
    sqlite: Engine, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    after: list[int] = []  # failures, of each wait that was asked for

    def back_off(tries: int, luck: float) -> float:
        after.append(tries)
        return 0.01

    monkeypatch.setattr("annotation.judges.running.work.back_off_s", back_off)
    faults = ("500x2", "hangx1")
    study = make_study(sqlite, 2, text=lambda number, side: shown(faults[number])(number, side))
    summary = run(sqlite, study, judge(fake, more='timeout_s = 1.0\norder = "random"'))
    assert summary.labels == {"ok": 6}
    assert [a.outcome for a in attempts(sqlite)] == ["server_error", "server_error", "ok", "timeout", "ok"]
    assert sorted(after) == [1, 1, 2]
    hung = attempts(sqlite)[3]
    assert hung.seconds >= 1, "as long as its judge's timeout_s allows"


def test_a_hard_rate_limit_wastes_few_requests_and_fails_no_call(sqlite: Engine, fake: Fake) -> None:
    fake.reset(rps=40, retry_after=0.25)
    study = make_study(sqlite, 40)
    summary = run(sqlite, study, judge(fake))
    counts = Counter(a.outcome for a in attempts(sqlite))
    assert (summary.done, summary.failed, counts["ok"]) == (80, 0, 80)
    assert fake.stats()["f_429"] == counts["rate_limited"]
    assert {a.kind for a in attempts(sqlite)} == {"first"}, "a 429 is no try"
    assert fake.stats()["dup_billed"] == 0


def test_no_key_is_in_the_database_or_on_the_terminal(
    sqlite: Engine, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.0)
    monkeypatch.setenv("MY_JUDGE_KEY", "SENTINEL-4711-key")
    study = make_study(sqlite, 1, text=shown("500"))
    keyed = judge(fake, more='api_key_env = "MY_JUDGE_KEY"')
    assert run(sqlite, study, keyed).labels == {"missing": 6}
    assert all(a.error for a in attempts(sqlite))
    sqlite.dispose()
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"MY_JUDGE_KEY" not in stored
    assert b"SENTINEL" not in stored
    captured = capfd.readouterr()
    assert "SENTINEL" not in captured.out + captured.err
    monkeypatch.delenv("MY_JUDGE_KEY")
    with pytest.raises(AnnotationError, match="the environment variable MY_JUDGE_KEY is not set"):
        run(sqlite, study, keyed)


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE", "OPENROUTER", "PERPLEXITYAI"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/gpt-4o-mini", "export OPENAI_API_KEY,"),
        ("anthropic/claude-haiku-4-5", "export ANTHROPIC_API_KEY,"),
        ("gemini/gemini-2.0-flash", "export GOOGLE_API_KEY or GEMINI_API_KEY,"),
    ],
)
def test_a_missing_key_is_named_with_its_judge_before_anything_is_sent(
    model: str, variable: str, sqlite: Engine, no_keys: pytest.MonkeyPatch
) -> None:
    study = make_study(sqlite, 1)
    with pytest.raises(AnnotationError, match=f"judge 'j': {model} needs a key; {variable} or name another"):
        run(sqlite, study, f'name = "j"\nmodel = "{model}"\n')
    assert attempts(sqlite) == []


@pytest.mark.parametrize(
    ("toml", "variable"),
    [
        ('model = "openai/mine"\napi_base = "http://127.0.0.1:1/v1"', None),
        ('model = "anthropic/mine"\napi_base = "http://127.0.0.1:1"', None),
        ('model = "ollama/llama3"', None),
        ('model = "vertex_ai/gemini-2.0-flash"', None),
        ('model = "openai/gpt-4o-mini"', "OPENAI_API_KEY"),
        ('model = "openrouter/some/model"', "OR_API_KEY"),
        ('model = "perplexity/sonar"', "PERPLEXITY_API_KEY"),
        ('model = "openai/gpt-4o-mini"\napi_key_env = "MY_KEY"', "MY_KEY"),
    ],
)
def test_a_judge_that_needs_no_key_or_has_one_may_run(
    toml: str, variable: str | None, no_keys: pytest.MonkeyPatch
) -> None:
    if variable:
        no_keys.setenv(variable, "a-key")
    client.refuse_without_key(judges(f'name = "j"\n{toml}')[0])


@pytest.mark.parametrize(
    ("model", "params", "dropped", "seed", "price"),
    [
        ("openai/gpt-4o-mini", "temperature = 0, seed = 7", (), True, (0.15, 0.6, 0.075)),
        ("openai/gpt-5-mini", "temperature = 0", ("temperature",), True, (0.25, 2.0, 0.025)),
        ("anthropic/claude-haiku-4-5", "temperature = 0, seed = 7", ("seed",), False, (1.0, 5.0, 0.1)),
        ("openai/fake-acc-0.85", "temperature = 0", (), True, None),
        ("openrouter/anthropic/claude-sonnet-4", "temperature = 0", (), True, None),
    ],
)
def test_what_the_local_map_knows_of_a_model(model: str, params: str, dropped: Any, seed: bool, price: Any) -> None:
    (definition,) = judges(f'name = "j"\nmodel = "{model}"\nparams = {{{params}}}\n')
    facts = client.describe(definition)
    assert (facts.dropped, facts.takes_seed) == (dropped, seed)
    found = facts.price and (facts.price.input, facts.price.output, facts.price.cached)
    assert found == price, "0 in the map is no price"
    assert facts.price_source.startswith("map 1.")


def test_an_unknown_provider_is_refused_by_name() -> None:
    with pytest.raises(AnnotationError, match="write provider/model"):
        client.describe(judges('name = "j"\nmodel = "nonsense"')[0])
