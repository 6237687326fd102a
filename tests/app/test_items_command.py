"""`calipers items`: who holds which slot, and what an admin changes about the open ones."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, select
from typer.testing import CliRunner

from annotation.errors import AnnotationError
from annotation.open_work.item_slots import list_items, release, reserve, return_stale_now, set_priority
from annotation.people.principals import Principal
from annotation.work.claiming import take
from app.command_line import app
from db.connect import transaction
from db.tables import Assignment, Event
from db.types import now
from tests.plain_study import hand_in, people_of, plain_study


@pytest.fixture
def people(engine_here: Engine) -> list[Principal]:
    return people_of(engine_here, plain_study(engine_here, 4, 2), 3)


def changed(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["items", "plain", *words, "--json"])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_each_item_is_listed_with_its_slots_and_who_holds_them(engine_here: Engine, people: list[Principal]) -> None:
    with transaction(engine_here) as session:
        mine = take(session, people[0])
        assert mine is not None
        hand_in(session, people[0], mine.aid)
    rows = changed()["items"]
    assert [row["item"] for row in rows] == [f"item-{number:05d}" for number in range(1, 5)]
    assert sorted((row["open"], row["taken"], row["handed_in"]) for row in rows) == [(1, 0, 1), (1, 1, 0), (2, 0, 0), (2, 0, 0)]  # fmt: skip
    assert sorted(row["held_by"] for row in rows) == [[], [], [["p0", "submitted"]], [["p0", "taken"]]]
    table = CliRunner().invoke(app, ["items", "plain"]).stdout
    assert "item-00001" in table
    assert "p0" in table


def test_what_is_urgent_goes_out_first_and_what_is_out_stays_where_it_is(
    engine_here: Engine, people: list[Principal]
) -> None:
    with transaction(engine_here) as session:
        held = take(session, people[0])
        assert held is not None
        item, other = held.item_id, next(number for number in range(1, 5) if number != held.item_id)
    told = changed("--item", f"item-{item:05d}", "--item", f"item-{other:05d}", "--priority", "5")
    assert told["changed"] == {"moved": 3}
    with transaction(engine_here) as session:
        assert session.get_one(Assignment, held.id).priority == 0
        first = take(session, people[1])
        assert first is not None
        assert first.item_id in (item, other)
        audited = session.scalars(select(Event).where(Event.what == "priority")).one()
        assert audited.data["priority"] == 5


def test_a_slot_is_kept_for_one_person_until_it_is_released(engine_here: Engine, people: list[Principal]) -> None:
    assert changed("--item", "item-00003", "--reserve", "p1")["changed"] == {"reserved": 1}
    assert changed("--item", "item-00003", "--reserve", "p1")["changed"] == {"reserved": 0}
    assert changed("--item", "item-00003", "--reserve", "p2")["changed"] == {"reserved": 1}
    with transaction(engine_here) as session:
        seen = set()
        while (mine := take(session, people[0])) is not None:
            seen.add(mine.item_id)
            mine.status = "submitted"
            session.flush()
        assert seen == {1, 2, 4}
        first = take(session, people[1])
        assert first is not None
        assert first.item_id == 3
    assert [row["reserved_for"] for row in changed()["items"]] == [[], [], ["p2"], []]
    assert changed("--release", "--of", "p2")["changed"] == {"released": 1}
    with transaction(engine_here) as session:
        last = take(session, people[0])
        assert last is not None
        assert last.item_id == 3


def test_what_cannot_be_kept_is_refused_by_name_and_changes_nothing(
    engine_here: Engine, people: list[Principal]
) -> None:
    with transaction(engine_here) as session:
        mine = take(session, people[0])
        assert mine is not None
        had = f"item-{mine.item_id:05d}"
    for words, code in (
        (("--item", "item-00009", "--priority", "1"), "unknown_item"),
        (("--item", had, "--reserve", "p0"), "had_already"),
        (("--item", had, "--reserve", "nobody"), "unknown_person"),
        (("--item", had, "--priority", "100000"), "bad_priority"),
    ):
        with pytest.raises(AnnotationError) as refused:
            changed(*words)
        assert refused.value.code == code
    changed("--item", had, "--reserve", "p1")
    with pytest.raises(AnnotationError, match="no slot that is open"):
        changed("--item", "item-00001", "--item", had, "--reserve", "p2")
    assert sum(len(row["reserved_for"]) for row in changed()["items"]) == 1
    for words in (("--priority", "1"), ("--reserve", "p1"), ("--release",), ("--of", "p1")):
        assert CliRunner().invoke(app, ["items", "plain", *words]).exit_code == 2


def test_untouched_work_is_returned_by_command(engine_here: Engine, people: list[Principal]) -> None:
    with transaction(engine_here) as session:
        mine = take(session, people[0])
        assert mine is not None
        mine.active_at = now() - timedelta(hours=25)
    assert changed("--return-stale")["changed"] == {"returned": 1}
    assert changed("--return-stale")["changed"] == {"returned": 0}


def test_only_an_admin_sees_or_moves_slots(engine_here: Engine, people: list[Principal]) -> None:
    calls = (
        lambda session, who: list_items(session, who),
        lambda session, who: set_priority(session, who, ["item-00001"], 1),
        lambda session, who: reserve(session, who, ["item-00001"], "p0"),
        lambda session, who: release(session, who, []),
        lambda session, who: return_stale_now(session, who),
    )
    for role in ("annotator", "adjudicator", "evaluator"):
        for call in calls:
            with transaction(engine_here) as session, pytest.raises(AnnotationError) as refused:
                call(session, Principal(people[0].study_id, role, people[0].rater_id, people[0].enrollment_id))
            assert refused.value.code == "forbidden"
