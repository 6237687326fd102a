"""What options say of columns and words that a file has not, most likely misspelt."""

from collections.abc import Iterable
from difflib import get_close_matches

import pandas as pd

from annotation.files.tables import Table
from calibration.tidying.mapping import Asked, LabelMap
from calibration.tidying.readings import EMPTY
from plain.typed_options import by_map, typed


def unknown_columns(table: Table, asked: Asked) -> dict[str, str]:
    """A sentence for each ignored name that is no column, and nothing left out of the file's records."""
    return {
        name: f"--map ignore={name}: there is no such column; nearest: "
        + by_map("ignore", *(get_close_matches(name, map(str, table.frame), 1, 0) or ["nothing"]))
        for name in asked.ignored
        if name not in table.frame and not any(f" {name}," in f"{sentence}," for sentence in table.told)
    }


def unknown_words(frames: Iterable[pd.DataFrame], mapping: LabelMap, asked: Asked) -> dict[str, str]:
    """A sentence for each word of --map-label that is no cell of answers, orders or statuses. `frames`: the table as it
    is and as it was written.
    """
    parts = (mapping.columns.get(part, ()) for part in ("label", "presentation", "status"))
    read = [*(name for names in parts for name in names), *(one.column for one in mapping.spread)]
    words = {str(word).strip() for frame in frames for name in read if name in frame for word in frame[name].unique()}
    return {
        word: f"--map-label {word}={said}: no answer in the file is {word!r}"
        + (f"; nearest: {typed('--map-label', f'{near[0]}={said}')}" if near else "")
        for word, said in asked.words.items()
        if words and word not in {*words, EMPTY}
        for near in [get_close_matches(word, sorted(words - {""}), 1, 0.5)]
    }
