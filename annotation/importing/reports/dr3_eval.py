"""Layout `dr3_eval`: query.jsonl, topics.csv where wanted, RESULTS/SYSTEM/TASK/final_report.md (arXiv 2604.14683)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from annotation.documents.reading import SUFFIXES as DOCUMENTS
from annotation.errors import ImportingError, NoReports
from annotation.files import folders, rows
from annotation.files.decoding import as_text, collecting, nfc
from annotation.importing.reports import records
from annotation.importing.reports.folder import listed_topics, told_features
from plain.wording import Sentence, worded

REPORTS = tuple(f"final_report{suffix}" for suffix in (".md", *DOCUMENTS))
QUERIES, REPORT, TOPICS = "query.jsonl", "final_report.md", "topics.csv"
ANSWERS = "eval_*.json"  # a judge's, who may stand there without the reports
KEYS = ("task", "id", "number")
DOMAINS = ("category", "domain")
HAN = re.compile(r"[\u4e00-\u9fff]")


def read_dr3_eval(root: Path, encoding: str = "utf-8") -> records.Parsed:
    """Reports by their task's folder, compared with `query.jsonl` as text: `001` and `1` are two tasks."""
    lists = [path for pattern in (QUERIES, f"*/{QUERIES}", f"*/*/{QUERIES}") for path in sorted(root.glob(pattern))]
    files = sorted(path for path in root.rglob("final_report.*") if path.name in REPORTS)
    about = files or [*root.rglob(ANSWERS)]
    if len(lists) > 1:  # each language's tasks have one; reports and answers lie below a folder of that name
        above = {part for path in about for part in path.relative_to(root).parts}
        lists = [one for one in lists if one.parent.name in above] or lists
    problems: list[str] = []
    shown_list = ", ".join(path.relative_to(root).as_posix() for path in lists)
    topics: dict[str, records.TopicRecord] = {}
    for one in lists:
        shown = one.relative_to(root).as_posix()
        found = _topics(one, shown, root, encoding, problems)
        if about and (twice := topics.keys() & found.keys()):
            raise ImportingError(
                "{root}: one {queries} is needed, or one for each language with numbers of its own (task {task!r} "
                "stands twice in {found}); leave one of them", root=root, queries=QUERIES, task=min(twice),
                found=shown_list,
            )  # fmt: skip
        folder = one.parent if (one.parent / TOPICS).exists() else root
        topics |= found | _told(folder, topics | found, shown, encoding, problems)
    if not lists:
        raise ImportingError("{root}: no {queries} found; give a folder that holds one", root=root, queries=QUERIES)
    if not files:
        raise NoReports(
            "{root}: no reports found; expected files like RESULTS/SYSTEM/TASK/{report}", [*topics.values()], root=root,
            report=REPORT,
        )  # fmt: skip
    reports: list[records.ReportRecord] = []
    nfd = 0
    read = records.without_copies(files)
    for path in read:
        shown = path.relative_to(root).as_posix()
        if any(part.startswith(".") for part in shown.split("/")):
            continue
        with collecting(problems):
            if len(shown.split("/")) < 3:
                raise ImportingError(
                    "{shown}: no system and task in the path; expected RESULTS/SYSTEM/TASK/{report}", shown=shown,
                    report=REPORT,
                )  # fmt: skip
            system, task = path.parts[-3], path.parts[-2]
            nfd += nfc(task) != task.strip()
            if nfc(task) not in topics:
                hint = folders.number_hint(nfc(task), topics)
                raise ImportingError(
                    "{shown}: task {task!r} is not in {shown_list}{hint}; add it or rename the folder", shown=shown,
                    task=task, shown_list=shown_list, hint=hint,
                )  # fmt: skip
            reports.append(records.read_report(path, shown, nfc(task), nfc(system), encoding))
    return records.Parsed(
        topics=tuple(topics.values()),
        systems=tuple(records.SystemRecord(key, key) for key in dict.fromkeys(report.system for report in reports)),
        reports=tuple(reports),
        problems=tuple(problems + records.duplicate_keys(reports)),
        ignored=len(files) - len(read),
        nfd_names=nfd,
        notes=(*_notes(root), *told_features(topics.values())),
    )


def _topics(path: Path, shown: str, root: Path, encoding: str, problems: list[str]) -> dict[str, records.TopicRecord]:
    topics: dict[str, records.TopicRecord] = {}
    first: dict[str, str] = {}
    with collecting(problems):
        for row in rows.read_json_rows(path, shown, problems, encoding):
            key = nfc(next((as_text(row.values[name]) or "" for name in KEYS if name in row.values), ""))
            query = as_text(row.values.get("query")) or ""
            if not key or not query.strip():
                problems.append(
                    worded("{where}: no 'task' or no 'query'; fill it in or remove the line", where=row.where)
                )
            elif key in topics:
                problems.append(worded(
                    "{where}: task {key!r} appears twice (first at {first}); remove one", where=row.where, key=key,
                    first=first[key],
                ))  # fmt: skip
            else:
                first[key] = row.where
                language = as_text(row.values.get("language")) or _language(root, key, query)
                domain = next((as_text(row.values[name]) or "" for name in DOMAINS if name in row.values), "")
                topics[key] = records.TopicRecord(
                    key=key, title=records.title_of(query), prompt=query, category=domain, language=language
                )
    return topics


def _told(
    folder: Path, topics: Mapping[str, records.TopicRecord], shown: str, encoding: str, problems: list[str]
) -> dict[str, records.TopicRecord]:
    """The topics that a topics.csv says more about: a domain, a title, numbers. What it leaves empty stays."""
    found: dict[str, records.TopicRecord] = {}
    for told in listed_topics(folder, encoding, problems):
        topic = topics.get(told.key)
        if topic is None:
            hint = folders.number_hint(told.key, topics)
            problems.append(worded(
                "{topics}: topic {key!r} is not in {shown}{hint}; correct it or remove the line", topics=TOPICS,
                key=told.key, shown=shown, hint=hint,
            ))  # fmt: skip
            continue
        title = topic.title if told.title == told.key.replace("_", " ") else told.title
        found[told.key] = replace(
            topic, title=title, prompt=told.prompt or topic.prompt, category=told.category or topic.category,
            language=told.language or topic.language, features=told.features,
        )  # fmt: skip
    return found


def _notes(root: Path) -> tuple[Sentence, ...]:
    brings_probes = (root / "ground_truth").is_dir() or any(root.glob("**/gold_insights_from_*.json"))
    told = Sentence("insights, checklists, documents: read by calipers import probes --layout dr3_eval")
    return (told,) * brings_probes


def _language(root: Path, task: str, query: str) -> str:
    """Of the one folder `datasets_xx` that holds the task; else Chinese where the query holds any, else English."""
    pattern = "datasets_??"
    holding = {
        path.name[-2:] for depth in (pattern, f"*/{pattern}") for path in root.glob(depth) if (path / task).is_dir()
    }
    if len(holding) == 1:
        return holding.pop()
    return "zh" if HAN.search(query) else "en"
