"""The doctor of a database: what was acknowledged, what the provider billed, and every judge's queue and ledger."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session
from typer.testing import CliRunner

from annotation.facts.soundness import acknowledged_faults, find_faults
from annotation.judges.money.ledger import check_bill, read_bill
from annotation.judges.money.queue_rules import queue_rules
from app.command_line import app
from db.connect import reading, transaction
from db.judge_tables import JudgeAttempt
from db.tables import Assignment, Event, Label
from tests.annotation.judges.judged_study import Stub, make_study, run_stub

DONE = "WHERE id = 1"
BREAKS = {
    "a judge's call that waits or has ended is held by nobody": f"UPDATE judge_calls SET worker = 'w' {DONE}",
    "a judge's call in work has a worker and a lease": f"UPDATE judge_calls SET state = 'leased' {DONE}",
    "a judge's call in a batch names the batch": f"UPDATE judge_calls SET state = 'submitted' {DONE}",
    "a judge's call that ended says how and when": f"UPDATE judge_calls SET outcome = NULL {DONE}",
    "a judge's call that is done has a reply": "UPDATE judge_attempts SET outcome = 'timeout' WHERE call_id = 1",
    "the tries of a judge's call are numbered 1, 2, 3 without a gap": (
        "UPDATE judge_attempts SET attempt_no = 2 WHERE call_id = 1"
    ),
    "a judge's call that is done has an answer to each of its questions": f"DELETE FROM labels {DONE}",
    "a judge's answer comes from one of its calls": "DELETE FROM judge_call_assignments WHERE call_id = 1",
    "what a judge has reserved is what its calls in work may cost": "UPDATE judges SET reserved = 0.01",
    "what a judge has spent is what its tries cost, and more only where nobody knows what was billed": (
        "UPDATE judges SET spent = spent * 0.9"
    ),
}


@pytest.fixture
def judged(engine: Engine) -> Engine:
    """Eight calls with three questions each, all answered and paid."""
    run_stub(engine, make_study(engine), Stub())
    return engine


def unguarded(session: Session) -> None:
    """As in a database that somebody has worked on by hand."""
    if session.get_bind().dialect.name == "sqlite":
        for name in session.scalars(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).all():
            session.execute(text(f"DROP TRIGGER {name}"))
        return
    for table in ("labels", "assignments", "judge_attempts"):
        session.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))


def broken(session: Session, statement: str) -> set[str]:
    nested = session.begin_nested()
    session.execute(text(statement))
    rules = {fault.rule for fault in find_faults(session)}
    nested.rollback()
    return rules


def test_every_rule_of_the_judges_holds_after_a_run_and_each_breach_of_one_is_named(judged: Engine) -> None:
    with transaction(judged) as session:
        assert find_faults(session) == []
        assert set(BREAKS) == set(queue_rules(session))
        unguarded(session)
        for rule, statement in BREAKS.items():
            assert rule in broken(session, statement)
        assert broken(session, "UPDATE judges SET spent = spent * 1.1") == {list(BREAKS)[-1]}
        assert find_faults(session) == []


def test_an_acknowledged_answer_that_is_not_there_or_there_twice_is_named(judged: Engine) -> None:
    with transaction(judged) as session:
        work = session.scalars(select(Assignment)).first()
        assert work is not None
        session.add_all(
            Event(study_id=work.study_id, assignment_id=work.id, kind="comment", what="x", client_uuid=one)
            for one in ("remark-1", "answer-2")
        )
        unguarded(session)
        session.execute(text("UPDATE labels SET client_uuid = 'answer-' || id"))
    asked = [f"answer-{number}" for number in range(1, 12)]
    with reading(judged) as session:
        assert acknowledged_faults(session, ["remark-1", "answer-1", "answer-1", *asked[2:]]) == []
        lost, doubled = acknowledged_faults(session, [*asked, "answer-900", "zero\0byte"])
    assert (lost.rule, lost.places) == ("what was acknowledged is stored", 2)
    assert lost.first == ("answer-900", "zero\0byte")
    assert (doubled.rule, doubled.places, doubled.first) == ("what was acknowledged is stored once", 1, ("answer-2",))


def bill(engine: Engine) -> list[dict[str, Any]]:
    """What a provider would say of these tries."""
    with reading(engine) as session:
        tries = session.scalars(select(JudgeAttempt).order_by(JudgeAttempt.id)).all()
    return [{"model": "stub", "in": one.tokens_in, "out": one.tokens_out, "cost": one.cost} for one in tries]


def rules(engine: Engine, lines: Sequence[dict[str, Any]]) -> dict[str, int]:
    with reading(engine) as session:
        checked = check_bill(session, read_bill(map(json.dumps, lines), "bill.jsonl"))
    return {fault.rule: fault.places for fault in checked.faults}


def test_the_bill_agrees_to_the_call_and_the_cent_or_what_does_not_is_named(judged: Engine) -> None:
    lines = bill(judged)
    assert rules(judged, lines) == {}
    assert rules(judged, [{name: line[name] for name in ("in", "out")} for line in lines]) == {}
    unstored = "a billed reply is stored, or a try says that nobody knows what it cost"
    assert rules(judged, [*lines, lines[0]]) == {unstored: 1}
    assert rules(judged, lines[1:]) == {"a stored reply was billed": 1}
    longer = {**lines[0], "out": lines[0]["out"] + 1}
    assert rules(judged, [longer, *lines[1:]]) == {"a stored reply was billed": 1, unstored: 1}
    dearer = {**lines[0], "cost": lines[0]["cost"] + 0.01}
    assert rules(judged, [dearer, *lines[1:]]) == {"the bill and the ledger agree to the cent": 1}
    other = [{**line, "model": "another"} for line in lines]
    assert rules(judged, other) == {"a stored reply was billed": 8, unstored: 8}


def test_a_reply_that_never_arrived_may_be_billed_as_often_as_a_try_says_that_nobody_knows(judged: Engine) -> None:
    lines = bill(judged)
    with transaction(judged) as session:
        session.add(JudgeAttempt(call_id=1, attempt_no=2, kind="abandoned", outcome="abandoned", seconds=0.0))
    assert rules(judged, lines) == rules(judged, [*lines, lines[0]]) == {}
    assert list(rules(judged, [*lines, *lines[:3]]).values()) == [2]


def test_a_stored_cost_that_is_not_what_its_tokens_cost_is_named(judged: Engine) -> None:
    lines = bill(judged)
    with transaction(judged) as session:
        unguarded(session)
        session.execute(text("UPDATE judge_attempts SET cost = cost * 1.0001 WHERE id = 1"))
    assert rules(judged, lines) == {"a reply costs what its tokens cost": 1}


def test_the_command_reads_both_files_and_says_what_it_compared(engine_here: Engine, tmp_path: Path) -> None:
    run_stub(engine_here, make_study(engine_here), Stub())
    with transaction(engine_here) as session:
        unguarded(session)
        session.execute(text("UPDATE labels SET client_uuid = 'answer-' || id"))
        stored = list(session.scalars(select(Label.client_uuid)))
    acknowledged, provider = tmp_path / "acknowledged", tmp_path / "bill.jsonl"
    acknowledged.write_text("\n".join(map(str, stored)) + "\n")
    provider.write_text("".join(json.dumps(line) + "\n" for line in bill(engine_here)))
    command = ["doctor", "--acknowledged", str(acknowledged), "--provider", str(provider)]
    fine = CliRunner().invoke(app, command)
    assert fine.exit_code == 0, fine.output
    assert f"{engine_here.url}: every rule holds\n24 acknowledged ids were looked for\n" in fine.stdout
    assert "8 replies billed; 8 stored" in fine.stdout
    acknowledged.write_text("answer-1\nnever-stored\n")
    provider.write_text("")
    bad = CliRunner().invoke(app, [*command, "--json"])
    told = json.loads(bad.stdout)
    assert (bad.exit_code, told["acknowledged"], told["provider"]["stored"]) == (1, 2, 8)
    assert [fault["rule"] for fault in told["faults"]] == [
        "what was acknowledged is stored",
        "a stored reply was billed",
    ]


@pytest.mark.parametrize("line", ["no json", '{"in": 1}', '{"in": -1, "out": 2}', '{"in": 1, "out": 2, "cost": "x"}'])
@pytest.mark.usefixtures("engine_here")
def test_a_bill_that_cannot_be_read_is_refused_by_its_line(line: str, tmp_path: Path) -> None:
    provider = tmp_path / "bill.jsonl"
    provider.write_text('{"in": 1, "out": 2}\n' + line + "\n")
    refused = CliRunner().invoke(app, ["doctor", "--provider", str(provider)])
    assert refused.exit_code == 1
    assert f"{provider}:2: " in str(refused.exception)


def test_the_databases_options_are_refused_beside_a_labels_file(tmp_path: Path) -> None:
    refused = CliRunner().invoke(app, ["doctor", "labels.csv", "--acknowledged", str(tmp_path / "ids")])
    assert refused.exit_code == 2


@pytest.mark.usefixtures("engine_here")
def test_a_file_of_ids_that_is_no_text_names_what_is_not_stored(tmp_path: Path) -> None:
    acknowledged = tmp_path / "acknowledged"
    acknowledged.write_bytes(b"\xff\xfe\nzero\0byte\n")
    bad = CliRunner().invoke(app, ["doctor", "--acknowledged", str(acknowledged)])
    assert bad.exit_code == 1, bad.output
    assert "broken: what was acknowledged is stored: 2 places" in bad.stdout
