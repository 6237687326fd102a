"""An admin acts in the very moment in which somebody else does: nothing is lost, and nobody is made twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from sqlalchemy import Engine, event, func, select, text

from annotation.errors import AnnotationError
from annotation.facts.soundness import find_faults
from annotation.labelling import submit
from annotation.open_work.returns import return_stale
from annotation.participation.standing import pause, withdraw
from annotation.people.links import invite
from annotation.people.principals import Principal, local_admin
from annotation.studies import hold_person
from annotation.work.claiming import take
from annotation.work.open_and_close import set_status
from annotation.work.page import assignment_page
from db.connect import reading, transaction
from db.people_tables import Enrollment, Rater
from db.tables import Assignment, Study
from db.types import now
from tests.plain_study import hand_in, people_of, plain_study
from tests.small_study import answer_all


def test_what_is_handed_in_while_the_study_is_being_closed_stays_handed_in(engine: Engine) -> None:
    study_id = plain_study(engine, items=2, overlap=1)
    (ada,) = people_of(engine, study_id, 1)
    with transaction(engine) as session:
        mine = take(session, ada)
        assert mine is not None
    looked = threading.Event()

    def close() -> None:
        with transaction(engine) as session:
            set_status(session, local_admin(session.get_one(Study, study_id)), "closed")

    @event.listens_for(engine, "before_cursor_execute")
    def asked(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        if closer.is_alive() and threading.current_thread() is closer and "FROM assignments" in statement:
            looked.set()

    closer = threading.Thread(target=close)
    try:
        with transaction(engine) as session:
            hand_in(session, ada, mine.aid)
            closer.start()
            if engine.dialect.name == "postgresql":  # on SQLite it waits before it looks at anything
                assert looked.wait(30)
        closer.join(30)
    finally:
        event.remove(engine, "before_cursor_execute", asked)
    with reading(engine) as session:
        assert session.get_one(Study, study_id).status == "closed"
        assert session.get_one(Assignment, mine.id).status == "submitted"


def test_admins_who_invite_the_same_new_person_at_once_make_one_person(engine: Engine) -> None:
    study_id = plain_study(engine, items=1, overlap=1)
    start = threading.Barrier(4)

    def invited(_: int) -> str:
        start.wait(30)
        with transaction(engine) as session:
            return invite(session, local_admin(session.get_one(Study, study_id)), "Ada", "annotator")

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(invited, range(4)))) == 4, "each has a link of their own"
    with reading(engine) as session:
        assert session.scalar(select(func.count()).select_from(Enrollment)) == 1


def test_somebody_back_at_idle_work_and_the_admin_who_pauses_them_do_not_wait_for_each_other(engine: Engine) -> None:
    study_id = plain_study(engine, items=2, overlap=1)
    (ada,) = people_of(engine, study_id, 1)
    with transaction(engine) as session:
        mine = take(session, ada)
        assert mine is not None
        mine.taken_at = mine.active_at = now() - timedelta(days=7)
    with ThreadPoolExecutor(1) as threads:
        with transaction(engine) as session:
            hold_person(session, ada.rater_id or 0)  # as `take` begins
            paused = threads.submit(as_admin, engine, study_id, pause, name_of(engine, ada))
            until_waiting(engine, 1)
            again = take(session, ada)
            assert again is not None
            assert again.id == mine.id
        paused.result(30)


def test_stale_work_that_is_saved_and_handed_in_while_its_person_is_withdrawn_ends_in_one_of_both(
    engine: Engine,
) -> None:
    study_id = plain_study(engine, items=2, overlap=1)
    (ada,) = people_of(engine, study_id, 1)
    with transaction(engine) as session:
        mine = take(session, ada)
        assert mine is not None
        mine.taken_at = mine.active_at = now() - timedelta(days=7)
        session.flush()
        assert return_stale(session, session.get_one(Study, study_id)) == 1

    def late_submit(page: str, revs: dict[str, int]) -> str:
        try:
            with transaction(engine) as session:
                submit(session, ada, mine.aid, page, "late-submit", revs)
        except AnnotationError as error:
            return error.code
        return "submitted"

    with ThreadPoolExecutor(2) as threads:
        with transaction(engine) as session:
            page = assignment_page(session, ada, mine.aid)["page"]
            revs = answer_all(session, ada, mine.aid)  # takes it back
            left = threads.submit(as_admin, engine, study_id, withdraw, name_of(engine, ada))
            until_waiting(engine, 1)
            handed_in = threads.submit(late_submit, page, revs)
            until_waiting(engine, 2)
        left.result(30)
        said = handed_in.result(30)
    with reading(engine) as session:
        status = session.get_one(Assignment, mine.id).status
        assert (said, status) in (("submitted", "submitted"), ("returned", "returned"))
        assert find_faults(session) == []


def as_admin(engine: Engine, study_id: int, act: Callable[..., object], name: str) -> None:
    with transaction(engine) as session:
        act(session, local_admin(session.get_one(Study, study_id)), name)


def name_of(engine: Engine, person: Principal) -> str:
    with reading(engine) as session:
        return session.get_one(Rater, person.rater_id).handle


def until_waiting(engine: Engine, how_many: int) -> None:
    """Until so many transactions wait for another's rows; on SQLite they wait before they begin."""
    if engine.dialect.name != "postgresql":
        return
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        with engine.connect() as connection:
            if (connection.scalar(waiting) or 0) >= how_many:
                return
        time.sleep(0.02)
    raise AssertionError(f"{how_many} transactions never waited")
