"""The app as one ASGI application: Streamlit's pages and our own routes. Started by `calipers serve`."""

import gc
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st

from app.logs import tell_no_words, write_logs
from app.metrics import note_slow_query
from app.routes import exception_handlers, middleware, routes
from app.sending import send_at_once
from app.settings import database, settings
from app.stopping import stop_in_good_order
from db.slow_queries import watch_queries

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
    # Streamlit collects garbage after every run of a page: without what stays, which takes it a tenth of a second
    gc.collect()
    gc.freeze()
    yield


app = st.App(
    "shell.py",
    routes=routes,
    middleware=middleware,
    exception_handlers=exception_handlers,
    lifespan=lifespan,
)
