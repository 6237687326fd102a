"""Warnings and reasons in Chinese: each has its sentence, with the facts that the English one tells, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from calibration import remarks, warning_words
from calibration.estimates import ReportWarning
from calibration.remarks import Reason
from plain import wording
from tests.calibration.test_words_decide_nothing import STUDIES, report_of
from tests.plain.test_wording import catalogue, fields_of


def clauses(told: warning_words.Clause) -> Iterator[str]:
    if isinstance(told, str):
        yield told
    else:
        for one in told:
            yield from clauses(one)


WARNINGS = [clause for told in warning_words.SENTENCES.values() for clause in clauses(told)]
PARTS = [clause for _, told in warning_words.PARTS.values() for clause in clauses(told)]
REASONS = [*remarks.WORDS.values(), *remarks.NO_INTERVAL.values(), *remarks.BRIEF.values()]


def in_words(clause: str) -> bool:
    return bool(re.search("[a-z]{2}", re.sub(r"\{[^}]*\}", "", clause)))


@pytest.mark.parametrize("language", [one for one in wording.LANGUAGES if one != wording.ENGLISH])
def test_every_clause_of_a_warning_and_every_reason_has_its_sentence_with_the_same_facts(language: str) -> None:
    told = catalogue(language)
    for key in [*WARNINGS, *REASONS, *filter(in_words, PARTS)]:
        assert fields_of(told["", key][0]) == fields_of(key), key


def test_warnings_of_whole_studies_are_told_in_chinese_with_every_number_that_the_english_has() -> None:
    for one in {one.code: one for study in STUDIES for one in report_of(study).warnings}.values():
        with wording.speaking("zh_CN"):
            assert one.text != ""
            assert any("\u4e00" <= sign <= "\u9fff" for sign in one.text), one
        assert "{" not in one.text


SAID = {
    ReportWarning("not_shown_equal", {"who": "the left-out annotator", "gap": 1.5, "low": -2.25, "high": 5.0,
                  "clusters": 24, "cluster": "topic", "margin": 5.0, "more": 1200}, "mini"):
    "留出的标注者与 mini 之差为 1.5 个百分点，区间为 -2.2 至 5.0 个百分点，依据 24 个主题：未显示有差异，"
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


@pytest.mark.parametrize("warning", SAID, ids=lambda one: one.code)
def test_facts_stand_in_a_chinese_sentence_as_a_chinese_paper_has_them(warning: ReportWarning) -> None:
    with wording.speaking("zh_CN"):
        assert warning.text == SAID[warning]


def test_a_reason_is_told_in_chinese_and_its_word_stays() -> None:
    lack = [remarks.undefined(Reason.NO_ITEMS), remarks.no_interval(Reason.TOO_FEW_CLUSTERS, fewest=5)]
    with wording.speaking("zh_CN"):
        assert remarks.note_of(lack) == "no_items：没有可比较的内容；无区间：数据太少，不足 5 个群"
