"""A disk of a few megabytes: a tmpfs of its own where this process may mount one."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory


@lru_cache(maxsize=1)
def may_mount() -> bool:
    """Whether a tmpfs can be mounted here: root in a container often may not."""
    with TemporaryDirectory() as folder:
        return _mount(Path(folder), 1) and _unmount(Path(folder))


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """`folder` on a disk of its own."""
    folder.mkdir(exist_ok=True)
    assert _mount(folder, megabytes)
    try:
        yield folder
    finally:
        assert _unmount(folder)


def fill(folder: Path) -> Path:
    """Take all the room that is left; the file that holds it."""
    filler = folder / "filler"
    with filler.open("ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            while _fits(file.fileno(), size):
                pass
    return filler


def _fits(descriptor: int, size: int) -> bool:
    try:
        return os.write(descriptor, bytes(size)) == size
    except OSError:
        return False


def _mount(folder: Path, megabytes: int) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    return os.geteuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0


def _unmount(folder: Path) -> bool:
    """Lazily: a process that still ends may have a file open."""
    return ctypes.CDLL(None, use_errno=True).umount2(os.fsencode(folder), 2) == 0
