"""A lab's provider on a port of its own: pyop, as eduTEAMS runs it; `spoil` has it send what a forger would.

It asks for the client's secret, its registered address and the verifier of PKCE, and gives a code's token once.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from Cryptodome.PublicKey import RSA
from jwkest.jwk import RSAKey
from jwkest.jws import JWS
from pyop.authz_state import AuthorizationState
from pyop.exceptions import OAuthError
from pyop.provider import Provider as Pyop
from pyop.subject_identifier import HashBasedSubjectIdentifierFactory
from pyop.userinfo import Userinfo
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

SECRET = "a client's secret"


def new_key() -> RSAKey:
    return RSAKey(key=RSA.generate(2048), kid="one", use="sig", alg="RS256")


class Forger(Pyop):  # type: ignore[misc]  # pyop is untyped
    """Signs what `spoil` says: nonce | audience | issuer | key | expired | none | word; "": as it is."""

    spoil = ""

    def _create_signed_id_token(self, *of: Any) -> str:
        told = super()._create_signed_id_token(*of)
        if not self.spoil:
            return str(told)
        claims = JWS().verify_compact(told, keys=[self.signing_key])
        claims |= {
            "nonce": {"nonce": "another"}, "audience": {"aud": ["another client"]}, "issuer": {"iss": "https://elsewhere.example"},
            "word": {"email_verified": "true"},
            "expired": {"iat": int(time.time()) - 7200, "exp": int(time.time()) - 6900},
        }.get(self.spoil, {})  # fmt: skip
        if self.spoil == "none":
            return ".".join(map(jwt_part, ({"alg": "none"}, claims))) + "."
        key = new_key() if self.spoil == "key" else self.signing_key
        return str(JWS(json.dumps(claims), alg="RS256").sign_compact([key]))


def jwt_part(value: dict[str, Any]) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@dataclass
class Provider:
    """`registered`: addresses of ours that it leads back to. `claims`: of whoever signs in next."""

    name: str
    issuer: str
    registered: list[str] = field(default_factory=list)
    claims: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.people: dict[str, dict[str, Any]] = {}
        client = {"client_secret": SECRET, "redirect_uris": self.registered, "response_types": ["code"]}
        told = {
            "issuer": "https://to.be.named", "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token", "jwks_uri": f"{self.issuer}/jwks",
            "scopes_supported": ["openid", "profile", "email"], "response_types_supported": ["code"],
            "subject_types_supported": ["public"], "code_challenge_methods_supported": ["S256"],
        }  # fmt: skip
        state = AuthorizationState(HashBasedSubjectIdentifierFactory("salt"))
        self.pyop = Forger(new_key(), told, state, {"calipers": client}, Userinfo(self.people))
        self.pyop.configuration_information["issuer"] = self.issuer  # which it asks https of

    def metadata(self, _: Request) -> JSONResponse:
        return JSONResponse(self.pyop.provider_configuration.to_dict())

    def jwks(self, _: Request) -> JSONResponse:
        return JSONResponse(self.pyop.jwks)

    def authorize(self, request: Request) -> RedirectResponse:
        """Whoever comes is signed in already, as at a provider that was used just before."""
        user = {"sub": "subject-1", **self.claims}
        self.people[user["sub"]] = user
        asked = self.pyop.parse_authentication_request(request.url.query)
        return RedirectResponse(self.pyop.authorize(asked, user["sub"]).request(asked["redirect_uri"]), 302)

    async def token(self, request: Request) -> JSONResponse:
        def claims(user: str, _client: str) -> dict[str, Any]:
            return {name: value for name, value in self.people[user].items() if name != "sub"}

        by = {"Authorization": request.headers["authorization"]} if "authorization" in request.headers else {}
        body = (await request.body()).decode()
        return JSONResponse(self.pyop.handle_token_request(body, by, extra_id_token_claims=claims).to_dict())


async def refused(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": "invalid_request", "error_description": f"{type(error).__name__}: {error}"}, 400)


@contextmanager
def provider(name: str) -> Iterator[Provider]:
    """It answers until the end of the block."""
    listening = socket.create_server(("127.0.0.1", 0))
    here = Provider(name, f"http://127.0.0.1:{listening.getsockname()[1]}")
    routes = [
        Route("/.well-known/openid-configuration", here.metadata), Route("/jwks", here.jwks),
        Route("/authorize", here.authorize), Route("/token", here.token, methods=["POST"]),
    ]  # fmt: skip
    app = Starlette(routes=routes, exception_handlers={OAuthError: refused})
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    yield here
    server.should_exit = True
    thread.join()
