"""An OpenID Connect provider on a port of its own, as a lab has one; `spoil` has it send what a forger would."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

SECRET = "a client's secret"


@dataclass
class Provider:
    """`claims`: of whoever signs in next. `spoil`: nonce | audience | issuer | key | expired | none."""

    name: str
    claims: dict[str, Any] = field(default_factory=dict)
    spoil: str = ""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    issuer: str = ""

    def metadata(self, _: Request) -> JSONResponse:
        return JSONResponse({
            "issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token", "jwks_uri": f"{self.issuer}/jwks",
            "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"], "code_challenge_methods_supported": ["S256"],
        })  # fmt: skip

    def jwks(self, _: Request) -> JSONResponse:
        return JSONResponse(KeySet([self.key]).as_dict(private=False))

    def authorize(self, request: Request) -> RedirectResponse:
        asked = dict(request.query_params)
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?code={code}&state={asked['state']}", 302)

    async def token(self, request: Request) -> JSONResponse:
        form = await request.form()
        asked = self.codes.pop(str(form.get("code")), None)
        if asked is None:
            return JSONResponse({"error": "invalid_grant"}, 400)
        told = {"access_token": secrets.token_urlsafe(16), "token_type": "Bearer", "expires_in": 300}
        return JSONResponse({**told, "id_token": self.id_token(asked)})

    def id_token(self, asked: dict[str, str]) -> str:
        at = int(time.time()) - (7200 if self.spoil == "expired" else 0)
        claims = {
            "iss": "https://elsewhere.example" if self.spoil == "issuer" else self.issuer,
            "aud": "another client" if self.spoil == "audience" else asked["client_id"],
            "nonce": "another" if self.spoil == "nonce" else asked.get("nonce"),
            "iat": at, "exp": at + 300, "sub": "subject-1", **self.claims,
        }  # fmt: skip
        if self.spoil == "none":
            head, body = ({"alg": "none"}, claims)
            return ".".join(jwt_part(part) for part in (head, body)) + "."
        key = RSAKey.generate_key(2048, {"kid": "one"}) if self.spoil == "key" else self.key
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)


def jwt_part(value: dict[str, Any]) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@contextmanager
def provider(name: str) -> Iterator[Provider]:
    """It answers until the end of the block."""
    here = Provider(name)
    app = Starlette(routes=[
        Route("/.well-known/openid-configuration", here.metadata), Route("/jwks", here.jwks),
        Route("/authorize", here.authorize), Route("/token", here.token, methods=["POST"]),
    ])  # fmt: skip
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the provider did not start"
        time.sleep(0.01)
    here.issuer = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    yield here
    server.should_exit = True
    thread.join()
