"""Every route of ours and what stands around them: one list for the server and for the tests that walk it."""

from __future__ import annotations

from starlette.middleware import Middleware

from app import api, health, metrics
from app.doors import Doors
from app.headers import SecurityHeaders
from app.renewing import Renewing
from app.request_log import RequestLog

routes = [*api.routes, *health.routes, *metrics.routes]
middleware = [  # the first is the outermost
    Middleware(RequestLog, routes=routes),
    Middleware(SecurityHeaders),
    Middleware(Doors),
    Middleware(Renewing),
]
exception_handlers = api.exception_handlers
