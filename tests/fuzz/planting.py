"""A tree of files on disk, and how it is spoiled: its files, and their names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.hostile import TEXTS, mutated_file

Tree = dict[str, bytes]


def read_tree(make: Callable[[Path], Any], root: Path) -> Tree:
    """What `make` puts below `root`."""
    root.mkdir()
    make(root)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def plant(root: Path, tree: Tree) -> None:
    """The files on disk; a name that the file system refuses is left out."""
    root.mkdir()
    for name, content in tree.items():
        try:
            path = os.path.join(os.fsencode(root), name.encode("utf-8", "surrogateescape"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
        except (OSError, ValueError):
            continue


ODD_NAMES = (
    *(text for text in TEXTS if text.strip("./") and not {"\0", "\ud800"} & set(text)),
    "\udcff", "-rf", "CON", "a" * 250, ".hidden",
)  # fmt: skip


@st.composite
def spoiled_trees(draw: st.DrawFn, valid: Tree, known: tuple[Any, ...] = ()) -> Tree:
    """One or two files changed, and sometimes one that is gone, twice, or has another name."""
    tree = dict(valid)
    for _ in range(draw(st.sampled_from((1, 1, 2)))):
        name = draw(st.sampled_from(sorted(tree)))
        tree[name] = draw(mutated_file(name.rpartition("/")[2], tree[name], known))
    if len(tree) > 1 and draw(st.integers(0, 3)) == 0:
        name = draw(st.sampled_from(sorted(tree)))
        how = draw(st.sampled_from(("gone", "renamed", "twice", "folder")))
        content = tree[name] if how == "twice" else tree.pop(name)
        if how in ("renamed", "twice"):
            steps = name.split("/")
            at = draw(st.integers(0, len(steps) - 1))
            suffix = f".{steps[at].rpartition('.')[2]}" if draw(st.booleans()) and "." in steps[at] else ""
            steps[at] = draw(st.sampled_from(ODD_NAMES)).replace("/", "_") + suffix
            tree["/".join(steps)] = content
        elif how == "folder":
            tree[f"{name}/inside"] = content
    return tree
