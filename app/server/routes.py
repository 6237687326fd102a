"""All routes of our own and what is around them: health, the end on SIGTERM, static files, and one list of all."""

import asyncio
import gzip
import hashlib
import logging
import os
import re
import signal
import threading
from functools import lru_cache
from pathlib import Path

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.file_util import get_static_dir

from app.component import FILES, files
from app.server import api, by_account, doors, metrics, own_page
from app.server.headers import SecurityHeaders
from app.settings import database
from db import connect, errors
from db.migrations import standing

WAIT_S = 2.0  # a database that takes longer to say which schema it has is not there for whoever asks


async def get_health(_request: Request) -> Response:
    """200 `ok`, whatever else is wrong: what decides whether to start this process anew."""
    return _word("ok", 200)


async def get_ready(_request: Request) -> Response:
    """200 `ready`, or 503 with `stopping`, `database` (no answer) or `schema` (older than this calipers needs)."""
    reason = "stopping" if has_begun() else await _missing()
    return _word(reason or "ready", 503 if reason else 200)


async def _missing() -> str:
    with anyio.move_on_after(WAIT_S):
        return await anyio.to_thread.run_sync(_ask, abandon_on_cancel=True)
    return "database"


def _ask() -> str:
    try:
        with connect.reading(database()) as session:
            # a newer schema is no reason: old processes go on while the new ones come up
            return "schema" if standing(session.connection()) == "older" else ""
    except errors.DatabaseError:
        return "database"


def _word(word: str, status: int) -> Response:
    return PlainTextResponse(word, status, headers={"Cache-Control": "no-store"})


health_routes = [Route("/health", get_health, methods=["GET"]), Route("/ready", get_ready, methods=["GET"])]


STOP_S = 9.0  # from the signal; what then still runs (an open connection that answers nothing) is cut
DRAIN_MOST_S = 5.0
_begun = threading.Event()
log = logging.getLogger("calipers")


def has_begun() -> bool:
    """Return whether this process was told to end."""
    return _begun.is_set()


def stop_in_good_order(drain_s: float) -> None:
    """Call while the server starts: takes SIGTERM over from it, and hands it on after `drain_s` seconds (at most 5).

    In these seconds every request is served and /ready says `stopping`, for a load balancer that asks it. Does
    nothing where no server handles the signal, as under a test client.
    """
    usual = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        return
    loop = asyncio.get_running_loop()

    def begin() -> None:
        if _begun.is_set():
            return
        _begun.set()
        log.info("stopping")
        end = threading.Timer(STOP_S, _cut)
        end.daemon = True
        end.start()
        loop.call_later(min(drain_s, DRAIN_MOST_S), usual, signal.SIGTERM, None)

    loop.add_signal_handler(signal.SIGTERM, begin)


def _cut() -> None:
    # nothing that was acknowledged is lost: an acknowledgement follows COMMIT
    log.warning("stopped before everything was finished")
    os._exit(1)


KEPT = "public, immutable, max-age=31536000"  # a year, as Streamlit says of its own files
OF_STREAMLIT = re.compile(r"/(static/(?:js|css)/[\w.-]+\.(js|css))", re.ASCII)  # their names hold a hash
TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}


async def get_component(request: Request) -> Response:
    """GET /page/{name}: a component's file, to be kept for good; by an outdated name the file of today, once.

    While processes are renewed one by one, a page that one of them began may ask another.
    """
    name: str = request.path_params["name"]
    asked = FILES.get(name.split(".")[0])
    if asked is None or not name.endswith(".js"):
        return PlainTextResponse("not found", 404)
    packed = await run_in_threadpool(_packed, asked.module)
    return _reply(request.headers, TYPES["js"], packed, asked.module, KEPT if name == asked.file_name else "no-store")


file_routes = [Route(f"{files.FOLDER}{{name}}", get_component, methods=["GET"])]


class CompressedFiles:
    """Pure ASGI: Streamlit's scripts and styles, each compressed once in the life of this process."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer for a script or style sheet, where the browser takes it compressed; Streamlit answers all else."""
        is_read = scope["type"] == "http" and scope["method"] == "GET"
        named = OF_STREAMLIT.fullmatch(scope["path"]) if is_read else None
        if named is None or not _takes_gzip(headers := Headers(scope=scope)) or "range" in headers:
            await self.app(scope, receive, send)
            return
        try:
            packed = await run_in_threadpool(_packed_file, named[1])
        except OSError:  # there is none of this name, and Streamlit says so
            await self.app(scope, receive, send)
            return
        await _reply(headers, TYPES[named[2]], packed, b"", KEPT)(scope, receive, send)


def _reply(headers: Headers, kind: str, packed: bytes, plain: bytes, kept: str) -> Response:
    """`plain` goes to who does not take it `packed`; nothing to who has it already."""
    takes = _takes_gzip(headers)
    tag = f'"{hashlib.sha256(packed).hexdigest()[:20]}{"-gzip" if takes else ""}"'
    said = {"Cache-Control": kept, "ETag": tag, "Vary": "Accept-Encoding"}
    if headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=said)
    if takes:
        return Response(packed, media_type=kind, headers=said | {"Content-Encoding": "gzip"})
    return Response(plain, media_type=kind, headers=said)


def _takes_gzip(headers: Headers) -> bool:
    return "gzip" in headers.get("accept-encoding", "")


@lru_cache(maxsize=512)  # Streamlit has some 300
def _packed_file(name: str) -> bytes:
    return gzip.compress((Path(get_static_dir()) / name).read_bytes(), 9, mtime=0)


@lru_cache(maxsize=len(FILES))
def _packed(content: bytes) -> bytes:
    return gzip.compress(content, 9, mtime=0)


routes = [*api.routes, *health_routes, *metrics.routes, *file_routes]
middleware = [  # the first is the outermost
    Middleware(metrics.RequestLog, routes=routes),
    Middleware(SecurityHeaders),
    Middleware(doors.Doors),
    Middleware(CompressedFiles),
    Middleware(by_account.ByAccount),
    Middleware(doors.Unconnected),
    Middleware(own_page.Renewing),
]
exception_handlers = api.exception_handlers
