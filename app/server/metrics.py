"""What every request came to: a line in the log, and GET /metrics for the owner, as Prometheus reads it."""

import hmac
import logging
import time
from collections.abc import Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from sqlalchemy import Select, func, select
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.settings import database, settings
from db import connect, judge_tables, tables

log = logging.getLogger("calipers")
REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
REQUEST_SECONDS = Histogram(
    "calipers_request_seconds", "Requests of this process, from the first byte read to the last sent.",
    ("route", "method", "status"), registry=REGISTRY, buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)  # fmt: skip
OPEN_PAGES = Gauge("calipers_open_pages", "Pages open at this process (websockets).", registry=REGISTRY)
SLOW_QUERIES = Counter(
    "calipers_slow_queries", "Queries of this process over CALIPERS_SLOW_QUERY_MS.", registry=REGISTRY
)

SLOTS = (
    select(tables.Study.name, tables.Assignment.status, func.count())
    .join(tables.Study, tables.Study.id == tables.Assignment.study_id)
    .where(tables.Assignment.source.in_(tables.SLOT_SOURCES), tables.Assignment.purpose == "label")
    .group_by(tables.Study.name, tables.Assignment.status)
)
CALLS = (
    select(tables.Study.name, judge_tables.Judge.name, judge_tables.JudgeCall.state, func.count())
    .join(judge_tables.Judge, judge_tables.Judge.id == judge_tables.JudgeCall.judge_id)
    .join(tables.Study, tables.Study.id == judge_tables.Judge.study_id)
    .group_by(tables.Study.name, judge_tables.Judge.name, judge_tables.JudgeCall.state)
)
COST = (
    select(tables.Study.name, judge_tables.Judge.name, func.sum(judge_tables.JudgeAttempt.cost))
    .join(judge_tables.JudgeCall, judge_tables.JudgeCall.id == judge_tables.JudgeAttempt.call_id)
    .join(judge_tables.Judge, judge_tables.Judge.id == judge_tables.JudgeCall.judge_id)
    .join(tables.Study, tables.Study.id == judge_tables.Judge.study_id)
    .where(judge_tables.JudgeAttempt.cost.is_not(None))
    .group_by(tables.Study.name, judge_tables.Judge.name)
)
LABELS = select(func.count(tables.Label.id))


class StudiesCollector(Collector):
    """Read from the database when asked, so every process answers alike."""

    def collect(self) -> Iterator[Metric]:
        """One family each: labels of all revisions, slots by status, judge calls by state, known cost."""
        asked: tuple[tuple[str, str, Select[*tuple[Any, ...]], tuple[str, ...]], ...] = (
            ("calipers_labels", "Labels stored, every revision.", LABELS, ()),
            ("calipers_slots", "Label slots of people.", SLOTS, ("study", "status")),
            ("calipers_judge_calls", "Calls of judges.", CALLS, ("study", "judge", "state")),
            ("calipers_judge_cost_usd", "Known cost of judges' attempts in USD.", COST, ("study", "judge")),
        )
        with connect.reading(database()) as session:
            for name, text, rows, labels in asked:
                family = GaugeMetricFamily(name, text, labels=labels)
                for *values, number in session.execute(rows):
                    family.add_metric([str(value) for value in values], float(number))
                yield family


STUDIES = CollectorRegistry()
STUDIES.register(StudiesCollector())


def note_slow_query(statement: str, seconds: float) -> None:
    """Count it, and log the statement, which holds placeholders where the values were."""
    SLOW_QUERIES.inc()
    log.warning("slow query", extra={"statement": statement, "ms": round(1e3 * seconds)})


async def get_metrics(request: Request) -> Response:
    """GET /metrics: for whoever holds the server's own key; to anybody else there is no such page."""
    sent, key = request.headers.get("authorization", ""), settings().admin_token
    if not key or not hmac.compare_digest(sent.encode(), f"Bearer {key}".encode()):
        return Response("not found", 404, media_type="text/plain")
    text = generate_latest(REGISTRY) + await run_in_threadpool(generate_latest, STUDIES)
    return Response(text, media_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "private, no-store"})


routes = [Route("/metrics", get_metrics, methods=["GET"])]


STREAMLIT = "streamlit"  # its own pages, files and health, counted together
ASKED_OFTEN = (STREAMLIT, "/health", "/ready", "/metrics")  # logged only when they fail
METHODS = ("GET", "HEAD", "POST")  # all that our routes take
FAILED = 503  # what the handlers make of an exception, which is told outside of this


class RequestLog:
    """Pure ASGI, so that websockets pass through; a page of Streamlit's is one open websocket."""

    def __init__(self, app: ASGIApp, routes: Sequence[Route]) -> None:
        self.app, self.routes = app, routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Time the request and note how it ended."""
        if scope["type"] == "websocket":
            with OPEN_PAGES.track_inprogress():
                await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, started = FAILED, time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            self._note(scope, status, time.perf_counter() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        # the route's own pattern: a path may hold an invitation's token or an assignment's id
        route = next((route.path for route in self.routes if route.matches(scope)[0] is not Match.NONE), STREAMLIT)
        # a stranger may make up any word for a method, and every one would be a row that is never forgotten
        method = scope["method"] if scope["method"] in METHODS and route != STREAMLIT else ""
        REQUEST_SECONDS.labels(route, method, status).observe(seconds)
        facts = {"route": route, "method": scope["method"], "status": status, "ms": round(1e3 * seconds, 1)}
        level = logging.DEBUG if route in ASKED_OFTEN and status < 500 else logging.INFO
        log.log(level, "request", extra=facts)
