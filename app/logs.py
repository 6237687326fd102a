"""The server's log: one JSON object a line on standard error, about what happened and never about what was said."""

import logging
from pathlib import Path
from traceback import extract_tb
from typing import Any

from pythonjsonlogger.json import JsonFormatter


def write_logs(level: str) -> None:
    """Send `calipers` records of this level and above to standard error, one JSON object each, times in UTC."""
    handler = logging.StreamHandler()
    handler.setFormatter(line_format())
    log = logging.getLogger("calipers")
    log.handlers, log.propagate = [handler], False
    log.setLevel(level)


def line_format() -> JsonFormatter:
    """A record as {"level", "event", …its facts…, "time"}."""
    names = {"levelname": "level", "message": "event", "timestamp": "time"}
    return JsonFormatter("{levelname}{message}", style="{", rename_fields=names, timestamp="timestamp")


def tell_no_words() -> None:
    """In all logs of this process, of libraries too, an exception is where it arose and of which type.

    What it says itself may quote an answer, a name or a report, as a database does that refuses a row.
    """
    usual = logging.getLogRecordFactory()
    if usual is not logging.LogRecord:
        return

    def wordless(*args: Any, **named: Any) -> logging.LogRecord:
        record = usual(*args, **named)
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            record.msg, record.args = f"{record.getMessage()}: {where(error)}", ()
        record.exc_info = record.exc_text = None
        return record

    logging.setLogRecordFactory(wordless)


def where(error: BaseException) -> str:
    """The type of an exception and the last files and lines it came through."""
    frames = extract_tb(error.__traceback__)[-5:]
    return " ".join([type(error).__name__, *(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)])
