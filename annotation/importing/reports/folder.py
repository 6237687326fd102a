"""Layout `folder`: ROOT/SYSTEM/TOPIC.md (.docx, .html, …), and topics.csv, systems.csv, criteria.csv where wanted."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from annotation.documents.reading import SUFFIXES as DOCUMENTS
from annotation.errors import ImportingError
from annotation.files.decoding import collecting, nfc
from annotation.files.folders import match, number_hint
from annotation.files.rows import read_rows
from annotation.importing.reports import criteria_files, records
from plain.wording import Sentence, worded

TEXTS = (".md", ".markdown", ".txt")
TOPIC_COLUMNS = ("topic", "title", "prompt", "category", "language")
CATEGORY_LIKE = ("domain", "field", "area", "subject")
SYSTEM_COLUMNS = ("system", "public_name", "is_reference", "family")


def read_folder(root: Path, encoding: str = "utf-8") -> records.Parsed:
    """Every report under `root`; problems are collected, not raised, so that all are seen at once."""
    if not root.is_dir():
        raise ImportingError("{root}: not a folder; give the folder that holds one folder per system", root=root)
    problems: list[str] = []
    fallback: list[str] = []
    reports: list[records.ReportRecord] = []
    known_topics, listed_systems = listed_topics(root, encoding, problems), _systems(root, encoding, problems)
    topics = {topic.key: topic for topic in known_topics}
    folders = sorted(entry for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    entries = {folder: sorted(folder.iterdir()) for folder in folders}
    read = {path for inside in entries.values() for path in _reports(inside)}
    for inside in entries.values():
        keys = _keys([path for path in inside if path in read], topics, bool(known_topics))
        fallback += [f"{key} -> {_shown(path, root)}" for path, key in keys.items() if key not in (None, _stem(path))]
        reports += _read_all(root, keys, known_topics, encoding, problems)
        if not known_topics:
            named = [key or _stem(path) for path, key in keys.items()]
            topics |= {key: records.TopicRecord(key, key.replace("_", " ")) for key in named}
    problems += records.duplicate_keys(reports)
    systems = _all_systems(listed_systems, reports, problems)
    if not reports and not problems:
        problems.append(worded("{root}: no reports found; expected files like SYSTEM/TOPIC.md", root=root))
    criteria = criteria_files.read_listed_criteria(root, encoding)
    files = [path for inside in entries.values() for path in inside]
    return records.Parsed(
        topics=tuple(topics.values()), systems=systems, reports=tuple(reports),
        problems=tuple(dict.fromkeys(problems)), ignored=len(files) - len(read),
        matched_by_fallback=tuple(fallback), nfd_names=sum(map(_is_nfd, read)),
        criteria=criteria.records, criteria_problems=criteria.problems, criteria_file=criteria.file,
        notes=told_features(known_topics),
    )  # fmt: skip


def _keys(files: Sequence[Path], topics: Collection[str], listed: bool) -> dict[Path, str | None]:
    """The topic that each file of one system is about, None where its name finds none."""
    # without topics.csv the first system's spelling stands, and two files of one system are two topics
    own = set() if listed else {_stem(path) for path in files}
    known = [key for key in topics if key not in own]
    return {path: _stem(path) if _stem(path) in topics else match(_stem(path), known) for path in files}


def _read_all(
    root: Path,
    keys: Mapping[Path, str | None],
    listed: Sequence[records.TopicRecord],
    encoding: str,
    problems: list[str],
) -> list[records.ReportRecord]:
    """The reports of one system; without topics.csv a name that finds no topic is one."""
    reports = []
    for path, key in keys.items():
        shown, stem = _shown(path, root), _stem(path)
        if key is None and listed:
            hint = number_hint(stem, [topic.key for topic in listed])
            problems.append(worded(
                "{shown}: topic {stem!r} is not in topics.csv{hint}; add it there or rename the file", shown=shown,
                stem=stem, hint=hint,
            ))  # fmt: skip
        with collecting(problems):
            reports.append(records.read_report(path, shown, key or stem, nfc(path.parent.name), encoding))
    return reports


def _all_systems(
    listed: Sequence[records.SystemRecord], reports: Sequence[records.ReportRecord], problems: list[str]
) -> tuple[records.SystemRecord, ...]:
    """The listed systems, and those that have reports; with systems.csv each must be in it."""
    systems = {system.key: system for system in listed}
    for report in reports:
        if listed and report.system not in systems:
            problems.append(worded(
                "{system}: this folder is not in systems.csv; add a line for it or move it away", system=report.system,
            ))  # fmt: skip
        systems.setdefault(report.system, records.SystemRecord(report.system, report.system))
    return tuple(systems.values())


def _reports(inside: Iterable[Path]) -> list[Path]:
    """The reports of one system's folder."""
    suffixes = (*TEXTS, *DOCUMENTS)
    return records.without_copies(
        path for path in inside if path.is_file() and path.suffix.lower() in suffixes and not _is_hidden(path)
    )


def _is_hidden(path: Path) -> bool:
    return path.name.startswith((".", "~$")) or path.name.upper().startswith("README")  # ~$: open in Word


def _stem(path: Path) -> str:
    """A topic's key as the file's name spells it."""
    return nfc(path.name[: -len(path.suffix)])


def _is_nfd(path: Path) -> bool:
    return _stem(path) != path.name[: -len(path.suffix)].strip()


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def listed_topics(root: Path, encoding: str, problems: list[str]) -> list[records.TopicRecord]:
    """What the folder's `topics.csv` says of each topic, columns of one's own as features; none without the file."""
    path = root / "topics.csv"
    if not path.exists():
        return []
    rows: list[dict[str, str]] = []
    with collecting(problems):
        rows = read_rows(path, "topics.csv", key="topic", encoding=encoding)
    return [
        records.TopicRecord(
            key=row["topic"],
            title=row.get("title") or row["topic"].replace("_", " "),
            prompt=row.get("prompt", ""),
            category=row.get("category", ""),
            language=row.get("language") or "",
            features={name: value for name, value in row.items() if name not in TOPIC_COLUMNS},
        )
        for row in rows
    ]


def told_features(topics: Iterable[records.TopicRecord]) -> tuple[Sentence, ...]:
    """Which column of `topics.csv` may be meant as the category, and is a feature like any other."""
    names = dict.fromkeys(name for topic in topics for name in topic.features if name in CATEGORY_LIKE)
    told = Sentence(
        "column of topics.csv that is a feature, and no category {names}: topics are drawn over the column category; "
        "rename it if that is meant", names=", ".join(names),
    )  # fmt: skip
    return (told,) * bool(names)


def _systems(root: Path, encoding: str, problems: list[str]) -> list[records.SystemRecord]:
    path = root / "systems.csv"
    if not path.exists():
        return []
    rows: list[dict[str, str]] = []
    with collecting(problems):
        rows = read_rows(path, "systems.csv", key="system", encoding=encoding)
    strange = [name for name in (rows[0] if rows else ()) if name not in SYSTEM_COLUMNS]
    if strange:
        problems.append(worded(
            "systems.csv:1: no column is called {strange!r} (known: {system_columns}); rename it or leave it out",
            strange=strange[0], system_columns=", ".join(SYSTEM_COLUMNS),
        ))  # fmt: skip
    return [
        records.SystemRecord(
            key=row["system"],
            public_name=row.get("public_name") or row["system"],
            is_reference=row.get("is_reference", "").strip().lower() in ("true", "1", "yes"),
            family=row.get("family", ""),
        )
        for row in rows
    ]
