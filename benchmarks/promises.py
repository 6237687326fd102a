"""What was found beside what was promised: the scripts here print it and hand it to `python -m benchmarks`."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

FIGURES_FILE = "CALIPERS_BENCH_FIGURES"  # names the file that `record` writes to


@dataclass(frozen=True)
class Figure:
    """A measured number in `unit`, and the bounds it was promised to lie in; without bounds it is only told."""

    name: str
    value: float
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    error: float = math.nan  # Monte-Carlo standard error, of a simulation

    @property
    def kept(self) -> bool:
        """Whether the number lies in the bounds; a number that is not there keeps no promise."""
        return not self.promised or self.low <= self.value <= self.high

    @property
    def promised(self) -> str:
        """`<= 250`, `0.93 to 0.97`, or nothing."""
        if math.isinf(self.low):
            return "" if math.isinf(self.high) else f"<= {self.high:g}"
        return f">= {self.low:g}" if math.isinf(self.high) else f"{self.low:g} to {self.high:g}"

    def __str__(self) -> str:
        error = "" if math.isnan(self.error) else f" ± {self.error:.1f}"
        promised = f"promised {self.promised}" if self.promised else ""
        return f"{self.name:82} {self.value:10,.2f}{error} {self.unit:4} {promised}{'' if self.kept else '  BROKEN'}"


@dataclass(frozen=True)
class Promise:
    """A share from simulated studies, and the bounds it was promised to lie in."""

    name: str
    value: float
    error: float  # Monte-Carlo standard error
    low: float
    high: float

    @property
    def kept(self) -> bool:
        """Whether the number lies in the bounds."""
        return self.low <= self.value <= self.high

    @property
    def figure(self) -> Figure:
        """The same in percent."""
        return Figure(self.name.strip(), 100 * self.value, "%", 100 * self.low, 100 * self.high, 100 * self.error)

    def __str__(self) -> str:
        found = f"{100 * self.value:6.1f} ± {100 * self.error:.1f}"
        promised = f"promised {100 * self.low:.1f} to {100 * self.high:.1f}"
        return f"{self.name:82} {found}  {promised}{'' if self.kept else '  BROKEN'}"


def standard_error(share: float, studies: int) -> float:
    """Monte-Carlo, of a share of so many studies."""
    return math.sqrt(share * (1 - share) / studies)


def promise(name: str, found: Sequence[bool], low: float, high: float) -> Promise:
    """Of the share of studies with one outcome."""
    share = float(np.mean(found))
    return Promise(name, share, standard_error(share, len(found)), low, high)


def beta(rng: np.random.Generator, mean: float, icc: float, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Rates around `mean`, one for each cluster, that make labels of one cluster alike by `icc`; all `mean` at 0."""
    if not icc:
        return np.full(shape, mean)
    k = 1 / icc - 1
    return rng.beta(mean * k, (1 - mean) * k, shape)


def in_columns(
    shares: Sequence[Mapping[str, float]], heads: Sequence[str], studies: Callable[[str], int]
) -> Iterator[str]:
    """A table of shares in percent, a column for each head. `studies`: how many the share of that name is of."""
    width = max(map(len, shares[0]))
    yield " ".join((" " * width, *(f"{head:>14}" for head in heads)))
    for name in shares[0]:
        cells = [f"{100 * one[name]:5.1f} ± {100 * standard_error(one[name], studies(name)):.1f}" for one in shares]
        yield " ".join((f"{name:{width}}", *(f"{cell:>14}" for cell in cells)))


def tell(heading: str, found: Iterable[Promise | Figure]) -> int:
    """Print each as it comes, hand them on, and answer with the exit code: 1 where a promise is broken."""
    print(heading)
    told = []
    for one in found:
        print(one, flush=True)
        told.append(one)
    record(one.figure if isinstance(one, Promise) else one for one in told)
    broken = sum(not one.kept for one in told)
    print("every promise is kept" if not broken else f"{broken} promises are broken", file=sys.stderr)
    return int(broken > 0)


def record(figures: Iterable[Figure]) -> None:
    """Hand the figures of one script to `python -m benchmarks`; run by hand, a script only prints them."""
    if file := os.environ.get(FIGURES_FILE):
        with Path(file).open("a", encoding="utf-8") as lines:
            lines.writelines(json.dumps(as_stored(figure)) + "\n" for figure in figures)


def as_stored(figure: Figure) -> dict[str, Any]:
    """Its fields for JSON, which has no infinity and no nan: a bound that is not there is left out, a value is null."""
    kept = {key: value for key, value in asdict(figure).items() if not isinstance(value, float) or math.isfinite(value)}
    return {"value": None} | kept


def as_figure(stored: Mapping[str, Any]) -> Figure:
    """The figure that `as_stored` wrote, whatever was added to its fields."""
    known = {field.name: stored[field.name] for field in fields(Figure) if field.name in stored}
    return Figure(**known | {"value": math.nan if stored["value"] is None else stored["value"]})
