"""A connection lost in mid-save and a full disk: a clear message, and no label lost or stored twice."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import streamlit as st
from sqlalchemy import Engine, event, select
from streamlit.testing.v1 import AppTest

from annotation.facts.soundness import find_faults
from app import command_line
from app.files.whole_files import whole_file
from app.logs import line_format
from app.settings import database, settings
from db.connect import reading, transaction
from db.tables import Assignment, Criterion, Event, Label
from tests.app.visiting import Site, first_page, post
from tests.small_study import answer

SHELL = Path(command_line.__file__).with_name("shell.py")
KEPT = "your text is kept and will be sent again"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Named before `site`: how long a writer waits is read when the database is opened."""
    monkeypatch.setattr("db.connect.BUSY_S", 0.2)


def cut(engine: Engine, connection: Any) -> None:
    """End this connection: on Postgres its backend, on SQLite, which has no server, the connection itself."""
    if engine.dialect.name == "sqlite":
        connection.rollback()
        connection.close()
        return
    with sa.create_engine(engine.url, isolation_level="AUTOCOMMIT").connect() as other:
        other.execute(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": connection.info.backend_pid})
        other.engine.dispose()


@contextmanager
def before_the_first_write(engine: Engine) -> Iterator[None]:
    """The connection is lost after the reads of a request, when the first row is about to be written."""

    def cut_once(connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(("INSERT", "UPDATE")):
            event.remove(engine, "before_cursor_execute", cut_once)
            cut(engine, connection.connection.dbapi_connection)

    event.listen(engine, "before_cursor_execute", cut_once)
    yield


@contextmanager
def committing(engine: Engine, *, before: bool) -> Iterator[None]:
    """The connection is lost right before, or right after, the database carries out one COMMIT."""
    commit = engine.dialect.do_commit

    def lose(connection: Any) -> None:
        engine.dialect.do_commit = commit
        if not before:
            commit(connection.dbapi_connection)
        cut(engine, connection.dbapi_connection)
        connection.cursor().execute("SELECT 1")  # the driver's own words for what happened

    engine.dialect.do_commit = lose
    yield


MOMENTS: dict[str, Callable[[Engine], AbstractContextManager[None]]] = {
    "before the first write": before_the_first_write,
    "before COMMIT": lambda engine: committing(engine, before=True),
    "after COMMIT, before the reply": lambda engine: committing(engine, before=False),
}


def logged(caplog: pytest.LogCaptureFixture, error_id: str) -> str:
    """The server's log line about this error, as it is written."""
    (record,) = (one for one in caplog.records if getattr(one, "error_id", "") == error_id)
    return line_format().format(record)


def labels(site: Site) -> list[tuple[str, int, str | None, str]]:
    rows = select(Criterion.code, Label.revision, Label.choice, Label.rationale)
    with reading(site.engine) as session:
        return list(session.execute(rows.join(Criterion, Criterion.id == Label.criterion_id).order_by(Label.id)))


def slots(site: Site) -> list[tuple[int, int, str]]:
    """(item, slot, status) of everything that is or could become work."""
    rows = select(Assignment.item_id, Assignment.slot_no, Assignment.status).where(Assignment.status != "returned")
    with reading(site.engine) as session:
        return sorted(session.execute(rows))


def trail(site: Site) -> list[str]:
    with reading(site.engine) as session:
        return list(session.scalars(select(Event.what).where(Event.kind == "audit").order_by(Event.id)))


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_connection_lost_in_any_request_is_said_and_the_request_again_does_it_once(
    site: Site, moment: str, caplog: pytest.LogCaptureFixture
) -> None:
    token, client = site.token(), site.visitor()
    planned = len(slots(site))

    def twice(path: str, body: dict[str, Any]) -> dict[str, Any]:
        with MOMENTS[moment](site.engine):
            lost = post(client, path, body)
        error_id = lost.json()["error_id"]
        assert lost.status_code == 503
        assert lost.json()["text"] == f"the server could not do this (error {error_id}); {KEPT}"
        assert site.engine.url.database in logged(caplog, error_id), "the server's log names the database"
        again = post(client, path, body)
        assert again.status_code == 200, again.text
        assert post(client, path, body).json() == again.json(), "and a late copy changes nothing"
        return dict(again.json())

    with MOMENTS[moment](site.engine):
        lost = client.get(f"/invite/{token}")
    assert (lost.status_code, lost.headers["content-type"]) == (503, "text/html; charset=utf-8")
    assert "open your link again" in lost.text
    assert client.get(f"/invite/{token}").status_code == 303

    page = client.get(f"/api/assignment/{twice('/api/take', {})['next']}").json()
    entries = [answer(page, code, choice).model_dump() for code, choice in (("clear", "left"), ("deep", "right"))]
    assert [ack["rev"] for ack in twice("/api/labels", {"entries": entries})["acks"]] == [1, 1]
    assert [row[:3] for row in labels(site)] == [("clear", 1, "left"), ("deep", 1, "right")]

    about = {"aid": page["aid"], "page": page["page"], "revs": {"clear": 1, "deep": 1}}
    done = twice("/api/submit", {**about, "outcome": "submit", "client_uuid": "submit-1"})
    following = client.get(f"/api/assignment/{done['next']}").json()
    assert twice("/api/submit", {**about, "outcome": "reopen", "client_uuid": "reopen-1"})["next"] == page["aid"]
    away = {"aid": following["aid"], "page": following["page"], "reason": "broken", "client_uuid": "skip-001"}
    twice("/api/submit", {**away, "outcome": "skip"})

    assert len(labels(site)) == 2
    assert len(slots(site)) == len({slot[:2] for slot in slots(site)}) == planned, "no slot lost, none doubled"
    done_once = [what for what in trail(site) if what in ("submit", "reopen", "give_back")]
    assert done_once == ["submit", "reopen", "give_back"]
    with reading(site.engine) as session:
        assert find_faults(session) == []


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_file_that_somebody_else_keeps_locked_is_said_and_the_answer_is_stored_once_it_is_free(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    client = site.signed_in()
    page = first_page(client)
    entries = {"entries": [answer(page, "clear", "left").model_dump()]}
    other = sqlite3.connect(str(site.engine.url.database), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    refused = post(client, "/api/labels", entries)
    assert (refused.status_code, KEPT in refused.json()["text"]) == (503, True)
    assert "database is locked" in logged(caplog, refused.json()["error_id"])
    assert client.get(f"/api/assignment/{page['aid']}").status_code == 200, "reading goes on meanwhile"
    other.execute("ROLLBACK")
    other.close()
    for _ in range(2):
        assert post(client, "/api/labels", entries).json()["acks"][0]["rev"] == 1
    assert len(labels(site)) == 1


@contextmanager
def full_disk(engine: Engine) -> Iterator[None]:
    """SQLite may not grow by a page; Postgres fails as it would (simulated: its own error, raised by a trigger)."""
    if engine.dialect.name == "sqlite":

        def cap(connection: Any) -> None:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

        def uncap(connection: Any) -> None:
            connection.exec_driver_sql("PRAGMA max_page_count=4294967294")

        event.listen(engine, "begin", cap)
        yield
        event.remove(engine, "begin", cap)
        event.listen(engine, "begin", uncap)
        return
    with transaction(engine) as session:
        session.execute(sa.text(
            "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION"
            " 'could not extend file \"base/1/2\": No space left on device' USING ERRCODE = 'disk_full'; END $$"
        ))  # fmt: skip
        session.execute(sa.text("CREATE TRIGGER no_room AFTER INSERT ON labels EXECUTE FUNCTION no_room()"))
    yield
    with transaction(engine) as session:
        session.execute(sa.text("DROP FUNCTION no_room() CASCADE"))


def test_a_full_disk_is_named_nothing_is_half_written_and_with_space_all_is_stored_once(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    client = site.signed_in()
    page = first_page(client)
    entries = [
        answer(page, code, choice, rationale=code[0] * 10_000).model_dump()
        for code, choice in (("clear", "left"), ("deep", "right"))
    ]
    entries.append({
        "kind": "comment", "aid": page["aid"], "page": page["page"], "text": "a remark", "client_uuid": "comment-1",
    })  # fmt: skip
    with full_disk(site.engine):
        for _ in range(2):
            refused = post(client, "/api/labels", {"entries": entries})
            error_id = refused.json()["error_id"]
            assert refused.status_code == 503
            assert refused.json()["text"] == f"the server's disk is full (error {error_id}); {KEPT}"
            said = logged(caplog, error_id)
            assert "free some disk space" in said
            assert "DiskFull" in said
            assert "cccc" not in said, "no word of an annotator in the log"
        assert labels(site) == []
    for _ in range(2):
        assert len(post(client, "/api/labels", {"entries": entries}).json()["acks"]) == 3
    assert [(code, revision, len(text)) for code, revision, _, text in labels(site)] == [
        ("clear", 1, 10_000),
        ("deep", 1, 10_000),
    ]
    with reading(site.engine) as session:
        assert len(list(session.scalars(select(Event).where(Event.kind == "comment")))) == 1


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:////no/such/folder/calipers.db", "The server cannot reach its data"),
        ("postgresql://nobody@127.0.0.1:1/nothing", "The server cannot reach its data"),
    ],
)
def test_a_page_without_its_database_says_what_becomes_of_the_text(
    url: str, said: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CALIPERS_DATABASE_URL", url)
    settings.cache_clear()
    database.cache_clear()
    monkeypatch.setattr(type(st.context), "cookies", {"calipers": "a cookie"})
    screen = AppTest.from_file(str(SHELL), default_timeout=60).run()
    settings.cache_clear()
    database.cache_clear()
    assert not screen.exception
    (shown,) = (block.proto.body for block in screen.get("html") if 'class="c-empty"' in block.proto.body)
    assert said in shown
    assert "What you typed is kept in this browser and will be sent." in shown
    error_id = shown.split("error ")[1].split(".")[0]
    assert logged(caplog, error_id)


def test_the_command_line_names_a_full_disk_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def write(*_words: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "labels.csv")

    monkeypatch.setattr(command_line, "_named", lambda _: write)
    with pytest.raises(SystemExit):
        command_line.main()
    assert capsys.readouterr().err == "calipers: labels.csv: No space left on device; free some disk space\n"


def test_a_file_that_could_not_be_written_to_its_end_leaves_the_earlier_one_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "labels.csv"
    with whole_file(out) as file:
        file.write("the first export\n")
    with pytest.raises(OSError, match="No space left") as full, whole_file(out) as file:
        file.write("half of the sec")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert full.value.filename == str(out)
    assert out.read_text() == "the first export\n"
    assert list(tmp_path.iterdir()) == [out]
