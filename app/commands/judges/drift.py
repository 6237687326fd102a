"""Drift: two runs of a judge, or two judges, on the same labels; what changed between them, and by how much."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from app.commands import opening, printing

if TYPE_CHECKING:
    from annotation.judges.reviewing.drift import ComparedRuns, Run
    from calibration.comparing.judge_pairs import AgreementDrift

NOTES = {
    "too_few_units": "fewer than two clusters give no interval",
    "zero_variance": "the same in every cluster: no interval",
}


def drift(
    study: str = printing.ONE,
    before: str = typer.Argument(None, help="A judge, or one of its runs: mini, mini@1. Without it: which there are."),
    after: str = typer.Argument(None, help="The other judge, or the other run: mini@2."),
    common: bool = typer.Option(False, "--common", help="Compare on the labels of what both were asked."),
    as_json: bool = printing.JSON,
) -> None:
    """Whether a judge changed between two runs.

    Or the reports did; with the difference of agreement on the same labels.

    A run is what a judge was asked with the same settings, under the same protocol and answered as the same model.
    No calls are made.

    Example: calipers judge drift mystudy mini@1 mini@2
    """
    from annotation.judges.reviewing.drift import compare_runs, runs_of
    from app.results.reporting import settings_of
    from calibration.comparing.judge_pairs import drift as agreement_drift

    if (before is None) != (after is None):
        raise typer.BadParameter("name two runs, or none to see which there are", param_hint="AFTER")
    with opening.reading(opening.opened()) as session:
        row = opening.find_study(session, study)
        if before is None:
            _show_runs(runs_of(session, row), as_json)
            return
        runs = compare_runs(session, row, before, after, common=common)
        settings = settings_of(opening.protocol_of(row), row.seed)
    measured = agreement_drift(runs.verdicts, before, after, settings)
    changed = _changed(runs)
    if as_json:
        printing.print_json(_as_json(runs, measured, changed))
        return
    typer.echo(f"{before} to {after}: {runs.drift.sentence}")
    typer.echo(in_words(measured))
    if changed:
        printing.print_table(("changed", before, after), [(name, *map(_text, both)) for name, both in changed.items()])


def in_words(measured: AgreementDrift) -> str:
    """One sentence: both agreements, their difference, its interval and counts, and whether it shows a change."""
    change = measured.difference
    if change.n == 0:
        return f"none of {measured.labels:,} labels was answered in both; no agreement can be compared"
    way = "more" if change.value > 0 else "less"
    moved = f"{100 * abs(change.value):.1f} points {way}" if change.value else "no difference"
    interval = f"95 % interval {100 * change.low:+.1f} to {100 * change.high:+.1f}"
    bounds = NOTES[change.note] if change.note else interval
    shown = "; no change is shown" if change.low <= 0 <= change.high else ""
    return (
        f"agreement with the annotators {100 * measured.before:.1f} %, then {100 * measured.after:.1f} %: {moved} "
        f"({bounds}, {change.n:,} of {measured.labels:,} labels, {change.clusters} clusters){shown}"
    )


def _show_runs(runs: Sequence[Run], as_json: bool) -> None:
    if as_json:
        printing.print_json(
            [
                {
                    "run": run.name, **asdict(run.identity), "repeat": run.repeat_no, "texts_stand": run.texts_stand,
                    "calls": len(run.calls), "first": run.first, "last": run.last,
                }
                for run in runs
            ]
        )  # fmt: skip
        return
    printing.print_table(
        ("run", "model", "reported", "prompt", "protocol", "repeat", "calls", "first", "last", "texts"),
        [
            (run.name, run.identity.model, run.identity.snapshot, run.identity.prompt_sha256[:8],
             run.identity.protocol_sha256[:8], run.repeat_no, len(run.calls), f"{run.first:%Y-%m-%d}",
             f"{run.last:%Y-%m-%d}", "as shown now" if run.texts_stand else "replaced since")
            for run in runs
        ],
        numbers=("repeat", "calls"),
    )  # fmt: skip


def _changed(runs: ComparedRuns) -> dict[str, tuple[Any, Any]]:
    """Each field of the identity that differs, with both values; of the parameters only those that do."""
    before, after = asdict(runs.before.identity), asdict(runs.after.identity)
    fields = {name: (before[name], after[name]) for name in runs.drift.changed if name in before}
    if "params" in fields:
        earlier, other = fields.pop("params")
        names = sorted({*earlier, *other})
        fields |= {
            f"params.{name}": (earlier.get(name), other.get(name))
            for name in names
            if earlier.get(name) != other.get(name)
        }
    return fields


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _as_json(runs: ComparedRuns, measured: AgreementDrift, changed: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    numbers = {"before": measured.before, "after": measured.after, **asdict(measured.difference)}
    numbers["difference"] = numbers.pop("value")
    return {
        "before": runs.before.name, "after": runs.after.name, "cause": runs.drift.cause,
        "changed": list(runs.drift.changed), "sentence": runs.drift.sentence,
        "fields": {name: {"before": earlier, "after": other} for name, (earlier, other) in changed.items()},
        "agreement": numbers,
        "labels": measured.labels, "labels_sha256": runs.labels_sha256,
    }  # fmt: skip
