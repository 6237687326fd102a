"""A program of its own on one document, which can neither run nor write without end."""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from threading import Event, Timer

MOST_BYTES = 12 << 20  # of a tree: some 300,000 words; as objects in Python it takes 25 times as much
KILLED = -9


def run(
    command: Sequence[str], given: bytes, patience_s: float, env: Mapping[str, str] | None = None
) -> tuple[int, bytes, bytes]:
    """Exit status (`KILLED` after too long a time), at most a byte over `MOST_BYTES` of output, and complaints."""
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
                made = process.stdout.read(MOST_BYTES + 1) if process.stdout else b""
                if len(made) > MOST_BYTES:
                    process.kill()
                code = process.wait()
            finally:
                clock.cancel()
        complaints.seek(0)
        return KILLED if late.is_set() else code, made, complaints.read(10_000)
