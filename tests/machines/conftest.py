"""Two processes behind nginx on one Postgres, for a whole file of tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import conftest as chromium
from tests.conftest import new_postgres
from tests.machines.fleet import Fleet

browser, warm = chromium.browser, chromium.warm


@pytest.fixture
def url(postgres: Any) -> Iterator[str]:
    """A new Postgres: what several machines share."""
    with new_postgres(postgres) as url:
        yield url


@pytest.fixture
def processes() -> Iterator[list[Any]]:
    """What is appended here does not outlive the test."""
    started: list[Any] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def fleet(postgres: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with new_postgres(postgres) as url:
        fleet = Fleet(tmp_path_factory.mktemp("fleet"), url)
        try:
            fleet.start()
            yield fleet
        finally:
            fleet.stop()
