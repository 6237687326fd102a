"""A run asked for in the app is a row; whoever waits on the command line carries it out, once or again."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from annotation.errors import AnnotationError
from annotation.judges.planning.plan import plan_judges
from annotation.judges.planning.requests import end_request, next_request, planned_judges, request_run
from annotation.people.principals import Principal, local_admin
from db.connect import reading, transaction
from db.judge_tables import JudgeRequest
from db.tables import Study
from tests.annotation.judges.judged_study import STUB_JUDGE, describe, judges, make_study
from tests.small_study import a_person


def ask(engine: Engine, study: int, *names: str, role: str = "evaluator") -> int:
    with transaction(engine) as session:
        return request_run(session, a_person(session, study, f"{role} {names}", role), names)


def test_requests_are_carried_out_in_order_by_whoever_knows_their_judges(engine: Engine) -> None:
    study = make_study(engine, 1)
    assert next_request(engine, study, ["mini"]) is None
    other, mini, every = ask(engine, study, "haiku"), ask(engine, study, "mini"), ask(engine, study)
    first = next_request(engine, study, ["mini"])
    assert first is not None
    assert (first.id, first.judges) == (mini, ("mini",)), "haiku is in somebody else's file"
    assert next_request(engine, study, ["mini"]) == first, "a worker that died had it: it is open still"
    end_request(engine, first.id)
    second = next_request(engine, study, ["mini"])
    assert second is not None
    assert (second.id, second.judges) == (every, ())
    end_request(engine, second.id)
    assert next_request(engine, study, ["mini"]) is None
    assert next_request(engine, study + 1, ["mini", "haiku"]) is None
    with reading(engine) as session:
        row = session.get_one(JudgeRequest, other)
        assert (row.started_at, row.done_at) == (None, None)


@pytest.mark.databases("sqlite")
def test_who_may_not_see_the_study_may_not_start_its_judges(engine: Engine) -> None:
    study = make_study(engine, 1)
    with pytest.raises(AnnotationError, match="needs the role evaluator"):
        ask(engine, study, role="annotator")
    with transaction(engine) as session, pytest.raises(AnnotationError, match="runs judges itself"):
        request_run(session, local_admin(session.get_one(Study, study)))
    with transaction(engine) as session, pytest.raises(AnnotationError, match="needs the role evaluator"):
        request_run(session, Principal(study, "annotator", 1))


@pytest.mark.databases("sqlite")
def test_only_judges_with_a_plan_can_go_on(engine: Engine) -> None:
    study = make_study(engine, 1)
    both = judges(STUB_JUDGE, STUB_JUDGE.replace("mini", "haiku"))
    assert planned_judges(engine, study, both) == ()
    plan_judges(engine, study, both[:1], describe=describe)
    assert [judge.name for judge in planned_judges(engine, study, both)] == ["mini"]
