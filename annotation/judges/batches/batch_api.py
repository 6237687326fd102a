"""A provider's batch API, reached through litellm: a file of requests goes out, files of replies come back.

One method is one request, tried once: what is not known afterwards is in the rows (`batches.py`). Nothing here
raises on a provider's error; it returns the failed reply.
"""

import asyncio
import gc
import json
import time
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from types import SimpleNamespace
from typing import IO, Any, TypeVar

from annotation.judges.asking import client, prompt
from annotation.judges.defining.judge_file import JudgeDefinition, Rung
from annotation.judges.replies.outcomes import Reply, failed_line, failed_reply, without_secrets

TIMEOUT_S = 600.0  # at least, for the largest file
PAGE, PAGES = 100, 100  # batches listed at once, and pages looked through
MARK = "calipers"  # our key in a batch's metadata
ENDED = ("completed", "failed", "expired", "cancelled")  # a word we do not know is no end
T = TypeVar("T")


@dataclass(frozen=True)
class Batch:
    """A batch as its provider tells of it; `mark` is ours. Its lines are in `files` once it is not open any more."""

    id: str
    mark: str | None
    status: str
    files: tuple[str, ...] = ()
    lines: int = 0
    answered: int = 0
    error: str = ""

    @property
    def is_open(self) -> bool:
        return self.status not in ENDED


class BatchApi:
    """The five requests that a batch needs."""

    async def upload(self, judge: JudgeDefinition, file: IO[bytes]) -> str | Reply:
        """The id of the file."""
        named = ("calipers.jsonl", file)
        made = await _tried(client.library().acreate_file(file=named, purpose="batch", **_connection(judge)))
        return made if isinstance(made, Reply) else str(made.id)

    async def create(self, judge: JudgeDefinition, file_id: str, mark: str) -> Batch | Reply:
        """A batch of that file, found again by `mark`."""
        made = client.library().acreate_batch(
            completion_window="24h", endpoint=URL, input_file_id=file_id, metadata={MARK: mark}, **_connection(judge)
        )
        return _batch(await _tried(made))

    async def retrieve(self, judge: JudgeDefinition, batch_id: str) -> Batch | Reply:
        """The batch as it is now."""
        # else litellm downloads the files of a batch that ended, to price it for a log that nobody reads
        quiet = {"litellm_metadata": {"batch_ignore_default_logging": True}}
        return _batch(await _tried(client.library().aretrieve_batch(batch_id=batch_id, **quiet, **_connection(judge))))

    async def listed(self, judge: JudgeDefinition, marks: Sequence[str]) -> Mapping[str, Batch] | Reply:
        """The batches with these marks, as far as the provider has them."""
        found: dict[str, Batch] = {}
        after: str | None = None
        for _ in range(PAGES):
            page = await _tried(client.library().alist_batches(after=after, limit=PAGE, **_connection(judge)))
            if isinstance(page, Reply):
                return page
            batches = [_told(one) for one in page.data]
            found.update({batch.mark: batch for batch in batches if batch.mark is not None and batch.mark in marks})
            if len(found) == len(marks) or not batches or not getattr(page, "has_more", False):
                return found
            after = batches[-1].id
        return Reply("bad_request", 0.0, error=f"its list of batches is longer than {PAGE * PAGES:,}")

    async def content(self, judge: JudgeDefinition, file_id: str) -> bytes | Reply:
        """What the file holds."""
        got = await _tried(client.library().afile_content(file_id=file_id, **_connection(judge)))
        return got if isinstance(got, Reply) else bytes(got.content)


async def close_clients() -> None:
    """Call it in the event loop that made the requests. litellm keeps no hold of the clients it makes for a batch API:
    each closes itself when it is collected, and must not be collected in a later loop."""
    before = asyncio.all_tasks()
    gc.collect()
    await asyncio.gather(*asyncio.all_tasks() - before, return_exceptions=True)


def body_of(judge: JudgeDefinition, messages: Sequence[prompt.Message], schema: Mapping[str, Any], rung: Rung) -> Any:
    """What an ordinary request would send, with litellm's names of parameters for this model."""
    asked = {**judge.params, "max_tokens": judge.max_output_tokens}
    if rung != "plain":
        asked["response_format"] = client.response_format(schema, rung)
    model, provider, _, _ = client.library().get_llm_provider(judge.model, api_base=judge.api_base)
    sent = client.library().utils.get_optional_params(model=model, custom_llm_provider=provider, **asked)
    more = sent.pop("extra_body", None) or {}
    sent.pop("stream", None)
    return {"model": model, "messages": [dict(message) for message in messages], **sent, **more}


def _connection(judge: JudgeDefinition) -> dict[str, Any]:
    given = {"api_key": client.api_key(judge), "api_base": judge.api_base}
    return {
        "custom_llm_provider": "openai",
        "timeout": max(TIMEOUT_S, judge.timeout_s),
        "max_retries": 0,
        **{name: value for name, value in given.items() if value is not None},
    }


async def _tried(request: Awaitable[T]) -> T | Reply:
    started = time.monotonic()
    try:
        return await request
    except Exception as error:  # noqa: BLE001  (whatever a provider's adapter raises is an outcome)
        return failed_reply(error, time.monotonic() - started)


def _batch(told: Any) -> Batch | Reply:
    return told if isinstance(told, Reply) else _told(told)


def _told(batch: Any) -> Batch:
    counts, errors = getattr(batch, "request_counts", None), getattr(batch, "errors", None)
    files = (getattr(batch, "output_file_id", None), getattr(batch, "error_file_id", None))
    return Batch(
        id=batch.id,
        mark=(getattr(batch, "metadata", None) or {}).get(MARK),
        status=batch.status,
        files=tuple(file for file in files if file),
        lines=getattr(counts, "total", 0) or 0,
        answered=(getattr(counts, "completed", 0) or 0) + (getattr(counts, "failed", 0) or 0),
        error=without_secrets("; ".join(str(one.message) for one in getattr(errors, "data", None) or ()))[:2000],
    )


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
        return client.received(body, 0.0)
    return failed_line(response.status_code, _message(getattr(body, "error", None) or error))


def _message(error: Any) -> str:
    return " ".join(str(part) for name in ("code", "message") if (part := getattr(error, name, None))) or "no reason"
