"""What follows from stored attempts alone."""

from __future__ import annotations

import json

import pytest

from annotation.judges.asking.steps import Ask, Finish, Tried, gave_up, next_step
from tests.annotation.judges.test_prompt import material

CODES = ("c_one", "c.two-2")
GOOD = json.dumps({"judgments": [{"criterion": code, "rationale": "x", "winner": "first"} for code in CODES]})
HALF = json.dumps({"judgments": [{"criterion": "c_one", "rationale": "x", "winner": "second"}]})
BAD = "nonsense"


def ok(text: str) -> Tried:
    return Tried("ok", "json_schema", text, "stop")


def failed(outcome: str) -> Tried:
    return Tried(outcome, "json_schema")


@pytest.mark.parametrize(
    ("tried", "kind"),
    [
        ((), "first"),
        ((failed("rate_limited"),) * 50, "first"),
        ((failed("server_error"),), "retry"),
        ((failed("abandoned"),) * 9, "first"),
        ((failed("dropped"), failed("timeout")), "retry"),
        ((ok(BAD),), "reask"),
        ((ok(HALF), failed("server_error")), "reask"),
        ((failed("format_rejected"),), "first"),
    ],
)
def test_what_is_asked_next(tried: tuple[Tried, ...], kind: str) -> None:
    step = next_step(material(), tried, "plain")
    assert isinstance(step, Ask)
    assert step.kind == kind
    assert step.rung == ("json_schema" if kind == "reask" else "plain")
    assert len(step.prompt.messages) == (4 if kind == "reask" else 2)


@pytest.mark.parametrize(
    ("tried", "state", "outcome", "statuses"),
    [
        ((ok(GOOD),), "done", "ok", ["ok", "ok"]),
        ((ok(HALF), ok(GOOD)), "done", "ok", ["ok", "ok"]),
        ((ok(HALF), ok(BAD)), "done", "ok", ["ok", "missing"]),
        ((ok(BAD), ok(BAD)), "done", "ok", ["invalid", "invalid"]),
        ((Tried("refused", "plain", "no"), Tried("refused", "plain", "no")), "done", "ok", ["refused", "refused"]),
        ((ok(HALF), *(failed("server_error"),) * 5), "done", "ok", ["ok", "missing"]),
        ((failed("server_error"),) * 5, "failed", "call_failed", ["missing", "missing"]),
        ((failed("dropped"), failed("timeout"), failed("dropped")), "failed", "call_failed", ["missing", "missing"]),
        ((failed("too_long"),), "failed", "input_too_long", ["missing", "missing"]),
        ((failed("bad_request"),), "failed", "call_failed", ["missing", "missing"]),
    ],
)
def test_how_a_call_ends(tried: tuple[Tried, ...], state: str, outcome: str, statuses: list[str]) -> None:
    step = next_step(material(), tried, "json_schema")
    assert isinstance(step, Finish)
    assert (step.state, step.outcome) == (state, outcome)
    assert [answer.status for answer in step.answers] == statuses


def test_without_money_for_a_re_ask_the_first_reply_stands() -> None:
    step = next_step(material(), (ok(HALF),), "json_schema", may_ask_again=False)
    assert isinstance(step, Finish)
    assert [answer.status for answer in step.answers] == ["ok", "missing"]


def test_a_429_never_makes_a_call_fail() -> None:
    assert gave_up([failed("rate_limited")] * 1000) == ""
