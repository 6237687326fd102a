"""Files that came together, as a .zip or by name from a browser: into a folder, never out of it, and not too many."""

import lzma
import re
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from annotation.errors import ImportingError
from plain.wording import worded

# more files than this, or more bytes and many times its own, are no archive but a bomb
MOST_FILES, SMALL, MOST_TIMES = 10_000, 100_000_000, 100
MOST_BYTES = 1_000_000_000  # of one upload on the disk, whatever it was packed into
UNFIT = re.compile(r"[\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")
DAMAGED = (OSError, BadZipFile, RuntimeError, EOFError, ValueError, zlib.error, lzma.LZMAError)  # of reading a .zip
FOR_MAC = "__MACOSX"  # what macOS packs beside the files


def unpack(archive: Path, into: Path) -> None:
    """Raises ImportingError with the reason alone: it is no archive, damaged or locked, empty, or unpacks without
    end.
    """
    try:
        with ZipFile(archive) as packed:
            entries = packed.infolist()
            size = sum(entry.file_size for entry in entries)
            if all(entry.is_dir() for entry in entries):
                raise BadZipFile("no file in it")
            most = min(MOST_BYTES, max(SMALL, MOST_TIMES * archive.stat().st_size))
            if len(entries) > MOST_FILES or size > most:
                told = "{files:,} files of {size:,} bytes; unpack it yourself if you trust it"
                raise BadZipFile(worded(told, files=len(entries), size=size))
            packed.extractall(into)
    except DAMAGED as error:
        raise ImportingError(worded(str(error))) from None


def write_named(files: Sequence[tuple[str, bytes]], into: Path) -> None:
    """Write files that a browser named by their place in a folder. Raises ImportingError, before any is written, where
    a name leads out of `into`, two are one, or there are too many.
    """
    if len(files) > MOST_FILES:
        raise ImportingError(
            "{files:,} files; at most {most_files:,} come in at once", files=len(files), most_files=MOST_FILES
        )
    if (size := sum(len(content) for _, content in files)) > MOST_BYTES:
        raise ImportingError("{size:,} bytes; at most {most_bytes:,} come in at once", size=size, most_bytes=MOST_BYTES)
    outside = [name for name, _ in files if not _is_inside(name)]
    problems = [worded("{name!r:.200}: no name of a file in a folder; rename it", name=name) for name in outside]
    if problems:
        raise ImportingError(problems)
    try:
        for name, content in files:
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            with (into / name).open("xb") as file:
                file.write(content)
    except OSError as error:
        raise ImportingError("{name!r:.200}: {strerror}; rename it", name=name, strerror=error.strerror) from None


def _is_inside(name: str) -> bool:
    parts = name.split("/")
    return not ({"", ".", ".."} & set(parts) or ":" in parts[0] or UNFIT.search(name))


def top_of(folder: Path) -> Path:
    """The folder that holds the rest: `folder`, or the only one in it where that holds folders too."""
    inside = list(_visible(folder.iterdir()))
    if len(inside) == 1 and inside[0].is_dir() and any(one.is_dir() for one in _visible(inside[0].iterdir())):
        return inside[0]
    return folder


def _visible(entries: Iterable[Path]) -> Iterable[Path]:
    return (one for one in entries if not one.name.startswith(".") and one.name != FOR_MAC)
