"""JSON of any shape as a flat table: dotted names for what is nested, a row for each answer of a list of answers."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from annotation.errors import AnnotationError, ImportingError
from annotation.files.rows import plain_value, read_json, read_json_rows

TURN = {"role", "content", "name"}
STACK, ANSWER, RATER, HUMAN = "answers", "label", "rater", "human"  # names for the records of several lists together
# keys that name who answered: those that say nothing else, then those that may name a record
RATERS = (("rater", "annotator", "judge", "labeler", "worker", "user", "who", "judgemodel"), ("name", "by"), ("model",))
OBJECTS = ("judge", "rater", "annotator", "labeler", "evaluator", "grader", "expert", "human", "people")  # of raters
TEXTS = {"text", "content", "response", "output", "completion"}  # keys of what is judged
MISSING = "missing"  # an answer that was asked for and never came
BLANK: tuple[Any, ...] = (None, "", {})  # where a rater gave no answer
KEY = "key"  # names the records of an object of records
PLACE = "place"  # of an answer in a list whose records do not say who gave it: the first, the second
CRITERIA = {"criterion", "criterionid", "criteria", "dimension", "aspect", "metric"}  # keys that name what was asked


@dataclass(frozen=True)
class Said:
    """What is known of the columns before they are there.

    `named`: all that the user names; `answers`: those of them that hold all answers, () where that is left open;
    `person`: the name of the person whose answers a column holds by its head, "" for any other. `ignored`: what is not
    read, columns, objects or lists.
    """

    named: Collection[str] = ()
    answers: Collection[str] = ()
    person: Callable[[str], str] = lambda _: ""
    ignored: Collection[str] = ()


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
    lists = [name for name, value in held.items() if _is_records(value)]
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


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


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
    records = [_without(record, said.ignored) for record in records] if said.ignored else records
    flat = _with_missing([_flat(record) for record in _raters_listed(records, telling, said)], telling)
    flat = _answers_in_order(flat, telling, said.named)
    lists = {name: None for row in flat for name, value in row.items() if _is_records(value)}
    answers = asked.split("+") if asked else [name for name in lists if _tells(flat, name, telling)]
    if asked and not {*answers} <= {*lists}:
        there = ", ".join(map(repr, lists)) or "none"
        raise AnnotationError(
            "bad_option", f"--read records={asked}: no list of records has this name (there: {there})"
        )
    if said.answers and not asked:  # a list of which nothing is asked makes no row twice
        answers = [name for name in answers if any(one.startswith((f"{name}.", f"{STACK}.")) for one in said.named)]
    rest = [name for name in lists if name not in answers and not _is_talk(flat, name)]
    people = _people_beside(flat, answers[0], telling, said.person) if len(answers) == 1 and not asked else {}
    if people and (mixed := [one for one in said.named if one in people or one.startswith(f"{answers[0]}.")]):
        told = (*told, f"{', '.join(people)} beside the list are not read as answers: --map names {mixed[0]!r}")
        people = {}
    if people:
        (name,) = answers
        named = {name: _renamed(flat, name, telling)}
        flat = [one for row in flat for one in _stacked(row, named, people)]
        told = (*told, f"a row for each of {name!r}, and for each answer in {', '.join(people)}")
    elif len(answers) == 1:
        keys = {key for row in flat if _is_records(row.get(answers[0])) for one in row[answers[0]] for key in one}
        unnamed = PLACE not in keys and RATER not in _renamed(flat, answers[0], telling).values()
        flat = [one for row in flat for one in _unfolded(row, answers[0], unnamed)]
        told = (*told, f"a row for each of {answers[0]!r}")
    elif answers:
        named = {name: _renamed(flat, name, telling) for name in answers}
        flat = [one for row in flat for one in _stacked(row, named)]
        who = " and ".join(f"{name}.{old}" for name, keys in named.items() for old, new in keys.items() if new == RATER)
        told = (*told, f"a row for each of {' and '.join(map(repr, answers))}" + f", who answered by {who}" * bool(who))
    told = (
        *told,
        *(f"the list {name!r} is left out: --read records={name} makes a row for each of it" for name in rest),
    )
    names = dict.fromkeys(name for row in flat for name in row)
    return pd.DataFrame({name: [as_cell(row.get(name)) for row in flat] for name in names}, dtype="str"), told


def _raters_listed(
    records: Sequence[Mapping[str, Any]], telling: Collection[str], said: Said
) -> Sequence[Mapping[str, Any]]:
    """The records, with an object of raters beside a list of answers as a list too, whatever words each answers in.

    Raises AnnotationError for an object of answers whose name does not say that its members are raters.
    """
    flat = [_flat(record) for record in records]
    lists = dict.fromkeys(name for row in flat for name, value in row.items() if _is_records(value))
    beside = [name for name in lists if _tells(flat, name, telling)]
    held: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        for name, value in _objects(record):
            held.setdefault(name, []).append(value)
    of_raters: dict[str, str] = {}
    for name, objects in held.items():
        if beside and not any(one.startswith(f"{name}.") for one in said.named):
            members = [pair for one in objects for pair in one.items()]
            if (key := _answer_of_raters(name, members, telling, beside[0])) is not None:
                of_raters[name] = key
    return [_listed(record, of_raters) for record in records] if of_raters else records


def _answer_of_raters(
    name: str, members: Sequence[tuple[str, Any]], telling: Collection[str], beside: str
) -> str | None:
    """The key of an answer where the members of the object `name` are raters, as its own name says; None where not.

    Raises AnnotationError where they may be raters and its name says nothing. `beside`: the list of answers.
    """
    if any(_is_telling(key, telling) or key.lower() in chain(*RATERS) or _is_records(one) for key, one in members):
        return None  # one rater's own record
    full = [one for _, one in members if one not in BLANK]
    answers = [next((key for key in one if _is_telling(key, telling)), None) for one in full if isinstance(one, dict)]
    whole = bool(full) and len(answers) == len(full) and None not in answers
    last = "".join(filter(str.isalnum, name.rpartition(".")[2])).lower()
    judges = last.endswith("judges")
    if judges and _are_short(full):
        return ANSWER
    if whole and last.rstrip("s").endswith(OBJECTS):
        return answers[0]
    if judges or (whole and not TEXTS & {key for one in full for key in one}):
        raise AnnotationError(
            "bad_file",
            f"{name!r} holds {', '.join(dict.fromkeys(key for key, _ in members))} beside the list {beside!r}, and "
            "nothing says whether they are raters and which are their answers: write them as "
            '"judges": {"NAME": {"verdict": "A"}} where they are judges ("annotators" where they are people); '
            f"--map ignore={name} where they are no answers",
        )
    return None


def _without(record: Mapping[str, Any], ignored: Collection[str], before: str = "") -> dict[str, Any]:
    """The record without what has one of the dotted names `ignored`."""
    return {
        name: _without(value, ignored, f"{before}{name}.") if isinstance(value, Mapping) else value
        for name, value in record.items()
        if f"{before}{name}" not in ignored
    }


def _objects(record: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each object in a record that is not empty, by its dotted name."""
    for name, value in record.items():
        if isinstance(value, Mapping) and value:
            yield f"{before}{name}", value
            yield from _objects(value, f"{before}{name}.")


def _listed(record: Mapping[str, Any], of_raters: Mapping[str, str], before: str = "") -> dict[str, Any]:
    """The record, each object named in `of_raters` (-> the key of an answer) as a list of records with who answered."""
    out: dict[str, Any] = {}
    for name, value in record.items():
        if not isinstance(value, Mapping):
            out[name] = value
        elif f"{before}{name}" in of_raters:
            key = of_raters[f"{before}{name}"]
            given = {who: None if one in BLANK else one for who, one in value.items()}
            out[name] = [
                {**(one if isinstance(one, Mapping) else {key: one}), RATER: who} for who, one in given.items()
            ]
        else:
            out[name] = _listed(value, of_raters, f"{before}{name}.")
    return out


def _flat(record: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, Mapping) and value:
            out |= _flat(value, f"{before}{name}.")
        else:
            out[f"{before}{name}"] = value
    return out


def _with_missing(flat: list[dict[str, Any]], telling: Collection[str]) -> list[dict[str, Any]]:
    """The rows with `missing` where a judge of an object `judges` gave no answer, as a list has a row without one."""
    names = dict.fromkeys(name for row in flat for name in row)
    answers: dict[str, str] = {}  # where a judge's answer may be blank -> its column
    for name in names:
        inside = [one for one in names if one.startswith(f"{name}.") and _is_telling(one, telling)]
        if re.search(r"judges\.[^.]+$", name, re.I) and (
            inside or not any(one.startswith(f"{name}.") for one in names)
        ):
            answers[name] = (inside or [name])[0]
        elif re.search(r"judges\.[^.]+\.[^.]+$", name, re.I) and _is_telling(name, telling):
            answers[name] = name
    return [row | {one: MISSING for name, one in answers.items() if name in row and row[name] in BLANK} for row in flat]


def _answers_in_order(
    flat: list[dict[str, Any]], telling: Collection[str], named: Collection[str]
) -> list[dict[str, Any]]:
    """The one list of single answers that nobody is named for, `rating: ["good", "bad"]`, as a list of records.

    Lists of every row's same length beside it, such as reasons, go into its records. Unchanged where there is none.
    """
    columns = {name for row in flat for name, value in row.items() if isinstance(value, list)}
    found = [name for name in columns if _is_telling(name, telling) and name not in named]
    if len(found) != 1 or not all(_are_short(row.get(found[0])) for row in flat):
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
                {ANSWER: answer} | {key: row[key][place] for key in beside} for place, answer in enumerate(row[name])
            ]
        }
        for row in flat
    ]


def _is_telling(name: str, telling: Collection[str]) -> bool:
    return "".join(filter(str.isalnum, name.rpartition(".")[2])).lower() in telling


def _are_short(value: Any) -> bool:
    """Whether it is a list of single answers, which are shorter than texts are."""
    return isinstance(value, list) and all(isinstance(one, str | int | float) and len(str(one)) <= 40 for one in value)


def _tells(flat: Sequence[Mapping[str, Any]], name: str, telling: Collection[str]) -> bool:
    held = [one for row in flat if _is_records(row.get(name)) for one in row[name]]
    plain = [{*("".join(filter(str.isalnum, key)).lower() for key in _last(_flat(one)))} for one in held]
    return all(keys & {*telling} for keys in plain)


def _is_talk(flat: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether the list holds the turns of a conversation, which nobody misses among answers."""
    return all({*one} <= TURN for row in flat if _is_records(row.get(name)) for one in row[name])


def _people_beside(
    flat: Sequence[Mapping[str, Any]], name: str, telling: Collection[str], person: Callable[[str], str]
) -> dict[str, str]:
    """Columns with answers of people beside the list under `name`, in words that its answers have too -> the person.

    Empty where its records do not say who answered, or to which criterion, which people's columns could not.
    """
    keys = _renamed(flat, name, telling)
    held = [_flat(one) for row in flat if _is_records(row.get(name)) for one in row[name]]
    if {*keys.values()} != {ANSWER, RATER} or {key.lower() for one in held for key in _last(one)} & CRITERIA:
        return {}
    (label,) = (key for key, new in keys.items() if new == ANSWER)
    words = {as_cell(one.get(label)) for one in held} - {""}
    columns = [one for one in dict.fromkeys(key for row in flat for key in row) if one != name and person(one)]
    own = {one: {as_cell(row.get(one)) for row in flat} - {""} for one in columns}
    return {one: person(one) for one in columns if own[one] & words}


def _last(names: Collection[str]) -> list[str]:
    return [name.rpartition(".")[2] for name in names]


def _unfolded(row: Mapping[str, Any], name: str, places: bool) -> list[dict[str, Any]]:
    """A row for each record of the list under `name`, with its place in it; one without it where the list is empty."""
    rest = {key: value for key, value in row.items() if key != name}
    listed = row.get(name)
    if not _is_records(listed):
        return [rest]
    numbered = [({PLACE: str(place)} if places else {}) | _flat(one) for place, one in enumerate(listed or (), 1)]
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
        rest | {f"{STACK}.{keys.get(key, key)}": value for key, value in _flat(one).items()} | {f"{STACK}.source": name}
        for name, keys in named.items()
        for one in (row[name] if _is_records(row.get(name)) else ())
    ]
    return out or [rest]


def _renamed(flat: Sequence[Mapping[str, Any]], name: str, telling: Collection[str]) -> dict[str, str]:
    """The keys of a list's records that hold the answer, and who gave it, where one key alone can be either."""
    keys = dict.fromkeys(key for row in flat if _is_records(row.get(name)) for one in row[name] for key in _flat(one))
    plain = {key: "".join(filter(str.isalnum, key.rpartition(".")[2])).lower() for key in keys}
    said = [key for key in keys if plain[key] in telling]
    who = next(
        (found for names in RATERS if (found := [key for key in keys if plain[key].removesuffix("id") in names])), []
    )
    return {key: new for new, found in ((ANSWER, said), (RATER, who)) if len(found) == 1 for key in found}


def as_cell(value: Any) -> str:
    """A cell as text, empty where nothing was given; what is nested stays JSON."""
    value = plain_value(value)
    if value is None or value != value:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
