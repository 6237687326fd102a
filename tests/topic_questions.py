"""A DeepResearch Bench tree whose questions come with its topics, and a study of it: both reports rated in one view."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select

from annotation.importing.reports.deepresearch_bench import CRITERIA, QUERIES, RAW, read_deepresearch_bench
from annotation.importing.reports.import_report import ImportReport
from annotation.importing.reports.write import import_reports
from annotation.people.principals import local_admin
from annotation.studies import init_study
from db.connect import reading, transaction
from db.tables import Criterion, Item, Report, Study, System, Topic

BOTH = """
format = "calipers-protocol/1"
name = "small"
title = "A small study whose questions come with its topics"
task_type = "pointwise_rating"
task = "How good is each report?"
criteria_from = "topics"
[answers]
paired_view = "both"
scale = {min = 0, max = 10, step = 0}
[study]
topic_once = false
retest_share = 0.0
blind_until = "open"
"""
ALONE = BOTH.replace('paired_view = "both"\n', "")
REFERENCE = "data/test_data/cleaned_data/reference.jsonl"
# topic -> group -> (the group's weight, its criteria's own weights)
Weights = Mapping[str, Mapping[str, tuple[str, Sequence[str]]]]
WEIGHTS: Weights = {
    "1": {"insight": ("0.6", ("0.25", "0.75")), "readability": ("0.4", ("1.0",))},
    "2": {"insight": ("0.3", ("0.2", "0.3", "0.5")), "readability": ("0.7", ("0.5", "0.5"))},
}
ROW_WEIGHTS = {
    "1": {"insight_1": 0.15, "insight_2": 0.45, "readability_1": 0.4},
    "2": {"insight_1": 0.06, "insight_2": 0.09, "insight_3": 0.15, "readability_1": 0.35, "readability_2": 0.35},
}  # group x own, by hand


def criteria_rows(weights: Weights = WEIGHTS) -> list[dict[str, Any]]:
    """The lines of criteria.jsonl; weights are written as given, digit by digit."""
    return [
        {
            "id": int(topic),
            "prompt": f"Write on question {topic}.",
            "dimension_weight": {name: float(weight) for name, (weight, _) in groups.items()},
            "criterions": {
                name: [
                    {
                        "criterion": f"{name.title()} {number} of topic {topic}",
                        "explanation": f"Does it show {name}, in the way {number}, on question {topic}?",
                        "weight": float(own),
                    }
                    for number, own in enumerate(listed, start=1)
                ]
                for name, (_, listed) in groups.items()
            },
        }
        for topic, groups in weights.items()
    ]


def lines(rows: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def bench_tree(
    root: Path,
    weights: Weights = WEIGHTS,
    systems: Sequence[str] = ("atlas", "borealis"),
    text: str = "{system} {topic}",
) -> Path:
    """Queries, reports of `systems` and of the reference, and the criteria. `text` is a report's body."""
    files = {
        QUERIES: [{"id": int(t), "topic": "Science", "language": "en", "prompt": f"Write on question {t}."} for t in weights],
        **{f"{RAW}/{system}.jsonl": _reports(weights, system, text) for system in systems},
        REFERENCE: _reports(weights, "reference", text),
        CRITERIA: criteria_rows(weights),
    }  # fmt: skip
    for path, rows in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(lines(rows), encoding="utf-8")
    return root


def bring_in(engine: Engine, root: Path, protocol: str = BOTH, **options: Any) -> ImportReport:
    """Read the tree and import it into the study called small, which is made where it is not there."""
    with transaction(engine) as session:
        study = init_study(session, "small", protocol, 7)
        parsed = read_deepresearch_bench(root)
        return import_reports(
            session, local_admin(study), parsed, layout="deepresearch_bench", source="here", **options
        )


def asked(engine: Engine, *, retired: bool = False) -> dict[str, dict[str, tuple[int, str, float]]]:
    """topic -> code -> (row, words, weight) of the questions asked now, or of those that no longer are."""
    rows = (
        select(Topic.key, Criterion.code, Criterion.id, Criterion.label, Criterion.weight)
        .join(Topic, Topic.id == Criterion.topic_id)
        .where(Criterion.retired_at.is_not(None) if retired else Criterion.retired_at.is_(None))
        .order_by(Criterion.position, Criterion.id)
    )
    found: dict[str, dict[str, tuple[int, str, float]]] = {}
    with reading(engine) as session:
        for topic, code, key, label, weight in session.execute(rows):
            found.setdefault(topic, {})[code] = (key, label, weight)
    return found


def the_study(engine: Engine) -> Study:
    with reading(engine) as session:
        return session.scalars(select(Study)).one()


def _reports(weights: Weights, system: str, text: str) -> list[dict[str, Any]]:
    return [
        {
            "id": int(topic),
            "prompt": f"Write on question {topic}.",
            "article": f"# On question {topic}\n\n{text.format(system=_manner(system), topic=topic)}\n\n{FILL * 6}",
        }
        for topic in weights
    ]


def _manner(system: str) -> str:
    """Says nothing of who wrote it, and yet no two are alike."""
    return f"Written in manner {sum(map(ord, system)) % 97}."


FILL = "Tides rise and fall twice a day, because the Earth turns under two bulges of water. "


def add_views(engine: Engine) -> dict[int, int]:
    """Every report beside the reference of its topic, both to be rated; item of the target -> item of the reference."""
    twins: dict[int, int] = {}
    with transaction(engine) as session:
        reports = session.execute(
            select(Report.id, Report.topic_id, System.is_reference)
            .join(System, System.id == Report.system_id)
            .order_by(Report.topic_id, Report.id)
        ).all()
        for target, topic, is_reference in reports:
            if is_reference:
                continue
            reference = next(key for key, other, gold in reports if gold and other == topic)
            made = [
                Item(study_id=1, topic_id=topic, kind="report", report_a_id=own, reference_id=beside)
                for own, beside in ((target, reference), (reference, target))
            ]
            session.add_all(made)
            session.flush()
            twins[made[0].id] = made[1].id
    return twins
