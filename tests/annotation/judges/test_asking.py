"""What another run of a judge would come to, before anybody asks for it: the calls that a worker would make."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from sqlalchemy import Engine, select

from annotation.errors import AnnotationError
from annotation.judges.planning.plan import plan_judges
from annotation.judges.planning.requests import can_be_asked, forecast
from annotation.judges.reviewing.inspecting import asked_items, calls_on, show_call
from annotation.judges.running.run import run_judges
from annotation.people.principals import Principal
from db.connect import reading, transaction
from db.judge_tables import Judge, JudgeCall
from db.tables import Report, Study
from tests.annotation.judges.judged_study import PRICE, Stub, attempts, describe, judges, make_study
from tests.small_study import a_person

MINI = f'name = "mini"\nmodel = "openai/x"\nmax_output_tokens = 200\nmax_cost = 5.0\n{PRICE}\n'


@pytest.fixture
def study(engine: Engine) -> int:
    return make_study(engine, 4)


def evaluator(engine: Engine, study: int) -> Principal:
    with transaction(engine) as session:
        return a_person(session, study, "Eva", "evaluator")


def run(engine: Engine, study: int, toml: str = MINI, **how: Any) -> None:
    plan_judges(engine, study, judges(toml), describe=describe)
    run_judges(engine, study, judges(toml), transport=Stub(), **how)


def edit_a_text(engine: Engine) -> None:
    with transaction(engine) as session:
        report = session.scalars(select(Report).order_by(Report.id)).first()
        assert report is not None
        report.shown_text += "More."
        report.shown_sha256 = hashlib.sha256(report.shown_text.encode()).hexdigest()


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    "how", ['order = "both"', 'order = "random"', 'order = "both"\nrepeats = 2', 'batching = "by_category"']
)
def test_what_is_new_is_counted_and_priced_as_planning_would_do_it(engine: Engine, study: int, how: str) -> None:
    toml = MINI + how
    run(engine, study, toml)
    eva = evaluator(engine, study)
    nothing = forecast(engine, eva, "mini")
    assert (nothing.waiting, nothing.new, nothing.estimate.calls, nothing.max_cost) == (0, 0, 0, 5.0)
    assert nothing.spent > 0
    edit_a_text(engine)
    found = forecast(engine, eva, "mini")
    (plan,) = plan_judges(engine, study, judges(toml), describe=describe, write=False)
    assert (found.new, found.estimate) == (plan.added, plan.estimate)
    assert found.new > 0


def test_calls_that_stand_planned_are_part_of_it_and_nothing_is_written(engine: Engine, study: int) -> None:
    run(engine, study, limit=3)
    eva = evaluator(engine, study)
    whole = plan_judges(engine, study, judges(MINI.replace("mini", "other")), describe=describe, write=False)[
        0
    ].estimate
    found = forecast(engine, eva, "mini")
    assert (found.waiting, found.new, found.estimate.calls) == (5, 0, 5)
    assert found.estimate.likely is not None
    assert whole.likely is not None
    assert found.estimate.likely == pytest.approx(whole.likely * 5 / 8, rel=0.01)
    assert found == forecast(engine, eva, "mini")
    assert len(attempts(engine)) == 3


@pytest.mark.databases("sqlite")
def test_settings_and_repeats_of_the_last_run_count(engine: Engine, study: int) -> None:
    run(engine, study)
    run(engine, study, MINI + "params = {temperature = 1}\nrepeats = 2", limit=1)
    found = forecast(engine, evaluator(engine, study), "mini")
    assert (found.waiting, found.new) == (15, 0)


def test_only_judges_that_ran_and_are_real_can_be_asked_by_an_evaluator(engine: Engine, study: int) -> None:
    eva = evaluator(engine, study)
    with reading(engine) as session:
        assert can_be_asked(session, eva) == ()
    run(engine, study)
    with reading(engine) as session:
        assert can_be_asked(session, eva) == ("mini",)
    with pytest.raises(AnnotationError, match="has not run here"):
        forecast(engine, eva, "other")
    with transaction(engine) as session:
        ada = a_person(session, study)
        session.scalars(select(Judge)).one().is_simulated = True
    with reading(engine) as session:
        assert can_be_asked(session, eva) == ()
    for refused in (lambda: forecast(engine, ada, "mini"), lambda: asked(engine, ada)):
        with pytest.raises(AnnotationError, match="needs the role evaluator"):
            refused()


@pytest.mark.databases("sqlite")
def test_the_prompt_of_every_call_is_read_before_it_is_sent_and_is_the_one_that_is_sent(
    engine: Engine, study: int
) -> None:
    toml = MINI + 'batching = "by_category"\nconcurrency = 1'
    plan_judges(engine, study, judges(toml), describe=describe)
    eva = evaluator(engine, study)
    items = asked(engine, eva)["mini"]
    assert list(items.values()) == [f"Rivers {n}" for n in range(4)]
    with reading(engine) as session:
        row = session.get_one(Study, study)
        calls = [one for item in items for one in calls_on(session, eva, "mini", item)]
        assert [(one.pass_no, one.criteria, one.state) for one in calls[:4]] == [
            (1, ("c_one", "c_two"), "planned"), (1, ("d_one",), "planned"),
            (2, ("c_one", "c_two"), "planned"), (2, ("d_one",), "planned"),
        ]  # fmt: skip
        before = {one.call_id: show_call(session, row, one.call_id) for one in calls}
    assert all(call.to_send and not call.attempts for call in before.values())
    run_judges(engine, study, judges(toml), transport=Stub())
    with reading(engine) as session:
        for call_id, call in before.items():
            after = show_call(session, row, call_id)
            assert after.attempts[0].messages == call.to_send
            assert after.to_send == ()
        assert {one.state for one in calls_on(session, eva, "mini", min(items))} == {"done"}


def test_a_call_on_a_text_that_changed_will_not_be_sent(engine: Engine, study: int) -> None:
    plan_judges(engine, study, judges(MINI), describe=describe)
    edit_a_text(engine)
    with reading(engine) as session:
        row = session.get_one(Study, study)
        first = session.scalars(select(JudgeCall.id).order_by(JudgeCall.id)).first()
        assert first is not None
        assert show_call(session, row, first).to_send == ()


def asked(engine: Engine, principal: Principal) -> dict[str, dict[int, str]]:
    with reading(engine) as session:
        return asked_items(session, principal)
