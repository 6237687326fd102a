"""A lock that goes to whoever came first. Python's own goes to whoever is quickest, so some wait for ever."""

from __future__ import annotations

import threading
from collections import deque


class Turns:
    """`acquire` and `release` as of a `threading.Lock`, first come, first served."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, timeout: float) -> bool:
        """Whether the turn came within `timeout` seconds; then it is held until `release`."""
        with self._guard:
            if not self._held:
                self._held = True
                return True
            mine = threading.Event()
            self._waiting.append(mine)
        if mine.wait(timeout):
            return True
        with self._guard:
            if mine.is_set():
                return True  # handed over in this very moment
            self._waiting.remove(mine)
            return False

    def release(self) -> None:
        """Hand the turn to whoever waits longest."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._held = False
