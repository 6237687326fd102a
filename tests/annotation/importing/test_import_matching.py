"""How names find their topics, which ids never meet, and what the import says about all of it."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from annotation.errors import ImportingError
from annotation.files.folders import match, number_hint
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.records import Parsed, title_of
from annotation.importing.reports.wlc import read_wlc
from db.connect import reading
from db.tables import Report
from tests.annotation.layout_trees import bring_in, put, text
from tests.annotation.test_importing import write_wlc
from tests.small_study import write_reports


def topics(parsed: Parsed) -> dict[str, str]:
    return {topic.key: topic.title for topic in parsed.topics}


def systems(parsed: Parsed) -> list[str]:
    return [system.key for system in parsed.systems]


@pytest.mark.databases("sqlite")
def test_a_wikipedia_title_with_a_slash_finds_its_file_and_is_shown_as_it_is_spelled(
    engine: Engine, tmp_path: Path
) -> None:
    root = write_wlc(tmp_path, ("Fall_River_New_Bedford_Line", "Tidal_power"))
    for name in ("ga_sample.json", "ga_sample.csv"):
        path = root / "wiki_data" / name
        put(path, path.read_text().replace("Fall_River_New", "Fall_River/New"))
    (root / "test_data/atlas/md_data/Tidal_power.md").rename(root / "test_data/atlas/md_data/Tidal power.md")
    parsed = read_wlc(root)
    assert topics(parsed)["Fall_River_New_Bedford_Line"] == "Fall River/New Bedford Line"
    assert parsed.topics[0].prompt == "Write about tides."
    assert parsed.matched_by_fallback == (
        "Fall_River/New_Bedford_Line -> Fall_River_New_Bedford_Line.md",
        "Tidal_power -> test_data/atlas/md_data/Tidal power.md",
    )
    assert any(line.startswith("matched by fallback 2 (Fall_River/New") for line in bring_in(engine, parsed).lines())


def test_a_file_matches_topics_csv_by_fallback_only_where_one_topic_remains(tmp_path: Path) -> None:
    write_reports(tmp_path, ("Bread and butter", "A_B"), ("alpha", "beta"))
    (tmp_path / "beta/Bread and butter.md").rename(tmp_path / "beta/Bread_and_butter.md")
    put(tmp_path / "topics.csv", "topic,title\nBread and butter,Bread\nA/B,One\nA B,Two\n")
    parsed = read_folder(tmp_path)
    assert parsed.matched_by_fallback == ("Bread and butter -> beta/Bread_and_butter.md",)
    assert parsed.problems == tuple(
        f"{system}/A_B.md: topic 'A_B' is not in topics.csv; add it there or rename the file"
        for system in ("alpha", "beta")
    )


def test_a_topics_csv_that_comes_later_gives_prompts_and_categories_and_no_report_another_heading(
    engine: Engine, tmp_path: Path
) -> None:
    keys = ("tidal-power", "wind-power")
    bring_in(engine, read_folder(write_reports(tmp_path, keys, ("alpha", "beta"))))
    put(
        tmp_path / "topics.csv", "topic,title,prompt,category\n" + "".join(f"{key},On it,Why?,energy\n" for key in keys)
    )

    def told_again() -> tuple[str, ...]:
        return tuple(one for one in bring_in(engine, read_folder(tmp_path)).notes if one.startswith("topics "))

    kept = "topics told otherwise than before, title stays 2 (tidal-power, wind-power)"
    assert told_again() == ("topics given what they lacked, prompt, category 2 (tidal-power, wind-power)", kept)
    write_reports(tmp_path, keys, ("alpha", "beta", "gamma"))
    assert told_again() == (kept,)
    with reading(engine) as session:
        headings = {text.split("\n")[0] for text in session.scalars(select(Report.shown_text))}
    assert headings == {"# tidal-power", "# wind-power"}, "a heading of its own would tell gamma from the others"


def test_without_topics_csv_the_first_spelling_of_a_topic_stands(tmp_path: Path) -> None:
    write_reports(tmp_path, ("Bread and butter",), ("alpha", "beta"))
    (tmp_path / "beta/Bread and butter.md").rename(tmp_path / "beta/Bread_and_butter.md")
    parsed = read_folder(tmp_path)
    assert topics(parsed) == {"Bread and butter": "Bread and butter"}
    assert parsed.matched_by_fallback == ("Bread and butter -> beta/Bread_and_butter.md",)


def test_names_with_dots_and_in_nfd_are_keys_in_nfc_without_their_suffix_only(tmp_path: Path) -> None:
    name = "Vorlesungen_über_das_19._Jahrhundert"
    put(tmp_path / "langchain_w_gpt4.1" / f"{unicodedata.normalize('NFD', name)}.md", text("one"))
    put(tmp_path / "b" / f"{name}.MD", text("two"))
    parsed = read_folder(tmp_path)
    assert topics(parsed) == {name: name.replace("_", " ")}
    assert systems(parsed) == ["b", "langchain_w_gpt4.1"]
    assert parsed.nfd_names == 1


@pytest.mark.parametrize(
    ("key", "candidates", "found"),
    [
        ("A_B", ["A_B", "A B"], "A_B"),
        ("A_B", ["A B"], "A B"),
        ("A_B", ["A/B"], "A/B"),
        ("A/B", ["A_B"], "A_B"),
        ("A_B", ["A B", "A/B"], None),
        ("A_B", ["a b"], None),
        ("1", ["001"], None),
    ],
)
def test_a_name_matches_as_written_or_by_the_two_substitutions(
    key: str, candidates: list[str], found: str | None
) -> None:
    assert match(key, candidates) == found


@pytest.mark.parametrize(
    ("key", "candidates", "hint"),
    [
        ("1", ["001", "2"], " (as a number it would be '001'; ids are compared as written)"),
        ("001", ["1"], " (as a number it would be '1'; ids are compared as written)"),
        ("1", ["2"], ""),
        ("a", ["b"], ""),
        ("١", ["1"], ""),
    ],
)
def test_ids_that_would_meet_as_numbers_are_told_and_never_joined(key: str, candidates: list[str], hint: str) -> None:
    assert number_hint(key, candidates) == hint


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("Write on tides.\nSay why.", "Write on tides."),
        ("", ""),
        ("word " * 40, "word " * 18 + "word…"),
        ("潮" * 200, "潮" * 99 + "…"),
    ],
)
def test_a_long_prompt_gives_a_short_title(prompt: str, title: str) -> None:
    assert title_of(prompt) == title
    assert len(title_of(prompt)) <= 100


def test_the_import_report_counts_first_and_then_names_at_most_twenty(engine: Engine, tmp_path: Path) -> None:
    root = write_reports(tmp_path, tuple(f"t{number:02}" for number in range(25)), ("alpha", "beta", "gamma"))
    rows = ["topic,title,category", *(f"t{number:02},T,{'one' if number == 0 else 'many'}" for number in range(25))]
    put(root / "topics.csv", "\n".join(rows))
    for number in range(1, 23):
        (root / f"beta/t{number:02}.md").unlink()
    put(root / "gamma/t00.md", b"\xef\xbb\xbf" + text("same").replace("\n", "\r\n").encode())
    put(root / "alpha/t00.md", text("same"))
    put(root / "alpha/t24.md", "")
    put(root / "alpha/notes.json", "{}")
    lines = bring_in(engine, read_folder(root), "folder", allow_missing=True, allow_empty=True).lines()
    assert lines[:3] == [
        "folder: 25 topics, 3 systems, 53 reports: 52 new, 0 unchanged, 1 empty",
        f"reports are missing: beta 22 ({', '.join(f't{number:02}' for number in range(1, 21))} and 2 more); "
        "3 of 25 topics are complete",
        "of the files 1 with a byte order mark, 1 with Windows line ends, 1 ignored",
    ]
    assert "empty 1 (alpha/t24.md)" in lines
    assert "duplicate texts 1 (alpha/t00.md = gamma/t00.md)" in lines
    assert "categories with one topic 1 (one)" in lines
    assert next(line for line in lines if line.startswith("short")).startswith("short (< 50 words) 50 (")


@pytest.mark.databases("sqlite")
def test_ids_of_one_tree_that_differ_by_zeros_are_two_topics_and_the_error_says_so(
    engine: Engine, tmp_path: Path
) -> None:
    write_reports(tmp_path, ("001",), ("alpha",))
    write_reports(tmp_path, ("1",), ("beta",))
    with pytest.raises(ImportingError) as caught:
        bring_in(engine, read_folder(tmp_path))
    assert caught.value.problems == (
        "alpha: no report for 1 of 2 topics (1) (as a number it would be '001'; ids are compared as written); "
        "add them or pass --allow-missing",
        "beta: no report for 1 of 2 topics (001) (as a number it would be '1'; ids are compared as written); "
        "add them or pass --allow-missing",
    )
