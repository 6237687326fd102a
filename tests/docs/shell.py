"""The commands that README.md and the pages of docs/ show."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")))
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SETTING = re.compile(r"[A-Z_]+=\S*$")
# a line in another fence that begins like this is a command that nothing would run
LOOKS_RUN = re.compile(
    r"^(?:[A-Z_]+=\S+ )*(calipers|make|pip|python|pytest|git|docker|sudo|systemctl|curl) (?!=)", re.MULTILINE
)


@dataclass(frozen=True)
class Command:
    """One line of a shell block. `settings`: what stands before it, as in `NAME=value calipers …`."""

    page: str
    section: str
    line: str
    settings: dict[str, str]
    words: tuple[str, ...]

    @property
    def program(self) -> str:
        return self.words[0]


def fences(page: str) -> Iterator[tuple[str, str, str]]:
    """Of each fenced block: the heading above it, its language and what stands in it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        above = re.findall(r"^##+ (.*)$", text[: found.start()], re.MULTILINE)
        yield (above or [""])[-1], found[1], found[2]


def commands(page: str) -> list[Command]:
    """Every command of the page's shell blocks, in order."""
    return [
        command
        for section, language, block in fences(page)
        if language in ("sh", "bash")
        for line in re.sub(r"\\\n\s*", "", block).splitlines()
        if (command := _command(page, section, line)) is not None
    ]


def _command(page: str, section: str, line: str) -> Command | None:
    words = shlex.split(line, comments=True)
    settings: dict[str, str] = {}
    while words and SETTING.match(words[0]):
        name, _, settings[name] = words.pop(0).partition("=")
    return Command(page, section, line.strip(), settings, tuple(words)) if words else None
