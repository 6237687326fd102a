"""A table with a row for each rater and a column for each item, as surveys are exported, turned round."""

import re
from collections import Counter

import pandas as pd

ITEM, CRITERION = "item_id", "criterion"
NUMBER = re.compile(r"\d+")


def turned(frame: pd.DataFrame, who: str) -> tuple[pd.DataFrame, tuple[str, ...], str]:
    """(a row for each item and criterion with a column for each rater, what is told, why it cannot be turned or "").

    Items are the columns that share their few answers, each with a word of another; their heads name them. Where most
    of their heads differ in a number alone it names the item, what differs beside it the criterion: item01_clear,
    item01_deep. Other columns, such as age or remarks, are left out and told. `who`: the column that
    names the raters, each once.
    """
    if who not in frame:
        return frame, (), f"there is no column {who!r} to turn the table by: --read turned=COLUMN names who answered"
    names = frame[who].str.strip()
    if names.duplicated().any() or names.eq("").any():
        return frame, (), f"{who!r} does not name each row once, so the table cannot be turned by it"
    heads: dict[str, dict[str, str]] = {}  # head without its number -> the number -> the head
    for head in [str(one) for one in frame if one != who]:
        if len(found := NUMBER.findall(head)) == 1:
            own = heads.setdefault(NUMBER.sub("#", head), {})
            if (other := own.setdefault(str(int(found[0])), head)) != head:
                return frame, (), f"{other!r} and {head!r} have one number, so that nobody knows which is its item's"
    sets = {stem: own for stem, own in heads.items() if len(own) > 1}
    alike = _alike(frame.drop(columns=who))
    if 2 * sum(map(len, sets.values())) < len(alike) or not sets:
        return _by_heads(frame, who, alike)
    first, *others = sets
    if other := next((one for one in others if sets[one].keys() != sets[first].keys()), ""):
        return frame, (), (
            f"the heads {min(sets[first].values())!r} and {min(sets[other].values())!r} differ in more than a number, "
            "and their numbers are not the same, so that nobody knows what is an item and what a criterion: give each "
            "item a number of its own, and all its criteria that one (item1_clear, item1_deep, item2_clear)"
        )  # fmt: skip
    parts = {stem: re.split(r"[ _.:/#-]+", stem) for stem in sets}
    shared = set[str].intersection(*map(set, parts.values()))
    named = {stem: "_".join(one for one in own if one not in shared) or stem for stem, own in parts.items()}
    rows = [(number, named[stem], head) for stem, own in sets.items() for number, head in own.items()]
    made = frame[[head for *_, head in rows]].T.set_axis([*names], axis=1).reset_index(drop=True)
    made.insert(0, ITEM, [number for number, *_ in rows])
    if len(sets) > 1:
        made.insert(1, CRITERION, [criterion for _, criterion, _ in rows])
    left = [str(one) for one in frame if one != who and one not in {head for *_, head in rows}]
    what = f", criteria {', '.join(named.values())}" if len(sets) > 1 else ""
    told = [f"a row for each of {made[ITEM].nunique()} items, whose numbers stand in the heads{what}"]
    told += [f"left out, being no item's: {', '.join(left)}"] if left else []
    return made, tuple(told), ""


def _by_heads(frame: pd.DataFrame, who: str, items: list[str]) -> tuple[pd.DataFrame, tuple[str, ...], str]:
    """As `turned`, a row for each of the columns `items`."""
    if len(items) < 2:
        return frame, (), "no columns share their few answers, or have heads that differ in one number alone, as items"
    made = frame[items].T.set_axis([*frame[who].str.strip()], axis=1).reset_index(drop=True)
    made.insert(0, ITEM, [head.strip() for head in items])
    left = [str(one) for one in frame if one not in (who, *items)]
    told = [f"a row for each of {len(items)} items, which are the heads of columns with the same few answers"]
    return made, (*told, *([f"left out, being no item's: {', '.join(left)}"] if left else [])), ""


def _alike(frame: pd.DataFrame) -> list[str]:
    """The columns that answer in the words of most columns, of which each stands in a third of these at least."""
    words = {str(head): {*frame[head].str.strip().str.casefold()} - {""} for head in frame}
    count = Counter(word for own in words.values() for word in own)
    shared = {word for word, often in count.items() if often > 1 and 3 * often >= max(count.values())}
    return [head for head, own in words.items() if own and 2 * len(own & shared) >= len(own)]
