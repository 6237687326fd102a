"""What each study prints of a system, from a small file made by hand: labels.csv, the shipped protocol, `calibrate`."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from annotation.protocol import read_protocol, shipped_protocols
from tests.studies.desk import Desk

Row = Mapping[str, object]
WLC_CRITERIA = [one.id for one in read_protocol("wlc_writing_39")[0].criterion]


def answers(criterion: str, labels: Sequence[str], **more: object) -> list[Row]:
    """One probe of the report `S t1` a label, in order."""
    rows = [{"item_id": f"probe {n}", "criterion": criterion, "label": one} for n, one in enumerate(labels, 1)]
    return [{"rater_id": "judge", "rater_kind": "judge", "cluster_id": "t1", "system_a": "S", **row, **more} for row in rows]  # fmt: skip


def claims(criterion: str, *sources: Sequence[str]) -> list[Row]:
    """Claims, each with what was said of it before each of its sources; alone a claim has no `claim`."""
    rows: list[Row] = []
    for number, labels in enumerate(sources, 1):
        first = f"claim {number} source 1" if len(labels) > 1 else ""
        for source, label in enumerate(labels, 1):
            (row,) = answers(criterion, [label], item_id=f"claim {number} source {source}", claim=first)
            rows.append(row)
    return rows


def votes(*of_each: str) -> list[Row]:
    """Statements with six votes each: two judges, three runs; c correct, i incorrect, - a reply nobody could read."""
    rows: list[Row] = []
    for number, six in enumerate(of_each, 1):
        for place, vote in enumerate(six):
            label = {"c": "correct", "i": "incorrect", "-": ""}[vote]
            rows += answers(
                "correct", [label], item_id=f"statement {number}", run=1 + place % 6,
                status="ok" if label else "invalid",
            )  # fmt: skip
    return rows


def six_against_six() -> list[Row]:
    """A report and its reference, rated alike on two weighted criteria of their task."""
    sides = [("item 1", "item 2", "agent"), ("item 2", "item 1", "reference")]
    return [
        *(
            {"item_id": own, "beside": other, "system_a": system, "rater_id": "judge", "rater_kind": "judge",
             "cluster_id": "t1", "criterion": name, "label": "6", "weight": weight}
            for own, other, system in sides
            for name, weight in (("insight_1", 0.75), ("insight_2", 0.25))
        )
    ]  # fmt: skip


def table_14() -> list[Row]:
    """DR3-Eval, Table 14 of the later version: five reports, the judge's five scores and the human mean's."""
    columns = ("IR", "FA", "DQ", "IF", "CC")
    judge = (
        (30.00, 46.23, 70, 93.33, 66.67), (40.27, 50.38, 70, 86.67, 66.67), (42.85, 52.25, 70, 64, 16.67),
        (30, 43.84, 60, 77.78, 50), (49.29, 60.33, 70, 84, 71.43),
    )  # fmt: skip
    human = (
        (32.5, 42.76, 72, 92.42, 66.67), (38.68, 53.89, 68, 83.25, 66.67), (40.78, 56.65, 66.86, 62.38, 16.67),
        (31.5, 46.29, 58.76, 75.94, 50), (46.73, 57.83, 73.56, 82.37, 71.43),
    )  # fmt: skip
    return [
        {"item_id": f"report {report}", "cluster_id": f"task {report}", "system_a": f"M{report}", "rater_id": rater,
         "rater_kind": kind, "criterion": name, "label": f"{value:g}"}
        for rater, kind, table in (("judge", "judge", judge), ("experts", "human", human))
        for report, values in enumerate(table, 1)
        for name, value in zip(columns, values, strict=True)
    ]  # fmt: skip


def wlc_1982() -> list[Row]:
    """A result file of theirs, and somebody who always says Wikipedia. The agent wins one criterion of each of the first two categories: 1 of 21, 1 of 8, 0 of 10."""
    won = {WLC_CRITERIA[0], WLC_CRITERIA[21]}
    return [
        {"item_id": "1982", "cluster_id": "1982", "system_a": "agent", "system_b": "wikipedia", "rater_id": "judge",
         "rater_kind": "judge", "criterion": name, "label": "A" if name in won else "B", "presentation": "BA"}
        for name in WLC_CRITERIA
    ]  # fmt: skip


THIRTEEN = ["Supported" if n in {1, 2, 4, 5, 10, 12} else "Omitted" for n in range(1, 14)]
INSIGHTS = [
    *answers("insight", ["full", "partial", "no", "no"], tag="user"),
    *answers("insight", ["full", "full"], tag="sandbox"),
]
PAIRED_UP = [{**row, "item_id": f"{row['tag']} {row['item_id']}"} if "tag" in row else row for row in INSIGHTS]
STUDIES: list[tuple[str, list[Row], dict[tuple[str, str], float]]] = [
    ("drg_keypoints", answers("covered", THIRTEEN), {("KPR", "S"): 6 / 13, ("KPC", "S"): 0 / 13}),
    (
        "drg_citation_support",
        answers("support", ["full", "partial", "no", "source_unavailable", "uncited", "uncited"]),
        {("Precision", "S"): 1.5 / 3, ("Recall", "S"): 4 / 6, ("Cited pages that cannot be read", "S"): 1 / 6},
    ),
    (
        "drg_quality",
        [
            row
            for name, score in [
                ("clarity", "8"),
                ("insightfulness", "6"),
                ("depth", "5"),
                ("balance", "7"),
                ("breadth", "4"),
                ("support", "3"),
            ]
            for row in answers(name, [score])
        ],
        {("Clarity", "S"): 80, ("Insightfulness", "S"): 60, ("All six", "S"): 55},
    ),
    (
        "drg_overall",
        [
            {
                "item_id": topic,
                "cluster_id": topic,
                "system_a": "X",
                "system_b": other,
                "criterion": "overall",
                "label": label,
                "rater_id": "judge",
                "rater_kind": "judge",
            }
            for topic, other, label in [("q1", "Y", "A"), ("q2", "Y", "B"), ("q3", "Y", "A"), ("q4", "Z", "A")]
        ],
        {("Win rate", "X"): 3 / 4, ("Win rate", "Y"): 1 / 3, ("Win rate", "Z"): 0},
    ),
    ("wlc_writing_39", wlc_1982(), {("Writing score", "agent"): 0.05128, ("Writing score", "wikipedia"): 37 / 39}),
    (
        "wlc_fact_coverage",
        answers("coverage", ["consistent", "inconsistent", "not_support", "not_support"]),
        {("Cov. Wiki", "S"): 1 / 4, ("Conflict with Wikipedia", "S"): 1 / 4},
    ),
    (
        "wlc_citation",
        # one good source is enough, and does not hide that the other one says the opposite
        claims("support", ["support", "conflict"], ["not_support"], ["source_unavailable"], ["support"]),
        {
            ("Ref. Acc.", "S"): 2 / 4,
            ("Supported by any source", "S"): 2 / 4,
            ("Conflict with any source", "S"): 1 / 4,
            ("No source could be read", "S"): 1 / 4,
        },
    ),
    (
        "dr3_insights",
        PAIRED_UP,
        # the two parts are averaged: (1.5/4 + 2/2) / 2, and never 3.5/6; a half stays a half
        {("IR", "S"): (1.5 / 4 + 1) / 2, ("IR, binary (in full only)", "S"): (1 / 4 + 1) / 2},
    ),
    ("dr3_citation_coverage", answers("cited", ["yes", "no", "yes"]), {("CC", "S"): 2 / 3}),
    (
        "dr3_factual",
        claims("factual", ["true", "true"], ["true", "false"], ["source_unavailable"], ["true"]),
        {("FA", "S"): 2 / 4, ("FA, by any source", "S"): 3 / 4, ("No source could be read", "S"): 1 / 4},
    ),
    ("dr3_checklist", answers("met", ["true", "false", "true", "true", "true"]), {("IF", "S"): 4 / 5}),
    ("dr3_depth", answers("depth", ["7"]), {("DQ", "S"): 70}),
    (
        "dr3_total",
        table_14(),
        {
            ("Total", "M1"): 306.23 / 5,
            ("Total", "M2"): 313.99 / 5,
            ("Total", "M3"): 245.77 / 5,
            ("Total", "M4"): 261.62 / 5,
            ("Total", "M5"): 335.05 / 5,
            ("DQ", "M4"): 60,
        },
    ),
    ("race", six_against_six(), {("RACE", "agent"): 0.5, ("Weighted score", "agent"): 6}),
    (
        "rb_cited",
        answers("match", ["true", "true", "false", "source_unavailable"]),
        # unreadable sources leave the rate, and stand beside it
        {("Match rate", "S"): 2 / 3, ("Sources that cannot be read", "S"): 1 / 4},
    ),
    (
        "rb_noncited",
        # 3-3 is no majority, for neither side; a reply nobody could read is no vote against
        votes("cccccc", "ccccii", "cccii-", "iiiiic", "ccciii"),
        {("Factual accuracy", "S"): 3 / 4},
    ),
]


def printed(desk: Desk, name: str, rows: list[Row]) -> list[dict[str, Any]]:
    """Every estimate of the report. Where nobody else labelled, a person says the same as the judge's first run."""
    if {row["rater_kind"] for row in rows} == {"judge"}:
        alike = [{**row, "rater_id": "person", "rater_kind": "human"} for row in rows if row.get("run", 1) == 1]
        rows = [*rows, *alike]
    columns = sorted({key for row in rows for key in row})
    with (desk.folder / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    told = desk("calibrate", "labels.csv", "--protocol", name, "--json", "--resamples", "99")
    report, _ = json.JSONDecoder().raw_decode(told)
    return list(report["estimates"])


# one of each way in which answers make a number; the others are made alike
QUICK = {"drg_keypoints", "drg_citation_support", "drg_overall", "wlc_citation", "dr3_insights", "race", "rb_noncited"}


@pytest.mark.parametrize(
    ("name", "rows", "expected"),
    [pytest.param(*study, id=study[0], marks=[pytest.mark.slow] * (study[0] not in QUICK)) for study in STUDIES],
)
def test_a_study_prints_its_own_number(
    desk: Desk, name: str, rows: list[Row], expected: dict[tuple[str, str], float]
) -> None:
    found = {
        (one["criterion"], one["category"].removeprefix("systems: ")): one["value"]
        for one in printed(desk, name, rows)
        if one["statistic"] == "aggregate" and one["rater"] == "judge"
    }
    assert {key: found.get(key, math.nan) for key in expected} == pytest.approx(expected, abs=5e-6)


def test_two_of_39_stand_beside_what_a_constant_answer_agrees_with(desk: Desk) -> None:
    theirs = wlc_1982()
    constant = [{**row, "rater_id": "wikipedia", "rater_kind": "human", "label": "B"} for row in theirs]
    estimates = printed(desk, "wlc_writing_39", [*theirs, *constant])
    (agreement,) = [one for one in estimates if (one["statistic"], one["criterion"]) == ("percent_agreement", "all")]
    assert agreement["value"] == pytest.approx(37 / 39)
    assert (agreement["n"], agreement["clusters"]) == (39, 1), "one pair is one cluster: no interval from it"
    assert agreement["low"] is None


def failed(rows: list[Row], **about: str) -> list[Row]:
    """The rows, of which one is a reply that nobody could read."""
    return [{**row, "label": "", "status": "invalid"} if about.items() <= row.items() else row for row in rows]


@pytest.mark.parametrize(
    ("name", "rows", "total"),
    [
        # theirs: a failed score enters as -1 or 0, so that four at 80 and one failure make 63.8 or 64.0
        ("dr3_total", failed(table_14(), item_id="report 1", criterion="DQ", rater_id="judge"), ("Total", "M1")),
        # theirs: the last score of the reference missing makes 6 against 6 a 1.000, the first .667
        ("race", failed(six_against_six(), system_a="reference", criterion="insight_2"), ("RACE", "agent")),
    ],
)
def test_a_failed_score_is_missing_and_never_a_number(
    desk: Desk, name: str, rows: list[Row], total: tuple[str, str]
) -> None:
    of_judge = [
        one["value"]
        for one in printed(desk, name, rows)
        if one["statistic"] == "aggregate"
        and one["rater"] == "judge"
        and (one["criterion"], one["category"].removeprefix("systems: ")) == total
    ]
    assert of_judge in ([], [None])


def test_every_shipped_aggregate_is_rebuilt_here() -> None:
    named = {name for name in shipped_protocols() if read_protocol(name)[0].aggregate}
    assert {name for name, *_ in STUDIES} == named
