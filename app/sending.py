"""Replies leave at once: Streamlit's socket holds the second half of each back until the first is acknowledged."""

from __future__ import annotations

import os
import socket
from pathlib import Path

OPEN_FILES = Path("/dev/fd")


def send_at_once() -> None:
    """Turn Nagle's algorithm off on every TCP socket of this process; the sockets it accepts inherit that.

    asyncio does so only for sockets made with IPPROTO_TCP, and Streamlit 1.67 makes the one it listens on without. The
    body of each reply then waits 40 ms for the acknowledgement of its head. Nothing is changed where a process cannot
    list its open files (Windows).
    """
    for number in os.listdir(OPEN_FILES) if OPEN_FILES.is_dir() else ():
        try:
            one = socket.socket(fileno=int(number))
        except OSError:
            continue  # a file, a pipe, or the listing itself, closed by now
        if one.family in (socket.AF_INET, socket.AF_INET6) and one.type == socket.SOCK_STREAM:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        one.detach()  # ours to set, not to close
