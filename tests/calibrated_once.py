"""A report of the same labels and settings is made once for many screens and commands that show it.

What is in it is what tests/calibration is about; that it comes out the same again, tests/exports/test_verifying.py.
"""

from __future__ import annotations

import tempfile

import pytest

_KEPT = tempfile.TemporaryDirectory()  # as long as the tests run


def calibrate_once(patch: pytest.MonkeyPatch) -> None:
    """For commands and screens, which keep their reports; whoever verifies a bundle computes anew."""
    patch.setenv("CALIPERS_CACHE", _KEPT.name)
