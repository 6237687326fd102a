"""What the labels say: calibration of a study or of a bare labels file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from annotation.errors import AnnotationError
from app.commands import completing, printing, tidying

PLANNED_TOPICS = typer.Option(
    None, min=1, help="Topics meant in the end, said before the first look: each look then spends part of the error."
)
ANY_TIME = typer.Option(
    False, "--any-time", help="Looked at whenever one likes: bounds that hold at every number of topics, from 20 on."
)
LOOKS = typer.Option(
    None, "--looks", min=1, help="Of a labels file: looks so far with this one, evenly spaced, held to one plan."
)
EARLIER_LOOK = typer.Option(
    [], "--earlier-look", help="Of a labels file: the folder of an earlier report on fewer topics of it; repeatable."
)


if TYPE_CHECKING:
    from calibration.results import CalibrationReport
    from exports.pipeline import Decision

GOOD_ENOUGH = "What counts as good enough: part of the plan and its hash"
REQUIRABLE = ("ceiling gap", "order", "length", "self-preference", "repeats")  # calibration.settings.REQUIRABLE
GATE = {"chosen": 0, "none_adequate": 3, "cannot_tell": 4}


def print_schema(asked: bool) -> None:
    """What a program may rely on, before anything is read."""
    if asked:
        from exports.as_json import report_schema

        typer.echo(report_schema(), nl=False)
        raise typer.Exit


def calibrate(
    what: str = printing.WHAT,
    others: list[str] = printing.WITH,
    out: Path = typer.Option(None, help="Folder for the report, its tables and its figures."),
    brief: bool = printing.BRIEF,
    language: str = printing.LANGUAGE,
    protocol: str = printing.PROTOCOL,
    preset: list[str] = printing.PRESET,
    judges: Path = printing.JUDGES,
    resamples: int = typer.Option(9_999, help="Bootstrap resamples.", min=99),
    seed: int = typer.Option(None, help="Seed of the resamples; a study's own where left out."),
    per_criterion: bool = typer.Option(
        None, help="Each criterion by itself; what the protocol says, else yes up to 200,000 rows."
    ),
    gate: bool = typer.Option(
        False, "--gate", help="Exit with what was decided: 0 a judge is adequate, 3 none is, 4 cannot tell."
    ),
    judge: str = typer.Option("", help="Whose card to print; with --gate: decide on this judge alone."),
    family: list[str] = printing.FAMILY,
    cascade: list[str] = printing.CASCADE,
    planned_topics: int = PLANNED_TOPICS,
    any_time: bool = ANY_TIME,
    looks: int = LOOKS,
    earlier_look: list[Path] = EARLIER_LOOK,
    calibration: Path = printing.CALIBRATION,
    margin: float = typer.Option(
        None,
        help="How much less than a left-out annotator a judge may agree, a share: .05 is 5 points.",
        rich_help_panel=GOOD_ENOUGH,
    ),
    at_least: float = typer.Option(
        None,
        help="Instead: the share of labels it must agree in, such as .80. Needs no second annotator.",
        rich_help_panel=GOOD_ENOUGH,
    ),
    at_least_kappa: float = typer.Option(None, help="Instead: the κ it must reach.", rich_help_panel=GOOD_ENOUGH),
    require: list[str] = typer.Option(
        [],
        help=f"What it must also keep, repeatable: {', '.join(REQUIRABLE)}.",
        rich_help_panel=GOOD_ENOUGH,
        autocompletion=completing.among(*REQUIRABLE),
    ),
    ties: str = typer.Option(
        None,
        help="three_class: a tie is an answer like another; half_credit; exclude.",
        rich_help_panel=GOOD_ENOUGH,
        autocompletion=completing.among("three_class", "half_credit", "exclude"),
    ),
    distance: str = typer.Option(
        None,
        help="How scores agree: linear, quadratic, or exact.",
        rich_help_panel=GOOD_ENOUGH,
        autocompletion=completing.among("linear", "quadratic", "exact"),
    ),
    epsilon: float = typer.Option(
        None,
        help="ε of the alternative annotator test: .2 experts, .15 skilled, .1 crowd.",
        rich_help_panel=GOOD_ENOUGH,
    ),
    min_clusters: int = typer.Option(
        None,
        help="Decide with so few topics too, 12 unless said; the test then errs more often.",
        min=2,
        rich_help_panel=GOOD_ENOUGH,
    ),
    level: float = typer.Option(None, help="Level of every interval and test, .95.", rich_help_panel=GOOD_ENOUGH),
    junit: Path = typer.Option(None, help="With --gate: a file of JUnit's XML, a test for each question."),
    summary: Path = typer.Option(
        None, envvar="GITHUB_STEP_SUMMARY", help="Add the answer in Markdown to this file.", show_envvar=True
    ),
    schema: bool = typer.Option(
        False, "--schema", is_eager=True, callback=print_schema, help="Print the JSON Schema of --json and exit."
    ),
    require_cheapest: bool = typer.Option(
        False,
        "--require-cheapest",
        help="With --gate: 4 where an adequate judge may not be the cheapest, its price unknown.",
    ),
    alone_error: float = printing.ALONE_ERROR,
    map_: list[str] = tidying.MAP,
    map_label: list[str] = tidying.MAP_LABEL,
    labels_are: str = tidying.LABELS_ARE,
    people: list[str] = tidying.PEOPLE,
    read: list[str] = tidying.READ,
    layout: str = tidying.LAYOUT,
    mapping: Path = tidying.MAPPING,
    as_json: bool = printing.JSON,
) -> None:
    """The cheapest judge that agrees with people, and the numbers.

    Prints the choice in a sentence, every judge's agreement, and warnings in words.

    Intervals are over whole clusters (topics, or items where none are named). A labels file is taken as looked at
    once: who looks again says so, and says before the first look how many topics are meant in the end. With --gate
    the last line is the decision; 1 and 2 still mean that it broke.

    Example: calipers calibrate labels.csv --out report
    Example: calipers calibrate votes.xlsx --map label=vote
    Example: calipers calibrate labels.csv --gate --judge gpt-mini
    Example: calipers calibrate gold.csv --at-least .80 --gate --junit gate.xml
    Example: calipers calibrate more.csv --earlier-look report --out report-2
    Example: calipers calibrate preference --with quality --with points --preset deepresearchgym --out report
    """
    if (preset or brief or language) and out is None:
        which = "--preset is a table" if preset else "--brief chooses" if brief else "--language adds one"
        raise typer.BadParameter(f"{which} among the files; name their folder with --out")
    if junit and not gate:
        raise typer.BadParameter("--junit tells a decision; add --gate")
    if junit is not None:
        junit.unlink(missing_ok=True)  # an earlier run's decision is not told as this one's where it comes to none
    from app.commands.results.terminal import points_of, print_report
    from app.results import reporting, sources
    from app.results.looks import LooksGiven
    from calibration.calibrate import Waiting
    from calibration.choosing.choice import gate as decided
    from calipers.label_files import settings_chosen
    from exports.words.sentences import judges_met

    given = {
        "margin": margin, "at_least": at_least, "at_least_kappa": at_least_kappa, "require": tuple(require) or None,
        "ties": ties, "distance": distance, "epsilon": epsilon, "level": level, "min_clusters": min_clusters,
        "alone_error": alone_error,
    }  # fmt: skip
    chosen = settings_chosen(calibration, given)
    with printing.working("reading labels, computing intervals") as at_work:
        made = sources.calibrated(
            what, protocol=protocol, judges=judges, resamples=resamples, seed=seed, per_criterion=per_criterion,
            families=reporting.families_of(family), cascades=cascade, chosen=chosen,
            looks=LooksGiven(planned_topics, any_time, looks, tuple(earlier_look)), others=sources.parts_of(others),
            how_read=tidying.options_of(map_, map_label, people, read, labels_are, layout, mapping),
            waiting=Waiting(
                lambda points: at_work.show(*points_of(points)),
                lambda done, of: at_work(done, of, "computing intervals"),
                at_work.say_reading,
            ),
        )  # fmt: skip
        if out is not None:
            from app.results.pack_files import write_report
            from exports.pack import with_kept_plan  # half a second's imports, of figures

            made = replace(made, report=with_kept_plan(made.report, out))
            written = write_report(
                made, out, preset, lambda done, of: at_work(done, of, "drawing figures"), brief=brief, language=language
            )
    report = made.report
    if judge and report.choice is not None:
        decided(report.choice, judge)  # refuses a name that no judge has
    if as_json:
        from exports.as_json import report_json

        printing.echo_json(report_json(report))
    else:
        print_report(report, judge)
        if out is not None:
            typer.echo(f"\nWritten to {out}: {printing.listed(written)}")
    if not judges_met(report):
        raise typer.Exit(1)
    if not gate and summary is None:
        return
    from exports.pipeline import decision_of, job_summary

    decision = decision_of(report, judge, require_cheapest) if gate else None
    if summary is not None:
        with summary.open("a", encoding="utf-8") as file:
            file.write(job_summary(report, decision))
    if gate:
        _decide(report, decision, junit, what, quiet=as_json)


def _decide(report: CalibrationReport, decision: Decision | None, junit: Path | None, what: str, quiet: bool) -> None:
    """The decision as the last line (JSON holds it already), as JUnit's file and as the exit code."""
    from exports.pipeline import junit_xml

    if decision is None:
        raise AnnotationError(
            "nothing_to_gate", "nothing to decide: the gate needs a judge and annotators on criteria that share a scale"
        )
    if junit is not None:
        junit.parent.mkdir(parents=True, exist_ok=True)
        junit.write_text(junit_xml(report, decision, what), encoding="utf-8")
    if not quiet:
        typer.echo(f"\n{decision.sentence}")
    raise typer.Exit(GATE[decision.status])
