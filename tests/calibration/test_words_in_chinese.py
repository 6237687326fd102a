"""Warnings and reasons in Chinese: each has its sentence, with the facts that the English one tells, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from babel.messages import pofile

from app.screens.results import bias as bias_page
from calibration import remarks, warning_words
from calibration.choosing import card
from calibration.choosing.choice_words import sentence_about, short_sentence, spoken, without_advice
from calibration.estimates import ReportWarning
from calibration.remarks import Reason
from calibration.results import CalibrationReport
from exports.as_json import report_json
from exports.pack import brief_pack
from exports.sheets import bias
from exports.words.methods import methods_paragraph
from exports.words.sentences import opening, told_headline
from plain import wording
from tests.calibration.test_words_decide_nothing import FAMILIES, STUDIES, report_of
from tests.plain.test_wording import catalogue, fields_of


def clauses(told: warning_words.Clause) -> Iterator[str]:
    if isinstance(told, str):
        yield told
    else:
        for one in told:
            yield from clauses(one)


def in_words(clause: str) -> bool:
    return bool(re.search("[a-z]{2}", re.sub(r"\{[^}]*\}", "", clause)))


WARNINGS = [clause for told in warning_words.SENTENCES.values() for clause in clauses(told)]
PARTS = [clause for _, told in warning_words.PARTS.values() for clause in clauses(told)]
CARDS = [
    *(card.AGREEMENT, card.GAPS, card.FLOORS, card.ANSWERS, card.SEEN, card.KEPT, card.HABIT_LIMITS, card.LACKS),
    *(dict(enumerate((card.CONSTANT, card.MARGIN, card.FLOOR, card.USABLE_LIMIT, card.HABIT_LIMIT, card.COVERED))),),
    *(dict(enumerate((card.UNSURE, card.CONTRADICTED, card.DOUBT, card.WITHOUT_VALUE, card.LACKING))),),
]
ON_CARDS = [clause for table in CARDS for told in table.values() for clause in clauses(told) if in_words(clause)]
REASONS = [*remarks.WORDS.values(), *remarks.NO_INTERVAL.values(), *remarks.BRIEF.values()]


@pytest.mark.parametrize("language", [one for one in wording.LANGUAGES if one != wording.ENGLISH])
def test_every_clause_of_a_warning_or_a_card_and_every_reason_has_its_sentence_with_the_same_facts(
    language: str,
) -> None:
    told = catalogue(language)
    for key in [*WARNINGS, *ON_CARDS, *REASONS, *filter(in_words, PARTS)]:
        assert fields_of(told["", key][0]) == fields_of(key), key


def test_warnings_of_whole_studies_are_told_in_chinese_with_every_number_that_the_english_has() -> None:
    for one in {one.code: one for study in STUDIES for one in report_of(study).warnings}.values():
        with wording.speaking("zh_CN"):
            assert one.text != ""
            assert any("\u4e00" <= sign <= "\u9fff" for sign in one.text), one
        assert not re.search(r"\{\w*[}:!]", one.text)  # TOML that a sentence names has braces too


SAID = {
    ReportWarning("not_shown_equal", {"who": "the left-out annotator", "gap": 1.5, "low": -2.25, "high": 5.0,
                  "clusters": 24, "cluster": "topic", "margin": 5.0, "more": 1200}, "mini [both orders]"):
    "留出的标注者与 mini [两种顺序] 之差为 1.5 个百分点，区间为 -2.2 至 5.0 个百分点，依据 24 个主题：未显示有差异，"
    "也未证实差异在 5.0 个百分点的界值之内；尚不能判定，请再标注 1,200 个主题",
    ReportWarning("panel_sensitive", {"places": [{"system": "atlas"}, {"tied": ["borealis", "cirrus"]}],
                  "orders": [{"places": None, "without": "ann1"}], "changed": 1, "raters": 4}):
    "标注者所评的前两名系统：全部评分者时为 atlas、其次 borealis 与 cirrus 并列，剔除 ann1 时无次序"
    "（逐一剔除 4 名评分者，其中 1 名会改变主要结论）；请在结论旁注明，并增加标注者或报告对",
    ReportWarning("undefined_shown_as_dash", {"lacking": [
                  {"statistic": "cohen_kappa", "reason": "one_category", "count": 3},
                  {"statistic": "spearman", "no_interval": 7.5, "count": None}]}, "mini"):
    "mini 的以下各项无定义，以短横表示或略去：cohen_kappa (one_category) × 3、spearman 的区间（7.5 % 无定义）",
}  # fmt: skip


@pytest.mark.parametrize("code", ["aligned", "not_shown_equal", "panel_sensitive"])  # a sentence, a list, a choice
def test_a_warning_that_lacks_facts_that_it_needs_is_an_error_and_no_empty_sentence(code: str) -> None:
    with pytest.raises(KeyError, match=code):
        _ = ReportWarning(code, {"changed": 1, "raters": 2, "margin": 5.0}).text


@pytest.mark.parametrize("warning", SAID, ids=lambda one: one.code)
def test_facts_stand_in_a_chinese_sentence_as_a_chinese_paper_has_them(warning: ReportWarning) -> None:
    with wording.speaking("zh_CN"):
        assert warning.text == SAID[warning]


ENGLISH_WORD = re.compile(r"(?<![\w-])[a-z]{3,}(?![\w-])")
KEPT = {  # names of raters, options, columns and statistics
    *("linear", "cost_usd", "planned_topics", "mini", "tiny", "judge"),
    *("presentation", "judges", "toml", "repeats", "run"),
}


@pytest.mark.parametrize("study", STUDIES)
def test_the_choice_of_a_study_and_its_cards_have_no_english_word_left_in_chinese(study: str) -> None:
    report = report_of(study)
    assert report.choice is not None
    with wording.speaking("zh_CN"):
        said = [*spoken(report.choice), short_sentence(report.choice), told_headline(report), opening(report)]
        said += [text for row in report.card for text in (row.sentence, row.limit)]
    assert [text for text in said if {*ENGLISH_WORD.findall(text)} - KEPT] == []
    assert opening(report).startswith(report.choice.headline)


def to_copy(report: CalibrationReport) -> list[str]:
    choice = report.choice
    assert choice is not None
    about = [sentence_about(one, choice.plan) for one in choice.candidates]
    return [*about, methods_paragraph(report).markdown, report_json(report)]


@pytest.mark.parametrize("study", STUDIES)
def test_what_is_copied_or_written_is_in_english_whoever_asks(study: str) -> None:
    report = report_of(study)
    english = to_copy(report)
    with wording.speaking("zh_CN"):
        assert to_copy(report) == english


def test_the_files_of_a_pack_are_in_english_whoever_asks() -> None:
    with wording.speaking("zh_CN"):
        files = brief_pack(report_of("a choice"))
    assert not [name for name in files if name != "answer.pdf" and re.search("[\u4e00-\u9fff]", files[name].decode())]


def test_every_bias_is_named_in_chinese_in_the_answer_and_in_the_table() -> None:
    report = report_of("pairs, two orders")
    with wording.speaking("zh_CN"):
        table = bias.bias_table(report)
        answer = bias_page.sentence(
            [replace(one, bias=replace(one.bias, outcome="found")) for one in bias.headlines(report)]
        )
    assert table is not None
    names = [str(row[0]) for row in table.rows]
    assert len(set(names)) > 1
    assert not [name for name in names if {*ENGLISH_WORD.findall(name)} - {*FAMILIES}]
    assert "; " not in answer


def test_a_card_is_told_in_chinese_by_its_facts() -> None:
    rows = {row.question: row for row in card.card_of(report_of("a choice").card, "mini")}
    with wording.speaking("zh_CN"):
        assert rows["ceiling gap"].sentence == (
            "留出的标注者的一致性高 0.5 个百分点；尚不能判定差距是否小于界值，请再标注 36 个主题。"
        )
        assert rows["ceiling gap"].limit == "差距小于 7.0 个百分点"
        assert rows["length"].sentence == "尚不能判定：请填写 len_a 和 len_b。"
    assert rows["length"].sentence == "Cannot tell: fill len_a and len_b."


def test_a_choice_is_told_in_chinese_and_its_advice_is_left_out_where_only_findings_stand() -> None:
    report = report_of("a choice")
    with wording.speaking("zh_CN"):
        told, found = opening(report), without_advice(opening(report))
    assert told == (
        "依据 24 个主题尚不能判定试过的 2 个评判模型中是否有任何一个可以替代一名标注者。mini 最为接近：它与标注者的一致性为 "
        "83.3 %（对所有试过者同时成立的 95 % 置信区间 70.0 至 96.7 %；24 个主题、216 个标注）；留出的标注者的一致性高 "
        "0.5 个百分点（至多高 9.2 个百分点，依据未校正的单侧 95 % 界限；界值 7.0 个百分点，校正后 p = .159；24 个主题、"
        "216 个标注）。尚待判定：mini（每 1,000 个条目 3.00 USD）：若差距与变异保持现状，再有 36 个主题（共 60 个）"
        "即可判定，检验效能 .8。 假定只查看一次，24 个主题：可能再次查看的研究，应在首次查看之前说明最终计划的主题数"
        "（planned_topics），或说明可随时查看。"
    )
    assert found.endswith("假定只查看一次，24 个主题。")


@pytest.mark.parametrize("language", [one for one in wording.LANGUAGES if one != wording.ENGLISH])
def test_no_translation_of_the_report_names_a_field_that_its_sentence_lacks(language: str) -> None:
    path = wording.FOLDER / language / "report.po"
    with path.open("rb") as file:
        told = [one for one in pofile.read_po(file, language) if one.id]
    forms = {one.id if isinstance(one.id, str) else one.id[-1]: one.string for one in told}
    of_many = {key: text if isinstance(text, str) else text[-1] for key, text in forms.items()}
    assert {key for key, text in of_many.items() if fields_of(text) != fields_of(key)} == set()


def test_a_reason_is_told_in_chinese_and_its_word_stays() -> None:
    lack = [remarks.undefined(Reason.NO_ITEMS), remarks.no_interval(Reason.TOO_FEW_CLUSTERS, fewest=5)]
    with wording.speaking("zh_CN"):
        assert remarks.note_of(lack) == "no_items：没有可比较的内容；无区间：数据太少，不足 5 个群"
