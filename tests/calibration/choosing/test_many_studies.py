"""The test that simulations of looks make for many studies at once is the one that decides, study by study."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.level import MARGIN, sums_of
from benchmarks.many_studies import ManySums, laws_of
from benchmarks.nested_labels import Setting, simulated
from calibration.inference.bootstrap import cluster_weights
from calibration.inference.gap_test import Rule, from_sums


@pytest.mark.parametrize(
    "setting",
    [Setting(20), Setting(12, "lognormal", error=0.03), Setting(20, icc=1.0), Setting(30, "uneven", icc=0.02)],
)
def test_many_studies_at_once_are_decided_as_each_alone(setting: Setting) -> None:
    found = simulated(setting, 40, seed=3)
    sums = ManySums(
        found.rows, found.human - found.judge[..., 0], found.items, found.squares[..., 0], found.sizes[..., 0]
    )  # fmt: skip
    weights = np.concatenate(list(cluster_weights(setting.topics, 999)))
    together = laws_of(sums, weights)
    alone = [from_sums(sums_of(found, at), Rule(MARGIN, 0.95, 2, 999))[0] for at in range(40)]
    # float32 may move a resample or two
    by_law = [min(one.p, 0.1) if one.law else one.p for one in alone]  # above .1 none is known
    assert together.p_below(MARGIN) == pytest.approx(by_law, abs=2e-3)
    assert together.upper(0.05) == pytest.approx([one.upper for one in alone], abs=2e-3)
    gaps, laws = together.gaps, [(at, one.law) for at, one in enumerate(alone) if one.law is not None]
    assert len(laws) > 20
    for at, law in laws:
        assert (gaps.se[at], gaps.seen[at], gaps.trust[at]) == pytest.approx((law.gap.se, law.seen, law.gap.trust))
        assert together.lower(0.05)[at] == pytest.approx(law.lower(0.05))
