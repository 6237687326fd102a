"""The app as one ASGI application: Streamlit's pages and our own routes. Started by `calipers serve`."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

from app import api
from app.headers import SecurityHeaders
from app.sending import send_at_once
from app.settings import settings
from db.migrations import upgrade


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[None]:
    """Bring the schema up to date before the first request, and let no reply wait."""
    logging.getLogger("calipers").setLevel(settings().log_level.upper())
    upgrade(settings().database_url)
    send_at_once()
    yield


app = st.App(
    "shell.py",
    routes=api.routes,
    middleware=[Middleware(SecurityHeaders)],
    exception_handlers=api.exception_handlers,
    lifespan=lifespan,
)
