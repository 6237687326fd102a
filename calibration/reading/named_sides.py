"""Labels that are names of what was compared: each item has its own two words, and no list of answers fits them all."""

from __future__ import annotations

import pandas as pd

CONTESTED = 10  # items with two answers or more against the most frequent one
NAMED_SIDES = (
    "no item has more than two of the {words} words in label, whichever these are: they look like names of the two "
    "sides, and κ and α are wrong for them; give system_a and system_b, and write A, B or tie"
)


def named_sides(answers: pd.DataFrame) -> str:
    """The sentence about labels that name the sides of each item, "" for those that may be one list of answers.

    `answers`: the columns item_id and label, a row for each answer that is a word other than A, B and tie. Told by
    items where two raters or more contradict the most frequent answer: had they a list to choose from, they would not
    agree on the one other word each time, and on another word from item to item.
    """
    rows = answers[["item_id", "label"]].astype(str)
    words = rows["label"].nunique()
    if words < 3:
        return ""
    counts = rows.groupby(["item_id", "label"]).size()
    by_item = counts.groupby(level="item_id")
    contested = by_item.sum() - by_item.max() >= 2
    if by_item.size().max() > 2 or contested.sum() < CONTESTED:
        return ""
    sides = counts.reset_index().groupby("item_id")["label"].agg(frozenset)[contested]
    return NAMED_SIDES.format(words=words) if sides.nunique() > 2 else ""
