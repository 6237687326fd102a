"""One overall preference of people against each score of a judge: what DeepResearchGym's judge table holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from calibration.bootstrap import resample
from calibration.engine import closed_forms
from calibration.engine.bounding import Pair, drawn, share
from calibration.engine.closed_forms import Array
from calibration.engine.counted import derived_preferences
from calibration.engine.crossing import comparisons
from calibration.engine.joining import Study, study_of
from calibration.engine.tabular import CODING, perfect_bound, why_not_shown
from calibration.errors import CalibrationError
from calibration.estimates import Estimate
from calibration.people.left_out import pooled
from calibration.reading.columns import tally
from calibration.scores.pairwise import without_ties
from calibration.scores.preferences import preferences_from_scores
from calibration.settings import CalibrationSettings

SWAPPED = np.array([1, 0], dtype=np.intp)  # A and B exchanged, ties gone
MIRROR = {"A": "B", "B": "A"}


@dataclass(frozen=True)
class PreferenceAgreement:
    """One score of one judge. `kept`: of the people's preferences, those compared without a tie on either side."""

    judge: str
    score: str  # the judge's criterion
    derived: bool  # from the sign of a difference of scores; else the judge stated a preference itself
    kappa: Estimate  # cohen_kappa_exclude_ties
    symmetrised: Estimate
    kept: Estimate
    tied: int  # preferences lost to a tie on either side, rounded where the judge answered several times


def preference_agreement(
    verdicts: pd.DataFrame, settings: CalibrationSettings | None = None
) -> tuple[PreferenceAgreement, ...]:
    """Cohen's kappa of people's preferences with the sign of the difference of a judge's scores, equal scores dropped.

    `verdicts`: people answer one pairwise criterion; judges rate single reports of the same topic (`cluster_id`) on
    any criteria, or state preferences on pairs themselves. People's rows are pooled, so that an item counts as often
    as people answered it. Undefined: nothing left, or one side always says the same. Raises `not_pairwise` unless
    people answer exactly one pairwise criterion, and what `preferences_from_scores` raises. DeepResearchGym, Table 3.
    """
    settings = settings or CalibrationSettings()
    study = study_of(verdicts, settings)
    frame = _as_text(study.frame)
    people, criterion = _people(study, frame)
    judges = frame[frame["rater_kind"] == "judge"]
    out: list[PreferenceAgreement] = []
    for score, rows in judges.groupby("criterion", sort=True):
        kind = study.kinds[str(score)]
        if kind == "probe":
            continue
        derived = kind == "rating" or bool(derived_preferences(rows))
        rows = on_the_peoples_pairs(preferences_from_scores(rows), people) if kind == "rating" else rows
        if len(rows):
            both = pd.concat([people, rows.assign(criterion=criterion)], ignore_index=True)
            out += _of_score(both, str(score), derived, settings)
    return tuple(out)


def peoples_preferences(verdicts: pd.DataFrame, settings: CalibrationSettings | None = None) -> pd.DataFrame:
    """The rows of the one pairwise criterion that people answer. Raises `not_pairwise` where there is not one."""
    study = study_of(verdicts, settings or CalibrationSettings())
    return _people(study, _as_text(study.frame))[0]


def on_the_peoples_pairs(derived: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    """Derived preferences as verdicts on the people's items, A and B as these name them; others are left out."""
    about = ["cluster_id", "system_a", "system_b"]
    items = people.drop_duplicates("item_id")[["item_id", *about, "category"]]
    own = derived.drop(columns=["item_id", "category"])
    turned = own.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    turned = turned.assign(label=turned["label"].replace(MIRROR))
    return pd.concat([own.merge(items, on=about), turned.merge(items, on=about)], ignore_index=True)


def _as_text(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(dict.fromkeys(frame.select_dtypes("category").columns, "str"))


def _people(study: Study, frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    people = frame[frame["rater_kind"] == "human"]
    asked = [name for name in dict.fromkeys(people["criterion"]) if study.kinds[name] == "pairwise"]
    if len(asked) != 1:
        named = ", ".join(asked) or "none"
        raise CalibrationError(
            "not_pairwise",
            f"people answer {len(asked)} criteria on pairs ({named}); scores are compared with one overall preference: "
            "give the rows of one such criterion",
        )
    return people[people["criterion"] == asked[0]], asked[0]


def _of_score(
    frame: pd.DataFrame, score: str, derived: bool, settings: CalibrationSettings
) -> Iterator[PreferenceAgreement]:
    study, group, scale = pooled(frame.drop(columns="unit"), settings)
    answered = sum((tally(study.unit_cluster[one.unit], len(study.clusters), one.weight / one.scale)
                    for one in study.annotators), np.zeros(len(study.clusters)))  # fmt: skip
    for one in comparisons(study, scale, group.chosen):
        if one.reference != "each_annotator":
            continue
        table = one.table[:, :3, :3] / one.scale
        decided = without_ties(table)
        pair = Pair(one.rater, "each_annotator", group, decided.sum(axis=(1, 2)))
        whole = Pair(one.rater, "each_annotator", group, answered)
        tied = round(float(table.sum() - decided.sum()))
        note = f"ties on either side dropped, {tied:,}; not answered by the judge "
        note += f"{round(float(answered.sum() - table.sum())):,}"
        kept = share("kept_share", whole, pair.sizes, settings, note)
        kappa, symmetrised = _kappas(decided, pair, settings)
        yield PreferenceAgreement(one.rater, score, derived, kappa, symmetrised, kept, tied)


def _kappas(decided: Array, pair: Pair, settings: CalibrationSettings) -> Iterator[Estimate]:
    """`decided`: counts of A and B, shape (clusters, 2, 2)."""
    whole = decided.sum(axis=0)
    for name, table in (
        ("cohen_kappa", decided),
        ("cohen_kappa_symmetrised", closed_forms.symmetrised(decided, SWAPPED)),
    ):
        value = float(closed_forms.kappa(table.sum(axis=0)))
        reason = why_not_shown(name, whole, value)
        draws = None
        if pair.clusters > 1 and not reason:
            draws = resample(table, closed_forms.kappa, settings.resamples, settings.seed)
        bound = partial(perfect_bound, name, decided, np.arange(2), settings)
        note = f"{CODING[name]}; ties dropped"
        yield drawn(f"{name}_exclude_ties", pair, value, draws, reason, settings, note, bound)
