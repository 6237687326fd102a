"""The plain layout: what it makes alike, what it must not lose, and which criteria refuse it."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from annotation.canonical.form import Layout, canonical_format
from annotation.canonical.plain import OFFERS, PHRASES
from annotation.citations import strip_citations
from annotation.errors import AnnotationError
from annotation.judges.defining.judge_file import parse_judges
from annotation.judges.planning.plan import plan_judges
from annotation.judges.running.run import run_judges
from annotation.protocol import parse_protocol, read_protocol, shipped_protocols
from annotation.work.claiming import take
from annotation.work.page import shown_reports
from db.connect import reading, transaction
from db.judge_tables import JudgeCall
from db.tables import Report
from tests.annotation.judges.judged_study import STUB_JUDGE, Stub, describe
from tests.annotation.test_canonical import PIECES, SAMPLE, block, documents, words
from tests.small_study import PROTOCOL as SMALL
from tests.small_study import a_person, make_study, write_reports

STUB_JUDGE_FILE = f"[[judge]]\n{STUB_JUDGE}"


def plain(markdown: str, title: str | None = None) -> str:
    return canonical_format(markdown, title, "plain").text.removesuffix("\n")


ALIKE = {
    "one level of headings": ("## A\n\n### B\n\n#### C\n\nx", "## A\n\n## B\n\n## C\n\nx"),
    "the title stays above": ("# T\n\nx\n\n## A\n\ny", "# T\n\nx\n\n## A\n\ny"),
    "bold and italics": ("The **tide** is _slow_ and ***deep***.", "The tide is slow and deep."),
    "operators stay": ("5 * 3, 2**3, snake_case, Sgr A*", "5 * 3, 2**3, snake_case, Sgr A*"),
    "a bold head": ("- **Depth:** nine metres\n- **Width:** two", "- Depth: nine metres\n- Width: two"),
    "a list of sentences": ("* Ships left.\n* Fog came.", "Ships left. Fog came."),
    "a list of words": ("* ships\n* fog", "- ships\n- fog"),
    "a numbered list": ("1. ships\n2. fog", "- ships\n- fog"),
    "numbers that do not count": ("1968. a year\n\nx", "1968. a year\n\nx"),
    "a list that goes on elsewhere": ("4. ships\n5. fog", "4. ships\n5. fog"),
    "nested lists": ("- ships\n  - fog\n    - rain\n- quay", "- ships\n- fog\n- rain\n- quay"),
    "dashes between words": ("a — b, c—d, e - f", "a – b, c – d, e – f"),
    "dashes inside words": ("1990–1995, 1990—1995, Rock–Trenton", "1990-1995, 1990-1995, Rock-Trenton"),
    "minus stays": ("5 - 3 = 2", "5 - 3 = 2"),
    "emoji": ("We left 🚀 at dawn ✨", "We left at dawn"),
    "signs that say something": ("| a | ✅ |\n|---|---|\n| b | ❌ |", "| a | ✅ |\n| --- | --- |\n| b | ❌ |"),
    "stars say something": ("Rated ★★★☆ in 1990.", "Rated ★★★☆ in 1990."),
    "tables": ("| a | b |\n|:--|--:|\n| **1** | 2 |", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
    "quotations stay": ("> He _left_.", "> He left."),
    "code stays": ("Fog.\n\n```\n**x** — y\n```", "Fog.\n\n```\n**x** — y\n```"),
    "closing phrases": ("## End\n\nIn conclusion, ships left.\n\nTo sum up: fog came.", "## End\n\nShips left. Fog came."),
    "a phrase inside a sentence stays": ("He said in conclusion, go.", "He said in conclusion, go."),
    "an offer at the end": ("# T\n\nShips left.\n\nFog came. Would you like me to add rain?", "# T\n\nShips left. Fog came."),
    "an offer of its own": ("# T\n\nShips left.\n\nI hope this helps!", "# T\n\nShips left."),
    "an offer in the middle stays": ("Let me know if it rains.\n\nShips left.", "Let me know if it rains. Ships left."),
    "short paragraphs": ("Ships left.\n\nFog came.\n\nNames:\n\nRain fell.", "Ships left. Fog came.\n\nNames:\n\nRain fell."),
    "CJK keeps its signs": ("“潮汐”——很大……是的，1990–1995。", "“潮汐”——很大……是的，1990–1995。"),
}  # fmt: skip


@pytest.mark.parametrize("name", ALIKE)
def test_each_thing_that_is_made_alike(name: str) -> None:
    markdown, shown = ALIKE[name]
    assert plain(markdown) == shown
    assert plain(shown) == shown


SENTENCE = "The tide rises twice a day along this coast and falls twice again. "  # 67 characters


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        (SENTENCE * 7, [468]),
        (SENTENCE * 12, [535, 267]),
        (SENTENCE * 11, [736]),  # the rest would be under half a paragraph
        (f"{SENTENCE * 8}{SENTENCE.strip()}\n\n{SENTENCE * 8}", [535, 602]),
        (SENTENCE.replace("again", "in 1990") * 20, [1379]),  # a number may be the first of a list
        (SENTENCE.replace("again", "St") * 20, [1279]),  # no abbreviation is an end
        (SENTENCE.replace("again. ", "again. 12. ") * 16, [1135]),  # nothing may begin like a list
        ("潮汐每天涨落两次，这片海岸也是如此。" * 20, [180, 180]),
    ],
)
def test_paragraphs_are_cut_where_a_sentence_ends_into_an_even_length(text: str, lengths: list[int]) -> None:
    shown = plain(text)
    assert [len(part) for part in shown.split("\n\n")] == lengths
    assert plain(shown) == shown
    assert "".join(shown.split()) == "".join(text.split())


LONG = SENTENCE * 7


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"{LONG}[see the long report. It says so](https://tides.org/x). {LONG}", 1),
        (f"{LONG}~~Once the moon was near. It left.~~ {LONG}", 1),
        (f'{LONG}He said: "The tide was high. It left." {LONG}', 1),
        (f"{LONG}`Tide.rises. Tide.falls()` is code. {LONG}", 1),
    ],
)
def test_no_paragraph_ends_inside_of_a_link_or_of_struck_text(text: str, shown: int) -> None:
    paragraphs = canonical_format(text, layout="plain").text.split("\n\n")
    whole = max(re.findall(r"\[[^\]]*\]\([^)]*\)|~~.*?~~|`[^`]*`|\"[^\"]*\"", text), key=len)
    assert [whole in one for one in paragraphs].count(True) == shown


def test_a_footnotes_line_stays_and_each_seam_has_the_blank_of_its_own_script() -> None:
    note = "Tides rise.[^1]\n\n[^1]: By the moon."
    assert canonical_format(note, layout="plain").text == canonical_format(note).text
    wide = "潮汐每天涨落两次，这片海岸也是如此。" * 4
    text = f"{wide}\n\nThis sentence ends here.\n\nAnother follows it.\n\n{wide}"
    assert "。This sentence ends here. Another follows it. 潮汐" in plain(text).replace("\n\n", " ")


def test_what_a_label_speaks_for_stays_a_paragraph_of_its_own() -> None:
    items = ["Alabama: Five people died.", "Georgia: Two people died.", "Trees fell in both states."]
    shown = plain("\n".join(f"- **{item.replace(':', ':**', 1)}" for item in items[:2]) + f"\n- {items[2]}")
    assert shown.split("\n\n") == items


@given(st.lists(block, min_size=1, max_size=8).map("\n\n".join))
def test_no_word_goes_but_a_lists_number(markdown: str) -> None:
    assert words(plain(markdown)) == words(markdown)


@given(documents)
def test_of_any_text_no_word_of_the_canonical_one_goes(markdown: str) -> None:
    canonical = canonical_format(markdown).text
    assert set(_letters(canonical)) == set(_letters(plain(markdown)))
    assert not Counter(_letters(canonical)) - Counter(_letters(plain(markdown)))


def _letters(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.casefold())


def test_the_pieces_above_hold_no_listed_phrase() -> None:
    assert not [piece for piece in PIECES for phrase in (*PHRASES, *OFFERS) if phrase in piece.lower()]


PROTOCOL = """
format = "calipers-protocol/1"
name = "tides"
title = "Tides"
task_type = "pairwise_choice"
task = "Which report is better?"
{more}
[[criterion]]
id = "one"
label = "{label}"
text = "{text}"
"""


def protocol(more: str = "", label: str = "Depth", text: str = "Which goes deeper?") -> str:
    return PROTOCOL.format(more=more, label=label, text=text)


@pytest.mark.parametrize(
    ("label", "text", "asked"),
    [
        ("Layout", "Which looks better?", "layout"),
        ("Sections", "Is there one for each subtopic?", "sections"),
        ("Order", "Is the report well structured?", "well structured"),
        ("Lists", "Are bullets used where they help?", "bullets"),
        ("Structure", "Which is easier to follow?", "structure"),
        ("Clear to read", "Which report is written more clearly?", "clear to read"),
        ("Readability", "Which would a layman finish?", "readability"),
        ("结构清晰", "层次分明", "结构清晰"),
    ],
)
def test_a_criterion_that_asks_about_layout_refuses_plain_by_its_name(label: str, text: str, asked: str) -> None:
    parse_protocol(protocol('[study]\nlayout = "canonical"', label, text))
    with pytest.raises(AnnotationError, match=rf"criterion 'one' asks about layout or structure \('{asked}'\)"):
        parse_protocol(protocol('[study]\nlayout = "plain"', label, text))


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("Market structure", "How well is the structure of the market explained?"),
        ("Formats of the tournament", "Are they told apart?"),
        ("Table tennis", "Are its rules given?"),
        ("Words", "Which report uses plainer words?"),
    ],
)
def test_words_of_the_subject_do_not_refuse_it(label: str, text: str) -> None:
    assert parse_protocol(protocol('[study]\nlayout = "plain"', label, text)).study.layout == "plain"


def test_of_the_shipped_protocols_those_about_order_and_sections_refuse_it() -> None:
    refused = {}
    for name in shipped_protocols():
        text = read_protocol(name)[1]
        with_study = text.replace("[study]", '[study]\nlayout = "plain"')
        if with_study == text:
            with_study = text.replace("[[criterion]]", '[study]\nlayout = "plain"\n[[criterion]]', 1)
        if with_study == text:
            with_study = f'{text}\n[study]\nlayout = "plain"\n'
        try:
            assert parse_protocol(with_study).study.layout == "plain"
        except AnnotationError as error:
            refused[name] = re.findall(r"criterion '(\w+)'", error.text)
    assert refused == {
        "dr3_total": ["IF"],
        "drg_quality": ["clarity"],
        "quick_start": ["structure"],
        "wlc_writing_39": ["ww_ls_1"],
    }


@pytest.mark.parametrize(("former", "layout"), [("off", "kept"), ("spacing", "spacing"), ("full", "canonical")])
def test_protocols_with_the_settings_older_name_are_read(former: str, layout: str) -> None:
    older = parse_protocol(protocol(f'reports = {{canonical = "{former}"}}'))
    assert older == parse_protocol(protocol(f'[study]\nlayout = "{layout}"'))


@pytest.mark.parametrize(
    "more", ['reports = {canonical = "plain"}', 'reports = {canonical = "off"}\nstudy = {layout = "kept"}']
)
def test_both_names_at_once_are_refused(more: str) -> None:
    with pytest.raises(AnnotationError, match=r"older name of study\.layout"):
        parse_protocol(protocol(more))


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("layout", get_args(Layout))
def test_people_and_judges_read_the_same_bytes_in_every_layout(engine: Engine, tmp_path: Path, layout: Layout) -> None:
    folder = write_reports(tmp_path / "reports")
    for path in folder.glob("*/*.md"):
        path.write_text(f"# Of {path}\n\n1. The **moon** pulls.\n2. Water  _rises_ — twice.\n", encoding="utf-8")
    asked = SMALL.replace("[study]", f'[study]\nlayout = "{layout}"')
    study = make_study(engine, folder, protocol=asked)
    stub = Stub(lambda text, number: "no answer")
    plan_judges(engine, study, parse_judges(STUB_JUDGE_FILE, parse_protocol(asked)), describe=describe)
    run_judges(engine, study, parse_judges(STUB_JUDGE_FILE, parse_protocol(asked)), transport=stub)
    prompts = ["".join(message["content"] for message in request["messages"]) for request in stub.requests]
    with transaction(engine) as session:
        assignment = take(session, a_person(session, study))
        assert assignment is not None
        read = shown_reports(session, assignment).texts
    with reading(engine) as session:
        shown = {report.shown_sha256: report.shown_text for report in session.scalars(select(Report))}
        calls = [sha for call in session.scalars(select(JudgeCall)) for sha in call.shown_sha256]
    assert {sha: text for text, sha in read.values()}.items() <= shown.items()
    assert set(calls) == set(shown)
    assert all(any(text in prompt for prompt in prompts) for text in shown.values())
    assert all(("**moon**" in text) == (layout != "plain") for text in shown.values())


if SAMPLE.is_dir():
    REPORTS = [
        (path.stem.replace("_", " "), path.read_text(encoding="utf-8"))
        for pattern in ("test_data/*/md_data/*.md", "wiki_data/cleaned_data/article/*.md")
        for path in sorted(SAMPLE.glob(pattern))
    ]

    @pytest.mark.slow
    def test_real_reports_lose_nothing_but_phrases_and_numbers_and_take_little_longer() -> None:
        lost, gained, seconds = Counter[str](), Counter[str](), Counter[str]()
        for title, original in REPORTS:
            began = time.process_time()
            stripped = strip_citations(original).text
            cleaned = time.process_time()
            canonical = canonical_format(stripped, title).text
            laid_out = time.process_time()
            shown = canonical_format(stripped, title, "plain").text
            seconds["canonical"] += laid_out - began
            seconds["plain"] += time.process_time() - laid_out + cleaned - began
            assert canonical_format(shown, title, "plain").text == shown
            before, after = (Counter(re.findall(r"[^\W_]+", text.casefold())) for text in (canonical, shown))
            lost += before - after
            gained += after - before
        assert not gained
        listed = {word for phrase in (*PHRASES, *OFFERS) for word in phrase.split()}
        assert {word for word in lost if not word.isdigit()} <= listed
        assert sum(number for word, number in lost.items() if not word.isdigit()) <= 20
        assert seconds["plain"] < 1.5 * seconds["canonical"]
