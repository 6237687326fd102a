"""GET /health: this process answers. GET /ready: it can do its work, or the one word why it cannot."""

from __future__ import annotations

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app import stopping
from app.settings import database
from db.connect import reading
from db.errors import DatabaseError
from db.migrations import standing

WAIT_S = 2.0  # a database that takes longer to say which schema it has is not there for whoever asks


async def get_health(_request: Request) -> Response:
    """200 `ok`, whatever else is wrong: what decides whether to start this process anew."""
    return _word("ok", 200)


async def get_ready(_request: Request) -> Response:
    """200 `ready`, or 503 with `stopping`, `database` (no answer) or `schema` (older than this calipers needs)."""
    reason = "stopping" if stopping.has_begun() else await _missing()
    return _word(reason or "ready", 503 if reason else 200)


async def _missing() -> str:
    with anyio.move_on_after(WAIT_S):
        return await anyio.to_thread.run_sync(_ask, abandon_on_cancel=True)
    return "database"


def _ask() -> str:
    try:
        with reading(database()) as session:
            # a newer schema is no reason: old processes go on while the new ones come up
            return "schema" if standing(session.connection()) == "older" else ""
    except DatabaseError:
        return "database"


def _word(word: str, status: int) -> Response:
    return PlainTextResponse(word, status, headers={"Cache-Control": "no-store"})


routes = [Route("/health", get_health, methods=["GET"]), Route("/ready", get_ready, methods=["GET"])]
