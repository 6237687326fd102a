"""The labels of several parts of a folder as one table: the items of the first are those of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from annotation.answer_layouts import ANSWER_LAYOUTS
from annotation.files.decoding import some_of
from calibration.table.typed_cells import is_number
from calibration.tidying import applying
from calipers.mapping_files import Recipe
from plain.typed_options import typed

PAIR = ("system_a", "system_b")


@dataclass(frozen=True)
class TidyFile:
    """The labels of a file and how they were made. `problems`: all that has to be said first; then labels are what
    there is without it, or nothing. `before`: the table as it was read."""

    labels: pd.DataFrame
    recipe: Recipe
    before: pd.DataFrame
    told: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)


def together(names: Sequence[str], made: Sequence[TidyFile]) -> TidyFile:
    """The labels of several parts of a folder, the first one's topics and systems for the items they share.

    A table that holds no labels, such as a test's inputs, is told and left out; a tool's file has to be read.
    """
    labels, told, problems = [made[0].labels], [*made[0].told], [f"{names[0]}: {one}" for one in made[0].problems]
    for name, one in zip(names[1:], made[1:], strict=True):
        if one.problems and name not in ANSWER_LAYOUTS:
            told.append(f"{name} is left out: {one.problems[0]}")
        else:
            problems += [f"{name}: {problem}" for problem in one.problems]
            own, said = _joined_to(made[0].labels, names[0], one)
            problems += _other_words(made[0].labels["label"], names[0], own["label"], name)
            labels.append(own)
            told += [f"{name}: {sentence}" for sentence in (*one.told, *said)]
    joined = pd.concat(labels, ignore_index=True).fillna("")
    return replace(made[0], labels=joined, told=tuple(told), problems=tuple(problems))


def _other_words(first: pd.Series[str], called: str, own: pd.Series[str], name: str) -> list[str]:
    """A sentence where one part answers in numbers and another in words; nothing where no label is in either."""
    numbers, words = ([*dict.fromkeys(part[part.ne("")])] for part in (first, own))
    if not numbers or not words or any(map(is_number, words)) or not all(map(is_number, numbers)):
        return []
    return [
        f"{name}: answers are words ({some_of(words, 4)}), those of {called} numbers ({some_of(numbers, 4)}): say "
        f"which is which, such as {typed('--map-label', *(f'{word}={numbers[0]}' for word in words))}"
    ]


def _joined_to(first: pd.DataFrame, called: str, one: TidyFile) -> tuple[pd.DataFrame, list[str]]:
    """The labels of one part as the first part's items have them; what was taken for granted, and what joins nothing.

    An only criterion is that of a part without any. A pair named the other way round is turned.
    """
    own = one.labels.copy()
    said: list[str] = []
    if own.empty or first.empty:
        return own, said
    criteria = first["criterion"].unique()
    if one.recipe.mapping.constants.get("criterion") and len(criteria) == 1:
        own["criterion"] = criteria[0]
        said.append(f"what was asked is {criteria[0]!r}, as in {called}")
    known = first.drop_duplicates("item_id").set_index("item_id")
    theirs = {name: own["item_id"].map(known[name]) for name in ("cluster_id", *PAIR) if name in known}
    if {*PAIR} <= theirs.keys() and {*PAIR} <= {*own}:
        turned = (own[PAIR[0]] == theirs[PAIR[1]]) & (own[PAIR[1]] == theirs[PAIR[0]]) & own[PAIR[1]].ne("")
        own["label"] = own["label"].mask(turned, own["label"].replace(applying.TURNED))
        for name in {"presentation"} & {*own}:
            own[name] = own[name].mask(turned, own[name].replace(applying.TURNED))
        is_same = turned | own[PAIR[1]].eq("") | (own[PAIR[0]] == theirs[PAIR[0]])
        theirs |= {name: theirs[name].where(is_same, own[name]) for name in PAIR}
    for name, column in theirs.items():
        own[name] = column.fillna(own.get(name, ""))
    alone = int((~own["item_id"].isin(known.index)).sum())
    return own, [*said, f"{len(own):,} answers, of which on no item of {called} {alone:,}"]
