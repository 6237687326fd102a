"""In which order the two systems of a pair were shown: by words, a flag, heads, or the name of what stood first."""

import re
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from calibration.table import roles
from calibration.tidying.found import Found, words_of
from calibration.tidying.measures import BETWEEN
from calibration.tidying.raters import bare_name
from calibration.tidying.value_sets import plain, recognise, which_is_which
from plain.typed_options import by_map, typed

SIDED = re.compile(r"left|first|links|izquierd|gauche|左")
STOOD_FIRST = re.compile(
    r"(?:shown)?(?:left|first)(?:model|system|answer|response)?|(?:model|system)(?:shown)?(?:left|first)"
)


def find_order(found: Found) -> None:
    """Which column says in which order two systems were shown: by words or a flag, or by the one that stood first."""
    _ask_of_orders(found)
    asked = tuple(name for name in found.asked.columns.get("presentation", ()) if name in found.table)
    if "presentation" in found.constants or len(asked) > 1:
        return
    pair = [found.columns[part][0] for part in ("system_a", "system_b") if part in found.columns]
    systems = {*found.table[pair].to_numpy().ravel()} if len(pair) == 2 else set[str]()
    for name in asked or found.columns.get("presentation") or tuple(found.free()):
        last = name.rpartition(".")[2]
        meant, may_name = roles.order_words(last), bool(asked or STOOD_FIRST.fullmatch(roles.in_english(last)))
        if "label" in found.columns and _are_orders(found.table[name]):
            meant = meant or roles.ORDERS  # whatever it is called; without answers beside it, it may hold them
        if not meant and not may_name and "presentation" not in found.columns:
            continue
        words = [word for word in map(str, found.table[name].str.strip().unique()) if word]
        if {*words} == {"0", "1"} and "2" in meant:  # counted from 0
            meant = {"0": "AB", "1": "BA"}
        known = {word: order for word in words if (order := (meant or roles.ORDERS).get(word.lower()))}
        known |= {word: order for word, order in found.asked.orders.items() if word in words}
        is_name = {*words} <= systems and may_name
        if known and not asked and named_after_sides(found):
            known, ask = _stood_by_head(found, pair, name, known)
            found.problems += [ask] * bool(ask)
        if {*words} <= {"1", "2"} and not (systems or asked):  # a first and a second time, of one report
            continue
        if words and (len(known) == len(words) or is_name):
            found.columns["presentation"], found.orders = (name,), known
            is_ours = last == "presentation" and {word.upper() for word in words} <= {"AB", "BA"}
            found.flagged = "" if is_ours or {*known.values()} == {"AB"} or name in pair[:1] else name
            if found.flagged:
                said = ", ".join(f"{word!r} is {order}" for word, order in known.items()) or "which system stood first"
                found.told.append(f"{name!r} says in which order the two were shown: {said}")
            return
        is_flag = len(words) == 2 and "yes" in meant
        if words and (asked or is_flag):
            left = [word for word in words if word not in known]
            said = which_is_which(left, ["AB", "BA"])
            if len(left) == len(words) == 2:
                ways = ([f"{left[0]}={one}", f"{left[1]}={other}"] for one, other in (("AB", "BA"), ("BA", "AB")))
                said = " or ".join(typed("--map-label", *way) for way in ways)
            ignored = "" if asked else f", or {by_map('ignore', name)}"
            is_one_of_two = len(words) == 2 and not pair and STOOD_FIRST.fullmatch(roles.in_english(last))
            found.problems.append(
                f"{name!r} says in which order the two were shown, and not by AB and BA: "
                + (_of_the_first(name, words) if is_one_of_two else f"{by_map('presentation', name)} {said}{ignored}")
            )
            found.columns["presentation"], found.flagged = (name,), name
            return


def _stood_by_head(
    found: Found, pair: Sequence[str], name: str, known: Mapping[str, str]
) -> tuple[dict[str, str], str]:
    """What the words of an order mean where heads such as `left_model` say what stood first; the sentence that asks.

    Where either system stands there, and always with one of the words, they name the same once more: all are AB. Where
    the words change by themselves nobody can know. One system that stands there in every row is turned as they say.
    """
    together = turns_with_names(found, pair, name, known)
    if {*known.values()} == {"AB"} or together is None:
        return dict(known), ""
    if together:
        found.told.append(f"what stood first is in {pair[0]!r}, as its head says; {name!r} says it once more")
        return dict.fromkeys(known, "AB"), ""
    return dict(known), (
        f"{pair[0]!r} says by its head what stood first, and {name!r} may say otherwise: "
        f"{typed('--map', 'presentation==AB', f'ignore={name}')} where the head is right, "
        f"{by_map('presentation', name)} where BA is the other one"
    )


def turns_with_names(found: Found, pair: Sequence[str], name: str, known: Mapping[str, str]) -> bool | None:
    """Whether a row names its two systems in one order with one word of `name`, in the other with the other, always.
    None where every pair of systems is named in one order alone."""
    orders = found.table[name].str.strip().map(known)
    rows = found.table.loc[orders.notna(), pair].assign(**{name: orders})
    rows = rows[(rows[pair] != "").all(axis=1)] if len(pair) == 2 else rows[:0]
    if not len(rows) or not known:
        return None
    of = [rows[pair].min(axis=1), rows[pair].max(axis=1)]
    stood = rows.groupby(of)[[pair[0], name]].transform("nunique")
    if stood[pair[0]].max() < 2:
        return None
    return bool(rows.groupby([*of, rows[pair[0]]])[name].nunique().max() == 1 and stood[name].max() == 2)


def _of_the_first(name: str, words: Sequence[str]) -> str:
    """The options by which a column of two systems' names says which of them stood first in each row."""
    one, other = words
    pair = typed("--map", f"presentation={name}", f"system_a=={one}", f"system_b=={other}")
    return f"{pair} {typed('--map-label', f'{one}=AB', f'{other}=BA')}"


def ask_of_the_first(found: Found) -> None:
    """A column of one system that by its head stood first, beside sides, is asked about where it names two of an item:
    read as system_a it parts the item, or turns answers unseen."""
    (name,) = found.columns.get("system_a", ("",))[:1]
    item = found.columns.get("item_id", ())
    if not name or "system_b" in {*found.columns, *found.constants} or "system_a" in found.asked.columns:
        return
    words, rest = words_of(found.table[name]), [one for one in item if one != name]
    if len(words) != 2 or not rest or not STOOD_FIRST.fullmatch(roles.in_english(name.rpartition(".")[2])):
        return
    given = {word for cells in [found.table[one] for one in found.columns.get("label", ())] for word in words_of(cells)}
    if are_sides(given) and found.table.groupby(rest)[name].nunique().gt(1).any():
        found.problems.append(
            f"{name!r} names one of two systems in each row, and answers are sides: {_of_the_first(name, words)} "
            f"where it says which of the two stood there, {by_map('system_a', name)} where each is an item of its own"
        )


def _are_orders(cells: "pd.Series[str]") -> bool:
    """Whether AB and BA stand in a column, and nothing else; mostly the first cells tell that they do not."""
    first = {*cells.iloc[: roles.FIRST].str.upper()} - {""}
    return first <= {"AB", "BA"} and {*cells.str.upper().unique()} - {""} == {"AB", "BA"}


def _ask_of_orders(found: Found) -> None:
    """Columns of a wide table that say in which order one rater's pairs were shown, which no mapping can hold."""
    owners = {one for other in found.free() for one in (other, bare_name(other))}
    for name in [name for name in found.free() if not roles.order_words(name)]:
        ends = {name[: mark.start()]: roles.order_words(name[mark.end() :]) for mark in BETWEEN.finditer(name)}
        known = next((ends[head] for head in ends if head in owners and ends[head]), {})
        words = {word.lower() for word in found.table[name].str.strip().unique()} - {""} if known else set[str]()
        if words and words <= known.keys():
            found.problems.append(
                f"{name!r} may say in which order each pair was shown, which a column for each rater cannot: "
                f"{by_map('ignore', name)} where A is always system_a; else write a row for each answer "
                "with its presentation"
            )
            found.table = found.table.drop(columns=name)


def named_after_sides(found: Found) -> bool:
    return "system_a" in found.columns and bool(SIDED.search(plain(found.columns["system_a"][0])))


def are_sides(words: Iterable[str]) -> bool:
    """Whether some words say a place, left or first, whatever stands beside them."""
    return any(recognise([word, "A", "B"], "", False).answers.read_as == "sides" for word in words)
