"""Who may do what: every route, every screen and every service function, tried by everybody.

The expected results stand in one table, tests/golden/role_matrix.txt, to be read by a person: a route, screen or
function that is not in it, or answers anybody otherwise, fails here. Cells: `ok`, `no` (forbidden), `404` (as if it
were not there), `none` (nothing for them), a status, or the code of another refusal. Whose: see `cast.Cast`.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

import annotation
from annotation.errors import AnnotationError
from annotation.people.principals import Principal
from app.component import ANNOTATE
from app.screens import leaving as signed_out
from app.server.routes import routes
from app.settings import settings
from db.connect import reading, transaction
from db.people_tables import Invite
from db.types import now
from tests.app.cast import ROLES, Cast, assemble, ended, stored
from tests.app.service_calls import CALLS
from tests.app.visiting import ORIGIN, post
from tests.small_study import answer

TABLE = Path(__file__).resolve().parents[1] / "golden" / "role_matrix.txt"
SIGNED_IN = (*ROLES, "Oda", "Odin")
UNKNOWN_AID = "0" * 32


@pytest.fixture
def cast(engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cast]:
    monkeypatch.setenv("CALIPERS_BASE_URL", ORIGIN)
    settings.cache_clear()
    yield assemble(engine_here, tmp_path)
    settings.cache_clear()


def expected(part: str) -> list[str]:
    """The lines of one part of the table."""
    return TABLE.read_text(encoding="utf-8").split(f"== {part} ==\n")[1].split("\n==")[0].strip("\n").splitlines()


def compare(part: str, columns: Sequence[str], rows: dict[str, Sequence[str]]) -> None:
    """Against the table, whole."""
    wide = max(map(len, rows)) + 2
    lines = [("".ljust(wide) + "".join(name.ljust(10) for name in columns)).rstrip()]
    lines += [
        (name.ljust(wide) + "".join(f"{cell} ".ljust(10) for cell in cells)).rstrip() for name, cells in rows.items()
    ]
    differing = "\n".join(difflib.unified_diff(expected(part), lines, "expected", "found", lineterm="", n=0))
    assert not differing, f"read it, then bring {TABLE.name} up to date, or mend the code:\n{differing}"


def services() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function of annotation/ whose second parameter is whoever acts."""
    for module in pkgutil.walk_packages(annotation.__path__, "annotation."):
        for name, function in list(vars(importlib.import_module(module.name)).items()):
            if inspect.isfunction(function) and function.__module__ == module.name and not name.startswith("_"):
                second = list(inspect.signature(function).parameters.values())[1:2]
                if second and second[0].annotation in (Principal, "Principal"):
                    yield f"{module.name.removeprefix('annotation.')}.{name}", function


def test_every_service_function_answers_everybody_as_the_table_says(cast: Cast) -> None:
    columns = (*SIGNED_IN, "shell")
    people = {name: cast.principal(name) for name in columns}

    def outcome(name: str, function: Callable[..., Any], principal: Principal) -> str:
        signature = inspect.signature(function)
        by_engine = "Engine" in str(next(iter(signature.parameters.values())).annotation)

        def call(session: Session) -> Any:
            args, named = CALLS[name](session, cast) if name in CALLS else ((), {})
            result = function(cast.engine if by_engine else session, principal, *args, **named)
            return True if signature.return_annotation in (None, "None") else result

        return cast.tried(call, reading if by_engine else transaction)

    found = dict(services())
    assert set(CALLS) <= set(found), "a function that is gone needs no arguments"
    rows = {name: [outcome(name, one, people[who]) for who in columns] for name, one in sorted(found.items())}
    compare("service functions", columns, rows)


def entry(cast: Cast) -> dict[str, Any]:
    writer = uuid.uuid4().hex
    return {"entries": [answer(cast.page, code, "right", writer=writer).model_dump() for code in ("clear", "deep")]}


def outcome(cast: Cast, which: str, how: str, reason: str = "") -> dict[str, Any]:
    page = {"done": cast.done, "page": cast.page}[which]
    body = {"aid": page["aid"], "page": page["page"], "outcome": how, "client_uuid": uuid.uuid4().hex, "reason": reason}
    return body | {"revs": {"clear": 1, "deep": 1}}


# in this order for everybody in turn; Ada, whose work it is, comes last
ROUTES: dict[str, Callable[[Cast], Any]] = {
    "GET  /api/assignment/{aid} of Ada": lambda c: f"/api/assignment/{c.page['aid']}",
    "GET  /api/assignment/{aid} unknown": lambda c: f"/api/assignment/{UNKNOWN_AID}",
    "GET  /api/history/{aid} of Ada": lambda c: f"/api/history/{c.page['aid']}",
    "GET  /api/earlier/{aid}/{code} Ada": lambda c: f"/api/earlier/{c.page['aid']}/clear",
    "GET  /api/figure/{aid}/{name} Ada": lambda c: f"/api/figure/{c.page['aid']}/{32 * '0'}",
    "POST /api/labels for Ada's item": lambda c: ("/api/labels", entry(c)),
    "POST /api/submit for Ada's item": lambda c: ("/api/submit", outcome(c, "page", "submit")),
    "POST /api/submit reopen Ada's item": lambda c: ("/api/submit", outcome(c, "done", "reopen")),
    "POST /api/submit skip Ada's item": lambda c: ("/api/submit", outcome(c, "done", "skip", "mine")),
    "POST /api/take": lambda c: ("/api/take", {}),
    "POST /api/logout": lambda c: ("/api/logout", {}),
    "GET  /back": lambda _: "/back",
    "GET  /health": lambda _: "/health",
    "GET  /ready": lambda _: "/ready",
    "GET  /metrics": lambda _: "/metrics",
    "GET  /page/{name}": lambda _: f"/page/{ANNOTATE.file_name}",
}


def test_every_route_answers_everybody_as_the_table_says(cast: Cast) -> None:
    made_up = cast.site.visitor()
    made_up.cookies.set("calipers", "a made up cookie")
    ada = cast.client("Ada")
    visitors: dict[str, tuple[TestClient, dict[str, str]]] = {
        "nobody": (cast.site.visitor(), {}), "unknown": (made_up, {}),
        "expired": (ended(cast, "expired"), {}), "revoked": (ended(cast, "revoked"), {}),
        "foreign": (ada, {"Origin": "https://evil.example"}), "no token": (ada, {"X-Calipers-Token": ""}),
        **{name: (cast.client(name), {}) for name in SIGNED_IN if name != "Ada"}, "Ada": (ada, {}),
    }  # fmt: skip
    rows: dict[str, list[str]] = {name: [] for name in ROUTES}
    before, bodies = stored(cast), {}
    for who, (client, headers) in visitors.items():
        if who == "Ada":
            assert stored(cast) == before, "nobody else changed anything of Ada's"
        for name, ask in ROUTES.items():
            asked = ask(cast)
            reply = client.get(asked, headers=headers) if isinstance(asked, str) else post(client, *asked, **headers)
            is_json = reply.headers.get("content-type") == "application/json"
            said = reply.json() if reply.status_code == 200 and is_json else {}
            if isinstance(said, dict) and said.get("refused"):
                rows[name].append(said["refused"][0]["code"])
            else:
                rows[name].append(
                    "none" if name.endswith("take") and said and not said["next"] else str(reply.status_code)
                )
            assert not any(header.startswith("access-control") for header in reply.headers)
            bodies[who, name] = reply.content
    compare("routes", tuple(visitors), rows)
    listed = {name.split()[1] for name in ROUTES}
    assert {route.path for route in routes} == listed | {"/invite/{token}"}, "a new route needs its rows here"
    foreign, unknown, history = list(ROUTES)[:3]
    for who in (*SIGNED_IN[1:], "nobody", "revoked"):
        assert bodies[who, foreign] == bodies[who, unknown] == bodies[who, history], "told apart by nothing"


def test_links_that_do_not_work_answer_with_the_same_bytes_whatever_is_wrong_with_them(cast: Cast) -> None:
    ways = {
        "expired": {"expires_at": now()}, "revoked": {"revoked_at": now()},
        "used": {"single_use": True, "used_at": now()},
    }  # fmt: skip
    tokens = ["never-made"]
    for way, change in ways.items():
        tokens.append(cast.site.token(f"Invited {way}"))
        with transaction(cast.engine) as session:
            newest = session.scalars(select(Invite.id).order_by(Invite.id.desc())).first()
            session.execute(update(Invite).where(Invite.id == newest).values(**change))
    visitor = cast.site.visitor()
    replies = [
        visitor.request(method, f"/invite/{token}", headers={"Origin": cast.site.origin})
        for token in tokens
        for method in ("GET", "POST")
    ]
    assert {reply.status_code for reply in replies} == {404}
    assert len({reply.content for reply in replies}) == 1
    assert not any("set-cookie" in reply.headers for reply in replies)
    foreign = visitor.post(f"/invite/{cast.site.token('Zed')}", headers={"Origin": "https://evil.example"})
    assert (foreign.status_code, "set-cookie" in foreign.headers) == (403, False)


def test_every_role_gets_its_pages_and_no_screen_serves_anybody_else(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app import shell  # draws a page of its own when it is imported

    monkeypatch.setattr(st, "Page", lambda show, **named: SimpleNamespace(show=show, **named))
    pages: dict[str, list[str]] = {}
    screens: dict[str, Any] = {}
    for name in SIGNED_IN:
        for page in chain(*shell.pages_of(cast.principal(name), cast.clients[name].cookies["calipers"]).values()):
            shows = [
                page.show.func,
                *filter(callable, page.show.args),
            ]  # an evaluator's stands inside what names the tab
            screen = inspect.getmodule(shows[-1])
            assert screen is not None
            short = screen.__name__.rsplit(".", 1)[1]
            screens[short] = screen
            pages.setdefault(name, []).append(short)
    rows = {
        short: ["page" if short in pages[name] else drawn(cast, name, screen) for name in SIGNED_IN]
        for short, screen in sorted(screens.items())
    }
    compare("pages", SIGNED_IN, rows)
    gone = [cast.site.visitor(), ended(cast, "expired"), ended(cast, "revoked")]
    for cookie in (*(client.cookies.get("calipers") for client in gone), "made up"):
        assert {page.show for page in chain(*shell.pages_of(shell.principal_of(cookie), cookie).values())} == {
            signed_out.show
        }


def drawn(cast: Cast, name: str, screen: Any) -> str:
    """What this person gets from a screen that is not theirs."""
    cookie = cast.clients[name].cookies["calipers"]
    principal = cast.principal(name)
    wanted = {"principal": principal, "source": principal, "cookie": cookie}
    given = [wanted[parameter] for parameter in inspect.signature(screen.show).parameters]
    try:
        screen.show(*given)
    except AnnotationError as error:
        return {"forbidden": "no"}.get(error.code, error.code)
    return "ok"
