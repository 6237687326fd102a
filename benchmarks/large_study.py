"""A study of two million labels as a database: `python benchmarks/large_study.py sqlite:///large.db [--topics 1000]`.

Every topic has a report of a reference and of 19 systems, every system is compared with the reference; three annotators
and three judges answer ten questions about each pair. Most slots are handed in, a hundred and fifty are in work, the
rest is open; there are changed answers, retests, attention items, disputes settled, active time, remarks, judge calls
and attempts. Texts are short. The same seed makes the same labels, in either database.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sqlalchemy import Engine, func, insert, select, update
from sqlalchemy.orm import Session

from annotation.people.principals import enroll
from annotation.planning.plan_root import keep_plan_root
from annotation.studies import audit, criteria_of, init_study
from benchmarks.large_work import BEGAN, JUDGES, Rows, Shape, Work, texts
from db.connect import open_database, transaction
from db.judge_tables import Judge, JudgeAttempt, JudgeCall
from db.migrations import upgrade
from db.people_tables import Rater
from db.restore import set_sequences
from db.tables import Import, Study
from db.types import Record

TABLES = Record.metadata.tables
ORDER = ("assignments", "labels", "events", "judge_calls", "judge_call_assignments", "judge_attempts")
AT_ONCE, ATTENTION, SEED = 5_000, 20, 7
NAME = "large"


def protocol(criteria: int) -> str:
    """Pairs, ties allowed, systems shown beside labels at once."""
    asked = (
        f'[[criterion]]\nid = "c{n}"\nlabel = "Criterion {n}"\ntext = "Which report is better in respect {n}?"\n'
        f'category = "Group {n % 3}"\n'
        for n in range(1, criteria + 1)
    )
    head = """format = "calipers-protocol/1"
name = "large"
title = "A large study"
task_type = "pairwise_choice"
task = "Which report is better?"
[answers]
allow_tie = true
[study]
blind_until = "open"
pay = {rate = 20.0, currency = "USD"}
"""
    return head + "".join(asked)


def write_study(url: str, shape: Shape, seed: int = SEED) -> Engine:
    """Migrate the empty database and fill it; an engine on it."""
    upgrade(url)
    engine = open_database(url)
    with transaction(engine) as session:
        study = init_study(session, NAME, protocol(shape.criteria), seed)
        people = [enroll(session, study, f"Person {n}", "annotator") for n in range(1, shape.annotators + 1)]
        adjudicator = enroll(session, study, "Judith", "adjudicator")
        for name, role in (("Eva", "evaluator"), ("Adam", "admin")):
            enroll(session, study, name, role)
        criteria = [row.id for row in criteria_of(session, study)]
        judges = {name: _judge(session, name) for name in JUDGES}
        shown = _material(session, shape)
        known = [(one.rater_id, one.id) for one in people]
        checks = shape.criteria * len(people) * min(ATTENTION, shape.topics)
        retests = round(0.05 * shape.overlap * (shape.topics - shape.open_topics) * (shape.systems - 1))
        settled = 6 * shape.items // 60  # about; revisions fill up what is not known beforehand
        changed = shape.labels - shape.answers - shape.judged - checks - shape.criteria * retests - settled
        work = Work(shape, seed, known, judges, adjudicator.rater_id, criteria, max(0, changed))
    parts = _parts(shape, work, shown)
    while taken := list(islice(parts, 500)):
        with transaction(engine) as session:
            _enter(session, _together(taken))
    with transaction(engine) as session:
        study = session.get_one(Study, 1)
        audit(session, 1, None, "pairs", items=shape.items, slots=shape.items * shape.overlap, design="reference",
              per_topic=None, per_category=None, list_sha256=None, overlap=shape.overlap, roster=False)  # fmt: skip
        paid = select(func.sum(JudgeAttempt.cost)).join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id)
        session.execute(update(Judge).values(spent=paid.where(JudgeCall.judge_id == Judge.id).scalar_subquery()))
        study.status = "open"
        keep_plan_root(session, study)
        set_sequences(session.connection())
        session.connection().exec_driver_sql("ANALYZE")  # as autovacuum does within a minute
    return engine


def _judge(session: Session, name: str) -> tuple[int, int, int]:
    rater = Rater(kind="judge", handle=name)
    session.add(rater)
    session.flush()
    number = list(JUDGES).index(name) + 1
    account = {"id": number, "study_id": 1, "rater_id": rater.id, "name": name, "family": "", "spent": 0.0}
    session.execute(insert(TABLES["judges"]), account)
    config = {
        "id": number, "judge_id": number, "sha256": f"{number:064x}", "model": f"maker/{name}", "params": {},
        "asked_params": {}, "template": "", "template_sha256": "0" * 64, "structured": ["json_schema"],
        "batching": "all", "max_output_tokens": 2_000, "price": {"input": 0.15, "output": 0.6}, "price_source": "file",
    }  # fmt: skip
    session.execute(insert(TABLES["judge_configs"]), config)
    return rater.id, number, number


def _material(session: Session, shape: Shape) -> Mapping[tuple[int, int], tuple[int, str]]:
    """Topics, systems and reports; (topic, system) -> the report and the sha256 of its text."""
    topics = [
        {"id": 1 + n, "study_id": 1, "key": f"topic-{n:04d}", "title": f"Topic {n}", "prompt": "", "language": "en",
         "category": f"Category {n % 5}", "features": {}}
        for n in range(shape.topics)
    ]  # fmt: skip
    systems = [
        {"id": 1 + n, "study_id": 1, "key": f"system-{n:02d}", "public_name": f"System {n}", "family": "",
         "is_reference": n == 0}
        for n in range(shape.systems)
    ]  # fmt: skip
    session.execute(insert(TABLES["topics"]), topics)
    session.execute(insert(TABLES["systems"]), systems)
    session.add(Import(id=1, study_id=1, kind="reports", layout="folder", source="large"))
    session.flush()
    shown, rows = {}, []
    for number, (topic, system, words) in enumerate(texts(shape.topics, shape.systems), start=1):
        sha256 = hashlib.sha256(words.encode()).hexdigest()
        shown[topic, system] = number, sha256
        rows.append({
            "id": number, "study_id": 1, "topic_id": 1 + topic, "system_id": 1 + system, "import_id": 1,
            "original": words.encode(), "original_sha256": sha256, "original_text": words, "shown_text": words,
            "shown_sha256": sha256, "stripper_version": "1", "canonical_version": "1", "words": len(words.split()),
        })  # fmt: skip
        if len(rows) == AT_ONCE:
            session.execute(insert(TABLES["reports"]), rows)
            rows = []
    if rows:
        session.execute(insert(TABLES["reports"]), rows)
    return shown


def _parts(shape: Shape, work: Work, shown: Mapping[tuple[int, int], tuple[int, str]]) -> Iterator[Rows]:
    """One item after the other with all that happened to it; items of attention at the end."""
    item = 0
    for topic in range(shape.topics):
        for place in range(shape.systems - 1):
            item += 1
            (a, sha_a), (b, sha_b) = shown[topic, 0], shown[topic, 1 + place]
            row = {"id": item, "study_id": 1, "topic_id": 1 + topic, "kind": "pair", "report_a_id": a,
                   "report_b_id": b, "created_at": BEGAN, "purpose": "label", "gold": None}  # fmt: skip
            yield {"items": [row], **work.item(item, topic, place, (sha_a, sha_b))}
    gold = {f"c{n}": {"answer": "A", "reason": "It was agreed."} for n in range(1, shape.criteria + 1)}
    for topic in range(min(ATTENTION, shape.topics)):
        item += 1
        (a, sha_a), (b, sha_b) = shown[topic, 1], shown[topic, 2]
        row = {"id": item, "study_id": 1, "topic_id": 1 + topic, "kind": "pair", "report_a_id": a, "report_b_id": b,
               "created_at": BEGAN, "purpose": "attention", "gold": gold}  # fmt: skip
        yield {"items": [row], **work.attention(item, (sha_a, sha_b))}


def _together(parts: Iterable[Mapping[str, list[dict[str, Any]]]]) -> Rows:
    rows: Rows = defaultdict(list)
    for part in parts:
        for table, own in part.items():
            rows[table] += own
    return rows


def _enter(session: Session, rows: Rows) -> None:
    for table in ("items", *ORDER):
        if rows[table]:
            session.execute(insert(TABLES[table]), rows[table])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--topics", type=int, default=Shape.topics)
    asked = parser.parse_args()
    share = asked.topics / Shape.topics
    shape = Shape(topics=asked.topics, labels=round(Shape.labels * share), open_topics=max(1, round(30 * share)))
    started = time.monotonic()
    engine = write_study(asked.url, shape)
    with engine.connect() as connection:
        counted = {
            name: connection.scalar(select(func.count()).select_from(TABLES[name])) for name in ("items", *ORDER)
        }
    print(", ".join(f"{count:,} {name}" for name, count in counted.items()), f"in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
