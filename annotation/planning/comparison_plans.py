"""What a study's comparison of judges was to show, and by which margin: kept before anyone saw the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.studies import audit
from db.tables import Event, Study

WHAT = "comparison_plan"


def kept_plans(session: Session, study: Study) -> list[dict[str, Any]]:
    """Every plan that stood when a result was shown, the first one first."""
    rows = select(Event.data).where(Event.study_id == study.id, Event.kind == "audit", Event.what == WHAT)
    return list(session.scalars(rows.order_by(Event.id)))


def keep_plan(session: Session, study: Study, plan: Mapping[str, Any]) -> None:
    """Append the plan to the audit trail, unless it is the one kept last. Nothing kept is ever changed."""
    kept = kept_plans(session, study)
    if not kept or kept[-1]["plan_sha256"] != plan["plan_sha256"]:
        audit(session, study.id, None, WHAT, **plan)
