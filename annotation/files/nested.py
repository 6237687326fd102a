"""JSON of any shape as a flat table: dotted names for what is nested, a row for each answer of a list of answers."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from annotation.errors import AnnotationError, ImportingError
from annotation.files import containers
from annotation.files.containers import ANSWER, BLANK, CRITERIA, HOLDERS, RATER, RATERS, Said
from annotation.files.rows import plain_value, read_json, read_json_rows
from plain.typed_options import by_map, by_read, split_at_plus

TURN = {"role", "content", "name"}
STACK, HUMAN = "answers", "human"  # names for the records of several lists together
MISSING = "null"  # an answer that was asked for and never came; `missing` may be one
VERDICT = re.compile(
    r"(?:\[\[(?:[abc]|tie|\d+)\]\]|(?:verdict|winner|score|rating|preference)\W+(?:[ab]|tie|\d+))\W*$", re.I
)
KEY = "key"  # names the records of an object of records
PLACE = "place"  # of an answer in a list whose records do not say who gave it: the first, the second
UNSAID = Said()


def read_nested(
    path: Path, encoding: str, telling: Collection[str], asked: str = "", said: Said = UNSAID
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The records of a JSON or JSON Lines file as a table of text, and what was made of its shape.

    `telling`: names of which one at least is in each record of a list that holds answers. `asked`: the list whose
    records become rows, where that is not found out. Raises ImportingError, and AnnotationError where there is none.
    """
    if path.suffix.lower() == ".json":
        try:
            held = read_json(path, str(path), encoding)
        except ImportingError:  # JSON Lines under another name, or none: its lines say which
            held = []
        if isinstance(held, dict):
            return flat_table(*_records(held, path), telling, asked, said)
    problems: list[str] = []
    rows = read_json_rows(path, str(path), problems, encoding)
    if problems:
        raise ImportingError(problems)
    return flat_table([row.values for row in rows], (), telling, asked, said)


def _records(held: Mapping[str, Any], path: Path) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The records of one object: columns of cells, a table split by pandas, records by key, or the one list of them."""
    values = list(held.values())
    if set(held) >= {"columns", "data"} and all(isinstance(row, list) for row in held["data"]):
        return [dict(zip(held["columns"], row, strict=False)) for row in held["data"]], ("a table split by pandas",)
    lists = [name for name, value in held.items() if containers.is_records(value)]
    if len(lists) == 1:
        return held[lists[0]], (f"the records under {lists[0]!r}",)
    columns = {name: value for name, value in held.items() if isinstance(value, list)}
    if (
        columns
        and not lists
        and not any(isinstance(value, dict) for value in values)
        and len({len(value) for value in columns.values()}) == 1
        and (len(columns) > 1 or len(columns) == len(held))
    ):
        rest = {name: value for name, value in held.items() if name not in columns}
        told = "columns of cells" + f", and for every row {', '.join(rest)}" * bool(rest)
        return [rest | dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)], (told,)
    if values and all(isinstance(value, dict) for value in values):
        keys = [[*value] for value in values]
        rows = [str(number) for number in range(len(keys[0]))]
        if all(one == rows for one in keys):
            return [{name: cells[row] for name, cells in held.items()} for row in rows], ("columns of numbered cells",)
        return [{KEY: name, **value} for name, value in held.items()], ("records by key, in the column 'key'",)
    if any(isinstance(value, dict | list) for value in values):
        inner = [value for value in values if isinstance(value, dict) and len(value) > 1]
        if len(inner) == 1 and not lists:
            return _records(inner[0], path)
    if lists:
        raise AnnotationError(
            "bad_file",
            f"{path}: lists of records stand under {', '.join(map(repr, lists))}; write those with the answers to a "
            "file of their own",
        )
    return [dict(held)], ()


def flat_table(
    records: Sequence[Mapping[str, Any]],
    told: tuple[str, ...],
    telling: Collection[str],
    asked: str = "",
    said: Said = UNSAID,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The records as a table of text; `told` goes on with the list whose records became rows, and those left out.

    People's answers beside one list of judges' become rows like its records.
    """
    gone = [name for name in said.ignored if any(_without(record, (name,)) != record for record in records)]
    told = (*told, f"left out, as asked: {', '.join(gone)}") if gone else told
    records = [_without(record, gone) for record in records] if gone else records
    chosen = split_at_plus(asked) if asked else ()
    listed, left = containers.raters_listed(records, telling, said, chosen)
    told = (*told, *left)
    flat = _with_missing([containers.flat(record) for record in listed], telling)
    flat = _answers_in_order(flat, telling, said.named)
    lists = {name: None for row in flat for name, value in row.items() if containers.is_records(value)}
    answers = [*chosen] or [
        name for name in lists if _tells(flat, name, telling) and not _is_beside(flat, name, telling, said)
    ]
    if asked and not {*answers} <= {*lists}:
        there = ", ".join(map(repr, lists)) or "none"
        raise AnnotationError(
            "bad_option", f"--read records={asked}: no list of records has this name (there: {there})"
        )
    if said.answers and not asked:  # a list of which nothing is asked makes no row twice
        answers = [name for name in answers if any(one.startswith((f"{name}.", f"{STACK}.")) for one in said.named)]
    rest = [name for name in lists if name not in answers and not _is_talk(flat, name)]
    _refuse_verdicts_in_talk(flat, [name for name in lists if name not in (*answers, *rest)])
    people = _people_beside(flat, answers[0], telling, said) if len(answers) == 1 and not asked else {}
    if people and (mixed := [one for one in said.named if one in people or one.startswith(f"{answers[0]}.")]):
        told = (*told, f"{', '.join(people)} beside the list are not read as answers: --map names {mixed[0]!r}")
        people = {}
    if people:
        (name,) = answers
        named = {name: _renamed(flat, name, telling)}
        flat = [one for row in flat for one in _stacked(row, named, people)]
        told = (*told, f"a row for each of {name!r}, and for each answer in {', '.join(people)}")
    elif len(answers) == 1 and not _is_rivalled(flat, answers[0], telling, said.named):
        keys = {key for one in _held(flat, answers[0]) for key in one}
        unnamed = PLACE not in keys and RATER not in _renamed(flat, answers[0], telling).values()
        flat = [one for row in flat for one in _unfolded(row, answers[0], unnamed)]
        told = (*told, f"a row for each of {answers[0]!r}")
    elif answers:
        named = {name: _renamed(flat, name, telling) for name in answers}
        _refuse_nobody(named)
        flat = [one for row in flat for one in _stacked(row, named)]
        who = " and ".join(f"{name}.{old}" for name, keys in named.items() for old, new in keys.items() if new == RATER)
        told = (*told, f"a row for each of {' and '.join(map(repr, answers))}" + f", who answered by {who}" * bool(who))
    told = (
        *told,
        *(
            f"the list {name!r} is left out: {by_read('records', *answers, name)} makes a row for each of it"
            for name in rest
        ),
    )
    names = dict.fromkeys(name for row in flat for name in row)
    return pd.DataFrame({name: [as_cell(row.get(name)) for row in flat] for name in names}, dtype="str"), told


def _is_rivalled(
    flat: Sequence[Mapping[str, Any]], name: str, telling: Collection[str], named: Collection[str]
) -> bool:
    """Whether a column outside the list has a name of answers too, which those of its raters must not be taken for."""
    outside = any(containers.is_telling(key, telling) and key != name for row in flat for key in row)
    is_named = any(one.startswith(f"{name}.") for one in named)
    return outside and not is_named and {*_renamed(flat, name, telling).values()} == {ANSWER, RATER}


def _refuse_verdicts_in_talk(flat: Sequence[Mapping[str, Any]], talks: Collection[str]) -> None:
    """Raise AnnotationError where conversations mostly end in a verdict, which may be a judge's."""
    for name in talks:
        last = [str(row[name][-1].get("content", "")) for row in flat if containers.is_records(row.get(name))]
        ends = [found[0] for text in last if (found := VERDICT.search(text))]
        if 2 * len(ends) > len(last):
            raise AnnotationError(
                "bad_file",
                f"{name!r} mostly ends in a verdict ({ends[0].strip()}), which may be a judge's: write it as "
                f'"judges": {{"NAME": "A"}}; {by_map("ignore", name)} where it is no answer',
            )


def _refuse_nobody(named: Mapping[str, Mapping[str, str]]) -> None:
    """Raise AnnotationError where the records of one list say who answered, and those of another do not."""
    without = [name for name, keys in named.items() if RATER not in keys.values()]
    if without and len(without) < len(named):
        listed = [name for name in named if name not in without]
        raise AnnotationError(
            "bad_file",
            f"the records of {without[0]!r} do not say who answered, those of {' and '.join(map(repr, listed))} do: "
            f"write a key 'rater' into them; {by_read('records', *listed)} reads the others alone",
        )


def _without(record: Mapping[str, Any], ignored: Collection[str], before: str = "") -> dict[str, Any]:
    """The record without what has one of the dotted names `ignored`."""
    return {
        name: _without(value, ignored, f"{before}{name}.") if isinstance(value, Mapping) else value
        for name, value in record.items()
        if f"{before}{name}" not in ignored
    }


def _with_missing(flat: list[dict[str, Any]], telling: Collection[str]) -> list[dict[str, Any]]:
    """The rows with `null` where a judge of an object `judges` gave no answer, as a list has a row without one."""
    names = dict.fromkeys(name for row in flat for name in row)
    answers: dict[str, str] = {}  # where a judge's answer may be blank -> its column
    for name in names:
        inside = [one for one in names if one.startswith(f"{name}.") and containers.is_telling(one, telling)]
        if re.search(r"judges\.[^.]+$", name, re.I) and (
            inside or not any(one.startswith(f"{name}.") for one in names)
        ):
            answers[name] = (inside or [name])[0]
        elif re.search(r"judges\.[^.]+\.[^.]+$", name, re.I) and containers.is_telling(name, telling):
            answers[name] = name
    return [row | {one: MISSING for name, one in answers.items() if name in row and row[name] in BLANK} for row in flat]


def _answers_in_order(
    flat: list[dict[str, Any]], telling: Collection[str], named: Collection[str]
) -> list[dict[str, Any]]:
    """The one list of single answers that nobody is named for, `rating: ["good", "bad"]`, as a list of records.

    Lists of every row's same length beside it, such as reasons, go into its records. Unchanged where there is none.
    """
    columns = {name for row in flat for name, value in row.items() if isinstance(value, list)}
    found = [name for name in columns if containers.plain_key(name).removesuffix("s") in telling and name not in named]
    if len(found) != 1 or not all(containers.are_short(row.get(found[0])) for row in flat):
        return flat
    (name,) = found
    size = [len(row[name]) for row in flat]
    beside = [
        one
        for one in dict.fromkeys(key for row in flat for key in row)
        if one in columns - {name}
        and all(isinstance(row.get(one), list) and len(row[one]) == n for row, n in zip(flat, size, strict=True))
    ]
    if max(size, default=0) < 2:
        return flat
    return [
        {key: value for key, value in row.items() if key not in beside}
        | {
            name: [
                {ANSWER: answer} | {_singular(key): row[key][place] for key in beside}
                for place, answer in enumerate(row[name])
            ]
        }
        for row in flat
    ]


def _singular(key: str) -> str:
    """The key of one record for a list of what each record has; that of who answered for `annotators`."""
    return RATER if containers.plain_key(key).removesuffix("s") in RATERS[0] else key


def _tells(flat: Sequence[Mapping[str, Any]], name: str, telling: Collection[str]) -> bool:
    held = _held(flat, name)
    return all(any(containers.is_telling(key, telling) for key in one) for one in held)


def _is_beside(flat: Sequence[Mapping[str, Any]], name: str, telling: Collection[str], said: Said) -> bool:
    """Whether each row is an answer or more without the list, which then tells of something else, such as its sources.

    Rows of one rater may hold an answer to each criterion in it, and rows of one answer those of others who are named.
    """
    keys = {key for one in _held(flat, name) for key in one}
    if any(one.startswith(f"{name}.") for one in said.named):
        return False
    outside = {key for row in flat for key, value in row.items() if key != name and not containers.is_records(value)}
    plain, who = {*map(containers.plain_key, outside)}, {*map(containers.rater_word, outside)} & {*RATERS[0]}
    is_label = ANSWER in plain and RATER in who
    if {key.lower() for key in _last(keys)} & CRITERIA or containers.plain_key(name) in HOLDERS:
        return is_label and bool(plain & CRITERIA)
    if {*map(containers.rater_word, keys)} & {*RATERS[0]}:
        return is_label
    own = [key for key in outside if containers.is_telling(key, telling)]
    has_short = any(all(containers.are_short([as_cell(row.get(key))]) for row in flat) for key in own)
    raters = [key for key in outside if said.kind(key) == "judge" or said.person(key, said.people)]
    is_wide = len(raters) > 1 and RATER not in _renamed(flat, name, telling).values()
    return is_wide or bool(who and has_short)


def _is_talk(flat: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether the list holds the turns of a conversation, which nobody misses among answers."""
    return all({*one} <= TURN for row in flat if containers.is_records(row.get(name)) for one in row[name])


def _people_beside(
    flat: Sequence[Mapping[str, Any]], name: str, telling: Collection[str], said: Said
) -> dict[str, str]:
    """Columns with answers of people beside the list under `name`, in words that its answers have too -> the person.

    Empty where its records do not say who answered, or to which criterion, which people's columns could not.
    """
    keys = _renamed(flat, name, telling)
    held = _held(flat, name)
    if {*keys.values()} != {ANSWER, RATER} or {key.lower() for one in held for key in _last(one)} & CRITERIA:
        return {}
    (label,) = (key for key, new in keys.items() if new == ANSWER)
    words = {as_cell(one.get(label)) for one in held} - {""}
    columns = [
        one
        for one in dict.fromkeys(key for row in flat for key in row)
        if one != name and said.person(one, said.people)
    ]
    own = {one: {as_cell(row.get(one)) for row in flat} - {""} for one in columns}
    return {one: said.person(one, said.people) for one in columns if own[one] & words}


def _held(flat: Sequence[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    """The records of all lists of that name, with dotted names for what is nested."""
    return [containers.flat(one) for row in flat if containers.is_records(row.get(name)) for one in row[name]]


def _last(names: Collection[str]) -> list[str]:
    return [name.rpartition(".")[2] for name in names]


def _unfolded(row: Mapping[str, Any], name: str, places: bool) -> list[dict[str, Any]]:
    """A row for each record of the list under `name`, with its place in it; one without it where the list is empty."""
    rest = {key: value for key, value in row.items() if key != name}
    if not containers.is_records(row.get(name)):
        return [rest]
    numbered = [({PLACE: str(place)} if places else {}) | one for place, one in enumerate(_held([row], name), 1)]
    return [{**rest, **{f"{name}.{key}": value for key, value in one.items()}} for one in numbered]


def _stacked(
    row: Mapping[str, Any], named: Mapping[str, Mapping[str, str]], people: Mapping[str, str] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """A row for each record of several lists, their keys under one name; one without them where all are empty.

    `named`: of each list, what its keys for the answer and for who gave it are called instead. `people`: columns of
    single answers, which are rows too -> who gave them.
    """
    rest = {key: value for key, value in row.items() if key not in named and key not in people}
    out = [
        rest | {f"{STACK}.{ANSWER}": row[column], f"{STACK}.{RATER}": person, f"{STACK}.source": HUMAN}
        for column, person in people.items()
        if as_cell(row.get(column))
    ]
    out += [
        rest | {f"{STACK}.{keys.get(key, key)}": value for key, value in one.items()} | {f"{STACK}.source": name}
        for name, keys in named.items()
        for one in _held([row], name)
    ]
    return out or [rest]


def _renamed(flat: Sequence[Mapping[str, Any]], name: str, telling: Collection[str]) -> dict[str, str]:
    """The keys of a list's records that hold the answer, and who gave it, where one key alone can be either."""
    keys = dict.fromkeys(key for one in _held(flat, name) for key in one)
    said = [key for key in keys if containers.is_telling(key, telling)]
    who = next(
        (found for names in RATERS if (found := [key for key in keys if containers.rater_word(key) in names])), []
    )
    return {key: new for new, found in ((ANSWER, said), (RATER, who)) if len(found) == 1 for key in found}


def as_cell(value: Any) -> str:
    """A cell as text, empty where nothing was given; what is nested stays JSON."""
    value = plain_value(value)
    if value is None or value != value:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
