"""What the evaluator's pages are made of: order of rows, addresses of labels, sentences, plots as they are embedded."""

from __future__ import annotations

import base64
import math
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.screens import report_page
from app.screens.results.bias import sentence as bias_sentence
from app.screens.results.choice import facts_html
from app.screens.results.reliability import cells_table
from app.screens.results.reliability import sentence as map_sentence
from app.screens.results.tables_and_figures import behind, in_columns, in_order, labels_address, plot_html, table_html
from app.screens.study.planner import aims_html, sentence, worth_html
from calibration.agreement.reliability_map import Cell, ReliabilityMap
from calibration.calibrate import calibrate
from calibration.choosing.choose import cheapest_adequate_judge
from calibration.results import CalibrationSettings, Estimate, ReportWarning
from calibration.sizing.study_plan import Design, Goals, Prices, plan_from_assumptions
from exports.answer import CARD, Answer
from exports.figures import as_bytes
from exports.plots.forest import forest
from exports.sheets.agreement import criteria_table
from exports.sheets.passing import confusion_table, label_rates_table, pass_rates_table
from exports.tables import Column, Table
from exports.words.plan_words import why_topics
from plain.wording import speaking
from tests.calibration.passing.passed import made_answers
from tests.calibration.priced import EIGHT, priced
from tests.exports.toy import toy_report

cells = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=False), st.integers(-9, 9))
words = st.text("abC", max_size=3)


def table_of(values: list[Any]) -> Table:
    return Table("t", "T", (Column("name", "Name"), Column("value", "Value")), tuple((f"r{n}", v) for n, v in enumerate(values)), ())  # fmt: skip


@given(st.one_of(st.lists(cells), st.lists(words)), st.booleans())
def test_sorting_keeps_every_row_leaves_equal_ones_as_they_were_and_the_unknown_last(
    values: list[Any], falling: bool
) -> None:
    found = in_order(table_of(values), 1, falling=falling).rows
    assert sorted(found, key=lambda row: str(row[0])) == sorted(table_of(values).rows, key=lambda row: str(row[0]))
    unknown = [value is None or value == "" or (isinstance(value, float) and math.isnan(value)) for _, value in found]
    assert unknown == sorted(unknown)
    known = [value.casefold() if isinstance(value, str) else value for _, value in found][: unknown.count(False)]
    assert known == sorted(known, reverse=falling)
    for one, other in pairwise(found):
        if one[1] == other[1]:
            assert int(str(one[0])[1:]) < int(str(other[0])[1:])


def test_columns_with_a_place_stand_there_and_the_others_between_them_with_their_cells() -> None:
    columns = tuple(Column(key, key.upper()) for key in ("judge", "p", "gap", "outcome", "cost"))
    table = Table("t", "T", columns, (("mini", 0.1, 0.2, "chosen", 3.0),), ())
    found = in_columns(table, ("judge", "outcome"), ("p", "unknown"))
    assert [one.key for one in found.columns] == ["judge", "outcome", "gap", "cost", "p"]
    assert found.rows == (("mini", "chosen", 0.2, 3.0, 0.1),)


def test_what_a_card_cannot_tell_is_said_on_the_first_page_in_every_language() -> None:
    rows = (("agreement", "within", 0.8, "-"), ("order", "cannot tell", 0.0, "-"), ("answers", "beyond", 0.9, "-"))
    said = Answer("", "", Table("card", "", CARD, rows, ()), None, ())
    for language, told in (
        ("en", {"Beyond its limits": "answers", "Cannot tell": "order", "Within its limits": "agreement"}),
        ("zh_CN", {"超出限值": "可用回答", "尚不能判定": "顺序", "在限值之内": "一致性"}),
    ):
        with speaking(language):
            assert dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", facts_html(said))) == told


@pytest.mark.parametrize(
    ("filters", "address"),
    [
        ({}, "disagreements"),
        ({"judge": "mini"}, "disagreements?judge=mini"),
        ({"judge": "a&b=c d", "criterion": "all", "category": ""}, "disagreements?judge=a%26b%3Dc+d"),
        ({"judge": "m", "category": "Kunst & Maß"}, "disagreements?judge=m&category=Kunst+%26+Ma%C3%9F"),
    ],
)
def test_an_address_names_what_narrows_the_labels_and_nothing_else(filters: dict[str, str], address: str) -> None:
    assert labels_address(**filters) == address


@pytest.mark.parametrize(
    ("changes", "address"),
    [
        ({}, "disagreements?judge=mini"),
        ({"rater": "mini [both orders]"}, ""),  # made of two answers, which stand there one by one
        ({"reference": "maxi [both orders]"}, ""),
        ({"rater": "trio [panel]"}, ""),
        ({"reference": "maxi"}, ""),  # two judges, of which that page shows one
        ({"category": "confidence: 3 of 3"}, ""),
        ({"statistic": "precision", "category": "label: correct"}, ""),  # no category of topics
        ({"statistic": "cost_per_item", "reference": ""}, ""),
        ({"rater": "each_annotator", "reference": "mini"}, "disagreements?judge=mini"),
        ({"criterion": "c1", "category": "Art"}, "disagreements?judge=mini&criterion=c1&category=Art"),
        ({"category": "systems: atlas"}, "disagreements?judge=mini&system=atlas"),
        ({"category": "systems: atlas, borealis"}, ""),  # a pair is no filter
        ({"rater": "each_annotator", "reference": "others"}, ""),
    ],
)
def test_a_number_leads_to_the_labels_of_its_judge_where_that_page_shows_them(
    changes: dict[str, str], address: str
) -> None:
    report = toy_report()
    report = replace(
        report,
        labels=replace(report.labels, judges=["mini", "maxi", "trio [panel]"], systems=["atlas", "borealis"]),
    )
    number = Estimate("percent_agreement", "mini", "each_annotator", "all", "all", 0.7, 0.6, 0.8, 0.95, 9, 9, "m")
    assert behind(replace(number, **changes), report) == address


def test_a_table_escapes_names_and_addresses_and_folds_how_to_read_it() -> None:
    evil = "<b>\"'&"
    report = toy_report()
    report = replace(report, labels=replace(report.labels, judges=[evil], systems=[]))
    number = Estimate("s", evil, "each_annotator", "all", "all", 0.7, 0.6, 0.8, 0.95, 9, 9, "m")
    table = Table("t", evil, (Column("a", evil), Column("b", "B")), ((evil, number),), (evil,))
    found = table_html(table, report)
    assert "<b>" not in found
    assert 'href="disagreements?judge=%3Cb%3E%22%27%26">.70</a>' in found
    assert "<summary>How to read this table</summary>" in found


def test_names_that_a_study_gave_are_in_no_language_be_they_words_of_ours() -> None:
    names = {"q": "length", "j": "judge", "s1": "system", "s2": "order"}  # each stands in a catalogue
    answers = made_answers(topics=6, labelled=6, people=2, words=("all", "yes")).replace(names)
    report = calibrate(answers, CalibrationSettings(resamples=99))
    told: dict[str, list[str]] = {}
    for language in ("en", "zh_CN"):
        with speaking(language):
            tables = [make(report) for make in (criteria_table, confusion_table, label_rates_table, pass_rates_table)]
            page = "".join(table_html(table, report) for table in tables if table)
        told[language] = re.findall('<td class="c-said[^"]*">([^<]+)</td>', page)
    cells = {*zip(told["en"], told["zh_CN"], strict=True)}
    assert {(own, own) for own in ("length", "judge", "system", "order", "all", "yes")} <= cells
    assert {cell for cell in cells if cell[0] != cell[1]} == {
        ("annotators among themselves", "标注者彼此之间"),
        ("all", "全部"),  # all systems together
    }


def test_a_plot_is_a_picture_with_its_caption_as_text_and_the_papers_own_bytes() -> None:
    figure = forest(toy_report())
    assert figure is not None
    hostile = replace(figure, caption='Which "judge" <b>?')
    found = plot_html(hostile, 'Judge "mini" <b> agrees.')
    assert found.count("Which &quot;judge&quot; &lt;b&gt;?") == 1
    assert found.count("Judge &quot;mini&quot; &lt;b&gt; agrees.") == 2  # above it, and for who cannot see it
    embedded = found.split("base64,")[1].split('"')[0]
    assert base64.b64decode(embedded) == as_bytes(figure, "svg")


@pytest.mark.parametrize(
    ("judges", "pairs", "first"),
    [
        (("small", "mini", "huge"), 120, "mini"),  # the chosen one
        (("tiny", "small"), 120, "small"),  # none is adequate, and this one is less far
    ],
)
def test_the_card_is_first_of_the_judge_that_the_sentence_speaks_of(
    judges: tuple[str, ...], pairs: int, first: str
) -> None:
    verdicts = priced({name: EIGHT[name] for name in judges}, pairs=pairs)
    choice = cheapest_adequate_judge(verdicts, CalibrationSettings(resamples=99))
    assert choice.foremost is not None
    assert choice.foremost.judge == first
    assert any(said.startswith(f"{first} ") for said in choice.sentence.split(". ")[:2])


def test_a_study_without_a_bias_to_look_for_says_what_that_takes() -> None:
    assert bias_sentence([]).startswith("No bias of a judge can be looked for yet")


def cell(criterion: str, category: str, judge: float, person: float, half: float = 0.05) -> Cell:
    def made(statistic: str, value: float) -> Estimate:
        return Estimate(statistic, "mini", "others", criterion, category, value, value - half, value + half, 0.95, 60, 30, "m")  # fmt: skip

    agreement, ceiling, gap = made("a", judge), made("c", person), made("g", person - judge)
    return Cell(criterion, category, agreement, ceiling, gap)


def test_a_map_is_summed_up_by_the_cell_furthest_behind_people() -> None:
    inner = (cell("clear", "Art", 0.7, 0.8), cell("deep", "Art", 0.81, 0.8))
    found = ReliabilityMap("mini", ("clear", "deep"), ("Art",), (*inner, cell("all", "all", 0.2, 0.9)))
    assert map_sentence(found) == (
        "mini is furthest behind a left-out annotator on clear in Art: .70 against .80, a gap of .10 [.05, .15], the "
        "largest of 2."
    )
    assert len(cells_table(found).rows) == 3
    ahead = replace(found, cells=inner[1:])
    assert map_sentence(ahead).startswith("In none of 1 cells with a value is mini behind")
    thin = replace(found, cells=(cell("clear", "Art", 0.7, 0.8, math.nan),))
    assert "no cell has the clusters that an interval takes" in map_sentence(thin)
    assert map_sentence(replace(found, cells=())).startswith("Nothing to compare yet")


def test_a_plan_says_topics_hours_money_and_why_topics_count() -> None:
    # STATISTICS.md: 39 criteria, an ICC of .1 and an agreement of .8 take 33 topics for a half-width of .05
    found = plan_from_assumptions(Goals(), Design(), Prices(30, 40, 0.5, 0.5), topics=50)
    assert sentence(found).startswith("It takes 33 topics to know agreement to ±5 points, ")
    assert "<td>agreement ±.05</td><td>33</td><td>39</td><td>33</td><td>16</td><td>660</td>" in aims_html(found)
    assert "never more than 1 / ICC = 10.0" in why_topics(found)
    assert "any number" in worth_html(found)
    hopeless = plan_from_assumptions(Goals(margin=0.05), Design(), true_gap=0.06)
    assert "no known number to show a gap below 5 points" in sentence(hopeless)
    assert "no number of topics, the gap is as large as the margin" in aims_html(hopeless)


def test_each_warning_is_told_on_one_page_and_one_that_was_told_in_part_is_told_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(report_page, "section", shown.append)
    told = ("missing_answers", "6 of 80 rows of j3"), ("missing_answers", "40 of 80 rows of j1"), ("own_family", "kin")
    report = replace(toy_report(), warnings=tuple(ReportWarning(code, words=text) for code, text in told))
    pages: dict[str, str] = {}
    for page in (report_page.FIRST_PAGE, *report_page.OF_PAGE, "Paper"):
        shown.clear()
        report_page.warnings_and_making(report, page, ["6 of 80 rows of j3"])
        pages[page] = shown[0]
    assert [page for page, html in pages.items() if "likewise" in html or "more like it" in html] == ["Choice"]
    assert [page for page, html in pages.items() if "own_family" in html] == ["Bias"]
    assert "1 on <a" in pages["Choice"]
    assert pages["Paper"].count("1 on <a") == 2
