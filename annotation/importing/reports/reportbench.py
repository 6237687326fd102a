"""Layout `reportbench`: ReportBench_v1.1.jsonl and SYSTEM/ARXIV_ID.json beside it, and its statements by their keys.

A statement has a citation (citations.csv) or none (arXiv 2508.15804).
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError, NoReports
from annotation.files.decoding import BOM, Row, as_text, collecting, nfc, shortened, storable_rows
from annotation.files.rows import read_csv, read_json, read_json_rows
from annotation.importing.reports import records
from plain.wording import Sentence, worded

ARXIV_ID = re.compile(r"(?<!\d)\d{4}\.\d{5}(?!\d)")
CAPTURE = re.compile(r"parsed_[^+]*\+(?P<system>.+)\+[^+]*\.json")  # of a chat product, by browser extension
OF_A_RUN = re.compile(r"(-web-results)?(-parsed)?(-stat-results)?$")  # what its scripts put behind a system's name
PARSED, COUNTED = "-parsed", ("-stat-results", "-related-work-results")
TEXT_FIELDS = ("response", "content", "text", "message", "output", "result")
NEVER_TEXT = ("prompt", "query", "question", "title", "abstract", "arxiv_id", "activity", "reference")
TOPIC_FIELDS = ("arxiv_id", "title", "prompt", "application_domain")


def read_reportbench(root: Path, encoding: str = "utf-8") -> records.Parsed:
    """Reports by the arXiv id in their file's name; ids are text, for 2009.12610 as a number would lose its 0."""
    lists = sorted(root.glob("ReportBench*.jsonl"))
    if len(lists) != 1:
        found = ", ".join(path.name for path in lists) or worded("none")
        raise ImportingError(
            "{root}: one file ReportBench_v1.1.jsonl is needed (found: {found}); give its folder", root=root,
            found=found,
        )  # fmt: skip
    problems: list[str] = []
    topics = _topics(lists[0], encoding, problems)
    reports: list[records.ReportRecord] = []
    used: dict[str, list[str]] = defaultdict(list)
    ignored = 0
    for folder in sorted(entry for entry in root.iterdir() if _may_hold_reports(entry)):
        for path in sorted(entry for entry in folder.iterdir() if entry.is_file()):
            shown = path.relative_to(root).as_posix()
            ids = sorted(set(ARXIV_ID.findall(path.name)))
            if not path.name.endswith(".json") or path.name.startswith(".") or not ids:
                ignored += 1
                continue
            # results about a folder of captures are called like the folder
            is_judged = folder.with_name(folder.name + COUNTED[0]).is_dir()
            capture = None if is_judged else CAPTURE.fullmatch(path.name)
            system = nfc(capture["system"]) if capture else system_of(folder.name)
            with collecting(problems):
                if len(ids) > 1:
                    raise ImportingError(
                        "{shown}: two arXiv ids in the name ({ids}); keep one", shown=shown, ids=", ".join(ids)
                    )
                if ids[0] not in topics:
                    raise ImportingError(
                        "{shown}: {ids} is not in {name}; add it there or remove the file", shown=shown, ids=ids[0],
                        name=lists[0].name,
                    )  # fmt: skip
                name, text = _text(read_json(path, shown, encoding), shown)
                used[name].append(shown)
                reports.append(records.report_in_row(text, shown, ids[0], system))
    if not reports and not problems:
        raise NoReports(
            "{root}: no reports found; expected files like SYSTEM/2312.04861.json", [*topics.values()], root=root
        )
    contents = [(root / shown).read_bytes() for paths in used.values() for shown in paths]
    return records.Parsed(
        topics=tuple(topics.values()),
        systems=tuple(records.SystemRecord(key, key) for key in dict.fromkeys(report.system for report in reports)),
        reports=tuple(reports),
        problems=tuple(problems + records.duplicate_keys(reports)),
        ignored=ignored,
        bom=sum(content.startswith(BOM) for content in contents),
        crlf=sum(b"\r\n" in content for content in contents),
        notes=(*(_used(name, paths) for name, paths in used.items()), *_statements(root)),
    )


def _may_hold_reports(entry: Path) -> bool:
    """Not those of lists or of results, nor one that another was parsed from."""
    return (
        entry.is_dir() and not entry.name.startswith(".") and not entry.name.endswith(("_GT", *COUNTED))
        and not entry.with_name(entry.name + PARSED).is_dir()
    )  # fmt: skip


def system_of(folder: str) -> str:
    """Whose reports or results a folder holds: `o3` of `o3-stat-results` and of `o3-web-results-parsed`."""
    return nfc(OF_A_RUN.sub("", folder) or folder)


def _topics(path: Path, encoding: str, problems: list[str]) -> dict[str, records.TopicRecord]:
    topics: dict[str, records.TopicRecord] = {}
    first: dict[str, str] = {}
    with collecting(problems):
        for row in read_json_rows(path, path.name, problems, encoding):
            key = (as_text(row.values.get("arxiv_id")) or "").strip()
            if not ARXIV_ID.fullmatch(key):
                problems.append(worded(
                    "{where}: arxiv_id {key} is not like 2312.04861; restore the file as published (read as a "
                    "number, an id loses its last 0)", where=row.where, key=shortened(key),
                ))  # fmt: skip
            elif key in topics:
                problems.append(worded(
                    "{where}: arxiv_id {key!r} appears twice (first at {first}); remove one", where=row.where, key=key,
                    first=first[key],
                ))  # fmt: skip
            else:
                first[key] = row.where
                prompt = as_text(row.values.get("prompt")) or ""
                topics[key] = records.TopicRecord(
                    key=key,
                    title=as_text(row.values.get("title")) or records.title_of(prompt) or key,
                    prompt=prompt,
                    category=as_text(row.values.get("application_domain")) or "",
                    features={name: value for name, value in row.values.items() if name not in TOPIC_FIELDS},
                )
    return topics


def _text(content: Any, shown: str) -> tuple[str, str]:
    """The report and the field it was in: the first known one, else the longest that is not part of the task."""
    if not isinstance(content, dict):
        raise ImportingError(
            "{shown}: not an object with named fields; expected the report under 'response'", shown=shown
        )
    problems: list[str] = []
    if not storable_rows([Row(shown, content)], problems):
        raise ImportingError(problems)
    for name in TEXT_FIELDS:
        if name in content and (content[name] is None or isinstance(content[name], str)):
            return name, content[name] or ""
    others = {name: held for name, held in content.items() if isinstance(held, str) and name not in NEVER_TEXT}
    if not others:
        found = ", ".join(content) or worded("nothing")
        raise ImportingError(
            "{shown}: no text under {text_fields} (found: {found}); name it 'response'", shown=shown,
            text_fields=", ".join(TEXT_FIELDS), found=found,
        )  # fmt: skip
    longest = max(others, key=lambda name: len(others[name]))
    return Sentence("{longest} (the longest)", longest=longest), others[longest]


def _statements(root: Path) -> tuple[Sentence, ...]:
    count = len({path.parent for path in root.glob("**/*citations.csv")})
    told = Sentence("reports with statements {count}: read by calipers import probes --layout reportbench", count=count)
    return (told,) if count else ()


def _used(name: str, paths: list[str]) -> Sentence:
    where = "" if name == TEXT_FIELDS[0] else f": {', '.join(paths[:20])}"
    return Sentence("text from field {name} {paths}{where}", name=name, paths=len(paths), where=where)


CITED, NOT_CITED, VERIFIED = "citations.csv", "no_citations.csv", "no_citations_web_verification.csv"


@dataclass(frozen=True)
class Statement:
    """A row of the file. `source`: the ID of the page it cites, under which its text was kept (raw_texts/ID.txt)."""

    where: str
    key: str
    text: str
    source: str = ""


def survey_and_system(file: Path, shown: str, system: str = "") -> tuple[str, str]:
    """arXiv id and system of a file of results, by its path. Raises ImportingError where the path does not say."""
    place = shown if "/" in shown else file.resolve().as_posix()
    ids = sorted(set(ARXIV_ID.findall(place)))
    if len(ids) != 1:
        found = ", ".join(ids) or worded("none")
        raise ImportingError(
            "{shown}: one arXiv id is needed in the path (found: {found}); rename the folder", shown=shown, found=found
        )
    first = next(part for part in shown.split("/") if part != "results")
    if not system and ("/" not in shown or ARXIV_ID.search(first)):
        raise ImportingError("{shown}: the path does not say which system; pass --system NAME", shown=shown)
    return ids[0], nfc(system) or system_of(first)


def cited_statements(file: Path, shown: str, problems: list[str], encoding: str = "utf-8") -> list[Statement]:
    """One per statement and page. The key is the row's `ID`; as that is the page's, a second statement has `ID-2`.

    A row that repeats statement and page is left out.
    """
    columns, rows = read_csv(file, shown, problems, encoding)
    _need(columns, ("ID", "statement"), shown)
    found: dict[tuple[str, str], Statement] = {}
    of_page: dict[str, int] = {}
    for row in rows:
        page, text = nfc(row.values["ID"]), row.values["statement"]
        if not page or not text.strip():
            problems.append(worded(
                "{where}: no {statement}; fill it in or remove the line", where=row.where,
                statement=worded("statement") if page else "ID",
            ))  # fmt: skip
        elif (page, text) not in found:
            of_page[page] = of_page.get(page, 0) + 1
            key = page if of_page[page] == 1 else f"{page}-{of_page[page]}"
            found[page, text] = Statement(row.where, key, text, page)
    return list(found.values())


def other_statements(file: Path, shown: str, problems: list[str], encoding: str = "utf-8") -> list[Statement]:
    """Statements without a citation, once each however many votes the file holds; the key is `ID`, else their place."""
    columns, rows = read_csv(file, shown, problems, encoding)
    _need(columns, ("statement",), shown)
    found: dict[str, Statement] = {}
    keys: set[str] = set()
    for row in rows:
        text = row.values["statement"]
        if not text.strip():
            problems.append(worded("{where}: no statement; fill it in or remove the line", where=row.where))
        elif text not in found:
            key = nfc(row.values.get("ID", ""))
            key = key if key and key not in keys else f"statement-{len(found) + 1}"
            keys.add(key)
            found[text] = Statement(row.where, key, text)
    return list(found.values())


def _need(columns: list[str], needed: tuple[str, ...], shown: str) -> None:
    absent = [name for name in needed if name not in columns]
    if absent:
        raise ImportingError(
            "{shown}:1: no column {absent!r} (found: {columns}); restore it", shown=shown, absent=absent[0],
            columns=", ".join(columns),
        )  # fmt: skip
