"""docs/deployment/nginx.conf, as a real nginx reads it, before two stand-ins that say who they are.

Before two processes of ours on one Postgres: tests/faults/test_nginx.py.
"""

from __future__ import annotations

import http.client
import json
import ssl
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.machines.proxy import Proxy, free_port, site_before, with_tls, without_tls

pytestmark = pytest.mark.nginx


class StandIn(ThreadingHTTPServer):
    """Answers everything with its own port and what it was told of the client; keeps no connection open."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def end(self) -> None:
        self.shutdown()
        self.server_close()


class Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        said = {"port": self.server.server_address[1], "from": self.headers.get_all("X-Forwarded-For")}
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: what is written is nginx's business."""


@pytest.fixture
def stand_ins() -> Iterator[list[StandIn]]:
    two = [StandIn(), StandIn()]
    yield two
    for one in two:
        one.end()


def asked(port: int, path: str, cookie: str = "", **headers: str) -> tuple[int, bytes]:
    """Status and body of one request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers=headers | ({"Cookie": f"calipers={cookie}"} if cookie else {}))
    reply = connection.getresponse()
    found = reply.status, reply.read()
    connection.close()
    return found


def test_everybody_stays_with_one_process_nothing_of_the_owners_is_there_and_no_invitation_is_logged(
    stand_ins: list[StandIn], tmp_path: Path
) -> None:
    port, ports = free_port(), [one.server_address[1] for one in stand_ins]
    proxy = Proxy(tmp_path, without_tls(site_before(ports, tmp_path), port))
    proxy.start()
    people = [f"cookie-{number}" for number in range(64)]
    at = [{json.loads(asked(port, "/", cookie)[1])["port"] for _ in range(3)} for cookie in people]
    assert {len(found) for found in at} == {1}, "never two processes for one person"
    shares = Counter(found.pop() for found in at)
    assert sorted(shares) == sorted(ports)
    assert min(shares.values()) >= 10, shares
    assert json.loads(asked(port, "/", **{"X-Forwarded-For": "10.1.2.3"})[1])["from"] == ["127.0.0.1"]
    assert [asked(port, path)[0] for path in ("/metrics", "/_stcore/metrics")] == [404, 404]
    assert asked(port, "/invite/zsecret?participant=worker-77")[0] == 200
    stand_ins[0].end()
    assert {json.loads(asked(port, "/", cookie)[1])["port"] for cookie in people[:8]} == {ports[1]}
    stand_ins[1].end()
    assert asked(port, "/invite/zsecret?participant=worker-77")[0] == 502
    assert asked(port, "/health")[0] == 502
    proxy.stop()
    written = {path.name: path.read_text() for path in tmp_path.rglob("*.log")}
    assert "while connecting to upstream" in written["calipers-error.log"]
    assert [name for name, text in written.items() if "zsecret" in text or "worker-77" in text] == []
    processes = [json.loads(line)["process"] for line in written["calipers.log"].splitlines()]
    assert processes.count("") == 2, "for what is the owner's no process was asked"


def test_the_file_as_it_stands_is_valid_and_serves_tls(stand_ins: list[StandIn], tmp_path: Path) -> None:
    """Only ports, folders and the two certificate lines differ from what a user gets."""
    redirecting, secure = free_port(), free_port()
    site = site_before([one.server_address[1] for one in stand_ins], tmp_path)
    proxy = Proxy(tmp_path, with_tls(site, tmp_path, redirecting, secure))
    checked = subprocess.run([*proxy.command, "-t"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert "[warn]" not in checked.stderr
    proxy.start()
    trusting = ssl.create_default_context(cafile=tmp_path / "fullchain.pem")
    closed = http.client.HTTPSConnection("localhost", secure, context=trusting)
    closed.request("GET", "/health")
    reply = closed.getresponse()
    assert (reply.status, reply.headers["Strict-Transport-Security"]) == (200, "max-age=31536000")
    closed.close()
    plain = http.client.HTTPConnection("127.0.0.1", redirecting)
    plain.request("GET", "/invite/x?participant=1", headers={"Host": "localhost"})
    moved = plain.getresponse()
    assert (moved.status, moved.headers["Location"]) == (308, "https://localhost/invite/x?participant=1")
    plain.close()
    proxy.stop()
    assert "invite" not in (tmp_path / "default.log").read_text(), "the distribution's own log, where no other is named"
