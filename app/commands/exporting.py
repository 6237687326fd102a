"""Labels, reports, datasets and bundles as files."""

from __future__ import annotations

from pathlib import Path

import typer

from app.commands.export_dataset import export_dataset
from app.commands.printing import (
    CASCADE,
    FAMILY,
    JSON,
    JUDGES,
    PRESET,
    PROTOCOL,
    WHAT,
    WHICH,
    listed,
    print_json,
    working,
)  # fmt: skip


def add_to(app: typer.Typer) -> None:
    """Register this file's commands."""
    exports = typer.Typer(help="Write labels, reports, datasets and bundles to files.", no_args_is_help=True)
    exports.command("labels")(export_labels)
    exports.command("report")(export_report)
    exports.command("dataset")(export_dataset)
    exports.command("bundle")(export_bundle)
    app.add_typer(exports, name="export")


def export_labels(
    study: str = WHICH,
    out: Path = typer.Option(None, help="The file to write, labels.csv where left out; for other forms a folder."),
    form: str = typer.Option("csv", "--format", help="csv, or another tool's: label_studio, …; unknown: lists all."),
    texts: bool = typer.Option(False, "--texts", help="For the other tools: with the texts that were shown."),
    judges: Path = JUDGES,
    as_json: bool = JSON,
) -> None:
    """Write labels.csv, or another tool's own form.

    labels.csv is unblinded and pseudonymous: the public exchange format.

    What another tool cannot hold is printed, and listed in NOT-HELD.md beside the files.

    Example: calipers export labels mystudy --out labels.csv
    Example: calipers export labels mystudy --format label_studio --out for-label-studio
    """
    from annotation.studies import find_study
    from annotation.verdicts import write_labels_csv
    from app.commands.database import opened
    from app.label_exports import TOOLS, labels_of, tool_files
    from app.whole_file import whole_file
    from app.whole_folder import whole_folder
    from db.connect import reading

    if form != "csv" and form not in TOOLS:
        raise typer.BadParameter(f"--format {form}: choose one of csv, {', '.join(TOOLS)}")
    if form == "csv" and texts:
        raise typer.BadParameter("--texts is for other tools; labels.csv names texts by item")
    with working("reading labels") as advance:
        with reading(opened()) as session:
            found = find_study(session, study)
            labels = labels_of(session, found, judges)
            made = None if form == "csv" else tool_files(session, found, labels, form, texts=texts)
        out = out or Path("labels.csv" if form == "csv" else form)
        if made is None:
            with whole_file(out) as file:
                write_labels_csv(labels, file, lambda done, of: advance(done, of, "writing labels"))
        else:
            with whole_folder(out, "NOT-HELD.md") as folder:
                for name, pieces in made.pieces.items():
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    with (folder / name).open("w", encoding="utf-8") as file:
                        file.writelines(pieces())
    if as_json:
        print_json({"file": str(out), "labels": len(labels), "not_held": [*made.not_held] if made else []})
        return
    typer.echo(f"{len(labels):,} labels written to {out}")
    for line in made.not_held if made else ():
        typer.echo(f"not held: {line}")


def export_report(
    what: str = WHAT,
    out: Path = typer.Option(..., help="Folder for the report, its tables and its figures."),
    protocol: str = PROTOCOL,
    preset: list[str] = PRESET,
    judges: Path = JUDGES,
    family: list[str] = FAMILY,
    cascade: list[str] = CASCADE,
    as_json: bool = JSON,
) -> None:
    """Write a paper's tables, figures and methods paragraph.

    Tables come as LaTeX, Markdown, CSV and JSON, figures as PDF, SVG and PNG, beside calibration-report.json.

    Example: calipers export report mystudy --out report
    """
    from app.report_files import with_kept_plan, write_report
    from app.reporting import calibrated, families_of

    with working("reading labels, computing intervals") as advance:
        made = calibrated(what, protocol=protocol, judges=judges, families=families_of(family), cascades=cascade)
        found = with_kept_plan(made, out)
        written = write_report(found, out, preset, lambda done, of: advance(done, of, "drawing figures"))
    if as_json:
        print_json({"folder": str(out), "files": sorted(path.name for path in written)})
        return
    typer.echo(f"Written to {out}: {listed(written)}")


def export_bundle(
    what: str = WHAT,
    out: Path = typer.Option(..., help="A new folder, or one that holds an earlier bundle."),
    protocol: str = PROTOCOL,
    preset: list[str] = PRESET,
    judges: Path = JUDGES,
    family: list[str] = FAMILY,
    cascade: list[str] = CASCADE,
    as_json: bool = JSON,
) -> None:
    """Write all that anybody needs to compute every number again.

    Labels, settings, tables, figures and code.

    Prints the root hash to publish beside the bundle; `calipers verify FOLDER --root HASH` holds it against that.

    Example: calipers export bundle mystudy --out bundle
    """
    from app.bundling import write_bundle_of
    from app.reporting import calibrated, families_of
    from app.whole_folder import whole_folder
    from exports.bundle import ABOUT

    with working("reading labels, computing intervals") as advance:
        found = calibrated(
            what, protocol=protocol, judges=judges, families=families_of(family), cascades=cascade, to_publish=True
        )
        with whole_folder(out, ABOUT) as folder:
            root = write_bundle_of(found, folder, preset, advance)
    if as_json:
        print_json({"folder": str(out), "root": root, "plan_root": found.report.data.get("plan_root")})
        return
    typer.echo(f"Written to {out}\nroot {root}\nPublish the root apart from the bundle; then a changed one is refused.")
