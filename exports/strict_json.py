"""JSON that somebody else may have written: one meaning for every reader, or refused."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def loads(text: str) -> Any:
    """The value. Raises ValueError for what is no JSON, for two values under one name, NaN, numbers without end,
    characters that no file can hold, and nesting without end.
    """
    try:
        value = DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()  # half of a character is a UnicodeEncodeError
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return held


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refused(text)


def _refused(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} is no number of JSON")


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_finite, parse_constant=_refused)
