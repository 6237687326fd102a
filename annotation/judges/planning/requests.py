"""Runs that somebody asks for in the app: what one would come to, and the rows that a worker carries out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, func, orm, select

from annotation.errors import AnnotationError
from annotation.judges.asking.examples import prompt_for
from annotation.judges.defining.judge_file import JudgeDefinition, ModelFacts
from annotation.judges.money import accounts, prices
from annotation.judges.planning.plan import plan_judges
from annotation.people.principals import Principal, study_for
from annotation.studies import audit
from db import connect, tables, types
from db.judge_tables import Judge, JudgeCall, JudgeCallAssignment, JudgeConfig, JudgeRequest


@dataclass(frozen=True)
class Requested:
    """An open request. `judges` by name; none means every judge of the file."""

    id: int
    judges: tuple[str, ...]


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


def next_request(engine: Engine, study_id: int, known: Collection[str]) -> Requested | None:
    """The oldest open request whose judges are all `known`, marked as started.

    One that a dead worker had started is open still. Two workers may carry out the same one: planning twice adds
    nothing, and then they share its calls.
    """
    with connect.transaction(engine) as session:
        rows = session.scalars(
            select(JudgeRequest)
            .where(JudgeRequest.study_id == study_id, JudgeRequest.done_at.is_(None))
            .order_by(JudgeRequest.id)
        )
        row = next((row for row in rows if set(row.judges) <= set(known)), None)
        if row is None:
            return None
        row.started_at = row.started_at or types.now()
        return Requested(row.id, tuple(row.judges))


def end_request(engine: Engine, request_id: int) -> None:
    """Mark a request as carried out, however its run ended."""
    with connect.transaction(engine) as session:
        row = session.get_one(JudgeRequest, request_id)
        row.done_at = row.done_at or types.now()


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
    """Judges that ran here before, by name; none where people and judges are simulated. Raises `forbidden`."""
    study = study_for(session, principal, "evaluator")
    # an imported judge has a configuration and no call
    planned = select(JudgeConfig.judge_id).where(accounts.not_of_a_stress_test())
    judges = select(Judge.name).where(Judge.study_id == study.id, ~Judge.is_simulated, Judge.id.in_(planned))
    return tuple(session.scalars(judges.order_by(Judge.name)))


def forecast(engine: Engine, principal: Principal, judge: str) -> Forecast:
    """Nothing is written or asked. Raises AnnotationError `forbidden`, `unknown_judge`, `locked`."""
    with connect.reading(engine) as session:
        study = study_for(session, principal, "evaluator")
        if judge not in can_be_asked(session, principal):
            raise AnnotationError("unknown_judge", f"judge {judge!r} has not run here; start it on the command line")
        row = session.scalars(select(Judge).where(Judge.study_id == study.id, Judge.name == judge)).one()
        config = session.scalars(
            select(JudgeConfig)
            .where(JudgeConfig.judge_id == row.id, accounts.not_of_a_stress_test())
            .order_by(JudgeConfig.id.desc())
            .limit(1)
        ).one()
        definition = _as_it_ran(session, study, row, config)
    facts = ModelFacts(config.params, (), False, definition.price, config.price_source, None)
    (plan,) = plan_judges(engine, study.id, [definition], describe=lambda _: facts, write=False)
    return Forecast(judge, plan.waiting, plan.added, plan.estimate, row.spent, row.max_cost)


def _as_it_ran(session: orm.Session, study: tables.Study, judge: Judge, config: JudgeConfig) -> JudgeDefinition:
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
