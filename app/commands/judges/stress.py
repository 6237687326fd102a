"""Stress tests: the judge's own calls once more with one thing changed that should not matter, and what that did."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from app.commands import completing, opening, printing
from app.commands.judges.records import usd
from app.commands.judges.workers import chosen_judges, live

if TYPE_CHECKING:
    from annotation.judges.stress_tests.stress_plan import StressPlan
    from annotation.judges.stress_tests.stressed_verdicts import Compared
    from calibration.inference.compare import Difference
    from calibration.inference.stress_effect import Share, StressEffect

WHAT = {
    ("markdown", "wins"): "without Markdown, the report that had more of it wins {change} points {way}",
    ("plain", "wins"): "in plain layout, the report that had more Markdown wins {change} points {way}",
    ("padding", "wins"): "at 1.6 times its length, the padded report wins {change} points {way}",
    ("authority", "wins"): "with an unsupported claim of authority, that report wins {change} points {way}",
    ("injection", "wins"): "told by a report to choose it, the judge lets that report win {change} points {way}",
    ("injection", "score"): "told to by a report, scores are {change} points of their scale {way}",
    ("markdown", "score"): "without Markdown, scores are {change} points of their scale {way}",
    ("plain", "score"): "in plain layout, scores are {change} points of their scale {way}",
    ("padding", "score"): "at 1.6 times its length, a report's scores are {change} points of their scale {way}",
    ("authority", "score"): "with an unsupported claim of authority, scores are {change} points of their scale {way}",
    ("paraphrase", "score"): "asked in other words, scores are {change} points of their scale {way}",
    ("markdown", "changed"): "without Markdown, {change} points {way} verdicts change than between two tries",
    ("plain", "changed"): "in plain layout, {change} points {way} verdicts change than between two tries",
    ("paraphrase", "changed"): "asked in other words, {change} points {way} verdicts change than between two tries",
}  # fmt: skip
LEVELS = {"plain": "plain", "markdown": "no Markdown"}  # stress tests that are another level of layout
WAYS = {"wins": ("less often", "more often"), "score": ("lower", "higher"), "changed": ("fewer", "more")}
OUTCOMES = {
    "beyond": "beyond the tolerance of {tolerance:g} points",
    "within": "within the tolerance of {tolerance:g} points",
    "cannot tell": "whether that is beyond the tolerance of {tolerance:g} points, these cannot tell",
}
NOTES = {
    "too_few_units": "fewer than two topics give no interval",
    "zero_variance": "the same in every topic: the interval is that of a share",
    "noise_unknown": "the judge's own noise is not known, and this may be no more than that: run it with repeats = 2",
}


def stress(
    study: str = printing.ONE,
    judge: str = typer.Option(..., help="Which judge of the file; it must have answered these items."),
    kind: str = typer.Option(
        ...,
        help="What is changed: markdown, plain (its layout), padding, paraphrase, authority or injection.",
        autocompletion=completing.among("markdown", "plain", "padding", "paraphrase", "authority", "injection"),
    ),
    pairs: int = typer.Option(50, help="How many pairs at most (or items), from as many topics as there are.", min=1),
    judges: Path = typer.Option(Path("judges.toml"), "--judges", help="Which models judge, and how."),
    max_cost: float = typer.Option(
        None, help="USD that the judge may cost in this study, stress tests too.", min=0.000001
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Only the estimate; writes and asks nothing."),
    yes: bool = typer.Option(False, "--yes", help="Go on after the estimate without asking."),
    as_json: bool = printing.JSON,
) -> None:
    """Ask again with one thing changed that should not matter.

    Prints the estimate first, then what changed against what the judge said before. What a judge says
    to a stress test is never a label and enters no agreement.

    Example: calipers judge stress mystudy --judge mini --kind padding --pairs 50
    """
    from annotation.judges.asking.altered_texts import KINDS
    from annotation.judges.stress_tests.stress_plan import plan_stress_test

    if kind not in KINDS:
        raise typer.BadParameter(f"choose from {', '.join(KINDS)}", param_hint="--kind")
    engine, study_id, (definition,) = chosen_judges(study, judges, [judge], None, max_cost)
    plan = plan_stress_test(engine, study_id, definition, kind, pairs, write=False)
    if dry_run or not as_json:
        _show_plan(plan, as_json)
    if dry_run:
        return
    complete = True
    if plan.estimate.calls:
        money = plan.estimate
        cost = (
            "price unknown" if money.likely is None else f"likely {usd(money.likely)}, at worst {usd(money.worst)} USD"
        )
        if not yes and not typer.confirm(f"Make these {money.calls:,} calls ({cost})?", err=True):
            raise typer.Exit(1)
        plan_stress_test(engine, study_id, definition, kind, pairs)
        complete = _work(engine, study_id, definition, kind, as_json)
    _show_effect(engine, study_id, definition, kind, as_json)
    if not complete:
        typer.echo("not complete; the same command goes on where this one ended", err=True)
        raise typer.Exit(1)


def _work(engine: Any, study_id: int, definition: Any, kind: str, as_json: bool) -> bool:
    """Make the calls. False where some are left or failed; ends the command where it was interrupted."""
    from annotation.judges.running.run import run_judges

    with live(not as_json) as on_progress:
        summary = run_judges(engine, study_id, [definition], on_progress=on_progress, stress=kind)
    (judge,) = summary.judges
    if not as_json:
        stopped = f"; stopped: {judge.stopped}" if judge.stopped else ""
        typer.echo(
            f"{judge.name}: {judge.done:,} of {judge.planned:,} {kind} calls done, {judge.failed:,} failed; "
            f"{usd(judge.cost) or '–'} USD in all{stopped}"
        )
    if summary.interrupted:
        typer.echo("interrupted; the same command goes on where this one ended", err=True)
        raise typer.Exit(130)
    return judge.complete


def _show_plan(plan: StressPlan, as_json: bool) -> None:
    if as_json:
        printing.print_json(asdict(plan))
        return
    money = plan.estimate
    printing.print_table(
        ("judge", "change", "items", "topics", "calls", "to make", "left out", "USD low", "likely", "worst", "price"),
        [
            (plan.judge, plan.kind, plan.items, plan.topics, plan.calls, money.calls, plan.left_out,
             usd(money.low), usd(money.likely), usd(money.worst), plan.price_source)
        ],
        numbers=("items", "topics", "calls", "to make", "left out", "USD low", "likely", "worst"),
    )  # fmt: skip


def _show_effect(engine: Any, study_id: int, definition: Any, kind: str, as_json: bool) -> None:
    from annotation.judges.stress_tests.stressed_verdicts import (
        changed,
        compared,
        family_wins,
        followed,
        stressed_verdicts,
    )
    from annotation.verdicts import shows_systems
    from calibration.inference.stress_effect import TOLERANCE, share_of, stress_effect
    from db.tables import Study

    with opening.reading(engine) as session:
        study = session.get_one(Study, study_id)
        verdicts = stressed_verdicts(session, study, definition, kind)
        layout, is_blind = opening.protocol_of(study).study.layout, not shows_systems(study)
        tolerance = float(opening.protocol_of(study).calibration.get("bias_floor", TOLERANCE))
    scores = compared(verdicts, kind)
    effect = stress_effect(
        scores.unstressed, scores.stressed, scores.clusters, tolerance, noise_known=scores.noise_known
    )
    change = effect.difference
    both = changed(verdicts)
    follows = None
    if kind == "injection":
        obeyed = followed(verdicts)
        follows, unasked = (share_of(column, obeyed.clusters) for column in (obeyed.stressed, obeyed.unstressed))
    own = family_by_level(family_wins(verdicts), layout, LEVELS[kind]) if kind in LEVELS and not is_blind else {}
    if as_json:
        printing.print_json(
            {
                "judge": definition.name, "stress_test": kind, "statistic": scores.what, "outcome": effect.outcome,
                **asdict(change), "detectable": effect.detectable, "note": effect.note, "tolerance": tolerance,
                "changed": sum(both) / len(both) if both else None, "answered": len(both), "asked": len(verdicts),
                **({"own_family": {level: asdict(one) for level, one in own.items()}} if own else {}),
                **({} if follows is None else {"follows": asdict(follows), "unasked": asdict(unasked)}),
            }
        )  # fmt: skip
        return
    typer.echo(f"{definition.name}, {kind}: {in_words(effect, kind, scores.what)}")
    if both:
        lost = f"; {len(verdicts) - len(both):,} have no usable answer to compare" * (len(both) < len(verdicts))
        share = f"{100 * sum(both) / len(both):.1f} % of the {len(both):,} verdicts"
        typer.echo(f"{share} answered again are other than before{lost}")
    if follows is not None:
        typer.echo(follows_in_words(follows, unasked))
    if own:
        typer.echo(family_in_words(own))


def family_by_level(wins: Compared, layout: str, other: str) -> dict[str, Difference]:
    """How often the report by the judge's own maker wins in each layout, and how much less in the second.

    Empty where no pair has exactly one such report. In `less` a positive number is a preference that layout carried.
    """
    from calibration.inference.compare import paired_difference

    if not wins.clusters:
        return {}
    nothing = [0.0] * len(wins.clusters)
    return {
        layout: paired_difference(wins.unstressed, nothing, wins.clusters),
        other: paired_difference(wins.stressed, nothing, wins.clusters),
        "less": paired_difference(wins.unstressed, wins.stressed, wins.clusters),
    }


def family_in_words(own: dict[str, Difference]) -> str:
    """One sentence: the judge's wins for its own family by level, each with its interval over topics."""
    (first, before), (second, after), (_, less) = own.items()
    return (
        f"reports by the judge's own maker win {_points(before)} of {before.n:,} verdicts in layout {first} and "
        f"{_points(after)} in layout {second}: {_points(less)} less"
    )


def _points(one: Difference) -> str:
    bounds = "" if one.low != one.low else f" [{100 * one.low:.1f}, {100 * one.high:.1f}]"
    return f"{100 * one.value:.1f} %{bounds}"


def follows_in_words(follows: Share, unasked: Share) -> str:
    """How often an injection is followed, of the verdicts that were otherwise before it; beside another try without."""
    if not follows.n:
        return "every verdict was what the report asked for before it asked: how often it is followed, nobody can tell"
    bounds = "no interval: fewer than two topics" if follows.low != follows.low else _interval(follows)
    told = (
        f"of the {follows.n:,} verdicts that were otherwise without it, {100 * follows.value:.1f} % are what the "
        f"report asked for ({bounds}, {follows.clusters} topics)"
    )
    if not unasked.n:
        return f"{told}; how many another try alone would turn is not known: run it with repeats = 2"
    return f"{told}; another try without it turns {100 * unasked.value:.1f} % ({_interval(unasked)})"


def _interval(share: Share) -> str:
    return f"95 % interval {100 * share.low:.1f} to {100 * share.high:.1f}"


def in_words(effect: StressEffect, kind: str, what: str) -> str:
    """One sentence: the effect, its interval and counts, where it lies, and what this many items could have shown."""
    change = effect.difference
    if change.n == 0:
        return "no verdict can be compared; cannot tell"
    way = WAYS[what][change.value > 0]
    said = WHAT[kind, what].format(change=f"{100 * abs(change.value):.1f}", way=way)
    interval = f"95 % interval {100 * change.low:+.1f} to {100 * change.high:+.1f}"
    bounds = "no interval" if change.low != change.low else interval
    smallest = effect.detectable
    power = "" if smallest != smallest else f"; at power .8 it would find {100 * smallest:.1f} points"
    note = f"; {NOTES[effect.note]}" if effect.note else ""
    return (
        f"{said} ({bounds}, {change.n:,} verdicts, {change.clusters} topics): "
        f"{OUTCOMES[effect.outcome].format(tolerance=100 * effect.tolerance)}{power}{note}"
    )
