"""The models that litellm's own list knows: what they cost and how much they read. The list came with it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from annotation.judges.asking.client import library, mapped_price
from annotation.judges.defining.judge_file import Price

SIGNED_IN = ("github_copilot", "chatgpt", "microsoft_365_copilot")  # in a browser; to ask for one begins a sign-in


@dataclass(frozen=True)
class KnownModel:
    """A chat model under the name that judges.toml takes. `price`: None where the list has none; a 0 in it is none.

    `context`: the most input tokens. `until`: the day, as text, on which it ends. None: not said.
    """

    model: str
    provider: str
    price: Price | None
    context: int | None
    until: str | None


def known_models(
    words: Iterable[str] = (), provider: str = "", max_price: float = math.inf, min_context: int = 0, today: str = ""
) -> list[KnownModel]:
    """The chat models whose name holds all `words`, the cheapest first, then those without a price, and last those that
    had ended by `today`, as YYYY-MM-DD.

    `provider`: how litellm's name of it begins, in any case. `max_price`: USD per million tokens, of input and
    output alike; `min_context`: input tokens. Who has no price, or no context length, passes no filter of it.
    """
    wanted = [word.casefold() for word in words]
    found = [
        one
        for one in _all()
        if one.provider.startswith(provider.casefold())
        and all(word in one.model.casefold() for word in wanted)
        and (max_price == math.inf or _dearest(one) <= max_price)
        and (one.context or 0) >= min_context
    ]

    def place(one: KnownModel) -> tuple[bool, float, float, str]:
        ended = (one.until or today) < today
        return ended, _dearest(one), one.price.input if one.price else math.inf, one.model

    return sorted(found, key=place)


def providers() -> list[str]:
    """Who offers one of these models, by name."""
    return sorted({one.provider for one in _all()})


def _dearest(model: KnownModel) -> float:
    return math.inf if model.price is None else max(model.price.input, model.price.output)


@lru_cache(maxsize=1)
def _all() -> list[KnownModel]:
    """Those that chat, and that a name in judges.toml leads to."""
    litellm = library()
    return [
        KnownModel(
            model=name,
            provider=entry.get("litellm_provider") or "",
            price=mapped_price(entry),
            context=entry.get("max_input_tokens") if isinstance(entry.get("max_input_tokens"), int) else None,
            until=entry.get("deprecation_date"),
        )
        for name, entry in litellm.model_cost.items()
        if entry.get("mode") == "chat" and entry.get("litellm_provider") not in SIGNED_IN and _leads(litellm, name)
    ]


def _leads(litellm: Any, name: str) -> bool:
    try:
        litellm.get_llm_provider(name)
    except litellm.BadRequestError:
        return False
    return True
