"""ReportBench again: statements without a source, six votes of two web models each, checked by people; cited ones too."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.results.sources import calibrated
from calibration.results import Estimate
from exports.as_json import as_json
from exports.forms import as_markdown
from exports.pack import tables_of
from exports.sheets.confidence import believed, confidence_levels_table
from exports.sheets.systems import systems_table
from exports.tables import Table
from tests.annotation.judges.conftest import Fake
from tests.annotation.layout_trees import json_lines, put
from tests.studies.desk import Desk, Task, a_desk
from tests.studies.page import same_on_the_page

pytestmark = pytest.mark.slow

SYSTEMS = ("openai-dr", "gemini-dr")
SURVEYS = tuple(f"2401.{number:05}" for number in range(11, 21))
LABELS = ("correct", "incorrect", "cannot_tell")
SHARES = (0.75, 0.20, 0.05)  # how often a statement is each of them
HARD = (0.5, 0.75, 0.9, 0.97)  # how often a vote of the better model says what is so, by kind of statement
WORSE, PERSON = 0.1, 0.93  # the other model's votes are as much worse; how often a person says what is so
JUDGES = """
[[judge]]
name = "pro"
model = "openai/fake-label"
api_base = "{base}"
repeats = 3
price = {{input = 1.25, output = 10.0}}

[[judge]]
name = "flash"
model = "openai/fake-label-{worse}"
api_base = "{base}"
repeats = 3
price = {{input = 0.30, output = 2.50}}

[[panel]]
name = "six-votes"
members = ["pro", "flash"]
"""


def planted_statements() -> dict[str, tuple[str, str, str]]:
    """Statement -> survey, system, and what is so: one for each survey, system and kind."""
    draw = random.Random(11)
    found: dict[str, tuple[str, str, str]] = {}
    for survey, system, hard in itertools.product(SURVEYS, SYSTEMS, HARD):
        truth = draw.choices(LABELS, SHARES)[0]
        found[f"Treatment {len(found) + 1} raises the yield. [[is={truth}@{hard}]]"] = survey, system, truth
    return found


STATEMENTS = planted_statements()


def table(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    lines = csv.DictWriter(out, list(rows[0]))
    lines.writeheader()
    lines.writerows(rows)
    return out.getvalue()


def write_tree(root: Path) -> Path:
    """Their folders: the surveys, one report of each system on each, its statements, cited and not, and the pages."""
    put(
        root / "ReportBench_v1.1.jsonl",
        json_lines(
            {"arxiv_id": one, "title": f"A Survey of {one}", "prompt": f"Write a survey of {one}.",
             "application_domain": "Physics"} for one in SURVEYS
        ),
    )  # fmt: skip
    for survey, system in itertools.product(SURVEYS, SYSTEMS):
        text = f"# A survey of {survey}\n\nWhat was found is told here, at length {SYSTEMS.index(system)}.\n"
        put(root / system / f"{survey}.json", json.dumps({"prompt": "p", "response": text}))
        own = [one for one, about in STATEMENTS.items() if about[:2] == (survey, system)]
        plain = [{"ID": str(n), "statement": one} for n, one in enumerate(own, 1)]
        put(root / "results" / system / survey / "no_citations.csv", table(plain))
        cited = [
            {"ID": f"{survey}-{n}-{system}", "statement": f"Claim {n} on {survey}, version {SYSTEMS.index(system)}.", "url": "https://a.org"}
            for n in range(3)
        ]  # fmt: skip
        put(root / "results" / system / survey / "citations.csv", table(cited))
        for n in range(2):  # the third page could not be fetched
            put(
                root / "results" / system / "raw_texts" / f"{survey}-{n}-{system}.txt",
                f"A page about claim {n} on {survey}, for {system}.",
            )
    return root


def person(task: Task) -> str:
    draw = random.Random(f"{task.person} {task.probe}")
    *_, truth = STATEMENTS[task.probe]
    return truth if draw.random() < PERSON else draw.choice([one for one in LABELS if one != truth])


def by_majority() -> dict[str, float]:
    """Planted: how often people say what the majority says, at 4, 5 and 6 of 6 votes and over all; the AUROC of the
    share; and how often there is no majority. Every outcome of the six votes counted out; a wrong vote takes either
    other answer alike."""
    kept, seen, undecided = dict.fromkeys((4, 5, 6), 0.0), dict.fromkeys((4, 5, 6), 0.0), 0.0
    agree = {True: PERSON, False: (1 - PERSON) / 2}  # that a person says this right, or this one wrong answer
    for hard in HARD:
        odds = [(p, (1 - p) / 2, (1 - p) / 2) for p in [hard] * 3 + [hard - WORSE] * 3]
        for votes in itertools.product(range(3), repeat=6):
            chance = math.prod(odds[place][vote] for place, vote in enumerate(votes)) / len(HARD)
            top = max(range(3), key=votes.count)
            count = votes.count(top)
            if count < 4:
                undecided += chance
                continue
            seen[count] += chance
            kept[count] += chance * agree[top == 0]
    levels = {f"{100 * count / 6:.3g} %": kept[count] / seen[count] for count in kept}
    wrong = {count: seen[count] - kept[count] for count in seen}
    above = sum(kept[one] * wrong[other] * ((one > other) + (one == other) / 2) for one in kept for other in wrong)
    auroc = above / sum(kept.values()) / sum(wrong.values())
    return levels | {"all": sum(kept.values()) / sum(seen.values()), "auroc": auroc, "none": undecided}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, fake_process: Fake) -> Iterator[Desk]:
    """The whole road by commands: their files, people, two models three times, the panel of six votes."""
    fake_process.reset(latency_ms=0)
    with a_desk(tmp_path_factory.mktemp("rb")) as desk:
        write_tree(desk.folder / "rb")
        put(desk.folder / "judges.toml", JUDGES.format(base=fake_process.base, worse=WORSE))
        desk("init", "rb", "--protocol", "rb_noncited", "--seed", "7")
        desk("import", "reports", "rb", "--layout", "reportbench", "--study", "rb")
        desk("import", "probes", "rb/results", "--layout", "reportbench", "--study", "rb")
        desk("invite", "rb", "Ana", "Bo", "Chen")
        desk("pairs", "rb", "--overlap", "2", "--apply")
        desk("open", "rb")
        assert desk.everybody_answers("rb", person) == 2 * len(STATEMENTS)
        desk("judge", "run", "rb", "--judges", "judges.toml", "--concurrency", "16")
        yield desk


@pytest.fixture(scope="module")
def tables(done: Desk) -> dict[str, Table]:
    """What `calipers calibrate rb --judges judges.toml --out out` prints, before any format."""
    found = calibrated("rb", judges=done.folder / "judges.toml", resamples=299)
    return {table.name: table for table in tables_of(found.report, found.verdicts)}


def rows_of(table: Table, *keys: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """Rows as the paper pack has them in JSON, by their first cells."""
    return {tuple(row[key] for key in keys): row for row in json.loads(as_json(table))["rows"]}


def masked(text: str) -> str:
    """Without the fingerprint of the labels: it holds how long calls took."""
    return re.sub(r"sha256 \w+", "sha256 …", text)


def holds(estimate: dict[str, Any], value: float) -> bool:
    return bool(estimate["low"] <= value <= estimate["high"])


def test_the_majority_of_six_votes_is_measured_against_people_at_each_share(tables: dict[str, Table]) -> None:
    planted = by_majority()
    row = rows_of(tables["confidence"], "rater", "confidence")["six-votes [panel]", "share of votes"]
    assert holds(row["accuracy"], planted["all"]), (row["accuracy"], planted)
    levels = rows_of(tables["confidence_levels"], "rater", "level")
    for level in ("66.7 %", "83.3 %", "100 %"):
        assert holds(levels["six-votes [panel]", level]["accuracy"], planted[level]), (level, planted)
    assert holds(row["confidence_auroc"], planted["auroc"])
    open_ones = levels["six-votes [panel]", "no majority"]
    assert open_ones["accuracy"] is None
    assert open_ones["n"] == row["no_majority"] == pytest.approx(planted["none"] * len(STATEMENTS), rel=0.5)
    for name in ("confidence", "confidence_levels"):
        same_on_the_page("reportbench.md", name, masked(as_markdown(tables[name])))


def test_votes_agree_within_a_model_more_or_less_than_between_models_and_both_are_said(
    tables: dict[str, Table],
) -> None:
    rows = rows_of(tables["votes"], "votes")
    assert list(rows) == [
        ("flash among themselves",), ("pro among themselves",), ("flash with pro",), ("all judges together",),
    ]  # fmt: skip
    draws = {"pro among themselves": [(h, h) for h in HARD], "flash with pro": [(h, h - WORSE) for h in HARD]}
    for name, odds in draws.items():  # two votes are equal: both so, or both the same other answer
        equal = sum(p * q + (1 - p) * (1 - q) / 2 for p, q in odds) / len(odds)
        assert holds(rows[(name,)]["percent_agreement"], equal), (name, equal)
    assert rows[("all judges together",)]["fleiss_kappa"]["n"] == 6 * len(STATEMENTS)
    same_on_the_page("reportbench.md", "votes", masked(as_markdown(tables["votes"])))


def test_two_people_of_each_statement_say_how_far_people_agree(tables: dict[str, Table]) -> None:
    people = rows_of(tables["agreement"], "rater")[("annotators among themselves",)]
    equal = PERSON**2 + (1 - PERSON) ** 2 / 2
    (headline,) = [one for one in people.values() if isinstance(one, dict) and one["statistic"] == "percent_agreement"]
    assert holds(headline, equal)
    same_on_the_page("reportbench.md", "agreement", masked(as_markdown(tables["agreement"])))


def test_each_verdict_has_the_precision_and_recall_of_each_model(tables: dict[str, Table]) -> None:
    rows = rows_of(tables["label_rates"], "rater", "label")
    assert len(rows) == 4 * len(LABELS)
    wrong = rows["pro", "incorrect"]
    # people say "incorrect" of what is so, and of what is not; given the former, a vote says so as often as it is right
    share = SHARES[1] * PERSON / (SHARES[1] * PERSON + (1 - SHARES[1]) * (1 - PERSON) / 2)
    found = sum(share * p + (1 - share) * (1 - p) / 2 for p in HARD) / len(HARD)
    assert holds(wrong["recall"], found), (wrong, found)
    same_on_the_page("reportbench.md", "label_rates", masked(as_markdown(tables["label_rates"])))


def test_factual_accuracy_of_each_system_is_there_by_people_and_by_each_judge(tables: dict[str, Table]) -> None:
    titles = [column.title for column in tables["systems"].columns]
    for rater in ("people", "pro", "flash", "six-votes [panel]"):
        assert f"Factual accuracy by {rater}" in titles
    same_on_the_page("reportbench.md", "factual accuracy", masked(as_markdown(tables["systems"])))


def test_cited_statements_whose_page_cannot_be_read_stand_in_a_column_of_their_own(done: Desk) -> None:
    """A third of the pages are gone. The match rate is that of the readable ones, and the unreadable are said beside."""
    done("init", "cited", "--protocol", "rb_cited", "--seed", "7")
    done("import", "reports", "rb", "--layout", "reportbench", "--study", "cited")
    assert f"cited pages not fetched {2 * len(SURVEYS)}" in done(
        "import", "probes", "rb/results", "--layout", "reportbench", "--study", "cited"
    )
    done("invite", "cited", "Ana", "Bo")
    done("pairs", "cited", "--overlap", "2", "--apply")
    done("open", "cited")
    done.everybody_answers("cited", reader)
    found = systems_table(calibrated("cited", resamples=99).report)
    assert found is not None
    told = {column.title: [row[place] for row in found.rows] for place, column in enumerate(found.columns)}
    rates, gone = told["Match rate by people"], told["Sources that cannot be read by people"]
    assert [one.value for one in rates if isinstance(one, Estimate)] == [pytest.approx(0.75, abs=0.2)] * 2
    assert [one.value for one in gone if isinstance(one, Estimate)] == [pytest.approx(1 / 3)] * 2
    same_on_the_page("reportbench.md", "systems", masked(as_markdown(found)))


def reader(task: Task) -> str:
    """Nobody can read the third page of a report; of the others three in four bear the statement out."""
    number = int(task.probe.split()[1])
    if number == 2:
        return "source_unavailable"
    return "true" if random.Random(task.probe).random() < 0.75 else "false"


def test_their_own_votes_come_in_and_a_failed_parse_is_no_vote(done: Desk) -> None:
    """Six lines a statement, as their code writes them: one in twelve is a parse that failed, written as false."""
    lines = []
    for number, (text, (survey, system, truth)) in enumerate(STATEMENTS.items()):
        draw = random.Random(number)
        hard = float(text.rpartition("@")[2].removesuffix("]]"))
        for model, attempt in itertools.product(("gemini-2.5-pro", "gemini-2.5-flash"), (1, 2, 3)):
            failed = draw.random() < 1 / 12
            right = draw.random() < hard
            said = {True: "true", False: "false"}[(truth == "correct") == right]
            lines.append((survey, system, {
                "ID": str(number), "statement": text, "llm_model": model, "attempt": attempt,
                "decision": "false" if failed else said, "reason": "JSON解析失败: Expecting value" if failed else "because",
                "success": "True",
            }))  # fmt: skip
    for survey, system in itertools.product(SURVEYS, SYSTEMS):
        own = [line for at, by, line in lines if (at, by) == (survey, system)]
        put(done.folder / "theirs" / system / survey / "no_citations_web_verification.csv", table(own))
    done("import", "judge-results", "theirs", "--layout", "reportbench", "--study", "rb")
    frame = done.verdicts("rb")
    theirs = frame[frame["rater_id"].str.startswith("gemini")]
    failures = sum("JSON" in line["reason"] for _, _, line in lines)
    assert (theirs["status"] != "ok").sum() == failures > 0
    assert set(theirs.loc[theirs["status"] != "ok", "label"].dropna()) == set()
    report = calibrated("rb", resamples=99).report
    kinds = {one.rater: one.kind for one in believed(report)}
    assert kinds["gemini-2.5-pro"] == kinds["gemini-2.5-flash"] == "votes"
    levels = confidence_levels_table(report)
    assert levels is not None
    same_on_the_page("reportbench.md", "imported", masked(as_markdown(levels)))
