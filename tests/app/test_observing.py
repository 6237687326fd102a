"""What the owner sees of a running server: the log, the metrics, slow queries. None of it holds what people wrote."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine, text
from starlette.routing import Route

from annotation.errors import AnnotationError
from annotation.labelling import save
from app.logs import write_logs
from app.server import api
from app.server.metrics import note_slow_query
from app.settings import settings
from db.connect import reading, watch_queries
from tests.app.visiting import Site, first_page, post
from tests.small_study import answer, make_study

KEY = "the-servers-own-key"


@pytest.fixture
def site(engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("CALIPERS_BASE_URL", "http://testserver")
    monkeypatch.setenv("CALIPERS_ADMIN_TOKEN", KEY)
    settings.cache_clear()
    return Site(make_study(engine_here, tmp_path / "reports", overlap=2))


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The log as the server writes it, parsed."""
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    log = logging.getLogger("calipers")
    before = log.handlers, log.propagate, log.level
    write_logs("DEBUG")
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    log.handlers, log.propagate = before[:2]
    log.setLevel(before[2])


def metrics(site: Site) -> dict[tuple[str, ...], float]:
    reply = site.visitor().get("/metrics", headers={"Authorization": f"Bearer {KEY}"})
    assert reply.status_code == 200
    assert reply.headers["cache-control"] == "private, no-store"
    families = text_string_to_metric_families(reply.text)
    samples = (one for family in families for one in family.samples)
    return {(one.name, *(value for _, value in sorted(one.labels.items()))): one.value for one in samples}


def test_every_request_is_one_json_line_with_its_route_and_without_token_id_or_text(site: Site, lines: Any) -> None:
    token = site.token()
    client = site.visitor()
    client.get(f"/invite/{token}")
    page = first_page(client)
    entry = answer(page, "clear", "left").model_dump() | {"rationale": "a secret reason"}
    post(client, "/api/labels", {"entries": [entry]})
    client.get("/somewhere/else")
    found = lines()
    assert [(one["method"], one["route"], one["status"]) for one in found if one["event"] == "request"] == [
        ("GET", "/invite/{token}", 303), ("POST", "/api/take", 200), ("GET", "/api/assignment/{aid}", 200),
        ("POST", "/api/labels", 200), ("GET", "streamlit", 404),
    ]  # fmt: skip
    assert all(set(one) == {"level", "event", "route", "method", "status", "ms", "time"} for one in found)
    assert all(datetime.fromisoformat(one["time"]).tzinfo is not None for one in found)
    written = json.dumps(found)
    for secret in (token, page["aid"], "a secret reason", client.cookies["calipers"], "Ada", "somewhere"):
        assert secret not in written


def test_a_failure_is_logged_by_place_under_the_id_the_person_sees_and_not_in_its_own_words(
    site: Site, lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise KeyError("a secret reason")

    client = site.signed_in()
    page = first_page(client)
    monkeypatch.setattr(api, "save", broken)
    entry = answer(page, "clear", "left").model_dump()
    reply = post(client, "/api/labels", {"entries": [entry]})
    (failure,) = (one for one in lines() if one["event"] == "failed")
    assert (reply.status_code, reply.json()["error_id"]) == (503, failure["error_id"])
    assert (failure["level"], failure["error"]) == ("ERROR", "KeyError")
    assert failure["where"][-1].startswith("test_observing.py:")
    assert "secret" not in json.dumps(lines())
    (counted,) = (one for one in lines() if one.get("route") == "/api/labels")
    assert counted["status"] == 503
    assert save is not api.save


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("CALIPERS_LOG_LEVEL", "banana", "CALIPERS_LOG_LEVEL is 'banana'; use one of DEBUG, INFO, WARNING, ERROR"),
        ("CALIPERS_BASE_URL", "nonsense", "CALIPERS_BASE_URL is 'nonsense'; use the address that people type, w"),
        ("CALIPERS_BASE_URL", "lab.org:8501", "CALIPERS_BASE_URL is 'lab.org:8501'; use the address that people type"),
        ("CALIPERS_BASE_URL", "https://lab.org/x", "CALIPERS_BASE_URL is 'https://lab.org/x'; use the address that"),
        ("CALIPERS_DRAIN_S", "nan", "CALIPERS_DRAIN_S is 'nan'; use a number from 0"),
        ("CALIPERS_SLOW_QUERY_MS", "soon", "CALIPERS_SLOW_QUERY_MS is 'soon'; use a number from 0"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_by_name(
    name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    settings.cache_clear()
    with pytest.raises(AnnotationError, match=re.escape(said)):
        settings()
    monkeypatch.undo()
    settings.cache_clear()


@pytest.mark.parametrize(
    ("said", "origin"),
    [
        ("https://Lab.org:443/", "https://lab.org"),
        ("http://127.0.0.1:8501", "http://127.0.0.1:8501"),
        ("http://[::1]:80", "http://[::1]"),
    ],
)
def test_the_public_address_is_what_a_browser_sends_as_origin(
    said: str, origin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALIPERS_BASE_URL", said)
    settings.cache_clear()
    assert settings().origin == origin
    monkeypatch.undo()
    settings.cache_clear()


def test_the_metrics_count_this_process_requests_and_every_study(site: Site) -> None:
    counted = ("calipers_request_seconds_count", "POST", "/api/labels", "200")
    before = metrics(site).get(counted, 0)
    client = site.signed_in()
    page = first_page(client)
    entries = [answer(page, code, "left").model_dump() for code in ("clear", "deep")]
    assert len(post(client, "/api/labels", {"entries": entries}).json()["acks"]) == 2
    found = metrics(site)
    assert found[counted] == before + 1
    assert found[("calipers_labels",)] == 2
    assert found[("calipers_slots", "taken", "small")] == 1
    slots = sum(value for (name, *_), value in found.items() if name == "calipers_slots")
    with reading(site.engine) as session:
        assert slots == session.scalar(text("SELECT count(*) FROM assignments"))
    assert found[("process_resident_memory_bytes",)] > 0


def test_words_that_are_no_method_make_no_rows_in_the_metrics(site: Site) -> None:
    made_up = {"BREW", "XYZZY"}
    for word in made_up:
        assert site.visitor().request(word, "/api/take").status_code == 405
    assert not any(made_up & set(row) for row in metrics(site))


@pytest.mark.parametrize(
    "sent", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": KEY}, {"Authorization": "Bearer é"}]
)
def test_without_the_servers_own_key_there_are_no_metrics(site: Site, sent: dict[str, str]) -> None:
    headers = {name: value.encode() for name, value in sent.items()}
    reply = site.visitor().get("/metrics", headers=headers)
    assert (reply.status_code, reply.text) == (404, "not found")


def test_without_a_key_set_nobody_reads_the_metrics(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALIPERS_ADMIN_TOKEN")
    settings.cache_clear()
    assert site.visitor().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404
    assert site.visitor().get("/metrics", headers={"Authorization": "Bearer None"}).status_code == 404


def test_a_slow_query_is_told_with_its_time_and_without_its_values(engine: Engine) -> None:
    told: list[tuple[str, float]] = []
    watch_queries(engine, 0.0, lambda statement, seconds: told.append((statement, seconds)))
    with reading(engine) as session:
        session.execute(text("SELECT name FROM studies\n WHERE name = :name"), {"name": "a secret name"})
    statement, seconds = told[-1]
    assert statement.startswith("SELECT name FROM studies WHERE name = ")
    assert "secret" not in statement
    assert 0 < seconds < 60


def test_a_query_as_quick_as_promised_is_not_told(engine: Engine) -> None:
    told: list[str] = []
    watch_queries(engine, 3600.0, lambda statement, _seconds: told.append(statement))
    with reading(engine) as session:
        session.execute(text("SELECT 1"))
    assert told == []


def test_slow_queries_are_counted_and_logged(site: Site, lines: Any) -> None:
    before = metrics(site)[("calipers_slow_queries_total",)]
    note_slow_query("SELECT 1", 0.75)
    assert metrics(site)[("calipers_slow_queries_total",)] == before + 1
    (said,) = (one for one in lines() if one["event"] == "slow query")
    assert (said["level"], said["statement"], said["ms"]) == ("WARNING", "SELECT 1", 750)


def test_every_route_of_ours_has_a_pattern_to_be_logged_by() -> None:
    from app.server.routes import routes

    assert all(isinstance(route, Route) for route in routes)
