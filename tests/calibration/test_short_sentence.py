"""The choice in a caption: one sentence with its interval, whatever was found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from calibration.choosing.choice import Choice
from calibration.choosing.choice_words import short_sentence
from tests.exports.toy_choice import CANDIDATES, toy_choice

NAN = float("nan")
CHOICE = toy_choice().choice
assert CHOICE is not None
TINY, SMALL, MINI, HOSTILE, UNPRICED = CANDIDATES
SEEN = "95 % interval 73.0 to 85.0 %; 1,170 labels in 30 topics"


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (
            CHOICE,
            "gpt-5_mini is the cheapest of the 5 judges tried that is shown to fall less than 5.0 points short of a "
            f"left-out annotator (agreement 79.0 %, {SEEN}; 2.10 USD per 1,000 items).",
        ),
        (
            replace(CHOICE, candidates=(MINI,)),
            "gpt-5_mini is shown to fall less than 5.0 points short of a left-out annotator (agreement 79.0 %, "
            f"{SEEN}; 2.10 USD per 1,000 items).",
        ),
        (
            replace(CHOICE, status="cannot_tell", judge=None, candidates=(SMALL, TINY)),
            "These labels cannot tell whether any of the 2 judges tried falls less than 5.0 points short of a left-out "
            "annotator; small comes closest (agreement 72.0 %, 95 % interval 66.0 to 78.0 %; 1,170 labels in 30 topics).",
        ),
        (
            replace(CHOICE, status="cannot_tell", judge=None, candidates=(SMALL,)),
            "These labels cannot tell whether small falls less than 5.0 points short of a left-out annotator (agreement "
            "72.0 %, 95 % interval 66.0 to 78.0 %; 1,170 labels in 30 topics).",
        ),
        (
            replace(CHOICE, status="none_adequate", judge=None, candidates=(TINY,)),
            "tiny is not adequate (margin 5.0 points; agreement 50.0 %, 95 % interval 44.0 to 56.0 %; 1,170 labels in "
            "30 topics).",
        ),
        (
            replace(CHOICE, judge="unpriced", candidates=(UNPRICED,)),
            "unpriced is shown to fall less than 5.0 points short of a left-out annotator (agreement 78.0 %, 95 % "
            "interval 72.0 to 84.0 %; 1,170 labels in 30 topics), but its cost is unknown.",
        ),
        (
            replace(CHOICE, plan=replace(CHOICE.plan, against="floor", at_least=0.7), candidates=(MINI,)),
            f"gpt-5_mini is shown to agree in at least 70 % of labels (agreement 79.0 %, {SEEN}; 2.10 USD per 1,000 "
            "items).",
        ),
        (
            replace(
                CHOICE, plan=replace(CHOICE.plan, at_least_kappa=0.6), candidates=(TINY, SMALL), status="none_adequate"
            ),
            "None of the 2 judges tried is adequate (floor: κ of at least .6); small comes closest (agreement 72.0 %, "
            "95 % interval 66.0 to 78.0 %; 1,170 labels in 30 topics).",
        ),
        (
            replace(CHOICE, status="cannot_tell", judge=None, candidates=()),
            "No judge could be compared with the annotators.",
        ),
    ],
)
def test_a_caption_says_what_was_found_with_its_interval(choice: Choice, sentence: str) -> None:
    assert short_sentence(choice) == sentence


def test_no_interval_is_said_to_be_none() -> None:
    alone = replace(SMALL, agreement=replace(SMALL.agreement, low=NAN, high=NAN))
    assert CHOICE is not None
    said = short_sentence(replace(CHOICE, status="cannot_tell", judge=None, candidates=(alone,)))
    assert "(agreement 72.0 %, no interval; 1,170 labels in 30 topics)" in said
