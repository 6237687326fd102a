"""Many people at once, on both databases, again and again: every slot filled exactly, loads equal, nobody twice."""

from __future__ import annotations

from functools import partial

import pytest
from sqlalchemy import Engine

from tests.plain_study import people_of, plain_study
from tests.racing import all_are_filled, answering, at_once, handing_in, race_with_skips

pytestmark = pytest.mark.every_case


def test_twenty_racing_for_twenty_items_fill_each_three_times_every_time(engine: Engine) -> None:
    for number in range(5):  # on each database: ten times of ten
        study_id = plain_study(engine, 20, 3, name=f"race-{number}")
        people = people_of(engine, study_id, 20, quota=3)
        at_once(people, partial(answering if number == 0 else handing_in, engine))
        all_are_filled(engine, study_id, 20)


def test_sixty_racing_for_sixty_items_fill_each_three_times(engine: Engine) -> None:
    study_id = plain_study(engine, 60, 3)
    at_once(people_of(engine, study_id, 60, quota=3), partial(handing_in, engine))
    all_are_filled(engine, study_id, 60)


@pytest.mark.parametrize("quota", [None, 8])
def test_skips_and_stale_returns_in_the_race_lose_no_slot_and_give_none_twice(
    engine: Engine, quota: int | None
) -> None:
    race_with_skips(engine, items=15, count=10, turns=40, quota=quota)
