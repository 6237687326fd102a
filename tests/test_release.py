"""What a release carries: everything the program reads is in the wheel, and version, changelog and citation agree."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("app", "annotation", "calibration", "calipers", "db", "exports", "plain")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZipFile]:
    """The wheel of this tree, built by hatchling without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    (path,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with ZipFile(path) as opened:
        yield opened


def test_the_wheel_holds_every_file_of_the_packages_and_nothing_else(wheel: ZipFile) -> None:
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file())
    kept = {path.relative_to(ROOT).as_posix() for path in files if not {"__pycache__"} & set(path.parts)}
    assert held == {name for name in kept if not name.endswith((".db", ".db-wal", ".db-shm", ".pyc"))}


@pytest.mark.parametrize(
    "needed",
    [
        *(f"{package}/py.typed" for package in PACKAGES),
        "annotation/protocols/wlc_writing_39.toml",
        "annotation/judges/asking/templates/pairwise_choice.txt",
        "app/component/annotate.js",
        "app/component/annotate.css",
        "app/demo/reports/atlas/lighthouse_lamps.md",
        "app/demo/story.toml",
        "app/texts/en.toml",
        "db/migrations/versions/0001_first_schema.py",
        "exports/references.bib",
    ],
)
def test_what_the_program_reads_beside_its_code_is_in_the_wheel(wheel: ZipFile, needed: str) -> None:
    assert needed in wheel.namelist()


def test_the_wheel_says_its_name_version_licence_and_command(wheel: ZipFile) -> None:
    (folder,) = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    assert folder == f"calipers-{PROJECT['version']}.dist-info"
    assert "calipers = calipers.__main__:main" in wheel.read(f"{folder}/entry_points.txt").decode()
    assert "Classifier: Typing :: Typed" in wheel.read(f"{folder}/METADATA").decode()
    assert f"{folder}/licenses/LICENSE" in wheel.namelist()


def test_version_changelog_and_citation_agree() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.findall(r"^## \[(\d\S*)\] - (\S+)$", changes, re.MULTILINE)[0]
    assert newest == (PROJECT["version"], str(cited["date-released"]))
    begun = Counter(re.findall(r"^- .{1,60}", changes, re.MULTILINE))
    assert [entry for entry, often in begun.items() if often > 1] == [], "joining two branches keeps both wordings"
    assert cited["version"] == PROJECT["version"]
    assert cited["license"] == PROJECT["license"]


def test_the_citation_has_what_its_format_asks_for() -> None:
    # Citation File Format 1.2.0: these four are required, and an author has a name or a family name
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert cited["message"]
    assert cited["title"]
    assert all("name" in one or "family-names" in one for one in cited["authors"])
