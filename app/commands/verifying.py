"""The check of a bundle."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from app.commands.printing import JSON, print_json, progress_bar

# a .zip of more files, or of more bytes and many times its own, is no bundle but a bomb
MOST_FILES, SMALL, MOST_TIMES = 10_000, 100_000_000, 100


def add_to(app: typer.Typer) -> None:
    """Register this file's command."""
    app.command("verify")(verify)


def verify(
    bundle: Path = typer.Argument(..., help="The folder of a bundle, or a .zip of it."),
    root: str = typer.Option(None, help="The root that was published: 64 hexadecimal digits."),
    as_json: bool = JSON,
) -> None:
    """Which files of a bundle changed, and which numbers hold.

    Runs nothing that the bundle brought. Exit 1 if anything changed.

    Example: calipers verify bundle --root 9f2c…
    """
    from dataclasses import asdict

    from exports.verifying import describe
    from exports.verifying import verify as verified

    if root is not None and not re.fullmatch(r"\s*[0-9a-fA-F]{64}\s*", root):
        raise typer.BadParameter(f"--root {root[:80]!r}: a root has 64 hexadecimal digits")
    with _opened(bundle) as folder, progress_bar("verifying") as advance:
        steps = iter(range(1, 4))
        found = verified(folder, root or "", lambda doing: advance(next(steps), 3))
    if as_json:
        print_json(asdict(found) | {"holds": found.holds, "verdict": [*describe(found)][-1]})
    else:
        typer.echo("\n".join(describe(found)))
    if not found.holds:
        raise typer.Exit(1)


@contextmanager
def _opened(bundle: Path) -> Iterator[Path]:
    """The bundle's folder; a .zip is unpacked for as long as it is looked at."""
    import tempfile

    from annotation.errors import AnnotationError
    from exports.bundle import SUMS

    if bundle.is_dir():
        yield bundle
        return
    if not bundle.exists():
        raise AnnotationError("no_bundle", f"{bundle}: no such file or folder; give a bundle's folder or a .zip of it")
    with tempfile.TemporaryDirectory() as made:
        _unpack(bundle, Path(made))
        inside = [path.parent for path in Path(made).glob(f"**/{SUMS}")]
        if not inside:
            raise AnnotationError(
                "no_bundle", f"{bundle}: no {SUMS} in it; give the folder of a bundle or a .zip of it"
            )
        yield min(inside, key=lambda path: len(path.parts))


def _unpack(bundle: Path, into: Path) -> None:
    import lzma
    import zlib
    from zipfile import BadZipFile, ZipFile

    from annotation.errors import AnnotationError

    try:
        with ZipFile(bundle) as archive:
            entries = archive.infolist()
            size = sum(entry.file_size for entry in entries)
            if len(entries) > MOST_FILES or size > max(SMALL, MOST_TIMES * bundle.stat().st_size):
                raise BadZipFile(f"{len(entries):,} files of {size:,} bytes; unpack it yourself if you trust it")
            archive.extractall(into)
    except (OSError, BadZipFile, RuntimeError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise AnnotationError("no_bundle", f"{bundle}: no bundle ({error}); give its folder or a .zip of it") from None
