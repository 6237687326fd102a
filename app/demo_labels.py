"""The labels-only demo study: simulated labels of 40 topics, brought in through the doors that own labels come by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.importing.records import Parsed, ReportRecord, Row, SystemRecord, TopicRecord
from annotation.importing.results import ResultOptions, Results
from annotation.importing.results_write import import_results
from annotation.importing.write import import_reports
from annotation.people.principals import Principal, local_admin
from annotation.planning.listed_pairs import PairList
from annotation.planning.slots import apply_plan, make_plan
from annotation.studies import init_study
from annotation.study_status import set_status
from app.demo_story import CATEGORIES, SEED, SYSTEMS, TOPICS, pairs, paragraphs, story
from db.connect import transaction
from db.tables import Study

NAME = "demo-labels"
PROTOCOL = Path(__file__).parent / "demo_story.toml"
SOURCE = "simulated by calipers demo"


def make_labels_demo(engine: Engine, progress: Callable[[int, int], None] = lambda done, of: None) -> bool:
    """Make the study if it is not there yet, and close it; True when it was made. All or nothing."""
    with transaction(engine) as session:
        if session.scalar(select(Study.id).where(Study.name == NAME)) is not None:
            return False
        study = init_study(session, NAME, PROTOCOL.read_text(encoding="utf-8"), SEED, is_simulated=True)
        admin = local_admin(study)
        import_reports(session, admin, _reports(), layout="table", source=SOURCE)
        _make_items(session, admin)
        set_status(session, admin, "open")
        progress(1, 3)
        found, options = Results(tuple(story())), ResultOptions(paired=True)
        progress(2, 3)
        import_results(session, admin, found, kind="labels", layout="labels", source=SOURCE, options=options)
        set_status(session, admin, "closed")  # its systems may be named, and judges' families with them
    progress(3, 3)
    return True


def _reports() -> Parsed:
    topics = [
        TopicRecord(key, f"Simulated topic {key[-2:]}", category=CATEGORIES[number % len(CATEGORIES)])
        for number, key in enumerate(TOPICS)
    ]
    systems = [SystemRecord(name, name, family=family) for name, family in SYSTEMS.items()]
    reports = [_report(topic, system) for topic in TOPICS for system in SYSTEMS]
    return Parsed(tuple(topics), tuple(systems), tuple(reports))


def _report(topic: str, system: str) -> ReportRecord:
    """A text that has nothing but a length."""
    told = "This study has labels only. The paragraphs below stand where a report would, and give it a length."
    numbers = range(1, paragraphs(topic, system) + 1)
    filling = (f"Simulated paragraph {number}: the report has no text." for number in numbers)
    text = "\n\n".join([told, *filling])
    return ReportRecord(topic, system, f"{SOURCE}: {topic}, {system}", text.encode(), text, "utf-8")


def _make_items(session: Session, admin: Principal) -> None:
    """The story's pairs, without slots: nobody is to be asked here."""
    rows = [
        Row(f"{SOURCE}:{line}", {"topic": one.topic, "system_a": one.systems[0], "system_b": one.systems[1]})
        for line, one in enumerate(pairs(), start=1)
    ]
    apply_plan(session, admin, make_plan(session, admin, listed=PairList(tuple(rows), ""), overlap=0))
