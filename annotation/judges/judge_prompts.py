"""Which prompts a judge was or will be sent, by item, so that an evaluator finds one to read."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from annotation.people.principals import Principal, study_for
from db.judge_tables import Judge, JudgeCall, JudgeCallAssignment, JudgeConfig
from db.tables import Assignment, Criterion, Item, Study, Topic


@dataclass(frozen=True)
class CallOn:
    """A call that asks about an item. `settings`: of how many the judge had, counted from 1."""

    call_id: int
    pass_no: int
    repeat_no: int
    criteria: tuple[str, ...]
    state: str
    probe_kind: str | None
    settings: int


def asked_items(session: Session, principal: Principal) -> dict[str, dict[int, str]]:
    """Judge -> item -> title of its topic, of everything that stands in a plan. Raises `forbidden`."""
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


def calls_on(session: Session, principal: Principal, judge: str, item_id: int) -> tuple[CallOn, ...]:
    """The judge's calls on one item, the judge's own before its probes, in the order planned. Raises `forbidden`."""
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
        .order_by(JudgeCall.probe_kind.is_not(None), JudgeCall.id)
    )
    return tuple(
        CallOn(
            call.id, pass_no, repeat_no, tuple(codes[row] for row in call.criteria), call.state, call.probe_kind,
            1 + configs.index(call.config_id),
        )
        for call, pass_no, repeat_no in calls
    )  # fmt: skip


def _codes(study: Study) -> Select[int, str]:
    return select(Criterion.id, Criterion.code).where(Criterion.study_id == study.id)
