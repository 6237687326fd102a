"""Containers of raters in JSON records, each as one list of answers with who gave them.

A container is a list of objects that name their rater, a list of objects of one key, or an object keyed by rater. What
a rater holds is an answer; or an object with an answer and what stands beside it; or one of criteria with an answer, or
with an object with an answer, each, perhaps one level down, under `scores`.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from annotation.errors import AnnotationError
from plain.typed_options import by_map, by_read

ANSWER, RATER, CRITERION = "label", "rater", "criterion"  # names in the records of a list that is made here
# keys that name who answered: those that say nothing else, then those that may name a record
RATERS = (("rater", "annotator", "judge", "labeler", "worker", "user", "who", "judgemodel"), ("name", "by"), ("model",))
OBJECTS = ("judge", "rater", "annotator", "labeler", "evaluator", "grader", "expert", "human", "people")  # of raters
HOLDERS = {"scores", "ratings", "answers", "labels", "verdicts", "votes", "judgments", "criteria"}  # of criteria
TEXTS = {"text", "content", "response", "output", "completion"}  # keys of what is judged
FAILED = {"error", "status", "message", "exception", "cost_usd", "cost", "latency_s"}  # of a rater that gave no answer
SIDES, VOTES = {"a", "b", "tie", "modela", "modelb", "systema", "systemb", "both", "neither"}, re.compile("vote|count")
GATHERED = "raters"  # the object in which objects under raters' own names are put together
BLANK: tuple[Any, ...] = (None, "", {})  # where a rater gave no answer
CRITERIA = {"criterion", "criterionid", "criteria", "dimension", "aspect", "metric"}  # keys that name what was asked


@dataclass(frozen=True)
class Said:
    """What is known of the columns before they are there.

    `named`: all that the user names; `answers`: those of them that hold all answers, () where that is left open;
    `ignored`: what is not read, columns, objects or lists; `people`: who is a person. `person`: the name of the person,
    perhaps one of these, whose answers a column holds by its head, "" for any other. `asks`: whether a key with these
    words is a criterion; `is_spent`: whether a key holds a price or a time, which an answer to several criteria shares;
    `kind`: `judge` where a name is a judge's.
    """

    named: Collection[str] = ()
    answers: Collection[str] = ()
    ignored: Collection[str] = ()
    people: Collection[str] = ()
    person: Callable[[str, Collection[str]], str] = lambda _name, _people: ""
    asks: Callable[[str, Collection[str]], bool] = lambda _name, _words: False
    is_spent: Callable[[str], bool] = lambda _: False
    kind: Callable[[str], str] = lambda _: ""


@dataclass(frozen=True)
class Container:
    """How raters answer in a container. `who`: the key that names the rater of a record, "" where the key is its name.

    `answers`: the key of each answer -> its criterion, "" for none; the key is "" where a rater holds the answer
    itself. `is_sure`: the keys say that these are answers; else another container has to name the same criteria.
    `is_as_read`: a list of which each record has one answer and says who gave it. `is_known`: its raters are known by
    name. `asked`: the criteria that stand in its records.
    """

    who: str
    answers: Mapping[str, str]
    is_sure: bool
    is_list: bool
    is_as_read: bool
    is_known: bool
    asked: Collection[str]

    @property
    def criteria(self) -> set[str]:
        """All that it names as asked, in small letters."""
        return {one.casefold() for one in (*self.asked, *self.answers.values())} - {""}


def raters_listed(
    records: Sequence[Mapping[str, Any]], telling: Collection[str], said: Said, asked: Collection[str] = ()
) -> tuple[Sequence[Mapping[str, Any]], tuple[str, ...]]:
    """The records, each container of raters as a list of answers, where a list beside it or a criterion asks for it.

    `asked`: the names that alone are looked at, and hold raters whatever they are called; () where that is left open.
    With what of them is no answer, in words. Raises AnnotationError for an object beside a list of answers that may be
    a container, whose name does not say so, and for votes that are counted.
    """
    together = records if asked else [_gathered(record, said) for record in records]
    held: dict[str, list[Any]] = {}
    for record in together:
        for name, value in _inside(record):
            held.setdefault(name, []).append(value)
    found: dict[str, Container] = {}
    for name in held if not asked else [one for one in held if one in asked]:
        if not any(name.startswith(f"{one}.") for one in found) and (
            one := _container(name, held[name], telling, said, name in asked)
        ):
            found[name] = one
    lists = [name for name, values in held.items() if all(map(is_records, values)) and _tell(values, telling)]
    found, left = _with_criteria(found, held, said, {*lists} - {*found})
    beside = dict.fromkeys([*lists, *(name for name, one in found.items() if one.is_list)])
    has_criteria = any({*one.answers.values()} - {""} for one in found.values())
    is_needed = has_criteria or (beside and not all(one.is_as_read for one in found.values()))
    chosen = found if is_needed else {}
    for name, values in held.items():
        is_read = any(name == one or name.startswith(f"{one}.") for one in chosen)
        is_read |= any(one.startswith(f"{name}.") for one in (*chosen, *beside))
        if not is_read and not asked and all(isinstance(one, Mapping) for one in values):
            members = [pair for value in values for pair in _members(value, "")]
            _refuse_counted(name, members)
            if beside:
                _refuse_unsaid(name, members, telling, said, (next(iter(beside)), chosen))
    named = dict.fromkeys(asked for one in chosen.values() for asked in one.answers.values() if asked)
    listed = [_listed(record, chosen, said) for record in together] if chosen else records
    return listed, (*left, f"a criterion each: {', '.join(named)}", *_lacking(chosen, held, said)) if named else left


def _lacking(chosen: Mapping[str, Container], held: Mapping[str, list[Any]], said: Said) -> tuple[str, ...]:
    """How many keys each judge's records lack of criteria that its others have, in words; () where none does."""
    cells = [
        (who, key, _given(key, own)) for name, one in chosen.items() for value in held[name]
        for who, record in _members(value, one.who) if isinstance(record, Mapping)
        if (who not in said.people if said.people else said.kind(who) == "judge")
        for own in [flat(record)] if not {*own} <= FAILED for key in one.answers
    ]  # fmt: skip
    given = {(who, key) for who, key, is_there in cells if is_there}
    lacking = [who for who, key, is_there in cells if not is_there and (who, key) in given]
    counts = ", ".join(f"{who} {lacking.count(who):,}" for who in dict.fromkeys(lacking))
    return (f"not asked, having no key that the judge has elsewhere (null is missing): {counts}",) if counts else ()


def _gathered(record: Mapping[str, Any], said: Said) -> Mapping[str, Any]:
    """The record, with objects under raters' own names, `"gpt-4o": {"verdict": "A"}`, in one object."""
    own = {
        name: value for name, value in record.items()
        if isinstance(value, Mapping) and value and (name in said.people or said.kind(name) == "judge")
        and not name.endswith("s") and not {*TEXTS, *chain(*RATERS)} & {*value}
        and not any(one.startswith(f"{name}.") for one in said.named)
    }  # fmt: skip
    if not own or GATHERED in record:
        return record
    return {name: value for name, value in record.items() if name not in own} | {GATHERED: own}


def _container(
    name: str, values: Sequence[Any], telling: Collection[str], said: Said, is_asked: bool
) -> Container | None:
    """How the raters in all `values` of one name answer; None where they are no raters or say nothing as one."""
    is_list = all(map(is_records, values))
    who = _who(values) if is_list else ""
    is_keyed = is_list and not who and all(len(one) == 1 for value in values for one in value)
    if not (who or is_keyed or all(isinstance(one, Mapping) for one in values)):
        return None
    members = [pair for value in values for pair in _members(value, who)]
    inner = [one for value in values if isinstance(value, Mapping) for one in value.values() if is_records(one)]
    if not who and (_is_own_record(members, telling) or any(_who([one]) for one in inner)):
        return None
    answers, is_sure = _answers([one for _, one in members], telling, said)
    by_name = _says(name) and (answers.keys() != {""} or is_list or plain_key(name).endswith("judges"))
    known = is_asked or name == GATHERED or any(key in said.people for key, _ in members)
    if not answers or not (known or by_name or rater_word(who) in RATERS[0]):
        return None
    named = {one.removeprefix(f"{name}.") for one in said.named if one.startswith(f"{name}.")}
    if named - {ANSWER, RATER, CRITERION} if not is_list else named & {*answers} - {ANSWER}:
        return None
    told = {key for _, one in members if isinstance(one, Mapping) for key in flat(one) if is_telling(key, telling)}
    asked = {str(cell) for _, one in members if isinstance(one, Mapping) for key, cell in one.items()
             if key.lower() in CRITERIA}  # fmt: skip
    is_as_read = bool(who) and len(told) == 1 and {*answers.values()} == {""}
    return Container(who, answers, is_sure or is_asked, is_list, is_as_read, bool(known), asked)


def _who(values: Sequence[Any]) -> str:
    """The one key that names who answered in every record of the lists, "" where none does."""
    rows = [flat(one) for value in values for one in value]
    keys = [key for key in rows[0] if all(row.get(key) for row in rows)]
    for names in RATERS:
        if found := [key for key in keys if rater_word(key) in names]:
            return found[0] if len(found) == 1 else ""
    return ""


def rater_word(key: str) -> str:
    """The word of a key that may name who answered: `annotator` of `annotator_id` and of `annotator.id`."""
    before, word = plain_key(key.rpartition(".")[0]), plain_key(key).removesuffix("id")
    return before if word in ("", "name") and before in RATERS[0] else word


def _members(value: Any, who: str) -> list[tuple[str, Any]]:
    """Each rater with what it holds, once for each of several records."""
    if isinstance(value, Mapping):
        pairs = list(value.items())
    elif not who:
        pairs = [pair for one in value for pair in one.items()]
    else:
        return [(str(row[who]), {key: row[key] for key in row if key != who}) for row in map(flat, value)]
    return [(rater, one) for rater, held in pairs for one in (held if is_records(held) else [held])]


def _is_own_record(members: Sequence[tuple[str, Any]], telling: Collection[str]) -> bool:
    """Whether the keys are of one rater's record, or of lists of others', and no raters' names."""
    return any(is_telling(key, telling) or key.lower() in chain(*RATERS) for key, _ in members)


def _says(name: str) -> bool:
    """Whether the name of an object or a list says that raters are in it."""
    return plain_key(name).rstrip("s").endswith(OBJECTS)


def _answers(held: Sequence[Any], telling: Collection[str], said: Said) -> tuple[dict[str, str], bool]:
    """The key of each answer -> its criterion, and whether the keys alone say so; none where members are not alike."""
    full = [one for one in held if one not in BLANK]
    rows = [flat(one) for one in full if isinstance(one, Mapping)]
    if not rows:
        return ({"": ""} if full and are_short(full) else {}), True
    keys = list(dict.fromkeys(key for row in rows for key in row))
    told = [key for key in keys if is_telling(key, telling)]
    top = sorted((key for key in told if "." not in key), key=lambda key: [*telling].index(plain_key(key)))
    wrapped = {key: _last(key) for key in keys if plain_key(key.rpartition(".")[0]) in HOLDERS and "." in key}
    if len(told) == 1 or (top and len(top) == len(told)):
        answers = {(top or told)[0]: ""}
    elif told:
        answers = {key: _last(key.rpartition(".")[0]) for key in told}
    else:
        words = {key: {str(row[key]) for row in rows if row.get(key) not in BLANK} for key in keys}
        answers = wrapped or {key: key for key in keys if "." not in key and said.asks(key, words[key])}
    is_whole = all(any(_given(key, row) for key in answers) or {*row} <= FAILED for row in rows) and (
        len(rows) == len(full) or {*answers.values()} == {""}
    )
    cells = [row[key] for row in rows for key in answers if row.get(key) not in BLANK]
    if not is_whole or len({*answers.values()}) < len(answers) or not are_short(cells):
        return {}, False
    return answers, bool(told or wrapped)


def _given(key: str, row: Mapping[str, Any]) -> bool:
    """Whether a rater's record has the key of an answer, or nothing in the place of the object that has it."""
    return key in row or key.rpartition(".")[0] in row


def _with_criteria(
    found: dict[str, Container], held: Mapping[str, list[Any]], said: Said, elsewhere: Collection[str]
) -> tuple[dict[str, Container], tuple[str, ...]]:
    """The containers that are sure, and those whose keys are criteria since another names them too, or all raters are
    in one; and what of them is none, in words.

    Where one person answers in several objects, each is a criterion's. `elsewhere`: lists of other answers.
    """
    people = {
        name: {key for value in held[name] for key, _ in _members(value, one.who)} & {*said.people}
        for name, one in found.items()
        if not one.is_list and one.is_sure and {*one.answers.values()} == {""}
    }
    for name, own in people.items():
        if any(own & other for called, other in people.items() if called != name):
            found[name] = replace(found[name], answers=dict.fromkeys(found[name].answers, _last(name)))
    kept, left = {}, []
    for name, one in found.items():
        others = {asked for called, other in found.items() if called != name for asked in other.criteria}
        shared = {key: asked for key, asked in one.answers.items() if asked.casefold() in others}
        if one.is_sure or (len(found) == 1 and not elsewhere and (one.is_list or one.is_known)):
            kept[name] = one
        elif shared:
            kept[name] = replace(one, answers=shared)
            left += [f"{name}: {asked}" for key, asked in one.answers.items() if key not in shared]
    told = f"not read, being no criterion of the others: {', '.join(left)} (where they are, put them under 'scores')"
    return kept, (told,) if left else ()


def _refuse_counted(name: str, members: Sequence[tuple[str, Any]]) -> None:
    """Raise AnnotationError for an object of votes that are counted, which names nobody who gave them."""
    keys = list(dict.fromkeys(key for key, _ in members))
    is_counted = len(keys) > 1 and {*map(plain_key, keys)} <= SIDES and all(str(one).isdigit() for _, one in members)
    if is_counted and (VOTES.search(plain_key(name)) or _says(name)):
        raise AnnotationError(
            "bad_file",
            f"{name!r} counts votes ({', '.join(keys)}) and names no rater: agreement is of raters one by one: "
            f"write who gave each; {by_map('ignore', name)} leaves them out",
        )


def _refuse_unsaid(
    name: str, members: Sequence[tuple[str, Any]], telling: Collection[str], said: Said,
    beside: tuple[str, Mapping[str, Container]],
) -> None:  # fmt: skip
    """Raise AnnotationError for an object of answers of which nothing says whether its members are raters.

    `beside`: a list of answers, and the containers.
    """
    listed, known = beside
    full = [one for _, one in members if one not in BLANK]
    answers, is_sure = _answers(full, telling, said)
    inside = list(dict.fromkeys(key for one in full if isinstance(one, Mapping) for key in one))
    shared = {one.casefold() for one in answers.values()} & {asked for one in known.values() for asked in one.criteria}
    is_whole = answers and "" not in answers and (is_sure or shared) and not TEXTS & {*inside}
    if (plain_key(name).endswith("judges") or is_whole) and not _is_own_record(members, telling):
        holds = f" with {', '.join(inside[:6])}" if inside else ""
        who = ", ".join(list(dict.fromkeys(key for key, _ in members))[:8])
        raise AnnotationError(
            "bad_file",
            f"{name!r} holds {who}{holds} beside the list {listed!r}, and nothing says whether they are raters and "
            f"which are their answers: {by_read('records', listed, name)} where they are raters; where their answers "
            f'are under other names, write them as {{"NAME": {{"verdict": "A"}}}}; {by_map("ignore", name)} where they '
            "are no answers",
        )


def _inside(record: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Each object and each list of objects in a record that is not empty, by its dotted name; not those of a list."""
    for name, value in record.items():
        if isinstance(value, Mapping) and value:
            yield f"{before}{name}", value
            yield from _inside(value, f"{before}{name}.")
        elif is_records(value):
            yield f"{before}{name}", value


def _listed(record: Mapping[str, Any], found: Mapping[str, Container], said: Said, before: str = "") -> dict[str, Any]:
    """The record, each container as a list of records with who answered and what."""
    out: dict[str, Any] = {}
    for name, value in record.items():
        if (one := found.get(f"{before}{name}")) and value and (isinstance(value, Mapping) or is_records(value)):
            out[name] = [row for who, held in _members(value, one.who) for row in _rows(who, held, one.answers, said)]
        elif isinstance(value, Mapping):
            out[name] = _listed(value, found, said, f"{before}{name}.")
        else:
            out[name] = value
    return out


def _rows(who: str, held: Any, answers: Mapping[str, str], said: Said) -> list[dict[str, Any]]:
    """A record for each answer of one rater; one of each criterion without any where it holds nothing.

    What was spent on the answers to several criteria is shared among them.
    """
    if not isinstance(held, Mapping) or not held:
        return [_row(who, asked, None if held in BLANK else held) for asked in answers.values()]
    own = flat(held)
    if {*own} <= FAILED:
        return [{**own, **_row(who, asked, None)} for asked in answers.values()]
    given = {key: asked for key, asked in answers.items() if _given(key, own)}
    inside = {key: f"{key.rpartition('.')[0]}." for key, asked in given.items() if "." in key and _last(key) != asked}
    apart = {*answers, *(key.rpartition(".")[0] for key in answers)}
    rest = {key: cell for key, cell in own.items() if key not in apart and not key.startswith((*inside.values(),))}
    rest |= {key: _part(cell, len(given)) for key, cell in rest.items() if said.is_spent(key)}
    rows = []
    for key, asked in given.items():
        before = inside.get(key, "")
        near = {one.removeprefix(before): cell for one, cell in own.items() if before and one.startswith(before)}
        near = {one: cell for one, cell in near.items() if f"{before}{one}" not in answers}
        cells = {CRITERION if one.lower() in CRITERIA else one: cell for one, cell in (rest | near).items()}
        rows.append(cells | _row(who, asked, own.get(key)))
    return rows


def _part(cell: Any, parts: int) -> Any:
    """One part of a number, which may be text; any other cell as it is."""
    try:
        return float(cell) / parts if parts > 1 else cell
    except (TypeError, ValueError):
        return cell


def _row(who: str, asked: str, answer: Any) -> dict[str, Any]:
    return ({CRITERION: asked} if asked else {}) | {RATER: who, ANSWER: answer}


def flat(record: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """The record with dotted names for what is nested; an empty object is a cell."""
    out: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, Mapping) and value:
            out |= flat(value, f"{before}{name}.")
        else:
            out[f"{before}{name}"] = value
    return out


def is_records(value: Any) -> bool:
    """Whether it is a list of objects, and not empty."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def is_telling(name: str, telling: Collection[str]) -> bool:
    """Whether the last part of a dotted name is one that answers have."""
    return plain_key(name) in telling


def plain_key(name: str) -> str:
    """Letters and digits of the last part of a dotted name."""
    return "".join(filter(str.isalnum, _last(name))).lower()


def are_short(value: Any) -> bool:
    """Whether it is a list of single answers, which are shorter than texts are."""
    return isinstance(value, list) and all(isinstance(one, str | int | float) and len(str(one)) <= 40 for one in value)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _tell(values: Sequence[Any], telling: Collection[str]) -> bool:
    return all(any(is_telling(key, telling) for key in flat(one)) for value in values for one in value)
