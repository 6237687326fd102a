"""Runs against a stub: every call ends, and a failure is never a label."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import pytest
from sqlalchemy import Engine, select

from annotation.errors import AnnotationError
from annotation.judges.running.run import run_judges
from db.connect import reading, transaction
from db.tables import Assignment, Report
from tests.annotation.judges.judged_study import (
    STUB_JUDGE,
    Stub,
    attempts,
    call_states,
    judges,
    judgments,
    labels,
    make_study,
    replied,
    run_stub,
    verdict,
)


def test_an_always_right_judge_labels_both_orders_with_the_same_verdict(engine: Engine) -> None:
    study = make_study(engine, 4)
    summary = run_stub(engine, study, Stub())
    (judge,) = summary.judges
    assert (judge.planned, judge.done, judge.failed, judge.stopped, judge.complete) == (8, 8, 0, None, True)
    assert judge.labels == {"ok": 24}
    found = labels(engine)
    assert len(found) == 24
    for row in found:
        assert verdict(row) == ("A" if row["item"] % 2 == 1 else "B")  # topic numbers start at 0, items at 1
    swapped = Counter((row["item"], row["code"], row["choice"]) for row in found)
    assert set(swapped.values()) == {1}, "left in one order, right in the other"
    with reading(engine) as session:
        assert set(session.scalars(select(Assignment.status))) == {"submitted"}


@pytest.mark.databases("sqlite")
def test_a_judge_that_always_says_first_is_seen_as_such(engine: Engine) -> None:
    study = make_study(engine, 4)
    run_stub(engine, study, Stub(lambda text, number: judgments(text, "first")))
    verdicts = Counter((row["item"], row["code"], verdict(row)) for row in labels(engine))
    assert set(verdicts.values()) == {1}, "every verdict flips with the order"


FAULTS: dict[str, tuple[Any, dict[str, int]]] = {
    "prose": (lambda text, number: "I like the first one.", {"invalid": 3}),
    "refusal": (lambda text, number: "I'm sorry, but I can't help with comparing these.", {"refused": 3}),
    "refusal field": (lambda text, number: replied("no", outcome="refused"), {"refused": 3}),
    "truncated": (lambda text, number: replied(judgments(text), finish_reason="length"), {"truncated": 3}),
    "last missing": (lambda text, number: judgments(text.replace("criterion: d_one", "")), {"ok": 2, "missing": 1}),
    "tie": (lambda text, number: judgments(text, "tie"), {"invalid": 3}),
    "indices": (lambda text, number: judgments(text.replace("criterion: c_one", "criterion: 0")), {"ok": 2, "missing": 1}),
}  # fmt: skip


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_reply_is_asked_again_once_and_never_becomes_a_label(engine: Engine, fault: str) -> None:
    say, expected = FAULTS[fault]
    study = make_study(engine, 1)
    summary = run_stub(engine, study, Stub(say), STUB_JUDGE + 'order = "random"\n')
    assert summary.judges[0].labels == expected
    assert all((row["status"] == "ok") == (row["choice"] is not None) for row in labels(engine))
    assert [a.kind for a in attempts(engine)] == ["first", "reask"]
    assert call_states(engine) == {"done": 1}


@pytest.mark.databases("sqlite")
def test_nothing_runs_without_a_plan(engine: Engine) -> None:
    study = make_study(engine, 1)
    with pytest.raises(AnnotationError, match="judge 'mini' has no plan with these settings"):
        run_judges(engine, study, judges(STUB_JUDGE), transport=Stub())


def test_an_answer_about_a_text_that_changed_meanwhile_is_never_a_label(engine: Engine) -> None:
    study = make_study(engine, 1)

    def changed_while_out(text: str, number: int) -> str:
        with transaction(engine) as session:
            for report in session.scalars(select(Report)):
                report.shown_text += " One more sentence."
                report.shown_sha256 = hashlib.sha256(report.shown_text.encode()).hexdigest()
        return judgments(text)

    run_stub(engine, study, Stub(changed_while_out))
    assert labels(engine) == []
    assert call_states(engine) == {"failed": 2}
    assert {attempt.outcome for attempt in attempts(engine)} <= {"ok"}, "what was paid for stays in the ledger"
