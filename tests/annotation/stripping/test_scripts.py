"""Direction, words and lengths in any script."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import app
from annotation.passages import compare_reports
from annotation.texts.scripts import WIDE, count_words, direction, typed_length
from tests.other_languages import write_reports


@pytest.mark.parametrize(
    ("language", "way"),
    [
        ("en", "ltr"), ("zh-Hant", "ltr"), ("ar", "rtl"), ("ar-EG", "rtl"), ("HE", "rtl"), ("fa", "rtl"), ("ur", "rtl"),
        ("az-Arab", "rtl"), ("ku-Latn", "ltr"), ("ar-Latn", "ltr"), ("yi", "rtl"), ("", "ltr"), ("arn", "ltr"),
    ],
)  # fmt: skip
def test_the_script_of_a_language_tag_says_which_way_it_is_read(language: str, way: str) -> None:
    assert direction(language) == way


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("Rivers rise twice a day [3].", 6),
        ("a — b", 3),
        ("证据质量很好。", 6),  # by character; the full stop is none
        ("三项试验（p < 0.05）显示", 10),  # 三项试验（p, <, 0.05）显示: 5 + 1 + 4 with the number as two
        ("使用GPT-5评估", 6),
        ("根拠の質", 4),
        ("증거의 질", 2),  # Korean has blanks
        ("جودة الأدلة", 2),
        ("หลักฐานที่ดี", 3),  # twelve letters and marks, five to a word
    ],
)
def test_words_are_runs_of_letters_and_single_han_and_kana(text: str, words: int) -> None:
    assert count_words(text) == words


@given(st.text(alphabet=st.characters(max_codepoint=0x0DFF)))
def test_where_blanks_part_words_they_are_what_stands_between_blanks(text: str) -> None:
    assert count_words(text) == len(text.split())


@given(st.text(), st.text())
def test_two_texts_apart_hold_the_words_of_both(one: str, other: str) -> None:
    assert count_words(f"{one}\n{other}") == count_words(one) + count_words(other)


@pytest.mark.parametrize(
    ("typed", "length"),
    [("", 0), ("  clearer ", 7), ("更清楚", 6), ("更清楚，see §2", 14), ("أوضح", 4), ("더 명확", 7), ("good 👍", 6)],
)
def test_a_full_width_character_says_as_much_as_two(typed: str, length: int) -> None:
    assert typed_length(typed) == length


def test_the_page_counts_the_same_characters_as_full_width() -> None:
    told = (Path(app.__file__).parent / "component" / "telling.js").read_text(encoding="utf-8")
    in_javascript = re.search(r"WIDE =\s*/(\[.*\])/u", told)
    assert in_javascript is not None
    as_python = re.sub(r"\\u\{(\w+)\}", lambda found: f"\\U{found[1]:0>8}", in_javascript[1])
    assert as_python == WIDE.pattern


@pytest.mark.parametrize(("language", "heading"), [("zh", "证据"), ("ar", "الأدلة")])
def test_a_passage_finds_the_section_of_the_same_name_in_the_other_report(
    tmp_path: Path, language: str, heading: str
) -> None:
    root = write_reports(tmp_path, language, length=1)
    a, b = ((root / system / "tides.md").read_text(encoding="utf-8") for system in ("alpha", "beta"))
    blocks = [[part for part in text.split("\n\n") if part] for text in (a, b)]
    alike = compare_reports(a, b)
    at, there = (part.index(f"## {heading}") for part in blocks)
    assert alike.a[at] == there
    assert alike.a[at + 1] in (there, there + 1)  # the section, by its heading or by its text
