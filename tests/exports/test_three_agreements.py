"""Three statistics are called pairwise agreement in papers. Here each has its own name, and every export says which."""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from calibration.agreement.catalogue import METRICS
from calibration.arithmetic.correlation import rank_agreement_across_items, rank_agreement_within_topic
from calibration.arithmetic.metrics import percent_agreement
from calibration.calibrate import calibrate
from calibration.results import CalibrationReport, CalibrationSettings, Estimate
from calibration.study.distance import is_by_distance
from exports.pack import FIGURES, tables_of
from exports.plots.forest import forest
from exports.presets import preset_table
from exports.tables import Table
from exports.words.methods import methods_paragraph
from exports.words.notes import TIE_RULES
from tests.calibration.studies import made_pairs, made_ratings
from tests.exports.toy_studies import gym_study, race_study, wlc_study

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = {
    "percent_agreement": "label agreement",
    "rank_agreement_across_items": "rank agreement across items",
    "rank_agreement_within_topic": "rank agreement within a topic",
}
TOLD = (*TIE_RULES.values(), "these labels know no tie", "a tie on either side is disagreement")


def settings(ties: str = "three_class") -> CalibrationSettings:
    return CalibrationSettings(resamples=99, ties=ties, per_criterion=True)


@cache
def pairs_report(ties: str = "three_class") -> CalibrationReport:
    return calibrate(made_pairs(), settings(ties))


def family_of(cell: object) -> str:
    named = cell.statistic if isinstance(cell, Estimate) else ""
    return next((family for family in FAMILIES if named.startswith(family) and "missing" not in named), "")


def says(text: str, family: str) -> bool:
    """Whether a reader learns which of the three it is, and what became of ties."""
    plain = text.replace("\\", "").lower()
    return FAMILIES[family] in plain and any(rule.lower() in plain for rule in TOLD)


def test_they_are_three_functions_that_tell_the_same_scores_apart() -> None:
    judge, people, topics = [1, 2, 2, 4], [1, 3, 2, 2], ["t", "t", "u", "u"]
    assert percent_agreement(judge, people) == 2 / 4  # two labels of four are equal
    # of the six pairs of reports, both put three in the same order and one in opposite ones; each ties in one more
    assert rank_agreement_across_items(judge, people) == 3 / 6
    assert rank_agreement_across_items(judge, people, ties="exclude") == 3 / 4
    assert rank_agreement_within_topic(judge, people, topics) == 1 / 2
    assert len({metric.function for metric in METRICS if metric.name in FAMILIES}) == 3


def test_no_function_is_called_pairwise_agreement() -> None:
    for folder in ("annotation", "app", "calibration", "db", "exports"):
        for file in (ROOT / folder).rglob("*.py"):
            assert not re.search(r"\b(?:def|class) \w*pairwise_agreement", file.read_text("utf-8")), file


@pytest.mark.parametrize("function", [percent_agreement, rank_agreement_across_items, rank_agreement_within_topic])
def test_each_takes_its_tie_rule_and_says_it(function: object) -> None:
    assert "ties" in inspect.signature(function).parameters  # type: ignore[arg-type]
    assert "tie" in (inspect.getdoc(function) or "")


def tables(verdicts: pd.DataFrame, report: CalibrationReport, *presets: str) -> list[Table]:
    return [*tables_of(report, verdicts), *(preset_table(name, verdicts, report) for name in presets)]


@pytest.mark.parametrize(
    ("verdicts", "ties", "presets"),
    [
        *((made_pairs(), rule, ()) for rule in TIE_RULES),
        (made_ratings(), "three_class", ("dr3_eval",)),
        (wlc_study(), "three_class", ("wlc",)),
        (gym_study(), "three_class", ("deepresearchgym",)),
        (race_study(), "three_class", ("race",)),
    ],
)
def test_every_table_and_figure_says_which_it_prints_and_what_it_did_with_ties(
    verdicts: pd.DataFrame, ties: str, presets: tuple[str, ...]
) -> None:
    report = calibrate(verdicts, settings(ties))
    shown = [
        (table.name, " ".join(table.notes), {family_of(cell) for row in table.rows for cell in row})
        for table in tables(verdicts, report, *presets)
    ]
    shown += [
        (figure.name, figure.caption, {family_of(one) for one in figure.drawn})
        for draw in FIGURES.values()
        if (figure := draw(report)) is not None
    ]
    found = [(name, text, family) for name, text, families in shown for family in families if family]
    assert found
    for name, text, family in found:
        assert says(text, family), f"{name} prints {family} and does not say so: {text}"


@pytest.mark.parametrize("ties", TIE_RULES)
def test_columns_of_data_carry_the_name_that_holds_the_rule(ties: str) -> None:
    report = pairs_report(ties)
    statistic = {"three_class": "", "half_credit": "_half_credit", "exclude": "_exclude_ties"}[ties]
    for table in tables_of(report, made_pairs()):
        if table.name in ("agreement", "criteria", "annotators", "judges"):
            assert f"percent_agreement{statistic}" in {column.key for column in table.columns}, table.name


def test_on_scores_no_two_columns_or_panels_of_one_name_hold_different_rules() -> None:
    report = calibrate(made_ratings(), settings())
    held: dict[str, set[bool]] = {}
    for table in tables_of(report, made_ratings()):
        for row in table.rows:
            for column, cell in zip(table.columns, row, strict=True):
                if family_of(cell) == "percent_agreement" or column.key.startswith(("percent_agreement", "baseline")):
                    near = is_by_distance(cell.statistic) if isinstance(cell, Estimate) else table.name == "judges"
                    for name in (column.key, column.title, column.symbol):
                        held.setdefault(name, set()).add(near)
    assert {name for name, rules in held.items() if rules == {True}} == {
        "percent_agreement_linear", "Agreement by distance", "baseline_by_distance",
        "Best constant answer, by distance", "AD", "base-d",
    }  # fmt: skip
    assert {"percent_agreement", "Equal scores", "baseline"} <= held.keys()
    assert all(len(rules) == 1 for rules in held.values()), held
    words = methods_paragraph(report, None).markdown
    ceiling = words[words.index("The ceiling") :].partition(" is .")[0]
    assert "linear distance" in ceiling
    assert "not in equal scores" in ceiling


@pytest.mark.parametrize("ties", TIE_RULES)
def test_the_methods_paragraph_says_it_too(ties: str) -> None:
    report = pairs_report(ties)
    assert says(methods_paragraph(report, None).markdown, "percent_agreement")


def test_a_table_that_said_nothing_would_be_found() -> None:
    drawn = forest(pairs_report())
    assert drawn is not None
    assert not says("Agreement of each judge with the annotators.", "percent_agreement")
    assert says(drawn.caption, "percent_agreement")
