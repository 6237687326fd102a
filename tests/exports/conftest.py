"""One bundle for all who forge it, and figures drawn once for all who look at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.exports.bundled import computed_once, made_labels, make_bundle


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A bundle that nobody may change, and its root."""
    folder = tmp_path_factory.mktemp("bundles") / "published"
    return folder, make_bundle(folder, made_labels())


@pytest.fixture(scope="module")
def quick_verify() -> Iterator[None]:
    with computed_once():
        yield


@pytest.fixture(scope="module")
def figures_of(request: pytest.FixtureRequest, reports: Any) -> Callable[[str, float], list[Any]]:
    """By `reports` and `DRAW` of the file: a study's figures at a width, drawn once for all who look at them."""

    @cache
    def drawn(name: str, width: float) -> list[Any]:
        return [figure for draw in request.module.DRAW if (figure := draw(reports[name], width)) is not None]

    return drawn
