"""`calipers judge align` as docs/judge_alignment.md has it typed, through litellm to a fake provider whose answers some words move."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from annotation.judges.money.queue_rules import queue_rules
from annotation.verdicts import load_verdicts
from annotation.work.open_and_close import move_study
from app.settings import database, settings
from db.connect import reading, transaction
from db.judge_tables import Judge, JudgeCall
from db.tables import Study
from tests import aligned_study
from tests.annotation.judges import conftest as provider
from tests.annotation.judges.conftest import Fake
from tests.app.test_judge_commands import Judging

fake, fake_process = provider.fake, provider.fake_process
ALIGN = ("judge", "align", "small", "--judge", "mini", "--against", "labels of 10 topics", "--budget", "1", "--yes")
FEW = ("--variants", "12", "--examples", "0")


class Aligning(Judging):
    """A study of twenty topics with two annotators, and a judge that is right in six of ten questions."""

    @staticmethod
    def text(number: int, side: str) -> str:
        better = aligned_study.better(0, number)
        return f"# Report\n\nTopic planted-{number}, manner {side.lower()}. [[q={0.8 if side == better else 0.2}]]\n"

    pairs = 20


@pytest.fixture
def aligning(
    tmp_path: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Aligning]:
    made = Aligning(tmp_path, fake, monkeypatch, capsys)
    aligned_study.label(made.engine, made.study, 0)
    yield made
    made.engine.dispose()
    settings.cache_clear()
    database.cache_clear()


def verdicts_of(aligning: Aligning, judge: str) -> set[str]:
    with reading(aligning.engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, aligning.study))
    return set(verdicts["cluster_id"][verdicts["rater_id"] == judge])


@pytest.mark.slow
def test_a_wording_that_helps_is_one_more_judge_and_its_topics_are_in_no_number(aligning: Aligning, fake: Fake) -> None:
    aligning.judges("max_output_tokens = 300", "openai/fake-acc-0.6-word-0.4")
    assert "plan it with: calipers judge run" in aligning(*ALIGN, exit_code=1)
    aligning("judge", "run", "small")
    said = aligning(*ALIGN, *FEW)
    assert "are written from labels of 5 topics and chosen on 5 more" in said
    assert re.search(r"mini-aligned agrees with people more often than mini: \+\d+\.\d points \[", said), said
    assert "on 10 topics it never saw" in said
    assert "+How the criteria are applied in this study" in said, "what changed, as a difference"

    found = json.loads(aligning(*ALIGN, *FEW, "--json"))
    billed = len(fake.bill())
    assert json.loads(aligning(*ALIGN, *FEW, "--json")) == found
    assert len(fake.bill()) == billed, "again: nothing is asked, and the same answer"
    assert 0 < found["usd"] < 1

    seen = set(found["seen"])
    assert len(seen) == 10
    assert verdicts_of(aligning, "mini-aligned") == verdicts_of(aligning, "mini") - seen
    added = (aligning.folder / "judges.toml").read_text().split("[[judge]]")[-1]
    assert 'prompt = "prompts/mini-aligned.txt"' in added
    assert added.count("item-") == 10
    aligning("calibrate", "small", "--judges", "judges.toml", "--out", "report", "--resamples", "199")
    kept = (aligning.folder / "report/calibration-report.json").read_text(encoding="utf-8")
    assert f"mini-aligned is the best of {found['variants']} wordings of mini" in kept
    told = json.loads(kept)["choice"]
    assert {"mini", "mini-aligned"} <= {one["judge"] for one in told["candidates"]}, "of one family, like any two"
    assert {"mini", "mini-aligned"} <= {*told["plan"]["judges"]}
    with transaction(aligning.engine) as session:
        move_study(session, session.get_one(Study, aligning.study), "open")
    aligning("reveal", "small")
    aligning("export", "labels", "small", "--judges", "judges.toml", "--out", "labels.csv")
    aligning("export", "bundle", "small", "--out", "bundle")
    named = re.compile("|".join(rf"\b{topic}\b" for topic in seen))
    files = [
        aligning.folder / "labels.csv",
        *(aligning.folder / "bundle").rglob("*"),
        *(aligning.folder / "report").rglob("*"),
    ]
    texts = {path: path.read_text("utf-8", "replace") for path in files if path.suffix in {".csv", ".md", ".tex"}}
    lines = [line for text in texts.values() for line in text.splitlines() if "mini-aligned" in line]
    assert len(lines) > 100
    assert not [line for line in lines if named.search(line)], "in no export"
    # without the list of items, and run again, it is asked about none of them all the same
    path = aligning.folder / "judges.toml"
    path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith("examples")))
    aligning("judge", "run", "small")
    assert verdicts_of(aligning, "mini-aligned") == verdicts_of(aligning, "mini") - seen
    with reading(aligning.engine) as session:
        spent = {judge.name: (judge.spent, judge.reserved) for judge in session.scalars(select(Judge))}
    assert all(reserved == pytest.approx(0) for _, reserved in spent.values())
    lines = aligning("judge", "ledger", "small").splitlines()
    assert len(lines) - 1 == billed, "every reply is a line"
    with reading(aligning.engine) as session:
        broken = {rule: session.execute(rows).all() for rule, rows in queue_rules(session).items()}
        asked = select(JudgeCall.id).where(JudgeCall.shown_sha256 == [], JudgeCall.state == "done")
        rewriting = session.scalars(asked.order_by(JudgeCall.id)).first()
    assert not any(broken.values()), broken
    assert "A model judges items of a study" in aligning("judge", "show", "small", str(rewriting))


def test_without_the_extra_the_command_says_what_to_install(aligning: Aligning) -> None:
    aligning.patch.setitem(sys.modules, "gepa", None)
    aligning.patch.setattr("annotation.judges.aligning.search.find_spec", lambda name: None)
    assert "pip install 'calipers[align]'" in aligning(*ALIGN, exit_code=1)


def test_a_prompt_that_somebody_wrote_is_not_overwritten(aligning: Aligning) -> None:
    own = aligning.folder / "prompts" / "mini-aligned.txt"
    own.parent.mkdir()
    own.write_text("Mine.")
    said = " ".join(aligning(*ALIGN, exit_code=1).split())
    assert "mini-aligned.txt is there already and judges.toml has no judge 'mini-aligned'" in said
    assert own.read_text() == "Mine."
    assert "plan it with: calipers judge run" in aligning(*ALIGN, "--name", "other", exit_code=1)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--against", "20 labels"), 'write "labels of 20 topics"'),
        (("--against", "labels of 2 topics"), "at least 4 topics"),
        (("--judge", "other"), "no judge 'other'"),
    ],
)
def test_what_cannot_be_aligned_is_one_sentence(aligning: Aligning, more: tuple[str, str], why: str) -> None:
    assert why in " ".join(aligning(*ALIGN, *more, exit_code=1).split())
