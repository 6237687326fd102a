"""How often each rater ties, says not applicable or answers unusably, how high it scores; whether it repeats itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration import estimates, remarks
from calibration.arithmetic import closed_forms, correlation
from calibration.arithmetic.columns import Codes, tally
from calibration.settings import CalibrationSettings
from calibration.study import answering, bias, distance, joining
from calibration.study.bounding import WHOLE, Pair, share
from calibration.table.typed_cells import where

GAPS = {  # what is set beside the people's: the share of an answer, and the mean of scores
    "tie": "tie_rate_gap", "not_applicable": "not_applicable_rate_gap", "score": "score_gap",
}  # fmt: skip


@dataclass(frozen=True)
class AnswerRates:
    """Shares of one rater: `tie` of ok rows on pairs, `not_applicable` of ok rows, the statuses of all rows.

    `tie_gap`, `not_applicable_gap`: the same share minus that of the people (the other annotators) on the labels both
    answered, each label of a person against the rater's mean over passes. `score_gap`: the same of scores, each as a
    part of the range of its own criterion's scale, far scores left out.
    """

    rater: str
    tie: estimates.Estimate
    not_applicable: estimates.Estimate
    refused: estimates.Estimate
    invalid: estimates.Estimate
    missing: estimates.Estimate
    tie_gap: bias.Bias
    not_applicable_gap: bias.Bias
    score_gap: bias.Bias


@dataclass(frozen=True)
class _Rows:
    """Answers, shape (rows,), sorted by unit. `on_pairs`: ok, of a pairwise criterion. `score`: its place, or nan."""

    unit: Codes
    rater: Codes
    tie: joining.Mask
    not_applicable: joining.Mask
    refused: joining.Mask
    invalid: joining.Mask
    missing: joining.Mask
    ok: joining.Mask
    on_pairs: joining.Mask
    score: closed_forms.Array

    def of(self, chosen: joining.Mask | Codes) -> _Rows:
        return _Rows(*(column[chosen] for column in vars(self).values()))


@dataclass(frozen=True)
class _Said:
    """How often, over passes, each rater gave one answer to each unit, 0 to 1, or its mean score; sorted by unit, then
    rater.
    """

    unit: Codes
    rater: Codes
    share: closed_forms.Array


def answer_rates(
    verdicts: pd.DataFrame | joining.Study, settings: CalibrationSettings | None = None
) -> tuple[AnswerRates, ...]:
    """Every judge, every annotator, then all annotators together where there are two or more.

    Undefined (`no_items`): no row to count, such as ties where nothing is a pair.
    """
    settings = settings or CalibrationSettings()
    study = joining.study_of(verdicts, settings)
    score, ends = distance.places(study, settings)
    known = np.unique(ends[~np.isnan(ends[:, 0])], axis=0)
    common = known[0] if len(known) == 1 else None
    rows, frame = _rows(study, score), study.frame
    human, first = (frame["rater_kind"] == "human").to_numpy(), (frame["run"] == 1).to_numpy()
    people = rows.of(human & first)  # a person's retest is self-agreement only
    said = {label: _said(people, label) for label in GAPS}
    own = _by_rater(rows.rater)
    judges, annotators = (np.unique(rows.rater[one]) for one in (~human, human))
    found = [
        _rates(study, str(frame["rater_id"].cat.categories[rater]), rows.of(place), said, common, settings)
        for rater in (*judges, *annotators)
        for place in [own[rater][~human[own[rater]] | first[own[rater]]]]
    ]
    if len(annotators) > 1:
        found.append(_rates(study, bias.EVERYONE, people, {}, common, settings))
    return tuple(found)


def _rows(study: joining.Study, score: closed_forms.Array) -> _Rows:
    frame = study.frame
    unit, rater = frame["unit"].to_numpy(), frame["rater_id"].cat.codes.to_numpy()
    pairwise = np.array([study.kinds[name] == "pairwise" for name in study.criteria])
    status = {name: (frame["status"] == name).to_numpy() for name in ("ok", "refused", "invalid", "missing")}
    return _Rows(
        unit.astype(np.intp),
        rater.astype(np.intp),
        (frame["label"] == "tie").to_numpy(),
        (frame["label"] == "not_applicable").to_numpy(),
        status["refused"],
        status["invalid"],
        status["missing"],
        status["ok"],
        status["ok"] & pairwise[study.unit_criterion[unit]],
        score,
    )


def _by_rater(rater: Codes) -> dict[int, Codes]:
    """The rows of each rater, in their order."""
    order = np.argsort(rater, kind="stable")
    names, start = np.unique(rater[order], return_index=True)
    return dict(zip(names.tolist(), np.split(order, start[1:]), strict=True))


def _rates(
    study: joining.Study, rater: str, rows: _Rows, people: Mapping[str, _Said], common: closed_forms.Array | None,
    settings: CalibrationSettings,
) -> AnswerRates:  # fmt: skip
    """`people`: what each annotator said, for each of `GAPS`; {} where there is nobody beside the rater. `common`: the
    ends of the scale of all scores, None where there are several.
    """
    cluster, count = study.unit_cluster[rows.unit], len(study.clusters)

    def rate(name: str, hit: joining.Mask, asked: joining.Mask) -> estimates.Estimate:
        pair = Pair(rater, "", WHOLE, tally(cluster[asked], count))
        return share(name, pair, tally(cluster[asked], count, hit[asked]), settings)

    def gap(label: str) -> bias.Bias:
        unit, difference = _difference(_said(rows, label), people[label]) if people else (rows.unit[:0], np.zeros(0))
        said = ""
        if label == "score" and len(difference) and common is not None:
            low, high = common
            points = (high - low) * difference.mean()
            said = f"parts of the scale {low:g} to {high:g}; mean difference {points:.2g} points"
        asked = bias.Asked(GAPS[label], rater, settings, reference="people", said=said)
        return bias.bias_of(asked, difference, study.unit_cluster[unit])

    every = np.ones(len(rows.unit), dtype=bool)
    return AnswerRates(
        rater,
        rate("tie_rate", rows.tie, rows.on_pairs),
        rate("not_applicable_rate", rows.not_applicable, rows.ok),
        rate("refused_rate", rows.refused, every),
        rate("invalid_rate", rows.invalid, every),
        rate("missing_rate", rows.missing, every),
        *(gap(label) for label in GAPS),
    )


def _said(rows: _Rows, label: str) -> _Said:
    of = {"tie": rows.on_pairs, "not_applicable": rows.ok, "score": ~np.isnan(rows.score)}
    rows = rows.of(of[label])
    raters = int(rows.rater.max(initial=0)) + 1
    key, place = np.unique(rows.unit.astype(np.int64) * raters + rows.rater, return_inverse=True)
    hits = tally(place, len(key), vars(rows)[label])
    return _Said(*np.divmod(key, raters), hits / tally(place, len(key)))


def _difference(own: _Said, people: _Said) -> tuple[Codes, closed_forms.Array]:
    """The rater's share minus that of each other annotator, on the units both answered; sorted as `people` is."""
    start, stop = (np.searchsorted(people.unit, own.unit, side) for side in ("left", "right"))
    count = stop - start
    mine = np.repeat(np.arange(len(own.unit)), count)
    theirs = np.repeat(start - np.cumsum(count) + count, count) + np.arange(count.sum())
    other = people.rater[theirs] != own.rater[mine]
    mine, theirs = mine[other], theirs[other]
    return own.unit[mine].astype(np.intp), own.share[mine] - people.share[theirs]


@dataclass(frozen=True)
class RepeatAgreement:
    """`agreement`: mean over repeated labels of the share of pairs of runs with the same answer.

    `changed`: share of repeated labels with any change; one change is proof that the rater does not repeat itself.
    `icc_1_1`: of scores, one column per run, repeated labels with every run only; nan where no criterion has scores.
    """

    rater: str
    agreement: estimates.Estimate
    changed: bias.Bias
    icc_1_1: float
    runs: int  # answers to the label that has most of them


def repeat_agreement(
    verdicts: pd.DataFrame | joining.Study, rater: str, settings: CalibrationSettings | None = None
) -> RepeatAgreement:
    """Self-consistency of a judge, an annotator or `each_annotator` (each with their own retest).

    Undefined (`too_few_units`): nothing was answered in two runs. Shrout & Fleiss 1979.
    """
    settings = settings or CalibrationSettings()
    study = joining.study_of(verdicts, settings)
    frame = study.frame
    human = where(frame["rater_kind"], "human".__eq__)
    own = human if rater == bias.EVERYONE else where(frame["rater_id"], rater.__eq__)
    own = own & where(frame["status"], "ok".__eq__)
    rows, of_either = frame[own], bool(own.any() and human[own].all())
    key = ["rater_id", "unit"] if of_either else ["rater_id", "unit", "presentation"]
    rows = rows[rows.duplicated(key, keep=False)]
    same, sizes = _pairs_alike(rows, key)
    cluster = answering.clusters_of(sizes)
    count = len(study.clusters)
    total = tally(cluster, count)
    said = () if len(sizes) else remarks.undefined(remarks.Reason.TOO_FEW_UNITS, "one run")
    agreement = share("repeat_agreement", Pair(rater, "", WHOLE, total), tally(cluster, count, same), settings, said)
    changed = tally(cluster, count, same < 1)
    asked = bias.Asked("changed_answers", rater, settings, said=said)
    runs = int(sizes["runs"].max()) if len(sizes) else 1
    return RepeatAgreement(rater, agreement, bias.share_of_faults(asked, changed, total), _icc(study, rows, key), runs)


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


def _icc(study: joining.Study, rows: pd.DataFrame, key: list[str]) -> float:
    scores = rows[study.of_kind(rows, "rating") & (rows["label"] != "not_applicable")]
    if scores.empty:
        return math.nan
    which = scores.groupby(key, observed=True).cumcount()
    given = scores["label"].astype("str").astype(float).to_numpy()
    wide = scores.assign(score=given, which=which).set_index([*key, "which"])["score"].unstack()
    return correlation.icc(wide.to_numpy(), "ICC(1,1)")
