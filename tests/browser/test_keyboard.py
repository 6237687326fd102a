"""The keyboard: few keystrokes, and no key that labels what is not on screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from sqlalchemy import select

from db.connect import reading
from db.tables import Assignment, Label
from tests.browser.conftest import EIGHT
from tests.browser.driving import item_number, ready, rows, saved, settled, until
from tests.small_study import PROTOCOL

pytestmark = pytest.mark.browser

NO_RATIONALE = EIGHT.replace("rationale = {required = true, min_length = 5}\n", "")
ONE_QUICK = PROTOCOL.replace("rationale = {required = true, min_length = 5}\n", "").rsplit("[[criterion]]", 1)[0]
SINGLE_KEYS = "1234567890jk[]qdwsp/o+-=fmxu?rc"


def choices(server: Any, study_id: int) -> dict[int, list[str]]:
    """Assignment -> the choices stored for it, oldest first."""
    found: dict[int, list[str]] = {}
    query = select(Label.assignment_id, Label.choice).join(Assignment, Assignment.id == Label.assignment_id)
    with reading(server.engine) as session:
        for assignment, choice in session.execute(query.where(Assignment.study_id == study_id).order_by(Label.id)):
            found.setdefault(assignment, []).append(choice)
    return found


def test_one_pair_of_eight_criteria_takes_sixteen_keystrokes_beside_the_text(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(EIGHT)
    keys = 0
    for _ in range(8):
        page.keyboard.press("1")
        page.keyboard.insert_text("it says so at once")
        if keys == 14:
            goes_back_and_loads_the_page_anew(page)
        page.keyboard.press("Control+Enter")
        keys += 2
    item_number(page, 2, 9)
    assert keys == 16
    stored = server.labels(study_id)
    assert {row[1] for row in stored} <= {"", "it says so at once"}  # perhaps a moment without the text
    assert [row[0] for row in stored if row[1]] == ["left"] * 8


def goes_back_and_loads_the_page_anew(page: Page) -> None:
    """Ctrl+Enter hands nothing in where an answered question is only looked at again."""
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Submit")).to_be_focused()
    saved(page)
    page.reload()
    ready(page)


def test_the_way_on_is_shown_once_it_is_open_a_sentence_typed_on_chooses_nothing_and_arrows_the_first_or_the_last(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(EIGHT)
    sheet_of_keys_lists_the_choices_there_are(page)
    way_on_is_shown_once_the_rationale_is_long_enough(page)
    page.keyboard.type("this has all details, and it says when and where ")
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Criterion 2")).to_be_visible()
    expect(page.get_by_role("radiogroup", name="Criterion 2").get_by_role("radio", checked=True)).to_have_count(0)
    saved(page)
    assert {row[2] for row in server.labels(study_id)} == {"c1"}
    page.get_by_role("radiogroup", name="Criterion 2").focus()
    page.keyboard.press("ArrowRight")
    chosen_and_focused(page, "Left")
    page.keyboard.press("j")
    expect(page.get_by_role("radiogroup", name="Criterion 3")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    chosen_and_focused(page, "Tie")


def chosen_and_focused(page: Page, name: str) -> None:
    expect(page.get_by_role("radio", name=name)).to_be_checked()
    expect(page.get_by_role("radio", name=name)).to_be_focused()


def sheet_of_keys_lists_the_choices_there_are(page: Page) -> None:
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Help").get_by_role("row").all_inner_texts()
    assert [key.split("\t")[0] for key in keys][:3] == ["123", "←→", "jk"]
    assert "score" not in " ".join(keys)
    sheet = page.get_by_role("dialog", name="Help")
    sheet.get_by_role("combobox", name="Keys").select_option("under the left hand")
    assert sheet.get_by_role("row").nth(2).inner_text().startswith("gt")
    page.keyboard.press("Escape")
    step = page.get_by_role("button", name="Next criterion (g)")
    expect(step).to_be_visible()
    page.keyboard.press("j")  # given away
    page.keyboard.press("g")
    expect(page.get_by_role("radiogroup", name="Criterion 2")).to_be_visible()
    expect(page.locator(".onward kbd")).to_have_text("Ctrl S")
    saved(page)
    page.evaluate("() => localStorage.clear()")  # another machine
    page.reload()
    ready(page)
    expect(step).to_be_visible()
    page.keyboard.press("?")
    sheet.get_by_role("combobox", name="Keys").select_option("my own")
    mine = sheet.get_by_role("textbox", name="Key instead of k")
    for refused in ("3", " ", "."):
        mine.fill(refused)
        mine.blur()
        expect(mine).to_have_value("t")
    mine.fill("r")  # which opened the outline
    mine.blur()
    expect(sheet.get_by_role("textbox", name="Key instead of o")).to_have_value("t")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    expect(page.get_by_role("radiogroup", name="Criterion 1")).to_be_visible()
    page.keyboard.press("?")
    sheet.get_by_role("combobox", name="Keys").select_option("as usual")
    page.keyboard.press("Escape")


def way_on_is_shown_once_the_rationale_is_long_enough(page: Page) -> None:
    onward = page.get_by_role("button", name="Next Ctrl Enter")
    page.keyboard.press("1")
    page.keyboard.insert_text("it")
    expect(onward).to_have_count(0)
    page.keyboard.insert_text(" says so")
    onward.click()
    expect(page.get_by_role("radiogroup", name="Criterion 2")).to_be_focused()


def test_an_answer_that_was_begun_is_left_unfinished_only_at_the_second_ctrl_enter(
    opened: Callable[..., Any],
) -> None:
    page, _ = opened(EIGHT)
    for number, (choice, text, focus, says, told) in enumerate((
        ("1", "", "textbox", "The rationale is missing", "Left, say why"),
        ("1", "It", "textbox", "The rationale is too short", "Left, say more"),
        ("Enter", "it says so", "radiogroup", "An answer is not chosen", "choose"),
    ), 1):  # fmt: skip
        page.keyboard.press(choice)
        page.keyboard.insert_text(text)
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("heading", name=f"Criterion {number}")).to_be_visible()
        expect(page.get_by_role("alert").first).to_contain_text(says)
        expect(page.get_by_role(focus, name=f"Criterion {number}")).to_be_focused()  # type: ignore[arg-type]
        saved(page)
        assert rows(page)[number - 1] == f"Criterion {number}: {told}"
        expect(page.locator(".list .row").nth(number - 1)).to_have_attribute("data-done", "part")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("heading", name=f"Criterion {number + 1}")).to_be_visible()
        expect(page.get_by_role("alert").first).to_be_empty()
    page.keyboard.press("Control+Enter")  # a blank one is passed over
    expect(page.get_by_role("heading", name="Criterion 5")).to_be_visible()


def test_without_a_rationale_it_takes_nine_and_held_down_keys_label_once_and_submit_once(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(NO_RATIONALE)
    for key in ("2", "1", "3", "2", "1", "3", "2", "1", "Control+Enter"):
        page.keyboard.press(key)
    item_number(page, 2, 9)
    said = {"1": "left", "2": "right", "3": "tie"}
    first = [said[key] for key in "21321321"]
    assert list(choices(server, study_id).values()) == [first]
    hold(page, "1")
    expect(page.get_by_role("heading", name="Criterion 2")).to_be_visible()
    saved(page)
    assert list(choices(server, study_id).values()) == [first, ["left"]]
    hold(page, "j")
    expect(page.get_by_role("heading", name="Criterion 3")).to_be_visible()
    page.keyboard.press("k")
    for _ in range(7):
        page.keyboard.press("2")
    hold(page, "Control", "Enter")
    item_number(page, 3, 9)
    hold(page, "Control", "Shift", "Enter")
    expect(page.get_by_role("alert").first).to_contain_text("8 criteria need an answer")
    assert list(choices(server, study_id).values()) == [first, ["left"] + ["right"] * 7]


def hold(page: Page, *keys: str) -> None:
    """Down long enough to repeat."""
    for _ in range(12):
        for key in keys:
            page.keyboard.down(key)
    for key in keys[::-1]:
        page.keyboard.up(key)


# every press with what was on screen when it was made
PRESSES = r"""() => {
    window.presses = [];
    addEventListener('keydown', (event) => {
        const tree = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('.calipers'));
        const root = tree.shadowRoot.querySelector('.calipers');
        const ready = root.dataset.ready === 'true' && root.dataset.phase === 'item';
        const shown = Number(root.querySelector('.position').textContent.match(/\d+/)?.[0]);
        presses.push({key: event.key, item: ready ? shown : null});
    }, {capture: true});
}"""


@pytest.mark.parametrize(("gap_ms", "latency_ms"), [(0, 0), (30, 80)])
def test_hurried_keys_label_nothing_that_is_not_on_screen(
    request: pytest.FixtureRequest, opened: Callable[..., Any], server: Any, gap_ms: int, latency_ms: int
) -> None:
    page, study_id = opened(ONE_QUICK)
    page.evaluate(PRESSES)
    if latency_ms:
        client = page.context.new_cdp_session(page)
        slow = {"offline": False, "latency": latency_ms, "downloadThroughput": -1, "uploadThroughput": -1}
        client.send("Network.enable")
        client.send("Network.emulateNetworkConditions", slow)
        request.addfinalizer(client.detach)

    def between_two_items(route: Route) -> None:
        page.keyboard.press("1")
        route.continue_()

    page.route("**/api/submit", between_two_items, times=1)
    for _ in range(8):
        for key in ("1", "Control+Enter", "1"):
            page.keyboard.press(key)
            if gap_ms:
                page.wait_for_timeout(gap_ms)
    ready(page)
    saved(page)
    presses = page.evaluate("window.presses")
    on_screen = [press["item"] for press in presses if press["key"] == "1" and press["item"]]
    unseen = [press for press in presses if press["key"] == "1" and not press["item"]]
    stored = choices(server, study_id)
    # without a pause the page may be busy with the presses before until the next item is there
    assert unseen or not gap_ms, "some presses came while no item was on screen, or this test shows nothing"
    assert len(stored) == len(set(on_screen)), "one labelled item for each that was on screen at a press"
    assert sum(map(len, stored.values())) <= len(on_screen)


def test_a_double_click_on_submit_does_not_submit_the_next(opened: Callable[..., Any], server: Any) -> None:
    page, study_id = opened(ONE_QUICK)
    page.keyboard.press("1")
    page.get_by_role("button", name="Submit").dblclick()
    item_number(page, 2, 9)
    expect(page.get_by_role("alert").first).to_be_empty()
    assert len(choices(server, study_id)) == 1


def test_what_is_composed_or_typed_is_text_and_no_command(opened: Callable[..., Any], server: Any) -> None:
    page, study_id = opened(EIGHT)
    box = page.get_by_role("textbox", name="Rationale: Criterion 1")
    box.click()
    client = page.context.new_cdp_session(page)
    for text in ("n", "に", "にほん", "日本"):
        client.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
        page.evaluate(COMPOSING, ["textarea:not([hidden])", ["1", "j", "Enter", "Escape", "x"]])
    client.send("Input.insertText", {"text": "日本"})
    client.detach()
    expect(box).to_have_value("日本")
    expect(box).to_be_focused()
    page.evaluate(COMPOSING, [".pane", ["1", "2", "j", "Enter", "x", "f", "?"]])
    expect(page.get_by_role("dialog", name="Skip this item")).to_have_count(0)
    expect(page.get_by_role("heading", name="Criterion 1")).to_be_visible()
    saved(page)
    assert [row[:2] for row in server.labels(study_id)] == [(None, "日本")]
    page.keyboard.type(SINGLE_KEYS)
    expect(box).to_have_value(f"日本{SINGLE_KEYS}")
    saved(page)
    assert {row[0] for row in server.labels(study_id)} == {None}
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.keyboard.press("Shift+Tab")  # at once: nothing behind a sheet takes the focus, nor the key that follows
    expect(page.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Help")).to_have_count(0)
    for key, name in (("m", "Comment"), ("x", "Reason"), ("f", "Description")):
        page.keyboard.press(key)
        said = page.get_by_role("dialog").get_by_role("textbox", name=name)
        said.click()
        page.keyboard.type(SINGLE_KEYS)
        expect(said).to_have_value(SINGLE_KEYS)
        page.get_by_role("button", name="Close").click()
    assert all(row.split(": ")[-1].startswith("no answer") for row in rows(page))
    for key, code, name in (("؟", "Slash", "Help"), ("ب", "KeyF", "Flag a problem"), ("ь", "KeyM", "Comment")):
        page.evaluate(OTHER_SCRIPT, [key, code])  # as the keyboard types where the reasons are not in Latin letters
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        page.keyboard.press("Escape")
    page.evaluate(OTHER_SCRIPT, ["١", "Digit1"])
    expect(page.get_by_role("radio", name="Left")).to_be_checked()


OTHER_SCRIPT = """([key, code]) => {
    const tree = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('.calipers')).shadowRoot;
    tree.querySelector('.pane').dispatchEvent(new KeyboardEvent('keydown', {key, code, bubbles: true, composed: true, cancelable: true}));
}"""

# keydown events as they come while an input method composes, plain and with Ctrl
COMPOSING = """([selector, keys]) => {
    const tree = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('.calipers')).shadowRoot;
    for (const key of keys) for (const ctrlKey of [false, true])
        tree.querySelector(selector).dispatchEvent(new KeyboardEvent('keydown', {
            key, ctrlKey, isComposing: true, keyCode: 229, bubbles: true, composed: true, cancelable: true}));
}"""


def test_r_and_c_on_a_pane_do_not_reach_streamlit(request: pytest.FixtureRequest, opened: Callable[..., Any]) -> None:
    page, _ = opened(EIGHT)
    asked: list[Any] = []
    request.addfinalizer(page.close)  # it is listened to
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: asked.append(frame)))
    page.reload()
    ready(page)
    before = settled(page, lambda: len(asked))
    for side in ("Left", "Right"):
        page.get_by_role("region", name=f"{side} report").click()
        for key in ("r", "c", "R", "C"):
            page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert len(asked) == before, "the script did not run again"
    expect(page.get_by_text("Clear caches")).to_have_count(0)
    page.goto(page.url.split("?")[0].rstrip("/") + "/my_work")  # a page of Streamlit's own: here `r` does rerun
    page.get_by_role("button", name="Log out").wait_for()
    before = settled(page, lambda: len(asked))
    page.locator(".c-answer").click()
    page.keyboard.press("r")
    until(lambda: page.wait_for_timeout(50) or len(asked) > before)  # this test can see a run
