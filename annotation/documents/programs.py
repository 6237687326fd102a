"""A program of its own on one document, which can neither run nor write without end."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event, Timer

MOST_BYTES = 12 << 20  # of a tree: some 300,000 words; as objects in Python it takes 25 times as much
KILLED = -9
ROOT = Path(__file__).resolve().parents[2]


def run_module(
    name: str, given: bytes, patience_s: float, *arguments: str, most: int = MOST_BYTES
) -> tuple[int, bytes, bytes]:
    """One of our own modules as such a program."""
    # -P and our own path first: the current folder may hold an annotation/ or a resource.py of somebody else
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))}
    return run([sys.executable, "-P", "-m", name, *arguments], given, patience_s, env, most)


def limit_memory(megabytes: int) -> None:
    """Of the data of this process, where the system can limit it."""
    try:
        import resource
    except ImportError:  # Windows has none
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = megabytes << 20 if hard == resource.RLIM_INFINITY else min(megabytes << 20, hard)
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
