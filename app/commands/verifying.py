"""The check of a bundle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from app.commands.printing import JSON, RESULTS, print_json, progress_bar


def add_to(app: typer.Typer) -> None:
    """Register this file's command."""
    app.command("verify", rich_help_panel=RESULTS)(verify)


def verify(
    bundle: Path = typer.Argument(..., help="The folder of a bundle, or a .zip of it."),
    root: str = typer.Option("", help="The root that was published: 64 hexadecimal digits."),
    as_json: bool = JSON,
) -> None:
    """Say which files of a bundle changed and which of its numbers hold. Runs nothing that the bundle brought.

    Example: calipers verify bundle --root 9f2c…
    """
    from dataclasses import asdict

    from exports.verifying import describe
    from exports.verifying import verify as verified

    with _opened(bundle) as folder, progress_bar("verifying") as advance:
        steps = iter(range(1, 4))
        found = verified(folder, root, lambda doing: advance(next(steps), 3))
    if as_json:
        print_json(asdict(found) | {"holds": found.holds, "verdict": [*describe(found)][-1]})
    else:
        typer.echo("\n".join(describe(found)))
    if not found.holds:
        raise typer.Exit(1)


@contextmanager
def _opened(bundle: Path) -> Iterator[Path]:
    """The bundle's folder; a .zip is unpacked for as long as it is looked at."""
    import shutil
    import tempfile
    from zipfile import BadZipFile, ZipFile

    from annotation.errors import AnnotationError
    from exports.bundle import SUMS

    if bundle.is_dir():
        yield bundle
        return
    with tempfile.TemporaryDirectory() as made:
        try:
            with ZipFile(bundle) as archive:
                archive.extractall(made)
        except (OSError, BadZipFile, shutil.ReadError) as error:
            raise AnnotationError(
                "no_bundle", f"{bundle}: no bundle ({error}); give its folder or a .zip of it"
            ) from None
        inside = [path.parent for path in Path(made).glob(f"**/{SUMS}")]
        yield min(inside, key=lambda path: len(path.parts), default=Path(made))
