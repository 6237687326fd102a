"""The one error of this folder: a code for programs, a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


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
