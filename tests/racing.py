"""Many people at once, in threads of one process, each through the same doors as the page."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from annotation.labelling import save, skip, submit
from annotation.people.principals import Principal
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from db.connect import reading, transaction
from db.tables import Assignment, Label
from db.types import now
from tests.plain_study import hand_in, people_of, plain_study
from tests.small_study import answer

Door = threading.Semaphore
AT_THE_DATABASE = 10  # of the clients at once; the test server lets in fewer than there are


def at_once(people: Sequence[Principal], work: Callable[[Principal, Door], None]) -> None:
    """Everybody works in a thread of their own, from one start; what any of them raises is raised."""
    failures: list[BaseException] = []
    start = threading.Barrier(len(people))
    door = threading.Semaphore(AT_THE_DATABASE)

    def run(person: Principal) -> None:
        try:
            start.wait(60)
            work(person, door)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def handed_in(engine: Engine, study_id: int) -> tuple[Counter[int], Counter[int], Counter[tuple[int, int]]]:
    """How many handed-in labels each item has, each person has, and each person has of each item."""
    with reading(engine) as session:
        rows = session.execute(
            select(Assignment.item_id, Assignment.rater_id)
            .where(Assignment.study_id == study_id, Assignment.status == "submitted")
        ).all()  # fmt: skip
    return Counter(item for item, _ in rows), Counter(rater for _, rater in rows), Counter(map(tuple, rows))


def answering(engine: Engine, person: Principal, door: Door) -> None:
    """One person until nothing is left, as the page does it: take, answer, hand in and get the next."""
    with door, transaction(engine) as session:
        mine = take(session, person)
        aid = mine.aid if mine else None
    while aid is not None:
        with door, transaction(engine) as session:
            aid = hand_in(session, person, aid)


def handing_in(engine: Engine, person: Principal, door: Door) -> None:
    """The same with nothing answered: only who gets what."""
    while True:
        with door, transaction(engine) as session:
            mine = take(session, person)
            if mine is None:
                return
            mine.status, mine.submitted_at = "submitted", now()


def all_are_filled(engine: Engine, study_id: int, items: int, times: int = 3) -> None:
    """Each item was handed in so many times, each person did as many, and nobody an item twice."""
    filled, loads, twice = handed_in(engine, study_id)
    assert (len(filled), set(filled.values())) == (items, {times})
    assert set(loads.values()) == {times}
    assert max(twice.values()) == 1


def hand_in_unless_taken(session: Session, person: Principal, aid: str) -> None:
    """Hand in, unless what was stale is somebody else's by now: that is said, and nothing is stored."""
    mine = select(func.count()).where(Label.client_uuid == f"answer-{aid}")
    page = assignment_page(session, person, aid)
    refused = save(session, person, [answer(page, "better", "left", client_uuid=f"answer-{aid}")]).refused
    if not refused:
        submit(session, person, aid, page["page"], f"hand-in-{aid}", {"better": 1})
        return
    assert [line["code"] for line in refused] == ["returned"]
    assert session.scalar(mine) == 0


def race_with_skips(engine: Engine, items: int, count: int, turns: int, quota: int | None) -> None:
    """People who hand in, skip, and leave work for a day; then what must hold of every slot, three an item."""
    study_id = plain_study(engine, items, 3)
    people = people_of(engine, study_id, count, quota)

    def work(person: Principal, door: Door) -> None:
        whim = random.Random(person.rater_id)
        for _ in range(turns):
            with door, transaction(engine) as session:
                mine = take(session, person)
                if mine is None:
                    continue
                aid, what = mine.aid, whim.choice(("hand in", "hand in", "hand in", "skip", "leave"))
                if what == "leave":  # a day passes; they come back at once, or somebody was faster
                    mine.active_at = now() - timedelta(hours=25)
            with door, transaction(engine) as session:
                if what == "hand in":
                    hand_in_unless_taken(session, person, aid)
                elif what == "skip" and whim.random() < 0.3:
                    skip(session, person, aid, "I know this one")

    at_once(people, work)
    for person in people:  # what is left, one after the other
        with transaction(engine) as session:
            while (mine := take(session, person)) is not None:
                hand_in(session, person, mine.aid)
    filled, loads, twice = handed_in(engine, study_id)
    assert max(filled.values()) == 3
    assert max(twice.values()) == 1
    assert quota is None or max(loads.values()) <= quota
    with reading(engine) as session:
        rows = session.execute(
            select(Assignment.item_id, Assignment.rater_id, Assignment.status).where(Assignment.study_id == study_id)
        ).all()
    live = Counter(row.item_id for row in rows if row.status in ("open", "taken", "submitted"))
    assert (len(live), set(live.values())) == (items, {3})
    had = {(row.item_id, row.rater_id) for row in rows}
    hungry = [one.rater_id for one in people if quota is None or loads[one.rater_id or 0] < quota]
    stranded = [row.item_id for row in rows if row.status == "open"]
    assert [item for item in stranded if any((item, rater) not in had for rater in hungry)] == []
