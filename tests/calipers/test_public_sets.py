"""Eleven public sets as their publishers ship them: one command, no glue, and the numbers of their own answers."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from app.command_line import run
from tests.calipers.public_sets import SETS

SAID = {"Chatbot Arena": ["--people", "winner"]}  # the votes' column, beside a judge's of ours


def test_there_are_eleven() -> None:
    assert len(SETS) == 11


@pytest.mark.parametrize("name", SETS)
def test_a_public_set_comes_to_the_numbers_of_its_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    shares = SETS[name](folder, random.Random(name))
    code = run(["calibrate", str(folder), "--resamples", "99", "--distance", "exact", "--json", *SAID.get(name, [])])
    told = capsys.readouterr()
    assert code == 0, told.err
    found = {
        one["rater"]: (round(one["value"] * one["n"]), one["n"])
        for one in json.loads(told.out)["estimates"]
        if (one["statistic"], one["reference"], one["criterion"]) == ("percent_agreement", "each_annotator", "all")
    }
    assert {judge: found.get(judge) for judge in shares} == shares
