"""One value of a reply as the answer that is stored: exact words, a few logged coercions, nothing guessed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.protocol_parts import Scale
from annotation.scores import NUMBER, off_scale, score_text

ANSWER_FIELD = {"pairwise_choice": "winner", "pointwise_rating": "score", "probe_label": "label"}  # on the wire
EXACT = {"first": "left", "second": "right", "tie": "tie", "not_applicable": "not_applicable"}
SAME_AS = {
    "a": "left", "1": "left", "left": "left", "first report": "left",
    "b": "right", "2": "right", "right": "right", "second report": "right",
    "not applicable": "not_applicable",
}  # fmt: skip


@dataclass(frozen=True)
class Value:
    """The stored answer, or None and why: absent, unknown_value, not_allowed, out_of_range or off_step."""

    choice: str | None
    coerced: bool = False
    problem: str = ""


def read_winner(value: Any, choices: Sequence[str]) -> Value:
    """`first` is left, `second` right. Case, blanks, A/1/left and B/2/right are coerced; a tie must be allowed."""
    if value is None:
        return Value(None, problem="absent")
    if isinstance(value, str) and value in EXACT:
        return _allowed(EXACT[value], choices, coerced=False)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if 0 < value < 3 else ""
    if not isinstance(value, str):
        return Value(None, problem="unknown_value")
    word = " ".join(value.casefold().split())
    stored = EXACT.get(word) or SAME_AS.get(word)
    return _allowed(stored, choices, coerced=True) if stored else Value(None, problem="unknown_value")


def read_score(value: Any, scale: Scale, choices: Sequence[str] = ()) -> Value:
    """A number on the scale as text (`7`, `7.5`). A number in quotes is coerced; nothing is clamped or floored."""
    if value is None:
        return Value(None, problem="absent")
    if isinstance(value, str) and _folded(value) == "not_applicable" and "not_applicable" in choices:
        return Value("not_applicable", coerced=value != "not_applicable")
    coerced = isinstance(value, str)
    if isinstance(value, str):
        if not NUMBER.fullmatch(value.strip()):
            return Value(None, problem="unknown_value")
        value = float(value)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or (isinstance(value, float) and math.isnan(value))
    ):
        return Value(None, problem="unknown_value")
    if problem := off_scale(value, scale):
        return Value(None, problem=problem)
    return Value(score_text(value), coerced)


def read_probe_answer(value: Any, choices: Sequence[str]) -> Value:
    """One of the protocol's answers by id. `False` and `"FALSE"` are the id `false`; 0.5 is the id `.5`."""
    if value is None:
        return Value(None, problem="absent")
    if isinstance(value, str) and value in choices:
        return Value(value)
    if isinstance(value, bool):
        alike = [choice for choice in choices if choice.casefold() == str(value).casefold()]
    elif isinstance(value, int | float):
        alike = [choice for choice in choices if NUMBER.fullmatch(f"0{choice}") and float(choice) == value]
    elif isinstance(value, str):
        alike = [choice for choice in choices if _folded(choice) == _folded(value)]
    else:
        alike = []
    return Value(alike[0], coerced=True) if len(alike) == 1 else Value(None, problem="unknown_value")


def _allowed(stored: str, choices: Sequence[str], *, coerced: bool) -> Value:
    return Value(stored, coerced) if stored in choices else Value(None, problem="not_allowed")


def _folded(text: str) -> str:
    return "_".join(text.casefold().split())
