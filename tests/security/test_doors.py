"""What of Streamlit's own routes and messages is open, and to whom."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus

import app
from app.server.doors import MESSAGES, PLACE, SOCKET, Doors
from tests.security.raw import ask, run_page, signed_in, socket

CLOSED = (
    "/_stcore/metrics", "/_stcore/metrics/", "/_stcore/script-health-check", "/_stcore/agent/openapi.json",
    "/_stcore/agent/interact", "/_stcore/agent/mcp", "/_stcore/bidi-components/calipers_annotate/x.js",
    "/component/calipers_annotate/index.html", "/auth/login", "/auth/logout", "/oauth2callback", "/app/static/x",
)  # fmt: skip
EVERYBODY = ("", "annotator", "adjudicator", "evaluator", "admin")


def test_what_the_app_does_not_need_is_not_there_for_anybody(server: Any, study_id: int) -> None:
    cookies = [signed_in(server, study_id, f"a {role}", role) if role else "" for role in EVERYBODY]
    for path, cookie in itertools.product(CLOSED, cookies):
        for method, body in (("GET", None), ("PUT", b"x" * 1000), ("POST", b"{}"), ("DELETE", None), ("OPTIONS", None)):
            reply = ask(server, method, path, body, Cookie=f"calipers={cookie}", X_Xsrftoken="x")
            said = (reply.status, reply.body.strip().lower())
            assert said in {(404, b"not found"), (405, b"method not allowed")}, (method, path)


def test_files_come_in_from_an_admin_on_our_own_page_alone(server: Any, study_id: int) -> None:
    path, body = "/_stcore/upload_file/a/b", b"x" * 1000
    people = {role: signed_in(server, study_id, f"a {role}", role) if role else "" for role in EVERYBODY}
    by_role = {
        role: {ask(server, method, path, body, Cookie=f"calipers={cookie}").status for method in ("PUT", "DELETE")}
        for role, cookie in people.items()
    }
    admin = f"calipers={people['admin']}"
    assert by_role.pop("admin") == {403}, "Streamlit asks for its own token next"
    assert set.union(*by_role.values()) == {404}
    assert ask(server, "PUT", path, body, Cookie=admin, Origin="https://evil.example").status == 404
    for method in ("GET", "POST", "OPTIONS"):
        assert ask(server, method, path, Cookie=admin).status in (404, 405)
    with socket(server, people["admin"]) as line:
        session = next(one.new_session.initialize.session_id for one in run_page(line) if one.HasField("new_session"))
        set_there = ask(server, "GET", "/_stcore/health").headers["Set-Cookie"]
        token = set_there.partition("=")[2].partition(";")[0]
        form = b'--x\r\nContent-Disposition: form-data; name="a.md"; filename="a.md"\r\n\r\n# A\r\n--x--\r\n'
        reply = ask(
            server, "PUT", path.replace("/a/", f"/{session}/"), form, Cookie=f"{admin}; _streamlit_xsrf={token}",
            X_Xsrftoken=token, Content_Type="multipart/form-data; boundary=x",
        )  # fmt: skip
    assert reply.status == 204
    assert not [name for name in reply.headers if name.lower().startswith("access-control")], "no other site reads it"


@pytest.mark.parametrize(("role", "is_answered"), [("evaluator", False), ("admin", True)])
def test_where_a_file_goes_is_told_to_an_admin_alone(server: Any, study_id: int, role: str, is_answered: bool) -> None:
    with socket(server, signed_in(server, study_id, f"a {role}", role)) as line:
        run_page(line)
        asked = BackMsg()
        asked.file_urls_request.request_id = "one"
        asked.file_urls_request.file_names.append("a.md")
        line.send(asked.SerializeToString())
        # another run would drop what waits to be sent, so the end of silence is waited for
        kind = "file_urls_response"
        with nullcontext() if is_answered else pytest.raises(TimeoutError):
            while ForwardMsg.FromString(bytes(line.recv(timeout=20 if is_answered else 3))).WhichOneof("type") != kind:
                pass


def test_a_download_is_there_for_evaluators_and_admins_only(server: Any, study_id: int) -> None:
    people = {role: signed_in(server, study_id, f"a {role}", role) if role else "" for role in EVERYBODY}
    with socket(server, people["admin"]) as line:
        messages = run_page(line, name="people", page_hash=_hash_of(run_page(line), "people"))
        urls = {part for one in messages for part in _urls(one)}
        assert urls == set(), "what a page offers for download is made when it is asked for"
        path = _make_download(line, messages)
    replies = {role: ask(server, "GET", path, Cookie=f"calipers={cookie}") for role, cookie in people.items()}
    assert {role: one.status for role, one in replies.items()} == {
        "": 404, "annotator": 404, "adjudicator": 404, "evaluator": 200, "admin": 200,
    }  # fmt: skip
    assert replies["admin"].headers["Cache-Control"] == "private, no-store"
    assert b"annotator-01" in replies["admin"].body


def _urls(message: Any) -> list[str]:
    return [word for word in str(message).split('"') if word.startswith("/media/")]


def _hash_of(messages: list[Any], page: str) -> str:
    pages = [one.navigation.app_pages for one in messages if one.WhichOneof("type") == "navigation"][-1]
    return next(one.page_script_hash for one in pages if one.url_pathname == page)


def _make_download(line: Any, messages: list[Any]) -> str:
    """As a click on the pay file's button does it; where the file is then."""
    session = next(one.new_session.initialize.session_id for one in messages if one.HasField("new_session"))
    wanted = next(
        one.delta.new_element.download_button.deferred_file_id
        for one in messages
        if one.HasField("delta") and one.delta.new_element.HasField("download_button")
    )
    asked = BackMsg()
    asked.backend_operation_request.session_id = session
    asked.backend_operation_request.request_id = "one"
    asked.backend_operation_request.deferred_file.file_id = wanted
    line.send(asked.SerializeToString())
    while True:
        message = ForwardMsg.FromString(line.recv(timeout=20))
        if message.WhichOneof("type") == "backend_operation_response":
            assert not message.backend_operation_response.error_msg
            (path,) = _urls(message)
            return path


def test_only_messages_that_our_pages_send_get_through() -> None:
    """By the list of all there are, so that one that comes with a newer Streamlit stays outside until it is looked at."""
    kinds = [field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields]
    operations = [
        field.name
        for field in BackMsg.DESCRIPTOR.fields_by_name["backend_operation_request"].message_type.oneofs[0].fields
    ]
    assert set(MESSAGES) < set(kinds)
    assert {"clear_cache", "load_git_info", "file_urls_request", "set_run_on_save"} <= set(kinds) - set(MESSAGES)
    assert {"deferred_file", "install_skills"} <= set(operations)
    passed: list[str | None] = []
    waiting = [*map(_message, kinds), *map(_operation, operations), None]

    async def receive() -> Any:
        one = waiting.pop(0)
        return {"type": "websocket.disconnect"} if one is None else {"type": "websocket.receive", "bytes": one}

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            told = BackMsg.FromString(message["bytes"])
            passed.append(told.backend_operation_request.WhichOneof("payload") or told.WhichOneof("type"))

    async def send(message: Any) -> None:
        raise AssertionError(message)

    asyncio.run(Doors(inside)({"type": "websocket", "path": SOCKET, "headers": []}, receive, send))
    assert sorted(passed, key=str) == sorted(["deferred_file", *MESSAGES])


def test_no_dialog_of_streamlits_own_says_that_an_address_is_no_page() -> None:
    told, sent = [ForwardMsg(), ForwardMsg(), ForwardMsg()], []
    told[0].page_not_found.page_name = "label"
    told[1].navigation.SetInParent()
    told[2].script_finished = ForwardMsg.FINISHED_SUCCESSFULLY

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        for one in told:
            await send({"type": "websocket.send", "bytes": one.SerializeToString()})

    async def send(message: Any) -> None:
        sent.append(message["bytes"])

    asyncio.run(Doors(inside)({"type": "websocket", "path": SOCKET, "headers": []}, _nothing, send))
    assert sent == [one.SerializeToString() for one in told[1:]]


async def _nothing() -> Any:
    return {"type": "websocket.disconnect"}


def _message(kind: str) -> bytes:
    message = BackMsg()
    field = BackMsg.DESCRIPTOR.fields_by_name[kind]
    if field.message_type is None:
        setattr(message, kind, True if field.type == field.TYPE_BOOL else "x")
    else:
        getattr(message, kind).SetInParent()
    return message.SerializeToString()


def _operation(kind: str) -> bytes:
    message = BackMsg()
    getattr(message.backend_operation_request, kind).SetInParent()
    return message.SerializeToString()


def test_no_page_tells_in_which_folder_the_app_stands(server: Any, study_id: int) -> None:
    folder = str(Path(app.__file__).resolve().parent)
    for role in EVERYBODY:
        with socket(server, signed_in(server, study_id, f"a {role}", role) if role else "") as line:
            messages = run_page(line)
            assert any(one.WhichOneof("type") == "new_session" for one in messages)
            assert folder not in "".join(map(str, messages))


def test_a_page_that_quotes_the_folder_in_its_text_arrives_whole() -> None:
    page, passed = ForwardMsg(), list[Any]()
    page.delta.new_element.markdown.body = f"found in {PLACE.decode()}"

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.send", "bytes": page.SerializeToString()})

    async def send(message: Any) -> None:
        passed.append(ForwardMsg.FromString(message["bytes"]))

    asyncio.run(Doors(inside)({"type": "websocket", "path": SOCKET, "headers": []}, send, send))
    assert passed == [page]


def test_nobody_learns_which_files_of_the_checkout_are_new(server: Any) -> None:
    with socket(server) as line:
        run_page(line)
        asked = BackMsg()
        asked.load_git_info = True
        line.send(asked.SerializeToString())
        kinds = {one.WhichOneof("type") for one in run_page(line)}
    assert "git_info_changed" not in kinds


@pytest.mark.parametrize("origin", ["http://evil.test", "http://localhost:1", "null", "https://127.0.0.1"])
def test_a_page_of_somebody_else_opens_no_websocket(server: Any, study_id: int, origin: str) -> None:
    with pytest.raises(InvalidStatus):
        socket(server, signed_in(server, study_id, "Ada"), origin=origin)
