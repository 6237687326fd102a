"""`calipers pairs` as a user types it: the plan is told before it is made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.conftest import Shell
from tests.small_study import PROTOCOL, with_reference

PAID = PROTOCOL.replace("[study]", "[study]\npay = {rate = 10}")


@pytest.fixture
def shell(typed: Shell, tmp_path: Path) -> Shell:
    (tmp_path / "small.toml").write_text(PAID)
    with_reference(tmp_path / "reports")
    (tmp_path / "reports" / "topics.csv").write_text("topic,category\ntides,sea\nbread,food\nnoise,sea\n")
    typed("init", "s", "--protocol", "small.toml", "--seed", "7")
    typed("import", "reports", "reports", "--layout", "folder")
    return typed


def test_the_plan_is_told_first_and_a_roster_says_who_has_how_much(shell: Shell) -> None:
    told = shell("pairs", "--total", "4", "--overlap", "2")
    assert "s: 4 pairs on 3 topics in 2 categories, 2 annotators each, 8 new slots, seed 7" in told
    assert "reading: about 0.0 hours, at least" in told
    assert "every text once for each label; deciding comes on top" in told
    assert "nothing was written" in told
    for name in ("Ada", "Bo", "Cy"):
        shell("invite", "s", name)
    told = shell("pairs", "--total", "4", "--overlap", "2", "--roster", "--apply")
    assert "roster of 3 annotators: 2 to 3 labels each, left and right of one system differ by at most 1" in told
    assert "made 8 slots" in told
    found = json.loads(shell("pairs", "--total", "4", "--overlap", "2", "--roster", "--json"))
    assert (found["pairs"], found["standing_items"], found["new_slots"], found["slots"]) == (4, 4, 0, 8)
    assert (sorted(found["loads"].values()), found["uneven_sides"], found["reading_wpm"]) == ([2, 3, 3], 1, 230)
    assert "invite 1 more" in shell("pairs", "--overlap", "4", "--roster", exit_code=1)


def test_a_list_is_read_from_a_file_and_refused_with_all_its_problems(shell: Shell, tmp_path: Path) -> None:
    listed = tmp_path / "mine.csv"
    listed.write_text("topic,system_a,system_b\ntides,alpha,beta\ntides,alpha,delta\nbred,alpha,beta\n")
    said = shell("pairs", "--design", "mine.csv", exit_code=1)
    assert "mine.csv:3: no report to show on topic 'tides' by system 'delta'" in said
    assert "mine.csv:4: no topic 'bred' with a report to show (did you mean 'bread'?)" in said
    listed.write_text("topic,system_a,system_b\ntides,alpha,beta\n")
    assert "s: 1 pair on 1 topic in 1 category, 1 annotator each, 1 new slot, seed 7" in shell(
        "pairs", "--design", "mine.csv", "--apply"
    )
    listed.write_text("topic,system\ntides,alpha\n")
    assert "mine.csv:1: no column 'system_a'" in shell("pairs", "--design", "mine.csv", exit_code=1)
    assert "no design called 'nonsense'; use reference, all, balanced" in shell(
        "pairs", "--design", "nonsense", exit_code=1
    )
    assert "say how many: --per-topic N" in shell("pairs", "--design", "balanced", exit_code=1)
