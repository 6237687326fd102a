"""How often each rater ties, says not applicable, refuses, or gives an answer that cannot be used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.answering import WHOLE, clusters_of
from calibration.bias import EVERYONE, Asked, Bias, bias_of, rows_of
from calibration.bounding import Pair, share
from calibration.closed_forms import Array
from calibration.columns import Codes, tally
from calibration.joining import Mask, Study, study_of
from calibration.results import CalibrationSettings, Estimate


@dataclass(frozen=True)
class AnswerRates:
    """Shares of one rater: `tie` of ok rows on pairs, `not_applicable` of ok rows, the statuses of all rows.

    `tie_gap`, `not_applicable_gap`: the same share minus that of the people (the other annotators) on the labels both
    answered, each label of a person against the rater's mean over passes.
    """

    rater: str
    tie: Estimate
    not_applicable: Estimate
    refused: Estimate
    invalid: Estimate
    missing: Estimate
    tie_gap: Bias
    not_applicable_gap: Bias


def answer_rates(
    verdicts: pd.DataFrame | Study, settings: CalibrationSettings | None = None
) -> tuple[AnswerRates, ...]:
    """Every judge, every annotator, then all annotators together where there are two or more.

    Undefined (`no_items`): no row to count, such as ties where nothing is a pair.
    """
    settings = settings or CalibrationSettings()
    study = study_of(verdicts, settings)
    kinds = study.frame.drop_duplicates("rater_id")[["rater_id", "rater_kind"]].astype("str")
    judges, people = (sorted(kinds["rater_id"][kinds["rater_kind"] == kind]) for kind in ("judge", "human"))
    everyone = [EVERYONE] if len(people) > 1 else []
    return tuple(_rates(study, rater, settings) for rater in [*judges, *people, *everyone])


def _rates(study: Study, rater: str, settings: CalibrationSettings) -> AnswerRates:
    rows = rows_of(study, rater)
    ok = rows["status"] == "ok"
    on_pairs = ok & study.of_kind(rows, "pairwise")

    def rate(name: str, hit: pd.Series[bool], asked: pd.Series[bool]) -> Estimate:
        cluster, count = clusters_of(rows[asked]), len(study.clusters)
        pair = Pair(rater, "", WHOLE, tally(cluster, count))
        return share(name, pair, tally(cluster, count, hit[asked].to_numpy(float)), settings)

    def gap(label: str) -> Bias:
        asked = Asked(f"{label}_rate_gap", rater, settings, reference="people")
        return bias_of(asked, *_gap(study, rater, label))

    every = pd.Series(True, index=rows.index)
    return AnswerRates(
        rater,
        rate("tie_rate", rows["label"] == "tie", on_pairs),
        rate("not_applicable_rate", rows["label"] == "not_applicable", ok),
        rate("refused_rate", rows["status"] == "refused", every),
        rate("invalid_rate", rows["status"] == "invalid", every),
        rate("missing_rate", rows["status"] == "missing", every),
        gap("tie"),
        gap("not_applicable"),
    )


def _gap(study: Study, rater: str, label: str) -> tuple[Array, Codes]:
    """The rater's share of this answer minus 1 or 0 of each label of a person, and the labels' clusters."""
    frame = study.frame
    human = (frame["rater_kind"] == "human") & (frame["run"] == 1) & (frame["rater_id"] != rater)
    own = _said(study, rows_of(study, rater), label).groupby("unit")["said"].mean().rename("own")
    if rater == EVERYONE:
        human &= False  # there is nobody beside everyone
    people = _said(study, frame[human], label)
    theirs = people.groupby(["unit", "rater_id"], observed=True)["said"].mean().reset_index("rater_id")
    both = theirs.join(own, how="inner")
    return (both["own"] - both["said"]).to_numpy(), study.unit_cluster[both.index.to_numpy(np.intp)]


def _said(study: Study, rows: pd.DataFrame, label: str) -> pd.DataFrame:
    kept: Mask = (rows["status"] == "ok").to_numpy()
    if label == "tie":
        kept = kept & study.of_kind(rows, "pairwise").to_numpy()
    return rows.assign(said=(rows["label"] == label).astype(float))[kept]
