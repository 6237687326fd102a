"""What the database itself forbids, on SQLite and on Postgres alike."""

from __future__ import annotations

import threading
from datetime import datetime
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, StatementError
from sqlalchemy.orm import Session

import db.judge_tables as jt
import db.people_tables as pt
import db.tables as t
from db.connect import open_database, reading, transaction
from db.errors import DatabaseError
from db.migrations import upgrade
from db.types import Record, now

pytestmark = pytest.mark.every_case


def a_study(session: Session, topics: int = 1) -> t.Study:
    study = t.Study(name="s", protocol_text="", protocol_sha256="", seed=1)
    session.add(study)
    session.flush()
    session.add(t.Import(id=1, study_id=study.id, kind="reports", layout="folder", source="x"))
    for k in (1, 2):
        session.add(t.System(id=k, study_id=study.id, key=f"sys{k}", public_name=f"sys{k}"))
    session.flush()
    for n in range(1, topics + 1):
        session.add(t.Topic(id=n, study_id=study.id, key=f"t{n}", title=f"t{n}"))
        session.flush()
        for k in (1, 2):
            session.add(
                t.Report(
                    id=10 * n + k, study_id=study.id, topic_id=n, system_id=k, import_id=1, original=b"x",
                    original_sha256="", original_text="x", shown_text="x", shown_sha256="", stripper_version="1", words=1,
                )
            )  # fmt: skip
    session.flush()
    return study


def a_pair(session: Session, study: t.Study, a: int = 11, b: int = 12, topic: int = 1) -> t.Item:
    item = t.Item(study_id=study.id, topic_id=topic, kind="pair", report_a_id=a, report_b_id=b)
    session.add(item)
    session.flush()
    return item


def a_label(session: Session, study: t.Study, **changes: Any) -> t.Label:
    item = a_pair(session, study)
    rater = pt.Rater(kind="human", handle="ann")
    criterion = t.Criterion(study_id=study.id, code="c", position=0, label="c", text="c", text_sha256="")
    session.add_all([rater, criterion])
    session.flush()
    assignment = t.Assignment(
        study_id=study.id, item_id=item.id, rater_id=rater.id, left="A", plan_seed=1, status="taken"
    )
    session.add(assignment)
    session.flush()
    fields = dict(revision=1, choice="left", left_sha256="", stripper_version="1") | changes
    label = t.Label(assignment_id=assignment.id, criterion_id=criterion.id, **fields)
    session.add(label)
    session.flush()
    return label


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection", "ignore:autogenerate skipping")
def test_the_migrations_and_the_typed_tables_say_the_same(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = compare_metadata(context, Record.metadata)
    # the index over both orders of a pair is an expression, which only the migration can state
    assert [d for d in differences if getattr(d[1], "name", "") != "uq_items_pair"] == []


def test_upgrading_twice_changes_nothing(database_url: str) -> None:
    upgrade(database_url)
    upgrade(database_url)


def test_two_processes_may_migrate_at_once(database_url: str, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text("DROP VIEW current_labels"))
    Record.metadata.drop_all(engine)
    with engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE alembic_version"))
        if engine.dialect.name == "postgresql":
            connection.execute(sa.text("DROP FUNCTION calipers_refuse CASCADE"))
    failures: list[Exception] = []

    def run() -> None:
        try:
            upgrade(database_url)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert "labels" in sa.inspect(engine).get_table_names()


@pytest.mark.parametrize("table", ["labels", "events", "sources"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET id = id", "DELETE FROM {}"])
def test_history_is_never_rewritten(engine: Engine, table: str, statement: str) -> None:
    with transaction(engine) as session:
        label = a_label(session, a_study(session))
        session.add(t.Event(kind="audit", what="x", assignment_id=label.assignment_id))
        session.add(t.Source(study_id=session.get_one(t.Assignment, label.assignment_id).study_id, sha256="", text="x"))
    with pytest.raises(DBAPIError, match="append-only"), transaction(engine) as session:
        session.execute(sa.text(statement.format(table)))
    with reading(engine) as session:
        assert session.scalar(sa.text(f"SELECT count(*) FROM {table}")) == 1


def test_judge_attempts_are_never_rewritten(engine: Engine) -> None:
    with transaction(engine) as session:
        study = a_study(session)
        rater = pt.Rater(kind="judge", handle="mini")
        session.add(rater)
        session.flush()
        judge = jt.Judge(study_id=study.id, rater_id=rater.id, name="mini")
        session.add(judge)
        session.flush()
        config = jt.JudgeConfig(
            judge_id=judge.id, sha256="c", model="m", params={}, asked_params={}, template="", template_sha256="",
            structured=[], batching="all", max_output_tokens=1, price={}, price_source="none",
        )  # fmt: skip
        session.add(config)
        session.flush()
        call = jt.JudgeCall(key="k", judge_id=judge.id, config_id=config.id, criteria=[], shown_sha256=[])
        session.add(call)
        session.flush()
        session.add(jt.JudgeAttempt(call_id=call.id, attempt_no=1, outcome="ok", seconds=0.1))
    for statement in ("UPDATE judge_attempts SET cost = 0", "DELETE FROM judge_attempts"):
        with pytest.raises(DBAPIError, match="append-only"), transaction(engine) as session:
            session.execute(sa.text(statement))


@pytest.mark.parametrize("change", ["\"left\" = 'B'", "item_id = 2", "aid = 'other'", "pass_no = 2"])
def test_an_assignment_keeps_its_item_and_order(engine: Engine, change: str) -> None:
    with transaction(engine) as session:
        study = a_study(session, topics=2)
        a_label(session, study)
        a_pair(session, study, 21, 22, topic=2)
    with pytest.raises(DBAPIError, match="never changes"), transaction(engine) as session:
        session.execute(sa.text(f"UPDATE assignments SET {change}"))
    with transaction(engine) as session:
        session.execute(sa.text("UPDATE assignments SET status = 'submitted', rev = 5"))


def forbidden_pair_with_itself(session: Session, study: t.Study) -> None:
    a_pair(session, study, 11, 11)


def forbidden_mirrored_pair(session: Session, study: t.Study) -> None:
    a_pair(session, study, 11, 12)
    a_pair(session, study, 12, 11)


def forbidden_pair_across_topics(session: Session, study: t.Study) -> None:
    a_pair(session, study, 11, 22)


def forbidden_two_rows_for_one_slot(session: Session, study: t.Study) -> None:
    item = a_pair(session, study)
    for _ in range(2):
        session.add(t.Assignment(study_id=study.id, item_id=item.id, left="A", plan_seed=1, slot_no=1))
        session.flush()


def forbidden_taken_by_nobody(session: Session, study: t.Study) -> None:
    session.add(t.Assignment(study_id=study.id, item_id=a_pair(session, study).id, plan_seed=1, status="taken"))
    session.flush()


def forbidden_label_without_assignment(session: Session, study: t.Study) -> None:
    label = a_label(session, study)
    session.add(
        t.Label(
            assignment_id=999, criterion_id=label.criterion_id, revision=1, choice="left", left_sha256="",
            stripper_version="1",
        )
    )  # fmt: skip
    session.flush()


def forbidden_failure_with_an_answer(session: Session, study: t.Study) -> None:
    a_label(session, study, status="invalid", choice="left")


def forbidden_answer_without_a_choice(session: Session, study: t.Study) -> None:
    a_label(session, study, choice=None)


def forbidden_second_first_revision(session: Session, study: t.Study) -> None:
    label = a_label(session, study)
    session.add(
        t.Label(
            assignment_id=label.assignment_id, criterion_id=label.criterion_id, revision=1, choice="right",
            left_sha256="", stripper_version="1",
        )
    )  # fmt: skip
    session.flush()


def forbidden_criterion_called_all(session: Session, study: t.Study) -> None:
    session.add(t.Criterion(study_id=study.id, code="all", position=0, label="c", text="c", text_sha256=""))
    session.flush()


def forbidden_unknown_side(session: Session, study: t.Study) -> None:
    item = a_pair(session, study)
    session.add(t.Assignment(study_id=study.id, item_id=item.id, left="left", plan_seed=1))
    session.flush()


@pytest.mark.parametrize("act", [f for name, f in list(globals().items()) if name.startswith("forbidden_")])
def test_constraints_forbid(engine: Engine, act: Any) -> None:
    with transaction(engine) as session:
        study = a_study(session, topics=2)
    with pytest.raises(DBAPIError), transaction(engine) as session:
        act(session, session.get_one(t.Study, study.id))


def test_current_labels_is_the_highest_revision(engine: Engine) -> None:
    with transaction(engine) as session:
        label = a_label(session, a_study(session))
        session.add(
            t.Label(
                assignment_id=label.assignment_id, criterion_id=label.criterion_id, revision=2, status="missing",
                choice=None, left_sha256="", stripper_version="1",
            )
        )  # fmt: skip
    with reading(engine) as session:
        assert session.execute(sa.text("SELECT revision, status FROM current_labels")).all() == [(2, "missing")]


def test_a_rolled_back_transaction_leaves_nothing(engine: Engine) -> None:
    with pytest.raises(RuntimeError, match="stop"), transaction(engine) as session:
        a_study(session)
        raise RuntimeError("stop")
    with reading(engine) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(t.Study)) == 0


def test_times_come_back_aware_and_naive_ones_are_refused(engine: Engine) -> None:
    with transaction(engine) as session:
        a_study(session)
    with reading(engine) as session:
        created = session.scalars(sa.select(t.Study.created_at)).one()
        assert created.utcoffset().total_seconds() == 0
        assert abs((now() - created).total_seconds()) < 60
    naive = datetime(2026, 1, 1)  # noqa: DTZ001
    with pytest.raises(StatementError, match="without a zone"), transaction(engine) as session:
        session.add(t.Study(name="n", protocol_text="", protocol_sha256="", seed=1, created_at=naive))


@pytest.mark.parametrize("limit", [float("nan"), float("inf")])
def test_a_judges_budget_that_is_no_number_is_refused_where_sqlite_would_store_no_limit(
    engine: Engine, limit: float
) -> None:
    with pytest.raises(StatementError, match="is no limit that can be kept"), transaction(engine) as session:
        session.execute(sa.update(jt.Judge).values(max_cost=limit))


def test_readers_do_not_write(engine: Engine) -> None:
    with pytest.raises((DBAPIError, DatabaseError), match=r"read-?only"), reading(engine) as session:
        a_study(session)
    with transaction(engine) as session:
        a_study(session)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nonsense", "is not a database URL"),
        ("mysql://x/y", "mysql databases are not supported"),
        ("postgresql:/me:secret@host/y", "is not a database URL"),
        ("postgresql://me:secret@host:port/y", "is not a database URL"),
    ],
)
def test_a_url_that_cannot_work_is_refused_in_one_sentence(url: str, says: str) -> None:
    with pytest.raises(DatabaseError, match=says) as refused:
        open_database(url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("at", ["me:secret@127.0.0.1:1/none", "me@127.0.0.1:1/none?password=secret"])
def test_an_unreachable_database_is_named_without_its_password(at: str) -> None:
    engine = open_database(f"postgresql://{at}")
    with pytest.raises(DatabaseError) as caught, reading(engine) as session:
        session.execute(sa.text("SELECT 1"))
    assert "127.0.0.1:1/none" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_database_of_a_newer_calipers_is_refused(database_url: str, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DatabaseError, match="newer calipers"):
        upgrade(database_url)


def test_hashes_of_addresses_that_were_made_without_a_key_go_and_what_was_counted_stays(engine: Engine) -> None:
    insert = (
        "INSERT INTO events (kind, what, data, created_at) VALUES ('audit', :what, '{}', '2026-01-02 03:04:05+00:00')"
    )
    with engine.begin() as connection:
        connection.execute(sa.text("DROP INDEX ix_items_attention"))
        connection.execute(sa.text("ALTER TABLE items DROP COLUMN source_id"))
        connection.execute(sa.text("ALTER TABLE invites DROP COLUMN account_groups"))
        for later in ("keys", "figures", "sources"):
            connection.execute(sa.text(f"DROP TABLE {later}"))
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0007'"))
        for what in ("invite_failed:0123456789abcdef", "entered:fedcba9876543210", "sign_in"):
            connection.execute(sa.text(insert), {"what": what})
    upgrade(engine.url.render_as_string(hide_password=False))
    with engine.connect() as connection:
        kept = connection.execute(sa.text("SELECT what FROM events ORDER BY id")).scalars().all()
    assert kept == ["invite_failed", "entered", "sign_in"]
    for change in ("UPDATE events SET what = 'x'", "DELETE FROM events"):
        with pytest.raises(DBAPIError, match="append-only"), engine.begin() as connection:
            connection.execute(sa.text(change))
