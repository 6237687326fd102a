"""The server's process: replies leave at once, and what is done every hour goes on whatever happens to it."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from sqlalchemy.exc import OperationalError

from annotation.errors import AnnotationError
from app import main
from app.settings import settings


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_connections_accepted_later_do_not_wait(family: socket.AddressFamily, tmp_path: Path) -> None:
    with socket.socket(family) as listening, (tmp_path / "open").open("w") as file:  # proto 0, as Streamlit makes it
        listening.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        main.send_at_once()
        listening.listen()
        with socket.create_connection(listening.getsockname()[:2]), listening.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        file.write("still open")
    assert (tmp_path / "open").read_text() == "still open"


@pytest.mark.parametrize(
    "error", [OperationalError("", {}, OSError()), AnnotationError("locked", "locked"), OSError(), ValueError()],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_names_whose_deletion_failed_are_tried_again(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    tried = 0

    def fails() -> None:
        nonlocal tried
        tried += 1
        raise error if tried == 1 else asyncio.CancelledError

    monkeypatch.setattr(main, "_delete_names", fails)
    monkeypatch.setattr(main, "HOUR_S", 0)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(asyncio.wait_for(main.delete_names_hourly(), 10))
    assert tried == 2


def test_the_server_ends_once_what_is_done_every_hour_has(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    async def ends() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            ended.append("told to end")

    async def serve() -> None:
        async with main.lifespan(None):
            await asyncio.sleep(0)
        assert ended == ["told to end"] * 2

    for begins in (
        "database",
        "gc",
        "send_at_once",
        "stop_in_good_order",
        "tell_no_words",
        "watch_queries",
        "write_logs",
    ):
        monkeypatch.setattr(main, begins, MagicMock())
    for hourly in ("delete_names_hourly", "back_up_hourly"):
        monkeypatch.setattr(main, hourly, ends)
    asyncio.run(serve())


def test_a_backup_that_failed_is_told_without_a_word_of_where_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CALIPERS_BACKUP_FOLDER", str(tmp_path / "kept"))
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{tmp_path}/none.db")
    monkeypatch.setattr(main, "HOUR_S", 0)
    settings.cache_clear()
    begin, full = asyncio.create_subprocess_exec, [OSError(12, "Cannot allocate memory")]

    async def begun(*words: str, **kept: int) -> asyncio.subprocess.Process:
        if full:
            raise full.pop()
        return await begin(*words, **kept)

    async def until_told_twice() -> None:
        task = asyncio.create_task(main.back_up_hourly())
        while len(caplog.messages) < 2 and not task.done():
            await asyncio.sleep(0.02)
        task.cancel()

    monkeypatch.setattr(asyncio, "create_subprocess_exec", begun)
    asyncio.run(asyncio.wait_for(until_told_twice(), 60))
    settings.cache_clear()
    assert len(caplog.messages) > 1
    assert {text.partition(";")[0] for text in caplog.messages} == {"no backup made, tried again in an hour"}
