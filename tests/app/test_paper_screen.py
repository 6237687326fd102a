"""The evaluator's Paper page: the pack as one file, the methods section, and nothing that is still blind."""

from __future__ import annotations

import io
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from app.results.pack_files import zipped_pack
from app.results.study_reports import shown_report
from exports.plots.ranking_figure import ranking_figure
from tests.app.drawing import draw_only, evaluator, html_of, page, shown
from tests.disputed_study import SYSTEMS, make_disputed


def labels_button(screen: AppTest) -> bool:
    """Whether labels.csv can be downloaded."""
    (button,) = [one for one in screen.get("download_button") if one.proto.label == "Download labels.csv"]
    return not button.proto.disabled


def test_the_page_offers_the_pack_and_shows_what_the_methods_section_says(engine_here: Engine, tmp_path: Path) -> None:
    screen = page(engine_here, make_disputed(engine_here, tmp_path / "reports"), "paper")
    words = " ".join(html_of(screen))
    assert "Two annotators handed in" in words
    assert "Left for you to state" in words
    assert "Cohen 1960" in words
    assert "Root of the plan" in words
    assert labels_button(screen)


def test_before_a_reveal_neither_page_nor_pack_names_a_system(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_only(monkeypatch, ranking_figure)  # which names systems, where it may
    study = make_disputed(engine_here, tmp_path / "reports", blind_until="closed")
    screen = page(engine_here, study, "paper")
    assert not labels_button(screen)
    assert "once the study is closed or revealed" in shown(screen)
    assert not any(name in shown(screen) for name in SYSTEMS)
    packed = zipped_pack(shown_report(engine_here, evaluator(engine_here, study)[0]), ("wlc",))
    with ZipFile(io.BytesIO(packed)) as archive:
        names = {*archive.namelist()}
        assert {
            "agreement.tex",
            "report.html",
            "methods.tex",
            "references.bib",
            "preset_wlc.md",
            "ranking.svg",
        } <= names
        for name in names:
            assert not any(system.encode() in archive.read(name) for system in SYSTEMS), name
