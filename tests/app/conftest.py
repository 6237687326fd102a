"""A database of its own for screens and routes that run in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from sqlalchemy import Engine

from app.command_line import main
from app.settings import database, settings
from tests.app.drawing import draw_only
from tests.app.visiting import ORIGIN, Site
from tests.calibrated_once import calibrate_once
from tests.small_study import make_study

Shell = Callable[..., str]


@pytest.fixture(scope="module", autouse=True)
def same_labels_are_calibrated_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        calibrate_once(patch)
        yield


@pytest.fixture(scope="module", autouse=True)
def no_packages_are_searched_for_components() -> Iterator[None]:
    """For each screen AppTest reads what every installed package says of itself; ours are registered by our code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("streamlit.components.v2.manifest_scanner.scan_component_manifests", list)
        yield


@pytest.fixture
def engine_here(migrated_sqlite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    path = tmp_path / "calipers.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{path}")
    settings.cache_clear()
    database.cache_clear()
    st.cache_data.clear()  # kept by study, and another test's study has the same number
    yield database()
    database().dispose()
    settings.cache_clear()
    database.cache_clear()


@pytest.fixture
def typed(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """`calipers WORDS` in a folder and database of their own: its output, or its refusal where it ends with another
    code than 0.
    """

    def run(*words: str, exit_code: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["calipers", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert (ended.value.code or 0) == exit_code, said
        return said.out if exit_code == 0 else said.err

    monkeypatch.chdir(tmp_path)
    return run


@pytest.fixture
def site(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Our routes over a small study with two slots an item, on each kind of database."""
    monkeypatch.setenv("CALIPERS_DATABASE_URL", database_url)
    monkeypatch.setenv("CALIPERS_BASE_URL", ORIGIN)
    settings.cache_clear()
    database.cache_clear()
    yield Site(make_study(database(), tmp_path, overlap=2))
    database().dispose()
    settings.cache_clear()
    database.cache_clear()


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packs without figures."""
    draw_only(monkeypatch)
