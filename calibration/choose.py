"""Which is the cheapest judge that agrees with the experts nearly as well as they agree with each other?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.answering import answering_estimates, raters
from calibration.bootstrap import se_of_sums
from calibration.bounding import FEWEST, Group
from calibration.choice import Candidate, Choice, Reason, Status, open_candidates
from calibration.choice_words import sentence_of
from calibration.closed_forms import Array
from calibration.columns import tally
from calibration.compare import cluster_sums
from calibration.counted import cluster_word
from calibration.errors import CalibrationError
from calibration.joining import MANY_LABELS, Answers, Mask, Scale, Study, people_votes
from calibration.label_scores import LabelScores, label_scores
from calibration.left_out import SUFFIX, left_out_scores, pooled, ties_rule
from calibration.noninferiority import Claim, ComparisonPlan, against_best, against_ceiling
from calibration.pairwise import SWAP, best_constant, best_constant_by_group
from calibration.results import CalibrationSettings
from calibration.simultaneous import max_t_band


def cheapest_adequate_judge(verdicts: pd.DataFrame, settings: CalibrationSettings | None = None) -> Choice:
    """The cheapest judge whose gap to the left-out annotator is shown to be below `settings.margin`, over all criteria.

    `verdicts`: as for `calibrate`; panels and cascades are judges whose rows cost the sum of their parts. Where no
    unit has two annotators the reference is the best of the other judges. `chosen`: the cheapest that is adequate, of
    equal cost the one that agrees more; `none_adequate`: all are ruled out; else `cannot_tell`. A judge that does not
    beat the best constant answer by one clustered standard error, or of unknown cost, is never chosen. Raises
    `mixed_label_types` where criteria share no scale, and `unknown_form` for ratings of more than 25 levels.
    """
    settings = settings or CalibrationSettings()
    study, group, scale = pooled(verdicts, settings)
    if len(scale.labels) > MANY_LABELS:
        raise CalibrationError(
            "unknown_form",
            f"the ratings have {len(scale.labels)} levels: agreement in one exact level cannot choose a judge; declare "
            f"a scale of at most {MANY_LABELS}",
        )
    return choice_of(study, group, scale, settings)


def choice_of(study: Study, group: Group, scale: Scale, settings: CalibrationSettings) -> Choice:
    """`cheapest_adequate_judge` of a study; `group` holds all its units."""
    plan, claims = _claims(study, group, scale, settings)
    candidates = _candidates(study, group, scale, claims, settings)
    chosen = _cheapest([one for one in candidates if one.standing == "adequate"])
    told = tuple(replace(one, reason="" if one is chosen else _reason(one, chosen)) for one in candidates)
    status = _status(candidates, chosen)
    numbers = [one.clusters_needed for one in open_candidates(told, chosen)]
    needed = min((number for number in numbers if number is not None), default=None)
    word = _cluster_word(study, scale)
    name = chosen.judge if chosen else None
    return Choice(status, name, sentence_of(status, chosen, told, plan, word), told, needed, plan)


def cost_agreement_frontier(cost: npt.ArrayLike, agreement: npt.ArrayLike) -> Mask:
    """Which judges are on the frontier: no other costs no more and agrees no less, one of the two strictly.

    `cost`, `agreement`: shape (judges,); so is the result. Judges equal in both stand together; one with a nan is not
    on it and keeps nobody off. Raises `misaligned`.
    """
    price, agreed = np.asarray(cost, float), np.asarray(agreement, float)
    if price.ndim != 1 or price.shape != agreed.shape:
        raise CalibrationError("misaligned", f"costs have shape {price.shape} and agreements {agreed.shape}")
    price, agreed = _steady(price), _steady(agreed)
    dominates = (price[:, None] <= price) & (agreed[:, None] >= agreed)
    dominates &= (price[:, None] < price) | (agreed[:, None] > agreed)
    return np.asarray(~np.isnan(price + agreed) & ~dominates.any(axis=0))


def _claims(
    study: Study, group: Group, scale: Scale, settings: CalibrationSettings
) -> tuple[ComparisonPlan, Mapping[str, Claim]]:
    """Each judge against the ceiling where any unit has two annotators, else against the best of the others."""
    has_ceiling = bool(len(left_out_scores(study, group, scale, None, settings).human))
    ties = ties_rule(scale, settings)
    plan = ComparisonPlan(
        tuple(one.rater for one in study.judges), study.criteria, settings.margin,
        "ceiling" if has_ceiling else "best_judge", settings.level, ties=ties, not_applicable=settings.not_applicable,
        references=settings.references, cluster=cluster_word(study.frame),
    )  # fmt: skip
    if has_ceiling:
        rows = {one.rater: left_out_scores(study, group, scale, one, settings, True) for one in study.judges}
        return plan, {one.judge: one for one in against_ceiling(rows, plan)}
    scores = label_scores(study, ties, missing_as_wrong=True)
    return plan, {one.judge: one for one in against_best(scores.judges, scores.clusters, plan)}


def _candidates(
    study: Study, group: Group, scale: Scale, claims: Mapping[str, Claim], settings: CalibrationSettings
) -> list[Candidate]:
    ties = ties_rule(scale, settings)
    scores = label_scores(study, ties, missing_as_wrong=True)
    statistic = f"percent_agreement{SUFFIX[ties]}_missing_as_wrong"
    band = max_t_band(scores.judges, scores.clusters, settings.level, settings.resamples, settings.seed, statistic)
    answered = {(one.rater, one.statistic): one.value for one in answering_estimates(study, settings)}
    valid = {rater: float((rows["status"] == "ok").mean()) for rater, rows in raters(study)}
    costs = [answered.get((one.rater, "cost_per_item"), math.nan) for one in study.judges]
    frontier = cost_agreement_frontier(costs, [one.value for one in band])
    found = []
    for judge, agreement, cost, on_frontier in zip(study.judges, band, costs, frontier, strict=True):
        baseline = _baseline(study, judge, group, scale, ties)
        beats = agreement.value > baseline + _standard_error(scores, judge.rater)
        seconds = answered.get((judge.rater, "seconds_per_item"), math.nan)
        claim, share = claims.get(judge.rater), valid[judge.rater]
        row = Candidate(judge.rater, agreement, baseline, beats, claim, share, cost, seconds, bool(on_frontier), "")
        found.append(row)
    return sorted(found, key=_by_cost)


def _baseline(study: Study, judge: Answers, group: Group, scale: Scale, ties: str) -> float:
    """The best answer for each pair of systems, so that no naming of A and B changes it.

    Where systems are not named, or pairs of systems hold fewer than five clusters on average and their best answer
    would be read off the very labels it is tried on: the best one answer.
    """
    asked = np.union1d(judge.unit, judge.unreadable).astype(np.intp)
    asked = asked[group.chosen[asked]]
    people, common = people_votes(study, scale)
    counts, systems = people[asked] / common, study.unit_systems[asked]
    if scale.kind == "pairwise" and len(systems) and (systems >= 0).all():
        pairs, place = np.unique(systems, return_inverse=True)
        if len(np.unique(place * len(study.clusters) + study.unit_cluster[asked])) >= FEWEST * len(pairs):
            mirrored = study.unit_mirrored[asked]
            counts[mirrored] = counts[mirrored][:, SWAP[: counts.shape[1]]]
            by_pair = [tally(place, len(pairs), column) for column in counts.T]
            return best_constant_by_group(np.stack(by_pair, axis=-1), ties)
    return best_constant(counts.sum(axis=0), ties)[0]


def _standard_error(scores: LabelScores, judge: str) -> float:
    """Clustered, of the agreement; 0 where one cluster knows none, as the caution `baseline_not_beaten` has it."""
    se = se_of_sums(*cluster_sums(scores.judges[judge], scores.clusters))
    return 0.0 if math.isnan(se) else se


def _by_cost(one: Candidate) -> tuple[bool, float, float, str]:
    cost, agreed = (float(_steady(np.array(value))) for value in (one.cost_per_item, one.agreement.value))
    return math.isnan(cost), 0.0 if math.isnan(cost) else cost, 0.0 if math.isnan(agreed) else -agreed, one.judge


def _steady(values: Array) -> Array:
    """To twelve digits: costs that were summed in another order are the same cost."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.abs(values))) - 11)
    return np.where(values == 0, 0.0, np.round(values / np.where(values == 0, 1.0, unit)) * unit)


def _cheapest(adequate: Sequence[Candidate]) -> Candidate | None:
    return next((one for one in adequate if not math.isnan(one.cost_per_item)), None)


def _reason(one: Candidate, chosen: Candidate | None) -> Reason:
    if one.claim is None:
        return "no_reference"
    if one.outcome == "inferior":
        return "inferior"
    if not one.beats_baseline:
        return "baseline_not_beaten"
    if math.isnan(one.cost_per_item):
        return "cost_unknown"
    if one.standing == "open" or chosen is None:
        return "cannot_tell"
    return "dearer" if _by_cost(one)[1] > _by_cost(chosen)[1] else "lower_agreement"


def _status(candidates: Sequence[Candidate], chosen: Candidate | None) -> Status:
    if chosen:
        return "chosen"
    ruled_out = bool(candidates) and all(one.standing == "ruled_out" for one in candidates)
    return "none_adequate" if ruled_out else "cannot_tell"


def _cluster_word(study: Study, scale: Scale) -> str:
    """What has to be labelled more of."""
    frame = study.frame
    if frame["item_id"].nunique() == len(study.clusters):
        return "pairs" if scale.kind == "pairwise" else "items"
    return f"{cluster_word(frame)}s"
