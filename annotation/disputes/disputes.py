"""The adjudicator's queue: questions that people who read the same item answered differently, and why they stand there.

Verdicts are compared, never sides; which system wrote what is not read here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotation.current_labels import all_labels
from annotation.disputes.differing import Differing, differing, stands, texts_shown
from annotation.disputes.dispute_rules import REASONS
from db.tables import HANDED_IN, Assignment, Criterion, Event, Label, Study

STATES = ("open", "in work", "settled")


@dataclass(frozen=True, slots=True)
class Dispute:
    """One question about one item. `assignment_id`: of the adjudication that is in work, or that settled it."""

    item_id: int
    criterion: str
    verdicts: Mapping[int, str]  # rater -> verdict
    reasons: tuple[str, ...]
    state: str  # open | in work | settled
    assignment_id: int | None = None


def disputes(session: Session, study: Study, *, early: bool = False) -> list[Dispute]:
    """Every question in dispute, by item and in page order; `study` comes from `principals.study_for`.

    An item takes part once two people have handed it in and nobody else is still to: no slot of it is open or in work,
    or the study is closed. `early`: from two people on. A dispute is settled by an adjudication that is handed in,
    stands on the texts shown now, and was given on the very verdicts that stand now: a changed one opens it again.
    """
    ready = _ready(session, study, early=early)
    found = differing(session, study, ready)
    flagged, acts = _flagged(session, study), _adjudications(session, study)
    return [_dispute(item, one, item in flagged, acts.get(item, ())) for item, split in found.items() for one in split]


def _dispute(item: int, one: Differing, flagged: bool, acts: Sequence[_Adjudication]) -> Dispute:
    held = {*one.reasons, *(["flag"] if flagged else [])}
    reasons = tuple(reason for reason in REASONS if reason in held) if flagged else one.reasons
    state, assignment = _state(acts, one.criterion, one.verdicts) if acts else ("open", None)
    return Dispute(item, one.criterion, one.verdicts, reasons, state, assignment)


def _state(acts: Sequence[_Adjudication], code: str, verdicts: Mapping[int, str]) -> tuple[str, int | None]:
    about = [act for act in acts if code in act.codes]
    for act in about:
        if act.status == "taken":
            return "in work", act.id
    for act in about:
        if act.status in HANDED_IN and code in act.standing and act.saw.get(code) == verdicts:
            return "settled", act.id
    return "open", None


@dataclass(frozen=True)
class _Adjudication:
    """`saw`: criterion -> the verdicts it was given on. `standing`: criteria answered on the texts shown now."""

    id: int
    status: str
    codes: frozenset[str]
    saw: Mapping[str, Mapping[int, str]]
    standing: frozenset[str]


def _adjudications(session: Session, study: Study) -> Mapping[int, list[_Adjudication]]:
    """item -> its adjudications, the newest first."""
    mine = Assignment.study_id == study.id, Assignment.purpose == "adjudicate"
    saw = {
        data["assignment"]: {
            code: {int(rater): verdict for rater, verdict in said.items()} for code, said in data["verdicts"].items()
        }
        for data in session.scalars(_audited(study))
    }
    # before their labels: work that is handed in meanwhile is in work here, and never one without an answer
    acts = session.scalars(select(Assignment).where(*mine).order_by(Assignment.id.desc())).all()
    labels = session.execute(
        all_labels(study)
        .with_only_columns(
            Assignment.id, Assignment.item_id, Assignment.left, Criterion.code, Label.choice, Label.left_sha256,
            Label.right_sha256,
        )
        .where(*mine, Criterion.retired_at.is_(None))
        .order_by(None)
        .order_by(Label.revision)
    ).mappings()  # fmt: skip
    shown = texts_shown(session, study, [act.item_id for act in acts])
    standing: dict[int, dict[str, bool]] = defaultdict(dict)
    for row in labels:  # the last revision of each has the last word
        counts = row["choice"] is not None and stands(row, shown.get(row["item_id"]))
        standing[row["id"]][row["code"]] = counts
    found: dict[int, list[_Adjudication]] = defaultdict(list)
    for act in acts:
        answered = frozenset(code for code, stands in standing[act.id].items() if stands)
        codes = frozenset(act.criteria_order or ())
        found[act.item_id].append(_Adjudication(act.id, act.status, codes, saw.get(act.id, {}), answered))
    return found


def _audited(study: Study) -> Any:
    return select(Event.data).where(Event.study_id == study.id, Event.kind == "audit", Event.what == "adjudicate")


def _ready(session: Session, study: Study, *, early: bool) -> set[int]:
    """Items that two people have handed in, and that nobody is still to hand in."""
    slots = select(Assignment.item_id).where(
        Assignment.study_id == study.id, Assignment.purpose == "label", Assignment.source != "judge"
    )
    several = slots.where(Assignment.status.in_(HANDED_IN)).group_by(Assignment.item_id)
    ready = set(session.scalars(several.having(func.count(Assignment.rater_id.distinct()) > 1)))
    if not early and study.status not in ("closed", "locked"):
        ready -= set(session.scalars(slots.where(Assignment.status.in_(("open", "taken")))))
    return ready


def _flagged(session: Session, study: Study) -> set[int]:
    """Items that somebody flagged while reading them."""
    rows = select(Assignment.item_id).join(Event, Event.assignment_id == Assignment.id)
    return set(session.scalars(rows.where(Assignment.study_id == study.id, Event.kind == "flag")))
