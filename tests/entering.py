"""Which files of the project a call really enters: files with a function that was called, not those that were imported."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
HOUSES = ("app", "annotation", "calibration", "calipers", "db", "exports", "plain")


@contextmanager
def entered() -> Iterator[set[str]]:
    """Paths from the project's root, filled as functions are called in any thread; modules' own lines do not count."""
    files: set[str] = set()
    known: dict[str, str] = {}

    def watch(frame: FrameType, event: str, given: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>":
            if code.co_filename not in known:
                known[code.co_filename] = _in_project(code.co_filename)
            files.add(known[code.co_filename])

    before = sys.getprofile()
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        yield files
    finally:
        sys.setprofile(before)
        threading.setprofile(before)
        files.discard("")


def _in_project(name: str) -> str:
    path = Path(name)
    inside = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in HOUSES
    return path.relative_to(ROOT).as_posix() if inside else ""
