"""What every reader of a tool's file finds: one entry an answer, with the record that a place points into."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.files.folders import files
from annotation.tool_answers.places import text_at

FAILED = ("invalid", "missing", "refused", "truncated")  # an answer that is none keeps why, and never becomes a label


@dataclass(frozen=True)
class Entry:
    """One answer as a tool keeps it. `usual`: field -> places in `record`, tried in order.

    `status` says why there is no answer. `name`: what the tool calls the item, for files without topics; `item`: what
    our own export calls it. `kind`: human or judge, "" where the file does not say. `sides`: whether A and B, left and
    right are known to be places on the screen; None: as the user says. `is_bare`: a probe of our own without a report.
    `unnamed`: what stands for the rater where the file names none.
    """

    where: str
    record: Mapping[str, Any]
    usual: Mapping[str, Sequence[str]]
    status: str = ""
    kind: str = "judge"
    name: str = ""
    item: str = ""
    pass_no: str = ""
    sides: bool | None = None
    is_ours: bool = False
    is_bare: bool = False
    unnamed: str = ""
    flags: tuple[str, ...] = ()

    def told(self, part: str) -> str:
        """The text at the first of a field's usual places that holds one."""
        return next((text for place in self.usual.get(part, ()) if (text := text_at(self.record, place))), "")


@dataclass
class Found:
    """Entries as they are found, problems, and what was left aside, counted. `scale`: lowest and highest score."""

    entries: list[Entry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    aside: dict[str, int] = field(default_factory=dict)
    scale: tuple[float, float] | None = None

    def leave(self, why: str, count: int = 1) -> None:
        """Count what is not read; 0 is not mentioned."""
        if count:
            self.aside[why] = self.aside.get(why, 0) + count

    def notes(self) -> tuple[str, ...]:
        """One sentence for each kind of thing left aside."""
        return tuple(f"{why} {count}" for why, count in self.aside.items())


@dataclass(frozen=True)
class Reading:
    """How a file is read: `places` as --map says, field -> place; `pseudonym`: what an address is called here.

    `leave_out`: files of a folder that are of another layout.
    """

    encoding: str = "utf-8"
    places: Mapping[str, str] = field(default_factory=dict)
    pseudonym: Callable[[str], str] = str
    leave_out: frozenset[Path] = frozenset()

    def files(self, path: Path, pattern: str) -> list[tuple[Path, str]]:
        """The files below `path` that fit, with the name each is called by. Raises ImportingError for none."""
        return [one for one in files(path, pattern) if one[0] not in self.leave_out]


def flat(**places: str | Sequence[str]) -> dict[str, list[str]]:
    """Usual places, one or several a field."""
    return {name: [one] if isinstance(one, str) else [*one] for name, one in places.items()}
