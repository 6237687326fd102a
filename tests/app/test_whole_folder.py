"""A folder is written whole or not at all, and what somebody else keeps in it is never lost."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from annotation.errors import AnnotationError
from app.files.whole_files import whole_folder

MARK, OURS = "bundle.json", '{"format": "calipers-bundle/1"}'


def export(out: Path, text: str = "new") -> None:
    with whole_folder(out, MARK) as folder:
        (folder / MARK).write_text(OURS)
        (folder / "labels.csv").write_text(text)


def an_earlier_one(out: Path) -> Path:
    export(out, "earlier")
    return out


def holds(out: Path) -> str:
    return (out / "labels.csv").read_text()


@pytest.mark.parametrize("name", ["new", "deep/er/new", "new/", "../{here}/new", "n" * 200, "名 with blank"])
def test_a_new_folder_is_made_wherever_it_is(tmp_path: Path, name: str) -> None:
    out = tmp_path / name.format(here=tmp_path.name)
    export(out)
    assert holds(out) == "new"
    assert not list(tmp_path.glob(".*"))


def test_an_earlier_export_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    out = an_earlier_one(tmp_path / "out")
    (out / "stale").write_text("x")
    export(out)
    assert {path.name for path in out.iterdir()} == {MARK, "labels.csv"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_folder_that_one_stands_in_can_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = an_earlier_one(tmp_path / "out")
    monkeypatch.chdir(out)
    export(Path())
    assert holds(out) == "new"


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    out = an_earlier_one(tmp_path / "out")
    (tmp_path / "link").symlink_to(out)
    export(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert holds(out) == "new"


@pytest.mark.parametrize(
    "files",
    [
        {"thesis.tex": "x"},
        {MARK: '{"entry": "of a web page"}', "main.js": "x"},
        {MARK: OURS, ".git/config": "x"},
    ],
)
def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / name).write_text(text)
    with pytest.raises(AnnotationError, match="holds something else"):
        export(tmp_path / "mine")
    assert {name: (tmp_path / "mine" / name).read_text() for name in files} == files


@pytest.mark.parametrize("out", ["/", "/dev/null"])
def test_what_is_no_folder_of_anybody_is_refused(out: str) -> None:
    with pytest.raises(AnnotationError, match="give a new folder"):
        export(Path(out))


def test_work_that_came_into_the_folder_meanwhile_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(AnnotationError, match="holds something else"), whole_folder(out, MARK):
        out.mkdir()
        (out / "thesis.tex").write_text("x")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (out / "thesis.tex").read_text() == "x"


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), OSError("disk"), KeyboardInterrupt(), ValueError("x")]
)
def test_an_error_leaves_the_earlier_export_and_no_other_folder(tmp_path: Path, error: BaseException) -> None:
    out = an_earlier_one(tmp_path / "out")
    expected = AnnotationError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected) as refused, whole_folder(out, MARK) as folder:
        (folder / "labels.csv").write_text("half")
        raise error
    assert holds(out) == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    if isinstance(error, OSError):
        assert "out: " in str(refused.value)
        assert "nothing was written there" in str(refused.value)


def test_an_earlier_export_comes_back_when_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, rename = an_earlier_one(tmp_path / "out"), Path.rename

    def failing(path: Path, target: Path) -> Path:
        if path.name == "made":
            raise OSError(errno.EIO, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(AnnotationError, match="Input/output error"):
        export(out)
    assert holds(out) == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_of_two_exports_at_once_the_last_one_stands_whole(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with whole_folder(out, MARK) as slow:
        (slow / MARK).write_text(OURS)
        (slow / "labels.csv").write_text("slow")
        export(out, "quick")
        assert holds(out) == "quick"
    assert holds(out) == "slow"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
