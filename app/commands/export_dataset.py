"""A study as a dataset that others can load: labels, what was read, a data card."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from app.commands.printing import JSON, WHICH, print_json, working

if TYPE_CHECKING:
    from app.dataset_files import MadeDataset

STANDINGS = {
    "current": "current labels",
    "earlier": "earlier revisions",
    "apart": "of work that no statistic counts",
    "void": "of work taken out",
}


def export_dataset(
    study: str = WHICH,
    out: Path = typer.Option(..., help="A new folder, or one that holds an earlier dataset."),
    texts: bool = typer.Option(False, "--texts", help="With the texts that were shown, not only their sha256."),
    with_void: bool = typer.Option(
        False, "--with-void", help="With work taken out by people --void: for an archive only."
    ),
    license: str = typer.Option("", help="SPDX id, such as CC-BY-4.0; without it the card says: not stated."),
    as_json: bool = JSON,
) -> None:
    """Write every label as a dataset to publish, with a data card.

    Every revision, as CSV, JSON Lines and Parquet, with Croissant metadata. Work that `calipers people --void` took
    out is left out, rationales included.

    Raters are pseudonymous; names, e-mail addresses, keys and folders are taken out of rationales, and counted.

    Example: calipers export dataset mystudy --out dataset --license CC-BY-4.0
    """
    from app.dataset_files import write_dataset_of
    from app.whole_folder import whole_folder
    from exports.dataset import MARK

    with working("writing labels") as advance, whole_folder(out, MARK) as folder:
        made = write_dataset_of(study, folder, texts=texts, with_void=with_void, license=license, advance=advance)
    if as_json:
        told = {"rows": made.rows, "labels": made.labels, "void_left_out": made.void_left_out, "removed": made.removed}
        print_json({"folder": str(out), **told, "license": license or None})
        return
    typer.echo(f"Written to {out}: {_counts(made)}")
    if made.void_left_out:
        typer.echo(f"Left out: {_rows(made.void_left_out)} of work that was taken out (people --void)")
    if made.labels.get("void"):
        typer.echo("With work that was taken out: keep this copy for yourself, and publish one without --with-void.")
    if made.removed:
        found = ", ".join(f"{count:,} {kind}" for kind, count in sorted(made.removed.items()))
        typer.echo(f"Removed from rationales: {found}")
    if not license:
        typer.echo("No license is stated: choose one before you publish it, with --license.")


def _counts(made: MadeDataset) -> str:
    """Rows by table; what the rows of labels are, since most may be no label that counts."""
    labels = ", ".join(f"{made.labels[one]:,} {words}" for one, words in STANDINGS.items() if made.labels.get(one))
    others = ", ".join(f"{count:,} {table}" for table, count in made.rows.items() if table != "labels")
    return f"{_rows(made.rows['labels'])} of labels ({labels}), {others}"


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"
