"""The study of the blinding proof: systems, files, rows and hashes that can be told from everything else."""

from __future__ import annotations

import base64
import uuid
import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pypandoc
from PIL import Image, ImageDraw, PngImagePlugin
from sqlalchemy import Engine, select

from db.connect import reading, transaction
from db.people_tables import Enrollment, Rater
from db.restore import set_sequences
from db.tables import Assignment, Criterion, Import, Item, Label, Report, Study, System, Topic
from tests.annotation.importing.pdf_files import pdf, running
from tests.pictured_study import SHOWN
from tests.small_study import make_study

SYSTEMS = {"zsys-quorl": "Zpub Quorlax 9", "zsys-brenth": "Zpub Brenthor", "zsys-vimmo": "Zpub Vimmoline"}
TOPICS = {"ztopic-mirle": "Tides", "ztopic-daspen": "Bread", "ztopic-okul": "Noise"}
DRAWN, MADE_WITH = "zfile-tarn", "zmade-wick"  # names of files, and what every file says it was made with
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


def _drawn(n: int, topic: str) -> bytes:
    """A chart that tells in text, XMP and EXIF what made it, in the size of its system's charts."""
    made, told, exif = BytesIO(), PngImagePlugin.PngInfo(), Image.Exif()
    told.add_text("Software", MADE_WITH)
    told.add_itxt("XML:com.adobe.xmp", f"<x:xmpmeta>{MADE_WITH}</x:xmpmeta>")
    exif[0x0131] = MADE_WITH
    picture = Image.new("RGB", ((640, 480), (1200, 800), (900, 700))[n], "white")
    for at, letter in enumerate(f"{topic}{n}"):
        ImageDraw.Draw(picture).rectangle((at * 16, 120 - ord(letter) % 40 * 3, at * 16 + 9, 120), "navy")
    picture.save(made, "PNG", pnginfo=told, exif=exif)
    return made.getvalue()


def _markdown(place: Path, title: str, text: str, listed: str, drawn: bytes) -> None:
    said = f"# {title}\n\n{text}\n\n![Height by hour]({DRAWN}-{place.name}.png)\n\n{listed}"
    place.with_suffix(".md").write_text(said, encoding="utf-8")


def _html(place: Path, title: str, text: str, listed: str, drawn: bytes) -> None:
    address = f"data:image/png;name={DRAWN}.png;base64,{base64.b64encode(drawn).decode()}"
    said = f'<h1>{title}</h1><p>{text}</p><img alt="Height by hour" title="{DRAWN}" src="{address}">'
    said += f"<meta name=generator content={MADE_WITH}><h2>References</h2><p>{listed.split(chr(10))[2]}</p>"
    place.with_suffix(".html").write_text(said, encoding="utf-8")


def _word(place: Path, title: str, text: str, listed: str, drawn: bytes) -> None:
    said = f"# {title}\n\n{text}\n\n![Height by hour]({DRAWN}-{place.name}.png)\n\n{listed}"
    made = place.with_suffix(".docx")
    options = [f"--resource-path={place.parent}"]
    pypandoc.convert_text(said, "docx", "markdown-citations", outputfile=str(made), extra_args=options)
    with zipfile.ZipFile(made, "a") as packed:
        packed.writestr("docProps/custom.xml", f"<Properties><property name='by'>{MADE_WITH}</property></Properties>")


def _pdf(place: Path, title: str, text: str, listed: str, drawn: bytes) -> None:
    pixels = Image.open(BytesIO(drawn)).convert("RGB")
    page = [(72.0, 60.0, 20.0, "plain", title), *running(text, 72, 85, 95, 12), (72.0, 460.0, 10.0, "plain", "Height by hour"),
            (72.0, 500.0, 14.0, "plain", "References"), *running(listed.split("\n")[2], 72, 520, 95)]  # fmt: skip
    made = pdf(page, picture=True, pixels=(*pixels.size, pixels.tobytes()), more=f"/Producer({MADE_WITH})")
    place.with_suffix(".pdf").write_bytes(made)


def blind_study(server: Any, root: Path) -> Blind:
    """A study whose every hidden fact is a word, number or hash that stands nowhere else; `root` is named zpath-hovel…"""
    number_rows_high(server.engine)
    for n, system in enumerate(SYSTEMS):
        (root / system).mkdir()
        for topic, title in TOPICS.items():
            text = f"Manner {n + 1} on {title}: it rises twice a day [1]. " + "It goes on at length. " * 60
            listed = f"## References\n\n[1] https://zsource-plim.example/{topic}?utm_source={system}\n"
            drawn = _drawn(n, topic)
            (root / system / f"{DRAWN}-{topic}.png").write_bytes(drawn)
            write = (_markdown, _word, _pdf)[n] if (n, topic) != (0, "ztopic-okul") else _html
            write(root / system / topic, title, text, listed, drawn)
    lines = "".join(f"{key},{public},zfam-ottle,{n == 0}\n" for n, (key, public) in enumerate(SYSTEMS.items()))
    (root / "systems.csv").write_text(f"system,public_name,family,is_reference\n{lines}", encoding="utf-8")
    lines = "".join(f"{key},{title},Write about it.\n" for key, title in TOPICS.items())
    (root / "topics.csv").write_text(f"topic,title,prompt\n{lines}", encoding="utf-8")
    study_id = make_study(server.engine, root, overlap=2, protocol=SHOWN, name=f"zstudy-{uuid.uuid4().hex}")
    link = server.link(study_id, "Ada")
    hidden = [
        *SYSTEMS,
        *SYSTEMS.values(),
        *TOPICS,
        "zfam-ottle",
        "zsource-plim",
        "zpath-hovel",
        "utm_source",
        DRAWN,
        MADE_WITH,
    ]
    with reading(server.engine) as session:
        for report in session.scalars(select(Report).where(Report.study_id == study_id)):
            for digest in (report.shown_sha256, report.original_sha256):
                hidden += [digest[:12], base64.b64encode(bytes.fromhex(digest)).decode()[:16]]
        for column in HIDDEN_ROWS:
            ids = session.scalars(select(column).where(column.class_.study_id == study_id)).all()
            assert all(one >= 830_000_000 for one in ids)
            hidden += [str(one) for one in ids]
    return Blind(study_id, frozenset(hidden), link)
