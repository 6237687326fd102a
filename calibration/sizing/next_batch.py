"""Which topics people label next, so that the question of the study is answered with the fewest of them.

What is known of every topic are judges' answers; what their differences are worth is learnt from the labelled topics.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import Codes, tally
from calibration.sampling.allocation import anticipated_deviation
from calibration.sampling.inclusion import (
    RANDOM_SHARE,
    Batch,
    draw_batch,
    draw_weights,
)
from calibration.settings import CalibrationSettings
from calibration.study import counted
from calibration.study.joining import Answers, Study, scale_of, study_of
from calibration.study.label_scores import LabelScores, label_scores
from calibration.study.left_out import left_out_scores
from calibration.systems.win_rates import cluster_rates, has_ranking, units_of, win_scores, win_sums
from calibration.table.verdicts import BOTH_ORDERS

QUESTIONS = ("gap", "agreement", "difference", "win_rate")
FOREMOST = 2  # judges whose gap the draw is made for: those that agree most so far


@dataclass(frozen=True)
class Drawn:
    """Topics drawn together before: each with its chance, of how many `waiting`."""

    topics: Sequence[str]
    chances: Sequence[float]
    waiting: int


@dataclass(frozen=True)
class NextBatch:
    """The topics to label next with their chances, drawn of `waiting`. `chance_of`: of every waiting topic.

    `worth`: topics drawn at random that this batch is expected to be worth, by what its chances rest on.
    """

    topics: tuple[str, ...]
    chances: tuple[float, ...]
    waiting: int
    chance_of: dict[str, float]
    worth: float


def next_batch(
    verdicts: pd.DataFrame, topics: Sequence[str], before: Sequence[Drawn], size: int, seed: int,
    settings: CalibrationSettings | None = None, question: str = "gap", random_share: float = RANDOM_SHARE,
) -> NextBatch:  # fmt: skip
    """`size` of the `topics` that no batch `before` holds, or all that are left. The same input gives the same batch.

    `verdicts`: as for `calibrate`, of judges on all topics and of people on those labelled; its clusters are topics. It
    may be empty: then all are alike. `question`: `gap` of the foremost judges to a left-out annotator, their
    `agreement`, the `difference` of the two, or the systems' `win_rate`; where it has no answer yet agreement, or
    nothing, is looked at.
    """
    places = {topic: place for place, topic in enumerate(topics)}
    gone = {topic for batch in before for topic in batch.topics}
    waiting = np.array([place for topic, place in places.items() if topic not in gone], np.intp)
    deviation = _deviation(verdicts, places, before, settings or CalibrationSettings(), question)[waiting]
    earlier = [(len(batch.topics), batch.waiting) for batch in before]
    chance, drawn = draw_batch(deviation, size, earlier, np.random.default_rng([seed, len(before)]), random_share)
    size = len(drawn)
    named = [topics[place] for place in waiting]
    whole = float(ratio(np.array((deviation**2).sum() * len(waiting) / max(size, 1)), (deviation**2 / chance).sum()))
    return NextBatch(
        tuple(named[at] for at in drawn), tuple(float(one) for one in chance[drawn]), len(waiting),
        dict(zip(named, map(float, chance), strict=True)), size * whole,
    )  # fmt: skip


def _deviation(
    verdicts: pd.DataFrame,
    places: dict[str, int],
    before: Sequence[Drawn],
    settings: CalibrationSettings,
    question: str,
) -> Array:
    count = len(places)
    if verdicts.empty:
        return np.ones(count)
    study = study_of(verdicts.drop(columns="draw_probability", errors="ignore"), settings)
    where = np.array([places.get(name, -1) for name in study.clusters], np.intp)
    known = where >= 0
    signs, sizes = np.zeros((count, 0)), np.ones(count)
    told, units = signs_of(study)
    if told.shape[1]:
        signs = np.tile(told[known].mean(axis=0), (count, 1))  # of a topic that no judge answered the mean is expected
        signs[where[known]] = told[known]
        sizes = np.full(count, max(1.0, float(units[known].mean())))
        sizes[where[known]] = np.maximum(units[known], 1.0)
    labelled, weight = _labelled(study, places, before)
    if not len(labelled):
        return anticipated_deviation(signs, sizes, labelled, np.zeros((0, 1)))
    cluster = {place: number for number, place in enumerate(where)}
    own = np.array([cluster[place] for place in labelled], np.intp)
    influence = _influence(study, own, weight, settings, question)
    return anticipated_deviation(signs, sizes, labelled, influence)


def _labelled(study: Study, places: dict[str, int], before: Sequence[Drawn]) -> tuple[Codes, Array]:
    """Places of the drawn topics that people labelled, and their weights."""
    people = np.concatenate([np.zeros(0, np.intp), *(annotator.unit for annotator in study.annotators)])
    seen = {study.clusters[cluster] for cluster in np.unique(study.unit_cluster[people])}
    batches = [
        Batch(
            np.array([places.get(topic, -1) for topic in batch.topics], np.intp), np.array(batch.chances, float),
            batch.waiting, np.array([topic in seen and topic in places for topic in batch.topics], bool),
        )
        for batch in before
    ]  # fmt: skip
    found = np.concatenate([np.zeros(0, np.intp), *(batch.topics[batch.labelled] for batch in batches)])
    return found, draw_weights(batches)


def signs_of(study: Study) -> tuple[Array, Array]:
    """Of each cluster what judges alone show, shape (clusters, signs), each 0 to 1; and its units.

    How far judges differ from each other, and each from itself over passes, orders and repeats (the chance that two
    answers differ: Gini 1912); how unsure they said they were.
    """
    judges = [judge for judge in study.judges if not judge.rater.endswith(BOTH_ORDERS)]
    clusters, units = len(study.clusters), tally(study.unit_cluster, len(study.clusters))
    if not judges:
        return np.zeros((clusters, 0)), units
    each = [_shares(study, judge) for judge in judges]
    answered = sum((share.sum(axis=1) > 0).astype(float) for share in each)
    between = _gini(np.asarray(ratio(sum(each), np.asarray(answered)[:, None])))
    within = ratio(np.nansum([_gini(share) for share in each], axis=0), np.asarray(answered))
    found = [between, within, *_unsure(study)]
    means = [tally(study.unit_cluster, clusters, np.nan_to_num(sign)) / np.maximum(units, 1) for sign in found]
    return np.stack(means, axis=1), units


def _shares(study: Study, judge: Answers) -> Array:
    """Share of its passes with each label, shape (units, labels)."""
    cells = judge.unit * len(study.labels) + judge.label
    shape = study.units, len(study.labels)
    return tally(cells, shape[0] * shape[1], judge.weight / judge.scale).reshape(shape)


def _gini(share: Array) -> Array:
    return np.where(np.nansum(share, axis=1) > 0, 1 - np.nansum(share**2, axis=1), 0.0)


def _unsure(study: Study) -> Iterator[Array]:
    """1 - the confidence that judges stated, of its range, mean over each unit's answers."""
    if "confidence" not in study.frame.columns:
        return
    rows = study.frame[(study.frame["rater_kind"] == "judge") & study.frame["confidence"].notna()]
    stated = rows["confidence"].to_numpy(float)
    if len(stated) and np.ptp(stated) > 0:
        unit = rows["unit"].to_numpy().astype(np.intp)
        unsure = (stated.max() - stated) / np.ptp(stated)
        yield ratio(tally(unit, study.units, unsure), tally(unit, study.units))


def _influence(study: Study, labelled: Codes, weight: Array, settings: CalibrationSettings, question: str) -> Array:
    """How far each labelled cluster moves each answer, shape (labelled, answers); nothing where there is none."""
    tried: list[Callable[[], Iterator[tuple[Array, Array]]]] = [
        lambda: _win_rates(study, settings), lambda: _gaps(study, settings), lambda: _agreements(study)
    ]  # fmt: skip
    differences = [lambda: _differences(study), tried[2]]
    order = {"win_rate": tried, "gap": tried[1:], "agreement": tried[2:], "difference": differences}[question]
    for parts in order:
        found = [_moved(sums[labelled], sizes[labelled], weight) for sums, sizes in parts()]
        found = [one for one in found if np.isfinite(one).any() and np.nanmax(np.abs(one)) > 1e-12]
        if found:
            return np.stack(found, axis=1)
    return np.full((len(labelled), 1), np.nan)


def _moved(sums: Array, sizes: Array, weight: Array) -> Array:
    value = ratio(np.array(weight @ sums), np.array(weight @ sizes))
    return np.where(sizes > 0, sums - sizes * value, np.nan)


def _foremost(study: Study) -> tuple[LabelScores, list[str]]:
    """Agreement of judges with people, and those that agree most."""
    scores = label_scores(study)
    means = {name: np.nanmean(own) if np.isfinite(own).any() else -1.0 for name, own in scores.judges.items()}
    return scores, sorted(means, key=lambda one: -means[one])[:FOREMOST]


def _agreements(study: Study) -> Iterator[tuple[Array, Array]]:
    scores, names = _foremost(study)
    for name in names:
        yield _summed(study, scores, scores.judges[name])


def _differences(study: Study) -> Iterator[tuple[Array, Array]]:
    scores, names = _foremost(study)
    if len(names) == FOREMOST:
        yield _summed(study, scores, scores.judges[names[0]] - scores.judges[names[1]])


def _summed(study: Study, scores: LabelScores, own: Array) -> tuple[Array, Array]:
    """Sum and number of what is not nan, of each cluster."""
    known = ~np.isnan(own)
    sums, sizes = (tally(scores.clusters[known], len(study.clusters), side) for side in (own[known], None))
    return sums, sizes


def _gaps(study: Study, settings: CalibrationSettings) -> Iterator[tuple[Array, Array]]:
    scale = scale_of(study, study.criteria, settings)
    if scale is None:
        return
    group = counted.groups_of(study, settings, pooled=True)[0]
    rows = {judge.rater: left_out_scores(study, group, scale, judge, settings) for judge in study.judges}
    best = sorted((name for name in rows if len(rows[name].judge)), key=lambda name: -float(rows[name].judge.mean()))
    for name in best[:FOREMOST]:
        own = rows[name]
        yield (
            tally(own.cluster, len(study.clusters), own.human - own.judge), tally(own.cluster, len(study.clusters))
        )  # fmt: skip


def _win_rates(study: Study, settings: CalibrationSettings) -> Iterator[tuple[Array, Array]]:
    if not has_ranking(study):
        return
    units = units_of(study, settings)
    rates, _ = cluster_rates(win_sums(units, win_scores(units)))
    for system in range(rates.shape[1]):
        yield np.nan_to_num(rates[:, system]), (~np.isnan(rates[:, system])).astype(float)
