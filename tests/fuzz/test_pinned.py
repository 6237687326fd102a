"""What a thousand spoiled files found, each once more by itself."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from annotation.errors import AnnotationError
from annotation.files.decoding import read_toml, storable
from annotation.labels.entries import read_entry
from app.commands.printing import LINE_MAX, OBEYED, print_json, visible
from app.settings import database
from db.backup import OURS
from db.connect import open_database
from db.migrations import upgrade
from db.restore import first_misfit
from tests.annotation.layout_trees import json_lines, put
from tests.annotation.result_trees import inspect_log, promptfoo_log, promptfoo_result
from tests.fuzz.stored import wrong
from tests.fuzz.test_backups import seal_again
from tests.fuzz.trees import SCORED, as_frame, study_of
from tests.fuzz.typed import calipers, unfit
from tests.small_study import PROTOCOL

ROW = {
    "item_id": "x1", "rater_id": "mini", "rater_kind": "judge", "criterion": "clear", "label": "A", "cluster_id": "tides",
    "system_a": "alpha", "system_b": "beta",
}  # fmt: skip


@pytest.fixture
def folder(elsewhere: Path) -> Path:
    """Beside a small study."""
    engine = open_database(f"sqlite:///{elsewhere}/calipers.db")
    study_of()(engine, elsewhere / "made")
    engine.dispose()
    return elsewhere


@pytest.mark.parametrize("value", ["9" * 5_000, "[" * 3_000 + "]" * 3_000])
def test_a_toml_beyond_what_python_reads_is_refused(folder: Path, value: str) -> None:
    with pytest.raises(ValueError, match="thousands of digits, or brackets"):
        read_toml(f"seed = {value}")
    put(folder / "small.toml", PROTOCOL.replace('title = "A small study"', f"title = {value}"))
    said = calipers("init", "other", "--protocol", folder / "small.toml")
    assert (said.code, unfit(said)) == (1, [])


def test_a_line_without_a_needed_name_is_named(folder: Path) -> None:
    lacking = {name: value for name, value in ROW.items() if name != "cluster_id"}
    put(folder / "labels.jsonl", json_lines([ROW, lacking]))
    said = calipers("import", "labels", "labels.jsonl")
    assert (said.code, said.err) == (1, "calipers: labels.jsonl:2: no 'cluster_id' here; add it or remove the row\n")


@pytest.mark.parametrize("scores", ["a text", [1], 7])
def test_scores_of_inspect_that_are_no_object_are_named(folder: Path, scores: object) -> None:
    put(folder / "log.json", inspect_log([{"id": 1, "metadata": SCORED, "scores": scores}]))
    said = calipers("import", "judge-results", "log.json", "--layout", "inspect")
    assert (said.code, "'scores' of a sample is no object" in said.err) == (1, True)


@pytest.mark.parametrize("components", [1, True, "text", {}])
def test_components_of_promptfoo_that_are_no_list_are_left_out(folder: Path, components: object) -> None:
    result = promptfoo_result(SCORED, []) | {"gradingResult": {"componentResults": components}}
    put(folder / "results.json", promptfoo_log([result]))
    said = calipers("import", "judge-results", "results.json", "--layout", "promptfoo", "--judge", "j")
    assert (said.code, unfit(said)) == (1, [])


def test_what_a_file_says_never_commands_a_terminal(folder: Path) -> None:
    put(folder / "labels.csv", "\x1b[31mred\x1b[0m,\u202efile\n1,2\n")
    said = calipers("import", "labels", "labels.csv")
    assert (said.code, unfit(said)) == (1, [])
    assert "\\x1b[31mred" in said.err
    assert visible("two\nlines\tand\u2066 more\x85") == "two\nlines\tand\\u2066 more\\x85"


def test_json_of_such_words_commands_no_terminal_and_is_read_as_the_same_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = {"judge": "\u202eevil\u202c\x7f\x85\u2028\ud800 é 中"}
    print_json(said)
    printed = capsys.readouterr().out
    assert OBEYED.findall(printed) == []
    assert json.loads(printed) == said
    assert "é 中" in printed


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ("UPDATE studies SET seed = 'seven'", "studies.seed"), ("UPDATE criteria SET position = 3000000000", "criteria.position"),
        ("UPDATE reports SET removed = 'no JSON'", "reports.removed"), ("UPDATE reports SET original = 'text'", "reports.original"),
        ("UPDATE criteria SET weight = 9e999", "criteria.weight"), ("UPDATE topics SET title = x'ff'", "topics.title"),
        ("UPDATE topics SET title = 'a' || char(0)", "topics.title"), ("UPDATE topics SET title = title", None),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_its_column_is_found(folder: Path, change: str, where: str | None) -> None:
    upgrade(f"sqlite:///{folder}/calipers.db")
    with sqlite3.connect(folder / "calipers.db") as opened:
        opened.execute(change)
    opened.close()
    with database().connect() as connection:
        assert first_misfit(connection) == where


def test_json_of_a_thousand_brackets_is_refused(folder: Path) -> None:
    put(folder / "log.json", json.dumps({"eval": {}, "samples": []}).replace("[]", "[" * 3_000 + "]" * 3_000))
    said = calipers("import", "judge-results", "log.json", "--layout", "inspect")
    assert (said.code, unfit(said)) == (1, [])


def test_half_a_character_in_a_note_is_spelled_out_where_it_is_kept_and_printed(folder: Path) -> None:
    content = {"tides": {"scores": {"Clear": [7, "well"]}}, "bread": {"scores": {"\udfff": [3, "x"]}}}
    put(folder / "results/alpha/evaluation_results_detailed_m.json", json.dumps(content))
    said = calipers("import", "judge-results", "results", "--layout", "deepresearchgym")
    assert unfit(said) == []
    assert wrong(database()) == []


def test_a_report_of_an_import_is_kept_without_half_characters() -> None:
    assert storable({"notes": ("a\udfffb", ["\0"]), "\ud800": 1}) == {"notes": ["a\\udfffb", ["\\0"]], "\\ud800": 1}


def test_a_key_of_eleven_thousand_characters_does_not_fill_the_screen(folder: Path) -> None:
    put(folder / "small.toml", PROTOCOL.replace("guidance =", f"{'x' * 11_000} ="))
    said = calipers("init", "other", "--protocol", folder / "small.toml")
    assert (said.code, unfit(said), len(said.err.strip())) == (1, [], len("calipers: ") + LINE_MAX)


@pytest.mark.parametrize(("name", "told"), [("\0", "?"), ("a\x1b[31m", "a?[31m"), ("x" * 5_000, "x" * 100)])
def test_a_refusal_repeats_no_more_of_a_request_than_can_be_read(name: str, told: str) -> None:
    with pytest.raises(AnnotationError, match=f"^{re.escape(told)}: "):
        read_entry({"kind": "comment", "client_uuid": "0" * 8, "aid": "0" * 32, "page": "0" * 32, "text": "x", name: 1})


def test_a_kind_of_entry_that_nobody_knows_is_quoted_in_part() -> None:
    with pytest.raises(AnnotationError) as refusal:
        read_entry({"kind": "x" * 5_000 + "\x1b[31m", "client_uuid": "uuid-00004932"})
    assert len(refusal.value.text) < 400
    assert refusal.value.text.isprintable()


@pytest.mark.parametrize("spoiled", ["studies SET created_at = 'nan'", "reports SET original = 'text for bytes'"])
def test_a_backup_with_a_time_that_is_none_or_a_text_for_bytes_is_refused(
    folder: Path, migrated_sqlite: Path, spoiled: str
) -> None:
    assert calipers("backup", "monday.calipers").code == 0
    (folder / "monday.calipers.sha256").unlink()
    opened = sqlite3.connect(folder / "monday.calipers", isolation_level=None)
    (manifest,) = opened.execute(f"SELECT manifest FROM {OURS}").fetchone()
    assert opened.execute(f"UPDATE {spoiled}").rowcount
    opened.execute(f"DROP TABLE {OURS}")
    seal_again(folder / "monday.calipers", json.loads(manifest), opened)
    database().dispose()
    shutil.copy(migrated_sqlite, folder / "calipers.db")
    said = calipers("restore", "monday.calipers")
    assert (said.code, unfit(said), "nothing was restored" in said.err) == (1, [], True)


def test_parquet_whose_text_is_no_utf_8_is_refused(folder: Path) -> None:
    as_frame([ROW], "labels.parquet")(folder)
    raw = (folder / "labels.parquet").read_bytes()
    put(folder / "labels.parquet", raw.replace(b"tides", b"t\x94des"))
    said = calipers("import", "labels", "labels.parquet")
    assert (said.code, unfit(said)) == (1, [])
