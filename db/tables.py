"""Studies, reports, items, assignments and labels. People are in `people_tables.py`, judges in `judge_tables.py`.

Constraints, not code, forbid what must never happen. Two facts are guarded by triggers (see the first migration):
labels, events and judge attempts are never updated or deleted, and an assignment never changes its item or order.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ColumnElement,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    UniqueConstraint,
    func,
    select,
)
from sqlalchemy import text as sql
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, aliased, mapped_column, relationship

from db.types import Record, now, one_of, opaque

STUDY_STATUSES = ("draft", "open", "paused", "closed", "locked")
ITEM_PURPOSES = ("label", "training", "attention")
PURPOSES = (*ITEM_PURPOSES, "retest", "adjudicate")
LIVE = ("open", "taken", "submitted", "locked")
HANDED_IN = ("submitted", "locked")
SLOT_SOURCES = ("app", "packet")  # of rows that hold a slot, which somebody else can fill
ASSIGNMENT_STATUSES = (*LIVE, "returned", "void")
LABEL_STATUSES = ("ok", "invalid", "missing", "refused", "truncated")
EVENT_KINDS = ("activity", "comment", "flag", "audit")
# words, not parameters: SQLite uses a partial index only where it can read that the condition is the same
FAILED, FLAGGED, FAILED_LABEL = sql("status <> 'ok'"), sql("open_flags > 0"), sql("labels.status <> 'ok'")
ATTENTION = sql("purpose = 'attention'")  # as words, which a partial index is found by, and no parameter


class Study(Record):
    __tablename__ = "studies"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    protocol_text: Mapped[str]
    protocol_sha256: Mapped[str]
    protocol_version: Mapped[int] = mapped_column(default=1)
    seed: Mapped[int] = mapped_column(BigInteger)
    status: Mapped[str] = mapped_column(default="draft")
    is_simulated: Mapped[bool] = mapped_column(default=False)  # demo answers are marked wherever they are shown
    plan_root: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=now)
    revealed_at: Mapped[datetime | None]
    __table_args__ = (CheckConstraint(one_of("status", STUDY_STATUSES), "status"),)


class Topic(Record):
    __tablename__ = "topics"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    key: Mapped[str]
    title: Mapped[str]
    prompt: Mapped[str] = mapped_column(default="")
    category: Mapped[str] = mapped_column(default="")
    language: Mapped[str] = mapped_column(default="en")
    features: Mapped[dict[str, Any]] = mapped_column(default=dict)
    __table_args__ = (UniqueConstraint("study_id", "key"), UniqueConstraint("study_id", "id"))


class Criterion(Record):
    """A question as it was asked. A changed text is a new row; the old one is retired, never rewritten."""

    __tablename__ = "criteria"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    topic_id: Mapped[int | None] = mapped_column(ForeignKey("topics.id"))  # set where criteria come with each topic
    code: Mapped[str]
    position: Mapped[int]
    label: Mapped[str]
    text: Mapped[str]
    text_sha256: Mapped[str]
    category: Mapped[str] = mapped_column(default="")
    subcategory: Mapped[str] = mapped_column(default="")
    weight: Mapped[float] = mapped_column(default=1.0)
    scale: Mapped[dict[str, Any] | None]
    retired_at: Mapped[datetime | None]
    __table_args__ = (
        CheckConstraint("code <> 'all'", "code"),
        Index("uq_criteria_study", "study_id", "code", unique=True,
              sqlite_where=sql("topic_id IS NULL AND retired_at IS NULL"),
              postgresql_where=sql("topic_id IS NULL AND retired_at IS NULL")),
        Index("uq_criteria_topic", "topic_id", "code", unique=True,
              sqlite_where=sql("topic_id IS NOT NULL AND retired_at IS NULL"),
              postgresql_where=sql("topic_id IS NOT NULL AND retired_at IS NULL")),
    )  # fmt: skip


class System(Record):
    __tablename__ = "systems"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    key: Mapped[str]
    public_name: Mapped[str]
    family: Mapped[str] = mapped_column(default="")
    is_reference: Mapped[bool] = mapped_column(default=False)
    __table_args__ = (UniqueConstraint("study_id", "key"), UniqueConstraint("study_id", "id"))


class Import(Record):
    __tablename__ = "imports"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    kind: Mapped[str]  # reports | probes | labels | judge-results | ballots
    layout: Mapped[str]
    source: Mapped[str]
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    report: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_at: Mapped[datetime] = mapped_column(default=now)


NO_TEXT = "not published"  # `encoding` of a report that is known by answers about it alone; its text is a stand-in


class Report(Record):
    """One document by one system on one topic: the bytes as read, and the text that is shown."""

    __tablename__ = "reports"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int]
    topic_id: Mapped[int]
    system_id: Mapped[int]
    import_id: Mapped[int] = mapped_column(ForeignKey("imports.id"))
    version: Mapped[int] = mapped_column(default=1)
    original: Mapped[bytes]
    original_sha256: Mapped[str]
    original_text: Mapped[str]  # decoded, line ends normalised; what the removed spans point into
    encoding: Mapped[str] = mapped_column(default="utf-8")
    status: Mapped[str] = mapped_column(default="ready")
    shown_text: Mapped[str]
    shown_sha256: Mapped[str]
    removed: Mapped[list[Any]] = mapped_column(default=list)
    changes: Mapped[dict[str, Any]] = mapped_column(default=dict)
    flags: Mapped[list[Any]] = mapped_column(default=list)
    open_flags: Mapped[int] = mapped_column(default=0)  # how many of `flags` nobody has resolved yet
    warnings: Mapped[list[Any]] = mapped_column(default=list)
    stripper_version: Mapped[str]
    canonical_version: Mapped[str] = mapped_column(default="")
    override: Mapped[dict[str, Any] | None]
    words: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(default=now)
    __table_args__ = (
        ForeignKeyConstraint(["study_id", "topic_id"], ["topics.study_id", "topics.id"]),
        ForeignKeyConstraint(["study_id", "system_id"], ["systems.study_id", "systems.id"]),
        UniqueConstraint("topic_id", "system_id", "version"),
        UniqueConstraint("topic_id", "id"),  # so that an item can insist on reports of its own topic
        CheckConstraint(one_of("status", ("ready", "empty", "excluded")), "status"),
        Index("ix_reports_flagged", "study_id", sqlite_where=FLAGGED, postgresql_where=FLAGGED),
    )


class Figure(Record):
    """A picture that reports of the study show, as all are shown: WebP, named by an HMAC of its bytes."""

    __tablename__ = "figures"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    name: Mapped[str]
    picture: Mapped[bytes]
    width: Mapped[int]  # pixels
    height: Mapped[int]
    __table_args__ = (UniqueConstraint("study_id", "name"),)


class Source(Record):
    """Passages that probes are checked against: one row for all probes of a study that show the same text. Appended,
    never rewritten.
    """

    __tablename__ = "sources"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    sha256: Mapped[str]  # of the text's UTF-8 bytes
    text: Mapped[str]  # last, so that SQLite finds the hash without reading past it
    __table_args__ = (UniqueConstraint("study_id", "sha256"),)


class Item(Record):
    """What a rater sees at once. In a pair, A and B were named by a seeded coin when the row was made."""

    __tablename__ = "items"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int]
    topic_id: Mapped[int]
    kind: Mapped[str]
    report_a_id: Mapped[int | None]
    report_b_id: Mapped[int | None]
    # shown beside a rated report, not rated itself
    reference_id: Mapped[int | None] = mapped_column(ForeignKey("reports.id"))
    passages: Mapped[dict[str, Any] | None]  # which passages of A and B are most alike; see annotation/passages.py
    probe: Mapped[str | None]
    probe_key: Mapped[str | None]
    # source passages of a probe that an older calipers wrote; a later release moves them to `sources`
    own_context: Mapped[str | None] = mapped_column("context")
    source_id: Mapped[int | None] = mapped_column(ForeignKey("sources.id"))
    source: Mapped[Source | None] = relationship()
    tag: Mapped[str] = mapped_column(default="")
    purpose: Mapped[str] = mapped_column(default="label", server_default="label")
    gold: Mapped[dict[str, Any] | None]  # criterion -> {answer, reason}: the agreed verdict of training and attention
    priority: Mapped[int] = mapped_column(default=0)
    excluded_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)
    __table_args__ = (
        ForeignKeyConstraint(["study_id", "topic_id"], ["topics.study_id", "topics.id"]),
        ForeignKeyConstraint(["topic_id", "report_a_id"], ["reports.topic_id", "reports.id"]),
        ForeignKeyConstraint(["topic_id", "report_b_id"], ["reports.topic_id", "reports.id"]),
        UniqueConstraint("study_id", "id"),
        CheckConstraint(
            "(kind = 'pair' AND report_a_id IS NOT NULL AND report_b_id IS NOT NULL AND report_a_id <> report_b_id)"
            " OR (kind = 'report' AND report_a_id IS NOT NULL AND report_b_id IS NULL)"
            " OR (kind = 'probe' AND probe IS NOT NULL AND report_b_id IS NULL)",
            "kind",
        ),
        CheckConstraint(one_of("purpose", ITEM_PURPOSES), "purpose"),
        Index("ix_items_attention", "study_id", sqlite_where=ATTENTION, postgresql_where=ATTENTION),
        # one row per unordered pair: the unique index over both orders stands in the first migration
    )

    @hybrid_property
    def context(self) -> str | None:
        """The source passages of a probe; None where it has none."""
        return self.own_context if self.own_context or self.source is None else self.source.text

    @context.inplace.expression
    @classmethod
    def _context(cls) -> ColumnElement[str | None]:
        return func.coalesce(cls.own_context, select(Source.text).where(Source.id == cls.source_id).scalar_subquery())

    @hybrid_property
    def source_sha256(self) -> str | None:
        """The hash that is kept beside the source passages; None where they are the probe's own, or there are none."""
        return None if self.own_context or self.source is None else self.source.sha256

    @source_sha256.inplace.expression
    @classmethod
    def _source_sha256(cls) -> ColumnElement[str | None]:
        kept = select(Source.sha256).where(Source.id == cls.source_id, cls.own_context.is_(None))
        return kept.scalar_subquery()


class Assignment(Record):
    """One rater (none while it is an open slot), one item, one recorded order."""

    __tablename__ = "assignments"
    id: Mapped[int] = mapped_column(primary_key=True)
    aid: Mapped[str] = mapped_column(default=opaque, unique=True)
    study_id: Mapped[int]
    item_id: Mapped[int]
    rater_id: Mapped[int | None] = mapped_column(ForeignKey("raters.id"))
    reserved_for: Mapped[int | None] = mapped_column(ForeignKey("raters.id"))
    purpose: Mapped[str] = mapped_column(default="label")
    source: Mapped[str] = mapped_column(default="app")
    slot_no: Mapped[int] = mapped_column(default=1)
    pass_no: Mapped[int] = mapped_column(default=1)
    repeat_no: Mapped[int] = mapped_column(default=1)
    left: Mapped[str | None]  # which of A and B stands on the left; NULL where a file did not say, or nothing is paired
    criteria_order: Mapped[list[Any] | None]  # codes as they are asked; NULL: all, in the protocol's order
    plan_seed: Mapped[int] = mapped_column(BigInteger)
    status: Mapped[str] = mapped_column(default="open")
    returned: Mapped[str | None]  # skipped | closed | stale | withdrawn | packet | void: why it went back
    packet_id: Mapped[int | None] = mapped_column(ForeignKey("packets.id"))  # taken home in this one
    priority: Mapped[int] = mapped_column(default=0)
    rev: Mapped[int] = mapped_column(default=0)
    place: Mapped[dict[str, Any]] = mapped_column(default=dict)  # where the reader was: criterion, scroll
    reply: Mapped[dict[str, Any] | None]  # the last submit's client_uuid and answer, for a repeated request
    created_at: Mapped[datetime] = mapped_column(default=now)
    taken_at: Mapped[datetime | None]
    active_at: Mapped[datetime | None]
    submitted_at: Mapped[datetime | None]
    __table_args__ = (
        ForeignKeyConstraint(["study_id", "item_id"], ["items.study_id", "items.id"]),
        CheckConstraint(one_of("purpose", PURPOSES), "purpose"),
        CheckConstraint(one_of("source", ("app", "judge", "import", "packet")), "source"),
        CheckConstraint(one_of("status", ASSIGNMENT_STATUSES), "status"),
        CheckConstraint(one_of('"left"', ("A", "B")), "left"),
        CheckConstraint("status <> 'open' OR rater_id IS NULL", "open_has_no_rater"),
        CheckConstraint("status IN ('open', 'void') OR rater_id IS NOT NULL", "work_has_a_rater"),
        Index("uq_assignments_slot", "item_id", "purpose", "slot_no", "pass_no", unique=True,
              sqlite_where=sql(f"{one_of('status', LIVE)} AND source IN ('app', 'packet')"),
              postgresql_where=sql(f"{one_of('status', LIVE)} AND source IN ('app', 'packet')")),
        Index("uq_assignments_pass", "item_id", "purpose", "rater_id", "pass_no", unique=True,
              sqlite_where=sql(one_of("status", LIVE)), postgresql_where=sql(one_of("status", LIVE))),
        Index("ix_assignments_rater_status", "rater_id", "status"),
        # open slots in the order in which they are taken
        Index("ix_assignments_study_status", "study_id", "status", "purpose", priority.desc(), "id", "item_id",
              "reserved_for"),
        Index("ix_assignments_study_rater", "study_id", "rater_id", "purpose", "status", "item_id"),
        Index("ix_assignments_study_purpose", "study_id", "purpose", "source", "status", "item_id", "rater_id"),
    )  # fmt: skip


class Label(Record):
    """One revision of the answer to one criterion of one assignment, exactly as given. Appended, never rewritten."""

    __tablename__ = "labels"
    id: Mapped[int] = mapped_column(primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id"))
    criterion_id: Mapped[int] = mapped_column(ForeignKey("criteria.id"))
    revision: Mapped[int]
    status: Mapped[str] = mapped_column(default="ok")
    choice: Mapped[str | None]  # left | right | tie | not_applicable, a score, or a probe answer
    rationale: Mapped[str] = mapped_column(default="")
    evidence: Mapped[list[Any]] = mapped_column(default=list)
    confidence: Mapped[int | None]
    flags: Mapped[list[Any]] = mapped_column(default=list)  # of a judge's reply: repaired, coerced, reasked ...
    client_uuid: Mapped[str | None] = mapped_column(unique=True)
    writer: Mapped[str] = mapped_column(default="")
    seq: Mapped[int] = mapped_column(default=0)
    left_sha256: Mapped[str]  # of the text on the left, or of the only text
    right_sha256: Mapped[str | None]
    stripper_version: Mapped[str]
    renderer_version: Mapped[str | None]  # judges read the Markdown, so they have none
    parser_version: Mapped[str | None]
    after_reveal: Mapped[bool] = mapped_column(default=False)
    seconds: Mapped[float | None]  # as the file says it was imported from; worked out where it was made here
    cost_usd: Mapped[float | None]
    client_ts: Mapped[str | None]  # kept beside the server's time, never trusted
    created_at: Mapped[datetime] = mapped_column(default=now)
    __table_args__ = (
        UniqueConstraint("assignment_id", "criterion_id", "revision"),
        CheckConstraint(one_of("status", LABEL_STATUSES), "status"),
        CheckConstraint("(status = 'ok') = (choice IS NOT NULL)", "choice_only_if_ok"),
        CheckConstraint("confidence BETWEEN 1 AND 5", "confidence"),
        Index("ix_labels_failed", "assignment_id", sqlite_where=FAILED, postgresql_where=FAILED),
    )


class Event(Record):
    """What happened, append-only: activity, comments, flags, and the audit trail."""

    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int | None] = mapped_column(ForeignKey("studies.id"))
    rater_id: Mapped[int | None] = mapped_column(ForeignKey("raters.id"))
    assignment_id: Mapped[int | None] = mapped_column(ForeignKey("assignments.id"))
    kind: Mapped[str]
    what: Mapped[str]
    data: Mapped[dict[str, Any]] = mapped_column(default=dict)
    client_uuid: Mapped[str | None] = mapped_column(unique=True)
    client_ts: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=now)
    __table_args__ = (
        CheckConstraint(one_of("kind", EVENT_KINDS), "kind"),
        Index("ix_events_study_kind", "study_id", "kind", "created_at"),
        Index("ix_events_assignment", "assignment_id", "kind"),
        Index("ix_events_study_what", "study_id", "kind", "what"),
    )


class Export(Record):
    __tablename__ = "exports"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    kind: Mapped[str]
    settings: Mapped[dict[str, Any]] = mapped_column(default=dict)
    sha256: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=now)


REPORT_A, REPORT_B, REFERENCE = aliased(Report), aliased(Report), aliased(Report)
SYSTEM_A, SYSTEM_B = aliased(System), aliased(System)
