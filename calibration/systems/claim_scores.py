"""Aggregates of claims as scores of reports, and several studies of the same reports as one table.

A share of key points recalled is a score of a report like any other: it can be held against people's preferences,
compared between systems and correlated with other scores.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.agreement.drawn_topics import refuse_unweighted
from calibration.errors import CalibrationError
from calibration.settings import CalibrationSettings
from calibration.study.joining import Answers, Study, study_of
from calibration.systems.aggregates import NAMELESS, Measure, measure_of
from calibration.systems.report_values import Rows

DIGITS = 10  # of a score as text: enough for any share, and no tail of a binary fraction
ITEMS = ("item_id", "beside", "claim")  # columns that name an item


@dataclass(frozen=True)
class Part:
    """One study of several: `verdicts` as `labels.csv`, `settings` with the aggregates of its protocol."""

    name: str
    verdicts: pd.DataFrame
    settings: CalibrationSettings


def scores_from_claims(verdicts: pd.DataFrame | Study, settings: CalibrationSettings) -> pd.DataFrame:
    """One rating per rater, report (topic and system) and aggregate of the settings, from labels of claims (probes).

    The criterion is the aggregate's name, the label its value by this rater alone, on the claims this rater answered;
    runs of a judge are averaged, repeats by people left out. Status `missing` where the rater was asked about a report
    and none of the answers enters. Raises `not_claims` without claims or without an aggregate about them,
    and `unknown_form` for people's labels on topics that were drawn unequally.
    """
    study = study_of(verdicts, settings)
    if study.annotators:
        refuse_unweighted(study, "scores made of claims")
    whole = study.frame
    if "topic" in whole:  # a system has a report in each language of a cluster
        study = study_of(whole.assign(cluster_id=whole["topic"]).drop(columns="unit"), settings)
    rows = Rows(study)
    measures = [(one, measure_of(rows, one, settings)) for one in settings.aggregates if one.rule != "win_rate"]
    if not has_claims(study) or not any(measure for _, measure in measures):
        raise CalibrationError(
            "not_claims",
            "no aggregate of claims to make scores of; give labels of claims with a protocol that has aggregates",
        )
    parts = [
        part
        for one, measure in measures
        if measure is not None
        for rater in (*study.annotators, *study.judges)
        for part in _of_rater(study, measure, rater, one.name)
    ]
    scores = pd.concat(parts, ignore_index=True)
    if "topic" in whole:
        cluster = dict(zip(whole["topic"], whole["cluster_id"], strict=True))
        scores = scores.assign(topic=scores["cluster_id"], cluster_id=scores["cluster_id"].map(cluster))
    return scores


def has_claims(study: Study) -> bool:
    """Whether every criterion is answered about claims (probes)."""
    return {*study.kinds.values()} == {"probe"}


def together(verdicts: pd.DataFrame, settings: CalibrationSettings, others: Sequence[Part]) -> tuple[
    pd.DataFrame, CalibrationSettings
]:  # fmt: skip
    """The table with the rows of other studies of the same reports, joined by topic and system.

    Ratings and preferences stay what they are, claims become scores. The first table's settings decide; its aggregates
    are about its own criteria alone. Raises `same_criterion` where two studies ask one by the same name.
    """
    if not others:
        return verdicts, settings
    frames, scales, times = [verdicts], dict(settings.scales), dict(settings.score_times)
    ends = dict(settings.scale_ends)
    asked = {"": [*study_of(verdicts, settings).criteria]}
    for part in others:
        study = study_of(part.verdicts, part.settings)
        rows = scores_from_claims(study, part.settings) if has_claims(study) else part.verdicts
        asked[part.name] = [*rows["criterion"].astype(str).unique()]
        frames.append(_named(rows, part.name))
        # a criterion of claims has become scores, and another study may ask a question of its name
        scales |= {name: scale for name, scale in part.settings.scales.items() if name in asked[part.name]}
        ends |= {name: two for name, two in part.settings.scale_ends.items() if name in asked[part.name]}
        times |= {name: by for name, by in part.settings.score_times.items() if name in asked[part.name]}
    _refuse_same(asked)
    own = tuple(asked[""])
    aggregates = tuple(replace(one, criteria=one.criteria or own) for one in settings.aggregates)
    texts = [frame.astype(dict.fromkeys(frame.select_dtypes("category").columns, "str")) for frame in frames]
    found = pd.concat(texts, ignore_index=True)
    if "topic" in found:  # told by one study, and not by another that has no cluster_ids
        told = found["topic"].fillna("") != ""
        cluster = dict(zip(found["topic"][told], found["cluster_id"][told], strict=True))
        theirs = [cluster.get(name, name) for name in found["cluster_id"]]
        found = found.assign(
            topic=found["topic"].where(told, found["cluster_id"]),
            cluster_id=found["cluster_id"].where(told, pd.Series(theirs, found.index)),
        )
    blank = {name: found[name].astype("object").where(found[name].notna(), "") for name in _texts(found)}
    settings = replace(settings, scales=scales, scale_ends=ends, score_times=times, aggregates=aggregates)
    return found.assign(**blank), settings


def _texts(frame: pd.DataFrame) -> list[str]:
    return [str(name) for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]


def _named(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Items of two studies are never one, though both may be called 7."""
    own = {
        column: [f"{name}: {item}" if item and item == item else "" for item in rows[column].astype("object")]
        for column in ITEMS
        if column in rows
    }
    return rows.assign(**own)


def _refuse_same(asked: dict[str, list[str]]) -> None:
    seen: dict[str, str] = {}
    for study, criteria in asked.items():
        for name in criteria:
            if name in seen:
                both = " and ".join(one or "the first study" for one in (seen[name], study))
                raise CalibrationError(
                    "same_criterion",
                    "'{name}' is asked in {both}: two questions of one name cannot be told apart; leave one study out",
                    name=name, both=both,
                )  # fmt: skip
            seen[name] = study


def _of_rater(study: Study, measure: Measure, rater: Answers, name: str) -> Iterator[pd.DataFrame]:
    units = np.intersect1d(rater.asked, np.flatnonzero(measure.wanted))
    if not len(units):
        return
    frame = study.frame.drop_duplicates("unit").sort_values("unit").iloc[units]
    report = frame.drop_duplicates(["cluster_id", "system_a"]).sort_values(["cluster_id", "system_a"])
    system = report["system_a"].astype(str)
    column = [measure.systems.index(one or NAMELESS) for one in system]
    values = measure.rates(measure.scored(rater.rater).score).values
    value = values[report["cluster_id"].cat.codes.to_numpy(), column]
    topic = report["cluster_id"].astype(str)
    yield pd.DataFrame(
        {
            "item_id": topic + ": " + system,
            "rater_id": rater.rater,
            "rater_kind": rater.kind,
            "criterion": name,
            "label": [f"{one:.{DIGITS}g}" if one == one else "" for one in value],
            "cluster_id": topic,
            "system_a": system,
            "system_b": "",
            "category": report["category"].astype(str),
            "status": np.where(np.isnan(value), "missing", "ok"),
            "run": 1,
        }
    )
