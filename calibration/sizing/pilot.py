"""What a pilot tells about topics: how far a judge's agreement varies between them, and what a pair takes and costs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from calibration.arithmetic import closed_forms, columns
from calibration.choosing.noninferiority import holm_steps
from calibration.errors import CalibrationError
from calibration.estimates import Estimate
from calibration.inference import bootstrap, compare
from calibration.inference.gap_test import GapSums, Rule, from_sums, gap_sums
from calibration.remarks import Reason, Remark, remarks_of
from calibration.settings import CalibrationSettings
from calibration.sizing.draw_gain import expected_deviation
from calibration.sizing.planning import Spread
from calibration.study import answering, counted, left_out
from calibration.study.bounding import Group, Pair, made, share
from calibration.study.distance import BY_DISTANCE
from calibration.study.joining import Answers, Study, scale_of, study_of
from calibration.study.label_scores import LabelScores, label_scores

EVERYTHING = np.ones(0, dtype=bool)


@dataclass(frozen=True)
class Pilot:
    """One judge of a pilot. A spread that is not known is nan and says why in its note."""

    judge: str
    agreement: Estimate  # with each annotator, the ties rule as the settings say
    icc: Estimate  # of that agreement within a topic, by one-way ANOVA; nan where it is not estimable
    variance: float  # of one label's agreement: p (1 - p) where it is 0 or 1
    scores: Spread  # of agreement
    gap: Spread  # of left-out annotator - judge, on identical references
    difference: Spread  # of the judge - the other judge
    other: str  # that judge: of all others the one whose difference varies most; "" if there is none
    tried: int  # judges in the pilot, and settings of theirs that later ones replaced
    pairs_per_topic: float
    labels_per_pair: float  # judge's answers compared: criteria times annotators
    annotators_per_pair: float
    seconds_per_pair: Estimate | None  # of one annotator; None where no row tells
    pay_per_pair: Estimate | None  # of one annotator
    cost_per_pair: Estimate | None  # of the judge
    other_cost_per_pair: Estimate | None
    rule: Rule = field(repr=False)  # by which the pilot's own claims are tested
    gaps: Mapping[str, GapSums | None] = field(repr=False)  # of every judge; None where its gap is not known
    currency: str = counted.USD  # of what rows cost
    is_by_distance: bool = False  # the gap's agreement, not `agreement`: how near scores lie

    def step(self, margin: float) -> int:
        """By what Holm divides the error of this judge's claim, judges with a smaller p being adequate already."""
        rule = replace(self.rule, margin=margin)
        p = [from_sums([sums], rule)[0].p if sums else math.nan for sums in self.gaps.values()]
        return int(holm_steps(np.array(p), self.tried - len(self.gaps))[[*self.gaps].index(self.judge)])


def pilot_of(
    verdicts: pd.DataFrame, settings: CalibrationSettings | None = None, judge: str = "", other: str = ""
) -> Pilot:
    """The pilot as it shows `judge`; "": the judge whose agreement varies most, so that the plan does for all.

    `verdicts`: as for `calibrate`. `other`: whom to compare it with. Raises what `check_verdicts` does, `no_judge`
    and `no_annotator` where the table holds none, `unknown_rater`, and `unknown_form` of topics drawn unequally.
    """
    settings = settings or CalibrationSettings()
    study = study_of(verdicts, settings)
    if not study.annotators:
        raise CalibrationError("no_annotator", "the pilot has no labels of people; add some, or plan from assumptions")
    if study.drawn is not None:
        raise CalibrationError(
            "unknown_form", "the pilot's topics were drawn with unequal chances, and a plan rests on topics drawn "
            "alike; plan from --agreement and --icc, or from the first batch alone"
        )  # fmt: skip
    if not study.judges:
        raise CalibrationError("no_judge", "the pilot has no judge; run one on it, or plan from --agreement and --icc")
    rows = label_scores(study, settings.ties)
    spreads = {name: spread_of(scores, rows.clusters) for name, scores in rows.judges.items()}
    judge = judge or max(spreads, key=lambda name: (-1.0 if math.isnan(spreads[name].sd) else spreads[name].sd, name))
    for name in filter(None, (judge, other)):
        if name not in spreads:
            raise CalibrationError(
                "unknown_rater", "no judge is called {name!r}; there are {spreads}", name=name,
                spreads=', '.join(spreads),
            )  # fmt: skip
    if judge == other:
        raise CalibrationError("unknown_rater", "{judge} is compared with itself; name two judges", judge=judge)
    against, difference = _difference(study, rows, judge, other)
    agreement, icc, variance = _agreement(rows, judge, settings)
    gaps = {one.rater: _gap(study, one, settings) for one in study.judges}
    told = {
        (answering_estimate.statistic, answering_estimate.rater): answering_estimate
        for answering_estimate in answering.answering_estimates(study, settings)
    }
    return Pilot(
        judge, agreement, icc, variance, _foreseen(study, spreads[judge], rows.judges[judge], rows.clusters),
        gaps[judge], difference, against, len(study.judges) + sum(study.replaced.values()),
        *_layout(study, rows, judge), told.get(("seconds_per_item", "each_annotator")),
        told.get(("cost_per_item", "each_annotator")), told.get(("cost_per_item", judge)),
        told.get(("cost_per_item", against)),
        Rule(settings.margin, settings.level, settings.min_clusters, settings.resamples, settings.seed),
        {name: gap.sums for name, gap in gaps.items()}, counted.currency_of(study.frame),
        _is_by_distance(study, settings),
    )  # fmt: skip


def spread_of(scores: npt.ArrayLike, clusters: npt.ArrayLike) -> Spread:
    """Mean of `scores` and their spread between clusters: sd / sqrt(C) is `cluster_se`, also for unequal clusters.

    `scores`, `clusters`: shape (labels,); nan is left out. Undefined: `no_items`, and the sd of one cluster,
    `too_few_units`.
    """
    (values,), groups = compare.scores_and_clusters([scores], clusters)
    sums, sizes = compare.cluster_sums(values, groups)
    count, total = len(sizes), sizes.sum()
    if count < 2:
        value = float(sums.sum() / total) if total else math.nan
        return Spread(value, math.nan, np.empty(0), count, "too_few_units" if count else "no_items")
    value, sd = float(sums.sum() / total), bootstrap.se_of_sums(sums, sizes) * math.sqrt(count)
    # studies drawn from these topics vary as much as those of the population, not as much as the sample
    moved = math.sqrt(count / (count - 1)) * (sums - sizes * value) * count / total
    return Spread(value, sd, value + moved, count)


def icc_interval(icc: float, sizes: closed_forms.Array, level: float = 0.95) -> tuple[float, float]:
    """Interval of a one-way ANOVA `icc` from the F of its mean squares. `sizes`: labels of each cluster.

    Exact for normal scores in equal clusters; of shares it covers 93 where it says 95 %. Refused: `icc` nan, or fewer
    than 2 clusters. Searle 1971.
    """
    sizes = sizes[sizes > 0]
    count, total = len(sizes), float(sizes.sum())
    if count < 2 or math.isnan(icc):
        return math.nan, math.nan
    n0 = (total - float(sizes @ sizes) / total) / (count - 1)
    f = float(closed_forms.ratio(1 + (n0 - 1) * icc, 1 - icc)) if icc < 1 else math.inf
    if math.isinf(f):
        return math.nan, math.nan
    low, high = (f / float(scipy.stats.f.ppf(q, count - 1, total - count)) for q in ((1 + level) / 2, (1 - level) / 2))
    return (low - 1) / (low + n0 - 1), (high - 1) / (high + n0 - 1)


def unknown_spread(note: str) -> Spread:
    """Nothing is known, and why."""
    return Spread(math.nan, math.nan, np.empty(0), 0, note)


def _agreement(rows: LabelScores, judge: str, settings: CalibrationSettings) -> tuple[Estimate, Estimate, float]:
    scores, clusters = rows.judges[judge], rows.clusters
    known = ~np.isnan(scores)
    scores, clusters = scores[known], clusters[known]
    count = int(rows.clusters.max(initial=-1)) + 1
    sizes = columns.tally(clusters, count)
    pair = Pair(judge, "each_annotator", Group((), "all", "all", EVERYTHING), sizes)
    found = bootstrap.effective_sample(scores, clusters)
    said = remarks_of("one-way ANOVA of agreement within topics")
    if math.isnan(found.icc):
        said += (Remark(Reason.NOT_ESTIMABLE, words=f"not estimable: {_why_no_icc(scores, found.clusters)}"),)
    interval = icc_interval(found.icc, sizes, settings.level)
    return (
        share("percent_agreement", pair, columns.tally(clusters, count, scores), settings),
        made("icc_of_agreement", pair, found.icc, interval, "anova_f", said, settings),
        float(scores.var()) if len(scores) else math.nan,
    )


def _why_no_icc(scores: closed_forms.Array, clusters: int) -> str:
    if not len(scores):
        return "nothing to compare"
    if clusters < 2:
        return "one topic only"
    return "agreement never varies" if np.ptp(scores) <= 1e-12 else "one label in each topic"


def _gap(study: Study, judge: Answers, settings: CalibrationSettings) -> Spread:
    scale = scale_of(study, study.criteria, settings)
    if scale is None:
        return unknown_spread("mixed_label_types")
    if len(study.annotators) < 2:
        return unknown_spread("one_annotator")
    group = Group(study.criteria, "all", "all", np.ones(study.units, dtype=bool))
    rows = left_out.left_out_scores(study, group, scale, judge, settings, missing_as_wrong=True)
    scores, code = rows.human - rows.judge, np.unique(rows.cluster, return_inverse=True)[1].astype(np.intp)
    found = replace(spread_of(scores, code), sums=gap_sums(scores, code, rows.unit))
    return _foreseen(study, found, scores, rows.cluster)


def _is_by_distance(study: Study, settings: CalibrationSettings) -> bool:
    scale = scale_of(study, study.criteria, settings)
    return scale is not None and left_out.ties_rule(scale, settings) in BY_DISTANCE


def _foreseen(study: Study, spread: Spread, scores: closed_forms.Array, clusters: columns.Codes) -> Spread:
    """The spread, with what judges' answers alone say of how far each topic is off."""
    return replace(
        spread,
        expected=expected_deviation(study, np.unique(clusters[~np.isnan(scores)]), spread.topics - spread.mean),
    )


def _difference(study: Study, rows: LabelScores, judge: str, other: str) -> tuple[str, Spread]:
    found = {
        name: spread_of(rows.judges[judge] - scores, rows.clusters)
        for name, scores in rows.judges.items()
        if name == other or (not other and name != judge)
    }
    known = {name: spread for name, spread in found.items() if not math.isnan(spread.sd)}
    if not known:
        name, spread = next(iter(found.items()), ("", unknown_spread("one_judge")))
        return name, spread
    name, spread = max(known.items(), key=lambda one: (one[1].sd, one[0]))
    return name, _foreseen(study, spread, rows.judges[judge] - rows.judges[name], rows.clusters)


def _layout(study: Study, rows: LabelScores, judge: str) -> tuple[float, float, float]:
    """Pairs of a topic, comparisons of a pair, and people who label one."""
    frame = study.frame
    people = frame[(frame["rater_kind"] == "human") & (frame["run"] == 1)]
    items = people["item_id"].nunique()
    topics = people["cluster_id"].nunique()
    raters = len(people[["item_id", "rater_id"]].drop_duplicates())
    compared = int((~np.isnan(rows.judges[judge])).sum())
    return items / topics, compared / items, raters / items
