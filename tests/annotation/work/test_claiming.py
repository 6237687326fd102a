"""Slots are exact under race, and nobody gets an item, or a topic, twice."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from annotation.errors import AnnotationError
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.progress import position
from db.connect import reading, transaction
from db.tables import Assignment, Item, Report, Study
from tests.small_study import PROTOCOL, a_person, make_study


def test_taking_twice_gives_the_same_work(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        principal = a_person(session, study_id)
        first, second = take(session, principal), take(session, principal)
    assert first is not None
    assert first is second


def test_ten_people_racing_fill_every_slot_exactly(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, overlap=3)
    with transaction(engine) as session:
        people = [a_person(session, study_id, f"p{number}") for number in range(10)]
    failures: list[BaseException] = []

    def work(principal: object) -> None:
        try:
            while True:
                with transaction(engine) as session:
                    mine = take(session, principal)  # type: ignore[arg-type]
                    if mine is None:
                        return
                    mine.status = "submitted"
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with reading(engine) as session:
        rows = session.execute(select(Assignment.item_id, Assignment.rater_id, Assignment.status)).all()
    assert Counter(item for item, _, _ in rows) == {item: 3 for item, _, _ in rows}
    assert max(Counter((item, rater) for item, rater, _ in rows).values()) == 1
    assert {status for _, _, status in rows} == {"submitted"}


def test_no_topic_twice_for_one_person_unless_asked(engine: Engine, tmp_path: Path) -> None:
    once = PROTOCOL.replace("topic_once = false", "topic_once = true")
    study_id = make_study(engine, tmp_path, protocol=once)
    with transaction(engine) as session:
        principal = a_person(session, study_id)
        assert position(session, principal) == (0, 3)
        topics = []
        while (mine := take(session, principal)) is not None:
            topics.append(session.get_one(Item, mine.item_id).topic_id)
            mine.status = "submitted"
            session.flush()
        assert position(session, principal) == (3, 3)
    assert sorted(topics) == sorted(set(topics))


@pytest.mark.databases("sqlite")
def test_a_person_sees_each_system_left_as_often_as_right(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, overlap=2)
    with transaction(engine) as session:
        principal = a_person(session, study_id)
        lean: Counter[int] = Counter()
        while (mine := take(session, principal)) is not None:
            item = session.get_one(Item, mine.item_id)
            a, b = (session.get_one(Report, report).system_id for report in (item.report_a_id, item.report_b_id))
            lean[a if mine.left == "A" else b] += 1
            lean[b if mine.left == "A" else a] -= 1
            mine.status = "submitted"
            session.flush()
    assert max(abs(value) for value in lean.values()) <= 2


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(("status", "gets_work"), [("open", True), ("paused", False), ("closed", False)])
def test_only_an_open_study_gives_out_work(engine: Engine, tmp_path: Path, status: str, gets_work: bool) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        if status != "open":
            move_study(session, session.get_one(Study, study_id), status)
        principal = a_person(session, study_id)
        assert (take(session, principal) is not None) is gets_work


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("role", ["evaluator", "admin"])
def test_who_can_see_systems_does_not_label(engine: Engine, tmp_path: Path, role: str) -> None:
    study_id = make_study(engine, tmp_path)
    with pytest.raises(AnnotationError, match="only annotators label"), transaction(engine) as session:
        take(session, a_person(session, study_id, "Eve", role))
