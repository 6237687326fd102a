"""Another visit of somebody a crowd platform sent: on its signature, by an admin, and otherwise not."""

from __future__ import annotations

import time
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from sqlalchemy import select, update
from streamlit.testing.v1 import AppTest

from annotation.errors import AnnotationError
from annotation.participation.personal_data import person_record
from annotation.people.links import invite, open_link, revoke, revoke_open_link
from annotation.people.principals import local_admin
from annotation.people.sign_ins import sign_in
from annotation.people.visits import kept_out, let_in
from app.server import signed_addresses
from app.settings import settings
from db.connect import reading, transaction
from db.people_tables import OpenLink
from db.tables import Event, Study
from db.types import now
from tests.app.drawing import drawn, html_of
from tests.app.test_crowd import WORKSPACE, come, hand_in, link
from tests.app.test_crowd_screen import run
from tests.app.visiting import Site, first_page, post
from tests.mock_prolific import Prolific, new_id

pytestmark = pytest.mark.databases("sqlite")


def test_a_visit_that_was_refused_is_seen_and_goes_on_where_that_person_stopped_once_it_is_let_in(site: Site) -> None:
    came = f"/invite/{link(site, 'prolific', quota=2)}?PROLIFIC_PID=p1&SESSION_ID="
    first = come(site, f"{came}v1")
    hand_in(first)
    held = first_page(first)["aid"]
    for _ in range(2):
        assert site.visitor().get(f"{came}v2").status_code == 403
    assert site.visitor().get(f"{came}v3").status_code == 403
    with transaction(site.engine) as session:
        admin = local_admin(session.get_one(Study, site.study_id))
        refused = kept_out(session, admin)
        assert [one.pseudonym for one in refused] == ["annotator-01"] * 2, "each visit once"
        assert (kept_out(session, admin, "p1"), kept_out(session, admin, "p2")) == (refused, [])
        assert "kept_out" in {act["what"] for act in person_record(session, admin, "p1")["acts_of_others"]}
        owner = sign_in(session, invite(session, admin, "Root", "admin"), "::1")
    screen = drawn(AppTest.from_function(run, args=(owner,), default_timeout=60).run())
    assert "They came with the id of somebody who has answered" in "".join(html_of(screen))
    drawn(screen.text_input(key="kept_id").set_value("p2").run())
    assert "people_let_in" not in {one.key for one in screen.button}
    drawn(screen.text_input(key="kept_id").set_value("p1").run())
    drawn(screen.selectbox(key="kept_out").select(refused[1].id).run())
    drawn(screen.button(key="people_let_in").click().run())
    assert "They came with the id" not in "".join(html_of(screen))
    assert first_page(come(site, f"{came}v2"))["aid"] == held
    assert post(first, "/api/take", {}).status_code == 401
    assert [site.visitor().get(f"{came}{visit}").status_code for visit in ("v1", "v3")] == [403, 403]
    with transaction(site.engine) as session:
        with pytest.raises(AnnotationError, match="waits no more"):
            let_in(session, admin, refused[1].id)
        revoke(session, admin, "p1")
        assert kept_out(session, admin) == []
        told = session.scalars(select(Event.data).where(Event.what.in_(("kept_out", "let_in")))).all()
    assert all(set(line) == {"enrollment", "visit"} for line in told), "no id of the platform's, and no hash"


def test_of_sona_and_by_a_link_of_no_platform_an_id_alone_opens_nothing_that_was_answered(site: Site) -> None:
    sona = f"/invite/{link(site, 'sona', quota=2)}?survey_code=51733"
    first = come(site, sona)
    hand_in(first)
    for _ in range(2):
        assert site.visitor().get(sona).status_code == 403
    assert site.visitor().get(f"/invite/{link(site, '')}?participant=51733").status_code == 403
    with transaction(site.engine) as session:
        admin = local_admin(session.get_one(Study, site.study_id))
        let_in(session, admin, kept_out(session, admin)[-1].id)
    assert first_page(come(site, sona))["aid"]


def test_who_is_let_in_came_by_the_link_of_now_whatever_became_of_the_first(site: Site) -> None:
    hand_in(come(site, f"/invite/{link(site, 'prolific', quota=2)}?PROLIFIC_PID=p1&SESSION_ID=v1"))
    with transaction(site.engine) as session:
        session.execute(update(OpenLink).values(expires_at=now() - timedelta(days=1)))
    again = f"/invite/{link(site, 'prolific', quota=2)}?PROLIFIC_PID=p1&SESSION_ID=v2"
    assert site.visitor().get(again).status_code == 403
    with transaction(site.engine) as session:
        admin = local_admin(session.get_one(Study, site.study_id))
        let_in(session, admin, kept_out(session, admin)[-1].id)
    assert first_page(come(site, again))["aid"]


def test_a_link_that_was_withdrawn_leaves_answers_to_no_visit_by_another_one_but_a_person_whose_links_were(
    site: Site,
) -> None:
    hand_in(come(site, f"/invite/{link(site, 'prolific', quota=2)}?PROLIFIC_PID=p1&SESSION_ID=v1"))
    again = f"/invite/{link(site, 'prolific', quota=2)}?PROLIFIC_PID=p1&SESSION_ID="
    with transaction(site.engine) as session:
        admin = local_admin(session.get_one(Study, site.study_id))
        revoke_open_link(session, admin, session.scalars(select(OpenLink.id).order_by(OpenLink.id)).first() or 0)
    assert site.visitor().get(f"{again}v2").status_code == 403
    with transaction(site.engine) as session:
        revoke(session, admin, "p1")
    assert first_page(come(site, f"{again}v3"))["aid"]


def test_visits_are_made_up_no_oftener_than_links(site: Site) -> None:
    came = f"/invite/{link(site, 'prolific')}?PROLIFIC_PID=p1&SESSION_ID="
    hand_in(come(site, f"{came}v1"))
    said = [site.visitor().get(f"{came}x{n}").status_code for n in range(12)]
    assert said == [403] * 10 + [429] * 2


@pytest.fixture
def secured(site: Site, monkeypatch: pytest.MonkeyPatch) -> Prolific:
    with transaction(site.engine) as session:
        admin = local_admin(session.get_one(Study, site.study_id))
        token = open_link(session, admin, 9, 2, "prolific", {}, WORKSPACE)
    address = f"{settings().invite_link(token)}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&SESSION_ID={{{{%SESSION_ID%}}}}"
    there = Prolific(address, places=9, reward=Decimal(1), codes={}, workspace=WORKSPACE)
    monkeypatch.setattr(signed_addresses, "PROLIFIC", signed_addresses.PlatformKeys("https://keys.example"))
    monkeypatch.setattr(httpx, "get", lambda address, timeout: httpx.Response(200, json=there.keys(), request=httpx.Request("GET", address)))  # fmt: skip
    return there


def path_of(address: str | None) -> str:
    return httpx.URL(address or "").raw_path.decode()


def test_on_the_platforms_signature_who_returned_it_goes_on_by_themselves_and_nobody_else_comes(
    site: Site, secured: Prolific
) -> None:
    participant = new_id()
    first = come(site, path_of(secured.join(participant)))
    hand_in(first)
    held = first_page(first)["aid"]
    come(site, path_of(secured.join(participant)), first)
    secured.leave(participant)
    again = path_of(secured.join(participant))
    other = come(site, again)
    assert first_page(other)["aid"] == held
    assert post(first, "/api/take", {}).status_code == 401, "one person works by one visit"
    assert first_page(come(site, again.partition("&prolific_token")[0]))["aid"] == held, "the same visit, known by now"
    with reading(site.engine) as session:
        assert kept_out(session, local_admin(session.get_one(Study, site.study_id))) == []


def test_no_forged_address_lets_anybody_in(site: Site, secured: Prolific, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = new_id()
    hand_in(come(site, path_of(secured.join(victim))))
    names = {"PROLIFIC_PID": victim, "STUDY_ID": secured.study, "SESSION_ID": new_id()}
    address = secured.address.replace("{{%PROLIFIC_PID%}}", victim).replace("{{%SESSION_ID%}}", names["SESSION_ID"])

    def comes(token: str, to: str = address) -> int:
        return site.visitor().get(path_of(to), params={**httpx.URL(to).params, "prolific_token": token}).status_code

    def signed(**claims: Any) -> str:
        return secured.signed(address, names, **claims)

    def by(key: Any, alg: str = "RS256", **head: str) -> str:
        said = {"aud": address, "exp": int(time.time()) + 60, "prolific": {"workspace_id": WORKSPACE, **names}}
        return jwt.encode({"alg": alg, "kid": "one", **head}, said, key, algorithms=[alg])

    other = RSAKey.generate_key(2048)
    forged = {
        "expired": signed(exp=int(time.time()) - 1), "no end": signed(exp=None), "another server's": signed(aud="https://evil.example/x"),
        "no server's": signed(aud=None), "odd": signed(aud=["http://[", 7]),
        "another workspace's": signed(prolific={**names, "workspace_id": "f" * 24}), "no workspace's": signed(prolific=names),
        "another visit's": signed(prolific={**names, "SESSION_ID": new_id(), "workspace_id": WORKSPACE}),
        "another person's": signed(prolific={**names, "PROLIFIC_PID": new_id(), "workspace_id": WORKSPACE}),
        "of a word": signed(prolific="x"), "another key's": by(other), "an unknown key's": by(other, kid="two"),
        "a shared key's": by(OctKey.generate_key(256), "HS256"),
        "nobody's": "eyJhbGciOiJub25lIn0.e30.", "none": "", "no token": "x.y.z",
    }  # fmt: skip
    assert {why: comes(token) for why, token in forged.items()} == dict.fromkeys(forged, 400)
    assert comes(by(secured.key)) == 303, "as the platform signs it"
    someone = address.replace(victim, new_id())
    assert comes("", someone) == 400, "nor does anybody begin as somebody else"
    monkeypatch.setattr(httpx, "get", lambda *asked, **how: (_ for _ in ()).throw(httpx.ConnectError("no way out")))
    signed_addresses.PROLIFIC.asked_at = -signed_addresses.KEPT_S
    names["SESSION_ID"], kept = new_id(), dict(signed_addresses.PROLIFIC.known)
    assert signed_addresses.PROLIFIC.holding("one") == kept, "those of before, where they cannot be fetched"
    signed_addresses.PROLIFIC.known = {"keys": []}
    assert comes(signed(), address.partition("SESSION_ID")[0] + f"SESSION_ID={names['SESSION_ID']}") == 400


@pytest.mark.parametrize(("platform", "workspace"), [("sona", WORKSPACE), ("prolific", "my lab"), ("mturk", "x")])
def test_only_a_workspace_of_a_platform_that_signs_is_taken(site: Site, platform: str, workspace: str) -> None:
    with reading(site.engine) as session:
        admin = local_admin(session.get_one(Study, site.study_id))
        with pytest.raises(AnnotationError, match=r"is no workspace of .* that signs addresses: give the 24 digits"):
            open_link(session, admin, 9, 2, platform, {}, workspace)
