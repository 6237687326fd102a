"""Layout `wlc`: a Wiki Live Challenge tree (arXiv 2602.01590). Reads md_data: json_data lost its headings."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from annotation.documents.reading import SUFFIXES as DOCUMENTS
from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting, nfc
from annotation.files.folders import match
from annotation.files.rows import read_json, read_json_rows, read_rows
from annotation.importing.reports import records
from plain.wording import Sentence, worded

REFERENCE = records.SystemRecord("wikipedia", "Wikipedia", is_reference=True)
SUFFIX = ".md"
SUFFIXES = (SUFFIX, *DOCUMENTS)
TITLE_COLUMNS = ("title", "category")
FACTS, ENDING = Path("wiki_data/cleaned_data/statement"), "_statements.json"
STATEMENTS = "statements"  # the feature of a topic


def read_wlc(root: Path, encoding: str = "utf-8") -> records.Parsed:
    """Agents' articles and the human ones beside them; problems are collected so that all are seen at once."""
    articles, registry = _places(root)
    systems, disabled = _agencies(registry, encoding)
    rows, asked, said = _features(root, encoding), _questions(root, encoding), _statements(root, encoding)
    problems: list[str] = []
    fallback: list[str] = []
    reports = _read_all(articles, root, REFERENCE.key, encoding, problems)
    keys = {report.topic for report in reports}
    topics = [_topic(key, rows, asked, said, fallback) for key in sorted(keys)]
    for system in systems:
        reports += _on_topics(_read_system(root, system.key, encoding, problems), keys, problems, fallback)
    problems += records.duplicate_keys(reports)
    absent = [system.key for system in systems if not _folder(root, system.key).is_dir()]
    if absent and len(absent) == len(systems):
        problems.append("test_data: no folder AGENCY/md_data of any agency in agencies.json; restore the original tree")
    names = [report.path.rpartition("/")[2] for report in reports]
    return records.Parsed(
        topics=tuple(topics),
        systems=(REFERENCE, *systems),
        reports=tuple(reports),
        problems=tuple(problems),
        ignored=sum(_ignored(root, system.key) for system in systems),
        disabled=tuple(disabled),
        matched_by_fallback=tuple(fallback),
        nfd_names=sum(nfc(name) != name for name in names),
        notes=_notes(root, absent),
    )


def _places(root: Path) -> tuple[Path, Path]:
    """The folder of human articles and the list of agents. Raises ImportingError where one is missing."""
    articles = root / "wiki_data" / "cleaned_data" / "article"
    registry = root / "test_data" / "agencies.json"
    for needed in (articles, registry):
        if not needed.exists():
            raise ImportingError(
                "{needed}: not under {root}; give the folder that holds test_data and wiki_data",
                needed=needed.relative_to(root), root=root,
            )  # fmt: skip
    return articles, registry


def _topic(
    key: str,
    rows: Mapping[str, Mapping[str, str]],
    asked: Mapping[str, str],
    said: Mapping[str, str],
    fallback: list[str],
) -> records.TopicRecord:
    """The topic of one human article; spellings that had to be matched join `fallback`."""
    spelled, question = match(key, rows), match(key, asked)
    fallback += [f"{name} -> {key}{SUFFIX}" for name in dict.fromkeys((spelled, question)) if name not in (None, key)]
    row = rows.get(spelled or "", {})
    return records.TopicRecord(
        key=key,
        title=(spelled or question or key).replace("_", " "),
        prompt=asked.get(question or "", ""),
        category=row.get("category", ""),
        features=_of_statements(key, said) | {name: value for name, value in row.items() if name not in TITLE_COLUMNS},
    )


def _of_statements(key: str, said: Mapping[str, str]) -> dict[str, str]:
    title = match(key, said)
    return {} if title is None else {STATEMENTS: said[title]}


def _read_system(root: Path, system: str, encoding: str, problems: list[str]) -> list[records.ReportRecord]:
    """None where a clone lacks the agency's folder: its reports are then missing like any others."""
    folder = _folder(root, system)
    return _read_all(folder, root, system, encoding, problems) if folder.is_dir() else []


def _on_topics(
    reports: Sequence[records.ReportRecord], topics: Collection[str], problems: list[str], fallback: list[str]
) -> list[records.ReportRecord]:
    """The reports under the topics that they are about."""
    placed = []
    for report in reports:
        topic = match(report.topic, topics)
        if topic is None:
            problems.append(worded(
                "{path}: no Wikipedia article for topic {topic!r}; add it or remove the file", path=report.path,
                topic=report.topic,
            ))  # fmt: skip
        elif topic != report.topic:
            fallback.append(f"{topic} -> {report.path}")
        placed.append(replace(report, topic=topic or report.topic))
    return placed


def _ignored(root: Path, system: str) -> int:
    folder = _folder(root, system)
    return len([*folder.iterdir()]) - len(_reports(folder)) if folder.is_dir() else 0


def _folder(root: Path, system: str) -> Path:
    return root / "test_data" / system / "md_data"


def _reports(folder: Path) -> list[Path]:
    inside = (path for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES and path.name[0] not in ".~")
    return records.without_copies(inside)


def _notes(root: Path, absent: Sequence[str]) -> tuple[Sentence, ...]:
    facts = len([*(root / FACTS).glob(f"*{ENDING}")])
    here = Sentence("files of facts {facts}: read by calipers import probes --layout wlc", facts=facts)
    told = Sentence("agencies without a folder {absent} ({names})", absent=len(absent), names=", ".join(absent))
    return (*[here] * bool(facts), *[told] * bool(absent))


def _read_all(folder: Path, root: Path, system: str, encoding: str, problems: list[str]) -> list[records.ReportRecord]:
    reports = []
    for path in _reports(folder):
        shown = path.relative_to(root).as_posix()
        with collecting(problems):
            # only the known suffix comes off: a title may hold dots
            reports.append(records.read_report(path, shown, nfc(path.name[: -len(path.suffix)]), system, encoding))
    return reports


def _agencies(path: Path, encoding: str) -> tuple[list[records.SystemRecord], list[str]]:
    content = read_json(path, "test_data/agencies.json", encoding)
    agencies = content.get("agencies") if isinstance(content, dict) else None
    if not isinstance(agencies, dict) or not all(isinstance(entry, dict) for entry in agencies.values()):
        raise ImportingError("test_data/agencies.json: no table 'agencies' of systems; restore the original file")
    enabled = [
        records.SystemRecord(key, str(entry.get("name") or key))
        for key, entry in agencies.items()
        if entry.get("enabled", True)
    ]
    return enabled, [key for key, entry in agencies.items() if not entry.get("enabled", True)]


def _features(root: Path, encoding: str) -> dict[str, dict[str, str]]:
    for name in ("ga_100.csv", "ga_sample.csv"):
        path = root / "wiki_data" / name
        if path.exists():
            rows = read_rows(path, f"wiki_data/{name}", key="title", encoding=encoding)
            return {row["title"]: row for row in rows}
    return {}


def _statements(root: Path, encoding: str) -> dict[str, str]:
    """Title -> how many statements its Wikipedia article makes, of which the paper's Table 3 asks whether they matter.

    A file that cannot be read has none here; it is told of where the facts themselves come in.
    """
    found: dict[str, str] = {}
    for path in sorted((root / FACTS).glob(f"[!.]*{ENDING}")):
        with suppress(ImportingError):
            said = read_json(path, path.name, encoding)
            found |= {nfc(path.name[: -len(ENDING)]): str(len(said))} if isinstance(said, list) else {}
    return found


def _questions(root: Path, encoding: str) -> dict[str, str]:
    problems: list[str] = []
    for name in ("ga_100.json", "ga_sample.json"):
        path = root / "wiki_data" / name
        if path.exists():
            rows = read_json_rows(path, f"wiki_data/{name}", problems, encoding)
            problems += [f"{row.where}: no 'title'; restore the file" for row in rows if not row.values.get("title")]
            if problems:
                raise ImportingError(problems)
            return {nfc(as_text(row.values["title"]) or ""): as_text(row.values.get("question")) or "" for row in rows}
    return {}
