"""What the content security policy refused on a page, as the browser itself notes it."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page

from tests.browser.driving import until

WATCH = """
window.refused = [];
document.addEventListener('securitypolicyviolation', e => window.refused.push(`${e.violatedDirective} ${e.blockedURI}`));
"""
# Streamlit's library for 64-bit numbers tries WebAssembly, and goes on without: allowing it would gain us nothing
TOLERATED = "script-src wasm-eval"


def watch(context: BrowserContext | Page, address: str) -> list[str]:
    """From now on every page that is loaded there notes what was refused; the list fills with addresses from elsewhere."""
    elsewhere: list[str] = []
    own = (address, f"blob:{address}", "data:", address.replace("http", "ws", 1))
    context.add_init_script(WATCH)
    context.on("request", lambda asked: None if asked.url.startswith(own) else elsewhere.append(asked.url))
    return elsewhere


def refused(page: Page) -> list[str]:
    """Of the page as it stands. (`wait_for_function` may evaluate texts, which is refused too: wait otherwise.)"""
    found: list[str] = page.evaluate("window.refused")
    return [one for one in found if one != TOLERATED]


def at_rest(page: Page) -> None:
    """No script of Streamlit's is running, and something is on the page."""
    page.locator('.c-page, .c-empty, [data-testid="stHeading"]').first.wait_for(timeout=90_000)
    until(lambda: page.locator('[data-testid="stApp"][data-test-script-state="running"]').count() == 0, 60)
