"""What to do next with a call, by its stored attempts alone: ask, ask again, or finish; and what a try cost. Pure.

Because nothing else is consulted, a run that was killed goes on exactly where its rows end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from annotation.judges.asking.prompt import Material, Prompt, build_prompt
from annotation.judges.defining.judge_file import JudgeDefinition, Price, Rung
from annotation.judges.money.prices import cost
from annotation.judges.replies.outcomes import COST_UNKNOWN, REPLIES, Reply
from annotation.judges.replies.reply import better, failed_answers, needs_asking_again, parse_reply, problems
from annotation.labels.answers import Answer
from plain.hashes import canonical_sha256

MAX_TRIES: Mapping[str, int] = {"server_error": 5, "dropped": 3, "timeout": 3}
READ_BY = {"name", "model", "api_base", "api_key_env", "params"}  # of a judge's settings: how its answers are read
HOPELESS = {"too_long": "input_too_long", "bad_request": "call_failed"}


@dataclass(frozen=True)
class Tried:
    """One stored attempt, as far as a decision needs it."""

    outcome: str
    rung: Rung
    raw_reply: str = ""
    finish_reason: str | None = None
    earlier: bool = False  # made before somebody asked for new attempts


@dataclass(frozen=True)
class Ask:
    """Send `prompt` on this step of the ladder; `kind` is first | retry | reask."""

    prompt: Prompt
    rung: Rung
    kind: str


@dataclass(frozen=True)
class Finish:
    """Label and end the call as done, or as failed where it never got a reply."""

    answers: tuple[Answer, ...]
    state: Literal["done", "failed"]
    outcome: str
    stops: str = ""  # why instead no call of the judge may go on


def next_step(material: Material, tried: Sequence[Tried], rung: Rung, *, may_ask_again: bool = True) -> Ask | Finish:
    """The step that follows `tried`, the attempts so far in order. `rung`: where on the ladder the judge is now.

    Raises AnnotationError where no prompt can be built (see `build_prompt`).
    """
    now = [attempt for attempt in tried if not attempt.earlier]
    replies = [attempt for attempt in now if attempt.outcome in REPLIES]
    exhausted = gave_up(now)
    if not replies and not exhausted:
        before = len(now) < len(tried) or counted_tries(now) > 0
        return Ask(build_prompt(material, rung), rung, "retry" if before else "first")
    if len(replies) == 1 and not exhausted and may_ask_again and needs_asking_again(parsed(material, replies[0])):
        return Ask(second_prompt(material, replies[0]), replies[0].rung, "reask")
    answers = settled_answers(material, tried)
    if answers is None:
        codes = [criterion.code for criterion in material.criteria]
        return Finish(failed_answers(codes, exhausted), "failed", exhausted)
    return Finish(answers, "done", "ok")


def settled_answers(material: Material, tried: Sequence[Tried]) -> tuple[Answer, ...] | None:
    """What the stored replies of a call come to: the one reply with most usable answers, the earliest of equals.

    None where there is no reply. Attempts after a retry replace those before it only where they give more.
    """
    best: tuple[Answer, ...] | None = None
    for earlier in (True, False):
        replies = [one for one in tried if one.outcome in REPLIES and one.earlier == earlier]
        for number, reply in enumerate(replies):
            answers = parsed(material, reply)
            flag = "reasked" if number else "retried"
            best = answers if best is None else better(best, answers, flag)
    return best


def second_prompt(material: Material, reply: Tried) -> Prompt:
    """The re-ask that follows a reply that could not be used: the conversation as it was, and what was wrong."""
    wrong = problems(parsed(material, reply), material.task_type)
    return ask_again(build_prompt(material, reply.rung), reply.raw_reply, wrong)


def ask_again(prompt: Prompt, reply: str, problems: Sequence[str]) -> Prompt:
    """The same conversation, the reply, and what was wrong with it."""
    wrong = "\n".join(f"- {problem}" for problem in problems)
    again = (
        f"This reply cannot be used as it stands:\n{wrong}\n\n"
        "Reply again with one JSON object in the format given above, with one entry for every criterion listed."
    )
    # some providers refuse an empty message
    said = {"role": "assistant", "content": reply if reply.strip() else "(an empty reply)"}
    messages = (*prompt.messages, said, {"role": "user", "content": again})
    return replace(prompt, messages=messages, sha256=canonical_sha256(list(messages)))


def parsed(material: Material, reply: Tried) -> tuple[Answer, ...]:
    """The answers in one stored reply."""
    return parse_reply(
        reply.raw_reply,
        [criterion.code for criterion in material.criteria],
        material.choices,
        task_type=material.task_type,
        scales={criterion.code: criterion.scale for criterion in material.criteria if criterion.scale},
        finish_reason=reply.finish_reason,
        refused=reply.outcome == "refused",
        confidence=material.confidence,
    )


def counted_tries(tried: Sequence[Tried]) -> int:
    """Tries that count towards giving up. A 429, a rejected format and a killed process are not the call's fault."""
    return sum(attempt.outcome in MAX_TRIES and not attempt.earlier for attempt in tried)


def gave_up(tried: Sequence[Tried]) -> str:
    """Why no further try is made, or ''."""
    for attempt in tried:
        if attempt.outcome in HOPELESS:
            return HOPELESS[attempt.outcome]
    unknown = sum(attempt.outcome in ("dropped", "timeout") for attempt in tried)
    if unknown >= MAX_TRIES["dropped"] or counted_tries(tried) >= MAX_TRIES["server_error"]:
        return "call_failed"
    return ""


def back_off_s(tries: int, luck: float) -> float:
    """Seconds before the next try after `tries` failures: 1, 2, 4 … 60, times 0.5 to 1 by `luck` in [0, 1)."""
    return float(min(60.0, 2.0 ** max(0, tries - 1)) * (0.5 + luck / 2))


def cost_of(reply: Reply, price: Price | None) -> float | None:
    """USD of one try. None without a price, or where nobody knows whether it was billed; a provider's errors are not,
    and code that raised may have paid before."""
    if reply.cost is not None:
        return reply.cost
    if price is None or reply.outcome in COST_UNKNOWN:
        return None
    if reply.outcome in REPLIES and (reply.http_status or 200) == 200:
        return cost(reply.usage, price)
    return None if reply.outcome == "bad_request" and reply.http_status is None and price.call else 0.0


def spent_by(reply: Reply, price: Price | None) -> float | None:
    """What the try takes from the budget; None keeps its whole reservation."""
    return (reply.cost or 0.0) if price is None else cost_of(reply, price)


def asked_of(judge: JudgeDefinition, price: Price | None) -> dict[str, Any]:
    """What a journal keeps beside each request of a judge, by which `client.reread` reads an answer later."""
    settings = judge.model_dump(mode="json", include=READ_BY, exclude_defaults=True)
    return {"judge": settings, "price": price and price.model_dump(exclude_none=True)}


def as_row(reply: Reply, step: Ask, price: Price | None) -> dict[str, Any]:
    """The columns of `judge_attempts` that a reply fills."""
    return {
        "kind": "abandoned" if reply.outcome == "abandoned" else step.kind,
        "outcome": reply.outcome,
        "http_status": reply.http_status,
        "error": reply.error,
        "rung": step.rung,
        "prompt_sha256": step.prompt.sha256,
        "raw_reply": reply.text if reply.outcome in REPLIES else None,
        "finish_reason": reply.finish_reason,
        "model_reported": reply.model,
        "system_fingerprint": reply.system_fingerprint,
        "tokens_in": reply.usage.input,
        "tokens_cached": reply.usage.cached,
        "tokens_out": reply.usage.output,
        "tokens_reasoning": reply.usage.reasoning,
        "price": price.model_dump(exclude_none=True) if price else None,
        "cost": cost_of(reply, price),
        "seconds": reply.seconds,
    }
