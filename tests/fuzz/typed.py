"""A command as somebody types it: what the program itself prints, its exit code, and whether a refusal is fit to read."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest import mock

from typer.main import get_command

from app import command_line

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
INNER = ("Traceback", " object at 0x", "sqlalchemy", "pydantic", "psycopg", "site-packages", "[SQL:", "errors.pydantic")
LINE_MAX, LINES_MAX = 1_500, 24


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def calipers(*words: object) -> Said:
    """`calipers WORDS`, in this process but through the program's own entry. Whatever it does not catch is raised."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors=errors) for errors in ("strict", "backslashreplace"))
    code = 0
    typed = mock.patch.object(sys, "argv", ["calipers", *map(str, words)])
    built = mock.patch.object(command_line, "_named", return_value=program())
    with typed, built, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            command_line.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8", "surrogateescape"))
    return Said(code, *texts)


@cache
def program() -> Any:
    """The commands, put together once: that takes longer than most of them do."""
    return get_command(command_line.app)


def unfit(said: Said, codes: Sequence[int] = (0, 1, 2)) -> list[str]:
    """What is wrong with how a command ended: another exit code, no sentence, a traceback, a terminal's control codes."""
    found = [] if said.code in codes else [f"exit code {said.code}"]
    if said.code in (1, 2) and not (said.err + said.out).strip():
        found.append("it refused and said nothing")
    found += [f"{word!r} in what it said" for word in INNER if word in said.err + said.out]
    found += [f"control character {one!r} on the terminal" for one in set(CONTROL.findall(said.err + said.out))]
    if said.code == 1:
        lines = said.err.splitlines()
        found += [f"a line of {len(line):,} characters" for line in lines if len(line) > LINE_MAX][:1]
        found += [f"{len(lines)} lines"] if len(lines) > LINES_MAX else []
    return found
