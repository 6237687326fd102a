"""Topics and systems: which topics are hard and why, and how two systems compare topic by topic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from annotation.errors import AnnotationError
from app.commands import opening, printing

if TYPE_CHECKING:
    import pandas as pd

    from exports.tables import Table

RESAMPLES = typer.Option(9_999, help="Bootstrap resamples.", min=99)


def systems(
    what: str = printing.WHAT,
    others: list[str] = printing.WITH,
    pair: list[str] = typer.Option([], help="SYSTEM=OTHER, repeatable; left out: every two systems."),
    criterion: list[str] = typer.Option(
        [], help="A criterion, or an aggregate of claims, repeatable; left out: the mean of ratings, each aggregate."
    ),
    protocol: str = printing.PROTOCOL,
    resamples: int = RESAMPLES,
    as_json: bool = printing.JSON,
) -> None:
    """How two systems' scores differ, by people and by each judge.

    Each pair with its mean difference, Wilcoxon's test and the rank correlation over topics, for ratings of reports and
    for aggregates of claims about them.
    A labels file names each report's system in the column system_a.

    Example: calipers systems labels.csv --pair GPTResearcher=GPTResearcher_custom --criterion clarity
    Example: calipers systems points --pair GPTResearcher=GPTResearcher_custom --criterion KPR
    """
    from app.results import sources
    from app.results.topic_tables import systems_compared
    from calibration.errors import CalibrationError

    pairs = [_pair(text) for text in pair]
    with printing.working("comparing systems over topics"):
        made = sources.calibrated(
            what, protocol=protocol, resamples=resamples, per_criterion=False, only=(), others=sources.parts_of(others)
        )
        table = systems_compared(made, pairs, criterion, each=bool(others))
    if table is None:
        raise CalibrationError(
            "one_system", f"{what} names fewer than two systems; name each report's in the column system_a"
        )
    _print(table, as_json)


def topics(
    what: str = printing.WHAT,
    others: list[str] = printing.WITH,
    by: str = typer.Option("", "--by", help="A judge, whose labels the tables rest on; left out: people."),
    measure: str = typer.Option("", help="Which aggregate or score is a topic's; left out: the first that is there."),
    features: Path = typer.Option(
        None, help="CSV with a column `topic` and numbers; a study's own topic columns where left out."
    ),
    leakage: float = typer.Option(
        None,
        min=0,
        max=1,
        help="Leave out topics of which a report quotes its reference in more than this share of its words, .1 say.",
    ),
    cutoff: str = typer.Option(
        "",
        help="Instead of these: cited sources from after this day (2025-04-22), or after that in this topics' column.",
    ),
    dates: Path = typer.Option(None, help="With --cutoff: CSV with columns `url`, `date` of what no address says."),
    references: Path = typer.Option(
        None, help="Instead of these: what reports cite against this folder of lists of works, a file for each topic."
    ),
    protocol: str = printing.PROTOCOL,
    resamples: int = RESAMPLES,
    as_json: bool = printing.JSON,
) -> None:
    """Which topics are hard, and what goes along with it.

    Prints scores by category of topic, whether systems differ by category (ANOVA), and what a topic's difficulty goes
    along with; with --json one object after another.

    Difficulty is the mean score of all systems but a reference on that topic, by people or by one judge: a win rate of
    pairs, a mean of ratings, or one of the protocol's aggregates of claims.

    Example: calipers topics mystudy
    Example: calipers topics mystudy --by gemini-2.5-pro
    Example: calipers topics preference --with quality --by gpt-4.1-mini --measure clarity
    Example: calipers topics labels.csv --features topics.csv --json
    Example: calipers topics wlc --by gemini-2.5-pro --leakage .1
    Example: calipers topics rb --cutoff update_date --dates sources.csv
    Example: calipers topics rb --references ReportBench/ReportBench_v1.1_GT
    """
    from annotation.leaks.reference_leakage import RUN
    from app.results import sources
    from app.results.topic_tables import later_sources, leaks_in, reference_lists, topic_tables, without_leaks
    from calibration.errors import CalibrationError
    from calipers import tidy_files
    from exports.sheets.leakage import leakage_table

    if cutoff:
        later = later_sources(what, cutoff, _with_columns(dates, "url", "date"), every=as_json)
        if later is None:
            raise AnnotationError("no_sources", f"no report of {what} names an address")
        _print(later, as_json)
        return
    if references is not None:
        with printing.working("comparing references"):
            listed = reference_lists(what, references)
        if listed is not None:
            _print(listed, as_json)
        return

    if leakage is not None and tidy_files.holds_labels(what):
        raise AnnotationError("bad_option", "--leakage is for a study: a labels file holds no text of a report")
    leaks = leaks_in(what) if leakage is not None else []
    try:
        with printing.working("comparing topics"):
            made = sources.calibrated(
                what, protocol=protocol, resamples=resamples, per_criterion=False, only=(),
                others=sources.parts_of(others),
            )  # fmt: skip
            made = without_leaks(made, leaks, leakage) if leakage is not None else made
            known = _features(what, features)
            found, lacking = topic_tables(made, by, measure, known, what)
        if not found:
            raise AnnotationError(
                "no_features", f"{what} has no categories of topics, and no difficulty: {lacking}; pass numbers "
                "about topics with --features FILE.csv, or a study of pairs with a reference",
            )  # fmt: skip
    except (AnnotationError, CalibrationError) as error:
        if not leaks or by or measure:
            raise
        found, lacking = [], ""
        typer.echo(f"of labels no table: {error}", err=True)
    if lacking and (features is not None or not known.empty):
        typer.echo(f"no table difficulty: {lacking}", err=True)
    quoting = leakage_table(leaks, leakage, RUN) if leakage is not None else None
    for table in [quoting, *found] if quoting is not None else found:
        _print(table, as_json)


def _pair(text: str) -> tuple[str, str]:
    first, sign, other = (part.strip() for part in text.partition("="))
    if not sign or not first or not other:
        raise typer.BadParameter(f"{text!r} names no two systems; write SYSTEM=OTHER", param_hint="--pair")
    return first, other


def _features(what: str, file: Path | None) -> pd.DataFrame:
    """Numbers by topic: from the file, else from the study; empty for a labels file alone."""
    import pandas as pd

    from annotation.facts.topic_facts import by_cluster, numbers_of, topic_features
    from calipers import tidy_files

    numbers = pd.DataFrame()
    if file is not None:
        given = _with_columns(file, "topic")
        if given["topic"].duplicated().any():
            twice = given["topic"][given["topic"].duplicated()].iloc[0]
            raise AnnotationError("bad_file", f"{file}: topic {twice!r} appears twice; keep one row a topic")
        numbers = numbers_of(given.set_index("topic"))
        others = [str(name) for name in given if name != "topic" and name not in numbers]
        if others:
            typer.echo(f"columns left out, not a number in every row: {', '.join(others)}", err=True)
    if tidy_files.holds_labels(what):
        return numbers
    with opening.reading(opening.opened()) as session:
        study = opening.find_study(session, what)
        return topic_features(session, study) if file is None else by_cluster(session, study, numbers)


def _with_columns(file: Path | None, *needed: str) -> pd.DataFrame:
    """A table that has these columns; without a row where no file is named."""
    import pandas as pd

    from calipers import label_files

    if file is None:
        return pd.DataFrame(columns=list(needed))
    given = label_files.read_labels(file)
    if absent := [name for name in needed if name not in given]:
        found = ", ".join(map(str, given))
        raise AnnotationError("bad_file", f"{file}: no column {absent[0]!r} (found: {found}); give it that name")
    return given


def _print(table: Table, as_json: bool) -> None:
    from app.commands.results.terminal import print_one
    from exports.as_json import as_json as json_of

    if as_json:
        printing.echo_json(json_of(table))
    else:
        print_one(table)
