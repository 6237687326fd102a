"""What the labels say: calibration of a study or a bare labels file, and exports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from app.commands.printing import JSON, working

if TYPE_CHECKING:
    from calibration.results import CalibrationReport

PANEL = "Results"
GATE = {"chosen": 0, "none_adequate": 3, "cannot_tell": 4}
CASCADE = typer.Option(
    [], help="'CHEAP then DEAR' or 'CHEAP then a person', repeatable: CHEAP decides where its two orders agree."
)
FAMILY = typer.Option([], help="NAME=FAMILY of a judge or system, repeatable: shows whether a judge favours its own.")
JUDGES = typer.Option(None, "--judges", help="A judges.toml: its panels take part as raters of their own.")


def add_to(app: typer.Typer) -> None:
    """Register this file's commands."""
    app.command("calibrate", rich_help_panel=PANEL)(calibrate)
    exports = typer.Typer(help="Write labels or a report to files.", no_args_is_help=True)
    exports.command("labels")(export_labels)
    exports.command("report")(export_report)
    app.add_typer(exports, name="export", rich_help_panel=PANEL)


def calibrate(
    what: str = typer.Argument(..., help="A study's name, or a labels file (CSV, JSON Lines, Parquet)."),
    out: Path = typer.Option(None, help="Folder for the report, its tables and its figures."),
    protocol: str = typer.Option("", help="For a bare labels file: a shipped protocol's name, or a .toml file."),
    judges: Path = JUDGES,
    resamples: int = typer.Option(9_999, help="Bootstrap resamples.", min=99),
    seed: int = typer.Option(None, help="Seed of the resamples; a study's own where left out."),
    per_criterion: bool = typer.Option(
        None, help="Each criterion by itself; what the protocol says, else yes up to 200,000 rows."
    ),
    gate: bool = typer.Option(
        False, "--gate", help="Exit with what was decided: 0 a judge is adequate, 3 none is, 4 cannot tell."
    ),
    judge: str = typer.Option("", help="Whose card to print; with --gate: decide on this judge alone."),
    family: list[str] = FAMILY,
    cascade: list[str] = CASCADE,
    as_json: bool = JSON,
) -> None:
    """The cheapest judge that agrees with the annotators, every judge's agreement, and warnings in words.

    Intervals are over whole clusters. With --gate the last line is the decision; 1 and 2 still mean that it broke.

    Example: calipers calibrate labels.csv --out report
    Example: calipers calibrate labels.csv --gate --judge gpt-mini
    """
    from app.commands.terminal import print_report
    from app.report_files import with_kept_plan, write_report
    from app.reporting import families_of, report_of
    from calibration.choice import gate as decided
    from exports.as_json import report_json
    from exports.sentences import compared

    with working("resampling clusters") as advance:
        report = report_of(
            what, protocol=protocol, judges=judges, resamples=resamples, seed=seed, per_criterion=per_criterion,
            families=families_of(family), cascades=cascade,
        )  # fmt: skip
        if out is not None:
            report = with_kept_plan(report, out)
            written = write_report(report, out, lambda done, of: advance(done, of, "drawing figures"))
    if judge and report.choice is not None:
        decided(report.choice, judge)  # refuses a name that no judge has
    if as_json:
        typer.echo(report_json(report), nl=False)
    else:
        print_report(report, judge)
        if out is not None:
            typer.echo(f"\nWritten to {out}: {_listed(written)}")
    if not compared(report):
        raise typer.Exit(1)
    if gate:
        _decide(report, judge, quiet=as_json)


def _decide(report: CalibrationReport, judge: str, quiet: bool) -> None:
    """The decision as the last line (JSON holds it already) and as the exit code."""
    from annotation.errors import AnnotationError
    from calibration.choice import gate
    from calibration.choice_words import sentence_about

    if report.choice is None or not report.choice.candidates:
        raise AnnotationError(
            "nothing_to_gate", "nothing to decide: the gate needs a judge and annotators on criteria that share a scale"
        )
    status = gate(report.choice, judge)
    named = next((one for one in report.choice.candidates if one.judge == judge), None)
    if not quiet:
        typer.echo(f"\n{sentence_about(named, report.choice.plan) if named else report.choice.sentence}")
    raise typer.Exit(GATE[status])


def _listed(written: Sequence[Path]) -> str:
    """`calibration-report.json, agreement criteria (.tex .md), …`: names that have the same forms stand together."""
    stems: dict[str, list[str]] = {}
    for path in written:
        stems.setdefault(path.suffix, []).append(path.stem)
    alone = [f"{name}{suffix}" for suffix, name in ((".json", "calibration-report"), (".md", "captions"))]
    groups: dict[tuple[str, ...], list[str]] = {}
    for suffix, names in stems.items():
        kept = tuple(sorted(name for name in names if f"{name}{suffix}" not in alone))
        groups.setdefault(kept, []).append(suffix)
    return "; ".join([*alone, *(f"{' '.join(names)} ({' '.join(forms)})" for names, forms in groups.items() if names)])


def export_labels(
    study: str = typer.Argument(None, help="Which study; may be left out while there is one."),
    out: Path = typer.Option(Path("labels.csv"), help="The file to write."),
    judges: Path = JUDGES,
) -> None:
    """Write labels.csv, unblinded and pseudonymous: the public exchange format.

    Example: calipers export labels mystudy --out labels.csv
    """
    from annotation.judges.judge_file import read_judge_file
    from annotation.studies import find_study, protocol_of
    from annotation.verdicts import labels_csv, load_verdicts, require_revealed
    from app.commands.database import opened
    from app.panels import with_panels
    from app.reporting import settings_of
    from db.connect import reading

    with reading(opened()) as session:
        found = find_study(session, study)
        require_revealed(found)
        verdicts = load_verdicts(session, found)
        if judges is not None:
            protocol = protocol_of(found)
            panels, chosen = read_judge_file(judges, protocol).panels, settings_of(protocol, found.seed)
            verdicts, _ = with_panels(verdicts, panels, chosen, allow_tie=protocol.answers.allow_tie)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(labels_csv(verdicts), encoding="utf-8")
    typer.echo(f"{len(verdicts):,} labels written to {out}")


def export_report(
    what: str = typer.Argument(..., help="A study's name, or a labels file (CSV, JSON Lines, Parquet)."),
    out: Path = typer.Option(..., help="Folder for the report, its tables and its figures."),
    protocol: str = typer.Option("", help="For a bare labels file: a shipped protocol's name, or a .toml file."),
    judges: Path = JUDGES,
    family: list[str] = FAMILY,
    cascade: list[str] = CASCADE,
) -> None:
    """Write the calibration report, its tables (LaTeX, Markdown, CSV, JSON) and its figures (PDF, SVG, PNG).

    Example: calipers export report mystudy --out report
    """
    from app.report_files import with_kept_plan, write_report
    from app.reporting import families_of, report_of

    with working("resampling clusters") as advance:
        made = report_of(what, protocol=protocol, judges=judges, families=families_of(family), cascades=cascade)
        report = with_kept_plan(made, out)
        written = write_report(report, out, lambda done, of: advance(done, of, "drawing figures"))
    typer.echo(f"Written to {out}: {_listed(written)}")
