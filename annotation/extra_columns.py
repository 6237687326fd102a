"""What optional columns of `labels.csv` are made of: weights of criteria, items of one view, probes of one claim."""

from __future__ import annotations

from collections import defaultdict

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.item_codes import item_code
from annotation.studies import protocol_of
from annotation.work.twins import twin_items
from db.tables import Criterion, Item, Study


def weights_of(session: Session, study: Study) -> dict[int, float]:
    """Row of a criterion still asked -> its weight; empty where all weigh 1."""
    rows = select(Criterion.id, Criterion.weight).where(Criterion.study_id == study.id, Criterion.retired_at.is_(None))
    weights = {one.id: one.weight for one in session.execute(rows)}
    return weights if any(weight != 1 for weight in weights.values()) else {}


def items_beside(session: Session, study: Study) -> dict[int, str]:
    """Item -> the item that is rated in the same view: its report is this one's reference, and the other way round."""
    return {item: item_code(twin) for item, twin in twin_items(session, study).items()}


def first_of_claims(session: Session, study: Study) -> dict[int, str]:
    """Probe -> the first of the probes that put its text to the same report, each with a source of its own; only those.

    By text alone: of two pages that could not be fetched neither has any. Where raters read the report and no sources,
    probes of one text are no sources of one claim.
    """
    if protocol_of(study).answers.context == "report":
        return {}
    rows = session.execute(
        select(Item.id, Item.topic_id, Item.report_a_id, Item.probe)
        .where(Item.study_id == study.id, Item.kind == "probe", Item.purpose == "label")
        .order_by(Item.id)
    )
    claims: dict[tuple[int, int | None, str | None], list[int]] = defaultdict(list)
    for item, topic, report, probe in rows:
        claims[topic, report, probe].append(item)
    return {item: item_code(items[0]) for items in claims.values() if len(items) > 1 for item in items}
