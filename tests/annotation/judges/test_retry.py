"""Asking again: every attempt and label stays, and only a better reply changes what stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from annotation.errors import AnnotationError
from annotation.judges.asking.material import rebuilt_prompt
from annotation.judges.planning.plan import plan_judges
from annotation.judges.running.retrying import plan_again
from annotation.judges.running.run import run_judges
from db.connect import reading, transaction
from db.judge_tables import JudgeCall
from db.tables import Label, Report, Study
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

ONE_ORDER = STUB_JUDGE + 'order = "random"\n'
ALL = ("invalid", "missing", "truncated", "refused")


def retried(engine: Engine, study: int, say: Any, statuses: tuple[str, ...] = ALL, toml: str = ONE_ORDER) -> int:
    definitions = judges(toml)
    (found,) = plan_again(engine, study, definitions, statuses)
    run_judges(engine, study, definitions, transport=Stub(say))
    return found.calls


def revisions(engine: Engine) -> list[tuple[str, str | None, int, list[str]]]:
    with reading(engine) as session:
        rows = session.scalars(select(Label).order_by(Label.criterion_id, Label.revision))
        return [(row.status, row.choice, row.revision, row.flags) for row in rows]


def test_a_better_reply_is_a_later_revision_and_nothing_is_lost(engine: Engine) -> None:
    study = make_study(engine, 1, codes=("c_one",))
    run_stub(engine, study, Stub(lambda text, number: "prose"), ONE_ORDER)
    assert retried(engine, study, lambda text, number: judgments(text, "first")) == 1
    assert revisions(engine) == [("invalid", None, 1, ["unparsable"]), ("ok", "left", 2, ["retried"])]
    stored = attempts(engine)
    assert [(a.kind, a.raw_reply == "prose") for a in stored] == [("first", True), ("reask", True), ("retry", False)]
    assert call_states(engine) == {"done": 1}
    with reading(engine) as session:
        proved = [rebuilt_prompt(session, a.call_id, a.attempt_no).sha256 for a in stored]
    assert proved == [a.prompt_sha256 for a in stored]
    assert account(engine).spent == pytest.approx(sum(a.cost or 0 for a in stored))
    assert retried(engine, study, judgments) == 0, "what is usable is not asked again"


@pytest.mark.databases("sqlite")
def test_a_worse_reply_changes_nothing(engine: Engine) -> None:
    study = make_study(engine, 1)
    run_stub(engine, study, Stub(lambda text, number: judgments(text.replace("criterion: d_one", ""))), ONE_ORDER)
    before = revisions(engine)
    assert [status for status, *_ in before] == ["ok", "ok", "missing"]
    assert retried(engine, study, lambda text, number: "prose") == 1
    assert revisions(engine) == before
    assert [a.kind for a in attempts(engine)] == ["first", "reask", "retry", "reask"]
    assert call_states(engine) == {"done": 1}


@pytest.mark.databases("sqlite")
def test_a_retry_that_gets_no_reply_keeps_what_stood(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.0)
    study = make_study(engine, 1)
    run_stub(engine, study, Stub(lambda text, number: judgments(text.replace("criterion: d_one", ""))), ONE_ORDER)
    before = revisions(engine)
    retried(engine, study, lambda text, number: replied("", outcome="server_error", http_status=500))
    assert revisions(engine) == before
    assert call_states(engine) == {"done": 1}, "it has a reply, the first one"


@pytest.mark.databases("sqlite")
def test_a_call_that_failed_for_good_can_be_made_after_all(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.0)
    study = make_study(engine, 1)
    run_stub(engine, study, Stub(lambda text, number: replied("", outcome="server_error", http_status=500)), ONE_ORDER)
    assert call_states(engine) == {"failed": 1}
    assert retried(engine, study, lambda text, number: judgments(text), ("missing",)) == 1
    assert call_states(engine) == {"done": 1}
    assert {row["status"] for row in labels(engine)} == {"ok"}


@pytest.mark.databases("sqlite")
def test_only_calls_behind_a_failure_of_that_kind_are_asked_again(engine: Engine) -> None:
    study = make_study(engine, 3)
    faults = {"topic 0": "prose", "topic 1": "I'm sorry, but I can't help with comparing these."}
    stub = Stub(lambda text, number: next((said for what, said in faults.items() if what in text), judgments(text)))
    run_stub(engine, study, stub, ONE_ORDER)
    definitions = judges(ONE_ORDER)
    assert [one.calls for one in plan_again(engine, study, definitions, ("truncated",))] == [0]
    assert [one.calls for one in plan_again(engine, study, definitions, ("invalid", "missing"))] == [1]
    assert call_states(engine) == {"planned": 1, "done": 2}
    assert [one.calls for one in plan_again(engine, study, definitions, ("invalid",))] == [0], "planned already"


@pytest.mark.databases("sqlite")
def test_what_would_come_to_the_same_end_is_left_alone(engine: Engine) -> None:
    study = make_study(engine, 2, text=lambda n, side: f"{side}{n} " + "word " * (4_000 if n else 10))
    definitions = judges(ONE_ORDER)
    tight = lambda judge: replace(describe(judge), context_tokens=4_000)  # noqa: E731
    plan_judges(engine, study, definitions, describe=tight)
    run_judges(engine, study, definitions, transport=Stub(lambda text, number: "prose"))
    with transaction(engine) as session:
        session.execute(update(Report).values(shown_sha256="0" * 64))
    (found,) = plan_again(engine, study, definitions, ALL)
    assert (found.calls, found.hopeless) == (0, 2), "one too long, one about a text that changed"


def test_a_locked_study_and_unknown_kinds_are_refused(engine: Engine) -> None:
    study = make_study(engine, 1)
    run_stub(engine, study, Stub(lambda text, number: "prose"), ONE_ORDER)
    with pytest.raises(AnnotationError, match="only failures are asked again"):
        plan_again(engine, study, judges(ONE_ORDER), ("ok",))
    with pytest.raises(AnnotationError, match="has no plan with these settings"):
        plan_again(engine, study, judges(ONE_ORDER.replace("openai/x", "openai/y")), ALL)
    with transaction(engine) as session:
        session.execute(update(Study).values(status="locked"))
    with pytest.raises(AnnotationError, match="locked"):
        plan_again(engine, study, judges(ONE_ORDER), ALL)
    with reading(engine) as session:
        assert set(session.scalars(select(JudgeCall.state))) == {"done"}
