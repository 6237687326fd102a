"""Many people at once, on both databases: every slot filled exactly, loads equal, nobody twice.

tests/faults/test_taking_races.py lets more people race, longer and again.
"""

from __future__ import annotations

from functools import partial

from sqlalchemy import Engine

from tests.plain_study import people_of, plain_study
from tests.racing import all_are_filled, answering, at_once, race_with_skips


def test_ten_racing_for_ten_items_fill_each_three_times(engine: Engine) -> None:
    study_id = plain_study(engine, 10, 3)
    at_once(people_of(engine, study_id, 10, quota=3), partial(answering, engine))
    all_are_filled(engine, study_id, 10)


def test_skips_and_stale_returns_in_the_race_lose_no_slot_and_give_none_twice(engine: Engine) -> None:
    race_with_skips(engine, items=6, count=8, turns=8, quota=None)
