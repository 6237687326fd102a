"""What a browser keeps of a person's work, twice: which of two copies holds, and what takes a copy out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.conftest import EIGHT
from tests.browser.driving import PARKED, answered_by_us, box_of, item_number, listening, new_tab, ready, saved, until
from tests.browser.test_losing_nothing import revisions

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FILL = """() => {
    for (let [size, n] = [1 << 20, 0]; size >= 1; n += 1) {
        try { localStorage.setItem(`filled ${n}`, 'x'.repeat(size)); } catch { size /= 2; }
    }
}"""
ENTRIES = "() => Object.keys(localStorage).filter((key) => key.includes(':entry:'))"
# {key: entry} into localStorage, and into the copies
KEEP = """([here, copies]) => new Promise((done) => {
    for (const [key, entry] of Object.entries(here)) localStorage.setItem(key, JSON.stringify(entry));
    indexedDB.open('calipers').onsuccess = ({ target: { result } }) => {
        const writing = result.transaction('entries', 'readwrite');
        for (const [key, entry] of Object.entries(copies)) writing.objectStore('entries').put(JSON.stringify(entry), key);
        writing.oncomplete = () => { result.close(); done(); };
    };
})"""


def sent_by(page: Page, act: Callable[[], None]) -> dict[str, Any]:
    """The last label that was sent until all was saved."""
    sent: list[Any] = []
    with listening(page, "request", lambda one: sent.append(one) if one.url.endswith("/api/labels") else None):
        act()
        saved(page)
    entries = [entry for one in sent for entry in one.post_data_json["entries"]]
    return [entry for entry in entries if entry["kind"] == "label"][-1]


def prefix_of(page: Page, aid: str) -> str:
    """Of what is kept of this item."""
    keys: list[str] = page.evaluate("() => Object.keys(localStorage)")
    return next(key for key in keys if key.endswith(f"{aid}:writer")).removesuffix("writer")


def answer(page: Page) -> None:
    page.keyboard.press("1")
    page.keyboard.insert_text("what was said")


def test_where_local_storage_has_no_room_what_is_typed_outlives_its_page(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(EIGHT)
    answer(page)
    saved(page)
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('cut off')); }")
    page.evaluate(FILL)
    page.keyboard.insert_text(", and more than there was room for")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.insert_text("a note to myself")
    page.goto(server.address + PARKED)
    page.goto(server.address)
    ready(page)
    expect(box_of(page)).to_have_value("what was said, and more than there was room for")
    saved(page)
    assert server.labels(study_id)[-1][:2] == ("left", "what was said, and more than there was room for")
    page.keyboard.press("n")
    expect(page.get_by_role("textbox", name="Notes")).to_have_value("a note to myself")


def test_of_two_copies_by_two_writers_the_later_holds_whatever_their_numbers(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(EIGHT)
    first = sent_by(page, lambda: answer(page))
    prefix = prefix_of(page, first["aid"])
    page.goto(server.address + PARKED)

    def entry(criterion: int, text: str, seq: int, minute: int) -> dict[str, Any]:
        own = {"criterion": f"c{criterion}", "rationale": text, "seq": seq, "writer": f"{seq:032x}"}
        return (
            first | own | {"client_uuid": f"{criterion}{minute:031x}", "client_ts": f"2026-11-29T05:{minute}:00.000Z"}
        )

    by_key = {f"{prefix}entry:label:c{n}": n for n in (2, 3)}
    earlier = {key: entry(n, "earlier", 38, 10) for key, n in by_key.items()}
    later = {key: entry(n, "later", 2, 11) for key, n in by_key.items()}
    two, three = by_key
    page.evaluate(KEEP, [{two: earlier[two], three: later[three]}, {two: later[two], three: earlier[three]}])
    page.goto(server.address)
    ready(page)
    saved(page)
    stored = revisions(server, study_id)
    assert (stored["c2"], stored["c3"]) == ([("left", "later")], [("left", "later")])


def test_a_tab_that_only_reads_takes_nothing_out_of_what_the_other_keeps(
    opened: Callable[..., Any], server: Any, context: BrowserContext
) -> None:
    page, study_id = opened(EIGHT)

    def stored_and_not_told(route: Route) -> None:
        route.fetch()
        route.abort()

    answered_by_us(page, "**/api/labels", stored_and_not_told)
    answer(page)
    until(
        lambda: page.evaluate(ENTRIES) and [row.rationale for row in server.labels(study_id)][-1:] == ["what was said"]
    )
    kept = page.evaluate(ENTRIES)
    second = new_tab(context)
    second.goto(server.address)
    expect(second.get_by_role("button", name="Take over")).to_be_visible()
    expect(box_of(second)).to_have_value("what was said")
    assert page.evaluate(ENTRIES) == kept
    page.unroute("**/api/labels")
    saved(page)
    assert not [key for key in page.evaluate(ENTRIES) if ":label:" in key]


def test_what_a_killed_browser_kept_of_an_item_handed_in_goes_in_silence_and_a_flag_left_there_is_sent(
    opened: Callable[..., Any], server: Any
) -> None:
    protocol = EIGHT.rsplit("[[criterion]]", 7)[0]
    page, study_id = opened(protocol)
    page.keyboard.press("1")
    last = sent_by(page, lambda: page.keyboard.insert_text("what was said"))
    prefix = prefix_of(page, last["aid"])
    page.keyboard.press("Control+Enter")
    item_number(page, 2, 9)
    page.goto(server.address + PARKED)
    before = last | {"rationale": "what was", "seq": last["seq"] - 1, "client_uuid": "0" * 32}
    flag = {"kind": "flag", "flag": "other", "text": "torn", "client_uuid": "1" * 32}
    flag |= {name: last[name] for name in ("aid", "page", "client_ts")}
    page.evaluate(KEEP, [{f"{prefix}entry:label:c1": before, f"{prefix}entry:flag:1": flag}, {}])
    page.goto(server.address)
    item_number(page, 2, 9)
    until(lambda: not [key for key in page.evaluate(ENTRIES) if last["aid"] in key])
    expect(page.locator(".calipers")).not_to_contain_text("earlier item")
    assert server.events(study_id) == [("flag", "torn")]
    assert server.labels(study_id)[-1].rationale == "what was said"
    assert json.dumps(page.evaluate("() => ({...localStorage})")).count("what was") == 0
