"""One tiny call per judge before a run: does the key work, which parameters count, and what will it cost."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.errors import AnnotationError
from annotation.items.shown import ShownText
from annotation.judges.asking import client, own_code, own_prompts
from annotation.judges.asking.client import Transport
from annotation.judges.asking.material import material_of
from annotation.judges.asking.prompt import Asked, Material, Probe, build_prompt
from annotation.judges.asking.steps import Tried, cost_of, parsed
from annotation.judges.defining.judge_file import JudgeDefinition, Rung
from annotation.judges.money.accounts import REPEAT, Describe, as_sent
from annotation.judges.money.prices import snapshot
from annotation.judges.replies.outcomes import KEY_WORDS, REPLIES, Reply, Usage
from annotation.judges.replies.reply import what_is_wrong
from annotation.protocol import Protocol, Scale
from plain.hashes import text_sha256

TEXTS = ("Water boils at 100 °C at sea level, and at less on a mountain.", "Water boils when it is hot.")
NAMES = {"pairwise_choice": ("Left", "Right"), "pointwise_rating": ("Report",), "probe_label": ("Report",)}


@dataclass(frozen=True)
class Checked:
    """What one tiny call to a judge came to; it is not stored. `problem` is empty where everything works.

    `key`: where it comes from, never itself. `params`: what is sent; `dropped`: asked for, but not accepted. `price`:
    USD per million tokens. `rung`: of the ladder of output formats. None where the call was not made or did not say.
    """

    judge: str
    model: str
    problem: str
    key: str
    rung: Rung | None
    params: Mapping[str, Any]
    dropped: tuple[str, ...]
    price: Mapping[str, float] | None
    price_source: str
    seconds: float | None
    model_reported: str | None
    usage: Usage
    cost_usd: float | None


def check_judges(
    definitions: Sequence[JudgeDefinition],
    protocol: Protocol,
    *,
    transport: Transport = client.ask,
    describe: Describe = client.describe,
) -> tuple[Checked, ...]:
    """Ask every judge one question about made-up texts, in the study's form. Writes nothing, never raises for a judge.

    Each call is paid like any other.
    """

    async def check() -> list[Checked]:
        try:
            return list(
                await asyncio.gather(*(_check(definition, protocol, transport, describe) for definition in definitions))
            )
        finally:
            if transport is client.ask:
                await client.close()

    return tuple(asyncio.run(check()))


def tiny_material(protocol: Protocol, template: str) -> Material:
    """A question about made-up texts in the protocol's form, of one criterion."""
    scale = protocol.answers.scale or Scale(min=0, max=10) if protocol.task_type == "pointwise_rating" else None
    names = NAMES["pairwise_choice" if protocol.rates_both else protocol.task_type]
    return material_of(
        protocol, template,
        [Asked(0, "check", "Clear", "Is it clear and right about when water boils?", scale)],
        title="Boiling water", prompt="When does water boil?",
        shown=[ShownText(name, text, text_sha256(text), "") for name, text in zip(names, TEXTS, strict=False)],
        probes=[Probe("Water boils at 100 °C at sea level.")] if protocol.task_type == "probe_label" else (),
    )  # fmt: skip


async def _check(definition: JudgeDefinition, protocol: Protocol, transport: Transport, describe: Describe) -> Checked:
    key = _key(definition)
    try:
        facts = describe(definition)
        if transport is client.ask:
            client.refuse_without_key(definition)
        priced = snapshot(definition, facts.price, facts.price_source)
    except AnnotationError as error:
        return Checked(
            definition.name, definition.model, error.text, key, None, {}, (), None, "none", None, None, Usage(), None
        )
    params = dict(facts.params)
    if facts.takes_seed:
        params.setdefault("seed", REPEAT)
    effective = as_sent(definition.model_copy(update={"params": params}), 1)
    material = tiny_material(protocol, own_prompts.own_template(protocol, definition))
    rung, reply = await _ask(effective, material, transport)
    return Checked(
        judge=definition.name, model=definition.model, problem=_problem(material, rung, reply), key=key,
        rung=rung if reply.outcome in REPLIES else None, params=effective.params, dropped=facts.dropped,
        price=priced.price.model_dump(exclude_none=True) if priced.price else None, price_source=priced.source,
        seconds=reply.seconds, model_reported=reply.model, usage=reply.usage, cost_usd=cost_of(reply, priced.price),
    )  # fmt: skip


async def _ask(definition: JudgeDefinition, material: Material, transport: Transport) -> tuple[Rung, Reply]:
    """Down the ladder, as a run would."""
    for rung in definition.structured:
        prompt = build_prompt(material, rung)
        try:
            if definition.code and transport is client.ask:
                return rung, await own_code.ask(definition, prompt.messages, alone=True)
            reply = await transport(definition, prompt.messages, prompt.schema, rung)
        except AnnotationError as error:
            return rung, Reply("fatal", 0.0, error=error.text)
        if reply.outcome != "format_rejected":
            break
    return rung, reply


def _problem(material: Material, rung: Rung, reply: Reply) -> str:
    if reply.outcome not in REPLIES:
        if reply.error and KEY_WORDS.search(reply.error):
            return "no key was sent: export the provider's variable, or one that api_key_env in judges.toml names"
        return reply.error or reply.outcome
    answers = parsed(material, Tried(reply.outcome, rung, reply.text, reply.finish_reason))
    return what_is_wrong(reply.text, answers, material.task_type)


def _key(definition: JudgeDefinition) -> str:
    if definition.api_key_env is not None:
        return f"{definition.api_key_env} ({'set' if os.environ.get(definition.api_key_env) else 'not set'})"
    return "none" if definition.code or client.is_own_server(definition) else "the provider's own variable"
