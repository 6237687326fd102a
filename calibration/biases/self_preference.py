"""Does a judge favour its own family's reports? Its win score for a system minus the people's, on the same labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from calibration.bias import Asked, Bias, Outcome, bias_of, both_say, evened
from calibration.engine.closed_forms import Array
from calibration.engine.joining import Study, study_of
from calibration.settings import CalibrationSettings
from calibration.systems.with_people import with_people
from calibration.verdicts import SYSTEM_PAIR

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
    own = asked("self_preference", note=f"family {family}")
    against = asked("self_preference_minus_others", note="mean over systems of each group")
    given = asked("self_preference_given_vote", null=0.5, note=GIVEN_VOTE)
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
    """Judge minus people for one system, shape (labels,), nan where it does not stand."""
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
