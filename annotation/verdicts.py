"""Every label unblinded, as one tidy table: the columns of `labels.csv`."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pandas as pd
from sqlalchemy import ColumnElement, RowMapping, Select, and_, case, func, literal, or_, select
from sqlalchemy.orm import Session, aliased

from annotation.active_time import seconds_by_criterion
from annotation.errors import AnnotationError
from annotation.pairing import seeded
from annotation.shown import UNPROVED, sources_sha256
from annotation.studies import protocol_of
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment
from db.people_tables import Enrollment, Rater
from db.tables import Assignment, Criterion, Item, Label, Report, Study, System, Topic

COLUMNS = (
    "item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id", "system_a", "system_b", "presentation",
    "category", "len_a", "len_b", "run", "pass_no", "seconds", "cost_usd", "status", "rationale",
    "evidence",
)  # fmt: skip
FORMULA = r"[=+\-@\t\r]"
STATUS = {"truncated": "invalid"}  # the four that statistics know; judge tables print truncated apart
OTHER = {"A": "B", "B": "A"}


def unblind(choice: str | None, left: str | None) -> str | None:
    """The verdict of a choice: `left` and `right` become A or B as the recorded order says; all else stays.

    Without a recorded order (an imported file that did not say) the choice already is A or B.
    """
    if choice == "left" and left is not None:
        return left
    if choice == "right" and left is not None:
        return OTHER[left]
    return choice


def load_verdicts(session: Session, study: Study) -> pd.DataFrame:
    """One row per item, criterion, rater and pass: current labels of work handed in, with `COLUMNS`.

    `study` comes from `people.study_for`. Training, attention and adjudicated labels stay out, and so do labels on
    texts that were replaced since. `seconds` and `cost_usd` are a row's share; empty means unknown, not 0.
    """
    rows = session.execute(current_labels(study)).mappings().all()
    human_seconds = seconds_by_criterion(session, study)
    judge_shares = _judge_shares(session, study)
    pay = protocol_of(study).study.pay
    hourly = pay.rate if pay.currency == "USD" and pay.rate > 0 else None
    by_item = protocol_of(study).calibration.get("cluster") == "item"
    sources = _sources_of_probes(session, study)
    table = []
    for row in rows:
        seen = {(row[side] or "").removeprefix(UNPROVED) for side in ("left_sha256", "right_sha256")} - {""}
        if row["item_id"] in sources and not seen <= {row["sha256_a"], sources[row["item_id"]]}:
            continue
        is_judge = row["rater_kind"] == "judge"
        if is_judge:
            seconds, cost = judge_shares.get((row["assignment_id"], row["criterion_row"]), (None, None))
        else:
            seconds = human_seconds.get((row["assignment_id"], row["criterion"]))
            cost = seconds * hourly / 3600 if seconds is not None and hourly is not None else None
        table.append(
            {
                "item_id": f"item-{row['item_id']:05d}",
                "rater_id": row["judge_name"] if is_judge else row["pseudonym"],
                "rater_kind": row["rater_kind"],
                "criterion": row["criterion"],
                "label": unblind(row["choice"], row["left"]),
                "cluster_id": f"item-{row['item_id']:05d}" if by_item else row["topic"],
                "system_a": row["system_a"],
                "system_b": row["system_b"],
                "presentation": {"A": "AB", "B": "BA"}.get(row["left"]),
                "category": row["category"],
                "len_a": row["len_a"],
                "len_b": row["len_b"],
                "run": row["repeat_no"],
                "pass_no": row["pass_no"],
                "seconds": seconds,
                "cost_usd": cost,
                "status": STATUS.get(row["status"], row["status"]),
                "rationale": row["rationale"],
                "evidence": _evidence_by_report(row, "sources" if row["item_id"] in sources else "reference"),
            }
        )
    frame = pd.DataFrame(table, columns=list(COLUMNS))
    for column in ("len_a", "len_b", "seconds", "cost_usd"):
        frame[column] = pd.to_numeric(frame[column])
    return frame.sort_values(["item_id", "rater_kind", "rater_id", "pass_no", "criterion"], ignore_index=True)


def _evidence_by_report(row: RowMapping, beside: str) -> str:
    """Quoted passages as JSON, empty for none: each by report (A, B, or what stood `beside` it) instead of by side.

    Offsets are code points of that text as raters see it (`evidence.plain_text`); `sha256` is its shown Markdown's.
    """
    passages = []
    for one in row["evidence"]:
        if row["system_b"] is not None:
            report = unblind(one["side"], row["left"])
        else:
            report = "A" if one["sha256"] == row["sha256_a"] else beside
        fields = {name: one[name] for name in ("start", "end", "quote", "verified", "sha256")}
        passages.append({"report": report, **fields})
    return json.dumps(passages, ensure_ascii=False) if passages else ""


def labels_csv(verdicts: pd.DataFrame) -> str:
    """The public exchange format. Numbers are written in full; no text can start a spreadsheet formula.

    Such a cell gets a quote in front, which reading a labels file takes off again.
    """
    guarded = verdicts.copy()
    for column in ("rater_id", "criterion", "cluster_id", "system_a", "system_b", "category", "rationale"):
        text = guarded[column].astype("str").where(guarded[column].notna(), "")
        guarded[column] = text.where(~text.str.match(FORMULA), "'" + text)
    return guarded.to_csv(index=False, lineterminator="\n")


def current_labels(study: Study) -> Select[*tuple[Any, ...]]:
    """What `load_verdicts` is made of, as given: narrow it by `Item.id` and `Criterion.code` to read one question."""
    a, b, reference = aliased(Report), aliased(Report), aliased(Report)
    system_a, system_b = aliased(System), aliased(System)
    later = aliased(Label)
    newest = select(func.max(later.revision)).where(
        later.assignment_id == Label.assignment_id, later.criterion_id == Label.criterion_id
    )
    return (
        select(
            Label.assignment_id, Label.criterion_id.label("criterion_row"), Label.choice, Label.status, Label.rationale,
            Label.evidence, Label.left_sha256, Label.right_sha256, a.shown_sha256.label("sha256_a"),
            Assignment.left, Assignment.repeat_no, Assignment.pass_no, Item.id.label("item_id"),
            Criterion.code.label("criterion"), Topic.key.label("topic"), Topic.category,
            Rater.kind.label("rater_kind"), Enrollment.pseudonym, Judge.name.label("judge_name"),
            system_a.key.label("system_a"), system_b.key.label("system_b"),
            func.length(a.shown_text).label("len_a"), func.length(b.shown_text).label("len_b"),
        )
        .join(Assignment, Assignment.id == Label.assignment_id)
        .join(Item, Item.id == Assignment.item_id)
        .join(Topic, Topic.id == Item.topic_id)
        .join(Criterion, Criterion.id == Label.criterion_id)
        .join(Rater, Rater.id == Assignment.rater_id)
        .outerjoin(a, a.id == Item.report_a_id)
        .outerjoin(system_a, system_a.id == a.system_id)
        .outerjoin(b, b.id == Item.report_b_id)
        .outerjoin(system_b, system_b.id == b.system_id)
        .outerjoin(reference, reference.id == Item.reference_id)
        .outerjoin(Enrollment, and_(Enrollment.rater_id == Rater.id, Enrollment.study_id == study.id))
        .outerjoin(Judge, Judge.rater_id == Rater.id)
        .where(
            Assignment.study_id == study.id,
            Assignment.status.in_(("submitted", "locked")),
            Assignment.purpose.in_(("label", "retest")),
            Item.excluded_at.is_(None),
            Criterion.retired_at.is_(None),  # an answer to words that were changed since is no answer to the new ones
            Label.revision == newest.scalar_subquery(),
            or_(Item.kind == "probe", _text_still_stands(a, b, reference)),
        )
    )  # fmt: skip


def _text_still_stands(a: type[Report], b: type[Report], reference: type[Report]) -> ColumnElement[bool]:
    """The label's sha256 is that of the text its item shows now: a label on a replaced text is stale.

    So is one made elsewhere whose file did not prove its text, once that text is no longer the one it was matched with.
    """
    left_is_b = Assignment.left == "B"
    left = case((left_is_b, b.shown_sha256), else_=a.shown_sha256)
    right = case((left_is_b, a.shown_sha256), else_=func.coalesce(b.shown_sha256, reference.shown_sha256))
    mark = literal(UNPROVED)
    left_stands = Label.left_sha256.in_((left, mark.concat(left)))
    return left_stands & (Label.right_sha256.is_(None) | Label.right_sha256.in_((right, mark.concat(right))))


def _sources_of_probes(session: Session, study: Study) -> dict[int, str]:
    """item -> sha256 of the source passages it shows now; only probes have them."""
    probes = select(Item.id, Item.context).where(Item.study_id == study.id, Item.kind == "probe")
    return {item: sources_sha256(context) for item, context in session.execute(probes)}


def _judge_shares(session: Session, study: Study) -> dict[tuple[int, int], tuple[float | None, float | None]]:
    """(assignment, criterion row) -> this label's share of its calls' seconds and USD; None where one is unknown."""
    rows = session.execute(
        select(
            JudgeCallAssignment.assignment_id,
            JudgeCall.id,
            JudgeCall.criteria,
            func.sum(JudgeAttempt.seconds),
            func.sum(JudgeAttempt.cost),
            func.count(JudgeAttempt.id),
            func.count(JudgeAttempt.cost),
        )
        .join(JudgeCall, JudgeCall.id == JudgeCallAssignment.call_id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .join(JudgeAttempt, JudgeAttempt.call_id == JudgeCall.id)
        .where(Judge.study_id == study.id, JudgeCall.probe_kind.is_(None))
        .group_by(JudgeCallAssignment.assignment_id, JudgeCall.id)
    ).all()
    served: dict[int, int] = defaultdict(int)
    for row in rows:
        served[row[1]] += 1
    # more than one call serves a label where the judge was run again with other settings: all of them were billed
    shares: dict[tuple[int, int], list[tuple[float, float | None]]] = defaultdict(list)
    for assignment, call, criteria, seconds, cost, attempts, priced in rows:
        labels = max(1, served[call] * len(criteria))
        for criterion in criteria:
            shares[assignment, criterion].append((seconds / labels, cost / labels if priced == attempts else None))
    return {label: (sum(s for s, _ in parts), _sum_known([c for _, c in parts])) for label, parts in shares.items()}


def _sum_known(costs: list[float | None]) -> float | None:
    """The sum, or None where one part is unknown: half a cost is not a cost."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def with_systems_masked(verdicts: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The same verdicts with `System 1`, `System 2` … for the names of systems, in an order drawn by `seed`."""
    names = sorted({*verdicts["system_a"].dropna(), *verdicts["system_b"].dropna()} - {""})
    seeded(seed, "masked systems").shuffle(names)
    mask = {name: f"System {number}" for number, name in enumerate(names, start=1)}
    return verdicts.assign(**{side: verdicts[side].map(mask) for side in ("system_a", "system_b")})


def shows_systems(study: Study) -> bool:
    """Whether labels may stand beside systems by now."""
    try:
        require_revealed(study)
    except AnnotationError:
        return False
    return True


def require_revealed(study: Study) -> None:
    """Raises AnnotationError `still_blind` while the protocol keeps labels and systems apart."""
    blind_until = protocol_of(study).study.blind_until
    if study.revealed_at is None and study.status not in ("closed", "locked") and blind_until != "open":
        raise AnnotationError(
            "still_blind",
            f"study {study.name!r} is {study.status}, and labels are joined with systems only once it is closed; "
            f"close it, or run: calipers reveal {study.name}",
        )
