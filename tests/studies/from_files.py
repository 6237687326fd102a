"""The texts, claims, facts and key points of a study's own files, read here by their layout and nothing of calipers.

`brought` and `probed` hold them against what a study has: whose report, on which topic, word for word.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import select

from db.connect import reading
from db.tables import Item, Report, Study, System, Topic
from tests.studies.desk import Desk

Text = tuple[str, str, str]  # topic, system, text


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _read(path).splitlines() if line.strip()]


def _wlc(root: Path) -> Iterator[Text]:
    for path in root.rglob("md_data/*.md"):
        yield path.stem, path.parts[-3], _read(path)
    for path in root.rglob("cleaned_data/article/*.md"):
        yield path.stem, "wikipedia", _read(path)


def _gym(root: Path) -> Iterator[Text]:
    return ((path.stem, path.parent.name, _read(path)) for path in root.glob("reports/*/*.a"))


def _dr3(root: Path) -> Iterator[Text]:
    return ((path.parts[-2], path.parts[-3], _read(path)) for path in root.glob("results/*/*/*/final_report.md"))


def _surveys(root: Path) -> Iterator[Text]:
    return ((path.stem, path.parent.name, json.loads(_read(path))["response"]) for path in root.glob("*-dr/*.json"))


def _bench(root: Path) -> Iterator[Text]:
    files = root.glob("data/test_data/*/*.jsonl")
    return ((str(row["id"]), path.stem, row["article"]) for path in files for row in _rows(path))


def _facts(root: Path) -> Iterator[Text]:
    """Each of Wikipedia's facts beside the statements of each agent."""
    agents = sorted({path.parts[-2] for path in root.rglob("test_data/*/json_data")})
    for path in root.rglob("cleaned_data/statement/*.json"):
        for fact in json.loads(_read(path)):
            said = fact if isinstance(fact, str) else fact["statement"]
            yield from ((path.stem.removesuffix("_statements"), agent, said.strip()) for agent in agents)


def _statements(root: Path) -> Iterator[Text]:
    """Each statement of an article with each page that it cites."""
    for path in root.rglob("test_data/*/json_data/*.json"):
        for page in json.loads(_read(path))["query"]["pages"].values():
            for one in page["statements"]:
                urls = [one["url"]] if isinstance(one.get("url"), str) else one.get("url") or []
                pages = {url.strip() for url in urls} - {""}
                yield from [(path.stem, path.parts[-3], (one.get("fact") or one["statement"]).strip())] * len(pages)


def _points(root: Path) -> Iterator[Text]:
    """Each of a question's about each system's report on it."""
    reports = sorted(root.glob("reports/*/*.a"))
    for path in root.glob("key_point/*_aggregated.json"):
        question = path.name.partition("_")[0]
        systems = [report.parent.name for report in reports if report.stem == question]
        for point in json.loads(_read(path))["key_points"] if _read(path) else []:
            yield from ((question, system, point["point_content"]) for system in systems)


def _claims(root: Path) -> Iterator[Text]:
    for path in root.glob("reports/*/evaluation_results_citation_*.json"):
        for question, one in json.loads(_read(path)).items():
            yield from ((question, path.parent.name, claim["claim"]) for claim in one["detailed"].values())


REPORTS: Mapping[str, Callable[[Path], Iterator[Text]]] = {
    "wlc": _wlc, "deepresearchgym": _gym, "dr3_eval": _dr3, "reportbench": _surveys, "race": _bench,
}  # fmt: skip
PROBES: Mapping[str, Callable[[Path], Iterator[Text]]] = {
    "facts": _facts, "statements": _statements, "points": _points, "claims": _claims,
}  # fmt: skip


def brought(desk: Desk, study: str, files: str, layout: str) -> str:
    """How many reports of the study are what their files hold, of all that either has."""
    rows = select(Topic.key, System.key, Report.original_text).join(Topic, Topic.id == Report.topic_id)
    rows = rows.join(System, System.id == Report.system_id).join(Study, Study.id == Report.study_id)
    with reading(desk.engine) as session:
        came = {(topic, system): text for topic, system, text in session.execute(rows.where(Study.name == study))}
    told = {(topic, system): text for topic, system, text in REPORTS[layout](desk.folder / files)}
    same = [place for place in told if came.get(place, "").strip() == told[place].strip()]
    return f"{len(same)} of {len(came.keys() | told.keys())} texts as their files have them"


def probed(desk: Desk, study: str, files: str, kind: str) -> str:
    """How many of its claims, facts or key points are those of the files, and about whose report."""
    rows = select(Topic.key, System.key, Item.probe).join(Topic, Topic.id == Item.topic_id)
    rows = rows.outerjoin(Report, Report.id == Item.report_a_id).outerjoin(System, System.id == Report.system_id)
    rows = rows.join(Study, Study.id == Item.study_id).where(Study.name == study)
    with reading(desk.engine) as session:
        found = session.execute(rows).all()
    told = Counter(PROBES[kind](desk.folder / files))
    came = Counter((topic, system or "", probe.strip()) for topic, system, probe in found)
    return f"{(came & told).total():,} of {max(came.total(), told.total()):,} as the files have them"
