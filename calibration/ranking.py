"""Which system is best: by people, by a judge alone, and by the judge corrected with people's labels, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from calibration.bias import EVERYONE
from calibration.engine.joining import Study, study_of
from calibration.estimates import Estimate
from calibration.settings import CalibrationSettings
from calibration.systems.bradley_terry import bradley_terry
from calibration.systems.corrected import (
    CorrectedWinRates,
    Straddling,
    corrected_ranking,
    halves_of,
    judge_corrected_win_rates,
)
from calibration.systems.corrected_strengths import judge_corrected_strengths
from calibration.systems.placing import Ranking
from calibration.systems.rank_stability import RankStability, rank_stability
from calibration.systems.win_rates import win_rate_matrix, win_rates
from calibration.systems.win_scores import Units, has_ranking, units_of, win_scores, win_sums


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
        yield from win_rate_matrix(rater, units.systems, wins, settings).estimates
