"""Files that somebody else may have written, read with one meaning or refused: JSON, and labels.csv."""

import json
import math
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from plain.spreadsheets import unguarded


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


LONGEST_HEADER = 10_000  # bytes
CHUNK = 50_000  # rows in memory in any form but the table's own


def read_labels_csv(path: Path) -> pd.DataFrame:
    """Every cell as text, empty where nothing was given. Raises OSError and ValueError for what is no CSV in UTF-8."""
    with path.open("rb") as file:
        if len(file.readline(LONGEST_HEADER + 1)) > LONGEST_HEADER:
            raise ValueError("its first line is no header of labels")
    parts = pd.read_csv(
        path, dtype="str", keep_default_na=False, encoding="utf-8", lineterminator="\n", chunksize=CHUNK
    )
    made = [part.assign(**{str(name): part[name].map(unguarded) for name in part}) for part in parts]
    return pd.concat(made, ignore_index=True).astype("str")
