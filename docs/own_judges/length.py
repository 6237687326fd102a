"""A judge that is a function: the report with more words is the better one. `python = "length:judge"`."""

from typing import Any


async def judge(item: dict[str, Any]) -> dict[str, Any]:
    """One winner for every criterion, and what it cost in USD."""
    first, second = (len(item["texts"][name].split()) for name in ("first_report", "second_report"))
    winner = "first" if first >= second else "second"
    return {"answers": {criterion["id"]: winner for criterion in item["criteria"]}, "cost": 0.0}
