"""The tables of topics by one rater's scores.

`category_scores` and `categories`: where systems do better; `difficulty`: with what a topic's difficulty goes along.
"""

import math

import pandas as pd

from calibration.results import CalibrationReport
from calibration.study.bias import EVERYONE
from calibration.systems.category_effects import difficulty_of, effects_of, feature_correlation
from calibration.systems.topic_scores import WINS, TopicScores, scores_by_category
from exports.cells import Cell, Probability, number
from exports.tables import Column, Table, noted_table
from exports.words.notes import origin
from plain.wording import worded

NAMED = 5  # categories in a note; of more, their number


def categories_table(report: CalibrationReport, scores: TopicScores | None = None) -> Table | None:
    """One row per system; None where topics have no categories, or there are fewer topics than these take.

    `scores`: of another rater or another measure than the report's own, which are people's win rates.
    """
    found = report.category_effects if scores is None else effects_of(scores, None, report.settings)
    anovas = {name: anova for name, anova in (found or {}).items() if not math.isnan(anova.p)}
    if not anovas:
        return None
    scored, by = (WINS.name, "people") if scores is None else (scores.measure.name, by_of(scores))
    wins = scores is None or scores.measure.rule == WINS.rule
    columns = (
        Column("system", "System"),
        Column("eta_squared", "η²"),
        Column("omega_squared", "ω²"),
        Column("interval", "Share of variance, interval"),
        Column("null_eta_squared", "η² without any effect", "null"),
        Column("p", "p"),
        Column("categories", "Categories", "k"),
        Column("n", "Topics", "N"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            name, anova.eta_squared, anova.omega_squared, f"[{number(anova.low, 2)}, {number(anova.high, 2)}]",
            anova.null_eta_squared, Probability(anova.p), anova.categories, anova.n,
        )
        for name, anova in anovas.items()
    ]  # fmt: skip
    some = next(iter(anovas.values()))
    small = some.small if len(some.small) <= NAMED else [str(len(some.small))]
    thin = worded(" Categories of fewer than 3 topics: {small}.", small=worded(", ").join(small)) if small else ""
    notes = (
        worded(
            "One-way analysis of variance of a system's {scored} in each topic, by {by}, minus the mean of all "
            "systems in the category; topics are the units, and the clusters.{more}",
            scored=worded(scored),
            by=worded(by),
            more=worded(" A tie is half a win for each.") if wins else "",
        ),
        worded(
            "η²: share of the variance between categories; it is above 0 without any effect. ω² has that taken off "
            "and may be negative. Interval of the share in all topics: {level:g} %, Steiger 2004.{thin}",
            level=100 * some.level,
            thin=thin,
        ),
        "A large p does not show that categories are alike; p is not adjusted for the number of systems.",
        origin(report),
    )
    return Table("categories", "Do systems differ by category of topic", columns, tuple(rows), notes)


DIFFICULTY_COLUMNS = (
    Column("feature", "Feature of the topic"),
    Column("pearson", "Pearson's r", "r"),
    Column("spearman", "Spearman's ρ", "ρ"),
    Column("n", "Topics", "n"),
)


def by_of(scores: TopicScores) -> str:
    """Who gave the scores, in words."""
    return "people" if scores.rater == EVERYONE else scores.rater


def category_scores_table(scores: TopicScores, report: CalibrationReport) -> Table | None:
    """One row per category of topics, its score over all systems compared, then of each; None without categories."""
    found = scores_by_category(scores, report.settings)
    if not found:
        return None
    systems, _ = scores.of()
    columns = (
        Column("category", "Category"),
        Column("topics", "Topics", "N"),
        Column("all", "All systems", "all"),
        *(Column(worded("system: {name}", name=name), name) for name in systems),
    )
    rows: list[tuple[Cell, ...]] = [(name, row[0].clusters, *row) for name, row in found.items()]
    left = [name for name, kept in zip(scores.systems, scores.compared, strict=True) if not kept]
    reading = (
        f"{scores.measure.name}, by {by_of(scores)}: mean over the topics of a category, each counted once; all "
        "systems: on each topic the mean of those that have a value there"
        + (f", without {', '.join(left)}, which stands in every pair." if left else "."),
        "A category of few topics has a wide interval or none; whether categories differ at all is another table's "
        "question (analysis of variance), and no pair of categories is tested here.",
    )
    return noted_table("category_scores", f"{scores.measure.name} by category of topic", columns, rows, reading, report)


def why_no_difficulty(scores: TopicScores, features: pd.DataFrame) -> str:
    """What the table lacks; nothing where it can be made."""
    if features.empty:
        return "no numbers about topics"
    if not features.index.astype(str).isin(list(map(str, scores.topics))).any():
        return f"none of the topics with numbers ({', '.join(map(repr, features.index[:3]))}) is one of the labels'"
    if scores.measure.rule == "win_rate" and scores.compared.all():
        return (
            "no one system stands in every pair as the reference (two systems alone do not say which it is), so that "
            "all of them together win half on every topic"
        )
    return ""


def difficulty_table(scores: TopicScores, report: CalibrationReport, features: pd.DataFrame) -> Table | None:
    """One row for each feature. `features`: numbers, index the topic (`cluster_id`).

    None where `why_no_difficulty` gives a reason. A topic of which a feature is not known is left out of that
    feature's row.
    """
    if why_no_difficulty(scores, features):
        return None
    named, _ = scores.of()
    won = difficulty_of(scores)
    aligned = features.reindex(won.index.astype(str))
    rows: list[tuple[Cell, ...]] = [
        (correlation.feature, correlation.pearson, correlation.spearman, correlation.pearson.n)
        for correlation in feature_correlation(won.to_numpy(), aligned, report.settings)
    ]
    pairs = scores.measure.rule == "win_rate"
    reading = (
        f"Difficulty: mean {scores.measure.name if pairs else f'of {scores.measure.name}'} on a topic, by "
        f"{by_of(scores)}, of all systems{' but a reference that stands in every pair' if pairs else ''} "
        f"({', '.join(named)}){'; a tie is half a win' if pairs else ''}. A coefficient above 0: topics with more of "
        "it are easier.",
        "Each feature by itself, not adjusted for the others or for their number; topics are the units.",
    )
    return noted_table(
        "difficulty", "With what a topic's difficulty goes along", DIFFICULTY_COLUMNS, rows, reading, report
    )
