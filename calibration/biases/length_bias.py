"""Does a rater take the longer report more often than people's verdicts on the same labels explain?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.bias import TINY, Asked, Bias, Outcome, bias_of, both_say, evened
from calibration.engine.closed_forms import Array
from calibration.engine.joining import Study, study_of
from calibration.settings import CalibrationSettings
from calibration.systems.with_people import with_people

STEPS = 50  # of Newton; a fit that has not settled by then is on its way to infinity
FARTHEST = 30.0  # log-odds; a label fitted better than this is separated


@dataclass(frozen=True)
class LengthBias:
    """A rater and the people on the same labels, where one report is longer by more than `min_difference`.

    `longer_rate`, `people_longer_rate`: decisive labels that took the longer report, against .5; both describe, for
    people like longer reports too. `difference`: the first minus the second. `disagreements`: of decisive
    disagreements, the share where the rater took the longer. `given_vote`: the rater's rate where people took the
    longer as often as the shorter. `coefficient`: of ln(len_a / len_b) in the log-odds of its verdict, given the human
    vote; its floor is the one at which a report twice as long gains `bias_floor` from even odds.
    """

    rater: str
    longer_rate: Bias
    people_longer_rate: Bias
    difference: Bias
    disagreements: Bias
    given_vote: Bias
    coefficient: Bias
    dropped: int  # joined labels without two known lengths above 0

    @property
    def measures(self) -> tuple[Bias, Bias]:
        """What must agree: the difference from people, and the effect given their vote.

        A rater noisier than people takes fewer longer reports than they do wherever longer ones are better; noisy
        votes leave length a part of the quality they missed. Only a bias moves both one way; a rater better than the
        people would too.
        """
        return self.difference, self.given_vote if "separated" in self.coefficient.estimate.note else self.coefficient

    @property
    def outcome(self) -> Outcome:
        """What both measures say; cannot_tell where they differ."""
        return both_say(self.measures)


def length_bias(
    verdicts: pd.DataFrame | Study,
    rater: str,
    min_difference: float = 50,
    settings: CalibrationSettings | None = None,
) -> LengthBias:
    """Length bias of a judge, or of an annotator against the others. Lengths are in `settings.length_unit`.

    Undefined (`no_items`): no label with known, different lengths; the coefficient also where the verdicts are
    `separated`. Dubois et al. 2024 (length control); Papke & Wooldridge 1996 (shares of passes as responses).
    """
    settings = settings or CalibrationSettings()
    both = with_people(study_of(verdicts, settings), rater)
    known = both[(both["len_a"] > 0) & (both["len_b"] > 0)]
    apart = known[(known["len_a"] - known["len_b"]).abs() > min_difference]
    decisive = apart[apart["decided"].notna() & (apart["people"] != 0.5)]
    longer = (decisive["len_a"] > decisive["len_b"]).to_numpy()
    own, people = (_turned(decisive[name].to_numpy(), longer) for name in ("decided", "people"))
    took = people > 0.5
    cluster = decisive["cluster"].to_numpy()
    apart_verdicts = np.where(took, 1 - own, own)  # share of the rater's passes that disagree with this vote
    split = apart_verdicts > 0

    def asked(statistic: str, null: float = 0.5, who: str = rater, note: str = "") -> Asked:
        return Asked(statistic, who, settings, null, "people" if who == rater else "", note=note)

    return LengthBias(
        rater,
        bias_of(asked("longer_rate", note="describes; people like longer reports too"), own, cluster),
        bias_of(asked("longer_rate", who="people", note=f"on the labels of {rater}"), people, cluster),
        bias_of(asked("longer_rate_difference", 0.0), own - people, cluster),
        bias_of(asked("longer_in_disagreements"), (~took[split]).astype(float), cluster[split]),
        bias_of(asked("longer_rate_given_vote"), evened(own, took), cluster),
        _coefficient(known[known["decided"].notna()], rater, settings),
        len(both) - len(known),
    )


def _turned(scores: Array, a_is_it: np.typing.NDArray[np.bool_]) -> Array:
    """Scores of A as scores of the report asked about."""
    return np.where(a_is_it, scores, 1 - scores)


def _coefficient(known: pd.DataFrame, rater: str, settings: CalibrationSettings) -> Bias:
    floor = math.log((0.5 + settings.bias_floor) / (0.5 - settings.bias_floor)) / math.log(2)
    x = np.stack([2 * known["people"] - 1, np.log(known["len_a"] / known["len_b"])], axis=1)
    scores, reason = linearised_logit(known["decided"].to_numpy(), x)
    note = reason or "log-odds per unit of ln(length ratio), given the human vote"
    asked = Asked("length_coefficient", rater, settings, 0.0, "people", note=note, floor=floor)
    return bias_of(asked, scores, known["cluster"].to_numpy())


def linearised_logit(y: Array, x: Array) -> tuple[Array, str]:
    """Scores whose mean is the last coefficient of a logistic regression without intercept, and "" or why not.

    `y`: shape (labels,), in [0, 1]; `x`: shape (labels, k). Their cluster standard error is the sandwich's (Liang &
    Zeger 1986). Without intercept and with columns that change sign with y, no naming of A and B changes it. Undefined
    (all nan): `separated`, `zero_variance` (columns not independent).
    """
    undefined = np.full(len(y), math.nan)
    x = x[:, [*(np.flatnonzero((x[:, :-1] != 0).any(axis=0))), x.shape[1] - 1]]  # a vote nobody cast explains nothing
    if np.linalg.matrix_rank(x) < x.shape[1]:
        return undefined, "zero_variance"
    beta = np.zeros(x.shape[1])
    for _ in range(STEPS):
        eta = x @ beta
        if np.abs(eta).max() > FARTHEST:
            return undefined, "separated"
        p = 1 / (1 + np.exp(-eta))
        inverse = np.linalg.pinv((x * (p * (1 - p))[:, None]).T @ x)
        step = inverse @ (x.T @ (y - p))
        if np.abs(step).max() < TINY:
            return beta[-1] + len(y) * (x * (y - p)[:, None]) @ inverse[:, -1], ""
        beta = beta + step
    return undefined, "separated"
