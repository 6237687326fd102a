"""A report of the same labels and settings is made once for many screens and commands that show it.

What is in it is what tests/calibration is about; that it comes out the same again, tests/exports/test_verifying.py.
"""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

import pytest

from calibration.calibrate import calibrate_with_cascades

_reports: dict[bytes, Any] = {}


def _once(*given: Any) -> Any:
    key = hashlib.sha256(pickle.dumps(given)).digest()
    if key not in _reports:
        _reports[key] = calibrate_with_cascades(*given)
    return _reports[key]


def calibrate_once(patch: pytest.MonkeyPatch) -> None:
    """For commands and screens; whoever verifies a bundle computes anew."""
    patch.setattr("app.results.reporting.calibrate_with_cascades", _once)
