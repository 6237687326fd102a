"""Quotas are kept to the letter, and never strand a slot that somebody could have filled."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event, select
from sqlalchemy.orm import Session

from annotation.labelling import skip
from annotation.open_work.quotas import Place, within_reach
from annotation.work.claiming import take
from annotation.work.progress import position
from db.connect import open_database, transaction
from db.people_tables import Enrollment
from db.tables import Assignment, Item, Report
from tests.plain_study import PROTOCOL, hand_in, people_of, person, plain_study


def most(places: Sequence[Place], left: Mapping[int, int], had: Mapping[int, Collection[int]]) -> int:
    """How many slots these people can still fill: Ford and Fulkerson's method, one unit of flow at a time."""
    rest: dict[object, Counter[object]] = defaultdict(Counter)
    for one, items in left.items():
        rest["source"]["person", one] = items
        for number, place in enumerate(places):
            if place.unit not in had.get(one, ()) and place.reserved_for in (None, one):
                rest["person", one]["gate", one, place.unit] = 1
                rest["gate", one, place.unit]["place", number] = 1
    for number, place in enumerate(places):
        rest["place", number]["sink"] = place.open

    def push(node: object, seen: set[object]) -> bool:
        seen.add(node)
        for after in [after for after, room in rest[node].items() if room > 0 and after not in seen]:
            if after == "sink" or push(after, seen):
                rest[node][after] -= 1
                rest[after][node] += 1
                return True
        return False

    flow = 0
    while push("source", set()):
        flow += 1
    return flow


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[Place], dict[int, int], dict[int, set[int]]]:
    """Up to five items on up to three topics and four people, some slots reserved, some quotas and items used up."""
    people = range(1, draw(st.integers(2, 4)) + 1)
    once = draw(st.booleans())
    places = []
    for item in range(1, draw(st.integers(1, 5)) + 1):
        unit = draw(st.integers(1, 3)) if once else item
        places.append(Place(item, unit, None, draw(st.integers(1, 3))))
        if draw(st.booleans()):
            places.append(Place(item, unit, draw(st.sampled_from(people)), 1))
    left = {one: draw(st.integers(0, 4)) for one in people}
    had = {one: draw(st.sets(st.sampled_from([place.unit for place in places]), max_size=2)) for one in people}
    return places, left, had


@given(situations())
def test_a_take_within_reach_lowers_what_all_can_fill_by_one_and_any_other_by_more(
    situation: tuple[list[Place], dict[int, int], dict[int, set[int]]],
) -> None:
    places, left, had = situation
    before = most(places, left, had)
    for one in left:
        expected = set()
        for number, place in enumerate(places):
            if left[one] > 0 and place.unit not in had[one] and place.reserved_for in (None, one):
                fewer = [Place(p.item, p.unit, p.reserved_for, p.open - (n == number)) for n, p in enumerate(places)]
                after = most(fewer, left | {one: left[one] - 1}, had | {one: had[one] | {place.unit}})
                expected |= {number} if after == before - 1 else set()
        assert within_reach(places, left, had, one) == expected


@pytest.mark.parametrize(
    ("places", "left", "had", "taker", "expected"),
    [
        # person 2 had item 1 already, so person 1 must not spend the last of a quota on item 2
        ([Place(1, 1, None, 1), Place(2, 2, None, 1)], {1: 1, 2: 1}, {2: {1}}, 1, {0}),
        # nobody needs what is left: anything goes
        ([Place(1, 1, None, 1), Place(2, 2, None, 1)], {1: 2, 2: 2}, {}, 1, {0, 1}),
        # a slot that is kept for person 2 is out of reach; who shares its topic may take one of the two
        ([Place(1, 9, None, 1), Place(2, 9, 2, 1)], {1: 2, 2: 2}, {}, 1, {0}),
        ([Place(1, 9, None, 1), Place(2, 9, 2, 1)], {2: 2}, {}, 2, {0, 1}),
        ([Place(1, 9, None, 1), Place(2, 9, None, 1)], {1: 2}, {1: {9}}, 1, set()),
        # two slots of one item and one person: the other slot waits for somebody who has not come yet
        ([Place(1, 1, None, 2)], {1: 5}, {}, 1, {0}),
        ([], {1: 5}, {}, 1, set()),
        ([Place(1, 1, None, 2)], {1: 0, 2: 3}, {}, 1, set()),
    ],
)
def test_who_may_take_what(
    places: list[Place], left: dict[int, int], had: dict[int, set[int]], taker: int, expected: set[int]
) -> None:
    assert within_reach(places, left, had, taker) == expected


@settings(max_examples=15)
@given(data=st.data(), once=st.booleans())
def test_takes_skips_and_pauses_in_any_order_end_with_every_slot_filled_that_could_be(
    tmp_path_factory: pytest.TempPathFactory, migrated_sqlite: Path, data: st.DataObject, once: bool
) -> None:
    path = tmp_path_factory.mktemp("quotas") / "calipers.db"
    shutil.copy(migrated_sqlite, path)
    engine = open_database(f"sqlite:///{path}")
    protocol = PROTOCOL.replace("topic_once = false", f"topic_once = {str(once).lower()}")
    items, per_topic = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 2))
    study_id = plain_study(engine, items, data.draw(st.integers(1, 3)), protocol=protocol, per_topic=per_topic)
    quotas = data.draw(st.lists(st.integers(0, items), min_size=2, max_size=4))
    with transaction(engine) as session:
        people = [person(session, study_id, f"p{number}", quota) for number, quota in enumerate(quotas)]
        standing = [session.get_one(Enrollment, one.enrollment_id) for one in people]
        possible = can_be_filled(session, study_id, once)
        for _ in range(12):
            one = data.draw(st.integers(0, len(people) - 1))
            what = data.draw(st.sampled_from(("take", "take", "take", "take", "skip", "pause")))
            mine = take(session, people[one]) if what != "pause" else None
            if mine is not None and what == "take":
                mine.status = "submitted"
            elif mine is not None:
                skip(session, people[one], mine.aid, "I know this one")
            elif what == "pause":
                standing[one].status = "active" if standing[one].status == "paused" else "paused"
            session.flush()
            now_possible = can_be_filled(session, study_id, once)
            assert what != "take" or now_possible == possible  # only a skip or a pause may ever cost a slot
            possible = now_possible
        for one in (*people, *people):
            while (mine := take(session, one)) is not None:
                mine.status = "submitted"
                session.flush()
        assert submitted(session, study_id) == possible
        for one, quota in zip(people, quotas, strict=True):
            assert position(session, one)[0] <= quota
    engine.dispose()


def submitted(session: Session, study_id: int) -> int:
    rows = select(Assignment.id).where(Assignment.study_id == study_id, Assignment.status == "submitted")
    return len(session.scalars(rows).all())


def can_be_filled(session: Session, study_id: int, once: bool) -> int:
    """Slots that are filled, in hand of somebody, or could still be filled by those who are active."""
    rows = session.execute(
        select(Assignment.item_id, Item.topic_id, Assignment.rater_id, Assignment.status)
        .join(Item, Item.id == Assignment.item_id)
        .where(Assignment.study_id == study_id)
    ).all()
    people = session.scalars(select(Enrollment).where(Enrollment.study_id == study_id)).all()
    free: Counter[tuple[int, int]] = Counter()
    had: dict[int, set[int]] = defaultdict(set)
    held: Counter[int] = Counter()
    for item, topic, rater, status in rows:
        unit = topic if once else item
        if status == "open":
            free[item, unit] += 1
        else:
            had[rater or 0].add(unit)
            held[rater or 0] += status != "returned"
    places = [Place(item, unit, None, count) for (item, unit), count in free.items()]
    left = {one.rater_id: (one.quota or 0) - held[one.rater_id] for one in people if one.status == "active"}
    return held.total() + most(places, left, had)


@pytest.mark.databases("sqlite")
def test_a_quota_counts_what_is_in_hand_and_not_what_was_skipped(engine: Engine) -> None:
    study_id = plain_study(engine, 6, 1)
    (ada,) = people_of(engine, study_id, 1, quota=2)
    with transaction(engine) as session:
        assert position(session, ada) == (0, 2)
        mine = take(session, ada)
        assert mine is not None
        assert position(session, ada) == (0, 2)
        skip(session, ada, mine.aid, "I know this one")
        for done in (1, 2):
            mine = take(session, ada)
            assert mine is not None
            hand_in(session, ada, mine.aid)
            assert position(session, ada) == (done, 2)
        assert take(session, ada) is None


def test_quotas_leave_everybodys_lefts_and_rights_even(tmp_path: Path, migrated_sqlite: Path) -> None:
    engine = open_database(f"sqlite:///{shutil.copy(migrated_sqlite, tmp_path / 'a.db')}")
    study_id = plain_study(engine, 40, 3)
    people = people_of(engine, study_id, 8, quota=15)
    lean: Counter[tuple[int, int]] = Counter()
    with transaction(engine) as session:
        system = dict(session.execute(select(Report.id, Report.system_id)).all())
        for one in people * 15:
            mine = take(session, one)
            assert mine is not None
            mine.status = "submitted"
            session.flush()
            item = session.get_one(Item, mine.item_id)
            shown = [system[item.report_a_id], system[item.report_b_id]]
            left, right = shown if mine.left == "A" else shown[::-1]
            lean[one.rater_id or 0, left] += 1
            lean[one.rater_id or 0, right] -= 1
        assert submitted(session, study_id) == 120
    assert max(map(abs, lean.values())) <= 2
    engine.dispose()


def test_a_skip_holds_its_person_before_the_study_so_that_two_tabs_never_wait_for_each_other(engine: Engine) -> None:
    study_id = plain_study(engine, 4, 1)
    [ada] = people_of(engine, study_id, 1, quota=2)
    held: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        held.extend(table for table in ("raters", "studies") if statement.startswith(f"SELECT {table}.id \n"))

    with transaction(engine) as session:
        mine = take(session, ada)
        assert mine is not None
        event.listen(engine, "before_cursor_execute", note)
        skip(session, ada, mine.aid, "it is cut off")
    event.remove(engine, "before_cursor_execute", note)
    assert held[:2] == ["raters", "studies"]
