"""Does a rater favour longer reports, or those of its own family, more than people's verdicts on the same labels do?"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import PAIRWISE, SCORES, tally
from calibration.remarks import Reason, Said, code
from calibration.settings import CalibrationSettings
from calibration.study.bias import EVERYONE, TINY, Asked, Bias, Outcome, bias_of, both_say, evened
from calibration.study.joining import Study, study_of
from calibration.table.verdicts import SYSTEM_PAIR

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
        separated = self.coefficient.estimate.remark(Reason.SEPARATED)
        return self.difference, self.given_vote if separated else self.coefficient

    @property
    def outcome(self) -> Outcome:
        """What both measures say; cannot_tell where they differ."""
        return both_say(self.measures)


def length_bias(
    verdicts: pd.DataFrame | Study, rater: str, min_difference: float = 50, settings: CalibrationSettings | None = None
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

    def asked(statistic: str, null: float = 0.5, who: str = rater, said: Said = ()) -> Asked:
        return Asked(statistic, who, settings, null, "people" if who == rater else "", said=said)

    return LengthBias(
        rater,
        bias_of(asked("longer_rate", said="describes; people like longer reports too"), own, cluster),
        bias_of(asked("longer_rate", who="people", said=f"on the labels of {rater}"), people, cluster),
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
    said = code(reason) if reason else "log-odds per unit of ln(length ratio), given the human vote"
    asked = Asked("length_coefficient", rater, settings, 0.0, "people", said=said, floor=floor)
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


SCORE = dict(zip(PAIRWISE, SCORES, strict=True))


def with_people(study: Study, rater: str) -> pd.DataFrame:
    """`rater` against every other annotator, on pairwise criteria.

    Columns: unit, cluster, `own` and `people` (win score of A, 1, .5 or 0, the mean over passes), `decided` (the mean
    over the rater's passes that name a winner, nan where none does), system_a, system_b, len_a, len_b. Rows are in
    the order of units, then annotators, whatever the order of the table was.
    """
    frame, score = study.frame, _scores(study)
    unit, who = frame["unit"].to_numpy(np.intp), frame["rater_id"].cat.codes.to_numpy().astype(np.intp)
    usable, first_run = ~np.isnan(score), (frame["run"] == 1).to_numpy()
    human, is_rater = (frame["rater_kind"] == "human").to_numpy(), (frame["rater_id"] == rater).to_numpy()
    mine = usable & (human if rater == EVERYONE else is_rater) & (~human | first_run)
    own = _mean_of(unit[mine], score[mine], study.units)
    named = mine & (score != 0.5)
    decided = _mean_of(unit[named], score[named], study.units)
    theirs = usable & human & first_run & ~is_rater & ~np.isnan(own[unit])
    raters = len(frame["rater_id"].cat.categories)
    met, place = np.unique(unit[theirs] * raters + who[theirs], return_inverse=True)
    pair = met // raters
    # the rows of a unit stand together
    shown = frame[["item_id", "system_a", "system_b"]].iloc[np.searchsorted(unit, pair)].reset_index(drop=True)
    item = shown.pop("item_id").cat.codes.to_numpy()
    return shown.astype("str").assign(
        unit=pair, cluster=study.unit_cluster[pair], own=own[pair], decided=decided[pair],
        people=_mean_of(place, score[theirs], len(met)),
        **{name: _of_items(frame, name)[item] for name in ("len_a", "len_b")},
    )  # fmt: skip


def _scores(study: Study) -> Array:
    """The win score of A of each row, nan where it is no usable label of a pair."""
    frame = study.frame
    label = frame["label"].astype("category").cat
    of_category = pd.Series(label.categories.astype("str")).map(SCORE).to_numpy(float)
    score = np.append(of_category, np.nan)[label.codes]  # the code of no label is -1
    usable = study.of_kind(frame, "pairwise") & (frame["status"] == "ok")
    return np.where(usable, score, np.nan)


def _mean_of(group: np.typing.NDArray[np.intp], values: Array, groups: int) -> Array:
    """Of the values of each group; nan where it has none."""
    return ratio(tally(group, groups, values), tally(group, groups))


def _of_items(frame: pd.DataFrame, name: str) -> Array:
    """The shown texts are the same for all, so a length that any row gives is that of all."""
    length, item = frame[name].to_numpy(float), frame["item_id"].cat
    known = ~np.isnan(length)
    return _mean_of(item.codes.to_numpy().astype(np.intp)[known], length[known], len(item.categories))


GIVEN_VOTE = "as if people had preferred the own report in every second label"


@dataclass(frozen=True)
class SystemPreference:
    """Mean win score (1, .5, 0) that judge and people give one system on the same labels, and the difference."""

    system: str
    family: str  # "" when not declared
    judge: float
    people: float
    difference: Bias


@dataclass(frozen=True)
class SelfPreference:
    """`own`: judge minus people on labels with exactly one report of the judge's family.

    `own_minus_others`: the mean difference of the family's systems minus that of all others. `given_vote`: the judge's
    score for the own report where people preferred it as often as the other, against .5.
    """

    judge: str
    family: str
    systems: tuple[SystemPreference, ...]
    own: Bias
    own_minus_others: Bias
    given_vote: Bias

    @property
    def outcome(self) -> Outcome:
        """What `own` and `given_vote` both say; cannot_tell where they differ.

        A judge noisier than people gives a weak system more than they do, and a strong one less; given a noisy vote it
        is the other way round. Only a preference moves both one way; a judge better than the people would too.
        """
        return both_say((self.own, self.given_vote))


def self_preference(
    verdicts: pd.DataFrame | Study,
    judge: str,
    family: str,
    families: Mapping[str, str],
    settings: CalibrationSettings | None = None,
) -> SelfPreference:
    """`family`: the judge's; `families`: system to family. A system without one is of no family, and never own.

    Undefined (`no_items`): no label with exactly one own report, or no people beside the judge. A rank correlation
    cannot see this: the order can be the same while one system gains many points. Panickssery et al. 2024; Wataoka et
    al. 2024 (given the human vote).
    """
    settings = settings or CalibrationSettings()
    both = with_people(study_of(verdicts, settings), judge)
    cluster = both["cluster"].to_numpy()
    a, b = both["system_a"].to_numpy(str), both["system_b"].to_numpy(str)
    names = sorted({*a, *b} - {""})
    own_names = [name for name in names if family and families.get(name) == family]
    gained = {name: _gained(both, a == name, b == name) for name in names}
    asked = partial(Asked, rater=judge, settings=settings, reference="people")
    own_a, own_b = np.isin(a, own_names), np.isin(b, own_names)
    one = own_a != own_b
    judged, said = (_score_of(both[name].to_numpy(), own_a, own_b)[one] for name in ("own", "people"))
    own = asked("self_preference", said=f"family {family}")
    against = asked("self_preference_minus_others", said="mean over systems of each group")
    given = asked("self_preference_given_vote", null=0.5, said=GIVEN_VOTE)
    return SelfPreference(
        judge,
        family,
        tuple(_preference(name, families.get(name, ""), both, gained[name], asked) for name in names),
        own=bias_of(own, judged - said, cluster[one]),
        own_minus_others=bias_of(against, _contrast(gained, own_names), cluster),
        given_vote=_given_vote(given, judged, said, cluster[one]),
    )


def _preference(
    name: str, family: str, both: pd.DataFrame, gained: Array, asked: Callable[..., Asked]
) -> SystemPreference:
    """What judge and people give one system."""
    is_a, is_b = both["system_a"].to_numpy(str) == name, both["system_b"].to_numpy(str) == name
    return SystemPreference(
        name,
        family,
        _mean_score(both["own"].to_numpy(), is_a, is_b),
        _mean_score(both["people"].to_numpy(), is_a, is_b),
        bias_of(asked("self_preference", category=f"{SYSTEM_PAIR}{name}"), gained, both["cluster"].to_numpy()),
    )


def _given_vote(asked: Asked, judged: Array, said: Array, clusters: Array) -> Bias:
    """Over the labels in which people preferred one of the two."""
    decided = said != 0.5
    return bias_of(asked, evened(judged[decided], said[decided] > 0.5), clusters[decided])


def family_preference(
    verdicts: pd.DataFrame | Study, judge: str, settings: CalibrationSettings | None = None
) -> SelfPreference:
    """`self_preference` with the families of the settings; the judge's is that of its rater_id."""
    settings = settings or CalibrationSettings()
    return self_preference(verdicts, judge, settings.families.get(judge, ""), settings.families, settings)


def _score_of(scores: Array, is_a: np.typing.NDArray[np.bool_], is_b: np.typing.NDArray[np.bool_]) -> Array:
    """Scores of A as scores of the report asked about; nan where it is in neither place."""
    return np.where(is_a, scores, np.where(is_b, 1 - scores, np.nan))


def _mean_score(scores: Array, is_a: np.typing.NDArray[np.bool_], is_b: np.typing.NDArray[np.bool_]) -> float:
    return float(np.where(is_a, scores, 1 - scores)[is_a | is_b].mean())


def _gained(both: pd.DataFrame, is_a: np.typing.NDArray[np.bool_], is_b: np.typing.NDArray[np.bool_]) -> Array:
    """Judge minus people for one system, shape (labels,), nan where it is in none."""
    return _score_of(both["own"].to_numpy(), is_a, is_b) - _score_of(both["people"].to_numpy(), is_a, is_b)


def _contrast(gained: Mapping[str, Array], own_names: list[str]) -> Array:
    """Linearised scores of the mean over own systems minus the mean over the others, of their mean gains."""
    others = [name for name in gained if name not in own_names]
    if not own_names or not others:
        return np.zeros(0) if not gained else np.full(len(next(iter(gained.values()))), np.nan)
    value, influence = 0.0, np.zeros(len(gained[others[0]]))
    for sign, group in ((1, own_names), (-1, others)):
        for name in group:
            there = ~np.isnan(gained[name])
            mean = gained[name][there].mean()
            value += sign * mean / len(group)
            influence += sign / len(group) * np.where(there, gained[name] - mean, 0.0) / there.mean()
    return np.asarray(value + influence)
