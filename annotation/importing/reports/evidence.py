"""The files that a task gave with it, which raters have beside each report: a text for each topic."""

import re
from collections.abc import Collection
from contextlib import suppress
from fnmatch import fnmatch
from os.path import normpath
from pathlib import Path
from urllib.parse import quote, unquote

from sqlalchemy import orm, select

from annotation.designs.pairing import EVIDENCE
from annotation.documents.shown_files import PICTURES, shown_file
from annotation.errors import AnnotationError, FigureError, ImportingError
from annotation.figures.pictures import encoded
from annotation.files.decoding import collecting, nfc, some_of
from annotation.files.folders import match
from annotation.importing.reports.records import REPORT_MAX, Parsed, ReportRecord, SystemRecord
from annotation.studies import protocol_of
from annotation.texts.spans import code_zones
from db.tables import Item, Study, System, Topic
from plain.wording import Sentence

SYSTEM = SystemRecord(EVIDENCE, EVIDENCE, is_reference=True)  # a name that no text holds
NAMED, LONGEST = 10, 80  # pictures that a note names, and characters of one that can be no file
BARE = str.maketrans("[]", "()")  # what would end a picture's words
_BESIDE = re.compile(r"(!\[[^\[\]\n]*\]\()(?![a-z][a-z\d+.-]*:|[/<])([^()\s]+)", re.IGNORECASE)
DATASETS = "datasets*"  # other folders beside it may be systems, and what they hold for a topic is a report


def topics_to_show(session: orm.Session, study: Study) -> set[str]:
    """The topics that evidence may be shown on. Raises AnnotationError where the protocol shows none, or items were
    made without it."""
    if protocol_of(study).answers.paired_view != "evidence":
        raise AnnotationError(
            "no_evidence", f"study {study.name!r} shows no evidence: its protocol has to rate or compare reports with "
            'answers.paired_view = "evidence" (sources of claims come with calipers import probes)',
        )  # fmt: skip
    has_evidence = select(System.id).where(System.study_id == study.id, System.key == SYSTEM.key).exists()
    without = select(Item.id).where(Item.study_id == study.id, ~has_evidence).limit(1)
    if session.scalar(without) is not None:
        raise AnnotationError(
            "late_evidence", f"study {study.name!r} has items already, which show no evidence; make a new study of it"
        )
    return set(session.scalars(select(Topic.key).where(Topic.study_id == study.id)))


def read_evidence(
    root: Path, topics: Collection[str], leave_out: Collection[str] = (), encoding: str = "utf-8"
) -> Parsed:
    """A text for each topic that has a folder called like it in `root`, or in a folder `datasets*` of it.

    Each file is a section under its name, in the order of names, whole, a picture as one; those that fit a pattern of
    `leave_out`, and hidden ones, are none. Problems are among what is returned; raises ImportingError where no folder
    is a topic's.
    """
    folders = [*_folders(root), *(inner for outer in _folders(root, DATASETS) for inner in _folders(outer))]
    found: dict[str, list[Path]] = {}
    for folder in folders:
        if (topic := match(nfc(folder.name), topics)) is not None:
            found.setdefault(topic, []).append(folder)
    if not found:
        raise ImportingError(
            f"{root}: no folder is called like a topic (folders: {some_of([one.name for one in folders], 5) or 'none'};"
            f" topics: {some_of(sorted(topics), 5)}); give the folder that holds TOPIC/FILE"
        )
    problems, unseen, reports = list[str](), list[str](), list[ReportRecord]()
    for topic, places in sorted(found.items()):
        sections = []
        for path in sorted(file for place in places for file in place.rglob("*") if file.is_file()):
            shown = path.relative_to(root).as_posix()
            if any(part.startswith(".") for part in shown.split("/")) or any(
                fnmatch(shown, one) or fnmatch(path.name, one) for one in leave_out
            ):
                continue
            picture = _picture(path, shown)
            with collecting(problems):
                text = picture or _seen_from(root, path.parent, shown_file(path, path.name, encoding).strip(), unseen)
                sections.append(f"## {path.name}\n\n{text}\n")
            unseen += [shown] if path.suffix.lower() in PICTURES and not picture else []
        text = "\n".join(sections)
        if len(text) > REPORT_MAX:
            problems.append(f"{topic}: its files are more than {REPORT_MAX >> 20} MB of text; --leave-out the longest")
        if sections:
            reports.append(ReportRecord(topic, SYSTEM.key, places[0].as_posix(), text.encode(), text, "utf-8"))
    lacking = sorted({*topics} - {report.topic for report in reports})
    notes = []
    if lacking:
        notes.append(Sentence(
            "topics without evidence {lacking}: {some}", lacking=len(lacking), some=some_of(lacking, NAMED),
        ))  # fmt: skip
    if unseen:
        notes.append(Sentence(
            "pictures that are named and not shown {unseen}: {some}", unseen=len(unseen), some=some_of(unseen, NAMED),
        ))  # fmt: skip
    return Parsed((), (SYSTEM,), tuple(reports), tuple(problems), notes=tuple(notes))


def _picture(path: Path, shown: str) -> str:
    """A picture as Markdown names it, by its address below the folder that is read; "" for what is none to be shown."""
    try:
        if path.suffix.lower() not in PICTURES or not encoded(path.read_bytes()).data:
            return ""
    except FigureError:
        return ""
    return f"![{path.name.translate(BARE)}, a picture]({quote(shown)})"


def _seen_from(root: Path, folder: Path, text: str, unseen: list[str]) -> str:
    """A file's text, with the pictures it names at their address below `root`; those not there are `unseen`.

    What stands in code, and an address that no file can have here, such as one with a query, stay as they are.
    """
    codes = code_zones(text)

    def moved(found: re.Match[str]) -> str:
        if any(start <= found.start() < end for start, end in codes):
            return found[0]
        with suppress(ValueError, OSError):  # outside the folder, or too long for a name
            place = normpath((folder / unquote(found[2])).relative_to(root))
            is_there = (root / place).is_file()
            if is_there or "?" not in found[2]:
                unseen.extend([place] * (not is_there))
                return f"{found[1]}{quote(place)}"
        unseen.append(found[2][:LONGEST])
        return found[0]

    return _BESIDE.sub(moved, text)


def _folders(path: Path, pattern: str = "*") -> list[Path]:
    return sorted(entry for entry in path.glob(pattern) if entry.is_dir() and not entry.name.startswith("."))
