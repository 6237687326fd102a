"""A spoiled file is refused in a sentence with the database as it was, or what came of it may stand there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from app.settings import database
from db.connect import open_database
from tests.fuzz.faults import Faults
from tests.fuzz.hostile import fuzzing
from tests.fuzz.kinds import KINDS
from tests.fuzz.planting import Tree, plant, read_tree, spoiled_trees
from tests.fuzz.stored import everything, fingerprint, wrong
from tests.fuzz.typed import calipers, unfit

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", KINDS)
def test_a_spoiled_file_changes_nothing_or_only_what_it_may(elsewhere: Path, name: str) -> None:
    kind = KINDS[name]
    path, kept = elsewhere / "calipers.db", elsewhere / "kept.db"
    engine = open_database(f"sqlite:///{path}")
    kind.study(engine, elsewhere / "made")
    engine.dispose()
    shutil.copy(path, kept)
    assert wrong(database()) == []
    before = fingerprint(everything(database()))
    valid = read_tree(kind.tree, elsewhere / "valid")

    def bring(tree: Tree) -> Any:
        root = elsewhere / "files"
        shutil.rmtree(root, ignore_errors=True)
        plant(root, tree)
        return calipers(*(word.format(root=root) for word in kind.words))

    def put_back() -> None:
        database().dispose()
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        shutil.copy(kept, path)

    said = bring(valid)
    assert said.code == 0, said
    assert wrong(database()) == []
    put_back()

    faults = Faults()

    @fuzzing(3)
    @given(spoiled_trees(valid, kind.known))
    def spoil(tree: Tree) -> None:
        with faults.of(tree):
            said = bring(tree)
            faults.note(unfit(said, kind.codes), said)
            if fingerprint(everything(database())) != before:
                faults.note(wrong(database()), said)
                put_back()
                faults.note([] if said.code == 0 or name == "ballots" else ["refused, and the database changed"], said)

    spoil()
    assert faults.said() == ""
