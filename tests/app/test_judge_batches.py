"""Batches as a user sees them: what they would cost, what waits, and what to do about one nobody can look up."""

from __future__ import annotations

import csv
import io
import json
import time

import pytest
from sqlalchemy import select

from db.connect import reading
from db.judge_tables import JudgeCall
from tests.annotation.judges.conftest import Fake
from tests.app.test_judge_commands import Judging, fake, fake_process, judging

__all__ = ["fake", "fake_process", "judging"]


@pytest.fixture
def batched(judging: Judging) -> Judging:
    path = judging.folder / "judges.toml"
    path.write_text(path.read_text().replace("cached = 0.075", "batch_input = 0.075, batch_output = 0.30"))
    return judging


def test_from_estimate_to_ledger(batched: Judging) -> None:
    (plan,) = json.loads(batched("judge", "estimate", "small", "--json"))
    assert plan["estimate"]["batch"] == pytest.approx(plan["estimate"]["likely"] / 2)
    shown = batched("judge", "estimate", "small")
    assert "in batches" in shown
    assert f"{plan['estimate']['batch']:.4f}" in shown
    assert "what must be asked again is an ordinary request" in shown

    sent = batched("judge", "run", "small", "--batch", exit_code=1)
    assert "12 calls wait for it" in sent
    assert "12 in batches" in sent
    assert "go on with: calipers judge resume small --judges judges.toml --batch" in sent
    (open_batch,) = json.loads(batched("judge", "batches", "small", "--json"))
    assert (open_batch["judge"], open_batch["calls"], open_batch["held"]) == ("mini", 12, False)
    assert f"12 calls wait for batch {open_batch['batch_id']}" in batched("judge", "status", "small")
    assert open_batch["batch_id"] in batched("judge", "batches", "small")

    assert "12 lines settled" in batched("judge", "resume", "small")
    lines = list(csv.DictReader(io.StringIO(batched("judge", "ledger", "small"))))
    assert {line["batch_id"] for line in lines} == {open_batch["batch_id"]}
    assert {(line["price_input"], line["price_output"], line["seconds"]) for line in lines} == {("0.075", "0.3", "")}
    assert f"in batch {open_batch['batch_id']}" in batched("judge", "show", "small", lines[0]["call_id"])
    (standing,) = json.loads(batched("judge", "status", "small", "--json"))
    assert (standing["done"], standing["batches"], standing["money"]["p50_s"]) == (12, [], None)
    assert json.loads(batched("judge", "batches", "small", "--json")) == []


def test_a_person_releases_and_attaches(batched: Judging, fake: Fake) -> None:
    fake.reset(batch_create="lost", batch_listing=0)
    batched.judges("batch_api = true")
    path = batched.folder / "judges.toml"
    path.write_text(path.read_text().replace("cached = 0.075", "batch_input = 0.075, batch_output = 0.30"))
    batched("judge", "run", "small", exit_code=1)
    (open_batch,) = json.loads(batched("judge", "batches", "small", "--json"))
    pending = open_batch["batch_id"]
    assert pending in " ".join(batched("judge", "status", "small").split())
    assert "cannot be listed" in batched("judge", "resume", "small", exit_code=1)
    assert "no calls wait for a batch 'x'" in batched("judge", "batches", "small", "--release", "x", exit_code=1)
    assert "give both, or neither" in batched("judge", "batches", "small", "--attach", pending, exit_code=2)


def test_a_model_without_batches_is_refused_in_a_sentence(batched: Judging) -> None:
    batched.judges("", model="anthropic/claude-haiku-4-5")
    assert "batches are for openai/ models" in batched("judge", "run", "small", "--batch", exit_code=1)


def test_whoever_waits_fetches_a_batch_once_it_has_ended(batched: Judging, fake: Fake) -> None:
    fake.reset(batch_s=1.0)
    batched("judge", "run", "small", "--batch", exit_code=1)
    deadline = time.monotonic() + 30

    def no_request(*_: object) -> None:
        """Nobody asks for anything in the app; Ctrl-C once the batch is settled."""
        assert time.monotonic() < deadline
        with reading(batched.engine) as session:
            if "submitted" not in session.scalars(select(JudgeCall.state)).all():
                raise KeyboardInterrupt

    batched.patch.setattr("annotation.judges.planning.requests.next_request", no_request)
    batched.patch.setattr("app.commands.judges.runs.WAIT_S", 0.05)
    batched.patch.setattr("app.commands.judges.runs.POLL_S", 0.1)
    said = batched("judge", "resume", "small", "--wait", exit_code=130)
    assert "12 lines settled" in said
    assert said.count("calls wait for it") <= 1, "a batch that is still open is told of once, not at every look"
