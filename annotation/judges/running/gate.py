"""When a judge may send: its limits, and the pauses its provider asks for."""

import random
import time
from collections.abc import Callable, Hashable

GIVE_UP_S = 15 * 60.0  # of 429s without a success
FAILED = ("server_error", "dropped", "timeout")
FAILURES_IN_A_ROW, FAILURE_PAUSE_S = 20, 60.0
OWN_PAUSE_S = 2.0  # of somebody's own code, which no pause spares
HOPELESS = 12  # failures alike, and nothing else, after which own code is not asked on: three rounds of four processes
LONGEST_PAUSE_S = 60.0
AGAIN = 2.0  # times as fast as a limit lets calls through, until its next 429: at half of that they would wait in vain
ALIKE = 0.25  # share by which two rates may differ that one limit has let through; what comes by chance differs by more
FORGOTTEN_S = 60.0  # since the last 429
APART_S = 0.004  # the first calls: sent at once they are answered at once, and each burst waits for one processor


class Gate:
    """One judge's brake in one process. Seconds throughout; `clock` is monotonic."""

    def __init__(
        self,
        rpm: float | None = None,
        tpm: float | None = None,
        *,
        is_code: bool = False,
        has_answered: bool = False,
        clock: Callable[[], float] = time.monotonic,
        luck: Callable[[], float] = random.random,
    ) -> None:
        self._rpm, self._tpm, self._clock, self._luck = rpm, tpm, clock, luck
        self._next_start = self._paused_until = clock()
        self._pauses = self._failures = 0
        self._alike = set[Hashable]()
        self._is_code, self._has_answered = is_code, has_answered
        self.why = ""  # of the last failure, while nothing has succeeded since
        self._limited_since: float | None = None
        self._answered = False
        self._counted_from, self._let_through = clock(), 0  # since the last 429 that began a pause
        self._rate = self._apart_s = 0.0
        self.workers = 1  # processes that share the limits

    def wait_s(self) -> float:
        """How long until the next call may start; 0 when it may now."""
        return max(0.0, max(self._next_start, self._paused_until) - self._clock())

    def paused_s(self) -> float:
        """How much of a pause is left."""
        return max(0.0, self._paused_until - self._clock())

    def started(self, tokens: float) -> None:
        """A call of about `tokens` tokens went out; the next one keeps its distance."""
        gap = max(60 / self._rpm if self._rpm else 0.0, 60 * tokens / self._tpm if self._tpm else 0.0)
        now = self._clock()
        apart = 0.0 if self._answered else APART_S
        if now - self._counted_from < FORGOTTEN_S:
            apart = max(apart, self._apart_s)
        self._next_start = max(now, self._next_start) + max(self.workers * gap, apart)
        self._let_through += 1

    def succeeded(self) -> None:
        self._pauses = self._failures = 0
        self.why = ""
        self._limited_since = None
        self._answered = self._has_answered = True

    def limited(self, retry_after_s: float | None) -> None:
        """A 429: nobody sends until Retry-After is over, else for 1, 2, 4 … 60 s with jitter.

        Where as many calls were let through a second as before, it is a limit: from then on they keep a distance, lest
        all that waited is sent at once, and more of it than the limit lets through.
        """
        now, self.why = self._clock(), "429"
        self._let_through -= 1
        if now >= self._paused_until:
            before, self._rate = self._rate, self._let_through / max(1e-9, now - self._counted_from)
            is_limit = abs(self._rate - before) < ALIKE * before
            self._apart_s = 1 / (AGAIN * self._rate) if is_limit else 0.0
            self._counted_from, self._let_through = now, 0
        if self._limited_since is None:
            self._limited_since = now
        if retry_after_s is not None:
            self.pause_until(now + retry_after_s)
        elif now >= self._paused_until:  # the others of the same burst do not lengthen the pause
            self._pauses += 1
            self.pause_until(now + min(LONGEST_PAUSE_S, 2.0 ** (self._pauses - 1)) * (0.5 + self._luck() / 2))

    def failed(self, outcome: str, why: str, judged: Hashable = None) -> str:
        """A 5xx, a refused or broken connection, a timeout; of own code an error, too. Twenty in a row pause the judge.

        Returns why the judge should stop, of own code that has failed and failed alike and never answered; else "".
        Errors about the same `judged` are one there. Any other outcome is of its call alone.
        """
        if outcome not in FAILED and not (self._is_code and outcome == "bad_request"):
            return ""
        self._failures += 1
        if why != self.why:
            self._alike.clear()
        self._alike.add(judged if outcome == "bad_request" else self._failures)
        self.why = why
        if self._failures % FAILURES_IN_A_ROW == 0:
            self.pause_until(self._clock() + (OWN_PAUSE_S if self._is_code else FAILURE_PAUSE_S))
        is_hopeless = self._is_code and not self._has_answered and len(self._alike) >= HOPELESS
        return f"its code failed {len(self._alike)} times alike and never answered: {why}" if is_hopeless else ""

    def pause_until(self, at: float) -> None:
        self._paused_until = max(self._paused_until, at)

    def gave_up(self) -> bool:
        """429s and nothing else for 15 minutes."""
        return self._limited_since is not None and self._clock() - self._limited_since > GIVE_UP_S
