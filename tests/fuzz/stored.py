"""What may stand in a database, said once more and independently of the code that writes it; and whether it changed."""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Engine

import db.judge_tables
import db.people_tables
import db.tables  # noqa: F401
from annotation.facts.soundness import find_faults
from annotation.importing.reports.records import NO_ANSWER
from db.connect import reading
from db.types import Record

ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
SHA = re.compile(r"(unproved:)?[0-9a-f]{64}")
LONGEST = {"rationale": 10_000, "comment": 2_000, "quote": 2_000, "choice": 200, "preferences": 11_000}
NAMES = {"topics": ("key",), "systems": ("key",), "criteria": ("code",), "studies": ("name",)}
Rows = dict[str, list[Any]]


def everything(engine: Engine) -> Rows:
    """Every row of every table, in the order of its key."""
    with reading(engine) as session:
        return {
            table.name: [row._mapping for row in session.execute(sa.select(table).order_by(*table.primary_key))]
            for table in Record.metadata.sorted_tables
        }


def fingerprint(rows: Rows) -> str:
    """Of all tables but the database's own keys, made when first asked for; equal ones mean that nothing was written."""
    told = {name: table for name, table in rows.items() if name != "keys"}
    plain = {name: [[repr(value) for value in row.values()] for row in table] for name, table in told.items()}
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


def wrong(engine: Engine) -> list[str]:
    """Everything that stands in the database and should have been refused; empty when all is well."""
    rows = everything(engine)
    with reading(engine) as session:
        found = [f"doctor: {fault.rule}: {fault.first}" for fault in find_faults(session)]
    found += [problem for table in Record.metadata.sorted_tables for problem in _cells(table, rows[table.name])]
    return [*found, *_names(rows), *_reports(rows), *_labels(rows), *_events(rows), *_work(rows)]


def _cells(table: sa.Table, rows: list[Any]) -> Iterator[str]:
    """Whatever the column: numbers that both databases hold, text that both can keep."""
    for row in rows:
        for column in table.columns:
            value, where = row[column.name], f"{table.name}.{column.name}"
            if isinstance(column.type, sa.Integer) and value is not None and not isinstance(value, bool):
                most = 2**63 if isinstance(column.type, sa.BigInteger) else 2**31
                if not isinstance(value, int) or not -most <= value < most:
                    yield f"{where}: {value!r} does not fit"
            yield from (f"{where}: {problem}" for problem in _plain(value))


def _plain(value: Any) -> Iterator[str]:
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{value} is no number"
    elif isinstance(value, int) and abs(value) >= 2**63:
        yield "a number beyond 64 bits"
    elif isinstance(value, str) and ("\0" in value or any("\ud800" <= one <= "\udfff" for one in value)):
        yield f"{value[:40]!r} is no text"
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _plain(key)
            yield from _plain(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _plain(inner)


def _names(rows: Rows) -> Iterator[str]:
    for table, columns in NAMES.items():
        for row in rows[table]:
            for column in columns:
                name = row[column]
                if not name or name != unicodedata.normalize("NFC", name).strip():
                    yield f"{table}.{column}: {name!r} is no name that can be matched"
    for row in rows["criteria"]:
        if (
            not (math.isfinite(row["weight"]) and row["weight"] >= 0)
            or not row["text"].strip()
            or not row["label"].strip()
        ):
            yield f"criteria: {dict(row)!r:.200}"


def _reports(rows: Rows) -> Iterator[str]:
    for row in rows["reports"]:
        if hashlib.sha256(row["original"]).hexdigest() != row["original_sha256"]:
            yield f"report {row['id']}: its original is not what its hash says"
        if hashlib.sha256(row["shown_text"].encode()).hexdigest() != row["shown_sha256"]:
            yield f"report {row['id']}: its shown text is not what its hash says"
        text = row["shown_text"].strip()
        last = text.rpartition("\n")[2].strip()  # below its title
        is_notice = last.rstrip(".") in ("", *NO_ANSWER)  # an agent's word that it wrote nothing
        if row["words"] < 0 or (row["status"] == "ready" and not text) or (row["status"] == "empty" and not is_notice):
            yield f"report {row['id']}: {row['status']} with {row['words']} words"


def _labels(rows: Rows) -> Iterator[str]:
    studies, criteria = _by_id(rows["studies"]), _by_id(rows["criteria"])
    assignments, items = _by_id(rows["assignments"]), _by_id(rows["items"])
    shown = {row["shown_sha256"] for row in rows["reports"]}
    for row in rows["labels"]:
        criterion, work = criteria[row["criterion_id"]], assignments[row["assignment_id"]]
        item = items[work["item_id"]]
        where = (
            ("A", "B") if work["source"] == "import" and work["left"] is None else ()
        )  # nobody wrote down who stood left
        study = studies[work["study_id"]]
        if row["choice"] not in (None, *where) and not _may_be(row["choice"], criterion, study):
            yield f"label {row['id']}: {row['choice']!r} is no answer to {criterion['code']}"
        if criterion["topic_id"] not in (None, item["topic_id"]):
            yield f"label {row['id']}: answers a question of another topic"
        read = {row["left_sha256"], row["right_sha256"]} - {None, ""}
        # what was judged elsewhere says itself what it read
        if not (all(map(SHA.fullmatch, read)) if work["source"] == "import" else read <= shown):
            yield f"label {row['id']}: read the texts {read}"
        for name in ("seconds", "cost_usd"):
            if row[name] is not None and row[name] < 0:
                yield f"label {row['id']}: {name} {row[name]}"
        if work["source"] == "import":
            continue
        if len(row["rationale"]) > LONGEST["rationale"] or not ID.fullmatch(row["client_uuid"] or ""):
            yield f"label {row['id']}: {len(row['rationale'])} characters of rationale, id {row['client_uuid']!r}"
        if len(row["evidence"]) > 20 or any(len(span["quote"]) > LONGEST["quote"] for span in row["evidence"]):
            yield f"label {row['id']}: too much evidence"
        yield from _time(f"label {row['id']}", row["client_ts"])


def _may_be(choice: str, criterion: Any, study: Any) -> bool:
    """By the protocol's own text, read with a reader that is not ours."""
    import tomllib

    protocol = tomllib.loads(study["protocol_text"])
    answers, kind = protocol.get("answers", {}), protocol["task_type"]
    if choice == "not_applicable":
        return bool(answers.get("allow_not_applicable", False))
    if kind == "pairwise_choice":
        return choice in ("left", "right", *(("tie",) if answers.get("allow_tie") else ()))
    if kind == "probe_label":
        return choice in [label["id"] for label in answers["labels"]]
    scale = {"min": 0, "max": 10, "step": 1, **answers.get("scale", {}), **(criterion["scale"] or {})}
    try:
        score = float(choice)
    except ValueError:
        return False
    step = scale["step"]
    on_step = not step or math.isclose(
        (score - scale["min"]) / step, round((score - scale["min"]) / step), abs_tol=1e-6
    )
    plain = re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", choice, re.ASCII) is not None
    return plain and scale["min"] <= score <= scale["max"] and on_step


def _events(rows: Rows) -> Iterator[str]:
    for row in rows["events"]:
        if row["kind"] in ("flag", "comment") and len(row["data"].get("text", "")) > LONGEST["comment"]:
            yield f"event {row['id']}: {len(row['data']['text'])} characters"
        if row["kind"] == "activity":
            for interval in row["data"]["intervals"]:
                yield from _time(f"event {row['id']}", interval["start"])
                yield from _time(f"event {row['id']}", interval["end"])
        yield from _time(f"event {row['id']}", row["client_ts"])
    for row in rows["enrollments"]:
        if len(json.dumps(row["preferences"])) > LONGEST["preferences"] or (row["quota"] or 0) < 0:
            yield f"enrollment {row['id']}: {row['preferences']!r:.80}, quota {row['quota']}"


def _work(rows: Rows) -> Iterator[str]:
    for row in rows["assignments"]:
        place = row["place"]
        shares = [place.get(name) for name in ("left", "right", "left_read", "right_read")]
        if any(share is not None and not 0 <= share <= 1 for share in shares) or len(json.dumps(place)) > 1_500:
            yield f"assignment {row['id']}: place {place!r:.80}"
    for row in rows["items"]:
        if row["kind"] == "probe" and not (row["probe"] or "").strip():
            yield f"item {row['id']}: a probe that asks nothing"


def _time(what: str, text: str | None) -> Iterator[str]:
    if text and not 2000 <= datetime.fromisoformat(text).year <= 2200:
        yield f"{what}: time {text!r}"


def _by_id(rows: list[Any]) -> dict[int, Any]:
    return {row["id"]: row for row in rows}
