"""Our own routes: sign in by link, fetch an assignment, save labels, hand in, sign out. No rule is decided here."""

import logging
import secrets
from collections.abc import Callable
from html import escape
from pathlib import Path
from traceback import extract_tb
from typing import Any

from pydantic import ValidationError
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from annotation.errors import AnnotationError, Incomplete, OtherPerson, OtherSignIn, OtherVisit, SentBack
from annotation.figures.pictures import MEDIA_TYPE
from annotation.labelling import reopen, save, skip, submit
from annotation.labels.entries import ENTRIES_MAX, SubmitRequest, place_of, read_entry, sent_id
from annotation.people.platforms import arrived
from annotation.people.principals import Principal
from annotation.people.sign_ins import note_seen, sign_in, sign_out, sign_out_everywhere, who
from annotation.people.visits import PARTICIPANT, keep_out
from annotation.work import claiming, history, own_work, progress, way_back
from annotation.work.page import assignment_page, picture_of_assignment
from app.server import signed_addresses
from app.server.headers import headers_for
from app.server.own_page import COOKIE, ID_COOKIE, checked_body, cookie_header, refuse_former_sign_in
from app.settings import database, settings
from app.texts import ENGLISH, Texts, texts_accepted
from db.connect import reading, transaction
from db.errors import DatabaseError, DiskFull

STATUS = {
    "signed_out": 401, "forbidden": 403, "not_found": 404, "unsaved": 409, "locked": 409, "returned": 409,
    "too_large": 413, "incomplete": 422, "invalid": 422, "no_reason": 422, "too_many": 429,
    "confirm": 200, "no_participant": 400, "no_places": 403, "other_person": 200, "other_sign_in": 403,
    "preview": 200, "other_visit": 403,
}  # fmt: skip
# refusals whose page has a title and words of its own; every other asks to wait
BACK = "/back"
INVITE_PAGES = ("no_participant", "no_places", "forbidden", "preview", "other_visit")
log = logging.getLogger("calipers")


async def invite(request: Request) -> Response:
    """GET /invite/{token}: set the cookie and go to the app. The link stays good: mail scanners open links too.

    Where it works only once, GET shows a page whose button POSTs to the same path, and that uses it up. So it does
    where somebody else is signed in, who would be signed out.
    """
    token, address = request.path_params["token"], address_of(request)
    confirmed = request.method == "POST"
    if confirmed and request.headers.get("origin") != settings().origin:
        raise AnnotationError("forbidden", "This did not come from the page of the link. Open the link again.")
    former = request.cookies.get(COOKIE)
    participant, visit = arrived(request.query_params)

    def open_link() -> tuple[str | None, bool]:
        by = request.query_params.get(signed_addresses.TOKEN)
        signed = signed_addresses.signed_for(settings().origin, by) if by else None
        try:
            with transaction(database()) as session:
                cookie = sign_in(
                    session, token, address, settings().admin_token, participant=participant, visit=visit,
                    signed=signed, confirmed=confirmed, former=former,
                )  # fmt: skip
                principal = who(session, cookie)
                return cookie, principal is not None and progress.is_participant(session, principal)
        except OtherVisit as error:
            with transaction(database()) as session:
                keep_out(session, error, address)
            raise

    cookie, by_platform = await run_in_threadpool(open_link)
    if cookie is None:
        return refusal_page(_words(request), "unknown", 404)
    response = RedirectResponse("/", status_code=303)
    response.headers.append("Set-Cookie", cookie_header(cookie))
    # of another link the id was looked at by nobody, and would go into a header as it came
    if by_platform and PARTICIPANT.fullmatch(participant):
        response.headers.append("Set-Cookie", cookie_header(participant, ID_COOKIE, BACK))
    return response


async def get_back(request: Request) -> Response:
    """GET /back: to the platform that sent this person, once they end here; to their own page before."""
    cookie, participant = map(request.cookies.get, (COOKIE, ID_COOKIE))

    def leave() -> str | None:
        with transaction(database()) as session:
            principal = who(session, cookie)
            return None if principal is None else way_back.go_back(session, principal, participant or "")

    address = await run_in_threadpool(leave)
    return RedirectResponse(address or "/", status_code=303)


async def get_assignment(request: Request) -> Response:
    """GET /api/assignment/{aid}: both shown texts, the questions, one's own answers."""
    aid, cookie = request.path_params["aid"], request.cookies.get(COOKIE)
    await refuse_former_sign_in(request, cookie)
    return JSONResponse(await run_in_threadpool(_shown, cookie, aid))


async def get_history(request: Request) -> Response:
    """GET /api/history/{aid}: how one's own answers to it became what they are."""
    aid, cookie = request.path_params["aid"], request.cookies.get(COOKIE)
    await refuse_former_sign_in(request, cookie)

    def read() -> list[dict[str, Any]]:
        with reading(database()) as session:
            return history.answer_history(session, _principal(session, cookie), aid)

    return JSONResponse(await run_in_threadpool(read))


async def get_earlier_reasons(request: Request) -> Response:
    """GET /api/earlier/{aid}/{code}: one's own reasons for it on other items."""
    aid, code, cookie = *map(request.path_params.get, ("aid", "code")), request.cookies.get(COOKIE)
    await refuse_former_sign_in(request, cookie)

    def read() -> list[dict[str, Any]]:
        with reading(database()) as session:
            return own_work.earlier_reasons(session, _principal(session, cookie), str(aid), str(code))

    return JSONResponse(await run_in_threadpool(read))


async def get_figure(request: Request) -> Response:
    """GET /api/figure/{aid}/{name}: a picture of a report that this assignment shows."""
    aid, name, cookie = *map(request.path_params.get, ("aid", "name")), request.cookies.get(COOKIE)

    def read() -> bytes:
        with reading(database()) as session:
            return picture_of_assignment(session, _principal(session, cookie), str(aid), str(name))

    return Response(await run_in_threadpool(read), media_type=MEDIA_TYPE)


async def post_labels(request: Request) -> Response:
    """POST /api/labels: acknowledged only after COMMIT. One bad entry spoils no other."""
    cookie, body = await checked_body(request, request.cookies.get(COOKIE))
    raw = body.get("entries")
    if not isinstance(raw, list) or len(raw) > ENTRIES_MAX:
        raise AnnotationError("invalid", f"entries must be a list of at most {ENTRIES_MAX}")
    entries, refused = [], []
    for label in raw:
        try:
            entries.append(read_entry(label))
        except AnnotationError as error:
            refused.append({"client_uuid": sent_id(label), "code": error.code, "text": error.text})

    def write() -> dict[str, Any]:
        with transaction(database()) as session:
            principal = _principal(session, cookie)
            saved = save(session, principal, entries)
            note_seen(session, principal, cookie)
        return {"acks": saved.acks, "refused": refused + saved.refused}

    return JSONResponse(await run_in_threadpool(write))


async def post_submit(request: Request) -> Response:
    """POST /api/submit: hand in, skip or reopen; answers with the next assignment, and with its page as `item`."""
    cookie, body = await checked_body(request, request.cookies.get(COOKIE))
    try:
        sent = SubmitRequest.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        raise AnnotationError("invalid", f"{place_of(first['loc'])}: {first['msg']}") from None

    def act(session: Session, principal: Principal) -> dict[str, Any]:
        if sent.outcome == "submit":
            return submit(session, principal, sent.aid, sent.page, sent.client_uuid, sent.revs, beside=sent.beside)
        if sent.outcome == "skip":
            return skip(session, principal, sent.aid, sent.reason)
        reopen(session, principal, sent.aid)
        done, of = progress.position(session, principal)
        return {"next": sent.aid, "position": {"done": done, "of": of}}

    reply = await run_in_threadpool(_in_transaction, cookie, act)
    follows = reply.get("next")
    item = await run_in_threadpool(_shown, cookie, follows, reply["position"]) if follows else None
    return JSONResponse(reply | {"item": item})


async def post_take(request: Request) -> Response:
    """POST /api/take: the assignment in work, or a new one."""
    cookie, _ = await checked_body(request, request.cookies.get(COOKIE))
    return JSONResponse(await run_in_threadpool(_in_transaction, cookie, claiming.next_work))


async def post_logout(request: Request) -> Response:
    """POST /api/logout: this sign-in ends here and on the server; with `{everywhere: true}` all of this person."""
    cookie, body = await checked_body(request, request.cookies.get(COOKIE))

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
    Route(BACK, get_back, methods=["GET"]),
    Route("/api/assignment/{aid}", get_assignment, methods=["GET"]),
    Route("/api/history/{aid}", get_history, methods=["GET"]),
    Route("/api/earlier/{aid}/{code}", get_earlier_reasons, methods=["GET"]),
    Route("/api/figure/{aid}/{name}", get_figure, methods=["GET"]),
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
        return _invite_page(_words(request), error, status)
    details: dict[str, Any] = {}
    if isinstance(error, Incomplete):
        details = {"criteria" if error.code == "unsaved" else "missing": error.details}
    elif isinstance(error, OtherSignIn):
        details = {"person": error.person, "name": error.name}
    return JSONResponse({"code": error.code, "text": error.text, **details}, status_code=status)


def _invite_page(words: Texts, error: AnnotationError, status: int) -> Response:
    if isinstance(error, OtherPerson):
        return other_person_page(words, error)
    if error.code == "confirm":
        return button_page(words)
    back = error.back if isinstance(error, SentBack) else None
    return refusal_page(words, error.code if error.code in INVITE_PAGES else "wait", status, error.text, back)


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
        page = refusal_page(words, "wait", 503, words.tell(f"screens.invite.{what}", error=error_id))
        page.headers.update(own_headers)
        return page
    text = f"{why} (error {error_id}); your text is kept and will be sent again"
    content = {"code": "server_error", "text": text, "error_id": error_id}
    return JSONResponse(content, status_code=503, headers=own_headers)


exception_handlers = {AnnotationError: refused, DatabaseError: failed, Exception: failed}


def _in_transaction(cookie: str, act: Callable[[Session, Principal], dict[str, Any]]) -> dict[str, Any]:
    with transaction(database()) as session:
        return act(session, _principal(session, cookie))


def _shown(cookie: str | None, aid: str, at: dict[str, int] | None = None) -> dict[str, Any]:
    with reading(database()) as session:
        return assignment_page(session, _principal(session, cookie), aid, at)


def _principal(session: Session, cookie: str | None) -> Principal:
    principal = who(session, cookie)
    if principal is None:
        raise AnnotationError("signed_out", "you are signed out; open your invitation link again")
    return principal


def address_of(request: HTTPConnection) -> str:
    """The caller's address; a forwarded one only from a proxy we were told to trust."""
    peer = request.client.host if request.client else "unknown"
    forwarded = request.headers.get("x-forwarded-for", "").split(",")[-1].strip()
    return forwarded if forwarded and peer in settings().trusted_proxies else peer


def _words(request: Request) -> Texts:
    return texts_accepted(request.headers.get("accept-language", ""))


STYLE = """
body{margin:0;min-height:100vh;display:grid;place-items:center;background:#fcfbf8;color:#1c1f23;
font:16px/1.55 system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:34rem;padding:24px;border-top:2px solid #14606e}h1{font-size:20px;font-weight:600;margin:0 0 8px}
p{margin:0;color:#5a5f66}form{display:flex;flex-wrap:wrap;align-items:center;gap:12px;margin-top:24px}
button,a{padding:7px 16px;border:1px solid #14606e;border-radius:6px;font:inherit;font-weight:600}
button{background:#14606e;color:#fcfbf8;cursor:pointer}a{border-color:#878379;color:inherit;text-decoration:none}
:focus-visible{outline:2px solid #14606e;outline-offset:2px}
@media(prefers-color-scheme:dark){body{background:#15171a;color:#e8e6e1}p{color:#a4a9b0}
main,button{border-color:#6cc3d1}button{background:#6cc3d1;color:#15171a}a{border-color:#767c84}
:focus-visible{outline-color:#6cc3d1}}
"""


def refusal_page(words: Texts, key: str, status: int, text: str = "", back: str | None = None) -> HTMLResponse:
    """Why the link signs nobody in, and the way `back` to a platform. In English the server's `text` says more."""
    said = text if text and words.language == ENGLISH else words.tell(f"screens.invite.{key}_text")
    way = f'<a href="{escape(back)}">{escape(words.tell("page.go_back"))}</a>' if back else ""
    return _page(words, words.tell(f"screens.invite.{key}"), said, way, status)


def button_page(words: Texts) -> HTMLResponse:
    """A link for single use: the button POSTs to the same path."""
    button = f"<button>{escape(words.tell('screens.invite.sign_in'))}</button>"
    return _page(words, words.tell("screens.invite.confirm"), words.tell("screens.invite.confirm_text"), button)


def other_person_page(words: Texts, asked: OtherPerson) -> HTMLResponse:
    """Somebody else is signed in: who that is, whom the link is for, and either way on."""

    def tell(key: str) -> str:
        return words.tell(f"screens.invite.{key}", signed_in=asked.signed_in, invited=asked.invited)

    ways = f'<button>{escape(tell("sign_in_as"))}</button><a href="/">{escape(tell("stay_as"))}</a>'
    return _page(words, tell("other_person"), tell("other_person_text"), ways)


def _page(words: Texts, title: str, text: str, ways: str, status: int = 200) -> HTMLResponse:
    """`ways`: HTML of what a form holds that POSTs to the same path."""
    form = f'<form method="post">{ways}</form>' if ways else ""
    # under no-referrer, which every response says, a browser sends the form's Origin as null
    origin_only = '<meta name="referrer" content="strict-origin">' if ways else ""
    return HTMLResponse(
        f'<!doctype html><html lang="{words.language}" dir="{words.dir}"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">{origin_only}<title>calipers</title><style>{STYLE}</style>'
        f"<main><h1>{escape(title)}</h1><p>{escape(text)}</p>{form}</main></html>",
        status_code=status,
    )
