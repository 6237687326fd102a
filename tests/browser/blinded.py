"""The study of the blinding proof: systems, files, rows and hashes that can be told from everything else."""

from __future__ import annotations

import base64
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select

from db.connect import reading, transaction
from db.people_tables import Enrollment, Rater
from db.restore import set_sequences
from db.tables import Assignment, Criterion, Import, Item, Label, Report, Study, System, Topic
from tests.small_study import PROTOCOL, make_study

SYSTEMS = {"zsys-quorl": "Zpub Quorlax 9", "zsys-brenth": "Zpub Brenthor", "zsys-vimmo": "Zpub Vimmoline"}
TOPICS = {"ztopic-mirle": "Tides", "ztopic-daspen": "Bread", "ztopic-okul": "Noise"}
ROWS = (Study, Topic, System, Import, Report, Criterion, Item, Assignment, Rater, Label)
HIDDEN_ROWS = (
    Topic.id,
    System.id,
    Import.id,
    Report.id,
    Item.id,
    Assignment.id,
    Enrollment.rater_id,
)  # whose numbers no browser may know


@dataclass(frozen=True)
class Blind:
    study_id: int
    sentinels: frozenset[str]
    token: str


def number_rows_high(engine: Engine) -> None:
    """A study nobody opens, so that the numbers of all later rows have nine digits that stand nowhere else."""
    ids = {table: 830_000_000 + 10_000_000 * n + 7_135_001 for n, table in enumerate(ROWS)}
    with transaction(engine) as session:
        study = ids[Study]
        if session.get(Study, study):
            return
        own: dict[str, Any] = {"study_id": study, "topic_id": ids[Topic]}
        report = {
            "system_id": ids[System], "import_id": ids[Import], "original": b"", "original_sha256": "", "original_text": "",
            "shown_text": "", "shown_sha256": "", "stripper_version": "", "words": 0,
        }  # fmt: skip
        for row in (
            Study(id=study, name=uuid.uuid4().hex, protocol_text="", protocol_sha256="", seed=1),
            Topic(id=ids[Topic], study_id=study, key="none", title="none"),
            System(id=ids[System], study_id=study, key="none", public_name="none"),
            Import(id=ids[Import], study_id=study, kind="reports", layout="", source=""),
            Report(id=ids[Report], **own, **report),
            Criterion(id=ids[Criterion], study_id=study, code="none", position=1, label="", text="", text_sha256=""),
            Item(id=ids[Item], **own, kind="report", report_a_id=ids[Report]),
            Rater(id=ids[Rater], kind="human", handle="nobody"),
            Assignment(id=ids[Assignment], study_id=study, item_id=ids[Item], plan_seed=1),
        ):
            session.add(row)
            session.flush()
        set_sequences(session.connection())


def blind_study(server: Any, root: Path) -> Blind:
    """A study whose every hidden fact is a word, number or hash that stands nowhere else; `root` is named zpath-hovel…"""
    number_rows_high(server.engine)
    for n, system in enumerate(SYSTEMS):
        (root / system).mkdir()
        for topic, title in TOPICS.items():
            text = f"# {title}\n\nManner {n + 1} on {title}: it rises twice a day [1]. " + "It goes on at length. " * 60
            text += f"\n\n## References\n\n[1] https://zsource-plim.example/{topic}?utm_source={system}\n"
            (root / system / f"{topic}.md").write_text(text, encoding="utf-8")
    lines = "".join(f"{key},{public},zfam-ottle,{n == 0}\n" for n, (key, public) in enumerate(SYSTEMS.items()))
    (root / "systems.csv").write_text(f"system,public_name,family,is_reference\n{lines}", encoding="utf-8")
    lines = "".join(f"{key},{title},Write about it.\n" for key, title in TOPICS.items())
    (root / "topics.csv").write_text(f"topic,title,prompt\n{lines}", encoding="utf-8")
    study_id = make_study(server.engine, root, overlap=2, protocol=PROTOCOL, name=f"zstudy-{uuid.uuid4().hex}")
    link = server.link(study_id, "Ada")
    hidden = [*SYSTEMS, *SYSTEMS.values(), *TOPICS, "zfam-ottle", "zsource-plim", "zpath-hovel", "utm_source"]
    with reading(server.engine) as session:
        for report in session.scalars(select(Report).where(Report.study_id == study_id)):
            for digest in (report.shown_sha256, report.original_sha256):
                hidden += [digest[:12], base64.b64encode(bytes.fromhex(digest)).decode()[:16]]
        for column in HIDDEN_ROWS:
            ids = session.scalars(select(column).where(column.class_.study_id == study_id)).all()
            assert all(one >= 830_000_000 for one in ids)
            hidden += [str(one) for one in ids]
    return Blind(study_id, frozenset(hidden), link)
