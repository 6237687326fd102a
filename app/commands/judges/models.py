"""Which models there are to name in judges.toml, with prices and context lengths."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from app.commands.printing import JSON, print_json, print_table
from plain.counting import counted

if TYPE_CHECKING:
    from annotation.judges.asking.known_models import KnownModel


def models(
    words: list[str] = typer.Argument(None, help="Words that the model's name holds, all of them.", show_default=False),
    provider: str = typer.Option("", help="How litellm's name of the provider begins, such as openai or bedrock."),
    max_price: float = typer.Option(None, help="USD per million tokens at most, read and written alike.", min=0),
    min_context: int = typer.Option(0, help="Tokens that it must be able to read at once.", min=0),
    limit: int = typer.Option(40, help="How many to print at most; 0 for all.", min=0),
    as_json: bool = JSON,
) -> None:
    """List the models that litellm knows, cheapest first.

    Prices are USD per million tokens, of the list that came with litellm: nothing is asked or fetched.

    Example: calipers judge models mini --provider openai --max-price 1 --min-context 100000
    """
    from annotation.judges.asking.known_models import known_models, providers
    from db.types import now  # a third of a second's imports, which no other command need wait for

    most = float("inf") if max_price is None else max_price
    found = known_models(words or (), provider, most, min_context, f"{now():%Y-%m-%d}")
    shown = found[:limit] if limit else found
    if as_json:
        print_json([{**asdict(one), "price": one.price and one.price.model_dump()} for one in shown])
        return
    if not found:
        known = providers()
        if not any(name.startswith(provider.casefold()) for name in known):
            raise typer.BadParameter(f"litellm's list has {', '.join(known)}", param_hint="--provider")
        typer.echo("no model of litellm's list passes all of these; take one away", err=True)
        return
    print_table(
        ("model", "provider", "USD in", "cached", "out", "context", "until"),
        [_row(one) for one in shown],
        numbers=("USD in", "cached", "out", "context"),
    )
    if len(shown) < len(found):
        typer.echo(f"{len(shown)} of {counted(len(found), 'model')}; more words, or --limit 0 for all", err=True)


def _row(one: KnownModel) -> tuple[str, ...]:
    prices = (one.price.input, one.price.cached, one.price.output) if one.price else (None, None, None)
    told = ("–" if price is None else f"{price:g}" for price in prices)
    return (one.model, one.provider, *told, f"{one.context:,}" if one.context else "–", one.until or "")
