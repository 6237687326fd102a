"""Pictures of reports: alike for all, without a trace of who made them, never from the web, and hostile ones refused."""

from __future__ import annotations

import base64
import itertools
import random
import re
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import pypandoc
import pytest
from PIL import Image, ImageChops, ImageDraw, PngImagePlugin
from sqlalchemy import Engine, select

from annotation.canonical.form import canonical_format
from annotation.citations import strip_citations
from annotation.errors import AnnotationError, FigureError
from annotation.figures.kept import shown_pictures
from annotation.figures.pictures import Picture, encoded, first_alike, look_of
from annotation.figures.placing import Placed, placed, reader
from annotation.importing import bringing_in
from annotation.importing.reports import import_report, write
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.judges.asking.client import describe
from annotation.judges.asking.material import rebuilt_prompt
from annotation.judges.asking.own_prompts import own_template
from annotation.judges.defining.judge_file import parse_judges
from annotation.judges.planning.plan import plan_judges
from annotation.judges.running.run import run_judges
from annotation.leaks.self_identification import FIGURE
from annotation.offline.packets import reserve_packet
from annotation.people.principals import local_admin
from annotation.planning.slots import apply_plan, make_plan
from annotation.protocol import parse_protocol
from annotation.shown_texts.auditing import open_flags
from annotation.shown_texts.overrides import edit_text, resolve_all
from annotation.shown_texts.repeated import of_one_size, repeated_figures
from annotation.studies import init_study
from annotation.texts.figures import MARKS, figure_names
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.page import assignment_page, picture_of_assignment
from app.component import packet_html
from db import people_tables
from db.connect import reading, transaction
from db.judge_tables import JudgeAttempt, JudgeConfig
from db.tables import Figure, Label, Report, Study, System
from tests.annotation.importing.pdf_files import pdf, running
from tests.annotation.judges import judged_study
from tests.small_study import PROTOCOL, a_person

SHOWN = PROTOCOL.replace("[answers]", 'reports = {images = "show"}\n[answers]')
SECRET = b"Nova Agent"


def picture(size: tuple[int, int] = (60, 40), kind: str = "PNG", colour: str = "navy", **saved: Any) -> bytes:
    drawn = Image.new("RGB", size, "white")
    ImageDraw.Draw(drawn).rectangle((0, 0, size[0] // 2, size[1] // 3), colour)
    return written(drawn, kind, **saved)


def written(drawn: Image.Image, kind: str = "PNG", **saved: Any) -> bytes:
    made = BytesIO()
    drawn.save(made, kind, **saved)
    return made.getvalue()


def with_traces() -> bytes:
    """A PNG that tells who made it in text, XMP, EXIF, its profile, and in a ZIP behind its end."""
    told, exif = PngImagePlugin.PngInfo(), Image.Exif()
    told.add_text("Software", SECRET.decode())
    told.add_itxt("XML:com.adobe.xmp", f"<x:xmpmeta>{SECRET.decode()}</x:xmpmeta>")
    exif[0x0131] = SECRET.decode()
    behind = BytesIO()
    with zipfile.ZipFile(behind, "w") as packed:
        packed.writestr("who.txt", SECRET)
    return picture(pnginfo=told, exif=exif, icc_profile=SECRET) + behind.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def claimed(width: int, height: int, data: bytes = b"") -> bytes:
    """A PNG that claims a size, whatever it holds."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def test_only_the_pixels_are_kept_upright_and_in_one_of_few_sizes() -> None:
    traced = with_traces()
    assert SECRET in traced
    assert SECRET not in encoded(traced).data
    kept = Image.open(BytesIO(encoded(traced).data))
    assert (kept.format, set(kept.info) <= {"loop", "background", "timestamp", "duration"}) == ("WEBP", True), kept.info
    wide = encoded(picture((4000, 2000), "JPEG"))
    assert (wide.width, wide.height) == (1600, 800)
    for drawn in ((640, 480), (1200, 800), (3000, 2400), (500, 310), (331, 250)):  # as five systems draw a chart
        chart = encoded(picture(drawn, colour="black"))
        assert (chart.width, chart.height) == (1600, 1200)
        inked = ImageChops.invert(Image.open(BytesIO(chart.data)).convert("L").point(lambda grey: (grey > 99) * 255))
        across, _, _, down = inked.getbbox() or ()
        scale = min(1600 / drawn[0], 1200 / drawn[1])
        assert (across, down) == pytest.approx(
            ((1600 - scale * drawn[0]) / 2, (1200 - scale * drawn[1]) / 2 + scale * drawn[1] / 3), abs=5
        ), "in the middle of the paper, whole and in its own shape"
    lines = encoded(picture((3000, 1))), encoded(picture((1, 3000)))
    assert [(one.width, one.height) for one in lines] == [(1600, 400), (40, 8000)]
    turned = Image.Exif()
    turned[0x0112] = 6
    assert (encoded(picture((60, 40), "JPEG", exif=turned)).width, encoded(picture((40, 60))).width) == (40, 40)
    clear = encoded(written(Image.new("RGBA", (9, 9), (0, 0, 0, 0))))
    assert Image.open(BytesIO(clear.data)).getpixel((4, 4)) == (255, 255, 255)
    grey = encoded(written(Image.new("I;16", (90, 30), 100 << 8)))
    assert Image.open(BytesIO(grey.data)).getpixel((45, 15)) == (100, 100, 100), "of 16 bits"
    same = {
        encoded(picture(kind=kind, **more)).data
        for kind, more in (("PNG", {}), ("BMP", {}), ("WEBP", {"lossless": True}))
    }
    assert len(same) == 1, "and the format of the file is not told either"


HOSTILE = {
    "fractions, of which none is white": (written(Image.new("F", (9, 9), 0.5), "TIFF"), "damaged"),
    "10,000 x 10,000 pixels": (claimed(10_000, 10_000, zlib.compress(bytes(30_001) * 1_000)), "over 25 million pixels"),
    "200,000 x 200,000 pixels": (claimed(200_000, 200_000), "over 25 million pixels"),
    "a decompression bomb in its text": (
        claimed(9, 9).replace(chunk(b"IEND", b""), chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(200 << 20)))), "damaged",
    ),
    "an SVG with script": (b'<svg xmlns="http://www.w3.org/2000/svg"><script>fetch("//x")</script></svg>', "damaged"),
    "cut off": (picture((600, 400))[:300], "damaged"),
    "a page that calls itself a GIF": (b"GIF89a/*<script>alert(1)</script>*/=1;", "damaged"),
    "nothing": (b"", "damaged"),
    "41 MB": (b"\x89PNG" + bytes(41 << 20), "over 40 MB"),
    "a PostScript program": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(x) run\n", "damaged"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_picture_is_one_sentence(case: str) -> None:
    content, why = HOSTILE[case]
    with pytest.raises(FigureError, match=why):
        encoded(content)


def test_the_largest_pictures_that_are_taken_stay_below_500_mb(tmp_path: Path) -> None:
    Image.new("RGBA", (5000, 5000), (9, 9, 9, 99)).save(tmp_path / "big.png")
    code = (
        "import sys; from annotation.figures.pictures import encoded; encoded(open(sys.argv[1], 'rb').read()); "
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"  # the most it had at once
    )
    told = subprocess.run([sys.executable, "-c", code, str(tmp_path / "big.png")], check=True, capture_output=True)
    assert int(told.stdout.split()[1]) <= 500 * 1024


def test_a_document_whose_picture_is_damaged_loses_this_alone() -> None:
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/media/a.png", picture((400, 300)))
    content = made.getvalue()[:46] + b"\xff" * 20 + made.getvalue()[66:]
    found = placed("![Height](media/a.png)", reader(content, "a.docx", (), None), "a key", show=True)
    assert (found.text, [*found.unshown]) == ("![Height](figure)", ["damaged or in a format that cannot be shown"])


def put(folder: Path, text: str, **more: bool) -> Placed:
    return placed(text, reader(b"", "a.md", (), folder), "a key", **({"show": True} | more))


def test_every_way_of_naming_a_picture_is_seen_and_what_is_not_shown_is_said_by_its_reason(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(picture())
    data = f"data:image/png;base64,{base64.b64encode(picture()).decode()}"
    text = f"""![Growth [2], by year](<a b.png> "a title") ![two](a%20b.png) ![three](a b.png) ![four]({data}) ![five][x]

<img width=3 alt="six" src='a b.png' data-src="lazy.png" data-alt="x"> [![a site's sign](a b.png)](https://example.org) `![code](a b.png)`

![web](https://example.org/y.png) ![also](//example.org/z.png) ![gone](c.png) ![long]({"c" * 300}.png) ![out](../../../../../etc/passwd) ![](/etc/passwd)

[![alone in its line](a b.png)](https://example.org)

Large: [![itself](a b.png)](<a b.png>).

[x]: <{data}>
"""
    found = put(tmp_path, text)
    assert len(found.pictures) == 1, "the same pixels are one picture, wherever they come from"
    assert found.text.count("![figure](figures/") == 8
    assert dict(found.unshown) == {
        "on the web, where nothing is fetched from": 2,
        "whose file is not among the reports": 4,
    }
    assert found.lost[0] == "2 figures on the web, where nothing is fetched from"
    stripped = strip_citations(found.text + "\n\n## References\n\n[2] https://example.org/a\n")
    assert "[2]" not in stripped.text
    for layout in ("kept", "spacing", "canonical", "plain"):
        shown = canonical_format(stripped.text, "Topic", layout)  # type: ignore[arg-type]
        assert figure_names(shown.text) == tuple(found.pictures)
        assert canonical_format(shown.text, "Topic", layout).text == shown.text  # type: ignore[arg-type]
        assert "Growth, by year two three four five" in MARKS.sub("", shown.text)
    gone = put(tmp_path, text, show=False)
    assert not re.search("Growth|two|web|figures/", gone.text)
    assert "![code](a b.png)" in gone.text


def test_names_are_of_the_study_alone(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture())
    read = reader(b"", "a.md", (), tmp_path)
    (one,), (other,) = (placed("![](a.png)", read, key, show=True).pictures for key in ("one", "other"))
    assert one != other


def test_a_row_of_a_table_reaches_no_picture_but_those_in_the_folder_of_its_name(
    engine: Engine, tmp_path: Path
) -> None:
    """A table often lies among other things of its owner's, and others wrote its rows."""
    for place in ("private/me.png", "answers/charts/a.png", "me.png"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(picture(colour="red" if "me" in place else "navy"))
    named = "![a](private/me.png) ![b](../private/me.png) ![c](me.png) ![d](../me.png) ![e](charts/a.png)"
    table = tmp_path / "answers.csv"
    table.write_text(f"topic,system,text\ntides,alpha,They rise. {named}\n")
    with transaction(engine) as session:
        admin = local_admin(init_study(session, "small", SHOWN, 7))
    found, asked = bringing_in.find(table, "table"), bringing_in.Asked(allow_missing=True)
    told = bringing_in.bring_in(
        engine, admin, bringing_in.read(found, asked), "table", asked, source="here", folder=found.folder
    )
    assert "figures shown 1" in told.notes
    with reading(engine) as session:
        assert session.scalars(select(Figure.picture)).all() == [encoded(picture()).data]
    (tmp_path / "answers").rename(tmp_path / "kept")
    (tmp_path / "answers").symlink_to(tmp_path / "private")
    assert found.folder is None, "nor does a link that came with the table lead anywhere"


def write_pictured(root: Path) -> Path:
    """One chart in Markdown, HTML, Word, OpenDocument, EPUB and PDF; the text of each says the same."""
    words = "# Tides\n\nTides rise twice a day, as everybody who lives beside the sea can tell.\n\n![Height by hour](chart.png)\n"
    for system in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta"):
        (root / system).mkdir(parents=True)
    (root / "alpha" / "tides.md").write_text(words, encoding="utf-8")
    chart = root / "alpha" / "chart.png"
    chart.write_bytes(with_traces())
    for system, suffix in (("beta", "html"), ("gamma", "docx"), ("delta", "odt"), ("epsilon", "epub")):
        more = ["--embed-resources", "--standalone"] if suffix == "html" else []
        made = root / system / f"tides.{suffix}"
        pypandoc.convert_text(
            words, suffix, "markdown", outputfile=str(made), extra_args=[f"--resource-path={chart.parent}", *more]
        )
    chart_pixels = Image.open(chart).convert("RGB").tobytes()
    (root / "zeta" / "tides.pdf").write_bytes(pdf([
        (72, 80, 20, "plain", "Tides"),
        *running("Tides rise twice a day, as everybody who lives beside the sea can tell.", 72, 110, 60),
        (72, 480, 10, "plain", "Height by hour"),
    ], picture=True, pixels=(60, 40, chart_pixels)))  # fmt: skip
    return root


def import_pictured(session: Any, root: Path, protocol: str = SHOWN) -> tuple[Study, import_report.ImportReport]:
    study = init_study(session, "small", protocol, 7)
    told = import_reports(session, local_admin(study), read_folder(root), layout="folder", source="here", folder=root)
    return study, told


def test_one_chart_is_the_same_picture_in_six_formats_and_is_shown_to_whom_the_item_is(
    engine: Engine, tmp_path: Path
) -> None:
    root = write_pictured(tmp_path / "reports")
    with transaction(engine) as session:
        study, told = import_pictured(session, root)
        assert "figures shown 6" in told.notes
        shown = session.scalars(select(Report.shown_text)).all()
        assert {figure_names(text) for text in shown} == {figure_names(shown[0])}
        assert len(set(shown)) == 2, "in pandoc's OpenDocument a caption is a paragraph of its own"
        (kept,) = session.scalars(select(Figure)).all()
        assert SECRET not in kept.picture
        admin = local_admin(study)
        resolve_all(session, admin, "keep")
        apply_plan(session, admin, make_plan(session, admin, design="all", per_topic=None, overlap=1), None)
        move_study(session, study, "open")
        ada, bob = a_person(session, study.id), a_person(session, study.id, "Bob")
        work = take(session, ada)
        assert work is not None
        page = assignment_page(session, ada, work.aid)
        for pane in page["panes"]:
            assert f'<img src="/api/figure/{work.aid}/{kept.name}" width="80" height="60"' in pane["html"]
        assert picture_of_assignment(session, ada, work.aid, kept.name) == kept.picture
        for who, aid, name in ((bob, work.aid, kept.name), (ada, work.aid, "0" * 32), (ada, "f" * 32, kept.name)):
            with pytest.raises(AnnotationError, match="there is no such"):
                picture_of_assignment(session, who, aid, name)
        packet = packet_html(reserve_packet(session, admin, "Ada", 1))
        assert packet.count("data:image/webp;base64,") == 2
        assert "/api/figure/" not in packet.split('<script type="module">')[0]


@pytest.mark.databases("sqlite")
def test_a_dry_run_keeps_no_key_and_says_what_the_import_will(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def undecoded(*asked: Any, **more: Any) -> import_report.ImportReport:
        with monkeypatch.context() as patched:  # nobody can save meanwhile
            patched.setattr(Image, "open", lambda *_: pytest.fail("a picture was decoded in the writing transaction"))
            return import_reports(*asked, **more)

    monkeypatch.setattr(write, "import_reports", undecoded)
    (tmp_path / "alpha").mkdir()
    (tmp_path / "alpha" / "tides.md").write_text("# Tides\n\nThey rise.\n\n![Height](c.png)\n", "utf-8")
    (tmp_path / "alpha" / "c.png").write_bytes(picture())
    with transaction(engine) as session:
        admin = local_admin(init_study(session, "small", SHOWN, 7))
    for dry_run, keys in ((True, 0), (False, 1), (True, 1)):
        read = read_folder(tmp_path)
        told = bringing_in.bring_in(
            engine, admin, read, "folder", bringing_in.Asked(), source="here", folder=tmp_path, dry_run=dry_run
        )
        with reading(engine) as session:
            assert len(session.scalars(select(people_tables.Key)).all()) == keys
        assert "figures shown 1" in told.notes
    assert told.unchanged == 1
    (tmp_path / "alpha" / "bread.md").write_text("# Bread\n\nIt rises.\n\n![Height](c.png)\n", "utf-8")
    bringing_in.bring_in(
        engine, admin, read_folder(tmp_path), "folder", bringing_in.Asked(), source="here", folder=tmp_path
    )
    with reading(engine) as session:
        assert [(one.reports, one.open) for one in repeated_figures(session, admin)] == [(2, 2)]


@pytest.mark.databases("sqlite")
def test_what_an_older_study_asks_for_shows_no_picture_and_what_asks_for_none_has_no_caption(
    engine: Engine, tmp_path: Path
) -> None:
    root = tmp_path / "reports"
    (root / "alpha").mkdir(parents=True)
    (root / "alpha" / "tides.md").write_text(
        "# Tides\n\nThey rise.\n\n![Height](c.png) and ![](https://example.org/d.png)\n", "utf-8"
    )
    (root / "alpha" / "c.png").write_bytes(picture())
    with transaction(engine) as session:
        _, told = import_pictured(session, root, PROTOCOL)
        assert session.scalars(select(Report.shown_text)).one().endswith("They rise.\n\nHeight and\n")
        assert session.scalars(select(Figure)).all() == []
        assert told.notes == ()
        session.rollback()
    with transaction(engine) as session:
        import_pictured(session, root, SHOWN.replace('"show"', '"remove"'))
        report = session.scalars(select(Report)).one()
        assert (report.shown_text, report.open_flags) == ("# tides\n\nThey rise.\n\nand\n", 0)
        session.rollback()
    with reading(engine) as session:
        assert session.scalars(select(Study)).all() == []


def test_a_system_whose_figures_are_all_of_one_size_is_told(engine: Engine, tmp_path: Path) -> None:
    for system, sizes in {
        "alpha": [(800, 400), (600, 300), (500, 250)],
        "beta": [(800, 400), (400, 800), (500, 250)],
    }.items():
        for topic, size in zip(("tides", "bread", "noise"), sizes, strict=True):
            folder = tmp_path / system
            folder.mkdir(exist_ok=True)
            (folder / f"{topic}.png").write_bytes(picture(size, colour=["navy", "red", "green"][sizes.index(size)]))
            (folder / f"{topic}.md").write_text(f"# {topic}\n\nThey rise.\n\n![Height]({topic}.png)\n", "utf-8")
    with transaction(engine) as session:
        study, _ = import_pictured(session, tmp_path)
        assert of_one_size(session, local_admin(study)) == {"alpha": (3, 1600, 800)}


def test_a_picture_in_several_reports_of_one_system_waits_for_a_decision_and_masked_leaves_its_caption(
    engine: Engine, tmp_path: Path
) -> None:
    for system in ("alpha", "beta"):
        (tmp_path / system).mkdir()
        logo_of = picture((300, 200), colour="navy" if system == "alpha" else "red")
        (tmp_path / system / "logo.png").write_bytes(logo_of)
        smaller = Image.open(BytesIO(logo_of)).resize((200, 133))
        (tmp_path / system / "small.jpg").write_bytes(written(smaller, "JPEG", quality=40))
        for topic in ("tides", "bread"):
            file = "logo.png" if topic == "tides" else "small.jpg"
            logo = f"![Made with care]({file})\n\n" if system == "alpha" or topic == "tides" else ""
            text = f"# {topic}\n\n{logo}They rise.\n\n![again]({file})\n"
            (tmp_path / system / f"{topic}.md").write_text(
                text if system == "alpha" else text.split("![again]")[0], "utf-8"
            )
    with transaction(engine) as session:
        study, _ = import_pictured(session, tmp_path)
        admin = local_admin(study)
        (logo,) = repeated_figures(session, admin)
        assert (logo.system, logo.reports, logo.open, len(set(logo.addresses))) == ("alpha", 2, 2, 2), (
            "beta shows its in one alone"
        )
        assert {flag["kind"] for flag in open_flags(session, admin)} == {FIGURE}
        first, second = session.scalars(
            select(Report).join(System, System.id == Report.system_id).where(System.key == "alpha").order_by(Report.id)
        )
        edit_text(session, admin, first.id, first.shown_text.replace("They rise", "Both rise"), "a word")
        assert first.open_flags == 2, "an edit forgets no figure"
        assert resolve_all(session, admin, "mask", kind=FIGURE, texts=["0" * 32]) == 0
        assert resolve_all(session, admin, "mask", kind=FIGURE, texts=logo.names) == 4
        assert second.shown_text == first.shown_text.replace("Both", "They").replace("bread", "tides")
        assert second.shown_text.endswith("\n\nMade with care\n\nThey rise.\n\nagain\n")
        assert [(path, len(data) > 0) for path, data in shown_pictures(session, study)] == [
            (f"figures/{name}.webp", True)
            for text in session.scalars(select(Report.shown_text))
            for name in figure_names(text)
        ]
        edit_text(session, admin, first.id, first.shown_text.replace("Both", "They"), "a word")
        assert [(one.reports, one.open) for one in repeated_figures(session, admin)] == [(2, 0)], "nor what is masked"
        session.rollback()
    charts = (written(Image.effect_noise((300, 200), spread).convert("RGB")) for spread in (40, 80))
    others = {str(n): encoded(one) for n, one in enumerate((*charts, logo_of, written(smaller.crop((0, 0, 133, 133)))))}
    assert first_alike({n: look_of(one) for n, one in others.items()}) == {n: n for n in others}, (
        "other pixels, and another shape"
    )


def test_tables_pies_and_wide_logos_of_other_data_are_other_pictures_and_each_is_itself_made_smaller_and_saved_anew() -> (
    None
):
    def drawn(seed: int, *, is_pie: bool) -> Image.Image:
        made, numbers = Image.new("RGB", (640, 480), "white"), random.Random(seed)
        canvas = ImageDraw.Draw(made)
        if is_pie:
            starts = [0, numbers.randint(80, 160), numbers.randint(200, 280), 360]
            for start, end, colour in zip(starts, starts[1:], ("#1f77b4", "#ff7f0e", "#2ca02c"), strict=False):
                canvas.pieslice((140, 60, 500, 420), start, end, fill=colour)
        for row, column in itertools.product(range(12), range(5)) if not is_pie else ():
            box = (60 + 104 * column, 60 + 30 * row, 164 + 104 * column, 90 + 30 * row)
            canvas.rectangle(box, outline="black")
            canvas.text((box[0] + 30, box[1] + 8), f"{numbers.uniform(10, 99):.2f}", fill="black", font_size=14)
        return made

    shown = [drawn(seed, is_pie=is_pie) for is_pie in (False, True) for seed in range(4)]
    first = {str(n): encoded(written(one)) for n, one in enumerate(shown)}
    again = {
        f"{n}, smaller": encoded(written(one.resize((320, 240)), "JPEG", quality=40)) for n, one in enumerate(shown)
    }
    for name in ("Deep Research by Atlas", "Deep Answers of Orion"):
        wide = Image.new("RGB", (1600, 200), "white")
        ImageDraw.Draw(wide).text((60, 20), name, fill="navy", font_size=120)
        ImageDraw.Draw(wide).rectangle((0, 180, 1600, 190), fill="navy")
        first[name] = encoded(written(wide))
        again |= {
            f"{name}, {x}": encoded(written(wide.resize((x, x // 8)), "JPEG", quality=50)) for x in (1000, 400, 250)
        }
    kept = {}  # from before pictures lay on paper, as large as they were drawn
    for n, size in (("0", (640, 210)), ("5", (240, 80)), ("6", (700, 90))):
        as_drawn = shown[int(n)].resize(size)
        first[f"{n} flat"] = encoded(written(as_drawn))
        kept[f"{n} flat, kept"] = Picture(written(as_drawn, "WEBP", quality=90), *size)
    assert first_alike({n: look_of(one) for n, one in (first | again | kept).items()}) == {
        n: n.split(",")[0] for n in (*first, *again, *kept)
    }


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("decision", ["keep", "mask"])
def test_a_picture_that_comes_again_in_a_later_import_waits_in_the_earlier_reports_too_and_where_they_are_masked(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decision: str
) -> None:
    def write(topic: str) -> None:
        (tmp_path / "alpha" / f"{topic}.md").write_text(f"# {topic}\n\n![Made](logo.png)\n\nThey rise.\n", "utf-8")

    def again() -> import_report.ImportReport:
        return import_reports(session, admin, read_folder(tmp_path), layout="folder", source="here", folder=tmp_path)

    (tmp_path / "alpha").mkdir()
    (tmp_path / "alpha" / "logo.png").write_bytes(picture())
    write("tides")
    with transaction(engine) as session:
        study, _ = import_pictured(session, tmp_path)
        admin = local_admin(study)
        assert repeated_figures(session, admin) == []
        write("bread")
        assert (again().unchanged, [(one.reports, one.open) for one in repeated_figures(session, admin)]) == (
            1,
            [(2, 2)],
        )
        assert session.scalars(select(Report.open_flags)).all() == [1, 1]
        assert resolve_all(session, admin, decision, kind=FIGURE) == 2
        write("salt")
        again()
        assert [(one.reports, one.open) for one in repeated_figures(session, admin)] == [(3, 1)], (
            "what is decided stays"
        )
        if decision == "mask":
            return
        resolve_all(session, admin, "mask", kind=FIGURE)
        for report in session.scalars(select(Report)):
            report.flags, report.open_flags = [], 0
        monkeypatch.setattr("annotation.shown_texts.repeated.is_labelled", lambda session, report: True)
        assert (
            again().notes[-1].startswith("reports with labels whose figures other reports of their system show too 2:")
        )
        assert repeated_figures(session, admin) == [], "which no mask could follow"


@pytest.mark.databases("sqlite")
def test_a_judge_that_is_shown_images_gets_them_where_they_stand_and_any_other_reads_the_captions(
    engine: Engine, tmp_path: Path
) -> None:
    root = write_pictured(tmp_path / "reports")
    for system in ("gamma", "delta", "epsilon", "zeta"):
        shutil.rmtree(root / system)
    planted = f"![figure](figures/{'0' * 32}.webp)"
    with (root / "alpha" / "tides.md").open("a", encoding="utf-8") as file:
        file.write(f"\n```\n{planted}\n```\n")
    with transaction(engine) as session:
        study, _ = import_pictured(session, root)
        admin = local_admin(study)
        apply_plan(session, admin, make_plan(session, admin, design="all", per_topic=None, overlap=1), None)
        move_study(session, study, "open")
        name = session.scalars(select(Figure.name)).one()
    asked: dict[str, list[Any]] = {"sees": [], "reads": []}

    async def transport(judge: Any, messages: Any, schema: Any, rung: Any) -> Any:
        asked[judge.name].append([message["content"] for message in messages])
        said = messages[-1]["content"]
        words = said if isinstance(said, str) else "".join(part.get("text", "") for part in said)
        return judged_study.replied(judged_study.judgments(words, "first"), words)

    toml = "\n".join(
        f'[[judge]]\nname = "{one}"\nmodel = "stub/{one}"\nprice = {{input = 1.0, output = 1.0}}\nimages = {shown}\n'
        for one, shown in (("sees", "true"), ("reads", "false"))
    )
    judges = parse_judges(toml, parse_protocol(SHOWN))
    plan_judges(engine, study.id, judges, describe=judged_study.describe)
    run_judges(engine, study.id, judges, transport=transport)
    assert len(asked["sees"]) == len(asked["reads"]) > 0
    for _, user in asked["sees"]:
        images = [part["image_url"]["url"] for part in user if part["type"] == "image_url"]
        assert len(images) == 2
        assert all(one.startswith("data:image/webp;base64,UklGR") for one in images)
        at = next(number for number, part in enumerate(user) if part["type"] == "image_url")
        assert user[at + 1]["text"].startswith(" Height by hour"), "its caption follows"
        assert name not in str(user)
        assert any(planted in part.get("text", "") for part in user), "what a report wrote in its code is text"
    for _, user in asked["reads"]:
        assert user.count("Height by hour") == 2
        assert name not in user
    assert {row["status"] for row in judged_study.labels(engine)} == {"ok"}
    with reading(engine) as session:
        shas = session.scalars(select(Label.left_sha256)).all()
        assert set(shas) <= set(session.scalars(select(Report.shown_sha256)))
        for attempt in session.scalars(select(JudgeAttempt)):
            assert rebuilt_prompt(session, attempt.call_id, attempt.attempt_no).sha256 == attempt.prompt_sha256
        assert len(set(session.scalars(select(JudgeConfig.template_sha256)))) == 2, "the settings say which"


def test_images_are_refused_where_no_picture_would_be_seen() -> None:
    (judge,) = parse_judges(
        '[[judge]]\nname = "sees"\nmodel = "openai/gpt-4o"\nimages = true', parse_protocol(PROTOCOL)
    )
    with pytest.raises(AnnotationError, match="protocol shows none"):
        own_template(parse_protocol(PROTOCOL), judge)
    assert own_template(parse_protocol(SHOWN), judge).startswith("{# figures #}")
    assert describe(judge).params == {}
    with pytest.raises(AnnotationError, match="see no images"):
        describe(judge.model_copy(update={"model": "openai/gpt-3.5-turbo"}))
