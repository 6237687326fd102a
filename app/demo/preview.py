"""A protocol as its annotators would see it: their own page on two short reports, in a study that nobody keeps."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import orm, select

from annotation import protocol, studies
from annotation.importing.reports import folder, write
from annotation.items.shown import keep_sources
from annotation.offline.packets import packet_data
from annotation.people.principals import Principal, enroll, local_admin
from annotation.planning import slots
from annotation.work.claiming import take_slot
from app.component import trying_html
from app.demo.study import REPORTS
from db import connect, people_tables, tables

TOPIC, SYSTEMS, REFERENCE, LINES = "tidal_power", ("atlas", "borealis"), "handbook", 36
FILES = {
    "topics.csv": f"topic,title,prompt\n{TOPIC},Tidal power,How much power can the tides give?\n",
    "systems.csv": "system,public_name,is_reference\n"
    + "".join(f"{one},{one},{str(one == REFERENCE).lower()}\n" for one in (*SYSTEMS, REFERENCE)),
    "criteria.csv": f"topic,id,label,text\n{TOPIC},own,A question of this topic,It comes with the topic.\n",
}
PROBE = "The best tidal sites are few."


def preview(text: str, opens: str = "item") -> str:
    """The page as HTML for a frame. `opens`: item, or first for what is read before it.

    Everything is made by the functions that make every study, in memory. Raises AnnotationError as `init_study` does.
    """
    engine = connect.in_memory()
    try:
        with connect.transaction(engine) as session, TemporaryDirectory() as made:
            study = studies.init_study(session, "preview", text, 7)
            asked, admin = protocol.parse_protocol(text), local_admin(study)
            found = folder.read_folder(_reports(Path(made), asked))
            write.import_reports(session, admin, found, layout="folder", source="preview", folder=Path(made))
            if asked.task_type == "probe_label":
                _add_probe(session, study, asked)
            slots.apply_plan(session, admin, slots.make_plan(session, admin, design="all", overlap=1))
            return trying_html(_taken(session, study) | {"opens": opens})
    finally:
        engine.dispose()


def _reports(made: Path, asked: protocol.Protocol) -> Path:
    """The first lines of two reports of the demo, of a third where one is shown beside them."""
    beside = asked.answers.paired_view == "reference"
    named = {"topics.csv", *["systems.csv"] * beside, *["criteria.csv"] * (asked.criteria_from == "topics")}
    for name in named:
        (made / name).write_text(FILES[name], encoding="utf-8")
    for system in (*SYSTEMS, *[REFERENCE] * beside):
        (made / system).mkdir()
        lines = (REPORTS / system / f"{TOPIC}.md").read_text(encoding="utf-8").splitlines()[:LINES]
        (made / system / f"{TOPIC}.md").write_text("\n".join(lines), encoding="utf-8")
    return made


def _add_probe(session: orm.Session, study: tables.Study, asked: protocol.Protocol) -> None:
    report = session.scalars(select(tables.Report).where(tables.Report.study_id == study.id)).first()
    assert report is not None
    context = "" if asked.answers.context == "report" else "A passage of a source that the report cites."
    session.add(
        tables.Item(
            study_id=study.id, topic_id=report.topic_id, kind="probe", report_a_id=report.id, probe=PROBE,
            probe_key="preview", source_id=keep_sources(session, study.id, [context]).get(context),
        )
    )  # fmt: skip
    session.flush()


def _taken(session: orm.Session, study: tables.Study) -> dict[str, object]:
    """One item, taken by one person, as a packet holds it."""
    study.status = "open"  # not by its door, which asks for what two reports do not have
    person = enroll(session, study, "You", "annotator")
    packet = people_tables.Packet(study_id=study.id, enrollment_id=person.id, secret="")
    session.add(packet)
    session.flush()
    taken = take_slot(session, study, Principal(study.id, "annotator", person.rater_id, person.id, "you"))
    assert taken is not None
    taken.packet_id = packet.id
    session.flush()
    return packet_data(session, packet)
