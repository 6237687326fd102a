"""A mapping as a TOML file, beside the labels that were made with it: read again, it makes them again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.errors import AnnotationError
from annotation.files.decoding import read_toml
from annotation.files.tables import AS_FOUND, Form
from calibration.tidying.mapping import FORMAT, Answers, LabelMap, Spread


@dataclass(frozen=True)
class Recipe:
    """How a file was made into labels: its layout, its form, and what was where. `file`: its name alone.

    `people`: who was named as people, or where a layout's records hold a person's answer. `ignored`: what is not read.
    `beside`: columns of other raters beside rows of answers -> whose they are. `left_out`: COLUMN:WORD of rows that are
    no labels.
    """

    mapping: LabelMap
    form: Form = AS_FOUND
    layout: str = ""
    file: str = ""
    people: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    beside: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


def recipe_text(recipe: Recipe) -> str:
    """The recipe as TOML."""
    made = recipe.mapping
    form = {one.name: getattr(recipe.form, one.name) for one in fields(recipe.form)}
    lines = [f"format = {_value(FORMAT)}", f"file = {_value(recipe.file)}", f"layout = {_value(recipe.layout)}"]
    listed = {"people": recipe.people, "ignored": recipe.ignored, "left_out": recipe.left_out}
    lines += [f"{name} = {_value(names)}" for name, names in listed.items() if names]
    tables: dict[str, Mapping[str, Any]] = {
        "form": {name: text for name, text in form.items() if text}, "columns": made.columns,
        "constants": made.constants, "kinds": made.kinds, "kind_words": made.kind_words, "orders": made.orders,
        "statuses": made.statuses, "beside": recipe.beside,
    }  # fmt: skip
    for name, table in tables.items():
        if table:
            lines += ["", f"[{name}]", *(f"{_value(key)} = {_value(value)}" for key, value in table.items())]
    for one in made.spread:
        held = {each.name: getattr(one, each.name) for each in fields(one)}
        lines += ["", "[[spread]]", *(f"{name} = {_value(value)}" for name, value in held.items() if value != {})]
    for criterion, answers in made.answers.items():
        lines += ["", "[[answers]]", f"criterion = {_value(criterion)}", f"read_as = {_value(answers.read_as)}"]
        lines += [f"words = {_value(answers.words)}"]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_value(key)} = {_value(one)}' for key, one in value.items())}}}"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def read_recipe(path: Path) -> Recipe:
    """The recipe in a TOML file. Raises AnnotationError naming the file, and the key that is none."""
    try:
        held = read_toml(path.read_text("utf-8"))
    except OSError as error:
        raise AnnotationError("no_file", f"{path}: {error.strerror or error}; name a mapping's TOML file") from None
    except (UnicodeDecodeError, ValueError) as error:
        raise AnnotationError("bad_mapping", f"{path}: is no TOML file that can be read: {error}") from None
    if held.get("format") != FORMAT:
        raise AnnotationError("bad_mapping", f"{path}: no format = {FORMAT!r}; give a file that tidy or doctor wrote")
    try:
        made = LabelMap(
            columns={
                part: (names,) if isinstance(names, str) else tuple(names) for part, names in _table(held, "columns")
            },
            constants=dict(_table(held, "constants")),
            spread=tuple(Spread(**one) for one in held.get("spread", [])),
            kinds=dict(_table(held, "kinds")),
            kind_words=dict(_table(held, "kind_words")),
            orders=dict(_table(held, "orders")),
            statuses=dict(_table(held, "statuses")),
            answers={one["criterion"]: Answers(one["read_as"], one["words"]) for one in held.get("answers", [])},
        )
        return Recipe(
            made,
            Form(**dict(_table(held, "form"))),
            held.get("layout", ""),
            held.get("file", ""),
            tuple(held.get("people", ())),
            tuple(held.get("ignored", ())),
            dict(_table(held, "beside")),
            tuple(held.get("left_out", ())),
        )
    except (TypeError, KeyError, AttributeError) as error:
        raise AnnotationError("bad_mapping", f"{path}: not as tidy writes a mapping ({error}); correct it") from None


def _table(held: Mapping[str, Any], name: str) -> Any:
    return held.get(name, {}).items()


def refuse_absent(path: Path, frame: pd.DataFrame, followed: Recipe) -> None:
    """Raises AnnotationError for a column that the mapping names and the table has not."""
    mapping = followed.mapping
    made = [part for part, names in mapping.columns.items() if followed.beside and (part,) == names]  # when stacked
    asked = [*followed.beside, *(name for part, own in mapping.columns.items() if part not in made for name in own)]
    asked += [name for one in mapping.spread for name in one.columns]
    absent = [name for name in asked if name not in frame and not (mapping.spread and name in ("label",))]
    if absent:
        raise AnnotationError("bad_mapping", f"{path}: has no column {absent[0]!r}, which the mapping names")
