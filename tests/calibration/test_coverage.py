"""Do 95 % intervals hold the truth 95 % of the time when labels are nested in pairs? The table is benchmarks/coverage.py."""

from __future__ import annotations

import pytest

from benchmarks.coverage import Design, broken, coverage, made_studies


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [30, 10])
def test_intervals_of_clusters_cover_and_intervals_of_labels_do_not(clusters):
    design = Design(clusters)
    covered = coverage(design)
    assert list(broken(design, covered)) == []
    assert 0.925 <= covered["agreement, wilson_effective"] <= 0.97
    assert covered["kappa, expanded_percentile"] >= 0.92
    assert covered["agreement, iid Wilson"] < 0.75


@pytest.mark.slow
def test_the_simulation_has_the_truth_it_claims():
    tables = made_studies(Design(1_000), 100, seed=3).sum(axis=(0, 1)) / (1_000 * 100 * 39)
    assert tables.trace() == pytest.approx(0.8, abs=0.003)
    assert tables.sum(axis=0) == pytest.approx(tables.sum(axis=1), abs=0.003)
    assert tables[0].sum() == pytest.approx(0.5, abs=0.005)  # so that chance agreement is .5 and kappa .6


def test_a_broken_promise_is_named():
    never = dict.fromkeys(("agreement, wilson_effective", "kappa, expanded_percentile", "kappa, percentile"), 0.9)
    assert len(list(broken(Design(30), never | {"agreement, iid Wilson": 0.9}))) == 3
    assert len(list(broken(Design(10), never))) == 2
