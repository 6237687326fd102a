"""Joining a crowd on its own units gives what joining everybody on all units gives, and shared units are counted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from calibration.arithmetic.closed_forms import Array
from calibration.results import CalibrationSettings
from calibration.study.counted import groups_of
from calibration.study.crossing import comparisons, people_votes, shared_units, votes
from calibration.study.joining import Study, scale_of, study_of
from calibration.study.left_out import left_out
from tests.calibration.biased import verdict

SETTINGS = CalibrationSettings()


@st.composite
def studies(draw: st.DrawFn) -> Study:
    """Up to five annotators and one judge who each answered some units, some of them twice."""
    rows = [verdict(0, rater, "A") for rater in ("ada", "judge")]
    for rater in ("ada", "ben", "cleo", "dan", "eve", "judge"):
        for item in draw(st.sets(st.integers(1, 12), max_size=8)):
            for order in draw(st.sampled_from([["AB"], ["BA"], ["AB", "BA"]])):
                label = draw(st.sampled_from(["A", "B", "tie", "not_applicable"]))
                rows.append(verdict(item, rater, label, presentation=order, cluster_id=f"t{item % 4}"))
    return study_of(pd.DataFrame(rows), SETTINGS)


@given(studies())
def test_each_annotator_beside_the_others_is_as_counted_on_all_units(study: Study) -> None:
    scale = scale_of(study, study.criteria, SETTINGS)
    assert scale is not None
    group = groups_of(study, SETTINGS, pooled=True)[0]
    people, common = people_votes(study, scale)
    found = {one.annotator: one for one in left_out(study, group, scale, study.judges[0])}
    judge = votes([study.judges[0]], scale, study.units, study.judges[0].scale) / study.judges[0].scale
    tables = {one.rater: one for one in comparisons(study, scale, group.chosen)}
    for one in study.annotators:
        own = votes([one], scale, study.units, common)
        others = people - own
        unit = np.flatnonzero(own.any(axis=1) & others.any(axis=1) & judge.any(axis=1))
        assert np.array_equal(found[one.rater].unit, unit)
        assert np.array_equal(found[one.rater].own, own[unit] / common)
        assert np.array_equal(found[one.rater].others, others[unit] / common)
        if len(study.annotators) > 1:
            assert np.array_equal(tables[one.rater].table, _table(study, own, others) * one.scale / common)


@given(studies())
def test_shared_units_are_the_common_elements_of_two_sets(study: Study) -> None:
    raters = [*study.annotators, *study.judges]
    first = [_first_labels(one.unit, one.label) for one in raters]
    expected = [[len(one.keys() & two.keys()) for two in first] for one in first]
    alike = [[len(one.items() & two.items()) for two in first] for one in first]
    assert shared_units(raters).tolist() == expected
    assert shared_units(raters, alike=True).tolist() == alike


def _table(study: Study, own: Array, others: Array) -> Array:
    out = np.zeros((len(study.clusters), own.shape[1], own.shape[1]))
    for unit, cluster in enumerate(study.unit_cluster):
        out[cluster] += np.outer(own[unit], others[unit])
    return out


def _first_labels(unit: npt.NDArray[np.intp], label: npt.NDArray[np.intp]) -> dict[int, int]:
    found: dict[int, int] = {}
    for one, said in zip(unit.tolist(), label.tolist(), strict=True):
        found.setdefault(one, said)
    return found
