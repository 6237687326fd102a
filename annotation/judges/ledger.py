"""What judging cost: every HTTP try as one line, and per judge the cost of a call, an item and a usable answer."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from sqlalchemy import ColumnElement, Select, and_, func, select
from sqlalchemy.orm import Session

from annotation.item_codes import item_code
from annotation.judges.steps import COST_UNKNOWN, REPLIES
from annotation.spreadsheets import guarded
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment, JudgeConfig
from db.tables import Assignment, Study

CHUNK = 500  # lines
TIMED = JudgeAttempt.seconds > 0  # a line of a batch is not
COLUMNS = (
    "judge", "model", "call_id", "attempt_no", "items", "pass_no", "run", "criteria", "probe_kind", "kind", "outcome",
    "http_status", "at", "seconds", "model_reported", "system_fingerprint", "finish_reason", "tokens_in",
    "tokens_cached", "tokens_out", "tokens_reasoning", "price_input", "price_output", "price_cached", "cost_usd",
    "rung", "prompt_sha256", "batch_id", "error",
)  # fmt: skip


@dataclass(frozen=True)
class Money:
    """One judge's ledger in sums: USD, seconds, tokens. None where it is unknown or nothing was asked; never 0 for it.

    `cost` covers every try, failed, re-asked and given up ones too; it is None as soon as one reply has no price.
    `unknown_costs`: tries that broke off, so that nobody knows whether they were billed; they are in no sum. `wasted`:
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
    p50_s: float | None
    p95_s: float | None
    tokens_in: int | None
    tokens_cached: int | None
    tokens_out: int | None
    tokens_reasoning: int | None


def money_of(session: Session, judge: Judge, valid: int) -> Money:
    """The sums of one judge, over all its settings; probes apart from the study's own items are left out.

    `valid`: its usable current labels, as `standing.label_counts` says.
    """
    mine = and_(JudgeCall.judge_id == judge.id, JudgeCall.probe_kind.is_(None))
    replied = JudgeAttempt.outcome.in_(REPLIES)
    priced = JudgeAttempt.cost
    totals = session.execute(
        _of_attempts(
            func.count(JudgeAttempt.call_id.distinct()),
            func.count(JudgeAttempt.id),
            func.sum(priced),
            func.count().filter(replied, priced.is_(None)),
            func.count().filter(JudgeAttempt.outcome.in_(COST_UNKNOWN)),
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
    return Money(
        calls, attempts, items or 0, valid, cost, unknown,
        _per(cost, calls), _per(cost, items), _per(cost, valid), _per(None if cost is None else 1000 * cost, items),
        wasted, _per(wasted, cost), *_latency(session, and_(mine, replied, TIMED), timed), *tokens,
    )  # fmt: skip


def write_ledger(session: Session, study: Study, out: TextIO) -> int:
    """Every try as one line of CSV, judge by judge in the order made; returns how many. Prices are USD per million.

    What a provider wrote stands on one line and cannot start a spreadsheet formula; raw replies stay in the database.
    """
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    rows = session.execute(
        select(
            Judge.name, JudgeConfig.model, JudgeCall.criteria, JudgeCall.probe_kind,
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
        row.name, row.model, row.call_id, row.attempt_no, items, pass_no, run, len(row.criteria), row.probe_kind,
        row.kind, row.outcome, row.http_status, row.created_at.isoformat(timespec="milliseconds"), row.seconds or None,
        row.model_reported, row.system_fingerprint, row.finish_reason, row.tokens_in, row.tokens_cached,
        row.tokens_out, row.tokens_reasoning, price.get("input"), price.get("output"), price.get("cached"), row.cost,
        row.rung, row.prompt_sha256, row.batch_id, row.error,
    )  # fmt: skip


def _assignments(session: Session, calls: set[int]) -> dict[int, list[tuple[int, int, int]]]:
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


def _needed(session: Session, mine: ColumnElement[bool], replied: ColumnElement[bool]) -> float:
    """The cost of the first reply of each call."""
    first = (
        _of_attempts(JudgeAttempt.call_id, func.min(JudgeAttempt.attempt_no).label("attempt_no"))
        .where(mine, replied)
        .group_by(JudgeAttempt.call_id)
        .subquery()
    )
    same = and_(first.c.call_id == JudgeAttempt.call_id, first.c.attempt_no == JudgeAttempt.attempt_no)
    return float(session.scalar(select(func.sum(JudgeAttempt.cost)).join(first, same)) or 0.0)


def _latency(session: Session, mine: ColumnElement[bool], replies: int) -> tuple[float | None, float | None]:
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
