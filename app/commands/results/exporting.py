"""Labels, reports, datasets and bundles as files, and the check of a bundle."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from annotation.errors import AnnotationError, ImportingError
from app.commands import opening, printing, tidying
from plain.counting import counted

if TYPE_CHECKING:
    from app.results.export_files import MadeDataset


def export_labels(
    study: str = printing.WHICH,
    out: Path = typer.Option(None, help="The file to write, labels.csv where left out; for other forms a folder."),
    form: str = typer.Option("csv", "--format", help="csv, or another tool's: label_studio, …; unknown: lists all."),
    texts: bool = typer.Option(False, "--texts", help="For the other tools: with the texts that were shown."),
    judges: Path = printing.JUDGES,
    as_json: bool = printing.JSON,
) -> None:
    """Write labels.csv, or another tool's own form.

    labels.csv is unblinded and pseudonymous: the public exchange format.

    What another tool cannot hold is printed, and listed in NOT-HELD.md beside the files.

    Example: calipers export labels mystudy --out labels.csv
    Example: calipers export labels mystudy --format label_studio --out for-label-studio
    """
    from annotation.verdicts import write_labels_csv
    from app.files.whole_files import whole_file, whole_folder
    from app.results.export_files import TOOLS, labels_of, tool_files

    if form != "csv" and form not in TOOLS:
        raise typer.BadParameter(f"--format {form}: choose one of csv, {', '.join(TOOLS)}")
    if form == "csv" and texts:
        raise typer.BadParameter("--texts is for other tools; labels.csv names texts by item")
    with printing.working("reading labels") as advance:
        with opening.reading(opening.opened()) as session:
            row = opening.find_study(session, study)
            labels = labels_of(session, row, judges)
            made = None if form == "csv" else tool_files(session, row, labels, form, texts=texts)
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
        printing.print_json({"file": str(out), "labels": len(labels), "not_held": [*made.not_held] if made else []})
        return
    typer.echo(f"{len(labels):,} labels written to {out}")
    for line in made.not_held if made else ():
        typer.echo(f"not held: {line}")


def export_report(
    what: str = printing.WHAT,
    others: list[str] = printing.WITH,
    out: Path = typer.Option(..., help="Folder for the report, its tables and its figures."),
    brief: bool = printing.BRIEF,
    language: str = printing.LANGUAGE,
    protocol: str = printing.PROTOCOL,
    preset: list[str] = printing.PRESET,
    judges: Path = printing.JUDGES,
    family: list[str] = printing.FAMILY,
    cascade: list[str] = printing.CASCADE,
    calibration: Path = printing.CALIBRATION,
    alone_error: float = printing.ALONE_ERROR,
    as_json: bool = printing.JSON,
) -> None:
    """Write a paper's tables, figures and methods paragraph.

    Tables come as LaTeX, Markdown, CSV and JSON, figures as PDF, SVG and PNG, beside calibration-report.json.

    Example: calipers export report mystudy --out report
    """
    from app.results import reporting, sources
    from app.results.pack_files import write_report
    from calipers.label_files import settings_chosen
    from exports.pack import with_kept_plan

    with printing.working("reading labels, computing intervals") as advance:
        made = sources.calibrated(
            what, protocol=protocol, judges=judges, families=reporting.families_of(family), cascades=cascade,
            chosen=settings_chosen(calibration, {"alone_error": alone_error}), others=sources.parts_of(others),
        )  # fmt: skip
        planned = replace(made, report=with_kept_plan(made.report, out))
        written = write_report(
            planned, out, preset, lambda done, of: advance(done, of, "drawing figures"), brief=brief, language=language
        )
    if as_json:
        printing.print_json({"folder": str(out), "files": sorted(path.name for path in written)})
        return
    typer.echo(f"Written to {out}: {printing.listed(written)}")


def export_bundle(
    what: str = printing.WHAT,
    out: Path = typer.Option(..., help="A new folder, or one that holds an earlier bundle."),
    language: str = printing.LANGUAGE,
    protocol: str = printing.PROTOCOL,
    preset: list[str] = printing.PRESET,
    judges: Path = printing.JUDGES,
    family: list[str] = printing.FAMILY,
    cascade: list[str] = printing.CASCADE,
    calibration: Path = printing.CALIBRATION,
    alone_error: float = printing.ALONE_ERROR,
    as_json: bool = printing.JSON,
) -> None:
    """Write all that anybody needs to compute every number again.

    Labels, settings, tables, figures and code.

    Prints the root hash to publish beside the bundle; `calipers verify FOLDER --root HASH` holds it against that.

    Example: calipers export bundle mystudy --out bundle
    """
    from app.files.whole_files import whole_folder
    from app.results import reporting, sources
    from app.results.export_files import write_bundle_of
    from calipers.label_files import settings_chosen
    from exports.bundles.bundle import ABOUT

    with printing.working("reading labels, computing intervals") as advance:
        made = sources.calibrated(
            what, protocol=protocol, judges=judges, families=reporting.families_of(family), cascades=cascade,
            chosen=settings_chosen(calibration, {"alone_error": alone_error}), to_publish=True,
        )  # fmt: skip
        with whole_folder(out, ABOUT) as folder:
            root = write_bundle_of(made, folder, preset, advance, language=language)
    if as_json:
        printing.print_json({"folder": str(out), "root": root, "plan_root": made.report.plan_root or None})
        return
    typer.echo(f"Written to {out}\nroot {root}\nPublish the root apart from the bundle; then a changed one is refused.")


def export_items(
    what: str = printing.WHAT,
    judge: str = typer.Option(..., help="Whose answers decide the other items."),
    out: Path = typer.Option(Path("people-items.csv"), help="The CSV file to write."),
    error: float = typer.Option(
        None,
        help="The share of its labels that may be wrong, such as .1; the protocol's where left out.",
        min=0.001,
        max=0.999,
    ),
    labelled: bool = typer.Option(False, "--labelled", help="Also the items that a person has labelled already."),
    protocol: str = printing.PROTOCOL,
    judges: Path = printing.JUDGES,
    calibration: Path = printing.CALIBRATION,
    people: list[str] = tidying.PEOPLE,
    as_json: bool = printing.JSON,
) -> None:
    """Write the items that a judge may not decide alone.

    The surest items, as many as the judge is shown to decide with at most this error, are left to it.

    The others go to people: a list of pairs for calipers pairs STUDY --design FILE, the least sure with the highest
    priority. It says nothing of anybody's answers.

    Example: calipers export people-items mystudy --judge mini --error .1 --out items.csv
    """
    from annotation.verdicts import write_labels_csv
    from app.files.whole_files import whole_file
    from app.results.export_files import people_items
    from calipers.label_files import settings_chosen
    from exports.words.sentences import alone_words

    chosen = settings_chosen(calibration, {"alone_error": error})
    with printing.working("reading labels, testing thresholds"):
        alone, items, left_out = people_items(what, judge, chosen, protocol, judges, labelled, people)
        with whole_file(out) as file:
            write_labels_csv(items, file)
    if as_json:
        share = alone.decided.share.value if alone.decided else 0.0
        printing.print_json(
            {"file": str(out), "items": len(items), "labelled": left_out, "decided_share": share,
             "reason": alone.reason}
        )  # fmt: skip
        return
    printing.echo(alone_words(alone))
    typer.echo(f"{counted(len(items), 'item')} for people written to {out}")
    if left_out:
        typer.echo(f"left out: {counted(left_out, 'item')} that a person has labelled; --labelled lists them too")
    if len(items) and (items["system_b"] != "").all():
        typer.echo(f"next: calipers pairs STUDY --design {out} --overlap 1 --apply")


STANDINGS = {
    "current": "current labels",
    "earlier": "earlier revisions",
    "apart": "of work that no statistic counts",
    "void": "of work taken out",
}


def export_dataset(
    study: str = printing.WHICH,
    out: Path = typer.Option(..., help="A new folder, or one that holds an earlier dataset."),
    texts: bool = typer.Option(False, "--texts", help="With the texts that were shown, not only their sha256."),
    with_void: bool = typer.Option(
        False, "--with-void", help="With work taken out by people --void: for an archive only."
    ),
    license: str = typer.Option("", help="SPDX id, such as CC-BY-4.0; without it the card says: not stated."),
    as_json: bool = printing.JSON,
) -> None:
    """Write every label as a dataset to publish, with a data card.

    Every revision, as CSV, JSON Lines and Parquet, with Croissant metadata. Work that `calipers people --void` took
    out is left out, rationales included.

    Raters are pseudonymous; names, e-mail addresses, keys and folders are taken out of rationales, and counted.

    Example: calipers export dataset mystudy --out dataset --license CC-BY-4.0
    """
    from app.files.whole_files import whole_folder
    from app.results.export_files import write_dataset_of
    from exports.datasets.dataset import MARK

    with printing.working("writing labels") as advance, whole_folder(out, MARK) as folder:
        made = write_dataset_of(study, folder, texts=texts, with_void=with_void, license=license, advance=advance)
    if as_json:
        told = {"rows": made.rows, "labels": made.labels, "void_left_out": made.void_left_out, "removed": made.removed}
        printing.print_json({"folder": str(out), **told, "license": license or None})
        return
    typer.echo(f"Written to {out}: {_counts(made)}")
    if made.void_left_out:
        typer.echo(f"Left out: {_rows(made.void_left_out)} of work that was taken out (people --void)")
    if made.labels.get("void"):
        typer.echo("With work that was taken out: keep this copy for yourself, and publish one without --with-void.")
    if made.removed:
        counts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(made.removed.items()))
        typer.echo(f"Removed from rationales: {counts}")
    if not license:
        typer.echo("No license is stated: choose one before you publish it, with --license.")


def _counts(made: MadeDataset) -> str:
    """Rows by table; what the rows of labels are, since most may be no label that counts."""
    labels = ", ".join(
        f"{made.labels[standing]:,} {words}" for standing, words in STANDINGS.items() if made.labels.get(standing)
    )
    others = ", ".join(f"{count:,} {table}" for table, count in made.rows.items() if table != "labels")
    return f"{_rows(made.rows['labels'])} of labels ({labels}), {others}"


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def verify(
    bundle: Path = typer.Argument(..., help="The folder of a bundle, or a .zip of it."),
    root: str = typer.Option(None, help="The root that was published: 64 hexadecimal digits."),
    as_json: bool = printing.JSON,
) -> None:
    """Which files of a bundle changed, and which numbers hold.

    Runs nothing that the bundle brought. Exit 1 if anything changed.

    Example: calipers verify bundle --root 9f2c…
    """
    from exports.bundles.verifying import describe
    from exports.bundles.verifying import verify as verified

    if root is not None and not re.fullmatch(r"\s*[0-9a-fA-F]{64}\s*", root):
        raise typer.BadParameter(f"--root {root[:80]!r}: a root has 64 hexadecimal digits")
    with _opened(bundle) as folder, printing.progress_bar("verifying") as advance:
        steps = iter(range(1, 4))
        checked = verified(folder, root or "", lambda doing: advance(next(steps), 3))
    if as_json:
        printing.print_json(asdict(checked) | {"holds": checked.holds, "verdict": [*describe(checked)][-1]})
    else:
        typer.echo("\n".join(describe(checked)))
    if not checked.holds:
        raise typer.Exit(1)


@contextmanager
def _opened(bundle: Path) -> Iterator[Path]:
    """The bundle's folder; a .zip is unpacked for as long as it is looked at."""
    from annotation.files.archives import unpack
    from exports.bundles.bundle import SUMS

    if bundle.is_dir():
        yield bundle
        return
    if not bundle.exists():
        raise AnnotationError("no_bundle", f"{bundle}: no such file or folder; give a bundle's folder or a .zip of it")
    with tempfile.TemporaryDirectory() as made:
        try:
            unpack(bundle, Path(made))
        except ImportingError as error:
            raise AnnotationError(
                "no_bundle", f"{bundle}: no bundle ({error}); give its folder or a .zip of it"
            ) from None
        inside = [path.parent for path in Path(made).glob(f"**/{SUMS}")]
        if not inside:
            raise AnnotationError(
                "no_bundle", f"{bundle}: no {SUMS} in it; give the folder of a bundle or a .zip of it"
            )
        yield min(inside, key=lambda path: len(path.parts))
