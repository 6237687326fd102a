"""`calipers verify`: a root that is none is wrong use, a .zip that is none or a bomb is refused, in one sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from app.command_line import main

Typed = Callable[..., str]


@pytest.fixture
def calipers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    def run(*words: str, exit_code: int) -> str:
        monkeypatch.setattr(sys, "argv", ["calipers", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == exit_code
        return " ".join(capsys.readouterr().err.split())

    return run


@pytest.mark.parametrize("root", ["", " ", "abc", "0" * 63, "0" * 65, "g" * 64, "٠" * 64])
def test_a_root_that_is_none_is_wrong_use(calipers: Typed, tmp_path: Path, root: str) -> None:
    assert "64 hexadecimal" in calipers("verify", str(tmp_path), "--root", root, exit_code=2)


@pytest.mark.parametrize("root", ["AB" * 32, f" {'ab' * 32}\n"])
def test_a_root_may_be_in_capitals_and_pasted_with_blanks(calipers: Typed, tmp_path: Path, root: str) -> None:
    assert "no SHA256SUMS in it" in calipers("verify", str(tmp_path), "--root", root, exit_code=1)


def a_zip(path: Path, **files: bytes) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_a_zip_bomb_is_not_unpacked(calipers: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.files.archives.SMALL", 1_000)
    bomb = a_zip(tmp_path / "bomb.zip", SHA256SUMS=b"0" * 1_000_000)
    assert "files of 1,000,000 bytes" in calipers("verify", str(bomb), exit_code=1)


def test_a_zip_of_many_files_is_not_unpacked(calipers: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.files.archives.MOST_FILES", 2)
    many = a_zip(tmp_path / "many.zip", a=b"", b=b"", c=b"")
    assert "3 files" in calipers("verify", str(many), exit_code=1)


def test_a_zip_that_leads_outside_stays_inside(calipers: Typed, tmp_path: Path) -> None:
    slip = a_zip(tmp_path / "slip.zip", **{"../outside": b"x", "/outside": b"x", "SHA256SUMS": b"x"})
    assert "not a sha256 and a path inside the bundle" in calipers("verify", str(slip), exit_code=1)
    assert [path.name for path in tmp_path.iterdir()] == ["slip.zip"]


def damaged(place: int, byte: int) -> Callable[[bytes], bytes]:
    return lambda content: content[:place] + bytes([byte]) + content[place + 1 :]


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:30],
        lambda content: b"not a zip",
        lambda content: b"",
        lambda content: damaged(content.index(b"PK\x01\x02") + 8, 1)(damaged(6, 1)(content)),  # locked by a password
        lambda content: damaged(content.index(b"PK\x01\x02") + 10, 99)(
            damaged(8, 99)(content)
        ),  # packed in no known way
        damaged(41, 255),
    ],
)
def test_a_damaged_zip_is_refused(calipers: Typed, tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    path = a_zip(tmp_path / "x.zip", SHA256SUMS=b"some text that is packed " * 9)
    path.write_bytes(change(path.read_bytes()))
    assert "x.zip: no bundle" in calipers("verify", str(path), exit_code=1)


def test_a_zip_without_a_bundle_is_named_itself(calipers: Typed, tmp_path: Path) -> None:
    path = a_zip(tmp_path / "x.zip", readme=b"x")
    assert f"{path}: no SHA256SUMS in it" in calipers("verify", str(path), exit_code=1)
