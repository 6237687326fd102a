"""One row for each assignment handed in, in as many queries for one person as for five."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, event, select, update

from annotation.people.principals import local_admin, study_for
from annotation.work.claiming import take
from annotation.work.history import work_log
from app.progress import study_parts, study_progress
from app.results.quality import study_quality
from db.connect import reading, transaction
from db.tables import Assignment, Report, Study
from db.types import now
from tests.calibration.planted import Person
from tests.planted_study import make_planted
from tests.small_study import a_person, make_study


@contextmanager
def counting(engine: Engine) -> Iterator[list[str]]:
    told: list[str] = []

    def note(*given: object) -> None:
        told.append(str(given[2]))

    event.listen(engine, "before_cursor_execute", note)
    yield told
    event.remove(engine, "before_cursor_execute", note)


def test_the_log_has_who_what_when_how_long_and_how_many_words(engine: Engine, tmp_path: Path) -> None:
    done = {"Ada": 2, "Ben": 1}
    study_id = make_planted(engine, tmp_path, (Person(), Person(pace=0.5)), pairs=3, criteria=2, done=done)
    with reading(engine) as session:
        study = study_for(session, local_admin(session.get_one(Study, study_id)), "evaluator")
        log = work_log(session, study)
        words = session.scalars(select(Report.words).where(Report.study_id == study_id)).first()
    assert list(log["rater_id"].value_counts().sort_index()) == [2, 1]
    assert log["submitted_at"].is_monotonic_increasing
    assert set(log["purpose"]) == {"label"}
    assert log["active_s"].between(60, 7_200).all()
    assert words is not None
    assert set(log["words"]) == {2 * words}
    assert set(log["attention"]) == {""}


@pytest.mark.databases("sqlite")
def test_dashboard_and_log_take_the_same_few_queries_however_many_people_there_are(
    engine: Engine, tmp_path: Path
) -> None:
    queries = []
    for count in (2, 4):
        name = f"of-{count}"
        study_id = make_planted(engine, tmp_path / name, (Person(),) * count, pairs=3, criteria=2, name=name)
        with reading(engine) as session:
            admin = local_admin(session.get_one(Study, study_id))
            with counting(engine) as told:
                progress, parts = study_progress(session, admin), study_parts(session, admin)
                quality = study_quality(session, admin, resamples=9)
        queries.append(len(told))
        slots = 3 * count
        assert (progress.submitted, progress.slots, progress.items) == (slots, slots, 3)
        assert sum(one.submitted for one in parts.by_topic) == slots
        assert sum(one.submitted for one in parts.by_system) == 2 * slots
        assert [(one.submitted, one.slots) for one in parts.by_criterion] == [(slots, slots)] * 2
        assert [one.slots for one in progress.by_item] == [count] * 3
        assert [one.items for one in quality.annotators] == [3] * count
    assert queries[0] == queries[1] <= 40


def test_work_without_a_sign_for_too_long_is_told(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        taken = take(session, a_person(session, study_id))
        assert taken is not None
        long_ago = now() - timedelta(hours=25)
        session.execute(update(Assignment).values(taken_at=long_ago, active_at=long_ago))
        admin = local_admin(session.get_one(Study, study_id))
        found = study_progress(session, admin).stale
    assert [(one.rater, one.item) for one in found] == [("annotator-01", f"item-{taken.item_id:05d}")]
