"""A spoiled bundle, as a folder and as a .zip, is told in a sentence. To make one takes long: with CALIPERS_FUZZ only."""

from __future__ import annotations

import hashlib
import io
import shutil
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exports.toy_studies import wlc_study
from tests.fuzz.faults import Faults
from tests.fuzz.hostile import EXAMPLES, fuzzing, spoiled
from tests.fuzz.planting import Tree, plant, spoiled_trees
from tests.fuzz.trees import as_frame, rows_of
from tests.fuzz.typed import calipers, unfit

pytestmark = pytest.mark.slow


def summed(tree: Tree) -> Tree:
    """With the sums of the files as they are now: what somebody sends who wants a spoiled bundle to be looked into."""
    lines = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in sorted(tree.items())
        if name != "SHA256SUMS"
    )
    return tree | {"SHA256SUMS": lines.encode("utf-8", "surrogateescape")}


def spoil_bundles(elsewhere: Path) -> None:
    as_frame(rows_of(wlc_study()), "labels.csv")(elsewhere / "valid")
    assert calipers("export", "bundle", elsewhere / "valid/labels.csv", "--out", elsewhere / "bundle").code == 0
    whole = {
        path.relative_to(elsewhere / "bundle").as_posix(): path.read_bytes()
        for path in sorted((elsewhere / "bundle").rglob("*"))
        if path.is_file()
    }
    read = {
        name: content
        for name, content in whole.items()
        if not name.startswith("code/") and name.rpartition(".")[2] not in ("png", "pdf", "svg")
    }
    root, faults = elsewhere / "files", Faults()

    @fuzzing(3, 0.1)
    @given(
        spoiled_trees(read),
        st.booleans(),
        st.sampled_from(("../out", "/abs", "a\\b", "..", "x/../../y", "", "SHA256SUMS")),
        st.data(),
    )
    def verify(tree: Tree, zipped: bool, slip: str, data: st.DataObject) -> None:
        shutil.rmtree(root, ignore_errors=True)
        tree = summed(whole | tree) if data.draw(st.booleans()) else whole | tree
        with faults.of({name: content for name, content in tree.items() if whole.get(name) != content}):
            if zipped:
                root.mkdir()
                out = io.BytesIO()
                with zipfile.ZipFile(out, "w") as archive:
                    for name, content in tree.items():
                        archive.writestr(name.encode("utf-8", "replace").decode(), content)
                    archive.writestr(slip or "empty", b"x")
                content = out.getvalue()
                (root / "b.zip").write_bytes(data.draw(spoiled(content)) if data.draw(st.booleans()) else content)
            else:
                plant(root, tree)
            said = calipers("verify", root / "b.zip" if zipped else root)
            faults.note(unfit(said), said)
            faults.note(
                []
                if sorted(path.name for path in root.parent.iterdir()) == around
                else ["something was unpacked outside"],
                said,
            )

    around = sorted({path.name for path in elsewhere.iterdir()} | {"files"})
    verify()
    assert faults.said() == ""


if EXAMPLES:

    def test_a_spoiled_bundle_is_told_in_a_sentence(elsewhere: Path) -> None:
        spoil_bundles(elsewhere)
