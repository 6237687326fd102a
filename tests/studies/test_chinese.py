"""A study in Chinese from end to end: its reports, its people, a judge, calibration, and every file of its paper."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from exports.plots.ranking_figure import ranking_figure
from exports.plots.theme import boxed
from tests.annotation.judges.conftest import Fake
from tests.exports.test_latex_compiles import faults, has_fonts
from tests.other_languages import CHINESE, CHINESE_TOPICS, write_reports
from tests.studies.desk import Desk, Task, a_desk

JUDGE = """
[[judge]]
name = "careful"
model = "openai/fake-acc-0.85"
api_base = "{base}"
"""
SYSTEMS = ("系统甲", "系统乙", "系统丙")
PEOPLE = ("李雷", "韩梅梅", "王芳")


def better(task: Task) -> str:
    """The first before the second before the third, as the marks in the reports say; now and then somebody sees it otherwise."""
    first, second = task.systems
    right = first if SYSTEMS.index(first) < SYSTEMS.index(second) else second
    draw = random.Random(f"{task.person}{task.topic}{task.systems}{task.criterion}").random()
    said = right if draw < 0.85 else (second if right == first else first)
    return "left" if said == task.left else "right"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, fake_process: Fake) -> Iterator[tuple[Desk, Path]]:
    fake_process.reset(latency_ms=0)
    folder = tmp_path_factory.mktemp("chinese")
    with a_desk(folder, [ranking_figure]) as desk:
        root = write_reports(folder / "reports", "zh", systems=SYSTEMS)
        for place, system in enumerate(SYSTEMS):
            for topic in CHINESE_TOPICS:
                path = root / system / f"{topic}.md"
                path.write_text(f"{path.read_text()}\n`[[q={0.9 - 0.3 * place}]]`\n", encoding="utf-8")
        consent = re.sub(r'consent = ".*"\n', "", CHINESE)
        (folder / "chinese.toml").write_text(consent, encoding="utf-8")
        (folder / "judges.toml").write_text(JUDGE.format(base=fake_process.base), encoding="utf-8")
        desk("init", "zh", "--protocol", "chinese.toml")
        desk("import", "reports", "reports", "--layout", "folder", "--study", "zh")
        desk("invite", "zh", *PEOPLE)
        desk("pairs", "zh", "--design", "all", "--overlap", "3", "--apply")
        desk("open", "zh")
        assert desk.everybody_answers("zh", better) == 27
        desk("judge", "run", "zh", "--judges", "judges.toml")
        desk("close", "zh")
        desk("calibrate", "zh", "--out", "paper", "--resamples", "199")
        yield desk, folder / "paper"


def test_a_chinese_study_is_calibrated(ran: tuple[Desk, Path]) -> None:
    desk, _ = ran
    verdicts = desk.verdicts("zh")
    assert set(verdicts["criterion"]) == {"evidence", "structure"}
    assert set(verdicts.loc[verdicts["rater_kind"] == "judge", "rater_id"]) == {"careful"}


def test_its_reports_are_counted_in_characters(ran: tuple[Desk, Path]) -> None:
    desk, _ = ran
    told = desk("pairs", "zh", "--design", "all", "--overlap", "3", "--json")
    words = int(re.search(r'"words": (\d+)', told)[1])  # type: ignore[index]
    assert words > 27 * 2 * 300


def test_every_file_of_its_paper_is_made(ran: tuple[Desk, Path]) -> None:
    _, paper = ran
    names = {path.name for path in paper.iterdir()}
    assert {"agreement.tex", "ranking.pdf", "methods.md", "report.html", "captions.md"} <= names
    assert "系统甲" in (paper / "ranking.md").read_text(encoding="utf-8")
    assert "深度研究报告对比研究" in (paper / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["ranking.tex", "methods.tex"])
def test_latex_says_which_engine_and_fonts_its_words_need(ran: tuple[Desk, Path], name: str) -> None:
    _, paper = ran
    lines = (paper / name).read_text(encoding="utf-8").split("\n")
    told = "\n".join(line for line in lines if line.startswith("%"))
    assert "pdfLaTeX has no font for some of this text (Chinese, Japanese or Korean). LuaLaTeX prints it" in told
    assert "Noto Serif CJK SC" in told


def test_a_figure_draws_its_names_or_says_what_to_install(ran: tuple[Desk, Path]) -> None:
    _, paper = ran
    captions = (paper / "captions.md").read_text(encoding="utf-8")
    assert ("fonts-noto-cjk" in captions) == bool(boxed(SYSTEMS))


if has_fonts():

    def test_table_and_methods_of_a_chinese_study_are_printed_by_lualatex(
        ran: tuple[Desk, Path], tmp_path: Path
    ) -> None:
        _, paper = ran
        parts = [(paper / name).read_text(encoding="utf-8") for name in ("ranking.tex", "methods.tex")]
        found = faults("lualatex", r"\documentclass{article}", parts, tmp_path)
        assert [fault for fault in found if not fault.startswith("Overfull")] == []  # a long model name, as in English
