"""A judge that errs a little more often than allowed is seldom let decide, however faults gather in topics."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.alone import FAULTS, LABELS, SHARES, Design, least_favourable, of_topics, simulated
from calibration.inference.bootstrap import wilson_effective

STUDIES, ALLOWED = 200, 0.1


@pytest.mark.parametrize("faults", FAULTS)
def test_in_five_of_a_hundred_studies_at_most_a_judge_decides_what_it_should_not(faults: str) -> None:
    failed, _ = simulated(Design(40, faults, ALLOWED, least_favourable(ALLOWED)), STUDIES, 3)
    assert failed <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / STUDIES)


def test_a_judge_that_errs_half_as_often_as_allowed_decides_what_it_should_with_80_topics() -> None:
    _, share = simulated(Design(80, "beta .1", 0.2, (0.06, 0.1, 0.24, 0.6)), 50, 3)
    assert 0.6 < share <= 0.85


def test_a_bound_from_the_spread_of_topics_alone_is_fooled_by_rare_ones_that_are_all_wrong() -> None:
    rng, design = np.random.default_rng(5), Design(20, "rare", ALLOWED, (ALLOWED,) * 4)
    tables = [of_topics(design, rng) for _ in range(STUDIES)]
    passed = [wilson_effective(wrong[:, -1], n[:, -1], 0.9)[1] <= ALLOWED for wrong, n in tables]
    assert np.mean(passed) > 0.15, "so the simulation can tell a bound that holds from one that does not"


def test_the_simulated_judge_errs_as_often_as_it_is_said_to() -> None:
    rng = np.random.default_rng(6)
    for faults in FAULTS:
        design = Design(4_000, faults, ALLOWED, least_favourable(ALLOWED))
        wrong, n = of_topics(design, rng)
        np.testing.assert_allclose(wrong.sum(axis=0) / n.sum(axis=0), design.truth, atol=0.02)
        assert n[:, -1].mean() == LABELS
        np.testing.assert_allclose(n.mean(axis=0) / LABELS, np.cumsum(SHARES), atol=0.02)
