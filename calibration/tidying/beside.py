"""Raters with a column of their own beside rows of others' answers, such as people beside a row for each judge."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import pandas as pd

from calibration.table.roles import in_english
from calibration.tidying import keys, measures
from calibration.tidying import raters as names_of
from calibration.tidying.found import EVERYBODY, NOBODY, kind_of
from calibration.tidying.mapping import Asked, LabelMap
from calibration.tidying.value_sets import recognise, to_be_cut, which_is_which
from plain.typed_options import by_map, typed

ITEMS = ("item_id", "cluster_id", "system_a", "system_b", "criterion", "category", "len_a", "len_b")
SIZES = frozenset(("turbo", "mini", "nano", "flash", "lite", "pro", "max", "instruct", "chat"))  # end a model's name
NOT_CHOSEN = frozenset(("rejected", "dispreferred", "loser", "losing", "unchosen"))
SHOWN = 4  # words of a column that are named


@dataclass(frozen=True)
class Beside:
    """`raters`: columns that are stacked -> whose they are; what has to be said first; what is told."""

    raters: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


def raters_beside(table: pd.DataFrame, mapping: LabelMap, asked: Asked, is_chosen: bool = False) -> Beside:
    """Columns that nothing is known of and that answer each item once, in words of the column of answers.

    Read are those of --people; without it those that a head gives to one person, where no row is a person's, or to one
    model. The others are asked about where nobody says who is a person, else told; so are answers in other words where
    the head is a rater's, or another column of the same object is read. `table`: text; `mapping`: of its rows.
    `is_chosen`: the user says which lists of records are read; else that no judge is left is asked about.
    """
    who, label = (mapping.columns.get(part, ()) for part in ("rater_id", "label"))
    if len(who) != 1 or len(label) != 1 or mapping.spread or not mapping.columns.get("item_id"):
        return Beside()
    used = {name for names in (*mapping.columns.values(), *asked.columns.values()) for name in names}
    words, known = _words(table[label[0]], asked), [*map(str, table[who[0]].unique())]
    systems = _systems(table, mapping)
    words |= systems
    people, is_open = _people_in(table, mapping), not asked.people or EVERYBODY in asked.people
    raters: dict[str, str] = {}
    other: list[str] = []
    unsure: list[str] = []
    left: list[str] = []
    like: list[str] = []  # of them those that answer in the rows' words
    unlike: dict[str, object] = {}  # column -> whether its head says that it is a rater's
    free = [one for one in map(str, table) if one not in used and not was_not_chosen(table, one, label)]
    of_models = {
        one.rpartition(".")[0] for one in free if names_of.kind_of_name(one) == "judge" and _ends_as_model(one)
    }
    for name in free:
        given, person, bare = (
            _words(table[name], asked),
            names_of.person_of(name, asked.people),
            names_of.bare_name(name),
        )
        is_named, is_judge = person in asked.people, names_of.kind_of_name(bare) == "judge"
        is_model = is_judge and _ends_as_model(bare)
        is_like = given <= words and (len(given) > 1 or ("." in name and is_model))
        shared = given & words
        is_other = is_named or is_like or (person and shared)
        if (
            not is_other
            and not names_of.called(person or bare, known)
            and _may_answer(given, words, name, is_model or name.rpartition(".")[0] in of_models)
        ):
            unlike[name] = is_model or (person and is_open)
        elif not given or names_of.called(person or bare, known) or not is_other:
            left += [name] if given and person and len(given) <= len(words) else []
        elif is_named and not shared:
            other.append(name)
        elif is_named or (is_open and person and not people and _is_plain(name) and not _is_plural(name)):
            raters[name] = person
        elif not _is_plain(name) or _differing(table, mapping, name):
            left.append(name)
        elif is_like and is_model:
            raters[name] = names_of.own_key(bare)
        else:
            like += [name] if is_like and not is_judge else []
            (left if asked.people or is_judge or given & systems or (people and not person) else unsure).append(name)
    objects = {one.rpartition(".")[0] for one in (*raters, *unsure)} - {""}
    for name in [one for one in like if asked.people and one.rpartition(".")[0] in objects]:
        raters[name] = names_of.own_key(names_of.bare_name(name))  # a judge beside judges, whatever it is called
        left.remove(name)
    for name, is_rater in unlike.items():
        is_rater = is_rater or name.rpartition(".")[0] in objects
        (other if is_rater and _is_plain(name) and not _differing(table, mapping, name) else left).append(name)
    problems = [_in_other_words(table, mapping, name, words - systems, asked) for name in other]
    problems += _question(unsure, raters, mapping, people) if unsure else []
    told = (
        f"not read, though they may be answers: {', '.join(left)} (--people names those that are a person's; under "
        f"a head such as '{left[0] if left else ''} judge' one is a judge's)"
    )
    judges = [name for name in left if "." in name and names_of.kind_of_name(name.partition(".")[2]) == "judge"]
    is_left_out = judges and not raters and {*mapping.kinds.values()} == {"human"}  # then no judge is read
    if is_left_out and not is_chosen and "." in who[0]:
        both = f"{who[0].rpartition('.')[0]}+{judges[0].partition('.')[0]}"
        problems.append(f"{told}; {typed('--read', f'records={both}')} where {', '.join(judges)} are judges'")
    return Beside(raters, tuple(problems), (told,) if left else ())


def was_not_chosen(table: pd.DataFrame, name: str, answers: Collection[str]) -> bool:
    """Whether a column names of each pair what an answer beside it did not choose, such as `rejected` of `chosen`."""
    cells = table[name]
    return re.split(r"[ _.:/-]+", name.casefold())[-1] in NOT_CHOSEN and any(
        {*cells.unique()} == {*table[one].unique()} and bool((cells.ne(table[one]) | cells.eq("")).all())
        for one in answers
        if one != name
    )


def differing(table: pd.DataFrame, mapping: LabelMap, raters: Mapping[str, str]) -> list[str]:
    """A sentence for each of the columns that says two things of one item."""
    first = {name: _differing(table, mapping, name) for name in raters}
    return [
        f"{name!r} says two things of item {item!r}: correct its cells, or leave it out: --people names the other "
        f"people, or {NOBODY}"
        for name, item in first.items()
        if item
    ]


def stacked(table: pd.DataFrame, mapping: LabelMap, raters: Mapping[str, str], asked: Asked) -> pd.DataFrame:
    """The table with a row an item and criterion for each answer in the columns of `raters`, which are gone.

    Of the other cells such a row has those that are alike in all rows of its item. What stands beside an answer, such
    as its price, is of its row alone: all raters' in the column of the rows' own, else in one called as it is.
    """
    (who,), (label,) = mapping.columns["rater_id"], mapping.columns["label"]
    items, kind = _items(mapping), mapping.columns.get("rater_kind", ())
    groups = table.groupby(items, sort=False)
    used = {name for part, names in mapping.columns.items() if part not in ITEMS for name in names} | {*raters}
    alike = [one for one in map(str, table) if one in items or groups[one].nunique().eq(1).all()]
    beside = measures.measured([one for one in alike if one not in items], raters)
    parts_of = {one: measures.measure_of(one)[1] for one, name in beside.items() if name}
    own = {one: part for one, part in parts_of.items() if measures.fits(part, table[one])}
    held = {part: names[0] for part, names in mapping.columns.items() if part in own.values() and names[0] not in own}
    column = {one: held.setdefault(part, one if part in table else part) for one, part in own.items()}
    kept = [one for one in alike if one in items or one not in used | own.keys()]
    parts = [table.drop(columns=[*raters, *own]).assign(**dict.fromkeys({*column.values()} & own.keys(), ""))]
    for name, rater in raters.items():
        measured = {column[one]: table[one] for one in own if beside[one] == name}
        rows = table[kept].assign(**{who: rater}, **measured)
        rows[label] = groups[name].transform("max")
        for one in kind:
            rows[one] = kind_of(rater, asked)
        parts.append(rows[~table.duplicated(items) & rows[label].ne("")])
    return pd.concat(parts, ignore_index=True).fillna("")


def _question(unsure: list[str], raters: Mapping[str, str], mapping: LabelMap, people: list[str]) -> list[str]:
    """What has to be said of columns that may be people's, or what the people of the rows said together."""
    verb, label = "answers" if len(unsure) == 1 else "answer", mapping.columns["label"][0]
    told_by = mapping.columns.get("rater_kind", ()) if people else ()
    kind, rows = ("", people) if not told_by else (f"{by_map('rater_kind', told_by[0])} ", [])
    columns = [name.rpartition(".")[2] for name in (*raters, *unsure)]
    without = names_of.people_of(rows) if rows else f"--people {NOBODY}"
    return [
        f"{' and '.join(unsure)} {verb} each item in the words of {label!r}, and nothing says who that is: "
        f"{kind}{names_of.people_of([*rows, *columns])} where people do, {kind}{without} where "
        + ("it is what the people of the rows said together" if people else "nobody does")
    ]


def _in_other_words(table: pd.DataFrame, mapping: LabelMap, name: str, words: set[str], asked: Asked) -> str:
    given, label = _words(table[name], asked), mapping.columns["label"][0]
    own = sorted(given - words) or sorted(given)
    if cut := to_be_cut(own, words):
        return f"{name!r} and {label!r}: {cut}; {by_map('ignore', name)} where it is no rater"
    return (
        f"{name!r} answers in other words ({', '.join(own[:SHOWN])}) than {label!r} "
        f"({', '.join(sorted(words)[:SHOWN])}): "
        f"say which are the same, such as {which_is_which(own, sorted(words) or ['A', 'B', 'tie'])}; "
        f"{by_map('ignore', name)} where it is no rater"
    )


def _words(cells: "pd.Series[str]", asked: Asked) -> set[str]:
    """The answers of a column, as --map-label calls them; one that never came is none."""
    return {asked.meant(word) for word in cells.str.strip().unique()} - {"", "missing", "null"}


def _systems(table: pd.DataFrame, mapping: LabelMap) -> set[str]:
    """The names of both systems, which are answers too where each row has them; none where a row has one or none."""
    pairs = [mapping.columns.get(part, ("",))[0] for part in ("system_a", "system_b")]
    return {word for name in pairs for word in table[name].unique()} - {""} if "" not in pairs else set()


def _may_answer(given: set[str], words: set[str], name: str, is_model: bool) -> bool:
    """Whether a column under a dotted head holds answers in other words: verdicts as the others', or a model's few."""
    if "." not in name or any(len(word) > keys.LONGEST for word in given):
        return False
    return (is_model and 1 < len(given) <= len(words) + 2) or all(
        recognise(one, "", True).answers.read_as in ("verdicts", "sides") for one in (given, words)
    )


def _people_in(table: pd.DataFrame, mapping: LabelMap) -> list[str]:
    """Whose rows are a person's for sure."""
    (who,), kind = mapping.columns["rater_id"], mapping.columns.get("rater_kind", ())
    if not kind:
        return [name for name, one in mapping.kinds.items() if one == "human"]
    return [*table.loc[table[kind[0]].map(lambda word: mapping.kind_words.get(word, word)).eq("human"), who].unique()]


def _differing(table: pd.DataFrame, mapping: LabelMap, name: str) -> str:
    """The first item of which a column says two things, "" for none; a blank cell says nothing."""
    cells, items = table[name].str.strip(), _items(mapping)
    two = table.loc[cells.ne("") & cells.ne(cells.groupby([table[one] for one in items]).transform("max")), items[0]]
    return "" if two.empty else str(two.iloc[0])


def _items(mapping: LabelMap) -> list[str]:
    return [name for part in ("item_id", "criterion") for name in mapping.columns.get(part, ())]


def _is_plain(column: str) -> bool:
    """Whether a head does not end in the name of something else, such as a run, a price or most people's answer."""
    bare = names_of.bare_name(column)
    is_model = bare != column and names_of.kind_of_name(bare) == "judge"  # `model_label`, but not `model`
    last = in_english(bare.rpartition("_")[2])
    return not names_of.is_of_all(column) and (last not in measures.NO_ANSWER or (is_model and "_" not in bare))


def _is_plural(column: str) -> bool:
    """Whether a head may be a number of people or votes: `annotators`, `human_votes`."""
    last = re.split(r"[ _.:/-]+", column.casefold())[-1]
    return last.endswith(("s", "en")) and (last in names_of.ANSWER_WORDS or bool(names_of.PEOPLE.fullmatch(last)))


def _ends_as_model(name: str) -> bool:
    """Whether nothing stands behind a model's name, as in `gpt_rank` or `judge_version`; `model` itself is one."""
    last = re.split(r"[ _.:/#-]+", name.casefold())[-1]
    return names_of.kind_of_name(last) == "judge" or last in SIZES or any(map(str.isdigit, last))
