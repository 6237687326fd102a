"""What is made out about a table, step by step, before it is a mapping."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import pandas as pd

from calibration.table import roles
from calibration.table.other_languages import TOTALS, language_of
from calibration.table.typed_cells import is_number
from calibration.tidying.mapping import IGNORED, Answers, Asked, LabelMap, Spread
from calibration.tidying.raters import HAS_ID, bare_name, is_of_all, kind_of_name
from plain.typed_options import typed

EVERYBODY, NOBODY = "all", "none"  # --people all: everybody is a person; none: all raters are judges
MOST = 20  # names of raters in an option that is proposed
FROM = ("file", "sheet")  # name the rater of a folder's file, or of a sheet


@dataclass
class Found:
    """What was made out so far about one table of text."""

    table: pd.DataFrame
    asked: Asked
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    spread: tuple[Spread, ...] = ()
    kinds: dict[str, str] = field(default_factory=dict)
    kind_words: dict[str, str] = field(default_factory=dict)
    orders: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)
    flagged: str = ""  # the column that says, otherwise than labels.csv does, that some pairs were shown turned
    answers: dict[str, Answers] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    file: str = ""  # that the table was read from

    @property
    def mapping(self) -> LabelMap:
        return LabelMap(
            self.columns, self.constants, self.spread, self.kinds, self.kind_words, self.answers, self.orders,
            self.statuses,
        )  # fmt: skip

    @property
    def names(self) -> list[str]:
        """The columns of the table."""
        return list(map(str, self.table))

    def free(self) -> list[str]:
        """Columns that have no part yet."""
        used = {name for names in self.columns.values() for name in names}
        used |= {name for one in self.spread for name in one.columns}
        return [name for name in self.names if name not in used]


def without_totals(table: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The table without last rows that are made of the others: `Mean` and numbers alone; and what is told of them."""
    words: list[str] = []
    for row in table.iloc[::-1].itertuples(index=False, name=None):
        (place, word), *rest = [one for one in enumerate(str(cell).strip() for cell in row) if one[1]] or [(0, "")]
        numbers = bool(rest) and all(is_number(cell) for _, cell in rest)
        if not numbers or not _is_total(table.iloc[:, place], word, is_whole=len(rest) + 1 == len(row)):
            break
        words.append(word)
    told = f"left out, being made of the other rows: the last, {', '.join(words)} (another name there keeps it)"
    return table.iloc[: len(table) - len(words)], (told,) if words else ()


def without_ignored(table: pd.DataFrame, asked: Asked) -> tuple[pd.DataFrame, tuple[str, ...], tuple[str, ...]]:
    """(the table without rows whose column says a word that is left out, what is told of each, each as COLUMN:WORD)."""
    told: dict[str, str] = {}
    for name in map(str, table.columns if IGNORED in asked.words.values() else ()):
        for word in [one for one, said in asked.of_column(name).items() if said == IGNORED]:
            is_gone = table[name].str.strip().eq(word)
            if is_gone.any():
                told[f"{name}:{word}"] = f"rows left out, as asked, where {name!r} is {word!r}: {int(is_gone.sum()):,}"
                table = table[~is_gone]
    return table, tuple(told.values()), tuple(told)


def _is_total(column: "pd.Series[str]", word: str, is_whole: bool) -> bool:
    """Whether a row is made of all others by its first word, which no other row has. A whole row of a criterion or a
    rater that is called so is an answer.
    """
    marks, head, parts = " :.", str(column.name), ("criterion", "rater_id")
    if (total := word.strip(marks).casefold()) not in TOTALS:
        return False
    names = [roles.in_english(name) for part in parts for name in (part, *roles.NAMES[part])]
    if is_whole and (roles.in_english(head) in names or any(language_of(part, head) for part in parts)):
        return False
    return int(column.astype("str").str.strip().str.strip(marks).str.casefold().eq(total).sum()) == 1


def words_of(cells: "pd.Series[str]") -> list[str]:
    """Each word of a column once, as they come; a blank cell says nothing."""
    return [word for word in map(str, cells.unique().tolist()) if word.strip()]


def in_range(words: Sequence[str], of: Sequence[str]) -> bool:
    """Whether most of the words are numbers, and nine tenths of these between the least and the greatest of `of`."""
    own, given = ([float(word) for word in side if is_number(word)] for side in (words, of))
    inside = [one for one in own if given and min(given) <= one <= max(given)]
    return 2 * len(own) > len(words) and 10 * len(inside) >= 9 * len(own)


def numbers_of_people(table: pd.DataFrame, holding: Sequence[str], people: Collection[str]) -> list[str]:
    """Of columns that may hold answers those that name people (1040 … 1043), beside raters who give other answers:
    whole numbers of one length beyond 100 under a person's head, or whatever is called an id. None of `people`.
    """
    names = [*map(str, table)]
    is_named = {name: bool({name, bare_name(name)} & {*people}) for name in names}
    by_head = {name: "human" if is_named[name] else kind_of_name(bare_name(name)) for name in names}
    words = {name: words_of(table[name]) for name in names}
    like = [name for name in holding if HAS_ID.search(name) or (by_head[name] == "human" and _is_staff(words[name]))]
    like = [name for name in like if not is_named[name]]
    given = {word for name in names if by_head[name] and name not in like for word in words[name]}
    others = {name: [word for word in words[name] if word not in given] for name in like if given}
    return [name for name, own in others.items() if 2 * len(own) >= len(words[name]) and not in_range(own, [*given])]


def _is_staff(words: Sequence[str]) -> bool:
    return len({*map(len, words)}) == 1 and all(re.fullmatch(r"(?!100$)[1-9]\d{2,}", word) for word in words)


def raters_in(table: pd.DataFrame, columns: Sequence[str]) -> "pd.Series[str]":
    """Who answered each row: what the columns say together, such as a model and its prompt, blanks left out."""
    name = table[columns[0]].astype("str")
    for column in columns[1:]:
        name = name.str.strip() + " " + table[column].astype("str")
    return name.str.strip() if columns[1:] else name


def some_of(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def ask_who_is_who(raters: Sequence[str]) -> str:
    """The sentence that asks which of the raters that no name calls a judge are people."""
    return (
        f"nothing says whether these raters are people or judges: {some_of(raters, 8)}; name those that are "
        f"people, and the others are judges: {typed('--people', *raters[:MOST])} (or {EVERYBODY}, or {NOBODY})"
    )


def kind_of(name: str, asked: Asked) -> str:
    """`human` or `judge`: as the user says, else by the name; "" where neither does."""
    if asked.people:
        return "human" if name in asked.people or EVERYBODY in asked.people else "judge"
    return kind_of_name(name)


def is_of_judge(long: pd.DataFrame, mapping: LabelMap) -> "pd.Series[bool]":
    """Which rows are a judge's, by the column that says so, else by who answered in the head or in the row."""
    by_head = any(one.rater_id for one in mapping.spread)
    (kind,), who = mapping.columns.get("rater_kind", ("",))[:1], mapping.columns.get("rater_id", ())
    if kind and not by_head:
        return long[kind].map(lambda word: mapping.kind_words.get(word, word)).eq("judge")
    named = ("rater_id",) if by_head else who
    is_there = bool(named) and {*named} <= {*long}
    return raters_in(long, named).map(mapping.kinds).eq("judge") if is_there else pd.Series(False, index=long.index)


def made_of_several(columns: list[str], asked: Asked) -> list[str]:
    """Columns beside people's own that are made of several answers, by their names; none that the user calls a person.

    Without a person's own column they are all that is known of people, and stay.
    """
    people = [name for name in columns if kind_of(bare_name(name), asked) == "human" and not is_of_all(name)]
    made = [name for name in columns if people and is_of_all(name) and bare_name(name) not in asked.people]
    return [name for name in made if kind_of_name(bare_name(name)) != "judge"]
