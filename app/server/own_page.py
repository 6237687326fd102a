"""Whether a request comes from the app's own page under this browser's sign-in, whose cookie is renewed daily."""

import json
import secrets
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotation.errors import AnnotationError, OtherSignIn
from annotation.people import principals, sign_ins
from app.settings import database, settings
from db.connect import reading, transaction
from db.errors import DatabaseError

COOKIE = "calipers"
ID_COOKIE = "calipers_id"  # a crowd participant's own, which nothing else of ours holds

BODY_MAX = 256 * 1024


async def checked_body(request: Request, cookie: str | None) -> tuple[str, dict[str, Any]]:
    """Cookie and JSON body of a POST that comes from our own page. Streamlit's protection does not cover our routes."""
    if not cookie:
        raise AnnotationError("signed_out", "you are signed out; open your invitation link again")
    own_page = request.headers.get("origin") == settings().origin
    if own_page:
        await refuse_former_sign_in(request, cookie)
    if not own_page or not _is_same_sign_in(request, cookie):
        raise AnnotationError("forbidden", "this request did not come from the app's own page; reload the page")
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise AnnotationError("invalid", "the body must be application/json")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_MAX:
            raise AnnotationError("too_large", f"a request may hold {BODY_MAX // 1024} KB; send fewer entries at once")
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise AnnotationError("invalid", "the body is not JSON, or nested too deeply") from None
    if not isinstance(content, dict):
        raise AnnotationError("invalid", "the body must be a JSON object")
    return cookie, content


async def refuse_former_sign_in(request: Request, cookie: str | None) -> None:
    """Raises OtherSignIn where the page that asks was opened under another sign-in, and names who is signed in now."""
    if not cookie or not request.headers.get("x-calipers-token") or _is_same_sign_in(request, cookie):
        return

    def now_signed_in() -> OtherSignIn | None:
        with reading(database()) as session:
            now = sign_ins.who(session, cookie)
            if now is None or now.enrollment_id is None:
                return None
            return OtherSignIn(now.opaque_id, principals.name_of(session, now.enrollment_id))

    if (other := await run_in_threadpool(now_signed_in)) is not None:
        raise other


def _is_same_sign_in(request: Request, cookie: str) -> bool:
    token = request.headers.get("x-calipers-token", "")
    return secrets.compare_digest(token.encode(), sign_ins.csrf_token(cookie).encode())


# what is no page; some of it caches keep for everybody
FILES = ("/api/", "/invite/", "/media/", "/page/", "/static/")


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
    return wanted == "document" and not scope["path"].startswith(FILES)


def _renewed(cookie: str) -> str | None:
    try:
        with reading(database()) as session:
            if not sign_ins.is_due(session, cookie):
                return None
        with transaction(database()) as session:
            return sign_ins.renew(session, cookie)
    except DatabaseError:
        return None  # the page says so itself


def cookie_header(value: str, name: str = COOKIE, path: str = "/") -> str:
    """The Set-Cookie line that signs a browser in, or of another of our cookies."""
    secure = "; Secure" if settings().is_https else ""
    return f"{name}={value}; HttpOnly; Max-Age={30 * 24 * 3600}; Path={path}; SameSite=lax{secure}"
