"""Tell of queries that take long: the statement with its placeholders, never a value."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, event

STATEMENT_MAX = 500


def watch_queries(engine: Engine, seconds: float, tell: Callable[[str, float], None]) -> None:
    """Call `tell(statement, seconds)` after each statement that ran for longer than `seconds` before its first row."""

    def before(_connection: Any, _cursor: Any, _statement: str, _values: Any, context: Any, _many: bool) -> None:
        context.calipers_started = time.perf_counter()

    def after(_connection: Any, _cursor: Any, statement: str, _values: Any, context: Any, _many: bool) -> None:
        took = time.perf_counter() - context.calipers_started
        if took > seconds:
            tell(" ".join(statement.split())[:STATEMENT_MAX], took)

    event.listen(engine, "before_cursor_execute", before)
    event.listen(engine, "after_cursor_execute", after)
