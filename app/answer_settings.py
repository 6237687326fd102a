"""What a protocol says of its answers, as settings of statistics: their order, their weights, what systems get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from annotation.protocol import Protocol
from annotation.protocol_parts import Scale
from annotation.scores import scale_of, scale_points
from calibration.settings import Aggregate


def answer_settings(protocol: Protocol, criteria: Iterable[str] = ()) -> dict[str, Any]:
    """Fields of `CalibrationSettings` by name. `criteria`: of the topics, where the protocol lists none."""
    answers = protocol.answers
    asked = [one.id for one in protocol.criterion] or sorted({*map(str, criteria)})
    scales = _scales(protocol, asked)
    points = {name: scale_points(scale) for name, scale in scales.items()}
    if answers.ordered:
        points = dict.fromkeys(asked, tuple(label.id for label in answers.labels if label.on_scale))
    return {
        "scales": {name: found for name, found in points.items() if found},
        "off_scale": tuple(label.id for label in answers.labels if answers.ordered and not label.on_scale),
        "aggregates": tuple(Aggregate(**one.model_dump()) for one in protocol.aggregate),
        "answer_values": {label.id: label.weight for label in answers.labels},
        "score_times": {name: scale.shown_times for name, scale in scales.items() if scale.shown_times != 1},
    }


def _scales(protocol: Protocol, asked: Iterable[str]) -> Mapping[str, Scale]:
    """The scale of each rated criterion; empty where nothing is rated."""
    own = {one.id: one.scale.model_dump() for one in protocol.criterion if one.scale}
    found = {name: scale_of(protocol, own.get(name)) for name in asked}
    return {name: scale for name, scale in found.items() if scale}
