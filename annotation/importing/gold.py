"""Agreed answers from a file: items for training and attention, with what was agreed about each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError, ImportingError
from annotation.importing.csv_rows import read_csv
from annotation.importing.gold_places import GoldPlaces, Wanted
from annotation.importing.records import Row, as_text, collecting
from annotation.importing.table import read_columns
from annotation.passages import compare_reports, to_stored
from annotation.people.principals import Principal, study_for
from annotation.planning.plan_root import keep_plan_root
from annotation.spreadsheets import unguarded
from annotation.studies import audit
from db.tables import Assignment, Import, Item, Report, Study

USES = ("training", "attention")
COLUMNS = ("topic", "system_a", "system_b", "probe", "criterion", "answer", "reason")
NOT_SEEN = ("open", "void")


@dataclass(frozen=True)
class GoldImported:
    """What an import of agreed answers did, in items."""

    made: int
    changed: int  # stood already, with another answer or reason
    unchanged: int


def import_gold(session: Session, principal: Principal, path: Path, use: str) -> GoldImported:
    """Make the items that `path` names, with purpose `use`; A and B are named by the study's coin as in any plan.

    All or nothing: raises ImportingError with every line that cannot be placed. Repeating an import changes nothing.
    A reason may name the systems of its item: people read "the left report" and "the right report" instead.
    An answer that differs from the one that stands is taken only while nobody has seen the item: results of those who
    did were judged by it, and would change under them. A reason may always be reworded.
    """
    study = study_for(session, principal, "admin")
    if use not in USES:
        raise AnnotationError("bad_use", f"no use {use!r}; choose training or attention")
    if study.status == "locked":
        raise AnnotationError("locked", f"study {study.name!r} is locked; nothing more can be brought in")
    problems: list[str] = []
    places = GoldPlaces(session, study)
    found: dict[tuple[Any, ...], list[tuple[Row, Wanted]]] = defaultdict(list)
    for row in read_gold(path, problems):
        with collecting(problems):
            wanted = places.wanted(row)
            found[wanted.key].append((row, wanted))
    counts = {"made": 0, "changed": 0, "unchanged": 0}
    for lines in found.values():
        with collecting(problems):
            counts[_keep(session, study, use, lines)] += 1
    if problems:
        raise ImportingError(problems)
    session.flush()
    outcome = GoldImported(**counts)
    if outcome.made or outcome.changed:
        session.add(
            Import(study_id=study.id, kind="gold", layout="gold", source=str(path), options={"use": use}, report=counts)
        )
        audit(session, study.id, principal.rater_id, "import_gold", use=use, **counts)
        session.flush()
        if study.plan_root is not None:
            keep_plan_root(session, study)
    return outcome


def read_gold(path: Path, problems: list[str]) -> list[Row]:
    """The lines of a CSV, TSV or JSON Lines file as text. Raises ImportingError where a column is missing."""
    if not path.is_file():
        raise ImportingError(f"{path}: not a file; give one .csv, .tsv or .jsonl file with an agreed answer a line")
    columns, rows = (
        read_csv(path, path.name, problems, separator="\t")
        if path.suffix.lower() == ".tsv"
        else read_columns(path, problems, "utf-8")
    )
    absent = [name for name in ("topic", "answer") if name not in columns]
    if absent:
        raise ImportingError(
            [*problems, f"{path.name}:1: no column {absent[0]!r} (found: {', '.join(columns)}); add it"]
        )
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown:
        problems.append(f"{path.name}:1: unknown column {unknown[0]!r}; known are {', '.join(COLUMNS)}")
    if not rows:
        problems.append(f"{path.name}: no rows; give a file with an agreed answer a line")
    return [
        Row(row.where, {name: unguarded(as_text(row.values.get(name)) or "").strip() for name in COLUMNS})
        for row in rows
    ]


def _keep(session: Session, study: Study, use: str, lines: Sequence[tuple[Row, Wanted]]) -> str:
    """Make or complete the item of these lines; says which. Raises ImportingError naming the line."""
    row, wanted = lines[0]
    gold: dict[str, dict[str, str]] = {}
    for line, one in lines:
        if one.criterion in gold:
            raise ImportingError(f"{line.where}: {one.criterion} of this item is answered twice; remove one line")
        gold[one.criterion] = {"answer": one.answer, "reason": one.reason}
    item = _standing(session, study, wanted)
    if item is None:
        session.add(_new_item(session, study, wanted, use, gold))
        return "made"
    if item.excluded_at is not None:
        raise ImportingError(f"{row.where}: this item was taken out of the study; choose another")
    work = session.scalars(select(Assignment.status).where(Assignment.item_id == item.id)).all()
    if item.purpose == "label" and any(status != "void" for status in work):
        raise ImportingError(
            f"{row.where}: this item has slots for labels, so it cannot be {use} as well; choose another, or bring in "
            "agreed answers before planning with calipers pairs"
        )
    standing = item.gold or {}
    merged = standing | gold
    is_same = item.purpose == use and {code: one["answer"] for code, one in merged.items()} == {
        code: one["answer"] for code, one in standing.items()
    }
    if item.purpose != "label" and not is_same and any(status not in NOT_SEEN for status in work):
        raise ImportingError(
            f"{row.where}: somebody has answered this item by the agreed answers that stand "
            f"({item.purpose}: {_said(standing)}); they can no longer change, only their reasons can"
        )
    if is_same and merged == standing:
        return "unchanged"
    was_label = item.purpose == "label"
    item.purpose, item.gold = use, merged
    return "made" if was_label else "changed"


def _standing(session: Session, study: Study, wanted: Wanted) -> Item | None:
    if wanted.item is not None:
        return session.get_one(Item, wanted.item)
    ids = [report.report for report in wanted.reports]
    rows = select(Item).where(Item.study_id == study.id, Item.report_a_id.in_(ids))
    if len(ids) == 2:
        return session.scalar(rows.where(Item.kind == "pair", Item.report_b_id.in_(ids)))
    beside = wanted.reference.report if wanted.reference else None
    return session.scalar(
        rows.where(
            Item.kind == "report", Item.reference_id.is_(None) if beside is None else Item.reference_id == beside
        )
    )


def _new_item(session: Session, study: Study, wanted: Wanted, use: str, gold: Mapping[str, Any]) -> Item:
    a, b = (*wanted.reports, None)[:2]
    item = Item(
        study_id=study.id, topic_id=wanted.topic, kind="pair" if b else "report", purpose=use, gold=dict(gold),
        report_a_id=a.report if a else None, report_b_id=b.report if b else None,
        reference_id=wanted.reference.report if wanted.reference else None,
    )  # fmt: skip
    # worked out now, as a plan does: a page that takes longer than the others would say that it is no item like them
    shown = [session.get_one(Report, one.report) for one in (a, b or wanted.reference) if one]
    if len(shown) == 2:
        one, other = shown
        alike = compare_reports(one.shown_text, other.shown_text)
        item.passages = to_stored(alike, one.shown_sha256, other.shown_sha256)
    return item


def _said(gold: Mapping[str, Mapping[str, str]]) -> str:
    return ", ".join(f"{code} {one['answer']}" for code, one in gold.items())
