"""Replies that the original parsers turned into scores and verdicts, each with what it is here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotation.judges.replies.reply import parse_reply, read_probe_answer, read_score
from annotation.protocol import Scale

DEPTH = Scale(min=1, max=10)


@pytest.mark.parametrize(
    "said",
    [
        "this 2024 report is poor, I give 3",  # theirs: 10, the first number cut to the scale
        85,  # theirs: 10
        4.9,  # theirs: 4
        "seven",  # theirs: 0.0, marked valid
        -1,  # theirs: a failure that enters the total
        True,
    ],
)
def test_what_is_no_score_of_the_scale_is_never_made_one(said: Any) -> None:
    assert read_score(said, DEPTH).choice is None


def test_the_text_false_is_false_and_a_half_is_a_half() -> None:
    """bool("false") is True in their code, and a three-way .5 was scored 0."""
    labels = ("true", "false")
    assert read_probe_answer("false", labels).choice == "false"
    assert read_probe_answer("no idea", labels).choice is None
    assert read_probe_answer("partial", ("full", "partial", "no")).choice == "partial"


def test_categories_may_fail_without_vanishing() -> None:
    """A whole category that gets no reply is that many missing labels; theirs leaves the denominator."""
    codes = [f"bc_{number}" for number in range(8)]
    for raw in ("", "{}", json.dumps({"judgments": []}), '{"details": {"Broad coverage": []}}'):
        answers = parse_reply(raw, codes, ("left", "right"))
        assert [answer.criterion for answer in answers] == codes
        assert {answer.status for answer in answers} <= {"invalid", "missing"}
