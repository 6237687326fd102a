"""The connections of a run, on an event loop and a thread of their own: there requests leave and answers come, and both
are told at once, however long litellm works on others. What litellm takes for its connections hands them over.
"""

import asyncio
import sys
import threading
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any

from annotation.judges.money.accounts import WATCH

SWITCH_S = 0.0005  # the interpreter's own 5 ms, lost at every read and write beside a busy thread, add up to a second
# of this task: an answer as it came, or what was raised, in place of a request
CAME_BEFORE: ContextVar[Mapping[str, Any] | Exception | None] = ContextVar("CAME_BEFORE", default=None)


class _Received:
    """A response that is here whole, with as much of aiohttp's as litellm's transport reads."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.status, self.headers, self.content = raw["status"], raw["headers"], self
        self._body = b64decode(raw["body"])

    async def iter_chunked(self, _: int) -> AsyncIterator[bytes]:
        yield self._body

    def close(self) -> None:
        """Its connection was given back when its last byte came."""

    async def __aexit__(self, *_: object) -> None:
        self.close()


class _Request:
    """A request whose answer is told before litellm reads it; one that came before is not sent."""

    def __init__(self, fetched: Callable[[], Awaitable[Mapping[str, Any]]]) -> None:
        self._fetched = fetched

    async def __aenter__(self) -> _Received:
        came = CAME_BEFORE.get()
        if isinstance(came, Exception):
            raise came
        return _Received(came or await self._fetched())


class Wire:
    """Connections that `connect` makes as litellm makes its own. `session`: what litellm takes for them.

    `left` is told on that thread that a request's body went out, `noted` of each that litellm makes, in the task of who
    asks, as aiohttp is given it.
    """

    def __init__(self, connect: Callable[[], Any], left: Callable[..., Any], noted: Callable[..., None]) -> None:
        from aiohttp import ClientSession

        self._switch_s, self._noted = sys.getswitchinterval(), noted
        sys.setswitchinterval(SWITCH_S)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="calipers-wire", daemon=True)
        self._thread.start()
        connecting = asyncio.run_coroutine_threadsafe(self._connect(connect, left), self._loop)
        self._connected: Any = connecting.result()
        session: Any = ClientSession()
        self.session = session
        session.request = self._request

    async def close(self) -> None:
        await self.session.close()
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._connected.close(), self._loop))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        sys.setswitchinterval(self._switch_s)

    async def fetched(self, **asked: Any) -> Mapping[str, Any]:
        """The answer as it came: `status`, `headers`, and `body` in base64."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._fetch(**asked), self._loop))

    async def _connect(self, connect: Callable[[], Any], left: Callable[..., Any]) -> Any:
        from aiohttp import TraceConfig

        trace = TraceConfig()
        trace.on_request_chunk_sent.append(left)
        trace.freeze()
        session: Any = connect()
        session.trace_configs.append(trace)
        return session

    def _request(self, **asked: Any) -> _Request:
        self._noted(**asked)
        return _Request(partial(self.fetched, **asked))

    async def _fetch(self, **asked: Any) -> Mapping[str, Any]:
        async with self._connected.request(**asked) as response:
            headers = {name: value for name, value in response.headers.items() if name.lower() != "set-cookie"}
            body = b64encode(await response.read()).decode()
        raw = {"status": response.status, "headers": headers, "body": body}
        if watch := WATCH.get():
            watch.arrives(raw)
        return raw
