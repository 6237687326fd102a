"""What the page says when the server is in trouble or its person is taken out of the study, and that it keeps the text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.participation.standing import void_work, withdraw
from annotation.people.principals import local_admin
from db.connect import transaction
from db.tables import Study
from tests.browser.driving import answered_by_us, box_of, ready, saved

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FULL = "the server's disk is full (error 0123456789ab); your text is kept and will be sent again"
KEPT_HERE = "1 unsaved answer stays in this browser."


def leaves(session: Any, admin: Any) -> None:
    withdraw(session, admin, "Ada")


def is_voided(session: Any, admin: Any) -> None:
    void_work(session, admin, "Ada", "answers without reading")


def waiting_in(page: Page) -> list[str]:
    """Rationales that this browser keeps because the server does not have them."""
    entries = page.evaluate("Object.entries(localStorage).filter(([key]) => key.includes(':entry:label:'))")
    return [json.loads(entry)["rationale"] for _, entry in entries]


@pytest.mark.parametrize(
    ("taken_out", "said"),
    [
        (leaves, f"You are signed out. Open your invite link again. {KEPT_HERE}"),
        (is_voided, f"This work went back to the pool; your text is kept here, but not stored. {KEPT_HERE}"),
    ],
)
def test_taken_out_in_mid_pair_the_page_says_so_and_keeps_what_was_typed(
    page: Page, server: Any, study_id: int, taken_out: Callable[..., None], said: str
) -> None:
    ready(page)
    page.keyboard.press("1")
    saved(page)
    with transaction(server.engine) as session:
        taken_out(session, local_admin(session.get_one(Study, study_id)))
    page.keyboard.type("typed when it was too late")
    expect(page.get_by_role("alert").first).to_have_text(said)
    expect(page.get_by_role("button", name="Submit")).to_be_hidden()
    expect(page.get_by_role("button", name="Download my unsaved answers")).to_be_visible()
    assert waiting_in(page) == ["typed when it was too late"]
    assert [(choice, rationale) for choice, rationale, _ in server.labels(study_id)] == [("left", "")]
    page.reload()
    page.locator(".c-empty, .calipers").first.wait_for()
    assert waiting_in(page) == ["typed when it was too late"], "and after a reload it is still there"


def test_a_server_in_trouble_is_quoted_until_it_stores_again(
    page: Page, context: BrowserContext, server: Any, study_id: int
) -> None:
    ready(page)
    reply = json.dumps({"code": "server_error", "text": FULL, "error_id": "0123456789ab"})
    answered_by_us(
        page, "**/api/labels", lambda route: route.fulfill(status=503, content_type="application/json", body=reply)
    )
    page.keyboard.press("1")
    page.keyboard.type("typed on a full disk")
    expect(page.locator(".save")).to_have_text("1 unsaved, retrying")
    notice = page.locator(".calipers").get_by_text(FULL[1:])
    expect(notice).to_be_visible()
    expect(box_of(page)).to_have_value("typed on a full disk")
    page.unroute("**/api/labels")
    saved(page)
    expect(notice).to_be_hidden()
    assert server.labels(study_id)[-1][:2] == ("left", "typed on a full disk")
