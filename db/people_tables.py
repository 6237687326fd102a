"""Raters, what they may do in a study, and how they get in."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, orm

from db.types import Record, now, one_of, opaque

ROLES = ("annotator", "adjudicator", "evaluator", "admin")
SERVERS_OWN = "server's own key"  # whoever holds CALIPERS_ADMIN_TOKEN is enrolled under this name, nobody is invited so


class Rater(Record):
    """Whoever labels: a person or a judge. `opaque_id` is what a browser may know of a person."""

    __tablename__ = "raters"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    opaque_id: orm.Mapped[str] = orm.mapped_column(default=opaque, unique=True)
    kind: orm.Mapped[str]
    handle: orm.Mapped[str]
    created_at: orm.Mapped[datetime] = orm.mapped_column(default=now)
    __table_args__ = (CheckConstraint(one_of("kind", ("human", "judge")), "kind"),)


class Enrollment(Record):
    __tablename__ = "enrollments"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    study_id: orm.Mapped[int] = orm.mapped_column(ForeignKey("studies.id"))
    rater_id: orm.Mapped[int] = orm.mapped_column(ForeignKey("raters.id"))
    role: orm.Mapped[str]
    pseudonym: orm.Mapped[str]  # the rater_id of every export
    status: orm.Mapped[str] = orm.mapped_column(default="active")
    preferences: orm.Mapped[dict[str, Any]] = orm.mapped_column(default=dict)
    consent_sha256: orm.Mapped[str | None]
    consented_at: orm.Mapped[datetime | None]
    training_passed_at: orm.Mapped[datetime | None]
    quota: orm.Mapped[int | None]  # how many items this person may take
    open_link_id: orm.Mapped[int | None] = orm.mapped_column(ForeignKey("open_links.id"))  # the link they came by
    participant_sha256: orm.Mapped[str | None]  # of the id a crowd platform knows them by
    is_simulated: orm.Mapped[bool] = orm.mapped_column(default=False)
    created_at: orm.Mapped[datetime] = orm.mapped_column(default=now)
    __table_args__ = (
        UniqueConstraint("study_id", "rater_id"),
        UniqueConstraint("study_id", "pseudonym"),
        Index("uq_enrollments_participant", "study_id", "participant_sha256", unique=True),
        CheckConstraint(one_of("role", ROLES), "role"),
        CheckConstraint(one_of("status", ("active", "paused", "withdrawn")), "status"),
    )


class Invite(Record):
    __tablename__ = "invites"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    enrollment_id: orm.Mapped[int] = orm.mapped_column(ForeignKey("enrollments.id"))
    token_sha256: orm.Mapped[str] = orm.mapped_column(unique=True)
    expires_at: orm.Mapped[datetime]
    single_use: orm.Mapped[bool] = orm.mapped_column(default=False)
    used_at: orm.Mapped[datetime | None]
    revoked_at: orm.Mapped[datetime | None]
    created_at: orm.Mapped[datetime] = orm.mapped_column(default=now)
    account_groups: orm.Mapped[list[Any] | None]  # of the provider's account that signed in by it; none of a link


class OpenLink(Record):
    """One link for many people: whoever comes with another participant id becomes another annotator."""

    __tablename__ = "open_links"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    study_id: orm.Mapped[int] = orm.mapped_column(ForeignKey("studies.id"))
    token_sha256: orm.Mapped[str] = orm.mapped_column(unique=True)
    places: orm.Mapped[int | None]  # how many people it lets in
    quota: orm.Mapped[int | None]  # of each
    expires_at: orm.Mapped[datetime]
    revoked_at: orm.Mapped[datetime | None]
    created_at: orm.Mapped[datetime] = orm.mapped_column(default=now)


class Packet(Record):
    """Work one person took home as a file. Its assignments point here; `secret` signs the ballots that come back."""

    __tablename__ = "packets"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    packet_id: orm.Mapped[str] = orm.mapped_column(default=opaque, unique=True)
    study_id: orm.Mapped[int] = orm.mapped_column(ForeignKey("studies.id"))
    enrollment_id: orm.Mapped[int] = orm.mapped_column(ForeignKey("enrollments.id"))
    secret: orm.Mapped[str]
    sha256: orm.Mapped[str] = orm.mapped_column(default="")  # of the packet's data, once it is written
    created_at: orm.Mapped[datetime] = orm.mapped_column(default=now)
    withdrawn_at: orm.Mapped[datetime | None]


class Key(Record):
    """A secret of this database, made when it is first needed: what was hashed with it cannot be guessed without it."""

    __tablename__ = "keys"
    name: orm.Mapped[str] = orm.mapped_column(primary_key=True)
    secret: orm.Mapped[str]
    created_at: orm.Mapped[datetime] = orm.mapped_column(default=now)


class SignIn(Record):
    __tablename__ = "sign_ins"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    enrollment_id: orm.Mapped[int] = orm.mapped_column(ForeignKey("enrollments.id"))
    invite_id: orm.Mapped[int] = orm.mapped_column(ForeignKey("invites.id"))
    cookie_sha256: orm.Mapped[str] = orm.mapped_column(unique=True)
    created_at: orm.Mapped[datetime] = orm.mapped_column(default=now)
    seen_at: orm.Mapped[datetime] = orm.mapped_column(default=now)
    revoked_at: orm.Mapped[datetime | None]
