"""Replies leave at once: no accepted connection holds back the second half of a reply."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from app.main import send_at_once


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_connections_accepted_later_do_not_wait(family: socket.AddressFamily, tmp_path: Path) -> None:
    with socket.socket(family) as listening, (tmp_path / "open").open("w") as file:  # proto 0, as Streamlit makes it
        listening.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        send_at_once()
        listening.listen()
        with socket.create_connection(listening.getsockname()[:2]), listening.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        file.write("still open")
    assert (tmp_path / "open").read_text() == "still open"
