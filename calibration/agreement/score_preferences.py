"""Preferences that nobody stated, made of scores, and one overall preference of people against each score of a judge.

DeepResearchGym's judge table holds these.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from calibration import errors, estimates
from calibration.agreement.catalogue import statistic_of
from calibration.agreement.statistic import Variety, perfect_bound
from calibration.arithmetic import closed_forms
from calibration.arithmetic.columns import tally, without_ties
from calibration.inference.bootstrap import resample
from calibration.remarks import Reason
from calibration.settings import CalibrationSettings
from calibration.study import counted, crossing, joining, left_out
from calibration.study.bounding import Pair, drawn, share
from calibration.table.checking import check_verdicts
from calibration.table.verdicts import kind_of
from plain.hashes import identity_digest

SWAPPED = np.array([1, 0], dtype=np.intp)  # A and B exchanged, ties gone
MIRROR = {"A": "B", "B": "A", "AB": "BA", "BA": "AB"}
TURNED = {f"{name}_{one}": f"{name}_{other}" for name in ("system", "len") for one, other in ("ab", "ba")}


@dataclass(frozen=True)
class PreferenceAgreement:
    """One score of one judge. `kept`: of the people's preferences, those compared without a tie on either side."""

    judge: str
    score: str  # the judge's criterion
    derived: bool  # from the sign of a difference of scores; else the judge stated a preference itself
    kappa: estimates.Estimate  # cohen_kappa_exclude_ties
    symmetrised: estimates.Estimate
    kept: estimates.Estimate
    tied: int  # preferences lost to a tie on either side, rounded where the judge answered several times


def preference_agreement(
    verdicts: pd.DataFrame, settings: CalibrationSettings | None = None
) -> tuple[PreferenceAgreement, ...]:
    """Cohen's kappa of people's preferences with the sign of the difference of a judge's scores, equal scores dropped.

    `verdicts`: people answer one pairwise criterion; judges rate single reports of the same topic (`topic`, else
    `cluster_id`) on any criteria, or state preferences on pairs themselves. People's rows are pooled, so that an item
    counts as often as people answered it. Undefined: nothing left, all of it tied (`all_tied`), or one side always says
    the same. Raises `not_pairwise` unless people answer exactly one pairwise criterion, and what
    `preferences_from_scores` raises. DeepResearchGym, Table 3.
    """
    settings = settings or CalibrationSettings()
    study = joining.study_of(verdicts, settings)
    frame = _as_text(study.frame)
    people, criterion = _people(study, frame)
    out: list[PreferenceAgreement] = []
    for score, derived, rows in _by_score(study, frame, people):
        both = pd.concat([people, rows.assign(criterion=criterion)], ignore_index=True)
        out += _of_score(both, score, derived, settings)
    return tuple(out)


def judged_by_scores(
    study: joining.Study, settings: CalibrationSettings
) -> tuple[joining.Study | None, tuple[estimates.ReportWarning, ...]]:
    """People's one preference, each score of a judge as a judge of it (`NAME by SCORE`) and those who stated it.

    None where people answer no or several criteria on pairs, or no score says which of their reports is better. A call
    is billed whole, so that each of them costs what the judge's answers to every criterion of both reports do; unknown
    where one of these has no price. `score_left_out`: of each score of a judge that says no preference.
    """
    frame = _as_text(study.frame)
    try:
        people, criterion = _people(study, frame)
    except errors.CalibrationError:
        return None, ()
    of_call = frame.groupby(["item_id", "rater_id", "run", "presentation"])
    frame = frame.assign(**{name: of_call[name].transform("sum", skipna=False) for name in SPENT})
    frame, warnings = _that_say_a_preference(study, frame)
    found = [*_by_score(study, frame, people)]
    if not any(derived for _, derived, _ in found):
        return None, warnings
    named = [rows.assign(rater_id=rows["rater_id"] + f" by {score}" * (score != criterion)) for score, _, rows in found]
    both = pd.concat([people, *named], ignore_index=True).assign(criterion=criterion)
    return joining.study_of(both.drop(columns="unit"), settings), warnings


def _that_say_a_preference(
    study: joining.Study, frame: pd.DataFrame
) -> tuple[pd.DataFrame, tuple[estimates.ReportWarning, ...]]:
    """The rows without each score of a judge of which `preferences_from_scores` can make nothing, and a warning."""
    scores = frame[(frame["rater_kind"] == "judge") & frame["criterion"].map(study.kinds).eq("rating")]
    numbers, warnings = {*_rated(scores)}, []
    for (score, judge), rows in scores.groupby(["criterion", "rater_id"]):
        facts = _hindrance(rows) if score in numbers else {"unusable": len(rows)}
        if facts:
            frame = frame.drop(index=rows.index)
            warnings.append(estimates.ReportWarning("score_left_out", facts, f"{judge} by {score}"))
    return frame, tuple(warnings)


def _by_score(
    study: joining.Study, frame: pd.DataFrame, people: pd.DataFrame
) -> Iterator[tuple[str, bool, pd.DataFrame]]:
    """Each score of the judges, whether preferences are derived from it, and these on the people's pairs if any."""
    for score, rows in frame[frame["rater_kind"] == "judge"].groupby("criterion", sort=True):
        kind = study.kinds[str(score)]
        if kind == "probe":
            continue
        derived = kind == "rating" or bool(counted.derived_preferences(rows))
        rows = on_the_peoples_pairs(preferences_from_scores(rows), people) if kind == "rating" else rows
        if len(rows):
            yield str(score), derived, rows


def peoples_preferences(verdicts: pd.DataFrame, settings: CalibrationSettings | None = None) -> pd.DataFrame:
    """The rows of the one pairwise criterion that people answer. Raises `not_pairwise` where there is not one."""
    study = joining.study_of(verdicts, settings or CalibrationSettings())
    return _people(study, _as_text(study.frame))[0]


def named_as_shown(verdicts: pd.DataFrame) -> tuple[pd.DataFrame, bool]:
    """A for what stood first, where every pair was seen in one order by all people; else as it is, and False.

    DeepResearchGym counts so: one `mapping.txt` names A and B for all annotators of a question.
    """
    if not {"presentation", "rater_id", "rater_kind", "system_b", "item_id"} <= {*verdicts}:
        return verdicts, False
    people = verdicts.loc[
        verdicts["rater_kind"].eq("human") & verdicts["system_b"].ne(""), ["item_id", "rater_id", "presentation"]
    ]
    orders = people.drop_duplicates(["item_id", "presentation"]).set_index("item_id")["presentation"]
    shared = people.drop_duplicates(["item_id", "rater_id"])["item_id"].duplicated().any()
    if not orders.index.is_unique or not orders.isin(["AB", "BA"]).all() or not shared:
        return verdicts, False
    is_turned = verdicts["item_id"].isin(orders.index[orders == "BA"])
    if not is_turned.any():
        return verdicts, True
    named = _as_text(verdicts)
    turned = named[is_turned].rename(columns=TURNED)
    turned = turned.assign(**{name: turned[name].replace(MIRROR) for name in ("label", "presentation")})
    return pd.concat([named[~is_turned], turned]).sort_index(), True


def on_the_peoples_pairs(derived: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    """Derived preferences as verdicts on the people's items, A and B as these name them; others are left out."""
    about = [*(name for name in _topic(people) if name in derived), "system_a", "system_b"]
    items = people.drop_duplicates("item_id")[["item_id", *about, "category"]]
    own = derived.drop(columns=["item_id", "category"])
    turned = own.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    turned = turned.assign(label=turned["label"].replace(MIRROR))
    return pd.concat([own.merge(items, on=about), turned.merge(items, on=about)], ignore_index=True)


def _as_text(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(dict.fromkeys(frame.select_dtypes("category").columns, "str"))


def _people(study: joining.Study, frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    people = frame[frame["rater_kind"] == "human"]
    asked = [name for name in dict.fromkeys(people["criterion"]) if study.kinds[name] == "pairwise"]
    if len(asked) != 1:
        named = ", ".join(asked) or "none"
        raise errors.CalibrationError(
            "not_pairwise",
            f"people answer {len(asked)} criteria on pairs ({named}); scores are compared with one overall preference: "
            "give the rows of one such criterion",
        )
    return people[people["criterion"] == asked[0]], asked[0]


def _of_score(
    frame: pd.DataFrame, score: str, derived: bool, settings: CalibrationSettings
) -> Iterator[PreferenceAgreement]:
    study, group, scale = left_out.pooled(frame.drop(columns="unit"), settings)
    answered = sum((tally(study.unit_cluster[annotator.unit], len(study.clusters), annotator.weight / annotator.scale)
                    for annotator in study.annotators), np.zeros(len(study.clusters)))  # fmt: skip
    for comparison in crossing.comparisons(study, scale, group.chosen):
        if comparison.reference != "each_annotator":
            continue
        table = comparison.table[:, :3, :3] / comparison.scale
        decided = without_ties(table)
        pair = Pair(comparison.rater, "each_annotator", group, decided.sum(axis=(1, 2)))
        whole = Pair(comparison.rater, "each_annotator", group, answered)
        tied = round(float(table.sum() - decided.sum()))
        note = f"ties on either side dropped, {tied:,}; not answered by the judge "
        note += f"{round(float(answered.sum() - table.sum())):,}"
        kept = share("kept_share", whole, pair.sizes, settings, note)
        kappa, symmetrised = _kappas(decided, pair, settings, tied)
        yield PreferenceAgreement(comparison.rater, score, derived, kappa, symmetrised, kept, tied)


def _kappas(
    decided: closed_forms.Array, pair: Pair, settings: CalibrationSettings, tied: int
) -> Iterator[estimates.Estimate]:
    """`decided`: counts of A and B, shape (clusters, 2, 2). `tied`: how many were dropped."""
    whole = decided.sum(axis=0)
    for name, table in (
        ("cohen_kappa", decided),
        ("cohen_kappa_symmetrised", closed_forms.symmetrised(decided, SWAPPED)),
    ):
        value = float(closed_forms.kappa(table.sum(axis=0)))
        statistic = statistic_of(name)
        reason = statistic.undefined(Variety.of(whole), value) if whole.any() or not tied else Reason.ALL_TIED
        draws = None
        if pair.clusters > 1 and not reason:
            draws = resample(table, closed_forms.kappa, settings.resamples, settings.seed)
        bound = partial(perfect_bound, statistic, decided, np.arange(2), settings)
        note = f"{statistic.coding}; ties dropped"
        yield drawn(f"{name}_exclude_ties", pair, value, draws, reason, settings, note, bound)


SAME_SCORE = 1e-9
BY = ["rater_id", "criterion", "run"]
SPENT = ["seconds", "cost_usd"]


def preferences_from_scores(verdicts: pd.DataFrame, margin: float = 0.0) -> pd.DataFrame:
    """Verdicts A, B or tie of every pair of systems in a topic, by the sign of the difference of a rater's scores.

    `verdicts`: ratings of single reports (`labels.csv`); the topic is `topic`, else `cluster_id`. A tie is a difference
    within `margin`. Who is A is decided by a coin made of topic and names. The rows are marked `derived`, so that
    `calibrate` counts them and says so; a pair with an unusable score keeps that score's status, and seconds and cost
    are those of both, settings tried the most of either. Raises `not_scores`, `one_system_only`, `duplicate_verdict`,
    `bad_number`. DeepResearchGym and DeepResearch Bench compare so.
    """
    if not 0 <= margin < np.inf:
        raise errors.CalibrationError("bad_number", f"margin is {margin}; use a number from 0")
    checked = check_verdicts(verdicts)
    frame = checked.astype({name: "str" for name in checked.columns if checked[name].dtype == "category"})
    frame = frame[frame["criterion"].isin(_rated(frame))]
    if frame.empty:
        raise errors.CalibrationError("not_scores", "no criterion holds numbers; give the ratings of single reports")
    _refuse_doubles(frame)
    given = [*_topic(frame), *BY]
    both = frame.merge(frame, on=given, suffixes=("_x", "_y"))
    both = both[both["system_a_x"] < both["system_a_y"]].reset_index(drop=True)
    heads = [_heads(*names) for names in both[[given[0], "system_a_x", "system_a_y"]].itertuples(index=False)]
    a_is_x = np.array(heads, dtype=bool)
    higher = np.where(a_is_x, "A", "B"), np.where(a_is_x, "B", "A")
    x, y = (pd.to_numeric(both[f"label_{side}"], errors="coerce").to_numpy(float) for side in "xy")
    tied = np.abs(x - y) <= margin + SAME_SCORE
    label = np.where(tied, "tie", np.where(x > y, *higher))
    spared = (both["label_x"] == "not_applicable") | (both["label_y"] == "not_applicable")
    status = both["status_x"].where(both["status_x"] != "ok", both["status_y"])
    out = pd.DataFrame(
        {
            "item_id": both[given[0]] + ": " + both["system_a_x"] + " / " + both["system_a_y"],
            **{name: both[name] for name in given},
            "rater_kind": both["rater_kind_x"],
            "label": np.where(status != "ok", "", np.where(spared, "not_applicable", label)),
            "status": status,
            "system_a": np.where(a_is_x, both["system_a_x"], both["system_a_y"]),
            "system_b": np.where(a_is_x, both["system_a_y"], both["system_a_x"]),
            "category": both["category_x"],
            **{name: both[f"{name}_x"] + both[f"{name}_y"] for name in SPENT},
        }
    )
    if "settings_tried" in frame.columns:
        out["settings_tried"] = both[["settings_tried_x", "settings_tried_y"]].max(axis=1)
    return out.assign(derived=True)


def _topic(frame: pd.DataFrame) -> list[str]:
    """The columns that tell a topic, the finest first: one cluster may be one topic in several languages."""
    return [name for name in ("topic", "cluster_id") if name in frame]


def _rated(frame: pd.DataFrame) -> list[str]:
    ok = frame[(frame["status"] == "ok") & (frame["system_b"] == "")]
    return [str(name) for name, rows in ok.groupby("criterion") if kind_of(rows["label"].unique()) == "rating"]


def _hindrance(frame: pd.DataFrame) -> dict[str, object]:
    """What first keeps these scores from saying a preference: an item without a system, or two reports of one."""
    nameless = frame.loc[frame["system_a"] == "", "item_id"]
    if len(nameless):
        return {"item": nameless.iloc[0]}
    doubled = frame[frame.duplicated([*_topic(frame), *BY, "system_a"])]
    names = {"judge": "rater_id", "system": "system_a", "cluster": "cluster_id", "score": "criterion"}
    return {name: doubled[column].iloc[0] for name, column in names.items()} if len(doubled) else {}


def _refuse_doubles(frame: pd.DataFrame) -> None:
    found = _hindrance(frame)
    if "item" in found:
        raise errors.CalibrationError(
            "one_system_only",
            f"item '{found['item']}' has no system_a; a preference needs to know whose report was scored",
        )
    if found:
        raise errors.CalibrationError(
            "duplicate_verdict",
            f"rater '{found['judge']}' scored two reports of '{found['system']}' in cluster '{found['cluster']}' on "
            f"'{found['score']}'; make cluster_id the topic, or number repeats in the column run",
        )


def _heads(topic: str, one: str, two: str) -> bool:
    """A coin that falls the same way for the same topic and pair of systems, whatever the order of rows."""
    return identity_digest(topic, one, two)[0] % 2 == 0
