"""Settled disputes as a CSV file: pseudonymous, systems only once the study may show them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable

from sqlalchemy.orm import Session

from annotation.disputes.settled import Settled, systems_by_item
from annotation.spreadsheets import guarded
from annotation.verdicts import shows_systems
from db.tables import Study

COLUMNS = (
    "item_id", "cluster_id", "system_a", "system_b", "criterion", "verdict", "adjudicator", "pass_no", "raters",
    "reasons", "rationale", "settled_at",
)  # fmt: skip


def settled_csv(session: Session, study: Study, rows: Iterable[Settled]) -> str:
    """One row a settled dispute, with `COLUMNS`. `raters`: JSON, pseudonym to verdict. No text can start a formula.

    `study` comes from `principals.study_for`.
    """
    systems = systems_by_item(session, study) if shows_systems(study) else {}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in rows:
        raters, reasons = json.dumps(dict(one.raters), ensure_ascii=False), " ".join(one.reasons)
        cells = (
            one.item_id, one.cluster_id, *systems.get(one.item_id, ("", "")), one.criterion, one.verdict,
            one.adjudicator, str(one.pass_no), raters, reasons, one.rationale, one.settled_at.isoformat(),
        )  # fmt: skip
        writer.writerow([guarded(cell) for cell in cells])
    return out.getvalue()
