"""Judges that an admin describes in the browser: models alone, and nothing that reads, runs or sends elsewhere on the
machine of a worker, which holds keys that are not the admin's.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from annotation.errors import AnnotationError
from annotation.files.decoding import read_toml
from annotation.judges.defining.judge_file import PROMPTS, JudgeDefinition, parse_judges
from annotation.protocol import Protocol
from plain.wording import Sentence

SOURCE = "judges"
KEYS = (
    "name", "model", "api_base", "api_key_env", "params", "prompt", "price", "rpm", "tpm", "structured", "max_cost",
    "order", "first_report", "batching", "items_per_call", "repeats", "concurrency", "timeout_s", "max_output_tokens",
)  # fmt: skip
# others name files, credentials or hosts to litellm
PARAMS = ("temperature", "top_p", "top_k", "seed", "reasoning_effort", "frequency_penalty", "presence_penalty")
KEY_NAME = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY")  # no other variable of a worker is sent to anybody
MODEL_NAME = re.compile(r"[\w.:@-]+(/[\w.:@-]+)+")  # litellm sends to some providers what is an address in the name
# each at one address of its own, with a key alone; of others a name may hold an address, or the machine's account pays
PROVIDERS = (
    "openai", "anthropic", "gemini", "mistral", "deepseek", "xai", "groq", "cerebras", "perplexity", "together_ai",
    "fireworks_ai", "openrouter", "cohere", "cohere_chat", "deepinfra", "moonshot", "zai", "novita", "sambanova",
)  # fmt: skip
SERVERS = ("openai", "hosted_vllm")  # what is spoken at an api_base


def parse_described(text: str, protocol: Protocol, at_worker: bool = False) -> tuple[JudgeDefinition, ...]:
    """The judges in `text`. Raises AnnotationError `bad_judges` naming judge, key and remedy.

    A worker gets no price of a provider's model: it pays what litellm's map says, so the budget is counted by that.
    """
    try:
        raw = read_toml(text)
    except ValueError as error:
        raise AnnotationError(
            "bad_judges", "{source}: not TOML: {error}; correct that place", source=SOURCE, error=error
        ) from None
    for problem in _problems(raw):
        raise AnnotationError("bad_judges", "{source}: {problem}", source=SOURCE, problem=problem)
    found = parse_judges(text, protocol, SOURCE)
    if open_ended := next((judge.name for judge in found if judge.max_cost is None), None):
        raise AnnotationError(
            "bad_judges", "{source}: judge {open_ended!r}: say its budget, such as max_cost = 5.0", source=SOURCE,
            open_ended=open_ended,
        )  # fmt: skip
    for problem in (problem for judge in found for problem in _ways_out(judge)):
        raise AnnotationError("bad_judges", "{source}: {problem}", source=SOURCE, problem=problem)
    return tuple(
        judge.model_copy(update={"price": None}) if at_worker and not judge.api_base else judge for judge in found
    )


def without_address(judges: Iterable[JudgeDefinition], bases: Collection[str]) -> dict[str, str]:
    """Name -> why a worker asks it not: its `api_base` is none of those that the worker's owner lets them ask."""
    barred = ((judge.name, judge.api_base) for judge in judges if judge.api_base not in (None, *bases))
    told = "judge {name!r}: this worker was not given its address; whoever runs it allows that with --api-base={base}"
    return {name: Sentence(told, name=name, base=base) for name, base in barred}


def key_root(provider: str) -> str:
    """How the names of variables begin that hold this provider's keys: `TOGETHER` of `together_ai`."""
    return provider.split("_")[0].upper()


def _ways_out(judge: JudgeDefinition) -> Iterator[str]:
    """Where its prompt, or a key, would go to somebody else."""
    place, provider, key = f"judge {judge.name!r}", judge.model.split("/")[0], judge.api_key_env
    known = SERVERS if judge.api_base else PROVIDERS
    if provider not in known or not MODEL_NAME.fullmatch(judge.model):
        yield (
            f"{place}: model is provider/model, of {', '.join(known)} (found {judge.model!r:.80}); describe any other "
            "in judges.toml of the machine that asks"
        )
    elif judge.api_base and key and key.startswith(tuple(map(key_root, PROVIDERS))):
        yield f"{place}: {key} is a provider's key and is not sent to api_base; name that server's own variable"
    elif not judge.api_base and key and not key.startswith(key_root(provider)):
        yield f"{place}: {key} is not sent to {provider}; api_key_env begins with {key_root(provider)} there"


def _problems(raw: Mapping[str, Any]) -> Iterator[str]:
    yield from (
        f"{key}: only [defaults] and [[judge]] are described here" for key in raw if key not in ("defaults", "judge")
    )
    tables = [raw.get("defaults"), *(raw["judge"] if isinstance(raw.get("judge"), list) else [])]
    for table in (one for one in tables if isinstance(one, dict)):
        place = f"judge {table.get('name', 'defaults')!r:.60}"
        elsewhere = "describe it in judges.toml of the machine that asks"
        yield from (f"{place}: {key} is no setting of a model; {elsewhere}" for key in table if key not in KEYS)
        if table.get("prompt", PROMPTS[0]) not in PROMPTS:
            yield f"{place}: a prompt of one's own is a file; choose one of {', '.join(PROMPTS)}, or {elsewhere}"
        params = table.get("params", {})
        strange = [name for name in params if name not in PARAMS] if isinstance(params, dict) else []
        yield from (f"{place}: params.{name} is not sent from here; use {', '.join(PARAMS)}" for name in strange)
        if not KEY_NAME.fullmatch(str(table.get("api_key_env", "AN_API_KEY"))):
            yield f"{place}: api_key_env is the name of a variable that ends in _API_KEY, such as OPENAI_API_KEY"
