"""What print asks of every figure: fonts inside, the same bytes from any process, and no colour that alone tells."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import re
import subprocess
import sys
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from fontTools.ttLib import TTFont

from calibration.calibrate import calibrate
from calibration.results import CalibrationSettings
from exports.figures import FORMATS, as_bytes
from exports.plots.annotators_figure import annotator_pairs, annotators_figure
from exports.plots.answers import FILLS, answers
from exports.plots.bias_figure import bias_figure
from exports.plots.forest import forest
from exports.plots.frontier import frontier
from exports.plots.position_figure import position_figure
from exports.plots.ranking_figure import ranking_figure
from exports.plots.theme import FULL_PAGE, INK, OKABE_ITO, ONE_COLUMN, tint
from exports.plots.value_maps import DARKEST, criteria_map
from exports.plots.win_matrix import win_matrix
from tests.calibration.priced import priced
from tests.calibration.ranked import drawn_study
from tests.calibration.studies import made_pairs
from tests.exports.readable import assert_readable

ROOT = Path(__file__).resolve().parents[2]
DRAW = (
    forest, criteria_map, answers, frontier, bias_figure, position_figure, ranking_figure, win_matrix,
    annotators_figure, annotator_pairs,
)  # fmt: skip
SETTINGS = CalibrationSettings(resamples=20, per_criterion=True)
NAME = "$x$_判断_ü&%"


def drawn() -> list:
    """Every figure once, with a name that no font here has all signs of."""
    judges = {NAME: (0.8, 0.001), "small": (0.5, 0.0002)}
    reports = [
        calibrate(frame, SETTINGS)
        for frame in (priced(judges, 24, 2), drawn_study(6, systems=("atlas", NAME, "cirrus")), made_pairs(24, 2))
    ]
    found = {one.name: one for report in reports for draw in DRAW if (one := draw(report)) is not None}
    return list(found.values())


@pytest.fixture(scope="module")
def figures():
    return drawn()


@pytest.fixture(scope="module")
def files(figures):
    return files_of(figures)


def test_every_figure_is_among_them(figures):
    assert len(figures) == len(DRAW)


def test_a_pdf_holds_every_font_as_truetype_and_no_date(files):
    for figure, pdf in ((figure, content) for (figure, form), content in files.items() if form == "pdf"):
        objects = dict(re.findall(rb"(\d+) 0 obj\n(.*?)\nendobj", pdf, re.DOTALL))
        fonts = [one for one in objects.values() if re.search(rb"/Type /Font\b(?!D)", one) and b"<<" in one[:4]]
        assert fonts, figure.name
        for font in fonts:
            if b"/DescendantFonts" in font:
                continue  # names the font that has the outlines
            descriptor = re.search(rb"/FontDescriptor (\d+) 0 R", font)
            assert descriptor is not None, (figure.name, font[:200])
            assert b"/FontFile2" in objects[descriptor[1]]
        assert b"/Type3" not in pdf
        assert b"CreationDate" not in pdf
        box = pdf.split(b"/MediaBox [")[1].split(b"]")[0].split()
        assert float(box[2]) == pytest.approx(72 * FULL_PAGE, abs=0.1)


def test_in_a_pdf_of_one_column_all_words_stand_apart_on_its_page_at_8_points():
    report = calibrate(made_pairs(24, 2, judges={f"judge {NAME}": 0.8}), SETTINGS)
    for figure in (forest(report, ONE_COLUMN), bias_figure(report, ONE_COLUMN)):
        assert_readable(figure, ONE_COLUMN)
        pdf = as_bytes(figure, "pdf")
        width, height = map(float, pdf.split(b"/MediaBox [")[1].split(b"]")[0].split()[2:])
        assert width == pytest.approx(72 * ONE_COLUMN, abs=0.1)
        streams = re.findall(rb"/FlateDecode.*?stream\n(.*?)\nendstream", pdf, re.DOTALL)
        drawn = next(one for one in map(zlib.decompress, streams) if b" Tf\n" in one)
        assert {float(size) for size in re.findall(rb"/\S+ (\S+) Tf\n", drawn)} == {8.0}
        words = [(float(x), float(y)) for x, y in re.findall(rb"\n(\S+) (\S+) Td\n", drawn)]
        assert words
        assert all(0 <= x < width and 0 <= y < height for x, y in words)


def test_a_font_in_a_pdf_has_the_glyphs_that_are_drawn_and_no_rules_to_set_text_with(files):
    pdf = next(content for (figure, form), content in files.items() if (figure.name, form) == ("agreement", "pdf"))
    cut = [zlib.decompress(one) for one in re.findall(rb"/Length1 \d+.*?stream\n(.*?)\nendstream", pdf, re.DOTALL)]
    assert cut
    for one in cut:
        tables = {*TTFont(io.BytesIO(one)).keys()}
        assert {"glyf", "loca"} <= tables or "CFF " in tables
        assert not tables & {"GSUB", "GPOS", "GDEF", "kern"}


def test_an_svg_is_well_formed_and_needs_no_font(files):
    for content in (content for (_, form), content in files.items() if form == "svg"):
        root = ElementTree.fromstring(content)
        assert root.tag.endswith("svg")
        assert not list(root.iter("{http://www.w3.org/2000/svg}text"))


@pytest.mark.slow
def test_every_figure_is_the_same_bytes_in_another_process_with_other_settings(files, tmp_path):
    (tmp_path / "matplotlibrc").write_text("font.size: 20\nsvg.fonttype: none\nlines.linewidth: 9\n")
    # drawn last first, so that a counter of the process would show
    code = (
        "import json; from tests.exports.test_print import *; print(json.dumps(fingerprints(files_of(drawn()[::-1]))))"
    )
    other = {"PYTHONHASHSEED": "77", "MATPLOTLIBRC": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=other, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == fingerprints(files)


def files_of(figures: list) -> dict:
    """(figure, form) -> its bytes. Of pixels, which follow from what is drawn, one figure's."""
    return {
        (one, form): as_bytes(one, form)
        for one in figures for form in FORMATS if form != "png" or one.name == "agreement"
    }  # fmt: skip


def fingerprints(files: dict) -> dict[str, str]:
    return {f"{one.name}.{form}": hashlib.sha256(content).hexdigest() for (one, form), content in files.items()}


# Viénot, Brettel & Mollon 1999, on linear RGB; the last row of each keeps blue
SEEN = {
    "full colour": np.eye(3),
    "protanopia": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    "deuteranopia": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
    "grey": np.tile([0.2126, 0.7152, 0.0722], (3, 1)),
}


def lightness(colour: str, seen: str) -> float:
    """CIE L*, 0 to 100, of what this eye or a copying machine makes of a colour."""
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    y = float(np.clip(SEEN[seen] @ linear, 0, 1) @ [0.2126, 0.7152, 0.0722])
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


@pytest.mark.parametrize("seen", SEEN)
def test_parts_of_a_bar_differ_in_lightness_for_every_eye(seen):
    fills = [fill for fill, _ in FILLS.values()]
    assert min(abs(lightness(a, seen) - lightness(b, seen)) for a, b in itertools.pairwise(fills)) > 10
    assert abs(lightness(fills[0], seen) - lightness(fills[-1], seen)) > 15


def test_marks_that_stand_side_by_side_differ_in_shape_or_filling(figures):
    ranking = next(one for one in figures if one.name == "ranking")
    looks = {
        (line.get_marker(), line.get_markerfacecolor() == line.get_markeredgecolor())
        for axes in ranking.canvas.axes for line in axes.lines if line.get_marker() in ("o", "s")
    }  # fmt: skip
    assert looks == {("s", False), ("o", False), ("o", True)}  # people, a judge alone, corrected


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize(("colour", "darkest"), [(OKABE_ITO[0], 0.72), (OKABE_ITO[1], DARKEST)])
def test_more_is_darker_on_every_map_for_every_eye(colour, darkest, seen):
    steps = [lightness(tint(darkest * share / 20, colour), seen) for share in range(21)]
    assert all(lighter - darker > 0.5 for lighter, darker in itertools.pairwise(steps))
    assert steps[-1] - lightness(INK, seen) > 35  # and still carries its number
