"""Health and readiness: what a proxy, a supervisor and a load balancer ask, and how a process ends."""

from __future__ import annotations

import inspect
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotation.people.sign_ins import csrf_token
from app.commands.study.studies import serve
from app.server import routes as served
from app.server.routes import middleware, routes
from app.settings import Settings, database, server_options, settings
from db.connect import open_database
from tests.browser.conftest import Server

pytestmark = pytest.mark.slow

DRAIN_S = 2
HALVES = b'{"entries"', b": []}"


@pytest.fixture
def client(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """This process's own routes on a new database of each kind."""
    monkeypatch.setenv("CALIPERS_DATABASE_URL", database_url)
    settings.cache_clear()
    database.cache_clear()
    yield TestClient(Starlette(routes=routes, middleware=middleware))
    database().dispose()
    settings.cache_clear()
    database.cache_clear()


def said(client: TestClient, path: str) -> tuple[int, str]:
    reply = client.get(path)
    assert reply.headers["content-type"].startswith("text/plain")
    assert reply.headers["cache-control"] == "no-store"
    return reply.status_code, reply.text


def at_version(engine: Engine, version: str) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :version"), {"version": version})


def test_a_process_on_the_newest_schema_is_ready(client: TestClient) -> None:
    assert said(client, "/health") == (200, "ok")
    assert said(client, "/ready") == (200, "ready")


def test_an_older_or_empty_schema_is_not_ready_and_a_newer_one_is(client: TestClient, engine: Engine) -> None:
    at_version(engine, "0005")
    assert said(client, "/ready") == (503, "schema")
    at_version(engine, "9999")
    assert said(client, "/ready") == (200, "ready"), "old processes go on while new ones come up"
    with engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE alembic_version"))
    assert said(client, "/ready") == (503, "schema")


def test_a_process_that_was_told_to_end_is_alive_and_not_ready(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "has_begun", lambda: True)
    assert said(client, "/ready") == (503, "stopping")
    assert said(client, "/health") == (200, "ok")


@pytest.mark.parametrize("how", ["refuses", "is silent"])
def test_a_database_that_does_not_answer_is_one_word_and_soon(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(served, "WAIT_S", 0.3)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        if how == "is silent":
            silent.listen()
        away = open_database(f"postgresql://me:secret@127.0.0.1:{silent.getsockname()[1]}/none")
        monkeypatch.setattr(served, "database", lambda: away)
        started = time.monotonic()
        assert said(client, "/ready") == (503, "database")
        assert time.monotonic() - started < served.WAIT_S + 2
        assert said(client, "/health") == (200, "ok")


@pytest.fixture
def server(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Server]:
    shutil.copy(migrated_sqlite, tmp_path / "calipers.db")
    server = Server(tmp_path, settings={"CALIPERS_DRAIN_S": str(DRAIN_S)})
    server.start()
    yield server
    if server.process is not None and server.process.poll() is None:
        server.stop(signal.SIGKILL)
    server.engine.dispose()


@contextmanager
def half_sent(server: Server) -> Iterator[socket.socket]:
    """A POST that the server has begun to read; it lacks `HALVES[1]`."""
    cookie = "nobody"
    head = (
        f"POST /api/labels HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: {server.address}\r\nCookie: calipers={cookie}\r\n"
        f"X-Calipers-Token: {csrf_token(cookie)}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
        f"Content-Length: {len(b''.join(HALVES))}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100"), "asked for when the route reads the body"
        connection.sendall(HALVES[0])
        yield connection


def test_sigterm_is_said_while_everything_is_served_and_what_is_in_flight_is_answered(server: Server) -> None:
    with half_sent(server) as sending, told_to_end(server) as (process, since):
        while status(f"{server.address}/ready") != 503:
            assert since() < DRAIN_S
            time.sleep(0.05)
        assert status(f"{server.address}/health") == 200
        while status(f"{server.address}/health"):
            assert since() < 2 * DRAIN_S + 1, "new requests go to the other machines"
            time.sleep(0.05)
        assert process.poll() is None
        sending.sendall(HALVES[1])
        assert sending.recv(1_000).startswith(b"HTTP/1.1 401"), "read, looked up and answered"
        assert process.wait(timeout=5) == -signal.SIGTERM
        assert since() < 10


@contextmanager
def told_to_end(server: Server) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[], float]]]:
    """Its process, and the seconds since it was told."""
    assert server.process is not None
    server.process.send_signal(signal.SIGTERM)
    started = time.monotonic()
    yield server.process, lambda: time.monotonic() - started


def status(address: str) -> int:
    """0 where nobody listens."""
    try:
        with urllib.request.urlopen(address, timeout=30) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def test_a_server_listens_on_this_machine_only_unless_it_is_told_otherwise() -> None:
    assert inspect.signature(serve).parameters["address"].default.default == "127.0.0.1"
    for address in ("127.0.0.1", "10.0.0.5"):
        assert f"--server.address={address}" in server_options(Settings(), address)


def test_an_older_calipers_refuses_to_start_in_one_sentence(database_url: str, engine: Engine) -> None:
    at_version(engine, "9999")
    done = subprocess.run(
        [sys.executable, "-m", "app.command_line", "serve", "--port", "1"],
        env={"PATH": "", "CALIPERS_DATABASE_URL": database_url}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout == ""
    shown = engine.url.render_as_string()
    assert done.stderr == f"calipers: {shown}: made by a newer calipers; install that version\n"
