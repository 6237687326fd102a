"""Several files of a folder: tables that are none together refused, and the labels of a tool's parts made one table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pandas as pd

from annotation.answer_layouts import ANSWER_LAYOUTS
from annotation.errors import AnnotationError
from annotation.files.decoding import some_of
from annotation.files.tables import FILE, tables_in
from calibration.examining.findings import ask_of_items
from calibration.table.roles import NAMES, in_english
from calibration.table.typed_cells import is_number
from calibration.tidying import applying, proposing, shape
from calibration.tidying.mapping import Asked, LabelMap
from calibration.tidying.raters import bare_name, kind_of_name
from calibration.tidying.value_sets import which_is_which
from calibration.tidying.what_was_read import ColumnRead, block, short, without_words
from calipers.mapping_files import Recipe
from plain.typed_options import between_plus, typed

PAIR = ("system_a", "system_b")
ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^\W\d_]{2,}")
Place = tuple[tuple[str, ...], tuple[str, ...]]  # the columns that say who answered, and what


@dataclass(frozen=True)
class TidyFile:
    """The labels of a file and how they were made. `problems`: all that has to be said first; then labels are what
    there is without it, or nothing. `before`: the table as it was read. `nowhere`: what options name of a folder and
    this part has not -> the sentence. `columns`: what was read of each. `parts`: of a folder, of which none has the
    mapping of all; none where `recipe` makes the labels again."""

    labels: pd.DataFrame
    recipe: Recipe
    before: pd.DataFrame
    told: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    nowhere: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[ColumnRead, ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def read(self) -> tuple[str, ...]:
        """What was read, and what was taken for granted, a sentence each."""
        return (*block(self.columns, self.labels), *self.told)

    @property
    def to_give_away(self) -> tuple[str, ...]:
        """What was read of each column, without a word of it; what is told may quote answers and names."""
        return without_words(self.columns)


def without_addresses(made: TidyFile) -> TidyFile:
    """People who are called by an e-mail address as person-1 and so on, in labels and in what is told of them."""
    if not {"rater_id", "rater_kind"} <= {*made.labels}:
        return made
    raters = [*map(str, made.labels["rater_id"].unique())]
    people = {*made.labels.loc[made.labels["rater_kind"] == "human", "rater_id"]}
    free = (name for number in count(1) if (name := f"person-{number}") not in raters)
    found = [one for one in raters if one in people and ADDRESS.fullmatch(one) and kind_of_name(one) != "judge"]
    numbered = {one: next(free) for one in found}
    names = {short(one): name for one, name in numbered.items()} | numbered  # as it is shown, too
    if not names:
        return made

    def named(text: str) -> str:
        return re.sub("|".join(map(re.escape, sorted(names, key=len, reverse=True))), lambda one: names[one[0]], text)

    columns = [replace(one, name=named(one.name), part=named(one.part), holds=named(one.holds)) for one in made.columns]
    told = f"raters called by an e-mail address are {', '.join(numbered.values())}, in the order of their first answers"
    labels = made.labels.assign(rater_id=made.labels["rater_id"].map(lambda one: numbered.get(one, one)))
    return replace(made, labels=labels, columns=tuple(columns), told=(*map(named, made.told), told))


def ours_without_addresses(labels: pd.DataFrame, told: Iterable[str] = ()) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Labels in our own columns, and what is told of them, `without_addresses`."""
    made = without_addresses(TidyFile(labels, Recipe(LabelMap()), labels, tuple(told)))
    return made.labels, made.told


def refuse_apart(path: Path, table: pd.DataFrame, whole: LabelMap, asked: Asked) -> None:
    """Raises AnnotationError where tables of a folder say in other columns who answered, or what: as one table, such as
    `table`, a column of either is blank where the other answers, which would be lost.

    `whole`: the mapping of all. A table that holds no answers, such as the questions, is no part of it.
    """
    names = {file.relative_to(path).with_suffix("").as_posix(): file.name for file in tables_in(path)}
    if len(names) < 2 or FILE not in table or not table[FILE].isin([*names]).all():
        return
    filled = (table != "").groupby(table[FILE], sort=False).any().drop_duplicates()
    places, said = list[Place](), dict[str, Place]()
    for file, has in filled.T.items():
        heads = [str(name) for name, is_held in has.items() if is_held and name != FILE]
        place = _answers_in(whole, [*heads, FILE]) or _own_place(table[table[FILE] == file][heads], asked)
        if place and not any(_meet(place, known) for known in places):
            places.append(place)
            who, what = (tuple(name for name in part if name in heads) for part in place)
            said[names[str(file)]] = who, what
    if len(places) > 1:
        raise AnnotationError("cannot_tidy", f"{path}: {_told_apart(said)}")


def _answers_in(mapping: LabelMap, heads: Sequence[str]) -> Place | None:
    """Where a mapping finds who answered and what in a table of these `heads`; None where it does not find both."""
    who = mapping.columns.get("rater_id", ()) or tuple(filter(None, [mapping.constants.get("rater_id", "")]))
    what = tuple(one.column for one in mapping.spread) or mapping.columns.get("label", ())
    own = tuple(name for name in what if name in heads)
    of_raters = any(one.rater_id for one in mapping.spread)
    is_said = of_raters or "rater_id" not in mapping.columns or {*who} & {*heads}
    return (who, own if of_raters else what) if own and (who or of_raters) and is_said else None


def _own_place(table: pd.DataFrame, asked: Asked) -> Place | None:
    """Where a table of its own has its answers, though nobody may say whose; None where it holds none."""
    columns = {part: names for part, names in asked.columns.items() if {*names} <= {*table}}
    own = proposing.propose(table, replace(asked, columns=columns)).mapping
    what = own.columns.get("label", ())
    cells = table[what[0]] if what else pd.Series(dtype="str")
    holds_answers = 0 < cells.nunique() <= shape.MANY and cells.str.len().max() <= shape.LONG  # no texts
    return _answers_in(own, [*map(str, table)]) or (((), what) if holds_answers else None)


def _meet(one: Place, other: Place) -> bool:
    """Whether two tables have a column in common that says who answered, or neither has one, and one that says what."""
    return all({*own} & {*theirs} or not (own or theirs) for own, theirs in zip(one, other, strict=True))


def _told_apart(places: Mapping[str, Place]) -> str:
    """The sentence that says which file has its answers where, and both ways to mend it."""
    said = [
        f"{name} has answers in {some_of([*map(repr, what)], 4)}, "
        + (f"by those in {some_of([*map(repr, who)], 4)}" if who else "with no column of raters")
        for name, (who, what) in places.items()
    ]
    who, what = ([*dict.fromkeys(name for one in part for name in one)] for part in zip(*places.values(), strict=True))
    who += ["COLUMN"] * any(not by for by, _ in places.values())  # which the user has to name
    as_one = typed("--map", f"rater_id={between_plus(*who)}", f"label={between_plus(*what)}")
    is_long = any(by for by, _ in places.values()) and all(len(held) == 1 for _, held in places.values())
    return (
        f"{'; '.join(said)}: as one table some would be lost. "
        + f"Where all answered the same question in the same words: {as_one}; otherwise: " * is_long
        + "Make labels of each file, calipers tidy FILE --out NEW/NAME.csv, and give the folder NEW; a file whose "
        "column is no rater's answer is left out of the folder"
    )


def together(names: Sequence[str], made: Sequence[TidyFile]) -> TidyFile:
    """The labels of several parts of a folder, the first one's systems for the items they share, and the topics of the
    first that has any.

    A table that holds no labels, such as a test's inputs, is told and left out; a tool's file, and a table of which
    there are labels but for something that has to be said, has to be read.
    """
    labels, told, problems = [made[0].labels], [*made[0].told], [f"{names[0]}: {one}" for one in made[0].problems]
    for name, one in zip(names[1:], made[1:], strict=True):
        is_asked = "status" in one.recipe.mapping.columns  # of what became of calls, so it holds answers
        if one.problems and one.labels.empty and name not in ANSWER_LAYOUTS and not is_asked:
            told.append(f"{name} is left out: {one.problems[0]}")
        else:
            problems += [f"{name}: {problem}" for problem in one.problems]
            own, said = _joined_to(made[0].labels, names[0], one)
            problems += _other_question(made[0].labels, names[0], one, name)
            problems += _open_question(made[0].labels, names[0], one, name)
            problems += _other_words(made[0].labels["label"], names[0], own["label"], name)
            if other := _spell_alike(made[0].labels, own):
                listed = ", ".join(f"{word!r} is {first!r}" for word, first in other.items())
                said.append(f"answers that differ in capital letters alone are those of {names[0]}: {listed}")
            labels.append(own)
            told += [f"{name}: {sentence}" for sentence in (*one.told, *said)]
    joined = pd.concat(labels, ignore_index=True).fillna("")
    holding = [place for place, one in enumerate(made) if "cluster_id" in one.recipe.mapping.columns]
    holding = [place for place in holding if not made[place].problems]
    if holding and holding[0]:  # the first's are its items
        topics = made[holding[0]].labels.drop_duplicates("item_id").set_index("item_id")["cluster_id"]
        joined["cluster_id"] = joined["item_id"].map(topics).fillna(joined["cluster_id"])
        told.append(f"topics are those of {names[holding[0]]}")
    applying.share_blanks(joined, told)
    told += filter(None, [ask_of_items(joined, joined[["cluster_id"]])])
    columns = tuple(
        replace(column, name=f"{name}: {column.name}")
        for name, one in zip(names, made, strict=True)
        for column in one.columns
    )
    return replace(
        made[0], labels=joined, columns=columns, told=tuple(told), problems=tuple(problems), parts=tuple(names)
    )


def _other_question(first: pd.DataFrame, called: str, one: TidyFile, name: str) -> list[str]:
    """A sentence where the head of a part's answers names a question, and the first part's criterion another."""
    mapping, criteria = one.recipe.mapping, first["criterion"].unique()
    (head,) = mapping.columns.get("label", ("",))[:1]
    plainly = in_english(head.rpartition(".")[2])
    is_any = not head or plainly in ("label", *NAMES["label"]) or bare_name(head) == mapping.constants.get("rater_id")
    is_one = len(criteria) != 1 or mapping.constants.get("criterion") != proposing.OVERALL
    if is_any or is_one or plainly == in_english(criteria[0]) or criteria[0] == proposing.OVERALL:
        return []
    return [
        f"{name}: its answers are in {head!r}, and what {called} asks is {criteria[0]!r}: where both are one question, "
        f"{typed('--map', f'criterion=={criteria[0]}')}; else give a folder without {name}"
    ]


def _spell_alike(first: pd.DataFrame, own: pd.DataFrame) -> dict[str, str]:
    """Spell answers of a part that differ in capital letters alone from the first part's to the same criterion, or to
    any where that has it not, as those; each that was changed -> as it is spelt now. What the first part has stays.
    """
    changed: dict[str, str] = {}
    for criterion, given in own.groupby("criterion", sort=False)["label"]:
        of_first = first.loc[first["criterion"].eq(criterion), "label"]
        theirs = {*(of_first if len(of_first) else first["label"])}
        known = {word.casefold(): word for word in sorted(theirs)}
        words = [word for word in given.unique() if word not in theirs and word.casefold() in known]
        other = {word: known[word.casefold()] for word in words}
        own.loc[given.index, "label"] = given.replace(other)
        changed |= other
    return changed


def _open_question(first: pd.DataFrame, called: str, one: TidyFile, name: str) -> list[str]:
    """A sentence where a part says nothing of its criterion, and the first part has several, none of them unnamed."""
    words = {
        str(criterion): {*given.str.casefold()} - {""}
        for criterion, given in first.groupby("criterion", sort=False)["label"]
    }
    own = {*one.labels.get("label", pd.Series(dtype="str")).str.casefold()} - {""}
    is_open = one.recipe.mapping.constants.get("criterion") == proposing.OVERALL
    if not is_open or not own or len(words) < 2 or proposing.OVERALL in words:
        return []
    fitting = [criterion for criterion, theirs in words.items() if own & theirs] or [*words]
    options = ", or ".join(typed("--map", f"criterion=={criterion}") for criterion in fitting)
    return [f"{name}: nothing says which of {called}'s criteria it answers ({some_of([*words], 8)}): {options}"]


def _other_words(first: pd.Series[str], called: str, own: pd.Series[str], name: str) -> list[str]:
    """A sentence where one part answers in numbers and another in words; nothing where no label is in either."""
    theirs, given = ([*dict.fromkeys(part[part.ne("")])] for part in (first, own))
    of_numbers = [all(map(is_number, part)) for part in (theirs, given)]
    of_words = [not any(map(is_number, part)) for part in (theirs, given)]
    if not theirs or not given or not any(of_numbers) or not any(of_words):
        return []
    numbers, words = (theirs, given) if of_numbers[0] else (given, theirs)
    kinds = ("words", "numbers") if of_numbers[0] else ("numbers", "words")
    return [
        f"{name}: answers are {kinds[0]} ({some_of(given, 4)}), those of {called} {kinds[1]} ({some_of(theirs, 4)}): "
        f"say which is which, such as {which_is_which(words, numbers)}"
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
