"""What adjudication came to: verdicts that were settled, also as CSV, and how many disputes of a kind are open."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd
from sqlalchemy import Row, orm, select

from annotation import protocol, studies, verdicts
from annotation.disputes.differing import REASONS
from annotation.disputes.disputes import STATES, Dispute, disputes
from annotation.items.shown import item_code
from annotation.labels.current_labels import all_labels, is_newest
from annotation.leaks.redaction import redactor_of
from annotation.people.principals import Principal, study_for
from db.people_tables import Enrollment
from db.tables import Assignment, Criterion, Item, Label, Report, Study, System, Topic
from plain.spreadsheets import guarded

COLUMNS = (
    "item_id", "cluster_id", "system_a", "system_b", "criterion", "verdict", "adjudicator", "pass_no", "raters",
    "reasons", "rationale", "settled_at",
)  # fmt: skip


@dataclass(frozen=True)
class Settled:
    """One dispute and the verdict it was settled with; people by pseudonym. `cluster_id`: as in verdicts."""

    item_id: str
    criterion: str
    verdict: str
    raters: Mapping[str, str]  # pseudonym -> verdict
    adjudicator: str
    pass_no: int
    reasons: tuple[str, ...]
    rationale: str
    cluster_id: str
    settled_at: datetime


@dataclass(frozen=True)
class DisputeCounts:
    """Disputes on one criterion: by state (keys `STATES`), and of all of them by reason (keys `REASONS`)."""

    criterion: str
    label: str
    states: Mapping[str, int]
    reasons: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.states.values())


@dataclass(frozen=True)
class Adjudication:
    """How far adjudication has come. `rule`: the protocol's. `rows`: criteria with a dispute, in page order."""

    study: str
    rule: str | tuple[str, ...] | protocol.Apart
    states: Mapping[str, int]
    items: int  # with an open dispute
    rows: tuple[DisputeCounts, ...]
    queue: tuple[Dispute, ...]


def adjudication(session: orm.Session, principal: Principal, *, early: bool = False) -> Adjudication:
    """Every dispute and its counts. For evaluators; raises AnnotationError `forbidden`. `early`: see `disputes`."""
    study = study_for(session, principal, "evaluator")
    queue = disputes(session, study, early=early)
    labels = (
        select(Criterion.code, Criterion.label)
        .where(Criterion.study_id == study.id, Criterion.retired_at.is_(None))
        .order_by(Criterion.position)
    )
    rows = [
        DisputeCounts(code, label, _by_state(mine), _by_reason(mine))
        for code, label in {code: label for code, label in session.execute(labels)}.items()
        if (mine := [dispute for dispute in queue if dispute.criterion == code])
    ]
    open_items = {dispute.item_id for dispute in queue if dispute.state == "open"}
    rule = studies.protocol_of(study).study.adjudicate
    return Adjudication(study.name, rule, _by_state(queue), len(open_items), tuple(rows), tuple(queue))


def settled(session: orm.Session, study: Study) -> list[Settled]:
    """Every settled dispute, by item and in page order; `study` comes from `principals.study_for`.

    Rationales are without the names of the study's people, addresses, keys and folders.
    """
    mine = [dispute for dispute in disputes(session, study, early=True) if dispute.state == "settled"]
    labels = _labels(session, study)
    enrolled = select(Enrollment.rater_id, Enrollment.pseudonym).where(Enrollment.study_id == study.id)
    people = {rater: pseudonym for rater, pseudonym in session.execute(enrolled)}
    clusters = select(Item.id, studies.cluster_of(study)).join(Topic, Topic.id == Item.topic_id)
    cluster = {item: key for item, key in session.execute(clusters.where(Item.study_id == study.id))}
    by_item = studies.protocol_of(study).calibration.get("cluster") == "item"
    redact = redactor_of(session, study)
    found = []
    for dispute in mine:
        label = labels[dispute.assignment_id or 0, dispute.criterion]
        item = item_code(dispute.item_id)
        found.append(
            Settled(
                item_id=item, criterion=dispute.criterion, verdict=str(verdicts.unblind(label.choice, label.left)),
                raters=dict(sorted((people[rater], verdict) for rater, verdict in dispute.verdicts.items())),
                adjudicator=people[label.rater_id], pass_no=label.pass_no, reasons=dispute.reasons,
                rationale=redact(label.rationale), cluster_id=item if by_item else cluster[dispute.item_id],
                settled_at=label.created_at,
            )
        )  # fmt: skip
    return found


def answers_of(rows: Iterable[Settled]) -> pd.DataFrame:
    """One row a settled dispute and rater: `item_id`, `criterion`, `cluster_id`, `rater_id`, `label`, `decided`."""
    said = [
        (row.item_id, row.criterion, row.cluster_id, rater, verdict, row.verdict)
        for row in rows
        for rater, verdict in row.raters.items()
    ]
    return pd.DataFrame(said, columns=["item_id", "criterion", "cluster_id", "rater_id", "label", "decided"])


def systems_by_item(session: orm.Session, study: Study) -> dict[str, tuple[str, str]]:
    """item -> the systems called A and B, "" where there is none. Raises AnnotationError `still_blind`."""
    verdicts.require_revealed(study)
    name = select(System.key).join(Report, Report.system_id == System.id)
    a, b = (
        name.where(Report.id == report).correlate(Item).scalar_subquery()
        for report in (Item.report_a_id, Item.report_b_id)
    )
    rows = session.execute(select(Item.id, a, b).where(Item.study_id == study.id))
    return {item_code(item): (one or "", other or "") for item, one, other in rows}


def _labels(session: orm.Session, study: Study) -> dict[tuple[int, str], Row[Any]]:
    """(assignment, criterion) -> its last revision."""
    columns = (
        Assignment.id, Assignment.left, Assignment.rater_id, Assignment.pass_no, Criterion.code, Label.choice,
        Label.rationale, Label.created_at,
    )  # fmt: skip
    rows = all_labels(study).with_only_columns(*columns).where(Assignment.purpose == "adjudicate")
    rows = rows.where(Criterion.retired_at.is_(None), is_newest())
    found: Any = session.execute(rows)
    return {(row.id, row.code): row for row in found}


def _by_state(queue: list[Dispute]) -> dict[str, int]:
    counted = Counter(dispute.state for dispute in queue)
    return {state: counted[state] for state in STATES}


def _by_reason(queue: list[Dispute]) -> dict[str, int]:
    counted = Counter(reason for dispute in queue for reason in dispute.reasons)
    return {reason: counted[reason] for reason in REASONS}


def settled_csv(session: orm.Session, study: Study, rows: Iterable[Settled]) -> str:
    """One row a settled dispute, with `COLUMNS`. `raters`: JSON, pseudonym to verdict. No text can start a formula.

    `study` comes from `principals.study_for`.
    """
    systems = systems_by_item(session, study) if verdicts.shows_systems(study) else {}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        raters, reasons = json.dumps(dict(row.raters), ensure_ascii=False), " ".join(row.reasons)
        cells = (
            row.item_id, row.cluster_id, *systems.get(row.item_id, ("", "")), row.criterion, row.verdict,
            row.adjudicator, str(row.pass_no), raters, reasons, row.rationale, row.settled_at.isoformat(),
        )  # fmt: skip
        writer.writerow([guarded(cell) for cell in cells])
    return out.getvalue()
