"""What a judge run would plan and cost, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from app.commands.judge_records import usd
from app.commands.printing import print_json, print_table

if TYPE_CHECKING:
    from annotation.judges.plan import JudgePlan

MONEY = ("USD low", "likely", "worst")


def show_plans(plans: Sequence[JudgePlan], as_json: bool) -> None:
    """One line a judge, and below the table what the same costs in batches."""
    if as_json:
        print_json([asdict(plan) for plan in plans])
        return
    print_table(
        ("judge", "items", "calls", "new", "waiting", "too long", *MONEY, "price"),
        [
            (p.name, p.items, p.calls, p.added, p.waiting, p.too_long,
             *map(usd, (p.estimate.low, p.estimate.likely, p.estimate.worst)), p.price_source)
            for p in plans
        ],
        numbers=("items", "calls", "new", "waiting", "too long", *MONEY),
    )  # fmt: skip
    for plan in plans:
        likely, worst = usd(plan.estimate.batch), usd(plan.estimate.batch_worst)
        if likely is not None and plan.estimate.calls:
            typer.echo(
                f"{plan.name} in batches: {likely} USD likely, {worst} worst; "
                "what must be asked again is an ordinary request"
            )
    for warning in dict.fromkeys(warning for plan in plans for warning in plan.warnings):
        typer.echo(f"warning: {warning}", err=True)
