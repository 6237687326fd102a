"""Quoting in a real browser: what is selected is what is stored, shown again and found again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import APIResponse, BrowserContext, Locator, Page, Route, expect
from sqlalchemy import select

from annotation.labels.evidence import plain_text
from db.connect import reading
from db.tables import Assignment, Criterion, Label, Report
from tests.browser.conftest import EIGHT
from tests.browser.driving import new_tab, saved
from tests.browser.test_accessibility import violations
from tests.small_study import make_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TEXT = """# Tides 🌊 and people

Before the 😀 gate, the *water* rises twice a day. The moon does most of it.

| Place | Range |
|:--|--:|
| Fundy | 16 m |
| Malta | 0.2 m |

## 潮汐 in other words

It falls twice a day as well, café by café. {filler}
"""
NEWER = {"runOnly": ["wcag22aa"], "resultTypes": ["violations"]}
# selects from the first place of `from` to the end of the first `to` after it, in one pane
SELECT = """([side, from, to]) => {
    const tree = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('.calipers')).shadowRoot;
    const report = tree.querySelector(`.side[data-side=${side}] .report`);
    const text = report.textContent;
    const start = text.indexOf(from);
    const end = text.indexOf(to, start) + to.length;
    const walker = document.createTreeWalker(report, NodeFilter.SHOW_TEXT);
    const places = [];
    for (let at = 0, node = walker.nextNode(); node; node = walker.nextNode()) {
        for (const [n, offset] of [start, end].entries())
            if (!places[n] && offset >= at && offset <= at + node.length) places[n] = [node, offset - at];
        at += node.length;
    }
    places[1][0].parentElement.scrollIntoView({block: 'center'});
    report.closest('.pane').focus();
    getSelection().setBaseAndExtent(...places[0], ...places[1]);
    return text.slice(start, end);
}"""
# where a hand would press and let go to select what is selected now
ENDS = """() => {
    const tree = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('.calipers')).shadowRoot;
    const [chosen] = getSelection().getComposedRanges({shadowRoots: [tree]});
    const range = document.createRange();
    range.setStart(chosen.startContainer, chosen.startOffset);
    range.setEnd(chosen.endContainer, chosen.endOffset);
    getSelection().removeAllRanges();
    const rects = [...range.getClientRects()];
    const [first, last] = [rects[0], rects.at(-1)];
    return [first.left + 1, first.top + first.height / 2, last.right - 1, last.top + last.height / 2];
}"""
MARKED = "() => [...(CSS.highlights.get('evidence') ?? [])].map((range) => range.toString())"


@pytest.fixture
def study_id(server: Any, tmp_path: Path) -> int:
    """Reports with emoji, CJK, combining marks and a table, long enough to scroll."""
    for system in ("alpha", "beta"):
        for topic in ("tides", "bread"):
            (tmp_path / "reports" / system).mkdir(parents=True, exist_ok=True)
            filler = "\n\n".join(f"Paragraph {n} of {system} on {topic} says little." for n in range(60))
            path = tmp_path / "reports" / system / f"{topic}.md"
            path.write_text(TEXT.format(filler=filler), encoding="utf-8")
    protocol = EIGHT.replace("[answers]", 'reports = {unresolved_flags = "allow"}\n[answers]')
    return make_study(server.engine, tmp_path / "reports", overlap=2, protocol=protocol, name=tmp_path.name)


def latest(server: Any, study_id: int, criterion: str = "c1") -> Label:
    rows = select(Label).join(Criterion, Criterion.id == Label.criterion_id)
    with reading(server.engine) as session:
        own = rows.where(Criterion.study_id == study_id, Criterion.code == criterion)
        found = session.scalar(own.order_by(Label.id.desc()).limit(1))
        assert found is not None
        return found


def text_on(server: Any, study_id: int, side: str) -> str:
    """The plain text of the report on this side of Ada's first item, as the server counts it."""
    with reading(server.engine) as session:
        rows = select(Label).join(Criterion, Criterion.id == Label.criterion_id)
        label = session.scalars(rows.where(Criterion.study_id == study_id).order_by(Label.id)).first()
        assert label is not None
        sha256 = label.left_sha256 if side == "left" else label.right_sha256
        study = session.get_one(Assignment, label.assignment_id).study_id
        shown = select(Report.shown_text).where(Report.study_id == study, Report.shown_sha256 == sha256).limit(1)
        return plain_text(session.scalar(shown) or "")


def quote(page: Page, side: str, start: str, end: str) -> str:
    page.locator('.calipers[data-ready="true"]').wait_for()
    selected = page.evaluate(SELECT, [side, start, end])
    expect(page.get_by_role("button", name="Quote", exact=True)).to_be_visible()
    page.keyboard.press("q")
    return selected


def test_what_is_selected_is_quoted_stored_and_verified(page: Page, server: Any, study_id: int) -> None:
    for number, (side, start, end) in enumerate((
        ("left", "water", "twice a day"),  # an emoji and emphasis before and in it
        ("right", "twice a day", "Fundy"),  # from a paragraph into a table
        ("left", "0.2 m", "潮汐"),  # from a table over a heading in another script
        ("right", "café", "café"),
    ), 1):  # fmt: skip
        page.get_by_role("button", name=f"Criterion {number}:").click()
        selected = quote(page, side, start, end)
        words = " ".join(selected.split())
        box = page.get_by_role("textbox", name=f"Rationale: Criterion {number}")
        expect(box).to_have_value(f"> {side.title()}: “{words}”\n")
        expect(box).to_be_focused()
        saved(page)
        stored = latest(server, study_id, f"c{number}")
        assert stored.rationale == f"> {side.title()}: “{words}”\n"
        (span,) = stored.evidence
        text = text_on(server, study_id, side)
        assert (span["side"], span["quote"], span["verified"]) == (side, selected, True)
        assert text[span["start"] : span["end"]] == selected
        assert span["sha256"] == (stored.left_sha256 if side == "left" else stored.right_sha256)


def test_found_words_are_widened_and_quoted_by_keyboard_alone(page: Page) -> None:
    page.locator('.calipers[data-ready="true"]').wait_for()
    page.keyboard.press("q")
    expect(page.get_by_text("Nothing is selected.")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.insert_text("café")
    for key in ("Enter", "Escape", "Shift+ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="Quote", exact=True)).to_be_visible()
    page.keyboard.press("q")
    box = page.get_by_role("textbox", name="Rationale: Criterion 1")
    expect(box).to_have_value(re.compile("^> Left: “café b”\n$"))
    expect(page.get_by_text("Nothing is selected.")).to_have_count(0)


def test_a_quote_is_marked_again_after_a_reload_and_its_chip_leads_to_it_and_no_hash_of_a_report_reaches_the_browser(
    page: Page, server: Any, study_id: int
) -> None:
    selected = quote(page, "left", "Paragraph 50", "says little.")
    saved(page)
    with page.expect_response("**/api/assignment/*") as reply:
        page.reload()
    page.locator('.calipers[data-ready="true"]').wait_for()
    assert page.evaluate(MARKED) == [selected]
    stored = latest(server, study_id)
    (span,) = json.loads(reply.value.text())["answers"]["c1"]["evidence"]
    assert set(span) == {"side", "start", "end", "quote", "verified"}
    assert stored.left_sha256 not in reply.value.text()
    start = stored.evidence[0]["start"]
    before = sum(letter > "\uffff" for letter in text_on(server, study_id, "left")[:start])
    assert before > 0  # an emoji is one code point and two of the browser's units
    assert span["start"] == start + before
    region = page.get_by_role("region", name="Left report")
    region.evaluate("node => { node.scrollTop = 0; }")
    page.get_by_role("button", name="Left “Paragraph 50").click()
    assert region.evaluate("node => node.scrollTop") > 300
    page.keyboard.insert_text("and this stays")
    page.get_by_role("button", name="Remove quote").click()
    expect(page.get_by_role("button", name="Remove quote")).to_have_count(0)
    assert page.evaluate(MARKED) == []
    saved(page)
    assert latest(server, study_id).evidence == []
    assert selected in latest(server, study_id).rationale


def test_each_criterion_has_its_own_quotes_at_the_caret_and_a_passage_too_long_to_be_one_is_refused_in_words(
    page: Page, server: Any, study_id: int
) -> None:
    quote(page, "left", "Paragraph 1 ", "Paragraph 58")
    expect(page.get_by_role("alert")).to_contain_text("at most 2000 characters")
    expect(page.get_by_role("textbox", name="Rationale: Criterion 1")).to_have_value("")
    assert page.evaluate(MARKED) == []
    first = quote(page, "left", "The moon", "of it.")
    page.get_by_role("button", name="Criterion 2:").click()
    assert page.evaluate(MARKED) == []
    second = quote(page, "right", "It falls", "as well")
    third = quote(page, "left", "Malta", "0.2 m")
    assert page.evaluate(MARKED) == [second, third]
    page.get_by_role("button", name="Criterion 1:").click()
    assert page.evaluate(MARKED) == [first]
    expect(page.get_by_role("listitem").filter(has_text="The moon")).to_have_count(1)
    the_button_quotes_at_the_caret_and_undo_takes_the_words_out(page, server, study_id)


def the_button_quotes_at_the_caret_and_undo_takes_the_words_out(page: Page, server: Any, study_id: int) -> None:
    page.get_by_role("button", name="Criterion 3:").click()
    box = page.get_by_role("textbox", name="Rationale: Criterion 3")
    box.fill("before after")
    box.evaluate("box => box.setSelectionRange(7, 7)")
    page.evaluate(SELECT, ["left", "The moon", "of it."])
    from_x, from_y, to_x, to_y = page.evaluate(ENDS)
    box.focus()
    page.mouse.move(from_x, from_y)
    page.mouse.down()
    page.mouse.move(to_x, to_y, steps=5)
    expect(page.get_by_role("button", name="Quote", exact=True)).to_be_hidden()
    page.mouse.up()
    page.get_by_role("button", name="Quote", exact=True).click()
    expect(box).to_have_value("before \n> Left: “The moon does most of it.”\nafter")
    expect(page.get_by_role("button", name="Quote", exact=True)).to_be_hidden()
    page.keyboard.press("Control+z")
    expect(box).to_have_value("before after")
    saved(page)
    stored = latest(server, study_id, "c3")
    assert (stored.rationale, len(stored.evidence)) == ("before after", 1)


def test_submitted_work_shows_its_answers_quotes_and_history_read_only(
    page: Page, context: BrowserContext, server: Any, study_id: int
) -> None:
    quoted = quote(page, "left", "The moon", "of it.")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    saved(page)
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    saved(page)
    for number in range(2, 9):
        page.get_by_role("button", name=f"Criterion {number}:").click()
        page.keyboard.press("1")
        page.keyboard.insert_text("as it should be")
    saved(page)
    second = new_tab(context)
    second.goto(f"{server.address}/")
    expect(second.get_by_text("open in another tab").first).to_be_visible()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("Item 2 of 2")).to_be_visible()
    expect(second.get_by_role("button", name="Reopen")).to_be_visible()
    second.get_by_role("button", name="Criterion 1:").click()
    expect(second.get_by_role("radio", name="Right")).to_have_attribute("aria-checked", "true")
    assert second.evaluate(MARKED) == [quoted]
    expect(second.get_by_role("button", name="Left “The moon")).to_be_visible()
    expect(second.get_by_role("button", name="Remove quote")).to_have_count(0)
    second.evaluate(SELECT, ["left", "It falls", "as well"])
    second.keyboard.press("q")
    expect(second.get_by_role("button", name="Quote", exact=True)).to_be_hidden()
    assert second.evaluate(MARKED) == [quoted]
    second.get_by_role("button", name="History (3)").click()
    sheet = second.get_by_role("dialog", name="Criterion 1")
    expect(sheet.get_by_role("row")).to_have_count(4)
    expect(sheet.get_by_role("row").last).to_contain_text("Right")


def test_of_two_histories_that_were_asked_for_the_later_is_shown_whichever_comes_last(page: Page) -> None:
    held: list[tuple[Route, APIResponse]] = []
    page.route("**/api/history/*", lambda route: route.continue_() if held else held.append((route, route.fetch())))
    for key in "123":
        page.keyboard.press(key)
        saved(page)
        page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="History (3)")).to_be_visible()
    [(route, answer)] = held
    with page.expect_event("requestfinished"):
        route.fulfill(response=answer)
    page.evaluate("() => new Promise((done) => setTimeout(done, 100))")
    expect(page.get_by_role("button", name="History (3)")).to_be_visible()


def test_history_appears_once_an_answer_was_changed_and_axe_finds_nothing_in_it_or_in_quotes(page: Page) -> None:
    def everything_wrong(part: Locator | None = None) -> list[Any]:
        newer = violations(page, part, (("light", NEWER),))
        return [*violations(page, part), *newer]

    page.keyboard.press("1")
    page.keyboard.insert_text("because it is so")
    saved(page)
    expect(page.get_by_role("button", name="History")).to_be_hidden()
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    saved(page)
    expect(page.get_by_role("button", name="Next Ctrl Enter")).to_be_visible()
    assert everything_wrong() == []
    history = page.get_by_role("button", name="History (2)")
    history.click()
    sheet = page.get_by_role("dialog", name="History: Criterion 1")
    first, last = sheet.get_by_role("row").nth(1), sheet.get_by_role("row").nth(2)
    expect(first).to_contain_text("nothing")
    expect(first).to_contain_text("because it is so")
    expect(last.get_by_role("cell").nth(0)).to_contain_text("Left")
    expect(last.get_by_role("cell").nth(1)).to_contain_text("Right")
    expect(last.get_by_role("cell").nth(1)).to_contain_text("same rationale")
    assert everything_wrong(sheet) == []
    page.keyboard.press("Escape")
    quote(page, "left", "The moon", "of it.")
    quote(page, "right", "twice a day", "Fundy")
    page.evaluate(SELECT, ["left", "It falls", "as well"])
    expect(page.get_by_role("button", name="Quote", exact=True)).to_be_visible()
    assert everything_wrong() == []
