"""From the table of verdicts to the calibration report.

Every estimate with its interval, every caution with its numbers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from calibration.agreeing import agreement_estimates, count_tables
from calibration.answering import answering_estimates
from calibration.bias_audit import bias_audit
from calibration.bounding import Group
from calibration.card import card
from calibration.cautions import cautions
from calibration.ceiling import ceiling_estimates, ceiling_of
from calibration.choose import choice_of
from calibration.counted import cluster_word, derived_preferences, groups_of, levels_used, refuse_lonely
from calibration.errors import CalibrationError
from calibration.joining import MANY_LABELS, Scale, Study, scale_of, study_of
from calibration.placing import Ranking
from calibration.ranking import rankings
from calibration.results import CalibrationReport, CalibrationSettings, Estimate
from calibration.verdicts import KNOWN_COLUMNS, normalise


def calibrate(verdicts: pd.DataFrame, settings: CalibrationSettings | None = None) -> CalibrationReport:
    """All estimates of one study. `verdicts`: one row per rater, item, criterion, run and presentation (`labels.csv`).

    Each judge against every annotator, each annotator against the others, all annotators among themselves, judges and
    few annotators two by two; pooled over criteria and, on request, per criterion, category and pair of systems. The
    same verdicts, in any row order, and the same settings give the same report. Raises `CalibrationError` with the
    first offending row.
    """
    settings = settings or CalibrationSettings()
    if settings.generalise_to != "pairs":
        # a setting that is accepted and then ignored would print an interval narrower than it says
        raise CalibrationError(
            "unknown_form", "intervals over annotators are not computed yet; use generalise_to pairs"
        )
    named, aliases = normalise(verdicts)
    study = study_of(named, settings)
    refuse_lonely(study)
    scale = scale_of(study, study.criteria, settings)
    groups = groups_of(study, settings, scale is not None)
    if scale is not None and len(scale.labels) > MANY_LABELS:
        scale = None  # ratings too fine for agreement in one exact level: no ceiling, and nothing to choose by
    audit, (ranked, taus) = bias_audit(study, settings), rankings(study, settings)
    biases = tuple(one for one in audit.biases if not math.isnan(one.estimate.value))
    estimates = (
        *_agreement(study, groups, scale, settings),
        *(one.estimate for one in biases),
        *(one.agreement for one in audit.repeats if one.agreement.n),
        *(system.estimate for one in ranked for system in one.systems),
        *taus,
    )
    choice = choice_of(study, groups[0], scale, settings) if scale and study.judges and study.annotators else None
    data = _data(study, aliases)
    data["tables"] = [table for group in groups for table in count_tables(study, group, settings)]
    data["rankings"] = [_ranked(one) for one in ranked]
    warnings = cautions(study, settings, estimates, biases)
    return CalibrationReport(
        data, settings, warnings, estimates, choice, biases, card(choice, audit, estimates, settings)
    )


def _agreement(
    study: Study, groups: Sequence[Group], scale: Scale | None, settings: CalibrationSettings
) -> Iterator[Estimate]:
    everything, *parts = groups
    yield from agreement_estimates(study, everything, settings)
    if scale and len(study.annotators) > 1:
        yield from ceiling_estimates(ceiling_of(study, everything, scale, settings))
    yield from answering_estimates(study, settings)
    for group in parts:
        yield from agreement_estimates(study, group, settings)


def _ranked(one: Ranking) -> dict[str, Any]:
    return {
        "statistic": one.statistic,
        "rater": one.rater,
        "systems": [system.system for system in one.systems],
        "ranks": [system.rank for system in one.systems],
        "keeps_first": one.keeps_first,
        "note": one.note,
    }


def _data(study: Study, aliases: dict[str, int]) -> dict[str, Any]:
    frame = study.frame
    kind = frame.drop_duplicates("rater_id").set_index("rater_id")["rater_kind"].astype(str).sort_index()
    by_rater = frame.groupby("rater_id", observed=True)
    ok = frame[frame["status"] == "ok"]
    statuses = by_rater["status"].value_counts().unstack(fill_value=0)
    marginals = ok[~study.of_kind(ok, "rating")].groupby("rater_id", observed=True)["label"]
    return {
        "rows": len(frame),
        "items": int(frame["item_id"].nunique()),
        "clusters": len(study.clusters),
        "cluster": cluster_word(frame),
        "criteria": dict(study.kinds),
        "annotators": [str(rater) for rater in kind.index[kind == "human"]],
        "judges": [str(rater) for rater in kind.index[kind == "judge"]],
        "systems": sorted({*frame["system_a"].astype(str), *frame["system_b"].astype(str)} - {""}),
        "aliases": dict(sorted(aliases.items())),
        "statuses": {
            str(rater): {str(name): int(count) for name, count in row.items() if count}
            for rater, row in statuses.iterrows()
        },
        "marginals": {
            str(rater): {str(name): int(count) for name, count in labels.value_counts().sort_index().items() if count}
            for rater, labels in marginals
        },
        "levels_used": levels_used(study),
        "derived": derived_preferences(frame),
        "joins": {judge.rater: joins(study, judge.asked) for judge in study.judges},
        "verdicts_sha256": _fingerprint(frame),
    }


def joins(study: Study, asked: np.typing.NDArray[np.intp]) -> dict[str, int]:
    """Annotators' rows with and without a partner among the units a judge was asked, and the judge's units without
    one."""
    people = [np.isin(one.asked, asked) for one in study.annotators]
    joined = int(sum(found.sum() for found in people))
    units = np.unique(np.concatenate([one.asked for one in study.annotators] or [np.zeros(0, np.intp)]))
    return {
        "human_rows_joined": joined,
        "human_rows_without_judge": int(sum(map(len, people))) - joined,
        "judge_units_without_human": int((~np.isin(asked, units)).sum()),
    }


def _fingerprint(frame: pd.DataFrame) -> str:
    """SHA-256 of the sorted, normalised table: equal tables in any row order and column order have the same one."""
    columns = sorted({*KNOWN_COLUMNS} - {"rationale"})
    return hashlib.sha256(pd.util.hash_pandas_object(frame[columns], index=False).to_numpy().tobytes()).hexdigest()
