"""What of Streamlit's own routes is open, and to whom; and what a page says where it lost the server.

It has more than the app needs: metrics, an agent interface, logins of its own, and messages that empty every cache,
tell which files of the server's checkout are new, or write into it. Those are closed here, for everybody; files come in
from admins alone.
"""

import hashlib
from html import escape
from pathlib import Path

from google.protobuf.message import DecodeError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from annotation.people.sign_ins import who
from app.server import by_account
from app.server.own_page import COOKIE
from app.settings import database, settings
from app.texts import Texts, texts_accepted
from db.connect import reading

SOCKET = "/_stcore/stream"
OPEN = (SOCKET, "/_stcore/health", "/_stcore/host-config")
CLOSED = ("/_stcore/", "/component/", "/app/static/", "/auth/", "/oauth2callback")
DOWNLOADS, UPLOADS = "/media/", "/_stcore/upload_file/"
ASKS_FOR_UPLOAD = "file_urls_request"
MESSAGES = ("rerun_script", "stop_script", "app_heartbeat")
OPERATIONS = ("deferred_file",)  # a download
NO_PAGE_MAX = 1024  # bytes of a message that an address is no page
PLACE = str(Path(__file__).resolve().parents[1] / "shell.py").encode()


class Doors:
    """Pure ASGI, inside of what sets the headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is closed as if it were not there, and let the rest through."""
        if scope["type"] == "websocket":
            if scope["path"] == SOCKET and _from_own_page(scope):
                cookie = HTTPConnection(scope).cookies.get(COOKIE)
                await self.app(scope, _only_known(receive, cookie), _in_our_words(send))
            else:
                await send({"type": "websocket.close", "code": 1008, "reason": ""})
        elif scope["type"] == "http" and await _is_closed(scope):
            await PlainTextResponse("not found", 404)(scope, receive, send)
        elif scope["type"] == "http" and scope["path"].startswith(UPLOADS):
            await self.app(scope, receive, _for_no_other_site(send))
        else:
            await self.app(scope, receive, send)


async def _is_closed(scope: Scope) -> bool:
    path, cookie = scope["path"], HTTPConnection(scope).cookies.get(COOKIE)
    if path.startswith(DOWNLOADS):
        return not await run_in_threadpool(_is_one_of, cookie, "evaluator", "admin")
    if path.startswith(UPLOADS) and scope["method"] in ("PUT", "DELETE") and _from_own_page(scope):
        return not await run_in_threadpool(_is_one_of, cookie, "admin")
    if path in by_account.OPEN:
        return not by_account.providers()
    return path.startswith(CLOSED) and path not in OPEN


def _is_one_of(cookie: str | None, *roles: str) -> bool:
    if not cookie:
        return False
    with reading(database()) as session:
        principal = who(session, cookie)
    return principal is not None and principal.role in roles


def _for_no_other_site(send: Send) -> Send:
    """Streamlit lets the site at the server's own name read what it says of uploads; ours is read by our page alone."""

    async def own(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [one for one in message["headers"] if not one[0].lower().startswith(b"access-control")]
            message = {**message, "headers": kept}
        await send(message)

    return own


def _from_own_page(scope: Scope) -> bool:
    """A browser always says where a socket comes from; only our own page may use its cookie."""
    origin = HTTPConnection(scope).headers.get("origin")
    return origin is None or origin == settings().origin


def _only_known(receive: Receive, cookie: str | None) -> Receive:
    async def known() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive" or await _is_known(message.get("bytes"), cookie):
                return message

    return known


async def _is_known(sent: bytes | None, cookie: str | None) -> bool:
    """Return whether it is a message that our pages send. Streamlit ends a connection over what it cannot read."""
    try:
        message = BackMsg.FromString(sent or b"")
    except DecodeError:
        return True
    kind = message.WhichOneof("type")
    if kind == ASKS_FOR_UPLOAD:
        return await run_in_threadpool(_is_one_of, cookie, "admin")
    return kind in MESSAGES or message.backend_operation_request.WhichOneof("payload") in OPERATIONS


def _in_our_words(send: Send) -> Send:
    """Without the server's folder, which a page's first message tells, and without Streamlit's dialog in English about
    an address that is no page of this role: the page that is shown in its place says enough."""

    async def said(message: Message) -> None:
        content = message.get("bytes") or b""
        if len(content) < NO_PAGE_MAX and ForwardMsg.FromString(content).HasField("page_not_found"):
            return
        if PLACE in content:
            forward = ForwardMsg.FromString(content)
            if forward.HasField("new_session"):  # to name a field of another kind would empty the message
                forward.new_session.main_script_path = ""
                message = {**message, "bytes": forward.SerializeToString()}
        await send(message)

    return said


ROOT = b'<div id="root"></div>'  # where Streamlit's page draws itself; no page of ours has it
CONDITIONS = (b"if-none-match", b"if-modified-since", b"range")
STYLE = """
.calipers-unconnected>div{visibility:hidden;position:fixed;inset:0;z-index:1000000;display:grid;place-content:center;
justify-items:center;gap:8px;padding:16px;background:#fcfbf8;color:#1c1f23;text-align:center;
font:16px/1.55 system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif}
body:has([data-testid=stAppSkeleton]) .calipers-unconnected>div{animation:calipers-unconnected 1ms 8s forwards}
@keyframes calipers-unconnected{to{visibility:visible}}
.calipers-unconnected h1{margin:0;padding:0;text-wrap:balance;
font:400 25px/1.3 Charter,"Bitstream Charter","Sitka Text",Cambria,Georgia,serif}
.calipers-unconnected p{margin:0 0 16px;max-width:36rem;text-wrap:pretty;color:#5a5f66}
.calipers-unconnected a{padding:7px 16px;border:1px solid #878379;border-radius:6px;color:inherit;font-weight:600;
text-decoration:none}.calipers-unconnected a:focus-visible{outline:2px solid #14606e;outline-offset:2px}
@media(prefers-color-scheme:dark){.calipers-unconnected>div{background:#15171a;color:#e8e6e1}
.calipers-unconnected p{color:#a4a9b0}.calipers-unconnected a{border-color:#767c84}
.calipers-unconnected a:focus-visible{outline-color:#6cc3d1}}
"""


class Unconnected:
    """Pure ASGI: puts the words into Streamlit's page, unseen until it has shown its grey places for eight seconds.

    A style sheet alone decides that; they go as soon as anything arrives.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a browser that asks for a page; let everything else through."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        if scope["type"] != "http" or scope["method"] != "GET" or "text/html" not in headers.get("accept", ""):
            await self.app(scope, receive, send)
            return
        held: list[Message] = []

        async def hold(message: Message) -> None:
            held.append(message)
            if message["type"] == "http.response.start" or message.get("more_body"):
                return
            await _send_on(held, headers, scope, receive, send)

        await self.app(_unconditional(scope), receive, hold)


def _unconditional(scope: Scope) -> Scope:
    """The same request, of which the whole page is the answer."""
    asked = [(name, value) for name, value in scope["headers"] if name not in CONDITIONS]
    return {**scope, "headers": asked, "extensions": {}}


async def _send_on(held: list[Message], headers: Headers, scope: Scope, receive: Receive, send: Send) -> None:
    """Send what was held back: Streamlit's page with the words, anything else as it is."""
    page = b"".join(message.get("body", b"") for message in held)
    if held[0]["status"] != 200 or ROOT not in page:
        for message in held:
            await send(message)
        return
    words = texts_accepted(headers.get("accept-language", ""))
    page = page.replace(ROOT, ROOT + _words(words))
    tag = f'"{hashlib.sha256(page).hexdigest()[:20]}"'
    said = {"Cache-Control": "no-cache", "ETag": tag, "Vary": "Accept-Language"}
    known = headers.get("if-none-match", "").removeprefix("W/") == tag
    reply = Response(status_code=304, headers=said) if known else Response(page, media_type="text/html", headers=said)
    for cookie in MutableHeaders(raw=held[0]["headers"]).getlist("set-cookie"):
        reply.headers.append("Set-Cookie", cookie)
    await reply(scope, receive, send)


def _words(words: Texts) -> bytes:
    title, text, again = (escape(words.tell(f"screens.unconnected.{word}")) for word in ("title", "text", "again"))
    speaks = f'lang="{words.language}" dir="{words.dir}"'
    return (
        f'<style>{STYLE}</style><div class="calipers-unconnected" role="status" {speaks}>'
        f'<div><h1>{title}</h1><p>{text}</p><a href="">{again}</a></div></div>'
    ).encode()
