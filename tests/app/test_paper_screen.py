"""The evaluator's Paper page: the pack as one file, the methods section, and nothing that is still blind."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from annotation.people.links import invite
from annotation.people.principals import local_admin
from annotation.people.sign_ins import sign_in, who
from app.results.pack_files import zipped_pack
from app.results.study_reports import shown_report
from app.screens.results import paper
from app.screens.study import people
from db.connect import reading, transaction
from db.people_tables import Rater
from db.tables import Event, Study
from exports.plots.ranking_figure import ranking_figure
from plain.wording import speaking, worded
from tests.app.drawing import draw_only, drawn, evaluator, html_of, page, shown
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


def owners_page(engine: Engine, study: int) -> AppTest:
    def run(principal):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
        from app.screens.results.paper import show

        show(principal)

    with transaction(engine) as session:
        token = invite(session, local_admin(session.get_one(Study, study)), "Olga", "admin")
        principal = who(session, sign_in(session, token, "::1"))
    return drawn(AppTest.from_function(run, args=(principal,), default_timeout=120).run())


def test_an_owner_makes_bundle_and_dataset_there_and_the_audit_trail_says_who(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_only(monkeypatch, ranking_figure)
    study = make_disputed(engine_here, tmp_path / "reports")
    assert not [one for one in page(engine_here, study, "paper").button if str(one.key).startswith("make_")]
    screen = owners_page(engine_here, study)
    drawn(screen.selectbox(key="methods_in").select("zh_CN").run())
    assert "评判模型与标注者" in shown(screen)
    for kind, mark in (("dataset", "croissant.json"), ("bundle", "SHA256SUMS")):
        drawn(screen.button(key=f"make_{kind}").click().run())
        archive = screen.session_state["export_made"][kind]
        with ZipFile(io.BytesIO(archive)) as packed:
            assert mark in packed.namelist()
            assert ("report/methods.zh-CN.md" in packed.namelist()) == (kind == "bundle")
        assert {"Download the dataset", f"Download the {kind}"} <= {one.label for one in screen.get("download_button")}
    with speaking("zh_CN"):
        assert {worded(paper.READY[kind]) for kind in screen.session_state["export_made"]} == {
            "下载数据集",
            "下载复核包",
        }
    with reading(engine_here) as session:
        owner = replace(local_admin(session.get_one(Study, study)), rater_id=session.scalars(select(Rater.id)).first())
    assert paper._labels(owner).startswith("item_id,")
    assert people._pay_file(lambda _: owner).startswith("name,pseudonym,")
    with reading(engine_here) as session:
        acts = session.execute(select(Event.data, Event.rater_id).where(Event.what == "export")).all()
    kinds = ["dataset", "bundle", "labels", "pay"]
    assert [(data["kind"], rater is not None) for data, rater in acts] == [(kind, True) for kind in kinds]


def test_before_a_reveal_an_owner_makes_neither(engine_here: Engine, tmp_path: Path) -> None:
    screen = owners_page(engine_here, make_disputed(engine_here, tmp_path / "reports", blind_until="closed"))
    assert all(screen.button(key=f"make_{kind}").disabled for kind in ("bundle", "dataset"))
