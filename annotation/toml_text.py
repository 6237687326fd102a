"""TOML that somebody wrote, read so that whatever is wrong with it is one kind of error."""

from __future__ import annotations

import tomllib
from typing import Any


def read_toml(text: str) -> dict[str, Any]:
    """Its keys and values. Raises ValueError saying what is wrong and, where the reader knows, at which line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except (ValueError, RecursionError):  # beyond what Python reads, which the format does not forbid
        raise ValueError("a number of thousands of digits, or brackets in brackets without end") from None
