"""What was read of a file, shown before any number: each column's part, how it is known, and what it holds."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from calibration.table.other_languages import language_of
from calibration.table.roles import NAMES, all_numbers, in_english
from calibration.tidying import measures, statuses
from calibration.tidying.found import some_of, words_of
from calibration.tidying.mapping import IGNORED, Asked, LabelMap
from calibration.tidying.raters import kind_of_name
from plain.counting import counted
from plain.typed_options import by_map, typed

WORDS, CHARACTERS, ROWS = 4, 24, 3  # of a column, of a word, and of labels that are shown
SENTENCE = 3  # blanks in a word, from which it is a text that somebody wrote, and not shown
SHOWN = ("item_id", "rater_id", "criterion", "label", "status", "cost_usd")


@dataclass(frozen=True)
class ColumnRead:
    """A column of a file. `part`: what it is read as, "" where it is not read; `known`: mapped, named or by its values;
    `holds`: its words or the range of its numbers; `may_be`: what it looks like though it is not read, with the option.
    `is_words`: `holds` shows words of it.
    """

    name: str
    part: str
    known: str
    holds: str
    may_be: str = ""
    is_words: bool = False


def columns_read(
    table: pd.DataFrame, read: pd.DataFrame, mapping: LabelMap, asked: Asked, is_followed: bool = False
) -> tuple[ColumnRead, ...]:
    """Every column of `table`, a file as it was written; `read`: the same with its numbers as they were read.
    `is_followed`: the mapping was kept, and names all that is read.
    """
    parts = _parts(mapping)
    said = {*parts} if is_followed else {name for names in asked.columns.values() for name in names}
    is_priced = bool(mapping.spread) or "cost_usd" in mapping.columns  # or each rater's own is told
    scores = [name for name in mapping.scores if name in read]
    found = []
    for name in map(str, table):
        own = parts.get(name, [])
        is_named = any(_is_named(name, part, asked.people) for part in own)
        known = "mapped" if name in said else "named" if is_named else "by its values"
        words = words_of(read[name])
        may_be = "" if own or not words else _may_be(name, words, len(table), read[scores], is_priced)
        is_text = "rationale" in own or any(word.count(" ") >= SENTENCE for word in words)
        holds = counted(len(words), "text") if is_text else _holds(words)
        is_words = not is_text and not all_numbers(pd.Series(words))
        found.append(ColumnRead(name, ", ".join(own), known if own else "", holds, may_be, is_words))
    return tuple(found)


def block(columns: Sequence[ColumnRead], labels: pd.DataFrame) -> tuple[str, ...]:
    """A line for each column that is read or may be meant to be, one for the others, and the first labels."""
    lines = [f"{one.name!r} is {one.part} ({one.known}): {one.holds}" for one in columns if one.part]
    lines += [f"{one.name!r} is unread, and {one.may_be}: {one.holds}" for one in columns if one.may_be]
    unread = [one.name for one in columns if not one.part and not one.may_be]
    lines += [f"unread: {', '.join(unread)}"] * bool(unread)
    shown = labels[[name for name in SHOWN if name in labels]].iloc[:ROWS].astype("str")
    rows = [", ".join(f"{name} {short(cell)}" for name, cell in row.items() if cell) for _, row in shown.iterrows()]
    return (*lines, *(f"row {number} as it was read: {row}" for number, row in enumerate(rows, start=1)))


def without_words(columns: Sequence[ColumnRead]) -> tuple[str, ...]:
    """Each column that is read, its part, and the range of its numbers: what may be given away, and no word of it."""
    return tuple(
        f"{one.name!r} is {one.part} ({one.known})" + f": {one.holds}" * (not one.is_words)
        for one in columns
        if one.part
    )


def _parts(mapping: LabelMap) -> Mapping[str, list[str]]:
    parts: dict[str, list[str]] = {}
    for part, columns in mapping.columns.items():
        for name in columns:
            parts.setdefault(name, []).append(part)
    for one in mapping.spread:
        who = ", ".join(text for text in (one.rater_id, one.criterion) if text)
        for part, name in {"label": one.column, **one.measures}.items():
            parts.setdefault(name, []).append(f"{part} of {who}")
    return parts


def _is_named(name: str, part: str, people: Collection[str]) -> bool:
    """Whether a head says its part: by the part's own name, one that others call it by, or a rater's."""
    part, _, who = part.partition(" of ")
    last = name.rpartition(".")[2]
    heads = (part.replace("_", ""), *NAMES.get(part, ()))
    is_rater = bool(who) and (bool(kind_of_name(who)) or who.partition(", ")[0] in people)
    return in_english(last) in heads or bool(language_of(part, last)) or is_rater


def _holds(words: Sequence[str]) -> str:
    """The words of a column, or the range of its numbers, and how many there are."""
    if words and all_numbers(pd.Series(words)):
        numbers = pd.to_numeric(pd.Series(words))
        return f"{numbers.min():g} to {numbers.max():g}" + f", {len(words):,} numbers" * (len(words) > 1)
    return some_of([*map(short, words[:WORDS]), *words[WORDS:]], WORDS) or "nothing"


def _may_be(name: str, words: Sequence[str], rows: int, scores: pd.DataFrame, is_priced: bool) -> str:
    """What an unread column looks like, with the option that reads it; "" where it looks like nothing."""
    if statuses.is_status(name, words):
        gone = [f"{name}:{word}={IGNORED}" for word in words if statuses.says_excluded(word)]
        out = f", {typed('--map-label', *gone)} leaves such rows out" if gone else ""
        return f"looks like a status ({by_map('status', name)} reads it{out})"
    if measures.is_price(name) and not is_priced and all_numbers(pd.Series(words)):
        return f"looks like a price ({by_map('cost_usd', name)} reads it, as USD)"
    if len(words) == rows or not all_numbers(pd.Series(words)) or not statuses.may_be_score(name):
        return ""
    numbers, given = pd.to_numeric(pd.Series(words)), scores.apply(pd.to_numeric, errors="coerce")
    in_range = scores.empty or given.min().min() <= numbers.min() <= numbers.max() <= given.max().max()
    return f"may be a score ({by_map('label', name)} reads it as the answer)" if in_range else ""


def short(text: str) -> str:
    """A word as it is shown: cut behind `CHARACTERS`."""
    text = " ".join(text.split())
    return text if len(text) <= CHARACTERS else f"{text[: CHARACTERS - 1]}…"
