"""The network between the app and its Postgres is cut, or goes silent, while people work."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Callable
from pathlib import Path

from db.connect import NOTICED, NOTICED_THERE, open_database
from tests.browser.conftest import Server
from tests.faults.crowd import a_study, at_work, prove
from tests.faults.own_postgres import OwnPostgres
from tests.faults.wire import Wire

DROPS = 2


def test_after_each_drop_of_the_line_to_postgres_the_app_goes_on_by_itself(
    own_postgres: OwnPostgres, wires: Callable[[int], Wire], draw: random.Random, tmp_path: Path
) -> None:
    wire = wires(own_postgres.port)
    server = Server(tmp_path, own_postgres.url.replace(f":{own_postgres.port}/", f":{wire.port}/"))
    server.start()
    study = a_study(server.engine)
    try:
        with at_work(server, study) as crowd:
            for break_it in draw.sample([wire.cut, wire.silence] * DROPS, 2 * DROPS):
                crowd.more(draw.randint(1, 40))
                break_it()
                time.sleep(draw.uniform(0.1, 1.5))  # how long it is broken
                wire.mend(forgotten=draw.random() < 0.5)
            crowd.more(20)
        assert crowd.tally.retries, "the drops were felt"
        prove(own_postgres.url, server.engine, study, crowd.tally, tmp_path)
    finally:
        server.stop()
        server.engine.dispose()


def test_a_line_that_went_silent_for_good_is_given_up_by_both_ends_within_half_a_minute(
    own_postgres: OwnPostgres,
) -> None:
    """A kernel that acknowledges what a proxy swallows cannot show it; what both ends were told to do can be read."""
    engine = open_database(own_postgres.url)
    with engine.connect() as connection:
        there = {name: connection.exec_driver_sql(f"SHOW {name}").scalar_one() for name in NOTICED_THERE}
        here = socket.socket(fileno=connection.connection.dbapi_connection.fileno())  # type: ignore[union-attr]
        options = {
            "keepalives_idle": socket.TCP_KEEPIDLE, "keepalives_interval": socket.TCP_KEEPINTVL,
            "keepalives_count": socket.TCP_KEEPCNT, "tcp_user_timeout": socket.TCP_USER_TIMEOUT,
        }  # fmt: skip
        found = {name: here.getsockopt(socket.IPPROTO_TCP, number) for name, number in options.items()}
        here.detach()
    engine.dispose()
    assert found == {name: NOTICED[name] for name in options}
    assert there == {
        "tcp_keepalives_idle": "15", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
        "tcp_user_timeout": "30000",
    }  # fmt: skip
    assert NOTICED["keepalives_idle"] + NOTICED["keepalives_interval"] * NOTICED["keepalives_count"] <= 30
