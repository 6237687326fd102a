"""What a process sends to judges and what comes back, in a file of its own, ahead of the database.

A reply is a line here as soon as its last byte has come, before anybody reads it, and another once it is read, however
long the database, the other threads and the machine take. A process that was killed leaves its journal, and whoever
goes on reads it first: what came is kept, what was only claimed is planned again, and what was sent is known.
"""

import errno
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, orm, select

from annotation.judges.queue.settling import CALLS, Settled, Worker, let_go, write_back
from db import connect, judge_tables
from plain.counting import counted

SEGMENT_BYTES = 8_000_000  # of one file; those whose every reply is in the database are removed
AT_ONCE = 200  # replies kept in one transaction
MOST_READS = 5  # processes that try to read a reply; then it is left where it is, and told
READERS = "readers"  # of a line: the processes that could not read it
UNNAMED = ".new"  # what a folder's name ends with until it is locked
Key = tuple[str, int]  # of a request: the call's key, and the number of the attempt
# a line that has `raw`, as one that has `attempt`; None: it cannot be read here
Reread = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]


def journals_of(url: URL) -> Path:
    """Where the processes of this machine that work on a database keep their journals: beside a database file."""
    if url.database and url.get_backend_name() == "sqlite":
        return Path(f"{url.database}.judging")
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    named = url.render_as_string(hide_password=True)
    return Path(state) / "calipers" / hashlib.sha256(named.encode()).hexdigest()[:16]


class Journal:
    """One process's journal, in a folder that is locked as long as the process lives, and readable by its user alone.

    Lines are written at once, by whichever thread has one, and forced to the disk by a thread of their own. Where
    nothing can be written there is no journal, `refused` says why ("" else), and a run goes on without: what it holds
    is in the database as soon as that has written it.
    """

    def __init__(self, folder: Path, worker: str) -> None:
        self._folder, self._lock, self.refused = _locked_folder(folder, worker)
        self._number, self._open, self._bytes = 0, -1, 0
        self._held: dict[int, int] = {}  # by segment: lines that the database does not have
        self._is_whole = True
        self._writing, self._dirty, self._ended = threading.Lock(), threading.Event(), False
        self._forcing = threading.Thread(target=self._force, name="calipers-journal", daemon=True)
        if self._folder is not None:
            self._next_segment()
            self._forcing.start()

    def request(self, key: Key, asked: Mapping[str, Any]) -> "Request":
        """A request about to go out; nothing is written yet. `asked`: what it takes to read its answer later."""
        return Request(self._write, key, asked)

    def close(self) -> None:
        """Forget the journal, unless the database lacks some of it: that is for whoever goes on."""
        self._ended = True
        self._dirty.set()
        if self._folder is None:
            return
        self._forcing.join()
        os.close(self._open)
        if not any(self._held.values()):
            _remove(self._folder)
        os.close(self._lock)

    def _write(self, said: Mapping[str, Any]) -> Callable[[], None]:
        if self._folder is None:
            return _nothing
        line = json.dumps(said, separators=(",", ":")).encode() + b"\n"
        with self._writing:
            return self._written(line)

    def _written(self, line: bytes) -> Callable[[], None]:
        segment = self._number
        try:
            # a line that was cut short by a full disk must not take the next one with it
            written = os.write(self._open, line if self._is_whole else b"\n" + line)
            self._is_whole = written >= len(line)
        except OSError:
            self._is_whole = False
            return _nothing
        self._held[segment] += 1
        self._bytes += written
        self._dirty.set()
        if self._bytes >= SEGMENT_BYTES:
            with suppress(OSError):
                self._next_segment()
        return lambda: self._let_go(segment)

    def _let_go(self, segment: int) -> None:
        with self._writing:
            self._held[segment] -= 1
            if not self._held[segment] and segment != self._number:
                _path(self._folder, segment).unlink(missing_ok=True)

    def _next_segment(self) -> None:
        number = self._number + 1
        opened = os.open(_path(self._folder, number), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        before, self._open = self._open, opened
        self._number, self._bytes, self._held[number] = number, 0, 0
        if before >= 0:
            os.fsync(before)
            os.close(before)

    def _force(self) -> None:
        while not self._ended:
            self._dirty.wait()
            self._dirty.clear()
            with suppress(OSError):  # a disk that refuses: the lines are with the system, and the database follows
                os.fsync(self._open)


class Request:
    """One request of a call, as the journal follows it."""

    def __init__(
        self, write: Callable[[Mapping[str, Any]], Callable[[], None]], key: Key, asked: Mapping[str, Any]
    ) -> None:
        self._write, self._key, self._asked, self._made = write, key, asked, time.monotonic()
        self._held: list[Callable[[], None]] = []

    def sent(self) -> None:
        """It is on its way: written once, however often it is said."""
        if not self._held:
            self._held.append(self._write({"key": self._key}))

    def arrived(self, raw: Mapping[str, Any]) -> None:
        """What came, as it came."""
        seconds = time.monotonic() - self._made
        self._held.append(self._write({"key": self._key, "asked": self._asked, "raw": raw, "seconds": seconds}))

    def answered(self, attempt: Mapping[str, Any], spent: float | None, tries: int) -> None:
        """What came of it, as `settling.Settled` has it."""
        self._held.append(self._write({"key": self._key, "attempt": attempt, "spent": spent, "tries": tries}))

    def kept(self) -> None:
        """The database holds what became of it."""
        while self._held:
            self._held.pop()()


@dataclass(frozen=True)
class Left:
    """The journal of a process that is gone: the worker it was, what it had sent, what had come of each, and what had
    come that it had not read."""

    worker: str
    sent: frozenset[Key]
    answered: Mapping[Key, Mapping[str, Any]]
    unread: dict[Key, Mapping[str, Any]]


@contextmanager
def left_behind(folder: Path) -> Iterator[list[Left]]:
    """The journals of processes that are gone, held against everybody else; and removed unless the block fails, but for
    the lines that it leaves in `unread`: they are paid, and another version, or an account, may read them.
    """
    held: list[tuple[Path, int]] = []
    before: list[dict[Key, Mapping[str, Any]]] = []
    try:
        for path in sorted(path for path in folder.glob("*") if path.is_dir() and not path.name.endswith(UNNAMED)):
            if (lock := _lock(path)) is not None:
                held.append((path, lock))
        journals = [_read(path) for path, _ in held]
        before.extend(dict(journal.unread) for journal in journals)
        yield journals
        for (path, _), journal, found in zip(held, journals, before, strict=True):
            if not journal.unread:
                _remove(path)
            elif journal.unread != found:
                _keep_alone(path, journal.unread)
    finally:
        for _, lock in held:
            os.close(lock)


def _read(folder: Path) -> Left:
    sent: set[Key] = set()
    answered, unread = dict[Key, Mapping[str, Any]](), dict[Key, Mapping[str, Any]]()
    for segment in sorted(folder.glob("*.jsonl"), key=lambda path: int(path.stem)):
        for line in segment.read_bytes().splitlines():
            with suppress(ValueError, KeyError, TypeError):  # the last line of a process that was killed while writing
                said = json.loads(line)
                call, number = said["key"]
                sent.add((call, number))
                if "attempt" in said:
                    answered[call, number] = said
                elif "raw" in said:
                    unread[call, number] = said
    return Left(folder.name, frozenset(sent), answered, {key: unread[key] for key in unread.keys() - answered.keys()})


def _keep_alone(folder: Path, lines: Mapping[Key, Mapping[str, Any]]) -> None:
    segments = {*folder.glob("*.jsonl")}
    kept, made = _path(folder, 0), folder / "0.new"
    with suppress(OSError):  # a full disk: then all of it stays, and a reply that is stored is not stored again
        with made.open("w") as file:
            file.writelines(f"{json.dumps(said, separators=(',', ':'))}\n" for said in lines.values())
            file.flush()
            os.fsync(file.fileno())
        made.replace(kept)
        for segment in segments - {kept}:
            segment.unlink()


def _path(folder: Path | None, segment: int) -> Path:
    assert folder is not None
    return folder / f"{segment}.jsonl"


def _locked_folder(folder: Path, worker: str) -> tuple[Path | None, int, str]:
    """A folder for this worker, the lock on it, and ""; None and the reason where none can be made."""
    unnamed, named = folder / f"{worker}{UNNAMED}", folder / worker
    try:
        unnamed.mkdir(mode=0o700, parents=True)
        lock = _lock(unnamed)
        if lock is None:
            return None, -1, "it cannot be locked"
        unnamed.rename(named)  # others look for its name, and find it locked
    except OSError as error:
        return None, -1, error.strerror or type(error).__name__
    return named, lock, ""


def unread_replies(url: URL) -> list[str]:
    """One sentence for each journal that holds replies which nobody could read so far; there may be none."""
    said = []
    for path in sorted(journals_of(url).glob("*")):
        with suppress(OSError):  # another process has read it meanwhile, and removed it
            readers = [len(one[READERS]) for one in _read(path).unread.values() if READERS in one]
            if readers:
                tries = f"{max(readers)} of {MOST_READS} runs have tried"
                said.append(f"{counted(len(readers), 'reply')} to {path.name}, paid, cannot be read ({tries}): {path}")
    return said


def why_no_journal(url: URL) -> str:
    """One sentence where a process of this machine that works on this database can keep no journal; else ""."""
    folder = journals_of(url)
    tried = Journal(folder, f"worker-{secrets.token_hex(8)}")
    tried.close()
    if not tried.refused:
        return ""
    return (
        f"no journal can be kept in {folder} ({tried.refused}): should this process be killed, replies that the "
        "database does not have yet are lost, and paid again"
    )


def _lock(folder: Path) -> int | None:
    """The folder opened and locked; None where a living process holds it, or where it is gone."""
    try:
        opened = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(opened), folder.stat()):  # removed, and made anew
            raise OSError(errno.ENOENT, "gone")
    except OSError:
        os.close(opened)
        return None
    return opened


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # others have theirs there
        folder.parent.rmdir()


def _nothing() -> None:
    """Nothing is kept, so nothing has to be let go."""


def recover(engine: Engine, by: str, reread: Reread) -> int:
    """Store what came back to processes of this machine that are gone, and plan again what they held.

    Returns how many of their requests were out without an answer: those are paid twice where the provider had them.
    What was only claimed is not among them. A second call finds nothing but what could not be read here; it is read
    once by each process that finds it, `by`, and by `MOST_READS` at most.
    """
    with left_behind(journals_of(engine.url)) as journals:
        return sum(_recover(engine, _all_read(journal, by, reread)) for journal in journals)


def _all_read(journal: Left, by: str, reread: Reread) -> Left:
    read: dict[Key, Mapping[str, Any]] = {}
    for key, said in list(journal.unread.items()):
        readers = said.get(READERS, ())
        if by in readers or len(readers) >= MOST_READS:
            continue
        if (found := reread(said)) is None:
            journal.unread[key] = {**said, READERS: [*readers, by]}
        else:
            read[key] = found
            del journal.unread[key]
    return replace(journal, answered={**journal.answered, **read})


def _recover(engine: Engine, journal: Left) -> int:
    worker = Worker(journal.worker, 0.0)
    with connect.reading(engine) as session:
        answered = _answered(session, journal)
        holding = CALLS.c.worker == journal.worker, CALLS.c.state == "leased"
        judges = {*session.scalars(select(CALLS.c.judge_id).where(*holding).distinct()), *answered}
    out = 0
    for judge in sorted(judges):  # a commit concerns one judge only, as ever
        replies = answered[judge]
        for start in range(0, len(replies), AT_ONCE):
            with connect.transaction(engine) as session:
                write_back(session, worker, replies[start:][:AT_ONCE])
        with connect.transaction(engine) as session:
            out += let_go(session, worker, judge, journal.sent)
    return out


def _answered(session: orm.Session, journal: Left) -> defaultdict[int, list[Settled]]:
    """By judge, in the order they came, replies to calls that are still there: a database may have been restored."""
    found: defaultdict[int, list[Settled]] = defaultdict(list)
    replies: list[tuple[Key, Mapping[str, Any]]] = list(journal.answered.items())
    for start in range(0, len(replies), AT_ONCE):
        chunk = replies[start:][:AT_ONCE]
        rows = session.execute(
            select(judge_tables.JudgeCall.key, judge_tables.JudgeCall.id, judge_tables.JudgeCall.judge_id).where(
                judge_tables.JudgeCall.key.in_([key for (key, _), _ in chunk])
            )
        )
        calls = {key: (call, judge) for key, call, judge in rows}
        for (key, number), said in chunk:
            if key in calls:
                call, judge = calls[key]
                found[judge].append(
                    Settled(call, said["attempt"], said["spent"], said["tries"], requeue=True, number=number)
                )
    return found
