"""How little travels: the page's own code once in a browser's life, Streamlit's compressed."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Route

from tests.browser.conftest import Server
from tests.browser.driving import ready
from tests.browser.wire import Wire

FIRST, AGAIN = 1_500_000, 60_000  # bytes, HTTP and websocket


def test_the_first_load_is_compressed_and_the_second_sends_the_component_not_again(
    own_context: BrowserContext, server: Server, study_id: int
) -> None:
    page = own_context.new_page()
    wire = Wire(own_context, page)
    page.goto(server.link(study_id, "Ada"))
    ready(page)
    [component] = [path for path in wire.by_path if "/page/annotate." in path]
    assert wire.all < FIRST, wire.by_path.most_common(5)
    assert 0 < wire.by_path[component] < 100_000
    wire.begin()
    page.reload()
    ready(page)
    assert wire.all < AGAIN, (wire.frames, wire.by_path.most_common(5))
    assert wire.by_path[component] == 0
    assert not wire.deflates, "a frame may hold a token beside words of an address"


def test_a_component_that_does_not_arrive_at_first_is_asked_for_again(
    own_context: BrowserContext, server: Server, study_id: int
) -> None:
    asked = []

    def lose_the_first(route: Route) -> None:
        asked.append(route.request.url)
        route.abort() if len(asked) == 1 else route.continue_()

    page = own_context.new_page()
    page.route("**/page/annotate.*", lose_the_first)
    page.goto(server.link(study_id, "Ada"))
    ready(page)
    assert len(asked) == 2
