"""Are people's rationales those of a judge? Byte-identical and near-identical ones, against what chance alone gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.columns import Codes, tally
from calibration.settings import CalibrationSettings
from calibration.study import alike_texts, answering, bias, joining

EVERY = 2_000_000  # pairs of two raters' rationales up to which each is compared with each
DRAWN = 20  # beyond, of the judge's for each of the annotator's: what is nearly alike on other items


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
    identical_bias: bias.Bias
    near_bias: bias.Bias


@dataclass(frozen=True)
class _Told:
    """One rater's rows that give a rationale. `text`: a number for each, the same for the same bytes."""

    rows: pd.DataFrame
    text: npt.NDArray[np.uint64]
    shingles: alike_texts.Shingled

    @cached_property
    def unit(self) -> Codes:
        return self.rows["unit"].to_numpy()

    @cached_property
    def item(self) -> Codes:
        return self.rows["item_id"].cat.codes.to_numpy().astype(np.intp)

    @cached_property
    def by_unit(self) -> tuple[Codes, Codes]:
        """The rows in the order of units, and these units."""
        order = np.argsort(self.unit, kind="stable")
        return order, self.unit[order]

    @cached_property
    def on_item(self) -> Codes:
        """How many rationales there are on each item, shape (items of the study,)."""
        return np.bincount(self.item, minlength=len(self.rows["item_id"].cat.categories))

    @cached_property
    def texts(self) -> _Counts:
        return _Counts(pd.Series(self.text).value_counts(sort=False))

    @cached_property
    def texts_on_items(self) -> _Counts:
        place, _ = self.texts.of(self.text)
        return _Counts(pd.Series(place * len(self.on_item) + self.item).value_counts(sort=False))

    def only(self, chosen: npt.NDArray[np.bool_]) -> _Told:
        if chosen.all():
            return self
        rows = np.flatnonzero(chosen)
        return _Told(self.rows.iloc[rows], self.text[rows], self.shingles.only(rows))


@dataclass(frozen=True)
class _Counts:
    """How often each value, the index, occurs."""

    counted: pd.Series[int]

    def of(self, wanted: npt.NDArray[Any]) -> tuple[Codes, Codes]:
        """Where each of `wanted` is among the values, -1 where it is not, and how often it occurs."""
        place = self.counted.index.get_indexer(pd.Index(wanted))
        return place, np.where(place >= 0, self.counted.to_numpy()[place], 0)


def rationale_overlap(
    verdicts: pd.DataFrame | joining.Study, settings: CalibrationSettings | None = None
) -> tuple[RationaleOverlap, ...]:
    """Every annotator with every judge who share a label with two rationales; empty where none do.

    Near-identical: Jaccard similarity of sets of three words in a row, lower case, at least .8 (Broder 1997). Of more
    than two million pairs of rationales the near-identical ones on other items are estimated, without bias, from 20
    pairs drawn for each of the annotator's; all else is counted.
    """
    settings = settings or CalibrationSettings()
    study, shingler = joining.study_of(verdicts, settings), alike_texts.Shingler()
    people = list(_told(study, "human", shingler))
    found = {}
    for judge, other in _told(study, "judge", shingler) if people else ():
        judged = study.among(other.unit)
        for person, own in people:
            if (shared := judged[own.unit]).any():
                found[person, judge] = _overlap(person, own.only(shared), judge, other, settings)
    return tuple(found[pair] for pair in sorted(found))


def _told(study: joining.Study, kind: str, shingler: alike_texts.Shingler) -> Iterator[tuple[str, _Told]]:
    """One rater after the other, so that the texts of one are in memory at a time."""
    frame = study.frame[["rater_id", "unit", "item_id", "cluster_id"]]
    texts, place = study.written
    own = frame[(study.frame["rater_kind"] == kind) & (texts != "").to_numpy(bool)[place]]
    for rater, rows in own.groupby("rater_id", observed=True):
        told = texts.take(place[rows.index]).set_axis(rows.index)
        told = told[told.str.strip() != ""]
        if len(told):
            yield str(rater), _Told(rows.loc[told.index], alike_texts.numbered(told), shingler.of(told))


def _overlap(person: str, own: _Told, judge: str, other: _Told, settings: CalibrationSettings) -> RationaleOverlap:
    row, column = _on_same_unit(own.unit, *other.by_unit)
    cluster = answering.clusters_of(own.rows)
    drawn = len(own.rows) * len(other.rows) > EVERY

    def measured(name: str, alike: npt.NDArray[np.bool_], elsewhere: Array, how: str = "") -> tuple[int, bias.Bias]:
        same = tally(row[alike], len(own.rows)) > 0
        note = f"{same.sum()} of {len(same)} on the same label, minus the share alike on other items{how}"
        asked = bias.Asked(f"{name}_rationales", person, settings, reference=judge, said=note)
        return int(same.sum()), bias.bias_of(asked, same - elsewhere, cluster)

    identical, identical_bias = measured("identical", own.text[row] == other.text[column], _identical(own, other))
    alike = alike_texts.alike_pairs(own.shingles, other.shingles, row, column)
    chance = _near_of_drawn(own, other, settings.seed) if drawn else _near(own, other)
    near, near_bias = measured("near_identical", alike, chance, f" ({DRAWN} drawn for each)" if drawn else "")
    return RationaleOverlap(person, judge, len(own.rows), identical, near, identical_bias, near_bias)


def _on_same_unit(own: Codes, order: Codes, other: Codes) -> tuple[Codes, Codes]:
    """Row of the one and row of the other for every pair of rows on one unit. `order`, `other`: as `_Told.by_unit`."""
    first, last = (np.searchsorted(other, own, side) for side in ("left", "right"))
    count = last - first
    row = np.repeat(np.arange(len(own)), count)
    return row, order[np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + first[row]]


def _identical(own: _Told, other: _Told) -> Array:
    """Of each own rationale, the share of the other's on other items that have the same bytes."""
    place, everywhere = other.texts.of(own.text)
    _, here = other.texts_on_items.of(place * len(other.on_item) + own.item)
    return np.where(everywhere > 0, everywhere - here, 0) / _elsewhere(own, other)


def _near(own: _Told, other: _Told) -> Array:
    """The same share of near-identical ones."""
    row, column = alike_texts.alike_of_all(own.shingles, other.shingles)
    return tally(row[own.item[row] != other.item[column]], len(own.rows)) / _elsewhere(own, other)


def _near_of_drawn(own: _Told, other: _Told, seed: int) -> Array:
    """The same, of a few drawn by `seed` for each own rationale."""
    size = len(own.rows)
    row = np.repeat(np.arange(size), DRAWN)
    column = np.random.Generator(np.random.PCG64(seed)).integers(0, len(other.rows), len(row))
    elsewhere = own.item[row] != other.item[column]
    alike = elsewhere & alike_texts.alike_pairs(own.shingles, other.shingles, row, column)
    return np.asarray(tally(row[alike], size) / np.maximum(1, elsewhere.reshape(size, DRAWN).sum(axis=1)))


def _elsewhere(own: _Told, other: _Told) -> Array:
    """How many of the other's rationales are on other items than each own one; at least 1."""
    return np.maximum(1, len(other.rows) - other.on_item[own.item]).astype(float)
