"""Do votes agree? Those of one judge with each other, those of two judges, and all of them together."""

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from calibration.arithmetic import closed_forms, columns
from calibration.arithmetic.closed_forms import Array
from calibration.confidence.sureness import FEWEST_VOTES, OF_VOTES, VOTES, usable_rows
from calibration.estimates import Estimate
from calibration.inference.bootstrap import resample
from calibration.settings import CalibrationSettings
from calibration.study.bounding import WHOLE, Pair, drawn, share
from calibration.study.joining import Study

ALL_JUDGES = "all judges"


def vote_estimates(study: Study, settings: CalibrationSettings) -> Iterator[Estimate]:
    """`percent_agreement_of_votes`, `krippendorff_alpha_nominal_of_votes` and, over questions with every vote,
    `fleiss_kappa_of_votes` of each judge that was asked a question three times (reference `votes`) and of all such
    judges (rater `all judges`); two by two `percent_agreement_of_votes` and `cohen_kappa_of_votes`. n counts votes,
    two by two questions. Nothing where nobody votes.
    """
    if study.frame["run"].max() < 2:
        return
    rows = usable_rows(study, settings)
    cast = rows[~rows["human"] & ~rows["rating"] & (rows["asked"] >= FEWEST_VOTES)]
    labels, label = np.unique(cast["label"], return_inverse=True)
    size, found = len(labels), {}
    for judge in cast["rater_id"].astype(object).drop_duplicates().sort_values():
        own = (cast["rater_id"] == judge).to_numpy()
        cell = cast["unit"].to_numpy()[own] * size + label[own]
        found[str(judge)] = columns.tally(cell, study.units * size).reshape(study.units, size)
    for judge, votes in found.items():
        yield from _among(study, judge, votes, settings)
    for one, other in itertools.combinations(found, 2):
        yield from _between(study, (one, other), (found[one], found[other]), settings)
    if len(found) > 1:
        yield from _among(study, ALL_JUDGES, np.sum(list(found.values()), axis=0), settings)


def _among(study: Study, rater: str, votes: Array, settings: CalibrationSettings) -> Iterator[Estimate]:
    """`votes`: how often each unit was given each label, shape (units, labels)."""
    given = votes.sum(axis=1)
    pairs = votes[:, :, None] * (votes[:, None, :] - np.eye(votes.shape[1]))
    each = pairs / np.maximum(1, given - 1)[:, None, None]
    full = (given > 1) & (given == given.max())
    sums = np.stack([_by_cluster(study, each), _by_cluster(study, each * full[:, None, None])], axis=1)
    sizes = sums[:, 0].sum(axis=(-2, -1))
    whole = Pair(rater, VOTES, WHOLE, sizes)
    agreed = closed_forms.diagonal(sums[:, 0])
    yield share(f"percent_agreement{OF_VOTES}", whole, agreed, settings, "pairs of votes on one question")

    def evaluate(summed: Array) -> Array:
        return np.stack([closed_forms.alpha(summed[:, 0], None), closed_forms.fleiss(summed[:, 1])], axis=-1)

    complete = Pair(rater, VOTES, WHOLE, sums[:, 1].sum(axis=(-2, -1)))
    dropped = int((given > 1).sum() - full.sum())
    note = f"{int(full.sum())} questions with all {given.max():g} votes" + (f", {dropped} left out" if dropped else "")
    names = ("krippendorff_alpha_nominal", whole, ""), ("fleiss_kappa", complete, note)
    yield from _bootstrapped(names, sums, evaluate, settings)


def _between(
    study: Study, names: tuple[str, str], votes: tuple[Array, Array], settings: CalibrationSettings
) -> Iterator[Estimate]:
    """Each vote of one judge with each of the other's; every question counts once."""
    both = votes[0].sum(axis=1) * votes[1].sum(axis=1)
    each = votes[0][:, :, None] * votes[1][:, None, :] / np.maximum(1, both)[:, None, None]
    sums = _by_cluster(study, each)
    pair = Pair(*names, WHOLE, sums.sum(axis=(-2, -1)))
    yield share(f"percent_agreement{OF_VOTES}", pair, closed_forms.diagonal(sums), settings, "a vote of each")
    named = (("cohen_kappa", pair, ""),)
    yield from _bootstrapped(named, sums, lambda summed: closed_forms.kappa(summed)[..., None], settings)


def _bootstrapped(
    names: Sequence[tuple[str, Pair, str]],
    sums: Array,
    evaluate: Callable[[Array], Array],
    settings: CalibrationSettings,
) -> Iterator[Estimate]:
    values = evaluate(sums.sum(axis=0)[None])[0]
    enough = names[0][1].clusters > 1
    draws = resample(sums, evaluate, settings.resamples, settings.seed) if enough else None
    for place, (name, pair, note) in enumerate(names):
        value = float(values[place])
        reason = "" if not np.isnan(value) else "one_category" if pair.n else "no_items"
        own = None if draws is None else draws[:, place]
        yield drawn(f"{name}{OF_VOTES}", pair, value, own, reason, settings, note)


def _by_cluster(study: Study, tables: Array) -> Array:
    """Sums over the units of each cluster, shape (clusters, K, K)."""
    out = np.zeros((len(study.clusters), *tables.shape[1:]))
    np.add.at(out, study.unit_cluster, tables)
    return out
