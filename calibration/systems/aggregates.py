"""What studies print of every system, by people and by each judge: the rules of a protocol's `aggregate` at work.

The value of a system is the mean over clusters (topics) of its reports' mean value there, so that a topic with many
probes counts as one topic. Annotators' answers to one question are averaged first. Each rule:

win_rate: win score (1, .5, 0) of pairs. share: of a report's probes, those answered with one of `labels`. mean: of
what a probe's answers count, or of a report's ratings. weighted_mean: of its ratings by the weights of the criteria.
target_share: t / (t + r) of the two weighted means of one view. majority: share of probes whose most frequent answer,
of a judge's runs or the annotators, is one of `labels`; where two are equally frequent there is none. `by` tag: the
mean of a report's tags. `several`: a claim before several sources counts once. not_applicable, and answers that are
no answers, enter nothing; a rated report without one of its scores is left out, and so is one with an empty tag.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.arithmetic import closed_forms, columns
from calibration.estimates import Estimate
from calibration.inference.compare import paired_difference
from calibration.remarks import Reason, Said, no_interval, remarks_of, undefined
from calibration.settings import Aggregate, CalibrationSettings
from calibration.study.bias import EVERYONE
from calibration.study.bounding import Pair, drawn, made, share
from calibration.study.joining import Mask, Study
from calibration.systems.ranking import order_estimates, redrawn_orders
from calibration.systems.report_values import Rates, Rows, Scored, rates_of, scores_by, tree_of
from calibration.systems.win_rates import WHOLE, cluster_rates, rate_draws, units_of, win_scores, win_sums
from calibration.table.verdicts import BOTH_ORDERS, SYSTEM_PAIR

AGGREGATE, DIFFERENCE = "aggregate", "aggregate_difference"
SHARES = ("share", "majority", "win_rate")  # means of answers that count or do not: a Wilson interval

NO_DIFFERENCE: dict[str, Said] = {
    "": (),
    "no_items": undefined(Reason.NO_ITEMS),
    "too_few_units": no_interval(Reason.TOO_FEW_UNITS),
    "zero_variance": no_interval(Reason.ZERO_VARIANCE, "every cluster has the same difference"),
}


@dataclass(frozen=True)
class Measure:
    """One aggregate over one study: `scored` gives a rater's scores of units, `rates` what systems make of them."""

    about: Aggregate
    systems: tuple[str, ...]
    wanted: Mask  # units, shape (units,)
    scored: Callable[[str], Scored]
    rates: Callable[[closed_forms.Array], Rates]
    merged: int = 0  # probes that stand with others for one claim


@dataclass(frozen=True)
class AggregateCounts:
    """What one rater's value of an aggregate rests on, for one system. `statuses`: answers asked, ok, and lost how.

    `reports`, `left_out`: reports, and those a score is missing of. `merged`: sources counted with another one.
    `undecided`, `vote_share`: questions without a majority, and its mean share; None of a rule that knows no majority.
    """

    aggregate: str
    rater: str
    system: str
    statuses: Mapping[str, int]
    reports: int
    left_out: int
    merged: int
    undecided: int | None = None
    vote_share: float | None = None


def aggregate_estimates(
    study: Study, settings: CalibrationSettings
) -> tuple[tuple[Estimate, ...], list[AggregateCounts]]:
    """Of every aggregate: each system by people and by each judge; judges minus people, and how alike their orders are.

    `criterion` is the aggregate's name, `category` `systems: X`. With them, for each rater and system, how many answers
    were asked for and of which status they are, and how many reports were left out.
    """
    estimates, counts, rows = [], [], Rows(study)
    for aggregate in settings.aggregates:
        measure = measure_of(rows, aggregate, settings)
        if measure is None:
            continue
        found, counted = _measured(study, measure, settings)
        estimates += found
        counts += counted
    return tuple(estimates), counts


def measure_of(rows: Rows, aggregate: Aggregate, settings: CalibrationSettings) -> Measure | None:
    """None where the study has no labels of the kind that the rule is about."""
    study = rows.study
    pairs = np.array([study.kinds[name] == "pairwise" for name in study.criteria])
    named = np.array([not aggregate.criteria or name in aggregate.criteria for name in study.criteria])
    wanted = (named & (pairs == (aggregate.rule == "win_rate")))[study.unit_criterion]
    if aggregate.rule == "win_rate":
        return _wins(study, aggregate, wanted & (study.unit_systems >= 0), settings)
    if not wanted.any():
        return None
    is_rating = aggregate.rule in ("weighted_mean", "target_share") or (
        aggregate.rule == "mean" and not settings.answer_values
    )
    tree = tree_of(study, aggregate, wanted, is_rating)
    names = tuple(name or NAMELESS for name in tree.systems)
    scored = scores_by(rows, aggregate, wanted, settings)
    return Measure(
        aggregate, names, wanted, scored, lambda score: rates_of(tree, score), len(tree.number) - len(tree.report)
    )


def _wins(study: Study, aggregate: Aggregate, wanted: Mask, settings: CalibrationSettings) -> Measure | None:
    if not wanted.any():
        return None
    units = units_of(study, settings)

    def scored(rater: str) -> Scored:
        score = np.full(study.units, np.nan)
        score[units.number] = win_scores(units, rater)
        return Scored(np.where(wanted, score, np.nan), np.zeros(study.units, bool))

    def rates(score: closed_forms.Array) -> Rates:
        values, sizes = cluster_rates(win_sums(units, score[units.number]))
        nothing = np.zeros(len(units.systems))
        return Rates(values, sizes, nothing, nothing)

    return Measure(aggregate, units.systems, wanted, scored, rates)


def _measured(
    study: Study, measure: Measure, settings: CalibrationSettings
) -> tuple[list[Estimate], list[AggregateCounts]]:
    scored = {name: measure.scored(name) for name in _raters(study, measure)}
    rates = {name: measure.rates(one.score) for name, one in scored.items()}
    shared = dict(_shared(measure, scored))
    stacked = [rate.values for rate in rates.values()] + [side.values for pair in shared.values() for side in pair]
    draws = rate_draws(np.stack(stacked, axis=1), settings)
    estimates: list[Estimate] = []
    counts: list[AggregateCounts] = []
    for place, (name, found) in enumerate(rates.items()):
        estimates += _values(measure, name, scored[name], found, draws[:, place], settings)
        counts += _counts(study, measure, name, scored[name], found)
        orders = redrawn_orders(name, found.values, found.sizes, draws[:, place], settings)
        estimates += [_of(measure, "all", order_estimate) for order_estimate in orders]
    for place, ((rater, reference), (own, other)) in enumerate(shared.items()):
        first = len(rates) + 2 * place
        if reference == EVERYONE:
            estimates += _differences(measure, rater, own, other, settings)
        pair = Pair(rater, reference, WHOLE, own.sizes.sum(axis=1))
        sides = (own.values, other.values), (draws[:, first], draws[:, first + 1])
        estimates += [_of(measure, "all", order_estimate) for order_estimate in order_estimates(pair, *sides, settings)]
    return estimates, counts


def _raters(study: Study, measure: Measure) -> Iterator[str]:
    """People, then every judge that was asked anything the aggregate is about."""
    if any(measure.wanted[annotator.asked].any() for annotator in study.annotators):
        yield EVERYONE
    for judge in study.judges:
        if measure.wanted[judge.asked].any():
            yield judge.rater


def _shared(measure: Measure, scored: Mapping[str, Scored]) -> Iterator[tuple[tuple[str, str], tuple[Rates, Rates]]]:
    """Each judge and the people, and every two judges, on the units that both have; in the cells where both have a
    value."""
    judges = [name for name in scored if name != EVERYONE]
    single = [name for name in judges if not name.endswith(BOTH_ORDERS)]
    with_people = [(judge, EVERYONE) for judge in judges] if EVERYONE in scored else []
    for rater, reference in (*with_people, *itertools.combinations(single, 2)):
        scores = scored[rater].score, scored[reference].score
        both = ~np.isnan(scores[0]) & ~np.isnan(scores[1])
        own, other = (measure.rates(np.where(both, side, np.nan)) for side in scores)
        known = ~np.isnan(own.values) & ~np.isnan(other.values)
        yield (rater, reference), (_kept(own, known), _kept(other, known))


def _kept(rates: Rates, known: Mask) -> Rates:
    return replace(rates, values=np.where(known, rates.values, np.nan), sizes=np.where(known, rates.sizes, 0.0))


def _values(
    measure: Measure, rater: str, scored: Scored, rates: Rates, draws: closed_forms.Array, settings: CalibrationSettings
) -> Iterator[Estimate]:
    note = _note(measure, scored)
    for place, system in enumerate(measure.systems):
        values, sizes = rates.values[:, place], rates.sizes[:, place]
        held = ~np.isnan(values)
        said = note + (f"; {rates.left_out[place]:g} of {rates.reports[place]:g} reports left out, a score missing"
                       if rates.left_out[place] else "")  # fmt: skip
        pair = Pair(rater, "", WHOLE, sizes)
        if measure.about.rule in SHARES:
            size = float(sizes.sum() / max(1, held.sum()))  # every cluster counts alike: each is given the mean number
            even = Pair(rater, "", WHOLE, np.where(held, size, 0.0))
            estimate = share(AGGREGATE, even, np.nan_to_num(values) * size, settings, said)
        else:
            value = float(values[held].mean()) if held.any() else math.nan
            reason = "" if held.any() else "no_items"
            estimate = drawn(AGGREGATE, pair, value, draws[:, place] if pair.clusters > 1 else None, reason, settings,
                             said)  # fmt: skip
        yield _of(measure, system, estimate)


def _note(measure: Measure, scored: Scored) -> str:
    if measure.about.rule != "majority":
        return f"{measure.about.rule}; each cluster counts once"
    told = f"majority; {int(scored.undecided.sum())} questions without one are left out"
    return told + ("" if math.isnan(scored.vote_share) else f"; its mean share of the votes is {scored.vote_share:.2f}")


def _differences(
    measure: Measure, judge: str, own: Rates, people: Rates, settings: CalibrationSettings
) -> Iterator[Estimate]:
    """The judge's value minus the people's, on the same labels: paired by cluster."""
    clusters = np.arange(len(own.values))
    for place, system in enumerate(measure.systems):
        found = paired_difference(own.values[:, place], people.values[:, place], clusters, settings.level)
        pair = Pair(judge, EVERYONE, WHOLE, own.sizes[:, place])
        why = NO_DIFFERENCE["no_items" if not found.n else found.note]
        said = remarks_of("on the same labels, each cluster once", why)
        estimate = made(DIFFERENCE, pair, found.value, (found.low, found.high), "cluster_t", said, settings)
        yield _of(measure, system, estimate)


def _of(measure: Measure, system: str, estimate: Estimate) -> Estimate:
    return replace(estimate, criterion=measure.about.name, category=f"{SYSTEM_PAIR}{system}")


def _counts(study: Study, measure: Measure, rater: str, scored: Scored, rates: Rates) -> Iterator[AggregateCounts]:
    answered = answers_by_status(study, measure.wanted, rater, measure.systems)
    votes = (int(scored.undecided.sum()), scored.vote_share) if measure.about.rule == "majority" else ()
    for place, (system, statuses) in enumerate(zip(measure.systems, answered, strict=True)):
        yield AggregateCounts(
            measure.about.name, rater, system, statuses, int(rates.reports[place]), int(rates.left_out[place]),
            measure.merged, *votes,
        )  # fmt: skip


STATUSES = ("ok", "not_applicable", "invalid", "missing", "refused")
NAMELESS = "all reports"  # of a table that names no systems


def answers_by_status(study: Study, wanted: Mask, rater: str, systems: Sequence[str]) -> list[dict[str, int]]:
    """One count of every status for each system, and `asked`, their sum; of a pair both systems were asked about.

    `wanted`: the units that count, shape (units,); `rater`: everyone is all annotators, without retests.
    """
    frame = study.frame
    whose = frame["rater_id"] == rater.removesuffix(BOTH_ORDERS)
    if rater == EVERYONE:
        whose = (frame["rater_kind"] == "human") & (frame["run"] == 1)
    rows = whose.to_numpy() & wanted[frame["unit"].to_numpy()]
    place = np.array([STATUSES.index(name) for name in frame["status"].cat.categories])
    status = place[frame["status"].cat.codes.to_numpy()[rows]]
    is_spared = np.array([name == "not_applicable" for name in frame["label"].cat.categories])
    spared = is_spared[frame["label"].cat.codes.to_numpy()[rows]]
    status = np.where(spared & (status == 0), 1, status)
    counts = np.zeros((len(systems), len(STATUSES)))
    for side in ("system_a", "system_b"):
        named = {name: number for number, name in enumerate(systems)}
        nobody = named.get(NAMELESS, -1) if side == "system_a" else -1
        code = np.array([named.get(name, -1) if name else nobody for name in frame[side].cat.categories])
        system = code[frame[side].cat.codes.to_numpy()[rows]]
        known = system >= 0
        counts += columns.tally(system[known] * len(STATUSES) + status[known], counts.size).reshape(counts.shape)
    return [
        {"asked": int(own.sum()), **{name: int(count) for name, count in zip(STATUSES, own, strict=True)}}
        for own in counts
    ]
