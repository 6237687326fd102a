"""A program of its own, which can neither grow nor run nor write without end: on one document, or one that stays."""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Timer
from typing import Any, TypeVar

MOST_BYTES = 12 << 20  # of a tree: some 300,000 words; as objects in Python it takes 25 times as much
KILLED = -9
ROOT = Path(__file__).resolve().parents[2]
ALARM: int | None = getattr(signal, "SIGALRM", None)  # Windows has none
T = TypeVar("T")


def run_module(
    name: str, given: bytes, patience_s: float, *arguments: str, most: int = MOST_BYTES
) -> tuple[int, bytes, bytes]:
    """One of our own modules as such a program."""
    command, env = _command(name, *arguments)
    return run(command, given, patience_s, env, most)


def _command(name: str, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """What runs one of our own modules, and its environment."""
    # -P and our own path first: the current folder may hold an annotation/ or a resource.py of somebody else
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))}
    return [sys.executable, "-P", "-m", name, *arguments], env


class LimitedProcess:
    """A process of ours that computes what it is asked, one after the other: each in at most `patience_s` seconds, and
    all with at most `megabytes` of data. It begins with what is asked first, and anew after one that it could not end.
    """

    def __init__(self, megabytes: int, patience_s: float) -> None:
        self.megabytes, self.patience_s = megabytes, patience_s
        self._one_at_a_time = Lock()
        self._idle: subprocess.Popen[bytes] | None = None

    def compute(self, function: Callable[..., T], *given: Any) -> T:
        """What a module's `function` makes of values, all of which can be pickled.

        Raises what it raises, TimeoutError and MemoryError where it meets a limit.
        """
        with self._one_at_a_time:
            kept, self._idle = self._idle, None  # whatever interrupts us, no answer is left in it
            try:
                process, made, error = self._asked(kept or self._begun(), function, given)
            except MemoryError:
                if kept is None:
                    raise
                # what waited may have been ended by others, as by the system when it was short of memory
                process, made, error = self._asked(self._begun(), function, given)
            self._idle = process
        if error is not None:
            raise error
        answer: T = made
        return answer

    def _asked(self, process: subprocess.Popen[bytes], *asked: Any) -> tuple[subprocess.Popen[bytes], Any, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        late = Event()

        def stop() -> None:
            late.set()
            process.kill()

        clock = Timer(self.patience_s, stop)
        if ALARM is None:  # else it ends itself, also where we have ended before
            clock.start()
        is_whole = False
        try:
            pickle.dump((self.patience_s, *asked), process.stdin)
            process.stdin.flush()
            made, error = pickle.load(process.stdout)
            is_whole = True
            return process, made, error
        except (OSError, EOFError, pickle.UnpicklingError):
            process.kill()
            ended = process.wait()
            raise TimeoutError if late.is_set() or (ALARM and ended == -ALARM) else MemoryError from None
        finally:
            clock.cancel()
            if not is_whole:  # half of a question, or of an answer, is in its pipes
                process.kill()
                process.wait()

    def _begun(self) -> subprocess.Popen[bytes]:
        command, env = _command(__name__, str(self.megabytes))
        # a session of its own: Ctrl-C is for us, who may still ask; it ends when its input does
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env,
            start_new_session=True,
        )  # fmt: skip


def main(megabytes: int) -> None:
    """Such a process: each limit ends it, so that it outlives neither it nor whoever began it."""
    limit_memory(megabytes)
    asked = os.fdopen(0, "rb")
    while asked.peek(1):
        patience_s, function, given = pickle.load(asked)
        if ALARM:
            signal.setitimer(signal.ITIMER_REAL, patience_s)
        try:
            made = pickle.dumps((function(*given), None))
        except Exception as error:  # noqa: BLE001  (for whoever asked)
            made = pickle.dumps((None, error))
        if ALARM:
            signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdout.buffer.write(made)
        sys.stdout.buffer.flush()


def limit_memory(megabytes: int) -> None:
    """Of the data of this process, where the system can limit it: on Linux. macOS keeps no such limit, and may refuse
    it; Windows has none. What grows there without end is ended when its time is up."""
    try:
        import resource
    except ImportError:  # Windows has none
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = megabytes << 20 if hard == resource.RLIM_INFINITY else min(megabytes << 20, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def run(
    command: Sequence[str],
    given: bytes,
    patience_s: float,
    env: Mapping[str, str] | None = None,
    most: int = MOST_BYTES,
) -> tuple[int, bytes, bytes]:
    """Exit status (`KILLED` after too long a time), at most a byte over `most` of output, and complaints."""
    late = Event()
    with tempfile.TemporaryFile() as words, tempfile.TemporaryFile() as complaints:
        words.write(given)
        words.seek(0)
        with subprocess.Popen(command, stdin=words, stdout=subprocess.PIPE, stderr=complaints, env=env) as process:

            def stop() -> None:
                late.set()
                process.kill()

            clock = Timer(patience_s, stop)
            clock.start()
            try:
                made = process.stdout.read(most + 1) if process.stdout else b""
                if len(made) > most:
                    process.kill()
                code = process.wait()
            finally:
                clock.cancel()
        complaints.seek(0)
        return KILLED if late.is_set() else code, made, complaints.read(10_000)


if __name__ == "__main__":
    main(int(sys.argv[1]))
