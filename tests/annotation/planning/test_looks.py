"""How many topics people have labelled, and the looks that are kept: once, whoever opens a result again."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import Engine, update

from annotation.planning.looks import TopicsLabelled, keep_look, kept_looks, topics_labelled
from db.connect import reading, transaction
from db.tables import Item, Study
from db.types import now
from tests.disputed_study import CHOICES, annotate, make_disputed
from tests.small_study import a_person

PLAN = "ab" * 32


def labelled(engine: Engine, study: int, planned: int | None = None) -> TopicsLabelled:
    with reading(engine) as session:
        return topics_labelled(session, session.get_one(Study, study), planned)


def look(engine: Engine, study: int, topics: int, share: float) -> None:
    with transaction(engine) as session:
        keep_look(session, session.get_one(Study, study), topics, share, PLAN)


def kept(engine: Engine, study: int) -> list[tuple[int, float]]:
    with reading(engine) as session:
        return [(one["topics"], one["share"]) for one in kept_looks(session, session.get_one(Study, study))]


@pytest.mark.databases("sqlite")
def test_topics_that_are_labelled_in_part_count_in_part(engine: Engine, tmp_path: Path) -> None:
    study = make_disputed(engine, tmp_path / "reports", judged=False, people=False)
    assert labelled(engine, study) == TopicsLabelled(0, 2)
    with transaction(engine) as session:
        annotate(session, a_person(session, study, "Ada"), CHOICES["Ada"])
    # both topics have one of their two labels: as much as one topic, though each of them has a label
    assert labelled(engine, study) == TopicsLabelled(1, 2)
    with transaction(engine) as session:
        annotate(session, a_person(session, study, "Ben"), CHOICES["Ben"])
    assert labelled(engine, study) == TopicsLabelled(2, 2)
    assert labelled(engine, study, 40) == TopicsLabelled(2, 40)


@pytest.mark.databases("sqlite")
def test_judges_label_no_topic_and_an_item_left_out_is_planned_no_more(engine: Engine, tmp_path: Path) -> None:
    study = make_disputed(engine, tmp_path / "reports", people=False)
    assert labelled(engine, study) == TopicsLabelled(0, 2)
    with transaction(engine) as session:
        session.execute(update(Item).where(Item.id == 1).values(excluded_at=now()))
    assert labelled(engine, study) == TopicsLabelled(0, 1)


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ([(10, 0.25), (10, 0.25), (10, 0.25)], [(10, 0.25)]),
        ([(10, 0.25), (20, 0.5), (10, 0.25)], [(10, 0.25), (20, 0.5)]),
        ([(20, 0.5), (19, 0.475)], [(20, 0.5)]),  # a label was withdrawn
        ([(20, 0.5), (20, 1.0)], [(20, 0.5), (20, 1.0)]),  # the plan shrank: now all is spent
        ([(20, 0.5), (21, 0.35)], [(20, 0.5), (21, 0.35)]),  # the plan grew
        ([(0, 0.0)], []),
    ],
)
def test_the_same_labels_opened_twice_are_one_look(
    engine: Engine, tmp_path: Path, shown: list[tuple[int, float]], expected: list[tuple[int, float]]
) -> None:
    study = make_disputed(engine, tmp_path / "reports", judged=False, people=False)
    for topics, share in shown:
        look(engine, study, topics, share)
    assert kept(engine, study) == expected


def test_many_who_open_it_at_one_moment_are_one_look(engine: Engine, tmp_path: Path) -> None:
    study = make_disputed(engine, tmp_path / "reports", judged=False, people=False)
    start = threading.Barrier(6)

    def open_it() -> None:
        start.wait(60)
        look(engine, study, 2, 1.0)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept(engine, study) == [(2, 1.0)]
