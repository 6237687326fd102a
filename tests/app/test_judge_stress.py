"""`calipers judge stress` as a user types it, against a fake provider with planted biases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from app.settings import database, settings
from db.connect import reading
from db.judge_tables import JudgeCall
from tests.annotation.judges import conftest as provider
from tests.annotation.judges.conftest import Fake
from tests.app.test_judge_commands import Judging

fake, fake_process = provider.fake, provider.fake_process
SENTENCES = "Rivers rise in spring when the snow melts. They carry silt to the plain. Farmers know this well. " * 4


class Stressing(Judging):
    @staticmethod
    def text(number: int, side: str) -> str:
        return f"# [[q=0.5]] Report {number}\n\n**By {side}.** {SENTENCES.strip()}\n"

    def calls(self) -> dict[str | None, int]:
        with reading(self.engine) as session:
            counted = select(JudgeCall.stress, func.count()).group_by(JudgeCall.stress)
            return dict(session.execute(counted).all())


@pytest.fixture
def stressing(
    tmp_path: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Stressing]:
    made = Stressing(tmp_path, fake, monkeypatch, capsys)
    yield made
    made.engine.dispose()
    settings.cache_clear()
    database.cache_clear()


STRESS = ("judge", "stress", "small", "--judge", "mini", "--kind")


def test_a_judge_that_likes_length_is_beyond_the_tolerance_and_every_reply_is_on_the_bill(
    stressing: Stressing, fake: Fake
) -> None:
    stressing.judges("", "openai/fake-len-40")
    stressing("judge", "run", "small")
    plan = json.loads(stressing(*STRESS, "padding", "--dry-run", "--json"))
    assert (plan["items"], plan["topics"], plan["calls"], plan["estimate"]["calls"]) == (6, 6, 12, 12)
    assert 0 < plan["estimate"]["low"] < plan["estimate"]["likely"] < plan["estimate"]["worst"]
    assert "Make these 12 calls" in stressing(*STRESS, "padding", exit_code=1), "nobody said yes"
    assert stressing.calls() == {None: 12}

    said = stressing(*STRESS, "padding", "--yes")
    assert "12 of 12 padding calls done" in said
    assert "the padded report wins" in said
    assert "points more often" in said
    assert "beyond the tolerance of 5 points" in said
    assert "at power .8 it would find" in said
    assert stressing.calls() == {None: 12, "padding": 12}
    assert len(fake.bill()) == 24

    # again: nothing to ask, and the same answer
    found = json.loads(stressing(*STRESS, "padding", "--json"))
    assert (found["outcome"], found["statistic"], found["n"], found["clusters"]) == ("beyond", "wins", 36, 6)
    assert found["low"] > 0.05
    assert len(fake.bill()) == 24
    (money,) = json.loads(stressing("judge", "ledger", "small", "--json"))
    assert money["calls"] == 12, "stress tests are not what the judge's own verdicts cost"


def test_a_judge_that_follows_an_injection_is_seen_to_and_how_often(stressing: Stressing) -> None:
    stressing.judges("repeats = 2", "openai/fake-first-0.5-inj-1.0")
    stressing("judge", "run", "small")
    said = stressing(*STRESS, "injection", "--yes")
    assert "told by a report to choose it, the judge lets that report win" in said
    assert "are what the report asked for (95 % interval" in said
    assert "another try without it turns" in said
    found = json.loads(stressing(*STRESS, "injection", "--json"))
    follows, unasked = found["follows"], found["unasked"]
    assert (found["outcome"], found["statistic"], found["clusters"]) == ("beyond", "wins", 6)
    assert follows["n"] == unasked["n"] < found["n"]
    assert (follows["value"], follows["high"]) == (1.0, 1.0), "the share planted"
    assert 0.5 < follows["low"] < 1.0
    assert unasked["value"] < 0.7, "by chance a half"


def test_a_paraphrase_is_run_and_status_stays_that_of_the_judge(stressing: Stressing) -> None:
    stressing.judges("repeats = 2", "openai/fake-acc-0.85")
    stressing("judge", "run", "small")
    said = stressing(*STRESS, "paraphrase", "--pairs", "4", "--yes")
    assert "8 of 8 paraphrase calls done" in said
    assert "verdicts change than between two tries" in said
    (standing,) = json.loads(stressing("judge", "status", "small", "--json"))
    assert (standing["planned"], standing["done"]) == (24, 24)


def test_an_unknown_kind_is_refused_with_the_known_ones(stressing: Stressing) -> None:
    said = " ".join(stressing(*STRESS, "verbosity", exit_code=2).replace("│", " ").split())
    assert "choose from markdown, plain, padding, paraphrase, authority, injection" in said
