"""The adjudicator's queue: questions that people who read the same item answered differently, and what each
of them said, without a name.

Verdicts are compared, never sides; which system wrote what is not read here.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, orm, select

from annotation.designs.pairing import seeded
from annotation.disputes.differing import REASONS, Differing, answers, differing, stands, texts_shown
from annotation.labels.current_labels import all_labels
from annotation.labels.evidence import Texts, spans_for_page
from annotation.leaks.redaction import redactor_of
from annotation.studies import audit_data
from annotation.verdicts import unblind
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


@dataclass(frozen=True)
class _Adjudication:
    """`saw`: criterion -> the verdicts it was given on. `standing`: criteria answered on the texts shown now."""

    id: int
    status: str
    codes: frozenset[str]
    saw: Mapping[str, Mapping[int, str]]
    standing: frozenset[str]


def disputes(session: orm.Session, study: Study, *, early: bool = False) -> list[Dispute]:
    """Every question in dispute, by item and in page order; `study` comes from `principals.study_for`.

    An item takes part once two people have handed it in and nobody else is still to: no slot of it is open or in work,
    or the study is closed. `early`: from two people on. A dispute is settled by an adjudication that is handed in,
    rests on the texts shown now, and was given on the very verdicts of now: a changed one opens it again.
    """
    ready = _ready(session, study, early=early)
    found = differing(session, study, ready)
    flagged, acts = _flagged(session, study), _adjudications(session, study)
    return [
        _dispute(item, differing, item in flagged, acts.get(item, ()))
        for item, split in found.items()
        for differing in split
    ]


def _dispute(item: int, differing: Differing, flagged: bool, acts: Sequence[_Adjudication]) -> Dispute:
    held = {*differing.reasons, *(["flag"] if flagged else [])}
    reasons = tuple(reason for reason in REASONS if reason in held) if flagged else differing.reasons
    state, assignment = _state(acts, differing.criterion, differing.verdicts) if acts else ("open", None)
    return Dispute(item, differing.criterion, differing.verdicts, reasons, state, assignment)


def _state(acts: Sequence[_Adjudication], code: str, verdicts: Mapping[int, str]) -> tuple[str, int | None]:
    about = [act for act in acts if code in act.codes]
    for act in about:
        if act.status == "taken":
            return "in work", act.id
    for act in about:
        if act.status in HANDED_IN and code in act.standing and act.saw.get(code) == verdicts:
            return "settled", act.id
    return "open", None


def _adjudications(session: orm.Session, study: Study) -> Mapping[int, list[_Adjudication]]:
    """item -> its adjudications, the newest first."""
    mine = Assignment.study_id == study.id, Assignment.purpose == "adjudicate"
    saw = {
        data["assignment"]: {
            code: {int(rater): verdict for rater, verdict in said.items()} for code, said in data["verdicts"].items()
        }
        for data in audit_data(session, study.id, "adjudicate")
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


def _ready(session: orm.Session, study: Study, *, early: bool) -> set[int]:
    """Items that two people have handed in, and that nobody is still to hand in."""
    slots = select(Assignment.item_id).where(
        Assignment.study_id == study.id, Assignment.purpose == "label", Assignment.source != "judge"
    )
    several = slots.where(Assignment.status.in_(HANDED_IN)).group_by(Assignment.item_id)
    ready = set(session.scalars(several.having(func.count(Assignment.rater_id.distinct()) > 1)))
    if not early and study.status not in ("closed", "locked"):
        ready -= set(session.scalars(slots.where(Assignment.status.in_(("open", "taken")))))
    return ready


def _flagged(session: orm.Session, study: Study) -> set[int]:
    """Items that somebody flagged while reading them."""
    rows = select(Assignment.item_id).join(Event, Event.assignment_id == Assignment.id)
    return set(session.scalars(rows.where(Assignment.study_id == study.id, Event.kind == "flag")))


OTHER = {"left": "right", "right": "left"}


def others_said(
    session: orm.Session, study: Study, assignment: Assignment, texts: Texts
) -> dict[str, list[dict[str, Any]]] | None:
    """criterion -> `[{rater, choice, rationale, swapped, confidence, evidence}]`, evidence as in one's own answers.

    None for any other work than adjudication. `choice` and `side` are of this page: `swapped` says that the rater saw
    the reports the other way round, and means Right where the rationale says left. Rater 1 is one person on all of
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
                "rater": raters.index(row["rater_id"]) + 1,
                "choice": turned(unblind(row["choice"], row["left"]), assignment.left),
                "rationale": redact(row["rationale"]),
                "swapped": swapped,
                "confidence": row["confidence"],
                "evidence": [
                    {**span, "quote": span["quote"] if span["verified"] else redact(span["quote"])}
                    for span in spans_for_page(texts, (_placed(stored, texts, swapped) for stored in row["evidence"]))
                ],
            }
        )
    return {code: said[code] for code in assignment.criteria_order or () if code in said}


def turned(verdict: str | None, left: str | None) -> str | None:
    """A verdict as a choice on a page with this side on the left: the opposite of `unblind`."""
    if verdict in ("A", "B") and left is not None:
        return "left" if verdict == left else "right"
    return verdict


def _placed(stored: Mapping[str, Any], texts: Texts, swapped: bool) -> dict[str, Any]:
    """A stored passage on the side where its report is now: known by its text, else by the recorded orders."""
    sides = [side for side, (_, sha256) in texts.items() if sha256 == stored["sha256"]]
    recorded = OTHER[stored["side"]] if swapped else stored["side"]
    return {**stored, "side": recorded if recorded in sides or not sides else sides[0]}
