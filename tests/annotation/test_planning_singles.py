"""Plans without sides: one item a report, slots for probes, evenly drawn and never twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from annotation.designs.pairing import EVIDENCE, Candidate, plan_singles
from annotation.designs.sides_and_orders import plan_alone
from annotation.errors import AnnotationError
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.people.principals import local_admin
from annotation.planning.slots import apply_plan, make_plan
from annotation.studies import init_study
from db.connect import reading, transaction
from db.tables import Assignment, Item, Study
from tests.small_study import BESIDE, BOTH, PROBES, RATING, make_study, with_reference


def candidates(topics: int, systems: int) -> list[Candidate]:
    return [
        Candidate(100 * t + k, f"t{t:02d}", f"s{k:02d}", is_reference=k == 0)
        for t in range(topics)
        for k in range(systems)
    ]


@given(st.integers(1, 6), st.integers(2, 6), st.integers(1, 3), st.integers(0, 1000))
def test_reports_are_drawn_evenly_and_by_the_seed_alone(topics: int, systems: int, per_topic: int, seed: int) -> None:
    reports = candidates(topics, systems)
    drawn = plan_singles(reports, seed, per_topic=per_topic)
    assert drawn == plan_singles(reports[::-1], seed, per_topic=per_topic)
    uses = Counter(single.report.system for single in drawn)
    counts = [uses[f"s{k:02d}"] for k in range(systems)]
    assert max(counts) - min(counts) <= 1
    assert Counter(single.topic for single in drawn) == dict.fromkeys(
        {r.topic for r in reports}, min(per_topic, systems)
    )
    beside = plan_singles(reports, seed, beside="reference")
    assert all(single.reference and single.reference.is_reference for single in beside)
    assert not any(single.report.is_reference for single in beside)
    assert len(plan_singles(reports, seed)) == topics * systems


def test_beside_what_a_task_brought_every_report_is_rated_a_reference_too() -> None:
    brought = [Candidate(1000 + t, f"t{t:02d}", EVIDENCE, is_reference=True) for t in (0, 1)]
    drawn = plan_singles([*candidates(3, 3), *brought], 7, beside="evidence")
    assert Counter(single.topic for single in drawn) == {"t00": 3, "t01": 3, "t02": 3}
    assert sum(single.report.is_reference for single in drawn) == 3
    assert {(single.topic, single.reference and single.reference.system) for single in drawn} == {
        ("t00", EVIDENCE), ("t01", EVIDENCE), ("t02", None),
    }  # fmt: skip


def test_slots_without_sides_fill_what_is_lacking() -> None:
    assert [(slot.item, slot.slot_no, slot.left) for slot in plan_alone(2, [{1}, {1, 2}, set()])] == [
        (0, 2, None), (2, 1, None), (2, 2, None),
    ]  # fmt: skip


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("protocol", "code"),
    [
        (BESIDE, "no_reference"),
        (BOTH, "nothing_to_pair"),
        (PROBES, "no_probes"),
        (RATING, "nothing_to_rate"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(engine: Engine, tmp_path: Path, protocol: str, code: str) -> None:
    if code == "no_reference":
        with pytest.raises(AnnotationError) as caught:
            make_study(engine, tmp_path, protocol=protocol)
    else:
        with pytest.raises(AnnotationError) as caught, transaction(engine) as session:
            admin = local_admin(init_study(session, "small", protocol, 7))
            make_plan(session, admin, design="reference", per_topic=None, overlap=1)
    assert caught.value.code == code


@pytest.mark.parametrize(("protocol", "items"), [(RATING, 9), (PROBES, 27)])
def test_planning_again_with_a_higher_overlap_adds_only_what_is_lacking(
    engine: Engine, tmp_path: Path, protocol: str, items: int
) -> None:
    study_id = make_study(engine, tmp_path, protocol=protocol)
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        for overlap, added in ((1, 0), (3, 2 * items)):
            plan = make_plan(session, admin, design="all", per_topic=None, overlap=overlap)
            assert apply_plan(session, admin, plan) == added
    with reading(engine) as session:
        assert len(session.scalars(select(Item)).all()) == items
        assert set(session.scalars(select(Assignment.left))) == {None}


def test_a_replaced_reference_makes_new_items_and_retires_the_old_ones(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, with_reference(tmp_path), protocol=BESIDE)
    for path in (tmp_path / "gamma").iterdir():
        path.write_text(path.read_text() + "\nOne more sentence.\n")
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        import_reports(session, admin, read_folder(tmp_path), layout="x", source="x", new_version=True)
        assert session.scalars(select(Item).where(Item.excluded_at.is_(None))).all() == []
        apply_plan(session, admin, make_plan(session, admin, design="all", per_topic=None, overlap=1))
        assert len(session.scalars(select(Item).where(Item.excluded_at.is_(None))).all()) == 6
