"""The plan of a study as one hash that a preregistration can quote: what was to be asked, of which texts, in which
order.
"""

import json
from dataclasses import asdict
from typing import Any

from sqlalchemy import orm, select

from annotation.items.shown import SOURCES, item_code, sources_sha256
from annotation.planning import draws
from annotation.studies import audit, audited
from db.tables import REFERENCE, REPORT_A, REPORT_B, SLOT_SOURCES, Assignment, Event, Item, Study, Topic
from plain.hashes import text_sha256

FORMAT = "calipers-plan/1"
WHAT = "plan_root"


def study_plan(session: orm.Session, study: Study) -> dict[str, Any]:
    """Protocol, items with the sha256 of every text they show, and slots with their orders. Work changes none of it.

    What is given out beside the slots (training, attention, retest) follows from the protocol and the seed.

    Systems are not named: A and B stand for texts.
    """
    return {
        "format": FORMAT,
        "protocol_sha256": study.protocol_sha256,
        "protocol_version": study.protocol_version,
        "seed": study.seed,
        "items": _items(session, study),
        "slots": _slots(session, study),
        **({"draws": [*map(asdict, batches)]} if (batches := draws.kept_draws(session, study)) else {}),
    }


def _items(session: orm.Session, study: Study) -> list[dict[str, Any]]:
    """What is asked about, by number."""
    a, b, reference = REPORT_A, REPORT_B, REFERENCE
    rows = session.execute(
        select(
            Item.id, Topic.key, Item.kind, Item.probe, *SOURCES, Item.purpose, Item.gold,
            a.shown_sha256.label("a"), b.shown_sha256.label("b"), reference.shown_sha256.label("reference"),
        )
        .join(Topic, Topic.id == Item.topic_id)
        .outerjoin(a, a.id == Item.report_a_id)
        .outerjoin(b, b.id == Item.report_b_id)
        .outerjoin(reference, reference.id == Item.reference_id)
        .where(Item.study_id == study.id, Item.excluded_at.is_(None))
        .order_by(Item.id)
    )  # fmt: skip
    return [
        {
            "item": item_code(row.id), "topic": row.key, "kind": row.kind, "probe": row.probe,
            "sources": sources_sha256(row.source_sha256, row.context) if row.kind == "probe" else None,
            "shown": {"A": row.a, "B": row.b, "reference": row.reference},
            **({"purpose": row.purpose, "gold": row.gold} if row.purpose != "label" else {}),
        }
        for row in rows
    ]  # fmt: skip


def _slots(session: orm.Session, study: Study) -> list[dict[str, Any]]:
    """Which is to be answered in which order, by item and slot."""
    rows = session.execute(
        select(
            Assignment.item_id, Assignment.purpose, Assignment.slot_no, Assignment.left, Assignment.criteria_order
        )
        .join(Item, Item.id == Assignment.item_id)
        .where(
            Assignment.study_id == study.id, Assignment.source.in_(SLOT_SOURCES), Assignment.status != "void",
            Assignment.purpose == "label", Item.excluded_at.is_(None),
        )
        .order_by(Assignment.item_id, Assignment.purpose, Assignment.slot_no)
    ).all()  # fmt: skip
    # a slot that was given back stands twice, with one order
    orders = {tuple(row[:3]): row[3:] for row in rows}
    return [
        {
            "item": item_code(item), "purpose": purpose, "slot": slot, "left": left,
            **({"criteria_order": order} if order else {}),
        }
        for (item, purpose, slot), (left, order) in orders.items()
    ]  # fmt: skip


def root_of(plan: dict[str, Any]) -> str:
    """SHA-256 of the plan's canonical JSON: sorted keys, no spaces, UTF-8."""
    text = json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text_sha256(text)


def keep_plan_root(session: orm.Session, study: Study) -> str:
    """The root of the present plan, kept with its date where it is a new one. Earlier roots stay."""
    session.flush()
    plan = study_plan(session, study)
    root = root_of(plan)
    if root != study.plan_root:
        audit(session, study.id, None, WHAT, root=root, items=len(plan["items"]), slots=len(plan["slots"]))
        study.plan_root = root
    return root


def keep_changed_root(session: orm.Session, study: Study) -> None:
    """After an act that may change the plan: where there is a root, the changed plan gets its own at once."""
    if study.plan_root is not None:
        keep_plan_root(session, study)


def plan_roots(session: orm.Session, study: Study) -> list[dict[str, Any]]:
    """Every root that was in force when the study was opened, the first one first: `{root, items, slots, kept_at}`."""
    rows = select(Event.data, Event.created_at).where(audited(study.id, WHAT))
    return [
        {**data, "kept_at": f"{at:%Y-%m-%dT%H:%M:%SZ}"} for data, at in session.execute(rows.order_by(Event.id)).all()
    ]
