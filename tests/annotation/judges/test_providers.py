"""The entries of docs/judge_providers.md: each is loaded, planned and asked, at its provider's address, with its key and
in its form. Only the last step is not the provider's: a server of this test answers, as the manuals print it."""

from __future__ import annotations

import asyncio
import json
import socket
from base64 import b64encode
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from sqlalchemy import Engine

from annotation.judges.asking import client
from annotation.judges.asking.steps import asked_of
from annotation.judges.defining.judge_file import JudgeDefinition, parse_judges
from annotation.judges.planning.plan import plan_judges
from annotation.judges.running.run import run_judges
from annotation.protocol import parse_protocol
from tests.annotation.judges.judged_study import attempts, make_study, protocol_text
from tests.annotation.judges.judged_study import judgments as said_of
from tests.docs.shell import fences

PAGE = "docs/judge_providers.md"
ENTRIES = {
    judge.name: judge
    for _, language, block in fences(PAGE)
    if language == "toml"
    for judge in parse_judges(block, parse_protocol(protocol_text()))
}
KEYS = {
    "AZURE_API_KEY": "key-of-azure", "AWS_BEARER_TOKEN_BEDROCK": "key-of-aws", "OPENROUTER_API_KEY": "key-of-openrouter",
    "TOGETHER_API_KEY": "key-of-together", "OPENAI_API_KEY": "key-of-openai",
}  # fmt: skip


def openai_form(said: str, model: str = "m") -> dict[str, Any]:
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1741569952, "model": model,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": said, "refusal": None}, "logprobs": None,
             "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 190, "completion_tokens": 70, "total_tokens": 260},
    }  # fmt: skip


def ollama_form(said: str) -> dict[str, Any]:
    return {
        "model": "llama3.1:8b", "created_at": "2023-12-12T14:13:43.416799Z",
        "message": {"role": "assistant", "content": said}, "done": True, "done_reason": "stop",
        "total_duration": 5191566416, "load_duration": 2154458, "prompt_eval_count": 190,
        "prompt_eval_duration": 383809000, "eval_count": 70, "eval_duration": 4799921000,
    }  # fmt: skip


def bedrock_form(said: str) -> dict[str, Any]:
    return {
        "metrics": {"latencyMs": 551}, "output": {"message": {"content": [{"text": said}], "role": "assistant"}},
        "stopReason": "end_turn", "usage": {"inputTokens": 190, "outputTokens": 70, "totalTokens": 260},
    }  # fmt: skip


def bedrock_tool_form(said: str) -> dict[str, Any]:
    tool = {"toolUse": {"toolUseId": "t", "name": "json_tool_call", "input": json.loads(said)}}
    return {
        **bedrock_form(said),
        "output": {"message": {"content": [tool], "role": "assistant"}},
        "stopReason": "tool_use",
    }


def gemini_form(said: str) -> dict[str, Any]:
    return {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": said}]}, "finishReason": "STOP", "avgLogprobs": -0.1}
        ],
        "usageMetadata": {
            "promptTokenCount": 190, "candidatesTokenCount": 70, "totalTokenCount": 260, "trafficType": "ON_DEMAND"
        },
        "modelVersion": "gemini-2.5-flash", "createTime": "2025-06-20T10:00:00Z", "responseId": "r",
    }  # fmt: skip


@dataclass(frozen=True)
class Provider:
    """Where requests must go, with which key in which header, and how it answers."""

    address: str
    form: Any = openai_form
    key: tuple[str, str] | None = None


PROVIDERS = {
    "ollama": Provider("http://localhost:11434/api/chat", ollama_form),
    "vllm": Provider("http://localhost:8000/v1/chat/completions", key=("Authorization", "Bearer none")),
    "llamacpp": Provider("http://localhost:8080/v1/chat/completions", key=("Authorization", "Bearer none")),
    "azure": Provider(
        "https://my-resource.openai.azure.com/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21",
        key=("api-key", "key-of-azure"),
    ),
    "bedrock": Provider(
        "https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
        bedrock_tool_form, ("Authorization", "Bearer key-of-aws"),
    ),
    "vertex": Provider(
        "https://europe-west1-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west1/publishers/google/"
        "models/gemini-2.5-flash:generateContent", gemini_form, ("Authorization", "Bearer key-of-google"),
    ),
    "openrouter": Provider(
        "https://openrouter.ai/api/v1/chat/completions", key=("Authorization", "Bearer key-of-openrouter")
    ),
    "together": Provider("https://api.together.ai/v1/chat/completions", key=("Authorization", "Bearer key-of-together")),
    "overnight": Provider("https://api.openai.com/v1/chat/completions", key=("Authorization", "Bearer key-of-openai")),
}  # fmt: skip


@dataclass
class Wire:
    """What was asked and where, and what is answered: `form` of what a perfect judge says, or `refusal`."""

    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    form: Any = openai_form
    refusal: tuple[int, Any] | None = None

    async def answer(self, request: web.Request) -> web.Response:
        text = await request.text()
        self.asked.append((request.headers["Was-For"], dict(request.headers), json.loads(text)))
        if self.refusal:
            status, body = self.refusal
            return web.json_response(body, status=status, headers={"Retry-After": "7"} if status == 429 else {})
        return web.json_response(self.form(said_of(json.loads(f'"{_strings(json.loads(text))}"'))))


def _strings(value: Any) -> str:
    """Every text of a request one after the other, with line ends as JSON writes them, whatever its form."""
    if isinstance(value, dict | list):
        return "".join(_strings(one) for one in (value.values() if isinstance(value, dict) else value))
    return json.dumps(value)[1:-1] + "\\n" if isinstance(value, str) else ""


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    """Every request of aiohttp goes to a server of this event loop that is told where it was for."""
    made = Wire()
    asked = aiohttp.ClientSession._request
    places: dict[Any, str] = {}

    async def request(self: aiohttp.ClientSession, method: str, url: Any, **kept: Any) -> Any:
        loop = asyncio.get_running_loop()
        if loop not in places:
            runner = web.AppRunner(_app(made))
            await runner.setup()
            bound = socket.create_server(("127.0.0.1", 0))
            await web.SockSite(runner, bound).start()
            places[loop] = f"http://127.0.0.1:{bound.getsockname()[1]}/"
        headers = {**(kept.pop("headers", None) or {}), "Was-For": str(url)}
        for name in ("server_hostname", "ssl"):
            kept.pop(name, None)
        headers = {name: value for name, value in headers.items() if name.lower() != "host"}
        return await asked(self, method, places[loop], headers=headers, **kept)

    monkeypatch.setattr(aiohttp.ClientSession, "_request", request)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return made


def _app(wire: Wire) -> web.Application:
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", wire.answer)
    return app


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> None:
    """Google's library would turn an account into this token; it is not installed here."""
    from litellm.llms.vertex_ai.vertex_llm_base import VertexBase

    async def token(*_: Any, **__: Any) -> tuple[str, str]:
        return "key-of-google", "my-project"

    monkeypatch.setattr(VertexBase, "_ensure_access_token_async", token)


def test_the_page_and_this_table_know_the_same_entries() -> None:
    assert list(ENTRIES) == list(PROVIDERS)


@pytest.mark.databases("sqlite")
def test_every_entry_is_planned_with_no_network_and_keeps_its_parameters(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", _nobody)
    plans = plan_judges(engine, make_study(engine, 2), list(ENTRIES.values()))
    assert [(plan.name, plan.calls) for plan in plans] == [(name, 4) for name in ENTRIES]
    assert {plan.name: plan.warnings for plan in plans if any("accept" in one for one in plan.warnings)} == {}
    priced = {plan.name: plan.price_source.split()[0] for plan in plans}
    assert priced == {name: "user" if ENTRIES[name].price else "map" for name in ENTRIES}, (
        "an entry without a price has one in litellm's list"
    )


def _nobody(*_: Any, **__: Any) -> Any:
    raise AssertionError("this asks nobody")


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("name", PROVIDERS)
def test_an_entry_asks_at_the_address_and_with_the_key_of_its_provider_and_its_answer_is_labels(
    engine: Engine, wire: Wire, google: None, name: str
) -> None:
    provider, judge = PROVIDERS[name], ENTRIES[name].model_copy(update={"batch_api": False})
    wire.form = provider.form
    study = make_study(engine, 1)
    plan_judges(engine, study, [judge])
    (summary,) = run_judges(engine, study, [judge]).judges
    assert summary.labels == {"ok": 6}, [one.error for one in attempts(engine)]
    assert {address for address, _, _ in wire.asked} == {provider.address}
    if provider.key:
        header, value = provider.key
        assert {headers.get(header) for _, headers, _ in wire.asked} == {value}
    sent = json.dumps([[address, headers, body] for address, headers, body in wire.asked])
    others = {value for value in KEYS.values() if not (provider.key and value in provider.key[1])}
    assert not [value for value in others if value in sent], "no other provider's key"
    assert {(one.tokens_in, one.tokens_out, one.rung) for one in attempts(engine)} == {(190, 70, "json_schema")}


REFUSALS = [
    ("ollama", 404, {"error": 'model "llama3.1:8b" not found, try pulling it first'}, "fatal"),
    ("vllm", 400, {"object": "error", "message": "This model's maximum context length is 8192 tokens. However, you "
     "requested 9000 tokens.", "type": "BadRequestError", "param": None, "code": 400}, "too_long"),
    ("llamacpp", 400, {"error": {"code": 400, "message": "the request exceeds the available context size, try increasing "
     "it", "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096}}, "too_long"),
    ("llamacpp", 503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, "server_error"),
    ("azure", 400, {"error": {"message": "The response was filtered due to the prompt triggering Azure OpenAI's content "
     "management policy.", "type": None, "param": "prompt", "code": "content_filter", "status": 400}}, "refused"),
    ("azure", 429, {"error": {"code": "429", "message": "Requests to the ChatCompletions_Create Operation have exceeded "
     "call rate limit of your current tier. Please retry after 7 seconds."}}, "rate_limited"),
    ("azure", 404, {"error": {"code": "DeploymentNotFound", "message": "The API deployment for this resource does not "
     "exist."}}, "fatal"),
    ("bedrock", 429, {"message": "Too many requests, please wait before trying again."}, "rate_limited"),
    ("bedrock", 400, {"message": "Input is too long for requested model."}, "too_long"),
    ("bedrock", 403, {"message": "The security token included in the request is invalid."}, "fatal"),
    ("vertex", 429, {"error": {"code": 429, "message": "Resource exhausted. Please try again later.",
     "status": "RESOURCE_EXHAUSTED"}}, "rate_limited"),
    ("vertex", 403, {"error": {"code": 403, "message": "Permission 'aiplatform.endpoints.predict' denied",
     "status": "PERMISSION_DENIED"}}, "fatal"),
    ("openrouter", 402, {"error": {"code": 402, "message": "Insufficient credits. Add more using the credits page"}}, "fatal"),
    ("openrouter", 429, {"error": {"code": 429, "message": "Rate limit exceeded: free-models-per-min"}}, "rate_limited"),
    ("together", 422, {"error": {"message": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193, "
     "context length exceeded", "type": "invalid_request_error", "param": None, "code": None}}, "too_long"),
    ("overnight", 401, {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error",
     "param": None, "code": "invalid_api_key"}}, "fatal"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "status", "body", "outcome"), REFUSALS)
def test_what_a_provider_says_instead_of_answering_is_known_for_what_it_is(
    wire: Wire, google: None, name: str, status: int, body: Any, outcome: str
) -> None:
    wire.refusal = status, body
    reply = asyncio.run(_asked(ENTRIES[name]))
    assert (reply.outcome, reply.http_status) == (outcome, status), reply.error
    assert (reply.retry_after_s == 7) == (status == 429)


UNLIKE = [
    {"choices": []}, {"error": {"message": "over capacity", "code": 503}}, ["?"], {"choices": [{"index": 0, "finish_reason": "length"}]},
    {"choices": [{"index": 0, "message": {"content": "<think>so</think>first"}, "finish_reason": "eos"}]},
    openai_form("first") | {"usage": {"prompt_tokens": 3, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 4}}},
    openai_form("first"),
]  # fmt: skip
ANSWER = b64encode(json.dumps(openai_form("first")).encode()).decode()


@pytest.mark.parametrize(
    ("model", "again"), [("openai/gpt-4o-mini", 1), ("hosted_vllm/x", 1), ("openai/o3", 1), ("openrouter/x", 0)]
)
def test_what_is_sent_as_litellm_sent_it_before_is_the_same_request_and_its_answer_is_read_the_same(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, model: str, again: int
) -> None:
    """Also of a model without a system message, and not where a provider's form may be its own: once a journal's answer
    was read, or a prompt without a system message was sent, too.
    """
    litellm, made = client.library(), list[Any]()
    asks = litellm.acompletion
    monkeypatch.setattr(litellm, "acompletion", lambda **asked: made.append(asked) or asks(**asked))

    async def both() -> None:
        for seed, said in enumerate(UNLIKE):
            wire.refusal = 200, said
            judge = ENTRIES["vllm"].model_copy(update={"model": model, "params": {"seed": seed}})
            roles: Any = [{"role": "system", "content": "Judge."}, {"role": "user", "content": f"wéich, {seed}?"}]
            raw = {"status": 200, "headers": {"Content-Type": "application/json"}, "body": ANSWER}
            step = {"prompt_sha256": "", "rung": "json_schema", "kind": "first", "tries": 0}
            left = {"raw": raw, "asked": {**asked_of(judge, None), **step}, "seconds": 1.0}
            assert await asyncio.create_task(client.reread(left))
            assert not client._SENT, "nothing was sent"
            asking = [client.ask(judge, one, {"type": "object"}, "json_schema") for one in (roles[1:], roles, roles)]
            _, *found = [await one for one in asking]
            by_litellm, sent_again = (replace(one, seconds=0, error=(one.error or "")[:100]) for one in found)
            assert sent_again == by_litellm
            (place, heads, asked), last = wire.asked[-2:]
            assert last == (place, {**heads, "Content-Length": last[1]["Content-Length"]}, asked)
            assert [one["role"] for one in asked["messages"]] == ["user" if model == "openai/o3" else "system", "user"]
            client._SENT.clear()
        await client.close()

    asyncio.run(both())
    assert len(wire.asked) == 3 * len(UNLIKE)
    assert [one["seed"] for one in made].count(len(UNLIKE) - 1) == 4 - again, "of the plain answer"


async def _asked(judge: JudgeDefinition) -> Any:
    try:
        return await client.ask(judge, [{"role": "user", "content": "which?"}], {"type": "object"}, "plain")
    finally:
        await client.close()


def test_a_provider_whose_library_is_not_installed_stops_its_judge_at_once_with_the_librarys_name(wire: Wire) -> None:
    reply = asyncio.run(_asked(ENTRIES["vertex"]))
    assert (reply.outcome, wire.asked) == ("fatal", [])
    assert (
        reply.error
        == "No module named 'google.auth': this provider needs a library that is not installed beside calipers"
    )
