"""The server's clock jumps back: orders follow revisions, nobody is shut out, and no time is negative."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, select

from annotation.facts.soundness import find_faults
from annotation.open_work.returns import return_stale
from annotation.participation.people_list import pay_lines
from annotation.people.active_time import seconds_by_assignment
from annotation.people.principals import Principal, local_admin
from annotation.people.sign_ins import who
from annotation.planning.plan_root import keep_plan_root
from annotation.verdicts import load_verdicts
from annotation.work.own_work import own_work
from app.progress import study_progress
from app.results.quality import study_quality
from db.connect import reading, transaction
from db.tables import Assignment, Study
from tests.app.visiting import Site, first_page, post
from tests.small_study import answer


class Clock:
    """What the server's clock shows: the true time, put wrong by `wrong`."""

    wrong = timedelta()

    def go(self, **by: float) -> None:
        self.wrong += timedelta(**by)

    def set(self, shown: datetime) -> None:
        self.wrong = shown - datetime.now(UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()

    class Shown(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + clock.wrong

    monkeypatch.setattr("db.types.datetime", Shown)
    return clock


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server whose zone lives 25 October 2026, 2:00 to 3:00, twice: the process and its Postgres sessions."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    monkeypatch.setenv("PGTZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def active(page: dict[str, Any], start: datetime, seconds: int) -> dict[str, Any]:
    """What the page sends after some seconds of work, by the browser's own clock."""
    end = (start + timedelta(seconds=seconds)).isoformat()
    return {
        "kind": "activity", "aid": page["aid"], "page": page["page"], "client_uuid": uuid.uuid4().hex, "client_ts": end,
        "intervals": [{"criterion": None, "start": start.isoformat(), "end": end}],
    }  # fmt: skip


def of(engine: Engine, cookie: str) -> Principal:
    with reading(engine) as session:
        principal = who(session, cookie)
    assert principal is not None
    return principal


def test_after_a_jump_of_hours_in_mid_item_the_last_answer_still_counts_and_everything_can_be_read(
    site: Site, clock: Clock
) -> None:
    client = site.signed_in()
    page = first_page(client)
    with transaction(site.engine) as session:
        root = keep_plan_root(session, session.get_one(Study, site.study_id))

    def save(choice: str, **changes: Any) -> int:
        entries = [answer(page, code, choice, **changes).model_dump() for code in ("clear", "deep")]
        acks = post(client, "/api/labels", {"entries": entries}).json()["acks"]
        return {ack["rev"] for ack in acks}.pop()

    assert save("left", seq=1) == 1
    clock.go(hours=-5)
    assert save("right", seq=2) == 2
    assert client.get(f"/api/assignment/{page['aid']}").json()["answers"]["clear"]["choice"] == "right"
    history = client.get(f"/api/history/{page['aid']}").json()
    assert [revision["choice"] for revision in history[0]["revisions"]] == ["left", "right"]
    assert post(client, "/api/take", {}).json()["next"] == page["aid"], "work in hand stays in hand"
    body = {"aid": page["aid"], "page": page["page"], "outcome": "submit", "revs": {"clear": 2, "deep": 2}}
    following = post(client, "/api/submit", body | {"client_uuid": "submit-1"}).json()["next"]
    assert following

    with reading(site.engine) as session:
        study = session.get_one(Study, site.study_id)
        work = session.scalars(select(Assignment).where(Assignment.aid == page["aid"])).one()
        assert work.submitted_at is not None
        assert work.taken_at is not None
        assert work.submitted_at < work.taken_at, "which is what this test is about"
        mine = own_work(session, of(site.engine, client.cookies["calipers"]))
        assert {item.aid: item.state for item in mine.items} == {page["aid"]: "submitted", following: "in work"}
        assert study_progress(session, local_admin(study)).submitted == 1
        (pay,) = pay_lines(session, local_admin(study))
        assert (pay.items, pay.wall_h, pay.active_h) == (1, 0.0, 0.0)
        assert len(study_quality(session, local_admin(study), resamples=99).annotators) <= 1
        assert find_faults(session) == []
        verdicts = load_verdicts(session, study)
        other = {"A": "B", "B": "A"}[str(work.left)]
        assert list(verdicts["label"]) == [other, other], "the last answer, right, and not the one with the later time"
    with transaction(site.engine) as session:
        assert keep_plan_root(session, session.get_one(Study, site.study_id)) == root
    clock.go(hours=5)
    reopened = post(client, "/api/submit", body | {"outcome": "reopen", "client_uuid": "reopen-1"})
    assert reopened.status_code == 200
    assert save("left", seq=3) == 3


def test_a_jump_back_takes_one_send_of_active_time_and_never_makes_it_negative(site: Site, clock: Clock) -> None:
    client = site.signed_in()
    page = first_page(client)
    begun = datetime.now(UTC)
    for number in range(20):  # the browser's clock is right all the time
        clock.go(seconds=15, hours=-5 if number == 9 else 0)
        post(client, "/api/labels", {"entries": [active(page, begun + timedelta(seconds=15 * number), 15)]})
    with reading(site.engine) as session:
        (spent,) = seconds_by_assignment(session, session.get_one(Study, site.study_id)).values()
    assert sum(spent.values()) == pytest.approx(19 * 15, abs=5)
    assert client.get(f"/api/assignment/{page['aid']}").json()["active_s"]["item"] == pytest.approx(19 * 15, abs=5)


@pytest.mark.usefixtures("in_berlin")
def test_the_hour_that_is_lived_twice_is_counted_twice(site: Site, clock: Clock) -> None:
    begun = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # 2:30 in summer time; an hour later it is 2:30 again
    clock.set(begun)
    client = site.signed_in()
    page = first_page(client)
    for number in range(12):
        clock.go(minutes=5)
        entry = active(page, begun + timedelta(minutes=5 * number), 300)
        assert post(client, "/api/labels", {"entries": [entry]}).json()["acks"]
    assert client.get(f"/api/assignment/{page['aid']}").json()["active_s"]["item"] == pytest.approx(3600, abs=5)
    with reading(site.engine) as session:
        work = session.scalars(select(Assignment).where(Assignment.aid == page["aid"])).one()
        assert work.taken_at is not None
        assert work.active_at is not None
        assert (work.active_at - work.taken_at).total_seconds() == pytest.approx(3600, abs=5)


@pytest.mark.parametrize(("jump", "status"), [({"hours": -5}, 200), ({"days": -10}, 200), ({"days": -400}, 401)])
def test_a_sign_in_outlives_a_jump_of_hours_and_does_not_last_until_a_clock_far_ahead(
    site: Site, clock: Clock, jump: dict[str, float], status: int
) -> None:
    client, link = site.signed_in(), site.token("Bea")
    page = first_page(client)
    clock.go(**jump)
    assert client.get(f"/api/assignment/{page['aid']}").status_code == status
    assert site.visitor().get(f"/invite/{link}").status_code == 303, "a link made before still opens"
    assert site.signed_in("Cid").get("/api/assignment/x").status_code == 404, "and so does a new one"


def test_failed_links_count_ten_minutes_whatever_the_clock_does(site: Site, clock: Clock) -> None:
    visitor = site.visitor()
    assert [visitor.get(f"/invite/guess{k}").status_code for k in range(11)] == [404] * 10 + [429]
    clock.go(hours=-5)
    assert visitor.get("/invite/guess").status_code == 404


@pytest.mark.parametrize(("hours", "at_once", "late"), [(-5, 0, 1), (-23, 0, 1), (-400 * 24, 1, 0)])
def test_work_in_hand_is_returned_late_by_the_jump_and_never_kept_until_a_clock_far_ahead(
    site: Site, clock: Clock, hours: int, at_once: int, late: int
) -> None:
    first_page(site.signed_in())
    for jump, returned in ((hours, at_once), (23 - max(hours, -24), 0), (2, late)):
        clock.go(hours=jump)
        with transaction(site.engine) as session:
            assert return_stale(session, session.get_one(Study, site.study_id)) == returned
            assert find_faults(session) == []
