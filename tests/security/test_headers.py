"""Every response of every kind carries every header: ours, Streamlit's, files, refusals, faults, websockets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient
from websockets.exceptions import InvalidStatus

from app.server import api
from app.server.headers import SecurityHeaders, headers_for
from app.settings import settings
from db.errors import DatabaseError, DiskFull
from tests.app.visiting import Site
from tests.security.raw import SOCKET, ask, socket

HEADERS = tuple(headers_for("/"))
# (method, path, expected statuses)
REPLIES = [
    ("GET", "/", {200}), ("GET", "/my_work", {200}), ("GET", "/no/such/page", {200, 404}), ("GET", "/index.html", {200}),
    ("GET", "/favicon.png", {200}), ("GET", "/static/js/none.js", {200, 404}), ("POST", "/", {405}), ("DELETE", "/", {405}),
    ("GET", "/_stcore/health", {200}), ("OPTIONS", "/_stcore/health", {204}), ("GET", "/_stcore/host-config", {200}),
    ("GET", "/_stcore/metrics", {404}), ("GET", "/_stcore/stream", {404, 400, 426, 200}), ("GET", "/health", {200}),
    ("GET", "/ready", {200}), ("GET", "/metrics", {404}), ("GET", "/invite/unknown", {404, 429}), ("POST", "/invite/unknown", {403}),
    ("PUT", "/invite/unknown", {405}), ("GET", "/api/assignment/x", {401}), ("GET", "/api/history/x", {401}),
    ("GET", "/api/earlier/x/y", {401}), ("GET", "/api/figure/x/y", {401}),
    ("POST", "/api/labels", {401}), ("GET", "/api/labels", {200, 405}), ("POST", "/api/submit", {401}), ("POST", "/api/logout", {401}),
    ("GET", "/media/none.png", {404}), ("PUT", "/_stcore/upload_file/a/b", {404}), ("GET", "/component/x/y", {404}),
    ("GET", "/static/../../secret", {200, 400, 404}), ("GET", "//evil.test/%2e%2e", {400}), ("GET", "/static/%2e%2e/x", {400}),
    ("GET", "/my_work/", {301}), ("GET", "/" + "x" * 3000, {200, 404}),
]  # fmt: skip


def whole(headers: Any) -> dict[str, list[str]]:
    return {name: headers.get_all(name) or [] for name in HEADERS}


@pytest.mark.parametrize(("method", "path", "statuses"), REPLIES)
def test_every_reply_of_the_server_carries_every_header_once(
    server: Any, method: str, path: str, statuses: set[int]
) -> None:
    reply = ask(server, method, path)
    assert reply.status in statuses
    values = whole(reply.headers)
    assert {name: len(found) for name, found in values.items()} == dict.fromkeys(HEADERS, 1)
    assert values["X-Content-Type-Options"] == ["nosniff"]
    assert "unsafe-eval" not in values["Content-Security-Policy"][0]
    assert reply.headers.get("Access-Control-Allow-Origin") in (None, server.address)
    if path.startswith(("/api/", "/invite/", "/media/", "/metrics")):
        assert reply.headers.get_all("Cache-Control") == ["private, no-store"]


@pytest.mark.parametrize(("path", "origin"), [(SOCKET, "http://evil.test"), ("/_stcore/other", None), ("/", None)])
def test_the_refusal_of_a_websocket_carries_them_too(server: Any, path: str, origin: str | None) -> None:
    with pytest.raises(InvalidStatus) as refused:
        socket(server, path=path, origin=origin)
    assert refused.value.response.status_code == 403
    assert {name for name in HEADERS if refused.value.response.headers.get(name)} == set(HEADERS)


@pytest.mark.parametrize("error", [RuntimeError("a detail"), DatabaseError("file:x: gone"), DiskFull("x: full")])
@pytest.mark.parametrize("path", ["/api/assignment/x", "/invite/x"])
def test_a_fault_carries_them_although_it_is_told_outside_of_every_middleware(
    site: Site, monkeypatch: pytest.MonkeyPatch, error: Exception, path: str
) -> None:
    def break_down(*_: Any, **__: Any) -> None:
        raise error

    client = site.signed_in()
    monkeypatch.setattr(api, "assignment_page", break_down)
    monkeypatch.setattr(api, "sign_in", break_down)
    reply = client.get(path)
    assert reply.status_code == 503
    assert {name: reply.headers[name] for name in HEADERS} == {name: headers_for(path)[name] for name in HEADERS}
    assert reply.headers["Cache-Control"] == "private, no-store"
    assert "a detail" not in reply.text


def test_behind_https_every_cookie_is_secure_also_streamlits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPERS_BASE_URL", "https://lab.test")
    settings.cache_clear()

    async def two_cookies(scope: Any, receive: Any, send: Any) -> None:
        lines = [(b"set-cookie", b"_streamlit_xsrf=1; Path=/"), (b"set-cookie", api.cookie_header("x").encode())]
        await send({"type": "http.response.start", "status": 200, "headers": lines})
        await send({"type": "http.response.body", "body": b""})

    reply = TestClient(SecurityHeaders(two_cookies)).get("/")
    cookies = reply.headers.get_list("set-cookie")
    assert [one.lower().count("; secure") for one in cookies] == [1, 1]
    assert all(flag in cookies[1] for flag in ("HttpOnly", "SameSite=lax", "Path=/"))
    settings.cache_clear()


def test_what_the_page_tells_of_the_server_is_little(server: Any) -> None:
    told = json.loads(ask(server, "GET", "/_stcore/host-config").body)
    assert told.get("useExternalAuthToken") is False
    assert ask(server, "GET", "/invite/unknown").headers.get("Server") in (None, "uvicorn")
