"""Changed texts: one thing changes, every word stays, and the same text comes out for ever."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.items.shown import ShownText
from annotation.judges.asking.altered_texts import (
    AGAIN,
    AUTHORITY,
    AUTHORITY_ALONE,
    FILLERS,
    INJECTIONS,
    PLACES,
    as_stressed,
    changed_side,
    draw_items,
    heavier_side,
    padded,
    with_authority,
    with_injection,
    without_markdown,
)
from annotation.judges.asking.prompt import TEMPLATES, shipped_template
from annotation.judges.defining.judge_file import PARAPHRASED, PLAIN, PROMPTS
from annotation.leaks.addressed import addressed_to_judges
from annotation.leaks.self_identification import find_self_identification

LAWS = settings(deadline=None)

WORDS = st.sampled_from(("rivers", "rise", "in", "spring", "when", "snow", "melts", "Ährenfeld", "1.5"))
SENTENCE = st.lists(WORDS, min_size=3, max_size=14).map(lambda words: " ".join(words).capitalize() + ".")
PROSE = st.lists(SENTENCE, min_size=1, max_size=6).map(" ".join)
BLOCK = st.one_of(
    PROSE,
    SENTENCE.map(lambda text: f"## {text}"),
    st.lists(SENTENCE, min_size=1, max_size=4).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.lists(SENTENCE, min_size=1, max_size=3).map(lambda items: "\n".join(f"> {item}" for item in items)),
    SENTENCE.map(lambda text: f"**{text}** and *{text}*"),
    SENTENCE.map(lambda text: f"```\n{text}\n```"),
    st.tuples(WORDS, WORDS).map(
        lambda cells: f"| {cells[0]} | {cells[1]} |\n| --- | --- |\n| {cells[1]} | {cells[0]} |"
    ),
)
LAST = "The plain is flat, and so the water stays. " * 7
DOCUMENT = st.lists(BLOCK, min_size=1, max_size=8).map("\n\n".join)
LONG = DOCUMENT.map(lambda text: text if len(text) >= 300 else f"{text}\n\n{LAST}")


def shown(text: str, name: str = "Left") -> ShownText:
    return ShownText(name, text, hashlib.sha256(text.encode()).hexdigest(), "1")


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


@LAWS
@given(DOCUMENT)
def test_without_markdown_every_word_stays_in_its_place(document: str) -> None:
    plain = without_markdown(document)
    assert words(plain) == words(document)
    assert not re.search(r"^\s*(#|>|- |\|)|\*|```", plain, re.M)


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("# Title\n\nSome **bold** text.", "Title\n\nSome bold text."),
        ("- one\n- two", "one\ntwo"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", "a\tb\n1\t2\n3\t4"),
        ("An array a[0] and `code` stay.", "An array a[0] and code stay."),
        ("3 < 4 & 5 > 4", "3 < 4 & 5 > 4"),
        ("", ""),
    ],
)
def test_formatting_goes_and_text_stays(markdown: str, plain: str) -> None:
    assert without_markdown(markdown) == plain


@LAWS
@given(LONG, st.integers(0, 5))
def test_padding_reaches_1_6_times_the_length_within_5_percent(document: str, key: int) -> None:
    assert len(padded(document, str(key))) == pytest.approx(1.6 * len(document), rel=0.05)


@LAWS
@given(DOCUMENT, st.integers(0, 5))
def test_padding_takes_nothing_away_and_makes_the_same_text_again(document: str, key: int) -> None:
    once = padded(document, str(key))
    padded.cache_clear()
    assert padded(document, str(key)) == once
    lines = iter(once.split("\n"))
    for line in document.split("\n"):
        assert any(candidate.startswith(line.rstrip()) for candidate in lines)  # in this order


@LAWS
@given(LONG)
def test_padding_says_no_word_that_the_text_or_a_connective_has_not_said(document: str) -> None:
    ours = words(" ".join(AGAIN + FILLERS))
    assert set(words(padded(document, "k"))) <= set(words(document)) | set(ours)


def test_padding_restates_prose_only_and_leaves_lists_tables_and_code_alone() -> None:
    text = "# Head one.\n\nRivers rise. They fall.\n\n- Item one. Item two.\n\n```\ncode. code.\n```\n\n| a. | b. |\n|---|---|\n"
    changed = padded(text * 6, "k")
    for part in ("# Head one.\n", "- Item one. Item two.\n", "```\ncode. code.\n```\n", "| a. | b. |\n|---|---|\n"):
        assert changed.count(part) == 6


@LAWS
@given(DOCUMENT)
def test_an_authority_is_added_once_and_every_word_stays(document: str) -> None:
    changed = with_authority(document)
    added = AUTHORITY if AUTHORITY in changed else AUTHORITY_ALONE
    assert changed.count(added) == 1
    assert words(changed.replace(added, "")) == words(document)


@LAWS
@given(DOCUMENT, st.integers(0, 40), st.sampled_from([*PLACES, ""]))
def test_an_injection_is_added_once_every_word_stays_and_an_import_would_flag_it(
    document: str, key: int, place: str
) -> None:
    changed = with_injection(document, str(key), place)
    (added,) = [line for line in changed.splitlines() if line and line not in document.splitlines()]
    assert words(changed.replace(added, "")) == words(document)
    assert (f"the {place} report" if place else "this report") in added
    assert addressed_to_judges(added)
    assert "judge" in {flag.kind for flag in find_self_identification(changed, ["Atlas"])}


def test_all_wordings_of_an_injection_are_drawn_and_each_stands_in_both_places() -> None:
    drawn = [with_injection("Rivers rise. They fall.\n\nSo it is.", str(key), "first") for key in range(100)]
    assert {(text.endswith("So it is."), one[:9]) for text in drawn for one in INJECTIONS if one[:9] in text} == {
        (early, one[:9]) for early in (True, False) for one in INJECTIONS
    }


@LAWS
@given(LONG, LONG, st.sampled_from(["padding", "authority"]), st.integers(0, 9), st.sampled_from("AB"))
def test_the_other_side_is_the_very_same_text_in_both_orders(a: str, b: str, kind: str, item: int, left: str) -> None:
    pair = {"A": shown(a, "Left"), "B": shown(b, "Right")}
    other = {"A": "B", "B": "A"}
    side = changed_side(kind, 7, item)
    first = as_stressed(kind, [pair[left], pair[other[left]]], left, seed=7, item=item)
    swapped = as_stressed(kind, [pair[other[left]], pair[left]], other[left], seed=7, item=item)
    assert first == swapped[::-1]
    by_side = dict(zip((left, other[left]), first, strict=True))
    assert by_side[other[side]] is pair[other[side]]
    assert by_side[side].shown_text != pair[side].shown_text
    assert by_side[side].shown_sha256 == hashlib.sha256(by_side[side].shown_text.encode()).hexdigest()


def test_a_reference_beside_a_rated_report_is_left_alone() -> None:
    texts = [shown("The report says this. " * 30, "Report"), shown("The reference says that. " * 30, "Reference")]
    changed = as_stressed("padding", texts, None, seed=1, item=1)
    assert changed[0] != texts[0]
    assert changed[1] is texts[1]


def test_a_paraphrase_changes_no_text() -> None:
    texts = [shown("One."), shown("Two.", "Right")]
    assert as_stressed("paraphrase", texts, "A", seed=1, item=1) == texts


def test_sides_are_drawn_evenly_and_apart_for_each_kind() -> None:
    drawn = [changed_side("padding", 7, item) for item in range(400)]
    assert 160 <= drawn.count("A") <= 240
    assert drawn != [changed_side("authority", 7, item) for item in range(400)]
    assert drawn != [changed_side("padding", 8, item) for item in range(400)]


@pytest.mark.parametrize(
    ("a", "b", "side"), [("# a\n\n**b**", "plain words", "A"), ("plain", "- a\n- b", "B"), ("one", "two", None)]
)
def test_the_heavier_side_has_more_markdown(a: str, b: str, side: str | None) -> None:
    assert heavier_side(a, b) == side


@LAWS
@given(st.lists(st.integers(0, 6), max_size=40), st.integers(0, 60), st.integers(0, 3))
def test_items_come_from_as_many_topics_as_there_are_and_a_larger_draw_holds_the_smaller(
    topics: list[int], count: int, seed: int
) -> None:
    items = list(enumerate(topics))
    drawn = draw_items(items, count, seed)
    assert len(drawn) == len(set(drawn)) == min(count, len(items))
    assert len({topics[item] for item in drawn}) == min(count, len(set(topics)))
    assert draw_items(items[::-1], count + 5, seed)[: len(drawn)] == drawn


@pytest.mark.parametrize("form", ["pairwise_choice", "pointwise_rating", "pointwise_rating_both", "probe_label"])
def test_a_paraphrased_prompt_asks_for_the_same_in_other_words(form: str) -> None:
    old, new = shipped_template(form), shipped_template(form, PARAPHRASED)
    placed = re.compile(r"{[{%].*?[%}]}")
    # what is filled in, and under which conditions, is the same but for a verb that agrees with "sources"
    kept = [[one for one in placed.findall(text) if '"sources"' not in one] for text in (old, new)]
    assert sorted(set(kept[0])) == sorted(set(kept[1]))
    form = re.compile(r'^{"judgments".*$|^criterion: .*$', re.M)
    assert form.findall(old) == form.findall(new)
    prose = [[line for line in text.splitlines() if line.startswith("- ")] for text in (old, new)]
    assert len(prose[0]) == len(prose[1])
    assert not set(prose[0]) & set(prose[1]) - {"- {{ id }}: {{ meaning }}"}


def test_every_template_has_its_paraphrase_and_every_file_a_listed_prompt() -> None:
    files = [path.name.removesuffix(".txt").partition(".") for path in TEMPLATES.glob("*.txt")]
    written = {name: {form for form, _, prompt in files if (prompt or PLAIN) == name} for name in PROMPTS}
    assert written[PLAIN] == written[PARAPHRASED]
    assert all(written.values())
    assert {prompt or PLAIN for _, _, prompt in files} == {*PROMPTS}
