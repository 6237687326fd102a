"""How long does `calipers calibrate` take with 2,000,000 labels, and in how much memory?

`python benchmarks/calibrate.py` writes the file of `large_labels.py` and reads it four ways, each in a process of its
own: pandas' `read_csv` alone, `calipers doctor FILE`, `calipers calibrate FILE --out DIR`, and the same from Parquet;
then a file of an ordinary study's size, without `--out` and with it; then `doctor` and `calibrate` of 748 labels, where
most is imports: the least of three runs beside three of pandas'.
Wall seconds, CPU seconds and peak memory of each; the ratio to `read_csv` holds on any machine. Exit 1 where a promise
is broken. `--rows 200000` for a quick look, of which nothing is promised.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np
import pandas as pd

from benchmarks.large_labels import ROWS, write_labels
from benchmarks.promises import Figure, record

MOST_SECONDS, MOST_MB = 60, 2_048
STUDY_MB, PACK_MB = 250, 320  # what the answer about 8,190 questions, each with ten labels, may hold, and with files
FEW_SECONDS, FEW_RATIO = 1.2, 3.5  # of CPU for 748 labels, and beside importing pandas and reading them
BARE = "pandas.read_csv"
MEASURED = """
import resource, sys
code = 0
try:
    if sys.argv[1] == "pandas.read_csv":
        import pandas
        pandas.read_csv(sys.argv[2])
    else:
        from calipers.__main__ import main
        sys.argv = ["calipers", *sys.argv[1:]]
        main()
except SystemExit as end:
    code = end.code or 0
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_maxrss // 1024, used.ru_utime + used.ru_stime, code, file=sys.stderr)
"""


def main() -> int:
    """Prints each figure as it is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS)
    rows = parser.parse_args().rows
    bound = rows >= ROWS  # less is told, and nothing promised of it
    broken = False
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        labels, parquet = folder / "labels.csv", folder / "labels.parquet"
        for path in (labels, parquet):
            write_labels(path, rows)
        bare = 0.0
        for name, words in {
            BARE: (BARE, labels),
            "doctor": ("doctor", labels),
            "calibrate": ("calibrate", labels, "--out", folder / "report"),
            "calibrate Parquet": ("calibrate", parquet, "--out", folder / "report of Parquet"),
        }.items():
            wall, cpu, megabytes = measure(*map(str, words), folder=folder)
            bare = bare or cpu
            promised = bound and name == "calibrate"
            figures = [
                Figure(f"{name}: wall at {rows:,} rows", wall, "s", high=MOST_SECONDS if promised else float("inf")),
                Figure(f"{name}: CPU at {rows:,} rows", cpu, "s"),
                Figure(f"{name}: CPU / pandas.read_csv of the file", cpu / bare),
                Figure(f"{name}: peak memory", megabytes, "MB", high=MOST_MB if promised else float("inf")),
            ]
            print(*figures, sep="\n", flush=True)
            record(figures)
            broken |= not all(figure.kept for figure in figures)
        write_study(labels, 187, 1, 4)
        runs = [(BARE, str(labels)), ("doctor", str(labels)), ("calibrate", str(labels))]
        bare, *few = (min(measure(*words, folder=folder)[1] for _ in range(3)) for words in runs)
        held = [
            Figure(f"{words[0]}: CPU at 748 rows", cpu, "s", high=FEW_SECONDS)
            for words, cpu in zip(runs[1:], few, strict=True)
        ]
        held.append(Figure("calibrate: CPU at 748 rows / pandas.read_csv of the file", few[1] / bare, high=FEW_RATIO))
        print(*held, sep="\n", flush=True)
        record(held)
        broken |= not all(figure.kept for figure in held)
        write_study(labels)
        for words, most in (((), STUDY_MB), (("--out", str(folder / "report")), PACK_MB)):
            megabytes = measure("calibrate", str(labels), *words, folder=folder)[2]
            peak = Figure(
                f"calibrate{' --out' * bool(words)}: peak memory at 8,190 x 10 labels", megabytes, "MB", high=most
            )
            print(peak, flush=True)
            record([peak])
            broken |= not peak.kept
    print("a promise is broken" if broken else "every promise is kept", file=sys.stderr)
    return int(broken)


def write_study(path: Path, pairs: int = 210, criteria: int = 39, raters: int = 10) -> None:
    """Pairs of three systems by criteria, each answered by two people and, as the other raters, judges."""
    rng = np.random.default_rng(0)
    pair, criterion, rater = (axis.ravel() for axis in np.indices((pairs, criteria, raters)))
    truth = rng.integers(0, 2, (pairs, criteria))[pair, criterion]
    said = np.where(rng.random(len(pair)) < 0.7, truth, rng.integers(0, 3, len(pair)))
    pd.DataFrame(
        {
            "item_id": pair, "cluster_id": pair // 3, "criterion_id": criterion, "rater_id": rater,
            "rater_kind": np.where(rater < 2, "human", "judge"), "system_a": pair % 3, "system_b": (pair + 1) % 3,
            "winner": np.array(["A", "B", "tie"])[said],
        }
    ).to_csv(path, index=False)  # fmt: skip


def measure(*words: str, folder: Path) -> tuple[float, float, float]:
    """One command in a process of its own: wall seconds, CPU seconds, peak megabytes."""
    environment = {
        **os.environ,
        "CALIPERS_DATABASE_URL": f"sqlite:///{folder}/none.db",
        "PYTHONPATH": str(ROOT),
        "CALIPERS_CACHE": "off",
    }
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    wall = time.monotonic() - begin
    megabytes, cpu, code = done.stderr.strip().splitlines()[-1].split()
    if code != "0":
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return wall, float(cpu), float(megabytes)


if __name__ == "__main__":
    sys.exit(main())
