"""Probes drawn for people: by the seed, even over systems and their tags, and what stands stays."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from annotation.designs.pairing import Amount
from annotation.errors import AnnotationError
from annotation.facts.study_facts import study_facts
from annotation.people.principals import local_admin
from annotation.planning.plan_summary import summary
from annotation.planning.probes import Probe, Strata, draw_probes, draw_strata, in_strata
from annotation.planning.slots import apply_plan, make_plan
from calibration.calibrate import calibrate
from db.connect import reading, transaction
from db.tables import Assignment, Item, Study
from exports.facts import StudyFacts
from exports.words.methods import methods_paragraph
from tests.annotation.layout_trees import put
from tests.annotation.probe_trees import bring_probes, items_of, study_of, table
from tests.calibration.studies import made_pairs

TAGS = ("user", "sandbox")


def probes(topics: int = 4, systems: int = 3, keys: int = 6) -> list[Probe]:
    """`keys` probes about each report, every second one of each tag."""
    found = [
        (f"t{t}", f"s{s}", TAGS[k % 2], f"k{k}", "sea" if t % 2 else "land")
        for t in range(topics)
        for s in range(systems)
        for k in range(keys)
    ]
    return [
        Probe(topic, number, system, tag, key, category)
        for number, (topic, system, tag, key, category) in enumerate(found, start=1)
    ]


def spread(counts: Counter[tuple[str, ...]]) -> int:
    return max(counts.values()) - min(counts.values())


@given(st.integers(1, 5), st.integers(1, 4), st.integers(2, 8), st.integers(1, 6), st.integers(0, 999))
def test_systems_and_their_tags_come_equally_often(topics: int, systems: int, keys: int, n: int, seed: int) -> None:
    every = probes(topics, systems, keys)
    drawn = draw_probes(every, seed, Amount(per_topic=n))
    assert drawn == draw_probes(every[::-1], seed, Amount(per_topic=n))
    assert Counter(one.topic for one in drawn) == {f"t{t}": min(n, systems * keys) for t in range(topics)}
    if n <= keys // 2:  # so that no topic runs out of a tag
        uses = Counter({(f"s{s}",): 0 for s in range(systems)}) + Counter((one.system,) for one in drawn)
        full = [uses[f"s{s}",] for s in range(systems)]
        assert max(full) - min(full) <= 1
        for s in range(systems):
            of_tags = Counter(one.tag for one in drawn if one.system == f"s{s}")
            assert abs(of_tags[TAGS[0]] - of_tags[TAGS[1]]) <= 1


@given(st.integers(1, 72), st.integers(0, 999))
def test_a_total_is_met_and_spread_over_topics_and_categories(total: int, seed: int) -> None:
    drawn = draw_probes(probes(), seed, Amount(total=total))
    assert len(drawn) == total
    per_topic = Counter({f"t{t}": 0 for t in range(4)})
    per_topic.update(one.topic for one in drawn)
    assert max(per_topic.values()) - min(per_topic.values()) <= 1


@given(st.integers(1, 20), st.integers(1, 40), st.integers(0, 999))
def test_asking_for_more_keeps_what_has_slots(few: int, more: int, seed: int) -> None:
    standing = {one.item for one in draw_probes(probes(), seed, Amount(total=few))}
    drawn = {one.item for one in draw_probes(probes(), seed, Amount(total=few + more), standing)}
    assert standing <= drawn
    assert len(drawn) == few + more
    assert {one.item for one in draw_probes(probes(), seed, Amount(total=1), standing)} == standing


def test_ids_do_not_decide_the_draw() -> None:
    def named(drawn: list[Probe]) -> set[tuple[str, str, str]]:
        return {(one.topic, one.system, one.key) for one in drawn}

    again = [Probe(one.topic, 1000 - one.item, one.system, one.tag, one.key, one.category) for one in probes()]
    assert named(draw_probes(probes(), 7, Amount(total=20))) == named(draw_probes(again, 7, Amount(total=20)))


def test_topics_of_a_category_are_drawn_and_all_probes_are_the_default() -> None:
    drawn = draw_probes(probes(), 3, Amount(per_category=1))
    assert len({one.topic for one in drawn}) == 2
    assert len(drawn) == 2 * 18
    assert draw_probes(probes(), 3, Amount()) == probes()


def test_a_draw_becomes_slots_and_the_plan_counts_its_systems(engine: Engine, tmp_path: Path) -> None:
    study_id = study_of(engine, tmp_path / "reports")
    rows = [
        {"probe_id": f"k{number}", "topic": topic, "text": f"Claim {number} on {topic}.", "tag": TAGS[number % 2]}
        for topic in ("tides", "bread")
        for number in range(6)
    ]
    bring_probes(engine, study_id, put(tmp_path / "claims.csv", table(rows)))
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        admin = local_admin(study)
        plan = make_plan(session, admin, total=8, overlap=2)
        told = summary(session, admin, plan)
        assert (told.items, told.slots, told.topics) == (8, 16, 2)
        assert [(one.system, one.items, one.slots) for one in told.systems] == [("alpha", 4, 8), ("beta", 4, 8)]
        assert apply_plan(session, admin, plan) == 16
        tags = Counter(session.scalars(select(Item.tag).join(Assignment, Assignment.item_id == Item.id)))
        assert tags == {"user": 8, "sandbox": 8}
        more = make_plan(session, admin, total=10, overlap=2)
        assert len(more.slots) == 4
        with pytest.raises(AnnotationError, match="items a topic and items in all exclude each other"):
            make_plan(session, admin, total=10, per_topic=1, overlap=2)
    assert len(items_of(engine, study_id)) == 24
    with reading(engine) as session:
        assert len(set(session.scalars(select(Assignment.item_id)))) == 8


@given(
    st.integers(1, 12), st.integers(0, 999), st.sampled_from([("domain",), ("system", "tag"), ("verdict", "domain")])
)
def test_every_stratum_gives_as_many_or_all_it_has_and_asking_for_more_keeps_what_stands(
    each: int, seed: int, by: tuple[str, ...]
) -> None:
    every = probes()
    verdicts = {one.item: "false" if one.item % 5 == 0 else "true" for one in every if one.item % 7}
    held = in_strata(every, by, verdicts)
    drawn = draw_strata(held, each, seed)
    assert drawn == draw_strata(held[::-1], each, seed)
    sizes, counts = Counter(one.stratum for one in held), Counter(one.stratum for one in drawn)
    wanted = {name: min(each, size) for name, size in sizes.items() if "not judged" not in name}
    assert counts == wanted
    assert {one.stratum: one.among for one in held} == sizes
    more = draw_strata(held, each + 3, seed, {one.item for one in drawn})
    assert {one.item for one in drawn} <= {one.item for one in more}


def test_claims_are_drawn_by_stratum_the_plan_keeps_how_many_and_the_methods_say_so(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = study_of(engine, tmp_path / "reports")
    rows = [
        {"probe_id": f"k{number}", "topic": topic, "text": f"Claim {number} on {topic}."}
        for topic in ("tides", "bread")
        for number in range(6)
    ]
    bring_probes(engine, study_id, put(tmp_path / "claims.csv", table(rows)))
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        with pytest.raises(AnnotationError, match="no judge has answered yet"):
            make_plan(session, admin, strata=Strata(("verdict",), 3), overlap=1)
        with pytest.raises(AnnotationError, match="leave out how many"):
            make_plan(session, admin, strata=Strata(("domain",), 3), total=4, overlap=1)
        with pytest.raises(AnnotationError, match="name some of verdict, domain, system, tag"):
            Strata(("topic",), 3)
        plan = make_plan(session, admin, strata=Strata(("system",), 3), overlap=2)
        assert summary(session, admin, plan).strata == {"alpha": (3, 12), "beta": (3, 12)}
        apply_plan(session, admin, plan)
        drawn = study_facts(session, session.get_one(Study, study_id))["strata"]
    assert drawn == {"by": ["system"], "each": 3, "judge": "", "drawn": [[["alpha"], 3, 12], [["beta"], 3, 12]]}
    text = methods_paragraph(calibrate(made_pairs(pairs=12)), StudyFacts(strata=drawn)).markdown
    assert "drawn by chance within strata of the system: 3 of 12 (alpha) and 3 of 12 (beta). A number over" in text
