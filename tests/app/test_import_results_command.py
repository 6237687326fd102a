"""`calipers import labels` and `import judge-results` as a user types them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select
from typer.testing import CliRunner, Result

from annotation.errors import ImportingError
from annotation.importing.labels.results_entries import person
from app.command_line import app
from app.settings import database, settings
from db.connect import open_database, reading
from db.people_tables import Enrollment, Key, Rater
from db.tables import Import, Label
from tests.annotation.layout_trees import put
from tests.annotation.result_trees import inspect_log, inspect_sample, labels_file, writing
from tests.migrated import new_sqlite
from tests.small_study import make_study

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """A study with items, some files of results, and the command with the words that follow `import`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{tmp_path}/x.db")
    engine = open_database(new_sqlite(tmp_path / "x.db"))
    make_study(engine, tmp_path / "reports")
    engine.dispose()
    labels_file(tmp_path / "labels.csv", [{}, {"rater_id": "ann", "rater_kind": "human", "label": "model_b"}])
    put(tmp_path / "run/tides_writing.json", writing({"clear": "gen"}))
    sample = inspect_sample({"qid": "tides", "system_a": "alpha", "system_b": "beta"}, {"clear": {"value": "A"}})
    put(tmp_path / "log.json", inspect_log([sample]))
    forget()
    yield lambda *words: CliRunner().invoke(app, ["import", *words])
    forget()


def forget() -> None:
    """Settings and engine belong to a process; here each test is one."""
    settings.cache_clear()
    database.cache_clear()


def labels(path: Path) -> int:
    engine = open_database(f"sqlite:///{path}/x.db")
    with reading(engine) as session:
        count = session.scalar(select(func.count()).select_from(Label)) or 0
    engine.dispose()
    return count


def test_labels_come_in_with_the_words_the_user_explains(run: Run, tmp_path: Path) -> None:
    words = ("labels", "labels.csv", "--study", "small", "--map-label", "model_b=B")
    dry = run(*words, "--dry-run")
    assert (dry.exit_code, dry.stderr, labels(tmp_path)) == (0, "dry run: nothing was written\n", 0)
    done = run(*words)
    assert done.stdout.splitlines() == [
        "labels: 2 answers on 1 item: 2 new, 0 unchanged, 0 revised, 0 unmatched",
        "raters mini 1, ann 1",
        "status ok 2",
        "order unknown 2: left out of every statistic about which report comes first",
        "texts read: proved by hash 0, not proved 4, another text 0 (kept, and left out of verdicts)",
    ]
    assert labels(tmp_path) == 2
    assert json.loads(run(*words, "--json").stdout)["unchanged"] == 2


def test_judge_results_come_in_by_their_layout(run: Run, tmp_path: Path) -> None:
    done = run("judge-results", "log.json", "--layout", "inspect", "--map", "topic=metadata.qid", "--first", "beta")
    assert "inspect: 1 answer on 1 item: 1 new" in done.stdout
    assert "order known throughout" in done.stdout
    assert labels(tmp_path) == 1


def test_problems_are_all_in_the_json(run: Run) -> None:
    done = run("judge-results", "labels.csv", "--layout", "labels", "--labels-are", "sides", "--json")
    assert done.exit_code == 1
    assert [problem[:13] for problem in json.loads(done.stdout)["problems"]] == ["labels.csv:2:"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("judge-results", "labels.csv", "--layout", "tidy"), 2, "no layout 'tidy'; choose one of labels, wlc,"),
        (("judge-results", "run", "--layout", "wlc", "--map", "topic=a"), 2, "layout wlc has its own places"),
        (("labels", "labels.csv", "--labels-are", "colours"), 2, "choose systems or sides"),
        (("labels", "nowhere.csv"), 1, "nowhere.csv: not there; give the file or folder that holds the results"),
        (("judge-results", "log.json", "--layout", "inspect", "--map", "colour=a"), 1, "no field 'colour'"),
        (("judge-results", "run", "--layout", "wlc", "--judge", "j"), 1, "--system: missing"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(run: Run, words: tuple[str, ...], code: int, says: str) -> None:
    done = run(*words)
    if code == 1:
        assert isinstance(done.exception, ImportingError)
    else:
        assert done.exit_code == 2
    told = str(done.exception) if code == 1 else " ".join(done.stderr.replace("│", " ").split())
    assert says in told


def test_labels_of_an_annotation_tool_come_in_as_the_user_maps_them(run: Run, tmp_path: Path) -> None:
    answer = {"from_name": "clear", "to_name": "text", "type": "choices", "value": {"choices": ["left"]}}
    task = {
        "id": 1, "data": {"query": "tides", "one": "alpha", "two": "beta", "shown": "beta"},
        "annotations": [{"completed_by": 7, "result": [answer]}],
    }  # fmt: skip
    put(tmp_path / "tasks.json", json.dumps([task]))
    words = ("labels", "tasks.json", "--layout", "label_studio", "--labels-are", "sides", "--map")
    refused = run(*words, "topic=data.qid,system_a=data.one,system_b=data.two")
    assert isinstance(refused.exception, ImportingError)
    assert "tasks.json: task 1 annotation 1 clear: nothing at 'data.qid'" in str(refused.exception)
    done = run(*words, "topic=data.query,system_a=data.one,system_b=data.two,first=data.shown")
    assert done.exit_code == 0
    assert "label_studio: 1 answer on 1 item: 1 new" in done.output
    assert "order known throughout" in done.output
    assert labels(tmp_path) == 1


def test_an_annotator_known_by_an_address_is_called_by_an_hmac_of_it_with_the_databases_key(
    run: Run, tmp_path: Path
) -> None:
    pair = {"qid": "tides", "system_a": "alpha", "system_b": "beta"}
    record = {"id": "1", "metadata": pair, "responses": {"clear": [{"value": "A", "user_id": "ada@example.org"}]}}
    put(tmp_path / "argilla.json", json.dumps([record]))
    words = ("labels", "argilla.json", "--study", "small", "--layout", "argilla", "--map", "topic=metadata.qid")
    assert run(*words, "--dry-run").exit_code == 0
    assert run(*words).exit_code == 0
    engine = open_database(f"sqlite:///{tmp_path}/x.db")
    with reading(engine) as session:
        key = session.scalars(select(Key.secret)).one()  # the dry run made none
        handles = [one for one in session.scalars(select(Rater.handle)) if one.startswith("user-")]
        names = [*handles, *session.scalars(select(Enrollment.pseudonym))]
        kept = json.dumps([one.options for one in session.scalars(select(Import))])
    engine.dispose()
    assert person("ada@example.org", key) in names
    plain = hashlib.sha256(b"ada@example.org").hexdigest()[:12]
    assert not [name for name in names if plain in name or "@" in name]
    assert key not in kept
