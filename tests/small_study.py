"""A small study for tests: written reports, a short protocol, people, and answers by hand."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.items.shown import keep_sources
from annotation.labelling import Saved, save
from annotation.labels.entries import AnswerEntry, read_entry
from annotation.people.principals import Principal, enroll, local_admin
from annotation.planning.slots import apply_plan, compare_plan, make_plan
from annotation.shown_texts.auditing import list_reports
from annotation.studies import init_study, protocol_of
from annotation.work.open_and_close import move_study
from annotation.work.page import assignment_page
from db.connect import transaction
from db.people_tables import Rater
from db.tables import Item, Report, Source, Study
from tests.prepared import prepared

PROTOCOL = """
format = "calipers-protocol/1"
name = "small"
title = "A small study"
task_type = "pairwise_choice"
task = "Which report is better?"
guidance = "Read **both**."
rationale = {required = true, min_length = 5}
[answers]
allow_tie = true
[study]
topic_once = false
blind_until = "open"
[[criterion]]
id = "clear"
label = "Clear"
text = "Which is clearer?"
category = "Writing"
[[criterion]]
id = "deep"
label = "Deep"
text = "Which goes deeper?"
category = "Content"
"""
RATING = """
format = "calipers-protocol/1"
name = "small"
title = "A small study of scores"
task_type = "pointwise_rating"
task = "How good is this report?"
guidance = "Read all of it."
[answers]
scale = {min = 0, max = 10, step = 1, anchors = {0 = "not at all", 5 = "in part", 10 = "fully"}}
[study]
topic_once = false
blind_until = "open"
[[criterion]]
id = "clear"
label = "Clear"
text = "How clear is it?"
[[criterion]]
id = "deep"
label = "Deep"
text = "How deep does it go?"
scale = {min = 0, max = 100, step = 0.5}
"""
BESIDE = RATING.replace("[answers]", '[answers]\npaired_view = "reference"')
BOTH = RATING.replace("[answers]", '[answers]\npaired_view = "both"').replace("step = 0.5", "step = 0.1")
PROBES = """
format = "calipers-protocol/1"
name = "small"
title = "A small study of claims"
task_type = "probe_label"
task = "Does the report say so?"
[answers]
probe = "claim"
context = "report"
labels = [
    {id = "full", text = "Fully supported", weight = 1.0},
    {id = "part", text = "Supported in part, or only for some cases", weight = 0.5},
    {id = "source_unavailable", text = "The source did not load", weight = 0.0},
]
[study]
topic_once = false
retest_share = 0.0
blind_until = "open"
[[criterion]]
id = "supported"
label = "Supported"
text = "Is the claim supported?"
"""
TOPICS = ("tides", "bread", "noise")
SYSTEMS = ("alpha", "beta", "gamma")
uuids = (f"uuid-{number:08d}" for number in itertools.count())


def report_text(system: str, topic: str) -> str:
    return f"# {topic.title()}\n\nA report on {topic}, in manner {SYSTEMS.index(system) + 1}. It rises twice a day [1].\n\n## References\n\n[1] https://example.org/{topic}\n"


def write_reports(root: Path, topics: tuple[str, ...] = TOPICS, systems: tuple[str, ...] = SYSTEMS) -> Path:
    for system in systems:
        (root / system).mkdir(parents=True, exist_ok=True)
        for topic in topics:
            (root / system / f"{topic}.md").write_text(report_text(system, topic), encoding="utf-8")
    return root


def with_reference(root: Path, reference: str = "gamma") -> Path:
    """The reports, one of whose systems is the reference."""
    write_reports(root)
    rows = "".join(f"{system},{system},{str(system == reference).lower()}\n" for system in SYSTEMS)
    (root / "systems.csv").write_text(f"system,public_name,is_reference\n{rows}", encoding="utf-8")
    return root


@prepared
def make_study(
    engine: Engine, root: Path, *, overlap: int = 1, protocol: str = PROTOCOL, seed: int = 7, name: str = "small",
    compared: bool = False,
) -> int:  # fmt: skip
    """Reports imported, everything planned (all pairs, every report, or three probes each), open; the study's id."""
    if not any(path.is_dir() for path in root.glob("*")):
        write_reports(root)
    with transaction(engine) as session:
        study = init_study(session, name, protocol, seed)
        admin = local_admin(study)
        import_reports(session, admin, read_folder(root), layout="folder", source="here", folder=root)
        if protocol_of(study).task_type == "probe_label":
            add_probes(session, study)
        plan = make_plan(session, admin, design="all", per_topic=None, overlap=overlap)
        apply_plan(session, admin, plan, compare_plan(session, admin, plan) if compared else None)
        move_study(session, study, "open")
        return study.id


def source_of(session: Session, study_id: int, text: str) -> Source | None:
    """The row that probes of the study share, where they show this text."""
    return session.get(Source, keep_sources(session, study_id, [text]).get(text, 0))


def add_probes(session: Session, study: Study, texts: tuple[str, ...] = ("rises", "falls", "stays")) -> None:
    """Each text as a claim about every report, with a source passage beside it."""
    for report in session.scalars(select(Report).where(Report.study_id == study.id).order_by(Report.id)).all():
        for number, text in enumerate(texts):
            session.add(
                Item(
                    study_id=study.id, topic_id=report.topic_id, kind="probe", report_a_id=report.id,
                    probe=f"It {text} twice a day.", probe_key=f"{report.id}-{number}",
                    source=source_of(session, study.id, f"## A source\n\nObserved: it {text}."),
                )
            )  # fmt: skip
    session.flush()


def report_by(session: Session, principal: Principal, topic: str, system: str) -> Report:
    """The newest report by this system on this topic, as the Blinding page finds it."""
    lines = list_reports(session, principal)
    return session.get_one(Report, next(one.id for one in lines if (one.topic, one.system) == (topic, system)))


def a_person(session: Session, study_id: int, name: str = "Ada", role: str = "annotator") -> Principal:
    person = enroll(session, session.get_one(Study, study_id), name, role)
    rater = session.get_one(Rater, person.rater_id)
    return Principal(study_id, role, rater.id, person.id, rater.opaque_id)


def answer(shown: dict[str, Any], criterion: str, choice: str | None, **changes: Any) -> AnswerEntry:
    raw = {
        "kind": "label", "aid": shown["aid"], "page": shown["page"], "criterion": criterion, "choice": choice,
        "rationale": "because of that", "evidence": [], "confidence": None, "client_uuid": next(uuids),
        "writer": "writer-1", "seq": 1, "base_rev": 0, "client_ts": "2026-11-20T10:00:00+00:00",
    }  # fmt: skip
    entry = read_entry(raw | changes)
    assert isinstance(entry, AnswerEntry)
    return entry


def answer_all(session: Session, principal: Principal, aid: str, choice: str = "left") -> dict[str, int]:
    """Every criterion answered alike; returns the revisions a submit needs."""
    page = assignment_page(session, principal, aid)
    codes = [criterion["id"] for criterion in page["criteria"]]
    saved: Saved = save(session, principal, [answer(page, code, choice) for code in codes])
    assert saved.refused == []
    return {code: ack["rev"] for code, ack in zip(codes, saved.acks, strict=True)}
