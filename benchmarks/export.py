"""What exports cost: `python benchmarks/export.py [--report]`.

A study of a million labels (2,000 pairs, 10 criteria, 10 people, 10 judges in both orders and two runs, a rationale
each) is written to a scratch SQLite file, and one of 10,000. `export labels` and `export dataset` run on both, each in
a process of its own: seconds, peak memory, and how they grow. `--report` adds `calibrate`, `export report` and
`export bundle`, which compute everything. Exit 1 where a promise is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.export_study import make_study
from benchmarks.promises import Figure, record

SMALL, LARGE = 10_000, 1_000_000
MOST_MB = 1_000
COMMANDS = {
    "export labels": ("export", "labels", "bench", "--out", "{out}/labels.csv"),
    "export dataset": ("export", "dataset", "bench", "--out", "{out}/dataset", "--texts"),
}
REPORT = {
    "calibrate": ("calibrate", "bench", "--json"),
    "export report": ("export", "report", "bench", "--out", "{out}/report"),
    "export bundle": ("export", "bundle", "bench", "--out", "{out}/bundle"),
}
MEASURED = """
import resource, sys
from app.command_line import main
sys.argv = ["calipers", *sys.argv[1:]]
code = 0
try:
    main()
except SystemExit as end:
    code = end.code or 0
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_maxrss // 1024, used.ru_utime + used.ru_stime, code, file=sys.stderr)
"""


def measure(url: str, words: tuple[str, ...], folder: Path) -> dict[str, float]:
    """One command in a process of its own: seconds of work and peak memory."""
    command = [sys.executable, "-c", MEASURED, *(word.format(out=folder) for word in words)]
    environment = {**os.environ, "CALIPERS_DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=folder)
    megabytes, seconds, code = done.stderr.strip().splitlines()[-1].split()
    if code != "0":
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return {"peak_mb": float(megabytes), "seconds": round(float(seconds), 1)}


def main() -> int:
    """Prints a line for each command; what was promised and not kept goes to standard error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true", help="measure what needs the report as well")
    parser.add_argument("--keep", type=Path, help="a folder whose studies are used again")
    options = parser.parse_args()
    missed = []
    with tempfile.TemporaryDirectory() as scratch:
        kept = options.keep or Path(scratch)
        for name, words in {**COMMANDS, **(REPORT if options.report else {})}.items():
            found = {}
            for labels in (SMALL, LARGE):
                path = kept / f"{labels}.db"
                url = f"sqlite:///{path}"
                if not path.exists():
                    make_study(url, labels)
                found[labels] = measure(url, words, Path(tempfile.mkdtemp(dir=scratch)))
            small, large = found[SMALL], found[LARGE]
            ratios = {f"{key}_ratio": round(large[key] / small[key], 2) for key in large}
            print(json.dumps({"command": name, "labels": LARGE, **large, **ratios}), flush=True)
            record([
                Figure(f"{name}: peak memory at {LARGE:,} labels", large["peak_mb"], "MB", high=MOST_MB),
                Figure(f"{name}: seconds at {LARGE:,} labels / at {SMALL:,}", ratios["seconds_ratio"]),
            ])  # fmt: skip
            if large["peak_mb"] > MOST_MB:
                missed.append(f"{name}: {large['peak_mb']:.0f} MB at its peak, promised at most {MOST_MB}")
    print("\n".join(missed) or "every promise is kept", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
