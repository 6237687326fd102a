"""Whatever happens to the page, the browser, the network or the server: every choice and every character is kept."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from playwright.sync_api import Error as PlaywrightError

from tests.browser.conftest import EIGHT
from tests.browser.driving import THIRTY_NINE, answered_by_us, box_of, middle, new_tab, ready, rows, saved
from tests.small_study import make_study, write_reports

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CHOICES = {"Left": "left", "Right": "right", "Not applicable": "not_applicable"}
TYPED = "“Ebb & flow” – naïve, Ελληνικά, 中文, 👩‍🔬, <b>;\na second line that ends in the mid"
FIRST, LAST = TYPED[:30], TYPED[30:]


@pytest.fixture
def opened(context: BrowserContext, server: Any, tmp_path: Path) -> Callable[..., tuple[Page, int]]:
    """open(protocol, topics) -> Ada's first item on screen, and the study's id."""

    def open_first(protocol: str = EIGHT, topics: tuple[str, ...] = ("tides",)) -> tuple[Page, int]:
        root = write_reports(tmp_path / "reports", topics)
        study_id = make_study(server.engine, root, protocol=protocol, name=uuid.uuid4().hex)
        page = new_tab(context)
        page.goto(server.link(study_id, "Ada"))
        ready(page)
        return page, study_id

    return open_first


def revisions(server: Any, study_id: int) -> dict[str, list[tuple[str, str]]]:
    """Criterion -> every stored choice and rationale, oldest first."""
    stored: dict[str, list[tuple[str, str]]] = {}
    for choice, rationale, criterion in server.labels(study_id):
        stored.setdefault(criterion, []).append((choice, rationale))
    return stored


def is_subsequence(some: list[Any], of: list[Any]) -> bool:
    rest = iter(of)
    return all(one in rest for one in some)


def test_no_label_is_lost_when_39_criteria_are_clicked_three_times_each(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(THIRTY_NINE)
    draw = random.Random(39)
    meant = [draw.choices(list(CHOICES), k=3) for _ in range(39)]
    places = {name: middle(page.get_by_role("radio", name=name)) for name in CHOICES}
    following = middle(page.get_by_role("button", name="Next criterion (j)"))
    for three in meant:
        for place in [*(places[name] for name in three), following]:
            page.mouse.click(*place)
            if gap_ms := draw.choice((0, 0, 30, 60)):
                page.wait_for_timeout(gap_ms)
    saved(page)
    stored = revisions(server, study_id)
    assert len(stored) == 39
    for got, three in zip(stored.values(), meant, strict=True):  # criteria were answered in their order
        clicked = [CHOICES[name] for name in three]
        assert got[-1][0] == clicked[-1]
        assert is_subsequence([choice for choice, _ in got], clicked), "nothing is stored that was not clicked"
    assert [row.split(": ")[-1].split(",")[0] for row in rows(page)] == [three[-1] for three in meant]


def close_the_tab(page: Page, server: Any) -> Page:
    type_on(page)
    page.close()
    another = page.context.new_page()  # a process of its own: it is the next to go
    another.goto(server.address)
    return another


def crash_the_tab(page: Page, server: Any) -> Page:
    type_on(page)
    with pytest.raises(PlaywrightError, match="crash"):
        page.goto("chrome://crash")
    page.close()
    another = new_tab(page.context)
    another.goto(server.address)
    return another


def type_on(page: Page) -> None:
    """The rest, the end of it key by key; the box is not left."""
    page.keyboard.insert_text(LAST[:-5])
    page.keyboard.type(LAST[-5:])


DISASTERS = (close_the_tab, crash_the_tab)  # a killed server and a cut line: tests/browser/test_engines.py


def test_what_was_chosen_and_typed_in_a_box_never_left_survives_one_disaster_after_the_other(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened()
    expected: list[tuple[str, str]] = []
    for key, disaster in zip("21", DISASTERS, strict=True):
        page.keyboard.press(key)
        page.keyboard.insert_text(FIRST)
        page = disaster(page, server)
        ready(page)
        expect(box_of(page), disaster.__name__).to_have_value(TYPED)
        name, choice = {"1": ("Left", "left"), "2": ("Right", "right")}[key]
        expect(page.get_by_role("radio", name=name), disaster.__name__).to_have_attribute("aria-checked", "true")
        saved(page)
        expected.append((choice, TYPED))
        assert [got[-1] for got in revisions(server, study_id).values()] == expected, disaster.__name__
        box_of(page).focus()
        page.keyboard.press("Control+Enter")


BROKEN = ('{"kind":"label","criterion":"c3","choi', "", "null", "{}", "[]", "7")
BREAK = """broken => {
    const key = Object.keys(localStorage).find((name) => name.endsWith('label:c2'));
    for (const [n, text] of broken.entries()) localStorage.setItem(`${key.slice(0, -1)}${3 + n}`, text);
    for (const name of ['seq', 'writer']) localStorage.setItem(key.replace(/entry:.*/, name), '');
}"""


def test_cut_off_and_empty_newest_entries_resume_all_before_them_and_a_refused_save_never_deletes_the_accepted_one(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened()
    page.keyboard.press("1")
    page.keyboard.insert_text("this one is stored")
    page.keyboard.press("Control+Enter")
    saved(page)
    answered_by_us(page, "**/api/labels", lambda route: route.abort())
    page.keyboard.press("2")
    page.keyboard.insert_text("this one is only here")
    page.goto(f"{server.address}/_stcore/health")  # our address, without our page
    page.evaluate(BREAK, BROKEN)
    page.unroute("**/api/labels")
    page.goto(server.address)
    ready(page)
    saved(page)
    assert [row.split(": ")[-1] for row in rows(page)][:8] == ["Left", "Right"] + ["no answer"] * 6
    last = [got[-1] for got in revisions(server, study_id).values()]
    assert last == [("left", "this one is stored"), ("right", "this one is only here")]
    page.get_by_role("radio", name="Left").click()
    saved(page)
    assert revisions(server, study_id)["c2"][-1][0] == "left", "and work goes on"
    a_refused_save_never_deletes_the_accepted_one(page, server, study_id)


def a_refused_save_never_deletes_the_accepted_one(page: Page, server: Any, study_id: int) -> None:
    page.get_by_role("button", name="Criterion 3:").click()
    page.keyboard.press("1")
    page.keyboard.insert_text("accepted words")
    page.keyboard.press("Escape")
    saved(page)
    accepted = revisions(server, study_id)
    refusal = {"code": "invalid", "text": "not on this page"}
    answered_by_us(page, "**/api/labels", lambda route: route.fulfill(status=422, json=refusal))
    page.keyboard.press("2")
    page.keyboard.insert_text(", and refused ones")
    expect(page.locator(".save")).to_contain_text("1 not saved")
    assert revisions(server, study_id) == accepted
    expect(box_of(page)).to_have_value("accepted words, and refused ones")
    page.unroute("**/api/labels")
    page.reload()
    ready(page)
    saved(page)  # what was refused was kept here, and is sent again
    assert revisions(server, study_id)["c3"][: len(accepted["c3"])] == accepted["c3"]
    assert revisions(server, study_id)["c3"][-1] == ("right", "accepted words, and refused ones")
