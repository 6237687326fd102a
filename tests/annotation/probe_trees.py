"""Small trees and tables of probes in every layout, and how tests bring them in."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import joinedload

from annotation.importing.claims.probe_records import ParsedProbes, ProbeOptions
from annotation.importing.claims.probes_write import ProbesReport, import_probes
from annotation.importing.layouts import PROBE_LAYOUTS
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.people.principals import local_admin
from annotation.protocol import parse_protocol
from annotation.studies import init_study, protocol_of
from db.connect import reading, transaction
from db.tables import Item, Report, Study, System, Topic
from tests.annotation.layout_trees import json_lines, put, text
from tests.small_study import PROBES

SOURCES = PROBES.replace('context = "report"', 'context = "sources"')


def asking(kind: str, context: str = "report", protocol: str = PROBES) -> str:
    """The small protocol about another kind of probe."""
    return protocol.replace('probe = "claim"', f'probe = "{kind}"').replace(
        'context = "report"', f'context = "{context}"'
    )


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV, the first row's names as columns."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def study_of(
    engine: Engine, root: Path, protocol: str = PROBES, topics: Sequence[str] = ("tides", "bread"),
    systems: Sequence[str] = ("alpha", "beta"), reference: str = "", empty: Sequence[str] = (),
) -> int:  # fmt: skip
    """Reports imported and nothing else; `empty` names SYSTEM/TOPIC without text. The study's id."""
    for system in systems:
        for topic in topics:
            put(root / system / f"{topic}.md", "" if f"{system}/{topic}" in empty else text(f"{system} {topic}"))
    if reference:
        rows = "".join(f"{one},{one},{str(one == reference).lower()}\n" for one in systems)
        put(root / "systems.csv", f"system,public_name,is_reference\n{rows}")
    with transaction(engine) as session:
        study = init_study(session, "small", protocol, 7)
        import_reports(session, local_admin(study), read_folder(root), layout="folder", source="here", allow_empty=True)
        return study.id


def read_probes(path: Path, layout: str, protocol: str = PROBES, **options: Any) -> ParsedProbes:
    """As the command reads them for a study with this protocol."""
    answers = parse_protocol(protocol).answers
    labels = tuple(label.id for label in answers.labels)
    chosen = ProbeOptions(kind=answers.probe or "", context=answers.context, answers=labels, **options)
    return PROBE_LAYOUTS[layout].read(path, chosen)


def bring_probes(
    engine: Engine, study_id: int, path: Path, layout: str = "table", replace: bool = False, **options: Any
) -> ProbesReport:
    """As the command does, into a study that stands."""
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        parsed = read_probes(path, layout, study.protocol_text, **options)
        assert protocol_of(study).task_type == "probe_label"
        return import_probes(
            session, local_admin(study), parsed, layout=layout, source=path.name, replace=replace
        )  # fmt: skip


def items_of(engine: Engine, study_id: int) -> dict[tuple[str, str, str], Item]:
    """(topic, system or nothing, key) -> item, of those that are not taken out."""
    with reading(engine) as session:
        rows = session.execute(
            select(Topic.key, System.key, Item)
            .join(Topic, Topic.id == Item.topic_id)
            .outerjoin(Report, Report.id == Item.report_a_id)
            .outerjoin(System, System.id == Report.system_id)
            .where(Item.study_id == study_id, Item.excluded_at.is_(None))
            .options(joinedload(Item.source))
        )
        return {(topic, system or "", item.probe_key or ""): item for topic, system, item in rows}


def gym_probes(root: Path) -> Path:
    """Key points of four queries: two with points, one empty file, one empty list; the shape without `_aggregated`."""
    points = [
        {"point_number": 1, "point_content": "It rises.", "original_point_number": [1, 4]},
        {"point_number": 2, "point_content": "It \"falls\",\nsays 潮汐.", "original_point_number": [2]},
    ]  # fmt: skip
    put(root / "key_point/12_aggregated.json", json.dumps({"question": "why salt", "key_points": points}))
    put(root / "key_point/99_aggregated.json", json.dumps({"question": "elsewhere", "key_points": points[:1]}))
    put(root / "key_point/7_aggregated.json", "")
    put(root / "key_point/8_aggregated.json", json.dumps({"question": "q", "key_points": []}))
    put(root / "key_point/12.json", json.dumps({"doc-1": {"points": []}}))
    claims = {
        "12": {"score": 0.5, "detailed": {
            "claim_1": {"claim": "Salt is old.", "urls": ["https://a.org/1"], "score": 1, "justification": "."},
            "claim_3": {"claim": "Salt is new.", "urls": ["https://a.org/1", "https://a.org/2"], "score": 0},
        }},
        "13": {"score": 0, "detailed": "No URLs found in text."},
        "14": {"score": 0, "detailed": None},
    }  # fmt: skip
    put(root / "reports/alpha/evaluation_results_citation_gpt-4.1-mini.json", json.dumps(claims))
    put(root / "reports/alpha/evaluation_results_citation_recall_gpt-4.1-mini.json", "{}")
    put(root / "pages/pages.csv", "url,file\nhttps://a.org/1,one.txt\nhttps://a.org/2,deep/two.txt\n")
    put(root / "pages/one.txt", "Salt was mined long ago.\n")
    put(root / "pages/deep/two.txt", "Salt was made today.\n")
    return root


def task_probes(root: Path) -> Path:
    """Insights of both kinds, one file JSON Lines under the name of an array; a checklist; required documents."""
    gold = root / "ground_truth/datasets_en/001"
    put(
        gold / "gold_insights_from_source.json",
        json.dumps({"gold_insights": [{"insight": "甲比乙高。"}, {"insight": "Two."}]}),
    )
    put(
        gold / "gold_insights_from_long_context.json",
        json_lines([{"insight": "From the sandbox."}, {"insight": "And this."}]),
    )
    put(root / "ground_truth/datasets_en/002/gold_insights_from_source.json", json.dumps({"gold_insights": []}))
    checklist = [
        {"id": 1, "requirement": "Compares costs.", "category": "evidence"},
        {"id": "2b", "requirement": "Names dates.", "category": "structure"},
    ]
    put(gold / "checklist.json", json.dumps({"checklist": checklist}))
    put(
        root / "datasets_en/001/useful_search.jsonl",
        json.dumps([{"title": "潮汐 - 百科"}, {"title": "Tides"}, {"title": "Tides"}]),
    )
    put(root / "datasets_en/002/useful_search.jsonl", json_lines([{"title": "Only one", "url": "x"}]))
    return root  # fmt: skip


def wiki_probes(root: Path) -> Path:
    """Facts of two articles, one with `/` in its name, and one agent's statements in every shape that is published.

    A fact with one number or several, with more addresses than numbers, with an address alone, without any; text alone,
    and a statement of an article that cites nothing. The second page could not be fetched.
    """
    put(
        root / "wiki_data/cleaned_data/statement/Fall_River_New_Bedford_Line_statements.json",
        json.dumps([{"statement": "The line opened in 1875."}, {"statement": "It closed in 1958."}]),
    )
    put(root / "wiki_data/cleaned_data/statement/Salt_statements.json", "[]")
    one, two = "https://a.org/1", "https://a.org/2"
    page = {
        "title": "Fall River/New Bedford Line",
        "extract": "no headings here",
        "citation_urls": {"1": one, "2": two},
        "statements": [
            {"fact": "The line was opened in 1875 by a railroad.", "ref_idx": ["1", "2"], "url": [one, two]},
            {"fact": "Its closing came in 1958.", "ref_idx": "2", "url": two},
            {"fact": "Nothing is cited here.", "ref_idx": None, "url": None},
            {"fact": "Cited by address.", "ref_idx": None, "url": [one, one]},
            {"fact": "Cited beyond the list.", "ref_idx": "1", "url": [one, "https://a.org/9"]},
            "Text alone [1].",
            {"statement": "Of an article without citations.", "ref_idx": None},
        ],
        "citation_contents": {
            "1": {"url": one, "title": "One", "description": "", "content": "Opened in\r\n1875.", "publish_time": ""},
            "2": {"url": two, "title": "", "content": "", "error": "Failed to fetch"},
        },
        "source_file": "alpha/md_data/Fall_River_New_Bedford_Line.md",
    }
    put(
        root / "test_data/alpha/json_data/Fall_River_New_Bedford_Line.json",
        json.dumps({"batchcomplete": "", "query": {"pages": {"123": page}}}),
    )
    put(root / "pages/pages.csv", f"url,file\n{two},two.txt\n")
    put(root / "pages/two.txt", "Closed in 1958.")
    return root


def survey_probes(root: Path) -> Path:
    """Statements of one report: three cited (two share a page, one is repeated), and two that cite nothing."""
    cited = [
        {"ID": "ab1", "statement": "A, \"quoted\"\nclaim.", "url": "https://a.org/1"},
        {"ID": "ab1", "statement": "Another claim.", "url": "https://a.org/1"},
        {"ID": "cd2", "statement": "Another claim.", "url": "https://a.org/2"},
        {"ID": "cd2", "statement": "Another claim.", "url": "https://a.org/2"},
    ]  # fmt: skip
    put(root / "alpha/2009.12610/citations.csv", table(cited))
    put(root / "alpha/raw_texts/ab1.txt", "The page of ab1.")
    votes = [
        {"ID": one, "statement": said, "llm_model": "m", "attempt": n, "decision": "true", "reason": "r", "success": "True"}
        for one, said in (("1", "Water is wet."), ("2", "潮汐有两次。"))
        for n in (1, 2, 3)
    ]  # fmt: skip
    put(root / "alpha/2009.12610/no_citations_web_verification.csv", table(votes))
    put(root / "alpha/2009.12610/no_citations.csv", table([{"ID": "9", "statement": "Unverified."}]))
    put(root / "alpha/2312.04861/no_citations.csv", table([{"statement": "Bread is baked."}]))
    return root


def fact_line(task: Any, cited: Mapping[str, Sequence[tuple[str, str]]], **more: Any) -> dict[str, Any]:
    """A report of DeepResearch Bench's FACT: address -> its statements and verdicts; `more` stands under each address."""
    return {
        "id": task, "prompt": "p", "article": "…", "citations": [{"fact": "…", "ref_idx": 1, "url": "…"}],
        "citations_deduped": {
            url: {
                "facts": [fact for fact, _ in said], "url_content": f"The page\n\n\n\nof {url}.", "article_id": task,
                "validate_res": [{"idx": place, "result": verdict} for place, (_, verdict) in enumerate(said)][::-1],
                "validate_error": None, **more,
            }
            for url, said in cited.items()
        },
    }  # fmt: skip


def fact_probes(root: Path) -> Path:
    """A report whose statements cite pages that were read, that no call judged, and that were not fetched; two others."""
    rises, falls = ("It rises.", "supported"), ("It falls.", "unsupported")
    first = fact_line("tides", {"https://a.org/1": [rises, falls], "https://a.org/2": [("It turns.", "unknown")]})
    failed = fact_line("tides", {"https://a.org/3": [rises]}, validate_error="Expecting value", validate_res=[])
    absent = fact_line(
        "tides", {"https://a.org/4": [falls]}, url_content="scrape failed: 404", validate_error="no reference"
    )
    first["citations_deduped"] |= failed["citations_deduped"] | absent["citations_deduped"]
    none = {"id": "bread", "citations": "extraction failed"}
    put(root / "fact/alpha/validated.jsonl", json_lines([first, none]))
    return root
