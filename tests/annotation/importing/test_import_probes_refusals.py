"""What a table of probes is refused for: by file and line, all at once, with what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlalchemy import Engine

from annotation.errors import ImportingError
from tests.annotation.layout_trees import everything, json_lines, put
from tests.annotation.probe_trees import bring_probes, read_probes, study_of, table
from tests.small_study import PROBES

GOOD = {"probe_id": "k1", "topic": "tides", "text": "It rises.", "system": "", "context": "", "source": "", "gold": ""}
TWO_QUESTIONS = PROBES + '[[criterion]]\nid = "clear"\nlabel = "Clear"\ntext = "Is it clear?"\n'

ROWS = [
    ({"topic": "tide"}, "claims.csv:3: no topic 'tide' in the study; did you mean 'tides'?"),
    ({"topic": "zzz"}, "claims.csv:3: no topic 'zzz' in the study (there are: bread, tides)"),
    ({"system": "alpa"}, "claims.csv:3: no system 'alpa' in the study; did you mean 'alpha'?"),
    ({"system": "gamma"}, "claims.csv:3: no report with text by 'gamma' on topic 'tides'; import it, or remove the probe"),
    ({"text": " \n"}, "claims.csv:3: 'text' is empty; fill it in or remove it"),
    ({"text": "\ufeff"}, "claims.csv:3: 'text' is empty; fill it in or remove it"),
    ({"probe_id": ""}, "claims.csv:3: no probe_id in 'probe_id'; fill it in or remove the row"),
    ({"probe_id": "k0"}, "claims.csv:3: a second probe 'k0' on topic 'tides' (the first is claims.csv:2)"),
    ({"probe_id": "k0", "system": "alpha"}, "claims.csv:3: a second probe 'k0' about 'alpha' on topic 'tides' (the first is claims.csv:2)"),
    ({"gold": "yes"}, "claims.csv:3: gold: 'yes' is not an answer this study allows (full, part, source_unavailable)"),
    ({"context": "x", "source": "a.txt"}, "claims.csv:3: both 'context' and 'source' hold source passages; keep one"),
    ({"source": "nowhere.txt"}, "claims.csv:3: no source file 'nowhere.txt'; add it, or leave the source empty"),
    ({"source": "../out.txt"}, "claims.csv:3: source '../out.txt' is not inside here; name a file below"),
    ({"source": "deep/../../out.txt"}, "is not inside here"),
    ({"source": "/etc/hostname"}, "claims.csv:3: source '/etc/hostname' is not inside here"),
    ({"source": "..\\out.txt"}, "is not inside here"),
    ({"source": "link.txt"}, "claims.csv:3: source 'link.txt' is not inside here"),
    ({"source": "folder/link.txt"}, "is not inside here"),
    ({"source": "loop.txt"}, "claims.csv:3: no source file 'loop.txt'; add it"),
    ({"source": "x" * 300}, "claims.csv:3: no source file 'xxxxx"),
    ({"source": "latin.txt"}, "latin.txt:1: byte 0xe9 at 3 is not UTF-8"),
]  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outside")
    put(folder / "out.txt", "a secret")
    put(folder / "here/latin.txt", "caf\xe9".encode("latin-1"))
    os.symlink(folder / "out.txt", folder / "here/link.txt")
    os.symlink(folder, folder / "here/folder")
    os.symlink("loop.txt", folder / "here/loop.txt")
    put(folder / "link.txt", "a secret")
    return folder / "here"


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(("changes", "says"), ROWS)
def test_a_row_is_refused_by_file_and_line_and_nothing_is_written(
    engine: Engine, tmp_path: Path, here: Path, changes: dict[str, str], says: str
) -> None:
    study = study_of(engine, tmp_path, systems=("alpha", "beta", "gamma"), empty=("gamma/tides",))
    before = everything(engine)
    path = put(here / "claims.csv", table([GOOD | {"probe_id": "k0"}, GOOD | changes]))
    with pytest.raises(ImportingError) as caught:
        bring_probes(engine, study, path)
    assert says in str(caught.value)
    assert "a secret" not in str(caught.value)
    assert everything(engine) == before


def test_every_problem_is_told_at_once(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "reports")
    rows = [GOOD | {"topic": "tide"}, GOOD | {"text": ""}, GOOD | {"system": "x"}, GOOD | {"gold": "no"}]
    with pytest.raises(ImportingError) as caught:
        bring_probes(engine, study, put(tmp_path / "claims.csv", table(rows)))
    assert [problem.split(": ")[0] for problem in caught.value.problems] == [
        "claims.csv:3", "claims.csv:2", "claims.csv:4", "claims.csv:5",
    ]  # fmt: skip


@pytest.mark.databases("sqlite")
def test_a_true_answer_needs_one_question(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "reports", TWO_QUESTIONS)
    with pytest.raises(ImportingError, match="a true answer, but 2 questions are asked; leave it out"):
        bring_probes(engine, study, put(tmp_path / "claims.csv", table([GOOD | {"gold": "full"}])))


@pytest.mark.parametrize(
    ("rows", "options", "says"),
    [
        ([{"id": 1, "topic": "tides", "claim": "x"}], {}, "claims.jsonl: no column 'probe_id' (found: id, topic, claim); did you mean --map probe_id=id?"),
        ([{"probe_id": 1, "topic": "tides", "claim": "x"}], {}, "did you mean --map text=claim?"),
        ([{"probe_id": 1, "topic": "tides", "text": "x"}], {"columns": {"tag": "kind"}}, "no column 'kind' (found: probe_id, topic, text)"),
        ([{"probe_id": 1, "topic": "tides", "text": "x", "system": "a"}], {"system": "b"}, "--system and a column 'system' both name the system"),
        ([], {}, "claims.jsonl: no rows; give a file with a probe a row"),
    ],
)  # fmt: skip
def test_a_table_without_its_columns_is_refused(
    tmp_path: Path, rows: list[dict[str, object]], options: dict[str, object], says: str
) -> None:
    with pytest.raises(ImportingError) as caught:
        read_probes(put(tmp_path / "claims.jsonl", json_lines(rows)), "table", **options)
    assert says in str(caught.value)


def test_ids_stay_text_and_a_cell_that_is_no_text_is_refused(tmp_path: Path) -> None:
    rows = [
        {"probe_id": 7, "topic": "007", "text": "x", "tag": 1},
        {"probe_id": "007", "topic": "1e5", "text": ["x"]},
        {"probe_id": "8", "topic": "1e5", "text": "x", "context": {"a": 1}},
    ]
    parsed = read_probes(put(tmp_path / "claims.jsonl", json_lines(rows)), "table")
    assert [(one.key, one.topic, one.tag) for one in parsed.probes] == [("7", "007", "1")]
    assert parsed.problems == (
        "claims.jsonl:2: 'text' is not text; correct it or remove it",
        "claims.jsonl:3: 'context' is not text but a list, an object or bytes; give one text",
    )
