"""One tiny call per judge says whether a run would work, and nothing is written or given away."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from annotation.judges.asking.checking import Checked, check_judges
from annotation.judges.defining.judge_file import JudgeDefinition, ModelFacts
from annotation.judges.replies.outcomes import Reply
from annotation.protocol import parse_protocol
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import (
    PRICE,
    STUB_JUDGE,
    Stub,
    asked_codes,
    describe,
    judges,
    protocol_text,
    replied,
)
from tests.small_study import PROBES, RATING

PAIRS = parse_protocol(protocol_text())


def good(text: str, number: int) -> str:
    (code,) = asked_codes(text)
    return f'{{"judgments": [{{"criterion": "{code}", "rationale": "r", "winner": "first", "score": 7, "label": "full"}}]}}'


def check(say: Any = good, toml: str = STUB_JUDGE, protocol: str = "", **more: Any) -> tuple[Checked, Stub]:
    stub = Stub(say)
    asked = parse_protocol(protocol) if protocol else PAIRS
    (found,) = check_judges(judges(toml), asked, transport=stub, describe=more.get("describe", describe))
    return found, stub


@pytest.mark.parametrize("protocol", ["", RATING, PROBES])
def test_a_judge_that_answers_in_the_studys_form_works(protocol: str) -> None:
    found, stub = check(protocol=protocol)
    assert (found.problem, found.rung, found.price_source) == ("", "json_schema", "user")
    assert found.price == {"input": 0.15, "output": 0.6, "cached": 0.075}
    assert found.cost_usd is not None
    assert found.seconds is not None
    assert len(stub.requests) == 1


def test_effective_parameters_are_shown_with_what_was_dropped() -> None:
    def picky(judge: JudgeDefinition) -> ModelFacts:
        return replace(describe(judge), params={"top_p": 0.5}, dropped=("temperature",))

    found, stub = check(toml=STUB_JUDGE + "params = {temperature = 0, top_p = 0.5}\n", describe=picky)
    assert (found.params, found.dropped) == ({"top_p": 0.5, "seed": 1}, ("temperature",))
    assert stub.requests[0]["judge"].params == found.params


def test_the_rung_that_works_is_found_down_the_ladder() -> None:
    rejected = replied("", outcome="format_rejected", http_status=400, error="no response_format")
    found, stub = check(lambda text, number: rejected if number < 3 else good(text, number))
    assert (found.problem, found.rung) == ("", "plain")
    assert [request["rung"] for request in stub.requests] == ["json_schema", "json_object", "plain"]


@pytest.mark.parametrize(
    ("say", "problem"),
    [
        (lambda t, n: "prose", "it is not one JSON object"),
        (lambda t, n: '{"judgments": []}', "check: there is no entry for it"),
        (lambda t, n: Reply("fatal", 0.1, http_status=401, error="Incorrect API key"), "Incorrect API key"),
        (lambda t, n: replied("", finish_reason="length"), "it was cut off at the length limit"),
        (lambda t, n: replied("", outcome="format_rejected", error="no format at all"), "no format at all"),
    ],
)
def test_what_is_wrong_is_said(say: Any, problem: str) -> None:
    assert problem in check(say)[0].problem


def test_a_key_is_named_and_never_shown(monkeypatch: pytest.MonkeyPatch, fake: Fake) -> None:
    toml = f'name = "j"\nmodel = "openai/fake"\napi_base = "{fake.base}"\napi_key_env = "MY_JUDGE_KEY"\n{PRICE}\n'
    (unset,) = check_judges(judges(toml), PAIRS)
    assert unset.key == "MY_JUDGE_KEY (not set)"
    assert "the environment variable MY_JUDGE_KEY is not set" in unset.problem
    monkeypatch.setenv("MY_JUDGE_KEY", "SENTINEL-4711-key")
    (found,) = check_judges(judges(toml), PAIRS)
    assert (found.problem, found.key, found.rung) == ("", "MY_JUDGE_KEY (set)", "json_schema")
    assert found.model_reported == "fake"
    assert "SENTINEL" not in repr(asdict(found))
    (unknown,) = check_judges(judges('name = "j"\nmodel = "nonsense"'), PAIRS)
    assert "write provider/model" in unknown.problem
