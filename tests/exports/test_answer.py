"""The one page: whatever a report holds it is one page, says ten things, and methods never tell what to do next."""

from __future__ import annotations

import gc
import re
from dataclasses import replace

import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.choosing.choice_words import without_advice
from calibration.errors import CalibrationError
from calibration.results import CalibrationSettings, ReportWarning
from exports.answer import CAUTIONS, DRAWN, TALL, WIDE, answer_of, answer_pdf, carrying
from exports.cells import shown
from exports.pack import brief_pack, pack, write_pack
from exports.plots.forest import forest
from exports.sheets.judges import judges_table
from exports.tables import agreement_table
from exports.words.methods import methods_paragraph
from exports.words.sentences import opening
from tests.exports.hostile_page import hostile_report
from tests.exports.toy import toy_report
from tests.exports.toy_choice import candidate, toy_choice
from tests.exports.toy_studies import race_study


def crowded():
    """Forty candidates, long names, and warnings longer than a page."""
    report = toy_choice()
    more = [
        candidate(
            f"a-provider/a-model-with-a-long-name-{at:02}", 0.5 + at / 100, 0.1, 0.5, 0.001 * (at + 1), "inferior"
        )
        for at in range(40)
    ]
    choice = replace(report.choice, candidates=(*report.choice.candidates, *more), sentence="It agrees. " * 200)
    warnings = tuple(
        ReportWarning(code, words="much to be said " * 80) for code in ("join_loss", "revealed", "few_clusters", "x")
    )
    return replace(report, choice=choice, warnings=warnings)


@pytest.mark.parametrize("made", [toy_report, toy_choice, hostile_report, crowded])
def test_the_answer_is_one_page_and_nothing_leaves_it(made):
    figure = answer_pdf(made(), "A study whose title is as long as titles of studies are, and then somewhat longer")
    assert len(re.findall(rb"/Type /Page\b", figure.saved("pdf"))) == 1
    canvas = figure.canvas
    assert tuple(canvas.get_size_inches()) == (WIDE, TALL)
    from matplotlib.text import Text

    for text in canvas.findobj(Text):
        if text.get_text().strip() and text.get_visible():
            box = text.get_window_extent()
            assert box.x0 >= 0, text
            assert box.x1 <= WIDE * canvas.dpi, text
            assert 0 <= box.y0 <= box.y1 <= TALL * canvas.dpi, text


def test_the_same_report_is_the_same_file():
    assert answer_pdf(toy_choice()).saved("pdf") == answer_pdf(toy_choice()).saved("pdf")


def test_of_many_candidates_those_are_drawn_that_say_most():
    drawn = carrying(crowded())
    named = {one.rater for one in drawn.drawn}
    assert len(named - {"each_annotator"}) == DRAWN
    assert "gpt-5_mini" in named


def test_a_reviewer_finds_ten_numbers_with_their_rule():
    asked = answer_of(toy_choice()).asked
    said = {row[0]: (*shown(row[1]), row[4]) for row in asked.rows}
    assert said["Labels"][2] == "30 pairs, one to a topic; 2 annotators, 5 judges"  # pairs, as the sentence says
    assert said["Agreement, all asked"] == (
        ".79", "[.73, .85]",
        "a tie is a label like another; unusable as disagreement; interval for all 5",
    )  # fmt: skip
    assert said["Gap to that annotator"][:2] == ("−.01", "[−.05, .03]")
    assert said["USD per 1,000 items"][0] == "2.10"
    assert said["Same verdict in both orders"] == ("–", "", "never asked so")
    assert len(asked.rows) <= 10


def test_of_scores_the_rule_of_agreement_is_said_and_no_order_is_asked_for():
    report = calibrate(race_study(), CalibrationSettings(resamples=199, scales={"overall": ("1", "2", "3")}))
    answer = answer_of(report)
    said = {row[0]: shown(row[1])[0] for row in answer.asked.rows}
    assert len(said) <= 10
    assert [*said][1:5] == [
        "Agreement by distance", "Equal scores", "The best constant answer", "A left-out annotator's by distance"
    ]  # fmt: skip
    assert said["Agreement by distance"] > said["Equal scores"]
    assert answer.card.rows[0][0] == "agreement by distance"
    assert "here from 1 to 3" in " ".join(judges_table(report).notes), "the range that a distance is of"
    assert "Same verdict in both orders" not in said
    assert "equal scores alone count, where the choice counts near ones" in forest(report).caption


def test_money_is_printed_in_the_currency_of_the_labels():
    scores = race_study().assign(currency="", cost_usd=None)
    judged = scores.index[scores["rater_kind"] == "judge"]
    scores.loc[judged, ["currency", "cost_usd"]] = "EUR", 0.00225
    scores.loc[judged[0], ["currency", "cost_usd"]] = "US$", 0.0  # a free answer is in every currency
    report = calibrate(scores, CalibrationSettings(resamples=199))
    printed = "".join(content.decode(errors="ignore") for name, content in pack(report, scores).items() if name.endswith(
        (".md", ".csv", ".tex", ".html", ".svg")))  # fmt: skip
    assert "USD" not in printed.replace("cost_usd", "")
    assert "2.00 EUR per 1,000 items" in opening(report)
    assert [row[0] for row in answer_of(report).asked.rows][-1] == "EUR per 1,000 items"
    with pytest.raises(CalibrationError, match="prices stand in EUR, USD; write all in one currency"):
        calibrate(scores.assign(cost_usd=0.002), CalibrationSettings(resamples=199))


def test_three_cautions_at_most_and_none_of_another_judge():
    report = replace(toy_choice(), warnings=(ReportWarning("join_loss", {}, "tiny", words="of tiny"), *(
        ReportWarning(f"code_{at}", {}, "gpt-5_mini", words="said") for at in range(5)
    )))  # fmt: skip
    cautions = answer_of(report).cautions
    assert len(cautions) == CAUTIONS
    assert "join_loss" not in {one.code for one in cautions}


@pytest.mark.parametrize(
    ("sentence", "printed"),
    [
        ("mini is adequate. It agrees. Fill cost_usd to know what it costs.", "mini is adequate. It agrees."),
        ("but of unknown cost and so not chosen: a; fill cost_usd.", "but of unknown cost and so not chosen: a."),
        (
            "How far people agree with each other is unknown, so have a second annotator label the same items on about "
            "90 topics (power 0.8 at no true gap), or state beforehand what is good enough: --at-least .80.",
            "How far people agree with each other is unknown.",
        ),
        (
            "One look is assumed, at 60 pairs: a study that may be looked at again says before its first look how many "
            "topics are meant in the end (planned_topics), or that it is looked at any time.",
            "One look is assumed, at 60 pairs.",
        ),
        ("Still open: a: one of the topics alone is labelled, label more first.",
         "Still open: a: one of the topics alone is labelled."),
    ],
)  # fmt: skip
def test_methods_say_what_was_found_and_not_what_to_do(sentence, printed):
    assert without_advice(sentence) == printed
    report = toy_choice()
    told = replace(report, choice=replace(report.choice, sentence=sentence, look=""))
    for text in (methods_paragraph(told).markdown, methods_paragraph(told).latex):
        assert not re.search(r"[Ff]ill cost|--at-least|planned\\?_topics|label more first|have a second", text)


def test_what_is_called_agreement_says_over_which_answers_where_two_would_differ():
    report = toy_choice()
    heads = [agreement_table(replace(toy_report(), choice=report.choice)).columns[1].title]
    heads.append(judges_table(report).columns[1].title)
    assert heads == ["Agreement, usable answers", "Agreement, all asked"]
    every = replace(report.choice, candidates=tuple(replace(one, valid_share=1.0) for one in report.choice.candidates))
    alike = replace(report, choice=every)
    assert judges_table(alike).columns[1].title == "Agreement"


def test_brief_is_what_one_reads_first_and_takes_the_place_of_a_whole_pack(tmp_path):
    report = toy_choice()
    (tmp_path / "bias.csv").write_text("of an earlier report")
    (tmp_path / "calibration-report.json").write_text("{}")
    written = {path.name for path in write_pack(brief_pack(report), tmp_path)}
    paper = {"agreement.tex", "methods.tex", "references.bib"}
    assert written == {"answer.pdf", "report.html", "calibration-report.json", *paper}
    assert {path.name for path in tmp_path.iterdir()} == written
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert opening(report).partition(".")[0] in page
    assert "Biases looked for" not in page


def test_what_a_server_has_frozen_before_stays_so_after_a_pack(monkeypatch):
    monkeypatch.setattr("exports.pack.FIGURES", {})
    gc.freeze()
    pack(toy_choice(), pd.DataFrame())
    assert gc.get_freeze_count()
