"""Which texts an item shows, by its kind: two reports, a report beside another, or a probe with its context."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.protocol import Protocol
from db.tables import Item, Report

# before a sha256 on a label that was made elsewhere: the text its item showed at import, which nobody proved was read
UNPROVED = "unproved:"


@dataclass(frozen=True)
class ShownText:
    """One text as raters read it. `name` is its title on the page and never says which system wrote it."""

    name: str
    shown_text: str
    shown_sha256: str
    stripper_version: str


def shown_of_item(session: Session, protocol: Protocol, item: Item, left: str | None) -> list[ShownText]:
    """One or two texts, the left one first. A probe with neither report nor sources shows one that is empty."""
    keys = item.report_a_id, item.report_b_id, item.reference_id
    # only these columns: a report's row also holds its original and all that was removed from it
    columns = Report.id, Report.shown_text, Report.shown_sha256, Report.stripper_version
    stored = session.execute(select(*columns).where(Report.id.in_([key for key in keys if key is not None])))
    reports: dict[int | None, Sequence[str]] = {key: shown for key, *shown in stored}
    return in_order(protocol, item, left, lambda name, key: ShownText(name, *reports[key]))


def in_order(
    protocol: Protocol, item: Any, left: str | None, report: Callable[[str, int | None], ShownText]
) -> list[ShownText]:
    """The same from a row with an item's columns; `report` finds a text by its title and the report's id."""
    if item.kind == "pair":
        first, second = (item.report_b_id, item.report_a_id) if left == "B" else (item.report_a_id, item.report_b_id)
        return [report("Left", first), report("Right", second)]
    if item.kind == "report" and item.reference_id is not None and left is not None:
        # both are rated, each as an item of its own, and neither is called the reference
        own, beside = item.report_a_id, item.reference_id
        first, second = (beside, own) if left == "B" else (own, beside)
        return [report("Left", first), report("Right", second)]
    if item.kind == "report":
        beside = [] if item.reference_id is None else [report("Reference", item.reference_id)]
        return [report("Report", item.report_a_id), *beside]
    context = protocol.answers.context
    texts = [report("Report", item.report_a_id)] if context != "sources" and item.report_a_id is not None else []
    if context != "report" or not texts:
        texts.append(ShownText("Sources", item.context or "", sources_sha256(item.context), ""))
    return [text for text in texts if text.shown_text] or texts[:1]


def sources_sha256(context: str | None) -> str:
    """What a label on source passages is stamped with: sha256 of their UTF-8 bytes, as hex."""
    return hashlib.sha256((context or "").encode()).hexdigest()
