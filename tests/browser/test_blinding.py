"""The blinding proof: no name of a system, file or row reaches an annotator's browser by any channel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.blinded import Blind, blind_study
from tests.browser.capture import Capture
from tests.browser.driving import answered_by_us, item_number, parked, put_away, ready, saved, until
from tests.browser.test_quoting import SELECT

pytestmark = pytest.mark.browser
SIZED = re.compile(r'<img [^>]*width=\\?"(\d+)\\?" height=\\?"(\d+)')


@pytest.fixture(scope="module")
def blind(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Blind:
    return blind_study(server, tmp_path_factory.mktemp("zpath-hovel"))


@pytest.fixture
def capture(context: BrowserContext) -> Iterator[Capture]:
    capture = Capture(context)
    yield capture
    capture.close()


def answer_and_submit(page: Page) -> None:
    for _ in range(2):
        page.keyboard.press("1")
        page.keyboard.insert_text("it says where its figures come from")
        page.keyboard.press("Control+Enter")


def every_sheet(page: Page, capture: Capture) -> None:
    for key in ("?", "f", "m", "x", "o", "/"):
        page.keyboard.press(key)
        capture.look(page)
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
    for button in (page.locator(".topic"), page.get_by_role("button", name="Menu", exact=True)):
        button.click()
        capture.look(page)
        page.keyboard.press("Escape")
    page.keyboard.press("p")
    capture.look(page)


@pytest.mark.slow
def test_a_whole_session_of_an_annotator_shows_no_name_path_number_or_hash(
    capture: Capture, server: Any, blind: Blind
) -> None:
    outside: list[str] = []
    own = (server.address, server.address.replace("http", "ws"), "blob:", "data:")
    page = capture.tab()
    page.on("request", lambda one: None if one.url.startswith(own) else outside.append(one.url))
    page.goto(blind.token)
    ready(page)
    every_sheet(page, capture)
    page.keyboard.press("1")
    page.keyboard.insert_text("it says so: ")
    page.keyboard.press("Escape")
    page.evaluate(SELECT, ["left", "it rises", "a day"])
    page.keyboard.press("q")
    page.keyboard.press("Escape")
    saved(page)
    page.keyboard.press("2")
    saved(page)
    page.reload()
    ready(page)
    page.get_by_role("button", name="History (2)").click()
    expect(page.get_by_role("dialog", name="History")).to_be_visible()
    capture.look(page)
    page.keyboard.press("Escape")
    answer_and_submit(page)
    for number in (2, 3):
        item_number(page, number, 9)
        capture.look(page)
        answer_and_submit(page)
    item_number(page, 4, 9)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert").first).to_contain_text("Not submitted")
    capture.look(page)

    answered_by_us(
        page, "**/api/labels", lambda route: route.fulfill(status=403, json={"code": "forbidden", "text": "no"})
    )
    page.keyboard.press("Escape")
    page.get_by_role("radio", name="Tie").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download my unsaved answers").click()
    capture.downloaded(waiting.value)
    page.unroute("**/api/labels")

    page.goto(f"{server.address}/my_work")
    page.get_by_role("link", name="Open: ").first.wait_for()
    page.get_by_text("Instructions").click()
    capture.look(page)
    page.get_by_role("link", name="Open: ").first.click()
    expect(page.get_by_role("button", name="Reopen")).to_be_visible()
    capture.look(page)
    for path in ("invite/unknown", "api/assignment/unknown", "no/such/page"):
        capture.response(capture.context.request.get(f"{server.address}/{path}"))
    capture.spoken(server, name="agreement")
    capture.spoken(server, name="no/such/page")
    capture.spoken(server, query=f"open={'f' * 32}")
    page.goto(server.address)
    ready(page)
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_text("Open your invitation link")).to_be_visible()
    capture.look(page)

    assert capture.found(blind.sentinels) == set()
    assert outside == [], "and nothing was asked of anybody else"
    shown = capture.found(["Manner 1 on", "A small study", "Left report"])
    assert {channel for channel, words in shown if words == "Manner 1 on"} >= {"body", "text"}
    assert {channel for channel, words in shown if words == "A small study"} >= {"frame bytes", "frame decoded"}
    assert ("attribute", "Left report") in shown
    drawn = [body for body in capture.seen["body"] if body.startswith("RIFF")]
    assert len(set(drawn)) >= 6, "of three items, from Markdown, Word, PDF and HTML"
    sizes = {size for channel in capture.seen.values() for seen in channel for size in SIZED.findall(seen)}
    assert sizes == {("1600", "1200")}, "in which three systems drew by 640 x 480, 1,200 x 800 and 900 x 700"
    assert ("text", "Height by hour") in capture.found(["Height by hour"])
    assert capture.found(["calipers-ballot/1"]) >= {("download", "calipers-ballot/1")}


LEAK = "zsys-quorl"
PLANTS = {
    "text": "document.body.append(document.createTextNode(leak))",
    "attribute": "document.body.dataset.made = leak",
    "title": "document.title = leak",
    "url": "history.replaceState(null, '', '?by=' + leak)",
    "storage": "localStorage.setItem('by', leak)",
    "cookie": "document.cookie = 'by=' + leak",
    "console": "console.debug(leak)",
    "body": "fetch('/planted/body')",
    "header": "fetch('/planted/header')",
    "frame bytes": "new Promise((done) => { const socket = new WebSocket(location.origin.replace('http', 'ws') +"
    " '/_stcore/stream', ['streamlit']); socket.onopen = () => { socket.send(new TextEncoder().encode(leak)); done(); }; })",
    "download": "Object.assign(document.createElement('a'), {download: 'x.json',"
    " href: URL.createObjectURL(new Blob([leak]))}).click()",
}  # fmt: skip
HIDDEN_PLANT = """leak => {
    const host = document.createElement('div');
    document.body.append(host);
    const deep = document.createElement('div');
    host.attachShadow({mode: 'open'}).append(deep);
    deep.attachShadow({mode: 'open'}).append(Object.assign(document.createElement('input'), {value: leak}));
}"""


@pytest.fixture(scope="module")
def plain(warm: BrowserContext, server: Any) -> Iterator[tuple[Page, Capture]]:
    """The page of somebody who is signed out, with nothing to hide."""
    parked(warm, server.address)
    capture = Capture(warm)
    page = capture.tab()
    page.route("**/planted/body", lambda route: route.fulfill(body=LEAK))
    page.route("**/planted/header", lambda route: route.fulfill(body="", headers={"x-made-by": LEAK}))
    page.goto(server.address)
    page.get_by_text("Open your invitation link").wait_for()
    capture.look(page)
    assert capture.found([LEAK]) == set()
    yield page, capture
    capture.close()
    put_away(warm, server.address)


@pytest.mark.parametrize("channel", PLANTS)
def test_the_capture_sees_a_leak_planted_in_each_channel(plain: tuple[Page, Capture], channel: str) -> None:
    page, capture = plain
    if channel == "download":
        with page.expect_download() as waiting:
            page.evaluate(f"leak => {{ {PLANTS[channel]} }}", LEAK)
        capture.downloaded(waiting.value)
    else:
        page.evaluate(f"async leak => {{ await ({PLANTS[channel]}) }}", LEAK)
    until(lambda: capture.look(page) or (channel, LEAK) in capture.found([LEAK]))


def test_the_capture_sees_a_value_in_a_nested_shadow_root(plain: tuple[Page, Capture]) -> None:
    page, capture = plain
    capture.seen.clear()
    page.evaluate(HIDDEN_PLANT, LEAK.upper())
    capture.look(page)
    assert ("text", LEAK) in capture.found([LEAK])
