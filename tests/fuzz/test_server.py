"""A real `calipers serve` bears what no browser sends: to Streamlit's own routes and sockets as much as to ours."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from annotation.people.sign_ins import csrf_token
from tests.browser.conftest import Server
from tests.fuzz.faults import Faults
from tests.fuzz.hostile import TEXTS, fuzzing, mutated, spoiled, written
from tests.fuzz.stored import everything, fingerprint, wrong
from tests.small_study import make_study

pytestmark = pytest.mark.slow

PATHS = (
    "/", "/?page=../..", "/_stcore/health", "/_stcore/host-config", "/_stcore/stream", "/_stcore/metrics",
    "/_stcore/script-health-check", "/_stcore/allowed-message-origins", "/_stcore/upload_file/{}/{}", "/media/{}", "/media/{}.html",
    "/component/{}/index.html", "/component/app.component.annotate/{}", "/_stcore/bidi-components/{}/{}", "/bidi-components/{}/{}",
    "/app/static/{}", "/static/{}", "/static/js/{}", "/healthz", "/vendor/{}", "/{}", "/invite/{}", "/api/{}", "/api/assignment/{}",
    "/metrics", "/health", "/ready", "/manifest.json", "/favicon.png", "/.git/config", "/.env", "/calipers.db", "/oauth2callback?code={}",
)  # fmt: skip
STEPS = (*(text for text in TEXTS if "\ud800" not in text and "\udfff" not in text and len(text) < 400), "../../../../etc/passwd", "..%2f..%2f..%2fetc%2fpasswd", "....//", "%2e%2e/%2e%2e/app/main.py", "..\\..\\x", "shell.py")  # fmt: skip
METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "BREW")
HEADERS = ("Origin", "Cookie", "Content-Type", "X-Xsrftoken", "Accept-Encoding", "Range", "If-None-Match", "Upgrade", "X-Forwarded-For", "Authorization", "Accept-Language", "X-Calipers-Token")  # fmt: skip
GIVES_AWAY = (b"Traceback", b"root:x:0", b"SQLite format", b"import streamlit", b"site-packages")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """The server, and the cookie of somebody who annotates there."""
    server = Server(tmp_path_factory.mktemp("fuzzed"))
    study = make_study(server.engine, tmp_path_factory.mktemp("made"))
    link = server.link(study, "Ada")
    server.start()
    reply = asked(server, "GET", link.removeprefix(server.address), b"", {})
    yield server, reply[2]["set-cookie"].split("=", 1)[1].split(";")[0]
    server.stop()
    server.engine.dispose()


def asked(server: Server, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes, Any]:
    """One request, its path sent as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.putrequest(method, path, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(
            name, value.encode("utf-8", "replace").replace(b"\n", b" ").replace(b"\r", b" ").replace(b"\0", b"")
        )
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    return reply.status, content, reply.headers


def logged(server: Server) -> str:
    return server.log.read_text(errors="replace")


def test_no_path_method_header_or_body_makes_the_server_fail_or_give_away_a_file(served: tuple[Server, str]) -> None:
    server, cookie = served
    faults, before = Faults(), fingerprint(everything(server.engine))

    @fuzzing(120)
    @given(st.data())
    def ask(data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(PATHS))
        while "{}" in path:
            step = data.draw(st.sampled_from(STEPS))
            raw = data.draw(st.booleans()) and step.isascii() and step.isprintable() and " " not in step
            path = path.replace("{}", step if raw else quote(step.encode("utf-8", "replace"), safe=""), 1)
        headers = (
            {"Cookie": f"calipers={cookie}", "X-Calipers-Token": csrf_token(cookie)} if data.draw(st.booleans()) else {}
        )
        headers |= data.draw(st.dictionaries(st.sampled_from(HEADERS), st.sampled_from(TEXTS), max_size=2))
        method = data.draw(st.sampled_from(METHODS))
        with faults.of((method, path, headers)):
            status, content, told = asked(server, method, path, data.draw(st.binary(max_size=200)), headers)
            faults.note([f"{status}"] if status >= 500 else [], content[:300])
            faults.note(
                [f"{mark!r} in a reply" for mark in GIVES_AWAY if mark in content and method != "TRACE"], content[:300]
            )
            faults.note(
                [] if told["x-content-type-options"] == "nosniff" or status == 400 else ["no nosniff"], dict(told)
            )

    ask()
    assert faults.said() == ""
    assert "Traceback" not in logged(server), logged(server)[-3_000:]
    assert fingerprint(everything(server.engine)) == before or wrong(server.engine) == []


@st.composite
def frames(draw: st.DrawFn) -> bytes | str:
    """What a socket may carry: Streamlit's protobuf spoiled, JSON, noise."""
    from streamlit.proto.BackMsg_pb2 import BackMsg

    sound = BackMsg()
    sound.rerun_script.query_string = draw(
        st.sampled_from([text.encode("utf-8", "replace").decode() for text in TEXTS])
    )
    sound.rerun_script.page_script_hash = draw(st.sampled_from(("", "x", "../../etc/passwd", "0" * 32)))
    state = sound.rerun_script.widget_states.widgets.add()
    state.id, state.json_value = (
        "$$ID-x-annotate",
        written(draw(mutated({"aid": "x", "events": [{"kind": "label"}]})))[:4_000],
    )
    how = draw(st.sampled_from(("sound", "spoiled", "noise", "text")))
    if how == "sound":
        return bytes(sound.SerializeToString())
    if how == "spoiled":
        return draw(spoiled(sound.SerializeToString()))
    return draw(st.binary(max_size=300)) if how == "noise" else draw(st.sampled_from(("", "{}", "ping", "\x1b[31m")))


def test_no_handshake_and_no_frame_brings_the_server_down(served: tuple[Server, str]) -> None:
    server, cookie = served
    faults = Faults()

    @fuzzing(20, 0.5)
    @given(st.data())
    def shake_hands(data: st.DataObject) -> None:
        headers = {
            "Cookie": f"calipers={cookie}" if data.draw(st.booleans()) else "calipers=made-up",
            "Origin": server.address,
        }
        names = st.sampled_from(("Origin", "Cookie", "X-Forwarded-For", "Sec-WebSocket-Protocol"))
        plain = [text for text in TEXTS if text.isascii() and text.isprintable() and len(text) < 400]
        headers |= data.draw(st.one_of(st.just({}), st.dictionaries(names, st.sampled_from(plain), max_size=1)))
        sent = data.draw(st.lists(frames(), max_size=3))
        with faults.of((headers, sent)):
            try:
                with connect(
                    server.address.replace("http", "ws", 1) + "/_stcore/stream",
                    additional_headers=headers,
                    open_timeout=20,
                    close_timeout=1,
                ) as door:
                    for frame in sent:
                        door.send(frame)
            except (WebSocketException, OSError):
                pass  # refused, or hung up on: as it may
            status, content, _ = asked(server, "GET", "/_stcore/health", b"", {})
            faults.note([] if (status, content) == (200, b"ok") else ["the server is not well"], (status, content))

    shake_hands()
    assert faults.said() == ""
    assert wrong(server.engine) == []


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/9.9\r\n\r\n", b"\0\0\0\0\r\n\r\n", b"GET " + b"/x" * 60_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST /api/labels HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00",
        b"POST /api/labels HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X-A: b\r\n" * 20_000 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", b"GET http://evil.example/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    ],
)  # fmt: skip
def test_bytes_that_are_no_request_get_no_fault(served: tuple[Server, str], raw: bytes) -> None:
    server, _ = served
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as line:
        reply = b""
        try:
            line.sendall(raw)
            line.shutdown(socket.SHUT_WR)
            while chunk := line.recv(65_536):
                reply += chunk
        except OSError:
            pass  # hung up on
    assert not reply.startswith(b"HTTP/1.1 5"), reply[:300]
    assert not any(mark in reply for mark in GIVES_AWAY)
    assert asked(server, "GET", "/_stcore/health", b"", {})[:2] == (200, b"ok")
    assert "Traceback" not in logged(server), logged(server)[-2_000:]
