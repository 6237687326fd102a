"""GET /metrics for the owner, as Prometheus reads it: this process's requests, and how far every study is."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from sqlalchemy import Select, func, select
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.settings import database, settings
from db.connect import reading
from db.judge_tables import Judge, JudgeAttempt, JudgeCall
from db.tables import SLOT_SOURCES, Assignment, Label, Study

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
    select(Study.name, Assignment.status, func.count())
    .join(Study, Study.id == Assignment.study_id)
    .where(Assignment.source.in_(SLOT_SOURCES), Assignment.purpose == "label")
    .group_by(Study.name, Assignment.status)
)
CALLS = (
    select(Study.name, Judge.name, JudgeCall.state, func.count())
    .join(Judge, Judge.id == JudgeCall.judge_id)
    .join(Study, Study.id == Judge.study_id)
    .group_by(Study.name, Judge.name, JudgeCall.state)
)
COST = (
    select(Study.name, Judge.name, func.sum(JudgeAttempt.cost))
    .join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id)
    .join(Judge, Judge.id == JudgeCall.judge_id)
    .join(Study, Study.id == Judge.study_id)
    .where(JudgeAttempt.cost.is_not(None))
    .group_by(Study.name, Judge.name)
)
LABELS = select(func.count(Label.id))


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
        with reading(database()) as session:
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
