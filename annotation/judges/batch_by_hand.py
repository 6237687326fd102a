"""What a person who looked at the provider's own pages says about a batch: here it is, or it will never come."""

from __future__ import annotations

import secrets

from sqlalchemy import Engine, select

from annotation.errors import AnnotationError
from annotation.judges.batch_rows import OpenBatch, give_up, named, open_batches, plan_again
from annotation.judges.leases import Worker
from db.connect import reading, transaction
from db.judge_tables import Judge, JudgeCall

LEASE_S = 60.0


def release(engine: Engine, study_id: int, batch_id: str) -> int:
    """Plan the calls of a batch again; returns how many. Those of a `pending:` batch were never sent; for those of a
    batch with a name, which may have been billed, what is reserved counts as spent. Raises AnnotationError."""
    judge_id, batch = _waiting(engine, study_id, batch_id)
    worker, calls = Worker(f"by-hand-{secrets.token_hex(8)}", LEASE_S), 0
    while True:
        with transaction(engine) as session:
            again = plan_again if batch.is_pending else give_up
            now = again(session, judge_id, worker, batch_id)
        if not now:
            return calls
        calls += now


def attach(engine: Engine, study_id: int, pending: str, name: str) -> int:
    """Give a `pending:` batch the provider's name; returns how many calls wait for it. Raises AnnotationError."""
    judge_id, batch = _waiting(engine, study_id, pending)
    if not batch.is_pending:
        raise AnnotationError("has_name", f"{pending} is a provider's name already; only pending:… lacks one")
    with transaction(engine) as session:
        if session.scalar(select(JudgeCall.id).where(JudgeCall.batch_id == name).limit(1)) is not None:
            raise AnnotationError("name_taken", f"{name} is known as another batch of this database; look again")
        return named(session, judge_id, pending, name)


def _waiting(engine: Engine, study_id: int, batch_id: str) -> tuple[int, OpenBatch]:
    with reading(engine) as session:
        judges = session.scalars(select(Judge).where(Judge.study_id == study_id)).all()
        found = open_batches(session, [judge.id for judge in judges])
        ids = {judge.name: judge.id for judge in judges}
    for batch in found:
        if batch.batch_id == batch_id:
            if batch.held:
                raise AnnotationError("held", f"{batch_id} is being created right now; look again in a minute")
            return ids[batch.judge], batch
    known = ", ".join(one.batch_id for one in found) or "none"
    raise AnnotationError("not_found", f"no calls wait for a batch {batch_id!r} (open: {known})")
