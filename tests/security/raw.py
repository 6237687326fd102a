"""Plain HTTP and plain websockets, as somebody with a terminal speaks them: paths are sent as they are written."""

from __future__ import annotations

import http.client
from email.message import Message
from http.cookies import SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

SOCKET = "/_stcore/stream"


class Reply(NamedTuple):
    status: int
    headers: Message
    body: bytes

    @property
    def cookie(self) -> str:
        """The value of the app's cookie that this reply sets; empty where it sets none."""
        lines = self.headers.get_all("Set-Cookie") or []
        return next((SimpleCookie(one)["calipers"].value for one in lines if one.startswith("calipers=")), "")


def ask(server: Any, method: str, path: str, body: bytes | None = None, **headers: str) -> Reply:
    line = http.client.HTTPConnection("127.0.0.1", urlsplit(server.address).port or 80, timeout=20)
    line.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = line.getresponse()
    reply = Reply(answer.status, answer.headers, answer.read())
    line.close()
    return reply


def signed_in(server: Any, study_id: int, name: str, role: str = "annotator") -> str:
    """Another sign-in of this person; its cookie."""
    link = server.link(study_id, name, role)
    return ask(server, "GET", link.removeprefix(server.address)).cookie


def socket(
    server: Any, cookie: str = "", origin: str | None = None, path: str = SOCKET, session: str = ""
) -> ClientConnection:
    """The websocket of Streamlit's pages; `session`: of a page that it pretends to be.

    Raises websockets.exceptions.InvalidStatus where it is refused.
    """
    return connect(
        server.address.replace("http", "ws", 1) + path, origin=origin or server.address,  # type: ignore[arg-type]
        additional_headers={"Cookie": f"calipers={cookie}"} if cookie else None, subprotocols=["streamlit", *(["no-token", session] if session else [])],  # type: ignore[list-item]
        max_size=None, proxy=None,
    )  # fmt: skip


def run_page(line: ClientConnection, page_hash: str = "", query: str = "", name: str = "") -> list[ForwardMsg]:
    """Ask for a page as the browser does; every message up to the end of the run."""
    asked = BackMsg()
    asked.rerun_script.query_string = query
    asked.rerun_script.page_script_hash = page_hash
    asked.rerun_script.page_name = name
    return sent(line, asked)


def sent(line: ClientConnection, message: BackMsg) -> list[ForwardMsg]:
    """What comes back, up to the end of a run."""
    line.send(message.SerializeToString())
    got = []
    while not got or got[-1].WhichOneof("type") != "script_finished":
        raw = line.recv(timeout=20)
        assert isinstance(raw, bytes)
        got.append(ForwardMsg.FromString(raw))
    return got
