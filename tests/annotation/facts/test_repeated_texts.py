"""A topic that is there twice is seen by its reports, whatever it is called; short texts and left-out items are not."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Engine, select

from annotation.facts.topic_facts import topics_of_one_text
from annotation.people.principals import local_admin
from app.results.study_reports import shown_report
from db.connect import reading, transaction
from db.tables import Item, Study, Topic
from tests.disputed_study import CHOICES, QUOTE, annotate
from tests.small_study import a_person, make_study

LONG = "It rises twice a day, and the moon does it, as everybody who lives by the OWN has known since there were any."
SAME, SHORT = LONG.replace("OWN", "sea"), "I cannot."
TEXTS = {
    "tides": SAME,
    "ebb": SAME,
    "bread": LONG,
    "noise": LONG,
    "hush": SHORT,
    "calm": SHORT,
}  # bread, noise: in part


def found_in(engine: Engine) -> list[tuple[str, ...]]:
    with reading(engine) as session:
        return topics_of_one_text(session, session.scalars(select(Study)).one())


def test_topics_that_share_all_texts_are_told_together(engine: Engine, tmp_path: Path) -> None:
    for number, system in enumerate(("atlas", "borealis")):
        (tmp_path / system).mkdir()
        for topic, text in TEXTS.items():
            written = text.replace("OWN", topic if number else "sea")
            (tmp_path / system / f"{topic}.md").write_text(f"# Report\n\nBy {number}: {written} {QUOTE}\n", "utf-8")
    study = make_study(engine, tmp_path, overlap=2)
    assert found_in(engine) == [("ebb", "tides")]
    with transaction(engine) as session:
        for name, choices in CHOICES.items():
            annotate(session, a_person(session, study, name), choices)
        admin = local_admin(session.scalars(select(Study)).one())
    (told,) = [one.text for one in shown_report(engine, admin, resamples=99).report.warnings if "topics" in one.code]
    assert "(ebb and tides)" in told
    with transaction(engine) as session:
        ebb = select(Topic.id).where(Topic.key == "ebb")
        for item in session.scalars(select(Item).where(Item.topic_id.in_(ebb))):
            item.excluded_at = datetime.now(UTC)
    assert found_in(engine) == []
