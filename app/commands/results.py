"""What the labels say: calibration of a study or of a bare labels file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from app.commands.printing import CASCADE, FAMILY, JSON, JUDGES, PRESET, PROTOCOL, WHAT, echo_json, listed, working

if TYPE_CHECKING:
    from calibration.results import CalibrationReport

GATE = {"chosen": 0, "none_adequate": 3, "cannot_tell": 4}


def add_to(app: typer.Typer) -> None:
    """Register this file's command."""
    app.command("calibrate")(calibrate)


def calibrate(
    what: str = WHAT,
    out: Path = typer.Option(None, help="Folder for the report, its tables and its figures."),
    protocol: str = PROTOCOL,
    preset: list[str] = PRESET,
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
    """The cheapest judge that agrees with people, and the numbers.

    Prints the choice in a sentence, every judge's agreement, and warnings in words.

    Intervals are over whole groups of labels (clusters). With --gate the last line is the decision; 1 and 2 still mean
    that it broke.

    Example: calipers calibrate labels.csv --out report
    Example: calipers calibrate labels.csv --gate --judge gpt-mini
    """
    if preset and out is None:
        raise typer.BadParameter("--preset is a table among the files; name their folder with --out")
    from app.commands.terminal import print_report
    from app.report_files import with_kept_plan, write_report
    from app.reporting import calibrated, families_of
    from calibration.choosing.choice import gate as decided
    from exports.as_json import report_json
    from exports.words.sentences import compared

    with working("reading labels, computing intervals") as advance:
        found = calibrated(
            what, protocol=protocol, judges=judges, resamples=resamples, seed=seed, per_criterion=per_criterion,
            families=families_of(family), cascades=cascade,
        )  # fmt: skip
        if out is not None:
            found = with_kept_plan(found, out)
            written = write_report(found, out, preset, lambda done, of: advance(done, of, "drawing figures"))
    report = found.report
    if judge and report.choice is not None:
        decided(report.choice, judge)  # refuses a name that no judge has
    if as_json:
        echo_json(report_json(report))
    else:
        print_report(report, judge)
        if out is not None:
            typer.echo(f"\nWritten to {out}: {listed(written)}")
    if not compared(report):
        raise typer.Exit(1)
    if gate:
        _decide(report, judge, quiet=as_json)


def _decide(report: CalibrationReport, judge: str, quiet: bool) -> None:
    """The decision as the last line (JSON holds it already) and as the exit code."""
    from annotation.errors import AnnotationError
    from calibration.choosing.choice import gate
    from calibration.choosing.choice_words import sentence_about

    if report.choice is None or not report.choice.candidates:
        raise AnnotationError(
            "nothing_to_gate", "nothing to decide: the gate needs a judge and annotators on criteria that share a scale"
        )
    status = gate(report.choice, judge)
    named = next((one for one in report.choice.candidates if one.judge == judge), None)
    if not quiet:
        typer.echo(f"\n{sentence_about(named, report.choice.plan) if named else report.choice.sentence}")
    raise typer.Exit(GATE[status])
