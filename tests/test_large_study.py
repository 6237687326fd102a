"""The large study that benchmarks measure on is one that the app itself could have made."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import func, select

from annotation.facts.soundness import find_faults
from annotation.judges.reviewing.judge_standings import standings
from annotation.people.principals import local_admin
from app.progress import study_parts, study_progress
from benchmarks.large_study import write_study
from benchmarks.large_work import JUDGES, Shape
from db.connect import reading
from db.tables import Assignment, Item, Label, Study

SMALL = Shape(topics=4, systems=4, annotators=12, criteria=3, labels=520, open_topics=1, in_work=2)


def test_it_is_sound_and_has_about_as_many_labels_and_just_as_many_slots_and_calls_as_it_says(tmp_path: Path) -> None:
    engine = write_study(f"sqlite:///{tmp_path}/large.db", SMALL)
    with reading(engine) as session:
        study = session.scalars(select(Study)).one()
        assert find_faults(session) == []
        assert 470 <= (session.scalar(select(func.count(Label.id))) or 0) <= 570
        progress, parts = study_progress(session, local_admin(study)), study_parts(session, local_admin(study))
        assert (progress.items, progress.slots, progress.submitted) == (12, 36, 27)
        assert [one.name for one in parts.by_criterion] == ["c1", "c2", "c3"]
        assert {one.submitted for one in parts.by_criterion} == {27}
        (large, _, nano) = standings(session, study)
        orders, repeats = JUDGES["large"]
        assert (large.done, sum(large.labels.values())) == (12 * orders * repeats, 3 * 12 * orders * repeats)
        assert large.repeats
        assert not nano.repeats
        counted = select(Assignment.status, func.count()).join(Item, Item.id == Assignment.item_id)
        counted = counted.where(Assignment.source == "app", Assignment.purpose == "label").group_by(Assignment.status)
        assert dict(session.execute(counted).all()) == {"submitted": 27, "taken": 2, "open": 7}
    engine.dispose()
