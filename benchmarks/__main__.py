"""Run the benchmarks and gather what they found: `python -m benchmarks [NAME …]`, or `make bench [ONLY="NAME …"]`.

Writes `results.json` and `results.md` beside the scripts: each figure with its promise, the figure of the run before,
and the machine. A script that is not run keeps its last figures and their date. Exit 1 where a promise is broken or a
script fails. All of them take an hour; ratios are measured within one run, so another machine may be compared.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))

from benchmarks.promises import FIGURES_FILE, as_figure

LIBRARIES = ("numpy", "pandas", "scipy", "sqlalchemy", "streamlit", "litellm")
Results = dict[str, Any]


def main() -> int:
    """One script after the other; what it prints is shown as it comes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(scripts())}; all of them without one")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of results.json and results.md")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(scripts()):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(scripts())}")
    stored = asked.out / "results.json"
    results: Results = json.loads(stored.read_text("utf-8")) if stored.exists() else {}
    for name in asked.names or scripts():
        print(f"== {name}", flush=True)
        results[name] = gathered(results.get(name), *run(name))
        stored.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", "utf-8")
        (asked.out / "results.md").write_text(as_markdown(results), "utf-8")
    told = [results[name] for name in asked.names or scripts()]
    return int(any(one["exit"] or not all(is_kept(figure) for figure in one["figures"]) for one in told))


def scripts() -> list[str]:
    """Every script of this folder that can be run, by name."""
    return sorted(
        path.stem for path in HERE.glob("*.py")
        if not path.stem.startswith("_") and "from benchmarks.promises import" in path.read_text("utf-8")
    )  # fmt: skip


def run(name: str) -> tuple[int, float, list[dict[str, Any]]]:
    """Exit code, wall seconds and figures of one script."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.jsonl"
        started = time.monotonic()
        code = subprocess.run(
            [sys.executable, str(HERE / f"{name}.py")],
            env=os.environ | {FIGURES_FILE: str(figures), "CALIPERS_CACHE": "off"},
            check=False,
        ).returncode
        lines = figures.read_text("utf-8").splitlines() if figures.exists() else []
    return code, time.monotonic() - started, [json.loads(line) for line in lines]


def gathered(
    before: Mapping[str, Any] | None, code: int, seconds: float, figures: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """What is kept of one run: its figures, each with the value of the run before."""
    last = {one["name"]: one["value"] for one in (before or {}).get("figures", ())}
    return {
        "at": f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
        "machine": machine(),
        "exit": code,
        "seconds": round(seconds),
        "figures": [one | {"before": last.get(one["name"])} for one in figures],
    }


def machine() -> str:
    """Processor, cores, memory, versions: what a figure depends on, and nothing that names the machine."""
    info = Path("/proc/cpuinfo")
    models = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")] \
        if info.exists() else []  # fmt: skip
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return (
        f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores, "
        f"{psutil.virtual_memory().total / 2**30:.0f} GiB, Python {platform.python_version()}, {libraries}"
    )


def as_markdown(results: Results) -> str:
    """The table that people read: broken promises first, then every script's own."""
    broken = [
        f"- {name}: {figure['name']}: {shown(figure['value'])} {figure['unit']}, promised {as_figure(figure).promised}"
        for name, one in sorted(results.items()) for figure in one["figures"] if not is_kept(figure)
    ]  # fmt: skip
    promised = sum(bool(as_figure(figure).promised) for one in results.values() for figure in one["figures"])
    opening = f"{promised} promises measured, {len(broken)} broken." + "".join(f"\n{line}" for line in broken)
    return f"# Benchmarks\n\n`make bench` writes this page. {opening}\n\n" + "\n".join(
        line for name in sorted(results) for line in section(name, results[name])
    )


def section(name: str, one: Mapping[str, Any]) -> Iterator[str]:
    """One script: when, where, and a row a figure."""
    failed = f", **exit {one['exit']}**" if one["exit"] else ""
    yield f"## {name}\n\n{one['at']} UTC, {one['seconds']} s{failed}. {one['machine']}.\n"
    yield "| | found | unit | promised | before |\n| :--- | ---: | :--- | :--- | ---: |"
    for figure in one["figures"]:
        mark = "" if is_kept(figure) else " **broken**"
        cells = (shown(figure["value"]), figure["unit"], as_figure(figure).promised + mark, shown(figure["before"]))
        yield f"| {figure['name']} | {' | '.join(cells)} |"
    yield ""


def shown(value: float | None) -> str:
    """Three digits are what a benchmark can tell."""
    return "" if value is None else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def is_kept(stored: Mapping[str, Any]) -> bool:
    """Whether its promise is kept."""
    return as_figure(stored).kept


if __name__ == "__main__":
    sys.exit(main())
