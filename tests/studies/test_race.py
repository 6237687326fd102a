"""DeepResearch Bench's RACE again: weighted criteria of each task, report and reference rated in one view.

Their judge reads the target first, always. The same simulated judge, which favours whatever it reads first, runs here
as theirs and in both orders.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.annotation.judges.conftest import Fake
from tests.annotation.layout_trees import json_lines, put
from tests.studies.desk import Desk, Task, a_desk
from tests.studies.page import same_on_the_page

pytestmark = pytest.mark.slow

SYSTEMS = {"gemini": 0.80, "openai": 0.70, "grok": 0.58, "perplexity": 0.46}
REFERENCE, REFERENCE_FILE = "reference", "data/test_data/cleaned_data/reference.jsonl"
QUERIES, RAW, CRITERIA = "data/prompt_data/query.jsonl", "data/test_data/raw_data", "data/criteria_data/criteria.jsonl"
WORTH = SYSTEMS | {REFERENCE: 0.66}
TASKS = tuple(range(1, 9))
GROUPS = {  # two sets of weights, as tasks differ: group -> (its weight, its criteria's own weights)
    0: {"comprehensiveness": ("0.3", ("1",)), "insight": ("0.36", ("0.25", "0.75")),
        "instruction_following": ("0.2", ("1",)), "readability": ("0.14", ("1",))},
    1: {"comprehensiveness": ("0.2", ("1",)), "insight": ("0.5", ("0.3", "0.7")),
        "instruction_following": ("0.1", ("1",)), "readability": ("0.2", ("1",))},
}  # fmt: skip
PEOPLE = ("Ana", "Bo", "Chen")
OF_REPORT, OF_CRITERION, OF_PERSON, OF_JUDGE, LEAD = 0.08, 0.06, 0.1, 0.05, 0.08  # SDs, as shares of the scale
JUDGES = """
[defaults]
api_base = "{base}"
price = {{input = 1.25, output = 10.0}}

[[judge]]
name = "as-published"
model = "openai/fake-score-{sd}-lead-{lead}"
order = "first_only"
first_report = "other"

[[judge]]
name = "both-orders"
model = "openai/fake-score-{sd}-lead-{lead}"
order = "both"
"""


def weights(task: int) -> dict[str, float]:
    """The weight of each criterion of a task: its group's times its own."""
    return {
        f"{group}_{place}": float(of_group) * float(own)
        for group, (of_group, listed) in GROUPS[task % 2].items()
        for place, own in enumerate(listed, start=1)
    }


def qualities() -> dict[tuple[str, str], dict[str, float]]:
    """(task, system) -> what the report is worth on each criterion, 0 to 1: planted, and never seen by calipers."""
    draw = random.Random(11)
    found = {}
    for system, mean in WORTH.items():
        for task in TASKS:
            report = mean + draw.gauss(0, OF_REPORT)
            found[str(task), system] = {
                code: round(min(max(report + draw.gauss(0, OF_CRITERION), 0.15), 0.9), 3) for code in weights(task)
            }
    return found


QUALITIES = qualities()


def total(task: str, system: str) -> float:
    return sum(weight * QUALITIES[task, system][code] for code, weight in weights(int(task)).items())


def planted_share(system: str) -> float:
    """t / (t + r), mean over tasks."""
    found = [total(str(task), system) / (total(str(task), system) + total(str(task), REFERENCE)) for task in TASKS]
    return float(np.mean(found))


def planted_order() -> float:
    """PAR to be expected of these reports: totals of three people's mean and of an unbiased judge, drawn many times."""
    draw, agree = np.random.default_rng(3), []
    for task in TASKS:
        codes = weights(task)
        own = np.array(list(codes.values()))
        worth = np.array([[QUALITIES[str(task), system][code] for code in codes] for system in WORTH])
        sides = []
        for sd in (OF_PERSON / np.sqrt(3), OF_JUDGE / np.sqrt(2)):
            totals = (worth + draw.normal(0, sd, (4000, *worth.shape))) @ own
            sides.append(totals[:, :4] / (totals[:, :4] + totals[:, 4:]))
        one, other = np.triu_indices(len(SYSTEMS), 1)
        agree.append(((sides[0][:, one] - sides[0][:, other]) * (sides[1][:, one] - sides[1][:, other]) > 0).mean())
    return float(np.mean(agree))


def write_tree(root: Path) -> Path:
    """Their files: half of the tasks are Chinese, criteria included."""
    queries, criteria = [], []
    for task in TASKS:
        zh = task % 2 == 1
        prompt = f"请分析第{task}个水库的淤积问题" if zh else f"What limits reservoir {task}?"
        queries.append({"id": task, "topic": "Science", "language": "zh" if zh else "en", "prompt": prompt})
        criteria.append(
            {
                "id": task, "prompt": prompt,
                "dimension_weight": {group: float(weight) for group, (weight, _) in GROUPS[task % 2].items()},
                "criterions": {
                    group: [
                        {"criterion": f"{'标准' if zh else 'Criterion'} {group} {place}",
                         "explanation": "是否做到？" if zh else "Does the report do so?", "weight": float(own)}
                        for place, own in enumerate(listed, start=1)
                    ]
                    for group, (_, listed) in GROUPS[task % 2].items()
                },
            }
        )  # fmt: skip
    put(root / QUERIES, json_lines(queries))
    put(root / CRITERIA, json_lines(criteria))
    for system in WORTH:
        rows = [{"id": task, "prompt": queries[task - 1]["prompt"], "article": article(task, system)} for task in TASKS]
        put(root / (REFERENCE_FILE if system == REFERENCE else f"{RAW}/{system}.jsonl"), json_lines(rows))
    return root


def article(task: int, system: str) -> str:
    words = "水库因泥沙淤积而变浅。" if task % 2 else "It fills with sediment, year after year. "
    marks = " ".join(["[[q=0.5]]", *(f"[[q.{code}={value}]]" for code, value in QUALITIES[str(task), system].items())])
    return f"# On {task}\n\n{words * 12}\n\nVersion {sum(map(ord, system)) % 89} says so [1].\n\n`{marks}`\n"


def person(task: Task) -> str:
    draw = random.Random(f"{task.person} {task.topic} {task.systems} {task.criterion}")
    worth = QUALITIES[task.topic, task.systems[0]][task.criterion]
    return f"{10 * min(max(worth + draw.gauss(0, OF_PERSON), 0), 1):.1f}"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, fake_process: Fake) -> Iterator[Desk]:
    """The whole road by commands: files, people, judges, the report with the README's table."""
    fake_process.reset(latency_ms=0)
    with a_desk(tmp_path_factory.mktemp("race")) as desk:
        write_tree(desk.folder / "bench")
        put(desk.folder / "judges.toml", JUDGES.format(base=fake_process.base, sd=OF_JUDGE, lead=LEAD))
        desk("init", "race", "--protocol", "race", "--seed", "7")
        told = desk("import", "reports", "bench", "--layout", "deepresearch_bench", "--study", "race")
        assert f"criteria {sum(len(weights(task)) for task in TASKS)} new" in told
        desk("invite", "race", *PEOPLE)
        desk("pairs", "race", "--design", "reference", "--per-topic", str(len(SYSTEMS)), "--overlap", "3", "--apply")
        desk("open", "race")
        views = len(TASKS) * len(SYSTEMS)
        assert desk.everybody_answers("race", person) == len(PEOPLE) * views
        desk("judge", "run", "race", "--judges", "judges.toml", "--concurrency", "16")
        desk("close", "race")
        desk("calibrate", "race", "--out", "out", "--preset", "race", "--resamples", "499")
        yield desk


def estimates(desk: Desk, statistic: str, rater: str) -> dict[str, dict[str, Any]]:
    """Of the aggregate RACE, by system."""
    told = json.loads((desk.folder / "out" / "calibration-report.json").read_text())["estimates"]
    return {
        one["category"].removeprefix("systems: "): one
        for one in told
        if (one["statistic"], one["rater"], one["criterion"]) == (statistic, rater, "RACE")
    }


def printed(desk: Desk, name: str) -> str:
    """A table of the pack. Its data hash moves with every run: judges' labels carry the seconds they took."""
    return re.sub(r"sha256 [0-9a-f]{12}", "sha256 …", (desk.folder / "out" / f"{name}.md").read_text(encoding="utf-8"))


def holds(estimate: dict[str, Any], value: float) -> bool:
    return bool(estimate["low"] <= value <= estimate["high"])


def test_race_of_every_system_comes_out_and_its_interval_holds_what_was_planted(done: Desk) -> None:
    for rater in ("each_annotator", "both-orders"):
        found = estimates(done, "aggregate", rater)
        for system in SYSTEMS:
            assert holds(found[system], planted_share(system)), (rater, system, found[system], planted_share(system))
        assert list(found) == sorted(WORTH)
    told = ", ".join(f"{system} {planted_share(system):.3f}".replace("0.", ".") for system in SYSTEMS)
    same_on_the_page("race.md", "planted", f"RACE as it was planted: {told}.")
    same_on_the_page("race.md", "systems", printed(done, "systems"))


def test_what_the_target_gains_by_always_being_read_first_is_shown_and_both_orders_take_it_away(done: Desk) -> None:
    gained, none = (estimates(done, "aggregate_difference", judge) for judge in ("as-published", "both-orders"))
    values = [(gained[system]["value"], none[system]["value"]) for system in SYSTEMS]
    assert all(one > other + 0.008 for one, other in values), values
    assert np.mean([one for one, _ in values]) > 0.01 > abs(np.mean([other for _, other in values])), values
    assert gained[REFERENCE]["value"] < none[REFERENCE]["value"], "what the targets gain, the reference loses"
    told = json.loads((done.folder / "out" / "calibration-report.json").read_text())["estimates"]
    (shift,) = (one for one in told if one["statistic"] == "score_shown_first")
    assert (shift["rater"], shift["low"] > 0) == ("both-orders", True)
    looked_for = printed(done, "bias")
    cannot = "Cannot tell, for these labels cannot show it: scores what is shown first higher (as-published)"
    assert cannot in looked_for
    same_on_the_page("race.md", "bias", looked_for)


def test_the_table_of_the_readme_comes_out_with_intervals_and_cost(done: Desk) -> None:
    rows = {row["judge"]: row for row in json.loads((done.folder / "out" / "preset_race.json").read_text())["rows"]}
    assert holds(rows["both-orders"]["par"], 100 * planted_order()), (rows["both-orders"]["par"], planted_order())
    assert {row["n"] for name, row in rows.items() if name in ("as-published", "both-orders")} == {6 * len(TASKS)}
    four = [rows["both-orders"][name]["value"] for name in ("par", "opc", "fap", "fas")]
    assert rows["both-orders"]["overall"]["value"] == pytest.approx(np.mean(four))
    twice = rows["both-orders"]["cost"]["value"] / rows["as-published"]["cost"]["value"]
    assert twice == pytest.approx(2, rel=0.02), "two readings of each view"
    verdicts = done.verdicts("race")
    for judge in ("as-published", "both-orders"):
        paid = verdicts.loc[verdicts["rater_id"] == judge, "cost_usd"].sum()
        assert rows[judge]["cost"]["value"] == pytest.approx(paid / (len(SYSTEMS) * len(TASKS))), "whole calls"
    same_on_the_page("race.md", "judges", printed(done, "preset_race"))


def test_every_label_knows_its_criterions_weight_and_the_report_beside_it(done: Desk) -> None:
    verdicts = done.verdicts("race")
    own = verdicts[verdicts["rater_id"] == "as-published"]
    assert own.groupby("item_id")["weight"].sum().to_numpy() == pytest.approx(1.0)
    assert set(own["beside"]) == set(own["item_id"])
    assert set(own["presentation"]) == {"AB", "BA"}, "of each view one item's report came first"
    assert set(own.loc[own["system_a"] != REFERENCE, "status"]) == {"ok"}
