"""A network line that can be cut or go silent: what is sent to its port goes on to another one."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Wire:
    """A line to 127.0.0.1:`to`, open at `port` until `close`. Runs on a thread of its own."""

    def __init__(self, to: int) -> None:
        self._to, self._lines = to, set[asyncio.StreamWriter]()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="wire", daemon=True)
        self._thread.start()
        self._is_cut, self._flows = False, asyncio.Event()
        self.port = self._run(self._listen())

    def cut(self) -> None:
        """Every connection breaks, and no new one comes about."""
        self._is_cut = True
        self._run(self._break())

    def silence(self) -> None:
        """Connections stand, and nothing passes: the worst that a network does."""
        self._loop.call_soon_threadsafe(self._flows.clear)

    def mend(self, *, forgotten: bool = False) -> None:
        """Everything passes again, what was held back too. `forgotten`: the connections of before are gone."""
        if forgotten:
            self._run(self._break())
        self._is_cut = False
        self._loop.call_soon_threadsafe(self._flows.set)

    def close(self) -> None:
        self.cut()
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, what: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(timeout=10)

    async def _listen(self) -> int:
        self._flows.set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._flows.wait()
        if self._is_cut:
            writer.transport.abort()
            return
        try:
            there, answers = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.transport.abort()
            return
        self._lines |= {writer, answers}
        await asyncio.gather(self._pump(reader, answers), self._pump(there, writer))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self._flows.wait()
                writer.write(data)
                await writer.drain()
        self._lines.discard(writer)
        writer.close()

    async def _break(self) -> None:
        for line in list(self._lines):
            line.transport.abort()
        self._lines.clear()

    async def _end(self) -> None:
        self._flows.set()
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
