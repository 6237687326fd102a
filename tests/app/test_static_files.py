"""Files that browsers keep: by a name that says what is in them, compressed, and nothing else compressed with them."""

from __future__ import annotations

import gzip
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.file_util import get_static_dir

from annotation.people.sign_ins import csrf_token
from app import component
from app.component.files import ComponentFile
from app.server.routes import middleware, routes
from app.texts import as_json
from tests.app.visiting import Site, first_page, post

SCRIPT = next(Path(get_static_dir()).glob("static/js/protobuf.*.js"))
ADDRESS = f"/page/{component.ANNOTATE.file_name}"


@pytest.fixture
def visitor() -> TestClient:
    rest = Route("/{path:path}", lambda _: PlainTextResponse("as Streamlit serves it"))
    return TestClient(Starlette(routes=[*routes, rest], middleware=middleware))


def test_what_travels_with_every_page_is_the_address_of_a_file_that_is_named_by_what_it_holds() -> None:
    for one in (component.ANNOTATE, component.SIGN_OUT):
        assert one.loader.count(one.address) == 1
        assert len(one.loader) < 2_000
    names = {ComponentFile("a", *held).file_name for held in (("x", ""), ("y", ""), ("x", "y"))}
    assert len(names) == 3, "other content has another name"


def test_a_components_file_is_kept_for_good_and_asked_for_by_who_has_it_sends_nothing(visitor: TestClient) -> None:
    reply = visitor.get(ADDRESS)
    assert reply.headers["cache-control"] == "public, immutable, max-age=31536000"
    assert reply.headers["content-encoding"] == "gzip"
    assert reply.headers["vary"] == "Accept-Encoding"
    assert reply.content == component.ANNOTATE.module
    plain = visitor.get(ADDRESS, headers={"Accept-Encoding": "identity"})
    assert plain.content == component.ANNOTATE.module
    assert "content-encoding" not in plain.headers
    again = visitor.get(ADDRESS, headers={"If-None-Match": reply.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_words_of_a_language_are_a_file_of_its_own_and_no_component_grows_with_their_number(
    visitor: TestClient,
) -> None:
    for one in (component.ANNOTATE, component.SIGN_OUT):
        assert one.script.partition("\n")[0] == f"const TEXTS = {as_json('en')};"
    assert component.with_words({"language": "en-GB"}) == {"language": "en-GB"}
    for tag in ("zh-CN", "de", "ar-EG"):
        reply = visitor.get(component.with_words({"language": tag})["words"])
        assert reply.headers["cache-control"] == "public, immutable, max-age=31536000"
        assert reply.text == f"export default {as_json(tag[:2])};\n"


def test_by_an_outdated_name_comes_the_file_of_today_and_nobody_keeps_it(visitor: TestClient) -> None:
    reply = visitor.get("/page/annotate.0123456789abcdef0123.js")
    assert (reply.content, reply.headers["cache-control"]) == (component.ANNOTATE.module, "no-store")
    for unknown in ("/page/other.0123.js", "/page/annotate.css", "/page/annotate"):
        assert visitor.get(unknown).status_code == 404


def test_streamlits_scripts_are_compressed_for_who_takes_them_so(visitor: TestClient) -> None:
    address = f"/static/js/{SCRIPT.name}"
    reply = visitor.get(address)
    assert reply.content == SCRIPT.read_bytes()
    assert int(reply.headers["content-length"]) == len(gzip.compress(SCRIPT.read_bytes(), 9))
    assert reply.headers["content-type"].startswith("text/javascript")
    assert reply.headers["cache-control"].startswith("public, immutable")


@pytest.mark.parametrize(
    ("asked", "headers"),
    [
        (f"/static/js/{SCRIPT.name}", {"Accept-Encoding": "identity"}),
        (f"/static/js/{SCRIPT.name}", {"Range": "bytes=0-9"}),
        ("/static/js/no_such.js", {}),
        ("/static/js/..%2f..%2findex.html", {}),
        ("/static/js/../../../file_util.js", {}),
        ("/my_work", {}),
        ("/media/results.csv", {}),
    ],
)
def test_all_else_is_left_to_streamlit_as_it_is(visitor: TestClient, asked: str, headers: dict[str, str]) -> None:
    reply = visitor.get(asked, headers=headers)
    assert "content-encoding" not in reply.headers
    assert reply.text in ("as Streamlit serves it", "not found")


def test_what_stands_around_the_routes_lets_the_server_begin_and_end() -> None:
    begun = []

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        begun.append(True)
        yield
        begun.append(False)

    with TestClient(Starlette(routes=routes, middleware=middleware, lifespan=lifespan)):
        assert begun == [True], "Streamlit goes on without what stands there, and says so in the log only"
    assert begun == [True, False]


def test_no_reply_that_is_compressed_holds_the_token_of_a_page(site: Site) -> None:
    client = site.signed_in()
    secrets = {client.cookies["calipers"], csrf_token(client.cookies["calipers"])}
    page = first_page(client)
    replies = [client.get(f"/api/{what}/{page['aid']}") for what in ("assignment", "history")]
    replies += [post(client, "/api/take", {}), post(client, "/api/labels", {"entries": []}), client.get(ADDRESS)]
    assert {reply.status_code for reply in replies} == {200}
    assert not any(secret in reply.text for reply in replies for secret in secrets)


def test_no_shorthand_of_the_annotators_page_tells_left_from_right() -> None:
    """Such a side stays where it is when the page runs from right to left."""
    four = re.compile(r"(?<![-\w])(?:padding|margin|inset|border-radius): [^\s;()]+ ([^\s;()]+) [^\s;()]+ ([^\s;()]+)")
    sheets = Path(component.__file__).parent.glob("*.css")
    found = [(one.name, rule) for one in sheets for rule in four.finditer(one.read_text("utf-8"))]
    assert four.search("a { padding: 1px 2px 3px 4px }")
    assert [(name, rule[0]) for name, rule in found if rule[1] != rule[2]] == []
