"""Runs that somebody asks for in the app: what one would come to, and the rows that a worker carries out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, case, func, orm, select, update

from annotation.errors import AnnotationError
from annotation.judges.asking.examples import prompt_for
from annotation.judges.defining.described import parse_described
from annotation.judges.defining.judge_file import JudgeDefinition, ModelFacts
from annotation.judges.money import accounts, prices
from annotation.judges.planning.plan import plan_judges
from annotation.people.principals import Principal, study_for
from annotation.studies import audit, audit_data, protocol_of
from db import connect, tables, types
from db.judge_tables import Judge, JudgeCall, JudgeCallAssignment, JudgeConfig, JudgeRequest
from plain.wording import Sentence

DESCRIBED = "judges_described"  # the audit line that holds the judges of the app as TOML
NOT_RUN = "judge_not_run"  # the one that says why a request could not be carried out


@dataclass(frozen=True)
class Requested:
    """An open request that a worker took. `judges` by name; none means every judge of the file.

    `held`: those that somebody paused, which wait in a request of their own.
    """

    id: int
    judges: tuple[str, ...]
    started_at: datetime
    held: tuple[str, ...] = ()


def request_run(session: orm.Session, principal: Principal, judges: Sequence[str] = ()) -> int:
    """Ask for a run of these judges; returns the request's id. Nothing is called here. Raises AnnotationError."""
    study = study_for(session, principal, "evaluator")
    if principal.rater_id is None:
        raise AnnotationError("forbidden", "the command line runs judges itself: calipers judge run")
    row = JudgeRequest(study_id=study.id, requested_by=principal.rater_id, judges=list(judges))
    session.add(row)
    session.flush()
    audit(session, study.id, principal.rater_id, "request_judges", request=row.id, judges=list(judges))
    return row.id


def pause_judges(session: orm.Session, principal: Principal, judges: Collection[str]) -> None:
    """No worker takes another call of these judges until `go_on`; what is in flight is finished, and its answers kept.

    Raises AnnotationError `unknown_judge` where one of them was never planned.
    """
    study = study_for(session, principal, "evaluator")
    mine = Judge.study_id == study.id, Judge.name.in_(judges)
    if unknown := sorted(set(judges) - {*session.scalars(select(Judge.name).where(*mine))}):
        raise AnnotationError(
            "unknown_judge", "judge {unknown!r} has no run here that could be paused", unknown=unknown[0]
        )
    session.execute(update(Judge).where(*mine).values(stopped=accounts.PAUSED))
    audit(session, study.id, principal.rater_id, "pause_judges", judges=sorted(judges))


def go_on(session: orm.Session, principal: Principal, judges: Collection[str]) -> None:
    """End the pause of these judges; in the app with a request for each that has none, so that a worker goes on."""
    study = study_for(session, principal, "evaluator")
    held = sorted(_paused(session, study.id) & set(judges))
    if not held:
        return
    mine = Judge.study_id == study.id, Judge.name.in_(held)
    session.execute(update(Judge).where(*mine).values(stopped=None))
    audit(session, study.id, principal.rater_id, "go_on_judges", judges=held)
    asked = select(JudgeRequest).where(JudgeRequest.study_id == study.id, JudgeRequest.done_at.is_(None))
    waiting = [row for row in session.scalars(asked.with_for_update()) if set(held) & set(row.judges or held)]
    for row in waiting:
        row.started_at = None  # whoever is at its end just now leaves it open
    if principal.rater_id is not None:
        for name in set(held) - {name for row in waiting for name in row.judges or held}:
            request_run(session, principal, [name])


def _paused(session: orm.Session, study_id: int) -> set[str]:
    """Names of the judges that somebody paused."""
    held = Judge.study_id == study_id, Judge.stopped == accounts.PAUSED
    return {*session.scalars(select(Judge.name).where(*held))}


def keep_judges(session: orm.Session, principal: Principal, text: str) -> None:
    """Describe the judges that may be asked for in the app; a worker that was told to takes them from here.

    Raises AnnotationError `bad_judges` as `parse_described`.
    """
    study = study_for(session, principal, "admin")
    parse_described(text, protocol_of(study))
    audit(session, study.id, principal.rater_id, DESCRIBED, text=text)


def kept_text(session: orm.Session, study: tables.Study) -> str:
    """What was kept last; empty before."""
    found = audit_data(session, study.id, DESCRIBED)
    return str(found[-1]["text"]) if found else ""


def described_judges(session: orm.Session, study: tables.Study, at_worker: bool = False) -> dict[str, JudgeDefinition]:
    """Name -> judge as it is described in the app; none where the protocol refuses them by now, as their page says."""
    try:
        found = parse_described(kept_text(session, study), protocol_of(study), at_worker)
    except AnnotationError:
        return {}
    return {judge.name: judge for judge in found}


def asked_studies(engine: Engine) -> list[int]:
    """Ids of the studies with an open request, first those that no worker is at, the longest waiting of them first."""
    with connect.reading(engine) as session:
        waiting = func.min(case((JudgeRequest.started_at.is_(None), JudgeRequest.id)))
        rows = select(JudgeRequest.study_id).where(JudgeRequest.done_at.is_(None)).group_by(JudgeRequest.study_id)
        return list(session.scalars(rows.order_by(waiting.is_(None), waiting, func.min(JudgeRequest.id))))


def next_request(engine: Engine, study_id: int, known: Collection[str]) -> Requested | None:
    """The oldest open request whose judges are all `known` and not all paused, marked as started.

    Those that are paused wait in a request of their own. One that a dead worker had started, or that a pause ended, is
    open still. Two workers may carry out the same one: planning twice adds nothing, and then they share its calls.
    """
    with connect.transaction(engine) as session:
        rows = session.scalars(
            select(JudgeRequest)
            .where(JudgeRequest.study_id == study_id, JudgeRequest.done_at.is_(None))
            .order_by(JudgeRequest.id)
            .with_for_update()  # so that one worker alone splits a request
        )
        paused = _paused(session, study_id)
        row = next((row for row in rows if set(row.judges) <= set(known) and set(row.judges or known) - paused), None)
        if row is None:
            return None
        named = row.judges or known
        held = tuple(name for name in named if name in paused)
        if held:
            row.judges = [name for name in named if name not in paused]
            session.add(
                JudgeRequest(
                    study_id=study_id, requested_by=row.requested_by, judges=list(held), created_at=row.created_at
                )
            )
        row.started_at = row.started_at or types.now()
        return Requested(row.id, tuple(row.judges), row.started_at, held)


def end_request(engine: Engine, request: Requested, why: Mapping[str, str] | None = None) -> None:
    """Mark a request as carried out, however its run ended; judges of it that were paused wait until they go on.

    Left open where it was taken up anew since. `why`: judge -> why it could not be run, which is kept with it. Nothing
    is done where its study was erased.
    """
    with connect.transaction(engine) as session:
        row = session.get(JudgeRequest, request.id, with_for_update=True)  # a pause may end in this very moment
        if row is None or row.started_at != request.started_at or row.done_at is not None:
            return
        for judge, reason in (why or {}).items():
            told = reason if isinstance(reason, Sentence) else Sentence(reason)
            fields = {name: one if isinstance(one, int | float) else str(one) for name, one in told.fields.items()}
            kept = {"why": reason, "sentence": told.sentence, "fields": fields}  # to be told in any language
            audit(session, row.study_id, None, NOT_RUN, request=row.id, judge=judge, **kept)
        paused = _paused(session, row.study_id)
        left = [name for name in row.judges or paused if name in paused]
        if left:
            row.judges, row.started_at = left, None
        else:
            row.done_at = types.now()


def not_run(session: orm.Session, study: tables.Study) -> dict[str, Sentence]:
    """Judge -> why the last request for it could not be carried out; only those whose last one could not.

    A request that names none is for each of them.
    """
    asked = select(JudgeRequest.id, JudgeRequest.judges).where(JudgeRequest.study_id == study.id)
    requests = session.execute(asked).all()
    return {
        data["judge"]: Sentence(data.get("sentence", data["why"]), **data.get("fields", {}))
        for data in audit_data(session, study.id, NOT_RUN)
        if not any(
            number > data["request"] and data["judge"] in (names or [data["judge"]]) for number, names in requests
        )
    }


def planned_judges(
    engine: Engine, study_id: int, definitions: Sequence[JudgeDefinition]
) -> tuple[JudgeDefinition, ...]:
    """Those that were planned with these settings, so that their run can go on."""
    with connect.reading(engine) as session:
        study = session.get_one(tables.Study, study_id)
        return tuple(
            definition
            for definition in definitions
            if accounts.is_planned(session, study, definition, prompt_for(session, study, definition))
        )


@dataclass(frozen=True)
class Forecast:
    """A run with the settings the judge was planned with last. `waiting`: calls that are planned; `new`: those that
    items, texts and questions which came since would add. `estimate` is of both, USD. `spent` is so far.
    """

    judge: str
    waiting: int
    new: int
    estimate: prices.Estimate
    spent: float
    max_cost: float | None


def can_be_asked(session: orm.Session, principal: Principal) -> tuple[str, ...]:
    """Judges that ran here before or are described in the app, by name; none of those that are simulated.

    Raises `forbidden`.
    """
    study = study_for(session, principal, "evaluator")
    # an imported judge has a configuration and no call
    planned = select(JudgeConfig.judge_id).where(accounts.not_of_a_stress_test())
    judges = select(Judge.name).where(Judge.study_id == study.id, ~Judge.is_simulated, Judge.id.in_(planned))
    return tuple(sorted({*session.scalars(judges), *described_judges(session, study)}))


def forecast(engine: Engine, principal: Principal, judge: str) -> Forecast:
    """Nothing is written or asked. Raises AnnotationError `forbidden`, `unknown_judge`, `locked`."""
    with connect.reading(engine) as session:
        study = study_for(session, principal, "evaluator")
        if judge not in can_be_asked(session, principal):
            raise AnnotationError(
                "unknown_judge", "judge {judge!r} has not run here; start it on the command line", judge=judge
            )
        row = session.scalar(select(Judge).where(Judge.study_id == study.id, Judge.name == judge))
        config = accounts.in_force(session, row.id, accounts.not_of_a_stress_test()) if row else None
        if row is not None and config is not None:
            definition = _as_it_ran(session, row, config)
            facts = ModelFacts(config.params, (), False, definition.price, config.price_source, None)
        else:
            definition = described_judges(session, study)[judge]
            facts = ModelFacts(definition.params, (), False, definition.price, "as described", None)
    (plan,) = plan_judges(engine, study.id, [definition], describe=lambda _: facts, write=False)
    spent, most = (row.spent, row.max_cost) if row else (0.0, definition.max_cost)
    return Forecast(judge, plan.waiting, plan.added, plan.estimate, spent, most)


def _as_it_ran(session: orm.Session, judge: Judge, config: JudgeConfig) -> JudgeDefinition:
    """Its definition, but for what rows do not hold and an estimate does not need: limits, keys, concurrency."""
    mine = tables.Assignment.rater_id == judge.rater_id, tables.Assignment.status.in_(tables.LIVE)
    passes, repeats = session.execute(
        select(func.max(tables.Assignment.pass_no), func.max(tables.Assignment.repeat_no)).where(*mine)
    ).one()
    served = (
        select(func.count(JudgeCallAssignment.assignment_id).label("size"))
        .join(JudgeCall, JudgeCall.id == JudgeCallAssignment.call_id)
        .where(JudgeCall.config_id == config.id)
        .group_by(JudgeCallAssignment.call_id)
        .subquery()
    )
    return JudgeDefinition(
        name=judge.name, model=config.model, template=config.template, api_base=config.api_base,
        params=config.asked_params,
        price=prices.stored_price(config.price), structured=tuple(config.structured), max_cost=judge.max_cost,
        # one pass a repeat: which of the two reports comes first changes no cost
        order="both" if (passes or 1) > (repeats or 1) else "random",
        batching=config.batching, items_per_call=session.scalar(select(func.max(served.c.size))) or 1,
        repeats=repeats or 1, max_output_tokens=config.max_output_tokens,
    )  # fmt: skip
