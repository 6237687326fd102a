"""One judge at work in this process: it claims calls, sends them at its pace, and writes back what they came to."""

import asyncio
import contextlib
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import cache, partial
from typing import Any

from sqlalchemy import Engine

from annotation.errors import AnnotationError
from annotation.figures.kept import with_pictures
from annotation.judges.asking import client, material
from annotation.judges.asking.steps import (
    Ask,
    Finish,
    Tried,
    as_row,
    asked_of,
    back_off_s,
    counted_tries,
    next_step,
    spent_by,
)
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.money import prices
from annotation.judges.money.accounts import WATCH, Account, Watch, as_sent, leaves
from annotation.judges.queue import queue, settling
from annotation.judges.queue.journal import Journal, Request, recover
from annotation.judges.replies.outcomes import REPLIES, Reply
from annotation.judges.running import gate, writer
from annotation.judges.running.progress import JudgeProgress
from db import connect, tables
from db.judge_tables import Judge

LOOK_AGAIN_S, SOON_S = 0.5, 0.1  # after a claim that found nothing, and after one in vain
READ_S = 60.0  # of a reply that a process which is gone had not read: it takes a thousandth of that
_Came = tuple[settling.Settled, Callable[[], None]]  # an attempt, and what to do once it is stored
SET_ASIDE = 500  # calls that do not fit the budget now; more are not looked for


class JudgeWork:
    """The loop of one judge. `stopped` says in words why it ended early; None when nothing was left to do."""

    def __init__(
        self, engine: Engine, study: tables.Study, account: Account, worker: settling.Worker, thread: Executor,
        transport: client.Transport,
        *, journal: Journal, states: Mapping[str, int], spent: float, limit: int | None,
    ) -> None:  # fmt: skip
        self.account, self.abandoned, self.seconds = account, 0, 0.0
        self.stopped: str | None = None
        self._engine, self._study, self._worker, self._texts = engine, study, worker, material.Texts()
        self._writer: writer.Writer[settling.Change] = writer.Writer(
            engine, thread, lambda session, changes: settling.write_back(session, worker, changes)
        )
        self._transport, self._limit, self._thread, self._journal = transport, limit, thread, journal
        self._definition, self._price = account.resolved.definition, account.resolved.priced.price
        self._asks = asked_of(self._definition, self._price)
        rates, has_answered = (self._definition.rpm, self._definition.tpm), states.get("done", 0) > 0
        self._gate = gate.Gate(*rates, is_code=bool(self._definition.code), has_answered=has_answered)
        self._ahead = max(8, self._definition.concurrency // 4)  # claimed before a slot is free, to hide the claim
        self._ready: deque[queue.Work] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._claiming: asyncio.Task[None] | None = None
        self._requests: set[asyncio.Future[Reply]] = set()
        self._came: dict[int, _Came] = {}  # by call: what is in the journal alone
        self._error: Exception | None = None
        self._in_flight = self._rung = self._ended = 0
        self._unaffordable: set[int] = set()
        self._settled = False  # since calls were last set aside
        self._look_at = self._started = time.monotonic()
        self._changed = asyncio.Event()
        self._states, self._spent, self._share = Counter(states), spent, queue.ALONE
        self._labels: Counter[str] = Counter()

    async def run(self) -> None:
        """Until nothing is left, nothing more may be spent, or `stop`. Raises what a transport raised unasked."""
        await self._take_over()
        watching = asyncio.create_task(self._watch())
        watching.add_done_callback(self._ended_task)
        try:
            while self.stopped is None:
                self._start_ready()
                self._begin_claim()
                if not (self._tasks or self._ready or self._claiming) and await self._is_over():
                    continue
                await self._wait()
        finally:
            watching.cancel()
        await self.close()
        self.stopped = self.stopped or None
        if self._error is not None:
            raise self._error

    def stop(self, reason: str) -> None:
        """Claim and send nothing more; what is in flight is finished. A judge that has ended is stopped by nothing."""
        self.stopped = self.stopped or (None if self.seconds else reason)
        self._changed.set()

    def cancel(self) -> None:
        """Give up the requests that are in flight; each is recorded as abandoned."""
        self.stop("cancelled")
        for request in self._requests:
            request.cancel()

    async def _watch(self) -> None:
        """See a pause while no claim is made, too: where the rate is low, calls that are claimed wait for minutes."""
        loop = asyncio.get_running_loop()
        while self.stopped is None:
            await asyncio.sleep(LOOK_AGAIN_S)
            if why := await loop.run_in_executor(self._thread, connect.patient(self._stopped_by_others)):
                self.stop(why)

    def _stopped_by_others(self) -> str | None:
        with connect.reading(self._engine) as session:
            return session.get_one(Judge, self.account.judge_id).stopped

    async def close(self) -> None:
        """Wait for what is in flight and give back whatever is held."""
        while running := self._tasks | ({self._claiming} if self._claiming else set()):
            await asyncio.wait(running)
        unsent = [work.rows.call_id for work in self._ready]
        self._ready.clear()
        await asyncio.gather(*(self._writer.change(settling.GivenBack(call)) for call in unsent))
        await self._let_go()
        await self._writer.close()
        self.seconds = time.monotonic() - self._started

    def progress(self) -> JudgeProgress:
        planned = sum(self._states.values())
        ended = self._states["done"] + self._states["failed"]
        rate = self._ended / max(1e-9, self.seconds or time.monotonic() - self._started)
        return JudgeProgress(
            name=self._definition.name, planned=planned, done=self._states["done"], failed=self._states["failed"],
            in_flight=self._in_flight, calls_per_s=rate, labels=dict(self._labels), paused_s=self._gate.paused_s(),
            spent=self._spent or (None if self._price is None else 0.0), max_cost=self._definition.max_cost,
            seconds_left=(planned - ended) / rate if self._ended and not self.stopped else None,
            stopped=self.stopped or None, why=self._gate.why,
        )  # fmt: skip

    def _start_ready(self) -> None:
        slots = self._definition.concurrency
        while self._ready and self.stopped is None and self._in_flight < slots and self._gate.wait_s() <= 0:
            work = self._ready.popleft()
            if isinstance(work.step, Ask):
                self._gate.started(material.tokens(work.step, work.rows))
            self._in_flight += 1
            task = asyncio.create_task(self._one(work))
            self._tasks.add(task)
            task.add_done_callback(self._ended_task)

    def _ended_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task is self._claiming:
            self._claiming = None
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self._error = self._error or error
            self.stop("error")
        self._changed.set()

    def _begin_claim(self) -> None:
        """Claim what free slots can start, and a little more, while the others are at work."""
        want = self._definition.concurrency + self._ahead - self._in_flight - len(self._ready)
        if self._limit is not None:
            want = min(want, self._limit - self._ended - len(self._tasks) - len(self._ready))
        soon = len(self._ready) > self._ahead // 2 or time.monotonic() < self._look_at
        if want <= 0 or soon or self._claiming or self._gate.paused_s() > 0 or len(self._unaffordable) > SET_ASIDE:
            return
        self._claiming = asyncio.create_task(self._claim(want))
        self._claiming.add_done_callback(self._ended_task)

    async def _claim(self, want: int) -> None:
        # on the writer's thread: a third one would only fight for the interpreter
        work = await asyncio.get_running_loop().run_in_executor(self._thread, connect.patient(self._prepare), want)
        job = partial(queue.claim, account=self.account, worker=self._worker, work=work)
        claim = await self._writer.write(job, can_wait=bool(self._ready))
        if self._ended and not self._ready and self._in_flight < self._definition.concurrency:
            self._ahead = min(self._definition.concurrency, 2 * self._ahead)  # slots stood empty meanwhile
        self._ready.extend(claim.taken)
        self._unaffordable.update(claim.unaffordable)
        self._rung = min(max(self._rung, claim.rung), len(self._definition.structured) - 1)
        self._share, self._gate.workers = claim.share, claim.share.workers
        if claim.stopped:
            self.stop(claim.stopped)
        if claim.paused_s:
            self._gate.pause_until(time.monotonic() + claim.paused_s)
        if not claim.taken and not claim.unaffordable:  # nothing is due, or others took it meanwhile
            self._look_at = time.monotonic() + (SOON_S if work else LOOK_AGAIN_S)

    def _prepare(self, want: int) -> list[queue.Work]:
        with connect.reading(self._engine) as session:
            aside = tuple(self._unaffordable)
            due = queue.due_calls(session, self._study, self.account, want, aside, self._texts, self._share)
        return [queue.Work(rows, step := self._step(rows), material.worst(step, self.account)) for rows in due]

    def _step(self, rows: material.CallRows) -> Ask | Finish:
        return material.step_of(rows, self._definition.structured[self._rung])

    async def _is_over(self) -> bool:
        """With nothing in hand: whether this judge has ended. Sets `stopped` then ("" where all is done)."""
        left = await asyncio.to_thread(connect.patient(self._unfinished))
        if left.planned + left.leased == 0 or (self._limit is not None and self._ended >= self._limit):
            self.stopped = self.stopped or ""
        elif self._unaffordable and self._settled:
            self._unaffordable.clear()
            self._settled = False
        elif self._unaffordable:
            self.stop(prices.used_up(self._definition.max_cost))
        else:
            if left.leased:
                await self._let_go()
                await self._take_over()
            self._look_at = time.monotonic() + min(LOOK_AGAIN_S, max(0.02, left.wait_s))
        return self.stopped is not None

    def _unfinished(self) -> queue.Unfinished:
        with connect.reading(self._engine) as session:
            return queue.unfinished(session, self.account)

    async def _let_go(self) -> None:
        """With nothing in hand: nothing is left here unless something went wrong. A reply that came and could not be
        read, or whose task was cancelled, is paid, and stored; where it cannot be, the journal has it."""
        await asyncio.gather(*map(self._keep, list(self._came)), return_exceptions=True)
        let_go = partial(settling.let_go, worker=self._worker, judge_id=self.account.judge_id)
        self.abandoned += await self._writer.write(let_go)

    async def _take_over(self) -> None:
        """What processes left that are gone: those of this machine by their journals, others when their time is up."""
        loop = asyncio.get_running_loop()

        def read(said: Mapping[str, Any]) -> Mapping[str, Any] | None:
            with contextlib.suppress(TimeoutError):  # the loop ended before it came to it: whoever goes on reads it
                return asyncio.run_coroutine_threadsafe(client.reread(said), loop).result(READ_S)
            return None

        recovering = loop.run_in_executor(self._thread, connect.patient(recover), self._engine, self._worker.id, read)
        take_over = partial(settling.take_over_expired, worker=self._worker, account=self.account)
        self.abandoned += await recovering + await self._writer.write(take_over)

    async def _wait(self) -> None:
        until = [1.0, self._look_at - time.monotonic() if self._look_at > time.monotonic() else 1.0]
        if self._ready or self._gate.paused_s():
            until.append(self._gate.wait_s() if self._in_flight < self._definition.concurrency else 1.0)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.001, min(until))):  # unlike wait_for, makes no task
                await self._changed.wait()
        self._changed.clear()

    async def _one(self, work: queue.Work) -> None:
        """Take one call as far as it goes now: to its labels, or back into the queue."""
        try:
            step = await self._asked(work)
        finally:
            self._in_flight -= 1
            self._start_ready()  # not only once the loop is back from its next claim
            self._changed.set()
        if step is not None:
            await self._end(work.rows, step)

    async def _asked(self, work: queue.Work) -> Finish | None:
        """Ask until the call ends; None where it goes back into the queue, or is not ours any more."""
        rows, step, tried = work.rows, work.step, list(work.rows.tried)
        if isinstance(step, Ask) and step.kind != "reask" and step.rung != self._definition.structured[self._rung]:
            step = self._step(rows)  # the ladder has moved since it was claimed
        while isinstance(step, Ask):
            asked: dict[str, Any] = {"rung": step.rung, "kind": step.kind, "prompt_sha256": step.prompt.sha256}
            asked["tries"] = counted_tries(tried)
            noted = self._journal.request((rows.key, len(tried) + 1), {**self._asks, **asked})
            reply = await self._send(rows, step, noted)
            tried.append(Tried(reply.outcome, step.rung, reply.text, reply.finish_reason))
            decide = cache(partial(next_step, rows.material, tried, self._definition.structured[self._rung]))
            # a reply is on disk before it is read; anything else needs no reading
            again = reply.outcome not in REPLIES and isinstance(decide(), Ask)
            self._came[rows.call_id] = self._come_to(rows, step, reply, tried, noted, requeue=again)
            if again or self._journal.refused or isinstance(decide(), Ask):
                mine = await self._keep(rows.call_id)
                if again or not mine:
                    return None
            step = decide()
            if isinstance(step, Ask) and not await self._is_our_turn():
                await self._writer.change(settling.GivenBack(rows.call_id))
                return None
            if isinstance(step, Ask) and not await self._may_ask_again(rows, step):
                step = decide(may_ask_again=False)
        return step

    async def _keep(self, call_id: int) -> bool:
        """Store what came, by itself. True while the call is in our hands."""
        settled, stored = self._came[call_id]
        mine = bool(await self._writer.change(settled))
        stored()
        del self._came[call_id]
        return mine

    async def _end(self, rows: material.CallRows, step: Finish) -> None:
        """Store the labels, with what came."""
        settled, stored = self._came.get(rows.call_id, (None, None))
        ended = settling.Ended(rows.call_id, rows.answered(step.answers), step, settled)
        mine = await self._writer.change(ended, can_wait=self._in_flight > 0)
        if stored is not None:
            stored()
            del self._came[rows.call_id]
        if mine:
            self._ended += 1
            self._states[step.state] += 1
            self._states["planned"] -= 1
            self._labels.update(answer.status for answer in step.answers)

    async def _replied(self, judge: JudgeDefinition, step: Ask) -> Reply:
        """The request itself; where the judge sees pictures, with these, which are read as late as this."""
        messages = step.prompt.messages

        def pictured() -> Sequence[Any]:
            with connect.reading(self._engine) as session:
                return with_pictures(session, self._study.id, messages)

        sent = await asyncio.to_thread(pictured) if judge.images else messages
        return await self._transport(judge, sent, step.prompt.schema, step.rung)

    async def _send(self, rows: material.CallRows, step: Ask, noted: Request) -> Reply:
        started = time.monotonic()
        judge = as_sent(self._definition, rows.repeat_no)
        WATCH.set(Watch(noted.sent, noted.arrived))
        if self._transport is not client.ask:
            leaves()  # it says itself when a request leaves this process; of others nobody knows
        request = asyncio.ensure_future(self._replied(judge, step))
        self._requests.add(request)
        try:
            return await request
        except asyncio.CancelledError:
            return Reply("abandoned", time.monotonic() - started, error="cancelled while the request was out")
        except AnnotationError as error:
            return Reply("fatal", time.monotonic() - started, error=error.text)
        except Exception as error:  # noqa: BLE001  (raised again by `run`, once the attempt is recorded)
            self._error = self._error or error
            self.stop("error")
            return Reply("abandoned", time.monotonic() - started, error=type(error).__name__)
        finally:
            self._requests.discard(request)

    def _come_to(
        self, rows: material.CallRows, step: Ask, reply: Reply, tried: list[Tried], noted: Request, *, requeue: bool
    ) -> _Came:
        """The attempt with what it means for the whole judge, in the journal now; and what to do once it is stored."""
        judge, paused_s = self._note(rows, step, reply)
        worst = material.worst(step, self.account)
        limited = reply.cost if self._definition.max_cost is not None else None
        if limited is not None and (why := prices.broken_by(limited, worst)):
            self.stop(why)
            judge = {**judge, "stopped": why}
        tries, row = counted_tries(tried), as_row(reply, step, self._price)
        counts = tried[-1].outcome not in ("rate_limited", "format_rejected", "fatal", "abandoned")
        wait_s = back_off_s(tries, random.random()) if requeue and counts else 0.0
        spent = spent_by(reply, self._price)
        settled = settling.Settled(rows.call_id, row, spent, tries, requeue, wait_s, judge, paused_s, len(tried))
        noted.answered(row, spent, tries)
        return settled, partial(self._stored, settled, noted, worst)

    def _stored(self, settled: settling.Settled, noted: Request, worst: float) -> None:
        noted.kept()
        self._spent += worst if settled.spent is None else settled.spent
        self._settled = True
        if settled.requeue:
            self._look_at = min(self._look_at, time.monotonic() + settled.wait_s)

    def _note(self, rows: material.CallRows, step: Ask, reply: Reply) -> tuple[dict[str, Any], float | None]:
        """What a reply says about the judge itself: columns of its row and a pause in seconds, for other workers."""
        following = self._definition.structured.index(step.rung) + 1
        if reply.outcome in REPLIES:
            self._gate.succeeded()
        elif reply.outcome == "rate_limited":
            self._gate.limited(reply.retry_after_s)
            if self._gate.gave_up():
                self.stop("rate limited: nothing but 429 for 15 minutes")
            return {}, self._gate.paused_s()
        elif reply.outcome == "format_rejected" and following < len(self._definition.structured):
            self._rung = max(self._rung, following)
            return {"rung": self._rung}, None
        elif reply.outcome in ("format_rejected", "fatal"):
            self.stop(why := reply.error or reply.outcome)
            return {"stopped": why}, None  # not what stopped this process, as a pause that is over by now
        elif why := self._gate.failed(reply.outcome, reply.error or reply.outcome, rows.judged):
            self.stop(why)
            return {"stopped": why}, None
        return {}, None

    async def _is_our_turn(self) -> bool:
        """Wait until the judge may send again. False when it stopped meanwhile."""
        while self._gate.wait_s() > 0 and self.stopped is None:
            await asyncio.sleep(min(LOOK_AGAIN_S, self._gate.wait_s()))
        return self.stopped is None

    async def _may_ask_again(self, rows: material.CallRows, step: Ask) -> bool:
        """Reserve the re-ask. False when there is no money for it."""
        self._gate.started(material.tokens(step, rows))
        return bool(await self._writer.change(settling.AskedAgain(rows.call_id, material.worst(step, self.account))))
