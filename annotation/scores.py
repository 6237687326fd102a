"""Answers as they are stored; for a score, whether the number lies on its criterion's scale."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from annotation.errors import AnnotationError
from annotation.protocol import Protocol
from annotation.protocol_parts import Scale

POINTS_MAX = 201
NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?")


def scale_of(protocol: Protocol, own: Mapping[str, Any] | None) -> Scale | None:
    """A criterion's `own` scale as its row keeps it, else the protocol's; None where nothing is rated."""
    return Scale.model_validate(own) if own else protocol.answers.scale


def off_scale(number: float, scale: Scale) -> str:
    """`out_of_range`, `off_step`, or nothing where the number is one of the scale's. Steps count from its lower end."""
    if not scale.min <= number <= scale.max:
        return "out_of_range"
    steps = (number - scale.min) / scale.step if scale.step else 0.0
    return "off_step" if abs(steps - round(steps)) > 1e-9 else ""


def scale_points(scale: Scale) -> tuple[str, ...]:
    """Every score of the scale in order, as stored; none where any number goes, or there are more than 201."""
    steps = round((scale.max - scale.min) / scale.step) if scale.step else POINTS_MAX
    if steps >= POINTS_MAX:
        return ()
    step, low = Decimal(repr(scale.step)), Decimal(repr(scale.min))
    return tuple(score_text(float(low + number * step)) for number in range(steps + 1))


def score_text(number: float) -> str:
    """A score as it is stored, without exponent or idle zeros: `7`, `7.5`."""
    return str(int(number)) if number == int(number) else format(Decimal(repr(number)), "f")


def stored_choice(protocol: Protocol, own_scale: Mapping[str, Any] | None, choice: str | None) -> str | None:
    """A person's answer as it is stored: one of the protocol's, or a number of the criterion's scale.

    Raises AnnotationError `invalid` naming what is allowed.
    """
    if choice is None or choice in protocol.choices:
        return choice
    scale = scale_of(protocol, own_scale)
    if scale is None:
        allowed = ", ".join(protocol.choices)
        raise AnnotationError("invalid", f"{choice!r:.60} is not an answer this study allows ({allowed})")
    if NUMBER.fullmatch(choice) and not off_scale(float(choice), scale):
        return score_text(float(choice))
    steps = f" in steps of {scale.step:g}" if scale.step else ""
    raise AnnotationError("invalid", f"{choice!r:.60} is not a score from {scale.min:g} to {scale.max:g}{steps}")
