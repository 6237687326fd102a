"""What asking a judge for another run would come to, from its rows alone: no judges.toml, no model library."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.judges.accounts import not_of_a_probe
from annotation.judges.client import ModelFacts
from annotation.judges.judge_file import JudgeDefinition
from annotation.judges.plan import plan_judges
from annotation.judges.prices import Estimate, stored_price
from annotation.people.principals import Principal, study_for
from db.connect import reading
from db.judge_tables import Judge, JudgeCall, JudgeCallAssignment, JudgeConfig
from db.tables import LIVE, Assignment, Study


@dataclass(frozen=True)
class Forecast:
    """A run with the settings the judge was planned with last. `waiting`: calls that stand planned; `new`: those that
    items, texts and questions which came since would add. `estimate` is of both, USD. `spent` is so far.
    """

    judge: str
    waiting: int
    new: int
    estimate: Estimate
    spent: float
    max_cost: float | None


def can_be_asked(session: Session, principal: Principal) -> tuple[str, ...]:
    """Judges that ran here before, by name; none where people and judges are simulated. Raises `forbidden`."""
    study = study_for(session, principal, "evaluator")
    planned = select(JudgeConfig.judge_id).where(not_of_a_probe())  # an imported judge has a configuration and no call
    judges = select(Judge.name).where(Judge.study_id == study.id, ~Judge.is_simulated, Judge.id.in_(planned))
    return tuple(session.scalars(judges.order_by(Judge.name)))


def forecast(engine: Engine, principal: Principal, judge: str) -> Forecast:
    """Nothing is written or asked. Raises AnnotationError `forbidden`, `unknown_judge`, `locked`."""
    with reading(engine) as session:
        study = study_for(session, principal, "evaluator")
        if judge not in can_be_asked(session, principal):
            raise AnnotationError("unknown_judge", f"judge {judge!r} has not run here; start it on the command line")
        row = session.scalars(select(Judge).where(Judge.study_id == study.id, Judge.name == judge)).one()
        config = session.scalars(
            select(JudgeConfig)
            .where(JudgeConfig.judge_id == row.id, not_of_a_probe())
            .order_by(JudgeConfig.id.desc())
            .limit(1)
        ).one()
        definition = _as_it_ran(session, study, row, config)
    facts = ModelFacts(config.params, (), False, definition.price, config.price_source, None)
    (plan,) = plan_judges(engine, study.id, [definition], describe=lambda _: facts, write=False)
    return Forecast(judge, plan.waiting, plan.added, plan.estimate, row.spent, row.max_cost)


def _as_it_ran(session: Session, study: Study, judge: Judge, config: JudgeConfig) -> JudgeDefinition:
    """Its definition, but for what rows do not hold and an estimate does not need: limits, keys, concurrency."""
    mine = Assignment.rater_id == judge.rater_id, Assignment.status.in_(LIVE)
    passes, repeats = session.execute(
        select(func.max(Assignment.pass_no), func.max(Assignment.repeat_no)).where(*mine)
    ).one()
    served = (
        select(func.count(JudgeCallAssignment.assignment_id).label("size"))
        .join(JudgeCall, JudgeCall.id == JudgeCallAssignment.call_id)
        .where(JudgeCall.config_id == config.id)
        .group_by(JudgeCallAssignment.call_id)
        .subquery()
    )
    return JudgeDefinition(
        name=judge.name, model=config.model, api_base=config.api_base, params=config.asked_params,
        price=stored_price(config.price), structured=tuple(config.structured), max_cost=judge.max_cost,
        # one pass a repeat: which of the two reports comes first changes no cost
        order="both" if (passes or 1) > (repeats or 1) else "random",
        batching=config.batching, items_per_call=session.scalar(select(func.max(served.c.size))) or 1,
        repeats=repeats or 1, max_output_tokens=config.max_output_tokens,
    )  # fmt: skip
