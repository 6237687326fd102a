"""The contents of `calipers --help`: the commands in the order of a study's life, and their help laid out."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperGroup
from typer.models import CommandInfo, ParameterInfo, TyperInfo

ROAD = {
    "The study": "demo plan init serve status open pause close lock reveal",
    "Its reports and items": "import audit pairs items",
    "Its people": "invite people packet quality reply adjudicate",
    "Its judges": "judge",
    "Its results": "calibrate systems topics export verify",
    "Safety": "doctor backup restore",
}
FIRST_STEPS = """First steps:

  calipers demo                     a finished study to look at
  calipers serve                    opens it in the browser
  calipers calibrate labels.csv     or: what your own labels say

Each command says more: calipers COMMAND --help"""


class Contents(TyperGroup):
    """Lists the commands as `ROAD` does, wherever they were registered."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Every command, in reading order."""
        return [name for names in ROAD.values() for name in names.split()]


def lay_out(app: typer.Typer) -> None:
    """Put every command under its head, and let the help of each fill the lines of the terminal."""
    heads = {name: head for head, names in ROAD.items() for name in names.split()}
    registered: list[CommandInfo | TyperInfo] = [*app.registered_commands, *app.registered_groups]
    for info in registered:
        info.rich_help_panel = heads[str(info.name)]
    commands = list(_all_commands(app))
    for command in commands:
        command.help = as_it_stands(flowing(command.help or inspect.getdoc(command.callback) or ""))
    defaults = (one.default for command in commands for one in inspect.signature(command.callback).parameters.values())
    for option in {id(one): one for one in defaults if isinstance(one, ParameterInfo)}.values():  # some are shared
        option.help = as_it_stands(option.help or "")


def flowing(text: str) -> str:
    """One line a paragraph, which the terminal folds where it ends; examples keep a line each."""
    return "\n\n".join(
        paragraph if paragraph.startswith("Example:") else " ".join(paragraph.split())
        for paragraph in inspect.cleandoc(text).split("\n\n")
    )


def as_it_stands(text: str) -> str:
    """Help whose brackets are shown: `[system]` is none of the marks by which a terminal's text is coloured."""
    return re.sub(r"\[(?=[a-z#/@])", r"\[", text)


def _all_commands(app: typer.Typer) -> Iterator[Any]:
    yield from app.registered_commands
    for group in app.registered_groups:
        if group.typer_instance is not None:
            yield from _all_commands(group.typer_instance)
