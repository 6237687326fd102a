"""The paper pack of a report as files, in a folder or in one archive."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from app.results.reporting import Calibrated
from app.results.sources import facts_about
from exports.forms import escaped
from exports.pack import brief_pack, methods_file, pack, write_pack
from plain.counting import counted

BEGINNING = (1980, 1, 1, 0, 0, 0)  # of zip files' time: the same pack gives the same bytes


def write_report(
    found: Calibrated,
    out: Path,
    presets: Sequence[str] = (),
    advance: Callable[[int, int], None] = lambda done, of: None,
    *,
    brief: bool = False,
    language: str | None = None,
) -> list[Path]:
    """The paper pack in `out`, or what one reads first of it (`brief`); returns the files written.

    `language`: as of `methods_file`.
    """
    facts = facts_about(found.study, found.examples)
    files = brief_pack(found.report, facts) if brief else pack(found.report, found.verdicts, facts, presets, advance)
    if found.to_give_away and "index.md" in files:
        listed = without_people(found.to_give_away, found.report.labels.annotators)
        files["index.md"] += ("\nWhat was read\n\n" + "".join(f"- {escaped(one)}\n" for one in listed)).encode()
    return write_pack(files | methods_file(language, found.report, facts), out)


def without_people(lines: Sequence[str], people: Sequence[str]) -> list[str]:
    """What was read of each column, but where a person is named, which is counted: a pack may be given away."""
    named = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in people) or "$^")
    kept = [one for one in lines if not named.search(one)]
    hidden = len(lines) - len(kept)
    return kept + [f"{counted(hidden, 'column')} under a person's name"] * bool(hidden)


def zipped_pack(found: Calibrated, presets: Sequence[str] = (), language: str | None = None) -> bytes:
    """The paper pack as one file."""
    facts = facts_about(found.study, found.examples)
    return _zipped(pack(found.report, found.verdicts, facts, presets) | methods_file(language, found.report, facts))


def zipped_folder(folder: Path) -> bytes:
    """Every file of it as one file."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return _zipped({path.relative_to(folder).as_posix(): path.read_bytes() for path in files})


def _zipped(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(ZipInfo(name, BEGINNING), content, ZIP_DEFLATED)
    return out.getvalue()
