"""Our own routes: sign in by link, fetch an assignment, save labels, hand in, sign out. No rule is decided here."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable
from html import escape
from pathlib import Path
from traceback import extract_tb
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from annotation.entries import ENTRIES_MAX, SubmitRequest, place_of, read_entry, sent_id
from annotation.errors import AnnotationError, Incomplete
from annotation.labelling import reopen, save, skip, submit
from annotation.people.principals import Principal
from annotation.people.sign_ins import csrf_token, note_seen, sign_in, sign_out, who
from annotation.people.signing_out import sign_out_everywhere
from annotation.work.history import answer_history
from annotation.work.next_work import next_work
from annotation.work.page import assignment_page
from annotation.work.positions import position
from app.headers import headers_for
from app.settings import database, settings
from app.texts import ENGLISH, Texts, texts_accepted
from db.connect import reading, transaction
from db.errors import DatabaseError, DiskFull

COOKIE = "calipers"
BODY_MAX = 256 * 1024
STATUS = {
    "signed_out": 401, "forbidden": 403, "not_found": 404, "unsaved": 409, "locked": 409, "returned": 409,
    "too_large": 413, "incomplete": 422, "invalid": 422, "no_reason": 422, "too_many": 429,
    "confirm": 200, "no_participant": 400, "no_places": 403,
}  # fmt: skip
# refusals whose page has a title and words of its own; every other asks to wait
INVITE_PAGES = ("confirm", "no_participant", "no_places", "forbidden")
PARTICIPANT_NAMES = ("participant", "PROLIFIC_PID", "workerId", "participantId")  # as crowd platforms call the id
log = logging.getLogger("calipers")
T = TypeVar("T", bound=BaseModel)


async def invite(request: Request) -> Response:
    """GET /invite/{token}: set the cookie and go to the app. The link stays good: mail scanners open links too.

    Where it works only once, GET shows a page whose button POSTs to the same path, and that uses it up.
    """
    token, address = request.path_params["token"], _address(request)
    confirmed = request.method == "POST"
    if confirmed and request.headers.get("origin") != settings().origin:
        raise AnnotationError("forbidden", "This did not come from the page of the link. Open the link again.")
    former = request.cookies.get(COOKIE)
    participant = next(filter(None, map(request.query_params.get, PARTICIPANT_NAMES)), "")

    def open_link() -> str | None:
        with transaction(database()) as session:
            return sign_in(
                session, token, address, settings().admin_token, participant=participant.strip(), confirmed=confirmed,
                former=former,
            )  # fmt: skip

    cookie = await run_in_threadpool(open_link)
    if cookie is None:
        return _page(_words(request), "unknown", 404)
    response = RedirectResponse("/", status_code=303)
    response.headers.append("Set-Cookie", cookie_header(cookie))
    return response


def cookie_header(cookie: str) -> str:
    """The Set-Cookie line that signs a browser in."""
    secure = "; Secure" if settings().is_https else ""
    return f"{COOKIE}={cookie}; HttpOnly; Max-Age={30 * 24 * 3600}; Path=/; SameSite=lax{secure}"


async def get_assignment(request: Request) -> Response:
    """GET /api/assignment/{aid}: both shown texts, the questions, one's own answers."""
    aid, cookie = request.path_params["aid"], request.cookies.get(COOKIE)

    def read() -> dict[str, Any]:
        with reading(database()) as session:
            return assignment_page(session, _principal(session, cookie), aid)

    return JSONResponse(await run_in_threadpool(read))


async def get_history(request: Request) -> Response:
    """GET /api/history/{aid}: how one's own answers to it became what they are."""
    aid, cookie = request.path_params["aid"], request.cookies.get(COOKIE)

    def read() -> list[dict[str, Any]]:
        with reading(database()) as session:
            return answer_history(session, _principal(session, cookie), aid)

    return JSONResponse(await run_in_threadpool(read))


async def post_labels(request: Request) -> Response:
    """POST /api/labels: acknowledged only after COMMIT. One bad entry spoils no other."""
    cookie, body = await _checked_body(request)
    raw = body.get("entries")
    if not isinstance(raw, list) or len(raw) > ENTRIES_MAX:
        raise AnnotationError("invalid", f"entries must be a list of at most {ENTRIES_MAX}")
    entries, refused = [], []
    for one in raw:
        try:
            entries.append(read_entry(one))
        except AnnotationError as error:
            refused.append({"client_uuid": sent_id(one), "code": error.code, "text": error.text})

    def write() -> dict[str, Any]:
        with transaction(database()) as session:
            principal = _principal(session, cookie)
            saved = save(session, principal, entries)
            note_seen(session, principal, cookie)
        return {"acks": saved.acks, "refused": refused + saved.refused}

    return JSONResponse(await run_in_threadpool(write))


async def post_submit(request: Request) -> Response:
    """POST /api/submit: hand in, skip or reopen; answers with the next assignment."""
    cookie, body = await _checked_body(request)
    sent = _validated(SubmitRequest, body)

    def act(session: Session, principal: Principal) -> dict[str, Any]:
        if sent.outcome == "submit":
            return submit(session, principal, sent.aid, sent.page, sent.client_uuid, sent.revs, beside=sent.beside)
        if sent.outcome == "skip":
            return skip(session, principal, sent.aid, sent.reason)
        reopen(session, principal, sent.aid)
        done, of = position(session, principal)
        return {"next": sent.aid, "position": {"done": done, "of": of}}

    return JSONResponse(await run_in_threadpool(_in_transaction, cookie, act))


async def post_take(request: Request) -> Response:
    """POST /api/take: the assignment in work, or a new one."""
    cookie, _ = await _checked_body(request)
    return JSONResponse(await run_in_threadpool(_in_transaction, cookie, next_work))


async def post_logout(request: Request) -> Response:
    """POST /api/logout: this sign-in ends here and on the server; with `{everywhere: true}` all of this person."""
    cookie, body = await _checked_body(request)

    def end() -> None:
        with transaction(database()) as session:
            principal = _principal(session, cookie)
            if body.get("everywhere") is True:
                sign_out_everywhere(session, principal)
            else:
                sign_out(session, cookie)

    await run_in_threadpool(end)
    response = JSONResponse({})
    response.delete_cookie(COOKIE, path="/")
    return response


routes = [
    Route("/invite/{token}", invite, methods=["GET", "POST"]),
    Route("/api/assignment/{aid}", get_assignment, methods=["GET"]),
    Route("/api/history/{aid}", get_history, methods=["GET"]),
    Route("/api/labels", post_labels, methods=["POST"]),
    Route("/api/submit", post_submit, methods=["POST"]),
    Route("/api/take", post_take, methods=["POST"]),
    Route("/api/logout", post_logout, methods=["POST"]),
]


async def refused(request: Request, error: Exception) -> Response:
    """A refusal as code and sentence; an invite link answers with a page."""
    if not isinstance(error, AnnotationError):
        raise error
    status = STATUS.get(error.code, 400)
    if request.url.path.startswith("/invite/"):
        key = error.code if error.code in INVITE_PAGES else "wait"
        return _page(_words(request), key, status, error.text, button=error.code == "confirm")
    details: dict[str, Any] = {}
    if isinstance(error, Incomplete):
        details = {"criteria" if error.code == "unsaved" else "missing": error.details}
    return JSONResponse({"code": error.code, "text": error.text, **details}, status_code=status)


async def failed(request: Request, error: Exception) -> Response:
    """Anything else: an opaque id for the person, the reason in the server's log, no content in either."""
    error_id = secrets.token_hex(6)
    reason = str(error) if isinstance(error, DatabaseError) else ""
    # where, not what: an exception's own words may quote an answer
    where = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in extract_tb(error.__traceback__)[-5:]]
    facts = {"error_id": error_id, "error": type(error).__name__, "reason": reason, "where": where}
    log.error("failed", extra=facts)
    own_headers = headers_for(request.url.path)  # this is sent from outside of every middleware
    why = "the server's disk is full" if isinstance(error, DiskFull) else "the server could not do this"
    if request.url.path.startswith("/invite/"):
        words = _words(request)
        what = "failed_disk_text" if isinstance(error, DiskFull) else "failed_text"
        page = _page(words, "wait", 503, words.tell(f"screens.invite.{what}", error=error_id))
        page.headers.update(own_headers)
        return page
    text = f"{why} (error {error_id}); your text is kept and will be sent again"
    content = {"code": "server_error", "text": text, "error_id": error_id}
    return JSONResponse(content, status_code=503, headers=own_headers)


exception_handlers = {AnnotationError: refused, DatabaseError: failed, Exception: failed}


def _in_transaction(cookie: str, act: Callable[[Session, Principal], dict[str, Any]]) -> dict[str, Any]:
    with transaction(database()) as session:
        return act(session, _principal(session, cookie))


def _principal(session: Session, cookie: str | None) -> Principal:
    principal = who(session, cookie)
    if principal is None:
        raise AnnotationError("signed_out", "you are signed out; open your invitation link again")
    return principal


async def _checked_body(request: Request) -> tuple[str, dict[str, Any]]:
    """Cookie and JSON body of a POST that comes from our own page. Streamlit's protection does not cover our routes."""
    cookie = request.cookies.get(COOKIE)
    if not cookie:
        raise AnnotationError("signed_out", "you are signed out; open your invitation link again")
    own_page = request.headers.get("origin") == settings().origin
    token = request.headers.get("x-calipers-token", "")
    if not own_page or not secrets.compare_digest(token.encode(), csrf_token(cookie).encode()):
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


def _validated(model: type[T], body: dict[str, Any]) -> T:
    try:
        return model.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        place = place_of(first["loc"])
        raise AnnotationError("invalid", f"{place}: {first['msg']}") from None


def _address(request: Request) -> str:
    """The caller's address; a forwarded one only from a proxy we were told to trust."""
    peer = request.client.host if request.client else "unknown"
    forwarded = request.headers.get("x-forwarded-for", "").split(",")[-1].strip()
    return forwarded if forwarded and peer in settings().trusted_proxies else peer


def _words(request: Request) -> Texts:
    return texts_accepted(request.headers.get("accept-language", ""))


def _page(words: Texts, key: str, status: int, text: str = "", button: bool = False) -> HTMLResponse:
    """A title, one sentence, and a button that POSTs to the same path. In English the server's `text` says more."""
    said = {one: words.tell(f"screens.invite.{one}") for one in (key, f"{key}_text", "sign_in")}
    title, text = said[key], text if text and words.language == ENGLISH else said[f"{key}_text"]
    form = f'<form method="post"><button>{escape(said["sign_in"])}</button></form>' if button else ""
    # under no-referrer, which every response says, a browser sends the form's Origin as null
    origin_only = '<meta name="referrer" content="strict-origin">' if button else ""
    return HTMLResponse(
        f"""<!doctype html><html lang="{words.language}" dir="{words.dir}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width">{origin_only}<title>calipers</title><style>
body{{margin:0;min-height:100vh;display:grid;place-items:center;background:#fcfbf8;color:#1c1f23;
font:16px/1.55 system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif}}
main{{max-width:34rem;padding:24px;border-top:2px solid #14606e}}h1{{font-size:20px;font-weight:600;margin:0 0 8px}}
p{{margin:0;color:#5a5f66}}button{{margin-top:24px;padding:7px 16px;border:0;border-radius:6px;background:#14606e;
color:#fcfbf8;font:inherit;font-weight:600;cursor:pointer}}button:focus-visible{{outline:2px solid #14606e;
outline-offset:2px}}@media(prefers-color-scheme:dark){{body{{background:#15171a;color:#e8e6e1}}p{{color:#a4a9b0}}
main{{border-color:#6cc3d1}}button{{background:#6cc3d1;color:#15171a;outline-color:#6cc3d1!important}}}}</style>
<main><h1>{escape(title)}</h1><p>{escape(text)}</p>{form}</main></html>""",
        status_code=status,
    )
