"""Calls as they were made: which prompts there are, and one built again and proved by its sha256, with its tries."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, orm, select

from annotation.errors import AnnotationError
from annotation.items.shown import item_code
from annotation.judges.asking import material, steps
from annotation.judges.defining.judge_file import Rung
from annotation.people.principals import Principal, study_for
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment, JudgeConfig
from db.tables import Assignment, Criterion, Item, Label, Study, Topic


@dataclass(frozen=True)
class ShownAttempt:
    """One try. `messages`: what was sent, proved by `prompt_sha256`; empty where it is not, and `unproved` says why."""

    attempt_no: int
    kind: str
    outcome: str
    rung: str | None
    http_status: int | None
    seconds: float
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    model_reported: str | None
    finish_reason: str | None
    error: str | None
    prompt_sha256: str | None
    messages: tuple[Mapping[str, str], ...]
    unproved: str
    raw_reply: str | None
    batch_id: str | None


@dataclass(frozen=True)
class ShownLabel:
    """One revision of an answer, as given: `left` is the report shown first."""

    item: str
    criterion: str
    revision: int
    status: str
    choice: str | None
    rationale: str
    flags: tuple[str, ...]
    parser_version: str | None
    at: datetime


@dataclass(frozen=True)
class ShownCall:
    """A call with all that is stored about it. Items are shown as (item, topic, pass, repeat).

    `to_send`: the messages that come next, of a call that has not ended, built as the worker that makes it builds them.
    """

    call_id: int
    judge: str
    model: str
    params: Mapping[str, Any]
    state: str
    outcome: str | None
    stress: str | None
    items: tuple[tuple[str, str, int, int], ...]
    criteria: tuple[str, ...]
    attempts: tuple[ShownAttempt, ...]
    labels: tuple[ShownLabel, ...]
    to_send: tuple[Mapping[str, str], ...] = ()


def show_call(session: orm.Session, study: Study, call_id: int) -> ShownCall:
    """Everything stored about one call of the study. Raises AnnotationError `not_found`."""
    row = session.execute(
        select(JudgeCall, JudgeConfig, Judge)
        .join(JudgeConfig, JudgeConfig.id == JudgeCall.config_id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(JudgeCall.id == call_id, Judge.study_id == study.id)
    ).one_or_none()
    if row is None:
        raise AnnotationError(
            "not_found", "study {name!r} has no call {call_id}; the ledger lists them: calipers judge ledger {name}",
            name=study.name, call_id=call_id,
        )  # fmt: skip
    call, config, judge = row
    items = session.execute(
        select(Item.id, Topic.key, Assignment.pass_no, Assignment.repeat_no)
        .join(Topic, Topic.id == Item.topic_id)
        .join(Assignment, Assignment.item_id == Item.id)
        .join(JudgeCallAssignment, JudgeCallAssignment.assignment_id == Assignment.id)
        .where(JudgeCallAssignment.call_id == call.id)
        .order_by(Item.id)
    )
    criteria = session.scalars(select(Criterion).where(Criterion.id.in_(call.criteria)))
    codes = {criterion.id: criterion.code for criterion in criteria}
    attempts = session.scalars(
        select(JudgeAttempt).where(JudgeAttempt.call_id == call.id).order_by(JudgeAttempt.attempt_no)
    ).all()
    served = tuple((item_code(item), topic, pass_no, repeat) for item, topic, pass_no, repeat in items)
    return ShownCall(
        call_id=call.id, judge=judge.name, model=config.model, params=config.params, state=call.state,
        outcome=call.outcome, stress=call.stress, items=served,
        criteria=tuple(codes[key] for key in call.criteria),
        attempts=tuple(_attempt(session, attempt) for attempt in attempts),
        labels=() if call.stress else _labels(session, call, codes),
        to_send=_to_send(session, study, call, config.structured, judge.rung),
    )  # fmt: skip


def _to_send(
    session: orm.Session, study: Study, call: JudgeCall, ladder: Sequence[Rung], rung: int
) -> tuple[Mapping[str, str], ...]:
    rows = None if call.state in ("done", "failed") else material.load_calls(session, study, [call.id]).get(call.id)
    if rows is None:
        return ()
    step = material.step_of(rows, ladder[min(rung, len(ladder) - 1)])
    return step.prompt.messages if isinstance(step, steps.Ask) else ()


def _attempt(session: orm.Session, row: JudgeAttempt) -> ShownAttempt:
    messages: tuple[Mapping[str, str], ...] = ()
    unproved = "" if row.prompt_sha256 else "no prompt is known: the process ended while the request was out"
    if row.prompt_sha256:
        try:
            messages = material.rebuilt_prompt(session, row.call_id, row.attempt_no).messages
        except AnnotationError as error:
            unproved = error.text
    return ShownAttempt(
        attempt_no=row.attempt_no, kind=row.kind, outcome=row.outcome, rung=row.rung, http_status=row.http_status,
        seconds=row.seconds, tokens_in=row.tokens_in, tokens_out=row.tokens_out, cost_usd=row.cost,
        model_reported=row.model_reported, finish_reason=row.finish_reason, error=row.error,
        prompt_sha256=row.prompt_sha256, messages=messages, unproved=unproved, raw_reply=row.raw_reply,
        batch_id=row.batch_id,
    )  # fmt: skip


def _labels(session: orm.Session, call: JudgeCall, codes: Mapping[int, str]) -> tuple[ShownLabel, ...]:
    """Every revision of what the call asked, whichever call wrote it."""
    rows = session.execute(
        select(Label, Assignment.item_id)
        .join(Assignment, Assignment.id == Label.assignment_id)
        .join(JudgeCallAssignment, JudgeCallAssignment.assignment_id == Assignment.id)
        .where(JudgeCallAssignment.call_id == call.id, Label.criterion_id.in_(call.criteria))
        .order_by(Assignment.item_id, Label.criterion_id, Label.revision)
    )
    return tuple(
        ShownLabel(
            item_code(item), codes[label.criterion_id], label.revision, label.status, label.choice, label.rationale,
            tuple(label.flags), label.parser_version, label.created_at,
        )
        for label, item in rows
    )  # fmt: skip


@dataclass(frozen=True)
class CallOn:
    """A call that asks about an item. `settings`: of how many the judge had, counted from 1."""

    call_id: int
    pass_no: int
    repeat_no: int
    criteria: tuple[str, ...]
    state: str
    stress: str | None
    settings: int


def asked_items(session: orm.Session, principal: Principal) -> dict[str, dict[int, str]]:
    """Judge -> item -> title of its topic, of everything that is in a plan. Raises `forbidden`."""
    study = study_for(session, principal, "evaluator")
    rows = session.execute(
        select(Judge.name, Item.id, Topic.title)
        .join(Assignment, Assignment.rater_id == Judge.rater_id)
        .join(Item, Item.id == Assignment.item_id)
        .join(Topic, Topic.id == Item.topic_id)
        .where(Judge.study_id == study.id, Assignment.source == "judge")
        .distinct()
        .order_by(Judge.name, Item.id)
    )
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for judge, item, title in rows:
        found[judge][item] = title
    return dict(found)


def calls_on(session: orm.Session, principal: Principal, judge: str, item_id: int) -> tuple[CallOn, ...]:
    """The judge's calls on one item, its own before its stress tests, in the order planned. Raises `forbidden`."""
    study = study_for(session, principal, "evaluator")
    codes = {row: code for row, code in session.execute(_codes(study))}
    configs = session.scalars(
        select(JudgeConfig.id)
        .join(Judge, Judge.id == JudgeConfig.judge_id)
        .where(Judge.study_id == study.id, Judge.name == judge)
        .order_by(JudgeConfig.id)
    ).all()
    calls = session.execute(
        select(JudgeCall, Assignment.pass_no, Assignment.repeat_no)
        .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
        .join(Assignment, Assignment.id == JudgeCallAssignment.assignment_id)
        .where(JudgeCall.config_id.in_(configs), Assignment.item_id == item_id)
        .order_by(JudgeCall.stress.is_not(None), JudgeCall.id)
    )
    return tuple(
        CallOn(
            call.id, pass_no, repeat_no, tuple(codes[row] for row in call.criteria), call.state, call.stress,
            1 + configs.index(call.config_id),
        )
        for call, pass_no, repeat_no in calls
    )  # fmt: skip


def _codes(study: Study) -> Select[int, str]:
    return select(Criterion.id, Criterion.code).where(Criterion.study_id == study.id)
