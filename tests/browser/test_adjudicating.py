"""The adjudicator's page: everybody's answers in its own order, readable, and blind to systems and to people."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect
from sqlalchemy import select

from annotation.disputes.disputes import turned
from annotation.work.claiming import take
from db.connect import reading, transaction
from db.people_tables import Enrollment, Rater
from db.tables import Assignment
from tests.adjudicated_study import decide
from tests.browser.blinded import Blind, blind_study
from tests.browser.capture import Capture
from tests.browser.driving import box_of, item_number, new_tab, ready, saved
from tests.browser.test_accessibility import violations
from tests.browser.test_blinding import every_sheet
from tests.small_study import PROTOCOL, a_person, make_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SAID = {"Zann Orbeck": {"clear": "A", "deep": "A"}, "Zben Tullis": {"clear": "B", "deep": "tie"}}
NAMED = "as Zben Tullis told me, it is the {} one"
UNDER_THE_QUESTION = """() => {
    const box = (name) => document.querySelector('[data-testid=stApp]') && [...document.querySelectorAll('*')]
        .flatMap((node) => node.shadowRoot ? [...node.shadowRoot.querySelectorAll(name)] : []).concat(
            [...document.querySelectorAll(name)])[0].getBoundingClientRect();
    const wide = (name) => { const {left, right} = box(name); return left >= 0 && right <= innerWidth; };
    return ['.others', '.other', '.why textarea', '.submit', '.choices'].filter((name) => !wide(name));
}"""


@dataclass(frozen=True)
class Disputed:
    """A blind study that two people have answered; `sentinels`: what no adjudicator's browser may know."""

    blind: Blind
    sentinels: frozenset[str]
    link: str


def dispute(server: Any, study_id: int) -> set[str]:
    """Both people answer everything; returns what names them."""
    named: set[str] = set(SAID)
    for name, verdicts in SAID.items():
        with transaction(server.engine) as session:
            person = a_person(session, study_id, name)
            while (work := take(session, person)) is not None:
                said = NAMED.format(turned(verdicts["clear"], work.left))
                decide(session, person, work, verdicts, rationale=said)
    with reading(server.engine) as session:
        raters = session.execute(
            select(Rater.id, Rater.opaque_id, Enrollment.pseudonym)
            .join(Enrollment, Enrollment.rater_id == Rater.id)
            .where(Enrollment.study_id == study_id, Rater.handle.in_(SAID))
        ).all()
        for rater, opaque_id, pseudonym in raters:
            named |= {opaque_id, pseudonym, str(rater)}
            named |= set(session.scalars(select(Assignment.aid).where(Assignment.rater_id == rater)))
    return named


@pytest.fixture(scope="module")
def disputed(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Disputed:
    blind = blind_study(server, tmp_path_factory.mktemp("zpath-hovel"))
    named = dispute(server, blind.study_id)
    link = server.link(blind.study_id, "Zoe Zander", "adjudicator")
    return Disputed(blind, blind.sentinels | named, link)


@pytest.fixture
def capture(context: BrowserContext) -> Iterator[Capture]:
    capture = Capture(context)
    yield capture
    capture.close()


def test_an_adjudicators_session_shows_neither_systems_nor_people(
    capture: Capture, server: Any, disputed: Disputed
) -> None:
    page = capture.tab()
    page.goto(disputed.link)
    ready(page)
    every_sheet(page, capture)
    expect(page.locator(".other-top")).to_have_count(2)
    page.locator(".other .quote-go").first.click()
    page.keyboard.press("j")
    capture.look(page)
    page.reload()
    ready(page)
    page.keyboard.press("k")
    for _ in range(2):
        page.keyboard.press("3")
        page.keyboard.insert_text("neither is clearer than the other")
        saved(page)
        page.keyboard.press("Control+Enter")
    item_number(page, 2, 9)
    capture.look(page)
    page.goto(f"{server.address}/my_work")
    page.get_by_role("link", name="Open: ").first.click()
    expect(page.get_by_role("button", name="Reopen")).to_be_visible()
    capture.look(page)
    capture.response(capture.context.request.get(f"{server.address}/api/assignment/unknown"))
    page.goto(f"{server.address}/disputes")
    page.wait_for_load_state("networkidle")
    capture.look(page)
    for name in ("progress", "people"):
        capture.spoken(server, name=name)
    assert capture.found(disputed.sentinels) == set()
    shown = capture.found(["as [name removed] told me", "Rater 2"])
    assert {("body", "as [name removed] told me"), ("text", "as [name removed] told me")} <= shown
    assert ("text", "Rater 2") in shown


def test_a_leak_planted_among_the_raters_answers_is_seen(capture: Capture, disputed: Disputed) -> None:
    leaks = ("Zann Orbeck", "annotator-02", "zsys-quorl")

    def plant(route: Route) -> None:
        told = route.fetch().json()
        for said in (told.get("others") or {}).values():
            said[0]["rationale"] += " ".join(("", *leaks))
        route.fulfill(json=told)

    page = capture.tab()
    page.route("**/api/assignment/*", plant)
    page.goto(disputed.link)
    ready(page)
    expect(page.locator(".other")).to_have_count(2)
    capture.look(page)
    assert {("text", leak) for leak in leaks} <= capture.found(disputed.sentinels)


@pytest.fixture
def adjudicating(context: BrowserContext, server: Any, tmp_path: Path) -> Page:
    study = make_study(server.engine, tmp_path / "reports", overlap=2, protocol=PROTOCOL, name=uuid.uuid4().hex)
    dispute(server, study)
    page = new_tab(context)
    page.goto(server.link(study, "Zoe Zander", "adjudicator"))
    ready(page)
    return page


def test_every_answer_can_be_read_and_its_passage_found_by_keyboard(adjudicating: Page) -> None:
    page = adjudicating
    said = page.locator(".other-top b").all_inner_texts()
    assert sorted(said) == ["Left", "Right"]
    assert page.locator(".others-count").inner_text() == "1 Left, 1 Right"
    expect(page.locator(".other-swapped")).to_have_count(page.get_by_text("This rater saw the sides swapped.").count())
    quote = page.locator(".other .quote-go")
    assert quote.count() == 2
    quote.first.focus()
    side = quote.first.locator("b").inner_text().lower()
    page.keyboard.press("Enter")
    expect(page.locator(".reading")).to_have_attribute("data-active", side)
    page.keyboard.press("j")
    assert sorted(page.locator(".other-top b").all_inner_texts()) in (["Left", "Tie"], ["Right", "Tie"])
    page.keyboard.press("1")
    expect(box_of(page)).to_be_focused()
    for width, height in ((1440, 757), (1024, 768), (1920, 1080), (800, 900)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(UNDER_THE_QUESTION) == [], f"at {width} x {height}"
    page.set_viewport_size({"width": 1440, "height": 757})
    assert violations(page) == []
