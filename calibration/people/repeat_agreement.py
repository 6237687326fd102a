"""Does a rater give the same answer again? Over a judge's repeats of one presentation, or a person's retest of any."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.bias import EVERYONE, Asked, Bias, share_of_faults
from calibration.biases.answering import WHOLE, clusters_of
from calibration.correlation import icc
from calibration.engine.bounding import Pair, share
from calibration.engine.joining import Study, study_of
from calibration.estimates import Estimate
from calibration.reading.columns import tally
from calibration.reading.typed_cells import where
from calibration.settings import CalibrationSettings


@dataclass(frozen=True)
class RepeatAgreement:
    """`agreement`: mean over repeated labels of the share of pairs of runs with the same answer.

    `changed`: share of repeated labels with any change; one change is proof that the rater does not repeat itself.
    `icc_1_1`: of scores, one column per run, repeated labels with every run only; nan where no criterion has scores.
    """

    rater: str
    agreement: Estimate
    changed: Bias
    icc_1_1: float
    runs: int  # answers to the label that has most of them


def repeat_agreement(
    verdicts: pd.DataFrame | Study, rater: str, settings: CalibrationSettings | None = None
) -> RepeatAgreement:
    """Self-consistency of a judge, an annotator or `each_annotator` (each with their own retest).

    Undefined (`too_few_units`): nothing was answered in two runs. Shrout & Fleiss 1979.
    """
    settings = settings or CalibrationSettings()
    study = study_of(verdicts, settings)
    frame = study.frame
    human = where(frame["rater_kind"], "human".__eq__)
    own = human if rater == EVERYONE else where(frame["rater_id"], rater.__eq__)
    own = own & where(frame["status"], "ok".__eq__)
    rows, of_either = frame[own], bool(own.any() and human[own].all())
    key = ["rater_id", "unit"] if of_either else ["rater_id", "unit", "presentation"]
    rows = rows[rows.duplicated(key, keep=False)]
    same, sizes = _pairs_alike(rows, key)
    cluster = clusters_of(sizes)
    count = len(study.clusters)
    total = tally(cluster, count)
    note = "" if len(sizes) else "too_few_units: one run"
    agreement = share("repeat_agreement", Pair(rater, "", WHOLE, total), tally(cluster, count, same), settings, note)
    changed = tally(cluster, count, same < 1)
    asked = Asked("changed_answers", rater, settings, note=note)
    runs = int(sizes["runs"].max()) if len(sizes) else 1
    return RepeatAgreement(rater, agreement, share_of_faults(asked, changed, total), _icc(study, rows, key), runs)


def agreement_of_splits(splits: Mapping[tuple[int, ...], int]) -> float:
    """`RepeatAgreement.agreement` without its interval, 0 to 1, from how often the answers to one thing fell how.

    (2, 1) is two alike and one other: of its three pairs one agrees. nan where nothing was answered twice.
    """
    alike = [(sum(n * (n - 1) for n in split) / (sum(split) * (sum(split) - 1)), times)
             for split, times in splits.items() if sum(split) > 1]  # fmt: skip
    things = sum(times for _, times in alike)
    return sum(share * times for share, times in alike) / things if things else math.nan


def _pairs_alike(rows: pd.DataFrame, key: list[str]) -> tuple[np.typing.NDArray[np.float64], pd.DataFrame]:
    """Of each repeated label the share of pairs of runs that agree, and its cluster and number of runs."""
    if rows.empty:
        return np.zeros(0), rows.assign(runs=0)
    counts = rows.groupby([*key, "label"], observed=True).size()
    squares = (counts * (counts - 1)).groupby(level=key, observed=True).sum()
    one = rows.groupby(key, observed=True).agg(runs=("run", "size"), cluster_id=("cluster_id", "first"))
    runs = one["runs"].to_numpy(float)
    return squares.reindex(one.index).to_numpy(float) / np.maximum(1.0, runs * (runs - 1)), one


def _icc(study: Study, rows: pd.DataFrame, key: list[str]) -> float:
    scores = rows[study.of_kind(rows, "rating") & (rows["label"] != "not_applicable")]
    if scores.empty:
        return math.nan
    which = scores.groupby(key, observed=True).cumcount()
    given = scores["label"].astype("str").astype(float).to_numpy()
    wide = scores.assign(score=given, which=which).set_index([*key, "which"])["score"].unstack()
    return icc(wide.to_numpy(), "ICC(1,1)")
