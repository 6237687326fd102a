"""Topics and systems: which topics are hard and why, and how two systems compare topic by topic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from app.commands.printing import JSON, PROTOCOL, WHAT, echo_json, working

if TYPE_CHECKING:
    import pandas as pd

    from exports.tables import Table

RESAMPLES = typer.Option(9_999, help="Bootstrap resamples.", min=99)


def add_to(app: typer.Typer) -> None:
    """Register this file's commands."""
    app.command("systems")(systems)
    app.command("topics")(topics)


def systems(
    what: str = WHAT,
    pair: list[str] = typer.Option([], help="SYSTEM=OTHER, repeatable; left out: every two systems."),
    criterion: list[str] = typer.Option([], help="A criterion, repeatable; left out: their mean, `all`."),
    protocol: str = PROTOCOL,
    resamples: int = RESAMPLES,
    as_json: bool = JSON,
) -> None:
    """How two systems' scores differ, by people and by each judge.

    Each pair with its mean difference, Wilcoxon's test and the rank correlation over topics, for ratings of reports.
    A labels file names each report's system in the column system_a.

    Example: calipers systems labels.csv --pair gpt-researcher=gpt-researcher_custom --criterion clarity
    """
    from app.reporting import calibrated
    from calibration.errors import CalibrationError
    from calibration.systems.system_differences import system_differences
    from exports.sheets.system_differences import differences_table

    pairs = [_pair(text) for text in pair]
    with working("comparing systems over topics"):
        found = calibrated(what, protocol=protocol, resamples=resamples, per_criterion=False)
        compared = [
            one
            for name in dict.fromkeys(criterion or ["all"])
            for one in system_differences(found.verdicts, found.report.settings, pairs, name)
        ]
    table = differences_table(compared, found.report)
    if table is None:
        raise CalibrationError(
            "one_system", f"{what} names fewer than two systems; name each report's in the column system_a"
        )
    _print(table, as_json)


def topics(
    what: str = WHAT,
    features: Path = typer.Option(
        None, help="CSV with a column `topic` and numbers; a study's own topic columns where left out."
    ),
    protocol: str = PROTOCOL,
    resamples: int = RESAMPLES,
    as_json: bool = JSON,
) -> None:
    """Which topics are hard, and what goes along with it.

    Prints win rates by category of topic, and with what a topic's difficulty goes along.

    Difficulty is the mean win rate of all systems but a reference on that topic, by people; for pairs of reports.

    Example: calipers topics mystudy
    Example: calipers topics labels.csv --features topics.csv --json
    """
    from app.reporting import calibrated
    from exports.sheets.categories import categories_table
    from exports.sheets.difficulty import difficulty_table, why_no_difficulty

    with working("comparing topics"):
        found = calibrated(what, protocol=protocol, resamples=resamples, per_criterion=False)
        known = _features(what, features)
        made = [categories_table(found.report), difficulty_table(found.verdicts, found.report, known)]
        lacking = why_no_difficulty(found.verdicts, found.report, known)
    tables = [table for table in made if table is not None]
    if not tables:
        from annotation.errors import AnnotationError

        raise AnnotationError(
            "no_features", f"{what} has no pairs with categories of topics, and no difficulty: {lacking}; pass numbers "
            "about topics with --features FILE.csv, or a study of pairs with a reference",
        )  # fmt: skip
    if lacking and (features is not None or not known.empty):
        typer.echo(f"no table difficulty: {lacking}", err=True)
    for table in tables:
        _print(table, as_json)


def _pair(text: str) -> tuple[str, str]:
    one, sign, other = (part.strip() for part in text.partition("="))
    if not sign or not one or not other:
        raise typer.BadParameter(f"{text!r} names no two systems; write SYSTEM=OTHER", param_hint="--pair")
    return one, other


def _features(what: str, file: Path | None) -> pd.DataFrame:
    """Numbers by topic: from the file, else from the study; empty for a labels file alone."""
    import pandas as pd

    from annotation.errors import AnnotationError
    from annotation.facts.topic_features import numbers_of, topic_features
    from annotation.studies import find_study
    from app.commands.database import opened
    from app.label_files import FILE_SUFFIXES, read_labels
    from db.connect import reading

    if file is not None:
        given = read_labels(file)
        if "topic" not in given:
            raise AnnotationError(
                "bad_file",
                f"{file}: no column 'topic' (found: {', '.join(map(str, given))}); give it that name",
            )
        if given["topic"].duplicated().any():
            twice = given["topic"][given["topic"].duplicated()].iloc[0]
            raise AnnotationError("bad_file", f"{file}: topic {twice!r} appears twice; keep one row a topic")
        numbers = numbers_of(given.set_index("topic"))
        others = [str(name) for name in given if name != "topic" and name not in numbers]
        if others:
            typer.echo(f"columns left out, not a number in every row: {', '.join(others)}", err=True)
        return numbers
    if Path(what).suffix in FILE_SUFFIXES or Path(what).is_file():
        return pd.DataFrame()
    with reading(opened()) as session:
        return topic_features(session, find_study(session, what))


def _print(table: Table, as_json: bool) -> None:
    from app.commands.terminal import print_one
    from exports.as_json import as_json as json_of

    if as_json:
        echo_json(json_of(table))
    else:
        print_one(table)
