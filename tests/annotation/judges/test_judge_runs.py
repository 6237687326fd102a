"""What an evaluator sees of judge runs: the numbers of `judge status`, and each kind of failure once with an example."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import Engine

from annotation.errors import AnnotationError
from annotation.judges.replies.outcomes import Reply
from annotation.judges.reviewing.judge_standings import judge_runs, standings
from annotation.people.principals import Principal
from db.connect import reading, transaction
from db.judge_tables import JudgeRequest
from db.tables import Study
from tests.annotation.judges.judged_study import Stub, judgments, replied
from tests.disputed_study import judge, make_disputed
from tests.small_study import a_person


def faulty(text: str, number: int) -> str | Reply:
    """A call refused twice, one cut off twice, one half answered twice after a broken try, one in order."""
    if number in (1, 2):
        return "I'm sorry, I cannot compare <b>these</b>."
    if number in (3, 4):
        return replied('{"judgments": [', text, finish_reason="length")
    if number == 5:
        return replied("", text, outcome="server_error", http_status=500, error="upstream\nfailed")
    if number in (6, 7):
        return json.dumps({"judgments": [{"criterion": "clear", "rationale": "x", "winner": "banana"}]})
    return judgments(text, "first")


@pytest.fixture
def runs_of(engine: Engine, tmp_path: Path) -> int:
    study = make_disputed(engine, tmp_path / "reports", judged=False)
    with transaction(engine) as session:
        eva = a_person(session, study, "Eva", "evaluator")
        session.add(JudgeRequest(study_id=study, requested_by=eva.rater_id or 0, judges=["later"]))
    judge(engine, study, "faulty", Stub(faulty), more="concurrency = 1\nparams = {temperature = 0.2}")
    return study


def test_failures_are_counted_by_kind_with_one_example(engine: Engine, runs_of: int) -> None:
    with reading(engine) as session:
        runs = judge_runs(session, Principal(runs_of, "evaluator"))
        assert runs.standings == standings(session, session.get_one(Study, runs_of), repeats=False)
    found = {(one.of, one.kind): (one.count, one.reason, one.example) for one in runs.failures}
    assert found == {
        ("answers", "refused"): (2, "it gives no judgments", "deep: I'm sorry, I cannot compare <b>these</b>."),
        ("answers", "truncated"): (2, "it was cut off at the length limit", 'deep: {"judgments": ['),
        ("answers", "invalid"): (
            1, "the answer is not one of the allowed answers",
            'clear: {"judgments": [{"criterion": "clear", "rationale": "x", "winner": "banana"}]}',
        ),
        ("answers", "missing"): (
            1, "there is no entry for it",
            'deep: {"judgments": [{"criterion": "clear", "rationale": "x", "winner": "banana"}]}',
        ),
        ("tries", "server error"): (1, "HTTP 500", "upstream failed"),
    }  # fmt: skip
    assert all(one.call_id is not None for one in runs.failures)
    (asked,) = runs.asked
    assert asked.params["temperature"] == 0.2
    assert (asked.price_source, asked.price["input"], asked.earlier) == ("user", 0.15, 0)
    assert asked.reported == {"stub": 8}
    assert runs.requests == ("later",)


@pytest.mark.databases("sqlite")
def test_only_evaluators_see_judges(engine: Engine, tmp_path: Path) -> None:
    study = make_disputed(engine, tmp_path / "reports", judged=False)
    with reading(engine) as session:
        assert judge_runs(session, Principal(study, "admin")).standings == ()
        for role in ("annotator", "adjudicator"):
            with pytest.raises(AnnotationError, match="evaluator"):
                judge_runs(session, Principal(study, role))
