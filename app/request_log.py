"""What every request came to: one line in the log and one observation for the metrics, without path, cookie or text."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.metrics import OPEN_PAGES, REQUEST_SECONDS

STREAMLIT = "streamlit"  # its own pages, files and health, counted together
ASKED_OFTEN = (STREAMLIT, "/health", "/ready", "/metrics")  # logged only when they fail
METHODS = ("GET", "HEAD", "POST")  # all that our routes take
FAILED = 503  # what the handlers make of an exception, which is told outside of this
log = logging.getLogger("calipers")


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
        route = next((one.path for one in self.routes if one.matches(scope)[0] is not Match.NONE), STREAMLIT)
        # a stranger may make up any word for a method, and every one would be a row that is never forgotten
        method = scope["method"] if scope["method"] in METHODS and route != STREAMLIT else ""
        REQUEST_SECONDS.labels(route, method, status).observe(seconds)
        facts = {"route": route, "method": scope["method"], "status": status, "ms": round(1e3 * seconds, 1)}
        level = logging.DEBUG if route in ASKED_OFTEN and status < 500 else logging.INFO
        log.log(level, "request", extra=facts)
