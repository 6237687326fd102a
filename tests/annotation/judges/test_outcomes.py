"""Provider errors as litellm hands them on become the right outcome, and no key is in their text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest

from annotation.judges.replies.outcomes import failed_reply, without_secrets


def raised(name: str, text: str = "", *, module: str = "litellm.exceptions", cause: Exception | None = None, **fields: object) -> Exception:  # fmt: skip
    error = type(name, (Exception,), {"__module__": module})(text)
    for field, value in fields.items():
        setattr(error, field, value)
    error.__cause__ = cause
    return error  # type: ignore[no-any-return]


def answered(status: int, text: str = "", name: str = "APIError", headers: dict[str, str] | None = None) -> Exception:
    """As litellm wraps it: its own exception around the client's, which holds the provider's status."""
    response = SimpleNamespace(status_code=status, headers=headers or {})
    return raised(name, text, status_code=status, cause=raised("APIStatusError", module="openai", response=response))


@pytest.mark.parametrize(
    ("error", "outcome", "status"),
    [
        (answered(429, "Rate limit reached", "RateLimitError"), "rate_limited", 429),
        (answered(429, "You exceeded your current quota", "RateLimitError"), "fatal", 429),
        (answered(500, "The server had an error", "InternalServerError"), "server_error", 500),
        (answered(529, "overloaded"), "server_error", 529),
        (answered(401, "Incorrect API key", "AuthenticationError"), "fatal", 401),
        (answered(403, "Country not supported"), "fatal", 403),
        (answered(402, "Insufficient Balance"), "fatal", 402),
        (answered(404, "no such path", "BadRequestError"), "fatal", 404),
        (answered(400, "Invalid parameter: 'response_format' of type 'json_schema'", "BadRequestError"), "format_rejected", 400),
        (answered(400, "maximum context length is 8192 tokens", "ContextWindowExceededError"), "too_long", 400),
        (answered(400, "prompt is too long: 210000 tokens", "BadRequestError"), "too_long", 400),
        (answered(413, "Request too large", "RateLimitError"), "too_long", 413),
        (answered(400, "triggering content management policy", "BadRequestError"), "refused", 400),
        (answered(400, "Unsupported value: 'temperature' does not support 0", "BadRequestError"), "fatal", 400),
        (answered(400, "something odd", "BadRequestError"), "bad_request", 400),
        (raised("UnsupportedParamsError", "O-series models don't support temperature", status_code=400), "fatal", 400),
        (raised("InternalServerError", "Missing credentials. Please pass an `api_key`", status_code=500), "fatal", None),
        (raised("Timeout", "timed out", status_code=408), "timeout", 408),
        (raised("InternalServerError", "Connection error.", status_code=500, cause=raised("ConnectError", module="httpx")), "server_error", None),
        (raised("InternalServerError", "Connection error.", status_code=500, cause=raised("ReadError", module="httpx")), "dropped", None),
        (raised("InternalServerError", "Empty or invalid response", status_code=500), "dropped", None),
    ],
)  # fmt: skip
def test_each_error_is_one_outcome(error: Exception, outcome: str, status: int | None) -> None:
    reply = failed_reply(error, 0.5)
    assert (reply.outcome, reply.http_status, reply.seconds) == (outcome, status, 0.5)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),  # a date that has passed
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_seconds_milliseconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    after = failed_reply(answered(429, headers=headers), 0).retry_after_s
    assert after == (None if seconds is None else pytest.approx(seconds, abs=2))


def test_retry_after_may_be_a_date_to_come() -> None:
    after = {"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=90))}
    assert failed_reply(answered(429, headers=after), 0).retry_after_s == pytest.approx(90, abs=2)


def test_no_key_is_in_an_errors_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_OWN_KEY", "SENTINEL-value")
    error = answered(401, "Incorrect API key provided: SENTINEL-value, or sk-ab12cd34ef, or sk-proj****wxyz")
    text = failed_reply(error, 0).error or ""
    assert "SENTINEL" not in text
    assert "sk-" not in text
    assert without_secrets("nothing\0 here") == "nothing here"
