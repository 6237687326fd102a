"""Who one is: asked before it changes, told to both tabs after; and what is said where nothing arrives at all."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select

from db.connect import reading
from db.people_tables import Enrollment, Rater
from db.tables import Assignment, Label
from tests.browser.driving import answered_by_us, box_of, new_tab, ready, saved, signed_in, until

pytestmark = pytest.mark.browser


def labels_by_name(server: Any, study_id: int) -> list[tuple[str, str]]:
    """(name, rationale) of every stored label of this study, oldest first."""
    rows = (
        select(Rater.handle, Label.rationale)
        .join(Assignment, Assignment.id == Label.assignment_id)
        .join(Rater, Rater.id == Assignment.rater_id)
        .join(Enrollment, Enrollment.rater_id == Rater.id)
        .where(Assignment.study_id == study_id)
        .order_by(Label.id)
    )
    with reading(server.engine) as session:
        return [(name, rationale) for name, rationale in session.execute(rows)]


@pytest.mark.slow
def test_another_persons_link_asks_first_and_names_both_and_either_tab_then_says_who_is_signed_in(
    page: Page, context: BrowserContext, server: Any, study_id: int
) -> None:
    page.keyboard.press("1")
    page.keyboard.insert_text("said by Ada")
    saved(page)
    answered_by_us(page, "**/api/labels", lambda route: route.abort())
    page.keyboard.insert_text(", and more")
    link = server.link(study_id, "Ben")
    other = new_tab(context)
    other.goto(link)
    expect(other.get_by_role("heading", name="This link is for Ben")).to_be_visible()
    expect(other.get_by_text("This browser is signed in as Ada.")).to_be_visible()
    other.get_by_role("link", name="Stay Ada").click()
    expect(box_of(other)).to_have_value("said by Ada, and more")  # as this browser keeps it
    other.goto(link)
    other.get_by_role("button", name="Sign in as Ben").click()
    ready(other)
    other.get_by_role("button", name="Menu", exact=True).click()
    expect(other.get_by_text("Signed in as Ben", exact=True)).to_be_visible()
    expect(box_of(other)).to_have_value("")
    page.unroute("**/api/labels")
    told = page.get_by_role("alert").first
    expect(told).to_contain_text("This browser is signed in as Ben now, so nothing more is stored here.")
    expect(told).to_contain_text("open your own invite link again. 1 unsaved answer stays in this browser.")
    expect(page.locator(".save")).to_have_text("Signed out, 1 unsaved")
    expect(page.get_by_role("button", name="Load the page again")).to_have_count(0)
    page.get_by_role("button", name="Menu", exact=True).click()
    expect(page.get_by_text("Signed in as Ben", exact=True)).to_be_visible()
    page.goto(server.link(study_id, "Ada"))
    page.get_by_role("button", name="Sign in as Ada").click()
    ready(page)
    saved(page)
    expect(box_of(page)).to_have_value("said by Ada, and more")
    other.keyboard.press("Escape")
    other.keyboard.press("2")
    expect(other.get_by_role("alert").first).to_contain_text("This browser is signed in as Ada now")
    other.get_by_role("button", name="Go on as Ada").click()
    expect(box_of(other)).to_have_value("said by Ada, and more")
    assert {name for name, _ in labels_by_name(server, study_id)} == {"Ada"}


def test_ones_own_link_opened_again_asks_nothing_and_the_first_tab_asks_to_be_loaded_again(
    page: Page, context: BrowserContext, server: Any, study_id: int
) -> None:
    other = new_tab(context)
    other.goto(server.link(study_id, "Ada"))
    ready(other)
    page.keyboard.press("1")
    expect(page.get_by_role("alert").first).to_contain_text("You signed in once more in this browser, in another tab.")
    other.close()
    page.get_by_role("button", name="Load the page again").click()
    ready(page)
    saved(page)
    expect(page.get_by_role("radio", name="Left")).to_be_checked()


def test_a_tab_that_would_load_an_item_under_another_sign_in_says_who_is_signed_in_and_shows_nothing(
    page: Page, context: BrowserContext, server: Any, study_id: int
) -> None:
    waiting = new_tab(context)
    waiting.goto(server.address)
    waiting.get_by_role("button", name="Take over").wait_for()
    signed_in(page, server.link(study_id, "Ben"))
    page.goto(f"{server.address}/_stcore/health")  # it gives the item up, and the other tab asks for it
    expect(waiting.get_by_role("heading", name="This browser is signed in as Ben now")).to_be_visible()
    expect(waiting.get_by_role("radio")).to_have_count(0)
    waiting.get_by_role("button", name="Go on as Ben").click()
    ready(waiting)


HASTE = "() => document.getAnimations().filter((one) => one.animationName === 'calipers-unconnected').map((one) => { const { delay } = one.effect.getTiming(); one.finish(); return delay; })"


def test_without_a_websocket_the_page_says_so_in_words_after_a_few_seconds(
    own_context: BrowserContext, server: Any, study_id: int
) -> None:
    page = own_context.new_page()
    page.route_web_socket("**/_stcore/stream", lambda socket: socket.close())
    page.goto(server.link(study_id, "Ada"))
    told = page.get_by_role("heading", name="Still waiting for the server")
    page.get_by_test_id("stAppSkeleton").wait_for(state="attached")
    expect(told).not_to_be_visible()
    assert page.evaluate(HASTE) == [8_000]
    expect(told).to_be_visible()
    expect(page.get_by_text("This page needs a WebSocket.")).to_be_visible()
    page.unroute_all()
    page.route_web_socket("**/_stcore/stream", lambda socket: socket.connect_to_server() and None)
    page.get_by_role("link", name="Load the page again").click()
    ready(page)
    until(lambda: not told.is_visible())
