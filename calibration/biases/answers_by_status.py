"""How many answers about each system were asked of a rater, and of which status they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.bias import EVERYONE
from calibration.engine.joining import Mask, Study
from calibration.reading.columns import tally
from calibration.verdicts import BOTH_ORDERS

STATUSES = ("ok", "not_applicable", "invalid", "missing", "refused")
NAMELESS = "all reports"  # of a table that names no systems


def answers_by_status(study: Study, wanted: Mask, rater: str, systems: Sequence[str]) -> list[dict[str, int]]:
    """One count of every status for each system, and `asked`, their sum; of a pair both systems were asked about.

    `wanted`: the units that count, shape (units,); `rater`: everyone is all annotators, without retests.
    """
    frame = study.frame
    whose = frame["rater_id"] == rater.removesuffix(BOTH_ORDERS)
    if rater == EVERYONE:
        whose = (frame["rater_kind"] == "human") & (frame["run"] == 1)
    rows = whose.to_numpy() & wanted[frame["unit"].to_numpy()]
    place = np.array([STATUSES.index(name) for name in frame["status"].cat.categories])
    status = place[frame["status"].cat.codes.to_numpy()[rows]]
    is_spared = np.array([name == "not_applicable" for name in frame["label"].cat.categories])
    spared = is_spared[frame["label"].cat.codes.to_numpy()[rows]]
    status = np.where(spared & (status == 0), 1, status)
    counts = np.zeros((len(systems), len(STATUSES)))
    for side in ("system_a", "system_b"):
        named = {name: number for number, name in enumerate(systems)}
        nobody = named.get(NAMELESS, -1) if side == "system_a" else -1
        code = np.array([named.get(name, -1) if name else nobody for name in frame[side].cat.categories])
        system = code[frame[side].cat.codes.to_numpy()[rows]]
        known = system >= 0
        counts += tally(system[known] * len(STATUSES) + status[known], counts.size).reshape(counts.shape)
    return [
        {"asked": int(own.sum()), **{name: int(count) for name, count in zip(STATUSES, own, strict=True)}}
        for own in counts
    ]
