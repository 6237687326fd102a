"""Judges that are code: a Python function, a program, a URL, or a baseline. An item goes in as JSON, answers come out.

They have the same queue, ledger, budget, orders and statuses as models: what they reply is read like any reply, and a
crash, a time-out or a flood is an outcome of the request, never an answer.
"""

import asyncio
import hashlib
import json
import os
import re
import shlex
import signal
import sys
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotation.judges.asking import code_runner, prompt
from annotation.judges.defining.judge_file import JudgeDefinition, ModelFacts, Price
from annotation.judges.replies.outcomes import Outcome, Reply, Usage, failed_line, without_secrets
from annotation.judges.replies.reply import strict

MOST_BYTES, MOST_LINES = 1_000_000, 10_000  # of one reply, with whatever is printed besides
ENDED_S = 5.0  # a killed process is given to be gone
A_LINE = 200  # characters of what a service says that fails
QUIET_S = 20.0  # after which the input of a program that has one item to answer is closed
CLOSED_S = 1.0  # in which a program answers that had waited for its input to end
FREE = Price(input=0, output=0)
WAITS = (
    "but one at once when its input was closed. A run keeps that open for the next item: read a line, answer it, and "
    "flush (mawk -W interactive, python -u, stdbuf -oL)"
)
FLOOD = f"it wrote more than {MOST_BYTES:,} bytes or {MOST_LINES:,} lines for one item"
OTHER_IDS = "; it wrote lines with an id that no item has: put the id of the item into its answer"
TWICE = "it wrote a second answer for an item that it had answered; write one line an item"
HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
# the address of the database and the keys of the server are no business of somebody's code
KEPT_BACK = "CALIPERS_"


def template_of_code(judge: JudgeDefinition) -> str:
    """The template of such a judge: the item as JSON. It holds the code's sha256, so that other code is asked anew."""
    return f"{{# the judge is code, sha256 {judge.code_sha256 or 'unknown'} #}}\n{prompt.CODE}"


def describe_code(judge: JudgeDefinition) -> ModelFacts:
    """Every parameter goes to the code, with the number of the repeat as `seed`; a baseline costs nothing."""
    return ModelFacts(dict(judge.params), (), True, FREE if judge.baseline else None, "code", None)


def item_sent(judge: JudgeDefinition, messages: Sequence[prompt.Message], number: str = "") -> dict[str, Any]:
    """The item as the code is given it; with `number` as the `id` that a line of stdin has."""
    said = {"id": number} if number else {}
    return {**said, **json.loads(messages[1]["content"]), "params": dict(judge.params)}


async def ask(judge: JudgeDefinition, messages: Sequence[prompt.Message], *, alone: bool = False) -> Reply:
    """One item to the judge's code; whatever happens there is an outcome. `alone`: no other item will follow it."""
    started = time.monotonic()
    item = item_sent(judge, messages)

    def failed(outcome: Outcome, why: str) -> Reply:
        return Reply(outcome, time.monotonic() - started, error=without_secrets(why)[:2000])

    try:
        if judge.baseline:
            said = json.dumps(baseline(judge.baseline, item))
        else:
            async with asyncio.timeout(judge.timeout_s + (0 if judge.url else CLOSED_S)):
                if judge.url:
                    reply = await _posted(judge, item)
                    if isinstance(reply, Reply):
                        return reply
                    said = reply
                else:
                    said = await _POOLS[_key(judge)].ask(judge, item, alone)
    except TimeoutError:
        ended = "" if judge.url else f"{_POOLS[_key(judge)].strays}; the process was ended"
        return failed("timeout", f"no answer within {judge.timeout_s:g} s{ended}")
    except _Ended as error:
        waits = error.outcome == "dropped" and OTHER_IDS not in str(error)
        if alone and waits and time.monotonic() - started > QUIET_S:
            return await ask(judge, messages)  # it may only be slow, and end with its input
        return failed(error.outcome, str(error))
    return _read(said, judge, item, time.monotonic() - started)


async def close() -> None:
    """End every process; call it in the event loop that used them."""
    for pool in _POOLS.values():
        await pool.close()
    _POOLS.clear()


def baseline(name: str, item: Mapping[str, Any]) -> dict[str, Any]:
    """The same answer to every criterion: the longer report, the one with more headings, the first, or a coin's.

    Equal reports are a tie where ties are allowed, else the first shown wins.
    """
    first, second = item["texts"]["first_report"], item["texts"]["second_report"]
    if name == "random":
        coin = hashlib.sha256(f"{item['params'].get('seed')}|{first}|{second}".encode()).digest()
        winner = ("first", "second")[coin[0] % 2]
    elif name == "first":
        winner = "first"
    else:
        sizes = [len(text) if name == "longer" else len(HEADING.findall(text)) for text in (first, second)]
        equal = "tie" if "tie" in item["answers"] else "first"
        winner = equal if sizes[0] == sizes[1] else "first" if sizes[0] > sizes[1] else "second"
    said = [{"criterion": one["id"], "rationale": f"baseline: {name}", "winner": winner} for one in item["criteria"]]
    return {"judgments": [{**entry, "confidence": 1} if item["confidence"] else entry for entry in said]}


class _Ended(Exception):
    """No reply came, and why: the outcome of the request."""

    def __init__(self, outcome: Outcome, text: str) -> None:
        super().__init__(text)
        self.outcome = outcome


class _Process:
    """A running program that answers one item at a time."""

    def __init__(self, process: asyncio.subprocess.Process, complaints: Any) -> None:
        self.process, self.complaints = process, complaints
        self.answered, self.strays = "", ""  # the item before; what is said of lines with ids that nobody gave it
        self._lines = self._bytes = 0  # read for this item

    async def ask(self, item: Mapping[str, Any], patience_s: float) -> str:
        """The answer. Without one its input is closed after `patience_s`, by which a program is found out that waits
        for that: one that reads ahead, or keeps what it prints."""
        stdin, loop = self.process.stdin, asyncio.get_running_loop()
        assert stdin is not None
        self.complaints.truncate(0)
        self._lines = self._bytes = 0
        number = uuid.uuid4().hex
        closing = loop.call_later(patience_s, stdin.close)
        try:
            stdin.write(json.dumps({"id": number, **item}).encode() + b"\n")
            await stdin.drain()
            while line := await self._line():
                if _is_reply(line, number):
                    if 0 < loop.time() - closing.when() < CLOSED_S:
                        raise _Ended("timeout", f"no answer within {patience_s:g} s, {WAITS}")
                    await self._refuse_second(number)
                    return line.decode()
                if self.answered and _is_reply(line, self.answered):
                    raise _Ended("fatal", f"{TWICE} (the label is what the first one said)")
                if _is_reply(line):
                    self.strays = OTHER_IDS
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            closing.cancel()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), 1)
        self.complaints.seek(0)
        last = self.complaints.read()[-1500:].decode(errors="replace").strip().splitlines()
        raise _Ended(
            "dropped", f"the process ended ({self.process.returncode}): {last[-1] if last else 'no word'}{self.strays}"
        )

    async def _line(self) -> bytes:
        """The next line; raises _Ended at a flood, since lines that are here already are read without a pause."""
        assert self.process.stdout is not None
        try:
            line = await self.process.stdout.readline()
        except ValueError:  # a line without an end
            raise _Ended("bad_request", FLOOD) from None
        self._lines, self._bytes = self._lines + 1, self._bytes + len(line)
        if self._lines > MOST_LINES or self._bytes > MOST_BYTES:
            raise _Ended("bad_request", FLOOD)
        return line

    async def _refuse_second(self, number: str) -> None:
        """Raises _Ended where another answer has come with the first; one that comes later is met by the next item."""
        self.answered = number
        with suppress(TimeoutError):
            async with asyncio.timeout(0):
                while line := await self._line():
                    if _is_reply(line, number):
                        raise _Ended("bad_request", TWICE)

    async def end(self) -> None:
        """Kill it with whatever it started, and read its pipes out, so that nothing of it outlives the run."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # a group of its own
        if self.process.stdin is not None:
            self.process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(ENDED_S):
                while self.process.stdout is not None and await self.process.stdout.read(MOST_BYTES):
                    pass
                await self.process.wait()
        self.complaints.close()


class _Pool:
    """The processes of one judge: as many as it has calls in flight. One that failed is ended, not used again."""

    def __init__(self) -> None:
        self.all: set[_Process] = set()
        self.idle: list[_Process] = []
        self.strays = ""  # of the process that was ended last

    async def ask(self, judge: JudgeDefinition, item: Mapping[str, Any], alone: bool) -> str:
        process = self.idle.pop() if self.idle else await self._start(judge)
        has_answered = False
        try:
            said = await process.ask(item, min(QUIET_S, judge.timeout_s) if alone else judge.timeout_s)
            has_answered = True
        finally:  # cancelled too: what it writes later would answer an item that nobody waits for
            if has_answered:
                self.idle.append(process)
            else:
                self.all.discard(process)
                await process.end()
                self.strays = process.strays
        return said

    async def _start(self, judge: JudgeDefinition) -> _Process:
        folder = Path(judge.folder or ".").resolve()
        if judge.python:
            words = [sys.executable, code_runner.__file__, judge.python]
        else:
            words = shlex.split(judge.command or "")
            words[0] = str(folder / words[0]) if "/" in words[0] else words[0]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(KEPT_BACK)}
        complaints = tempfile.TemporaryFile("a+b")  # noqa: SIM115  (open as long as its process)
        try:
            made = await asyncio.create_subprocess_exec(
                *words, cwd=folder, env=environment, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=complaints, start_new_session=True, limit=MOST_BYTES,
            )  # fmt: skip
        except OSError as error:
            complaints.close()
            raise _Ended("fatal", f"{words[0]}: {error.strerror}; {_why_not_started(error, words[0])}") from None
        process = _Process(made, complaints)
        self.all.add(process)
        return process

    async def close(self) -> None:
        for process in self.all:
            await process.end()


def _why_not_started(error: OSError, program: str) -> str:
    if isinstance(error, FileNotFoundError) and Path(program).is_file():
        return "that is what its first line names: save it with Unix line ends, or correct that line"
    return "make it executable: chmod +x" if isinstance(error, PermissionError) else "it cannot be started"


_POOLS: defaultdict[tuple[str, str, str], _Pool] = defaultdict(_Pool)


def _key(judge: JudgeDefinition) -> tuple[str, str, str]:
    return judge.name, judge.model, judge.folder


def _is_reply(line: bytes, number: str = "") -> bool:
    """Whether a line is the answer to this item, or to any; what a program prints besides is not."""
    if b"id" not in line:
        return False
    with suppress(ValueError, RecursionError):
        said = json.loads(line)
        return isinstance(said, dict) and "id" in said and (not number or said["id"] == number)
    return False


def _read(said: str, judge: JudgeDefinition, item: dict[str, Any], seconds: float) -> Reply:
    """A reply as it came, or as a model's where it is `answers` by criterion; its parts are read later like those."""
    try:
        parts = json.loads(said)
    except (ValueError, RecursionError):
        parts = {}
    parts = parts if isinstance(parts, dict) else {}
    cost = parts.get("cost")
    is_cost = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1_000_000
    usd = float(cost) if is_cost and cost is not None else None
    outcomes: dict[str, Outcome] = {"fatal": "fatal", "error": "bad_request"}
    for name, outcome in outcomes.items():
        if name in parts:
            return Reply(outcome, seconds, error=without_secrets(str(parts[name]))[:2000], cost=usd)
    odd, text = cost is not None and not is_cost, said.strip()
    if "answers" in parts:
        with suppress(ValueError, TypeError):  # a criterion twice stays as it is, and is invalid
            text = json.dumps(code_runner.shaped(strict(text), item))
    return Reply(
        "ok", seconds, text=text, finish_reason="stop", model=judge.model, usage=Usage(0, 0, 0, 0),
        http_status=200, cost=usd,
        error=f"its cost, {cost!r:.40}, is no amount in USD and is not noted" if odd else None,
    )  # fmt: skip


async def _posted(judge: JudgeDefinition, item: Mapping[str, Any]) -> str | Reply:
    """The body of the answer to one POST, or what went wrong."""
    import httpx

    key = os.environ.get(judge.api_key_env or "", "")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with (
            httpx.AsyncClient(timeout=None, trust_env=False) as http,
            http.stream("POST", str(judge.url), json=dict(item), headers=headers) as response,
        ):
            body = b""
            async for part in response.aiter_bytes():
                body += part
                if len(body) > MOST_BYTES:
                    raise _Ended("bad_request", f"it answered with more than {MOST_BYTES:,} bytes")
    except (httpx.ConnectError, httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise _Ended("server_error", f"{type(error).__name__}: {error}") from None
    except httpx.HTTPError as error:
        raise _Ended("dropped", f"{type(error).__name__}: {error}") from None
    text, status = body.decode(errors="replace"), response.status_code
    if status == 200:
        return text
    failed = failed_line(status, f"status {status}: {text[:2000]}")
    line = " ".join((failed.error or "").split())
    return replace(failed, error=line if len(line) <= A_LINE else f"{line[:A_LINE]}…")
