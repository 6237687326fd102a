"""The recipes of docs/owners.md, run as they stand there: five commands from files to an open study."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from annotation.protocol import SHIPPED
from annotation.studies import find_study, protocol_of
from app.command_line import app
from app.settings import database, settings
from db.connect import reading
from db.tables import Assignment, Item, Report, System
from tests.annotation.layout_trees import json_lines, put, text
from tests.small_study import write_reports

GUIDE = Path(__file__).parents[2] / "docs" / "owners.md"
COMMAND = re.compile(r"^calipers .*$", re.MULTILINE)


def part(title: str) -> str:
    """The guide under a heading."""
    return GUIDE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]


def commands(text: str) -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [shlex.split(line, comments=True)[1:] for block in blocks for line in COMMAND.findall(block)]


def recipe(name: str) -> list[list[str]]:
    """The commands of the code block that follows the study's name."""
    block = GUIDE.read_text(encoding="utf-8").split(f"**{name}**")[1].split("```\n")[0]
    return commands(f"{block}```")


def wlc_files(root: Path, topics: int = 12) -> None:
    """Wikipedia's articles, and those of two agents."""
    agencies = {"version": "1", "agencies": {"atlas": {"name": "Atlas"}, "borealis": {"name": "Borealis"}}}
    put(root / "test_data/agencies.json", json.dumps(agencies))
    for number in range(topics):
        title = f"Lake_{number}.md"
        put(root / "wiki_data/cleaned_data/article" / title, text(f"lake {number}, as people tell it"))
        for manner, agent in enumerate(("atlas", "borealis")):
            put(root / "test_data" / agent / "md_data" / title, text(f"lake {number}, told in manner {manner}"))


def gym_files(root: Path, questions: int = 210) -> None:
    """Two of five systems on each question: the commercial ones on odd, the others on even numbers."""
    rows = [{"id": f"{number}", "query": f"what about lake {number}"} for number in range(1000, 1000 + questions)]
    put(root / "queries/researchy.jsonl", json_lines(rows))
    for number, row in enumerate(rows):
        pool = ("OpenAI", "Perplexity", "Gemini") if number % 2 else ("GPT-Researcher", "ODR")
        for system in (pool[number // 2 % len(pool)], pool[(number // 2 + 1) % len(pool)]):
            put(root / f"reports/{system}/{row['id']}.a", text(f"lake {row['id']}, told in manner {len(system)}"))


def run(words: list[str]) -> str:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, f"{words}: {done.output} {done.exception!r}"
    return done.output


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{tmp_path}/x.db")
    settings.cache_clear()
    database.cache_clear()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "study", "files", "folder", "people", "overlap", "items", "criteria", "each"),
    [
        ("Wiki Live Challenge", "wlc", wlc_files, "wlc_files", 5, 1, 10, 39, 2),
        ("DeepResearchGym", "preference", gym_files, "gym_files", 7, 3, 210, 1, 90),
    ],
)
def test_a_published_study_is_set_up_with_five_commands(
    place: Path, name: str, study: str, files: Callable[[Path], None], folder: str, people: int, overlap: int,
    items: int, criteria: int, each: int,
) -> None:  # fmt: skip
    files(place / folder)
    asked = recipe(name)
    assert len(asked) == 5
    for words in asked:
        run(words)
    with reading(database()) as session:
        found = find_study(session, study)
        assert found.status == "open"
        assert len(protocol_of(found).criterion) == criteria
        slots = session.scalars(select(Assignment).where(Assignment.study_id == found.id)).all()
        loads = Counter(slot.reserved_for for slot in slots)
        assert (len(slots), set(loads.values()), len(loads)) == (items * overlap, {each}, people)
        assert set(Counter(slot.item_id for slot in slots).values()) == {overlap}
        lean: Counter[tuple[int | None, int]] = Counter()
        for slot in slots:
            item = session.get_one(Item, slot.item_id)
            for report, is_left in ((item.report_a_id, slot.left == "A"), (item.report_b_id, slot.left == "B")):
                system = session.get_one(System, session.get_one(Report, report).system_id)
                lean[slot.reserved_for, system.id] += 1 if is_left else -1
        assert max(map(abs, lean.values())) <= 1


def test_the_whole_road_runs_as_it_stands(place: Path) -> None:
    text_of = part("From files to pay, step by step")
    settings_table = re.findall(r"```toml\n(.*?)```", text_of, re.DOTALL)[0]
    protocol = (SHIPPED / "quick_start.toml").read_text(encoding="utf-8").replace("quick_start", "mystudy")
    put(place / "mystudy.toml", protocol.replace("[[criterion]]", f"{settings_table}\n[[criterion]]", 1))
    write_reports(place / "my_reports", tuple(f"lake {number}" for number in range(6)))
    rows = [("lake 0", "alpha", "beta", "answers", "alpha", "it answers what was asked")]
    put(place / "training.csv", "topic,system_a,system_b,criterion,answer,reason\n" + ",".join(rows[0]) + "\n")
    said = {" ".join(words[:2]): run(words) for words in commands(text_of)}
    assert "plan root" in said["open mystudy"]
    assert "0 of 18" in said["status mystudy"]
    assert (place / "links.csv").read_text(encoding="utf-8").count(",annotator,") == 3
    assert (place / "pay.csv").read_text(encoding="utf-8").count("EUR") >= 3
