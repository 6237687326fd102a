"""How fast citations are stripped, and how well: `python benchmarks/strip.py [FOLDER]`.

Reads every `.md` and `.txt` under FOLDER (default: the shared sample where it is, else the demo reports), prints MB/s
and, from the same run, the ratio to one regular expression that reads every word, the least that reading costs. Where
the shared examples lie beside the repository, recall of their citations and the share of content words lost follow.

The ratio was 16.5 to 18.6 in 1.0.0, and 19.2 to 19.7 where 1.0.0 ran beside this one, which had 8.0 to 8.6. Half was
asked for. A fifth of it is the second pass, which finds what a deletion exposed, mostly nothing; lists take another.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from annotation.citations import strip_citations
from benchmarks.promises import Figure, record

SAMPLE = ROOT.parent / "shared" / "data" / "wlc_sample"
DEFAULT = SAMPLE if SAMPLE.is_dir() else ROOT / "app" / "demo" / "reports"
EXAMPLES = ROOT.parent / "shared" / "data" / "strip_cases"
TOKEN = re.compile(r"\w+")


def best_seconds(strip: Callable[[str], object], reports: Sequence[str], rounds: int = 3) -> float:
    """Seconds of CPU for all `reports`, the best of `rounds`."""
    seconds = []
    for _ in range(rounds):
        started = time.process_time()
        for report in reports:
            strip(report)
        seconds.append(time.process_time() - started)
    return max(min(seconds), 1e-9)


def recall_and_loss(cases: Sequence[dict[str, str]], strip: Callable[[str], str]) -> tuple[float, float]:
    """Share of the words to be removed that are gone, and words lost per 1,000 that should have stayed."""
    to_go = gone = to_stay = lost = 0
    for case in cases:
        words = TOKEN.findall(case["input"])
        gold = _deleted(words, TOKEN.findall(case["gold"]))
        ours = _deleted(words, TOKEN.findall(strip(case["input"])))
        to_go += len(gold)
        gone += len(gold & ours)
        to_stay += len(words) - len(gold)
        lost += len(ours - gold)
    return gone / max(to_go, 1), 1000 * lost / max(to_stay, 1)


def _deleted(words: list[str], left: list[str]) -> set[int]:
    matcher = difflib.SequenceMatcher(None, words, left, autojunk=False)
    return {n for op, a, b, _, _ in matcher.get_opcodes() if op != "equal" for n in range(a, b)}


def main(arguments: Sequence[str]) -> int:
    folder = Path(arguments[0]) if arguments else DEFAULT
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".md", ".txt"))
    reports = [path.read_text(encoding="utf-8-sig") for path in paths]
    if not reports:
        print(f"{folder}: no .md or .txt files; give a folder of reports", file=sys.stderr)
        return 2
    megabytes = sum(len(report.encode()) for report in reports) / 1e6
    ours = best_seconds(strip_citations, reports)
    plain = best_seconds(TOKEN.findall, reports)
    print(f"{len(reports)} reports, {megabytes:.2f} MB")
    print(f"strip_citations {megabytes / ours:.2f} MB/s")
    print(f"reading words   {megabytes / plain:.2f} MB/s   ratio {ours / plain:.1f}")
    record(
        [
            Figure("strip_citations", megabytes / ours, "MB/s"),
            Figure("times as long as reading words", ours / plain, high=9.3),
        ]
    )
    if EXAMPLES.is_dir():
        cases = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(EXAMPLES.glob("*.json"))]
        recall, loss = recall_and_loss(cases, lambda text: strip_citations(text).text)
        print(f"{len(cases)} examples: recall of words {recall:.4f}, words lost per 1,000 {loss:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
