"""Who labelled a study, as counts: their roles, consent and training, and the time and pay of their work."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from annotation.facts.label_facts import COUNTED
from annotation.people.active_time import seconds_by_assignment
from annotation.protocol_parts import Pay
from annotation.studies import protocol_of
from db.people_tables import Enrollment, Rater
from db.tables import HANDED_IN, Assignment, Study


def people_facts(session: Session, study: Study) -> dict[str, Any]:
    """Counts of the study's people; nobody's name is among them."""
    rules = protocol_of(study).study
    raters = list(session.scalars(_worked(study)))
    mine = Enrollment.study_id == study.id
    roles = session.execute(select(Enrollment.role, func.count()).where(mine).group_by(Enrollment.role)).all()
    return {
        "annotators": len(raters),
        "roles": {role: count for role, count in sorted(roles)},
        **_enrolled(session, study),
        "may_see_and_label": rules.may_see_and_label,
        "training_items": rules.training.items,
        **_work(session, study, raters, rules.pay),
    }


def _worked(study: Study) -> Select[int | None]:
    """The people who handed in labels that count; whoever only settled disputes or trained is no annotator."""
    return (
        select(Assignment.rater_id)
        .join(Rater, Rater.id == Assignment.rater_id)
        .where(
            Assignment.study_id == study.id,
            Assignment.status.in_(HANDED_IN),
            Assignment.purpose.in_(COUNTED),
            Rater.kind == "human",
        )
        .distinct()
    )


def _enrolled(session: Session, study: Study) -> dict[str, Any]:
    """How those who worked take part. The text they agreed to is named where it is one."""
    worked = Enrollment.study_id == study.id, Enrollment.rater_id.in_(_worked(study))
    simulated, staff, consented, trained = session.execute(
        select(
            func.sum(case((Enrollment.is_simulated, 1), else_=0)),
            func.sum(case((Enrollment.role != "annotator", 1), else_=0)),
            func.count(Enrollment.consented_at),
            func.count(Enrollment.training_passed_at),
        ).where(*worked)
    ).one()
    consents = select(Enrollment.consent_sha256).where(*worked, Enrollment.consent_sha256.is_not(None)).distinct()
    texts = session.scalars(consents).all()
    return {
        "annotators_simulated": simulated or 0,
        "staff_labelled": staff or 0,
        "consented": consented,
        "training_passed": trained,
        "consent_sha256": texts[0] if len(texts) == 1 else None,
    }


def _work(session: Session, study: Study, raters: list[int | None], pay: Pay) -> dict[str, Any]:
    seconds = sum(
        sum(sum(spent.values()) for spent in seconds_by_assignment(session, study, rater).values()) for rater in raters
    )
    hours = seconds / 3600 if seconds else None
    return {
        "active_hours": hours,
        "pay_rate": pay.rate or None,
        "pay_currency": pay.currency if pay.rate else None,
        "pay_total": hours * pay.rate if hours is not None and pay.rate else None,
    }
