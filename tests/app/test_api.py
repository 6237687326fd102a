"""The routes: who gets in, what is refused with which code, and that nothing leaks or is lost on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from annotation.people.links import revoke
from annotation.people.principals import local_admin
from annotation.people.sign_ins import who
from app.progress import study_progress
from app.server import api
from app.settings import settings
from db.connect import reading, transaction
from db.people_tables import Enrollment, Invite, SignIn
from db.tables import Event, Label, Study
from db.types import now
from tests.app.visiting import Site, first_page, post
from tests.small_study import answer


def test_a_link_signs_in_and_can_be_opened_again(site: Site) -> None:
    token, client = site.token(), site.visitor()
    for _ in range(2):
        reply = client.get(f"/invite/{token}")
        assert (reply.status_code, reply.headers["location"]) == (303, "/")
        assert "no-store" in reply.headers["cache-control"]
        assert reply.headers["referrer-policy"] == "no-referrer"
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()


def test_only_hashes_of_tokens_and_cookies_are_stored(site: Site) -> None:
    token, client = site.token(), site.visitor()
    client.get(f"/invite/{token}")
    with reading(site.engine) as session:
        stored = [*session.scalars(select(Invite.token_sha256)), *session.scalars(select(SignIn.cookie_sha256))]
        trail = json.dumps([e.data for e in session.scalars(select(Event))])
    assert token not in stored
    assert client.cookies["calipers"] not in stored
    assert token not in trail


def expire(site: Site) -> None:
    with transaction(site.engine) as session:
        session.execute(update(Invite).values(expires_at=now()))


def withdraw(site: Site) -> None:
    with transaction(site.engine) as session:
        revoke(session, local_admin(session.get_one(Study, site.study_id)), "Ada")


@pytest.mark.parametrize("end", [expire, withdraw, None])
def test_unknown_expired_and_withdrawn_links_look_alike(site: Site, end: Any) -> None:
    token = site.token()
    if end:
        end(site)
    reply = site.visitor().get(f"/invite/{token if end else 'unknown'}")
    assert reply.status_code == 404
    assert "does not work" in reply.text
    assert "set-cookie" not in reply.headers


def test_the_servers_own_key_opens_the_newest_study_as_admin(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPERS_ADMIN_TOKEN", "a long secret of the server")
    settings.cache_clear()
    for _ in range(2):
        client = site.visitor()
        assert client.get("/invite/a long secret of the server").status_code == 303
        with reading(site.engine) as session:
            principal = who(session, client.cookies["calipers"])
        assert principal is not None
        assert (principal.role, principal.study_id) == ("admin", site.study_id)
    assert site.visitor().get("/invite/another secret").status_code == 404


def test_guessing_links_is_stopped_after_ten_failures(site: Site) -> None:
    client = site.visitor()
    assert [client.get(f"/invite/guess{k}").status_code for k in range(11)] == [404] * 10 + [429]
    assert client.get(f"/invite/{site.token()}").status_code == 303, "a link that works lets in all the same"


def test_who_claims_to_come_from_elsewhere_is_not_believed_without_a_proxy(site: Site) -> None:
    client = site.visitor()
    statuses = [
        client.get(f"/invite/guess{k}", headers={"X-Forwarded-For": f"10.0.0.{k}"}).status_code for k in range(11)
    ]
    assert statuses == [404] * 10 + [429]


def sign_out_everywhere(site: Site, client: TestClient) -> None:
    assert post(client, "/api/logout", {}).status_code == 200


def withdraw_person(site: Site, client: TestClient) -> None:
    with transaction(site.engine) as session:
        session.execute(update(Enrollment).values(status="withdrawn"))


@pytest.mark.parametrize("end", [sign_out_everywhere, withdraw_person, lambda site, client: withdraw(site)])
def test_an_open_page_does_not_survive_the_end_of_its_sign_in(site: Site, end: Any) -> None:
    client = site.signed_in()
    page = first_page(client)
    cookie = client.cookies["calipers"]
    end(site, client)
    client.cookies.set("calipers", cookie, domain="testserver.local")
    for what in ("assignment", "history"):
        assert client.get(f"/api/{what}/{page['aid']}").status_code == 401
    entry = answer(page, "clear", "left").model_dump()
    assert post(client, "/api/labels", {"entries": [entry]}).json()["code"] == "signed_out"


def test_a_label_is_acknowledged_and_stored(site: Site) -> None:
    client = site.signed_in()
    page = first_page(client)
    entries = [
        answer(page, "clear", "left").model_dump(),
        answer(page, "deep", "right").model_dump(),
        {"kind": "nonsense", "client_uuid": "zzz"},
    ]
    reply = post(client, "/api/labels", {"entries": entries})
    assert reply.status_code == 200
    assert [ack["rev"] for ack in reply.json()["acks"]] == [1, 1]
    assert [line["code"] for line in reply.json()["refused"]] == ["invalid"]
    with reading(site.engine) as session:
        assert sorted(session.scalars(select(Label.choice))) == ["left", "right"]
    again = client.get(f"/api/assignment/{page['aid']}").json()
    assert again["answers"]["clear"] == {
        "choice": "left",
        "rationale": "because of that",
        "evidence": [],
        "confidence": None,
        "rev": 1,
        "writer": "writer-1",
        "seq": 1,
    }


def test_a_changed_answer_has_a_history(site: Site) -> None:
    client = site.signed_in()
    page = first_page(client)
    assert client.get(f"/api/history/{page['aid']}").json() == []
    for seq, choice in enumerate(("left", "right"), start=1):
        post(client, "/api/labels", {"entries": [answer(page, "clear", choice, seq=seq).model_dump()]})
    (line,) = client.get(f"/api/history/{page['aid']}").json()
    assert line["criterion"] == "clear"
    assert [revision["choice"] for revision in line["revisions"]] == ["left", "right"]


def test_a_page_comes_back_to_its_place_with_its_preferences(site: Site) -> None:
    client = site.signed_in()
    page = first_page(client)
    place = {"criterion": "deep", "left": 0.25, "right": 1.0}
    common = {"client_ts": "", "aid": page["aid"], "page": page["page"]}
    reply = post(client, "/api/labels", {"entries": [
        {"kind": "place", "place": place, "client_uuid": "place-0001", "writer": "writer-1", "seq": 3, **common},
        {"kind": "preferences", "preferences": {"font": 18, "theme": "dark"}, "client_uuid": "prefs-0001", "client_ts": ""},
        {"kind": "flag", "flag": "reveals_author", "text": "it says so", "client_uuid": "flag-00001", **common},
        {"kind": "activity", "intervals": [{"criterion": None, "start": "2026-11-20T10:00:00Z", "end": "2026-11-20T10:00:09Z"}], "client_uuid": "active-001", **common},
    ]})  # fmt: skip
    assert reply.json()["refused"] == []
    again = client.get(f"/api/assignment/{page['aid']}").json()
    assert again["place"] == place
    with reading(site.engine) as session:
        remarks = study_progress(session, local_admin(session.get_one(Study, site.study_id))).remarks
    assert [(r.rater, r.what, r.text) for r in remarks] == [("annotator-01", "reveals_author", "it says so")]
    assert again["preferences"] == {"font": 18, "theme": "dark"}


def test_submit_answers_with_what_is_missing_and_then_with_the_next(site: Site) -> None:
    client = site.signed_in()
    page = first_page(client)
    body = {"aid": page["aid"], "page": page["page"], "outcome": "submit", "client_uuid": "submit-0001", "revs": {}}
    reply = post(client, "/api/submit", body)
    assert (reply.status_code, reply.json()["code"]) == (422, "incomplete")
    assert {line["criterion"] for line in reply.json()["missing"]} == {"clear", "deep"}
    post(client, "/api/labels", {"entries": [answer(page, code, "left").model_dump() for code in ("clear", "deep")]})
    behind = post(client, "/api/submit", body)
    assert (behind.status_code, behind.json()["criteria"]) == (409, ["clear", "deep"])
    done = post(client, "/api/submit", body | {"revs": {"clear": 1, "deep": 1}})
    assert done.status_code == 200
    assert done.json()["next"] != page["aid"]
    read = client.get(f"/api/assignment/{done.json()['next']}").json()
    assert done.json()["item"] == read, "the next page comes with the reply, and is the one that is read by itself"
    assert post(client, "/api/submit", body | {"revs": {"clear": 1, "deep": 1}}).json() == done.json()


@pytest.mark.parametrize(
    ("headers", "body", "code", "status"),
    [
        ({"Origin": "https://evil.example"}, {"entries": []}, "forbidden", 403),
        ({"Origin": ""}, {"entries": []}, "forbidden", 403),
        ({"X-Calipers-Token": "0" * 64}, {"entries": []}, "other_sign_in", 403),
        ({"X-Calipers-Token": "é"}, {"entries": []}, "other_sign_in", 403),
        ({"Content-Type": "text/plain"}, {"entries": []}, "invalid", 422),
        ({}, b"{not json", "invalid", 422),
        ({}, b"[]", "invalid", 422),
        ({}, b'{"entries": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "invalid", 422),
        ({}, {"entries": "x"}, "invalid", 422),
        ({}, {"entries": [{}] * 65}, "invalid", 422),
        ({}, b'{"entries": "' + b"x" * 300_000 + b'"}', "too_large", 413),
    ],
)
def test_a_post_that_is_not_from_our_page_or_not_sane_is_refused(
    site: Site, headers: dict[str, str], body: Any, code: str, status: int
) -> None:
    client = site.signed_in()
    encoded = {name: value.encode("latin-1") for name, value in headers.items()}
    reply = post(client, "/api/labels", body, **encoded)  # type: ignore[arg-type]
    assert (reply.json()["code"], reply.status_code) == (code, status)


@pytest.mark.parametrize("path", ["/api/labels", "/api/submit", "/api/take", "/api/logout"])
def test_without_a_cookie_nothing_answers(site: Site, path: str) -> None:
    assert post(site.visitor(), path, {}).status_code == 401


def test_foreign_and_unknown_work_answer_with_the_same_words(site: Site) -> None:
    page = first_page(site.signed_in())
    stranger = site.signed_in("Bea")
    foreign = stranger.get(f"/api/assignment/{page['aid']}")
    unknown = stranger.get(f"/api/assignment/{'0' * 32}")
    assert stranger.get(f"/api/history/{page['aid']}").text == unknown.text
    assert (foreign.status_code, foreign.content) == (404, unknown.content)


@pytest.mark.parametrize("role", ["evaluator", "admin"])
def test_who_may_see_systems_takes_no_work(site: Site, role: str) -> None:
    reply = post(site.signed_in("Eve", role), "/api/take", {})
    assert (reply.status_code, reply.json()["code"]) == (403, "forbidden")


def test_a_fault_of_the_server_is_an_opaque_number(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    client = site.signed_in()

    def break_down(*_: Any) -> None:
        raise RuntimeError("secret detail alpha")

    monkeypatch.setattr(api, "assignment_page", break_down)
    reply = client.get("/api/assignment/x")
    assert reply.status_code == 503
    assert "secret" not in reply.text
    assert reply.json()["error_id"]


def test_no_response_to_an_annotator_names_a_system_a_side_or_a_row(site: Site) -> None:
    client = site.signed_in()
    page = first_page(client)
    everything = json.dumps(page)
    for sentinel in (
        "alpha",
        "beta",
        "gamma",
        "Alpha",
        ".md",
        "slot",
        "purpose",
        "pass_no",
        "report_a",
        "shown_sha",
        "example.org",
    ):
        assert sentinel not in everything
    assert set(page) == {
        "aid", "page", "person", "status", "study", "position", "task_type", "language", "dir", "task", "guidance_html", "topic", "panes",
        "criteria", "choices", "rationale", "confidence", "idle_s", "answers", "place", "preferences", "returned", "active_s",
        "probe", "passages", "others", "training", "rates", "beside", "guess", "earlier_reasons", "aids", "brought",
    }  # fmt: skip
    assert page["rates"] is page["beside"] is None  # two reports are compared here, and not rated in one view


def test_security_headers_stand_on_every_response(site: Site) -> None:
    reply = site.signed_in().get("/api/assignment/x")
    policy = reply.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.split("style-src")[0]
    assert (reply.headers["x-frame-options"], reply.headers["x-content-type-options"]) == ("DENY", "nosniff")


def test_the_config_file_says_what_serve_insists_on() -> None:
    import tomllib

    from app.settings import SERVER_OPTIONS

    config = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())
    for name, value in SERVER_OPTIONS.items():
        section, key = name.split(".")
        stated = config[section][key]
        assert (str(stated).lower() if isinstance(stated, bool) else str(stated)) == value
