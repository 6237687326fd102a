"""A table is read as text: ids and texts come back exactly as they were written, whatever they look like."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from annotation.errors import ImportingError
from annotation.files.decoding import nfc
from annotation.importing.reports.records import Parsed
from annotation.importing.reports.table import TableOptions, parse_map, read_table
from db.connect import reading
from db.tables import Topic
from tests.annotation.layout_trees import bring_in, json_lines, put, text

MAP = {"topic": "id", "system": "model", "text": "response", "title": "query", "category": "domain"}
ODD = ("007", "1e5", "NA", "null", "1", "001", "2009.12610", "nan", "True", "-0", "1_000")


def rows(ids: tuple[str, ...] = ODD) -> list[dict[str, str]]:
    return [
        {"id": key, "model": "search-r1-custom", "response": text(key), "query": f"潮汐 {key}", "domain": "Ocean"}
        for key in ids
    ]


def write_table(path: Path, content: list[dict[str, Any]]) -> Path:
    if path.suffix == ".csv":
        out = io.StringIO()
        writer = csv.DictWriter(out, list(content[0]))
        writer.writeheader()
        writer.writerows(content)
        return put(path, out.getvalue())
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(content), path)
        return path
    return put(
        path, json_lines(content) if path.suffix == ".jsonl" else json.dumps(content, ensure_ascii=False, indent=1)
    )


def read(path: Path, **options: Any) -> Parsed:
    return read_table(path, "utf-8", TableOptions(**{"columns": MAP} | options))


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet"])
def test_ids_that_look_like_numbers_or_nothing_survive(engine: Engine, tmp_path: Path, suffix: str) -> None:
    path = write_table(tmp_path / f"a.{suffix}", rows())
    parsed = read(path)
    assert [topic.key for topic in parsed.topics] == list(ODD)
    assert [report.text for report in parsed.reports] == [text(key) for key in ODD]
    assert [system.key for system in parsed.systems] == ["search-r1-custom"]
    assert bring_in(engine, parsed, "table").new == len(ODD)
    assert bring_in(engine, read(path), "table").unchanged == len(ODD)
    with reading(engine) as session:
        topic = session.scalars(select(Topic).where(Topic.key == "007")).one()
        assert (topic.title, topic.category, topic.features) == ("潮汐 007", "Ocean", {})


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("1", "1"),
        ("2009.12610", "2009.12610"),
        ("1e5", "1e5"),
        ("-0", "-0"),
        ("9" * 5000, "9" * 5000),
        ("true", "true"),
    ],
)
def test_a_number_in_json_is_the_text_it_was_written_as(tmp_path: Path, written: str, key: str) -> None:
    path = put(tmp_path / "a.jsonl", f'{{"topic": {written}, "system": "s", "text": "a"}}\n')
    assert read_table(path).topics[0].key == key


def test_a_parquet_id_that_became_a_fraction_is_refused_for_its_last_zero_is_gone(tmp_path: Path) -> None:
    content = [{"id": 2009.12610, "model": "s", "response": "a"}, {"id": None, "model": "s", "response": "a"}]
    path = write_table(tmp_path / "a.parquet", content)
    parsed = read(path, columns={"topic": "id", "system": "model", "text": "response"})
    assert parsed.problems == (
        "a.parquet:1: 'id' is a number with a fraction (2009.1261), so a last 0 would be lost; save the column as text",
        "a.parquet:2: no topic in 'id'; fill it in or remove the row",
    )
    whole = write_table(tmp_path / "b.parquet", [{"topic": 7, "system": "s", "text": "a"}])
    assert read_table(whole).topics[0].key == "7"
    with pytest.raises(ImportingError, match=r"^c\.parquet: not Parquet \(.*\); the file may be cut off"):
        read_table(put(tmp_path / "c.parquet", whole.read_bytes()[:-9]))
    with pytest.raises(ImportingError, match=r"^d\.parquet:1: 'text' holds a NUL"):
        read_table(write_table(tmp_path / "d.parquet", [{"topic": "7", "system": "s", "text": "a\0b"}]))


def test_a_bom_crlf_and_a_quoted_line_end_leave_the_bytes_of_the_report_alone(tmp_path: Path) -> None:
    path = put(
        tmp_path / "a.csv",
        b'\xef\xbb\xbfid,model,response\r\n007,s,"One, ""two"".\r\n\r\nThree."\r\n\r\n008,s,Four.\r\n',
    )
    parsed = read_table(path, "utf-8", TableOptions(parse_map("topic=id,system=model,text=response")))
    first = parsed.reports[0]
    assert (first.original, first.text) == (b'One, "two".\r\n\r\nThree.', 'One, "two".\n\nThree.')
    assert [report.path for report in parsed.reports] == ["a.csv:2", "a.csv:6"]
    assert (parsed.bom, parsed.crlf) == (1, 1)


def test_a_declared_encoding_is_used_and_never_guessed(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "topic,system,text\n1,s,It’s café\n".encode("cp1252"))
    with pytest.raises(ImportingError, match=r"^a\.csv:2: byte 0x92 at 24 is not UTF-8; .* --encoding cp1252"):
        read_table(path)
    assert read_table(path, "cp1252").reports[0].text == "It’s café"


def test_a_report_longer_than_the_csv_modules_limit_comes_in(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.csv", [{"topic": "1", "system": "s", "text": "tide " * 100_000}])
    assert len(read_table(path).reports[0].text) == 500_000


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"columns": {}}, ["a.csv: no column 'topic' (found: id, model, answer, extra); did you mean --map topic=id?",
                           "a.csv: no column 'system' (found: id, model, answer, extra); did you mean --map system=model? (or pass --system NAME)",
                           "a.csv: no column 'text' (found: id, model, answer, extra); did you mean --map text=answer?"]),
        ({"columns": {"topic": "id", "system": "modle", "text": "answer"}},
         ["a.csv: no column 'modle' (found: id, model, answer, extra); did you mean --map system=model?"]),
        ({"columns": {"topic": "id", "system": "model", "text": "answer", "title": "zzz"}},
         ["a.csv: no column 'zzz' (found: id, model, answer, extra); name it with --map title=COLUMN"]),
        ({"columns": {"topic": "id", "system": "model", "text": "answer"}, "system": "atlas"},
         ["a.csv: --system and a column 'model' both name the system; use one of them"]),
    ],
)  # fmt: skip
def test_a_column_that_is_not_there_is_refused_with_those_that_are_and_the_nearest(
    tmp_path: Path, options: dict[str, Any], says: list[str]
) -> None:
    path = write_table(tmp_path / "a.csv", [{"id": "007", "model": "atlas", "answer": "The tide.", "extra": "x"}])
    with pytest.raises(ImportingError) as caught:
        read_table(path, "utf-8", TableOptions(**options))
    assert list(caught.value.problems) == says


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("topic", "--map topic: no column named; write FIELD=COLUMN, such as text=response"),
        ("topc=id", "--map topc=id: no field 'topc' (there are: topic, system, text, title, prompt, category, language); did you mean topic=id?"),
        ("response=text", "--map response=text: no field 'response' (there are: topic, system, text, title, prompt, category, language); swap the two"),
        ("topic=id,topic=task", "--map topic=task: field 'topic' is named twice; keep one"),
    ],
)  # fmt: skip
def test_a_map_that_cannot_be_read_is_refused(words: str, says: str) -> None:
    with pytest.raises(ImportingError) as caught:
        parse_map(words)
    assert caught.value.problems == (says,)
    assert parse_map(" topic = id , text=the answer,") == {"topic": "id", "text": "the answer"}


def test_an_error_never_prints_more_than_sixty_characters_of_a_report(tmp_path: Path) -> None:
    content = [{"topic": "1", "system": system, "text": "a", "title": system * 500} for system in "ab"]
    problem = read_table(write_table(tmp_path / "a.jsonl", content)).problems[0]
    assert ("b" * 59 + "…") in problem
    assert "b" * 60 not in problem


def test_one_system_for_all_rows_may_be_named_by_the_user(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.jsonl", [{"topic": "1", "text": "a"}, {"topic": "2", "text": "b"}])
    parsed = read_table(path, "utf-8", TableOptions(system="X_custom"))
    assert [(report.system, report.topic) for report in parsed.reports] == [("X_custom", "1"), ("X_custom", "2")]


def test_other_columns_are_kept_as_features_only_when_asked_and_only_where_a_topic_has_one_value(
    tmp_path: Path,
) -> None:
    content = [
        {"topic": "1", "system": system, "text": system, "views": "007", "tags": ["sea"], "seed": number}
        for number, system in enumerate("ab")
    ]
    path = write_table(tmp_path / "a.jsonl", content)
    plain, kept = read_table(path), read_table(path, "utf-8", TableOptions(keep_columns=True))
    assert (plain.topics[0].features, plain.notes) == (
        {},
        ("columns left out 3 (views, tags, seed); --keep-columns keeps them",),
    )
    assert kept.topics[0].features == {"views": "007", "tags": ["sea"]}
    assert kept.notes == ("columns left out 1 (seed): they vary within a topic",)


def test_what_no_database_keeps_as_json_is_left_out_or_becomes_text(tmp_path: Path) -> None:
    odd = {"picture": b"\xff\0", "score": float("inf"), "scores": [1.5, float("-inf")]}
    path = write_table(
        tmp_path / "a.parquet", [{"topic": "1", "system": system, "text": system} | odd for system in "ab"]
    )
    parsed = read_table(path, "utf-8", TableOptions(keep_columns=True))
    assert parsed.topics[0].features == {"score": "inf", "scores": [1.5, "-Infinity"]}
    assert parsed.notes == ("columns left out 1 (picture): they hold bytes",)


def test_a_file_of_another_kind_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportingError, match=r"^a\.xlsx: not a kind of table that is known; give \.jsonl, "):
        read_table(put(tmp_path / "a.xlsx", "x"))
    with pytest.raises(ImportingError, match=r"not a file; give one file that ends in \.jsonl"):
        read_table(tmp_path)


@pytest.mark.databases("sqlite")
def test_the_same_text_by_two_systems_is_told_as_a_forced_tie(engine: Engine, tmp_path: Path) -> None:
    path = write_table(
        tmp_path / "a.jsonl", [{"topic": "1", "system": system, "text": text("same")} for system in "ab"]
    )
    assert "duplicate texts 1 (a.jsonl:1 = a.jsonl:2)" in bring_in(engine, read_table(path)).lines()


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
keys = texts.map(nfc).filter(bool)


@given(st.dictionaries(keys, texts, min_size=1, max_size=5))
def test_any_text_and_any_id_come_back_from_every_kind_of_file(
    tmp_path_factory: pytest.TempPathFactory, held: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    content = [{"topic": key, "system": "s", "text": value} for key, value in held.items()]
    for suffix in ("jsonl", "json", "csv", "parquet"):
        parsed = read_table(write_table(folder / f"a.{suffix}", content))
        assert parsed.problems == ()
        assert {report.topic: report.original.decode() for report in parsed.reports} == held
