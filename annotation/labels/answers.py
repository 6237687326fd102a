"""A judge's answers, scores on their scales, and the sheets they are about: what is asked and shown, without texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, func, orm, select

from annotation.items.shown import SOURCES, ShownText, in_order
from annotation.studies import protocol_of
from db.tables import Assignment, Criterion, Item, Label, Report, Study


@dataclass(frozen=True)
class Answer:
    """A judge's answer to one criterion. A failure has a status and no choice; it never becomes a label value."""

    criterion: str
    status: str = "ok"
    choice: str | None = None
    rationale: str = ""
    confidence: int | None = None
    evidence: tuple[Mapping[str, Any], ...] = ()  # each with the fields of annotation.labels.evidence.Evidence
    flags: tuple[str, ...] = ()
    seconds: float | None = None  # of an answer made elsewhere; ours are in activity and ledger
    cost_usd: float | None = None


@dataclass(frozen=True)
class Said:
    """What must differ for an answer of a judge to be a new revision: the texts, or the answer itself."""

    left_sha256: str
    right_sha256: str | None
    status: str
    choice: str | None
    rationale: str


@dataclass(frozen=True)
class Sheet:
    """One assignment: the criteria asked of it now (code -> row id) and what it shows, the left text first.

    The texts themselves are left out: only their hashes and versions are there.
    """

    criteria: Mapping[str, int]
    shown: tuple[ShownText, ...]
    revealed: bool  # whether the study's systems were revealed by now

    @property
    def sha256(self) -> tuple[str, str | None]:
        """Of the left text, and of the right one where there is one."""
        return self.shown[0].shown_sha256, self.shown[1].shown_sha256 if len(self.shown) > 1 else None


@dataclass(frozen=True)
class Answered:
    """What one reply says about the assignments its call serves.

    `read`: sha256 of the texts as they were sent; `asked`: ids of the criteria rows. Empty: as they are now.
    `stamp`: what labels made elsewhere carry instead of the sha256 of the texts shown here.
    """

    assignment_ids: tuple[int, ...]
    answers: tuple[Answer, ...]
    read: tuple[str, ...] = ()
    asked: tuple[int, ...] = ()
    stamp: tuple[str, str | None] | None = None

    def fits(self, sheet: Sheet) -> bool:
        """Whether the texts and questions are still those that were read."""
        texts = tuple(text.shown_sha256 for text in sheet.shown)
        return self.read in ((), texts) and set(self.asked) <= set(sheet.criteria.values())


# written once: the same few questions are asked at every commit
SHEETS = (
    select(
        Assignment.id, Assignment.left, Assignment.study_id, Item.topic_id, Item.kind, Item.report_a_id,
        Item.report_b_id, Item.reference_id, *SOURCES,
    )
    .join(Item, Item.id == Assignment.item_id)
    .where(Assignment.id.in_(bindparam("assignments", expanding=True)))
    .order_by(Assignment.id)
    # two workers that end two calls of one assignment: the later one must see the labels of the earlier
    .with_for_update(of=Assignment)
)  # fmt: skip
ASKED = (
    select(Criterion.study_id, Criterion.topic_id, Criterion.code, Criterion.id)
    .where(
        Criterion.study_id.in_(bindparam("studies", expanding=True)),
        Criterion.retired_at.is_(None),
        Criterion.topic_id.is_(None) | Criterion.topic_id.in_(bindparam("topics", expanding=True)),
    )
    .order_by(Criterion.position)
)
STAMPS = select(Report.id, Report.shown_text == "", Report.shown_sha256, Report.stripper_version).where(
    Report.id.in_(bindparam("reports", expanding=True))
)
NEWEST = (
    select(Label.assignment_id, Label.criterion_id, func.max(Label.revision))
    .where(Label.assignment_id.in_(bindparam("assignments", expanding=True)))
    .group_by(Label.assignment_id, Label.criterion_id)
)


def sheets_of(session: orm.Session, assignment_ids: Sequence[int]) -> dict[int, Sheet]:
    """The sheets of these assignments, by id; their rows stay locked until the transaction ends."""
    rows = session.execute(SHEETS, {"assignments": assignment_ids}).all()
    studies = session.scalars(select(Study).where(Study.id.in_({row.study_id for row in rows}))).all()
    protocols = {study.id: protocol_of(study) for study in studies}
    revealed = {study.id: study.revealed_at is not None for study in studies}
    topics = sorted({row.topic_id for row in rows if protocols[row.study_id].criteria_from == "topics"})
    criteria: dict[tuple[int, int | None], dict[str, int]] = {(study, None): {} for study in protocols}
    for study, topic, code, key in session.execute(ASKED, {"studies": list(protocols), "topics": topics}):
        criteria.setdefault((study, topic), {})[code] = key
    keys = {key for row in rows for key in (row.report_a_id, row.report_b_id, row.reference_id) if key is not None}
    stamps: dict[int | None, tuple[str, str, str]] = {
        key: ("" if empty else "…", sha256, version)  # a stand-in for the text
        for key, empty, sha256, version in session.execute(STAMPS, {"reports": sorted(keys)})
    }
    return {
        row.id: Sheet(
            criteria[row.study_id, None] | criteria.get((row.study_id, row.topic_id), {}),
            tuple(in_order(protocols[row.study_id], row, row.left, lambda name, key: ShownText(name, *stamps[key]))),
            revealed[row.study_id],
        )
        for row in rows
    }


def newest_revisions(session: orm.Session, assignment_ids: Sequence[int]) -> dict[tuple[int, int], int]:
    """The revision of each current label, by assignment and criterion."""
    rows = session.execute(NEWEST, {"assignments": assignment_ids})
    return {(assignment, criterion): revision for assignment, criterion, revision in rows}


def said_by(session: orm.Session, newest: Mapping[tuple[int, int], int]) -> dict[tuple[int, int], Said]:
    """What the current labels say, given their revisions."""
    if not newest:
        return {}
    ids, criteria = {assignment for assignment, _ in newest}, {criterion for _, criterion in newest}
    columns = select(
        Label.assignment_id, Label.criterion_id, Label.revision, Label.left_sha256, Label.right_sha256, Label.status,
        Label.choice, Label.rationale,
    ).where(Label.assignment_id.in_(ids), Label.criterion_id.in_(criteria))  # fmt: skip
    return {
        (row.assignment_id, row.criterion_id): Said(
            row.left_sha256, row.right_sha256, row.status, row.choice, row.rationale
        )
        for row in session.execute(columns)
        if newest.get((row.assignment_id, row.criterion_id)) == row.revision
    }
