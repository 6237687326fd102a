"""A report on topics that were drawn with unequal probabilities: what is weighted by the draw, and a dash for the rest.

A plain mean over such topics is not that of the study's topics. What judges did on all topics, labelled or not, hangs
on no draw.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from calibration.agreement.agreeing import TIES_APART
from calibration.agreement.catalogue import METRICS
from calibration.agreement.panel import OF_PEOPLE
from calibration.errors import CalibrationError
from calibration.estimates import Estimate, ReportWarning
from calibration.remarks import Reason, undefined
from calibration.settings import CalibrationSettings
from calibration.study.joining import MANY_LABELS, Study, scale_of
from calibration.table.verdicts import BOTH_ORDERS
from plain.wording import Sentence

OF_TABLES = {
    *(metric.name for metric in METRICS if metric.is_drawn),
    *(f"{metric.name}_linearised" for metric in METRICS if metric.is_drawn), *TIES_APART,
    "percent_agreement", "percent_agreement_exclude_ties", "percent_agreement_missing_as_wrong",
    "percent_agreement_consistent_orders", "kept_share", "constant_judge_baseline",
}  # fmt: skip
OF_SCORES = ("human_ceiling", "gap_to_ceiling", "percent_agreement")  # and with the rule for ties behind them
OF_SYSTEMS = ("win_rate", "pair_win_rate", "judge_corrected_win_rate", "agreement_difference")
OF_JUDGES = (  # of all that a judge answered
    "valid_share", "swap_consistency", "cost_per_item", "seconds_per_item", "first_rate", "order_effect",
    "flip_direction", "changed_answers",
)  # fmt: skip


def weighted_or_dashed(
    study: Study, settings: CalibrationSettings, estimates: Sequence[Estimate]
) -> tuple[Estimate, ...]:
    """The estimates, those that the draw makes false as a dash with that reason. As they are without such a draw."""
    if study.drawn is None:
        return tuple(estimates)
    scales = [scale_of(study, (name,), settings) for name in study.criteria]
    tabled = all(scale is not None and len(scale.labels) <= MANY_LABELS for scale in scales)
    judges = {judge.rater for judge in study.judges}
    return tuple(one if is_true(one, judges, tabled) else dashed(one) for one in estimates)


def is_true(estimate: Estimate, judges: set[str], tabled: bool) -> bool:
    """Whether it is weighted by the draw, or hangs on none. `tabled`: whether agreement is counted in tables."""
    by_judge = estimate.rater in judges or f"{estimate.rater}{BOTH_ORDERS}" in judges
    if by_judge and (estimate.reference in judges or estimate.statistic in OF_JUDGES):
        return True
    if estimate.statistic in OF_PEOPLE and estimate.rater == "each_annotator":
        return False  # of all annotators at once, from no table
    if estimate.statistic in OF_SYSTEMS or estimate.statistic.startswith(OF_SCORES[:2]):
        return True
    return tabled and (estimate.statistic in OF_TABLES or estimate.statistic.startswith(OF_SCORES[2]))


def dashed(estimate: Estimate) -> Estimate:
    """Without its value, and why."""
    nan = math.nan
    return replace(estimate, value=nan, low=nan, high=nan, method="none", remarks=(undefined(Reason.NOT_WEIGHTED),))


def refuse_over_annotators(study: Study, settings: CalibrationSettings) -> None:
    """Raises `unknown_form` where intervals are to speak of other annotators too, which no weights were made for."""
    if study.drawn is not None and settings.generalise_to == "pairs_and_annotators":
        raise CalibrationError(
            "unknown_form", "topics were drawn with unequal probabilities: use generalise_to = pairs, whose intervals "
            "are weighted by them"
        )  # fmt: skip


def refuse_unweighted(study: Study, what: str) -> None:
    """Raises `unknown_form` where `what` would be told of topics that were drawn with unequal probabilities."""
    if study.drawn is not None:
        raise CalibrationError(
            "unknown_form",
            "topics were drawn with unequal probabilities, and {what} of people's labels are not weighted by them; "
            "read win rates in calipers calibrate, or compare by judges alone, without people's rows",
            what=Sentence(what),
        )  # fmt: skip


@dataclass(frozen=True)
class DrawnTopics:
    """Topics that people labelled, of all of the table, drawn with unequal probabilities from `least` to `most`.

    `effective`: as many drawn alike would be worth as much (Kish 1965).
    """

    labelled: int
    topics: int
    least: float
    most: float
    effective: float


def drawn_topics(study: Study) -> DrawnTopics | None:
    """None where all that people labelled were drawn alike, or nobody said how."""
    if study.drawn is None:
        return None
    weight = study.drawn[study.drawn > 0]
    chance = study.frame["draw_probability"].to_numpy()
    known = chance[~np.isnan(chance)]
    effective = float(weight.sum() ** 2 / (weight @ weight))
    return DrawnTopics(len(weight), len(study.clusters), float(known.min()), float(known.max()), effective)


def draw_cautions(found: DrawnTopics | None) -> Iterator[ReportWarning]:
    """`drawn_topics`: that topics were drawn unequally, and what the labelled ones are worth."""
    if found is None:
        return
    yield ReportWarning("drawn_topics", asdict(found))
