"""The columns of exported files, each held against the study's own rows, which are joined here and by nothing of calipers.

Of a label that a judge gave here `seconds` and `cost_usd` are an even share of its call's attempts.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
from pyarrow import parquet
from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from db.connect import reading
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment
from db.people_tables import Enrollment, Rater
from db.tables import Assignment, Criterion, Item, Label, Report, Study, System, Topic
from tests.studies.desk import Desk

Row = dict[str, Any]
SHARES = ("seconds", "cost_usd")
CHAIN = ("previous_sha256", "sha256")
SIDES = {"A": "AB", "B": "BA"}
OTHER = {"A": "B", "B": "A"}
HAN = re.compile(r"[\u3400-\u9fff]")
UNITS = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")
A, B, REFERENCE, OF_A, OF_B, TWIN = (
    *(aliased(Report) for _ in range(3)), *(aliased(System) for _ in range(2)), aliased(Item),
)  # fmt: skip


def every_revision(desk: Desk, study: str) -> list[Row]:
    """Each label that was written, with all that a dataset and a table of labels say of it."""
    rows = (
        select(
            Label, Assignment, Item, Topic, Criterion, Rater.kind, Enrollment.pseudonym, Judge.name, OF_A.key, OF_B.key,
            A.shown_text, B.shown_text, REFERENCE.shown_sha256, TWIN.id,
        )
        .join(Assignment, Assignment.id == Label.assignment_id).join(Criterion, Criterion.id == Label.criterion_id)
        .join(Item, Item.id == Assignment.item_id).join(Topic, Topic.id == Item.topic_id)
        .join(Study, Study.id == Assignment.study_id).outerjoin(Rater, Rater.id == Assignment.rater_id)
        .outerjoin(Enrollment, (Enrollment.rater_id == Rater.id) & (Enrollment.study_id == Study.id))
        .outerjoin(Judge, Judge.rater_id == Rater.id)
        .outerjoin(A, A.id == Item.report_a_id).outerjoin(OF_A, OF_A.id == A.system_id)
        .outerjoin(B, B.id == Item.report_b_id).outerjoin(OF_B, OF_B.id == B.system_id)
        .outerjoin(REFERENCE, REFERENCE.id == Item.reference_id)
        .outerjoin(TWIN, (TWIN.report_a_id == Item.reference_id) & (TWIN.reference_id == Item.report_a_id))
        .where(Study.name == study).order_by(Label.assignment_id, Label.id)
    )  # fmt: skip
    with reading(desk.engine) as session:
        claims, found = _claims(session, study), session.execute(rows).all()
        newest: dict[tuple[int, int], int] = {}
        for label, *_ in found:
            place = label.assignment_id, label.criterion_id
            newest[place] = max(newest.get(place, 0), label.revision)
        return [
            _row(*row, claims=claims, is_current=row[0].revision == newest[row[0].assignment_id, row[0].criterion_id])
            for row in found
        ]


def _claims(session: Session, study: str) -> dict[int, int]:
    """Item -> the first of several that put one claim to several sources; none where the report itself is read."""
    (protocol,) = session.scalars(select(Study.protocol_text).where(Study.name == study))
    rows = select(Item.id, Item.topic_id, Item.report_a_id, Item.probe).join(Study, Study.id == Item.study_id)
    of: dict[Any, list[int]] = {}
    for item, *claim in session.execute(rows.where(Study.name == study, Item.kind == "probe").order_by(Item.id)):
        of.setdefault(tuple(claim), []).append(item)
    several = [] if re.search(r'^context = "report"', protocol, re.MULTILINE) else of.values()
    return {item: same[0] for same in several if len(same) > 1 for item in same}


def _row(
    label: Label, slot: Assignment, item: Item, topic: Topic, criterion: Criterion, kind: str, person: str | None,
    judge: str | None, a: str | None, b: str | None, text_a: str | None, text_b: str | None, brought: str | None,
    twin: int | None, *, claims: Mapping[int, int], is_current: bool,
) -> Row:  # fmt: skip
    sided = {"left": slot.left, "right": OTHER.get(slot.left or "")} if slot.left else {}
    assert not label.evidence, "nobody quotes in a walk"
    return {
        "place": (slot.id, criterion.id), "assignment": f"assignment-{slot.id:05d}", "assignment_status": slot.status, "purpose": slot.purpose,
        "source": slot.source, "item_id": f"item-{item.id:05d}", "item_kind": item.kind, "topic": topic.key,
        "cluster_id": topic.key, "category": topic.category, "probe": item.probe, "tag": item.tag,
        "claim": f"item-{claims[item.id]:05d}" if item.id in claims else None,
        "beside": f"item-{twin:05d}" if twin else None, "system_a": a, "system_b": b,
        "presentation": SIDES.get(slot.left or ""), "rater_id": judge or person, "rater_kind": kind,
        "run": slot.repeat_no, "pass_no": slot.pass_no, "criterion": criterion.code,
        "criterion_sha256": criterion.text_sha256, "revision": label.revision, "is_current": is_current,
        "status": label.status, "choice": label.choice, "label": sided.get(label.choice, label.choice),
        "confidence": label.confidence, "flags": " ".join(label.flags), "rationale": label.rationale, "evidence": "",
        "left_sha256": label.left_sha256, "right_sha256": label.right_sha256,
        "brought_sha256": brought if item.kind == "pair" else None, "stripper_version": label.stripper_version,
        "renderer_version": label.renderer_version, "parser_version": label.parser_version,
        "after_reveal": label.after_reveal, "created_at": label.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "len_a": text_a and len(text_a), "len_b": text_b and len(text_b), "weight": criterion.weight,
        "seconds": label.seconds, "cost_usd": label.cost_usd,
    }  # fmt: skip


def _cell(value: Any) -> str:
    """A value as every form of a file has it: a number by its worth, nothing as ""."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        return "" if value != value else f"{value:.12g}"
    return "" if value is None else str(value)


def _same(came: Iterable[Mapping[str, Any]], told: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> None:
    names, (found, expected) = [*columns], ([*rows] for rows in (came, told))
    for name in names:
        one, other = (Counter(_cell(row[name]) for row in rows) for rows in (found, expected))
        assert one == other, f"the column {name}: {[*(one - other)][:3]} and not {[*(other - one)][:3]}"
    whole = (Counter(tuple(_cell(row[name]) for name in names) for row in rows) for rows in (found, expected))
    assert next(whole) == next(whole), "the columns, row by row"


def same_labels(desk: Desk, study: str, rows: pd.DataFrame) -> None:
    """A table of labels, as read with all cells as text, has in each column what the study holds."""
    told = [row for row in every_revision(desk, study) if row["is_current"]]
    told = [row for row in told if row["assignment_status"] in ("submitted", "locked")]
    for row in told:
        row["status"] = row["status"].replace("truncated", "invalid")
    shares = _shares(desk, study)
    for row in told:
        row.update(zip(SHARES, shares.get(row["place"], [row[name] for name in SHARES]), strict=True))
    rows = rows.assign(**{name: pd.to_numeric(rows[name]) for name in SHARES})
    _same(rows.to_dict("records"), told, [name for name in rows.columns if name not in ("topic", "settings_tried")])


def _shares(desk: Desk, study: str) -> dict[tuple[int, int], tuple[float, float | None]]:
    """Of each label that a judge gave here, by its slot and question: what one of its call's labels took, and cost."""
    taken = select(JudgeAttempt.call_id, func.sum(JudgeAttempt.seconds), func.sum(JudgeAttempt.cost))
    taken = taken.group_by(JudgeAttempt.call_id)
    calls = select(JudgeCall.id, JudgeCall.criteria, JudgeCallAssignment.assignment_id)
    calls = calls.join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
    calls = calls.join(Judge, Judge.id == JudgeCall.judge_id).join(Study, Study.id == Judge.study_id)
    with reading(desk.engine) as session:
        took = {call: (seconds, usd) for call, seconds, usd in session.execute(taken)}
        served = session.execute(calls.where(Study.name == study)).all()
    labels = Counter[int]()
    for call, criteria, _ in served:
        labels[call] += len(criteria)
    return {
        (slot, criterion): tuple(None if sum_of is None else sum_of / labels[call] for sum_of in took[call])
        for call, criteria, slot in served
        for criterion in criteria
    }


def same_dataset(desk: Desk, study: str, rows: list[Row]) -> None:
    """The labels of a dataset have in each column what the study holds, and each row the hash of the one before it."""
    _same(rows, every_revision(desk, study), [name for name in rows[0] if name not in CHAIN])
    for _, of_slot in groupby(rows, key=lambda row: row["assignment"]):
        before = ""
        for row in of_slot:
            assert row["previous_sha256"] == before
            bare = {name: value for name, value in row.items() if name != "sha256"}
            text = json.dumps(bare, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            assert row["sha256"] == (before := sha256(text.encode()).hexdigest())


def same_twins(folder: Path, name: str, rows: list[Row]) -> None:
    """The same table as Parquet, and as CSV where there is one, has what its JSON lines have, row by row."""
    assert parquet.read_table(folder / f"{name}.parquet").to_pylist() == rows, f"{name}.parquet"
    if (path := folder / f"{name}.csv").exists():
        with path.open(encoding="utf-8", newline="") as file:
            found = [{key: cell.removeprefix("'") for key, cell in row.items()} for row in csv.DictReader(file)]
        told = [{key: "" if one is None else str(one).removeprefix("'") for key, one in row.items()} for row in rows]
        assert found == told, path.name


def same_texts(desk: Desk, study: str, rows: list[Row]) -> None:
    """The texts of a dataset: of whom and what, and their lengths, which are counted here."""
    asked = select(Topic.key, Topic.language).join(Study, Study.id == Topic.study_id).where(Study.name == study)
    systems = select(System.key, System.is_reference).join(Study, Study.id == System.study_id)
    with reading(desk.engine) as session:
        languages = {topic: language for topic, language in session.execute(asked)}
        references = {key: is_one for key, is_one in session.execute(systems.where(Study.name == study))}
    for row in rows:
        text = row["text"]
        told = {
            "sha256": sha256(text.encode()).hexdigest(), "kind": "report" if row["system"] else "sources",
            "topic": row["topic"], "language": languages[row["topic"]], "system": row["system"],
            "is_reference": references.get(row["system"], False), "words": _words(text), "characters": len(text),
            "text": text,
        }  # fmt: skip
        assert row == told


def _words(text: str) -> int:
    """Runs of non-blanks; of one with Chinese each of its characters, and what else is no mark."""
    return sum(len(UNITS.findall(run)) if HAN.search(run) else 1 for run in text.split())


def same_criteria(desk: Desk, study: str, rows: list[Row]) -> None:
    asked = select(Criterion, Topic.key).join(Study, Study.id == Criterion.study_id)
    asked = asked.outerjoin(Topic, Topic.id == Criterion.topic_id).where(Study.name == study)
    with reading(desk.engine) as session:
        told = [
            {"criterion": one.code, "sha256": one.text_sha256, "topic": topic, "is_asked": one.retired_at is None}
            | {name: getattr(one, name) for name in ("label", "text", "category", "subcategory", "weight")}
            for one, topic in session.execute(asked)
        ]
    _same(rows, told, rows[0])
