"""Planning writes every order and call before anything is sent, once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Engine, func, select, update

from annotation.errors import AnnotationError
from annotation.judges.defining.judge_file import JudgeDefinition, ModelFacts, Price
from annotation.judges.planning.plan import plan_judges
from annotation.studies import init_study
from db.connect import reading, transaction
from db.judge_tables import Judge, JudgeCall, JudgeCallAssignment, JudgeConfig
from db.people_tables import Enrollment, Rater
from db.tables import Assignment, Item, Study, System
from tests.annotation.judges.judged_study import PRICE, describe, judges, labels, make_study, protocol_text

MINI = f'name = "mini"\nmodel = "openai/gpt-4o-mini"\n{PRICE}\n'


def rows(engine: Engine) -> tuple[int, ...]:
    tables = (Judge, JudgeConfig, JudgeCall, JudgeCallAssignment, Assignment, Rater)
    with reading(engine) as session:
        return tuple(session.scalar(select(func.count()).select_from(table)) or 0 for table in tables)


def test_planning_twice_adds_nothing_and_more_repeats_add_the_difference(engine: Engine) -> None:
    study = make_study(engine, 4)
    by_category = MINI + 'batching = "by_category"\n'
    (plan,) = plan_judges(engine, study, judges(by_category), describe=describe)
    assert (plan.items, plan.calls, plan.added, plan.price_source) == (4, 16, 16, "user")  # x 2 orders x 2 categories
    assert rows(engine) == (1, 1, 16, 16, 8, 1)
    (again,) = plan_judges(engine, study, judges(by_category), describe=describe)
    assert (again.calls, again.added, again.waiting, again.estimate.calls) == (16, 0, 16, 16), "none was made yet"
    assert rows(engine) == (1, 1, 16, 16, 8, 1)
    (more,) = plan_judges(engine, study, judges(by_category + "repeats = 3\n"), describe=describe)
    assert (more.calls, more.added) == (48, 32)
    with reading(engine) as session:
        passes = session.execute(
            select(Assignment.pass_no, Assignment.repeat_no, Assignment.left, Assignment.source)
            .where(Assignment.item_id == 1)
            .order_by(Assignment.pass_no)
        ).all()
    assert [tuple(row) for row in passes] == [
        (1, 1, "A", "judge"), (2, 1, "B", "judge"), (3, 2, "A", "judge"), (4, 2, "B", "judge"), (5, 3, "A", "judge"),
        (6, 3, "B", "judge"),
    ]  # fmt: skip


@pytest.mark.databases("sqlite")
def test_an_estimate_writes_nothing(engine: Engine) -> None:
    study = make_study(engine, 3)
    (plan,) = plan_judges(engine, study, judges(MINI), describe=describe, write=False)
    assert (plan.calls, plan.added, plan.estimate.calls) == (6, 6, 6)
    assert plan.estimate.low is not None
    assert plan.estimate.worst is not None
    assert plan.estimate.low < plan.estimate.worst
    assert rows(engine) == (0, 0, 0, 0, 0, 0)


@pytest.mark.databases("sqlite")
def test_two_judges_with_the_same_settings_have_their_own_calls(engine: Engine) -> None:
    study = make_study(engine, 2)
    plans = plan_judges(engine, study, judges(MINI, MINI.replace("mini", "twin", 1)), describe=describe)
    assert [plan.added for plan in plans] == [4, 4]


@pytest.mark.databases("sqlite")
def test_excluded_empty_and_attention_pairs_are_not_judged(engine: Engine) -> None:
    study = make_study(engine, 4)
    with transaction(engine) as session:
        items = session.scalars(select(Item).order_by(Item.id)).all()
        items[0].excluded_at = items[0].created_at
        items[1].purpose = "attention"
        session.add(Assignment(study_id=study, item_id=items[1].id, purpose="attention", plan_seed=1, left="A"))
        session.add(Assignment(study_id=study, item_id=items[2].id, purpose="label", plan_seed=1, left="A"))
    (plan,) = plan_judges(engine, study, judges(MINI), describe=describe)
    assert plan.items == 2


@pytest.mark.databases("sqlite")
def test_a_changed_question_is_asked_again_and_nothing_else(engine: Engine) -> None:
    study = make_study(engine, 2)
    one_each = judges(MINI + 'batching = "one_criterion"\n')
    assert plan_judges(engine, study, one_each, describe=describe)[0].added == 12
    with transaction(engine) as session:
        init_study(session, "small", protocol_text().replace("better on c_two", "far better on c_two"), 7)
    assert plan_judges(engine, study, one_each, describe=describe)[0].added == 4


@pytest.mark.databases("sqlite")
def test_effective_parameters_are_resolved_once_and_named(engine: Engine) -> None:
    study = make_study(engine, 1)
    cold = judges(MINI + "params = {temperature = 0, top_p = 0.5}\n")

    def picky(judge: JudgeDefinition) -> ModelFacts:
        return replace(describe(judge), params={"top_p": 0.5}, dropped=("temperature",))

    (plan,) = plan_judges(engine, study, cold, describe=picky)
    assert plan.warnings[0].endswith("temperature is not accepted by openai/gpt-4o-mini; temperature: provider default")
    # a newer litellm that takes temperature does not change what this configuration means
    assert plan_judges(engine, study, cold, describe=describe)[0].added == 0
    with reading(engine) as session:
        (config,) = session.scalars(select(JudgeConfig)).all()
    assert config.asked_params == {"temperature": 0, "top_p": 0.5}
    assert config.params == {"top_p": 0.5, "seed": "repeat_no"}
    assert (config.price, config.price_source) == ({"input": 0.15, "output": 0.6, "cached": 0.075}, "user")
    warmer = judges(MINI + "params = {temperature = 1, top_p = 0.5}\n")
    (other,) = plan_judges(engine, study, warmer, describe=describe)
    assert other.added == 2
    assert any("had other settings before" in text for text in other.warnings)


def test_settings_that_are_no_part_of_the_configuration_plan_nothing_new(engine: Engine) -> None:
    study = make_study(engine, 2)
    plan_judges(engine, study, judges(MINI), describe=describe)
    changed = MINI.replace("0.15", "0.30") + "rpm = 9\nconcurrency = 3\nmax_cost = 2.0\ntimeout_s = 5\n"
    assert plan_judges(engine, study, judges(changed), describe=describe)[0].added == 0
    with reading(engine) as session:
        assert session.scalars(select(Judge.max_cost)).one() == 2.0


@pytest.mark.databases("sqlite")
def test_a_prompt_over_the_context_window_is_never_sent(engine: Engine) -> None:
    study = make_study(
        engine, 3, text=lambda number, side: f"{side}{number} " + "word " * (4_000 if number == 1 else 10)
    )
    tight = lambda judge: replace(describe(judge), context_tokens=4_000)  # noqa: E731
    (plan,) = plan_judges(engine, study, judges(MINI), describe=tight)
    assert (plan.calls, plan.added, plan.too_long, plan.estimate.calls) == (6, 6, 2, 4)
    found = labels(engine)
    assert {(row["status"], row["choice"], tuple(row["flags"])) for row in found} == {
        ("missing", None, ("input_too_long",))
    }
    assert len(found) == 6
    with reading(engine) as session:
        states = session.execute(select(JudgeCall.state, JudgeCall.outcome).order_by(JudgeCall.id)).all()
    assert [tuple(row) for row in states].count(("failed", "input_too_long")) == 2


@pytest.mark.databases("sqlite")
def test_a_judge_of_a_systems_family_is_warned_about_before_money_is_spent(engine: Engine) -> None:
    study = make_study(engine, 1)
    own = judges('name = "g"\nmodel = "openrouter/google/gemini-2.5-flash"')
    (plan,) = plan_judges(engine, study, own, describe=describe, write=False)
    assert [text.split("'")[3] for text in plan.warnings] == ["encyclo-reference", "zeta-agent-9"]


@pytest.mark.databases("sqlite")
def test_refusals_come_before_the_first_row(engine: Engine) -> None:
    study = make_study(engine, 2)
    good = MINI
    blind = 'name = "blind"\nmodel = "x/y"\nmax_cost = 1.0\n'
    with pytest.raises(AnnotationError, match="judge 'blind' has max_cost but no known price"):
        plan_judges(engine, study, judges(good, blind), describe=describe)
    with transaction(engine) as session:
        rater = Rater(kind="human", handle="Ann")
        session.add(rater)
        session.flush()
        session.add(Enrollment(study_id=study, rater_id=rater.id, role="annotator", pseudonym="ann"))
    with pytest.raises(AnnotationError, match="judge 'ann': a person of this study has that name"):
        plan_judges(engine, study, judges(good, 'name = "ann"\nmodel = "x/y"'), describe=describe)
    with transaction(engine) as session:
        session.execute(update(System).values(is_reference=True))
    first = good + 'order = "first_only"\nfirst_report = "reference"\n'
    with pytest.raises(AnnotationError, match="none or two"):
        plan_judges(engine, study, judges(first), describe=describe)
    with transaction(engine) as session:
        session.execute(update(Study).values(status="locked"))
    with pytest.raises(AnnotationError, match="is locked"):
        plan_judges(engine, study, judges(good), describe=describe)
    assert rows(engine)[:5] == (0, 0, 0, 0, 0)


@pytest.mark.databases("sqlite")
def test_a_price_from_the_map_is_stored_with_its_version(engine: Engine) -> None:
    study = make_study(engine, 1)
    mapped = lambda judge: replace(describe(judge), price=Price(input=1, output=2), price_source="map 1.106.2")  # noqa: E731
    plan_judges(engine, study, judges('name = "j"\nmodel = "x/y"\nmax_cost = 1.0'), describe=mapped)
    with reading(engine) as session:
        config = session.scalars(select(JudgeConfig)).one()
    assert (config.price, config.price_source) == ({"input": 1.0, "output": 2.0}, "map 1.106.2")
    # planning again needs no map
    assert (
        plan_judges(engine, study, judges('name = "j"\nmodel = "x/y"\nmax_cost = 1.0'), describe=describe)[0].added == 0
    )
