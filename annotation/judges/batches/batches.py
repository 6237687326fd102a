"""Judge calls through a provider's batch API: half the price, hours instead of minutes.

The order of writing makes every kill harmless: the mark of a batch is on its calls before the batch is created, its
name before the first poll, and a line is settled in the transaction that ends its wait.
"""

import asyncio
import secrets
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO

from sqlalchemy import Engine, select, update

from annotation.errors import AnnotationError
from annotation.judges.asking.examples import prompt_for
from annotation.judges.batches import batch_api, batch_rows
from annotation.judges.batches.batch_rows import (
    LINES,
    LOST,
    PENDING,
    OpenBatch,
    fill,
    give_up,
    named,
    open_batches,
    plan_again,
)
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.money.accounts import Account, find_account, is_planned, stopped_by
from annotation.judges.money.prices import batch_price
from annotation.judges.queue.settling import Worker
from annotation.judges.replies.outcomes import COST_UNKNOWN, Reply
from db import connect, tables
from db.judge_tables import Judge, JudgeCall

KEYS = 100  # calls settled at once


@dataclass
class BatchRun:
    """One judge's batches in a run: what is `said` to the user, calls `submitted`, why it stopped, if it did."""

    said: list[str] = field(default_factory=list)
    submitted: int = 0
    stopped: str | None = None


class JudgeBatches:
    """One judge's batches in this process. `is_over` says that no further request should be started."""

    def __init__(
        self, engine: Engine, study: tables.Study, account: Account, worker: Worker, api: batch_api.BatchApi,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        resolved = account.resolved
        # everything that is reserved and settled here is a line of a batch
        priced = replace(resolved.priced, price=batch_price(resolved.priced.price) or resolved.priced.price)
        self._account = replace(account, resolved=replace(resolved, priced=priced), part="unanswered")
        self._engine, self._study, self._worker, self._api = engine, study, worker, api
        self._judge, self._is_over = resolved.definition, is_over
        self.run = BatchRun()

    async def poll(self) -> None:
        """Look for batches that may have been created, then fetch and settle those that ended."""
        await self._look_for([batch for batch in self.open() if batch.is_pending])
        for batch in self.open():
            if not batch.is_pending and not self._is_over():
                await self._poll(batch)

    async def submit(self, limit: int | None = None) -> None:
        """Send what is planned and has no reply yet in as many batches as it takes, at most `limit` calls."""
        while not self._is_over() and self.run.stopped is None:
            left = LINES if limit is None else limit - self.run.submitted
            pending = f"{PENDING}{uuid.uuid4()}"
            with tempfile.TemporaryFile() as file:
                filled = fill(self._engine, self._study, self._account, self._worker, pending, file, left)
                if filled.calls:
                    await self._create(pending, file, filled.calls)
            self.run.stopped = self.run.stopped or filled.stopped
            if not filled.calls:
                return

    async def any_ended(self) -> bool:
        """Whether a batch can be fetched."""
        for batch in self.open():
            found = None if batch.is_pending else await self._api.retrieve(self._judge, batch.batch_id)
            if isinstance(found, batch_api.Batch) and not found.is_open:
                return True
        return False

    def open(self) -> tuple[OpenBatch, ...]:
        """What the rows say is at the provider."""
        with connect.reading(self._engine) as session:
            return batch_rows.open_batches(session, [self._account.judge_id])

    def _say(self, text: str) -> None:
        self.run.said.append(f"{self._judge.name}: {text}")

    async def _look_for(self, pending: list[OpenBatch]) -> None:
        """A batch that was about to be created: the provider's list says whether it was."""
        if not pending or self._is_over():
            return
        found = await self._api.listed(self._judge, [one.batch_id for one in pending])
        for one in pending:
            what = f"{one.calls:,} calls of {one.batch_id}"
            if isinstance(found, Reply):
                self._say(
                    f"nobody knows whether {what} were sent: the provider's batches cannot be listed ({found.error}). "
                    f"Look there for a batch with calipers = {one.batch_id} in its metadata; then give its name with: "
                    f"calipers judge batches {self._study.name} --attach {one.batch_id} --to NAME, or, if there is "
                    f"none: calipers judge batches {self._study.name} --release {one.batch_id}"
                )
            elif one.batch_id in found:
                self._name(one.batch_id, found[one.batch_id], "found")
            elif one.held:
                self._say(f"{what} may be about to be sent; look again in a minute")
            elif calls := self._plan_again(one.batch_id):
                self._say(f"{one.batch_id} was never created; its {calls:,} calls are planned again")

    async def _poll(self, batch: OpenBatch) -> None:
        now = await self._api.retrieve(self._judge, batch.batch_id)
        if isinstance(now, Reply):
            self._say(f"batch {batch.batch_id}, {batch.calls:,} calls: {now.error}")
        elif now.is_open:
            self._say(
                f"batch {now.id}: {now.status.replace('_', ' ')}, {now.answered:,} of {now.lines:,} lines; "
                f"{batch.calls:,} calls wait for it"
            )
        else:
            await self._fetch(now)

    async def _fetch(self, batch: batch_api.Batch) -> None:
        """Settle every line, then what the batch left without one."""
        settled, ours = 0, not batch.files
        for file in batch.files:
            content = await self._api.content(self._judge, file)
            if isinstance(content, Reply):
                self._say(f"batch {batch.id} has ended, but its file {file} cannot be fetched: {content.error}")
                return
            for part in _parts(batch_api.read_lines(content)):
                settled += self._settle(batch.id, part)
                ours = ours or settled > 0 or self._knows(part)
        if not ours:
            self._say(f"batch {batch.id} ({batch.status}) holds none of the calls that wait for it; is the name right?")
            return
        lost = 0
        if batch.status == "completed":
            while keys := self._keys(batch.id):
                lost += self._settle(batch.id, dict.fromkeys(keys, LOST))
        else:
            lost = self._plan_again(batch.id)
        missing = f"; {lost:,} calls without a line are planned again" if lost else ""
        self._say(f"batch {batch.id} {batch.status}: {settled:,} lines settled{missing}")
        if batch.status == "failed":
            self._stop(f"batch {batch.id} failed: {batch.error or 'the provider gives no reason'}")

    def _keys(self, batch_id: str) -> list[str]:
        with connect.reading(self._engine) as session:
            return batch_rows.waiting_keys(session, self._account.judge_id, batch_id, KEYS)

    def _knows(self, replies: Mapping[str, Reply | None]) -> bool:
        with connect.reading(self._engine) as session:
            return batch_rows.has_calls(session, self._account.judge_id, list(replies))

    def _settle(self, batch_id: str, replies: Mapping[str, Reply | None]) -> int:
        with connect.transaction(self._engine) as session:
            study = session.get_one(tables.Study, self._study.id)
            return batch_rows.settle(session, study, self._account, self._worker, batch_id, replies)

    def _plan_again(self, batch_id: str, *, held: bool = False) -> int:
        calls = 0
        while True:
            with connect.transaction(self._engine) as session:
                now = batch_rows.plan_again(session, self._account.judge_id, self._worker, batch_id, held=held)
            if not now:
                return calls
            calls += now

    async def _create(self, pending: str, file: IO[bytes], calls: int) -> None:
        file.seek(0)
        file_id = await self._api.upload(self._judge, file)
        if isinstance(file_id, Reply):
            self._plan_again(pending, held=True)
            self._stop(f"the file of a batch was not taken: {file_id.error}")
            return
        with connect.transaction(self._engine) as session:
            held = batch_rows.still_held(session, self._worker, pending)
        if held != calls:
            self._plan_again(pending, held=True)
            self.run.stopped = "this process slept, and another began to plan its calls again; start it anew"
            return
        made = await self._api.create(self._judge, file_id, pending)
        if isinstance(made, batch_api.Batch):
            self.run.submitted += calls
            self._name(pending, made, "submitted")
        elif made.outcome not in COST_UNKNOWN and 400 <= (made.http_status or 0) < 500:
            self._plan_again(pending, held=True)
            self._stop(f"the batch was refused: {made.error}")
        else:
            with connect.transaction(self._engine) as session:
                batch_rows.let_go_of(session, self._worker, self._account.judge_id, pending)
            self.run.stopped = f"nobody knows whether {pending} was created: {made.error}"

    def _name(self, pending: str, batch: batch_api.Batch, how: str) -> None:
        with connect.transaction(self._engine) as session:
            calls = batch_rows.named(session, self._account.judge_id, pending, batch.id)
        self._say(f"batch {batch.id} {how}: {calls:,} calls wait for it")

    def _stop(self, reason: str) -> None:
        """For every worker, and for whoever looks at the judge's status."""
        self.run.stopped = self.run.stopped or reason
        with connect.transaction(self._engine) as session:
            session.execute(update(Judge).where(Judge.id == self._account.judge_id).values(stopped=stopped_by(reason)))


async def go_through_batches(
    engine: Engine, study: tables.Study, accounts: Sequence[Account], worker: Worker, api: batch_api.BatchApi,
    is_over: Callable[[], bool], limit: int | None,
) -> dict[int, BatchRun]:  # fmt: skip
    """Poll what these judges have at their providers, then submit what is to go through batches; by judge id."""
    runs: dict[int, BatchRun] = {}
    for account in accounts:
        wanted = account.resolved.definition.batch_api and account.stress is None
        batches = JudgeBatches(engine, study, account, worker, api, is_over)
        if wanted or batches.open():
            runs[account.judge_id] = batches.run
            try:
                await batches.poll()
                if wanted:
                    await batches.submit(limit)
            finally:
                await batch_api.close_clients()
    return runs


def any_ended(
    engine: Engine, study_id: int, definitions: Sequence[JudgeDefinition], api: batch_api.BatchApi | None = None
) -> bool:
    """Whether a batch of these judges can be fetched, as their providers say."""

    async def ask(accounts: Sequence[Account]) -> bool:
        worker = Worker("nobody", 0.0)  # nothing is claimed
        try:
            looks = (JudgeBatches(engine, study, account, worker, api or batch_api.BatchApi()) for account in accounts)
            return any([await batches.any_ended() for batches in looks])
        finally:
            await batch_api.close_clients()

    with connect.reading(engine) as session:
        study = session.get_one(tables.Study, study_id)
        templates = [(definition, prompt_for(session, study, definition)) for definition in definitions]
        planned = [(one, template) for one, template in templates if is_planned(session, study, one, template)]
        accounts = [find_account(session, study, one, template) for one, template in planned]
    return asyncio.run(ask(accounts))


def _parts(lines: Iterator[tuple[str, Reply | None]]) -> Iterator[dict[str, Reply | None]]:
    while part := dict(islice(lines, KEYS)):
        yield part


LEASE_S = 60.0


def release(engine: Engine, study_id: int, batch_id: str) -> int:
    """Plan the calls of a batch again; returns how many. Those of a `pending:` batch were never sent; for those of a
    batch with a name, which may have been billed, what is reserved counts as spent. Raises AnnotationError."""
    judge_id, batch = _waiting(engine, study_id, batch_id)
    worker, calls = Worker(f"by-hand-{secrets.token_hex(8)}", LEASE_S), 0
    while True:
        with connect.transaction(engine) as session:
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
    with connect.transaction(engine) as session:
        if session.scalar(select(JudgeCall.id).where(JudgeCall.batch_id == name).limit(1)) is not None:
            raise AnnotationError("name_taken", f"{name} is known as another batch of this database; look again")
        return named(session, judge_id, pending, name)


def _waiting(engine: Engine, study_id: int, batch_id: str) -> tuple[int, OpenBatch]:
    with connect.reading(engine) as session:
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
