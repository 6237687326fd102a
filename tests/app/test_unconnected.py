"""The words in Streamlit's page: added once, in the browser's language, kept by its cache as long as they are the same."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from app.server.doors import ROOT, Unconnected

PAGE = {"Accept": "text/html,*/*;q=0.8"}
WORDS = "Still waiting for the server"


async def streamlit(_request: Request) -> Response:
    page = HTMLResponse(f"<body>{ROOT.decode()}</body>", headers={"ETag": '"theirs"', "Last-Modified": "today"})
    page.set_cookie("calipers", "renewed")
    return page


async def ours(_request: Request) -> Response:
    return HTMLResponse("<body>no such place</body>", headers={"ETag": '"ours"'})


def client() -> TestClient:
    app = Starlette(routes=[Route("/", streamlit), Route("/ours", ours)])
    app.add_middleware(Unconnected)
    return TestClient(app)


def test_a_page_holds_the_words_and_its_cookie_and_is_not_sent_twice() -> None:
    first = client().get("/", headers=PAGE)
    assert first.text.count(WORDS) == 1
    assert int(first.headers["content-length"]) == len(first.content)
    assert (first.headers["cache-control"], first.headers["vary"]) == ("no-cache", "Accept-Language")
    assert "calipers=renewed" in first.headers["set-cookie"]
    again = client().get("/", headers=PAGE | {"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "calipers=renewed" in again.headers["set-cookie"]
    assert client().get("/", headers=PAGE | {"If-None-Match": '"theirs"'}).status_code == 200


def test_what_is_no_page_of_streamlits_or_not_asked_for_as_a_page_is_left_alone() -> None:
    assert client().get("/ours", headers=PAGE).headers["etag"] == '"ours"'
    assert WORDS not in client().get("/", headers={"Accept": "*/*"}).text
    assert client().head("/", headers=PAGE).headers["etag"] == '"theirs"'
