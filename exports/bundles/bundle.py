"""A bundle: what a reviewer needs to compute every number of a paper again, under one root hash.

`SHA256SUMS` lists every file, in the form that `sha256sum -c` reads; its own sha256 is the root, over inputs and
results alike.
"""

import json
import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import distribution, version
from importlib.resources import files as package_files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Any

from exports.bundles.recomputing import Inputs, inputs_json
from exports.errors import ExportError
from plain.hashes import file_sha256

FORMAT = "calipers-bundle/1"
ABOUT, SUMS, INPUTS, FACTS, LABELS, HISTORY, PLAN, PRINTED = (
    "bundle.json", "SHA256SUMS", "inputs.json", "facts.json", "labels.csv", "label-history.jsonl", "plan.json",
    "report",
)  # fmt: skip
NEEDED = (
    "babel", "fonttools", "jinja2", "markdown-it-py", "markupsafe", "matplotlib", "numpy", "pandas", "pyarrow",
    "scikit-learn", "scipy", "threadpoolctl",
)  # fmt: skip
CODE = ("plain", "calibration", "exports")
LINE = re.compile(r"([0-9a-f]{64})  (.+)")
CHUNK = 1 << 20

SCRIPT = '''"""Compute every number of this bundle's tables again, from its labels and with its own code.

    python -m venv ../venv && ../venv/bin/pip install -r requirements.txt && ../venv/bin/python recompute.py
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# what was compiled before may be of other code, and nothing is added to the bundle
sys.dont_write_bytecode, sys.pycache_prefix = True, str(HERE / ".nothing")
sys.path.insert(0, str(HERE / "code"))

from exports.bundles.verifying import describe, verify  # noqa: E402  (from the bundle's own code)

found = verify(HERE)
print("\\n".join(describe(found)))
sys.exit(0 if found.holds else 1)
'''

README = """# {title}

Labels, settings and results of one calibration of LLM judges against annotators, written by calipers {calipers}.

- `labels.csv`: one row for each label, pseudonymous; `inputs.json`: every setting beside it
- `facts.json`: what else the methods paragraph says about the study
- `report/`: tables, figures, methods paragraph and one page of them all (`report.html`)
- `label-history.jsonl`: every revision of every label, but of work that was taken out; each row holds the sha256 of the
  one before it in its assignment
- `plan.json`: what was to be asked, of which texts, in which order; its canonical JSON has the sha256 `plan_root`
- `code/`, `recompute.py`, `requirements.txt`: what computed the numbers, and computes them again
- `SHA256SUMS`: the sha256 of every other file. Its own sha256 is the root of this bundle: compare it with the one that
  was published

Files that a study lacks (a bare labels file has no history and no plan) are not there.

    sha256sum -c SHA256SUMS && sha256sum SHA256SUMS
    python -m venv ../venv && ../venv/bin/pip install -r requirements.txt && ../venv/bin/python recompute.py

With calipers installed, `calipers verify . --root ROOT` does both and runs nothing that the bundle brought.
"""


def write_bundle(
    folder: Path,
    inputs: Inputs,
    write_labels: Callable[[Path], None],
    printed: Mapping[str, bytes],
    beside: Mapping[str, str],
    history: Iterable[Mapping[str, Any]] | None = None,
    advance: Callable[[int, int], None] = lambda done, of: None,
) -> str:
    """Fill the empty `folder` and return the bundle's root.

    `printed`: the files of the paper pack; `beside`: further texts by name, such as plan.json; `history`: label rows,
    chained already, taken one by one. `advance(done, 0)` counts them.
    """
    about = {
        "format": FORMAT,
        "plan_root": inputs.data.get("plan_root"),
        "versions": {"calipers": version("calipers"), "python": platform.python_version()}
        | {name: version(name) for name in NEEDED},
    }
    texts = {
        ABOUT: json.dumps(about, indent=2) + "\n",
        INPUTS: inputs_json(inputs),
        "README.md": README.format(title="A calipers bundle", calipers=version("calipers")),
        "recompute.py": SCRIPT,
        "code/LICENSE": distribution("calipers").read_text("licenses/LICENSE") or "",
        "requirements.txt": "".join(f"{name}=={version(name)}\n" for name in NEEDED),
        **beside,
    }
    write_labels(folder / LABELS)
    for name, content in (*code(), *((f"{PRINTED}/{name}", content) for name, content in printed.items())):
        _write(folder / name, content)
    for name, text in texts.items():
        _write(folder / name, text.encode())
    if history is not None:
        with (folder / HISTORY).open("w", encoding="utf-8") as out:
            for done, row in enumerate(history, start=1):
                out.write(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n")
                if done % 10_000 == 0:
                    advance(done, 0)
    sums = "".join(f"{file_sha256(path)}  {name}\n" for name, path in sorted(listed(folder).items()))
    _write(folder / SUMS, sums.encode())
    return root_of(folder)


def root_of(folder: Path) -> str:
    """The sha256 of SHA256SUMS. Raises ExportError `no_bundle` where there is none."""
    if (folder / SUMS).is_symlink() or not (folder / SUMS).is_file():
        raise ExportError("no_bundle", f"{folder}: no {SUMS} in it; give the folder of a bundle")
    return file_sha256(folder / SUMS)


def read_sums(folder: Path) -> dict[str, str]:
    """Path to sha256, as SHA256SUMS says. Raises ExportError `no_bundle` for a line that is none."""
    root_of(folder)
    found: dict[str, str] = {}
    for number, line in enumerate((folder / SUMS).read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        read = LINE.fullmatch(line)
        path = PurePosixPath(read[2]) if read else None
        if read is None or path is None or path.is_absolute() or ".." in path.parts:
            raise ExportError("no_bundle", f"{folder / SUMS}:{number}: not a sha256 and a path inside the bundle")
        if read[2] in found:
            raise ExportError("no_bundle", f"{folder / SUMS}:{number}: lists a path for the second time")
        found[read[2]] = read[1]
    return found


def listed(folder: Path) -> dict[str, Path]:
    """Every file of the bundle but SHA256SUMS, by its path with slashes. Links are no part of it: see `strays`."""
    return {
        name: folder / name for name, entry in _entries(folder) if entry.is_file(follow_symlinks=False) and name != SUMS
    }


def strays(folder: Path) -> list[str]:
    """Links, pipes and the like, which no bundle has: what they lead to is not what was hashed."""
    return sorted(
        name
        for name, entry in _entries(folder)
        if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False))
    )


def _entries(folder: Path, within: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """What lies in a folder and below, by its path with slashes; links are not followed."""
    try:
        entries = list(os.scandir(folder / within))
    except PermissionError:
        return  # its files are missing, then
    for entry in entries:
        yield f"{within}{entry.name}", entry
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(folder, f"{within}{entry.name}/")


def code() -> Iterator[tuple[str, bytes]]:
    """The pure half of calipers, as it computed the numbers."""
    for package in CODE:
        yield from _sources(package_files(package), f"code/{package}")


def _sources(folder: Traversable, where: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _sources(entry, f"{where}/{entry.name}")
        elif entry.is_file() and not entry.name.endswith(".pyc"):
            yield f"{where}/{entry.name}", entry.read_bytes()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
