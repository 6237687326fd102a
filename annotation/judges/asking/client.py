"""The only importer of litellm, and only when it is first needed: the import takes seconds and 160 MB.

One `ask` is one HTTP request: litellm's own retries are off, because they are neither counted nor priced.
"""

import gc
import json
import os
import sys
import time
from base64 import b64decode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, Protocol

from annotation.errors import AnnotationError
from annotation.judges.asking import own_code, steps
from annotation.judges.asking.prompt import Message, Prompt
from annotation.judges.asking.wire import CAME_BEFORE, Wire
from annotation.judges.defining.judge_file import JudgeDefinition, ModelFacts, Price, Rung
from annotation.judges.money.accounts import leaves
from annotation.judges.money.prices import PER
from annotation.judges.replies.outcomes import REPLIES, Reply, Usage, failed_reply
from annotation.labels.entries import clean

OPENAI_FORM = ("openai/", "hosted_vllm/")  # what these are sent and answer is OpenAI's form, prompt and all
FROM_PROMPT = ("messages", "response_format")
KEY = "_API_KEY"  # how the variable ends where a key is all that a provider asks for
SECOND_NAMES = ("OR_API_KEY", "CO_API_KEY", "HF_TOKEN")  # which litellm reads and does not list


class Transport(Protocol):
    """How a request reaches a model; tests pass a function of their own. Returns, never raises, on provider errors."""

    async def __call__(
        self, judge: JudgeDefinition, messages: Sequence[Message], schema: Mapping[str, Any], rung: Rung
    ) -> Reply: ...


async def ask(judge: JudgeDefinition, messages: Sequence[Message], schema: Mapping[str, Any], rung: Rung) -> Reply:
    """Send one request with `judge.params` as they are; every provider error becomes an outcome."""
    if judge.code:
        leaves()
        return await own_code.ask(judge, messages)
    litellm = library()
    prompt: dict[str, Any] = {"messages": [dict(message) for message in messages]}
    if rung != "plain":
        prompt["response_format"] = response_format(schema, rung)
    settings: dict[str, Any] = {
        **judge.params,
        "model": judge.model,
        "max_tokens": judge.max_output_tokens,
        "timeout": judge.timeout_s,
        "num_retries": 0,
        "max_retries": 0,
    }
    is_new = CAME_BEFORE.get() is None
    key = api_key(judge) if is_new else _key_to_read(judge)
    if key is not None:
        settings["api_key"] = key
    if judge.api_base is not None:
        settings["api_base"] = judge.api_base
    asked = _Asked(judge, f"{settings} {rung} {judge.images} {[one['role'] for one in messages]}", prompt)
    _ASKED.set(asked)
    if judge.model not in _TOLD:
        leaves()
    started, came = time.monotonic(), None
    try:
        if is_new and (sent := _SENT.get(asked.settings)):
            came = CAME_BEFORE.set(await _sent_again(sent, prompt))
            if (response := _completion(CAME_BEFORE.get())) is not None:
                return received(response, time.monotonic() - started)
        response = await litellm.acompletion(**settings, **prompt, shared_session=_wire().session)
    except Exception as error:  # noqa: BLE001  (whatever a provider's adapter raises is an outcome)
        return failed_reply(error, time.monotonic() - started)
    finally:
        if came is not None:
            CAME_BEFORE.reset(came)
    return received(response, time.monotonic() - started)


def response_format(schema: Mapping[str, Any], rung: Rung) -> dict[str, Any]:
    """What a step of the ladder above `plain` asks the provider to keep to."""
    if rung == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "judgments", "strict": True, "schema": dict(schema)}}


UNREAD: Mapping[str, Any] = {"type": "object", "properties": {}}


async def reread(said: Mapping[str, Any]) -> dict[str, Any] | None:
    """What litellm makes of a journal's line with an answer as it came, as `settling.Settled` has it. Nothing is sent.

    None where it cannot be read here, as without the account that its provider's requests are signed with, or where
    another version of calipers wrote it.
    """
    CAME_BEFORE.set(said["raw"])
    try:
        asked, price = said["asked"], said["asked"]["price"] and Price(**said["asked"]["price"])
        judge = JudgeDefinition.model_validate(asked["judge"])
        reply = await ask(judge, [{"role": "user", "content": "-"}], UNREAD, asked["rung"])
        if said["raw"]["status"] == 200 and reply.outcome not in REPLIES:
            return None
        step = steps.Ask(Prompt((), asked["prompt_sha256"], "", {}), asked["rung"], asked["kind"])
        attempt = steps.as_row(replace(reply, seconds=said["seconds"]), step, price)
        tries = asked["tries"] + (reply.outcome in steps.MAX_TRIES)
    except (AnnotationError, ValueError, LookupError, TypeError, AttributeError):  # it may lack or hold anything
        return None
    return {"attempt": attempt, "spent": steps.spent_by(reply, price), "tries": tries}


@dataclass(frozen=True)
class _Asked:
    """A request as litellm is given it; `settings`: all but what its messages say, as text."""

    judge: JudgeDefinition
    settings: str
    prompt: Mapping[str, Any]


_ASKED: ContextVar[_Asked] = ContextVar("ASKED")
_SENT: dict[str, Mapping[str, Any]] = {}  # by settings: a request as litellm sent it, its body read
_TOLD: set[str] = set()  # models of which a request was seen to leave; of others it is said before it does
_WIRES: dict[str, Wire] = {}


async def _left(*_: Any) -> None:
    _TOLD.add(_ASKED.get().judge.model)
    leaves()


def _note_sent(*, data: Any, headers: Mapping[str, str], **kwargs: Any) -> None:
    """Keep how litellm asks a server of OpenAI's form, to ask it so again: most of its own time goes into that.

    Only where the prompt went out as it was given, in whatever roles the model takes; a provider's own form, or a
    prompt made over, is litellm's to make.
    Nothing is sent where an answer came before: its prompt may be none that a judge is asked.
    """
    asked = _ASKED.get()
    if CAME_BEFORE.get() is not None or asked.judge.images or not asked.judge.model.startswith(OPENAI_FORM):
        return
    body = json.loads(data or b"{}")
    _SENT.pop(asked.settings, None)  # of a request that was led elsewhere, the last counts
    given = _in_roles_of(asked.prompt, body)
    if {name: body.get(name) for name in FROM_PROMPT} == {name: given.get(name) for name in FROM_PROMPT}:
        kept = {name: value for name, value in headers.items() if name.lower() != "content-length"}
        _SENT[asked.settings] = {**kwargs, "headers": kept, "body": body}


def _in_roles_of(prompt: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    roles = [message["role"] for message in body.get("messages", ())]
    if len(roles) != len(prompt["messages"]):
        return dict(prompt)
    messages = [{**given, "role": role} for given, role in zip(prompt["messages"], roles, strict=True)]
    return {**prompt, "messages": messages}


async def _sent_again(sent: Mapping[str, Any], prompt: Mapping[str, Any]) -> Mapping[str, Any] | Exception:
    """What comes of a prompt that is sent as another one was, as it came, or what was raised."""
    kwargs = {name: value for name, value in sent.items() if name != "body"}
    body = {**sent["body"], **_in_roles_of(prompt, sent["body"])}
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    try:
        return await _wire().fetched(**kwargs, data=data)
    except Exception as error:  # noqa: BLE001  (litellm raises it again, as its own)
        return error


def _completion(came: Mapping[str, Any] | Exception | None) -> Any:
    """A chat completion as litellm reads it; None where there is none, and litellm has to say what it is."""
    from httpx import Response

    if not isinstance(came, Mapping) or came["status"] != 200:
        return None
    litellm = library()
    with suppress(Exception):  # whatever a server may say instead
        said = Response(200, headers=came["headers"], content=b64decode(came["body"])).json()
        return litellm.utils.convert_to_model_response_object(
            response_object=said, model_response_object=litellm.ModelResponse(usage=litellm.Usage())
        )
    return None


def _wire() -> Wire:
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    if "wire" not in _WIRES:
        transport = AsyncHTTPHandler.create_aiohttp_transport
        _WIRES["wire"] = Wire(lambda: transport().get_valid_client_session(), _left, _note_sent)
    return _WIRES["wire"]


async def close() -> None:
    """Close the connections that litellm keeps open; call it in the event loop that used them."""
    await own_code.close()
    _SENT.clear()
    if wire := _WIRES.pop("wire", None):
        await wire.close()
    if "litellm" in sys.modules:
        from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients

        await close_litellm_async_clients()  # type: ignore[no-untyped-call]  # litellm's own
        # a closed client left in the cache would be handed to the next run
        sys.modules["litellm"].in_memory_llm_clients_cache.flush_cache()


def api_key(judge: JudgeDefinition) -> str | None:
    """The key to send. None lets litellm read the provider's own variable; a stranger's server never gets that one.

    Raises AnnotationError naming the variable that is not set.
    """
    if judge.api_key_env is not None:
        key = os.environ.get(judge.api_key_env, "")
        if not key:
            raise AnnotationError(
                "no_key", "judge {name!r}: the environment variable {api_key_env} is not set; export it",
                name=judge.name, api_key_env=judge.api_key_env,
            )  # fmt: skip
        return key
    return "none" if is_own_server(judge) else None


def _key_to_read(judge: JudgeDefinition) -> str | None:
    """The key to read an answer with that came before: any, where the judge's is not here, since nothing is sent."""
    try:
        refuse_without_key(judge)
        return api_key(judge)
    except AnnotationError:
        return "none"


def refuse_without_key(judge: JudgeDefinition) -> None:
    """Before anything is sent: raises AnnotationError naming the judge and the variable that holds no key."""
    if not judge.code and api_key(judge) is None and (names := _unset(judge)):
        raise AnnotationError(
            "no_key",
            "judge {name!r}: {model} needs a key; export {names}, or name another variable as api_key_env in "
            "judges.toml", name=judge.name, model=judge.model, names=' or '.join(names),
        )  # fmt: skip


def _unset(judge: JudgeDefinition) -> list[str]:
    """The variables one of which must hold a key; empty where one does, or where there is another way in.

    Clouds take accounts instead of keys, a server of one's own may take none, and some providers have a second name
    for their variable: where any of that may be, the provider has the last word.
    """
    litellm = library()
    unset: list[str] = litellm.validate_environment(judge.model)["missing_keys"]
    if judge.api_base is not None or not all(name.endswith(KEY) for name in unset):
        return []
    own = tuple(name.removesuffix(KEY) for name in unset)
    is_told = any(value and (name in SECOND_NAMES or name.startswith(own)) for name, value in os.environ.items())
    *_, key, _ = litellm.get_llm_provider(judge.model)
    return [] if is_told or key else unset


def is_own_server(judge: JudgeDefinition) -> bool:
    """Whether the judge runs where a provider's key must not go."""
    return judge.api_base is not None and judge.model.startswith(OPENAI_FORM)


def describe(judge: JudgeDefinition) -> ModelFacts:
    """Facts about the judge's model from litellm's local map; nothing is fetched.

    Parameters the model does not take are dropped and named. Raises AnnotationError for an unknown provider.
    """
    if judge.code:
        return own_code.describe_code(judge)
    litellm = library()
    try:
        model, provider, _, _ = litellm.get_llm_provider(judge.model, api_base=judge.api_base)
    except litellm.BadRequestError:
        raise AnnotationError(
            "unknown_model", "judge {name!r}: litellm knows no provider for {model!r}; write provider/model",
            name=judge.name, model=judge.model,
        ) from None  # fmt: skip
    known = litellm.model_cost.get(judge.model) or litellm.model_cost.get(model) or {}
    if judge.images and known and not litellm.supports_vision(model=model, custom_llm_provider=provider):
        raise AnnotationError(
            "no_vision", "judge {name!r}: litellm knows {model} to see no images; remove images = true",
            name=judge.name, model=judge.model,
        )  # fmt: skip
    taken = {name: value for name, value in judge.params.items() if _accepts(litellm, model, provider, name, value)}
    return ModelFacts(
        params=taken,
        dropped=tuple(name for name in judge.params if name not in taken),
        takes_seed=_accepts(litellm, model, provider, "seed", 1),
        price=mapped_price(known),
        price_source=f"map {version('litellm')}",
        context_tokens=known.get("max_input_tokens") if isinstance(known.get("max_input_tokens"), int) else None,
    )


def library() -> Any:
    """litellm, imported now if nobody has needed it yet."""
    # before the import, else it fetches the map of models over the network
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    is_new = "litellm" not in sys.modules
    import litellm

    if is_new:  # it stays: looking for garbage in it holds every reply up for a third of a second
        litellm.suppress_debug_info = True
        gc.freeze()
    return litellm


def _accepts(litellm: Any, model: str, provider: str, name: str, value: Any) -> bool:
    try:
        litellm.utils.get_optional_params(model=model, custom_llm_provider=provider, **{name: value})
    except litellm.UnsupportedParamsError:
        return False
    return True


def mapped_price(known: Mapping[str, Any]) -> Price | None:
    """The map's price per million tokens. 0 in the map means "nobody filled it in", so it is no price."""

    def per_million(name: str) -> float | None:
        value = known.get(name)
        return float(f"{value * PER:.10g}") if isinstance(value, int | float) and value > 0 else None

    into, out = per_million("input_cost_per_token"), per_million("output_cost_per_token")
    if into is None or out is None:
        return None
    return Price(
        input=into,
        output=out,
        cached=per_million("cache_read_input_token_cost"),
        batch_input=per_million("input_cost_per_token_batches"),
        batch_output=per_million("output_cost_per_token_batches"),
        batch_cached=per_million("cache_read_input_token_cost_batches"),
    )


def received(response: Any, seconds: float) -> Reply:
    """A chat completion as a reply; `response` has its fields as attributes."""
    choices = getattr(response, "choices", None)
    choice = choices[0] if choices else None
    message = getattr(choice, "message", None)
    refusal = getattr(message, "refusal", None) or (getattr(message, "provider_specific_fields", None) or {}).get(
        "refusal"
    )
    finish_reason = getattr(choice, "finish_reason", None)
    refused = bool(refusal) or finish_reason == "content_filter"
    usage = getattr(response, "usage", None)
    into, out = getattr(usage, "prompt_tokens_details", None), getattr(usage, "completion_tokens_details", None)
    return Reply(
        outcome="refused" if refused else "ok",
        seconds=seconds,
        text=clean(refusal or getattr(message, "content", None) or ""),
        finish_reason=finish_reason,
        model=getattr(response, "model", None),
        system_fingerprint=getattr(response, "system_fingerprint", None),
        usage=Usage(
            input=getattr(usage, "prompt_tokens", None),
            cached=getattr(into, "cached_tokens", None),
            output=getattr(usage, "completion_tokens", None),
            reasoning=getattr(out, "reasoning_tokens", None),
        ),
        http_status=200,
    )
