"""The files of a folder that somebody else packed, with no ways out of it, and the topic that a file's name means."""

import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

from annotation.errors import ImportingError
from plain.wording import worded


def refuse_ways_out(root: Path) -> None:
    """Raises ImportingError for the first entry below `root` that leads out of it, or is no file to be read.

    `root` itself may be a link: whoever names it has chosen it. Links that stay inside are followed.
    """
    inside = root.resolve()
    for folder, folders, files in os.walk(root):
        for name in sorted([*folders, *files]):
            path = Path(folder) / name
            shown = path.relative_to(root).as_posix()
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(inside):
                raise ImportingError(
                    "{shown}: a link that leads out of {root}; put the file itself there, or remove it", shown=shown,
                    root=root,
                )  # fmt: skip
            if _is_strange(path):
                raise ImportingError("{shown}: neither a file nor a folder; remove it", shown=shown)


def _is_strange(path: Path) -> bool:
    """A pipe, socket or device, which would be read for ever; what is gone, or a link to nothing, is none."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def files(path: Path, pattern: str) -> list[tuple[Path, str]]:
    """The files below `path` (or `path` itself) that fit, with the name each is called by; hidden ones are left out.

    Raises ImportingError where there are none.
    """
    if path.is_file():
        return [(path, path.name)]
    found = [(entry, entry.relative_to(path).as_posix()) for entry in sorted(path.rglob(pattern)) if entry.is_file()]
    kept = [(entry, shown) for entry, shown in found if not any(part.startswith(".") for part in shown.split("/"))]
    if not kept:
        raise ImportingError(
            "{path}: no file {pattern} found; give the folder that holds the results, or one file", path=path,
            pattern=pattern,
        )  # fmt: skip
    return kept


def match(key: str, candidates: Collection[str]) -> str | None:
    """The candidate that is `key`; else the only one equal to it with `_` for each blank and `/`, or for `-` too.

    None where there is none, or several. Both sides are NFC and trimmed. DeepResearchGym's annotators read
    `search-r1-custom`, whose reports and scores lie in `search-r1_custom`.
    """
    if key in candidates:
        return key
    for spelt in (as_file_name, lambda name: as_file_name(name).replace("-", "_")):
        if close := [name for name in candidates if spelt(name) == spelt(key)]:
            return close[0] if len(close) == 1 else None
    return None


def match_either(name: str, keys: Collection[str], others: Mapping[str, str]) -> str | None:
    """The key that `name` matches, else the one whose other name it does."""
    return match(name, keys) or others.get(match(name, others) or "")


def number_hint(key: str, candidates: Collection[str]) -> str:
    """A clause for an error where ids would meet if they were compared as numbers (never done); else nothing."""
    twins = [name for name in candidates if name != key and _is_number(name) and _is_number(key)]
    twins = [name for name in twins if name.lstrip("0") == key.lstrip("0")]
    return worded(" (as a number it would be {twin!r}; ids are compared as written)", twin=twins[0]) if twins else ""


def as_file_name(name: str) -> str:
    """What some trees call a file of this topic."""
    return name.replace(" ", "_").replace("/", "_")


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit()
