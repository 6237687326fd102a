"""What a request came to: a reply, or the outcome that a provider's error stands for. Nothing here holds a secret."""

import os
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from annotation.labels.entries import clean

Outcome = Literal[
    "ok", "refused",  # a reply
    "rate_limited", "server_error", "dropped", "timeout",  # worth another try
    "format_rejected",  # the next step of the ladder
    "fatal",  # this judge cannot go on
    "too_long", "bad_request",  # this call cannot
    "abandoned",  # nobody knows: the process ended while it was in flight
]  # fmt: skip
REPLIES = ("ok", "refused")
# of these nobody knows whether they were billed
COST_UNKNOWN = ("dropped", "timeout", "abandoned")

NAMES_OF_KEYS = re.compile(r"(?i)(key|token|secret|password)")
CONNECT_FAILED = ("ConnectError", "ClientConnectorError", "ClientConnectorDNSError", "ConnectTimeout")
FORMAT_WORDS = re.compile(r"(?i)response_?format|json_?schema|json_object|structured output|guided_json")
TOO_LONG_WORDS = re.compile(
    r"(?i)context.?(length|window|size)|maximum context|too many (input )?tokens|prompt is too long"
)
FILTER_WORDS = re.compile(r"(?i)content.?(filter|management policy|policy violation)")
QUOTA_WORDS = re.compile(r"(?i)insufficient_quota|exceeded your current quota|billing|credit balance|out of credits")
PARAM_WORDS = re.compile(r"(?i)unsupported (value|parameter)|unrecognized request argument|unknown parameter")
KEY_WORDS = re.compile(r"(?i)missing credentials|api_key client option")


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply as the provider counts them; reasoning tokens are inside `output`. None: not said."""

    input: int | None = None
    cached: int | None = None
    output: int | None = None
    reasoning: int | None = None


NO_USAGE = Usage()


@dataclass(frozen=True)
class Reply:
    """What one request came to. `text` is the reply as received (or the refusal); `error` holds no secret."""

    outcome: Outcome
    seconds: float
    text: str = ""
    finish_reason: str | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    usage: Usage = NO_USAGE
    http_status: int | None = None
    error: str | None = None
    retry_after_s: float | None = None
    cost: float | None = None  # USD, where it says so itself


def failed_reply(error: BaseException, seconds: float) -> Reply:
    """The outcome that an exception stands for. litellm calls a 404 a bad request and a dropped line a 500, so the
    provider's own status and the cause beneath are looked for."""
    chain = list(_causes(error))
    status = _http_status(chain)
    names = {type(cause).__name__ for cause in chain}
    text = without_secrets(f"{type(error).__name__}: {error}")
    outcome = _outcome(status, names, text)
    missing = next((cause for cause in chain if isinstance(cause, ImportError)), None)
    if missing and outcome == "dropped":  # nothing went out
        outcome, text = "fatal", f"{missing}: this provider needs a library that is not installed beside calipers"
    return Reply(outcome, seconds, http_status=status, error=text[:2000], retry_after_s=_retry_after_s(chain))


def failed_line(status: int, said: str) -> Reply:
    """The outcome that an error in a line of a batch stands for."""
    text = without_secrets(said)
    return Reply(_outcome(status, set(), text), 0.0, http_status=status, error=text[:2000])


def _outcome(status: int | None, names: Set[str], text: str) -> Outcome:
    if "UnsupportedParamsError" in names or KEY_WORDS.search(text):
        return "fatal"
    if "Timeout" in names or status == 408:
        return "timeout"
    if status == 429:
        return "fatal" if QUOTA_WORDS.search(text) else "rate_limited"
    if status == 413 or (
        status in (400, 422) and ("ContextWindowExceededError" in names or TOO_LONG_WORDS.search(text))
    ):
        return "too_long"
    if status in (400, 422) and FILTER_WORDS.search(text):
        return "refused"
    if status in (400, 422) and FORMAT_WORDS.search(text):
        return "format_rejected"
    if status in (401, 402, 403, 404) or "AuthenticationError" in names or PARAM_WORDS.search(text):
        return "fatal"
    if status is not None and 400 <= status < 500:
        return "bad_request"
    if status is not None or names & set(CONNECT_FAILED):
        return "server_error"
    return "dropped"  # the line broke after the request went out: it may have been billed


def without_secrets(text: str) -> str:
    """`text` with every value of a key-like environment variable taken out, and what looks like a key."""
    for name, value in os.environ.items():
        if len(value) >= 6 and NAMES_OF_KEYS.search(name):
            text = text.replace(value, "[key]")
    return re.sub(r"\b(sk|gsk|xai|hf)[-_][A-Za-z0-9*_-]{6,}", "[key]", clean(text))


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _http_status(chain: Sequence[BaseException]) -> int | None:
    """The status the provider sent, if any: litellm's own exceptions carry invented ones."""
    for cause in chain:
        if not type(cause).__module__.startswith("litellm"):
            status = getattr(getattr(cause, "response", None), "status_code", None)
            if isinstance(status, int):
                return status
    invented = getattr(chain[0], "status_code", None)
    return invented if isinstance(invented, int) and invented < 500 else None


def _retry_after_s(chain: Sequence[BaseException]) -> float | None:
    for cause in chain:
        headers = getattr(cause, "litellm_response_headers", None) or getattr(
            getattr(cause, "response", None), "headers", None
        )
        if headers:
            if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
                return milliseconds / 1000
            after = headers.get("retry-after")
            if (seconds := _number(after)) is not None:
                return seconds
            if after:
                try:
                    at = parsedate_to_datetime(after)
                except ValueError:
                    continue
                return max(0.0, (at.astimezone(UTC) - datetime.now(UTC)).total_seconds())
    return None


def _number(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if 0 <= value < 24 * 3600 else None
