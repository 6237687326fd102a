"""Retests and attention items come when they are due, to nobody twice, and no number jumps when they do."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.labelling import skip, submit
from annotation.open_work.due import attention_by, own_so_far, repeats, retests_of
from annotation.people.principals import Principal
from annotation.training.gold import Attention, attention_results, is_careless
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.own_work import own_work
from annotation.work.page import assignment_page
from annotation.work.progress import position
from db.connect import open_database, transaction
from db.people_tables import Enrollment
from db.tables import Assignment, Item, Study
from tests.plain_study import PROTOCOL, attention_items, hand_in, people_of, plain_study
from tests.small_study import answer_all

pytestmark = pytest.mark.databases("sqlite")  # but where a test says otherwise

RETESTS = PROTOCOL.replace("retest_share = 0.0", "retest_share = 0.2")
ATTENTION = PROTOCOL.replace("retest_share = 0.0", "retest_share = 0.0\nattention = {every = 5}")


def hours_pass(session: Session, hours: float) -> None:
    """Whatever was handed in so far was handed in so much earlier."""
    session.flush()
    for row in session.scalars(select(Assignment).where(Assignment.submitted_at.is_not(None))).all():
        row.submitted_at = (row.submitted_at or row.created_at) - timedelta(hours=hours)
    session.flush()


def work_through(session: Session, principal: Principal, most: int = 1000) -> list[Assignment]:
    """Take and hand in until nothing is given; what was handed in, in order."""
    done: list[Assignment] = []
    while len(done) < most and (mine := take(session, principal)) is not None:
        hand_in(session, principal, mine.aid)
        done.append(mine)
    return done


@pytest.mark.parametrize(
    ("items", "share", "retests"),
    [(40, 0.05, 2), (19, 0.05, 0), (20, 0.05, 1), (10, 0.2, 0), (11, 0.2, 1), (12, 0.2, 2), (100, 0.29, 29), (40, 0.0, 0), (30, 1.0, 20)],
)  # fmt: skip
def test_a_persons_share_of_items_comes_again_where_ten_others_follow(items: int, share: float, retests: int) -> None:
    assert retests_of(items, share) == retests


@pytest.mark.databases("sqlite", "postgres")
def test_an_item_comes_again_a_day_and_ten_items_later_half_of_them_swapped(engine: Engine) -> None:
    study_id = plain_study(engine, 16, 1, protocol=RETESTS)
    (ada,) = people_of(engine, study_id, 1)
    with transaction(engine) as session:
        assert position(session, ada) == (0, 19)  # 16, and 3 of them again
        done = work_through(session, ada)
        assert [one.purpose for one in done] == ["label"] * 16
        assert position(session, ada) == (16, 19)
        work = own_work(session, ada)
        assert (work.goes_on, work.more_at is not None) == (False, True)
        hours_pass(session, 23.9)
        assert take(session, ada) is None
        hours_pass(session, 0.2)
        assert own_work(session, ada).goes_on
        again = work_through(session, ada)
        assert [(one.purpose, one.pass_no, one.repeat_no) for one in again] == [("retest", 2, 2)] * 3
        assert position(session, ada) == (19, 19)
        assert own_work(session, ada).more_at is None
        first = {one.item_id: (number, one) for number, one in enumerate(done)}
        assert len({one.item_id for one in again}) == 3
        for one in again:
            number, before = first[one.item_id]
            assert number < 6
            assert one.slot_no == before.slot_no
            assert one.aid != before.aid
        assert Counter(one.left == first[one.item_id][1].left for one in again).most_common()[0][1] == 2
        page = assignment_page(session, ada, again[0].aid)
        assert not {"purpose", "pass_no", "left"} & set(page)


def test_a_slow_person_gets_them_in_between_and_the_count_stands_still(engine: Engine) -> None:
    study_id = plain_study(engine, 16, 1, protocol=RETESTS)
    (ada,) = people_of(engine, study_id, 1)
    with transaction(engine) as session:
        study, purposes, of = session.get_one(Study, study_id), [], set()
        while (mine := take(session, ada)) is not None:
            hand_in(session, ada, mine.aid)
            purposes.append(mine.purpose)
            of.add(position(session, ada)[1])
            hours_pass(session, 2.5)
        assert of == {19}
        hours_pass(session, 25)
        assert set(purposes[:11]) == {"label"}
        assert "label" in purposes[purposes.index("retest") :]
        purposes += [one.purpose for one in work_through(session, ada)]
        assert Counter(purposes) == {"label": 16, "retest": 3}
        own = own_so_far(session, study, ada.rater_id or 0)
        # which ones follows from the seed and the order, not from the hour
        assert {one.item_id for one in own.retests} == {one.item_id for one in repeats(own, study, ada.rater_id or 0)}


def test_one_attention_item_comes_in_every_five_never_two_in_a_row_and_the_count_stands_still(engine: Engine) -> None:
    study_id = plain_study(engine, 13, 1, protocol=ATTENTION)
    with transaction(engine) as session:
        attention_items(session, study_id, 5)
    (ada,) = people_of(engine, study_id, 1)
    with transaction(engine) as session:
        expected = attention_by(7, ada.rater_id or 0, 5, 13)
        assert expected in (2, 3)
        of = set()
        purposes: list[str] = []
        while (mine := take(session, ada)) is not None:
            of.add(position(session, ada)[1])
            hand_in(session, ada, mine.aid)
            of.add(position(session, ada)[1])
            purposes.append(mine.purpose)
        assert of == {13 + expected}
        assert Counter(purposes) == {"label": 13, "attention": expected}
        assert ("attention", "attention") not in set(pairwise(purposes))
        labels = [purposes[:place].count("label") for place, one in enumerate(purposes) if one == "attention"]
        assert [(number - 1) // 5 for number in labels] == list(range(expected))
        rows = session.scalars(select(Assignment).where(Assignment.purpose == "attention")).all()
        assert len({row.item_id for row in rows}) == expected
        assert abs(sum(1 if row.left == "A" else -1 for row in rows)) <= 1


@pytest.mark.parametrize("items", [0, 1])
def test_no_more_attention_items_are_promised_than_there_are(engine: Engine, items: int) -> None:
    study_id = plain_study(engine, 6, 1, protocol=ATTENTION.replace("every = 5", "every = 2"))
    with transaction(engine) as session:
        attention_items(session, study_id, items)
    (ada,) = people_of(engine, study_id, 1)
    with transaction(engine) as session:
        assert position(session, ada) == (0, 6 + items)
        work_through(session, ada)
        assert position(session, ada) == (6 + items, 6 + items)


def test_a_quota_counts_neither_and_a_skipped_attention_item_does_not_come_again(engine: Engine) -> None:
    study_id = plain_study(engine, 20, 1, protocol=ATTENTION)
    with transaction(engine) as session:
        attention_items(session, study_id, 1)
    (ada,) = people_of(engine, study_id, 1, quota=10)
    with transaction(engine) as session:
        assert position(session, ada) == (0, 11)
        while (mine := take(session, ada)) is not None:
            if mine.purpose == "attention":
                skip(session, ada, mine.aid, "odd")
            else:
                hand_in(session, ada, mine.aid)
        assert position(session, ada) == (10, 10)
        rows = session.scalars(select(Assignment.status).where(Assignment.purpose == "attention")).all()
        assert list(rows) == ["returned"]


@pytest.mark.databases("sqlite", "postgres")
def test_closing_returns_what_came_between_and_opening_gives_it_back(engine: Engine) -> None:
    study_id = plain_study(engine, 5, 1, protocol=ATTENTION.replace("every = 5", "every = 1"))
    with transaction(engine) as session:
        attention_items(session, study_id, 3)
    (ada,) = people_of(engine, study_id, 1)
    with transaction(engine) as session:
        first = take(session, ada)
        assert first is not None
        hand_in(session, ada, first.aid)
        mine = take(session, ada)
        assert mine is not None
        assert mine.purpose == "attention"
        study = session.get_one(Study, study_id)
        move_study(session, study, "closed")
        assert (mine.status, mine.returned) == ("returned", "closed")
        study.status = "open"
        session.flush()
        assert take(session, ada) is mine
        assert session.scalars(select(Assignment.status).where(Assignment.purpose == "attention")).all() == ["taken"]


@pytest.mark.parametrize(
    ("policy", "stops", "warned"), [("note", False, False), ("warn", False, True), ("pause", True, False)]
)
def test_who_fails_two_and_more_than_a_third_is_noted_warned_or_paused(
    engine: Engine, policy: str, stops: bool, warned: str
) -> None:
    protocol = ATTENTION.replace("every = 5", f'every = 1, policy = "{policy}"')
    study_id = plain_study(engine, 3, 2, protocol=protocol)
    with transaction(engine) as session:
        attention_items(session, study_id, 3)
    careless, careful = people_of(engine, study_id, 2)
    with transaction(engine) as session:
        for person, right in ((careless, False), (careful, True)):
            while (mine := take(session, person)) is not None:
                agreed = "left" if mine.left == "A" else "right"
                hand_in(session, person, mine.aid, agreed if right else {"left": "right", "right": "left"}[agreed])
        results = attention_results(session, session.get_one(Study, study_id))
        assert (results[careful.rater_id or 0].passed, results[careful.rater_id or 0].failed) == (3, 0)
        assert results[careless.rater_id or 0].failed == (2 if stops else 3)
        assert not is_careless(session, careful)
        assert own_work(session, careless).careless == warned
        standing = session.get_one(Enrollment, careless.enrollment_id)
        assert standing.status == ("paused" if stops else "active")
        if stops:  # an admin who lets them go on is not overruled by the past
            standing.status = "active"
            session.flush()
            assert take(session, careless) is not None
            assert standing.status == "active"


@pytest.mark.parametrize(
    ("agreed", "failed"), [("AAA", 0), ("AAB", 0), ("ABB", 1), ("BBB", 1), ("AB", 0), ("BB", 1), ("A", 0), ("B", 1)]
)
def test_an_item_is_failed_when_fewer_than_half_of_its_agreed_answers_match(
    tmp_path: Path, migrated_sqlite: Path, agreed: str, failed: int
) -> None:
    engine = open_database(f"sqlite:///{shutil.copy(migrated_sqlite, tmp_path / 'a.db')}")
    more = "".join(f'[[criterion]]\nid = "{one}"\nlabel = "{one}"\ntext = "Which?"\n' for one in ("b", "c"))
    study_id = plain_study(engine, 1, 1, protocol=ATTENTION.replace("every = 5", "every = 1") + more)
    gold = {code: {"answer": one, "reason": ""} for code, one in zip(("better", "b", "c"), agreed, strict=False)}
    (ada,) = people_of(engine, study_id, 1)
    with transaction(engine) as session:
        attention_items(session, study_id, 1)
        session.scalars(select(Item).where(Item.purpose == "attention")).one().gold = gold
        for choice_of in (lambda left: "left", lambda left: "left" if left == "A" else "right"):
            mine = take(session, ada)
            assert mine is not None
            revs = answer_all(session, ada, mine.aid, choice_of(mine.left))
            submit(session, ada, mine.aid, assignment_page(session, ada, mine.aid)["page"], mine.aid, revs)
        found = attention_results(session, session.get_one(Study, study_id))
        assert found == {ada.rater_id: Attention(1 - failed, failed)}
    engine.dispose()
