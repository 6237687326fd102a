"""The journal of a process: what came back is kept, and what was out is told, whatever was cut short."""

from __future__ import annotations

import asyncio
import json
import os
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, make_url, select, update

from annotation.judges.asking import client
from annotation.judges.planning.plan import plan_judges
from annotation.judges.queue import journal as journal_module
from annotation.judges.queue.journal import Journal, journals_of, left_behind, recover, unread_replies, why_no_journal
from annotation.judges.running.run import run_judges
from db.connect import transaction
from db.judge_tables import Judge, JudgeCall
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
    run_stub,
)

CALL = "c" * 64
ASKED: dict[str, Any] = {
    "judge": {"name": "j", "model": "openai/fake", "api_base": "http://nowhere.invalid/v1"},
    "price": {"input": 1.0, "output": 2.0}, "rung": "json_schema", "kind": "first", "prompt_sha256": "p" * 64, "tries": 1,
}  # fmt: skip


def unread(said: Mapping[str, Any]) -> None:
    raise AssertionError("nothing came that was not read")


def completion(said: str) -> dict[str, Any]:
    """A reply as it comes over the wire."""
    body = {
        "id": "x", "object": "chat.completion", "created": 1, "model": "fake-7",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1_000_000, "completion_tokens": 100_000, "total_tokens": 1_100_000},
    }  # fmt: skip
    return {"status": 200, "headers": {"content-type": "application/json"}, "body": wired(json.dumps(body))}


def wired(text: str) -> str:
    return b64encode(text.encode()).decode()


def killed(journal: Journal) -> None:
    """The process is gone: nothing was closed in order, and its lock is anybody's."""
    os.close(journal._lock)


def attempt(said: str = "{}", seconds: float = 0.123456) -> dict[str, Any]:
    return {
        "kind": "first", "outcome": "ok", "rung": "json_schema", "prompt_sha256": "p" * 64, "raw_reply": said,
        "finish_reason": "stop", "cost": 0.25, "seconds": seconds,
    }  # fmt: skip


def lease_all(engine: Engine, worker: str) -> list[JudgeCall]:
    """Every call is held by a worker, with a dollar reserved for each, for a long time to come."""
    with transaction(engine) as session:
        calls = list(session.scalars(select(JudgeCall).order_by(JudgeCall.id)))
        for call in calls:
            call.state, call.worker, call.reserved = "leased", worker, 1.0
            call.lease_until = call.created_at.replace(year=2100)
        session.execute(update(Judge).values(reserved=float(len(calls))))
        return calls


@pytest.mark.databases("sqlite", "postgres")
def test_what_came_is_kept_what_was_out_is_told_and_what_was_only_claimed_costs_nothing(engine: Engine) -> None:
    study = make_study(engine, 2)
    definitions = judges(STUB_JUDGE)
    plan_judges(engine, study, definitions, describe=describe)
    dead = Journal(journals_of(engine.url), "worker-dead")
    came, out, *_ = lease_all(engine, "worker-dead")
    text = "\n".join(f"criterion: {code}" for code in CODES)
    for call in (came, out):
        dead.request((call.key, 1), ASKED).sent()
    said = judgments(f"{text}\n[[q=0.8]] [[q=0.2]]")
    dead.request((came.key, 1), ASKED).answered(attempt(said), spent=0.25, tries=0)
    dead.request(("of no call that is here", 1), ASKED).answered(attempt(), spent=0.25, tries=0)
    assert recover(engine, "w", unread) == 0, "a living process keeps what it holds"
    killed(dead)
    assert recover(engine, "w", unread) == 1, "of four calls one request had left and had no answer"
    assert recover(engine, "w", unread) == 0, "and it is told once"
    assert call_states(engine) == {"planned": 4}
    assert [(a.call_id, a.kind, a.cost) for a in attempts(engine)] == [
        (came.id, "first", 0.25), (out.id, "abandoned", None),
    ]  # fmt: skip
    assert (account(engine).spent, account(engine).reserved) == (1.25, 0.0)
    stub = Stub()
    assert run_judges(engine, study, definitions, transport=stub).judges[0].complete
    assert len(stub.requests) == 3, "what had come is read without another call"


def test_a_reply_that_had_come_and_that_nobody_had_read_is_read_and_an_error_is_no_reply(sqlite: Engine) -> None:
    """One answer, one 429, one in words that cannot be read here, and one that is out: the last two may be paid twice."""
    study = make_study(sqlite, 2)
    definitions = judges(STUB_JUDGE)
    plan_judges(sqlite, study, definitions, describe=describe)
    dead = Journal(journals_of(sqlite.url), "worker-dead")
    calls = lease_all(sqlite, "worker-dead")
    said = judgments("\n".join(f"criterion: {code}" for code in CODES) + "\n[[q=0.8]] [[q=0.2]]")
    limited = {"status": 429, "headers": {"retry-after": "7"}, "body": wired('{"error": {"message": "slowly"}}')}
    odd = {**completion(""), "body": wired("no JSON")}
    for call, raw in zip(calls, (completion(said), limited, odd, None), strict=True):
        request = dead.request((call.key, 1), ASKED)
        request.sent()
        if raw:
            request.arrived(raw)
    killed(dead)
    with asyncio.Runner() as runner:
        assert recover(sqlite, "w", lambda said: runner.run(client.reread(said))) == 2
        runner.run(client.close())
    found = [(one.call_id, one.kind, one.outcome, one.cost, one.model_reported) for one in attempts(sqlite)]
    assert sorted(found) == [
        (calls[0].id, "first", "ok", 1.2, "fake-7"), (calls[1].id, "first", "rate_limited", 0.0, None),
        (calls[2].id, "abandoned", "abandoned", None, None), (calls[3].id, "abandoned", "abandoned", None, None),
    ]  # fmt: skip
    assert (account(sqlite).spent, account(sqlite).reserved) == (pytest.approx(3.2), 0.0)
    (kept,) = journals_of(sqlite.url).glob("*/*")
    assert [json.loads(line)["raw"] for line in kept.read_text().splitlines()] == [odd], "it may be paid"
    read: list[Any] = []
    assert [recover(sqlite, f"w{number}", read.append) for number in range(9)] == [0] * 9
    assert (len(read), json.loads(kept.read_text())["readers"]) == (4, ["w", "w0", "w1", "w2", "w3"]), "then it is left"
    assert "(5 of 5 runs have tried)" in unread_replies(sqlite.url)[0]
    kept.unlink()
    stub = Stub()
    assert run_judges(sqlite, study, definitions, transport=stub).judges[0].complete
    assert len(stub.requests) == 3


def test_a_reply_is_read_without_its_judges_key_and_kept_where_it_cannot_be_read_here(
    sqlite: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a run of another judge, or of an older version, finds the journal."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    study, definitions = make_study(sqlite, 1), judges(STUB_JUDGE)
    plan_judges(sqlite, study, definitions, describe=describe)
    dead = Journal(journals_of(sqlite.url), "worker-dead")
    calls = lease_all(sqlite, "worker-dead")
    said = judgments("\n".join(f"criterion: {code}" for code in CODES) + "\n[[q=0.8]] [[q=0.2]]")
    lacking = [{"api_key_env": "OF_ANOTHER_JUDGE"}, {"setting_of_a_later_version": 1}]
    for call, more in zip(calls, lacking, strict=True):
        request = dead.request((call.key, 1), {**ASKED, "judge": {"name": "j", "model": "openai/gpt-4o-mini", **more}})
        request.sent()
        request.arrived(completion(said))
    killed(dead)
    with asyncio.Runner() as runner:

        def read(said: Mapping[str, Any]) -> Mapping[str, Any] | None:
            return runner.run(client.reread(said))

        assert [recover(sqlite, "w1", read) for _ in range(2)] == [1, 0]
        assert unread_replies(sqlite.url) == [
            f"1 reply to worker-dead, paid, cannot be read (1 of 5 runs have tried): {journals_of(sqlite.url)}/worker-dead"
        ]
        assert sorted(one.outcome for one in attempts(sqlite)) == ["abandoned", "ok"]

        def read_later(said: Mapping[str, Any]) -> Mapping[str, Any] | None:
            assert said["asked"]["judge"].pop("setting_of_a_later_version"), "the other line is stored, and gone"
            return read(said)

        assert recover(sqlite, "w1", unread) == 0, "who has tried tries no more"
        assert recover(sqlite, "w2", read_later) == 0
        runner.run(client.close())
    assert sorted(one.kind for one in attempts(sqlite)) == ["abandoned", "first", "surplus"]
    assert not journals_of(sqlite.url).exists()
    stub = Stub()
    assert run_judges(sqlite, study, definitions, transport=stub).judges[0].complete
    assert stub.requests == [], "neither is paid twice"


def test_a_reply_that_the_database_had_already_is_stored_once(sqlite: Engine) -> None:
    study = make_study(sqlite, 1)
    run_stub(sqlite, study, Stub())
    (stored, _) = attempts(sqlite)
    with transaction(sqlite) as session:
        key = session.get_one(JudgeCall, stored.call_id).key
    dead = Journal(journals_of(sqlite.url), "worker-dead")
    again = {name: getattr(stored, name) for name in ("outcome", "prompt_sha256", "seconds", "raw_reply", "rung")}
    dead.request((key, 1), ASKED).answered({**again, "kind": "first"}, spent=0.1, tries=0)
    killed(dead)
    spent = account(sqlite).spent
    assert recover(sqlite, "w", unread) == 0
    assert (len(attempts(sqlite)), account(sqlite).spent) == (2, spent)


def test_an_ordinary_end_leaves_no_journal(sqlite: Engine) -> None:
    run_stub(sqlite, make_study(sqlite, 2), Stub())
    assert not journals_of(sqlite.url).exists()


def test_a_line_that_was_cut_short_takes_no_other_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path, "w")
    write = os.write
    monkeypatch.setattr(os, "write", lambda to, line: write(to, line[: len(line) // 2]))
    journal.request(("lost", 1), ASKED).sent()
    monkeypatch.undo()
    journal.request((CALL, 2), ASKED).answered(attempt(), None, 1)
    killed(journal)
    with left_behind(tmp_path) as (left,):
        assert (left.worker, left.sent, list(left.answered)) == ("w", frozenset({(CALL, 2)}), [(CALL, 2)])
    assert list(tmp_path.glob("*")) == []


def test_files_whose_replies_are_all_stored_are_removed_while_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "SEGMENT_BYTES", 1_000)
    journal = Journal(tmp_path, "w")
    waiting = journal.request(("waits", 1), ASKED)
    waiting.sent()
    for number in range(40):
        request = journal.request((f"call {number}", 1), ASKED)
        request.sent()
        request.answered(attempt("x" * 200), 0.0, 0)
        request.kept()
    assert len(list((tmp_path / "w").iterdir())) == 2, "the first, of which a request is out, and the last"
    waiting.kept()
    assert len(list((tmp_path / "w").iterdir())) == 1
    journal.close()
    assert not (tmp_path / "w").exists()


def test_where_nothing_can_be_written_a_run_goes_on_without(sqlite: Engine) -> None:
    journals_of(sqlite.url).write_text("a file stands where the folder should")
    assert run_stub(sqlite, make_study(sqlite, 1), Stub()).judges[0].complete


def test_where_no_journal_can_be_written_that_is_said_in_one_sentence_and_nothing_is_left_where_it_can(
    tmp_path: Path,
) -> None:
    (tmp_path / "a-file").write_text("no folder")
    said = why_no_journal(make_url(f"sqlite:///{tmp_path}/a-file/study.db"))
    assert said.startswith(f"no journal can be kept in {tmp_path}/a-file/study.db.judging (Not a directory): ")
    assert why_no_journal(make_url(f"sqlite:///{tmp_path}/study.db")) == ""
    assert [path.name for path in tmp_path.iterdir()] == ["a-file"]
