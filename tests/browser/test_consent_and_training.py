"""From the link to the first real item: consent, training with what was agreed, and the way back out."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.people.consent import consent_version
from annotation.studies import init_study
from db.connect import reading, transaction
from db.people_tables import Enrollment
from db.tables import Assignment
from tests.browser.driving import new_tab, ready, until
from tests.browser.test_accessibility import violations
from tests.trained_study import CONSENT, TRAINED, make_trained_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def trained(server: Any, tmp_path: Path) -> tuple[int, str]:
    """A study with consent and training; its id and name."""
    name = uuid.uuid4().hex
    return make_trained_study(server.engine, tmp_path, name=name), name


def answer_training(page: Page, *, right: bool = True) -> None:
    """Both questions, as was agreed or the other way round: alpha is clearer, beta deeper."""
    ready(page)
    left_is_alpha = (
        page.get_by_text("in manner 1").locator("xpath=ancestor::*[@aria-label][1]").get_attribute("aria-label")
    )
    clear, deep = ("1", "2") if ("Left" in (left_is_alpha or "")) == right else ("2", "1")
    for choice in (clear, deep):
        page.keyboard.press(choice)
        page.keyboard.insert_text("because it says so")
        page.keyboard.press("Control+Enter")


def enrollment(server: Any, study_id: int) -> Enrollment:
    with reading(server.engine) as session:
        found = session.query(Enrollment).filter(Enrollment.study_id == study_id).one()
        session.expunge(found)
        return found


def test_from_the_link_over_consent_and_training_to_the_first_item(
    context: BrowserContext, server: Any, trained: tuple[int, str]
) -> None:
    study_id, _ = trained
    page, broken = new_tab(context), {}
    page.goto(server.link(study_id, "Ada"))
    agree = page.get_by_role("button", name="I have read this and agree")
    expect(agree).to_be_visible()
    for words in ("Please read this before your first item.", "Which report is better?", "You may stop at any time.",
                  "a pause counts for at most 2 min. It is paid at 10.00 US dollars an hour."):  # fmt: skip
        expect(page.get_by_text(words)).to_be_visible()
    broken["consent"] = violations(page)
    agree.click()
    expect(page.locator(".position")).to_have_text("Training 1 of 3")
    ready(page)
    broken["training"] = violations(page)
    page.get_by_role("button", name="Menu", exact=True).click()
    expect(page.get_by_role("button", name="Flag a problem")).to_be_visible()
    expect(page.get_by_role("button", name="Skip this item")).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("cell", name="flag a problem")).to_be_visible()
    expect(page.get_by_role("cell", name="skip this item")).to_have_count(0)
    page.keyboard.press("Escape")
    assert "says more on" not in page.content()
    answer_training(page)
    told = page.get_by_role("dialog", name="Training 1 of 3: what was agreed")
    expect(told).to_contain_text("2 of 2 answers as agreed so far; 70 % are needed.")
    expect(told.get_by_role("listitem").first).to_contain_text("report says more on")
    broken["told"] = violations(page, told)
    page.keyboard.press("1")  # answers nothing any more
    for side in ("Left", "Right"):  # both texts stay readable
        box = page.get_by_role("region", name=f"{side} report").bounding_box()
        assert box is not None
        assert box["width"] >= 520
    told.get_by_role("button", name="Continue").click()
    expect(page.locator(".position")).to_have_text("Training 2 of 3")
    answer_training(page, right=False)
    expect(page.locator(".told")).to_contain_text("2 of 4 answers as agreed so far")
    page.reload()  # what was told is not lost: it stands in the list of one's own work
    expect(page.locator(".position")).to_have_text("Training 3 of 3")
    answer_training(page)
    expect(page.locator(".told")).to_contain_text("You have 1 more attempt, with the same items.")
    page.get_by_role("button", name="Try again").click()
    for number in (1, 2, 3):
        expect(page.locator(".position")).to_have_text(f"Training {number} of 3")
        answer_training(page)
        if number < 3:
            page.get_by_role("button", name="Continue").click()
    expect(page.locator(".told")).to_contain_text("You passed the training. What follows counts.")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".position")).to_contain_text("Item 1 of ")
    person = enrollment(server, study_id)
    assert person.consent_sha256 == consent_version(CONSENT)
    assert person.training_passed_at is not None
    page.goto(f"{server.address}/my_work")
    expect(page.get_by_text("Training passed: 6 of 6 answers as agreed.")).to_be_visible()
    page.get_by_role("row", name="training").first.get_by_role("link").click()
    expect(page.get_by_role("dialog", name="Training 3 of 3: what was agreed")).to_be_visible()
    expect(page.get_by_role("button", name="Reopen")).to_have_count(0)
    expect(page.get_by_role("link", name="Back to my work")).to_be_visible()
    assert {state: wrong for state, wrong in broken.items() if wrong} == {}


def test_after_the_last_attempt_a_page_says_what_happened_and_whom_to_ask(
    context: BrowserContext, server: Any, tmp_path: Path
) -> None:
    protocol = TRAINED.replace("items = 3", "items = 1").replace("attempts = 2", "attempts = 1")
    study_id = make_trained_study(server.engine, tmp_path, protocol=protocol, name=uuid.uuid4().hex)
    page = new_tab(context)
    page.goto(server.link(study_id, "Ada"))
    page.get_by_role("button", name="I have read this and agree").click()
    answer_training(page, right=False)
    expect(page.locator(".told")).to_contain_text("it was the last attempt")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="The training was not passed")).to_be_visible()
    expect(page.get_by_text("0 of 2 answers were as agreed")).to_be_visible()
    assert violations(page) == []


def test_who_does_not_agree_can_come_back_a_text_that_changed_is_not_agreed_to_and_withdrawing_gives_work_back(
    context: BrowserContext, server: Any, trained: tuple[int, str]
) -> None:
    study_id, name = trained
    page, link = new_tab(context), server.link(study_id, "Ada")
    page.goto(link)
    page.get_by_role("button", name="I do not agree").click()
    expect(page.get_by_role("heading", name="You did not agree")).to_be_visible()
    assert page.context.request.post(f"{server.address}/api/take").status in (401, 403)
    page.goto(link)
    agree = page.get_by_role("button", name="I have read this and agree")
    expect(agree).to_be_visible()
    with transaction(server.engine) as session:
        init_study(session, name, TRAINED.replace("at any time", "whenever you like"), 7)
    agree.click()
    expect(page.get_by_text("the consent text was changed meanwhile")).to_be_visible()
    expect(page.get_by_text("You may stop whenever you like.")).to_be_visible()
    assert enrollment(server, study_id).consented_at is None
    agree.click()
    ready(page)
    page.goto(f"{server.address}/my_work")
    page.get_by_text("Consent, given").click()
    page.get_by_role("link", name="Read it with its instructions, or withdraw").click()
    page.get_by_role("button", name="Withdraw my agreement").click()
    page.get_by_role("button", name="Go on taking part").click()
    page.get_by_role("button", name="Withdraw my agreement").click()
    broken = violations(page)
    page.get_by_role("button", name="Withdraw now").click()
    expect(page.get_by_text("You withdrew your agreement.")).to_be_visible()
    assert broken + violations(page) == []
    with reading(server.engine) as session:
        states = [one.status for one in session.query(Assignment).filter(Assignment.study_id == study_id, Assignment.rater_id.is_not(None))]  # fmt: skip
    assert states == ["returned"]
    page.goto(server.address)
    expect(page.get_by_text("You withdrew your agreement.")).to_be_visible()
    until(lambda: enrollment(server, study_id).consent_sha256 is None)
