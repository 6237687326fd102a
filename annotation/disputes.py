"""The adjudicator's queue: questions that people who read the same item answered differently, and why they stand there.

Verdicts are compared, never sides; which system wrote what is not read here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sqlalchemy import RowMapping, func, select
from sqlalchemy.orm import Session, aliased

from annotation.current_labels import all_labels, counted_labels, counts, has_seen_only
from annotation.protocol import Protocol
from annotation.scores import NUMBER, scale_of
from annotation.shown import sources_sha256
from annotation.studies import protocol_of
from annotation.verdicts import unblind
from db.people_tables import Rater
from db.tables import HANDED_IN, Assignment, Criterion, Event, Item, Label, Report, Study

REASONS = ("disagreement", "low_confidence", "flag", "not_applicable", "tie_against_winner")
STATES = ("open", "in work", "settled")
LOW_CONFIDENCE = 2  # of 5, and below


@dataclass(frozen=True)
class Dispute:
    """One question about one item. `assignment_id`: of the adjudication that is in work, or that settled it."""

    item_id: int
    criterion: str
    verdicts: Mapping[int, str]  # rater -> verdict
    reasons: tuple[str, ...]
    state: str  # open | in work | settled
    assignment_id: int | None = None


def in_dispute(
    verdicts: Sequence[str], rule: str | Sequence[str] = "any", criterion: str = "", step: float = 0.0
) -> bool:
    """Whether the protocol's `study.adjudicate` sends these verdicts of several people on one question to somebody.

    `any`: two of them differ. `no_majority`: besides, no verdict is that of more than half. A list: `any`, on the
    criteria it names. Scores at most one `step` of their scale apart do not differ.
    """
    if not any(_differ(one, other, step) for one, other in combinations(sorted(set(verdicts)), 2)):
        return False
    if rule == "no_majority":
        return not any(2 * sum(not _differ(one, other, step) for other in verdicts) > len(verdicts) for one in verdicts)
    return rule == "any" or criterion in rule


def reasons_of(verdicts: Iterable[str], confidences: Iterable[int | None], *, flagged: bool) -> tuple[str, ...]:
    """Those of `REASONS` that hold for a question in dispute; the first one always does."""
    said = set(verdicts)
    holds = {
        "disagreement": True,
        "low_confidence": any(one is not None and one <= LOW_CONFIDENCE for one in confidences),
        "flag": flagged,
        "not_applicable": "not_applicable" in said,
        "tie_against_winner": "tie" in said and bool(said & {"A", "B"}),
    }
    return tuple(reason for reason in REASONS if holds[reason])


def disputes(session: Session, study: Study, *, early: bool = False) -> list[Dispute]:
    """Every question in dispute, by item and in page order; `study` comes from `principals.study_for`.

    An item takes part once two people have handed it in and nobody else is still to: no slot of it is open or in work,
    or the study is closed. `early`: from two people on. A dispute is settled by an adjudication that is handed in,
    stands on the texts shown now, and was given on the very verdicts that stand now: a changed one opens it again.
    """
    protocol = protocol_of(study)
    steps = _steps(session, study, protocol)
    ready, flagged = _ready(session, study, early=early), _flagged(session, study)
    given: dict[tuple[int, str], list[RowMapping]] = defaultdict(list)
    for row in answers(session, study):
        if row["item_id"] in ready:
            given[row["item_id"], row["criterion"]].append(row)
    acts, place = _adjudications(session, study), {code: number for number, code in enumerate(steps)}
    found = []
    for (item, code), rows in sorted(given.items(), key=lambda one: (one[0][0], place[one[0][1]])):
        verdicts = {row["rater_id"]: str(unblind(row["choice"], row["left"])) for row in rows}
        if in_dispute(list(verdicts.values()), protocol.study.adjudicate, code, steps[code]):
            reasons = reasons_of(verdicts.values(), (row["confidence"] for row in rows), flagged=item in flagged)
            found.append(Dispute(item, code, verdicts, reasons, *_state(acts[item], code, verdicts)))
    return found


def answers(session: Session, study: Study, item_id: int | None = None) -> list[RowMapping]:
    """People's current answers in work handed in, on the texts their items show now; of one item, or of all.

    Of one item with rationale and evidence. Training, attention, a second reading and adjudication are left out.
    """
    columns: list[Any] = [
        Assignment.item_id, Assignment.rater_id, Assignment.left, Criterion.code.label("criterion"), Label.choice,
        Label.confidence, Label.left_sha256, Label.right_sha256,
    ]  # fmt: skip
    rows = counted_labels(study).where(
        Rater.kind == "human", Assignment.purpose == "label", Assignment.repeat_no == 1, Label.choice.is_not(None)
    )
    if item_id is not None:
        rows = rows.where(Assignment.item_id == item_id)
        columns += [Label.rationale, Label.evidence]
    found = session.execute(rows.with_only_columns(*columns).order_by(Assignment.id)).mappings()
    shown = _texts(session, study, item_id)
    return [row for row in found if _stands(row, shown.get(row["item_id"]))]


def _differ(one: str, other: str, step: float) -> bool:
    if NUMBER.fullmatch(one) and NUMBER.fullmatch(other):
        return abs(float(one) - float(other)) > step + 1e-9
    return one != other


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
    shown = _texts(session, study)
    standing: dict[int, dict[str, bool]] = defaultdict(dict)
    for row in labels:  # the last revision of each has the last word
        stands = row["choice"] is not None and _stands(row, shown.get(row["item_id"]))
        standing[row["id"]][row["code"]] = stands
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


def _steps(session: Session, study: Study, protocol: Protocol) -> dict[str, float]:
    """criterion -> step of its scale, 0 where it has none; in page order."""
    rows = select(Criterion.code, Criterion.scale).where(Criterion.study_id == study.id, Criterion.retired_at.is_(None))
    asked = session.execute(rows.order_by(Criterion.position, Criterion.id))
    return {code: scale.step if (scale := scale_of(protocol, own)) else 0.0 for code, own in asked}


def _texts(session: Session, study: Study, item_id: int | None = None) -> dict[int, RowMapping]:
    """What each item shows now, by the sha256 of its texts alone."""
    a, b, reference = aliased(Report), aliased(Report), aliased(Report)
    rows = (
        select(
            Item.id, Item.kind, Item.context, Item.excluded_at, a.shown_sha256.label("sha256_a"),
            b.shown_sha256.label("sha256_b"), reference.shown_sha256.label("sha256_reference"),
        )
        .outerjoin(a, a.id == Item.report_a_id)
        .outerjoin(b, b.id == Item.report_b_id)
        .outerjoin(reference, reference.id == Item.reference_id)
        .where(Item.study_id == study.id)
    )  # fmt: skip
    if item_id is not None:
        rows = rows.where(Item.id == item_id)
    return {row["id"]: row for row in session.execute(rows).mappings()}


def _stands(label: RowMapping, shown: RowMapping | None) -> bool:
    """As for verdicts: on the texts shown now; for a probe, on its report and its sources as they are now."""
    if shown is None or not counts(label, shown):
        return False
    if shown["kind"] != "probe":
        return True
    return has_seen_only(label, shown["sha256_a"], sources_sha256(shown["context"]))
