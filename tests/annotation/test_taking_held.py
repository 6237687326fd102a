"""A slot that somebody holds this moment is passed over: who hands in holds a row, and must wait for nobody's."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from sqlalchemy import Engine, select, text

from annotation.open_work import quotas
from annotation.open_work.due import _attention_items
from annotation.people.principals import Principal
from annotation.work import claiming, progress
from annotation.work.claiming import _wanted, take
from db.connect import reading, transaction
from db.people_tables import Enrollment
from db.tables import Assignment, Study
from tests.plain_study import people_of, plain_study


def test_two_who_hand_in_the_open_slot_of_the_other_do_not_wait_for_each_other(engine: Engine) -> None:
    """Each went on with stale work of their own, whose slot the other still sees open."""
    if engine.dialect.name != "postgresql":
        return  # one writes at a time
    study_id = plain_study(engine, 2, 1)
    with transaction(engine) as session:
        slots = list(session.scalars(select(Assignment.id).where(Assignment.study_id == study_id)))
    both, outcomes = threading.Barrier(2), list[object]()

    def hand_in_and_go_on(person: Principal, slot: int) -> None:
        try:
            with transaction(engine) as session:
                session.execute(text("SET LOCAL lock_timeout = '20s'"))  # the test ends even where they wait
                mine = session.get_one(Assignment, slot)
                mine.status, mine.rater_id = "submitted", person.rater_id
                session.flush()
                both.wait(timeout=20)
                outcomes.append(take(session, person))
                both.wait(timeout=20)
        except Exception as error:  # the database breaks a circle by failing one of the two
            both.abort()
            outcomes.append(error)

    people = people_of(engine, study_id, 2)
    threads = [
        threading.Thread(target=hand_in_and_go_on, args=(person, slot))
        for person, slot in zip(people, slots, strict=True)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert outcomes == [None, None]


def test_open_slots_are_read_in_the_order_they_are_taken_and_attention_items_alone(engine: Engine) -> None:
    """So that a hand-in reads as many of a large study as of a small one: none is sorted, and most are not read."""
    if engine.dialect.name != "sqlite":
        return  # a study as small as this one it sorts
    study_id = plain_study(engine, 3, 2)
    with reading(engine) as session:
        wanted = _wanted(session.get_one(Study, study_id)).limit(5).params(rater=1)
        made = wanted.compile(engine, compile_kwargs={"literal_binds": True})
        told = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {made}").all()
        checks = _attention_items(session.get_one(Study, study_id)).compile(
            engine, compile_kwargs={"literal_binds": True}
        )
        also = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {checks}").all()
    assert "INDEX ix_items_attention (study_id=?)" in str(also), also
    in_order = "INDEX ix_assignments_study_status (study_id=? AND status=? AND purpose=?)"
    assert [in_order in str(told), "TEMP B-TREE" in str(told)] == [True, False], told


def test_work_under_quotas_reads_no_more_of_a_large_study_than_without(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also once SQLite has counted its tables, as after a restore, when it would like to begin with every item."""
    if engine.dialect.name != "sqlite":
        return  # it tells no steps
    monkeypatch.setattr(quotas, "COMBINATIONS_MAX", 100)
    monkeypatch.setattr(progress, "COUNTED", 50)
    monkeypatch.setattr(claiming, "LOOKED_AT", 50)
    study_id = plain_study(engine, 300, 3)
    (ada,) = people_of(engine, study_id, 1)
    steps: Counter[int | None] = Counter()
    for quota in (None, 40):
        with transaction(engine) as session:
            session.connection().exec_driver_sql("ANALYZE")
            session.get_one(Enrollment, ada.enrollment_id).quota = quota
            session.flush()
            driver = session.connection().connection.driver_connection
            assert driver is not None
            driver.set_progress_handler(lambda quota=quota: steps.update((quota,)), 100)
            assert take(session, ada) is not None
            assert progress.position(session, ada) == (0, quota or 50)
            driver.set_progress_handler(None, 0)
            session.rollback()
    assert max(steps.values()) < 400, steps  # hundreds of instructions; 600 and 800 where every slot is read
