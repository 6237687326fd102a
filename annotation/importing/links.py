"""What stands in a folder that somebody else packed: files, and no ways out of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from annotation.errors import ImportingError


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
                    f"{shown}: a link that leads out of {root}; put the file itself there, or remove it"
                )
            if _is_strange(path):
                raise ImportingError(f"{shown}: neither a file nor a folder; remove it")


def _is_strange(path: Path) -> bool:
    """A pipe, socket or device, which would be read for ever; what is gone, or a link to nothing, is none."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
