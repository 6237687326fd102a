"""A judge reads two reports once and rates each of them: one call, two items, every label with its own report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select

from annotation.errors import AnnotationError
from annotation.judges.asking.material import rebuilt_prompt
from annotation.judges.planning.plan import plan_judges
from annotation.judges.reviewing.inspecting import show_call
from annotation.judges.reviewing.replies_again import parse_again
from annotation.judges.running.retrying import plan_again
from annotation.judges.running.run import run_judges
from annotation.verdicts import load_verdicts
from db.connect import reading, transaction
from db.judge_tables import JudgeCall, JudgeCallAssignment
from db.tables import Assignment, Criterion, Item, Label, Report, Study, System, Topic
from db.types import now
from tests.annotation.judges.batched_study import judge as batched_judge
from tests.annotation.judges.batched_study import run_until
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import (
    STUB_JUDGE,
    Stub,
    asked_codes,
    attempts,
    describe,
    judges,
    study_row,
)
from tests.topic_questions import BOTH, ROW_WEIGHTS, add_views, bench_tree, bring_in

SYSTEMS = ("atlas", "borealis", "reference")
MANNERS = {system: f"manner {sum(map(ord, system)) % 97}." for system in SYSTEMS}
RANDOM = f'{STUB_JUDGE}order = "random"\n'
TARGET_FIRST = f'{STUB_JUDGE}order = "first_only"\nfirst_report = "other"\n'
SCORES = {"atlas": 7.5, "borealis": 4.0, "reference": 9.0}


@pytest.fixture
def study(engine: Engine, tmp_path: Path) -> int:
    """Two topics, two systems beside the reference: four views, eight items; 3 and 5 questions a topic."""
    bring_in(engine, bench_tree(tmp_path / "tree"), BOTH)
    add_views(engine)
    return 1


def rates(score: Callable[[str, str], Any]) -> Callable[[str, int], str]:
    """A reply with `score(criterion's own id, system)` for every id asked; None leaves it out."""

    def say(text: str, number: int) -> str:
        shown = dict(re.findall(r"^<report-(first|second)-\w+>\n(.*?)\n</report-", text, re.M | re.S))
        wrote = {place: next(s for s, m in MANNERS.items() if m in body) for place, body in shown.items()}
        given = []
        for code in asked_codes(text):
            own, _, place = code.rpartition(".")
            given.append({"criterion": code, "rationale": f"{own} of it", "score": score(own, wrote[place])})
        return json.dumps({"judgments": [entry for entry in given if entry["score"] is not None]})

    return say


def run(engine: Engine, stub: Stub, toml: str = STUB_JUDGE, **more: Any) -> Any:
    definitions = judges(toml)
    plans = plan_judges(engine, 1, definitions, describe=describe)
    return plans, run_judges(engine, 1, definitions, transport=stub, **more)


def stored(engine: Engine) -> list[dict[str, Any]]:
    """Every label with the system whose report it rates, what came first, and the report's hash that it read."""
    with reading(engine) as session:
        rows = session.execute(
            select(
                Topic.key.label("topic"), System.key.label("system"), Criterion.code, Label.status, Label.choice,
                Label.rationale, Assignment.left, Assignment.pass_no, Assignment.repeat_no, Item.id.label("item"),
                Label.left_sha256, Label.right_sha256, Report.shown_sha256, Label.flags,
            )
            .join(Assignment, Assignment.id == Label.assignment_id)
            .join(Item, Item.id == Assignment.item_id)
            .join(Topic, Topic.id == Item.topic_id)
            .join(Report, Report.id == Item.report_a_id)
            .join(System, System.id == Report.system_id)
            .join(Criterion, Criterion.id == Label.criterion_id)
            .order_by(Item.id, Assignment.pass_no, Criterion.position, Label.revision)
        )  # fmt: skip
        return [row._asdict() for row in rows]


def test_one_call_rates_both_reports_on_every_question_of_their_topic(engine: Engine, study: int) -> None:
    stub = Stub(rates(lambda code, system: SCORES[system]))
    (plan,), summary = run(engine, stub)
    (judge,) = summary.judges
    assert (plan.items, plan.calls) == (4, 8), "four views, each in both orders"
    assert judge.labels == {"ok": 4 * 2 * (3 + 5)}, "two systems, two orders, two reports, 3 + 5 questions"
    labels = stored(engine)
    assert {(row["system"], row["choice"]) for row in labels} == {
        ("atlas", "7.5"), ("borealis", "4"), ("reference", "9"),
    }  # fmt: skip
    for row in labels:
        assert row["rationale"] == f"{row['code']} of it"
        own_first = row["left"] == "A"
        assert row["left_sha256" if own_first else "right_sha256"] == row["shown_sha256"], "A is the item's own report"
    asked = {topic: {row["code"] for row in labels if row["topic"] == topic} for topic in ("1", "2")}
    assert asked == {topic: set(weights) for topic, weights in ROW_WEIGHTS.items()}


@pytest.mark.databases("sqlite")
def test_the_prompt_asks_each_question_of_each_report_and_names_neither(engine: Engine, study: int) -> None:
    stub = Stub(rates(lambda code, system: 5))
    run(engine, stub)
    system, user = (message["content"] for message in stub.requests[0]["messages"])
    assert asked_codes(user)[:4] == ["insight_1.first", "insight_1.second", "insight_2.first", "insight_2.second"]
    assert re.search(
        r"<report-first-(\w{8})>\n.*</report-first-\1>\n\n<report-second-\1>\n.*</report-second-\1>", user, re.S
    )
    assert user.count("Does it show insight, in the way 1, on question 1?") == 1, "its words stand there once"
    assert "Score: a number from 0 to 10." in user
    for request in stub.requests:
        sent = json.dumps(request["messages"])
        assert not any(name in sent for name in SYSTEMS)
        assert "reference" not in sent.lower()
    assert system.startswith("You rate two research reports")


@pytest.mark.parametrize(
    ("batching", "sizes"),
    [("all", [3, 5]), ("by_category", [1, 2, 2, 3]), ("one_criterion", [1] * 8)],
)
def test_batches_are_a_topics_own_groups(engine: Engine, study: int, batching: str, sizes: list[int]) -> None:
    stub = Stub(rates(lambda code, system: SCORES[system]))
    toml = f'{TARGET_FIRST}batching = "{batching}"\n'
    (plan,), summary = run(engine, stub, toml)
    assert plan.calls == 2 * len(sizes), "two systems a topic"
    assert sorted(len(asked_codes(one["messages"][1]["content"])) // 2 for one in stub.requests) == sorted(sizes * 2)
    assert summary.judges[0].labels == {"ok": 2 * 2 * 8}
    assert {row["choice"] for row in stored(engine) if row["system"] == "reference"} == {"9"}
    (again,) = plan_judges(engine, 1, judges(toml), describe=describe)
    assert again.added == 0


@pytest.mark.parametrize(
    ("more", "firsts", "passes"),
    [
        ('order = "first_only"\nfirst_report = "other"', {"target"}, [1]),
        ('order = "first_only"\nfirst_report = "reference"', {"reference"}, [1]),
        ('order = "first_only"\nfirst_report = "other"\nrepeats = 3', {"target"}, [1, 2, 3]),
        ('order = "random"', {"target", "reference"}, [1]),
        ('order = "both"\nrepeats = 2', {"target", "reference"}, [1, 2, 3, 4]),
    ],
)
def test_orders_and_repeats_work_as_for_pairs_and_both_items_share_each(
    engine: Engine, study: int, more: str, firsts: set[str], passes: list[int]
) -> None:
    stub = Stub(rates(lambda code, system: SCORES[system]))
    (plan,), _ = run(engine, stub, f"{STUB_JUDGE}{more}\n")
    assert plan.calls == len(stub.requests) == 4 * len(passes)
    shown = [
        re.findall(r"<report-first-\w+>\n(.*?)</report-first", r["messages"][1]["content"], re.S)[0]
        for r in stub.requests
    ]
    assert {"reference" if MANNERS["reference"] in text else "target" for text in shown} == firsts
    rows = stored(engine)
    assert sorted({row["pass_no"] for row in rows}) == passes
    order = {(row["item"], row["pass_no"]): (row["left"], row["repeat_no"]) for row in rows}
    for (item, number), (left, repeat) in order.items():
        twin = item + 1 if item % 2 else item - 1
        assert order[twin, number] == ({"A": "B", "B": "A"}[left], repeat)
    with reading(engine) as session:
        served = select(func.count(JudgeCallAssignment.assignment_id)).group_by(JudgeCallAssignment.call_id)
        assert set(session.scalars(served)) == {2}


def test_a_random_order_puts_the_reference_first_half_of_the_time(engine: Engine, study: int) -> None:
    run(engine, Stub(rates(lambda code, system: 5)), RANDOM)
    firsts = {row["item"]: row["left"] for row in stored(engine) if row["item"] % 2}
    assert sorted(firsts.values()) == ["A", "A", "B", "B"]


def test_an_order_that_needs_one_reference_is_refused_without_one(engine: Engine, study: int) -> None:
    with transaction(engine) as session:
        session.query(System).update({"is_reference": False})
    with pytest.raises(AnnotationError, match="needs exactly one reference report") as refused:
        run(engine, Stub(), f'{STUB_JUDGE}order = "first_only"\nfirst_report = "reference"\n')
    assert refused.value.code == "no_reference"


@pytest.mark.databases("sqlite")
def test_a_call_is_paid_once_and_each_label_bears_its_share(engine: Engine, study: int) -> None:
    run(engine, Stub(rates(lambda code, system: SCORES[system])))
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, 1))
        paid = sum(one.cost or 0 for one in attempts(engine))
    assert len(verdicts) == 64
    assert verdicts["cost_usd"].sum() == pytest.approx(paid)
    assert set(verdicts["presentation"]) == {"AB", "BA"}
    one_view = verdicts[verdicts["item_id"].isin(["item-00001", "item-00002"])]
    assert one_view.groupby("item_id")["cost_usd"].sum().nunique() == 1, "half of the call each"


@pytest.mark.databases("sqlite")
def test_planning_parsing_showing_and_estimating_again_change_nothing(engine: Engine, study: int) -> None:
    definitions = judges(STUB_JUDGE)
    (told,) = plan_judges(engine, 1, definitions, describe=describe, write=False)
    run(engine, Stub(rates(lambda code, system: SCORES[system])))
    (again,) = plan_judges(engine, 1, definitions, describe=describe)
    assert (told.calls, told.estimate.calls, again.calls, again.added) == (8, 8, 8, 0)
    before = stored(engine)
    parse_again(engine, 1)
    assert stored(engine) == before
    with reading(engine) as session:
        shown = show_call(session, study_row(engine, 1), attempts(engine)[0].call_id)
        rebuilt_prompt(session, attempts(engine)[0].call_id, 1)
    assert [item for item, *_ in shown.items] == ["item-00001", "item-00002"]
    assert {label.choice for label in shown.labels if label.item == "item-00002"} == {"9"}
    assert {one.unproved for one in shown.attempts} == {""}


def test_what_is_missing_of_one_report_is_missing_for_it_alone_and_can_be_asked_again(
    engine: Engine, study: int
) -> None:
    silent = Stub(rates(lambda code, system: None if (code, system) == ("insight_1", "reference") else 5))
    _, summary = run(engine, silent, RANDOM)
    assert summary.judges[0].labels == {"ok": 28, "missing": 4}
    assert [one.kind for one in attempts(engine)] == ["first", "reask"] * 4
    failed = {(row["code"], row["system"]) for row in stored(engine) if row["status"] != "ok"}
    assert failed == {("insight_1", "reference")}
    definitions = judges(RANDOM)
    (retried,) = plan_again(engine, 1, definitions, ["missing"])
    assert retried.calls == 4
    run_judges(engine, 1, definitions, transport=Stub(rates(lambda code, system: 6)))
    assert {row["status"] for row in stored(engine)[-1:]} == {"ok"}


def test_a_text_that_changed_leaves_both_items_of_its_view_without_a_label(engine: Engine, study: int) -> None:
    definitions = judges(RANDOM)
    plan_judges(engine, 1, definitions, describe=describe)
    with transaction(engine) as session:
        report = session.scalars(select(Report).join(Topic).where(Topic.key == "1").order_by(Report.id)).first()
        assert report is not None
        report.shown_text, report.shown_sha256 = "changed", "0" * 64
    run_judges(engine, 1, definitions, transport=Stub(rates(lambda code, system: 5)))
    with reading(engine) as session:
        outcomes = sorted(session.scalars(select(JudgeCall.outcome)))
        shows = (Item.report_a_id == report.id) | (Item.reference_id == report.id)
        left_out = set(session.scalars(select(Item.id).where(shows)))
    assert (outcomes.count("stale"), len(outcomes), len(left_out)) == (1, 4, 2)
    assert not left_out & {row["item"] for row in stored(engine)}


def test_a_view_with_one_item_taken_out_is_not_judged(engine: Engine, study: int) -> None:
    with transaction(engine) as session:
        session.get_one(Item, 2).excluded_at = now()
    (plan,), _ = run(engine, Stub(rates(lambda code, system: 5)))
    assert plan.items == 3


def test_a_prompt_that_is_too_long_is_missing_for_both(engine: Engine, study: int) -> None:
    definitions = judges(RANDOM)
    (plan,) = plan_judges(engine, 1, definitions, describe=lambda judge: replace(describe(judge), context_tokens=10))
    assert plan.too_long == 4
    rows = stored(engine)
    assert {(row["status"], tuple(row["flags"])) for row in rows} == {("missing", ("input_too_long",))}
    assert len(rows) == 32


def test_a_judge_may_not_name_a_mark_that_was_not_asked(engine: Engine, study: int) -> None:
    """`insight_1` alone, without saying of which report, is nobody's score."""

    def say(text: str, number: int) -> str:
        codes = asked_codes(text)
        entries = [{"criterion": code.rpartition(".")[0], "rationale": "r", "score": 5} for code in codes]
        return json.dumps({"judgments": entries})

    _, summary = run(engine, Stub(say), RANDOM)
    assert summary.judges[0].labels == {"missing": 32}


@pytest.mark.parametrize("way", ["one by one", "in a batch"])
def test_the_fake_provider_rates_both(sqlite: Engine, fake: Fake, tmp_path: Path, way: str) -> None:
    bring_in(sqlite, bench_tree(tmp_path / "tree"), BOTH)
    add_views(sqlite)
    toml = batched_judge(fake) if way == "in a batch" else batched_judge(fake).replace("batch_api = true\n", "")
    definitions = judges(toml)
    plan_judges(sqlite, 1, definitions)
    summary = run_judges(sqlite, 1, definitions)
    if way == "in a batch":
        summary = run_until(sqlite, 1, toml, lambda found: found.judges[0].done == 8)
        assert len(fake.batches()) == 1
    assert summary.judges[0].labels == {"ok": 64}
