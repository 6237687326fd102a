"""What judging cost: every HTTP try as one line, the cost per judge, and the ledger beside the provider's own bill."""

import csv
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from pydantic import BaseModel, Field, ValidationError
from sqlalchemy import ColumnElement, Row, Select, and_, func, or_, orm, select

from annotation.errors import AnnotationError
from annotation.items.shown import item_code
from annotation.judges.money.prices import cost, stored_price
from annotation.judges.money.queue_rules import CENT, SHOWN, Fault
from annotation.judges.replies.outcomes import COST_UNKNOWN, REPLIES, Usage
from annotation.labels.optional_columns import usd_in_force
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment, JudgeConfig
from db.tables import Assignment, Study
from plain.spreadsheets import guarded

CHUNK = 500  # lines
TIMED = JudgeAttempt.seconds > 0  # a line of a batch is not
# tries without a reply that may have been billed; code that raised may have paid before
NOBODY_KNOWS = or_(
    JudgeAttempt.outcome.in_(COST_UNKNOWN),
    and_(JudgeAttempt.outcome == "bad_request", JudgeAttempt.cost.is_(None), JudgeAttempt.http_status.is_(None)),
)
COLUMNS = (
    "judge", "model", "call_id", "attempt_no", "items", "pass_no", "run", "criteria", "stress", "kind", "outcome",
    "http_status", "at", "seconds", "model_reported", "system_fingerprint", "finish_reason", "tokens_in",
    "tokens_cached", "tokens_out", "tokens_reasoning", "price_input", "price_output", "price_cached", "cost_usd",
    "rung", "prompt_sha256", "batch_id", "error",
)  # fmt: skip


@dataclass(frozen=True)
class Money:
    """One judge's ledger in sums: USD, seconds, tokens. None where it is unknown or nothing was asked; never 0 for it.

    `cost` covers every try, failed, re-asked and given up ones too; it is None as soon as one reply has no price. What
    an item or a label costs is that of the calls whose answers count: not of settings or texts that others replaced.
    `unknown_costs`: tries without a reply that may have been billed; they are in no sum. `beside`: what the budget pays
    too and no other sum has, stress tests by kind and "align"; None as `cost` is. `wasted`:
    what was paid beyond the first reply of each call. `p50_s`, `p95_s`: of replies that were timed, so of no line of a
    batch; nearest rank.
    """

    calls: int  # that were sent
    attempts: int
    items: int
    valid_labels: int
    cost: float | None
    unknown_costs: int
    cost_per_call: float | None
    cost_per_item: float | None
    cost_per_valid_label: float | None
    cost_per_1000_items: float | None
    wasted: float | None
    waste_share: float | None
    beside: Mapping[str, float | None]
    p50_s: float | None
    p95_s: float | None
    tokens_in: int | None
    tokens_cached: int | None
    tokens_out: int | None
    tokens_reasoning: int | None


def money_of(session: orm.Session, judge: Judge, valid: int, *, each: bool = True) -> Money:
    """The sums of one judge, over all its settings; stress tests apart from the study's own items are left out.

    `valid`: its usable current labels, as `standing.label_counts` says. Without `each` nobody looks what an item or a
    label costs: that takes longer than all the rest, and is None then.
    """
    mine = and_(JudgeCall.judge_id == judge.id, JudgeCall.stress.is_(None))
    replied = JudgeAttempt.outcome.in_(REPLIES)
    priced = JudgeAttempt.cost
    totals = session.execute(
        _of_attempts(
            func.count(JudgeAttempt.call_id.distinct()),
            func.count(JudgeAttempt.id),
            func.sum(priced),
            func.count().filter(replied, priced.is_(None)),
            func.count().filter(NOBODY_KNOWS),
            func.count().filter(replied, TIMED),
            func.sum(JudgeAttempt.tokens_in),
            func.sum(JudgeAttempt.tokens_cached),
            func.sum(JudgeAttempt.tokens_out),
            func.sum(JudgeAttempt.tokens_reasoning),
        ).where(mine)
    ).one()
    calls, attempts, paid, unpriced, unknown, timed, *tokens = totals
    cost = None if unpriced or paid is None else float(paid)
    items = session.scalar(
        _of_attempts(func.count(Assignment.item_id.distinct()))
        .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
        .join(Assignment, Assignment.id == JudgeCallAssignment.assignment_id)
        .where(mine)
    )
    wasted = None if cost is None else cost - _needed(session, mine, replied)
    counts = usd_in_force(session, judge) if each and cost is not None else None
    per_item = _per(counts, items)
    other = _of_attempts(JudgeCall.stress, func.sum(priced), func.count().filter(replied, priced.is_(None)))
    other = other.where(JudgeCall.judge_id == judge.id, JudgeCall.stress.is_not(None)).group_by(JudgeCall.stress)
    beside = {
        str(kind): None if missing else float(usd or 0.0)
        for kind, usd, missing in session.execute(other.order_by(JudgeCall.stress))
    }
    return Money(
        calls, attempts, items or 0, valid, cost, unknown,
        _per(cost, calls), per_item, _per(counts, valid), None if per_item is None else 1000 * per_item,
        wasted, _per(wasted, cost), beside, *_latency(session, and_(mine, replied, TIMED), timed), *tokens,
    )  # fmt: skip


def study_cost(session: orm.Session, study: Study) -> tuple[float, int]:
    """What every try of every judge has cost, stress tests too, in USD; and how many have a cost that nobody knows."""
    replied = JudgeAttempt.outcome.in_(REPLIES)
    nobody_knows = or_(and_(replied, JudgeAttempt.cost.is_(None)), NOBODY_KNOWS)
    sums = _of_attempts(func.sum(JudgeAttempt.cost), func.count().filter(nobody_knows))
    cost, unknown = session.execute(
        sums.join(Judge, Judge.id == JudgeCall.judge_id).where(Judge.study_id == study.id)
    ).one()
    return float(cost or 0.0), unknown


def write_ledger(session: orm.Session, study: Study, out: TextIO) -> int:
    """Every try as one line of CSV, judge by judge in the order made; returns how many. Prices are USD per million.

    What a provider wrote is on one line and cannot start a spreadsheet formula; raw replies stay in the database.
    """
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    rows = session.execute(
        select(
            Judge.name, JudgeConfig.model, JudgeCall.criteria, JudgeCall.stress,
            *(column for column in JudgeAttempt.__table__.columns if column.name != "raw_reply"),
        )
        .join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id)
        .join(JudgeConfig, JudgeConfig.id == JudgeCall.config_id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(Judge.study_id == study.id)
        .order_by(Judge.name, JudgeAttempt.id)
        .execution_options(yield_per=CHUNK)
    )  # fmt: skip
    count = 0
    for part in rows.partitions():
        served = _assignments(session, {row.call_id for row in part})
        writer.writerows([_cell(value) for value in _line(row, served[row.call_id])] for row in part)
        count += len(part)
    return count


def _line(row: Any, served: Sequence[tuple[int, int, int]]) -> Sequence[object]:
    price = row.price or {}
    items = " ".join(item_code(item) for item, _, _ in served)
    pass_no, run = served[0][1:] if served else (None, None)
    return (
        row.name, row.model, row.call_id, row.attempt_no, items, pass_no, run, len(row.criteria), row.stress,
        row.kind, row.outcome, row.http_status, row.created_at.isoformat(timespec="milliseconds"), row.seconds or None,
        row.model_reported, row.system_fingerprint, row.finish_reason, row.tokens_in, row.tokens_cached,
        row.tokens_out, row.tokens_reasoning, price.get("input"), price.get("output"), price.get("cached"), row.cost,
        row.rung, row.prompt_sha256, row.batch_id, row.error,
    )  # fmt: skip


def _assignments(session: orm.Session, calls: set[int]) -> dict[int, list[tuple[int, int, int]]]:
    found: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    rows = session.execute(
        select(JudgeCallAssignment.call_id, Assignment.item_id, Assignment.pass_no, Assignment.repeat_no)
        .join(Assignment, Assignment.id == JudgeCallAssignment.assignment_id)
        .where(JudgeCallAssignment.call_id.in_(calls))
        .order_by(JudgeCallAssignment.call_id, Assignment.item_id)
    )
    for call, *place in rows:
        found[call].append((place[0], place[1], place[2]))
    return found


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    return guarded(" ".join(value.split()))


def _of_attempts(*columns: Any) -> Select[*tuple[Any, ...]]:
    return select(*columns).select_from(JudgeAttempt).join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id)


def _needed(session: orm.Session, mine: ColumnElement[bool], replied: ColumnElement[bool]) -> float:
    """The cost of the first reply of each call."""
    first = (
        _of_attempts(JudgeAttempt.call_id, func.min(JudgeAttempt.attempt_no).label("attempt_no"))
        .where(mine, replied)
        .group_by(JudgeAttempt.call_id)
        .subquery()
    )
    same = and_(first.c.call_id == JudgeAttempt.call_id, first.c.attempt_no == JudgeAttempt.attempt_no)
    return float(session.scalar(select(func.sum(JudgeAttempt.cost)).join(first, same)) or 0.0)


def _latency(session: orm.Session, mine: ColumnElement[bool], replies: int) -> tuple[float | None, float | None]:
    """Nearest-rank median and 95th percentile of the seconds of replies."""
    if not replies:
        return None, None
    ranks = [math.ceil(share * replies) for share in (0.5, 0.95)]
    rank = func.row_number().over(order_by=JudgeAttempt.seconds).label("rank")
    ordered = _of_attempts(JudgeAttempt.seconds, rank).where(mine).subquery()
    rows = session.execute(select(ordered.c.rank, ordered.c.seconds).where(ordered.c.rank.in_(ranks)))
    at = {number: seconds for number, seconds in rows}
    return at[ranks[0]], at[ranks[1]]


def _per(amount: float | None, of: float | None) -> float | None:
    return amount / of if amount is not None and of else None


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


def check_bill(session: orm.Session, billed: Sequence[BilledReply]) -> BillCheck:
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
    unknown = select(JudgeAttempt.id).where(NOBODY_KNOWS)
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
