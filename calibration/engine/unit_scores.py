"""What one rater, or all annotators together, gave to each unit (item x criterion), as a number. nan: no such answer.

A unit counts once: a rater's passes over it are averaged first, then the annotators, each of whom counts once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from calibration.bias import EVERYONE
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.joining import Mask, Study
from calibration.reading.columns import Codes, tally
from calibration.settings import Aggregate, CalibrationSettings

ROUNDING = 1e-9  # votes that differ by less are equally many


@dataclass(frozen=True)
class Scored:
    """Scores of the study's units, shape (units,). `undecided`: units whose votes have no majority; `vote_share`.

    The mean share of the votes that a majority had; nan for other rules.
    """

    score: Array
    undecided: Mask
    vote_share: float = float("nan")


@dataclass(frozen=True)
class Rows:
    """The rows of a study as arrays, shape (rows,); `rater` counts the annotators' first runs and all of a judge's."""

    study: Study

    @cached_property
    def unit(self) -> Codes:
        return self.study.frame["unit"].to_numpy().astype(np.intp)

    @cached_property
    def ok(self) -> Mask:
        return (self.study.frame["status"] == "ok").to_numpy()

    @cached_property
    def label(self) -> Codes:
        return self.study.frame["label"].cat.codes.to_numpy().astype(np.intp)

    def of(self, rater: str) -> tuple[Mask, ...]:
        """Which rows are whose: of each annotator for everyone, else of the one judge."""
        frame = self.study.frame
        code = frame["rater_id"].cat.codes.to_numpy()
        names = list(frame["rater_id"].cat.categories)
        if rater != EVERYONE:
            return (code == names.index(rater),)
        return tuple((code == names.index(one.rater)) & self._first_run for one in self.study.annotators)

    @cached_property
    def _first_run(self) -> Mask:
        return (self.study.frame["run"] == 1).to_numpy()


def scores_by(rows: Rows, one: Aggregate, wanted: Mask, settings: CalibrationSettings) -> Callable[[str], Scored]:
    """How a rater's answers become scores under the aggregate's rule; `wanted`: the units it is about."""
    study = rows.study
    values = _values(study, one, settings)
    factor = np.array([settings.score_times.get(name, 1.0) for name in study.criteria])[study.unit_criterion]

    def scored(rater: str) -> Scored:
        masks = rows.of(rater)
        if one.rule == "majority":
            return _majority(rows, masks, one, wanted)
        known = rows.ok & wanted[rows.unit] & ~np.isnan(values)[rows.label]
        total, raters = np.zeros(study.units), np.zeros(study.units)
        for mask in masks:
            own = known & mask
            passes = tally(rows.unit[own], study.units)
            total += np.nan_to_num(ratio(tally(rows.unit[own], study.units, values[rows.label[own]]), passes))
            raters += passes > 0
        return Scored(ratio(total, raters) * factor, np.zeros(study.units, bool))

    return scored


def _values(study: Study, one: Aggregate, settings: CalibrationSettings) -> Array:
    """What each of the study's labels counts; nan: it does not enter."""
    labels = pd.Index(study.labels)
    applies = labels != "not_applicable"
    if one.rule == "share":
        return np.where(applies, labels.isin(one.labels).astype(float), np.nan)
    if settings.answer_values:
        found = np.array([settings.answer_values.get(label, np.nan) for label in labels])
        return np.where(labels.isin(one.labels) | (not one.labels), found, np.nan)
    numbers = pd.to_numeric(pd.Series(study.labels), errors="coerce").to_numpy(float)
    return np.where(applies, numbers, np.nan)


def _majority(rows: Rows, masks: tuple[Mask, ...], one: Aggregate, wanted: Mask) -> Scored:
    """1 where the most frequent answer is among the aggregate's labels, 0 where another is; where two are tied, none.

    Votes are a judge's runs, or the annotators.
    """
    study, units = rows.study, rows.study.units
    known = rows.ok & wanted[rows.unit] & (np.array(study.labels) != "not_applicable")[rows.label]
    used, column = np.unique(rows.label[known], return_inverse=True)
    place = np.zeros(len(study.labels), np.intp)
    place[rows.label[known]] = column
    votes = np.zeros((units, max(1, len(used))))
    for mask in masks:
        own = known & mask
        unit = rows.unit[own]
        passes = tally(unit, units)
        cell = unit * votes.shape[1] + place[rows.label[own]]
        each = 1.0 if len(masks) == 1 else 1 / passes[unit]
        votes += tally(cell, votes.size, np.broadcast_to(each, len(cell))).reshape(votes.shape)
    total, top = votes.sum(axis=1), votes.max(axis=1)
    tied = (total > 0) & ((votes >= top[:, None] - ROUNDING).sum(axis=1) > 1)
    decided = (total > 0) & ~tied
    hit = np.isin(np.array(study.labels)[used], one.labels) if len(used) else np.zeros(1, bool)
    score = np.where(decided, hit[votes.argmax(axis=1)], np.nan)
    share = float((top[decided] / total[decided]).mean()) if decided.any() else float("nan")
    if total.max(initial=0) <= 1:  # one vote each says nothing of how firm it is, but a panel's row does
        share = _share_of_panel(rows, known & np.logical_or.reduce(masks))
    return Scored(score, tied, share)


def _share_of_panel(rows: Rows, used: Mask) -> float:
    """Mean confidence of rows that have a share of votes there; nan without, or where it is a person's 1 to 5."""
    if "confidence" not in rows.study.frame or not used.any():
        return float("nan")
    stated = rows.study.frame["confidence"].to_numpy()[used]
    return float(stated.mean()) if (stated <= 1).all() else float("nan")
