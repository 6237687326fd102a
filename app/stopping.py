"""How a server ends on SIGTERM: /ready says so, requests in flight are finished, and it is over within ten seconds."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading

STOP_S = 9.0  # from the signal; what then still runs (an open connection that answers nothing) is cut
DRAIN_MOST_S = 5.0
_begun = threading.Event()
log = logging.getLogger("calipers")


def has_begun() -> bool:
    """Whether this process was told to end."""
    return _begun.is_set()


def stop_in_good_order(drain_s: float) -> None:
    """Call while the server starts: takes SIGTERM over from it, and hands it on after `drain_s` seconds (at most 5).

    In these seconds every request is served and /ready says `stopping`, for a load balancer that asks it. Does
    nothing where no server handles the signal, as under a test client.
    """
    usual = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        return
    loop = asyncio.get_running_loop()

    def begin() -> None:
        if _begun.is_set():
            return
        _begun.set()
        log.info("stopping")
        end = threading.Timer(STOP_S, _cut)
        end.daemon = True
        end.start()
        loop.call_later(min(drain_s, DRAIN_MOST_S), usual, signal.SIGTERM, None)

    loop.add_signal_handler(signal.SIGTERM, begin)


def _cut() -> None:
    # nothing that was acknowledged is lost: an acknowledgement follows COMMIT
    log.warning("stopped before everything was finished")
    os._exit(1)
