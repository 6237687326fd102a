"""What of Streamlit's own routes is open, and to whom: its pages and their websocket, and downloads to evaluators.

It has more than the app needs: uploads, metrics, an agent interface, logins of its own, and messages that empty every
cache, tell which files of the server's checkout are new, or write into it. Those are closed here, for everybody.
"""

from __future__ import annotations

from pathlib import Path

from google.protobuf.message import DecodeError
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from annotation.people.sign_ins import who
from app.api import COOKIE
from app.settings import database, settings
from db.connect import reading

SOCKET = "/_stcore/stream"
OPEN = (SOCKET, "/_stcore/health", "/_stcore/host-config")
CLOSED = ("/_stcore/", "/component/", "/app/static/", "/auth/", "/oauth2callback")
DOWNLOADS = "/media/"
MESSAGES = ("rerun_script", "stop_script", "app_heartbeat")
OPERATIONS = ("deferred_file",)  # a download
PLACE = str(Path(__file__).resolve().parent / "shell.py").encode()


class Doors:
    """Pure ASGI, inside of what sets the headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is closed as if it were not there, and let the rest through."""
        if scope["type"] == "websocket":
            if scope["path"] == SOCKET and _from_own_page(scope):
                await self.app(scope, _only_known(receive), _without_place(send))
            else:
                await send({"type": "websocket.close", "code": 1008, "reason": ""})
        elif scope["type"] == "http" and await _is_closed(scope):
            await PlainTextResponse("not found", 404)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


async def _is_closed(scope: Scope) -> bool:
    path = scope["path"]
    if path.startswith(DOWNLOADS):
        return not await run_in_threadpool(_sees_results, HTTPConnection(scope).cookies.get(COOKIE))
    return path.startswith(CLOSED) and path not in OPEN


def _sees_results(cookie: str | None) -> bool:
    with reading(database()) as session:
        principal = who(session, cookie)
    return principal is not None and principal.role in ("evaluator", "admin")


def _from_own_page(scope: Scope) -> bool:
    """A browser always says where a socket comes from; only our own page may use its cookie."""
    origin = HTTPConnection(scope).headers.get("origin")
    return origin is None or origin == settings().origin


def _only_known(receive: Receive) -> Receive:
    async def known() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive" or _is_known(message.get("bytes")):
                return message

    return known


def _is_known(sent: bytes | None) -> bool:
    """Whether it is a message that our pages send. Streamlit ends a connection over what it cannot read."""
    try:
        message = BackMsg.FromString(sent or b"")
    except DecodeError:
        return True
    kind = message.WhichOneof("type")
    return kind in MESSAGES or message.backend_operation_request.WhichOneof("payload") in OPERATIONS


def _without_place(send: Send) -> Send:
    """The first message of a page tells in which folder of the server the app stands."""

    async def placeless(message: Message) -> None:
        if PLACE in (message.get("bytes") or b""):
            forward = ForwardMsg.FromString(message["bytes"])
            if forward.HasField("new_session"):  # to name a field of another kind would empty the message
                forward.new_session.main_script_path = ""
                message = {**message, "bytes": forward.SerializeToString()}
        await send(message)

    return placeless
