"""DR3-Eval again: 50 reports, four experts, five scores each, judges run three times; their Table 4 with intervals."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.annotation.judges.conftest import Fake
from tests.annotation.layout_trees import put
from tests.studies.desk import Desk, Task, a_desk
from tests.studies.page import same_on_the_page

pytestmark = pytest.mark.slow

CRITERIA = ("IR", "FA", "CC", "IF", "DQ")
SYSTEMS = {"claude": 0.74, "gpt": 0.70, "gemini": 0.62, "glm": 0.52, "qwen": 0.44}
TASKS = tuple(f"{number:03}" for number in range(1, 11))
EXPERTS = ("Ana", "Bo", "Chen", "Dora")
OF_REPORT, OF_CRITERION, OF_EXPERT, OF_JUDGE, OF_RUN = 0.06, 0.05, 0.12, 0.08, 0.03  # SDs, as shares of the scale
TIED = ("001", "003", "006")  # where experts score qwen's report as they do glm's, which is worth nearly as much
JUDGES = """
[[judge]]
name = "judge-a"
model = "openai/fake-score-{sd}-run-{run}"
api_base = "{base}"
repeats = 3
price = {{input = 1.25, output = 10.0}}

[[judge]]
name = "judge-b"
model = "openai/fake-score-0.2-bias-0.1"
api_base = "{base}"
price = {{input = 0.15, output = 0.60}}
"""


def qualities() -> dict[tuple[str, str], dict[str, float]]:
    """What each report is worth on each criterion, 0 to 1: planted, and never seen by calipers."""
    draw = random.Random(5)
    found = {}
    for system, mean in SYSTEMS.items():
        for task in TASKS:
            report = mean + draw.gauss(0, OF_REPORT)
            found[task, system] = {
                code: round(min(max(report + draw.gauss(0, OF_CRITERION), 0.02), 0.98), 3) for code in CRITERIA
            }
    return found


QUALITIES = qualities()


def write_tree(root: Path) -> Path:
    lines = [json.dumps({"task": task, "query": f"What limits reservoir {task}?"}) for task in TASKS]
    put(root / "datasets_en" / "query.jsonl", "\n".join(lines) + "\n")
    for (task, system), worth in QUALITIES.items():
        marks = " ".join(["[[q=0.5]]", *(f"[[q.{code}={value}]]" for code, value in worth.items())])
        text = f'# Reservoir {task}\n\nIt fills with sediment [long_context: "Silt, chunk 3"].\n\n`{marks}`\n'
        put(root / "results" / "128k" / system / task / "final_report.md", text)
    return root


def expert(task: Task) -> str:
    """A whole number, off by the expert's own noise."""
    systems = ("glm",) if task.topic in TIED and task.systems == ("qwen",) else task.systems
    draw = random.Random(f"{task.person} {task.topic} {systems} {task.criterion}")
    worth = QUALITIES[task.topic, systems[0]][task.criterion]
    return str(round(100 * min(max(worth + draw.gauss(0, OF_EXPERT), 0), 1)))


def planted() -> tuple[float, float]:
    """Pearson, and the share of pairs in one order: a judge's total of 3 runs and the mean of 4 experts, far more reports."""
    draw = np.random.default_rng(1)
    n = 100_000
    worth = draw.choice(list(SYSTEMS.values()), n) + draw.normal(0, OF_REPORT, n)
    totals = worth + draw.normal(0, OF_CRITERION / np.sqrt(5), n)
    people = totals + draw.normal(0, OF_EXPERT / np.sqrt(5 * 4), n)
    judge = totals + draw.normal(0, OF_JUDGE / np.sqrt(5), n) + draw.normal(0, OF_RUN / np.sqrt(5 * 3), n)
    ordered = (people[::2] - people[1::2]) * (judge[::2] - judge[1::2]) > 0
    return float(np.corrcoef(people, judge)[0, 1]), float(ordered.mean())


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, fake_process: Fake) -> Iterator[Desk]:
    """The whole road by commands: files, people, judges, the report with their table."""
    fake_process.reset(latency_ms=0)
    with a_desk(tmp_path_factory.mktemp("dr3")) as desk:
        write_tree(desk.folder / "dr3")
        put(desk.folder / "judges.toml", JUDGES.format(base=fake_process.base, sd=OF_JUDGE, run=OF_RUN))
        desk("init", "dr3", "--protocol", "dr3_total", "--seed", "7")
        desk("import", "reports", "dr3", "--layout", "dr3_eval", "--study", "dr3")
        desk("invite", "dr3", *EXPERTS)
        desk("pairs", "dr3", "--overlap", "4", "--apply")
        desk("open", "dr3")
        assert desk.everybody_answers("dr3", expert) == 4 * len(QUALITIES)
        desk("judge", "run", "dr3", "--judges", "judges.toml", "--concurrency", "16")
        desk("close", "dr3")
        desk("calibrate", "dr3", "--out", "out", "--preset", "dr3_eval", "--resamples", "499")
        yield desk


def table(desk: Desk, name: str) -> dict[str, dict[str, Any]]:
    """Rows of a table in the paper pack, by their first cell."""
    told = json.loads((desk.folder / "out" / f"{name}.json").read_text())
    return {row["rater"]: row for row in told["rows"]}


def holds(estimate: dict[str, Any], value: float) -> bool:
    return bool(estimate["low"] <= value <= estimate["high"])


def test_table_4_comes_out_with_intervals_that_hold_what_was_planted(done: Desk) -> None:
    rows = table(done, "preset_dr3_eval")
    pearson, ordered = planted()
    assert holds(rows["judge-a"]["pearson"], pearson), (rows["judge-a"]["pearson"], pearson)
    assert holds(rows["judge-a"]["rank_agreement_across_items"], ordered)
    assert rows["judge-b"]["pearson"]["value"] < rows["judge-a"]["pearson"]["value"]
    people = (
        rows["inter-human, two by two"]["pearson"],
        rows["inter-human, each with the mean of the others"]["pearson"],
    )
    assert people[0]["value"] < people[1]["value"] < rows["judge-a"]["pearson"]["value"], "neither is a ceiling"
    assert {row["n"] for name, row in rows.items() if name.startswith("judge")} == {50}
    same_on_the_page("dr3_eval.md", "table 4", printed(done, "preset_dr3_eval"))


def test_the_spread_over_three_runs_is_the_one_planted(done: Desk) -> None:
    spread = table(done, "preset_dr3_eval")["judge-a"]["sd_over_runs"]
    assert holds(spread, 100 * OF_RUN / math.sqrt(5) * math.sqrt(math.pi) / 2)  # the mean of the SD of 3 draws
    assert table(done, "preset_dr3_eval")["judge-b"]["sd_over_runs"] is None, "run once: no spread, and not 0"


def test_systems_are_told_apart_by_a_test_and_not_by_whether_two_intervals_overlap(done: Desk) -> None:
    same_on_the_page("dr3_eval.md", "systems", printed(done, "system_differences", "annotators"))
    rows = json.loads((done.folder / "out" / "system_differences.json").read_text())["rows"]
    people = {(row["system"], row["other"]): row for row in rows if row["rater"] == "annotators"}
    assert len(people) == 10
    known = {pair: 100 * (SYSTEMS[pair[0]] - SYSTEMS[pair[1]]) for pair in people}
    held = [holds(row["difference"], known[pair]) for pair, row in people.items()]
    assert sum(held) >= 9, "of ten intervals of 95 %"
    assert people["claude", "qwen"]["p_wilcoxon"] < 0.05


def test_judges_may_be_swapped_where_they_order_the_systems_alike(done: Desk) -> None:
    """Their judge swap is a Spearman of six systems without an interval; five systems can hardly tell."""
    same_on_the_page("dr3_eval.md", "judge swap", printed(done, "system_orders", "Total"))
    report = json.loads((done.folder / "out" / "calibration-report.json").read_text())
    (swap,) = [
        one for one in report["estimates"]
        if (one["statistic"], one["rater"], one["reference"], one["criterion"])
        == ("aggregate_spearman_systems", "judge-a", "judge-b", "Total")
    ]  # fmt: skip
    assert swap["low"] < swap["value"] <= swap["high"]
    assert "over 5 systems, fewer than 10" in swap["note"]


def printed(desk: Desk, name: str, only: str = "") -> str:
    """A table of the paper pack without the line of its data's hash, and with rows of `only` alone."""
    lines = (desk.folder / "out" / f"{name}.md").read_text().splitlines()
    return "\n".join(
        line for number, line in enumerate(lines)
        if not line.startswith("- Data:") and (not only or number < 4 or not line or line.startswith((f"| {only} |", "- ")))
    )  # fmt: skip
