"""How large a study must be, what it costs, and why more criteria do not replace topics."""

from __future__ import annotations

import math
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from annotation.errors import AnnotationError
from app.commands import opening, printing, tidying

if TYPE_CHECKING:
    import pandas as pd

    from calibration.results import CalibrationSettings
    from calibration.sizing.pilot import Pilot
    from calibration.sizing.study_plan import Planned, StudyPlan

ASSUMED = "Assumptions, where there is no pilot"
GOALS = "What the study is to show"
PRICES = "Prices; a pilot brings its own"


def plan(
    pilot: str = typer.Argument("", help="A study's name, or a labels file; left out: plan from assumptions."),
    protocol: str = typer.Option("", help="For a bare labels file: a shipped protocol's name, or a .toml file."),
    judge: str = typer.Option("", help="Which judge of the pilot; left out: the one that varies most."),
    other: str = typer.Option("", help="The judge to tell it from; left out: the one whose difference varies most."),
    half_width: float = typer.Option(0.05, help="Half-width of the interval of agreement.", rich_help_panel=GOALS),
    margin: float = typer.Option(
        None, help="Margin of non-inferiority, a share; the protocol's, else .05.", rich_help_panel=GOALS
    ),
    difference: float = typer.Option(0.05, help="Difference of two judges to be found.", rich_help_panel=GOALS),
    power: float = typer.Option(0.8, help="Probability of success that is wanted.", rich_help_panel=GOALS),
    level: float = typer.Option(None, help="Level; the protocol's, else .95.", rich_help_panel=GOALS),
    tried: int = typer.Option(
        None,
        help="Judges tried (Holm over all of them); left out: those of the pilot, its claim at its own step of "
        "Holm, else 1.",
        min=1,
        rich_help_panel=GOALS,
    ),
    looks: int = typer.Option(
        1,
        help="Looks at the results, evenly spaced: each spends part of the error.",
        min=1,
        max=50,
        rich_help_panel=GOALS,
    ),
    any_time: bool = typer.Option(
        False, "--any-time", help="Or looks whenever one likes, from 20 topics on.", rich_help_panel=GOALS
    ),
    topics: int = typer.Option(None, help="Also: what so many topics would give.", rich_help_panel=GOALS),
    agreement: float = typer.Option(None, help="Of a judge with people: .8.", rich_help_panel=ASSUMED),
    icc: float = typer.Option(None, help="How alike labels of one topic are: .1.", rich_help_panel=ASSUMED),
    criteria: int = typer.Option(None, help="Criteria of a pair: 39.", min=1, rich_help_panel=ASSUMED),
    annotators: int = typer.Option(None, help="Annotators of each pair: 1.", min=1, rich_help_panel=ASSUMED),
    pairs_per_topic: int = typer.Option(None, help="Pairs of a topic: 1.", min=1, rich_help_panel=ASSUMED),
    correlation: float = typer.Option(
        None, help="Of two raters' topic means: 0, the cautious one.", rich_help_panel=ASSUMED
    ),
    true_gap: float = typer.Option(None, help="How much worse the judge truly is: 0.", rich_help_panel=ASSUMED),
    minutes_per_pair: float = typer.Option(
        math.nan, help="Of one annotator.", show_default=False, rich_help_panel=PRICES
    ),
    rate: float = typer.Option(math.nan, help="USD per annotator's hour.", show_default=False, rich_help_panel=PRICES),
    judge_cost: float = typer.Option(
        math.nan, help="USD per pair and judge.", show_default=False, rich_help_panel=PRICES
    ),
    people: list[str] = tidying.PEOPLE,
    as_json: bool = printing.JSON,
) -> None:
    """How many topics to label, from a pilot or from assumptions.

    For an interval, for a claim of non-inferiority, or to tell two judges apart; with hours and costs.

    Example: calipers plan --icc .1 --agreement .8 --criteria 39
    """
    given = {
        name: value
        for name, value in (
            ("agreement", agreement), ("icc", icc), ("criteria", criteria), ("annotators", annotators),
            ("pairs_per_topic", pairs_per_topic), ("correlation", correlation), ("true_gap", true_gap),
        )
        if value is not None
    }  # fmt: skip
    with printing.working("simulating studies"):
        from calibration.results import CalibrationSettings
        from calibration.sizing.study_plan import Goals, Prices, plan_from_numbers, plan_from_pilot
        from exports.words.plan_words import DEFAULTS

        prices = Prices(minutes_per_pair, rate, judge_cost, judge_cost)
        seen, settings = _piloted(pilot, given, protocol, judge, other, ",".join(people))
        chosen = settings or CalibrationSettings()
        goals = Goals(
            half_width,
            chosen.margin if margin is None else margin,
            difference,
            chosen.level if level is None else level,
            power,
            tried or 0,
            looks,
            any_time,
        )
        planned = (
            plan_from_pilot(seen, goals, prices, topics) if seen
            else plan_from_numbers(goals, DEFAULTS | given, prices, topics)
        )  # fmt: skip
    if as_json:
        printing.print_json(_plain(planned, DEFAULTS | given))
    else:
        _say(planned, DEFAULTS | given)


def _piloted(
    what: str, given: dict[str, float], protocol: str, judge: str, other: str, people: str
) -> tuple[Pilot | None, CalibrationSettings | None]:
    from calibration.sizing.pilot import pilot_of
    from calipers.label_files import every_column_asked

    if not what:
        pilots = {"protocol": protocol, "judge": judge, "other": other, "people": people}
        named = next((name for name, value in pilots.items() if value), "")
        if named:
            raise AnnotationError("bad_option", f"--{named} is for a pilot; name a study or a labels file")
        return None, None
    if given:
        option = next(iter(given)).replace("_", "-")
        raise AnnotationError(
            "bad_option", f"--{option} is an assumption, and a pilot brings its own; give one or other"
        )
    verdicts, settings = _verdicts(what, protocol, people)
    with every_column_asked(Path(what)):
        return pilot_of(verdicts, settings, judge, other), settings


def _verdicts(what: str, protocol: str, people: str) -> tuple[pd.DataFrame, CalibrationSettings]:
    from annotation.people.principals import study_for
    from annotation.protocol import read_protocol
    from annotation.studies import no_work_yet
    from annotation.verdicts import load_verdicts
    from app.results.reporting import settings_of
    from app.results.sources import no_labels_file
    from calipers.tidy_files import holds_labels, labels_of

    if holds_labels(what):
        how = tidying.options_of((), (), (people,), ())
        return labels_of(Path(what), how)[0], settings_of(read_protocol(protocol)[0] if protocol else None)
    if protocol:
        raise AnnotationError("bad_option", "--protocol is for a labels file; a study brings its own protocol")
    with no_labels_file(what), opening.reading(opening.opened()) as session:
        named = opening.find_study(session, what)
        study = study_for(session, opening.local_admin(named), "evaluator")
        verdicts = load_verdicts(session, study)
        if verdicts.empty:
            raise no_work_yet(session, named)
        return verdicts, settings_of(opening.protocol_of(study), study.seed)


def _say(planned: StudyPlan, assumed: dict[str, float]) -> None:
    from exports.words import plan_words as words

    typer.echo(words.rests_on(planned, assumed) + "\n")
    numbers = ("topics", "safe", "pairs", "hours", "people", "judge", "gives")
    printing.print_table(("to show", *numbers), [_row(aim) for aim in planned.aims], numbers=numbers)
    typer.echo("Gap: of the judge to a left-out annotator. People and judge: USD. Gives: half-width, or power.")
    typer.echo(f"Safe: {words.safe_words(planned)}.")
    for aim in planned.aims:
        if aim.why:
            typer.echo(f"{words.aim_words(aim)}: no number of topics, {aim.why}.")
        elif not math.isnan(aim.simulated):
            topics = f"{aim.needed.clusters:,} topics"
            shown = (
                f"{words.aim_words(aim)}: shown in {words.percent(aim.simulated)} of studies simulated with {topics}"
            )
            formula = aim.formula or aim.needed.clusters
            less = f" ({formula:,} by the formula alone, by which calibrate goes)"
            typer.echo(f"{shown}{less * (formula != aim.needed.clusters)}.")
    typer.echo("")
    if planned.at:
        at = planned.at
        typer.echo(
            f"{at.topics:,} topics give agreement ±{words.rounded(at.half_width, 3)}, power {words.percent(at.power)} "
            f"for the gap and {words.percent(at.power_apart)} to tell the judges apart.\n"
        )
    if rows := words.drawn_rows(planned):
        printing.print_table(words.DRAWN_HEADS, rows, numbers=words.DRAWN_HEADS[1:])
        typer.echo(f"{words.DRAWN_NOTE}\n")
    if not planned.rows:
        typer.echo("What more criteria would give is unknown: the pilot's ICC is not estimable.")
        return
    typer.echo("Half-width of agreement, by labels of a topic (pairs x criteria x annotators) and topics")
    columns = [f"{count:,} topics" for count in planned.topics]
    printing.print_table(
        ("labels of a topic", "worth", *columns),
        [
            ("any number" if math.isinf(row.labels_per_pair) else f"{row.labels_per_pair:,.4g}",
             words.rounded(row.effective_labels, 1), *(f"±{words.rounded(width, 3)}" for width in row.half_widths))
            for row in planned.rows
        ],
        numbers=("worth", *columns),
    )  # fmt: skip
    typer.echo(words.why_topics(planned))


def _row(aim: Planned) -> tuple[object, ...]:
    from exports.words import plan_words as words

    cost = aim.cost
    if cost is None or aim.needed.clusters is None:
        return (words.aim_words(aim), *[None] * 7)
    digits = 0 if cost.judges >= 10 else 2  # .03 is not free
    money = words.rounded(cost.annotators, 0), words.rounded(cost.judges, digits)
    return (
        words.aim_words(aim), f"{aim.needed.clusters:,}", None if aim.cautious is None else f"{aim.cautious:,}",
        f"{cost.pairs:,}", words.rounded(cost.hours, 1), *money, words.gives(aim),
    )  # fmt: skip


def _plain(planned: StudyPlan, assumed: dict[str, float]) -> dict[str, Any]:
    """Return the plan as plain values for JSON; of a pilot's spreads mean, sd and note."""
    from exports.as_json import plain

    pilot = planned.pilot and {field.name: getattr(planned.pilot, field.name) for field in fields(planned.pilot)}
    if pilot and planned.pilot:
        del pilot["rule"], pilot["gaps"]
        pilot["step"] = planned.pilot.step(planned.aims[1].target)
    for name in ("scores", "gap", "difference"):
        if pilot:
            spread = pilot[name]
            pilot[name] = {"mean": spread.mean, "sd": spread.sd, "clusters": spread.pilot, "note": spread.note}
    for name in ("agreement", "icc", "seconds_per_pair", "pay_per_pair", "cost_per_pair", "other_cost_per_pair"):
        if pilot and pilot[name] is not None:
            pilot[name] = plain(pilot[name])
    return {
        "pilot": pilot,
        "assumed": None if pilot else assumed,
        "aims": [asdict(aim) for aim in planned.aims],
        "topics": list(planned.topics),
        "labels_of_a_topic": [asdict(row) for row in planned.rows],
        "at": asdict(planned.at) if planned.at else None,
    }
