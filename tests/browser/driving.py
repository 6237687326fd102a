"""What browser tests share: waiting for a state, and where things are on the annotator's page."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Locator, Page, Route, ViewportSize, expect
from playwright.sync_api import Error as PlaywrightError

import annotation

PARKED = "/_stcore/health"  # an address of the app's own site that shows and keeps nothing
FREE = f"{PARKED}#free"  # where a tab waits for the next test
PATIENCE = 90  # seconds that a test waits for what must come: a machine that does other work too is slow, not wrong
VIEWPORT: ViewportSize = {"width": 1440, "height": 757}
ASKING = (Path(annotation.__file__).parent / "protocols" / "wlc_writing_39.toml").read_text(encoding="utf-8")
THIRTY_NINE = re.sub(r'consent = """.*?"""\n', "", ASKING, flags=re.DOTALL)  # asks at once, and for no consent


def parked(context: BrowserContext, address: str) -> Page:
    """The tab that stays, so that the process which compiled the app's files stays too; made where there is none.
    Nobody is signed in: cookies of this host know no port, so another module's server may have left one.
    """
    context.clear_cookies()
    if (stays := _at(context, PARKED)) is not None:
        return stays
    page = context.new_page()
    page.goto(address + PARKED)
    return page


def _at(context: BrowserContext, place: str) -> Page | None:
    return next((page for page in context.pages if page.url.endswith(place)), None)


def new_tab(context: BrowserContext) -> Page:
    """An empty tab: the one a former test left, or else a fresh one in the process of the tab that stays, if there is
    one. The app's page opens in the first at half the cost. What a test listens to it takes away again (`listening`).
    """
    if (free := _at(context, FREE)) is not None:
        return free
    if (stays := _at(context, PARKED)) is None:
        return context.new_page()
    with stays.expect_popup() as popup:
        stays.evaluate("() => void open('about:blank')")
    return popup.value


@contextmanager
def listening(page: Page, event: Any, told: Callable[..., Any]) -> Iterator[None]:
    """Until the block ends: a tab may serve other tests as well."""
    page.on(event, told)
    yield
    page.remove_listener(event, told)


def put_away(context: BrowserContext, address: str) -> None:
    """A browser that nobody signed in with: no cookie, nothing kept; of the tabs one stays, and one of `new_tab` waits."""
    context.set_offline(False)
    stays, kept = _at(context, PARKED), None
    for page in context.pages:
        if page is stays:
            continue
        if kept is None and page.opener() is stays:
            kept = _emptied(page, address)
        if page is not kept:
            page.close()
    context.clear_cookies()
    # whatever pages there were have written what they wanted to keep by now
    if kept is not None or (kept := _emptied(new_tab(context), address)) is not None:
        kept.evaluate("() => { localStorage.clear(); sessionStorage.clear(); indexedDB.deleteDatabase('calipers'); }")


def _emptied(page: Page, address: str) -> Page | None:
    """The tab without anything of a test's; None where it crashed."""
    try:
        page.unroute_all(behavior="ignoreErrors")
        page.goto(address + FREE)
    except PlaywrightError:
        return None
    page.emulate_media(media="null", color_scheme="null", reduced_motion="null", forced_colors="null")
    if page.viewport_size != VIEWPORT:
        page.set_viewport_size(VIEWPORT)
    page.mouse.move(0, 0)
    return page


def signed_in(page: Page, link: str) -> None:
    """The browser has this invitation's cookie; the page stays where it is, for `goto` costs a whole page."""
    reply = page.request.get(link, max_redirects=0)
    if reply.status == 200:  # somebody else was signed in
        reply = page.request.post(link, headers={"Origin": link.split("/invite/")[0]}, max_redirects=0)
    assert reply.status == 303


def signed_in_instead(page: Page, link: str) -> None:
    """The link is opened where somebody else is signed in, and its button pressed."""
    page.goto(link)
    page.get_by_role("button", name="Sign in as").click()


def answered_by_us(page: Page, place: str, answer: Callable[[Route], Any]) -> None:
    """`answer` takes every request to `place`; returns once it does, for Chromium begins a moment after it is told."""
    page.route(place, answer)
    page.route("**/asked-for-nothing", lambda route: route.fulfill(status=204))
    until(lambda: page.evaluate("() => fetch('/asked-for-nothing').then(({ status }) => status)") == 204)


def saved(page: Page) -> None:
    expect(page.locator(".save")).to_have_text("Saved")


def ready(page: Page) -> None:
    """The item is on screen, and keys act."""
    page.locator('.calipers[data-ready="true"]').wait_for()


def until(condition: Callable[[], Any], seconds: float = PATIENCE) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "did not come true in time"
        time.sleep(0.05)


def settled(page: Page, seen: Callable[[], Any], quiet_ms: float = 300) -> Any:
    """What is seen once it has stayed the same for so long, however late it came."""
    before, now = None, seen()
    ends = time.monotonic() + PATIENCE
    while before != now:
        assert time.monotonic() < ends, f"it never rests: {now}"
        page.wait_for_timeout(quiet_ms)
        before, now = now, seen()
    return now


def middle(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def box_of(page: Page) -> Locator:
    """The rationale of the open criterion."""
    return page.locator(".boxes textarea:visible")


def rows(page: Page) -> list[str]:
    """The list of criteria as a screen reader hears it: label, answer, what is missing."""
    return page.locator(".list .row").evaluate_all("rows => rows.map(row => row.ariaLabel)")


def item_number(page: Page, number: int, of: int) -> None:
    expect(page.locator(".position")).to_have_text(f"Item {number} of {of}")
    ready(page)
