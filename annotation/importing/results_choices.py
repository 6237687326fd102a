"""What a file's answer is as a stored choice: left or right, tie, a score, a probe answer. Nothing is guessed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal

from annotation.importing.records import shortened
from annotation.importing.results import ResultRow
from annotation.importing.results_match import Place
from annotation.protocol import Protocol
from annotation.scores import off_scale, scale_of, score_text

NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class NotAllowed(Exception):
    """The study allows no such answer; says what it does allow."""


def left_of(place: Place, row: ResultRow) -> str | None:
    """Which of A and B was shown first; None where nobody knows, or nothing is paired."""
    systems = place.item.systems
    first = place.names.get(row.first, row.first)
    return ("A" if systems[0] == first else "B") if len(systems) == 2 and first in systems else None


def choice_of(protocol: Protocol, place: Place, row: ResultRow, left: str | None, times: float) -> str | None:
    """The answer as raters' own are stored; A or B where the order is unknown. Raises NotAllowed."""
    if row.answer is None:
        return None
    if len(place.item.systems) == 2:
        named = place.names.get(row.answer)
        if named is not None:
            verdict = "A" if place.item.systems[0] == named else "B"
            return verdict if left is None else "left" if verdict == left else "right"
        allowed = tuple(name for name in protocol.choices if name not in ("left", "right"))
        if row.answer in allowed:
            return row.answer
        raise NotAllowed(", ".join(["A", "B", *allowed]))
    if row.answer in protocol.choices:
        return row.answer
    scale = scale_of(protocol, place.criterion.scale)
    if scale is None:
        raise NotAllowed(", ".join(protocol.choices))
    if NUMBER.fullmatch(row.answer):
        number = float(Decimal(row.answer) * Decimal(repr(times)))
        if not off_scale(number, scale):
            return score_text(number)
    steps = f" in steps of {scale.step:g}" if scale.step else ""
    raise NotAllowed(f"scores from {scale.min:g} to {scale.max:g}{steps}")


def answer_problems(study: str, found: Iterable[tuple[ResultRow, str]]) -> list[str]:
    """One problem for each answer that is not allowed, with the first place and how often: never a tie by default."""
    grouped: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row, allowed in found:
        grouped[row.answer or "", allowed].append(row.where)
    return [
        f"{places[0]}: answer {shortened(answer)} is not one that study {study!r} allows ({allowed}); "
        f"rows that hold it: {len(places)}; correct them, or say what it means: --map-label {answer[:40]}=…"
        for (answer, allowed), places in grouped.items()
    ]


def scale_problems(
    protocol: Protocol, places: Iterable[Place], found: tuple[float, float] | None, times: float
) -> list[str]:
    """A problem for each criterion whose scale is not the one that the file's scores are on."""
    if found is None:
        return []
    low, high = (end * times for end in found)
    problems: dict[str, None] = {}
    for place in places:
        scale = scale_of(protocol, place.criterion.scale)
        if scale is not None and (scale.min, scale.max) != (low, high):
            problems[
                f"criterion {place.criterion.code!r}: the file's scores run from {low:g} to {high:g}, the study's from "
                f"{scale.min:g} to {scale.max:g}; pass --times N if they are the same scale, or use another study"
            ] = None
    return list(problems)
