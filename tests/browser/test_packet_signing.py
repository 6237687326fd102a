"""What a packet's page signs without a server: canonical JSON and HMAC, as Python has them."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

from plain.hashes import canonical
from tests.test_canonical_json import VALUES

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def signing(browser: Browser) -> Iterator[Page]:
    """A page that holds the parts which sign, and nothing else."""
    folder = Path(__file__).resolve().parents[2] / "app" / "component"
    page = browser.new_page()
    for part in ("hmac.js", "ballot.js"):
        page.add_script_tag(content=(folder / part).read_text(encoding="utf-8"))
    yield page
    page.close()


@given(VALUES)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_canonical_json_is_the_same_text_in_the_browser(signing: Page, value: Any) -> None:
    told = canonical(value)
    assert signing.evaluate("text => canonical(JSON.parse(text))", told.decode()) == told.decode()


@given(st.binary(max_size=100), st.binary(max_size=300))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_browser_signs_as_hashlib_does(signing: Page, key: bytes, content: bytes) -> None:
    signed = signing.evaluate("([key, content]) => hmac(fromHex(key), fromHex(content))", [key.hex(), content.hex()])
    assert signed == hmac.new(key, content, "sha256").hexdigest()


# RFC 4231, test cases 1, 2, 3 and 6
@pytest.mark.parametrize(("key", "content", "signed"), [
    ("0b" * 20, b"Hi There".hex(), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (b"Jefe".hex(), b"what do ya want for nothing?".hex(), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    ("aa" * 20, "dd" * 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    ("aa" * 131, b"Test Using Larger Than Block-Size Key - Hash Key First".hex(),
     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
])  # fmt: skip
def test_the_browser_signs_as_the_standard_says(signing: Page, key: str, content: str, signed: str) -> None:
    assert signing.evaluate("([key, content]) => hmac(fromHex(key), fromHex(content))", [key, content]) == signed
