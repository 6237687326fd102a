"""From the table of verdicts to the calibration report.

Every estimate with its interval, every caution with its numbers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from calibration.biases.answering import answering_estimates
from calibration.biases.bias_audit import bias_audit
from calibration.ceiling import ceiling_estimates, ceiling_of
from calibration.choose import choice_of
from calibration.choosing.alternative_annotator import FEWEST_ITEMS, AltTest, alt_test_of
from calibration.choosing.card import card
from calibration.choosing.effective_judges import effective_judges
from calibration.choosing.judge_pairs import judge_pairs, pair_estimate
from calibration.engine.agreeing import agreement_estimates, count_tables
from calibration.engine.bounding import Group
from calibration.engine.counted import cluster_word, derived_preferences, groups_of, levels_used, refuse_lonely
from calibration.engine.joining import MANY_LABELS, Scale, Study, scale_of, study_of
from calibration.engine.two_way import over_annotators
from calibration.estimates import Estimate
from calibration.people.left_out import ties_rule
from calibration.people.panel_sensitivity import panel_sensitivity, sensitivity_data
from calibration.ranking import rankings
from calibration.reading.columns import tally
from calibration.results import CalibrationReport
from calibration.settings import CalibrationSettings
from calibration.sure.confidence import confidence_estimates
from calibration.sure.vote_agreement import vote_estimates
from calibration.systems.aggregates import aggregate_estimates
from calibration.systems.category_effects import effects_by_people
from calibration.systems.placing import Ranking
from calibration.verdicts import EXTRA, KNOWN_COLUMNS, normalise
from calibration.warnings.cautions import cautions


def calibrate(verdicts: pd.DataFrame, settings: CalibrationSettings | None = None) -> CalibrationReport:
    """All estimates of one study. `verdicts`: one row per rater, item, criterion, run and presentation (`labels.csv`).

    Each judge against every annotator, each annotator against the others, all annotators among themselves, judges and
    few annotators two by two; pooled over criteria and, on request, per criterion, category and pair of systems. The
    same verdicts, in any row order, and the same settings give the same report. Raises `CalibrationError` with the
    first offending row.
    """
    settings = settings or CalibrationSettings()
    named, aliases = normalise(verdicts)
    study = study_of(named, settings)
    del named
    refuse_lonely(study)
    scale = scale_of(study, study.criteria, settings)
    groups = groups_of(study, settings, scale is not None)
    if scale is not None and len(scale.labels) > MANY_LABELS:
        scale = None  # ratings too fine for agreement in one exact level: no ceiling, and nothing to choose by
    audit, (ranked, of_systems) = bias_audit(study, settings), rankings(study, settings)
    biases = tuple(one for one in audit.biases if not math.isnan(one.estimate.value))
    pairs = judge_pairs(study, ties_rule(scale, settings), settings) if scale and study.annotators else ()
    aggregated, counts = aggregate_estimates(study, settings)
    alt_tests = _alt_tests(study, groups[0], scale, settings)
    estimates = (
        *_agreement(study, groups, scale, settings),
        *(one.estimate for one in biases),
        *(one.agreement for one in audit.repeats if one.agreement.n),
        *(system.estimate for one in ranked for system in one.systems),
        *of_systems,
        *aggregated,
        *(one.advantage for one in alt_tests),
        *(pair_estimate(one, settings) for one in pairs),
    )
    of_confidence, told = confidence_estimates(study, settings)
    estimates += (*of_confidence, *vote_estimates(study, settings))
    if settings.generalise_to == "pairs_and_annotators":
        estimates = tuple(over_annotators(study, groups, estimates, settings))
    choice = choice_of(study, groups[0], scale, settings) if scale and study.judges and study.annotators else None
    data = _data(study, aliases)
    data["tables"] = [table for group in groups for table in count_tables(study, group, settings)]
    panel = panel_sensitivity(study, choice, settings)
    data["panel_sensitivity"] = sensitivity_data(panel)
    if choice is not None and len(study.judges) > 1:
        data["effective_judges"] = asdict(effective_judges(study, None, settings))
    data["rankings"] = [_ranked(one) for one in ranked]
    data["judge_pairs"] = [
        {name: getattr(one, name) for name in ("judge", "other", "p_holm", "outcome", "shared")} for one in pairs
    ]
    data["category_effects"] = {name: asdict(one) for name, one in effects_by_people(study, settings).items()}
    if told:
        data["confidence"] = told
    data["alt_tests"] = [_tested(one) for one in alt_tests]
    if counts:
        data["aggregates"] = counts
    if audit.scores:
        data["rated_together"] = [one.estimate.rater for one in audit.scores]  # judges, of two reports in one view
    warnings = cautions(study, settings, estimates, biases, choice, panel)
    return CalibrationReport(data, settings, warnings, estimates, choice, biases, card(choice, audit, estimates))


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


def _alt_tests(
    study: Study, everything: Group, scale: Scale | None, settings: CalibrationSettings
) -> tuple[AltTest, ...]:
    if scale is None or len(study.annotators) < 2:
        return ()
    return tuple(
        alt_test_of(study, everything, scale, judge, settings.epsilon, "exact_match", FEWEST_ITEMS, True, settings)
        for judge in study.judges
    )


def _tested(one: AltTest) -> dict[str, Any]:
    found = {name: getattr(one, name) for name in ("judge", "epsilon", "method", "omega", "passed", "note")}
    return found | {"annotators": [asdict(single) for single in one.annotators]}


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
    told = (frame["status"] == "ok") & ~study.of_kind(frame, "rating")
    return {
        "rows": len(frame),
        "items": int(frame["item_id"].nunique()),
        "clusters": len(study.clusters),
        "cluster": cluster_word(frame),
        "criteria": dict(study.kinds),
        "annotators": [str(rater) for rater in kind.index[kind == "human"]],
        "judges": [str(rater) for rater in kind.index[kind == "judge"]],
        "systems": sorted({str(name) for side in ("system_a", "system_b") for name in frame[side].unique()} - {""}),
        "aliases": dict(sorted(aliases.items())),
        "statuses": _counted(frame, "status"),
        "marginals": _counted(frame[["rater_id", "label"]][told], "label"),
        "levels_used": levels_used(study),
        "derived": derived_preferences(frame),
        "joins": {judge.rater: joins(study, judge.asked) for judge in study.judges},
        "verdicts_sha256": _fingerprint(frame),
    }


def _counted(rows: pd.DataFrame, column: str) -> dict[str, dict[str, int]]:
    """How often each rater has each value of a column, where it has any."""
    raters, values = (rows[name].cat.categories for name in ("rater_id", column))
    cell = rows["rater_id"].cat.codes.to_numpy().astype(np.intp) * len(values) + rows[column].cat.codes
    counts = tally(cell, len(raters) * len(values)).reshape(len(raters), len(values)).astype(int)
    found = {
        str(rater): {str(values[int(place)]): int(row[place]) for place in np.flatnonzero(row)}
        for rater, row in zip(raters, counts, strict=True)
    }
    return {rater: each for rater, each in found.items() if each}


def joins(study: Study, asked: np.typing.NDArray[np.intp]) -> dict[str, int]:
    """Annotators' rows with and without a partner among the units a judge was asked, and the judge's units without
    one."""
    people = np.concatenate([np.zeros(0, np.intp), *(one.asked for one in study.annotators)])
    joined = int(study.among(asked)[people].sum())
    return {
        "human_rows_joined": joined,
        "human_rows_without_judge": len(people) - joined,
        "judge_units_without_human": int((~study.among(people)[asked]).sum()),
    }


def _fingerprint(frame: pd.DataFrame) -> str:
    """SHA-256 of the sorted, normalised table: equal tables in any row order and column order have the same one.

    Made of texts and 8-byte numbers, so that no version of a library changes it.
    """
    digest = hashlib.sha256()
    for name in sorted({*KNOWN_COLUMNS, *EXTRA} & {*frame} - {"rationale"}):
        column = frame[name]
        digest.update(f"{name}\0{len(column)}\0".encode())
        if isinstance(column.dtype, pd.CategoricalDtype):
            digest.update("\0".join(column.cat.categories).encode())
            digest.update(column.cat.codes.to_numpy().astype("<i4").tobytes())
        else:
            numbers = column.to_numpy().astype("<f8")
            digest.update(np.where(np.isnan(numbers), np.nan, numbers).astype("<f8").tobytes())
    return digest.hexdigest()
