"""What a crowd platform signed of the address by which somebody comes, checked by the keys that it publishes."""

import logging
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from annotation.people.platforms import PLATFORMS

TOKEN = "prolific_token"
KEPT_S = 24 * 3600.0  # as the platform asks
AGAIN_S = 60.0  # whoever makes up addresses has keys fetched no oftener
WAIT_S = 5.0
log = logging.getLogger("calipers")


class PlatformKeys:
    """A platform's keys, fetched when they are first needed, daily, and for a key that is new."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.known: Any = {"keys": []}  # a JSON Web Key Set
        self.asked_at = -KEPT_S
        self.lock = threading.Lock()

    def holding(self, key_id: object) -> Any:
        """All of them, fetched anew where that is due; those of before where they cannot be fetched."""
        with self.lock:
            waits = KEPT_S if any(key.get("kid") == key_id for key in self.known["keys"]) else AGAIN_S
            if time.monotonic() - self.asked_at >= waits:
                self.asked_at = time.monotonic()
                self.known = self._fetched() or self.known
            return self.known

    def _fetched(self) -> Mapping[str, Any] | None:
        import httpx

        try:
            told = httpx.get(self.address, timeout=WAIT_S).raise_for_status().json()
            return {"keys": [key for key in told["keys"] if key.get("kty") == "RSA"]}
        except (httpx.HTTPError, ValueError, TypeError, KeyError, AttributeError) as error:
            log.warning("keys of a platform", extra={"error": type(error).__name__})
            return None


PROLIFIC = PlatformKeys(PLATFORMS["prolific"].keys)


def signed_for(origin: str, token: str) -> Mapping[str, Any] | None:
    """The parameters that the platform signed for an address of ours; None for any other token, or an old one."""
    try:
        from joserfc import errors, jws, jwt
        from joserfc.jwk import KeySet
    except ImportError:
        return None
    try:
        key_id = jws.extract_compact(token.encode()).headers().get("kid")
        told = jwt.decode(token, KeySet.import_key_set(PROLIFIC.holding(key_id)), algorithms=["RS256"])
        jwt.JWTClaimsRegistry(exp={"essential": True}).validate(told.claims)
    except (errors.JoseError, ValueError, TypeError, KeyError):
        return None
    meant, signed = told.claims.get("aud"), told.claims.get("prolific")
    for_us = urlsplit(origin).netloc in [_host(one) for one in (meant if isinstance(meant, list) else [meant])]
    return signed if for_us and isinstance(signed, dict) else None


def _host(audience: object) -> str:
    """Of an address or of a bare domain; "" of anything else."""
    try:
        said = str(audience)
        return urlsplit(said if "://" in said else f"https://{said}").netloc
    except ValueError:
        return ""
