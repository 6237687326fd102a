"""What the raters of an item said, as its adjudicator sees it: in this page's order, without a name or a system."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from annotation.disputes.differing import answers
from annotation.leaks.redaction import redactor_of
from annotation.pairing import seeded
from annotation.verdicts import unblind
from annotation.work.evidence import Texts, spans_for_page
from db.tables import Assignment, Study

OTHER = {"left": "right", "right": "left"}


def others_said(
    session: Session, study: Study, assignment: Assignment, texts: Texts
) -> dict[str, list[dict[str, Any]]] | None:
    """criterion -> `[{rater, choice, rationale, swapped, confidence, evidence}]`, evidence as in one's own answers.

    None for any other work than adjudication. `choice` and `side` are of this page: `swapped` says that the rater saw
    the reports the other way round, and means Right where the rationale says left. "Rater 1" is one person on all of
    the page, and another one on the next: the order is drawn for each adjudication. `texts`: what this page shows.
    """
    if assignment.purpose != "adjudicate":
        return None
    redact = redactor_of(session, study)
    rows = [
        row
        for row in answers(session, study, [assignment.item_id], whole=True)
        if row["rater_id"] != assignment.rater_id
    ]
    raters = sorted({row["rater_id"] for row in rows})
    seeded(study.seed, "others", assignment.aid).shuffle(raters)
    said: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: raters.index(row["rater_id"])):
        swapped = None not in (row["left"], assignment.left) and row["left"] != assignment.left
        said[row["criterion"]].append(
            {
                "rater": f"Rater {raters.index(row['rater_id']) + 1}",
                "choice": turned(unblind(row["choice"], row["left"]), assignment.left),
                "rationale": redact(row["rationale"]),
                "swapped": swapped,
                "confidence": row["confidence"],
                "evidence": [
                    {**span, "quote": span["quote"] if span["verified"] else redact(span["quote"])}
                    for span in spans_for_page(texts, (_placed(one, texts, swapped) for one in row["evidence"]))
                ],
            }
        )
    return {code: said[code] for code in assignment.criteria_order or () if code in said}


def turned(verdict: str | None, left: str | None) -> str | None:
    """A verdict as a choice on a page with this side on the left: the opposite of `unblind`."""
    if verdict in ("A", "B") and left is not None:
        return "left" if verdict == left else "right"
    return verdict


def _placed(one: Mapping[str, Any], texts: Texts, swapped: bool) -> dict[str, Any]:
    """A stored passage on the side where its report stands now: known by its text, else by the recorded orders."""
    sides = [side for side, (_, sha256) in texts.items() if sha256 == one["sha256"]]
    recorded = OTHER[one["side"]] if swapped else one["side"]
    return {**one, "side": recorded if recorded in sides or not sides else sides[0]}
