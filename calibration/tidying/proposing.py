"""A mapping for any table: parts by the names of columns, raters and words by what they say, the rest asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

import pandas as pd

from calibration.table.roles import NAMES, as_text, roles_of
from calibration.tidying import items, mapping, readings, shapes, value_sets
from calibration.tidying.found import FROM, Found, kind_of
from calibration.tidying.raters import kind_of_word

OVERALL = "overall"
# names of columns in which only people stand
PERSONS = frozenset(
    f"{who}{end}" for who in ("worker", "turker", "participant", "crowdworker") for end in ("", " id", "id")
)
NOTHING = mapping.Asked()
KIND_COLUMNS = ("source", "type", "raterkind", "annotatorkind", "labelertype", "evaluatortype", *NAMES["rater_kind"])


def propose(frame: pd.DataFrame, asked: mapping.Asked = NOTHING) -> mapping.Proposal:
    """A mapping of `frame` to labels, what it takes for granted, and all that must be said before it is followed."""
    table, twice = as_text(frame)
    found = Found(table, asked)
    found.problems += [f"column {name!r} appears twice; rename or remove one" for name in twice]
    if table.empty:
        found.problems.append("the table has no rows; give it at least one label")
        return mapping.Proposal(found.mapping, (), tuple(found.problems))
    _find_columns(found)
    shapes.find_shape(found)
    _find_raters(found)
    if "label" in found.columns or found.spread:
        _find_criterion(found)
        readings.find_answers(found)
        items.find_items(found)
    return mapping.Proposal(found.mapping, tuple(found.told), tuple(found.problems))


def _find_columns(found: Found) -> None:
    """Parts that the user names, and those that names of columns say."""
    for part, columns in found.asked.columns.items():
        absent = [name for name in columns if name not in found.table]
        if absent:
            listed = ", ".join(found.names[:20])
            found.problems.append(f"there is no column {absent[0]!r} (there are: {listed}); correct --map {part}=…")
        elif columns and not (part in ("rater_id", "criterion") and len(columns) > 1):
            found.columns[part] = columns
    found.constants |= found.asked.constants
    said = {*found.asked.columns, *found.constants}
    taken = {name for columns in found.asked.columns.values() for name in columns}
    rest = found.table[[name for name in found.table if name not in taken]]
    names = list(map(str, rest))
    last = [name.rpartition(".")[2] for name in names]
    plainly = [
        one if last.count(one) == 1 and one not in names else name for one, name in zip(last, names, strict=True)
    ]
    short = dict(zip(plainly, names, strict=True))
    for part, name in roles_of(rest.set_axis(list(short), axis=1)).items():
        if part not in said:
            found.columns[part] = (short[name],)
    if "system_b" in found.columns and "system_a" not in found.columns:
        del found.columns["system_b"]


def _find_raters(found: Found) -> None:
    if any(one.rater_id for one in found.spread):
        names = list(dict.fromkeys(one.rater_id for one in found.spread))
    elif "rater_id" in found.columns:
        names = _words(found.table[found.columns["rater_id"][0]])
    elif "rater_id" in found.constants:
        names = [found.constants["rater_id"]]
    else:
        source = next((name for name in FROM if name in found.free()), "")
        if not source:
            if "label" in found.columns or found.spread:
                found.problems.append(
                    "no column says who answered: --map rater_id=COLUMN, or --map rater_id==NAME for one rater of all"
                )
            return
        found.columns["rater_id"] = (source,)
        found.told.append(f"who answered is the {source}")
        names = _words(found.table[source])
    if "rater_kind" in found.columns:
        _read_kinds(found)
    elif "rater_kind" not in found.constants:
        _find_kinds(found, names)


def _read_kinds(found: Found) -> None:
    """The words of a column that was named; one that says neither is asked about."""
    (column, *more) = found.columns["rater_kind"]
    if more or column == "rater_kind":  # our own name: its words are checked as labels are
        return
    words = {word: kind_of_word(word) for word in _words(found.table[column])}
    unknown = [word for word, kind in words.items() if not kind]
    if unknown:
        found.problems.append(
            f"{column!r} says {', '.join(map(repr, unknown[:4]))}, which says neither person nor judge: leave --map "
            "rater_kind out, and name the people, and the others are judges: --people NAME,NAME (or all, or none)"
        )
    found.kind_words = {word: kind for word, kind in words.items() if kind}


def _find_kinds(found: Found, raters: Sequence[str]) -> None:
    """Who is a person and who a judge, by a column of words or by the raters' names; asked for where neither says."""
    column = next((name for name in found.free() if _tells_kinds(name, found.table[name])), "")
    if column and not found.asked.people:
        found.columns["rater_kind"] = (column,)
        found.kind_words = {word: kind_of_word(word) for word in _words(found.table[column])}
        found.told.append(f"{column!r} says who is a person and who a judge")
        return
    found.kinds = {name: kind_of(name, found.asked) for name in raters}
    source = value_sets.plain(found.columns.get("rater_id", ("",))[0])
    if source in PERSONS and not found.asked.people:
        found.kinds = {name: kind or "human" for name, kind in found.kinds.items()}
        found.told.append(f"who stands in {found.columns['rater_id'][0]!r} is a person")
    unknown = [name for name, kind in found.kinds.items() if not kind]
    if unknown:
        shown = ", ".join(unknown[:8]) + (f" and {len(unknown) - 8} more" if len(unknown) > 8 else "")
        found.problems.append(
            f"nothing says whether these raters are people or judges: {shown}; name the people, and the others are "
            "judges: --people NAME,NAME (or all, or none)"
        )
        return
    for kind, what in (("human", "people"), ("judge", "judges")):
        names = [name for name in raters if found.kinds[name] == kind]
        if names:
            shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
            found.told.append(f"{what}: {shown}")


def _tells_kinds(name: str, cells: pd.Series[str]) -> bool:
    short = re.sub(r"[^a-z0-9]", "", name.rpartition(".")[2].lower())
    words = _words(cells) if short in KIND_COLUMNS else []
    return bool(words) and all(map(kind_of_word, words))


def _words(cells: pd.Series[str]) -> list[str]:
    """Each word of a column once, as they come; a blank cell says nothing."""
    return [word for word in map(str, cells.unique()) if word.strip()]


def _find_criterion(found: Found) -> None:
    if "criterion" in found.columns or "criterion" in found.constants or any(one.criterion for one in found.spread):
        return
    close = get_close_matches("criterion", [name for name in found.free() if len(name) > 4], 1, 0.8)
    if close:
        found.problems.append(f"is {close[0]!r} the criterion? --map criterion={close[0]}, or --map criterion==overall")
    found.constants["criterion"] = OVERALL
