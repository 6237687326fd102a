"""What options say of columns and words that a file has not, most likely misspelt."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches

import pandas as pd

from annotation.files.tables import Table
from calibration.tidying.mapping import IGNORED, Asked, LabelMap
from calibration.tidying.readings import EMPTY
from plain.typed_options import TO_FILL, by_map, typed


def unknown_columns(table: Table, asked: Asked) -> dict[str, str]:
    """A sentence for each ignored name that is no column, and nothing left out of the file's records."""
    return {
        name: f"no column {name!r} is there to be ignored"
        + "".join(
            f"; nearest: {by_map('ignore', near)}" for near in get_close_matches(name, map(str, table.frame), 1, 0.5)
        )
        for name in asked.ignored
        if name not in table.frame and not any(f" {name}," in f"{sentence}," for sentence in table.told)
    }


def unknown_words(frames: Sequence[pd.DataFrame], mapping: LabelMap, asked: Asked) -> dict[str, str]:
    """A sentence for each word of --map-label that is no cell of answers or orders, or as COLUMN:WORD of statuses.
    `frames`: the table as it is and as it was written.
    """
    if not asked.words:
        return {}
    parts = (mapping.columns.get(part, ()) for part in ("label", "presentation"))
    read = [*(name for names in parts for name in names), *(one.column for one in mapping.spread)]
    held = {
        str(name): {str(word).strip() for frame in frames for word in frame.get(name, pd.Series(dtype="str")).unique()}
        for name in frames[0]
    }
    statuses = mapping.columns.get("status", ())
    words = {word for name in read for word in held.get(name, ())} - {""}
    words |= {f"{name}:{word}" for name in statuses for word in held.get(name, ()) if words}
    absent = {
        word: said
        for word, said in asked.words.items()
        if (words and word not in {*words, "", EMPTY}) or (said == IGNORED and word != EMPTY and word not in words)
    }
    words |= {f"{name}:{word}" for name in held if asked.of_column(name) for word in held[name]}
    forms = [word for word, said in asked.words.items() if said == TO_FILL]
    return {word: f"{word}={TO_FILL} is a form: write what {word!r} means in place of {TO_FILL}" for word in forms} | {
        word: f"{word!r} is said to mean {said!r}, and nobody answers it{_instead(word, said, words, held, statuses)}"
        for word, said in absent.items()
    }


def _instead(
    word: str, said: str, words: Collection[str], held: Mapping[str, Collection[str]], statuses: Collection[str]
) -> str:
    """Where a word that nobody answers stands, or the answer that is spelt most like it."""
    if of_calls := [name for name in statuses if word in held.get(name, ())]:
        return f"; it stands in {of_calls[0]!r}: {typed('--map-label', f'{of_calls[0]}:{word}={said}')}"
    if unread := [name for name, own in held.items() if word in own or word in {f"{name}:{one}" for one in own}]:
        return f"; it stands in {unread[0]!r}, which is not read as one"
    near = get_close_matches(word, sorted(words), 1, 0.5)
    return f"; nearest: {typed('--map-label', f'{near[0]}={said}')}" if near else ""
