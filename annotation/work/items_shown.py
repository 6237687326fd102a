"""What each item of a study shows: its topic, and the texts called A and B."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.item_codes import item_code
from db.aliases import REPORT_A, REPORT_B
from db.tables import Item, Study, Topic


def items_shown(session: Session, study: Study, *, texts: bool) -> list[dict[str, Any]]:
    """One row an item: `item_id, topic, sha256_a, sha256_b`, with `texts` also `text_a, text_b`; None for no report."""
    a, b = REPORT_A, REPORT_B
    shown = (a.shown_text, b.shown_text) if texts else ()
    rows = session.execute(
        select(Item.id, Topic.key, a.shown_sha256, b.shown_sha256, *shown)
        .join(Topic, Topic.id == Item.topic_id)
        .outerjoin(a, a.id == Item.report_a_id)
        .outerjoin(b, b.id == Item.report_b_id)
        .where(Item.study_id == study.id)
        .order_by(Item.id)
    )
    names = ("item_id", "topic", "sha256_a", "sha256_b", "text_a", "text_b")
    return [{**dict(zip(names, row, strict=False)), "item_id": item_code(row[0])} for row in rows]
