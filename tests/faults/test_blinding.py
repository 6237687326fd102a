"""The blinding proof and the hostile reports once more, in a browser before two processes behind nginx on Postgres."""

from __future__ import annotations

import httpx
import pytest

from annotation.people.sign_ins import csrf_token
from tests.browser import conftest as chromium
from tests.browser.blinded import Blind
from tests.browser.test_blinding import (
    blind,
    capture,
    test_a_whole_session_of_an_annotator_shows_no_name_path_number_or_hash,
)
from tests.browser.test_blinding_routes import (
    test_no_route_tells_a_sentinel_to_an_annotator_whatever_is_asked,
    test_nothing_that_reaches_the_page_is_constant_per_report_or_system,
)
from tests.browser.test_hostile_reports import test_no_hostile_report_runs_asks_or_changes_the_page
from tests.machines.fleet import Fleet

__all__ = [
    "blind",
    "capture",
    "test_a_whole_session_of_an_annotator_shows_no_name_path_number_or_hash",
    "test_no_hostile_report_runs_asks_or_changes_the_page",
    "test_no_route_tells_a_sentinel_to_an_annotator_whatever_is_asked",
    "test_nothing_that_reaches_the_page_is_constant_per_report_or_system",
]
pytestmark = [pytest.mark.browser, pytest.mark.nginx]
context = chromium.context


@pytest.fixture(scope="module")
def server(fleet: Fleet) -> Fleet:
    """What these tests call the server is the proxy here."""
    return fleet


def test_an_item_reads_the_same_at_both_processes_and_names_nothing(fleet: Fleet, blind: Blind) -> None:
    with httpx.Client(timeout=30) as http:
        http.get(fleet.link(blind.study_id, "Dan"))
        cookie = http.cookies["calipers"]
        headers = {"Origin": fleet.address, "X-Calipers-Token": csrf_token(cookie)}
        aid = http.post(f"{fleet.address}/api/take", json={}, headers=headers).json()["next"]
        pages = [http.get(f"{server.address}/api/assignment/{aid}") for server in fleet.servers]
    assert [page.status_code for page in pages] == [200, 200]
    assert pages[0].content == pages[1].content
    assert not [word for word in blind.sentinels if word.casefold() in pages[0].text.casefold()]
