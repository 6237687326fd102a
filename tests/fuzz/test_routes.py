"""Nobody gets a fault, a traceback or a place in the database by sending what no page would send."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotation.people.sign_ins import csrf_token
from app.server.routes import exception_handlers, middleware, routes
from app.settings import database, settings
from tests.app.cast import Cast, assemble
from tests.app.visiting import ORIGIN, first_page, post
from tests.fuzz.faults import Faults
from tests.fuzz.hostile import TEXTS, VALUES, encoded, fuzzing, mutated, spoiled, written
from tests.fuzz.stored import everything, fingerprint, wrong
from tests.fuzz.typed import CONTROL, INNER
from tests.small_study import answer, uuids

pytestmark = pytest.mark.slow

WHO = ("Ada", "Ada", "Ada", "Bea", "Nea", "Adj", "Eva", "Adm", "Oda", "Odin", "stranger")
POSTED = ("/api/labels", "/api/submit", "/api/take", "/api/logout")
METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "BREW")
# what else a route's refusals may write: who tried a link that does not work
NOTED = {"/invite/{token}"}


class Door:
    """The app's own routes with everything that stands around them, and whoever comes to them."""

    def __init__(self, cast: Cast) -> None:
        self.cast = cast
        app = Starlette(routes=routes, middleware=middleware, exception_handlers=exception_handlers)
        self.client = TestClient(app, follow_redirects=False, raise_server_exceptions=False, base_url=ORIGIN)
        self.cookies = {name: client.cookies["calipers"] for name, client in cast.clients.items()}
        self.cookies["stranger"] = ""
        self.oda = first_page(cast.clients["Oda"])  # of another study
        self.stands = self.state()

    def state(self) -> str:
        return fingerprint(everything(self.cast.engine))

    def unchanged(self) -> bool:
        """Whether the database is as it was when this was last asked."""
        before, self.stands = self.stands, self.state()
        return before == self.stands

    @property
    def known(self) -> tuple[Any, ...]:
        """Ids that exist, most of them not the caller's."""
        pages = (self.cast.page, self.cast.done, self.oda)
        return (*tuple(page[name] for page in pages for name in ("aid", "page")), self.cast.packet, "clear", "deep")

    def ask(self, method: str, path: str, who: str = "stranger", body: bytes = b"", **headers: str) -> Any:
        """One request as `who`; `headers` replace what the app's own page would send."""
        cookie = self.cookies[who]
        sent = {
            "Origin": ORIGIN, "Content-Type": "application/json", "X-Calipers-Token": csrf_token(cookie),
            "Cookie": f"calipers={cookie}" if cookie else "",
        }  # fmt: skip
        raw = {
            name: value.encode("utf-8", "replace").replace(b"\n", b"").replace(b"\r", b"")
            for name, value in (sent | headers).items()
        }
        return self.client.request(method, path, content=body, headers=raw)


@pytest.fixture
def door(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    monkeypatch.setenv("CALIPERS_DATABASE_URL", database_url)
    monkeypatch.setenv("CALIPERS_BASE_URL", ORIGIN)
    monkeypatch.setenv("CALIPERS_ADMIN_TOKEN", "the owner's own key")
    settings.cache_clear()
    database.cache_clear()
    yield Door(assemble(database(), tmp_path))
    database().dispose()
    settings.cache_clear()
    database.cache_clear()


def check(reply: Any) -> None:
    """Never a fault; a refusal is a code and one sentence, and nothing of the machine's inside."""
    assert reply.status_code < 500, (reply.status_code, reply.text)
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert not any(header.startswith("access-control") for header in reply.headers)
    said = reply.text if "json" in reply.headers.get("content-type", "") else ""
    assert not [word for word in INNER if word in reply.text]
    if reply.status_code >= 400 and said and not re.fullmatch(r"(Not Found|Method Not Allowed)", said):
        told = reply.json()
        assert told["code"]
        assert 0 < len(told["text"]) < 1_000, told["text"][:200]
        assert not CONTROL.search(told["text"])
        assert "\n" not in told["text"]


def valid(door: Door) -> dict[str, list[dict[str, Any]]]:
    """For each route that takes a body, bodies that Ada's page would send now."""
    page, done = door.cast.page, door.cast.done
    at = {"aid": page["aid"], "page": page["page"]}
    label = answer(
        page, "clear", "left", evidence=[{"side": "left", "start": 2, "end": 7, "quote": "Tides"}]
    ).model_dump()
    times = {"start": "2026-11-20T10:00:00+00:00", "end": "2026-11-20T10:00:05+00:00"}
    others = [
        {"kind": "place", "place": {"criterion": "clear", "left": 0.5, "right": 0.1, "left_read": 1, "right_read": 0.2, "bookmarks": [{"side": "left", "block": 2}]}, "writer": "writer-1", "seq": 4, **at},
        {"kind": "preferences", "preferences": {"font": 16, "theme": "dark", "form": "auto", "sync": "off", "keys": True, "pace": True, "letters": {"j": "g"}, "notes": "ties are rare"}},
        {"kind": "activity", "intervals": [{"criterion": "deep", **times}], "clock": "client", **at},
        {"kind": "flag", "flag": "reveals_author", "text": "it says so", **at},
        {"kind": "comment", "text": "a remark", **at},
    ]  # fmt: skip
    entries = [{"client_uuid": next(uuids), "client_ts": "2026-11-20T10:00:00Z", **one} for one in others]
    hand_in = {"outcome": "submit", "reason": "", "client_uuid": next(uuids), "revs": {"clear": 1, "deep": 1}}
    twin = {"beside": {"aid": door.oda["aid"], "page": door.oda["page"], "revs": {"clear": 1}}}
    return {
        "/api/labels": [{"entries": [label]}, {"entries": [label, *entries]}, *({"entries": [one]} for one in entries)],
        "/api/submit": [
            {**at, **hand_in}, {**at, **hand_in, **twin}, {**at, **hand_in, "outcome": "skip", "reason": "too long"},
            {"aid": done["aid"], "page": done["page"], **hand_in, "outcome": "reopen"},
        ],
        "/api/take": [{}], "/api/logout": [{}],
    }  # fmt: skip


def test_a_body_is_refused_or_stored_as_it_may_be_and_never_a_fault(door: Door) -> None:
    for path in POSTED:
        send_bodies(door, path)
    assert wrong(door.cast.engine) == []


def send_bodies(door: Door, path: str) -> None:
    faults = Faults()

    @fuzzing(10)
    @given(st.data())
    def send(data: st.DataObject) -> None:
        body = data.draw(bodies(door, path))
        headers = data.draw(odd_headers)
        if path == "/api/logout":  # that works is tried elsewhere; here everybody is needed a thousand times
            headers = {"X-Calipers-Token": data.draw(st.sampled_from(TEXTS))}
        with faults.of((path, body, headers)):
            reply = door.ask("POST", path, data.draw(st.sampled_from(WHO)), body, **headers)
            check(reply)
            if reply.status_code >= 400:
                assert door.unchanged(), "a refusal writes nothing"
                return
            if path == "/api/labels":
                told = reply.json()
                assert set(told) == {"acks", "refused"}
                assert all(one["code"] and len(one["text"]) < 1_000 for one in told["refused"])
            else:
                keep_going(door)
            door.unchanged()

    send()
    assert faults.said() == ""


@st.composite
def bodies(draw: st.DrawFn, door: Door, path: str) -> bytes:
    how = draw(st.sampled_from(("change", "change", "change", "change", "spoil", "other", "noise")))
    sound = draw(st.sampled_from(valid(door)[path]))
    if how == "change":
        return encoded(written(draw(mutated(sound, door.known))))
    if how == "spoil":
        return draw(spoiled(written(sound).encode()))
    return encoded(written(draw(st.sampled_from(VALUES)))) if how == "other" else draw(st.binary(max_size=300))


odd_headers = st.one_of(
    st.just({}), st.just({}), st.just({}),
    st.dictionaries(
        st.sampled_from(("Origin", "Content-Type", "X-Calipers-Token", "Cookie", "Accept-Language", "X-Forwarded-For", "Authorization", "Host", "Content-Encoding")),
        st.sampled_from([text for text in TEXTS if "\0" not in text]), max_size=2,
    ),
)  # fmt: skip


def keep_going(door: Door) -> None:
    """Ada has an item in work again, if anything is left for her."""
    ada = door.cast.clients["Ada"]
    if not post(ada, "/api/take", {}).json()["next"]:
        done = door.cast.done
        body = {"aid": done["aid"], "page": done["page"], "outcome": "reopen", "client_uuid": next(uuids)}
        post(ada, "/api/submit", body)
    aid = post(ada, "/api/take", {}).json()["next"]
    page = ada.get(f"/api/assignment/{aid}").json() if aid else {}
    if "aid" in page:
        door.cast.page = page


def test_every_route_bears_any_path_method_and_header(door: Door) -> None:
    for path in sorted({route.path for route in routes}):
        ask_oddly(door, path)
    assert wrong(door.cast.engine) == []


def ask_oddly(door: Door, path: str) -> None:
    hole, faults = re.search(r"{\w+(:\w+)?}", path), Faults()

    @fuzzing(10)
    @given(st.data())
    def ask(data: st.DataObject) -> None:
        method = data.draw(st.sampled_from(METHODS))
        named = data.draw(st.sampled_from((*door.known, *TEXTS))).encode("utf-8", "replace")
        asked = path.replace(hole[0], quote(named, safe=data.draw(st.sampled_from(("", "/%?#"))))) if hole else path
        query = data.draw(st.sampled_from(("", "?", "?participant=", "?PROLIFIC_PID=", "?participant=a&participant=")))
        query += quote(data.draw(st.sampled_from(TEXTS)).encode("utf-8", "replace"))[:2_000] if query else ""
        who, headers = data.draw(st.sampled_from(WHO)), data.draw(odd_headers)
        with faults.of((method, asked, query, who, headers)):
            reply = door.ask(method, asked + query, who, **headers)
            check(reply)
            if path not in NOTED and (reply.status_code >= 400 or method in ("GET", "HEAD", "OPTIONS")):
                assert door.unchanged(), "asking and being refused write nothing"
            elif path not in NOTED:
                door.unchanged()

    ask()
    door.unchanged()
    assert faults.said() == ""


def test_every_route_that_takes_a_body_is_among_those_that_are_fuzzed() -> None:
    takes = {route.path for route in routes if "POST" in (route.methods or ()) and route.path not in NOTED}
    assert takes == set(POSTED), "a new route needs bodies in valid()"
