"""The files of a provider's batch: a request as a line that goes out, a line that comes back as a reply. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from io import BytesIO
from types import SimpleNamespace
from typing import Any

from annotation.judges.client import received
from annotation.judges.outcomes import Reply, failed_line

URL = "/v1/chat/completions"
# the provider never came to these lines, and bills none of them
NEVER_TRIED = ("batch_expired", "batch_cancelled")


def line_of(key: str, body: Mapping[str, Any]) -> bytes:
    """One request; `key` comes back with its reply."""
    return json.dumps({"custom_id": key, "method": "POST", "url": URL, "body": body}).encode() + b"\n"


def read_lines(content: bytes) -> Iterator[tuple[str, Reply | None]]:
    """Keys with what their requests came to; None for one that was never tried. A line that is no JSON is left out, so
    that its request counts as lost."""
    for raw in BytesIO(content):
        try:
            line = json.loads(raw, object_hook=lambda fields: SimpleNamespace(**fields))
        except ValueError:
            continue
        if key := getattr(line, "custom_id", None):
            yield key, _reply(line)


def _reply(line: SimpleNamespace) -> Reply | None:
    response, error = getattr(line, "response", None), getattr(line, "error", None)
    if response is None:
        if getattr(error, "code", None) in NEVER_TRIED:
            return None
        return failed_line(500, _message(error))
    body = getattr(response, "body", None)
    if response.status_code == 200 and error is None:
        return received(body, 0.0)
    return failed_line(response.status_code, _message(getattr(body, "error", None) or error))


def _message(error: Any) -> str:
    return " ".join(str(part) for name in ("code", "message") if (part := getattr(error, name, None))) or "no reason"
