"""A process that is told to end while a client holds it up."""

from __future__ import annotations

from app.server.routes import STOP_S
from tests.browser.conftest import Server
from tests.machines import test_health as ending

server = ending.server


def test_a_client_that_never_finishes_does_not_keep_a_process_from_ending(server: Server) -> None:
    with ending.half_sent(server), ending.told_to_end(server) as (process, since):
        assert process.wait(timeout=15) == 1
        assert STOP_S <= since() < 10.5
    assert '"stopped before everything was finished"' in server.log.read_text()
