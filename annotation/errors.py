"""What this folder refuses with: a code for programs, a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SHOWN_PROBLEMS = 20


class AnnotationError(Exception):
    """Refused. `code` is stable (`not_found`, `forbidden`, `locked`, …); `text` says what, which one, what to do."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class Stale(AnnotationError):
    """The answer was changed somewhere else meanwhile; `current` is what stands, for the person to choose."""

    def __init__(self, current: Mapping[str, Any]) -> None:
        super().__init__("stale", "this answer was changed somewhere else meanwhile; choose which to keep")
        self.current = current


class Incomplete(AnnotationError):
    """A submit that was refused; `details` lists the criteria, for the page to go to."""

    def __init__(self, code: str, text: str, details: list[Any]) -> None:
        super().__init__(code, text)
        self.details = details


class ImportingError(Exception):
    """Nothing was imported. `problems` holds every reason as `path:line: what is wrong; what to do`."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        rest = len(self.problems) - SHOWN_PROBLEMS
        more = [f"and {rest} more (all of them with --json)"] if rest > 0 else []
        super().__init__("\n".join([*self.problems[:SHOWN_PROBLEMS], *more]))
