"""What a judge earns that gives one answer whatever the reports say; no naming of A and B changes it."""

from __future__ import annotations

import numpy as np

from calibration.engine.bounding import FEWEST
from calibration.engine.closed_forms import Array
from calibration.engine.crossing import people_votes
from calibration.engine.joining import Scale, Study
from calibration.reading.columns import Codes, tally
from calibration.scores.pairwise import SWAP, best_constant, best_constant_by_group

IN_WORDS = "the best constant answer (for every two systems its own, where they are named)"


def constant_baseline(study: Study, unit: Codes, scale: Scale, ties: str) -> float:
    """Agreement with every annotator's label on these units, 0 to 1, of the best constant answer. nan: no labels.

    Of pairs of named systems: the best answer for each pair of systems. Where these hold fewer than five clusters on
    average, and their best answer would be read off the very labels it is tried on: the best one answer about the
    system that is in every pair; without such a one, what `A` earns where a coin names A, or a tie. `unit`: each once.
    """
    people, common = people_votes(study, scale)
    counts, systems = people[unit] / common, study.unit_systems[unit]
    if scale.kind != "pairwise" or not len(systems) or (systems < 0).any():
        return best_constant(counts.sum(axis=0), ties)[0]
    counts = _turned(counts, study.unit_mirrored[unit])
    pairs, place = np.unique(systems, return_inverse=True)
    if len(np.unique(place * len(study.clusters) + study.unit_cluster[unit])) >= FEWEST * len(pairs):
        by_pair = [tally(place, len(pairs), column) for column in counts.T]
        return best_constant_by_group(np.stack(by_pair, axis=-1), ties)
    size = len(study.systems)
    shared = set.intersection(*({*divmod(int(pair), size)} for pair in pairs))
    if shared:
        counts = _turned(counts, systems // size != min(shared))
    else:
        counts = (counts + _turned(counts, np.ones(len(counts), bool))) / 2
    return best_constant(counts.sum(axis=0), ties)[0]


def _turned(counts: Array, rows: np.typing.NDArray[np.bool_]) -> Array:
    """With A and B exchanged in these rows."""
    out = counts.copy()
    out[rows] = counts[rows][:, SWAP[: counts.shape[1]]]
    return out
