"""The app as one ASGI application: Streamlit's pages and our own routes. Started by `calipers serve`."""

import asyncio
import gc
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from annotation.errors import AnnotationError
from annotation.participation.personal_data import delete_names_due
from app.logs import tell_no_words, write_logs
from app.server.metrics import note_slow_query
from app.server.routes import exception_handlers, middleware, routes, stop_in_good_order
from app.settings import database, settings
from db.connect import transaction, watch_queries

HOUR_S = 3600
# what ends one look for names that are due: the database is away, a study's protocol cannot be read, the disk is full
FAILS = (SQLAlchemyError, AnnotationError, OSError, ValueError)
log = logging.getLogger("calipers")
SWITCH_S = 0.0005  # a save gives the interpreter away at every statement, and would wait 5 ms for it beside a rendering


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[None]:
    """Before the first request; `calipers serve` has brought the schema up to date by then."""
    write_logs(settings().log_level)
    tell_no_words()
    watch_queries(database(), settings().slow_query_ms / 1e3, note_slow_query)
    send_at_once()
    sys.setswitchinterval(SWITCH_S)
    stop_in_good_order(settings().drain_s)
    hourly = asyncio.gather(delete_names_hourly(), back_up_hourly())
    # Streamlit collects garbage after every run of a page: without what stays, which takes it a tenth of a second
    gc.collect()
    gc.freeze()
    yield
    hourly.cancel()
    await asyncio.wait([hourly])  # until a backup that is being made was told to end


app = st.App("shell.py", routes=routes, middleware=middleware, exception_handlers=exception_handlers, lifespan=lifespan)


async def delete_names_hourly() -> None:
    """Names whose time is over go, whichever process looks first; where that fails, an hour later."""
    while True:
        try:
            await run_in_threadpool(_delete_names)
        except FAILS:
            log.exception("names not deleted, tried again in an hour")
        await asyncio.sleep(HOUR_S)


async def back_up_hourly() -> None:
    """A backup is made once the last one is as old as asked, by a process of its own; where it fails, an hour later."""
    while settings().backup_folder is not None:
        words = sys.executable, "-m", "calipers", "backup", "--due"
        quiet = asyncio.subprocess.DEVNULL  # what it says names folders, which no log holds
        made = None
        try:
            made = await asyncio.create_subprocess_exec(*words, stdout=quiet, stderr=quiet)
            if await made.wait():
                log.error("no backup made, tried again in an hour; `calipers backup --due` says why")
        except OSError:  # no memory, or no process left
            log.error("no backup made, tried again in an hour; no process could be begun for it")
        except asyncio.CancelledError:  # this server ends
            if made:
                made.terminate()
            raise
        await asyncio.sleep(HOUR_S)


def _delete_names() -> None:
    with transaction(database()) as session:
        gone = delete_names_due(session)
    if gone:
        log.info("names deleted", extra={"studies": len(gone), "names": sum(gone.values())})


OPEN_FILES = Path("/dev/fd")


def send_at_once() -> None:
    """Turn Nagle's algorithm off on every TCP socket of this process; the sockets it accepts inherit that.

    asyncio does so only for sockets made with IPPROTO_TCP, and Streamlit 1.67 makes the one it listens on without. The
    body of each reply then waits 40 ms for the acknowledgement of its head. Nothing is changed where a process cannot
    list its open files (Windows).
    """
    for number in os.listdir(OPEN_FILES) if OPEN_FILES.is_dir() else ():
        try:
            opened = socket.socket(fileno=int(number))
        except OSError:
            continue  # a file, a pipe, or the listing itself, closed by now
        if opened.family in (socket.AF_INET, socket.AF_INET6) and opened.type == socket.SOCK_STREAM:
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opened.detach()  # ours to set, not to close
