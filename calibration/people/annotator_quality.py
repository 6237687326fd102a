"""How each annotator works: speed, agreement, sides, repetition, drift; and the few things that need a second look.

From verdicts, as for `calibrate`, and a work log with one row for each assignment that was handed in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration import errors, estimates
from calibration.agreement.ceiling import ceiling_of
from calibration.arithmetic.columns import tally
from calibration.biases.answer_habits import answer_rates, repeat_agreement
from calibration.inference.bootstrap import cluster_se, cluster_t
from calibration.people import annotator_signals
from calibration.remarks import Reason, no_interval, remarks_of, undefined
from calibration.settings import CalibrationSettings
from calibration.study import answering, bias, counted
from calibration.study.bounding import WHOLE, Group, Pair, made, median_estimate, share
from calibration.study.joining import Mask, Scale, Study, scale_of, study_of

WORK = ("rater_id", "item_id", "purpose", "submitted_at", "active_s", "words", "attention")
FASTEST = 600  # words a minute; whoever needs less time for an item cannot have read it
HALF_THE_TIME = math.log(2)  # margin of speed: people differ, and half the others' time is not yet a fault
STOCK = 0.2  # margin of repeated rationales, as of copied ones
REFERENCES = 2  # annotators who must be left to compare with
AGREEMENT = "with the others minus what these reach among themselves on the same labels"
ELSEWHERE = "with the others minus what these reach on other items, for no two of them share one with the annotator"
DRIFT = "late half of own work minus early half, of the agreement beside the others'"
SIDE = "winners taken on the left minus how often the others chose the report that stood there"
SAME = "equal answers within an item minus the others' on the same items"
SEVERITY = "own scores minus the others' mean on the same question, 0 to 1 of the scale: below 0 severe, above lenient"
SPEED = "natural logarithm of an item's active time minus the others' mean on the same items"
REPEATED = "repeated rationales minus the others' on the same items"


@dataclass(frozen=True)
class AnnotatorQuality:
    """One annotator. `signals` are differences to the others; all else stands for itself, with its own interval."""

    rater: str
    items: int  # handed in, retests aside
    minutes: estimates.Estimate  # active, of an item: median
    seconds_per_answer: estimates.Estimate  # active seconds of an item over its answers: median
    agreement: estimates.Estimate  # with the other annotators, left out from them
    left: estimates.Estimate  # share of answers naming a winner that took the left report
    tie: estimates.Estimate
    not_applicable: estimates.Estimate
    same_answer: estimates.Estimate  # of an item, the share of answers equal to its most frequent one: mean over items
    repeated: estimates.Estimate  # share of rationales nearly the same as another of one's own
    empty: estimates.Estimate  # share of answers without a word of rationale
    rationale_words: estimates.Estimate  # median, of those with any
    self_agreement: estimates.Estimate  # on retests
    attention_passed: int
    attention_failed: int
    too_fast: tuple[str, ...]  # items in less active time than their words at 600 a minute: listed, not excluded
    signals: tuple[annotator_signals.Signal, ...]

    @property
    def flags(self) -> tuple[annotator_signals.Signal, ...]:
        """The signals that chance over the whole study does not explain, the surest first."""
        return tuple(sorted((signal for signal in self.signals if signal.flagged), key=lambda one: one.p_holm))


def annotator_quality(
    verdicts: pd.DataFrame, work: pd.DataFrame, settings: CalibrationSettings | None = None
) -> tuple[AnnotatorQuality, ...]:
    """Every annotator who handed in a label, by name. Judges' rows are left aside.

    `work`: columns `WORK`; `submitted_at` a time, `active_s` seconds (nan: unknown), `words` those shown, `attention`
    `passed`, `failed` or "". Undefined figures are nan with the reason in their note. Raises `CalibrationError`, also
    `missing_column` where the work log lacks one.
    """
    settings = settings or CalibrationSettings()
    absent = [name for name in WORK if name not in work.columns]
    if absent:
        raise errors.CalibrationError(
            "missing_column", f"the work log has no column {absent[0]!r}; it needs {', '.join(WORK)}"
        )
    study = people_of(verdicts, settings)
    if study is None:
        return ()
    signals = signals_of(study, work, settings)
    return tuple(_figures(study, work, signals, settings))


def people_of(verdicts: pd.DataFrame, settings: CalibrationSettings) -> Study | None:
    """The study without its judges; None where no person's label is in it."""
    people = verdicts[verdicts["rater_kind"] == "human"] if len(verdicts) else verdicts
    return study_of(people, settings) if len(people) else None


def parts_of(study: Study, settings: CalibrationSettings, single: bool = False) -> list[tuple[Group, Scale]]:
    """Everything with its scale; or each criterion with its own, where they share none or `single` asks for it."""
    scale = None if single else scale_of(study, study.criteria, settings)
    chosen = replace(settings, per_criterion=scale is None, per_category=False, per_system_pair=False)
    groups = counted.groups_of(study, chosen, pooled=scale is not None)
    parts = groups[:1] if scale is not None else [group for group in groups if group.criterion != "all"]
    scales = [(part, scale_of(study, part.criteria, settings)) for part in parts]
    return [(one, scale) for one, scale in scales if scale is not None]


def signals_of(study: Study, work: pd.DataFrame, settings: CalibrationSettings) -> tuple[annotator_signals.Signal, ...]:
    """Every signal of every annotator, from the study that `people_of` makes of a table.

    Whoever is flagged is no reference for the others any more, and all signals are looked at again.

    Where nobody is flagged in the first round there is no second, so this adds no false flag to a study of careful
    people.
    """
    made_of = _Material.of(study, work, settings)
    aside, found = (
        frozenset[str](),
        annotator_signals.adjusted(list(_signals(study, work, made_of, frozenset(), settings))),
    )
    while flagged := _flagged(found, aside):
        if len(study.annotators) - len(aside | flagged) < REFERENCES:
            break
        aside |= flagged
        found = annotator_signals.adjusted(list(_signals(study, work, made_of, aside, settings)))
    return found


def _flagged(found: Sequence[annotator_signals.Signal], aside: frozenset[str]) -> set[str]:
    """Who is flagged and not set aside yet; by severity alone the furthest from the others, who moves theirs too."""
    flagged = {one.estimate.rater for one in found if one.flagged and one.name != "severity"} - aside
    severe = [one for one in found if one.flagged and one.estimate.rater not in aside | flagged]
    return flagged | {max(severe, key=lambda one: abs(one.estimate.value)).estimate.rater} if severe else flagged


@dataclass(frozen=True)
class _Material:
    """What each annotator did with each item: columns rater_id, item_id, value and cluster."""

    sames: pd.DataFrame
    minutes: pd.DataFrame  # natural logarithm of the active seconds
    stock: pd.DataFrame
    scores: pd.DataFrame

    @staticmethod
    def of(study: Study, work: pd.DataFrame, settings: CalibrationSettings) -> _Material:
        seconds = _logged(study, work)
        texts = pd.concat(
            [annotator_signals.repeated_rationales(study, annotator.rater) for annotator in study.annotators]
        )
        logarithm = np.log(seconds["value"].where(seconds["value"] > 0))
        return _Material(
            annotator_signals.same_answers(study.frame), seconds.assign(value=logarithm), _by_item(texts, "repeated"),
            annotator_signals.given_scores(study, settings),
        )  # fmt: skip


def _signals(
    study: Study, work: pd.DataFrame, made_of: _Material, aside: frozenset[str], settings: CalibrationSettings
) -> Iterator[annotator_signals.Signal]:
    """Of every annotator, with raw p; those `aside` are nobody's others."""
    floor, agreed = settings.bias_floor, dict[frozenset[str], Mapping[str, annotator_signals.Scores]]()
    paired = [name for name in study.criteria if study.kinds[name] == "pairwise"]
    pairs = scale_of(study, paired, settings) if paired else None
    for rater in (annotator.rater for annotator in study.annotators):
        panel = frozenset(
            annotator.rater
            for annotator in study.annotators
            if annotator.rater == rater or annotator.rater not in aside
        )
        among = replace(
            study, annotators=tuple(annotator for annotator in study.annotators if annotator.rater in panel)
        )
        agreed[panel] = agreed.get(panel) or agreements(among, settings)
        scores = agreed[panel][rater]
        if np.isnan(scores.others).all():
            elsewhere = annotator_signals.with_elsewhere(agreed[panel], rater)
            yield annotator_signals.halves_signal(
                annotator_signals.Asked("agreement", rater, floor, "below", ELSEWHERE), *elsewhere, settings
            )
        else:
            yield annotator_signals.paired_signal(
                annotator_signals.Asked("agreement", rater, floor, "below", AGREEMENT), scores, settings
            )
        halves, late = replace(scores, own=scores.own - scores.others), _late(work, rater, scores.item)
        yield annotator_signals.halves_signal(
            annotator_signals.Asked("drift", rater, floor, "below", DRIFT), halves, late, settings
        )
        if pairs is not None:
            side = annotator_signals.side_scores(among, pairs, rater, bias.rows_of(study, rater))
            yield annotator_signals.paired_signal(
                annotator_signals.Asked("side", rater, floor, "either", SIDE), side, settings
            )
        looked: list[tuple[str, pd.DataFrame, float, annotator_signals.Way, str]] = [
            ("same_answer", made_of.sames, floor, "above", SAME),
            ("speed", made_of.minutes, HALF_THE_TIME, "below", SPEED),
            ("rationale", made_of.stock, STOCK, "above", REPEATED),
        ]
        if len(made_of.scores):
            looked.append(("severity", made_of.scores, floor, "either", SEVERITY))
        for name, values, margin, way, note in looked:
            beside = annotator_signals.beside_others(values[values["rater_id"].isin(panel)], rater)
            asked = annotator_signals.Asked(name, rater, margin, way, note)
            signal = annotator_signals.paired_signal(asked, beside, settings)
            # of two people nobody can say which of them is severe
            yield replace(signal, p=math.nan) if name == "severity" and len(panel) <= REFERENCES else signal


def _figures(
    study: Study, work: pd.DataFrame, signals: tuple[annotator_signals.Signal, ...], settings: CalibrationSettings
) -> Iterator[AnnotatorQuality]:
    rates = {answer_rate.rater: answer_rate for answer_rate in answer_rates(study, settings)}
    agreed = _agreement_estimates(study, settings)
    sames, log = annotator_signals.same_answers(study.frame), _logged(study, work)
    attention = work[work["purpose"] == "attention"]
    for rater in (annotator.rater for annotator in study.annotators):
        own = log[log["rater_id"] == rater]
        rows, texts = bias.rows_of(study, rater), annotator_signals.repeated_rationales(study, rater)
        given = rows.groupby(rows["item_id"].astype(str)).size()
        answers = own["item_id"].map(given).to_numpy(float)
        told = texts[texts["empty"] == 0]
        stands_left = answering.decisive(study, rows)
        passed, failed = (int(((attention["rater_id"] == rater) & (attention["attention"] == word)).sum())
                          for word in ("passed", "failed"))  # fmt: skip
        equal = sames[sames["rater_id"] == rater]
        yield AnnotatorQuality(
            rater,
            int(rows["item_id"].nunique()),
            median_estimate("minutes_per_item", rater, own["value"] / 60, own["cluster"], settings, "active minutes"),
            median_estimate("seconds_per_answer", rater, own["value"].to_numpy() / answers, own["cluster"], settings,
                            "active seconds of an item over its answers"),
            agreed.get(rater, _nothing("human_ceiling", rater, "no other annotator answered the same", settings)),
            _share("left_rate", rater, stands_left["first"], stands_left["cluster_id"], settings),
            rates[rater].tie, rates[rater].not_applicable,
            _mean_share("same_answer", rater, equal, settings),
            _share("repeated_rationales", rater, told["repeated"], told["cluster_id"], settings),
            _share("empty_rationales", rater, texts["empty"], texts["cluster_id"], settings),
            median_estimate("rationale_words", rater, told["words"], told["cluster_id"], settings,
                            "words of a rationale, where there is one"),
            repeat_agreement(study, rater, settings).agreement,
            passed, failed,
            tuple(own["item_id"][own["value"] < 60 * own["words"] / FASTEST]),
            tuple(signal for signal in signals if signal.estimate.rater == rater),
        )  # fmt: skip


def agreements(study: Study, settings: CalibrationSettings) -> Mapping[str, annotator_signals.Scores]:
    """Of every annotator, over all criteria, each with its own kind of answer."""
    found: dict[str, list[annotator_signals.Scores]] = {annotator.rater: [] for annotator in study.annotators}
    for group, scale in parts_of(study, settings):
        for rater, scores in annotator_signals.agreement_scores(study, group, scale, settings):
            found[rater].append(scores)
    return {rater: annotator_signals.stacked_scores(parts) for rater, parts in found.items()}


def _agreement_estimates(study: Study, settings: CalibrationSettings) -> dict[str, estimates.Estimate]:
    """The ceiling of each annotator; where criteria share no scale, the share of equal labels over all of them."""
    parts = parts_of(study, settings)
    if len(parts) == 1:
        return {annotator.rater: annotator for annotator in ceiling_of(study, *parts[0], settings).annotators}
    note = "criteria of several kinds: share of equal labels, a tie is a label like another"
    agreed = {rater: (one.own, one.cluster) for rater, one in agreements(study, settings).items()}
    return {rater: _share("human_ceiling", rater, *one, settings, "others", note) for rater, one in agreed.items()}


def _late(work: pd.DataFrame, rater: str, items: npt.NDArray[Any]) -> Mask:
    """Whether each item is in the second half of what the rater handed in."""
    own = work[(work["rater_id"] == rater) & (work["purpose"] == "label")].sort_values(["submitted_at", "item_id"])
    return np.isin(items, own["item_id"].to_numpy(str)[len(own) // 2 :]) if len(own) else np.zeros(len(items), bool)


def _logged(study: Study, work: pd.DataFrame) -> pd.DataFrame:
    """The log of labelled items, with `value` the active seconds and the item's `cluster`."""
    own = work[work["purpose"] == "label"]
    first = study.frame.drop_duplicates("item_id")
    cluster = dict(zip(first["item_id"].astype(str), first["cluster_id"].astype(str), strict=True))
    own = own[own["item_id"].isin(cluster)].sort_values(["rater_id", "item_id"])
    return own.assign(value=own["active_s"].astype(float), cluster=own["item_id"].map(cluster))


def _by_item(texts: pd.DataFrame, column: str) -> pd.DataFrame:
    """The mean over an item's answers that have a rationale, as `beside_others` wants it."""
    told = texts[texts["empty"] == 0]
    found = told.groupby(["rater_id", "item_id", "cluster_id"], observed=True)[column].mean().reset_index()
    return found.rename(columns={column: "value", "cluster_id": "cluster"}).astype(annotator_signals.TEXT)


def _share(
    statistic: str, rater: str, hits: npt.ArrayLike, clusters: npt.ArrayLike, settings: CalibrationSettings,
    reference: str = "", note: str = "",
) -> estimates.Estimate:  # fmt: skip
    values, code = np.asarray(hits, float), np.unique(np.asarray(clusters, str), return_inverse=True)[1]
    pair = Pair(rater, reference, WHOLE, tally(code, 0))
    return share(statistic, pair, tally(code, 0, values), settings, note)


def _mean_share(statistic: str, rater: str, values: pd.DataFrame, settings: CalibrationSettings) -> estimates.Estimate:
    """Mean over items of a share that each has."""
    code = np.unique(values["cluster"].to_numpy(str), return_inverse=True)[1]
    pair, scores = Pair(rater, "", WHOLE, tally(code, 0)), values["value"].to_numpy(float)
    if not len(scores):
        few = annotator_signals.FEW_ANSWERS
        return _nothing(statistic, rater, "no item has {few} answers", settings, few=few)
    low, high = cluster_t(float(scores.mean()), cluster_se(scores, code), pair.clusters, settings.level)
    said = [*remarks_of("mean over items"), *[no_interval(Reason.ZERO_VARIANCE)] * math.isnan(low)]
    interval = max(low, 0.0), min(high, 1.0)
    return made(statistic, pair, float(scores.mean()), interval, "cluster_t", said, settings)


def _nothing(statistic: str, rater: str, why: str, settings: CalibrationSettings, **facts: int) -> estimates.Estimate:
    nobody, lack = Pair(rater, "others", WHOLE, np.zeros(0)), undefined(Reason.NO_ITEMS, why, **facts)
    return made(statistic, nobody, math.nan, (math.nan, math.nan), "none", lack, settings)
