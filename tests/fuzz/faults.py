"""What went wrong in a thousand examples, told once for each way in which it did."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis.errors import HypothesisException

SHOWN = 3_000


class Faults:
    """Each kind of fault with the first example that led to it; a run goes on after one, so that all are seen."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[int, str]] = {}
        self.example: Any = None

    @contextmanager
    def of(self, example: Any) -> Iterator[None]:
        """Around one example: whatever it raises is a fault, known by its kind and place."""
        self.example = example
        try:
            yield
        except (Exception, SystemExit) as error:
            if isinstance(error, HypothesisException):
                raise
            frames = traceback.extract_tb(error.__traceback__)
            place = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames[-4:]))
            self._add(f"{type(error).__name__} at {place}", str(error))

    def note(self, problems: Sequence[str], said: Any) -> None:
        """What a check found wrong."""
        for problem in problems:
            self._add(re.sub(r"\d+", "0", problem)[:80], f"{problem}\n{said!r}")

    def _add(self, kind: str, told: str) -> None:
        times, first = self.found.get(kind, (0, ""))
        self.found[kind] = (times + 1, first or f"{told[:SHOWN]}\n{self.example!r:.{SHOWN}}")

    def said(self) -> str:
        """All of them; empty where there was none."""
        return "\n\n".join(f"{times} x {kind}\n{first}" for kind, (times, first) in self.found.items())
