"""What a simulation found beside what was promised of it; the scripts in this folder print it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Promise:
    """A number from simulated studies, and the bounds it was promised to lie in."""

    name: str
    value: float
    error: float  # Monte-Carlo standard error
    low: float
    high: float

    @property
    def kept(self) -> bool:
        """Whether the number lies in the bounds."""
        return self.low <= self.value <= self.high

    def __str__(self) -> str:
        found = f"{100 * self.value:6.1f} ± {100 * self.error:.1f}"
        promised = f"promised {100 * self.low:.1f} to {100 * self.high:.1f}"
        return f"{self.name:82} {found}  {promised}{'' if self.kept else '  BROKEN'}"


def promise(name: str, found: Sequence[bool], low: float, high: float) -> Promise:
    """Of the share of studies with one outcome."""
    share = float(np.mean(found))
    return Promise(name, share, math.sqrt(share * (1 - share) / len(found)), low, high)
