"""A topic whose labels a judge was shown is planted, and looked for beside that judge in all that calipers says."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from annotation.items.shown import item_code
from annotation.judges.asking.examples import clusters_drawn_before
from app.settings import database, settings
from db.connect import reading, transaction
from db.tables import Item, Study, Topic
from tests import aligned_study
from tests.annotation.judges import conftest as provider
from tests.annotation.judges.conftest import Fake
from tests.app import drawing
from tests.app.test_evaluator_screens import PAGES
from tests.app.test_judge_commands import Judging

fake, fake_process = provider.fake, provider.fake_process
SHOWN_TO, OTHER, SEEN = "mini", "plain", 3


class Labelled(Judging):
    """Thirteen topics with two annotators; `mini` is shown the labels of three, `plain` of none."""

    pairs = 13

    @staticmethod
    def text(number: int, side: str) -> str:
        better = aligned_study.better(0, number)
        return f"# Report\n\nPlanted {number}, side {side.lower()}. [[q={0.8 if side == better else 0.2}]]\n"


@pytest.fixture
def labelled(
    tmp_path: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Labelled]:
    made = Labelled(tmp_path, fake, monkeypatch, capsys)
    aligned_study.label(made.engine, made.study, 0)
    other = f'[[judge]]\nname = "{OTHER}"\nmodel = "openai/fake-acc-0.7"\napi_base = "{fake.base}"\napi_key_env = "MY_JUDGE_KEY"\n'
    made.judges(f'examples = "from: {SEEN} topics"\nexample_chars = 200\n{other}')
    made("judge", "run", "small")
    with transaction(made.engine) as session:
        session.get_one(Study, made.study).status = "closed"
    yield made
    made.engine.dispose()
    settings.cache_clear()
    database.cache_clear()


def names_of(labelled: Labelled, *, seen: bool) -> set[str]:
    """Keys of the topics that `mini` was shown, or was not, and the names of their items."""
    with reading(labelled.engine) as session:
        drawn = clusters_drawn_before(session, session.get_one(Study, labelled.study))
        assert len(drawn) == SEEN
        rows = session.execute(select(Topic.key, Item.id).join(Item, Item.topic_id == Topic.id)).all()
    return {name for key, item in rows if (key in drawn) == seen for name in (key, item_code(item))}


def records(path: Path) -> Iterator[str]:
    """What stands together in a file: a row, a line, or the values of one object."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".csv":
        yield from (" ".join(row) for row in csv.reader(text.splitlines()))
    elif path.suffix == ".json":
        yield from objects(json.loads(text))
    else:
        yield from re.split(r"\n|</tr>|</p>", text)


def objects(value: Any) -> Iterator[str]:
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    yield " ".join(str(one) for one in inner if not isinstance(one, dict | list))
    for one in inner:
        yield from objects(one)


def beside(said: Iterator[str], judge: str, names: set[str]) -> list[str]:
    """Records that name the judge and one of these topics or items."""
    wanted = re.compile(rf"\b({'|'.join(map(re.escape, sorted(names)))})\b")
    return [one[:300] for one in said if re.search(rf"\b{judge}\b", one) and wanted.search(one)]


@pytest.mark.slow
def test_a_topic_that_a_judge_was_shown_is_nowhere_beside_it_in_exports_pages_and_numbers(labelled: Labelled) -> None:
    seen, unseen = (names_of(labelled, seen=one) for one in (True, False))
    few = ("--judges", "judges.toml", "--resamples", "199")
    labelled("calibrate", "small", *few, "--out", "out/report")
    labelled("export", "labels", "small", "--out", "out/labels")
    labelled("export", "dataset", "small", "--out", "out/dataset")
    labelled("export", "bundle", "small", *few[:2], "--out", "out/bundle")
    (labelled.folder / "out/status.json").write_text(labelled("judge", "status", "small", "--json"), encoding="utf-8")
    files = [path for path in (labelled.folder / "out").rglob("*") if path.suffix in WORDS]
    assert len(files) > 20
    found = {path: list(records(path)) for path in files}
    wrong = {path.name: told for path, said in found.items() if (told := beside(iter(said), SHOWN_TO, seen))}
    assert wrong == {}, json.dumps(wrong, indent=1)
    others = [path for path, said in found.items() if beside(iter(said), SHOWN_TO, unseen)]
    assert others, "what it was asked about is found this way"
    assert [path for path, said in found.items() if beside(iter(said), OTHER, seen)], "as is what another was asked"

    report = json.loads((labelled.folder / "out/report/calibration-report.json").read_text(encoding="utf-8"))
    numbers = [one for one in report["estimates"] if one["rater"] == SHOWN_TO]
    assert len(numbers) > 20
    more = {one["statistic"] for one in numbers if one["clusters"] > Labelled.pairs - SEEN}
    assert more == {"kept_share"}, "the share of all people's labels that have its answer beside them"

    for name in (*PAGES, "disagreements"):
        screen = drawing.page(labelled.engine, labelled.study, name, judge=SHOWN_TO)
        tables = [frame.value.astype(str).agg(" ".join, axis=1) for frame in screen.dataframe]
        rows = [row for table in tables for row in table]
        html = [one for part in drawing.html_of(screen) for one in re.split(r"</tr>|</p>|</section>|</article>", part)]
        assert beside(iter([*rows, *html]), SHOWN_TO, seen) == [], name


WORDS = (".csv", ".json", ".md", ".tex", ".html", ".txt", ".jsonl")
