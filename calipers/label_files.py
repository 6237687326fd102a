"""A labels file as a table of text, whatever its form, and a calibration.toml; or why it cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.errors import AnnotationError
from annotation.files.decimals import ungrouped
from annotation.files.decoding import read_toml
from annotation.files.tables import AS_FOUND, Form, Wants, read_table
from calibration.errors import CalibrationError
from calibration.table import checking, roles, verdicts
from calibration.table.other_languages import language_of
from calibration.tidying.statuses import says_failed
from calibration.tidying.value_sets import is_blank
from plain.spreadsheets import unguarded

MANY_ROWS = 200_000  # beyond these, single criteria cost more seconds than the rest together
# columns whose texts return many times over: as categories they take a tenth of the memory
SHORT = frozenset(
    {*verdicts.REQUIRED, *verdicts.TEXT_DEFAULTS, *verdicts.EXTRA_TEXTS, "len_a", "len_b", "run", "pass_no"}
    - {"rationale", "topic"}  # tables of topics are read so too, and sorted by it
)
USED = frozenset({*verdicts.KNOWN_COLUMNS, *verdicts.EXTRA, verdicts.DERIVED, "pass_no"})
# names of which a list of answers in JSON has one, most telling first
TELLING = tuple(dict.fromkeys(("label", *roles.NAMES["label"], "value", "answer")))


def read_labels(path: Path, used_only: bool = False, asked: Form = AS_FOUND) -> pd.DataFrame:
    """Every cell as text, empty where nothing was given; `SHORT` columns are categories, attrs["told"] how it was read.

    `used_only`: without the columns that no statistic reads, unless one is lacking that statistics need, which may be
    a misspelt one. Raises AnnotationError, ImportingError.
    """

    def wanted(names: Iterable[Any]) -> list[str]:
        all_names = [str(name) for name in names]
        return [name for name in all_names if not used_only or name in USED or not {*verdicts.REQUIRED} <= {*all_names}]

    read = read_table(path, asked, Wants(wanted, SHORT, TELLING, says_none=none_among_numbers))
    numbers = read.points_unread((*verdicts.NUMBERS, *verdicts.EXTRA_NUMBERS, "label"))
    frame, asks = ungrouped(read.frame, numbers, asked.decimal)
    if asks := [*read.asks, *asks]:
        raise AnnotationError("cannot_tidy", f"{path}: {'; '.join(asks)}")
    out = pd.DataFrame({name: _unguarded(frame.pop(name)) for name in wanted(frame)})
    out.attrs["told"] = read.told
    return out


def none_among_numbers(head: str, word: str) -> bool:
    """Whether a word is no answer in a column of numbers called so, which is none where it names an item or a rater."""
    name = head.rpartition(".")[2]
    is_id = any(
        roles.in_english(name) in (part.replace("_", ""), *roles.NAMES[part]) or language_of(part, name)
        for part in ("item_id", "rater_id", "cluster_id")
    )
    return not is_id and (says_failed(word) or is_blank(word, ()))


@contextmanager
def every_column_asked(path: Path) -> Iterator[None]:
    """Where two rows answer the same, the columns that no statistic reads say why: a copy, another order, a repeat."""
    try:
        yield
    except CalibrationError as error:
        if error.code == "duplicate_verdict" and path.is_file():
            checking.once_in_order(verdicts.normalise(read_labels(path))[0])
        raise


def _unguarded(column: pd.Series[Any]) -> pd.Series[Any]:
    """The texts without the quotes that our own export put before them, short ones without spaces around them."""
    if column.name in SHORT:
        column = column.astype("category")
        texts = [unguarded(text).strip() for text in column.cat.categories]
        if len({*texts}) < len(texts):
            return column.astype("str").map(lambda text: unguarded(text).strip()).astype("category")
        return column.cat.rename_categories(texts)
    quoted = column.str.startswith("'")
    return column.where(~quoted, column[quoted].map(unguarded)) if quoted.any() else column


def read_calibration(path: Path) -> dict[str, Any]:
    """Fields of `CalibrationSettings` by name: the table `[calibration]`, as in a protocol, or the keys by themselves.

    Raises AnnotationError naming the file; a key that is none of them is refused where the settings are made.
    """
    try:
        read = read_toml(path.read_text("utf-8"))
    except OSError as error:
        raise AnnotationError("no_file", f"{path}: {error.strerror or error}; name a TOML file") from None
    except (UnicodeDecodeError, ValueError) as error:
        raise AnnotationError(
            "bad_calibration", f"{path}: is no TOML file that can be read: {error} (a number begins with a digit: 0.1)"
        ) from None
    others = sorted(name for name, value in read.items() if name != "calibration" and "calibration" in read)
    if others:
        raise AnnotationError("bad_calibration", f"{path}: {others[0]!r} stands beside [calibration]; put it inside")
    table = read.get("calibration", read)
    if not isinstance(table, dict):
        raise AnnotationError("bad_calibration", f"{path}: calibration is no table; write [calibration]")
    return {name: as_tuples(value) for name, value in table.items()}


def as_tuples(value: Any) -> Any:
    """TOML's lists, and lists in lists, as the settings hold them."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value


def refuse_unknown_criteria(chosen: Mapping[str, Any], frame: pd.DataFrame) -> None:
    """A scale of a criterion that nothing answers, which may be misspelt, would be passed over in silence.

    Raises AnnotationError.
    """
    known = [*map(str, frame["criterion"].unique())] if "criterion" in frame else []
    for name in ("scales", "scale_ends"):
        held = chosen.get(name)
        for one in [one for one in held if one not in known] if known and isinstance(held, Mapping) else []:
            raise AnnotationError(
                "bad_calibration",
                f"{name} declares {one!r}, which is no criterion of these labels; there are {', '.join(known[:20])}",
            )


def settings_chosen(path: Path | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a calibration.toml says, and over it what was `given` by options; None stands for an option left out.

    Raises AnnotationError as `read_calibration` does.
    """
    chosen = read_calibration(path) if path is not None else {}
    options = {name: value for name, value in given.items() if value is not None}
    if {"at_least", "at_least_kappa"} & options.keys():
        chosen = {name: value for name, value in chosen.items() if name not in ("at_least", "at_least_kappa")}
    return chosen | options
