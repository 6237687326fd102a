"""A bundle: its numbers hold when untouched, every change is named, and a root that was published cannot be faked."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from calibration.results import CalibrationSettings
from exports.bundles.bundle import SUMS, read_sums
from exports.bundles.recomputing import Inputs, inputs_json, read_inputs
from exports.bundles.verifying import changed_files, describe, verify
from exports.errors import ExportError
from tests.exports.bundled import DRAWN, HOSTILE, INPUTS, edit, made_labels, make_bundle, seal_again

IMPORTED = re.compile(r"^ *(?:import|from(?= \S+ import )) (\w+)", re.MULTILINE)
GOLDEN = Path(__file__).resolve().parents[1] / "golden"
pytestmark = pytest.mark.usefixtures("quick_verify")


@pytest.fixture
def copy(published: tuple[Path, str], tmp_path: Path) -> Path:
    return Path(shutil.copytree(published[0], tmp_path / "copy"))


def with_one_label_changed(text: str) -> str:
    lines = text.split("\n")
    place = next(place for place, line in enumerate(lines) if line.startswith("item-00004,mini,judge,clear,"))
    old = lines[place].split(",")[4]
    lines[place] = lines[place].replace(f",clear,{old},", f",clear,{'B' if old == 'A' else 'A'},")
    return "\n".join(lines)


def test_every_number_of_an_untouched_bundle_holds(published: tuple[Path, str]) -> None:
    folder, root = published
    found = verify(folder, root)
    assert found.holds
    assert found.is_published
    assert found.recomputed is not None
    assert found.recomputed.held > 500
    assert found.recomputed.tables >= 6
    assert list(describe(found))[-1] == "the bundle published under this root, and its numbers hold"


def test_without_a_root_a_bundle_is_only_consistent_with_itself(published: tuple[Path, str]) -> None:
    said = "\n".join(describe(verify(published[0])))
    assert "consistent with itself" in said
    assert "unchanged" not in said


def test_one_changed_label_names_its_file_its_history_and_the_numbers_that_moved(
    copy: Path, published: tuple[Path, str]
) -> None:
    edit(copy, "labels.csv", with_one_label_changed)
    found = verify(copy)
    assert found.changed == ("labels.csv",)
    assert not found.holds
    assert found.recomputed is not None
    moved = {(one.table, one.place) for one in found.recomputed.moved}
    assert any(table == "agreement" and place.endswith("mini") for table, place in moved)
    assert not any(table == "annotators" for table, _ in moved)
    assert all(one.printed != one.recomputed for one in found.recomputed.moved)
    assert any("item-00004 by mini" in text for text in found.broken)

    seal_again(copy)
    again = verify(copy, published[1])
    assert not again.changed
    assert not again.holds
    assert list(describe(again))[-1].startswith("refused: this is not the bundle published under root")


@pytest.mark.slow
def test_a_bundle_made_anew_from_changed_labels_is_consistent_but_not_the_published_one(
    published: tuple[Path, str], tmp_path: Path
) -> None:
    labels = made_labels()
    labels.loc[0, "label"] = {"A": "B", "B": "A"}[labels.loc[0, "label"]]
    make_bundle(tmp_path / "forged", labels)
    assert verify(tmp_path / "forged").holds
    assert not verify(tmp_path / "forged", published[1]).holds


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("report/agreement.json", lambda text: text.replace('"value": 0.', '"value": 0.1', 1)),
        ("report/agreement.tex", lambda text: text.replace(".9", ".8", 1)),
        ("report/calibration-report.json", lambda text: text.replace('"n": ', '"n": 1', 1)),
        ("inputs.json", lambda text: text.replace('"margin": 0.05', '"margin": 0.2')),
        ("inputs.json", lambda text: text.replace("mini then nan", "nan then mini")),
        ("label-history.jsonl", lambda text: text.replace('"label": "tie"', '"label": "A"', 1)),
        ("label-history.jsonl", lambda text: "\n".join(text.splitlines()[:-1]) + "\n"),
        ("facts.json", lambda text: text.replace('"annotators": 3', '"annotators": 5')),
        ("plan.json", lambda text: text.replace("[]", "[1]", 1)),
        ("labels.csv", lambda text: ""),
    ],
)
def test_a_change_is_found_even_when_the_sums_are_made_again(
    copy: Path, name: str, change: Callable[[str], str]
) -> None:
    edit(copy, name, change)
    assert changed_files(copy)[0] == (name,)
    seal_again(copy)
    found = verify(copy)
    assert not found.changed
    assert not found.is_consistent
    assert list(describe(found))[-1] == "refused: this bundle contradicts itself"


def test_missing_and_added_files_are_named(copy: Path, published: tuple[Path, str]) -> None:
    (copy / "report" / "bias.tex").unlink()
    (copy / "report" / "extra.tex").write_text("x", encoding="utf-8")
    found = verify(copy, published[1])
    assert found.missing == ("report/bias.tex",)
    assert found.added == ("report/extra.tex",)
    assert found.recomputed is not None
    assert {*found.recomputed.otherwise} == {"bias.tex", "extra.tex"}


def test_code_and_figures_are_under_the_root(copy: Path, published: tuple[Path, str]) -> None:
    for name in ("code/calibration/metrics.py", "report/agreement.svg", "requirements.txt"):
        assert name in read_sums(published[0])
    edit(copy, "code/calibration/metrics.py", lambda text: text + "\n")
    seal_again(copy)
    assert verify(copy).holds  # nothing of the bundle is run, so the numbers are those of this calipers
    assert not verify(copy, published[1]).holds


@pytest.mark.parametrize("line", ["x", f"{'0' * 64}  ../outside", f"{'0' * 64}  /etc/passwd"])
def test_sums_that_point_outside_are_refused(copy: Path, line: str) -> None:
    (copy / SUMS).write_text(line + "\n", encoding="utf-8")
    with pytest.raises(ExportError, match=r"SHA256SUMS:1: not a sha256 and a path inside the bundle"):
        verify(copy)


def test_a_folder_that_is_no_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="no SHA256SUMS"):
        verify(tmp_path)


@pytest.mark.slow
def test_the_script_computes_every_number_with_the_bundles_own_code(copy: Path) -> None:
    shadow = copy / "code" / "exports" / "bundles" / "verifying.py"
    edit(
        copy,
        "code/exports/bundles/verifying.py",
        lambda text: text.replace("consistent with itself", "from the bundle"),
    )
    edit(copy, "code/exports/pack.py", lambda text: f"{text}\n\nFIGURES = dict(list(FIGURES.items())[:{len(DRAWN)}])\n")
    seal_again(copy)
    run = [sys.executable, "-I", str(copy / "recompute.py")]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=copy.parent)
    assert done.returncode == 0, done.stderr
    assert "numbers hold to the last printed digit" in done.stdout
    assert "from the bundle" in done.stdout, shadow
    assert verify(copy).holds  # what Python compiled meanwhile is no part of it


def test_the_requirements_name_every_package_that_the_code_imports(published: tuple[Path, str]) -> None:
    told = (path.read_text(encoding="utf-8") for path in (published[0] / "code").rglob("*.py"))
    imported = {name for text in told for name in IMPORTED.findall(text)}
    known = packages_distributions()
    needed = {
        known[name][0].lower() for name in imported - {"calibration", "exports", "plain"} - sys.stdlib_module_names
    }
    named = {line.partition("==")[0] for line in (published[0] / "requirements.txt").read_text().split()}
    assert named == needed


def test_the_sums_are_in_the_form_of_sha256sum(published: tuple[Path, str]) -> None:
    done = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", SUMS], cwd=published[0], check=False)
    assert done.returncode == 0


def test_inputs_come_back_as_they_were() -> None:
    inputs = Inputs(
        CalibrationSettings(scales={"clear": ("1", "2", "10")}, scale_ends={"deep": (0, 0.1)}, families={HOSTILE: "x"},
                            margin=0.1 + 0.2 - 0.2),
        ("mini then a person",), ("wlc",), {"plan_root": "0" * 64},
    )  # fmt: skip
    assert read_inputs(inputs_json(inputs)) == inputs


def test_the_inputs_are_written_in_the_form_that_was_published() -> None:
    assert inputs_json(INPUTS) == (GOLDEN / "inputs.json").read_text(encoding="utf-8")


def test_the_code_carries_its_license(published: tuple[Path, str]) -> None:
    assert (published[0] / "code" / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
