"""What only a judge has: its configuration, its queue of calls, and the ledger of every attempt."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from db.types import Limit, Record, now, one_of

CALL_STATES = ("planned", "leased", "submitted", "done", "failed")
UNFINISHED = one_of("state", ("planned", "leased", "submitted"))


class Judge(Record):
    """A judge's running account in one study. USD throughout; `reserved` is the worst case of what is in flight."""

    __tablename__ = "judges"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), unique=True)
    name: Mapped[str]
    family: Mapped[str] = mapped_column(default="")
    spent: Mapped[float] = mapped_column(default=0.0)
    reserved: Mapped[float] = mapped_column(default=0.0)
    max_cost: Mapped[float | None] = mapped_column(Limit)
    paused_until: Mapped[datetime | None]
    stopped: Mapped[str | None]  # why no more calls are made, in words
    rung: Mapped[int] = mapped_column(default=0)  # step of the structured-output ladder that last worked
    is_simulated: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=now)
    __table_args__ = (UniqueConstraint("study_id", "name"),)


class JudgeConfig(Record):
    """Model, prompt and settings as they were used: immutable, found again by hash."""

    __tablename__ = "judge_configs"
    id: Mapped[int] = mapped_column(primary_key=True)
    judge_id: Mapped[int] = mapped_column(ForeignKey("judges.id"))
    sha256: Mapped[str]
    model: Mapped[str]
    api_base: Mapped[str | None]
    params: Mapped[dict[str, Any]]
    asked_params: Mapped[dict[str, Any]]
    template: Mapped[str]
    template_sha256: Mapped[str]
    structured: Mapped[list[Any]]
    batching: Mapped[str]
    max_output_tokens: Mapped[int]
    price: Mapped[dict[str, Any]]  # USD per million tokens; empty where unknown
    price_source: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=now)
    __table_args__ = (UniqueConstraint("judge_id", "sha256"),)


class JudgeRequest(Record):
    """Somebody asked, in the app, for a judge to run; a worker on the command line carries it out."""

    __tablename__ = "judge_requests"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    requested_by: Mapped[int] = mapped_column(ForeignKey("raters.id"))
    judges: Mapped[list[Any]]
    created_at: Mapped[datetime] = mapped_column(default=now)
    started_at: Mapped[datetime | None]
    done_at: Mapped[datetime | None]


class JudgeCall(Record):
    """One planned call: queue, cache and record in one row. `key` makes planning twice harmless."""

    __tablename__ = "judge_calls"
    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(unique=True)
    judge_id: Mapped[int] = mapped_column(ForeignKey("judges.id"))
    config_id: Mapped[int] = mapped_column(ForeignKey("judge_configs.id"))
    state: Mapped[str] = mapped_column(default="planned")
    criteria: Mapped[list[Any]]  # ids of the criteria rows asked, in order
    shown_sha256: Mapped[list[Any]]  # of the texts, in the order shown
    stress: Mapped[str | None] = mapped_column("probe_kind")  # what a stress test changed; None: the judge's own call
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    tries: Mapped[int] = mapped_column(default=0)
    next_try_at: Mapped[datetime | None]
    retried_after: Mapped[int | None]  # number of the last attempt before somebody asked for new ones
    reserved: Mapped[float] = mapped_column(default=0.0)
    batch_id: Mapped[str | None]  # the last it went out in; `pending:<uuid>` until the provider named it
    outcome: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=now)
    done_at: Mapped[datetime | None]
    __table_args__ = (
        CheckConstraint(one_of("state", CALL_STATES), "state"),
        Index("ix_judge_calls_unfinished", "judge_id", "state", "id",
              sqlite_where=text(UNFINISHED), postgresql_where=text(UNFINISHED)),
    )  # fmt: skip


class JudgeCallAssignment(Record):
    __tablename__ = "judge_call_assignments"
    call_id: Mapped[int] = mapped_column(ForeignKey("judge_calls.id"), primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id"), primary_key=True, index=True)


class JudgeAttempt(Record):
    """One HTTP try and what it cost. Appended, never rewritten; `cost` is NULL where nobody can know it."""

    __tablename__ = "judge_attempts"
    id: Mapped[int] = mapped_column(primary_key=True)
    call_id: Mapped[int] = mapped_column(ForeignKey("judge_calls.id"))
    attempt_no: Mapped[int]
    kind: Mapped[str] = mapped_column(default="first")  # first | retry | reask | surplus | abandoned
    outcome: Mapped[str]
    http_status: Mapped[int | None]
    error: Mapped[str | None]
    rung: Mapped[str | None]
    prompt_sha256: Mapped[str | None]
    raw_reply: Mapped[str | None]
    finish_reason: Mapped[str | None]
    model_reported: Mapped[str | None]
    system_fingerprint: Mapped[str | None]
    tokens_in: Mapped[int | None]
    tokens_cached: Mapped[int | None]
    tokens_out: Mapped[int | None]
    tokens_reasoning: Mapped[int | None]
    price: Mapped[dict[str, Any] | None]  # USD per million tokens in force at this try; NULL where unknown
    cost: Mapped[float | None]
    seconds: Mapped[float]  # 0 for a line of a batch: nobody knows
    batch_id: Mapped[str | None]  # the provider's batch that it was a line of
    created_at: Mapped[datetime] = mapped_column(default=now)
    __table_args__ = (
        UniqueConstraint("call_id", "attempt_no"),
        # the replies are most of the table: the sums of a ledger must not read them
        Index("ix_judge_attempts_sums", "call_id", "attempt_no", "outcome", "seconds", "cost", "tokens_in",
              "tokens_cached", "tokens_out", "tokens_reasoning"),
    )  # fmt: skip
