"""Which system is best, and does the order of the systems depend on who judges?

Systems are ranked by people, by a judge alone, and by the judge corrected with people's labels, side by side. How alike
two raters order the systems is a rank correlation on the units that both answered, with whole clusters resampled.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.arithmetic import closed_forms, correlation
from calibration.estimates import Estimate
from calibration.remarks import Reason, Remark, told
from calibration.settings import CalibrationSettings
from calibration.study.bias import EVERYONE
from calibration.study.bounding import Pair, drawn
from calibration.study.joining import Study, study_of
from calibration.systems.bradley_terry import bradley_terry, judge_corrected_strengths
from calibration.systems.corrected import (
    CorrectedWinRates,
    Straddling,
    corrected_ranking,
    halves_of,
    judge_corrected_win_rates,
)
from calibration.systems.placing import Ranking, ranks_of
from calibration.systems.win_rates import (
    WHOLE,
    Units,
    cluster_rates,
    compared,
    has_ranking,
    rate_draws,
    units_of,
    win_rate_matrix,
    win_rate_ranking,
    win_rates,
    win_scores,
    win_sums,
)


@dataclass(frozen=True)
class RankPair:
    """Two raters' orders of the same systems on the same units.

    `same_first`: share of resamples in which both put one and the same system first, alone; nan where undefined.
    """

    rater: str
    other: str
    kendall: Estimate
    spearman: float
    same_first: float


@dataclass(frozen=True)
class RankStability:
    """Each rater's ranking on all its units, and every two raters on what they share."""

    rankings: tuple[Ranking, ...]
    pairs: tuple[RankPair, ...]


@dataclass(frozen=True)
class SideBySide:
    """The same systems three times: by people, by the judge alone, and judge-corrected; as win rates and strengths.

    Corrected numbers estimate what people would have said of everything the judge saw. `stability`: the order of the
    systems by the judge against that by the people.
    """

    judge: str
    win_rates: CorrectedWinRates
    strengths: tuple[Ranking, Ranking, Ranking]  # people, judge alone, corrected
    stability: RankStability


def side_by_side(
    verdicts: pd.DataFrame | Study,
    judge: str,
    settings: CalibrationSettings | None = None,
    straddling: Straddling = "joint",
) -> SideBySide:
    """All rankings of one judge (or `<judge> [both orders]`) beside the people's; `straddling` as in `corrected`.

    Raises `unknown_rater`, `not_pairwise`, and what `check_verdicts` refuses.
    """
    settings = settings or CalibrationSettings()
    study = study_of(verdicts, settings)
    return SideBySide(
        judge,
        judge_corrected_win_rates(study, judge, settings, straddling),
        judge_corrected_strengths(study, judge, settings, straddling),
        rank_stability(study, [judge], settings),
    )


def rankings(study: Study, settings: CalibrationSettings) -> tuple[tuple[Ranking, ...], tuple[Estimate, ...]]:
    """What a report holds: win rates and strengths by people, win rates by each judge alone and judge-corrected.

    With them Kendall's tau between each judge's order of three systems or more and the people's, and by people and each
    judge the share won of every two systems that met. Empty where no pair names its systems, or nobody labelled.
    """
    if not has_ranking(study):
        return (), ()
    found = [win_rates(study, None, settings), bradley_terry(study, None, settings=settings)]
    taus = []
    units = units_of(study, settings)
    for judge in study.judges:
        corrected, _ = corrected_ranking(units, judge.rater, halves_of(units, judge.rater, "joint"), settings, "joint")
        found += [win_rates(study, judge.rater, settings), corrected]
        if len(units.systems) > 2:
            taus += [pair.kendall for pair in rank_stability(study, [judge.rater], settings).pairs]
    return tuple(found), (*taus, *_pairs(study, units, settings))


def _pairs(study: Study, units: Units, settings: CalibrationSettings) -> Iterator[Estimate]:
    for rater in (EVERYONE, *(judge.rater for judge in study.judges)):
        wins = win_sums(units, win_scores(units, rater))
        yield from win_rate_matrix(rater, units.systems, wins, settings, units.drawn_for(rater)).estimates


FEW_SYSTEMS = 10


def rank_stability(
    verdicts: pd.DataFrame | Study, judges: Sequence[str] | None = None, settings: CalibrationSettings | None = None
) -> RankStability:
    """Kendall's tau-b and Spearman's rho of system win rates between judges, and between each judge and the people.

    `judges`: None for all (also `<judge> [both orders]`). Tau's interval: cluster bootstrap, each resample ranked anew.
    Undefined: fewer than two systems that both ranked, all of them equal (`zero_variance`). With fewer than ten systems
    the note says so: it is no correlation over reports. Raises `CalibrationError`.
    """
    settings = settings or CalibrationSettings()
    units = units_of(verdicts, settings)
    names = list(judges) if judges is not None else [judge.rater for judge in units.study.judges]
    if units.study.annotators:
        names = [EVERYONE, *names]
    scores = {name: win_scores(units, name) for name in names}
    rankings = [win_rate_ranking(name, units.systems, win_sums(units, one), settings) for name, one in scores.items()]
    pairs = [_pair(units, one, other, scores, settings) for one, other in itertools.combinations(scores, 2)]
    return RankStability(tuple(rankings), tuple(pairs))


def _pair(
    units: Units, one: str, other: str, scores: dict[str, closed_forms.Array], settings: CalibrationSettings
) -> RankPair:
    shared = ~np.isnan(scores[one]) & ~np.isnan(scores[other])
    wins = [win_sums(units, np.where(shared, scores[name], np.nan)) for name in (one, other)]
    rates = np.stack([cluster_rates(table)[0] for table in wins], axis=1)
    held = ~np.isnan(rates).all(axis=(0, 1))
    x, y = (np.nanmean(rates[:, side][:, held], axis=0) for side in (0, 1))
    ranks = _ranked(x, y)
    value = float(taus(ranks[0][None], ranks[1][None])[0])
    draws = rate_draws(rates[:, :, held], settings)
    sizes = compared(wins[0]).sum(axis=(1, 2)) / 2
    pair = Pair(one, other, WHOLE, sizes)
    reason = "" if not math.isnan(value) else "no_items" if not pair.n else "zero_variance"
    reason = "two_points" if not reason and held.sum() == 2 else reason
    over = over_systems(int(held.sum()))
    estimate = drawn("kendall_tau_b_systems", pair, value, taus(draws[:, 0], draws[:, 1]), reason, settings, over)
    return RankPair(one, other, estimate, correlation.pearson(*ranks), _same_first(draws))


def over_systems(count: int) -> Remark:
    """That a correlation is over so many systems, not over reports, and whether they are few."""
    if count < FEW_SYSTEMS:
        return told(Reason.OVER_FEW_SYSTEMS, systems=count, few=FEW_SYSTEMS)
    return told(Reason.OVER_SYSTEMS, systems=count)


def systems_of(estimate: Estimate) -> int:
    """The number of systems that a correlation is over; 0 where the estimate is none over systems."""
    return int(estimate.fact(Reason.OVER_FEW_SYSTEMS, "systems") or estimate.fact(Reason.OVER_SYSTEMS, "systems") or 0)


def _ranked(x: closed_forms.Array, y: closed_forms.Array) -> tuple[closed_forms.Array, closed_forms.Array]:
    return ranks_of(x), ranks_of(y)  # rates that differ by rounding share a rank


def taus(x: closed_forms.Array, y: closed_forms.Array) -> closed_forms.Array:
    """Tau-b of each row, shape (resamples,), from values of shape (resamples, systems)."""
    i, j = np.triu_indices(x.shape[1], 1)
    dx, dy = x[:, i] - x[:, j], y[:, i] - y[:, j]
    free_x, free_y = np.abs(dx) >= correlation.SAME_SCORE, np.abs(dy) >= correlation.SAME_SCORE
    both, alike = free_x & free_y, (dx > 0) == (dy > 0)
    counts = np.zeros((len(x), correlation.KINDS))
    for kind, seen in enumerate((both & alike, both & ~alike, free_x, free_y, np.ones_like(both))):
        counts[:, kind] = seen.sum(axis=1)
    whole = ~(np.isnan(dx).any(axis=1) | np.isnan(dy).any(axis=1))
    return np.where(whole, correlation.tau_b(counts), np.nan)


def _same_first(draws: closed_forms.Array) -> float:
    """`draws`: shape (resamples, 2, systems)."""
    whole = ~np.isnan(draws).any(axis=(1, 2))
    if draws.shape[-1] < 2 or not whole.any():
        return math.nan
    top = draws[whole] >= draws[whole].max(axis=-1, keepdims=True) - correlation.SAME_SCORE
    alone = (top.sum(axis=-1) == 1).all(axis=1)
    return float((alone & (top[:, 0] == top[:, 1]).all(axis=1)).mean())


FEWEST = 3  # systems: a correlation of two points is always 1 or -1
Sides = tuple[closed_forms.Array, closed_forms.Array]


def order_estimates(pair: Pair, values: Sides, draws: Sides, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Pearson, Spearman and Kendall's tau-b of the systems' values by the two of a pair; none below three systems.

    `values`: of each side, shape (clusters, systems), nan in the same places; `draws`: (resamples, systems). Undefined:
    one side gives all systems one value.
    """
    held = ~np.isnan(values[0]).all(axis=0)
    if held.sum() < FEWEST:
        return
    x, y = (np.nanmean(side[:, held], axis=0) for side in values)
    drawn_x, drawn_y = (side[:, held] for side in draws)
    over = over_systems(int(held.sum()))
    ranked, drawn_ranks = (ranks_of(x), ranks_of(y)), (ranks_of(drawn_x), ranks_of(drawn_y))
    found = {
        "pearson": (correlation.pearson(x, y), pearsons(drawn_x, drawn_y)),
        "spearman": (correlation.spearman(*ranked), pearsons(*drawn_ranks)),
        "kendall_tau_b": (correlation.kendall_tau_b(*ranked), taus(drawn_x, drawn_y)),
    }
    for name, (value, of_draws) in found.items():
        reason = "zero_variance" if math.isnan(value) else ""
        yield drawn(f"aggregate_{name}_systems", pair, value, of_draws, reason, settings, over)


REDRAWN = "topics drawn anew"


def redrawn_orders(
    rater: str,
    rates: closed_forms.Array,
    sizes: closed_forms.Array,
    draws: closed_forms.Array,
    settings: CalibrationSettings,
) -> Iterator[Estimate]:
    """Spearman and Kendall's tau-b of one rater's order of systems with its order where whole topics are drawn anew.

    Mean over draws, its interval from the lowest to the highest of most of them. `rates`: shape (clusters, systems),
    nan where none; `draws`: (resamples, systems). None below three systems; undefined: all have one value. DR3-Eval.
    """
    held = ~np.isnan(rates).all(axis=0)
    if held.sum() < FEWEST or len(rates) < 2:
        return
    drawn_x = draws[:, held]
    x = np.broadcast_to(np.nanmean(rates[:, held], axis=0), drawn_x.shape)
    pair = Pair(rater, REDRAWN, WHOLE, sizes.sum(axis=1))
    for name, of_draws in (("spearman", pearsons(ranks_of(x), ranks_of(drawn_x))), ("kendall_tau_b", taus(x, drawn_x))):
        known = of_draws[~np.isnan(of_draws)]
        value = float(known.mean()) if len(known) else math.nan
        reason = "" if len(known) else "zero_variance"
        said = f"mean over {len(known):,} draws of topics"
        yield drawn(f"aggregate_{name}_systems", pair, value, of_draws, reason, settings, said)


def pearsons(x: closed_forms.Array, y: closed_forms.Array) -> closed_forms.Array:
    """Of each row, shape (resamples,); nan where a system has no value or one side is constant."""
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    return correlation.pearson_of_moments(np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1).sum(axis=-2))
