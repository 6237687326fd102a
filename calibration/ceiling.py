"""How well could a judge agree? As well as a left-out annotator, with the same other annotators as reference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.bootstrap import resample
from calibration.compare import Difference, paired_difference
from calibration.engine.bounding import FEW_CLUSTERS, Group, Pair, drawn, share
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.joining import Answers, Scale, Study
from calibration.estimates import Estimate
from calibration.people.left_out import (
    SUFFIX,
    TIE_RULE,
    LeftOutScores,
    left_out,
    pooled,
    scores_of_left_out,
    stacked,
    ties_rule,
)
from calibration.reading.columns import tally
from calibration.settings import CalibrationSettings

FIXED_PANEL = "this panel of annotators is fixed"


@dataclass(frozen=True)
class BesideAnnotator:
    """A judge and the left-out annotator (`each_annotator`: all, every row alike) on the same labels and references.

    `gap` is human - judge: above 0 the judge agrees less than a person does.
    """

    annotator: str
    human: Estimate
    judge: Estimate
    gap: Difference


@dataclass(frozen=True)
class JudgeCeiling:
    """One judge: over all annotators, and beside each of them."""

    judge: str
    average: BesideAnnotator
    annotators: tuple[BesideAnnotator, ...]


@dataclass(frozen=True)
class Ceiling:
    """`human`: every label with another annotator's beside it. Each judge has its own ceiling on what it answered."""

    human: Estimate
    annotators: tuple[Estimate, ...]
    judges: tuple[JudgeCeiling, ...]


def leave_one_out_ceiling(
    verdicts: pd.DataFrame, references: str | None = None, settings: CalibrationSettings | None = None
) -> Ceiling:
    """Agreement of each annotator, left out, with the others, and of every judge with the same others; 0 to 1.

    `verdicts`: as for `calibrate`. `references`: `others_each`, the mean over the others, or `others_majority`, their
    one most frequent label (where it is tied the row is dropped, or is a tie: `settings.majority_ties`); None: as
    `settings` say, and so are ties. Rows of annotators and units weigh alike. Undefined: no unit with two annotators.
    Raises `unknown_form`, and `mixed_label_types` where criteria share no scale.
    """
    settings = settings or CalibrationSettings()
    if references is not None:
        settings = replace(settings, references=references)
    study, group, scale = pooled(verdicts, settings)
    return ceiling_of(study, group, scale, settings)


def ceiling_of(study: Study, group: Group, scale: Scale, settings: CalibrationSettings) -> Ceiling:
    """`leave_one_out_ceiling` of one group of units."""
    human, alone = _beside(study, group, scale, None, settings)
    judges = [JudgeCeiling(one.rater, *_beside(study, group, scale, one, settings)) for one in study.judges]
    return Ceiling(human.human, tuple(one.human for one in alone), tuple(judges))


def ceiling_estimates(ceiling: Ceiling) -> Iterator[Estimate]:
    """What a report prints.

    `human_ceiling` of all, of each annotator, and of the labels each judge answered (rater: the judge); beside the
    last the judge's `percent_agreement` with `others`, and `gap_to_ceiling` to others and to each annotator.
    """
    yield ceiling.human
    yield from ceiling.annotators
    for one in ceiling.judges:
        yield one.average.human
        yield one.average.judge
        for beside in (one.average, *one.annotators):
            yield gap_estimate(one.judge, beside)


def gap_estimate(judge: str, beside: BesideAnnotator) -> Estimate:
    """`gap_to_ceiling`, human - judge; the reference is `others`, or the annotator who was left out."""
    everyone = beside.annotator == "each_annotator"
    reference, gap = "others" if everyone else beside.annotator, beside.gap
    low, high, notes = gap.low, gap.high, ["left-out annotator minus judge, on the same references", FIXED_PANEL]
    single = (beside.human.criterion, beside.human.category) != ("all", "all")
    if gap.note:
        notes.append(f"no interval: {gap.note}" if gap.n else "no_items: nothing to compare")
    elif single and gap.clusters < FEW_CLUSTERS:
        low = high = math.nan
        notes.append(f"no interval: too few pairs, fewer than {FEW_CLUSTERS} clusters")
    method = "none" if math.isnan(low) else "cluster_t"
    return replace(beside.human, statistic="gap_to_ceiling", rater=judge, reference=reference, value=gap.value,
                   low=low, high=high, method=method, note="; ".join(notes))  # fmt: skip


def _beside(
    study: Study, group: Group, scale: Scale, judge: Answers | None, settings: CalibrationSettings
) -> tuple[BesideAnnotator, tuple[BesideAnnotator, ...]]:
    """Over all annotators, and beside each who has a row."""
    names, parts = [], []
    for one in left_out(study, group, scale, judge):
        names.append(one.annotator)
        parts.append(scores_of_left_out(study, one, scale, settings))
    name = "" if judge is None else judge.rater
    rows = [stacked(parts), *parts]
    draws = half_credit_draws(study, group, scale, rows, settings)
    found = [
        compared(study, group, scale, name, who, part, draws[:, place], settings)
        for place, (who, part) in enumerate(zip(["each_annotator", *names], rows, strict=True))
        if len(part.human) or not place
    ]
    return found[0], tuple(found[1:])


def compared(
    study: Study, group: Group, scale: Scale, judge: str, annotator: str, rows: LeftOutScores, draws: Array,
    settings: CalibrationSettings,
) -> BesideAnnotator:  # fmt: skip
    """A judge ("": none) and an annotator on these rows. `draws`: of `half_credit_draws`, shape (resamples, 2)."""
    everyone = annotator == "each_annotator"
    note = _note(scale, rows, settings)
    sizes = tally(rows.cluster, len(study.clusters))
    who = Pair(judge if judge and everyone else annotator, "others", group, sizes)
    human = _mean("human_ceiling", who, scale, rows, rows.human, draws[..., 0], settings,
                  f"where {judge} answered; {note}" if judge else note)  # fmt: skip
    said = _mean("percent_agreement", replace(who, rater=judge), scale, rows, rows.judge, draws[..., 1], settings,
                 note if everyone else f"where {annotator} is left out; {note}")  # fmt: skip
    gap = paired_difference(rows.human, rows.judge, rows.cluster, settings.level)
    return BesideAnnotator(annotator, human, said, gap)


def _mean(
    statistic: str,
    pair: Pair,
    scale: Scale,
    rows: LeftOutScores,
    scores: Array,
    draws: Array,
    settings: CalibrationSettings,
    note: str,
) -> Estimate:
    """A mean of shares is a share and gets its interval; half credits are bootstrapped."""
    ties = ties_rule(scale, settings)
    earned = tally(rows.cluster, len(pair.sizes), scores)
    if ties != "half_credit":
        return share(statistic + SUFFIX[ties], pair, earned, settings, note)
    value = float(ratio(earned.sum(), pair.sizes.sum()))
    return drawn(statistic + SUFFIX[ties], pair, value, draws, "" if pair.n else "no_items", settings, note)


def half_credit_draws(
    study: Study, group: Group, scale: Scale, rows: Sequence[LeftOutScores], settings: CalibrationSettings
) -> Array:
    """Mean scores of human and judge in every resample, shape (resamples, parts, 2); none where shares are bounded."""
    clusters = len(study.clusters)
    if ties_rule(scale, settings) != "half_credit" or clusters < (FEW_CLUSTERS if group.single else 2):
        return np.zeros((0, len(rows), 2))
    weights = [(one.human, one.judge, np.ones(len(one.human))) for one in rows]
    sums = [[tally(one.cluster, clusters, side) for side in sides] for one, sides in zip(rows, weights, strict=True)]
    return resample(
        np.moveaxis(np.array(sums), -1, 0), lambda s: ratio(s[..., :2], s[..., 2:]), settings.resamples, settings.seed
    )


def _note(scale: Scale, rows: LeftOutScores, settings: CalibrationSettings) -> str:
    rule = "the mean over the other annotators" if settings.references == "others_each" else "their majority"
    parts = [f"reference: {rule}; {TIE_RULE[ties_rule(scale, settings)]}"]
    if rows.dropped:
        parts.append(f"kept {len(rows.human)} of {len(rows.human) + rows.dropped} labels")
    return "; ".join([*parts, FIXED_PANEL])
