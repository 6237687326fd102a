"""How soon are there numbers of many labels? `python benchmarks/points.py`

CPU seconds of one process, beyond its start: reading 100,000 labels, their points, which the pages and `calibrate` show
first; then of 88,000 labels on 11,000 pairs, 3 people and 5 judges, all that a page waits for (reading, points and the
whole report, with 9,999 resamples), and the same once it is kept. Ratios are to reading the same file, in the same run.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np
import pandas as pd

from app.results.sources import calibrated
from benchmarks.large_labels import write_labels
from benchmarks.promises import Figure, record
from calibration.calibrate import Waiting, calibrate
from calipers.kept_reports import VARIABLE
from calipers.tidy_files import labels_of

PAIRS, TOPICS, PEOPLE, OVERLAP, SYSTEMS = 11_000, 1_000, 18, 3, 6
NOISE = {"large": 0.7, "middle": 0.85, "small": 1.0, "tiny": 1.15, "nano": 1.3}  # people have .8
Found = TypeVar("Found")


def cpu_s(act: Callable[[], Found]) -> tuple[float, Found]:
    """Seconds of CPU, and what came of it."""
    begin = time.process_time()
    found = act()
    return time.process_time() - begin, found


def pairs_of_five_judges(seed: int = 0) -> pd.DataFrame:
    """88,000 labels: each pair by 3 of 18 people, six of whom answer each a third of the time, and by every judge."""
    rng = np.random.default_rng(seed)
    pair = np.arange(PAIRS)
    felt = rng.normal(0, 1, PAIRS) + rng.normal(0, 0.6, TOPICS)[pair % TOPICS]
    first = rng.integers(0, SYSTEMS, PAIRS)
    second = (first + rng.integers(1, SYSTEMS, PAIRS)) % SYSTEMS
    parts = []
    for number, (name, noise) in enumerate([("", 0.8)] * OVERLAP + [*NOISE.items()]):
        person = rng.integers(0, PEOPLE // OVERLAP, PAIRS) * OVERLAP + number
        said = felt + rng.normal(0, noise, PAIRS)
        parts.append(
            pd.DataFrame(
                {
                    "item_id": np.char.add("pair-", pair.astype(str)),
                    "rater_id": name or np.char.add("person-", person.astype(str)),
                    "rater_kind": "judge" if name else "human",
                    "criterion": "better",
                    "label": np.select([np.abs(said) < 0.2, said > 0], ["tie", "A"], "B"),
                    "cluster_id": np.char.add("topic-", (pair % TOPICS).astype(str)),
                    "system_a": np.char.add("system-", first.astype(str)),
                    "system_b": np.char.add("system-", second.astype(str)),
                    "presentation": np.where(rng.random(PAIRS) < 0.5, "AB", "BA"),
                    "cost_usd": 0.005 - 0.0005 * number if name else np.nan,
                }
            )
        )
    return pd.concat(parts)


class Enough(Exception):
    """The points are there."""


def up_to_points(labels: pd.DataFrame) -> None:
    """A report as far as its points."""

    def stop(_: object) -> None:
        raise Enough

    with suppress(Enough):
        calibrate(labels, waiting=Waiting(stop))


def figures(folder: Path) -> list[Figure]:
    """Each step, one after the other; what is kept lies in `folder`."""
    many, five = folder / "many.csv", folder / "five.csv"
    write_labels(many, 100_000)
    pairs_of_five_judges().to_csv(five, index=False)
    os.environ[VARIABLE] = str(folder / "kept")
    reading, (labels, _) = cpu_s(lambda: labels_of(many, used_only=True))
    at_once, _ = cpu_s(lambda: up_to_points(labels))
    read_five, _ = cpu_s(lambda: labels_of(five, used_only=True))
    whole, _ = cpu_s(lambda: calibrated(str(five), waiting=Waiting(lambda _: None)))
    kept, _ = cpu_s(lambda: calibrated(str(five), waiting=Waiting(lambda _: None)))
    return [
        Figure("reading 100,000 labels: CPU", reading, "s"),
        Figure("points of 100,000 labels, once they are read: CPU", at_once, "s", high=2.0),
        Figure("points of 100,000 labels / reading them", at_once / reading),
        Figure("whole report of 88,000 labels and 5 judges: CPU", whole, "s", high=10.0),
        Figure("whole report of 88,000 labels / reading them", whole / read_five),
        Figure("the same once it is kept: CPU", kept, "s", high=2.0),
    ]


def main() -> int:
    """Prints each figure; exit 1 where a promise is broken."""
    with tempfile.TemporaryDirectory() as scratch:
        found = figures(Path(scratch))
    print(*found, sep="\n")
    record(found)
    broken = not all(figure.kept for figure in found)
    print("a promise is broken" if broken else "every promise is kept", file=sys.stderr)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
