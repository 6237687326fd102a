"""Every plot of a page says in one sentence what it shows, with this study's numbers."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import app.screens.results.plot_words
from app import screens
from app.screens.results.plot_words import of_bias, of_confidence, of_forest, of_frontier, of_plan, of_speed, of_work
from calibration.calibrate import calibrate
from calibration.results import CalibrationReport, CalibrationSettings
from calibration.sizing.study_plan import Design, Goals, Prices, plan_from_assumptions
from exports.plots.forest import forest
from exports.words.plan_words import DEFAULTS
from tests.calibration.priced import EIGHT, priced

PLACE = {"plot": 2, "plot_html": 1}  # of the sentence among the arguments


def name_of(function: ast.expr) -> str:
    """Of a function that is called, with or without its module."""
    return ast.unparse(function).rpartition(".")[2]


def calls() -> list[tuple[str, ast.Call]]:
    """Every plot that a screen draws; `tables_and_figures.py` itself hands on what it is given."""
    found = []
    for file in Path(screens.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and name_of(node.func) in PLACE:
                found += [(file.name, node)] * (file.name != "tables_and_figures.py")
    return found


def test_every_plot_of_a_screen_has_a_sentence_made_of_its_numbers() -> None:
    made = calls()
    assert len(made) == 14
    for file, call in made:
        said = call.args[PLACE[name_of(call.func)]]
        made_by = said.body if isinstance(said, ast.Lambda) else said  # a function may make it of the figure
        made_by = made_by.func if isinstance(made_by, ast.Call) else made_by
        own = hasattr(app.screens.results.plot_words, name_of(made_by))
        assert own, f"{file}:{call.lineno}: a plot without a sentence of its own"


@pytest.fixture(scope="module")
def report() -> CalibrationReport:
    verdicts = priced({name: EIGHT[name] for name in ("small", "mini")}, pairs=40)
    return calibrate(verdicts, CalibrationSettings(resamples=99))


def test_the_frontier_names_the_best_and_the_cheapest_judge_with_their_prices(report: CalibrationReport) -> None:
    said = of_frontier(report)
    assert said.startswith("Of 2 judges with a price mini agrees most, ")
    assert "; the cheapest, small, agrees " in said
    assert said.count("USD per 1,000 items") == 2


def test_the_forest_names_the_last_and_counts_who_reaches_the_people(report: CalibrationReport) -> None:
    said = of_forest(forest(report))
    assert said.startswith("small agrees least with the annotators, ")
    assert re.search(r"; \d of 2 reach what annotators reach among themselves, \.\d+\.$", said)


def test_biases_are_counted_and_what_has_no_numbers_says_nothing(report: CalibrationReport) -> None:
    assert " intervals leave 0 out; the effect furthest from 0 is " in of_bias(report)
    assert (of_confidence(report), of_forest(None)) == ("", "")


def test_one_annotator_is_no_range(report: CalibrationReport) -> None:
    number = next(one for one in report.estimates if one.statistic == "percent_agreement")
    two: list[Any] = [
        SimpleNamespace(rater=name, agreement=number, left=number, minutes=number) for name in ("ada", "bo")
    ]
    assert of_work(two).startswith("Agreement with the others runs from ")
    assert of_work(two[:1]).startswith("Agreement with the others is ")
    assert of_speed(two).startswith("The fastest, ")
    assert of_speed(two[:1]).startswith("ada takes ")
    assert of_work([]) + of_speed([]) == ""


def test_a_plan_says_topics_for_the_interval_wanted() -> None:
    goals = Goals(0.05, 0.05, 0.05, 0.95, 0.8, 1)
    known = {name: DEFAULTS[name] for name in ("agreement", "icc", "correlation", "true_gap")}
    found = plan_from_assumptions(goals, Design(1, 39, 1), Prices(*[float("nan")] * 4), topics=50, **known)
    assert of_plan(found, goals) == "With an ICC of .10, 33 topics bring the interval to ±5 points; 50 give ±4 points."
