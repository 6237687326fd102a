"""Which runs of its judges a study holds: calls that were made alike, and the judge that made them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.judges.drift import Identity
from annotation.judges.makers import maker
from annotation.judges.steps import REPLIES
from annotation.work.shown import sources_sha256
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment, JudgeConfig
from db.tables import Assignment, Event, Item, Report, Study


@dataclass(frozen=True)
class Run:
    """Finished calls that one judge made alike. `name`: as a user names it, `mini@2`, or the judge's name where all
    its runs are taken together. `texts_stand`: what it read is what is shown now.
    """

    name: str
    judge: str
    identity: Identity
    repeat_no: int
    texts_stand: bool
    calls: tuple[int, ...]
    first: datetime
    last: datetime


def runs_of(session: Session, study: Study) -> tuple[Run, ...]:
    """Every run of every judge, the earliest first; probes and imported results are none.

    A call belongs to the protocol that was in force when it ended, and to the model that the provider reported.
    """
    calls: dict[tuple[Any, ...], dict[str | None, list[tuple[int, datetime]]]] = {}
    reported, shown, protocols = _reported(session, study), _shown_now(session, study), _protocols(session, study)
    for judge, config, call, repeat_no, items in _finished(session, study):
        at = call.done_at or call.created_at
        protocol = protocols[max(0, bisect_right(protocols, (at,)) - 1)][1]
        stands = set(call.shown_sha256) <= set().union(*(shown[item] for item in items))
        models = calls.setdefault((judge, config, protocol, repeat_no, stands), {})
        models.setdefault(reported.get(call.id), []).append((call.id, at))
    found = [
        _run(judge, config, protocol, repeat_no, stands, model, made)
        for (judge, config, protocol, repeat_no, stands), models in calls.items()
        for model, made in _known(models).items()
    ]
    numbers: dict[str, int] = defaultdict(int)
    numbered = []
    for run in sorted(found, key=lambda run: (run.first, run.calls)):
        numbers[run.judge] += 1
        numbered.append(replace(run, name=f"{run.judge}@{numbers[run.judge]}"))
    return tuple(numbered)


def find_run(runs: Sequence[Run], name: str) -> Run:
    """The run called `name`; a judge's name is all its runs, where they differ in nothing but the repeat.

    Raises AnnotationError `unknown_run`, or `several_runs` naming them.
    """
    for run in runs:
        if run.name == name:
            return run
    mine = [run for run in runs if run.judge == name]
    if not mine:
        known = ", ".join(run.name for run in runs) or "none; run a judge first"
        raise AnnotationError("unknown_run", f"no judge and no run is called {name!r} (there are: {known})")
    if any((run.identity, run.texts_stand) != (mine[0].identity, mine[0].texts_stand) for run in mine):
        names = ", ".join(run.name for run in mine)
        raise AnnotationError(
            "several_runs", f"judge {name!r} was not always the same; choose one of its runs: {names}"
        )
    calls = sorted(call for run in mine for call in run.calls)
    return Run(
        name, name, mine[0].identity, min(run.repeat_no for run in mine), mine[0].texts_stand, tuple(calls),
        min(run.first for run in mine), max(run.last for run in mine),
    )  # fmt: skip


def _finished(session: Session, study: Study) -> Iterable[tuple[str, JudgeConfig, JudgeCall, int, set[int]]]:
    """(judge, settings, call, repeat, its items)"""
    served = defaultdict(set)
    repeats: dict[int, int] = {}
    mine = Judge.study_id == study.id, JudgeCall.probe_kind.is_(None), JudgeCall.state.in_(("done", "failed"))
    rows = session.execute(
        select(JudgeCallAssignment.call_id, Assignment.item_id, Assignment.repeat_no)
        .join(Assignment, Assignment.id == JudgeCallAssignment.assignment_id)
        .join(JudgeCall, JudgeCall.id == JudgeCallAssignment.call_id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(*mine)
    )
    for call, item, repeat_no in rows:
        served[call].add(item)
        repeats[call] = repeat_no
    calls = session.execute(
        select(Judge.name, JudgeConfig, JudgeCall)
        .join(JudgeConfig, JudgeConfig.id == JudgeCall.config_id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(*mine)
        .order_by(JudgeCall.id)
    )
    return ((judge, config, call, repeats[call.id], served[call.id]) for judge, config, call in calls)


def _reported(session: Session, study: Study) -> dict[int, str | None]:
    """call -> the model that its last reply was reported to come from."""
    rows = session.execute(
        select(JudgeAttempt.call_id, JudgeAttempt.model_reported)
        .join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(Judge.study_id == study.id, JudgeAttempt.outcome.in_(REPLIES))
        .order_by(JudgeAttempt.call_id, JudgeAttempt.attempt_no)
    )
    return {call: model for call, model in rows}


def _shown_now(session: Session, study: Study) -> dict[int, set[str]]:
    """item -> sha256 of the texts it shows now."""
    reports = select(Report.id, Report.shown_sha256).where(Report.study_id == study.id)
    sha256 = {report: sha for report, sha in session.execute(reports)}
    columns = select(Item.id, Item.kind, Item.context, Item.report_a_id, Item.report_b_id, Item.reference_id)
    return {
        item: {sha256[report] for report in of_item if report is not None}
        | ({sources_sha256(context)} if kind == "probe" else set())
        for item, kind, context, *of_item in session.execute(columns.where(Item.study_id == study.id))
    }


def _protocols(session: Session, study: Study) -> list[tuple[datetime, str]]:
    """(since when, sha256) of every protocol the study had, in order: the audit trail holds each change."""
    events = session.scalars(
        select(Event)
        .where(Event.study_id == study.id, Event.kind == "audit", Event.what.in_(("init", "protocol")))
        .order_by(Event.created_at, Event.id)
    )
    found = [(one.created_at, one.data.get("protocol_sha256") or one.data["new_sha256"]) for one in events]
    return found or [(study.created_at, study.protocol_sha256)]


def _known(models: dict[str | None, list[tuple[int, datetime]]]) -> dict[str | None, list[tuple[int, datetime]]]:
    """Calls that never got a reply belong to the only model there is."""
    if len(models) != 2 or None not in models:
        return models
    (model,) = set(models) - {None}
    return {model: [*models[model], *models[None]]}


def _run(
    judge: str, config: JudgeConfig, protocol: str, repeat_no: int, stands: bool, model: str | None,
    made: Sequence[tuple[int, datetime]],
) -> Run:  # fmt: skip
    sent = {
        **config.params, "batching": config.batching, "max_output_tokens": config.max_output_tokens,
        "structured": config.structured,
    }  # fmt: skip
    provider, named, _ = config.model.partition("/")
    identity = Identity(
        provider if named else maker(config.model), config.model, model, config.api_base, config.template_sha256,
        protocol, sent,
    )  # fmt: skip
    ends = [at for _, at in made]
    return Run("", judge, identity, repeat_no, stands, tuple(sorted(call for call, _ in made)), min(ends), max(ends))
