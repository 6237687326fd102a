"""Cautions about comparing judges: the one that was chosen, a difference that was not shown, references unlike.

References are unlike where the items that people labelled twice are not like those that they labelled once.
"""

import itertools
import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibration.agreement.catalogue import METRICS
from calibration.arithmetic import closed_forms, tails
from calibration.arithmetic.columns import Codes, tally
from calibration.choosing.choice import Choice
from calibration.choosing.noninferiority import USUAL, Claim, ComparisonPlan
from calibration.choosing.panel_sensitivity import PanelSensitivity, panel_cautions, panel_sensitivity
from calibration.estimates import Estimate, ReportWarning
from calibration.inference.compare import JudgePair, compare_judges, shared_labels
from calibration.settings import CalibrationSettings
from calibration.study.distance import BY_DISTANCE
from calibration.study.joining import Mask, Study, scale_of
from calibration.study.label_scores import LabelScores, label_scores
from calibration.systems.ranking import FEW_SYSTEMS, systems_of
from calibration.table.verdicts import BOTH_ORDERS
from calibration.totals.total_scores import MEAN

UNSHARED = 0.95


def choice_cautions(
    study: Study, choice: Choice | None, settings: CalibrationSettings, panel: PanelSensitivity | None = None
) -> Iterator[ReportWarning]:
    """`selected_judge`, `not_shown_equal`, `unpaired_judges`, `unlike_second_labels`, `fixed_panel`, `panel_sensitive`.

    `choice`: of this study; None where there was nothing to choose, and only the systems can be sensitive to the panel.
    `panel`: the sensitivity to it where that is known already.
    """
    if choice is not None:
        picked = choice.foremost or next(iter(choice.candidates), None)
        names = [one.judge for one in choice.candidates]
        yield from selected_judge(names, picked.judge if picked else "", choice.plan.gone)
        for candidate in choice.candidates:
            if candidate.claim and candidate.outcome == "cannot_tell":
                yield from not_shown_equal(candidate.claim, choice.plan.cluster)
        scores = label_scores(study, choice.plan.ties, False, scale_of(study, study.criteria, settings))
        yield from _unpaired(scores, settings)
        if choice.plan.against == "ceiling":
            yield from second_label_cautions(scores, choice.plan.ties in BY_DISTANCE)
        if settings.generalise_to == "pairs_and_annotators":
            yield ReportWarning("fixed_panel")
    if study.drawn is None:  # it is not weighted
        yield from panel_cautions(panel or panel_sensitivity(study, choice, settings))


def system_cautions(estimates: Sequence[Estimate]) -> Iterator[ReportWarning]:
    """`few_systems`: a correlation of systems, not of reports, over fewer than ten of them."""
    found = []
    for one in estimates:
        if 0 < systems_of(one) < FEW_SYSTEMS and not math.isnan(one.value):
            found.append((systems_of(one), one))
    if found:
        few, one = min(found, key=lambda pair: pair[0])
        facts = {"statistic": _title(one.statistic), "one": _words(one.rater), "other": _words(one.reference)}
        several = {"found": len(found)} if len(found) > 1 else {}
        counts = {"value": one.value, "systems": few, "least": FEW_SYSTEMS}
        yield ReportWarning("few_systems", facts | counts | several)


def reference_cautions(estimates: Sequence[Estimate], judges: Collection[str]) -> Iterator[ReportWarning]:
    """`unlike_references`: a judge against the `majority` beside people against people, who have no majority to meet.

    So is a judge against `others` without the `human_ceiling` of its own labels. `judges`: every judge's name.
    """
    whole = [estimate for estimate in estimates if estimate.criterion == estimate.category == "all"]
    people = {one.statistic: one.value for one in whole if one.rater == "each_annotator" and one.reference == "others"}
    ceiling = {one.rater: one.value for one in whole if one.statistic.startswith("human_ceiling")}
    told: set[str] = set()
    for one in whole:
        unlike = (one.reference == "majority" and bool(people)) or (
            one.reference == "others" and one.statistic.startswith("percent_agreement") and one.rater not in ceiling
        )
        if one.rater not in judges or one.rater in told or not unlike:
            continue
        told.add(one.rater)
        facts = {"statistic": _title(one.statistic), "value": one.value, "reference": _words(one.reference)}
        beside = {"people": people.get(one.statistic), "ceiling": ceiling.get(one.rater)}
        yield ReportWarning("unlike_references", facts | beside, one.rater)


def selected_judge(tried: Sequence[str], chosen: str, gone: int = 0) -> Iterator[ReportWarning]:
    """`selected_judge`: two or more judges, prompts or settings were tried. `tried`: all their names.

    `gone`: settings under one of these names that later ones replaced.
    """
    if len({*tried}) + gone > 1:
        yield ReportWarning("selected_judge", {"tried": len({*tried}) + gone}, chosen)


def not_shown_equal(claim: Claim, cluster: str = "topic") -> Iterator[ReportWarning]:
    """`not_shown_equal`: the two-sided interval of the gap contains 0 and the outcome is not `non_inferior`.

    `cluster`: what a cluster is, a topic or an item.
    """
    gap = claim.test.difference
    if claim.outcome == "non_inferior" or not gap.low <= 0 <= gap.high:
        return
    who = "the left-out annotator" if claim.reference == "human_ceiling" else claim.reference
    numbers = {"gap": gap.value, "low": gap.low, "high": gap.high, "margin": claim.test.margin}
    points = {name: 100 * value + 0.0 for name, value in numbers.items()}
    facts: dict[str, Any] = {**points, "who": who, "clusters": gap.clusters, "cluster": cluster}
    if claim.needed and claim.needed.more:
        facts["more"] = claim.needed.more
    elif claim.needed and claim.needed.note == "gap_reaches_margin":
        facts["hopeless"] = f"{cluster}s"
    yield ReportWarning("not_shown_equal", facts, claim.judge)


def unpaired_judges(pair: JudgePair) -> Iterator[ReportWarning]:
    """`unpaired_judges`: two judges share less than 95 % of the union of their labels."""
    if not math.isnan(pair.shared) and pair.shared < UNSHARED:
        facts = {"other": pair.other, "percent": 100 * pair.shared, "shared": pair.difference.n}
        yield ReportWarning("unpaired_judges", facts, pair.judge)


def changed_plan(plan: ComparisonPlan, first: Mapping[str, Any] | None) -> Iterator[ReportWarning]:
    """`changed_after_labels`: the plan is not the one in force when a result was first shown, and how it differs.

    `first`: that plan's `kept`; None where no result was shown before.
    """
    if first is None or first["plan_sha256"] == plan.plan_sha256:
        return
    now = {**USUAL, **json.loads(json.dumps(plan.kept))}  # as the first one was kept: lists for tuples
    first = {**USUAL, **first}
    changes: list[dict[str, Any]] = []
    for name in sorted({*now} & {*first} - {"plan_sha256"}):  # an older release kept fewer
        before, after = first.get(name), now.get(name)
        if isinstance(before, list) and isinstance(after, list):
            added, gone = sorted({*after} - {*before}), sorted({*before} - {*after})
            changes += [{"name": name, "added": added}] * bool(added)
            changes += [{"name": name, "gone": gone}] * bool(gone)
        elif before != after:
            changes.append({"name": name, "before": str(before), "after": str(after)})
    if changes:
        yield ReportWarning("changed_after_labels", {"plan": first["plan_sha256"][:12], "changes": changes})


def _unpaired(scores: LabelScores, settings: CalibrationSettings) -> Iterator[ReportWarning]:
    """Over every two judges; a judge and its own `[both orders]` are one."""
    judges = {name: own for name, own in scores.judges.items() if not name.endswith(BOTH_ORDERS)}
    for one, other in itertools.combinations(judges, 2):
        if shared_labels(judges[one], judges[other]) < UNSHARED:
            (pair,) = compare_judges({name: judges[name] for name in (one, other)}, scores.clusters, settings.level)
            yield from unpaired_judges(pair)


NAMED = {
    "majority": "the majority of the annotators", "others": "the other annotators", "each_annotator": "the annotators",
    MEAN: "the mean of the annotators",
}  # fmt: skip


def _words(rater: str) -> str:
    return NAMED.get(rater, rater)


def _title(statistic: str) -> str:
    """`Kendall's τ-b` of `aggregate_kendall_tau_b_systems`: what the longest name in it is called."""
    inside = {one.name: one.title for one in METRICS if one.name in statistic}
    return inside[max(inside, key=len)]


DOUBTFUL = 0.01  # a p below it, over all judges, is told
EACH = 5  # labels that a judge meets, and that it misses, of either kind: too few for t below that (Cochran 1954)


@dataclass(frozen=True)
class TwiceOrOnce:
    """A judge's agreement with people's labels of items labelled twice or more, and of those labelled once.

    `p`: two-sided, of no difference; nan where either kind is missing or fewer than 2 clusters hold labels. `fewest`:
    of the labels of either kind, those that the judge agrees with or those that it does not, whichever are least.
    """

    judge: str
    twice: float
    once: float
    p: float
    fewest: float


def twice_or_once(scores: LabelScores) -> tuple[TwiceOrOnce, ...]:
    """Each judge on labels whose item and criterion another annotator labelled too, and on all others.

    The ceiling and the gap are of the first kind alone: where a judge agrees with them otherwise than with the second,
    people were compared with each other on other items than the judge is to stand in for. t over whole clusters of the
    difference of the two means, each cluster with its influence on both.
    """
    several = tally(scores.units, int(scores.units.max(initial=-1)) + 1)[scores.units] > 1
    names = [name for name in scores.judges if not name.endswith(BOTH_ORDERS)]
    return tuple(_compared(name, scores.judges[name], scores.clusters, several) for name in names)


def second_label_cautions(scores: LabelScores, near: bool = False) -> Iterator[ReportWarning]:
    """`unlike_second_labels`: by Bonferroni over the judges, one for the plainest; of judges with `EACH` labels of each
    kind. `near`: agreement is by distance.
    """
    found = [one for one in twice_or_once(scores) if not math.isnan(one.p) and one.fewest >= EACH]
    plainest = min(found, key=lambda one: one.p, default=None)
    if plainest is not None and plainest.p * len(found) < DOUBTFUL:
        shares = {"near_twice" if near else "twice": 100 * plainest.twice, "once": 100 * plainest.once}
        kind = "harder" if plainest.twice < plainest.once else "easier"
        yield ReportWarning("unlike_second_labels", {**shares, "p": plainest.p, "kind": kind}, plainest.judge)


def _compared(judge: str, score: closed_forms.Array, clusters: Codes, several: Mask) -> TwiceOrOnce:
    known, count = ~np.isnan(score), int(clusters.max(initial=-1)) + 1
    parts = [known & several, known & ~several]
    if not all(part.any() for part in parts):
        return TwiceOrOnce(judge, math.nan, math.nan, math.nan, 0.0)
    means = [float(score[part].mean()) for part in parts]
    pulls = [
        tally(clusters[part], count, score[part] - mean) / part.sum() for part, mean in zip(parts, means, strict=True)
    ]
    held = int((tally(clusters[known], count) > 0).sum())
    pull = pulls[0] - pulls[1]
    se = math.sqrt(held / (held - 1) * float(pull @ pull)) if held > 1 else math.nan
    t = (means[0] - means[1]) / se if se > 0 else math.nan
    fewest = min(float(min(score[part].sum(), (1 - score[part]).sum())) for part in parts)
    return TwiceOrOnce(judge, means[0], means[1], float(2 * tails.Student.sf(abs(t), held - 1)), fewest)
