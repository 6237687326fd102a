"""RACE's own scorer (SEEDS 5, measured): 6 against 6 must give .500 whatever a reply lacks, or nothing at all.

There a first missing reference score gives .667, a last one 1.000, a dropped criterion is renormalised away, a repeated
one counts three times, an invented one counts, and words are matched by substring. Here each is a status of one label.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import Engine, select

from annotation.judges.planning.plan import plan_judges
from annotation.protocol import parse_protocol
from annotation.verdicts import load_verdicts
from app.results.reporting import settings_of
from calibration.results import Estimate
from calibration.study.joining import study_of
from calibration.systems.aggregates import AggregateCounts, aggregate_estimates
from db.connect import reading
from db.judge_tables import JudgeConfig
from db.tables import Study
from tests.annotation.judges.judged_study import STUB_JUDGE, Stub, asked_codes, describe, judges
from tests.annotation.judges.test_rated_together import TARGET_FIRST, run, stored
from tests.topic_questions import BOTH, add_views, bench_tree, bring_in

SHARE = 'aggregate = [{name = "RACE", rule = "target_share"}]'
RACE = BOTH.replace("[answers]", f"{SHARE}\n[answers]")
Entries = list[dict[str, Any]]
Damage = Callable[[Entries], Sequence[Any] | str]
FIRST, LAST = "insight_1", "readability_1"  # of topic 1; as RACE asks, the target stands first


def without(*codes: str) -> Damage:
    return lambda entries: [one for one in entries if one["criterion"] not in codes]


def changed(code: str, **values: Any) -> Damage:
    return lambda entries: [one | values if one["criterion"] == code else one for one in entries]


def repeated(code: str, times: int) -> Damage:
    return lambda entries: [one for one in entries for _ in range(times if one["criterion"] == code else 1)]


def both(*damages: Damage) -> Damage:
    def change(entries: Entries) -> Sequence[Any] | str:
        for damage in damages:
            entries = list(damage(entries))
        return entries

    return change


# what the reply lacks -> status of (criterion, system) where it is not ok
CASES: dict[str, tuple[Damage, dict[tuple[str, str], str]]] = {
    "nothing": (lambda entries: entries, {}),
    "the first reference score (theirs: .667)": (without(f"{FIRST}.second"), {(FIRST, "reference"): "missing"}),
    "the last reference score (theirs: 1.000)": (without(f"{LAST}.second"), {(LAST, "reference"): "missing"}),
    "a score inside an entry": (changed(f"{FIRST}.first", score=None), {(FIRST, "atlas"): "invalid"}),
    "a whole criterion (theirs: renormalised)": (
        without("insight_2.first", "insight_2.second"),
        {("insight_2", "atlas"): "missing", ("insight_2", "reference"): "missing"},
    ),
    "one, but given three times (theirs: counted three times)": (
        repeated(f"{FIRST}.first", 3), {(FIRST, "atlas"): "invalid"},
    ),
    "nothing, with one invented (theirs: .647)": (
        lambda entries: [*entries, {"criterion": "novelty_1.first", "rationale": "new", "score": 10}], {},
    ),
    "two ids, for which stand the criterion's text and a part of it": (
        both(changed(f"{LAST}.first", criterion="Readability 1"), changed(f"{FIRST}.second", criterion="insight_1")),
        {(LAST, "atlas"): "missing", (FIRST, "reference"): "missing"},
    ),
    "a number on the scale": (changed(f"{LAST}.second", score=60), {(LAST, "reference"): "invalid"}),
    "a number at all": (changed(f"{LAST}.second", score="6 of 10"), {(LAST, "reference"): "invalid"}),
    "the type of a number": (changed(f"{LAST}.second", score="6"), {}),
    "JSON": (
        lambda entries: "The first report scores 6 throughout, the second as well.",
        {(code, system): "invalid" for code in (FIRST, "insight_2", LAST) for system in ("atlas", "reference")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("lacks", CASES)
def test_six_against_six_is_a_half_or_nothing(sqlite: Engine, tmp_path: Path, lacks: str) -> None:
    engine = sqlite
    damage, failures = CASES[lacks]
    bring_in(engine, bench_tree(tmp_path / "tree", systems=("atlas",)), RACE)
    add_views(engine)
    run(engine, Stub(sixes(damage)), TARGET_FIRST)
    rows = stored(engine)
    assert {(row["topic"], row["code"], row["system"]): row["status"] for row in rows if row["status"] != "ok"} == {
        ("1", *place): status for place, status in failures.items()
    }
    assert {row["choice"] for row in rows} - {None} == {"6"}, "no score was made up"
    assert len(rows) == 2 * (3 + 5), "what failed keeps its row, so nothing is renormalised"
    shares, counts = aggregates(engine)
    assert {system: one.value for system, one in shares.items()} == {"atlas": 0.5, "reference": 0.5}
    # a view without one of its scores has no share, and topic 2 keeps its own
    assert {one.clusters for one in shares.values()} == {1 if failures else 2}
    lost = {system: sum(place[1] == system for place in failures) for system in shares}
    assert {one.system: (one.statuses["asked"], one.statuses["ok"]) for one in counts} == {
        system: (8, 8 - missed) for system, missed in lost.items()
    }


@pytest.mark.databases("sqlite")
def test_scores_of_every_criterion_are_kept_with_their_weights(engine: Engine, tmp_path: Path) -> None:
    bring_in(engine, bench_tree(tmp_path / "tree", systems=("atlas",)), RACE)
    add_views(engine)
    run(engine, Stub(sixes(lambda entries: entries)), TARGET_FIRST)
    kept = table(engine)
    assert kept.groupby("item_id")["weight"].sum().to_numpy() == pytest.approx(1.0)
    assert (kept["weight"] * kept["label"].astype(float)).groupby(kept["item_id"]).sum().to_numpy() == pytest.approx(
        6.0
    )


@pytest.mark.parametrize(
    ("asked", "sent", "dropped"),
    [("{temperature = 0}", {"temperature": 0}, ()), ("{temperature = 0}", {}, ("temperature",)), ("{}", {}, ())],
)
def test_temperature_is_resolved_stored_and_said(
    engine: Engine, tmp_path: Path, asked: str, sent: dict[str, Any], dropped: tuple[str, ...]
) -> None:
    bring_in(engine, bench_tree(tmp_path / "tree", systems=("atlas",)), RACE)
    add_views(engine)
    toml = f"{STUB_JUDGE}params = {asked}\n"
    facts = lambda judge: replace(describe(judge), params=sent, dropped=dropped)  # noqa: E731
    (plan,) = plan_judges(engine, 1, judges(toml), describe=facts)
    with reading(engine) as session:
        config = session.scalars(select(JudgeConfig)).one()
    assert (config.params, config.asked_params) == (
        {"seed": "repeat_no"} | sent,
        {"temperature": 0} if "0" in asked else {},
    )
    said = [one for one in plan.warnings if "temperature: provider default" in one]
    assert len(said) == len(dropped)


def sixes(damage: Damage) -> Callable[[str, int], str]:
    """6 for every id; on topic 1 `damage` is done to the reply, and to that of the re-ask."""

    def say(text: str, number: int) -> str:
        entries = [{"criterion": code, "rationale": "as good", "score": 6} for code in asked_codes(text)]
        said = damage(entries) if "Write on question 1." in text else entries
        return said if isinstance(said, str) else json.dumps({"judgments": said})

    return say


def table(engine: Engine) -> pd.DataFrame:
    with reading(engine) as session:
        return load_verdicts(session, session.get_one(Study, 1))


def aggregates(engine: Engine) -> tuple[dict[str, Estimate], list[AggregateCounts]]:
    """The share of each system by the judge, and the counts behind it."""
    verdicts = table(engine)
    settings = settings_of(parse_protocol(RACE), criteria=verdicts["criterion"], resamples=50)
    found, counts = aggregate_estimates(study_of(verdicts, settings), settings)
    return {one.category.removeprefix("systems: "): one for one in found}, counts
