"""An admin acts in the very moment in which somebody else does: nothing is lost, and nobody is made twice."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Engine, event, func, select

from annotation.claiming import take
from annotation.invites import invite
from annotation.principals import local_admin
from annotation.study_status import set_status
from db.connect import reading, transaction
from db.people_tables import Enrollment
from db.tables import Assignment, Study
from tests.plain_study import hand_in, people_of, plain_study


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
