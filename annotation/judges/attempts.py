"""A reply as a row of the ledger, and what it counts against the budget. Pure."""

from __future__ import annotations

from typing import Any

from annotation.judges.judge_file import Price
from annotation.judges.outcomes import Reply
from annotation.judges.prices import cost
from annotation.judges.steps import COST_UNKNOWN, REPLIES, Ask


def cost_of(reply: Reply, price: Price | None) -> float | None:
    """USD of one try. None without a price, or where nobody knows whether it was billed; errors are not billed."""
    if price is None or reply.outcome in COST_UNKNOWN:
        return None
    if reply.outcome in REPLIES and (reply.http_status or 200) == 200:
        return cost(reply.usage, price)
    return 0.0


def spent_by(reply: Reply, price: Price | None) -> float | None:
    """What the try takes from the budget; None keeps its whole reservation."""
    return 0.0 if price is None else cost_of(reply, price)


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
