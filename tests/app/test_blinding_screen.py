"""The owner decides on the blinding page, and what was decided is there when it is drawn again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from annotation.facts.study_facts import keep_audit
from annotation.people.principals import Principal, local_admin
from annotation.shown_texts.auditing import audit_study
from app.results.kept import Kept
from app.screens import waiting
from app.settings import database, settings
from db.connect import reading, transaction
from db.tables import Report, Study
from tests.annotation.result_trees import bring_results, labels_file
from tests.app.drawing import html_of
from tests.app.drawing import page as evaluators_page
from tests.small_study import PROTOCOL, make_study, report_by, write_reports


@pytest.fixture
def page(
    migrated_sqlite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[AppTest, Engine, int]]:
    """The page of a study in which one report says who wrote it."""
    path = tmp_path / "calipers.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{path}")
    settings.cache_clear()
    database.cache_clear()
    study_id = make_study(database(), tmp_path / "reports")
    with transaction(database()) as session:
        report = report_by(session, local_admin(session.get_one(Study, study_id)), "tides", "beta")
        report.shown_text = "I am Atlas. Tides rise."
        report.flags = [
            {"start": 5, "end": 10, "kind": "system", "text": "Atlas", "resolution": None},
            {"start": 12, "end": 17, "kind": "search", "text": "Tides", "resolution": None},
        ]
        report.open_flags = 2

    def run(principal):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
        from app.screens.study import blinding

        blinding.show(principal)

    principal = Principal(study_id, "admin")
    yield AppTest.from_function(run, args=(principal,), default_timeout=60).run(), database(), report.id
    database().dispose()
    settings.cache_clear()
    database.cache_clear()


def the(engine: Engine, report_id: int) -> Report:
    with reading(engine) as session:
        return session.get_one(Report, report_id)


def test_a_flag_is_kept_or_masked_by_a_button(
    page: tuple[AppTest, Engine, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen, engine, report_id = page
    assert not screen.exception
    with reading(engine) as session:
        before = audit_study(session, local_admin(session.get_one(Study, session.get_one(Report, report_id).study_id)))
    words = "".join(html_of(screen))
    # nobody waits for the audit
    assert words.index("2 passages wait for a decision") < words.index("Reading every report")
    # what is no name cannot be masked
    assert [button.label for button in screen.button][:5] == ["Keep", "Mask", "Exclude", "Keep", "Exclude"]
    for label in ("Mask", "Keep"):
        next(button for button in screen.button if button.label == label).click()
        screen.run()
        assert not screen.exception
    assert the(engine, report_id).shown_text == "I am [system]. Tides rise."
    assert the(engine, report_id).open_flags == 0
    assert not [button for button in screen.button if button.label in ("Mask", "Keep")]
    screen.selectbox[0].select(report_id).run()
    assert "Changed by hand: mask system<" in "".join(html_of(screen))
    for is_current in (True, False):  # a large study's page shows what was found before until it is made anew
        found = Kept(before, is_current, (0,), None, not is_current)
        monkeypatch.setattr(waiting, "computed", lambda *_, found=found, **__: found)
        words = "".join(html_of(screen.run()))
        assert ("Not blind yet" in words) is is_current
        assert "By system" in words


def test_the_plain_text_stands_beside_the_original_with_what_was_made_alike(
    migrated_sqlite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plain.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{path}")
    settings.cache_clear()
    database.cache_clear()
    folder = write_reports(tmp_path / "reports")
    marked = next(folder.glob("beta/tides.*"))
    marked.write_text("# Tides\n\n1. The **moon** pulls.\n2. Water _rises_ — twice.\n", encoding="utf-8")
    plain = PROTOCOL.replace("[study]", '[study]\nlayout = "plain"')
    study_id = make_study(database(), folder, protocol=plain)
    with reading(database()) as session:
        report = report_by(session, local_admin(session.get_one(Study, study_id)), "tides", "beta")
        shown = report.shown_text
    assert "The moon pulls. Water rises – twice." in shown

    def run(principal):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
        from app.screens.study import blinding

        blinding.show(principal)

    screen = AppTest.from_function(run, args=(Principal(study_id, "admin"),), default_timeout=60).run()
    screen.selectbox[0].select(report.id).run()
    words = "".join(html_of(screen))
    assert words.index("The **moon** pulls.") < words.index("The moon pulls.")
    assert "Made alike: emphasis 4, list numbers 2, list sentences 2, dashes 1, paragraphs 1, title 1." in words
    database().dispose()
    settings.cache_clear()
    database.cache_clear()


def test_a_text_is_changed_only_with_a_reason(page: tuple[AppTest, Engine, int]) -> None:
    screen, engine, report_id = page
    screen.selectbox[0].select(report_id).run()
    for reason, shown in (("", "I am Atlas. Tides rise."), ("it was cut off", "Tides rise, and fall.")):
        screen.text_area[0].set_value("Tides rise, and fall.")
        screen.text_input[0].set_value(reason)
        next(button for button in screen.button if button.label == "Show this text instead").click()
        screen.run()
        assert not screen.exception
        assert the(engine, report_id).shown_text == shown


def test_texts_beside_labels_made_elsewhere_are_not_audited(engine_here: Engine, tmp_path: Path) -> None:
    study = make_study(engine_here, tmp_path / "reports", overlap=0)
    bring_results(engine_here, study, labels_file(tmp_path / "labels.csv", [{}]), "labels")
    words = "".join(html_of(evaluators_page(engine_here, study, "blinding")))
    assert "There are no reports here to audit: all labels were made elsewhere" in words
    assert "raters saw no system names" not in words
    assert "By system" not in words
    with transaction(engine_here) as session:
        kept = session.get_one(Study, study)
        found = audit_study(session, local_admin(kept))
        assert "raters saw no system names" in found.sentence
        assert keep_audit(session, kept, found)["sentence"] == "", "no methods paragraph claims it"
