"""Normal and Student's t give what `scipy.stats` gives, to the bit, and `doctor` does without it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from calibration.arithmetic.tails import NoncentralT, Normal, Student, sign_test
from calibration.inference.compare import by_false_discoveries

CHANCES = np.concatenate([[0, 1, np.nan, -0.1, 1.1], np.geomspace(1e-300, 0.5, 200), 1 - np.geomspace(1e-16, 0.5, 200)])
PLACES = np.concatenate([[np.inf, -np.inf, np.nan], np.linspace(-40, 40, 401)])
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["cdf", "sf", "isf"])
def test_the_normal_is_that_of_scipy_stats(name: str) -> None:
    given = CHANCES if name == "isf" else PLACES
    np.testing.assert_array_equal(getattr(Normal, name)(given), getattr(stats.norm, name)(given))


@pytest.mark.parametrize("df", [1, 2, 3.5, 11, 59, 1e3, 1e10, np.inf, 0, -1, np.nan])
@pytest.mark.parametrize("name", ["cdf", "sf", "ppf", "isf"])
def test_students_t_is_that_of_scipy_stats(name: str, df: float) -> None:
    given = CHANCES if name in ("ppf", "isf") else PLACES
    np.testing.assert_array_equal(getattr(Student, name)(given, df), getattr(stats.t, name)(given, df))


@pytest.mark.parametrize("df", [1, 2, 5, 11, 39, 999])
def test_the_noncentral_t_and_the_sign_test_are_those_of_scipy_stats(df: int) -> None:
    t, shift = np.meshgrid(np.linspace(-1, 6, 15), np.linspace(-3, 8, 23))
    np.testing.assert_allclose(NoncentralT.sf(t, df, shift), stats.nct.sf(t, df, shift), atol=1e-15)
    assert NoncentralT.sf(2.61541, 126, 40.24796) == stats.nct.sf(2.61541, 126, 40.24796) == 1
    ups = range(0, df + 1, max(1, df // 20))
    exact = [stats.binomtest(up, df).pvalue for up in ups]
    np.testing.assert_allclose([sign_test(up, df) for up in ups], exact, rtol=1e-10)


def test_doctor_waits_for_no_library_that_it_does_not_need() -> None:
    """Each of these takes from a third of a second to a whole one to import."""
    heavy = ("scipy.stats", "sklearn", "streamlit", "matplotlib", "litellm", "sqlalchemy")
    asked = "import sys; sys.argv = ['calipers', 'doctor', 'docs/labels.csv']; from app.command_line import run; run()"
    seen = f"print([one for one in {heavy!r} if one in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", f"{asked}\n{seen}"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_false_discoveries_are_those_of_scipy_stats() -> None:
    for count in (1, 2, 3, 17):
        given = np.random.default_rng(count).random(count) ** 3
        np.testing.assert_allclose(
            by_false_discoveries(given), stats.false_discovery_control(given, method="by"), rtol=1e-15
        )
    assert by_false_discoveries([]).shape == (0,)
