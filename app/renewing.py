"""A sign-in's cookie gets another value once a day, when a page is loaded: a copy of it is good for a day at most."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotation.people.sign_ins import is_due, renew
from app.api import COOKIE, cookie_header
from app.settings import database
from db.connect import reading, transaction
from db.errors import DatabaseError


class Renewing:
    """Pure ASGI. Only a page that is loaded whole carries a new value: its own websocket then opens with it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the new value to the reply."""
        cookie = HTTPConnection(scope).cookies.get(COOKIE) if _is_page(scope) else None
        following = await run_in_threadpool(_renewed, cookie) if cookie else None
        if following is None:
            await self.app(scope, receive, send)
            return

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("Set-Cookie", cookie_header(following))
            await send(message)

        await self.app(scope, receive, send_with_cookie)


def _is_page(scope: Scope) -> bool:
    """As browsers ask for a page, by its address or a link in it; what pages fetch says another destination.

    A file may be asked for in the same way, and the page that stays open would lose its sign-in to it.
    """
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    wanted = HTTPConnection(scope).headers.get("sec-fetch-dest", "")
    return wanted == "document" and not scope["path"].startswith(("/api/", "/invite/", "/media/"))


def _renewed(cookie: str) -> str | None:
    try:
        with reading(database()) as session:
            if not is_due(session, cookie):
                return None
        with transaction(database()) as session:
            return renew(session, cookie)
    except DatabaseError:
        return None  # the page says so itself
