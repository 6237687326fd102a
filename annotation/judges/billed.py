"""The ledger beside the provider's own bill: every reply that was charged is a stored try, to the call and the cent."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field, ValidationError
from sqlalchemy import Row, or_, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.facts.soundness import SHOWN, Fault
from annotation.judges.prices import Usage, cost, stored_price
from annotation.judges.queue_rules import CENT
from annotation.judges.steps import COST_UNKNOWN, REPLIES
from db.judge_tables import JudgeAttempt

Reply = tuple[str, int | None, int | None]  # model, tokens in, tokens out


class BilledReply(BaseModel):
    """One line of a bill: `{"model": …, "in": tokens, "out": tokens, "cost": USD}`; model and cost may be left out."""

    model: str = ""
    tokens_in: int = Field(alias="in", ge=0)
    tokens_out: int = Field(alias="out", ge=0)
    cost: float | None = Field(None, ge=0, allow_inf_nan=False)


@dataclass(frozen=True)
class BillCheck:
    """How many replies were billed and stored, how many tries nobody knows the cost of, and what does not agree.

    `unstored`: replies that were billed and never arrived; as many tries at most may be of unknown cost. `usd`: what
    the stored replies cost, None where one of them has no price.
    """

    billed: int
    stored: int
    unstored: int
    unknown: int
    usd: float | None
    faults: tuple[Fault, ...]


def read_bill(lines: Iterable[str], source: str) -> list[BilledReply]:
    """A bill as JSON Lines. Raises AnnotationError with the line that is none."""
    billed = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                billed.append(BilledReply.model_validate_json(line))
            except ValidationError as error:
                first = error.errors()[0]
                place = ".".join(str(step) for step in first["loc"])
                raise AnnotationError(
                    "bad_bill",
                    f"{source}:{number}: {place + ': ' if place else ''}{first['msg']}; expected one reply a line as "
                    '{"model": "…", "in": 1200, "out": 90}',
                ) from None
    return billed


def check_bill(session: Session, billed: Sequence[BilledReply]) -> BillCheck:
    """The bill of all judges of this database, from its first call on, beside every stored try.

    Replies are told apart by model and tokens, the model only where every line names it.
    """
    named = all(line.model for line in billed)
    rows = session.execute(
        select(
            JudgeAttempt.id, JudgeAttempt.model_reported, JudgeAttempt.tokens_in, JudgeAttempt.tokens_cached,
            JudgeAttempt.tokens_out, JudgeAttempt.price, JudgeAttempt.cost,
        )
        .where(JudgeAttempt.outcome.in_(REPLIES))
        # a refusal that came as an error is not billed
        .where(or_(JudgeAttempt.http_status.is_(None), JudgeAttempt.http_status == 200))
        .order_by(JudgeAttempt.id)
    ).all()  # fmt: skip
    unknown = select(JudgeAttempt.id).where(JudgeAttempt.outcome.in_(COST_UNKNOWN))
    unknowns = len(session.scalars(unknown).all())
    of_bill: Counter[Reply] = Counter((one.model if named else "", one.tokens_in, one.tokens_out) for one in billed)
    of_rows: Counter[Reply] = Counter(
        (row.model_reported or "" if named else "", row.tokens_in, row.tokens_out) for row in rows
    )
    unbilled, unstored = of_rows - of_bill, of_bill - of_rows
    costs = [row.cost for row in rows]
    usd = None if None in costs else math.fsum(costs)
    faults = [
        _fault("a stored reply was billed", unbilled),
        _fault("a billed reply is stored, or a try says that nobody knows what it cost", unstored, unknowns),
        _priced(rows),
        _cents(billed, usd, unstored),
    ]
    return BillCheck(len(billed), len(rows), unstored.total(), unknowns, usd, tuple(filter(None, faults)))


def _fault(rule: str, replies: Counter[Reply], allowed: int = 0) -> Fault | None:
    if replies.total() <= allowed:
        return None
    first = (f"{model} {tokens_in} in, {tokens_out} out".strip() for model, tokens_in, tokens_out in replies)
    return Fault(rule, replies.total() - allowed, tuple(list(first)[:SHOWN]))


def _priced(rows: Sequence[Row[Any]]) -> Fault | None:
    """The stored cost worked out again from the stored tokens and price."""
    wrong = []
    for row in rows:
        again = cost(Usage(row.tokens_in, row.tokens_cached, row.tokens_out), stored_price(row.price or {}))
        if (again is None) != (row.cost is None) or (again is not None and abs(again - row.cost) > CENT / 1000):
            wrong.append(f"try {row.id}")
    return Fault("a reply costs what its tokens cost", len(wrong), tuple(wrong[:SHOWN])) if wrong else None


def _cents(billed: Sequence[BilledReply], usd: float | None, unstored: Counter[Reply]) -> Fault | None:
    """The two totals, where the bill names a cost on every line and nothing on it is missing here."""
    costs = [one.cost for one in billed]
    if not costs or None in costs or usd is None or unstored:
        return None
    total = math.fsum(one for one in costs if one is not None)
    said = (json.dumps({"billed": round(total, 6), "stored": round(usd, 6)}),)
    return None if abs(total - usd) < 0.005 else Fault("the bill and the ledger agree to the cent", 1, said)
