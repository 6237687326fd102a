"""Security headers on every response; Streamlit sends none of its own."""

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.settings import settings

PRIVATE = ("/api/", "/back", "/invite/", "/media/", "/metrics")
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.S)


@lru_cache(maxsize=1)
def content_security_policy() -> str:
    """Nothing from outside. `blob:` is how Streamlit loads components; its one inline script is allowed by its hash."""
    index = Path(streamlit.__file__).parent / "static" / "index.html"
    inline = INLINE_SCRIPT.findall(index.read_text(encoding="utf-8")) if index.exists() else []
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in inline
    )
    socket = settings().origin.replace("http", "ws", 1)
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' blob: {hashes}".rstrip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            f"connect-src 'self' {socket}",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


def headers_for(path: str) -> dict[str, str]:
    """Return the headers of a response by name; to be kept by nobody where the path tells of a person or a result."""
    always = {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Content-Security-Policy": content_security_policy(),
    }
    return always | ({"Cache-Control": "private, no-store"} if path.startswith(PRIVATE) else {})


class SecurityHeaders:
    """Pure ASGI, also around the refusal of a websocket, which is an HTTP response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to the start of every response."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        opened = False

        async def send_with_headers(message: Message) -> None:
            nonlocal opened
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                headers.update(headers_for(scope["path"]))
                _secure_cookies(headers)
            refused = message["type"] == "websocket.close" and not opened
            if refused and "websocket.http.response" in scope.get("extensions", {}):
                await _refuse(scope["path"], send)
                return
            opened = opened or message["type"] == "websocket.accept"
            await send(message)

        await self.app(scope, receive, send_with_headers)


async def _refuse(path: str, send: Send) -> None:
    """A server would say 403 by itself, without our headers."""
    headers = [(name.lower().encode(), value.encode()) for name, value in headers_for(path).items()]
    await send({"type": "websocket.http.response.start", "status": 403, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": b""})


def _secure_cookies(headers: MutableHeaders) -> None:
    """Streamlit sets cookies too, and does not know that the proxy speaks https."""
    cookies = headers.getlist("set-cookie")
    if not settings().is_https or not cookies:
        return
    del headers["set-cookie"]
    for cookie in cookies:
        headers.append("Set-Cookie", cookie if "; secure" in cookie.lower() else f"{cookie}; Secure")
