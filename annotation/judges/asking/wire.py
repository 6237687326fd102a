"""The moment a request leaves this process: told to whoever keeps a journal of what may have been paid for."""

from collections.abc import Callable
from contextvars import ContextVar


def _nobody() -> None:
    """Nobody keeps a journal of this request."""


LEAVES: ContextVar[Callable[[], None]] = ContextVar("LEAVES", default=_nobody)  # may be called more than once


def leaves() -> None:
    """The request of this task is on its way, or may be from now on."""
    LEAVES.get()()
