"""How well a judge could agree: as well as a left-out annotator, with the same other annotators as reference.

The first intervals are over pairs alone, and `two_way` widens them to other pairs and other annotators. Over pairs
alone an interval says how the same annotators would have judged other pairs. It covers 29-41 % of the time where
annotators differ and the question is how a judge agrees with such people.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.arithmetic.closed_forms import Array, diagonal, ratio
from calibration.arithmetic.columns import tally
from calibration.arithmetic.tails import Student
from calibration.estimates import Estimate
from calibration.inference import bootstrap, compare
from calibration.remarks import Kind, Reason, Remark, Said, no_interval, remarks_of, told, undefined
from calibration.settings import CalibrationSettings
from calibration.study import left_out
from calibration.study.bounding import FEW_CLUSTERS, Group, Pair, drawn, share
from calibration.study.crossing import cross, votes
from calibration.study.distance import BY_DISTANCE
from calibration.study.joining import Answers, Scale, Study, scale_of

PARTIAL = ("half_credit", *BY_DISTANCE)  # rules by which labels agree in part
FIXED_PANEL = told(Reason.FIXED_PANEL)
MINUS = "left-out annotator minus judge, on the same references"


@dataclass(frozen=True)
class BesideAnnotator:
    """A judge and the left-out annotator (`each_annotator`: all, every row alike) on the same labels and references.

    `gap` is human - judge: above 0 the judge agrees less than a person does.
    """

    annotator: str
    human: Estimate
    judge: Estimate
    gap: compare.Difference


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
    study, group, scale = left_out.pooled(verdicts, settings)
    return ceiling_of(study, group, scale, settings)


def ceiling_of(study: Study, group: Group, scale: Scale, settings: CalibrationSettings) -> Ceiling:
    """`leave_one_out_ceiling` of one group of units."""
    human, alone = _beside(study, group, scale, None, settings)
    judges = [JudgeCeiling(judge.rater, *_beside(study, group, scale, judge, settings)) for judge in study.judges]
    return Ceiling(human.human, tuple(one.human for one in alone), tuple(judges))


def ceiling_estimates(ceiling: Ceiling) -> Iterator[Estimate]:
    """What a report prints.

    `human_ceiling` of all, of each annotator, and of the labels each judge answered (rater: the judge); beside the
    last the judge's `percent_agreement` with `others`, and `gap_to_ceiling` to others and to each annotator.
    """
    yield ceiling.human
    yield from ceiling.annotators
    for judge in ceiling.judges:
        yield judge.average.human
        yield judge.average.judge
        for beside in (judge.average, *judge.annotators):
            yield gap_estimate(judge.judge, beside)


def gap_estimate(judge: str, beside: BesideAnnotator) -> Estimate:
    """`gap_to_ceiling`, human - judge; the reference is `others`, or the annotator who was left out."""
    everyone = beside.annotator == "each_annotator"
    reference, gap = "others" if everyone else beside.annotator, beside.gap
    low, high, remarks = (
        gap.low,
        gap.high,
        [*remarks_of("left-out annotator minus judge, on the same references", FIXED_PANEL)],
    )
    single = (beside.human.criterion, beside.human.category) != ("all", "all")
    if gap.note:
        remarks.append(no_interval(gap.note, gap.note) if gap.n else undefined(Reason.NO_ITEMS))
    elif single and gap.clusters < FEW_CLUSTERS:
        low = high = math.nan
        remarks.append(no_interval(Reason.TOO_FEW_CLUSTERS, fewest=FEW_CLUSTERS))
    method = "none" if math.isnan(low) else "cluster_t"
    return replace(beside.human, statistic="gap_to_ceiling", rater=judge, reference=reference, value=gap.value,
                   low=low, high=high, method=method, remarks=tuple(remarks))  # fmt: skip


def _beside(
    study: Study, group: Group, scale: Scale, judge: Answers | None, settings: CalibrationSettings
) -> tuple[BesideAnnotator, tuple[BesideAnnotator, ...]]:
    """Over all annotators, and beside each who has a row."""
    names, parts = [], []
    for annotator, scores in left_out.scores_of_each(study, group, scale, judge, settings):
        names.append(annotator)
        parts.append(scores)
    name = "" if judge is None else judge.rater
    rows = [left_out.stacked(parts), *parts]
    draws = partial_credit_draws(study, group, scale, rows, settings)
    found = [
        compared(study, group, scale, name, who, part, draws[:, place], settings)
        for place, (who, part) in enumerate(zip(["each_annotator", *names], rows, strict=True))
        if len(part.human) or not place
    ]
    return found[0], tuple(found[1:])


def compared(
    study: Study, group: Group, scale: Scale, judge: str, annotator: str, rows: left_out.LeftOutScores, draws: Array,
    settings: CalibrationSettings,
) -> BesideAnnotator:  # fmt: skip
    """A judge ("": none) and an annotator on these rows. `draws`: of `partial_credit_draws`, shape (resamples, 2)."""
    everyone = annotator == "each_annotator"
    said = _said(scale, rows, settings)
    sizes = tally(rows.cluster, len(study.clusters))
    who = Pair(judge if judge and everyone else annotator, "others", group, sizes, study.drawn)
    human = _mean("human_ceiling", who, scale, rows, rows.human, draws[..., 0], settings,
                  [f"where {judge} answered", *said] if judge else said)  # fmt: skip
    judged = _mean("percent_agreement", replace(who, rater=judge), scale, rows, rows.judge, draws[..., 1], settings,
                 said if everyone else [f"where {annotator} is left out", *said])  # fmt: skip
    gap = compare.paired_difference(rows.human, rows.judge, rows.cluster, settings.level, study.drawn)
    return BesideAnnotator(annotator, human, judged, gap)


def _mean(
    statistic: str,
    pair: Pair,
    scale: Scale,
    rows: left_out.LeftOutScores,
    scores: Array,
    draws: Array,
    settings: CalibrationSettings,
    said: Said,
) -> Estimate:
    """A mean of shares is a share and gets its interval; partial credits are bootstrapped."""
    ties = left_out.ties_rule(scale, settings)
    earned = tally(rows.cluster, len(pair.sizes), scores)
    if ties not in PARTIAL:
        return share(statistic + left_out.SUFFIX[ties], pair, earned, settings, said)
    value = float(ratio(pair.weighed(earned).sum(), pair.weighed(pair.sizes).sum()))
    return drawn(statistic + left_out.SUFFIX[ties], pair, value, draws, "" if pair.n else "no_items", settings, said)


def partial_credit_draws(
    study: Study, group: Group, scale: Scale, rows: Sequence[left_out.LeftOutScores], settings: CalibrationSettings
) -> Array:
    """Mean scores of human and judge in every resample, shape (resamples, parts, 2); none where shares are bounded."""
    clusters = len(study.clusters)
    if left_out.ties_rule(scale, settings) not in PARTIAL or clusters < (FEW_CLUSTERS if group.single else 2):
        return np.zeros((0, len(rows), 2))
    columns = [(row.human, row.judge, np.ones(len(row.human))) for row in rows]
    sums = [[tally(one.cluster, clusters, side) for side in sides] for one, sides in zip(rows, columns, strict=True)]
    drawn_sums = np.array(sums) if study.drawn is None else np.array(sums) * study.drawn
    return bootstrap.resample(
        np.moveaxis(drawn_sums, -1, 0), lambda s: ratio(s[..., :2], s[..., 2:]), settings.resamples, settings.seed
    )


def _said(scale: Scale, rows: left_out.LeftOutScores, settings: CalibrationSettings) -> tuple[Remark, ...]:
    rule = "reference: their majority"
    if settings.references == "others_each":
        rule = "reference: the mean over the other annotators"
    kept = f"kept {len(rows.human)} of {len(rows.human) + rows.dropped} labels" if rows.dropped else ""
    return remarks_of(rule, left_out.TIE_RULE[left_out.ties_rule(scale, settings)], kept, FIXED_PANEL)


FEWEST = 3  # annotators: the spread between two has one degree of freedom
WIDENED = (("percent_agreement", "each_annotator"), ("gap_to_ceiling", "others"))
REPLACED = (Reason.FIXED_PANEL, Reason.NO_VARIATION)  # remarks on the interval that another takes the place of
PEOPLE = ("each_annotator", "others", "majority", "people")


@dataclass(frozen=True)
class TwoWay:
    """A mean with its two-way interval, and the three variances it is made of. nan where `note` says why."""

    value: float
    low: float
    high: float
    over_pairs: float
    over_annotators: float
    over_cells: float  # one annotator in one cluster: what the two above both count
    clusters: int
    annotators: int
    note: str = ""

    @property
    def variance(self) -> float:
        """V_pairs + V_annotators - V_cells, but never below either of the first two."""
        both = self.over_pairs + self.over_annotators - self.over_cells
        return max(both, self.over_pairs, self.over_annotators)


def two_way(
    sums: npt.ArrayLike, sizes: npt.ArrayLike, lost: npt.ArrayLike, lost_sizes: npt.ArrayLike, level: float = 0.95
) -> TwoWay:
    """sum(sums) / sum(sizes), and its interval: t of min(C, A) - 1. Cameron, Gelbach & Miller 2011.

    `sums`, `sizes`: scores and their number in each cluster, shape (clusters,). `lost`, `lost_sizes`: what goes from
    each cluster when one annotator is deleted, shape (clusters, annotators): that annotator's own scores, and where the
    others were scored against that annotator also what they change by. Undefined: nothing scored, `no_items`; without
    interval: 2 annotators or fewer, `two_annotators`; one cluster, `too_few_units`; no spread, `zero_variance`.
    """
    sums, sizes, lost, lost_sizes = (np.asarray(one, float) for one in (sums, sizes, lost, lost_sizes))
    n, nan = float(sizes.sum()), math.nan
    moved = (lost != 0) | (lost_sizes != 0)
    clusters, people = int((sizes > 0).sum()), int(moved.any(axis=0).sum())
    if not n:
        return TwoWay(nan, nan, nan, nan, nan, nan, clusters, people, "no_items")
    value = float(sums.sum() / n)
    if people < FEWEST or clusters < 2:
        why = "two_annotators" if people < FEWEST else "too_few_units"
        return TwoWay(value, nan, nan, nan, nan, nan, clusters, people, why)
    influence = (lost - value * lost_sizes) / n
    over_pairs = _variance((sums - value * sizes) / n, clusters)
    over_annotators, over_cells = (
        _variance(influence.sum(axis=0), people),
        _variance(influence[moved], int(moved.sum())),
    )
    found = TwoWay(value, nan, nan, over_pairs, over_annotators, over_cells, clusters, people)
    if found.variance <= (1e-12 * max(1.0, abs(value))) ** 2:  # rounding of equal means is no spread
        return replace(found, note="zero_variance")
    half = float(Student.ppf((1 + level) / 2, min(clusters, people) - 1)) * math.sqrt(found.variance)
    return replace(found, low=value - half, high=value + half)


def agreement_two_way(
    study: Study, group: Group, scale: Scale, judge: Answers, settings: CalibrationSettings
) -> TwoWay:
    """`percent_agreement` of a judge with each annotator: every annotator's label stands for itself."""
    clusters = study.unit_cluster, len(study.clusters)
    agree, sizes = [], []
    for annotator in study.annotators:
        table = cross(judge, votes([annotator], scale, study.units, annotator.scale), scale, group.chosen, *clusters)
        table = table / (judge.scale * annotator.scale)
        agree.append(diagonal(table))
        sizes.append(table.sum(axis=(-2, -1)))
    lost, lost_sizes = np.stack(agree, axis=1), np.stack(sizes, axis=1)
    return two_way(lost.sum(axis=1), lost_sizes.sum(axis=1), lost, lost_sizes, settings.level)


def gap_two_way(study: Study, group: Group, scale: Scale, judge: Answers, settings: CalibrationSettings) -> TwoWay:
    """Left-out annotator minus judge. An annotator is left out once and a reference for all others: deletion counts
    both."""

    def gaps(people: Sequence[Answers]) -> tuple[Array, Array]:
        rows = left_out.left_out_scores(replace(study, annotators=tuple(people)), group, scale, judge, settings)
        clusters = len(study.clusters)
        return tally(rows.cluster, clusters, rows.human - rows.judge), tally(rows.cluster, clusters)

    sums, sizes = gaps(study.annotators)
    without = [gaps([other for other in study.annotators if other is not annotator]) for annotator in study.annotators]
    lost, lost_sizes = (np.stack([one[side] for one in without], axis=1) for side in (0, 1))
    return two_way(sums, sizes, sums[:, None] - lost, sizes[:, None] - lost_sizes, settings.level)


def over_annotators(
    study: Study, groups: Sequence[Group], estimates: Sequence[Estimate], settings: CalibrationSettings
) -> Iterator[Estimate]:
    """The estimates of a report with `generalise_to` pairs_and_annotators, in their order, values unchanged.

    Each judge's `percent_agreement` with each_annotator and its `gap_to_ceiling` get the interval `two_way_t`; what
    else rests on annotators keeps its own and says that the panel is fixed.
    """
    by_name = {(one.criterion, one.category): one for one in groups}
    judges = {one.rater: one for one in study.judges}
    people = {*PEOPLE, *(annotator.rater for annotator in study.annotators)}
    for estimate in estimates:
        group, judge = by_name.get((estimate.criterion, estimate.category)), judges.get(estimate.rater)
        if (estimate.statistic, estimate.reference) in WIDENED and group and judge and estimate.n:
            yield _widened(estimate, group, _found(study, group, judge, estimate.statistic, settings))
        elif (
            (people & {estimate.rater, estimate.reference} or estimate.statistic == "agreement_difference")
            and estimate.method != "none"
            and not estimate.remark(Reason.FIXED_PANEL)
        ):
            yield replace(estimate, remarks=(*estimate.remarks, FIXED_PANEL))
        else:
            yield estimate


def _found(study: Study, group: Group, judge: Answers, statistic: str, settings: CalibrationSettings) -> TwoWay:
    scale = scale_of(study, group.criteria, settings)
    assert scale is not None  # the group has an estimate
    form = gap_two_way if statistic == "gap_to_ceiling" else agreement_two_way
    return form(study, group, scale, judge, settings)


def _widened(estimate: Estimate, group: Group, found: TwoWay) -> Estimate:
    low, high = found.low, found.high
    if estimate.statistic == "percent_agreement":
        low, high = map(float, np.clip([low, high], 0, 1))
    remark = told(Reason.SAMPLED_PANEL, annotators=found.annotators)
    if found.note == "two_annotators":
        remark = no_interval(Reason.TOO_FEW_ANNOTATORS, annotators=found.annotators, fewest=FEWEST)
    elif found.note:
        remark = no_interval(found.note, found.note)
    elif group.single and found.clusters < FEW_CLUSTERS:
        low, high, remark = math.nan, math.nan, no_interval(Reason.TOO_FEW_CLUSTERS, fewest=FEW_CLUSTERS)
    kept = (each for each in estimate.remarks if each.kind != Kind.NO_INTERVAL and each.reason not in REPLACED)
    method = "none" if math.isnan(low) else "two_way_t"
    return replace(estimate, low=low, high=high, method=method, remarks=(*kept, remark))


def _variance(influence: Array, count: int) -> float:
    return float(count / (count - 1) * (influence @ influence)) if count > 1 else 0.0
