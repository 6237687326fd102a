"""Links as they are opened in a browser: once, many times, by many people, and not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from annotation.participation import standing
from annotation.people.links import invite, open_link, revoke, revoke_open_link
from annotation.people.principals import Principal, local_admin
from annotation.people.sign_ins import who
from annotation.work.progress import position
from app.settings import leads_elsewhere
from db.connect import reading, transaction
from db.people_tables import Enrollment, Invite, OpenLink
from db.tables import Assignment, Label, Study
from db.types import now
from tests.app.visiting import ORIGIN, Site, first_page, post
from tests.small_study import PROTOCOL, answer, make_study


def single(site: Site) -> str:
    """A link that works once."""
    token = site.token()
    with transaction(site.engine) as session:
        session.execute(update(Invite).values(single_use=True))
    return token


def crowd(site: Site, places: int = 2, quota: int | None = None) -> str:
    with transaction(site.engine) as session:
        return open_link(session, local_admin(session.get_one(Study, site.study_id)), places, quota)


def test_a_link_for_single_use_shows_a_button_to_whoever_looks_and_is_used_up_by_pressing_it(site: Site) -> None:
    token, scanner = single(site), site.visitor()
    for _ in range(3):
        page = scanner.get(f"/invite/{token}")
        assert page.status_code == 200
        assert '<form method="post"><button>' in page.text
        assert 'content="strict-origin"' in page.text  # under no-referrer a browser would send Origin: null
        assert "set-cookie" not in page.headers
        assert "no-store" in page.headers["cache-control"]
    ada = site.visitor()
    pressed = ada.post(f"/invite/{token}", headers={"Origin": ORIGIN})
    assert (pressed.status_code, pressed.headers["location"]) == (303, "/")
    assert post(ada, "/api/take", {}).status_code == 200
    assert [site.visitor().post(f"/invite/{token}", headers={"Origin": ORIGIN}).status_code, scanner.get(f"/invite/{token}").status_code] == [404, 404]  # fmt: skip


@pytest.mark.parametrize(
    ("base", "port", "says"),
    [
        ("http://127.0.0.1:8501", 8501, ""),
        ("http://127.0.0.1:8501", 8613, "CALIPERS_BASE_URL=http://127.0.0.1:8613 calipers invite"),
        ("http://localhost:8000", 8501, "invitations lead to http://localhost:8000, not to port 8501"),
        ("https://calipers.example.org", 8613, ""),  # a proxy's
    ],
)
def test_a_server_says_where_invitations_lead_that_do_not_lead_to_it(base: str, port: int, says: str) -> None:
    assert says in (told := leads_elsewhere(base, port))
    assert bool(told) == bool(says)


def test_a_button_on_another_page_does_not_use_a_link_up(site: Site) -> None:
    token = single(site)
    for origin in ({}, {"Origin": "null"}, {"Origin": "https://elsewhere.example"}):
        refused = site.visitor().post(f"/invite/{token}", headers=origin)
        assert (refused.status_code, "set-cookie" in refused.headers) == (403, False)
    assert site.visitor().post(f"/invite/{token}", headers={"Origin": ORIGIN}).status_code == 303


def test_used_unknown_expired_and_revoked_links_answer_alike(site: Site) -> None:
    def used() -> str:
        token = single(site)
        assert site.visitor().post(f"/invite/{token}", headers={"Origin": ORIGIN}).status_code == 303
        return token

    def expired() -> str:
        token = site.token("Ben")
        with transaction(site.engine) as session:
            session.execute(update(Invite).values(expires_at=now()))
        return token

    def revoked() -> str:
        token = site.token("Cy")
        with transaction(site.engine) as session:
            revoke(session, local_admin(session.get_one(Study, site.study_id)), "Cy")
        return token

    def open_and_revoked() -> str:
        token = crowd(site)
        with transaction(site.engine) as session:
            revoke_open_link(session, local_admin(session.get_one(Study, site.study_id)), 1)
        return f"{token}?participant=w1"

    links = [used(), expired(), revoked(), open_and_revoked(), "never-was"]
    answers = {(reply.status_code, reply.text) for reply in (site.visitor().get(f"/invite/{one}") for one in links)}
    assert len(answers) == 1
    assert answers.pop()[0] == 404


def test_an_open_link_knows_a_participant_again_under_every_name_platforms_use(site: Site) -> None:
    token, aids = crowd(site), set()
    for name in ("participant", "PROLIFIC_PID", "workerId", "participantId"):
        client = site.visitor()
        assert client.get(f"/invite/{token}?{name}=5f3c9d2e1b").status_code == 303
        aids.add(first_page(client)["aid"])
    assert len(aids) == 1
    with reading(site.engine) as session:
        (person,) = session.scalars(select(Enrollment)).all()
    assert (person.role, person.pseudonym) == ("annotator", "annotator-01")


@pytest.mark.parametrize("said", ["x; Domain=evil.example", "名前", "5f3c9d"])
def test_a_persons_own_link_keeps_no_participants_id_whatever_the_address_says(site: Site, said: str) -> None:
    reply = site.visitor().get(f"/invite/{site.token()}", params={"participant": said})
    assert (reply.status_code, "calipers_id" in str(reply.headers)) == (303, False)


def test_an_open_link_says_what_is_missing_and_when_it_is_full(site: Site) -> None:
    token = crowd(site, places=1)
    without = site.visitor().get(f"/invite/{token}")
    assert (without.status_code, "?participant=" in without.text) == (400, True)
    assert site.visitor().get(f"/invite/{token}?participant=w1").status_code == 303
    full = site.visitor().get(f"/invite/{token}?participant=w2")
    assert (full.status_code, "All places" in full.text) == (403, True)
    assert "<script>" not in site.visitor().get(f"/invite/{token}?participant=<script>").text


@pytest.mark.parametrize(
    ("remove", "status", "words"),
    [(standing.withdraw, 401, "signed out"), (standing.void_work, 200, "went back to the pool")],
)
def test_who_is_removed_in_the_middle_of_a_pair_is_told_and_nothing_is_lost_or_doubled(
    site: Site, remove: Any, status: int, words: str
) -> None:
    ada = site.signed_in()
    page = first_page(ada)

    def send(criterion: str) -> Any:
        return post(ada, "/api/labels", {"entries": [answer(page, criterion, "left").model_dump()]})

    assert len(send("clear").json()["acks"]) == 1
    with transaction(site.engine) as session:
        reason = ("not paid attention",) if remove is standing.void_work else ()
        remove(session, local_admin(session.get_one(Study, site.study_id)), "Ada", *reason)
    late = send("deep")
    assert late.status_code == status
    assert words in late.text
    assert post(ada, "/api/submit", {"aid": page["aid"], "page": page["page"], "outcome": "submit", "client_uuid": "client-0001", "revs": {}}).status_code in (401, 409)  # fmt: skip
    with reading(site.engine) as session:
        assert len(session.scalars(select(Label)).all()) == 1
        (mine,) = session.scalars(select(Assignment).where(Assignment.aid == page["aid"])).all()
        live = select(Assignment).where(Assignment.item_id == mine.item_id, Assignment.slot_no == mine.slot_no)
        assert [row.status for row in session.scalars(live.where(Assignment.id != mine.id))] == ["open"]


def test_a_study_that_asks_for_it_makes_links_for_single_use(site: Site, tmp_path: Path) -> None:
    once = PROTOCOL.replace("[study]", "[study]\nlimits = {single_use_invites = true}")
    study_id = make_study(site.engine, tmp_path / "again", protocol=once, name="once")
    with transaction(site.engine) as session:
        token = invite(session, local_admin(session.get_one(Study, study_id)), "Ada", "annotator")
    assert "works once" in site.visitor().get(f"/invite/{token}").text


def test_a_quota_from_the_link_is_the_length_of_the_work(site: Site) -> None:
    token, client = crowd(site, quota=3), site.visitor()
    client.get(f"/invite/{token}?participant=w1")
    with reading(site.engine) as session:
        assert session.scalar(select(OpenLink.quota)) == 3
        person = who(session, client.cookies["calipers"])
        assert isinstance(person, Principal)
        assert position(session, person) == (0, 3)
