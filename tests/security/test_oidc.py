"""Signing in with a lab's own provider, against a real one on a port of its own, and its forgers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit import config
from streamlit.auth_util import encode_provider_token
from streamlit.runtime.secrets import secrets_singleton
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from streamlit.web.server.starlette.starlette_auth_routes import create_auth_routes

from annotation.errors import AnnotationError
from annotation.participation import personal_data, standing
from annotation.participation.own_studies import go_to, own_places
from annotation.participation.own_studies import make_study as make_own
from annotation.people.accounts import Account, account_of, invite_group, sign_in_account
from annotation.people.links import invite, revoke
from annotation.people.principals import Principal, local_admin
from annotation.people.sign_ins import sign_in, sign_out_person, who
from app.server.routes import exception_handlers, middleware, routes
from app.settings import settings
from db.connect import reading, transaction
from db.tables import Study
from db.types import now
from tests.app.conftest import engine_here
from tests.app.test_setting_up import pressed, run, said
from tests.app.visiting import ORIGIN
from tests.oidc_provider import SECRET, Provider, provider
from tests.small_study import PROTOCOL, make_study

engine_here = engine_here
COOKIE_SECRET = "0123456789abcdef0123456789abcdef"
ADA = {"email": "Ada@Lab.example", "email_verified": True}


@pytest.fixture(scope="module")
def two() -> Iterator[tuple[Provider, Provider]]:
    with provider("lab") as lab, provider("other") as other:
        yield lab, other


class Lab:
    """A study with Ada invited under her address, and our app with Streamlit's own doors of signing in."""

    def __init__(self, engine: Engine, study_id: int, lab: Provider) -> None:
        self.engine, self.study_id, self.lab = engine, study_id, lab
        page = Route("/", lambda _: PlainTextResponse("the page"))
        session = Middleware(SessionMiddleware, secret_key=COOKIE_SECRET)
        self.app = Starlette(
            routes=[*routes, *create_auth_routes(""), page], middleware=[*middleware, session],
            exception_handlers=exception_handlers,
        )  # fmt: skip

    def browser(self) -> TestClient:
        return TestClient(self.app, base_url=ORIGIN, follow_redirects=False)

    def begun(self, client: TestClient, name: str = "lab") -> str:
        """The provider's answer to a sign-in that begins here: our own address with its code."""
        to = client.get(f"/auth/login?provider={encode_provider_token(name)}").headers["location"]
        assert {"state", "nonce", "code_challenge"} <= set(httpx.URL(to).params)
        return httpx.get(to).headers["location"].removeprefix(ORIGIN)

    def signed_in(self, client: TestClient | None = None) -> Any:
        """(who is signed in, the last reply), after the whole way."""
        client = client or self.browser()
        client.get(self.begun(client))
        reply = client.get("/")
        with reading(self.engine) as session:
            return who(session, client.cookies.get("calipers")), reply


@pytest.fixture
def lab(
    two: tuple[Provider, Provider], engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Lab]:
    monkeypatch.setenv("CALIPERS_BASE_URL", ORIGIN)
    settings.cache_clear()
    written = tmp_path / "secrets.toml"
    written.write_text(
        f'[auth]\nredirect_uri = "{ORIGIN}/oauth2callback"\ncookie_secret = "{COOKIE_SECRET}"\n'
        + "".join(
            f'[auth.{one.name}]\nclient_id = "calipers"\nclient_secret = "{SECRET}"\n'
            f'server_metadata_url = "{one.issuer}/.well-known/openid-configuration"\n'
            for one in two
        )
    )
    before = config.get_option("secrets.files")
    config.set_option("secrets.files", [str(written)])
    secrets_singleton._reset()
    study_id = make_study(engine_here, tmp_path / "reports")
    with transaction(engine_here) as session:
        invite(session, local_admin(session.get_one(Study, study_id)), "ada@lab.example", "evaluator")
    two[0].claims, two[0].pyop.spoil = dict(ADA), ""
    for one in two:
        one.registered[:] = [f"{ORIGIN}/oauth2callback"]
    yield Lab(engine_here, study_id, two[0])
    config.set_option("secrets.files", before)
    secrets_singleton._reset()
    settings.cache_clear()


def test_who_is_invited_under_a_verified_address_signs_in_with_it_and_streamlits_own_sign_in_is_gone(lab: Lab) -> None:
    client = lab.browser()
    person, reply = lab.signed_in(client)
    assert (person.role, reply.status_code, reply.headers["location"]) == ("evaluator", 303, "/")
    assert [name for name in client.cookies if name.startswith("_streamlit_user")] == []
    assert client.get("/").text == "the page"
    with transaction(lab.engine) as session:
        standing.withdraw(session, local_admin(session.get_one(Study, lab.study_id)), "ada@lab.example")
    assert lab.signed_in()[0] is None, "whoever was taken out"


@pytest.mark.parametrize(
    ("claims", "spoil"),
    [({"email": "ada@lab.example"}, ""), (ADA, "word"), ({"email": "eve@lab.example", "email_verified": True}, "")],
)
def test_an_address_that_is_not_verified_or_not_invited_is_nobodys(
    lab: Lab, claims: dict[str, Any], spoil: str
) -> None:
    lab.lab.claims, lab.lab.pyop.spoil = claims, spoil
    person, reply = lab.signed_in()
    assert (person, reply.status_code, "Nobody here has this account" in reply.text) == (None, 403, True)


@pytest.mark.parametrize("invited", ["jörg@uni.de", "Jörg@Uni.de", "KIM@uni.de"])
def test_an_address_with_letters_beyond_ascii_is_known_letter_for_letter_and_its_erased_mark_too(
    lab: Lab, invited: str
) -> None:
    theirs = invited.replace("KIM", "kim")
    with transaction(lab.engine) as session:
        admin = local_admin(session.get_one(Study, lab.study_id))
        invite(session, admin, invited, "evaluator")
    lab.lab.claims = {"email": theirs.replace("uni", "UNI"), "email_verified": True}
    person = lab.signed_in()[0]
    assert person.role == "evaluator"
    with transaction(lab.engine) as session:
        assert [place.person.id for place in own_places(session, person) if place.person] == [person.enrollment_id]
    alike = theirs.replace("k", "\u212a").replace("ö", "o\u0308")  # the sign of kelvin, whose small letter is k
    for stranger in (alike, "\u00a0" + theirs):
        lab.lab.claims = {"email": stranger, "email_verified": True}
        assert lab.signed_in()[0] is None, stranger
    with transaction(lab.engine) as session:
        invite_group(session, admin, "lab/phd", "annotator")
        personal_data.erase_person(session, admin, invited)
    lab.lab.claims = {"email": theirs, "email_verified": True, "groups": ["phd"]}
    assert lab.signed_in()[0] is None, "whoever was erased comes by no group"
    lab.lab.claims["email"] = alike
    assert lab.signed_in()[0].role == "annotator", "and somebody else does"


def test_a_group_has_the_role_that_its_owner_gave_it_and_of_two_the_smaller(lab: Lab) -> None:
    with transaction(lab.engine) as session:
        admin = local_admin(session.get_one(Study, lab.study_id))
        for group, role in (
            ("lab/phd", "annotator"), ("lab/staff", "evaluator"), ("lab/gone", "admin"), ("lab/gone", ""),
        ):  # fmt: skip
            invite_group(session, admin, group, role)
    lab.lab.claims = {"sub": "x7", "groups": ["gone"]}
    assert lab.signed_in()[0] is None
    lab.lab.claims = {"sub": "x7", "groups": ["staff", "phd"]}
    first, again = lab.signed_in()[0], lab.signed_in()[0]
    assert (first.role, again.enrollment_id) == ("annotator", first.enrollment_id)
    lab.lab.claims = {"sub": "x8", "groups": "staff"}
    assert lab.signed_in()[0] is None


def test_a_group_of_one_provider_is_not_the_others(lab: Lab) -> None:
    with transaction(lab.engine) as session:
        for group in ("phd", "lab/phd"):
            invite_group(session, local_admin(session.get_one(Study, lab.study_id)), group, "annotator")
    told = {"iss": "x", "sub": "y", "iat": int(now().timestamp()), "provider": "other", "groups": ["phd"]}
    assert account_of(told, is_only_provider=False).groups == ("other/phd",)  # type: ignore[union-attr]
    assert account_of(told).groups == ("other/phd", "phd")  # type: ignore[union-attr]
    lab.lab.claims = {"sub": "x7", "groups": ["phd"]}
    assert lab.signed_in()[0].role == "annotator", "two are set up, and it is the lab's"


def test_an_account_comes_to_the_place_that_sees_most_and_a_group_opens_a_newer_study(
    engine: Engine, tmp_path: Path
) -> None:
    studies = [make_study(engine, tmp_path / name, name=name) for name in ("old", "own", "new")]
    olga, ben = Account("olga@lab.org", ()), Account("ben@lab.org", ("phd",))

    def place(account: Account) -> tuple[int, str]:
        person = who(session, sign_in_account(session, account, "::1"))
        assert person is not None
        return person.study_id, person.role

    with transaction(engine) as session:
        old, own, new = (local_admin(session.get_one(Study, study)) for study in studies)
        invite(session, own, "olga@lab.org", "admin")
        bob = who(session, sign_in(session, invite(session, old, "Bob", "admin"), "::1"))
        assert bob is not None
        bobs = local_admin(make_own(session, bob, "bobs", PROTOCOL, 7)[0])
        bobs_other = local_admin(make_own(session, bob, "bobs-other", PROTOCOL, 7)[0])
        for study, role in ((bobs, "annotator"), (bobs_other, "admin")):
            invite(session, study, "olga@lab.org", role)
            assert place(olga) == (own.study_id, "admin")
        invite(session, old, "ben@lab.org", "annotator")
        assert place(ben) == (old.study_id, "annotator")
        standing.withdraw(session, old, "ben@lab.org")
        invite_group(session, new, "phd", "annotator")
        assert place(ben) == (new.study_id, "annotator")
        standing.withdraw(session, new, "ben@lab.org")
        assert sign_in_account(session, ben, "::1") is None


def test_without_the_secret_the_address_or_the_verifier_the_provider_gives_no_token(lab: Lab) -> None:
    """That it asks, so that what signs in here brings them."""
    lab.lab.registered.clear()
    assert httpx.get(lab.browser().get(f"/auth/login?provider={encode_provider_token('lab')}").headers["location"]).status_code == 400  # fmt: skip
    lab.lab.registered.append(f"{ORIGIN}/oauth2callback")
    asked = {"grant_type": "authorization_code", "redirect_uri": lab.lab.registered[0], "code_verifier": "x" * 43}
    for secret in ("another", SECRET):
        code = httpx.URL(lab.begun(lab.browser())).params["code"]
        reply = httpx.post(f"{lab.lab.issuer}/token", data={**asked, "code": code}, auth=("calipers", secret))
        assert reply.status_code == 400, "a verifier of somebody else's"
    assert lab.signed_in()[0].role == "evaluator"


@pytest.mark.parametrize("spoil", ["nonce", "audience", "issuer", "key", "expired", "none"])
def test_no_forged_token_signs_anybody_in(lab: Lab, spoil: str) -> None:
    lab.lab.pyop.spoil = spoil
    person, reply = lab.signed_in()
    assert (person, reply.text) == (None, "the page")


def test_an_answer_for_another_browser_of_another_provider_or_a_second_time_signs_nobody_in(lab: Lab) -> None:
    mine, victim = lab.browser(), lab.browser()
    answer = lab.begun(mine)
    lab.begun(victim)
    victim.get(answer)  # a login of somebody else's, slipped to them
    assert "_streamlit_user" not in victim.cookies
    mixed = lab.browser()
    code = httpx.URL(lab.begun(mixed, "lab")).params["code"]
    state = httpx.URL(lab.begun(mixed, "other")).params["state"]
    mixed.get(f"/oauth2callback?code={code}&state={state}")  # one provider's code in the other's way
    assert "_streamlit_user" not in mixed.cookies
    mine.get(answer)
    assert "_streamlit_user" in mine.cookies
    mine.cookies.delete("_streamlit_user")
    mine.get(answer)
    assert "_streamlit_user" not in mine.cookies


def test_a_cookie_that_was_forged_or_kept_signs_nobody_in(lab: Lab) -> None:
    at = int(now().timestamp())
    told = {**ADA, "iss": "x", "sub": "y", "iat": at, "is_logged_in": True, "origin": ORIGIN, "provider": "lab"}

    def comes(claims: dict[str, Any], secret: str = COOKIE_SECRET) -> bool:
        client = lab.browser()
        value = create_signed_value(secret, "_streamlit_user", json.dumps(claims).encode())
        client.cookies.set("_streamlit_user", value.decode())
        return "calipers" in client.get("/").cookies

    assert comes(told)
    assert not any(
        (comes(told, "f" * 32), comes(told, ""), comes({**told, "iat": at - 660}), comes({**told, "iat": None}),
         comes({**told, "origin": "https://evil.example"}), comes({**told, "is_logged_in": False}))
    )  # fmt: skip
    assert not any(
        comes({**told, **odd}) for odd in ({"email": "ada\ud800@lab.example"}, {"email": None, "sub": "a\0b"})
    )
    said = account_of({**told, "email_verified": True, "groups": ["phd", "p\ud800", "p\0"]})
    assert said == Account("ada@lab.example", ("lab/phd", "phd")), "what no database keeps is no group"
    for unknown in ({"email_verified": False}, {"email": "a@b of x"}):
        assert account_of({**told, "email_verified": True, **unknown}).known_as == "y of x"  # type: ignore[union-attr]


def test_without_a_provider_of_ours_its_doors_are_closed(lab: Lab) -> None:
    assert lab.browser().get("/auth/logout").status_code == 404
    for text in ("", f'[auth]\nredirect_uri = "https://evil.example/oauth2callback"\ncookie_secret = "{COOKIE_SECRET}"\nclient_id = "x"\n', f'[auth]\nredirect_uri = "{ORIGIN}/oauth2callback"\ncookie_secret = "short"\nclient_id = "x"\n'):  # fmt: skip
        Path(config.get_option("secrets.files")[0]).write_text(text)
        secrets_singleton._reset()
        assert [lab.browser().get(path).status_code for path in ("/auth/login", "/oauth2callback?state=x")] == [
            404,
            404,
        ]


def test_one_sign_in_by_an_account_leads_to_each_of_its_places_and_to_no_other(lab: Lab, tmp_path: Path) -> None:
    admins = {"small": local_admin_of(lab, lab.study_id)}
    for name in ("second", "by_group", "foreign"):
        admins[name] = local_admin_of(lab, make_study(lab.engine, tmp_path / name, name=name))
    with transaction(lab.engine) as session:
        invite(session, admins["second"], "ada@lab.example", "annotator")
        invite(session, admins["foreign"], "bob@lab.example", "admin")
        invite_group(session, admins["by_group"], "lab/phd", "adjudicator")
    lab.lab.claims = {**ADA, "groups": ["phd"]}
    client = lab.browser()
    person, reply = lab.signed_in(client)
    assert (person.role, reply.status_code, reply.headers["location"]) == ("evaluator", 303, "/studies")
    cookie = client.cookies["calipers"]

    def gone_to(session: Session, name: str) -> Principal:
        here = who(session, cookie)
        assert here is not None
        go_to(session, here, cookie, admins[name].study_id)
        there = who(session, cookie)
        assert there is not None
        return there

    with transaction(lab.engine) as session:
        found = [(place.study_id, place.role) for place in own_places(session, person)]
        names = [session.get_one(Study, study).name for study, _ in found]
        assert dict(zip(names, (role for _, role in found), strict=True)) == {"small": "evaluator", "by_group": "adjudicator", "second": "annotator"}  # fmt: skip
        there = gone_to(session, "second")
        assert (there.role, there.rater_id == person.rater_id) == ("annotator", False)
        assert (gone_to(session, "by_group").role, gone_to(session, "small").enrollment_id) == (
            "adjudicator",
            person.enrollment_id,
        )
        with pytest.raises(AnnotationError, match="no such study"):
            gone_to(session, "foreign")
        # the admins of where it is end it; of where it was, this person's sign-ins everywhere, and nothing else
        gone_to(session, "second")
        revoke(session, admins["small"], "ada@lab.example")
        assert who(session, cookie) is not None
        sign_out_person(session, admins["small"], "ada@lab.example")
        assert who(session, cookie) is None
    client = lab.browser()
    lab.signed_in(client)
    cookie = client.cookies["calipers"]
    with transaction(lab.engine) as session:
        gone_to(session, "second")
        revoke(session, admins["second"], "ada@lab.example")
        assert who(session, cookie) is None
        # a link under the same address is its study's alone: whoever is admin there can make one
        by_link = (
            sign_in(session, invite(session, admins["second"], "ada@lab.example", "annotator", new_link=True), "::1")
            or ""
        )
        ada = who(session, by_link)
        assert ada is not None
        assert [place.study_id for place in own_places(session, ada)] == [admins["second"].study_id]
        sign_out_person(session, admins["small"], "ada@lab.example")
        assert who(session, by_link) is not None, "nor does another study's admin end it"


def local_admin_of(lab: Lab, study_id: int) -> Principal:
    with reading(lab.engine) as session:
        return local_admin(session.get_one(Study, study_id))


def run_places(cookie):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
    from annotation.people.sign_ins import who
    from app.screens.annotators import places
    from app.settings import database
    from db.connect import reading

    with reading(database()) as session:
        principal = who(session, cookie)
    places.show(principal, cookie)


def test_places_say_what_waits_in_each_and_lead_there(lab: Lab, tmp_path: Path) -> None:
    second = make_study(
        lab.engine,
        tmp_path / "second",
        name="second-by-gpt",
        protocol=PROTOCOL.replace("A small study", "A <b>second</b> study"),
    )
    with transaction(lab.engine) as session:
        invite(session, local_admin(session.get_one(Study, second)), "ada@lab.example", "annotator")
        cookie = sign_in_account(session, Account("ada@lab.example", ()), "::1")
    shown = AppTest.from_function(run, args=(cookie, "studies"), default_timeout=60).run()
    assert "You take part in 2 studies." in said(shown)
    assert "A &lt;b&gt;second&lt;/b&gt; study" in said(shown)
    assert ("annotator · 0 of " in said(shown), "by-gpt" in said(shown)) == (True, False)
    assert not shown.exception
    pressed(shown, f"study_go_{second}")
    shown = AppTest.from_function(run_places, args=(cookie,), default_timeout=60).run()
    assert not shown.exception
    assert ("evaluator · 0 of " in said(shown), "annotator · 0 of " in said(shown)) == (True, True)
    assert "by-gpt" not in said(shown)
    shown.button(key=f"go_{lab.study_id}").click().run()
    with reading(lab.engine) as session:
        there = who(session, cookie)
        assert there is not None
        assert (there.study_id, there.role) == (lab.study_id, "evaluator")
