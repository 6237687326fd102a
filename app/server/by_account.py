"""Signing in with a lab's own provider: Streamlit speaks to it, and what it says becomes a sign-in of ours at once.

Streamlit checks state, nonce, signature, issuer and audience (by Authlib), and tells in a signed cookie who came. That
cookie is read once, when the page loads after it, and taken away: from then on there is one sign-in, which can be seen
and ended, and Streamlit's own is nobody's.
"""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import auth_util
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette import starlette_app_utils, starlette_server_config

from annotation.errors import AnnotationError
from annotation.people import accounts
from app.server.api import address_of, refusal_page
from app.server.own_page import COOKIE, cookie_header
from app.settings import database, settings
from app.texts import texts_accepted
from db.connect import transaction
from db.errors import DatabaseError

OPEN = ("/auth/login", "/oauth2callback")  # while a provider is set up
USER = starlette_server_config.USER_COOKIE_NAME
THEIRS = (USER, starlette_server_config.TOKENS_COOKIE_NAME)
SECRET_MIN = 32  # characters


def providers() -> list[str]:
    """Names of the providers in .streamlit/secrets.toml; none where its [auth] is not ours, or has no good secret."""
    section = auth_util.get_secrets_auth_section()
    ours = auth_util.get_origin_from_redirect_uri() == settings().origin
    if not (section and ours and auth_util.is_authlib_installed() and len(get_cookie_secret() or "") >= SECRET_MIN):
        return []
    named = [name for name, value in section.items() if isinstance(value, Mapping) and value.get("client_id")]
    return named or (["default"] if section.get("client_id") else [])


class ByAccount:
    """Pure ASGI: a page that is asked for with a provider's word comes again with a sign-in of ours."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer for the page after a provider's; let everything else through."""
        is_page = scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == "/"
        request = HTTPConnection(scope) if is_page else None
        if request is None or USER not in request.cookies or not providers():
            await self.app(scope, receive, send)
            return
        response = await run_in_threadpool(_signed_in, request)
        for name in (known for known in request.cookies if known.startswith(THEIRS)):
            response.delete_cookie(name, path="/")
        await response(scope, receive, send)


def _signed_in(request: HTTPConnection) -> Response:
    claims = told(request.cookies)
    account = accounts.account_of(claims, len(providers()) == 1) if claims else None
    words = texts_accepted(request.headers.get("accept-language", ""))
    cookie, several = None, False
    try:
        if account is not None:
            with transaction(database()) as session:
                cookie = accounts.sign_in_account(session, account, address_of(request), request.cookies.get(COOKIE))
                several = len(accounts.places(session, account)) > 1
    except (AnnotationError, DatabaseError):  # too many from here, or no database: no handler stands around this
        return refusal_page(words, "wait", 503)
    if cookie is None:
        return refusal_page(words, "unknown_account", 403)
    response = RedirectResponse("/studies" if several else "/", status_code=303)
    response.headers.append("Set-Cookie", cookie_header(cookie))
    return response


def told(cookies: Mapping[str, str]) -> dict[str, Any] | None:
    """What Streamlit's cookie says, if this server signed it for a sign-in here; None otherwise."""
    value = auth_util.get_cookie_with_chunks(partial(_opened, cookies), USER)
    try:
        claims = json.loads(value or b"null")
    except ValueError:
        return None
    if not isinstance(claims, dict) or not claims.get("is_logged_in"):
        return None
    return claims if claims.get("origin") == settings().origin else None


def _opened(cookies: Mapping[str, str], name: str) -> bytes | None:
    signed = cookies.get(name)
    if signed is None:
        return None
    opened: bytes | None = starlette_app_utils.decode_signed_value(get_cookie_secret(), name, signed.encode("latin-1"))
    return opened
