"""Files and folders that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

from annotation.errors import AnnotationError


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


OURS = (b'"calipers-', b"# What these files for ")  # how our marks begin; others call a file bundle.json too
KEPT = ".git"  # an export published so holds more than we wrote


@contextmanager
def whole_folder(out: Path, mark: str) -> Iterator[Path]:
    """An empty folder that becomes `out` when all went well; after an error `out` is as it was.

    `mark`: a file that tells an earlier export of this kind, which is replaced. Raises AnnotationError `folder_in_use`
    for any other folder that is not empty, and `no_file` where something cannot be written.
    """
    out = Path(os.path.realpath(out))  # a link to a folder stays one
    try:
        _refuse_another(out, mark)
        out.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{out.name[:50]}-", dir=out.parent, ignore_cleanup_errors=True) as beside:
            made = Path(beside) / "made"
            made.mkdir()
            yield made
            _refuse_another(out, mark)  # somebody may have put work there meanwhile
            _swap(made, out, Path(beside) / "earlier")
    except OSError as error:
        reason = f"{error.strerror or error}; nothing was written there, give a folder that can be written"
        raise AnnotationError("no_file", f"{out}: {reason}") from None


def _swap(made: Path, out: Path, earlier: Path) -> None:
    """An earlier export steps aside first, and comes back where `made` cannot take its place."""
    try:
        if out.exists():
            out.rename(earlier)
        made.rename(out)
    finally:
        if earlier.exists() and not out.exists():
            earlier.rename(out)


def _refuse_another(out: Path, mark: str) -> None:
    if not os.path.lexists(out):
        return
    if out.is_mount():
        raise AnnotationError("folder_in_use", f"{out} is a disk of its own; give a new folder in it")
    if not out.is_dir() or (any(out.iterdir()) and not _is_ours(out, mark)):
        raise AnnotationError("folder_in_use", f"{out} holds something else; give a new folder")


def _is_ours(out: Path, mark: str) -> bool:
    if not (out / mark).is_file() or (out / KEPT).exists():
        return False
    with (out / mark).open("rb") as file:
        head = file.read(200)
    return any(words in head for words in OURS)
