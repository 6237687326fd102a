"""Runs that somebody asked for in the app, as rows: a worker on the command line plans them and carries them out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.judges.accounts import is_planned
from annotation.judges.judge_file import JudgeDefinition
from annotation.judges.prompt import template_of
from annotation.people.principals import Principal, study_for
from annotation.studies import audit, protocol_of
from db.connect import reading, transaction
from db.judge_tables import JudgeRequest
from db.tables import Study
from db.types import now


@dataclass(frozen=True)
class Requested:
    """An open request. `judges` by name; none means every judge of the file."""

    id: int
    judges: tuple[str, ...]


def request_run(session: Session, principal: Principal, judges: Sequence[str] = ()) -> int:
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
    with transaction(engine) as session:
        rows = session.scalars(
            select(JudgeRequest)
            .where(JudgeRequest.study_id == study_id, JudgeRequest.done_at.is_(None))
            .order_by(JudgeRequest.id)
        )
        row = next((row for row in rows if set(row.judges) <= set(known)), None)
        if row is None:
            return None
        row.started_at = row.started_at or now()
        return Requested(row.id, tuple(row.judges))


def end_request(engine: Engine, request_id: int) -> None:
    """Mark a request as carried out, however its run ended."""
    with transaction(engine) as session:
        row = session.get_one(JudgeRequest, request_id)
        row.done_at = row.done_at or now()


def planned_judges(
    engine: Engine, study_id: int, definitions: Sequence[JudgeDefinition]
) -> tuple[JudgeDefinition, ...]:
    """Those that were planned with these settings, so that their run can go on."""
    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        protocol = protocol_of(study)
        return tuple(one for one in definitions if is_planned(session, study, one, template_of(protocol, one.prompt)))
