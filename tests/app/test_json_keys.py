"""What programs read of `--json` stays: keys may be added, and one that goes has its line in CHANGELOG."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.command_line import run
from db.connect import transaction
from tests.small_study import a_person, make_study

KEYS = """
status small          | study status reports items slots submitted raters by_item stale remarks by_topic by_system
people small          | name pseudonym role status consent training quota handed_in in_work void
items small           | changed items
audit small           | reports systems topics removed identification chance sentence gaps
adjudicate small      | study rule states items_open criteria queue sided_with
doctor                | database sound faults
init --list           | name title
quality small         | format study annotators agreement needed
pause small           | study status plan_root
"""


@pytest.fixture
def study(engine_here: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine_here, tmp_path / "reports")
    with transaction(engine_here) as session:
        a_person(session, study_id)


def test_the_keys_of_json_stay(study: None, capsys: pytest.CaptureFixture[str]) -> None:
    for line in KEYS.strip().splitlines():
        words, _, keys = line.partition("|")
        assert run([*words.split(), "--json"]) == 0, words
        said = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
        found = said[0] if isinstance(said, list) else said
        assert set(keys.split()) <= set(found), (words, list(found))
