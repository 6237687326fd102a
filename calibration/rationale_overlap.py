"""Are people's rationales those of a judge? Byte-identical and near-identical ones, against what chance alone gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from calibration.answering import clusters_of
from calibration.bias import Asked, Bias, bias_of
from calibration.closed_forms import Array
from calibration.joining import Mask, Study, study_of
from calibration.results import CalibrationSettings

WORDS = 3  # to a shingle
ALIKE = 0.8  # Jaccard similarity of shingles from which two rationales are near-identical


@dataclass(frozen=True)
class RationaleOverlap:
    """One annotator and one judge, over labels for which both wrote a rationale.

    `identical`, `near`: how many of the annotator's are, byte for byte or nearly, one of the judge's on the same item
    and criterion. The two biases are these shares minus how often the annotator's rationale is alike to one of the
    judge's on other items, so that a stock phrase is no copy. Who wrote first cannot be seen here.
    """

    annotator: str
    judge: str
    compared: int
    identical: int
    near: int
    identical_bias: Bias
    near_bias: Bias


def rationale_overlap(
    verdicts: pd.DataFrame | Study, settings: CalibrationSettings | None = None
) -> tuple[RationaleOverlap, ...]:
    """Every annotator with every judge who share a label with two rationales; empty where none do.

    Near-identical: Jaccard similarity of sets of three words in a row, lower case, at least .8 (Broder 1997).
    """
    settings = settings or CalibrationSettings()
    study = study_of(verdicts, settings)
    told = study.frame[study.frame["rationale"].str.strip() != ""]
    parts = {str(rater): rows for rater, rows in told.groupby("rater_id", observed=True)}
    kind = {rater: str(rows["rater_kind"].iloc[0]) for rater, rows in parts.items()}
    people, judges = (sorted(one for one in parts if kind[one] == word) for word in ("human", "judge"))
    pairs = [(person, judge) for person in people for judge in judges]
    shared = [(p, j) for p, j in pairs if parts[p]["unit"].isin(parts[j]["unit"]).any()]
    return tuple(_overlap(p, parts[p], j, parts[j], settings) for p, j in shared)


def _overlap(
    person: str, own: pd.DataFrame, judge: str, other: pd.DataFrame, settings: CalibrationSettings
) -> RationaleOverlap:
    own = own[own["unit"].isin(other["unit"])]
    mine, theirs = own["rationale"].tolist(), other["rationale"].tolist()

    def measured(name: str, alike: sparse.csr_array) -> tuple[int, Bias]:
        same, elsewhere = _where(alike, own, other)
        note = f"{same.sum():.0f} of {len(own)} on the same label, minus the share alike on other items"
        asked = Asked(f"{name}_rationales", person, settings, reference=judge, note=note)
        return int(same.sum()), bias_of(asked, same - elsewhere, clusters_of(own))

    identical, identical_bias = measured("identical", _identical(mine, theirs))
    near, near_bias = measured("near_identical", _near(mine, theirs))
    return RationaleOverlap(person, judge, len(own), identical, near, identical_bias, near_bias)


def _where(alike: sparse.csr_array, own: pd.DataFrame, other: pd.DataFrame) -> tuple[Array, Array]:
    """Of each own rationale: 1 if any of the other's on its unit is alike, and the share alike on other items."""
    found = alike.tocoo()
    row, column = found.coords
    rows = len(own)
    unit, item = own["unit"].to_numpy(), own["item_id"].cat.codes.to_numpy()
    unit_of, item_of = other["unit"].to_numpy(), other["item_id"].cat.codes.to_numpy()
    same = np.bincount(row[unit[row] == unit_of[column]], minlength=rows) > 0
    outside = np.bincount(row[item[row] != item_of[column]], minlength=rows)
    of_item = np.bincount(item_of, minlength=item.max(initial=-1) + 1)
    return same.astype(float), outside / np.maximum(1, len(other) - of_item[item])


def _identical(mine: Sequence[str], theirs: Sequence[str]) -> sparse.csr_array:
    one, two = _incidence([{text} for text in mine], [{text} for text in theirs])
    return sparse.csr_array(one @ two.T)


def _near(mine: Sequence[str], theirs: Sequence[str]) -> sparse.csr_array:
    one, two = _incidence([shingles(text) for text in mine], [shingles(text) for text in theirs])
    shared = (one @ two.T).tocoo()
    row, column = shared.coords
    sizes = np.asarray(one.sum(axis=1))[row] + np.asarray(two.sum(axis=1))[column]
    kept: Mask = shared.data >= ALIKE * (sizes - shared.data) - 1e-9
    return sparse.csr_array((np.ones(kept.sum()), (row[kept], column[kept])), shape=shared.shape)


def shingles(text: str) -> set[str]:
    """Sets of three words in a row, lower case, without punctuation; a shorter text is one shingle."""
    words = re.findall(r"\w+", text.lower())
    if len(words) < WORDS:
        return {" ".join(words) or text.strip()}
    return {" ".join(words[at : at + WORDS]) for at in range(len(words) - WORDS + 1)}


def _incidence(mine: Sequence[set[str]], theirs: Sequence[set[str]]) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Which of all features each text has, shape (texts, features)."""
    place: dict[str, int] = {}
    made = []
    for texts in (mine, theirs):
        rows = np.repeat(np.arange(len(texts)), [len(one) for one in texts])
        columns = np.array([place.setdefault(word, len(place)) for one in texts for word in sorted(one)], dtype=int)
        made.append((rows, columns, len(texts)))
    one, two = (
        sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(count, len(place)))
        for rows, columns, count in made
    )
    return one, two
