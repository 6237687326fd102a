"""One bundle for all who forge it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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
