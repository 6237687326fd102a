"""A backup is one moment of everything, and comes back into either kind of database as it was, or not at all."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import stat
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, event, func, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from typer.testing import CliRunner

from annotation.facts.soundness import find_faults
from annotation.labelling import save, submit
from annotation.people.links import invite
from annotation.people.principals import Principal, local_admin
from annotation.people.sign_ins import sign_in, who
from annotation.planning.plan_root import keep_plan_root
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from app.command_line import app
from app.screens.study.audit import backups_told
from app.settings import database, settings
from db import migrations
from db.backup import Backup, columns_there, read_manifest, readable, seal, sum_file, table_sums, writable, write_backup
from db.connect import open_database, reading, transaction
from db.errors import DatabaseError, DiskFull
from db.judge_tables import Judge, JudgeCall, JudgeConfig
from db.kept_backups import kept_backups
from db.people_tables import Rater, SignIn
from db.restore import check_backup, restore_backup
from db.tables import Assignment, Event, Item, Label, Report, Source, Study
from db.types import now
from tests.app.test_running_a_study import part
from tests.conftest import new_postgres
from tests.migrated import new_sqlite
from tests.small_study import PROBES, answer, answer_all, make_study

KINDS = ("sqlite", "postgres")


def quietly(_done: int, _of: int) -> None:
    """Nobody watches."""


def back_up(engine: Engine, out: Path) -> Backup:
    """Into a schema that is copied: only those who call `write_backup` themselves wait for its migrations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("db.backup.upgrade", lambda url, revision: new_sqlite(Path(str(sa.make_url(url).database))))
        return write_backup(engine, out, "1.2.3", quietly)


def restore(engine: Engine, file: Path, advance: Callable[[int, int], object] = quietly) -> int:
    return restore_backup(engine, file, check_backup(file, "", quietly), advance)


def sums(engine: Engine, folder: Path) -> dict[str, str]:
    """Table -> the SHA-256 of its rows."""
    made = back_up(engine, folder / f"{uuid.uuid4().hex}.calipers")
    return {table.name: table.sha256 for table in made.manifest.tables}


@pytest.fixture
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], Engine]]:
    """Makes another new database of the kind asked for."""
    with ExitStack() as ended:

        def made(kind: str) -> Engine:
            if kind == "sqlite":
                url = new_sqlite(tmp_path / f"{uuid.uuid4().hex}.db")
            else:
                url = ended.enter_context(new_postgres(request.getfixturevalue("postgres")))
            engine = open_database(url)
            ended.callback(engine.dispose)
            return engine

        yield made


def hand_in(session: Session, person: Principal) -> None:
    work = take(session, person)
    assert work is not None
    page = assignment_page(session, person, work.aid)["page"]
    submit(session, person, work.aid, page, f"submit-{work.aid[:8]}", answer_all(session, person, work.aid))


def add_judge(session: Session, study_id: int) -> None:
    """A judge that holds one call of two, for another hour."""
    rater = Rater(kind="judge", handle="judge-x")
    session.add(rater)
    session.flush()
    judge = Judge(study_id=study_id, rater_id=rater.id, name="judge-x", max_cost=0.5)
    session.add(judge)
    session.flush()
    config = JudgeConfig(
        judge_id=judge.id, sha256="c", model="m", params={"b": 1, "a": 1.10}, asked_params={}, template="t", template_sha256="t",
        structured=["schema"], batching="single", max_output_tokens=9, price={"input": 0.1 + 0.2}, price_source="",
    )  # fmt: skip
    session.add(config)
    session.flush()
    for state in ("leased", "planned"):
        held = {"worker": "gone", "lease_until": now() + timedelta(hours=1)} if state == "leased" else {}
        session.add(
            JudgeCall(
                key=state,
                judge_id=judge.id,
                config_id=config.id,
                state=state,
                criteria=[1],
                shown_sha256=["ä €"],
                **held,
            )
        )
    session.flush()


@pytest.fixture
def cookie(engine: Engine, tmp_path: Path) -> str:
    """A study at work: Ada handed in one item and holds another, Bea has a link, a judge holds a call. Ada's cookie."""
    study_id = make_study(engine, tmp_path / "reports", overlap=2)
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        cookie = sign_in(session, invite(session, local_admin(study), "Ada", "annotator"), "here")
        assert cookie is not None
        ada = who(session, cookie)
        assert ada is not None
        hand_in(session, ada)
        take(session, ada)
        add_judge(session, study_id)
    return cookie


def a_link(engine: Engine) -> str:
    with transaction(engine) as session:
        return invite(session, local_admin(session.scalars(select(Study)).one()), "Bea", "annotator")


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.usefixtures("cookie")
def test_rows_go_through_both_kinds_of_database_and_stay_the_same(
    engine: Engine, empty: Callable[[str], Engine], tmp_path: Path
) -> None:
    with transaction(engine) as session:  # a lease ends with the backup, so that only its row would differ
        session.execute(sa.update(JudgeCall).values(lease_until=now()))
    first = sums(engine, tmp_path)
    for number, kind in enumerate(("sqlite", "postgres", "sqlite")):
        file = tmp_path / f"step-{number}.calipers"
        back_up(engine, file)
        engine = empty(kind)
        restore(engine, file)
        assert sums(engine, tmp_path) == first


@pytest.mark.parametrize("kind", KINDS)
def test_a_restored_study_goes_on(
    engine: Engine, cookie: str, empty: Callable[[str], Engine], tmp_path: Path, kind: str
) -> None:
    token = a_link(engine)
    with transaction(engine) as session:
        root = keep_plan_root(session, session.scalars(select(Study)).one())
        orders = session.execute(
            select(Assignment.id, Assignment.left, Assignment.status).order_by(Assignment.id)
        ).all()
        ada = who(session, cookie)
        assert ada is not None
        held = take(session, ada)
        assert held is not None
        held_page = assignment_page(session, ada, held.aid)
        labels = session.scalar(select(func.max(Label.id))) or 0
    made = back_up(engine, tmp_path / "b.calipers")
    again = empty(kind)
    restore(again, tmp_path / "b.calipers")
    with transaction(again) as session:
        study = session.scalars(select(Study)).one()
        assert keep_plan_root(session, study) == root
        asked = select(Assignment.id, Assignment.left, Assignment.status).order_by(Assignment.id)
        assert session.execute(asked).all() == orders
        ends = session.scalars(select(JudgeCall.lease_until).where(JudgeCall.state == "leased")).one()
        assert ends is not None
        assert ends.isoformat() == made.manifest.made_at
        bea_cookie = sign_in(session, token, "here")
        bea, ada = who(session, bea_cookie), who(session, cookie)
        assert ada is not None
        assert bea is not None
        work = take(session, ada)
        assert work is not None
        page = assignment_page(session, ada, work.aid)
        assert page == held_page
        hand_in(session, ada)
        hand_in(session, ada)
        hand_in(session, bea)
        assert session.scalar(select(func.min(Label.id)).where(Label.id > labels)) == labels + 1
    with reading(again) as session:
        assert find_faults(session) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_restore_stores_passages_once_that_an_older_calipers_kept_with_each_probe(
    engine: Engine, empty: Callable[[str], Engine], tmp_path: Path, kind: str
) -> None:
    study_id = make_study(engine, tmp_path / "reports", protocol=PROBES)
    with transaction(engine) as session:
        session.execute(sa.update(Item).values(source_id=None, own_context="Ein „Satz“.\n").where(Item.id > 2))
        keep_plan_root(session, session.get_one(Study, study_id))
        shown = session.scalars(select(Item.context).order_by(Item.id)).all()
    back_up(engine, tmp_path / "b.calipers")
    restore(again := empty(kind), tmp_path / "b.calipers")
    with reading(again) as session:
        assert session.scalars(select(Item.context).order_by(Item.id)).all() == shown
        assert session.scalars(select(Item.own_context).distinct()).all() == [None]
        assert len(session.scalars(select(Source.text)).all()) == 4, "three of before, and one that many items have"
        assert find_faults(session) == [], "the plan's root is as it was"


@pytest.mark.usefixtures("cookie")
@pytest.mark.parametrize("kind", KINDS)
def test_history_stays_guarded_after_a_restore(
    engine: Engine, empty: Callable[[str], Engine], tmp_path: Path, kind: str
) -> None:
    back_up(engine, tmp_path / "b.calipers")
    again = empty(kind)
    restore(again, tmp_path / "b.calipers")
    for statement in (
        "UPDATE labels SET rationale = 'x'", "DELETE FROM labels", "DELETE FROM events", "DELETE FROM judge_configs",
        "UPDATE assignments SET plan_seed = 0",
    ):  # fmt: skip
        with pytest.raises(DBAPIError), again.begin() as connection:
            connection.execute(text(statement))


def test_a_backup_holds_nothing_of_what_is_written_meanwhile(
    engine: Engine, cookie: str, empty: Callable[[str], Engine], tmp_path: Path
) -> None:
    before = sums(engine, tmp_path)
    steps = []

    def write(done: int, of: int) -> None:
        steps.append((done, of))
        if len(steps) % 5 == 1:
            with transaction(engine) as session:
                ada = who(session, cookie)
                assert ada is not None
                hand_in(session, ada)

    made = write_backup(engine, tmp_path / "b.calipers", "1.2.3", write)
    assert {table.name: table.sha256 for table in made.manifest.tables} == before
    assert steps[-1] == (made.manifest.rows, made.manifest.rows)
    with reading(engine) as session:
        assert (session.scalar(select(func.count()).select_from(Label)) or 0) >= 6
    again = empty("sqlite")
    assert restore(again, tmp_path / "b.calipers") == made.manifest.rows


def test_no_label_is_torn_while_somebody_saves(
    engine: Engine, cookie: str, empty: Callable[[str], Engine], tmp_path: Path
) -> None:
    first, done, saved = threading.Event(), threading.Event(), []

    def keep_saving() -> None:
        while not done.is_set():
            with transaction(engine) as session:
                ada = who(session, cookie)
                assert ada is not None
                work = take(session, ada)
                assert work is not None
                page = assignment_page(session, ada, work.aid)
                seq, choice = len(saved) + 1, ("left", "right")[len(saved) % 2]
                saved.append(save(session, ada, [answer(page, code, choice, seq=seq) for code in ("clear", "deep")]))
            first.set()

    writer = threading.Thread(target=keep_saving)
    writer.start()
    try:
        assert first.wait(30)
        for number in range(3):
            back_up(engine, tmp_path / f"{number}.calipers")
    finally:
        done.set()
        writer.join()
    assert [one.refused for one in saved if one.refused] == []
    assert len(saved) > 1
    again = empty("sqlite")
    restore(again, tmp_path / "2.calipers")
    with reading(again) as session:
        answers = select(Label.assignment_id, Label.revision).group_by(Label.assignment_id, Label.revision)
        assert session.execute(answers.having(func.count() != 2)).all() == []
        assert find_faults(session) == []


@pytest.mark.usefixtures("cookie")
def test_a_backup_is_for_its_owner_only_and_never_replaces_a_file(engine: Engine, tmp_path: Path) -> None:
    out = tmp_path / "b.calipers"
    made = back_up(engine, out)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (out, sum_file(out))} == {0o600}
    assert sum_file(out).read_text() == f"{made.sha256}  b.calipers\n"
    kept = out.read_bytes()
    with pytest.raises(DatabaseError, match="never replaces a file"):
        back_up(engine, out)
    out.unlink()
    with pytest.raises(DatabaseError, match=r"b\.calipers\.sha256: exists"):
        back_up(engine, out)
    assert check(tmp_path, kept) == made.manifest


def check(folder: Path, content: bytes) -> Any:
    (folder / "copy.calipers").write_bytes(content)
    return check_backup(folder / "copy.calipers", "", quietly)


@pytest.mark.usefixtures("cookie")
def test_what_is_stopped_in_the_middle_leaves_nothing_behind(
    engine: Engine, empty: Callable[[str], Engine], tmp_path: Path
) -> None:
    def stop(done: int, of: int) -> None:
        if done > of / 2:
            raise KeyboardInterrupt

    place = tmp_path / "place"
    place.mkdir()
    with pytest.raises(KeyboardInterrupt):
        write_backup(engine, place / "b.calipers", "1.2.3", stop)
    assert list(place.iterdir()) == []
    back_up(engine, place / "b.calipers")
    for kind in KINDS:
        again = empty(kind)
        with pytest.raises(KeyboardInterrupt):
            restore(again, place / "b.calipers", stop)
        with reading(again) as session:
            assert session.scalar(select(func.count()).select_from(Report)) == 0
        assert restore(again, place / "b.calipers") > 0


@pytest.fixture
def no_room() -> Iterator[None]:
    """Whatever SQLite file is opened from here on cannot grow past what it has."""

    def stop(connection: Any, _record: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.execute("PRAGMA max_page_count=1")  # SQLite takes the pages there are

    event.listen(sa.pool.Pool, "connect", stop)
    yield
    event.remove(sa.pool.Pool, "connect", stop)


@pytest.fixture
def engine_of_ten_rows(engine: Engine) -> Engine:
    """Enough text that a database needs more pages for it."""
    with transaction(engine) as session:
        for number in range(10):
            session.add(Event(kind="audit", what=f"{number}", data={"text": "x" * 100_000}))
    return engine


def test_a_full_disk_is_named_and_nothing_is_left(
    engine_of_ten_rows: Engine, empty: Callable[[str], Engine], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    back_up(engine_of_ten_rows, place / "b.calipers")
    again = empty("sqlite")
    request.getfixturevalue("no_room")
    with pytest.raises(DiskFull, match=r"c\.calipers: no room for the backup"):
        back_up(engine_of_ten_rows, place / "c.calipers")
    assert {path.name for path in place.iterdir()} == {"b.calipers", "b.calipers.sha256"}
    with pytest.raises(DiskFull, match="free some disk space"):
        restore(again, place / "b.calipers")
    with reading(again) as session:
        assert session.scalar(select(func.count()).select_from(Event)) == 0


def rewritten(file: Path, *statements: str) -> None:
    """The file as somebody changed it, without the sum of the whole."""
    sum_file(file).unlink(missing_ok=True)
    with sqlite3.connect(file) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "another file": (lambda file: file.write_text("a,b\n1,2\n"), "its sha256 is"),
    "cut": (lambda file: file.write_bytes(file.read_bytes()[:-1]), "its sha256 is"),
    "cut, without its sum": (
        lambda file: (sum_file(file).unlink(), file.write_bytes(file.read_bytes()[:50_000])), "the file is damaged",
    ),
    "no database": (lambda file: (sum_file(file).unlink(), file.write_bytes(b"")), "no backup; name a file that"),
    "no backup": (lambda file: rewritten(file, "DROP TABLE calipers_backup"), "a database, but no backup"),
    "a manifest of nonsense": (
        lambda file: rewritten(file, "UPDATE calipers_backup SET manifest = '[]'"), "its manifest cannot be read",
    ),
    "a manifest of another shape": (
        lambda file: rewritten(file, "UPDATE calipers_backup SET manifest = replace(manifest, '\"0013\"', '[]')"),
        "its manifest cannot be read",
    ),
    "another format": (
        lambda file: rewritten(file, "UPDATE calipers_backup SET manifest = replace(manifest, 'backup/1', 'backup/2')"),
        "format 'calipers-backup/2' is of another calipers",
    ),
    "a newer schema": (
        lambda file: rewritten(file, "UPDATE calipers_backup SET manifest = replace(manifest, '\"0013\"', '\"9999\"')"),
        r"made by a newer calipers \(1\.2\.3\); install that version",
    ),
    "another schema": (
        lambda file: rewritten(file, "UPDATE alembic_version SET version_num = '0005'"), "its schema is not the one",
    ),
    "a changed label": (
        lambda file: rewritten(file, "DROP TRIGGER labels_no_update", "UPDATE labels SET choice = 'right'"),
        "what stands in labels is not what was written",
    ),
    "rows gone": (
        lambda file: rewritten(file, "DROP TRIGGER events_no_delete", "DELETE FROM events", "DROP TABLE exports"),
        "what stands in events, exports is not",
    ),
}  # fmt: skip


@pytest.fixture
def written(engine_here: Engine, tmp_path: Path) -> Path:
    """A backup of a study with one label."""
    make_study(engine_here, tmp_path / "reports")
    link = a_link(engine_here)
    with transaction(engine_here) as session:
        ada = who(session, sign_in(session, link, "here"))
        assert ada is not None
        hand_in(session, ada)
    back_up(engine_here, tmp_path / "b.calipers")
    return tmp_path / "b.calipers"


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_file_that_is_not_as_it_was_written_is_refused(written: Path, damage: str) -> None:
    harm, said = DAMAGE[damage]
    harm(written)
    with pytest.raises(DatabaseError, match=said) as refused:
        check_backup(written, "", quietly)
    assert "\n" not in str(refused.value)
    assert str(written) in str(refused.value)


def test_the_sum_that_was_printed_is_held_to(written: Path) -> None:
    printed = sum_file(written).read_text()[:64]
    sum_file(written).unlink()
    assert check_backup(written, f" {printed.upper()}\n", quietly).software == "1.2.3"
    with pytest.raises(DatabaseError, match="--sha256 says abc"):
        check_backup(written, "abc", quietly)


def test_no_database_that_holds_something_is_restored_into(
    engine: Engine, cookie: str, empty: Callable[[str], Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sums(engine, tmp_path)
    back_up(engine, tmp_path / "b.calipers")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "restored.db").touch()  # such a one was made before, and may be the one refused
    with pytest.raises(DatabaseError, match=r"into an empty database only; .*, such as sqlite:///restored-2.db"):
        restore(engine, tmp_path / "b.calipers")
    assert sums(engine, tmp_path) == before
    with pytest.raises(DatabaseError, match="holds nothing to keep"):
        back_up(empty("sqlite"), tmp_path / "c.calipers")


def test_tables_of_others_beside_ours_are_passed_over_and_unknown_ones_of_a_newer_calipers_refused(
    engine_here: Engine, tmp_path: Path
) -> None:
    make_study(engine_here, tmp_path / "reports")
    with engine_here.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE spatial_ref_sys (srid int)")
    assert "spatial_ref_sys" not in {one.name for one in back_up(engine_here, tmp_path / "b.calipers").manifest.tables}
    with engine_here.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        with pytest.raises(DatabaseError, match=r"spatial_ref_sys.srid is of another calipers"):
            columns_there(connection)


def test_an_upgrade_of_an_empty_database_makes_its_schema_and_needs_no_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new.db").touch()
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{tmp_path}/new.db")
    settings.cache_clear()
    database.cache_clear()
    done = CliRunner().invoke(app, ["upgrade", str(tmp_path / "before.calipers")])
    assert (done.exit_code, "the database was empty; its schema is" in done.output) == (0, True), done
    assert not (tmp_path / "before.calipers").exists()
    database().dispose()


A_STUDY = (
    "INSERT INTO studies (id, name, protocol_text, protocol_sha256, protocol_version, seed, status, is_simulated, "
    "created_at) VALUES (7, 'old', '', '', 1, 9007199254740993, 'draft', 0, '2026-01-02 03:04:05.000006')"
)


def older_backup(file: Path, revision: str) -> None:
    """One study as a calipers of that schema would have kept it."""
    engine = writable(file)
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.execute(text(A_STUDY))
        seal(connection, "0.0.1", revision, now().isoformat(), quietly)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("revision", ["0001", "0005"])
def test_what_an_older_calipers_wrote_is_brought_up_to_date(
    empty: Callable[[str], Engine], tmp_path: Path, kind: str, revision: str
) -> None:
    older_backup(tmp_path / "old.calipers", revision)
    kept = (tmp_path / "old.calipers").read_bytes()
    engine = empty(kind)
    assert restore(engine, tmp_path / "old.calipers") == 1
    assert (tmp_path / "old.calipers").read_bytes() == kept
    with transaction(engine) as session:
        study = session.scalars(select(Study)).one()
        assert (study.id, study.seed, study.created_at.isoformat()) == (
            7, 9007199254740993, "2026-01-02T03:04:05.000006+00:00",
        )  # fmt: skip
        session.add(Study(name="new", protocol_text="", protocol_sha256="", seed=1))
        session.flush()
        assert session.scalars(select(Study.id).where(Study.name == "new")).one() == 8


@pytest.mark.parametrize("kind", KINDS)
def test_an_upgrade_backs_up_changes_the_schema_and_examines_or_changes_nothing(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    url = f"sqlite:///{tmp_path}/older.db"
    if kind == "postgres":
        server = request.getfixturevalue("postgres").server
        made = f"older_{uuid.uuid4().hex}"
        plain = sa.create_engine(server, isolation_level="AUTOCOMMIT")
        with plain.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {made}")
        request.addfinalizer(lambda: plain.connect().exec_driver_sql(f"DROP DATABASE {made} WITH (FORCE)"))
        url = server.set(database=made).render_as_string(hide_password=False)
    monkeypatch.setenv("CALIPERS_DATABASE_URL", url)
    settings.cache_clear()
    database.cache_clear()
    migrations.upgrade(url, "0005")
    with database().begin() as connection:
        connection.execute(text(A_STUDY.replace(", 0, '2026", ", false, '2026") if kind == "postgres" else A_STUDY))

    def run(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["upgrade", *words])
        return done.exit_code, f"{done.output}{done.exception or ''}"

    file = tmp_path / "before.calipers"
    assert (run()[0], "name a new file" in run()[1]) == (2, True)
    (tmp_path / "taken").touch()
    assert "a backup never replaces a file" in run(str(tmp_path / "taken"))[1]
    with reading(database()) as session:
        assert migrations.current_version(session.connection()) == "0005", "nothing was changed without a backup"
    code, said = run(str(file))
    assert (code, "the schema went from 0005 to" in said, "every rule holds" in said) == (0, True, True)
    with readable(file) as kept:
        assert read_manifest(kept, file).revision == "0005"
    assert check_backup(file, "", quietly).rows == 1
    assert "already, as this version has it" in run()[1]
    with transaction(database()) as session:
        assert session.scalars(select(Study.seed)).all() == [9007199254740993]
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert "made by a newer calipers" in run(str(tmp_path / "never"))[1]
    assert not (tmp_path / "never").exists()
    database().dispose()


@pytest.mark.parametrize("time", ["X'00'", "7", "'soon'"])
def test_a_time_that_is_none_is_said_and_nothing_is_kept(
    empty: Callable[[str], Engine], written: Path, tmp_path: Path, time: str
) -> None:
    rewritten(written, f"UPDATE studies SET created_at = {time}")
    with readable(written) as connection:
        told = replace(read_manifest(connection, written), tables=table_sums(connection, quietly))
    rewritten(written, f"UPDATE calipers_backup SET manifest = '{json.dumps(asdict(told))}'")
    engine = empty("sqlite")
    with pytest.raises(DatabaseError, match=r"value .*; nothing was restored"):
        restore(engine, written)
    with reading(engine) as session:
        assert session.scalar(select(func.count(Study.id))) == 0


def test_what_postgres_cannot_keep_is_said_and_nothing_is_kept(
    engine_here: Engine, empty: Callable[[str], Engine], tmp_path: Path
) -> None:
    with transaction(engine_here) as session:
        session.add(Rater(kind="human", handle="fine"))
        session.add(Study(name="a\0b", protocol_text="", protocol_sha256="", seed=1))
    back_up(engine_here, tmp_path / "b.calipers")
    again = empty("postgres")
    with pytest.raises(DatabaseError, match=r"a value in studies.name that does not fit there; nothing was restored"):
        restore(again, tmp_path / "b.calipers")
    with reading(again) as session:
        assert session.scalar(select(func.count()).select_from(Rater)) == 0


def test_sums_do_not_depend_on_the_order_of_rows_in_the_file(written: Path) -> None:
    with readable(written) as connection:
        first = table_sums(connection, quietly)
    with sqlite3.connect(written) as connection:
        connection.execute("CREATE TABLE kept AS SELECT * FROM sign_ins ORDER BY id DESC")
        connection.execute("DELETE FROM sign_ins")
        connection.execute("INSERT INTO sign_ins SELECT * FROM kept")
        connection.execute("DROP TABLE kept")
    connection.close()
    with readable(written) as again:
        assert table_sums(again, quietly) == first
    assert replace(first[0], rows=-1) != first[0]


def test_the_commands_say_what_was_written_and_that_it_is_sound(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "monday.calipers"

    def run(*words: str) -> Any:
        done = CliRunner().invoke(app, [*words, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    said = run("backup", str(out))
    assert said["sha256"] == sum_file(out).read_text()[:64]
    assert (said["format"], said["revision"]) == ("calipers-backup/1", "0013")
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{tmp_path}/again.db")
    settings.cache_clear()
    database.cache_clear()
    restored = run("restore", str(out), "--sha256", said["sha256"])
    assert (restored["rows"], restored["sound"], restored["faults"]) == (said["rows"], True, [])
    with reading(database()) as session:
        assert session.scalars(select(SignIn)).one()
    plain = CliRunner().invoke(app, ["restore", str(out)])
    assert plain.exit_code == 1
    assert isinstance(plain.exception, DatabaseError)


def test_one_is_made_when_the_last_is_old_enough_the_oldest_go_and_a_restore_can_be_tried(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_study(engine_here, tmp_path / "reports")
    folder = tmp_path / "kept"
    monkeypatch.setenv("CALIPERS_BACKUP_FOLDER", str(folder))
    monkeypatch.setenv("CALIPERS_BACKUP_KEEP", "2")
    settings.cache_clear()
    less_urgent: list[int] = []
    monkeypatch.setattr("os.nice", less_urgent.append)  # this process has other tests to run, and browsers to start
    monkeypatch.setattr("signal.signal", lambda *given: None)
    assert backups_told(settings(), now()) == ("No backup has been made yet, and one is due every 24 h.", True)

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        return done.stdout

    for days in (3, 2, 1, 0):
        with monkeypatch.context() as then:
            then.setattr("db.types.now", lambda days=days: now() - timedelta(days=days))
            assert "it holds reports" in run("backup", "--due")
            assert "no other is due yet" in run("backup", "--due")
    assert set(less_urgent) == {10}
    kept = kept_backups(folder)
    assert (len(kept), now() - kept[0].made_at < timedelta(hours=1)) == (2, True)
    assert {path.stat().st_mode & 0o077 for path in [folder, *folder.iterdir()]} == {0}
    assert len([*folder.iterdir()]) == 4, "each with its sum, and nothing of those that went"
    stored = "every rule holds" in run("restore", "--try", str(kept[0].file))
    assert (stored, kept_backups(folder)[0].tried_at is not None) == (True, True)
    told = f"is 0 h old, {kept[0].size / 1e6:.1f} MB; a restore was tried on {now():%Y-%m-%d}."
    assert backups_told(settings(), now()) == (f"The newest of 2 backups {told}", False)
    told, is_late = backups_told(settings(), now() + timedelta(hours=27))
    assert ("It is late: one is due every 24 h" in told, is_late) == (True, True)
    assert backups_told(replace(settings(), backup_folder=None), now())[1]
    (link := folder / "calipers-2020-01-01T00.calipers").symlink_to(folder / "deleted since it was listed")
    assert len(kept_backups(folder)) == 2
    link.unlink()
    link.symlink_to(link)
    told, is_late = backups_told(settings(), now())
    assert (told.startswith("Backups cannot be looked at: "), is_late) == (True, True)
    settings.cache_clear()


def test_the_guide_keeps_a_copy_as_it_says(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_study(engine_here, tmp_path / "reports")
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```sh\n(.*?)```", part("Keep a copy"), re.DOTALL)
    for line in block.splitlines():
        words = shlex.split(line)
        at = words.index("calipers")
        for name, value in (word.split("=", 1) for word in words[:at]):
            monkeypatch.setenv(name, value)
            settings.cache_clear()
            database.cache_clear()
        done = CliRunner().invoke(app, words[at + 1 :])
        assert done.exit_code == 0, done.output
    assert "every rule holds" in done.output
    assert (tmp_path / "restored.db").exists()
    database().dispose()
