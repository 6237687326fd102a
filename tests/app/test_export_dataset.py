"""`calipers export dataset`: whole or not at all, and not one byte of it says who somebody is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
import typer
from sqlalchemy import select
from typer.testing import CliRunner

from annotation.errors import AnnotationError
from annotation.labelling import save, submit
from annotation.participation.standing import void_work
from annotation.people.links import invite
from annotation.people.principals import local_admin
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from app.commands.results.exporting import export_dataset
from app.settings import database, settings
from db.connect import open_database, transaction
from db.migrations import upgrade
from db.people_tables import Rater, SignIn
from db.tables import Assignment, Export, Label, Study
from exports.datasets.dataset import MARK
from exports.errors import ExportError
from tests.small_study import PROTOCOL, a_person, answer, make_study

NAME, MAIL, KEY = "Zelda Sentinelname", "zelda.s@sentinel.example", "sk-sentinel-0123456789abcdefghij"
SECRET = "a-secret-of-the-environment"
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """The command on a database of its own, with a secret in the environment."""
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{tmp_path}/x.db")
    monkeypatch.setenv("SENTINEL_API_KEY", SECRET)
    settings.cache_clear()
    database.cache_clear()
    app = typer.Typer()
    app.command()(export_dataset)

    def typed(*words: str) -> str:
        return str(CliRunner().invoke(app, words, catch_exceptions=False).stdout)

    yield typed
    settings.cache_clear()
    database.cache_clear()


@pytest.fixture
def told(tmp_path: Path, run: Run) -> list[str]:
    """A study whose annotator writes down who she is and more; what nobody may read."""
    upgrade(settings().database_url)
    engine = open_database(settings().database_url)
    study_id = make_study(engine, tmp_path / "reports")
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        token = invite(session, local_admin(study), "Invited Sentinelguest", "annotator")
        zelda = a_person(session, study_id, NAME)
        mine = take(session, zelda)
        assert mine is not None
        said = f"I, {NAME} ({MAIL}), with {KEY}, {SECRET} and {token}, see {Path.home()}/notes.md and /tmp/x/y: =1+1"
        page = assignment_page(session, zelda, mine.aid)
        save(session, zelda, [answer(page, code, "left", rationale=said) for code in ("clear", "deep")])
        submit(session, zelda, mine.aid, page["page"], "submit-00001", {"clear": 1, "deep": 1})
        hidden = [*NAME.split(), "Sentinelguest", MAIL, KEY, SECRET, token, str(tmp_path), "/tmp/x", f"{Path.home()}/"]
        for column in (Assignment.aid, Rater.opaque_id, Label.client_uuid, SignIn.cookie_sha256):
            hidden += [value for value in session.scalars(select(column)) if value]
    engine.dispose()
    return hidden


def test_no_byte_of_a_dataset_says_who_somebody_is(tmp_path: Path, run: Run, told: list[str]) -> None:
    assert "Removed from rationales: 2 e-mail, 6 key, 2 name, 4 path" in run(
        "small", "--out", str(tmp_path / "set"), "--texts"
    )
    files = sorted(path.name for path in (tmp_path / "set").iterdir())
    assert files == [
        "README.md", MARK, "criteria.jsonl", "croissant.json", "labels.csv", "labels.jsonl", "labels.parquet",
        "reports.jsonl", "reports.parquet",
    ]  # fmt: skip
    for name in files:
        path = tmp_path / "set" / name
        # Parquet is compressed: its cells are read, and its bytes as well
        text = path.read_bytes().decode("utf-8", "ignore")
        text += pd.read_parquet(path).to_json(force_ascii=False) if path.suffix == ".parquet" else ""
        assert not [one for one in told if one in text], name
    labels = pd.read_parquet(tmp_path / "set" / "labels.parquet")
    assert labels["rationale"].str.startswith("I, [name removed] ([e-mail removed]), with [key removed], ").all()
    assert labels["rater_id"].tolist() == ["annotator-02"] * 2


def test_nothing_that_somebody_had_taken_out_is_published(tmp_path: Path, run: Run, told: list[str]) -> None:
    with transaction(database()) as session:
        study = session.scalars(select(Study)).one()
        ben = a_person(session, study.id, "Ben")
        mine = take(session, ben)
        assert mine is not None
        save(session, ben, [answer(assignment_page(session, ben, mine.aid), "clear", "left", rationale="all mine")])
        void_work(session, local_admin(study), NAME, "asked to be taken out")
    out = tmp_path / "set"
    said = run("small", "--out", str(out))
    assert f"{out}: 1 row of labels (1 of work that no statistic counts), 9 reports, 2 criteria" in said
    assert "Left out: 2 rows of work that was taken out" in said
    assert pd.read_parquet(out / "labels.parquet")["rationale"].tolist() == ["all mine"]
    assert "[name removed]" not in "".join(path.read_bytes().decode("utf-8", "ignore") for path in out.iterdir())
    kept = json.loads(run("--out", str(out), "--with-void", "--json"))
    assert (kept["labels"], kept["void_left_out"]) == ({"void": 2, "apart": 1}, 0)
    assert "publish one that was written without `--with-void`" in (out / "README.md").read_text()


def test_an_earlier_dataset_is_replaced_whole_and_another_folder_never(
    tmp_path: Path, run: Run, told: list[str]
) -> None:
    out = tmp_path / "set"
    run("small", "--out", str(out), "--license", "CC-BY-4.0")
    with pytest.raises(ExportError, match="SPDX"):
        run("small", "--out", str(out), "--license", "no such")
    assert json.loads((out / MARK).read_text())["license"] == "CC-BY-4.0"  # after a refusal it is as it was
    found = json.loads(run("--out", str(out), "--json"))
    assert found["rows"] == {"labels": 2, "reports": 9, "criteria": 2}
    assert json.loads((out / MARK).read_text())["license"] is None
    other = tmp_path / "precious"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(AnnotationError, match="holds something else"):
        run("small", "--out", str(other))
    assert [path.name for path in other.iterdir()] == ["notes.txt"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_study_remembers_what_left_it(tmp_path: Path, run: Run, told: list[str]) -> None:
    run("small", "--out", str(tmp_path / "set"), "--license", "MIT")
    with database().connect() as connection:
        kept = connection.execute(select(Export.kind, Export.settings)).all()
    assert kept == [("dataset", {"texts": False, "with_void": False, "license": "MIT"})]


def test_a_blind_study_and_one_without_labels_give_none(tmp_path: Path, run: Run) -> None:
    upgrade(settings().database_url)
    engine = open_database(settings().database_url)
    blind = PROTOCOL.replace('blind_until = "open"', 'blind_until = "closed"')
    make_study(engine, tmp_path / "reports", protocol=blind, name="blind")
    make_study(engine, tmp_path / "reports", name="empty")
    for name, words in (("blind", "calipers reveal blind"), ("empty", "nobody has handed in work")):
        with pytest.raises(AnnotationError, match=words):
            run(name, "--out", str(tmp_path / "set"))
    assert not (tmp_path / "set").exists()
