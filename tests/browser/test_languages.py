"""Studies in other languages and scripts on the page, and that every word of the interface is the catalogue's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.offline.packets import reserve_packet
from annotation.people.principals import local_admin
from app import texts
from app.component import packet_html
from db.connect import transaction
from db.tables import Study
from tests.browser.conftest import Server
from tests.browser.driving import box_of, new_tab, ready
from tests.other_languages import (
    ARABIC,
    CHINESE,
    FROM_RIGHT,
    PSEUDO,
    pseudo_protocol,
    unwrapped,
    write_pseudo,
    write_reports,
)
from tests.small_study import PROTOCOL, a_person, make_study
from tests.trained_study import make_trained_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]
STREAMLIT = ("Skip to main content", "Main menu")  # its own frame, in English only; the label page makes it inert
KNOWN = {
    "Alt",
    "Esc",
    "USD",
    "UTC",
    "calipers",
    "tides",
    "bread",
    "noise",
    "Tides",
    "Bread",
    "Noise",
}  # the study's, and units
# every text and every attribute that is read out, of what is on screen; the study's own and what speaks
# the browser's language until the study's is known aside
SAID = """() => {
    const found = [];
    const own = '.report, .code, script, style, .tool.words, [data-testid="stToolbar"], [data-testid="stHeader"]';
    const look = (root) => {
        for (const node of root.querySelectorAll('*')) {
            if (node.shadowRoot) look(node.shadowRoot);
            if (node.closest('script, style, .report, .calipers-unconnected') || !node.checkVisibility()) continue;
            for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
                if (node.getAttribute(name)) found.push(node.getAttribute(name));
            if (node.closest(own)) continue;
            for (const child of node.childNodes)
                if (child.nodeType === 3 && child.data.trim()) found.push(child.data);
        }
    };
    look(document.querySelector('main, .calipers, [data-testid="stApp"]')?.getRootNode() ?? document);
    look(document);
    return [...new Set(found)];
}"""


def not_told(page: Page) -> list[str]:
    """Latin letters on screen that no text of the catalogue said."""
    said = [unwrapped(text) for text in page.evaluate(SAID) if text not in STREAMLIT]
    return [text for text in said if set(re.findall(r"[A-Za-z]{2,}", text)) - KNOWN]


def opened(page: Page, server: Server, study: int, name: str = "Ada") -> Page:
    page.goto(server.link(study, name))
    ready(page)
    return page


def test_every_word_of_the_label_page_is_the_catalogues(
    context: BrowserContext, server: Server, tmp_path: Path
) -> None:
    study = make_study(server.engine, tmp_path, protocol=pseudo_protocol(FROM_RIGHT), name="label")
    page = opened(new_tab(context), server, study)
    root = page.locator(".calipers")
    expect(root).to_have_attribute("lang", FROM_RIGHT)
    expect(root).to_have_attribute("dir", "rtl")
    assert not_told(page) == []
    hint = page.locator(".hint")
    said = hint.text_content()
    hint.evaluate("node => { node.textContent = 'words of no catalogue'; }")
    assert not_told(page) == ["words of no catalogue"]  # what this test is for
    hint.evaluate("(node, said) => { node.textContent = said; }", said)
    for key in ("?", "f", "m", "x"):
        page.keyboard.press(key)
        page.locator("dialog.sheet").wait_for()
        assert not_told(page) == []
        page.keyboard.press("Escape")
        expect(page.locator("dialog.sheet")).to_have_count(0)
    for key in ("o", "/"):
        page.keyboard.press(key)
        assert not_told(page) == []
        page.keyboard.press("Escape")
    page.locator(".head-right .tool").last.click()
    assert not_told(page) == []
    page.keyboard.press("Escape")
    root.focus()
    page.keyboard.press("Control+Shift+Enter")  # refused: nothing is answered
    expect(page.locator(".notice")).to_contain_text("⟦")
    assert not_told(page) == []
    page.keyboard.press("1")
    box_of(page).fill("μακρύς λόγος")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("3")
    box_of(page).fill("ένας άλλος")
    assert not_told(page) == []
    page.keyboard.press("Control+Enter")
    expect(page.locator(".position")).to_contain_text("2")
    ready(page)
    assert not_told(page) == []


def test_every_word_of_a_submitted_and_of_a_read_only_item_is_the_catalogues(
    context: BrowserContext, server: Server, tmp_path: Path
) -> None:
    study = make_study(server.engine, tmp_path, protocol=pseudo_protocol(PSEUDO), name="again")
    page = opened(new_tab(context), server, study)
    other = new_tab(context)  # a second tab: read-only
    other.goto(server.address)
    expect(other.locator(".notice")).to_contain_text("⟦")
    assert not_told(other) == []
    other.close()
    page.goto(f"{server.address}/?open=unknown-item")
    expect(page.locator(".notice")).to_contain_text("⟦")
    assert not_told(page) == []
    context.set_offline(True)
    page.locator(".calipers").focus()
    page.keyboard.press("1")
    expect(page.locator(".save")).to_have_attribute("data-save", "offline")
    assert not_told(page) == []
    context.set_offline(False)
    page.goto(f"{server.address}/my_work")
    page.locator(".w-main").wait_for()
    assert not_told(page) == []


def test_every_word_of_consent_and_training_is_the_catalogues(
    context: BrowserContext, server: Server, tmp_path: Path
) -> None:
    greek = 'consent = "Συγκατάθεση."\ntraining = {items = 3, pass_mark = 0.7, attempts = 2}\npay = {rate = 10.0, currency = "USD"}\n'
    trained = pseudo_protocol(FROM_RIGHT, PROTOCOL.replace("[study]\n", f"[study]\n{greek}retest_share = 0.0\n"))
    study = make_trained_study(server.engine, tmp_path, protocol=trained, name="trained")
    page = new_tab(context)
    page.goto(server.link(study, "Ada"))
    agree = page.locator(".st-key-agree button")
    agree.wait_for()
    assert not_told(page) == []
    agree.click()
    ready(page)
    assert not_told(page) == []
    for _ in range(2):
        page.keyboard.press("1")
        box_of(page).fill("μακρύς λόγος")
        page.keyboard.press("Control+Enter")
    page.locator(".told").wait_for()
    untold = [text for text in not_told(page) if "says more" not in text]  # the reasons are the study's
    assert untold == []


def test_every_word_of_a_packet_is_the_catalogues(
    browser: Browser, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(server.engine, tmp_path / "reports", protocol=pseudo_protocol(PSEUDO), name="packet")
    with transaction(server.engine) as session:
        a_person(session, study, "Ada")
        packet = reserve_packet(session, local_admin(session.get_one(Study, study)), "Ada", 2)
    path = tmp_path / "packet.html"
    monkeypatch.setenv("CALIPERS_TEXTS", str(write_pseudo(tmp_path, PSEUDO, FROM_RIGHT)))
    texts.catalogues.cache_clear()
    path.write_text(packet_html(packet), encoding="utf-8")
    monkeypatch.undo()
    texts.catalogues.cache_clear()
    context = browser.new_context()
    page = new_tab(context)
    page.goto(path.as_uri())
    page.locator(".packet-words").first.wait_for()
    assert not_told(page) == []
    page.locator(".steps button").click()
    ready(page)
    page.keyboard.press("1")
    assert not_told(page) == []
    context.close()


def test_a_page_from_right_to_left_keeps_left_on_the_left(
    context: BrowserContext, server: Server, tmp_path: Path
) -> None:
    write_reports(tmp_path / "ar", "ar")
    protocol = ARABIC.replace('language = "ar"', f'language = "{FROM_RIGHT}"')
    study = make_study(server.engine, tmp_path / "ar", protocol=protocol, name="from-the-right")
    page = opened(new_tab(context), server, study)
    places = {
        name: page.locator(selector).bounding_box()["x"]  # type: ignore[index]
        for name, selector in {
            "left pane": '.side[data-side="left"]', "right pane": '.side[data-side="right"]', "form": ".form",
            "left": '[data-choice="left"]', "right": '[data-choice="right"]',
        }.items()
    }  # fmt: skip
    assert places["form"] < places["left pane"] < places["right pane"]
    assert places["left"] < places["right"]
    confidence = page.locator(".confidence").evaluate("node => getComputedStyle(node).justifyContent")
    assert confidence == "flex-end", "its levels rise to the right, and it stands where a line begins"
    own = "node => getComputedStyle(node.appendChild(document.createElement('i'))).fontWeight"
    assert page.locator(".form").evaluate(own) == "400", "the weight is for emphasis in a report, not for a label"
    way = "node => [getComputedStyle(node).direction, getComputedStyle(node).textAlign]"
    for part in (
        ".report p",
        ".report td",
        ".report li",
        ".report blockquote",
        ".question.open p",
        ".question.open h2",
    ):
        assert page.locator(part).first.evaluate(way) == ["rtl", "start"], part


def test_a_study_in_a_language_without_a_catalogue_speaks_english_around_texts_from_the_right(
    context: BrowserContext, server: Server, tmp_path: Path
) -> None:
    protocol = ARABIC.replace('language = "ar"', 'language = "ur"')
    study = make_study(server.engine, write_reports(tmp_path / "ar", "ar"), protocol=protocol, name="arabic")
    page = opened(new_tab(context), server, study)
    expect(page.locator(".calipers")).to_have_attribute("dir", "ltr")
    expect(page.locator(".report").first).to_have_attribute("dir", "rtl")
    group, at = page.locator(".where-group"), page.locator(".where-at")
    expect(group).to_have_text("المحتوى")
    expect(at).to_have_text("1 of 2")
    assert group.evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert group.evaluate("node => node.getBoundingClientRect().right") <= at.evaluate("node => node.getBoundingClientRect().left")  # fmt: skip
    assert page.locator(".question.open p").evaluate("node => getComputedStyle(node).direction") == "rtl"


def test_a_chinese_study_is_labelled_by_keyboard_with_an_input_method_and_a_passage_quoted_by_its_place(
    request: pytest.FixtureRequest, context: BrowserContext, server: Server, tmp_path: Path
) -> None:
    study = make_study(server.engine, write_reports(tmp_path / "zh", "zh"), protocol=CHINESE, name="chinese")
    page = new_tab(context)
    page.goto(server.link(study, "李雷"))
    page.locator(".st-key-agree button").click()
    ready(page)
    expect(page.locator(".question.open")).to_contain_text("证据质量")
    typing = context.new_cdp_session(page)
    request.addfinalizer(typing.detach)
    page.keyboard.press("1")
    expect(box_of(page)).to_be_focused()
    # half a word: letters of the input method, whose keys must not act on the page, nor Enter, which takes it over
    typing.send("Input.imeSetComposition", {"text": "zhengju", "selectionStart": 7, "selectionEnd": 7})
    composing = "node => node.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', ctrlKey: true, bubbles: true, composed: true, isComposing: true}))"
    box_of(page).evaluate(composing)
    expect(page.locator(".question.open")).to_contain_text("证据质量")
    typing.send("Input.insertText", {"text": "证据更充分"})
    expect(page.locator(".hint")).to_have_text("")  # five full-width characters are the ten that are asked for
    page.keyboard.press("Control+Enter")
    expect(page.locator(".question.open")).to_contain_text("结构清晰")
    page.keyboard.press("2")
    typing.send("Input.insertText", {"text": "标题"})
    expect(page.locator(".hint")).to_have_text("4/10 个字符")
    typing.send("Input.insertText", {"text": "清楚明了"})
    expect(page.locator(".save")).to_have_text("已保存")
    page.locator(".calipers").focus()
    page.keyboard.press("/")
    page.locator(".find input").fill("证据")
    expect(page.locator(".find-count")).to_have_text(re.compile(r"左 \d+，右 \d+"))
    page.keyboard.press("Escape")
    page.keyboard.press("o")
    expect(page.locator(".outline nav").first).to_contain_text("背景")
    page.keyboard.press("Escape")
    page.keyboard.press("p")  # the alike passage, of whichever block is on top
    expect(page.locator(".pointed")).to_have_count(2)
    page.locator(".calipers").focus()
    page.keyboard.press("Control+Shift+Enter")
    expect(page.locator(".position")).to_have_text("第 2 个条目，共 9 个")
    assert [(one.choice, one.rationale) for one in server.labels(study)][-1] == ("right", "标题清楚明了")
    ready(page)
    a_chinese_passage_is_quoted_by_its_place(page)


def a_chinese_passage_is_quoted_by_its_place(page: Page) -> None:
    page.locator('.side[data-side="left"] .report p').first.evaluate(
        "node => getSelection().setBaseAndExtent(node.firstChild, 3, node.firstChild, 9)"
    )
    page.keyboard.press("q")
    chip = page.locator(".quote-go span")
    expect(chip).to_be_visible()
    quoted = page.locator('.side[data-side="left"] .report p').first.evaluate("node => node.textContent.slice(3, 9)")
    expect(chip).to_have_text(f" “{quoted}”")
    expect(page.locator(".save")).to_have_text("已保存")
