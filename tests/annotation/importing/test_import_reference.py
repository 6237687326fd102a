"""The reference of a folder may be named after its reports came in, until items were made without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from annotation.errors import ImportingError
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.people.principals import local_admin
from annotation.studies import init_study
from db.connect import reading, transaction
from db.tables import System, Topic
from tests.small_study import PROTOCOL, make_study, write_reports

MARKED = "system,is_reference\nalpha,\nbeta,yes\ngamma,\n"


def bring_in(engine: Engine, root: Path, study: str) -> None:
    with transaction(engine) as session:
        admin = local_admin(init_study(session, study, PROTOCOL, 7))
        import_reports(session, admin, read_folder(root), layout="folder", source=str(root))


def references(engine: Engine) -> list[str]:
    with reading(engine) as session:
        return list(session.scalars(select(System.key).where(System.is_reference)))


def test_the_reference_may_be_named_later_and_stays_named(engine: Engine, tmp_path: Path) -> None:
    root = write_reports(tmp_path)
    bring_in(engine, root, "late")
    assert references(engine) == []
    (root / "systems.csv").write_text(MARKED)
    bring_in(engine, root, "late")
    assert references(engine) == ["beta"]
    (root / "systems.csv").unlink()
    bring_in(engine, root, "late")
    assert references(engine) == ["beta"]


@pytest.mark.databases("sqlite")
def test_once_items_are_made_a_new_reference_is_refused(engine: Engine, tmp_path: Path) -> None:
    root = tmp_path / "reports"
    make_study(engine, root, name="late")
    (root / "systems.csv").write_text(MARKED)
    with pytest.raises(ImportingError, match=r"^beta: marked as the reference after items were made"):
        bring_in(engine, root, "late")
    assert references(engine) == []


def test_a_topic_without_a_language_has_the_protocols_and_one_told_otherwise_later_stays_and_is_said(
    engine: Engine, tmp_path: Path
) -> None:
    root = write_reports(tmp_path / "reports")
    with transaction(engine) as session:
        study = init_study(session, "zhong", PROTOCOL.replace('title = "A', 'language = "zh"\ntitle = "A'), 1)
        admin = local_admin(study)
        import_reports(session, admin, read_folder(root), layout="folder", source="here")
        assert set(session.scalars(select(Topic.language).where(Topic.study_id == study.id))) == {"zh"}
        again = import_reports(session, admin, read_folder(root), layout="folder", source="here")
        assert not any("otherwise" in note for note in again.notes)
        (root / "topics.csv").write_text("topic,title,language\ntides,The tides,\nbread,bread,en\nnoise,noise,\n")
        third = import_reports(session, admin, read_folder(root), layout="folder", source="here")
        stays = {
            f"topics told otherwise than before, {one}" for one in ("title stays 1 (tides)", "language stays 1 (bread)")
        }
        assert stays <= {*third.notes}
        assert session.scalar(select(Topic.title).where(Topic.key == "tides", Topic.study_id == study.id)) == "tides"
