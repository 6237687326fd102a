"""How far the event loop of this process is behind with its work."""

import asyncio

BEAT_S = 0.02


class Pulse:
    """A beat every 20 ms; `behind_s` is how late the last one came, or how late the next one is by now. Seconds."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._late, self._due = 0.0, self._loop.time() + BEAT_S
        self._next = self._loop.call_at(self._due, self._beat)

    def behind_s(self) -> float:
        return max(self._late, self._loop.time() - self._due)

    def close(self) -> None:
        self._next.cancel()

    def _beat(self) -> None:
        at = self._loop.time()
        self._late, self._due = at - self._due, at + BEAT_S
        self._next = self._loop.call_at(self._due, self._beat)
