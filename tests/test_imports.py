"""The one sentence of the design: db <- annotation <- app -> exports -> calibration, all above plain; every file is walked.

`calipers`, the notebook's interface, stands on calibration, exports and what annotation reads files with; the command
begins there too.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.calibration.studies import made_pairs

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("app", "annotation", "calibration", "calipers", "db", "exports", "plain")
MAY_IMPORT = {
    "plain": set(),
    "db": {"plain"},
    "calibration": {"plain"},
    "annotation": {"db", "plain"},
    "exports": {"calibration", "plain"},
    "calipers": {"annotation", "calibration", "exports", "plain"},
    "app": {"annotation", "calibration", "calipers", "db", "exports", "plain"},
}
COMMAND = "calipers/__main__.py"  # where the command begins, which runs app
# library -> where it may be imported
ONLY_IN = {
    "streamlit": ("app/",),
    "litellm": ("annotation/judges/asking/client.py",),
    "sqlalchemy": ("db/", "annotation/", "app/"),
    "gepa": ("annotation/judges/aligning/search.py",),
    "tomlkit": ("app/screens/study/protocol_form.py", "app/commands/judges/align.py"),
    "latex2mathml": ("annotation/formulas.py", "annotation/documents/printed_formulas/tex_signs.py"),
    "pypandoc": ("annotation/documents/",),
    "scipy": ("calibration/", "annotation/open_work/quotas.py"),
    "sklearn": ("calibration/", "annotation/leaks/system_classifier.py", "annotation/passages.py"),
    "krippendorff": ("calibration/",),
    "matplotlib": ("exports/", "calipers/notebook.py"),  # there for its types
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
        names = imported(path) - ({"app"} if where == COMMAND else set())
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


READERS = (
    "annotation.files.", "annotation.errors", "annotation.tool_answers.", "annotation.published_answers.",
    "annotation.answer_layouts",
)  # fmt: skip


def test_the_notebook_takes_of_annotation_what_reads_files_and_nothing_else() -> None:
    taken = {
        node.module or ""
        for path in (ROOT / "calipers").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("annotation")
    }
    assert [name for name in taken if not name.startswith(READERS)] == []


def test_a_notebook_loads_neither_the_app_nor_the_database_and_a_command_about_a_file_no_database(
    tmp_path: Path,
) -> None:
    made_pairs().to_csv(tmp_path / "labels.csv", index=False)
    code = (
        "import sys, calipers\n"
        "assert not {'pandas', 'calibration'} & {*sys.modules}, 'the command needs none of it'\n"
        "labels = calipers.read('labels.csv', resamples=99)\n"
        "labels.check(), labels.agreement(), labels.choose(), labels.plot()\n"
        "assert not {'app', 'db', 'sqlalchemy', 'streamlit', 'typer'} & {*sys.modules}\n"
        "from app.command_line import run\n"
        "assert run(['calibrate', 'labels.csv', '--resamples', '99', '--out', 'report', '--brief']) == 0\n"
        "assert run(['doctor', 'labels.csv']) == 0\n"
        "no_need = {'db.connect', 'db.tables', 'sqlalchemy', 'streamlit', 'annotation.protocol', 'scipy.stats', 'sklearn'}\n"
        "assert not no_need & {*sys.modules}, no_need & {*sys.modules}"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# the notebook's own opens with the names it has
@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if folder != "calipers"])
def test_each_folder_opens_with_a_paragraph_and_hands_nothing_on(folder: str) -> None:
    tree = ast.parse((ROOT / folder / "__init__.py").read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    assert [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)] == []


def test_scipy_litellm_and_matplotlib_are_imported_only_where_they_are_needed() -> None:
    modules = sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in FILES
        if "migrations" not in path.parts
        and path.name not in ("__init__.py", "__main__.py", "shell.py", "file_shell.py", "main.py")
    )
    code = (
        "import sys, importlib, app.server.api, app.screens.annotators.label, app.screens.annotators.my_work\n"
        "assert 'scipy' not in sys.modules\n"
        f"for m in {modules!r}: importlib.import_module(m)\n"
        "assert not {'litellm', 'matplotlib'} & {*sys.modules}"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_litellm_pth_file_stands_in_site_packages() -> None:
    # 1.82.8 carried a credential stealer in one
    assert list(Path(sysconfig.get_path("purelib")).glob("litellm*.pth")) == []


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-test.lock", "requirements-uv.lock"])
def test_the_lock_names_no_host(name: str) -> None:
    lock = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in lock
    assert not any(line.startswith("-") for line in lock.splitlines())
