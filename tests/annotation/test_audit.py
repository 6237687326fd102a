"""The audit finds what is left, what is missing and what gives a system away, and refuses what it cannot know."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import SVC

from annotation.blinding import (
    AuditedReport,
    BlindingAudit,
    audit_blinding,
    canonical_format,
    find_self_identification,
    formatting_counts,
)
from annotation.canonical.form import CANONICAL_VERSION, Layout
from annotation.citations import strip_citations
from annotation.facts.study_facts import audit_facts
from annotation.leaks.blinding_audit import find_residue
from annotation.leaks.layout_counts import FORMATTING, PER_WORD, per_word
from annotation.leaks.system_classifier import CURVED, READERS, Recognition, _reader, by_luck, drawn_evenly

SAMPLE = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "wlc_sample"
SYSTEMS = ("atlas", "borealis", "handbook")
TOPICS = tuple(f"topic-{number}" for number in range(8))
WORDS = ("harbour", "silt", "tide", "quay", "crane", "pilot", "toll", "rope", "lamp", "board", "wharf", "depth")


@pytest.fixture(autouse=True)
def _four_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What can be told apart with each topic left out can be by four folds: a planted style, and none."""
    for name, value in (("FOLDS", 0), ("FEWER_FOLDS", 4)):
        monkeypatch.setattr(f"annotation.leaks.system_classifier.{name}", value)


def report(system: str, topic: str, text: str, **changes: object) -> AuditedReport:
    known = {"original": text, "stripped": text, "shown": text, "removed_characters": 0}
    return AuditedReport(f"{system}/{topic}", topic, system, system == "handbook", **known | changes)  # type: ignore[arg-type]


def prose(seed: str) -> str:
    draw = random.Random(seed)
    sentences = [" ".join(draw.choices(WORDS, k=draw.randint(5, 15))) + "." for _ in range(draw.randint(10, 20))]
    return "\n\n".join(" ".join(sentences[n : n + 3]) for n in range(0, len(sentences), 3))


STYLES: dict[str, Callable[[str], str]] = {
    "atlas": lambda text: text.replace(" tide", " — tide").replace(" silt", " **silt**"),
    "borealis": lambda text: "# Tides\n\n" + text.replace("\n\n", "\n\n* "),
    "handbook": lambda text: text.replace(" quay", " “quay”"),
}


def corpus(style: dict[str, Callable[[str], str]]) -> list[AuditedReport]:
    return [
        report(system, topic, style.get(system, str)(prose(f"{system} {topic}")))
        for system in SYSTEMS
        for topic in TOPICS
    ]


def halves(right: Sequence[int], of: Sequence[int]) -> tuple[float, float]:
    assert len(right) == len(of) == len(TOPICS)
    return sum(right) / sum(of) / 2, 1.0


@cache
def styled() -> BlindingAudit:
    """Of the planted styles."""
    return audit_blinding(corpus(STYLES), seed=7, interval=halves)


def accuracy(audit: BlindingAudit, text: str, features: str = "formatting") -> float:
    return next(i.accuracy for i in audit.identification if (i.text, i.features) == (text, features))


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("See https://a.example/x?utm_source=chat.", ["url", "utm"]),
        ("Ships left [3], \\[4\\] and [5, 6].", ["bracket_number"] * 3),
        ("Ships left【3†source】.", ["lenticular"]),
        ("## References\n\nA", ["reference_heading"]),
        ("**Works cited**", ["reference_heading"]),
        ("Ships turn0search1 left [web:3].", ["tool_token"] * 2),
        ("本文由 AI 生成。 <!-- a -->", ["ai_notice"] * 2),
        ("Ships [](x) left () and [].", ["empty_bracket"] * 3),
        ("Ships , left,, then .", ["gap"] * 3),
        ("`a[1]` and $x_{[1]}$ and ``b [2]``", []),
        ("Won 7–0 in (1982), up .5, see the sources of funding.\n\n## Cultural references", []),
    ],
)
def test_residue_is_found_outside_code_with_its_context(text: str, kinds: list[str]) -> None:
    hits = find_residue(text, "atlas/tides", "atlas")
    assert [hit.kind for hit in hits] == kinds
    assert all(0 < len(hit.context) <= 40 and (hit.report, hit.system) == ("atlas/tides", "atlas") for hit in hits)


def test_formatting_is_counted_sign_by_sign() -> None:
    counts = formatting_counts(
        "# T\n\n## A\n\n- a\n* b\n+ c\n• d\n1. e\n\n**f** _g_ *h*\n\n| i |\n> j\n\n---\n\n“k” 'l' m–n — o (p) q .\\* r  \ns.\n"
    )
    expected = {
        "headings_1": 1, "headings_2": 1, "bullets_dash": 1, "bullets_star": 1, "bullets_plus": 1, "bullets_dot": 1,
        "numbered_items": 1, "bold": 1, "italic": 2, "table_rows": 1, "quote_lines": 1, "rules": 1, "curly_quotes": 2,
        "straight_quotes": 2, "en_dashes": 1, "em_dashes": 1, "parentheses": 1, "gaps": 1, "escapes": 1,
        "two_space_ends": 1, "title_line": 1,
    }  # fmt: skip
    assert {name: counts[name] for name in expected} == expected
    assert len(counts) >= 23
    assert set(formatting_counts("").values()) == {0.0}
    assert formatting_counts("潮汐 ab")["cjk_share"] == pytest.approx(2 / 5)


def test_a_planted_style_is_recognised_by_reports_on_other_topics() -> None:
    audit = styled()
    assert accuracy(audit, "shown") >= 0.9
    assert audit.chance == pytest.approx(1 / 3)
    shown = next(item for item in audit.identification if (item.text, item.features) == ("shown", "formatting"))
    assert set(shown.recall) == set(SYSTEMS)
    assert min(shown.recall.values()) >= 0.7
    assert accuracy(audit, "shown", "length") < 0.7
    assert "label-blind, not style-blind" in audit.sentence
    assert f"{100 * accuracy(audit, 'shown'):.0f}\u00a0%" in audit.sentence
    by_coin = np.random.default_rng(3).binomial(24, 1 / 3, (100_000, len(READERS))).max(axis=1).mean() / 24
    assert by_luck(1 / 3, 24) == pytest.approx(by_coin, abs=0.002)
    assert "(chance 33\u00a0%, the best of four that only guess 43\u00a0%; " in audit.sentence
    assert " topics (24 reports), the best of four" in audit.sentence
    assert len(re.findall(r"\u00a0% \[\d+, \d+\]", audit.sentence)) == 7, "each share has its interval"


def test_each_system_has_its_share_by_kind_of_feature_with_an_interval_over_topics() -> None:
    audit = styled()
    shown = {one.features: one for one in audit.identification if one.text == "shown"}
    assert list(shown) == ["formatting", "formatting_per_word", "length", "words", "all"]
    assert {one.reader for one in shown.values()} <= set(READERS)
    for one in shown.values():
        assert one.accuracy == pytest.approx(sum(one.recall.values()) / 3)
        assert sum(one.right_by_topic.values()) == pytest.approx(24 * one.accuracy)
        assert one.interval == (one.accuracy / 2, 1.0)
        assert one.recall_intervals == {system: (share / 2, 1.0) for system, share in one.recall.items()}
    assert shown["all"].accuracy > shown["words"].accuracy  # the style is planted in signs
    assert f"{100 * shown['all'].accuracy / 2:.0f}, 100]" in audit.sentence
    assert "95\u00a0% intervals over topics" in audit.sentence


def test_of_very_many_reports_systems_are_guessed_of_as_many_of_each_on_the_same_topics_and_the_sentence_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reports = [one for one in corpus(STYLES) if one.system != "handbook" or one.topic < TOPICS[6]]
    assert drawn_evenly(reports, 7) == sorted(reports, key=reports.index)
    monkeypatch.setattr("annotation.leaks.system_classifier.MOST_READ", 15)
    drawn = drawn_evenly(reports, 7)
    assert Counter(one.system for one in drawn) == dict.fromkeys(SYSTEMS, 5)
    on = {system: {one.topic for one in drawn if one.system == system} for system in SYSTEMS}
    assert on["atlas"] == on["borealis"] != {*TOPICS[:5]}
    assert [one.key for one in drawn_evenly(reports, 8)] != [one.key for one in drawn]
    audit = audit_blinding(reports, seed=7)
    assert (audit.guessed, audit.reports, audit.chance) == (15, 22, pytest.approx(1 / 3))
    assert "topics (15 of 22 reports, drawn evenly), the best" in audit.sentence
    assert "drawn" not in styled().sentence


def test_what_each_layout_would_leave_is_measured_on_the_stripped_texts() -> None:
    emphasis = {
        "atlas": lambda text: text.replace("tide", "**tide**"),
        "borealis": lambda text: text.replace("quay", "_quay_"),
    }
    audit = audit_blinding(corpus(emphasis), seed=7)
    layouts = [one for one in audit.identification if one.text in get_args(Layout)]
    left, per_word = (
        {one.text: one.accuracy for one in layouts if one.features == kind}
        for kind in ("formatting", "formatting_per_word")
    )
    assert list(left) == ["kept", "spacing", "canonical", "plain"]
    assert left["kept"] == accuracy(audit, "stripped")
    assert left["canonical"] >= 0.8
    assert max(left["plain"], per_word["plain"]) < 0.7
    assert audit_facts(audit)["plain_formatting"] == left["plain"]
    shown = [replace(one, shown=one.stripped, form=f"{CANONICAL_VERSION}/plain") for one in corpus(emphasis)]
    again = {one.text: one.accuracy for one in audit_blinding(shown, seed=7).identification}
    assert (again["plain"], again["canonical"]) == (again["kept"], per_word["canonical"]), "not laid out once more"


def test_five_features_are_named_for_each_system_with_a_passage_that_shows_them() -> None:
    wordy = corpus(STYLES | {"atlas": lambda text: text.replace("rope", "— zephyr"), "handbook": str})
    signs = audit_blinding(wordy, seed=7).giveaways
    assert Counter(one.system for one in signs) == dict.fromkeys(SYSTEMS, 5)
    first = {one.name: one for one in signs if one.system == "atlas"}
    assert {"zephyr", "em_dashes"} <= set(first)
    assert first["zephyr"].kind == "word"
    assert "zephyr" in first["zephyr"].passage
    assert "—" in first["em_dashes"].passage
    assert first["zephyr"].report.startswith("atlas/")
    assert first["zephyr"].own > first["zephyr"].others == 0
    assert {"bullets_star", "title_line"} & {one.name for one in signs if one.system == "borealis"}


def test_each_kind_of_feature_is_told_by_the_reader_who_names_most(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [one for one in corpus(STYLES) if one.topic in TOPICS[:5]]
    strongest = {one.features: one for one in Recognition(few, 7).of_texts() if one.text == "shown"}
    by_reader = {}
    for reader in READERS:
        monkeypatch.setattr("annotation.leaks.system_classifier.READERS", (reader,))
        by_reader[reader] = {one.features: one for one in Recognition(few, 7).of_texts() if one.text == "shown"}
    for kind, one in strongest.items():
        assert one.accuracy == max(found[kind].accuracy for found in by_reader.values())
        assert one.accuracy == by_reader[one.reader][kind].accuracy


def test_what_only_two_signs_together_tell_is_found_and_shuffled_systems_are_not() -> None:
    """One system has both signs or none, the other one of them: no weight of either sign tells them apart."""
    reports = []
    for number in range(24):
        for system, has in (("atlas", (number % 2, number % 2)), ("borealis", (number % 2, 1 - number % 2))):
            text = prose(f"{system} {number}") + " tide silt" * 9
            for word, sign in zip(("tide", "silt"), ("**tide**", "— silt"), strict=True):
                text = text.replace(word, sign) if has[word == "silt"] else text
            reports.append(report(system, f"topic-{number}", text))
    found = Recognition(reports, 7).of_texts()
    shown = next(one for one in found if one.text == "shown")
    assert shown.reader == CURVED
    assert shown.accuracy >= 0.8
    draw = random.Random(5)
    shuffled = [replace(one, system=draw.choice(SYSTEMS)) for one in reports]
    assert max(one.accuracy for one in Recognition(shuffled, 7).of_texts()) < 0.6


def test_one_word_that_only_one_systems_reports_hold_names_it() -> None:
    """Among two hundred others, once in each report, with no other sign of who wrote it."""
    draw = random.Random(77)
    words = [f"w{one}{two}" for one in "abcdefghij" for two in "klmnopqrst"]
    reports = []
    for topic in TOPICS:
        its_words = draw.sample(words, 30)
        for system in SYSTEMS:
            text = [*draw.choices(its_words, k=600), f"sign{system}"]
            draw.shuffle(text)
            reports.append(report(system, topic, " ".join(text)))
    found = {one.features: one.accuracy for one in Recognition(reports, 7).of_texts() if one.text == "shown"}
    assert (found["words"], found["all"]) == (1, 1)


@pytest.mark.parametrize("shaped", [np.asarray, csr_array])
def test_the_width_of_the_gaussian_is_scikit_learns_own(shaped: Callable[..., Any]) -> None:
    draw = np.random.default_rng(7)
    seen = shaped(draw.poisson(0.3, (40, 30)) * draw.uniform(0, 3, 30) + (shaped is np.asarray))
    of = np.arange(40) % 2
    ours, theirs = _reader(CURVED, 7, seen).fit(seen, of), SVC(gamma="scale").fit(seen, of)
    assert ours.decision_function(seen) == pytest.approx(theirs.decision_function(seen), abs=1e-6)


def test_formatting_per_word_is_the_same_however_often_a_text_is_repeated() -> None:
    once, thrice = (formatting_counts("\n\n".join([prose("a") + " **tide** (silt)."] * n)) for n in (1, 3))
    rates = per_word(np.asarray([list(once.values()), list(thrice.values())]))
    assert rates.shape == (2, len(FORMATTING) - 2)
    assert dict(zip(PER_WORD, rates[0], strict=True))["bold"] == pytest.approx(1000 / once["words"])
    assert rates[0][: PER_WORD.index("mean_paragraph")] == pytest.approx(rates[1][: PER_WORD.index("mean_paragraph")])
    assert np.isfinite(per_word(np.zeros((1, len(FORMATTING))))).all()


def test_without_a_style_nobody_is_recognised_and_the_seed_repeats_it() -> None:
    found = Recognition(corpus({}), 7).of_texts()
    assert next(one.accuracy for one in found if (one.text, one.features) == ("shown", "formatting")) < 0.6
    few = [one for one in corpus(STYLES) if one.topic in TOPICS[:5] and one.system in SYSTEMS[:2]]
    assert audit_blinding(few, seed=7) == audit_blinding(few, seed=7)


def test_systems_that_wrote_on_one_topic_alone_are_named_by_readers_who_saw_one_other() -> None:
    first, *others = SYSTEMS
    reports = [one for one in corpus(STYLES) if one.system == first or one.topic == TOPICS[0]]
    audit = audit_blinding(reports, seed=7)
    recalls = [one.recall for one in audit.identification if one.text == "shown"]
    assert recalls
    assert {recall[system] for recall in recalls for system in others} == {0.0}


@pytest.mark.parametrize(
    ("systems", "topics", "says"),
    [(1, 8, "too few systems: 1"), (3, 4, "too few topics: 4"), (0, 0, "too few systems: 0")],
)
def test_too_little_is_refused_and_never_a_number(systems: int, topics: int, says: str) -> None:
    reports = [report(system, topic, prose(topic)) for system in SYSTEMS[:systems] for topic in TOPICS[:topics]]
    audit = audit_blinding(reports, seed=7)
    assert audit.identification == ()
    assert audit.refused.startswith(says)
    assert "was not measured" in audit.sentence
    assert "%" not in audit.sentence
    assert math.isnan(audit.chance) == (systems == 0)


@pytest.mark.parametrize(
    ("decided", "says"),
    [
        ({}, "raters saw no system names, citations or traces of origin, but length and style remain"),
        (
            {"kept": ("search", "product", "search"), "masked": ("system",)},
            "or traces of origin, but for 3 passages (search 2, product 1) kept as content by decision, 1 name (system 1) "
            "shown as [system]; but length and style remain",
        ),
        (
            {"has_citations": True},
            "raters saw no system names or traces of origin, but citations, length and style remain",
        ),
        ({"masked": ("maker", "maker")}, "or traces of origin, 2 names (maker 2) shown as [system]; but length"),
    ],
)
def test_what_was_kept_or_masked_qualifies_the_sentence(decided: dict[str, tuple[str, ...]], says: str) -> None:
    gone = report("atlas", "b", "left out", status="excluded", kept=("title",))
    assert says in audit_blinding([report("atlas", "a", "Ships left.", **decided), gone], seed=7).sentence


def test_where_citations_stay_in_the_sentence_never_says_that_they_were_removed() -> None:
    for cited, says in (({*SYSTEMS}, "citations"), ({"handbook"}, "citations (in 2 of 6 reports)")):
        reports = [
            report(system, topic, f"Ships of {system} left.", has_citations=system in cited)
            for system in SYSTEMS
            for topic in "ab"
        ]
        sentence = audit_blinding(reports, seed=7).sentence
        assert f"no system names or traces of origin, but {says}, length and style remain" in sentence
        assert "citations removed" not in sentence


def test_what_stripping_left_is_said_and_never_that_raters_saw_no_citations() -> None:
    left = [report("atlas", "a", "Ships left [1], and [2] more."), report("atlas", "b", "See [3].", has_citations=True)]
    sentence = audit_blinding(left, seed=7).sentence
    assert "but for 2 places (bracket number 2) that may be traces of citations or origin; but" in sentence
    assert "traces of citations" not in audit_blinding([report("atlas", "a", "Ships left.")], seed=7).sentence


def test_residue_is_counted_per_system_and_the_reference_stands_beside() -> None:
    reports = [report("atlas", "a", "Ships left [1] ."), report("handbook", "a", "Ships left.")]
    audit = audit_blinding(reports, seed=7)
    assert audit.residue_counts["atlas"]["bracket_number"] == 1
    assert audit.residue_counts["atlas"]["gap"] == 1
    assert set(audit.residue_counts["handbook"].values()) == {0}


def test_a_report_that_lost_far_more_than_its_systems_others_is_listed() -> None:
    shares = {"a": 100, "b": 110, "c": 90, "e": 500}
    reports = [
        report("atlas", t, "x" * 1000, removed_characters=n, warnings=("w",) * (t == "e")) for t, n in shares.items()
    ]
    reports += [report("handbook", t, "x" * 1000, removed_characters=int(t == "a")) for t in shares]
    atlas, handbook = audit_blinding(reports, seed=7).removed
    assert (atlas.minimum, atlas.median, atlas.maximum) == pytest.approx((0.09, 0.105, 0.5))
    assert atlas.outliers == ("atlas/e",)
    assert atlas.warnings == {"atlas/e": ("w",)}
    assert handbook.is_reference
    assert handbook.outliers == ()  # one character is no outlier, though the deviation is 0


def test_gaps_name_what_is_missing_empty_twice_there_or_unequal() -> None:
    reports = [
        report("atlas", "a", "x" * 10),
        report("borealis", "a", "y" * 41),
        report("handbook", "a", "z" * 40),
        report("atlas", "b", "same"),
        report("borealis", "b", "same"),
        report("atlas", "c", "", status="empty"),
        report("borealis", "c", "w", status="excluded"),
        report("handbook", "c", "v", unresolved_flags=2),
    ]
    audit = audit_blinding(reports, seed=7)
    assert audit.sentence.startswith("Not blind yet: 2 passages that may name a report's maker wait for a decision.")
    assert audit_facts(audit)["sentence"] == ""  # no checklist may claim it
    gaps = audit.gaps
    assert gaps.missing == (("handbook", "b"),)
    assert gaps.empty == ("atlas/c",)
    assert gaps.excluded == ("borealis/c",)
    assert gaps.unresolved_flags == ("handbook/c",)
    assert gaps.duplicates == (("atlas/b", "borealis/b"),)
    assert gaps.unequal == (("borealis/a", "atlas/a", pytest.approx(4.1)),)
    assert gaps.layouts == ()
    older = [replace(one, form=f"{5 + (one.system == 'atlas')}/canonical") for one in reports]
    assert audit_blinding(older, seed=7).gaps.layouts == (("5/canonical", 4), ("6/canonical", 2))


if SAMPLE.is_dir():

    @pytest.mark.slow
    def test_canonical_format_makes_real_systems_harder_to_recognise() -> None:
        reports = []
        paths = [*SAMPLE.glob("test_data/*/md_data/*.md"), *SAMPLE.glob("wiki_data/cleaned_data/article/*.md")]
        for path in sorted(paths):
            system = path.parts[-3] if "test_data" in path.parts else "wikipedia"
            original = path.read_text(encoding="utf-8")
            stripped = strip_citations(original)
            shown = canonical_format(stripped.text, path.stem.replace("_", " ")).text
            reports.append(
                AuditedReport(
                    f"{system}/{path.stem}", path.stem, system, system == "wikipedia", original, stripped.text, shown,
                    sum(span.end - span.start for span in stripped.removed), stripped.warnings,
                )
            )  # fmt: skip
        audit = audit_blinding(reports, seed=7)
        print(audit.sentence)
        assert (audit.reports, audit.systems, audit.topics) == (144, 12, 12)
        assert accuracy(audit, "shown") < accuracy(audit, "stripped") <= accuracy(audit, "original")
        assert {hit.kind for hit in audit.residue} <= {"reference_heading"}  # one `**Citations utilized:**.1` is left
        assert audit.gaps.missing == ()
        assert not any(find_self_identification(r.shown, ("zzz",)) for r in reports if r.system == "openai")
