"""Who labelled a study, and how many labels it holds of which kind: counts, never rows."""

from collections import Counter
from datetime import datetime
from typing import Any

from sqlalchemy import Select, case, func, literal, orm, select

from annotation import protocol, studies
from annotation.items.shown import UNPROVED
from annotation.labels.current_labels import CURRENT_LABELS, count_current, leaves_out_revealed
from annotation.people.active_time import seconds_by_assignment
from db.people_tables import Enrollment, Rater
from db.tables import HANDED_IN, SLOT_SOURCES, Assignment, Criterion, Item, Label, Study

COUNTED = ("label", "retest")  # purposes of work that estimates are made of


def label_counts(session: orm.Session, study: Study) -> dict[str, Any]:
    """Current labels of work handed in: people's and judges' by status, people's by purpose, and what is odd."""
    unproved = case((CURRENT_LABELS.c.left_sha256.startswith(UNPROVED, autoescape=True), 1), else_=0)
    rows = session.execute(
        select(
            Rater.kind, Assignment.purpose, Assignment.source, CURRENT_LABELS.c.status, func.count(),
            func.sum(case((CURRENT_LABELS.c.after_reveal == literal(True), 1), else_=0)), func.sum(unproved),
            func.min(Assignment.submitted_at), func.max(Assignment.submitted_at),
            func.sum(case((Enrollment.is_simulated, 1), else_=0)),
        )
        .select_from(CURRENT_LABELS)
        .join(Assignment, Assignment.id == CURRENT_LABELS.c.assignment_id)
        .join(Rater, Rater.id == Assignment.rater_id)
        .outerjoin(Enrollment, (Enrollment.rater_id == Rater.id) & (Enrollment.study_id == study.id))
        .where(Assignment.study_id == study.id, Assignment.status.in_(HANDED_IN))
        .group_by(Rater.kind, Assignment.purpose, Assignment.source, CURRENT_LABELS.c.status)
    ).all()  # fmt: skip
    labels: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    purposes: Counter[str] = Counter()
    imported = revealed = not_proved = simulated = 0
    dates: list[datetime] = []
    for kind, purpose, source, status, count, after, unknown, first, last, made_up in rows:
        (labels if kind == "human" else judged)[status] += count
        revealed, not_proved = revealed + after, not_proved + unknown
        imported += count * (source == "import" and kind == "human")
        if kind == "human":
            purposes[purpose] += count
            simulated += made_up
            dates += [at for at in (first, last) if at is not None and source != "import"]  # else the day of import
    return {
        "labels": dict(sorted(labels.items())),
        "labels_simulated": simulated,
        "judge_labels": dict(sorted(judged.items())),
        "purposes": dict(sorted(purposes.items())),
        "labels_after_reveal": revealed,
        "after_reveal_left_out": leaves_out_revealed(study),
        "unproved_texts": not_proved,
        "imported_labels": imported,
        "first_label": day(min(dates, default=None)),
        "last_label": day(max(dates, default=None)),
    }


def is_read_elsewhere(session: orm.Session, study: Study) -> bool:
    """Whether there are labels, none of them proves which text was read, and nobody is asked here."""
    here = select(Assignment.id).where(Assignment.study_id == study.id, Assignment.source.in_(SLOT_SOURCES)).limit(1)
    if session.scalar(here) is not None:
        return False
    labels = select(Label.id).join(Assignment, Assignment.id == Label.assignment_id)
    labels = labels.where(Assignment.study_id == study.id).limit(1)
    proved = labels.where(~Label.left_sha256.startswith(UNPROVED, autoescape=True))
    return session.scalar(labels) is not None and session.scalar(proved) is None


def left_out_counts(session: orm.Session, study: Study) -> dict[str, Any]:
    """What was handed in and is in no estimate. Labels on replaced sources of a probe are not counted."""
    excluded, retired = Item.excluded_at.is_not(None), Criterion.retired_at.is_not(None)
    # as `current_labels` asks, but whatever text is shown now, and whatever was taken out
    rows = session.execute(
        select(excluded, retired, func.count())
        .select_from(CURRENT_LABELS)
        .join(Assignment, Assignment.id == CURRENT_LABELS.c.assignment_id)
        .join(Item, Item.id == Assignment.item_id)
        .join(Criterion, Criterion.id == CURRENT_LABELS.c.criterion_id)
        .where(Assignment.study_id == study.id, Assignment.status.in_(HANDED_IN), Assignment.purpose.in_(COUNTED))
        .group_by(excluded, retired)
    )
    handed_in = {(bool(is_excluded), bool(is_retired)): count for is_excluded, is_retired, count in rows}
    return {
        "items_excluded": session.scalar(
            select(func.count()).where(Item.study_id == study.id, Item.purpose == "label", excluded)
        ),
        "criteria_retired": session.scalar(select(func.count()).where(Criterion.study_id == study.id, retired)),
        "excluded_item_labels": handed_in.get((True, False), 0) + handed_in.get((True, True), 0),
        "retired_labels": handed_in.get((False, True), 0),
        "stale_labels": handed_in.get((False, False), 0) - count_current(session, study),
    }


def day(at: datetime | None) -> str | None:
    """As `2026-11-20`."""
    return None if at is None else f"{at:%Y-%m-%d}"


def people_facts(session: orm.Session, study: Study) -> dict[str, Any]:
    """Counts of the study's people; nobody's name is among them."""
    rules = studies.protocol_of(study).study
    raters = list(session.scalars(_worked(study)))
    mine = Enrollment.study_id == study.id
    roles = session.execute(select(Enrollment.role, func.count()).where(mine).group_by(Enrollment.role)).all()
    return {
        "annotators": len(raters),
        "roles": {role: count for role, count in sorted(roles)},
        **_enrolled(session, study),
        "may_see_and_label": rules.may_see_and_label,
        "training_items": rules.training.items,
        **_work(session, study, raters, rules.pay),
    }


def _worked(study: Study) -> Select[int | None]:
    """The people who handed in labels that count; whoever only settled disputes or trained is no annotator."""
    return (
        select(Assignment.rater_id)
        .join(Rater, Rater.id == Assignment.rater_id)
        .where(
            Assignment.study_id == study.id,
            Assignment.status.in_(HANDED_IN),
            Assignment.purpose.in_(COUNTED),
            Rater.kind == "human",
        )
        .distinct()
    )


def _enrolled(session: orm.Session, study: Study) -> dict[str, Any]:
    """How those who worked take part. The text they agreed to is named where it is one."""
    worked = Enrollment.study_id == study.id, Enrollment.rater_id.in_(_worked(study))
    simulated, staff, consented, trained = session.execute(
        select(
            func.sum(case((Enrollment.is_simulated, 1), else_=0)),
            func.sum(case((Enrollment.role != "annotator", 1), else_=0)),
            func.count(Enrollment.consented_at),
            func.count(Enrollment.training_passed_at),
        ).where(*worked)
    ).one()
    consents = select(Enrollment.consent_sha256).where(*worked, Enrollment.consent_sha256.is_not(None)).distinct()
    texts = session.scalars(consents).all()
    return {
        "annotators_simulated": simulated or 0,
        "staff_labelled": staff or 0,
        "consented": consented,
        "training_passed": trained,
        "consent_sha256": texts[0] if len(texts) == 1 else None,
    }


def _work(session: orm.Session, study: Study, raters: list[int | None], pay: protocol.Pay) -> dict[str, Any]:
    seconds = sum(
        sum(sum(spent.values()) for spent in seconds_by_assignment(session, study, rater).values()) for rater in raters
    )
    hours = seconds / 3600 if seconds else None
    return {
        "active_hours": hours,
        "pay_rate": pay.rate or None,
        "pay_currency": pay.currency if pay.rate else None,
        "pay_total": hours * pay.rate if hours is not None and pay.rate else None,
    }
