"""Which is the cheapest judge that agrees with the experts nearly as well as they agree with each other?

Each judge that was tried shows its agreement, a constant answer's agreement, its gap, usable answers and price.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration import errors, remarks
from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import tally
from calibration.biases.bias_audit import bias_audit
from calibration.choosing import choice, choice_words, open_words
from calibration.choosing.above import Above, above_constant, above_floor, among_people, kappa_above_floor
from calibration.choosing.card import CardRow, Question, agreement_row, covering, floor_row, gap_row, habits, required
from calibration.choosing.looking import Looking, looked_above, looked_claims, looking_of, sequence, widened
from calibration.choosing.noninferiority import ComparisonPlan, against_ceiling
from calibration.estimates import Estimate
from calibration.inference import compare, deciding
from calibration.settings import CalibrationSettings
from calibration.study.answering import answering_estimates, per_item, raters
from calibration.study.bounding import WHOLE, Group, Pair, kappa_and_se, made
from calibration.study.counted import USD, cluster_word, currency_of
from calibration.study.crossing import comparisons
from calibration.study.distance import BY_DISTANCE
from calibration.study.joining import MANY_LABELS, Answers, Mask, Scale, Study
from calibration.study.label_scores import LabelScores, constant_judge, label_scores, scores_of
from calibration.study.left_out import SUFFIX, LeftOutScores, left_out_scores, pooled, ties_rule

OTHER: Mapping[Question, choice.Ground] = {
    "answers": "answers", "order": "order", "length": "length", "self-preference": "self-preference",
    "repeats": "repeats",
}  # fmt: skip
Habits = Mapping[str, tuple[CardRow, ...]]


def cheapest_adequate_judge(
    verdicts: pd.DataFrame | Study, settings: CalibrationSettings | None = None
) -> choice.Choice:
    """The cheapest judge that is shown to be good enough, over all criteria.

    Good enough: every row of its card that the plan requires keeps its limit. By default these are agreement above
    the best constant answer, a gap to the left-out annotator below `settings.margin` and usable answers;
    `settings.at_least` and `at_least_kappa` state a floor instead of the gap, `settings.require` adds rows. Where no
    unit has two annotators and no floor is stated, nobody can be adequate: `cannot_tell`.

    `verdicts`: as for `calibrate`; panels and cascades are judges whose rows cost the sum of their parts. `chosen`: the
    cheapest that is adequate, of equal cost the one that agrees more; where no adequate one has a known cost the one
    that agrees most, and `cheapest_known` is false. `none_adequate`: all are ruled out; else `cannot_tell`. Raises
    `mixed_label_types` where criteria share no scale, and `unknown_form` for more than 25 answers that are no scores.
    """
    settings = settings or CalibrationSettings()
    study, group, scale = pooled(verdicts, settings)
    if len(scale.labels) > MANY_LABELS and ties_rule(scale, settings) not in BY_DISTANCE:
        raise errors.CalibrationError(
            "unknown_form",
            f"there are {len(scale.labels)} different answers: agreement in one exact answer cannot choose a judge; "
            f"declare a scale of at most {MANY_LABELS}, or let scores agree by distance (distance = linear)",
        )
    audit, answers = bias_audit(study, settings), tuple(answering_estimates(study, settings))
    kept = {judge.rater: habits(judge.rater, audit, answers) for judge in study.judges}
    return choice_of(study, group, scale, settings, kept)


def choice_of(study: Study, group: Group, scale: Scale, settings: CalibrationSettings, kept: Habits) -> choice.Choice:
    """`cheapest_adequate_judge` of a study; `group` holds all its units, `kept` each judge's habits."""
    found = tried(study, group, scale, prices_of(study, settings), kept, settings)
    candidates = candidates_of(found, settings)
    status, chosen = choice.decided(candidates)
    told = tuple(
        replace(candidate, reason="" if candidate is chosen else _reason(candidate, chosen)) for candidate in candidates
    )
    numbers = [candidate.clusters_needed for candidate in choice.open_candidates(told, chosen)]
    needed = min((number for number in numbers if number is not None), default=None)
    people = among_people(study, group, scale, settings)
    known = choice.is_cheapest(chosen, candidates)
    picked = next((one for one in told if chosen and one.judge == chosen.judge), None)
    word = f"{found.plan.cluster}s"
    facts = choice_words.Told(status, picked, told, found.plan, word, known, people, found.looking)
    headline, sentence = choice_words.sentences_of(facts)
    name = chosen.judge if chosen else None
    look = choice_words.look_of(facts)
    if chosen and study.drawn is not None:
        look = f"{open_words.enough_words(chosen.judge, found.looking, word)} {look}".strip()
    return choice.Choice(
        status, name, headline, sentence, told, needed, found.plan, known, people, look, (), found.looking
    )


def _reason(candidate: choice.Candidate, chosen: choice.Candidate | None) -> choice.Ground:
    if math.isnan(candidate.agreement.value) or (candidate.claim is None and candidate.floor is None):
        return "no_reference"
    if candidate.standing == "adequate":
        if math.isnan(candidate.cost_per_item):
            return "cost_unknown"
        return "dearer" if chosen and by_cost(candidate)[1] > by_cost(chosen)[1] else "lower_agreement"
    main: dict[Question, choice.Ground] = {"ceiling gap": "inferior", "floor": "below_floor"}
    for question, reason in main.items():
        if question in candidate.unmet:
            return reason if candidate.standing == "ruled_out" else "cannot_tell"
    return "baseline_not_beaten" if "agreement" in candidate.unmet else OTHER[candidate.unmet[0]]


@dataclass(frozen=True)
class Price:
    """Money and seconds per item, every row billed, nan where unknown; `valid_share`: usable answers of all rows."""

    cost: float
    seconds: float
    valid_share: float
    currency: str = USD


@dataclass(frozen=True)
class Tried:
    """The judges tried, by name, with all that is known of them before anything is resampled.

    `constant`: what the best constant answer scores where the judge does. `beside`: each with the left-out annotator;
    empty where no unit has two annotators. `kappas`: where the plan states a floor for them. `habits`: the rows of
    each card that do not hang on who is compared with whom.
    """

    plan: ComparisonPlan
    scores: LabelScores
    constant: Mapping[str, Array]
    beside: Mapping[str, LeftOutScores]
    kappas: tuple[tuple[str, float, float, int, int], ...]
    prices: Mapping[str, Price]
    habits: Mapping[str, tuple[CardRow, ...]]
    required: tuple[Question, ...]
    looking: Looking

    def without(self, judges: Collection[str]) -> Tried:
        """As if these judges had never been tried."""
        kept = tuple(name for name in self.plan.judges if name not in judges)
        scores = replace(self.scores, judges={name: self.scores.judges[name] for name in kept})
        beside = {name: self.beside[name] for name in kept if name in self.beside}
        kappas = tuple(kappa for kappa in self.kappas if kappa[0] in kept)
        return replace(self, plan=replace(self.plan, judges=kept), scores=scores, beside=beside, kappas=kappas)


def prices_of(study: Study, settings: CalibrationSettings) -> dict[str, Price]:
    """Of each judge of the study."""
    found, judges = {}, [judge.rater for judge in study.judges]
    for name, rows in raters(study):
        if name in judges:
            answered = {one.statistic: one.value for one in per_item(name, rows, settings)}
            cost, seconds = (answered.get(f"{one}_per_item", math.nan) for one in ("cost", "seconds"))
            found[name] = Price(cost, seconds, float((rows["status"] == "ok").mean()), currency_of(rows))
    return {name: found[name] for name in judges}


def tried(
    study: Study,
    group: Group,
    scale: Scale,
    prices: Mapping[str, Price],
    habits: Mapping[str, tuple[CardRow, ...]],
    settings: CalibrationSettings,
) -> Tried:
    """All judges of the study: beside the left-out annotator where any unit has two annotators."""
    has_ceiling = bool(len(left_out_scores(study, group, scale, None, settings).human))
    plan = plan_of(study, scale, settings, has_ceiling)
    beside = {
        judge.rater: left_out_scores(study, group, scale, judge, settings, True)
        for judge in study.judges
        if has_ceiling
    }
    scores = label_scores(study, plan.ties, True, scale)
    constant = {judge.rater: _constant_scores(study, group, scale, judge, plan.ties) for judge in study.judges}
    kappas = tuple(_kappas(study, group, scale, plan.ties)) if settings.at_least_kappa is not None else ()
    looking = looking_of(settings, _clusters_labelled(study))
    return Tried(plan, scores, constant, beside, kappas, prices, habits, required(settings), looking)


def _clusters_labelled(study: Study) -> int:
    """By people."""
    frame = study.frame
    return int(frame["cluster_id"][frame["rater_kind"] == "human"].nunique())


def plan_of(study: Study, scale: Scale, settings: CalibrationSettings, has_ceiling: bool) -> ComparisonPlan:
    """What must be fixed before a result is shown, as this study and these settings have it."""
    floor = settings.at_least is not None or settings.at_least_kappa is not None
    return ComparisonPlan(
        tuple(judge.rater for judge in study.judges), study.criteria, settings.margin,
        "floor" if floor else "ceiling" if has_ceiling else "nobody", settings.level, ties=ties_rule(scale, settings),
        not_applicable=settings.not_applicable, references=settings.references, cluster=cluster_word(study.frame),
        at_least=settings.at_least, at_least_kappa=settings.at_least_kappa, required=required(settings),
        weights=scale.weights, epsilon=settings.epsilon, alone_error=settings.alone_error, looks=settings.looks,
        planned_topics=settings.planned_topics, spending=settings.spending, min_clusters=settings.min_clusters,
        resamples=settings.resamples, seed=settings.seed, replaced=study.replaced,
    )  # fmt: skip


def candidates_of(found: Tried, settings: CalibrationSettings, told: bool = True) -> list[choice.Candidate]:
    """The candidates, cheapest first. `told`: with the band of their agreements, and what would decide open claims."""
    plan, scores = found.plan, found.scores
    looking = found.looking
    tests = settings.resamples, settings.seed
    beside = against_ceiling(found.beside, plan, told, *tests)
    claims = {claim.judge: claim for claim in looked_claims(beside, plan, looking)}
    above = above_constant(scores, found.constant, plan, *tests)
    constant = {one.judge: one for one in looked_above(above, plan, looking, max(999, settings.resamples))}
    floors = {one.judge: one for one in looked_above(_floors(found, settings), plan, looking)}
    costs = [found.prices[name].cost for name in plan.judges]
    each = _agreements(found, settings, told)
    frontier = cost_agreement_frontier(costs, [one.value for one in each])
    candidates = []
    for name, agreement, on_frontier in zip(plan.judges, each, frontier, strict=True):
        price, claim, floor = found.prices[name], claims.get(name), floors.get(name)
        rows = [
            *agreement_row(agreement, constant[name]),
            *(gap_row(claim, plan) if claim else ()),
            *(floor_row(agreement, floor, plan) if floor else ()),
            *covering(found.habits.get(name, ()), scores.covered(name)),
        ]
        candidates.append(
            choice.Candidate(
                name, agreement, constant[name], claim, floor, price.valid_share, price.cost, price.seconds,
                bool(on_frontier), tuple(rows), found.required, _second_labels(found, name) if told else None,
                currency=price.currency,
            )
        )  # fmt: skip
    return sorted(candidates, key=by_cost)


def _second_labels(found: Tried, judge: str) -> int | None:
    """How many clusters a second annotator should label, where nobody did, for a judge that is as good as people are.

    Their gap is taken to vary between clusters as the judge's agreement does.
    """
    if found.plan.against != "nobody":
        return None
    own, plan = found.scores.judges[judge], found.plan
    known = ~np.isnan(own)
    even = np.where(known, own[known].mean() if known.any() else math.nan, math.nan)
    return deciding.clusters_needed(own, [even], found.scores.clusters, plan.margin, plan.level, plan.power).clusters


def _floors(found: Tried, settings: CalibrationSettings) -> tuple[Above, ...]:
    plan = found.plan
    if plan.at_least is not None:
        return above_floor(found.scores, plan, plan.at_least, settings.resamples, settings.seed)
    return () if plan.at_least_kappa is None else kappa_above_floor(found.kappas, plan, plan.at_least_kappa)


def _constant_scores(study: Study, group: Group, scale: Scale, judge: Answers, rule: str) -> Array:
    asked = study.among(judge.unit) | study.among(judge.unreadable)
    return scores_of(study, constant_judge(study, np.flatnonzero(asked & group.chosen), scale, rule), rule, scale)


def _kappas(study: Study, group: Group, scale: Scale, rule: str) -> Iterator[tuple[str, float, float, int, int]]:
    """Each judge's kappa with every annotator's label, its standard error, labels and clusters."""
    if len(scale.labels) > MANY_LABELS:
        raise errors.CalibrationError(
            "unknown_form", f"a kappa of {len(scale.labels)} levels has no table: state a floor by --at-least instead"
        )
    for comparison in comparisons(study, scale, group.chosen):
        if comparison.reference == "each_annotator":
            table = comparison.table / comparison.scale
            labels = round(float(table.sum()))
            if study.drawn is not None:
                table = table * study.drawn[:, None, None]
            clusters = int((table.sum(axis=(-2, -1)) > 0).sum())
            yield comparison.rater, *kappa_and_se(table, scale, rule), labels, clusters


def _agreements(found: Tried, settings: CalibrationSettings, told: bool) -> tuple[Estimate, ...]:
    scores = found.scores
    statistic = f"percent_agreement{SUFFIX[found.plan.ties]}_missing_as_wrong"
    if not told:
        return _without_interval(scores, statistic, settings)
    wide = widened(settings, found.looking.topics)
    band = compare.max_t_band(
        scores.judges, scores.clusters, wide.level, settings.resamples, settings.seed, statistic, weight=scores.weight,
        gone=found.plan.gone,
    )  # fmt: skip
    # the band is symmetric and may pass the ends of a share; nan stays nan
    within = (replace(one, low=max(one.low, 0.0), high=min(one.high, 1.0)) for one in band)
    return tuple(sequence(one, settings, wide) for one in within)


def cost_agreement_frontier(cost: npt.ArrayLike, agreement: npt.ArrayLike) -> Mask:
    """Which judges are on the frontier: no other costs no more and agrees no less, one of the two strictly.

    `cost`, `agreement`: shape (judges,); so is the result. Judges equal in both are together; one with a nan is not
    on it and keeps nobody off. Raises `misaligned`.
    """
    price, agreed = np.asarray(cost, float), np.asarray(agreement, float)
    if price.ndim != 1 or price.shape != agreed.shape:
        raise errors.CalibrationError("misaligned", f"costs have shape {price.shape} and agreements {agreed.shape}")
    price, agreed = _steady(price), _steady(agreed)
    dominates = (price[:, None] <= price) & (agreed[:, None] >= agreed)
    dominates &= (price[:, None] < price) | (agreed[:, None] > agreed)
    return np.asarray(~np.isnan(price + agreed) & ~dominates.any(axis=0))


def by_cost(candidate: choice.Candidate) -> tuple[bool, float, float, str]:
    """What candidates are sorted by: known costs first, the cheaper, the one that agrees more, the name."""
    cost, agreed = (float(_steady(np.array(value))) for value in (candidate.cost_per_item, candidate.agreement.value))
    return math.isnan(cost), 0.0 if math.isnan(cost) else cost, 0.0 if math.isnan(agreed) else -agreed, candidate.judge


def _without_interval(scores: LabelScores, statistic: str, settings: CalibrationSettings) -> tuple[Estimate, ...]:
    """The agreements of the band, summed as it sums them, so that no last digit differs; and nothing resampled."""
    names, count = list(scores.judges), int(scores.clusters.max(initial=-1)) + 1
    if not names:
        return ()
    known = [~np.isnan(scores.judges[name]) for name in names]
    held = list(zip(names, known, strict=True))
    sizes = np.stack([tally(scores.clusters[own], count) for own in known], axis=-1)
    totals = np.stack([tally(scores.clusters[own], count, scores.judges[name][own]) for name, own in held], axis=-1)
    if scores.weight is not None:
        own_weight = np.zeros((count, 1))
        own_weight[scores.clusters, 0] = scores.weight
        values = ratio((totals * own_weight).sum(axis=0), (sizes * own_weight).sum(axis=0))
    else:
        values = ratio(totals.sum(axis=0), sizes.sum(axis=0))
    none, why = (math.nan, math.nan), remarks.no_interval(remarks.Reason.NOT_ASKED)
    return tuple(
        made(statistic, Pair(name, "each_annotator", WHOLE, sizes[:, at]), values[at], none, "none", why, settings)
        for at, name in enumerate(names)
    )


def _steady(values: Array) -> Array:
    """To twelve digits: costs that were summed in another order are the same cost."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.abs(values))) - 11)
    return np.where(values == 0, 0.0, np.round(values / np.where(values == 0, 1.0, unit)) * unit)
