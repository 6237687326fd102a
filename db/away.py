"""Wait for a database that is away for a moment: Postgres was started again, or the line to it broke."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial, wraps
from typing import ParamSpec, TypeVar

from db.errors import DatabaseAway

AWAY_S = 120.0  # away for longer, and somebody has to look
FIRST_S, LAST_S = 0.1, 2.0  # between two tries
P = ParamSpec("P")
T = TypeVar("T")


def patient(act: Callable[P, T]) -> Callable[P, T]:
    """The same function, done anew while the database cannot be reached. It raises DatabaseAway after AWAY_S.

    The connection may have broken after COMMIT, so `act` must do no harm when it is done twice.
    """

    @wraps(act)
    def until_reachable(*args: P.args, **kwargs: P.kwargs) -> T:
        return _repeated(partial(act, *args, **kwargs))

    return until_reachable


def _repeated(act: Callable[[], T]) -> T:
    ends, wait = time.monotonic() + AWAY_S, FIRST_S
    while True:
        try:
            return act()
        except DatabaseAway:
            if time.monotonic() + wait > ends:
                raise
        time.sleep(wait)
        wait = min(LAST_S, 2 * wait)
