"""The one sentence of the design: db <- annotation <- app -> exports -> calibration, held by walking every file."""

from __future__ import annotations

import ast
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("app", "annotation", "calibration", "db", "exports")
MAY_IMPORT = {
    "db": set(),
    "calibration": set(),
    "annotation": {"db"},
    "exports": {"calibration"},
    "app": {"annotation", "calibration", "db", "exports"},
}
# library -> where it may be imported
ONLY_IN = {
    "streamlit": ("app/",),
    "litellm": ("annotation/judges/client.py",),
    "sqlalchemy": ("db/", "annotation/", "app/"),
    "scipy": ("calibration/", "annotation/planning/quotas.py"),
    "sklearn": ("calibration/", "annotation/blinding.py", "annotation/passages.py"),
    "krippendorff": ("calibration/",),
    "matplotlib": ("exports/",),
    "starlette": ("app/",),
    "typer": ("app/",),
}
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Top-level names of every import in the file, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write the whole name"
            names.add((node.module or "").split(".")[0])
    return names


def test_every_import_follows_the_map() -> None:
    for path in FILES:
        where = path.relative_to(ROOT).as_posix()
        names = imported(path)
        folder = where.split("/")[0]
        assert (names & set(FOLDERS)) - {folder} <= MAY_IMPORT[folder], where
        for library, allowed in ONLY_IN.items():
            assert library not in names or where.startswith(allowed), f"{where} imports {library}"


def test_the_walk_sees_the_whole_tree() -> None:
    assert len(FILES) > 40, "the walk found too few files to mean anything"


@pytest.mark.parametrize("name", FOLDERS)
def test_no_file_in_app_shadows_a_package(name: str) -> None:
    # Streamlit puts app/ first on the import path, where such a file silently replaces the package
    assert not (ROOT / "app" / f"{name}.py").exists()
    assert not (ROOT / "app" / name).exists()


def test_no_file_is_named_after_nothing() -> None:
    vague = {"utils", "helpers", "core", "manager", "base", "common", "misc"}
    assert [path for path in FILES if path.stem in vague] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_folder_opens_with_a_paragraph_and_hands_nothing_on(folder: str) -> None:
    tree = ast.parse((ROOT / folder / "__init__.py").read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    assert [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)] == []


def test_litellm_is_not_imported_before_the_first_call_nor_matplotlib_before_the_first_figure() -> None:
    modules = sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in FILES
        if "migrations" not in path.parts and path.name not in ("__init__.py", "shell.py", "main.py")
    )
    code = (
        f"import sys, importlib\nfor m in {modules!r}: importlib.import_module(m)\n"
        "assert not {'litellm', 'matplotlib'} & {*sys.modules}"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_litellm_pth_file_stands_in_site_packages() -> None:
    # 1.82.8 carried a credential stealer in one
    assert list(Path(sysconfig.get_path("purelib")).glob("litellm*.pth")) == []


def test_the_lock_names_no_host() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    assert not any(line.startswith("-") for line in lock.splitlines())


def test_both_folders_that_write_for_spreadsheets_do_it_alike() -> None:
    one, other = (
        (ROOT / folder / "spreadsheets.py").read_text(encoding="utf-8") for folder in ("annotation", "exports")
    )
    assert one.partition("from __future__")[2] == other.partition("from __future__")[2]
