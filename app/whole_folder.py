"""A folder that is written whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from annotation.errors import AnnotationError


@contextmanager
def whole_folder(out: Path, mark: str) -> Iterator[Path]:
    """An empty folder that becomes `out` when all went well; after an error `out` is as it was.

    `mark`: a file that tells an earlier export of this kind, which is replaced. Raises AnnotationError `folder_in_use`
    for any other folder that is not empty, and `no_file` where nothing can be written.
    """
    out = out.absolute()
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / mark).is_file())):
        raise AnnotationError("folder_in_use", f"{out} holds something else; give a new folder")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        raise AnnotationError("no_file", f"{out}: {error.strerror}; give a folder that can be written") from None
    try:
        yield made
        made.chmod(0o755)
        if out.exists():
            shutil.rmtree(out)
        made.replace(out)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
