"""What calls cost: a price snapshot, cost from tokens, an estimate before anything is spent, and what a budget stops.

USD throughout. Each request's worst case is reserved before it goes out, within `max_cost`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from annotation.errors import AnnotationError
from annotation.judges.defining.judge_file import JudgeDefinition, Price
from annotation.judges.replies.outcomes import Usage

ROUNDING = 1e-9  # USD; running totals are sums of floats
PER = 1_000_000  # tokens a price is for
BATCHES = "openai/"  # models whose provider, or whoever stands at `api_base`, speaks this batch API
LIKELY_OUT, LOW_OUT = 90, 30  # tokens of one judgment with its rationale; the fewest a terse judge writes


@dataclass(frozen=True)
class Snapshot:
    """A price and where it came from: `user`, `map <litellm version>`, or `none` with no price."""

    price: Price | None
    source: str


@dataclass(frozen=True)
class CallSize:
    """What is known of a call beforehand: characters and UTF-8 bytes of its prompt, and how many criteria it asks."""

    characters: int
    utf8_bytes: int
    criteria: int


@dataclass(frozen=True)
class Estimate:
    """Calls, tokens and USD of a run that has not happened; costs are None without a price.

    `batch`: the likely cost if first requests are lines of batches. `batch_worst` has one re-ask of each besides, which
    is an ordinary request at the ordinary price.
    """

    calls: int
    tokens_in: int
    tokens_out: int
    low: float | None
    likely: float | None
    worst: float | None
    batch: float | None
    batch_worst: float | None


def snapshot(definition: JudgeDefinition, mapped: Price | None, map_name: str) -> Snapshot:
    """The user's price, else the map's, else none.

    Raises AnnotationError `no_price` when the judge has a budget that nobody could keep, or goes through batches that
    have no price, and `no_batches` where there are none.
    """
    if definition.batch_api:
        refuse_batches(definition, definition.price or mapped)
    if definition.price is not None:
        return Snapshot(definition.price, "user")
    if mapped is not None:
        return Snapshot(mapped, map_name)
    if definition.max_cost is not None:
        raise AnnotationError(
            "no_price",
            "judge {name!r} has max_cost but no known price; add price = {{input = …, output = …}} in USD per "
            "million tokens, or remove max_cost", name=definition.name,
        )  # fmt: skip
    return Snapshot(None, "none")


def refuse_batches(definition: JudgeDefinition, price: Price | None) -> None:
    """Raises AnnotationError where the judge's requests cannot go through batches, or at no known price."""
    if not definition.model.startswith(BATCHES):
        raise AnnotationError(
            "no_batches",
            "judge {name!r}: batches are for {batches} models and servers that speak that batch API (found "
            "{model!r}); run it without batch_api and without --batch", name=definition.name, batches=BATCHES,
            model=definition.model,
        )  # fmt: skip
    if price is not None and batch_price(price) is None:
        raise AnnotationError(
            "no_price",
            "judge {name!r} has a price but none for batches; add batch_input = …, batch_output = … to it in USD per "
            "million tokens", name=definition.name,
        )  # fmt: skip


def batch_price(price: Price | None) -> Price | None:
    """The price of a line of a batch, as a price of its own. None where it is not known."""
    if price is None or price.batch_input is None or price.batch_output is None:
        return None
    return Price(input=price.batch_input, output=price.batch_output, cached=price.batch_cached)


def cost(usage: Usage, price: Price | None) -> float | None:
    """(in - cached) x input + cached x cached price + out x output, in USD. None without a price or without counts."""
    if price is None or usage.input is None or usage.output is None:
        return None
    cached = min(usage.cached or 0, usage.input)
    of_cached = price.input if price.cached is None else price.cached
    return ((usage.input - cached) * price.input + cached * of_cached + usage.output * price.output) / PER + (
        price.call or 0.0
    )


def worst_cost(utf8_bytes: int, max_output_tokens: int, price: Price | None) -> float:
    """The most one try may cost: a token for every 3 bytes in, all allowed tokens out. 0 without a price."""
    if price is None:
        return 0.0
    dearest = max(price.input, price.cached or 0.0)
    return (-(-utf8_bytes // 3) * dearest + max_output_tokens * price.output) / PER + (price.call or 0.0)


def estimate(calls: Iterable[CallSize], price: Price | None, max_output_tokens: int) -> Estimate:
    """What the calls will cost. Tokens are characters / 4; `worst` has one re-ask of each at `worst_cost`."""
    count = tokens_in = likely_out = low_out = 0
    worst = batch_worst = 0.0
    in_batch = batch_price(price)
    for size in calls:
        count += 1
        tokens_in += -(-size.characters // 4)
        likely_out += min(size.criteria * LIKELY_OUT, max_output_tokens)
        low_out += min(size.criteria * LOW_OUT, max_output_tokens)
        # a re-ask reads the first reply once more; one token of it is at most four bytes of its prompt
        asked_again = worst_cost(size.utf8_bytes + 4 * max_output_tokens, max_output_tokens, price)
        worst += worst_cost(size.utf8_bytes, max_output_tokens, price) + asked_again
        batch_worst += worst_cost(size.utf8_bytes, max_output_tokens, in_batch) + asked_again
    other_calls = 0.0 if price is None else (count - 1) * (price.call or 0.0)  # `cost` is of one
    low, likely = (cost(Usage(tokens_in, 0, out), price) for out in (low_out, likely_out))
    return Estimate(
        count, tokens_in, likely_out, None if low is None else low + other_calls,
        None if likely is None else likely + other_calls, None if price is None else worst,
        cost(Usage(tokens_in, 0, likely_out), in_batch), None if in_batch is None else batch_worst,
    )  # fmt: skip


def stored_price(stored: Mapping[str, Any]) -> Price | None:
    """The price of a stored configuration; it is empty where none was known."""
    return Price.model_validate(stored) if stored else None


def room_of(max_cost: float | None, spent: float, reserved: float) -> float:
    """USD that may still be reserved; without end where no budget was set."""
    return inf if max_cost is None else max_cost - spent - reserved


def fits(more: float, room: float) -> bool:
    """Whether `more` USD may be reserved."""
    return more <= room + ROUNDING


def used_up(max_cost: float | None) -> str:
    """Why a judge stops when no worst case fits any more."""
    return f"budget: the next call may cost more than what is left of {max_cost or 0.0:g} USD"


def broken_by(cost: float, most: float) -> str | None:
    """Why a judge stops after a call of more USD than the `most` reserved for it: no budget holds on what is not
    reserved. None where it cost no more."""
    if fits(cost, most):
        return None
    return (
        f"its code says that a call cost {cost:g} USD, more than the {most:g} that its price allows, so max_cost "
        "cannot be kept; give price = {call = …} the most that a call may cost"
    )
