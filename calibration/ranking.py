"""Which system is best: by people, by a judge alone, and by the judge corrected with people's labels, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from calibration.corrected import CorrectedWinRates, Straddling, judge_corrected_win_rates
from calibration.corrected_strengths import judge_corrected_strengths
from calibration.joining import Study, study_of
from calibration.placing import Ranking
from calibration.rank_stability import RankStability, rank_stability
from calibration.results import CalibrationSettings


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
