"""The server as `calipers serve` starts it, wherever it is started from."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect


@pytest.mark.parametrize(("host", "allowed"), [("127.0.0.1", True), ("evil.test", False)])
def test_only_the_names_it_is_known_by_get_an_answer(server: Any, host: str, allowed: bool) -> None:
    def shake_hands() -> None:
        line = socket.create_connection(("127.0.0.1", server.port))
        with connect(f"ws://{host}:{server.port}/_stcore/stream", sock=line, origin=f"http://{host}:{server.port}"):  # type: ignore[arg-type]
            pass

    if allowed:
        shake_hands()
    else:
        with pytest.raises(InvalidStatus, match="403"):
            shake_hands()


def test_a_forwarded_address_is_not_believed(server: Any) -> None:
    def status(number: int) -> int:
        request = urllib.request.Request(
            f"{server.address}/invite/guess{number}", headers={"X-Forwarded-For": f"203.0.113.{number}"}
        )
        try:
            with urllib.request.urlopen(request) as reply:
                return int(reply.status)
        except urllib.error.HTTPError as error:
            return error.code

    statuses = [status(number) for number in range(11)]  # others may have tried before, from the same address
    assert statuses == sorted(statuses)
    assert (set(statuses) | {404}, statuses[-1]) == ({404, 429}, 429)
