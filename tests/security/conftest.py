"""The app's routes in this process, a real server, and a real Chromium, as the other folders of tests have them."""

from collections.abc import Iterator

import pytest

from tests.app.conftest import engine_here, site  # noqa: F401
from tests.browser.conftest import Server, browser, context, serving, study_id, warm  # noqa: F401


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """For this folder alone: attackers leave marks that others would meet."""
    with serving(tmp_path_factory.mktemp("server")) as server:
        yield server
