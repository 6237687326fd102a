"""Folders, archives and tables that somebody else packed: no way out of them, and none that unpack without end."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import func, select
from typer.testing import CliRunner

from annotation.errors import ImportingError
from annotation.files import rows as parquet_rows
from annotation.files.archives import unpack, write_named
from annotation.files.folders import refuse_ways_out
from annotation.files.rows import read_parquet
from annotation.importing.reports.records import REPORT_MAX
from app.command_line import app
from app.settings import database, settings
from db.connect import reading
from db.tables import Report
from tests.migrated import new_sqlite
from tests.small_study import PROTOCOL, write_reports

SECRET = "zsecret of this machine"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.md").write_text(SECRET)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "tides.md").write_text(SECRET)
    return write_reports(tmp_path / "reports")


def a_file_elsewhere(root: Path) -> None:
    (root / "alpha" / "more.md").symlink_to(root.parent / "secret.md")


def a_folder_elsewhere(root: Path) -> None:
    (root / "delta").symlink_to(root.parent / "elsewhere")


def by_way_of_dots(root: Path) -> None:
    (root / "alpha" / "more.md").symlink_to("../../secret.md")


def by_way_of_another_link(root: Path) -> None:
    (root / "one").symlink_to(root.parent / "elsewhere")
    (root / "alpha" / "more.md").symlink_to("../one/tides.md")


def a_list_elsewhere(root: Path) -> None:
    (root / "topics.csv").unlink(missing_ok=True)
    (root / "topics.csv").symlink_to(root.parent / "secret.md")


def a_pipe(root: Path) -> None:
    os.mkfifo(root / "alpha" / "more.md")


WAYS = (a_file_elsewhere, a_folder_elsewhere, by_way_of_dots, by_way_of_another_link, a_list_elsewhere, a_pipe)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    url = f"sqlite:///{tmp_path}/calipers.db"
    monkeypatch.setenv("CALIPERS_DATABASE_URL", url)
    settings.cache_clear()
    database.cache_clear()
    new_sqlite(tmp_path / "calipers.db")
    (tmp_path / "small.toml").write_text(PROTOCOL)
    runner = CliRunner()
    assert (
        runner.invoke(app, ["init", "small", "--protocol", str(tmp_path / "small.toml"), "--seed", "7"]).exit_code == 0
    )
    yield runner
    database().dispose()
    settings.cache_clear()
    database.cache_clear()


@pytest.mark.parametrize("way", WAYS)
def test_a_way_out_of_an_imported_folder_is_named_and_nothing_of_it_is_read(
    run: CliRunner, folder: Path, way: object
) -> None:
    way(folder)  # type: ignore[operator]
    for command in (["reports", str(folder), "--layout", "folder"], ["judge-results", str(folder), "--layout", "wlc"]):
        refused = run.invoke(app, ["import", *command, "--study", "small"])
        assert refused.exit_code == 1
        said = f"{refused.output} {refused.exception}"
        assert SECRET not in said
        assert "a link that leads out of" in said or "neither a file nor a folder" in said
    with reading(database()) as session:
        assert session.scalar(select(func.count(Report.id))) == 0


def test_links_that_stay_inside_and_a_folder_that_is_one_itself_are_followed(run: CliRunner, folder: Path) -> None:
    (folder / "delta").symlink_to(folder / "alpha")
    named = folder.parent / "named"
    named.symlink_to(folder)
    refuse_ways_out(named)
    done = run.invoke(app, ["import", "reports", str(named), "--layout", "folder", "--study", "small"])
    assert done.exit_code == 0, done.output


def test_a_link_to_nothing_and_a_link_to_itself_are_no_harm(folder: Path) -> None:
    (folder / "alpha" / "none.md").symlink_to("nothing.md")
    (folder / "alpha" / "self.md").symlink_to("self.md")
    refuse_ways_out(folder)


def test_a_report_is_one_document_and_no_disk(run: CliRunner, folder: Path) -> None:
    with (folder / "alpha" / "more.md").open("wb") as file:
        file.truncate(REPORT_MAX + 1)
    refused = run.invoke(app, ["import", "reports", str(folder), "--layout", "folder", "--study", "small"])
    assert refused.exit_code == 1
    assert "over 16 MB" in str(refused.exception)


def test_a_parquet_file_that_unpacks_without_end_is_refused_on_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bomb.parquet"
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 200_000, pa.int32()), pa.array(["x" * 50_000]))
    pq.write_table(pa.table({"text": long}), file, compression="zstd")
    assert file.stat().st_size < 1_000_000, "ten GB of text in a file of some KB"
    monkeypatch.setattr(parquet_rows, "UNPACKED_MAX", 300 << 20)
    before = pa.default_memory_pool().max_memory()
    with pytest.raises(ImportingError, match="300 MB unpacked"):
        read_parquet(file, file.name, [])
    assert pa.default_memory_pool().max_memory() - before < 2 << 30


def test_an_honest_parquet_file_is_read_as_before(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"id": list(range(2_500)), "text": ["a", None, "b", "c", "d"] * 500}), file)
    columns, rows = read_parquet(file, file.name, [])
    assert (columns, len(rows)) == (["id", "text"], 2_500)
    assert (rows[0].values["id"], rows[2_499].values["text"]) == ("0", "d")


def zipped(path: Path, names: dict[str, bytes], links: dict[str, str] | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in names.items():
            archive.writestr(name, content)
        for name, target in (links or {}).items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o120777 << 16
            archive.writestr(entry, target)
    return path


@pytest.mark.parametrize(
    ("names", "links"),
    [
        ({"../out.txt": b"x", "bundle/SHA256SUMS": b""}, {}), ({"/zz-calipers-out.txt": b"x", "SHA256SUMS": b""}, {}),
        ({"b/SHA256SUMS": b"0" * 64 + b"  ../../secret.md\n"}, {}), ({"b/SHA256SUMS": b"0" * 64 + b"  /etc/passwd\n"}, {}),
        ({"SHA256SUMS": b""}, {"labels.csv": "/etc/passwd"}), ({"SHA256SUMS": b"", "big": b"0" * (200 << 20)}, {}),
        ({"SHA256SUMS": b"", **{f"f{n}": b"" for n in range(20_001)}}, {}), ({"C:\\out.txt": b"x", "SHA256SUMS": b""}, {}),
    ],
    ids=["up", "absolute", "sums up", "sums absolute", "link", "bomb", "many", "drive"],
)  # fmt: skip
def test_a_hostile_archive_given_to_verify_writes_nowhere_reads_nothing_else_and_ends(
    tmp_path: Path, names: dict[str, bytes], links: dict[str, str]
) -> None:
    (tmp_path / "secret.md").write_text(SECRET)
    bundle = zipped(tmp_path / "bundle.zip", names, links)
    before = sorted(path.name for path in tmp_path.iterdir())
    refused = CliRunner().invoke(app, ["verify", str(bundle)])
    assert refused.exit_code == 1
    assert SECRET not in refused.output
    assert "root:" not in refused.output
    assert "Traceback" not in refused.output
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert not Path("/zz-calipers-out.txt").exists()


@pytest.mark.parametrize(
    "names",
    [{"../out.md": b"x"}, {"/zz-calipers-out.md": b"x"}, {"C:\\out.md": b"x"}, {"s/../../out.md": b"x"}],
    ids=["up", "absolute", "drive", "down and up"],
)  # fmt: skip
def test_an_uploaded_archive_writes_into_its_own_folder_alone(tmp_path: Path, names: dict[str, bytes]) -> None:
    unpack(zipped(tmp_path / "upload.zip", names, {"s/link.md": "/etc/passwd"}), tmp_path / "files")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["files", "upload.zip"]
    assert not Path("/zz-calipers-out.md").exists()
    assert "root:" not in (tmp_path / "files" / "s" / "link.md").read_text()


@pytest.mark.parametrize(
    "names", [{"s/big.md": b"0" * (200 << 20)}, {f"f{n}": b"" for n in range(10_001)}], ids=["bomb", "many"]
)
def test_an_uploaded_archive_without_end_is_refused_before_anything_is_unpacked(
    tmp_path: Path, names: dict[str, bytes]
) -> None:
    with pytest.raises(ImportingError, match="unpack it yourself if you trust it"):
        unpack(zipped(tmp_path / "upload.zip", names), tmp_path / "files")
    assert not (tmp_path / "files").exists()


@pytest.mark.parametrize(
    "name",
    ["../out.md", "/out.md", "s/../../out.md", "s//out.md", "./out.md", "C:/out.md", "s\\..\\out.md", "s/\0.md", "s/\ud800.md", "", "s" * 300],
)  # fmt: skip
def test_an_uploaded_file_whose_name_leads_elsewhere_is_refused_and_none_beside_it_written(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(ImportingError, match="rename it"):
        write_named([(name, b"x"), ("s/good.md", b"x")], tmp_path / "files")
    assert not list(tmp_path.rglob("*.md"))


def test_what_comes_in_at_once_is_bounded_however_it_comes_and_an_empty_archive_is_said_to_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ImportingError, match="no file in it"):
        unpack(zipped(tmp_path / "empty.zip", {"s/": b""}), tmp_path / "files")
    monkeypatch.setattr("annotation.files.archives.MOST_BYTES", 5)
    with pytest.raises(ImportingError, match="2 files of 6 bytes; unpack it yourself"):
        unpack(zipped(tmp_path / "upload.zip", {"a.md": b"abc", "b.md": b"abc"}), tmp_path / "files")
    with pytest.raises(ImportingError, match="6 bytes; at most 5 come in at once"):
        write_named([("s/a.md", b"abc"), ("s/b.md", b"abc")], tmp_path / "files")
    assert not (tmp_path / "files").exists()


def test_two_uploaded_files_are_never_one(tmp_path: Path) -> None:
    for names in (("s/a.md", "s/a.md"), ("s/a.md", "s/a.md/b.md")):
        with pytest.raises(ImportingError, match="rename it"):
            write_named([(name, b"x") for name in names], tmp_path / str(len(names[1])))


def test_other_archives_are_no_bundle(tmp_path: Path) -> None:
    shutil.make_archive(str(tmp_path / "bundle"), "gztar", write_reports(tmp_path / "r"))
    refused = CliRunner().invoke(app, ["verify", str(tmp_path / "bundle.tar.gz")])
    assert (refused.exit_code, "Traceback" in refused.output) == (1, False)
