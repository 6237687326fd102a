"""Judges rate single reports and label probes: the same texts, rules and labels as people have."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select

from annotation.judges.planning.calls import LabelledItem
from annotation.judges.planning.plan import plan_judges
from annotation.judges.planning.singles import share_calls
from annotation.judges.reviewing.inspecting import show_call
from annotation.judges.reviewing.replies_again import parse_again
from annotation.judges.running.run import run_judges
from annotation.verdicts import load_verdicts
from db.connect import reading, transaction
from db.judge_tables import JudgeCall
from db.tables import Assignment, Criterion, Item, Label, Study
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import (
    PRICE,
    STUB_JUDGE,
    Stub,
    asked_codes,
    attempts,
    describe,
    judges,
    run_stub,
    study_row,
)
from tests.small_study import BESIDE, PROBES, RATING, SYSTEMS, add_probes, make_study, with_reference


def answering(field: str, answer: Callable[[str, str], Any]) -> Callable[[str, int], str]:
    """A reply whose `field` is `answer(id asked, prompt)` for every criterion; None leaves it out."""

    def say(text: str, number: int) -> str:
        given = [(code, answer(code, text)) for code in asked_codes(text)]
        entries = [{"criterion": c, "rationale": "because", field: a} for c, a in given if a is not None]
        return json.dumps({"judgments": entries})

    return say


def stored(engine: Engine) -> list[tuple[int, str, str, str | None]]:
    with reading(engine) as session:
        rows = session.execute(
            select(Item.id, Criterion.code, Label.status, Label.choice)
            .join(Assignment, Assignment.item_id == Item.id)
            .join(Label, Label.assignment_id == Assignment.id)
            .join(Criterion, Criterion.id == Label.criterion_id)
            .order_by(Item.id, Assignment.pass_no, Criterion.position, Label.revision)
        )
        return [(item, code, status, choice) for item, code, status, choice in rows]


@pytest.mark.databases("sqlite")
def test_a_report_is_rated_once_on_each_criterions_own_scale(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path, protocol=RATING)
    stub = Stub(answering("score", lambda code, text: 7 if code == "clear" else 62.5))
    (judge,) = run_stub(engine, study, stub, STUB_JUDGE + "repeats = 2\n").judges
    assert (judge.planned, judge.done, judge.labels) == (18, 18, {"ok": 36})  # nothing to swap: one pass per repeat
    assert {(code, choice) for _, code, _, choice in stored(engine)} == {("clear", "7"), ("deep", "62.5")}
    system, user = (message["content"] for message in stub.requests[0]["messages"])
    assert "Score: a whole number from 0 to 10 (0 = not at all; 5 = in part; 10 = fully)." in user
    assert "Score: a number from 0 to 100 in steps of 0.5." in user
    assert re.search(r"<report-([0-9a-f]{8})>\n# .*</report-\1>", user, re.S)
    assert "<reference-" not in user + system
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, study))
    assert set(verdicts["presentation"]) == {None}
    assert sorted(set(verdicts["run"])) == [1, 2]
    assert not verdicts["cost_usd"].isna().any()


@pytest.mark.parametrize(
    ("score", "status"),
    [(10, "ok"), ("7", "ok"), (11, "invalid"), (-1, "invalid"), (4.9, "invalid"), ("good", "invalid"),
     ("not_applicable", "invalid"), (True, "invalid"), (None, "missing")],
)  # fmt: skip
def test_a_score_off_its_scale_is_never_a_label(sqlite: Engine, tmp_path: Path, score: Any, status: str) -> None:
    study = make_study(sqlite, tmp_path / "reports", protocol=RATING)
    stub = Stub(answering("score", lambda code, text: score if code == "clear" else 50))
    run_stub(sqlite, study, stub, STUB_JUDGE, limit=1)
    assert [row[2] for row in stored(sqlite)] == [status, "ok"]
    assert all((choice is not None) == (status == "ok") for _, _, status, choice in stored(sqlite))


def test_not_applicable_is_a_score_where_the_protocol_says_so(sqlite: Engine, tmp_path: Path) -> None:
    allowed = RATING.replace("[answers]", "[answers]\nallow_not_applicable = true")
    study = make_study(sqlite, tmp_path / "reports", protocol=allowed)
    stub = Stub(answering("score", lambda code, text: "not_applicable"))
    run_stub(sqlite, study, stub, STUB_JUDGE, limit=1)
    assert [row[3] for row in stored(sqlite)] == ["not_applicable"] * 2
    assert 'Answer "not_applicable" instead of a score' in stub.requests[0]["messages"][0]["content"]


@pytest.mark.databases("sqlite")
def test_a_reference_is_shown_beside_and_not_rated(engine: Engine, tmp_path: Path) -> None:
    with_reference(tmp_path)
    study = make_study(engine, tmp_path, protocol=BESIDE)
    stub = Stub(answering("score", lambda code, text: 5))
    (judge,) = run_stub(engine, study, stub).judges
    assert (judge.planned, judge.labels) == (6, {"ok": 12})
    for request in stub.requests:
        user = request["messages"][1]["content"]
        assert re.search(r"<report-(\w+)>.*</report-\1>\s+<reference-\1>.*in manner 3.*</reference-\1>", user, re.S)
        assert not any(name in json.dumps(request["messages"]) for name in SYSTEMS)


@pytest.mark.databases("sqlite")
def test_a_probe_is_labelled_against_what_people_see(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path, protocol=PROBES)
    stub = Stub(
        answering("label", lambda code, text: "full" if "It rises twice a day.\n</claim-" in text else " PART ")
    )
    (judge,) = run_stub(engine, study, stub).judges
    assert (judge.planned, judge.labels) == (27, {"ok": 27})
    assert [choice for *_, choice in stored(engine)] == ["full", "part", "part"] * 9
    system, user = (message["content"] for message in stub.requests[0]["messages"])
    assert "  - part: Supported in part, or only for some cases" in system
    assert re.search(r"<report-(\w+)>.*</report-\1>.*<claim-\1>\nIt \w+ twice a day.\n</claim-\1>", user, re.S)
    assert "A source" not in user, "context = report"
    assert asked_codes(user) == ["supported"]


SHARED = STUB_JUDGE + "items_per_call = 2\n"


def by_claim(code: str, text: str) -> str | None:
    """`full` for the claim that rises, nothing for the one that stays: found by the mark its id ends with."""
    mark = code.rpartition(".")[2]
    claim = re.search(rf"<claim-{mark}-\w+>\n(.*)\n", text)
    assert claim is not None
    return None if "stays" in claim[1] else "full" if "rises" in claim[1] else "part"


def test_probes_of_one_report_share_a_call_and_each_gets_its_own_label(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path, protocol=PROBES)
    stub = Stub(answering("label", lambda code, text: by_claim(code, text) if "." in code else "part"))
    (judge,) = run_stub(engine, study, stub, SHARED).judges
    assert (judge.planned, judge.labels) == (18, {"ok": 27}), "2 + 1 probes of each of 9 reports"
    assert [choice for *_, choice in stored(engine)] == ["full", "part", "part"] * 9
    marks = [code for request in stub.requests for code in asked_codes(request["messages"][1]["content"])]
    assert len(set(marks) - {"supported"}) == 18
    (again,) = plan_judges(engine, study, judges(SHARED), describe=describe)
    assert (again.items, again.calls, again.added) == (27, 18, 0)
    before = stored(engine)
    parse_again(engine, study)
    assert stored(engine) == before
    with reading(engine) as session:
        call = show_call(session, study_row(engine, study), attempts(engine)[0].call_id)
    assert [item for item, *_ in call.items] == ["item-00001", "item-00002"]
    assert [(label.item, label.choice) for label in call.labels] == [("item-00001", "full"), ("item-00002", "part")]
    assert {one.unproved for one in call.attempts} == {""}


@pytest.mark.databases("sqlite")
def test_an_answer_that_is_missing_is_missing_for_its_own_probe_alone(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path, protocol=PROBES)
    three = STUB_JUDGE + "items_per_call = 3\n"
    run_stub(engine, study, Stub(answering("label", by_claim)), three)
    assert [row[2:] for row in stored(engine)] == [("ok", "full"), ("ok", "part"), ("missing", None)] * 9
    assert [attempt.kind for attempt in attempts(engine)] == ["first", "reask"] * 9


@pytest.mark.databases("sqlite")
def test_probes_added_later_are_asked_by_themselves(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path, protocol=PROBES)
    definitions = judges(SHARED)
    assert plan_judges(engine, study, definitions, describe=describe)[0].added == 18
    with transaction(engine) as session:
        add_probes(session, session.get_one(Study, study), ("shines", "sleeps"))
    (more,) = plan_judges(engine, study, definitions, describe=describe)
    assert (more.items, more.added) == (45, 9)
    assert plan_judges(engine, study, definitions, describe=describe)[0].added == 0
    with reading(engine) as session:
        assert session.scalar(select(func.count()).select_from(JudgeCall)) == 27


def test_only_probes_that_show_the_very_same_texts_share_a_call() -> None:
    def item(key: int, text: str, topic: int = 1) -> LabelledItem:
        return LabelledItem(key, topic, (text,), 1, 1, names=("Report",), probe="p")

    items = [item(1, "x"), item(2, "y"), item(3, "x"), item(4, "x"), item(5, "x", topic=2)]
    grouped = lambda *standing: [[i.item_id for i in g] for g in share_calls(items, 2, standing)]  # noqa: E731
    assert grouped() == [[1, 3], [2], [4], [5]]
    assert grouped((1,), (3,)) == [[1], [2], [3], [4], [5]]
    assert grouped((1, 4), (9,)) == [[1, 4], [2], [3], [5]]
    assert grouped((1, 2)) == [[1, 3], [2], [4], [5]], "their texts are no longer the same"


@pytest.mark.parametrize(
    ("protocol", "more", "labels"), [(RATING, "", 18), (PROBES, "", 27), (PROBES, "items_per_call = 3", 27)]
)
def test_the_fake_provider_rates_and_labels(
    sqlite: Engine, fake: Fake, tmp_path: Path, protocol: str, more: str, labels: int
) -> None:
    # one scale for both criteria: the fake draws numbers within the schema's bounds
    study = make_study(
        sqlite, tmp_path / "reports", protocol=protocol.replace("scale = {min = 0, max = 100, step = 0.5}\n", "")
    )
    toml = f'name = "j"\nmodel = "openai/fake"\napi_base = "{fake.base}"\n{PRICE}\n{more}\n'
    definitions = judges(toml)
    plan_judges(sqlite, study, definitions)
    (judge,) = run_judges(sqlite, study, definitions).judges
    assert judge.labels == {"ok": labels}
    assert {a.rung for a in attempts(sqlite)} == {"json_schema"}
    assert len({choice for *_, choice in stored(sqlite)}) > 1
