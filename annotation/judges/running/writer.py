"""One thread that commits in groups: what gathers while a commit is under way shares the next one."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, Generic, TypeVar

from sqlalchemy import Engine, orm

from db import connect, errors

AT_MOST = 256  # changes in one commit
PATIENCE_S = 0.2  # the longest that something waits for company
Change = TypeVar("Change")
T = TypeVar("T")
Job = Callable[[orm.Session], Any]
Outcome = tuple[Any, Exception | None]


class Writer(Generic[Change]):
    """Writes one judge's changes and jobs in transactions on a thread.

    `together` stores many changes at once and gives one result for each; jobs follow it in the same transaction. Both
    may be run twice, also after a commit that nobody heard of: they change nothing but rows, and twice is as once. A
    commit concerns one judge only: so no two workers wait for each other in a circle.
    """

    def __init__(
        self, engine: Engine, thread: Executor, together: Callable[[orm.Session, Sequence[Change]], Sequence[Any]]
    ) -> None:
        self._engine, self._thread, self._together = engine, thread, together
        self._changes: deque[tuple[Change, asyncio.Future[Any]]] = deque()
        self._jobs: deque[tuple[Job, asyncio.Future[Any]]] = deque()
        self._draining: asyncio.Task[None] | None = None
        self._patience: asyncio.TimerHandle | None = None
        self._due = False

    async def change(self, change: Change, *, can_wait: bool = False) -> Any:
        """What became of the change, once it is committed; one that `can_wait` goes with the next that cannot."""
        return await self._queued(self._changes, change, can_wait)

    async def write(self, job: Callable[[orm.Session], T], *, can_wait: bool = False) -> T:
        """The job's result, once it is committed. Raises what the job raised; what was beside it is not touched."""
        result: T = await self._queued(self._jobs, job, can_wait)
        return result

    async def close(self) -> None:
        """Wait for what is queued."""
        self._commit_now()
        if self._draining is not None:
            await self._draining

    def _queued(self, line: deque[tuple[Any, asyncio.Future[Any]]], what: Any, can_wait: bool) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()
        line.append((what, done))
        if not can_wait:
            self._commit_now()
        elif self._patience is None:
            self._patience = loop.call_later(PATIENCE_S, self._commit_now)
        return done

    def _commit_now(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        self._due = True
        if self._draining is None or self._draining.done():
            self._draining = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        while self._due:
            changes = [self._changes.popleft() for _ in range(min(AT_MOST, len(self._changes)))]
            jobs = [self._jobs.popleft() for _ in range(len(self._jobs))]
            self._due = bool(self._changes)
            if not changes and not jobs:
                continue
            outcomes = await loop.run_in_executor(
                self._thread, self._commit, [change for change, _ in changes], [job for job, _ in jobs]
            )
            for done, (value, error) in zip((done for _, done in (*changes, *jobs)), outcomes, strict=True):
                if done.cancelled():
                    continue
                if error is None:
                    done.set_result(value)
                else:
                    done.set_exception(error)

    def _commit(self, changes: Sequence[Change], jobs: Sequence[Job]) -> list[Outcome]:
        try:
            return self._commit_once(changes, jobs)
        except errors.DatabaseAway as error:
            return [(None, error)] * (len(changes) + len(jobs))  # each by itself would wait as long again
        except Exception as error:  # noqa: BLE001  (handed to whoever waits for it)
            if len(changes) + len(jobs) == 1:
                return [(None, error)]
        # one of them failed and took the others back with it: commit each by itself
        alone = [self._commit([change], ()) for change in changes] + [self._commit((), [job]) for job in jobs]
        return [outcome for (outcome,) in alone]

    @connect.patient
    def _commit_once(self, changes: Sequence[Change], jobs: Sequence[Job]) -> list[Outcome]:
        with connect.transaction(self._engine) as session:
            results = self._together(session, changes) if changes else ()
            return [(result, None) for result in (*results, *(job(session) for job in jobs))]
