"""A study as a dataset that others can load: labels, what was read, a data card."""

from __future__ import annotations

from pathlib import Path

import typer

from app.commands.printing import JSON, WHICH, print_json, working


def export_dataset(
    study: str = WHICH,
    out: Path = typer.Option(..., help="A new folder, or one that holds an earlier dataset."),
    texts: bool = typer.Option(False, "--texts", help="With the texts that were shown, not only their sha256."),
    license: str = typer.Option("", help="SPDX id, such as CC-BY-4.0; without it the card says: not stated."),
    as_json: bool = JSON,
) -> None:
    """Write every label as a dataset to publish, with a data card.

    Every revision, as CSV, JSON Lines and Parquet, with Croissant metadata.

    Raters are pseudonymous; names, e-mail addresses, keys and folders are taken out of rationales, and counted.

    Example: calipers export dataset mystudy --out dataset --license CC-BY-4.0
    """
    from app.dataset_files import write_dataset_of
    from app.whole_folder import whole_folder
    from exports.dataset import MARK

    with working("writing labels") as advance, whole_folder(out, MARK) as folder:
        made = write_dataset_of(study, folder, texts=texts, license=license, advance=advance)
    if as_json:
        print_json({"folder": str(out), "rows": made.rows, "removed": made.removed, "license": license or None})
        return
    counts = ", ".join(f"{count:,} {table}" for table, count in made.rows.items())
    typer.echo(f"Written to {out}: {counts}")
    if made.removed:
        found = ", ".join(f"{count:,} {kind}" for kind, count in sorted(made.removed.items()))
        typer.echo(f"Removed from rationales: {found}")
    if not license:
        typer.echo("No license is stated: choose one before you publish it, with --license.")
