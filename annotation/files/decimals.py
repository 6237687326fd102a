"""Numbers with decimal commas, and with marks between thousands, as numbers with a decimal point alone.

Each number is read by its own marks: 4,5 has a decimal comma and 4.5 a decimal point, also where they stand side by
side. 1,234 and 1.234 allow two readings: they are read as other numbers show the mark to be used, or asked about.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial

import pandas as pd

from annotation.errors import AnnotationError

SIGN, END = r"\s*[+-]?", r"\s*[%％]?\s*"
GROUPED = re.compile(rf"{SIGN}\d{{1,3}}(?:,\d{{3}})+{END}|{SIGN}\d{{1,3}}(?:\.\d{{3}})+{END}")
NUMBER = re.compile(
    rf"{SIGN}(?:\d*\.?\d+|(?:\d+|\d{{1,3}}(?:\.\d{{3}})+),\d+|\d{{1,3}}(?:,\d{{3}})+\.\d+){END}|{GROUPED.pattern}"
)
WORDS = 3  # different ones, in a column of numbers
OPTIONS = 12  # different answers, at most, that may be lists of the options chosen
LONGEST = 40  # characters of a number; a longer cell tells that its column holds texts
DECIMAL, BETWEEN = "decimal", "between thousands"
Uses = set[tuple[str, str]]  # (mark, what it is)


def with_points(
    frame: pd.DataFrame, asked: str, says_none: Callable[[str, str], bool] = lambda head, word: False
) -> tuple[dict[str, "pd.Series[str]"], str, str, list[str]]:
    """The columns of numbers with commas, each number with a decimal point; the sign, what is told and what is asked.

    `asked`: the sign of numbers that allow two readings, "" to find it out; the sign is "" where no number holds a
    comma. `says_none`: whether a word under a head is no answer, which may stand in a column of numbers. A sentence
    asks for each column where nothing tells. Raises AnnotationError `bad_option`.
    """
    if asked not in ("", ",", "."):
        raise AnnotationError("bad_option", f"--read decimal={asked}: write a comma or a point")
    columns = {str(name): _distinct(frame[name]) for name in frame if _has_comma(frame[name])}
    numbers = {
        name: own for name, texts in columns.items() if (own := _numbers_among(texts, partial(says_none, name), asked))
    }
    of_file = _uses(text for texts in numbers.values() for text in texts)
    read = {name: _meanings(texts, of_file, asked) for name, texts in numbers.items()}
    commas = [name for name, own in read.items() if any("," in text and "." in own[text] for text in own)]
    both = [name for name in commas if (".", DECIMAL) in _uses(numbers[name])]
    told = "numbers have decimal commas" * bool(commas) + f", some in {', '.join(both)} points" * bool(both)
    changed = {name: _replaced(frame[name], own) for name, own in read.items()}
    return changed, asked or ("," if commas else "." * bool(numbers)), told, _questions(numbers, of_file, asked)


def ungrouped(frame: pd.DataFrame, names: Collection[str], asked: str) -> tuple[pd.DataFrame, list[str]]:
    """The table of a file with decimal commas without points between thousands in `names`, which are read as numbers.

    A sentence for each column in which they may be decimal points as well, unless it is `asked`.
    """
    grouped = {name: _distinct(frame[name]) for name in map(str, frame) if name in names and _is_grouped(frame[name])}
    of_file = {(",", DECIMAL)}
    read = {name: _replaced(frame[name], _meanings(texts, of_file, asked)) for name, texts in grouped.items()}
    return frame.assign(**read), _questions(grouped, of_file, asked)


def _numbers_among(texts: Collection[str], says_none: Callable[[str], bool], asked: str) -> list[str]:
    """The numbers of a column of numbers, in which a few words may stand for no answer (`k. A.`); [] of any other.

    Beside words nothing is asked about: numbers that allow two readings, or may be options, are texts as well.
    """
    numbers = [text for text in texts if _is_number(text)]
    words = [text for text in texts if not _is_number(text)]
    if not words or len(words) > WORDS or len(numbers) <= 2 * len(words) or not all(map(says_none, words)):
        return [] if words else numbers
    own = _uses(numbers)
    is_open = any(_decimal(text, own, own, asked) is None for text in numbers) or (
        not asked and _may_be_options(numbers)
    )
    return [] if is_open else numbers


def _may_be_options(numbers: Collection[str]) -> bool:
    """Whether all may be lists of the options chosen: `1`, `1,3` and `2,3`, but not `3,0`."""
    chosen = [text.strip().split(",") for text in numbers]
    return len(chosen) <= OPTIONS and all(
        own == sorted({*own}) and all(len(one) == 1 and one.isdigit() for one in own) for own in chosen
    )


def _is_number(text: str) -> bool:
    return len(text) <= LONGEST and bool(NUMBER.fullmatch(text))


def _is_grouped(column: "pd.Series[str]") -> bool:
    """Whether all cells are whole numbers, some of them with what may be points between thousands."""
    whole = rf"{SIGN}\d+{END}|{GROUPED.pattern}|\s*"
    is_whole = column.iloc[:50].str.fullmatch(whole).all() and column.str.contains(".", regex=False).any()
    return bool(is_whole) and all(re.fullmatch(whole, text) for text in _distinct(column))


def _has_comma(column: "pd.Series[str]") -> bool:
    is_long = bool((column.iloc[:50].str.len() > LONGEST).any())
    return not is_long and bool(column.str.contains(",", regex=False).any())


def _distinct(column: "pd.Series[str]") -> list[str]:
    return [text for text in map(str, column.unique()) if text.strip()]


def _marks(text: str) -> str:
    return "".join(one for one in text if one in ",.")


def _may_be_either(text: str) -> bool:
    """Whether a number's one mark may be decimal or stand between thousands: 1,234 and 1.234, but not 0.125."""
    return len(_marks(text)) == 1 and bool(GROUPED.fullmatch(text)) and not text.strip().lstrip("+-").startswith("0")


def _uses(texts: Iterable[str]) -> Uses:
    """What the marks of numbers are beyond doubt."""
    found: Uses = set()
    for marks in {_marks(text) for text in texts if not _may_be_either(text)} - {""}:
        is_between = len(marks) > 1 and len({*marks}) == 1
        found.add((marks[-1], BETWEEN if is_between else DECIMAL))
        found |= {(marks[0], BETWEEN)} if len({*marks}) == 2 else set()
    return found


def _decimal(text: str, own: Uses, of_file: Uses, asked: str) -> str | None:
    """The decimal mark of a number, "" where it has none; None where it allows two readings.

    A comma is used as in the whole file, a point as in its own column: thousands of one column say nothing of another.
    """
    marks = _marks(text)
    if not _may_be_either(text):
        return "" if (marks[-1:], BETWEEN) in _uses([text]) else marks[-1:]
    if asked:
        return marks if marks == asked else ""
    if marks == "." and (",", DECIMAL) not in of_file:
        return marks
    uses = {use for mark, use in own if mark == marks} or {use for mark, use in of_file if mark == marks == ","}
    return None if len(uses) != 1 else marks if uses == {DECIMAL} else ""


def _meanings(texts: Collection[str], of_file: Uses, asked: str) -> dict[str, str]:
    """Each number of a column -> with a decimal point alone; one that allows two readings has a decimal mark so far."""
    own = _uses(texts)
    decimals = {text: _decimal(text, own, of_file, asked) for text in texts}
    return {text: _written(text, _marks(text) if mark is None else mark) for text, mark in decimals.items()}


def _questions(columns: Mapping[str, Collection[str]], of_file: Uses, asked: str) -> list[str]:
    """A sentence for each column with a number that allows two readings."""
    unsure = {
        name: next((text for text in texts if _decimal(text, _uses(texts), of_file, asked) is None), "")
        for name, texts in columns.items()
    }
    return [
        f"{text.strip()!r} in column {name!r} may have a decimal mark or one between thousands; say which: --read "
        f"decimal=, where it is {_written(text, ',').strip()}, or --read decimal=. where it is "
        f"{_written(text, '.').strip()}"
        for name, text in unsure.items()
        if text
    ]


def _replaced(column: "pd.Series[str]", meanings: Mapping[str, str]) -> "pd.Series[str]":
    return column.astype("str").map(lambda text: meanings.get(text, text))


def _written(number: str, decimal: str) -> str:
    """The number with its `decimal` mark as a point and without any other."""
    return "".join(one for one in number if one not in ",." or one == decimal).replace(",", ".")
