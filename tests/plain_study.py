"""A study made of rows alone, for tests of who gets which work: as many items and people as a test wants, at once."""

from __future__ import annotations

import random
from itertools import combinations

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.designs.sides_and_orders import orient
from annotation.labelling import save, submit
from annotation.people.principals import Principal, enroll
from annotation.studies import init_study
from annotation.work.page import assignment_page
from db.connect import transaction
from db.people_tables import Rater
from db.tables import Assignment, Import, Item, Report, Study, System, Topic
from tests.prepared import prepared
from tests.small_study import answer

PROTOCOL = """
format = "calipers-protocol/1"
name = "plain"
title = "A plain study"
task_type = "pairwise_choice"
task = "Which report is better?"
[study]
topic_once = false
retest_share = 0.0
[[criterion]]
id = "better"
label = "Better"
text = "Which is better?"
"""


@prepared
def plain_study(
    engine: Engine, items: int, overlap: int, *, name: str = "plain", protocol: str = PROTOCOL, per_topic: int = 10
) -> int:
    """An open study of pairs, ten a topic, sides even over all slots as a plan draws them; its id."""
    with transaction(engine) as session:
        study = init_study(session, name, protocol, 7)
        study.status = "open"
        source = Import(study_id=study.id, kind="reports", layout="folder", source="here")
        systems = [System(study_id=study.id, key=key, public_name=key) for key in "abcde"]
        topics = [Topic(study_id=study.id, key=f"t{n}", title=f"T {n}") for n in range(-(-items // per_topic))]
        session.add_all([source, *systems, *topics])
        session.flush()
        pairs: list[Item] = []
        for topic in topics:
            reports = [_report(study, topic, system, source) for system in systems]
            session.add_all(reports)
            session.flush()
            for a, b in list(combinations(reports, 2))[: min(per_topic, items - len(pairs))]:
                pairs.append(
                    Item(study_id=study.id, topic_id=topic.id, kind="pair", report_a_id=a.id, report_b_id=b.id)
                )
        session.add_all(pairs)
        session.flush()
        slots = [(item, slot) for item in pairs for slot in range(1, overlap + 1)]
        random.Random(items).shuffle(slots)
        by = {report.id: report.system_id for report in session.scalars(select(Report))}
        is_a_left = orient([(str(by[item.report_a_id or 0]), str(by[item.report_b_id or 0])) for item, _ in slots])
        session.add_all(
            Assignment(study_id=study.id, item_id=item.id, slot_no=slot, left="A" if a else "B", plan_seed=7)
            for (item, slot), a in zip(slots, is_a_left, strict=True)
        )
        return study.id


def attention_items(session: Session, study_id: int, count: int) -> None:
    """So many attention items, on topics of their own; system a's report is the agreed better one."""
    study = session.get_one(Study, study_id)
    systems = session.query(System).filter_by(study_id=study_id).order_by(System.id).all()
    source = session.query(Import).filter_by(study_id=study_id).first()
    assert source is not None
    for number in range(count):
        topic = Topic(study_id=study_id, key=f"attention{number}", title="Another")
        session.add(topic)
        session.flush()
        reports = [_report(study, topic, system, source) for system in systems[:2]]
        session.add_all(reports)
        session.flush()
        gold = {"better": {"answer": "A", "reason": "it says so"}}
        session.add(
            Item(
                study_id=study_id, topic_id=topic.id, kind="pair", report_a_id=reports[0].id,
                report_b_id=reports[1].id, purpose="attention", gold=gold,
            )
        )  # fmt: skip
    session.flush()


def people_of(engine: Engine, study_id: int, count: int, quota: int | None = None) -> list[Principal]:
    with transaction(engine) as session:
        return [person(session, study_id, f"p{number}", quota) for number in range(count)]


def person(session: Session, study_id: int, name: str, quota: int | None = None) -> Principal:
    enrolled = enroll(session, session.get_one(Study, study_id), name, "annotator")
    enrolled.quota = quota
    rater = session.get_one(Rater, enrolled.rater_id)
    return Principal(study_id, "annotator", rater.id, enrolled.id, rater.opaque_id)


def hand_in(session: Session, principal: Principal, aid: str, choice: str = "left") -> str | None:
    """The one question answered and handed in, as the page does it; the next aid."""
    page = assignment_page(session, principal, aid)
    rev = save(session, principal, [answer(page, "better", choice, client_uuid=f"answer-{aid}")]).acks[0]["rev"]
    reply = submit(session, principal, aid, page["page"], f"hand-in-{aid}", {"better": rev})
    following: str | None = reply["next"]
    return following


def _report(study: Study, topic: Topic, system: System, source: Import) -> Report:
    text = f"# {topic.key}\n\nA report in manner {system.key}."
    return Report(
        study_id=study.id, topic_id=topic.id, system_id=system.id, import_id=source.id, original=text.encode(),
        original_sha256=f"{topic.id}{system.id}", original_text=text, shown_text=text,
        shown_sha256=f"{topic.id}-{system.id}".rjust(64, "0"), stripper_version="0", words=6,
    )  # fmt: skip
