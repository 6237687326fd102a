"""Raters with a column of their own beside rows of others' answers, such as people beside a row for each judge."""

from collections.abc import Mapping

import pandas as pd

from calibration.table.roles import NAMES, in_english
from calibration.tidying.found import EVERYBODY, NOBODY, kind_of
from calibration.tidying.mapping import Asked, LabelMap
from calibration.tidying.raters import bare_name, called, is_of_all, kind_of_name, people_of, person_of

ITEMS = ("item_id", "cluster_id", "system_a", "system_b", "criterion", "category", "len_a", "len_b")
NO_RATER = {one for part, names in NAMES.items() if part != "label" for one in (part.replace("_", ""), *names)}


def raters_beside(table: pd.DataFrame, mapping: LabelMap, asked: Asked) -> dict[str, str]:
    """Columns that nothing is known of and that answer each item once, in words of the column of answers -> the rater.

    The rater is one of --people, or a person or model by the head, else "". `table`: text; `mapping`: of its rows.
    """
    who, label = (mapping.columns.get(part, ()) for part in ("rater_id", "label"))
    if len(who) != 1 or len(label) != 1 or mapping.spread or not mapping.columns.get("item_id"):
        return {}
    used = {name for names in (*mapping.columns.values(), *asked.columns.values()) for name in names}
    words = {*table[label[0]].str.strip()} - {""}
    groups = table.groupby(_items(mapping), sort=False)
    found = {}
    for name in [one for one in map(str, table) if one not in used]:
        rater = _rater_of(name, asked)
        given = {*table[name].str.strip()} - {""}
        is_alike = given & words if rater in asked.people else len(given) > 1 and given <= words
        if is_alike and _is_plain(name) and not called(rater, [*map(str, table[who[0]].unique())]):
            cells = table[name]
            if (cells.eq("") | cells.eq(groups[name].transform("max"))).all():
                found[name] = rater
    return found


def stacked(table: pd.DataFrame, mapping: LabelMap, raters: Mapping[str, str], asked: Asked) -> pd.DataFrame:
    """The table with a row an item and criterion for each answer in the columns of `raters`, which are gone.

    Of the other cells such a row has those that are alike in all rows of its item.
    """
    (who,), (label,) = mapping.columns["rater_id"], mapping.columns["label"]
    items, kind = _items(mapping), mapping.columns.get("rater_kind", ())
    groups = table.groupby(items, sort=False)
    used = {name for part, names in mapping.columns.items() if part not in ITEMS for name in names} | {*raters}
    kept = [one for one in map(str, table) if one in items or (one not in used and groups[one].nunique().eq(1).all())]
    parts = [table.drop(columns=[*raters])]
    for name, rater in raters.items():
        rows = table[kept].assign(**{who: rater})
        rows[label] = groups[name].transform("max")
        for one in kind:
            rows[one] = kind_of(rater, asked)
        parts.append(rows[~table.duplicated(items) & rows[label].ne("")])
    return pd.concat(parts, ignore_index=True).fillna("")


def question(raters: Mapping[str, str], mapping: LabelMap, asked: Asked) -> list[str]:
    """What has to be said where none of the rows is a person's for sure, and a column of nobody's name answers too."""
    is_known = asked.people or "rater_kind" in mapping.columns or "human" in mapping.kinds.values()
    unnamed = [name for name, rater in raters.items() if not rater]
    if is_known or not unnamed:
        return []
    people = people_of(
        [name.rpartition(".")[2] for name, rater in raters.items() if not rater or kind_of_name(rater) == "human"]
    )
    verb, label = "answers" if len(unnamed) == 1 else "answer", mapping.columns["label"][0]
    return [
        f"{' and '.join(unnamed)} {verb} each item in the words of {label!r}, and nothing says who that is: "
        f"--people {people} where people do, --people {NOBODY} where nobody does"
    ]


def _items(mapping: LabelMap) -> list[str]:
    return [name for part in ("item_id", "criterion") for name in mapping.columns.get(part, ())]


def _is_plain(column: str) -> bool:
    """Whether a head does not end in the name of something else, such as a run, a price or most people's answer."""
    return not is_of_all(column) and in_english(bare_name(column).rpartition("_")[2]) not in NO_RATER


def _rater_of(column: str, asked: Asked) -> str:
    if kind_of_name(bare_name(column)) == "judge":
        return bare_name(column)
    person = person_of(column, asked.people)
    return person if not asked.people or {person, EVERYBODY} & {*asked.people} else ""
