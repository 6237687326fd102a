"""`calipers judge models`: litellm's list by words, provider, price and context length, from this machine alone."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from typer.testing import CliRunner

from annotation.judges.asking.client import describe, library
from annotation.judges.asking.known_models import known_models
from app.command_line import app
from tests.annotation.judges.judged_study import judges

ENTRIES = {
    "openai/dear": {"litellm_provider": "openai", "input_cost_per_token": 2e-6, "output_cost_per_token": 8e-6,
                    "cache_read_input_token_cost": 5e-7, "max_input_tokens": 200_000},
    "openai/cheap-mini": {"litellm_provider": "openai", "input_cost_per_token": 1e-7, "output_cost_per_token": 4e-7,
                          "max_input_tokens": 128_000, "deprecation_date": "2099-01-01"},
    "together_ai/cheap-mini": {"litellm_provider": "together_ai", "input_cost_per_token": 2e-7,
                               "output_cost_per_token": 2e-7},
    "ollama/free-mini": {"litellm_provider": "ollama", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0,
                         "max_input_tokens": 8_192},
    "openai/gone": {"litellm_provider": "openai", "input_cost_per_token": 1e-9, "output_cost_per_token": 1e-9,
                    "max_input_tokens": 1_000, "deprecation_date": "2024-05-31"},
    "openai/voice": {"litellm_provider": "openai", "mode": "audio_speech"},
    "nobodys-size": {"litellm_provider": "fireworks_ai", "input_cost_per_token": 1e-8, "output_cost_per_token": 1e-8},
    "github_copilot/gpt": {"litellm_provider": "github_copilot"},
}  # fmt: skip


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: Any, **__: Any) -> Any:
        raise AssertionError("this asks nobody")

    monkeypatch.setattr(library(), "model_cost", {name: {"mode": "chat", **one} for name, one in ENTRIES.items()})
    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    known_models.__globals__["_all"].cache_clear()
    yield
    known_models.__globals__["_all"].cache_clear()


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ([], ["together_ai/cheap-mini", "openai/cheap-mini", "openai/dear", "ollama/free-mini", "openai/gone"]),
        (["MINI"], ["together_ai/cheap-mini", "openai/cheap-mini", "ollama/free-mini"]),
        (["mini", "cheap"], ["together_ai/cheap-mini", "openai/cheap-mini"]),
        (["--provider", "OpenAI"], ["openai/cheap-mini", "openai/dear", "openai/gone"]),
        (
            ["--max-price", "0.3"],
            ["together_ai/cheap-mini", "openai/gone"],
        ),  # the other writes at .40; no price is not a low one
        (["--min-context", "100000"], ["openai/cheap-mini", "openai/dear"]),
        (["--limit", "1"], ["together_ai/cheap-mini"]),
        (["nothing-like-it"], []),
    ],
)
def test_filters_keep_what_passes_all_of_them_the_cheapest_first(
    listed: None, given: list[str], names: list[str]
) -> None:
    found = CliRunner().invoke(app, ["judge", "models", *given, "--json"])
    assert [one["model"] for one in json.loads(found.stdout)] == names


def test_a_row_says_prices_per_million_tokens_context_and_last_day_and_what_is_not_known_is_a_dash(
    listed: None,
) -> None:
    said = CliRunner().invoke(app, ["judge", "models", "mini", "--limit", "2"])
    rows = [line.split() for line in said.stdout.splitlines() if "mini" in line]
    assert rows == [
        ["together_ai/cheap-mini", "together_ai", "0.2", "–", "0.2", "–"],
        ["openai/cheap-mini", "openai", "0.1", "–", "0.4", "128,000", "2099-01-01"],
    ]
    assert "2 of 3 models" in said.stderr


def test_a_provider_that_is_none_is_told_with_those_there_are(listed: None) -> None:
    said = CliRunner().invoke(app, ["judge", "models", "--provider", "opanai"])
    assert said.exit_code == 2
    assert all(name in " ".join(said.stderr.split()) for name in ("ollama", "openai", "together_ai"))


def test_what_is_listed_is_what_a_judge_of_that_name_is_planned_with() -> None:
    for one in known_models(["gpt-4o-mini"], "openai"):
        (judge,) = judges(f'name = "j"\nmodel = "{one.model}"\n')
        facts = describe(judge)
        assert (facts.price, facts.context_tokens) == (one.price, one.context)
