"""A file that is written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO


@contextmanager
def whole_file(out: Path) -> Iterator[TextIO]:
    """UTF-8 text that becomes `out` when all went well; after an error, such as a full disk, `out` is as it was.

    What is no ordinary file, such as a pipe, is written as it comes. Raises OSError that names `out`.
    """
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.exists() and not out.is_file():
            with out.open("w", encoding="utf-8", newline="") as file:
                yield file
            return
        out = Path(os.path.realpath(out))  # a link to a file stays one
        with TemporaryDirectory(prefix=f".{out.name[:50]}-", dir=out.parent, ignore_cleanup_errors=True) as beside:
            made = Path(beside) / "made"
            with made.open("w", encoding="utf-8", newline="") as file:
                yield file
            made.replace(out)
    except OSError as error:
        error.filename = str(out)
        raise
