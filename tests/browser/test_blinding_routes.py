"""The blinding proof over plain HTTP: whatever an annotator asks, no answer tells or marks a report or system."""

from __future__ import annotations

import json
import re
import uuid
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext
from sqlalchemy import Engine, select

from annotation.people.sign_ins import csrf_token
from app.server.api import routes
from db.connect import reading
from db.tables import Assignment, Item, Report
from tests.browser.blinded import Blind, blind_study
from tests.browser.capture import Capture

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(own_server: Any) -> Any:
    """Of its own: for ten minutes after these links others who come from here with a wrong one are told to wait."""
    return own_server


@pytest.fixture(scope="module")
def blind(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Blind:
    return blind_study(server, tmp_path_factory.mktemp("zpath-hovel"))


@pytest.fixture
def capture(context: BrowserContext) -> Iterator[Capture]:
    capture = Capture(context)
    yield capture
    capture.close()


TEXTS = re.compile(r"\{(\w+)\}")
MALFORMED = (
    "unknown",
    "f" * 32,
    "",
    "..%2f..%2fcalipers.db",
    "%00",
    "' OR 1=1 --",
    "é" * 40,
    "x" * 3000,
    "{}",
    "%252e",
)
PAGES = (
    "", "label", "my_work", "agreement", "progress", "blinding", "signed_out", "calipers.db", "media/x", "static/x", "app/static/x",
    "component/calipers_annotate/x", "bidi-components/x/y", "_stcore/health", "_stcore/host-config", "_stcore/metrics",
    "_stcore/script-health-check", "_stcore/upload_file/x/y", "favicon.png", "manifest.json", "docs", "openapi.json",
)  # fmt: skip


def test_no_route_tells_a_sentinel_to_an_annotator_whatever_is_asked(
    capture: Capture, server: Any, blind: Blind
) -> None:
    context = capture.context
    context.request.get(server.link(blind.study_id, "Bea"))
    [cookie] = [one["value"] for one in context.cookies() if one["name"] == "calipers"]  # type: ignore[typeddict-item]
    headers = {"Origin": server.address, "X-Calipers-Token": csrf_token(cookie), "Content-Type": "application/json"}

    def ask(method: str, path: str, body: Any = None) -> Any:
        sent = body if isinstance(body, str) or body is None else json.dumps(body)
        answer = context.request.fetch(
            f"{server.address}/{path}", method=method, headers=headers, data=sent, max_redirects=0
        )
        capture.response(answer)
        return answer

    own = ask("POST", "api/take", {}).json()["next"]
    with reading(server.engine) as session:
        all_aids = session.scalars(select(Assignment.aid).where(Assignment.study_id == blind.study_id)).all()
    foreign = next(aid for aid in all_aids if aid != own)
    known = {"/invite/{token}", "/api/assignment/{aid}", "/api/history/{aid}", "/api/earlier/{aid}/{code}"}
    known |= {"/api/figure/{aid}/{name}"}
    for route in routes:
        assert TEXTS.search(route.path) is None or route.path in known, "a new route is listed here"
        for value in (own, foreign, *MALFORMED):
            ask("GET", TEXTS.sub(lambda _: value, route.path)[1:])  # noqa: B023
    page = ask("GET", f"api/assignment/{own}").json()["page"]
    entry = {"kind": "label", "aid": own, "page": page, "criterion": "clear", "choice": "left", "rationale": "so it is",
             "evidence": [{"side": "left", "start": 0, "end": 5, "quote": "Tides"}], "confidence": None, "seq": 1,
             "client_uuid": uuid.uuid4().hex, "writer": uuid.uuid4().hex, "base_rev": 0, "client_ts": ""}  # fmt: skip
    bodies: list[Any] = ["", "{", "[]", "null", {}, {"entries": "x"}, {"entries": [None, {}, 5]}]
    for wrong in ({}, {"aid": foreign}, {"aid": "x"}, {"page": "f" * 32}, {"criterion": "nope"}, {"choice": "A"},
                  {"evidence": [{"side": "middle"}]}, {"seq": -1}, {"writer": uuid.uuid4().hex}):  # fmt: skip
        bodies.append({"entries": [entry | {"client_uuid": uuid.uuid4().hex} | wrong]})
    for aid in (foreign, "x", None, own):
        for outcome in ("submit", "skip", "reopen", "x"):
            submit = {"aid": aid, "page": page, "outcome": outcome, "client_uuid": uuid.uuid4().hex, "revs": {}}
            bodies.append(submit | ({"reason": "broken"} if outcome == "skip" else {}))
    for route in routes:
        for body in bodies if "POST" in (route.methods or ()) and "logout" not in route.path else ({},):
            ask("POST", TEXTS.sub(own, route.path)[1:], body)
    ask("POST", "api/take", {})
    for path in PAGES:
        ask("GET", path)
    assert capture.found(blind.sentinels) == set()
    told = ("not_found", "invalid", "stale", "unsaved", "locked")
    assert capture.found(told) >= {("body", code) for code in told}, "each refusal was seen"


def test_nothing_that_reaches_the_page_is_constant_per_report_or_system(
    capture: Capture, server: Any, blind: Blind
) -> None:
    """Every value of the payload and its headers, over all nine items: none marks just the items of one report."""
    context = capture.context
    context.request.get(server.link(blind.study_id, "Cem"))
    [cookie] = [one["value"] for one in context.cookies() if one["name"] == "calipers"]  # type: ignore[typeddict-item]
    headers = {"Origin": server.address, "X-Calipers-Token": csrf_token(cookie), "Content-Type": "application/json"}
    aid = context.request.post(f"{server.address}/api/take", headers=headers, data="{}").json()["next"]
    seen: dict[tuple[str, str], set[str]] = defaultdict(set)  # (where, value) -> items
    items: set[str] = set()
    while aid:
        answer = context.request.get(f"{server.address}/api/assignment/{aid}")
        shown = answer.json()
        items.add(aid)
        for where, value in leaves(shown, ()):
            seen[where, value].add(aid)
        for name, value in answer.headers.items():
            if name not in ("content-length", "date"):
                seen[f"header {name}", value].add(aid)
        submit = {"aid": aid, "page": shown["page"], "outcome": "skip", "reason": "next", "client_uuid": uuid.uuid4().hex, "revs": {}}  # fmt: skip
        aid = context.request.post(f"{server.address}/api/submit", headers=headers, data=json.dumps(submit)).json()[
            "next"
        ]
    groups = items_by_hidden_fact(server.engine, items)
    assert len(items) >= 6
    marks = {
        (where, value[:60], fact)
        for (where, value), at in seen.items()
        for fact, of in groups.items()
        if len(of) > 1 and at == of and of != items and not where.startswith(("panes", "topic", "passages"))
    }
    assert marks == set()
    hashes = [value for (where, value), at in seen.items() if len(at) > 1 and re.fullmatch(r"[0-9a-fA-F-]{16,}", value)]
    assert [one for one in hashes if where_is(seen, one) != {"person"}] == [], "no hash-like value comes twice"
    assert not {value for _, value in seen} & {"A", "B"}


def where_is(seen: dict[tuple[str, str], set[str]], value: str) -> set[str]:
    return {where for where, other in seen if other == value}


def leaves(node: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        for name, child in node.items():
            yield ("name " + ".".join(path), name)
            yield from leaves(child, (*path, name))
    elif isinstance(node, list):
        for child in node:
            yield from leaves(child, path)
    else:
        yield ".".join(path), str(node)


def items_by_hidden_fact(engine: Engine, aids: set[str]) -> dict[str, set[str]]:
    """The items that show a report, a system at all, and a system on one side."""
    facts: dict[str, set[str]] = defaultdict(set)
    with reading(engine) as session:
        rows = select(Assignment, Item).join(Item, Item.id == Assignment.item_id).where(Assignment.aid.in_(aids))
        for assignment, item in session.execute(rows):
            for name, report_id in (("A", item.report_a_id), ("B", item.report_b_id)):
                report = session.get_one(Report, report_id)
                side = "left" if assignment.left == name else "right"
                facts[f"report {report.id}"].add(assignment.aid)
                facts[f"system {report.system_id}"].add(assignment.aid)
                facts[f"system {report.system_id} on the {side}"].add(assignment.aid)
    return facts
