"""One request to a model: public names of the rooms behind."""

from annotation.judges.asking.client import (
    KEY,
    SECOND_NAMES,
    Transport,
    api_key,
    ask,
    close,
    describe,
    is_own_server,
    library,
    received,
    refuse_without_key,
    response_format,
)

__all__ = [
    "KEY",
    "SECOND_NAMES",
    "Transport",
    "api_key",
    "ask",
    "close",
    "describe",
    "is_own_server",
    "library",
    "received",
    "refuse_without_key",
    "response_format",
]
