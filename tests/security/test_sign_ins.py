"""Sign-ins: renewed once a day, ended by a new one in the same browser, everywhere at once, and never too many."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select, update
from starlette.testclient import TestClient
from typer.testing import CliRunner

from annotation.people.door_limits import ENTRIES, SIGN_INS, caller_of
from annotation.people.links import invite, open_link
from annotation.people.principals import local_admin
from annotation.people.sign_ins import (
    ABSOLUTE,
    GRACE,
    IDLE,
    RENEW_AFTER,
    csrf_token,
    is_due,
    note_seen,
    renew,
    sign_out_everywhere,
    sign_out_person,
    who,
)
from app.command_line import app
from app.component import ANNOTATE
from db.connect import reading, transaction
from db.people_tables import Enrollment, Key, SignIn
from db.tables import Event, Label, Study
from db.types import now
from tests.app.visiting import ORIGIN, Site, first_page, post
from tests.small_study import answer, make_study

PAGE = {"Sec-Fetch-Dest": "document"}


def works(site: Site, cookie: str | None) -> bool:
    with reading(site.engine) as session:
        return who(session, cookie) is not None


def made_a_day_ago(site: Site) -> TestClient:
    client = site.signed_in()
    with transaction(site.engine) as session:
        session.execute(update(SignIn).values(created_at=now() - RENEW_AFTER - timedelta(minutes=1)))
    return client


def loaded(client: TestClient, path: str = "/", **headers: str) -> str | None:
    """The cookie that loading a page sets, if it does. (There is no page here; the reply is the middleware's.)"""
    return client.get(path, headers=PAGE | headers).cookies.get("calipers")


def test_signing_in_again_in_the_same_browser_ends_the_former_sign_in(site: Site) -> None:
    client = site.signed_in("Ada")
    former = client.cookies["calipers"]
    own, beas = (f"/invite/{site.token(name)}" for name in ("Ada", "Bea"))
    assert client.get(own).status_code == 303, "nobody is asked about their own link"
    assert not works(site, former)
    ada = client.cookies["calipers"]
    asked = client.get(beas)
    assert (asked.status_code, "set-cookie" in asked.headers, works(site, ada)) == (200, False, True)
    assert all(
        words in asked.text for words in ("This link is for Bea", "signed in as Ada", "Sign in as Bea", "Stay Ada")
    )
    assert client.post(beas, headers={"Origin": site.origin}).status_code == 303
    assert not works(site, ada)
    assert works(site, client.cookies["calipers"])


def test_a_page_of_the_former_sign_in_is_told_who_is_signed_in_now_and_stores_nothing(
    site: Site, tmp_path: Path
) -> None:
    client = site.signed_in("Ada")
    page, former = first_page(client), csrf_token(client.cookies["calipers"])
    other = make_study(site.engine, tmp_path / "other", name="other")
    with transaction(site.engine) as session:
        token = invite(session, local_admin(session.get_one(Study, other)), "Ada", "annotator")
    assert "Ada (A small study)" in client.get(f"/invite/{token}").text, "two people of one name are told apart"
    client.post(f"/invite/{site.token('Bea')}", headers={"Origin": site.origin})
    entry = answer(page, "clear", "left").model_dump()
    for reply in (
        post(client, "/api/labels", {"entries": [entry]}, **{"X-Calipers-Token": former}),
        client.get(f"/api/assignment/{page['aid']}", headers={"X-Calipers-Token": former}),
    ):
        told = reply.json()
        assert (reply.status_code, told["code"], told["name"]) == (403, "other_sign_in", "Bea")
    with reading(site.engine) as session:
        assert session.scalars(select(Label)).all() == []


def test_a_link_that_does_not_work_ends_nothing(site: Site) -> None:
    client = site.signed_in()
    assert client.get("/invite/unknown").status_code == 404
    assert works(site, client.cookies["calipers"])


def test_another_browser_of_the_same_person_goes_on(site: Site) -> None:
    one, other = site.signed_in(), site.signed_in()
    assert works(site, one.cookies["calipers"])
    assert works(site, other.cookies["calipers"])


def test_a_cookie_is_renewed_when_a_page_is_loaded_a_day_later_and_not_before(site: Site) -> None:
    assert loaded(site.signed_in("Bea")) is None
    client = made_a_day_ago(site)
    former = client.cookies["calipers"]
    following = loaded(client)
    assert following is not None
    assert following != former
    assert loaded(client) is None, "and then not again for a day"
    assert works(site, following)
    assert works(site, former), "it works on for what is under way"


@pytest.mark.parametrize("what", ["/api/assignment/x", "/invite/x", f"/page/{ANNOTATE.file_name}", "/static/js/x.js"])
def test_only_loading_a_page_renews(site: Site, what: str) -> None:
    client = made_a_day_ago(site)
    assert loaded(client, what) is None
    assert client.get("/", headers={"Sec-Fetch-Dest": "empty"}).cookies.get("calipers") is None


def test_a_download_renews_nothing_since_the_page_it_was_asked_from_stays_open(site: Site) -> None:
    client = site.signed_in("Eve", "evaluator")
    with transaction(site.engine) as session:
        session.execute(update(SignIn).values(created_at=now() - RENEW_AFTER - timedelta(minutes=1)))
    assert loaded(client, "/media/x") is None
    assert loaded(client) is not None


def test_a_request_that_began_before_a_renewal_does_not_end_the_grace(site: Site) -> None:
    client = made_a_day_ago(site)
    former = client.cookies["calipers"]
    with transaction(site.engine) as session:
        principal = who(session, former)
        assert principal is not None
        assert renew(session, former)
        note_seen(session, replace(principal, seen_at=now() - timedelta(hours=1)), former)
    assert works(site, former)


def test_a_page_that_is_open_elsewhere_in_the_browser_goes_on_saving_after_a_renewal(site: Site) -> None:
    client = made_a_day_ago(site)
    page, token = first_page(client), csrf_token(client.cookies["calipers"])
    client.cookies.set("calipers", loaded(client), domain="testserver.local")  # type: ignore[arg-type]
    entry = answer(page, "clear", "left").model_dump()
    reply = post(client, "/api/labels", {"entries": [entry]}, **{"X-Calipers-Token": token})
    assert (reply.status_code, reply.json()["refused"]) == (200, [])


def test_the_former_value_ends_after_its_grace_and_is_not_kept_alive_by_use(site: Site) -> None:
    client = made_a_day_ago(site)
    former, following = client.cookies["calipers"], loaded(client)
    client.cookies.set("calipers", former, domain="testserver.local")
    assert post(client, "/api/take", {}).status_code == 200
    with transaction(site.engine) as session:
        renewed = SignIn.revoked_at.is_not(None)
        row = session.scalars(select(SignIn).where(renewed)).one()
        row.revoked_at, row.seen_at = row.revoked_at - GRACE, row.seen_at - GRACE  # type: ignore[operator]
    assert not works(site, former)
    assert works(site, following)
    assert loaded(client) is None


def test_of_two_pages_that_load_at_once_each_gets_a_value_and_both_go_on(site: Site) -> None:
    client = made_a_day_ago(site)
    former = client.cookies["calipers"]
    with transaction(site.engine) as session:
        first = renew(session, former)
    with transaction(site.engine) as session:
        second = renew(session, former)
    assert len({former, first, second, None}) == 4
    assert all(works(site, value) for value in (former, first, second))


def test_whoever_lost_the_reply_with_the_new_value_gets_another_and_logging_out_ends_all(site: Site) -> None:
    client = made_a_day_ago(site)
    former, lost = client.cookies["calipers"], loaded(client)
    client.cookies.set("calipers", former, domain="testserver.local")
    kept = loaded(client)
    assert kept not in (None, lost)
    client.cookies.set("calipers", kept, domain="testserver.local")  # type: ignore[arg-type]
    assert post(client, "/api/logout", {}).status_code == 200
    assert not any(works(site, value) for value in (former, lost, kept))


def test_renewing_lengthens_no_sign_in(site: Site) -> None:
    client = made_a_day_ago(site)
    following = loaded(client)
    with transaction(site.engine) as session:
        for row in session.scalars(select(SignIn)):
            row.created_at = row.created_at - ABSOLUTE
    assert not works(site, following)


@pytest.mark.parametrize("cookie", ["", "x", "a.b.c", "a.1.b", f"{'a' * 43}.99999999999999.b", "a" * 100_000, "é"])
def test_a_made_up_cookie_is_nobodys_and_renews_nothing(site: Site, cookie: str) -> None:
    with transaction(site.engine) as session:
        assert not is_due(session, cookie)
        assert renew(session, cookie) is None
        assert who(session, cookie) is None


@pytest.mark.parametrize("ending", ["logout", "everywhere", "admin"])
def test_the_end_of_a_sign_in_ends_its_former_value_too(site: Site, ending: str) -> None:
    client, other = made_a_day_ago(site), site.signed_in("Bea")
    former, following = client.cookies["calipers"], loaded(client)
    client.cookies.set("calipers", following, domain="testserver.local")  # type: ignore[arg-type]
    elsewhere = site.signed_in("Ada").cookies["calipers"]
    if ending == "admin":
        with transaction(site.engine) as session:
            sign_out_person(session, local_admin(session.get_one(Study, site.study_id)), "Ada")
    else:
        body = {"everywhere": True} if ending == "everywhere" else {}
        assert post(client, "/api/logout", body).status_code == 200
    assert not works(site, former)
    assert not works(site, following)
    assert works(site, elsewhere) == (ending == "logout")
    assert works(site, other.cookies["calipers"])


def test_the_command_line_signs_a_person_out_and_nobody_else(site: Site) -> None:
    ada, bea = site.signed_in("Ada"), site.signed_in("Bea")
    done = CliRunner().invoke(app, ["people", "--sign-out", "Ada"], catch_exceptions=False)
    assert done.exit_code == 0
    assert not works(site, ada.cookies["calipers"])
    assert works(site, bea.cookies["calipers"])


def test_signing_out_everywhere_leaves_the_link_good_and_a_line_in_the_trail(site: Site) -> None:
    token = site.token("Ada")
    client = site.visitor()
    client.get(f"/invite/{token}")
    assert post(client, "/api/logout", {"everywhere": True}).status_code == 200
    assert client.get(f"/invite/{token}").status_code == 303
    with transaction(site.engine) as session:
        principal = who(session, client.cookies["calipers"])
        assert principal is not None
        sign_out_everywhere(session, principal)
        trail = session.scalar(select(func.count()).where(Event.what == "sign_out_everywhere"))
    assert trail == 2
    assert not works(site, client.cookies["calipers"])


def test_who_was_just_signed_out_stays_so_when_a_clock_is_set_back(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    client = site.signed_in()
    cookie = client.cookies["calipers"]
    assert post(client, "/api/logout", {}).status_code == 200
    back = now() - timedelta(minutes=5)
    monkeypatch.setattr("annotation.people.sign_ins.now", lambda: back)
    assert not works(site, cookie)


def test_another_role_counts_at_the_very_next_request(site: Site) -> None:
    """Nothing but the row of the enrollment says who may do what, so a role that is changed ends all it allowed."""
    client = site.signed_in("Eve", "admin")
    with transaction(site.engine) as session:
        session.execute(update(Enrollment).values(role="annotator"))
    with reading(site.engine) as session:
        principal = who(session, client.cookies["calipers"])
    assert principal is not None
    assert principal.role == "annotator"


def test_an_idle_sign_in_ends_whether_or_not_it_was_renewed(site: Site) -> None:
    client = made_a_day_ago(site)
    following = loaded(client)
    with transaction(site.engine) as session:
        session.execute(update(SignIn).where(SignIn.revoked_at.is_(None)).values(seen_at=now() - IDLE * 2))
    assert not works(site, following)


def test_one_link_signs_in_thirty_times_in_ten_minutes_and_logs_out_no_oftener(site: Site) -> None:
    token, statuses = site.token(), []
    for _ in range(SIGN_INS + 2):
        client = site.visitor()
        statuses.append(client.get(f"/invite/{token}").status_code)
        if statuses[-1] == 303:
            assert post(client, "/api/logout", {}).status_code == 200
            assert post(client, "/api/logout", {}).status_code == 401
    assert statuses == [303] * SIGN_INS + [429] * 2
    assert site.visitor().get(f"/invite/{site.token('Bea')}").status_code == 303


def test_an_open_link_lets_so_many_new_people_in_from_one_place_and_those_it_knows_at_any_time(site: Site) -> None:
    with transaction(site.engine) as session:
        token = open_link(session, local_admin(session.get_one(Study, site.study_id)), 1_000)
    statuses = [site.visitor().get(f"/invite/{token}?participant=p{n}").status_code for n in range(ENTRIES + 2)]
    assert statuses == [303] * ENTRIES + [429] * 2
    assert site.visitor().get(f"/invite/{token}?participant=p0").status_code == 303
    with reading(site.engine) as session:
        assert session.scalar(select(func.count(Enrollment.id))) == ENTRIES


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("10.0.0.1", "10.0.0.1", True), ("10.0.0.1", "10.0.0.2", False), ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False), ("::ffff:10.0.0.1", "10.0.0.1", True), ("unknown", "unknown", True),
        ("unknown", "testclient", False),
    ],
)  # fmt: skip
def test_who_calls_from_one_place_counts_as_one(site: Site, one: str, other: str, same: bool) -> None:
    with transaction(site.engine) as session:
        assert (caller_of(session, one) == caller_of(session, other)) is same


def test_what_stands_for_an_address_cannot_be_tried_without_the_databases_own_key(site: Site) -> None:
    site.visitor().get("/invite/no-such-link")
    with reading(site.engine) as session:
        kept = session.scalars(select(Event.what).where(Event.what.startswith("invite_failed:"))).one()
        key = session.scalars(select(Key.secret)).one()
    assert len(key) == 64
    plain = {hashlib.sha256(address.encode()).hexdigest()[:16] for address in ("testclient", "127.0.0.1", "")}
    assert kept.removeprefix("invite_failed:") not in plain
    with transaction(site.engine) as session:
        assert caller_of(session, "203.0.113.9") == caller_of(session, "203.0.113.9")  # one key, however often asked


def test_a_button_of_somebody_elses_page_logs_nobody_out(site: Site) -> None:
    client = site.signed_in()
    for forged in ({"Origin": "https://evil.test"}, {"X-Calipers-Token": "0" * 64}, {"Content-Type": "text/plain"}):
        assert post(client, "/api/logout", {"everywhere": True}, **forged).status_code in (403, 422)
    assert client.post("/api/logout", data={"everywhere": "1"}, headers={"Origin": ORIGIN}).status_code == 403
    assert works(site, client.cookies["calipers"])
