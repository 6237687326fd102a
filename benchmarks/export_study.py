"""The study that `export.py` measures: pairs, people and judges made as rows, thousands at a time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, insert

from annotation.studies import init_study
from db.connect import open_database, transaction
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment, JudgeConfig
from db.migrations import upgrade
from db.people_tables import Enrollment, Rater
from db.tables import Assignment, Event, Import, Item, Label, Report, System, Topic
from db.types import opaque

CRITERIA, PEOPLE, JUDGES, SYSTEMS, RUNS = 10, 10, 10, 5, 2
PAIRS = SYSTEMS * (SYSTEMS - 1) // 2  # of a topic
PASSES = PEOPLE + JUDGES * 2 * RUNS  # over every item
BEGAN = datetime(2026, 11, 20, 10, tzinfo=UTC)
TEXT = "A report on the tides, which rise twice a day and are no two alike. " * 250
WORDS = [f"{first}{last}" for first in ("tid", "moon", "ris", "shor", "wav") for last in "abcdefghijklmnopqrstuvwxyz"]
PROTOCOL = """
format = "calipers-protocol/1"
name = "bench"
title = "A study to measure exports"
task_type = "pairwise_choice"
task = "Which report is better?"
[answers]
allow_tie = true
[study]
blind_until = "open"
pay = {rate = 10.0, currency = "USD"}
""" + "".join(
    f'[[criterion]]\nid = "c{number}"\nlabel = "{number}"\ntext = "{number}?"\n' for number in range(CRITERIA)
)


def make_study(url: str, labels: int) -> None:
    """A study called bench with as many current labels, in bulk: no service function saw them."""
    items = labels // (CRITERIA * PASSES)
    upgrade(url)
    engine = open_database(url)
    with transaction(engine) as session:
        study = init_study(session, "bench", PROTOCOL, 7)
        study.status = "closed"
        session.add(Import(study_id=study.id, kind="reports", layout="folder", source="made"))
        for number in range(SYSTEMS):
            session.add(System(study_id=study.id, key=f"system-{number}", public_name=f"System {number}"))
        session.flush()
        connection = session.connection()
        _enter(connection, Topic, _topics(study.id, items))
        _enter(connection, Report, _reports(study.id, items))
        _enter(connection, Item, _items(study.id, items))
        _enter_raters(connection, study.id)
        _enter(connection, Assignment, _assignments(study.id, items))
        _enter(connection, Label, _labels(items))
        _enter(connection, Event, _events(study.id, items))
        _enter(connection, JudgeCall, _calls(items))
        served = ({"call_id": one["id"], "assignment_id": one["assignment"]} for one in _calls(items, bare=True))
        _enter(connection, JudgeCallAssignment, served)
        _enter(connection, JudgeAttempt, _attempts(items))
    engine.dispose()


def _enter(connection: Connection, table: Any, rows: Iterator[dict[str, Any]]) -> None:
    chunk: list[dict[str, Any]] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == 20_000:
            connection.execute(insert(table), chunk)
            chunk.clear()
    if chunk:
        connection.execute(insert(table), chunk)


def _topics(study: int, items: int) -> Iterator[dict[str, Any]]:
    for number in range(items // PAIRS):
        yield {
            "id": number + 1,
            "study_id": study,
            "key": f"topic-{number:03d}",
            "title": "",
            "category": "abc"[number % 3],
        }


def _reports(study: int, items: int) -> Iterator[dict[str, Any]]:
    for number in range(items // PAIRS * SYSTEMS):
        text = f"{number}. {TEXT}"
        yield {
            "id": number + 1, "study_id": study, "topic_id": number // SYSTEMS + 1,
            "system_id": number % SYSTEMS + 1, "import_id": 1, "original": text.encode(), "original_sha256": "",
            "original_text": text, "shown_text": text, "shown_sha256": _sha256(number), "stripper_version": "1",
            "words": 3_500,
        }  # fmt: skip


def _pair(item: int) -> tuple[int, int]:
    pairs = [(a, b) for a in range(SYSTEMS) for b in range(a + 1, SYSTEMS)]
    first = item // PAIRS * SYSTEMS
    a, b = pairs[item % PAIRS]
    return first + a, first + b


def _items(study: int, items: int) -> Iterator[dict[str, Any]]:
    for number in range(items):
        a, b = _pair(number)
        yield {
            "id": number + 1, "study_id": study, "topic_id": number // PAIRS + 1, "kind": "pair",
            "report_a_id": a + 1, "report_b_id": b + 1,
        }  # fmt: skip


def _enter_raters(connection: Connection, study: int) -> None:
    people = range(1, PEOPLE + 1)
    judges = range(PEOPLE + 1, PEOPLE + JUDGES + 1)
    _enter(connection, Rater, ({"id": n, "kind": "human", "handle": f"Person Number{n}"} for n in people))
    _enter(connection, Rater, ({"id": n, "kind": "judge", "handle": f"judge-{n}"} for n in judges))
    enrolled = {"study_id": study, "role": "annotator"}
    _enter(connection, Enrollment, ({**enrolled, "rater_id": n, "pseudonym": f"annotator-{n:02d}"} for n in people))
    for n in judges:
        connection.execute(insert(Judge).values(id=n, study_id=study, rater_id=n, name=f"judge-{n}"))
        connection.execute(
            insert(JudgeConfig).values(
                id=n, judge_id=n, sha256=str(n), model="made", params={}, asked_params={}, template="",
                template_sha256="", structured=[], batching="all", max_output_tokens=1, price={}, price_source="none",
            )
        )  # fmt: skip


def _passes() -> Iterator[tuple[int, int, int]]:
    """Rater, run and pass of everything done to one item."""
    for rater in range(1, PEOPLE + 1):
        yield rater, 1, 1
    for rater in range(PEOPLE + 1, PEOPLE + JUDGES + 1):
        for number in range(2 * RUNS):
            yield rater, number // 2 + 1, number + 1


def _worked(items: int) -> Iterator[tuple[int, int, int, int, int, str]]:
    """Assignment, item (from 0), rater, run, pass and what stood left."""
    number = 0
    for item in range(items):
        for rater, run, pass_no in _passes():
            number += 1
            yield number, item, rater, run, pass_no, "AB"[(item + rater + pass_no) % 2]


def _assignments(study: int, items: int) -> Iterator[dict[str, Any]]:
    for number, item, rater, run, pass_no, left in _worked(items):
        yield {
            "id": number, "aid": opaque(), "study_id": study, "item_id": item + 1, "rater_id": rater,
            "source": "app" if rater <= PEOPLE else "judge", "slot_no": rater, "pass_no": pass_no, "repeat_no": run,
            "left": left, "plan_seed": 7, "status": "submitted", "taken_at": BEGAN,
        }  # fmt: skip


def _labels(items: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(7)
    for number, item, rater, run, _, left in _worked(items):
        shown = _pair(item) if left == "A" else _pair(item)[::-1]
        for criterion in range(CRITERIA):
            # the truth of an item and criterion, which raters miss now and then, each in ways of its own
            truth = "AB"[(item * 7 + criterion * 3) % 2]
            missed = (item * 31 + criterion * 17 + rater * 13 + run) % 10 < 2 + rater % 3
            side = "left" if (truth == left) != missed else "right"
            yield {
                "assignment_id": number, "criterion_id": criterion + 1, "revision": 1,
                "choice": "tie" if (item + criterion + rater) % 23 == 0 else side,
                "rationale": f"The {side} one: {' '.join(draw.choices(WORDS, k=18))}.",
                "left_sha256": _sha256(shown[0]), "right_sha256": _sha256(shown[1]),
                "stripper_version": "1", "created_at": BEGAN,
            }  # fmt: skip


def _events(study: int, items: int) -> Iterator[dict[str, Any]]:
    """What the pages of people sent, four times an item, an interval for each criterion."""
    for number, item, rater, *_ in _worked(items):
        for send in range(4 if rater <= PEOPLE else 0):
            start = BEGAN + timedelta(seconds=60 * item + 15 * send)
            sent = start + timedelta(seconds=15)
            intervals = [
                {"criterion": f"c{n}", "start": _at(start, n), "end": _at(start, n + 1)} for n in range(CRITERIA)
            ]
            yield {
                "study_id": study, "assignment_id": number, "rater_id": rater, "kind": "activity",
                "what": "intervals", "data": {"intervals": intervals}, "client_ts": sent.isoformat(),
                "created_at": sent,
            }  # fmt: skip


def _calls(items: int, *, bare: bool = False) -> Iterator[dict[str, Any]]:
    number = 0
    for assignment, _, rater, *_ in _worked(items):
        if rater > PEOPLE:
            number += 1
            about = {"key": f"k{number}", "judge_id": rater, "config_id": rater, "state": "done", "shown_sha256": []}
            asked = {"criteria": list(range(1, CRITERIA + 1))}
            yield {"id": number, "assignment": assignment} if bare else {"id": number, **about, **asked}


def _attempts(items: int) -> Iterator[dict[str, Any]]:
    for one in _calls(items, bare=True):
        yield {"call_id": one["id"], "attempt_no": 1, "outcome": "ok", "seconds": 3.0, "cost": 0.001 * (one["id"] % 9)}


def _at(start: datetime, second: int) -> str:
    return (start + timedelta(seconds=second)).isoformat()


def _sha256(number: int) -> str:
    return f"{number:064x}"
