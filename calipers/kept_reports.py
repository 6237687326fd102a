"""Reports kept on this machine by what they were made of: the same labels, settings and code are computed once.

A file each in the user's cache folder (`CALIPERS_CACHE` names another, or is `off`), which nobody else may write to. It
holds results and names, and no label. Files are put in place whole and the ones used longest ago make room, so that any
number of processes share the folder. What cannot be kept or read is computed, and no error.
"""

import hashlib
import io
import json
import os
import pickle
import platform
import sys
import tempfile
import zlib
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from calibration.calibrate import NOBODY, Waiting, calibrate_with_cascades
from calibration.results import CalibrationReport, CalibrationSettings
from plain.hashes import canonical_sha256, file_sha256, text_sha256

VARIABLE, OFF = "CALIPERS_CACHE", "off"
SUFFIX = ".report"
PART = f"{SUFFIX}.part"  # one that is being written
MOST_BYTES = 256 * 2**20
OURS = "calibration"  # reports are made of its records
ARRAYS = {("numpy", "dtype"), ("numpy._core.numeric", "_frombuffer")}  # how an array of numbers is read
NUMERIC = ("numpy", "scipy", "pandas", "scikit-learn", "krippendorff")
OTHERS_MAY_WRITE = 0o022


def calibrated_or_kept(
    labels: pd.DataFrame,
    settings: CalibrationSettings,
    cascades: Sequence[str] = (),
    only: Collection[str] | None = None,
    waiting: Waiting = NOBODY,
) -> tuple[CalibrationReport, pd.DataFrame]:
    """`calibrate_with_cascades`; the whole report of labels without cascades is read where it is kept, else kept."""
    place = None if cascades or only is not None else place_of(labels, settings)
    known = None if place is None else read_report(place)
    if known is not None:
        return known, labels
    made = calibrate_with_cascades(labels, settings, cascades, only, waiting)
    if place is not None:
        keep_report(place, made[0])
    return made


def place_of(labels: pd.DataFrame, settings: CalibrationSettings) -> Path | None:
    """Where the report of these is kept; None where it is not, or a column holds what has no bytes of its own."""
    folder = cache_folder()
    try:
        return None if folder is None else folder / f"{report_key(labels, settings)}{SUFFIX}"
    except (pa.ArrowException, TypeError, ValueError):
        return None


def cache_folder() -> Path | None:
    """Where reports are kept; None where they are not, because nobody wants it or others could write there too."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen.lower() == OFF:
        return None
    try:
        folder = Path(chosen) if chosen else _of_user() / "calipers"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.stat()
    except (OSError, RuntimeError):  # RuntimeError: a user without a home
        return None
    owned = not hasattr(os, "getuid") or (state.st_uid == os.getuid() and not state.st_mode & OTHERS_MAY_WRITE)
    return folder if owned else None


def _of_user() -> Path:
    """The user's cache folder on this system."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    named = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "")
    return Path(named) if Path(named).is_absolute() else Path.home() / ".cache"


def report_key(labels: pd.DataFrame, settings: CalibrationSettings) -> str:
    """The sha256 of everything a report is made of, as hex."""
    return canonical_sha256([labels_sha256(labels), json.dumps(asdict(settings), sort_keys=True), code_sha256()])


def labels_sha256(labels: pd.DataFrame) -> str:
    """The sha256 of every cell and column name, as hex. Equal tables that are stored otherwise may differ in it."""
    digest = _Digest()
    bare = labels.copy(deep=False)
    bare.attrs = {}  # which say where its rows come from, and are no cells
    table = pa.Table.from_pandas(bare, preserve_index=False).combine_chunks().replace_schema_metadata(None)
    with pa.ipc.new_stream(pa.PythonFile(digest, "w"), table.schema) as stream:
        stream.write_table(table)
    return digest.sha256.hexdigest()


class _Digest(io.RawIOBase):
    """A file that keeps of what is written to it the hash alone."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self.sha256.update(part)
        return len(part)


@cache
def code_sha256() -> str:
    """The sha256 of the code that computes, and of the names of what it computes with."""
    root = Path(__file__).resolve().parents[1]
    files = sorted(path for folder in (OURS, "plain") for path in (root / folder).rglob("*.py"))
    code = [f"{path.relative_to(root).as_posix()} {file_sha256(path)}" for path in (*files, Path(__file__))]
    libraries = [f"{name} {version(name)}" for name in NUMERIC]
    return text_sha256("\n".join([*code, *libraries, platform.python_version(), platform.machine()]))


def read_report(place: Path) -> CalibrationReport | None:
    """The report in a file, which is then the last to make room; None where there is none, or not a whole one."""
    try:
        held = place.read_bytes()
        with suppress(OSError):  # a folder that may only be read
            os.utime(place)
        digest, packed = held[:32], held[32:]
        if hashlib.sha256(packed).digest() != digest:
            return None
        found = _Records(io.BytesIO(zlib.decompress(packed))).load()
    except (OSError, EOFError, ImportError, ValueError, TypeError, pickle.UnpicklingError, zlib.error):
        return None
    return found if isinstance(found, CalibrationReport) else None


class _Records(pickle.Unpickler):
    """Makes records of `calibration` and arrays of numbers, and nothing else that a pickle may ask for."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in ARRAYS:
            return super().find_class(module, name)
        found = getattr(import_module(module), name, None) if module.partition(".")[0] == OURS else None
        if isinstance(found, type) and found.__module__ == module and (is_dataclass(found) or issubclass(found, Enum)):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a report")


def keep_report(place: Path, report: CalibrationReport) -> None:
    """Put the report in its file, whole or not at all, and make room for it."""
    packed = zlib.compress(pickle.dumps(report, protocol=5), level=1)
    part = ""
    try:
        with tempfile.NamedTemporaryFile(dir=place.parent, suffix=PART, delete=False) as file:
            part = file.name
            file.write(hashlib.sha256(packed).digest() + packed)
        Path(part).replace(place)
        make_room(place.parent)
    except OSError:  # a full disk keeps nobody from the report
        with suppress(OSError):
            Path(part).unlink(missing_ok=True)


def make_room(folder: Path, most_bytes: int = MOST_BYTES) -> None:
    """Delete the files used longest ago until the rest takes `most_bytes` at most; another process may delete too."""
    files = []
    for path in folder.iterdir():
        with suppress(OSError):
            if path.name.endswith((SUFFIX, PART)):
                files.append((path.stat().st_mtime, path.stat().st_size, path))
    total = 0
    for _, size, path in sorted(files, reverse=True):
        total += size
        if total > most_bytes:
            with suppress(OSError):
                path.unlink(missing_ok=True)
