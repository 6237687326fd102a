"""The facts of a methods section come from the rows, name nobody, and are counted without loading labels."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, select, update

from annotation.facts.judge_facts import judge_facts, public_model
from annotation.facts.study_facts import audit_facts, study_facts
from annotation.people.principals import local_admin
from annotation.planning.looks import keep_plan
from annotation.planning.plan_root import keep_plan_root
from annotation.shown_texts.auditing import audit_study
from annotation.shown_texts.overrides import edit_text, exclude_report
from annotation.studies import init_study
from db.connect import reading, transaction
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeConfig
from db.people_tables import Rater
from db.tables import Assignment, Criterion, Event, Item, Label, Report, Study, System
from db.types import now
from exports.facts import JudgeFacts, StudyFacts, facts_of
from tests.disputed_study import make_disputed
from tests.small_study import PROBES, RATING, a_person, make_study


def facts(engine: Engine, study: int) -> dict[str, Any]:
    with reading(engine) as session:
        return study_facts(session, session.get_one(Study, study))


@pytest.fixture
def disputed(engine: Engine, tmp_path: Path) -> int:
    return make_disputed(engine, tmp_path / "reports")


@pytest.mark.databases("sqlite")
def test_the_names_are_those_that_the_methods_section_knows(engine: Engine, disputed: int) -> None:
    found = facts(engine, disputed)
    assert {*found} == {one.name for one in dataclasses.fields(StudyFacts)}
    assert all({*one} <= {known.name for known in dataclasses.fields(JudgeFacts)} for one in found["judges"])
    assert dataclasses.asdict(facts_of(found))["judges"][0]["name"] == "always-first"


@pytest.mark.databases("sqlite")
def test_a_study_is_counted_as_it_stands(engine: Engine, disputed: int) -> None:
    found = facts(engine, disputed)
    expected = {
        "name": "disputed", "protocol": "small", "protocol_version": 1, "protocol_changed_after_labels": 0,
        "task_type": "pairwise_choice", "task": "Which report is better?", "status": "open", "is_simulated": False,
        "topics": 2, "systems": 2, "reference_systems": 0, "reports": 4, "items": 2, "criteria": 2,
        "languages": ["en"], "pairs": 2, "pairs_possible": 2, "pairs_with_reference": 0, "per_topic_min": 1,
        "per_topic_max": 1, "overlap_min": 2, "overlap_max": 2, "overlap_planned": 2, "annotators": 2, "labels": {"ok": 8},
        "judge_labels": {"ok": 16}, "purposes": {"label": 8}, "imported_labels": 0, "allow_tie": True,
        "allow_not_applicable": False, "rationale_required": True, "rationale_min_length": 5,
        "confidence_asked": False, "citations_stripped": True, "layout": "canonical", "edited_reports": 0,
        "excluded_reports": 0, "blind_until": "open", "revealed_at": None, "labels_after_reveal": 0,
        "after_reveal_left_out": False,
        "unproved_texts": 0, "staff_labelled": 0, "may_see_and_label": False, "items_excluded": 0,
        "stale_labels": 0, "criteria_retired": 0, "retired_labels": 0, "plans_kept": 0, "plan_sha256": None,
        "labels_before_plan": None, "margin_in_protocol": False, "pay_rate": None,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert sum(found["orders"].values()) == 4
    assert found["first_label"] == found["last_label"] == f"{now():%Y-%m-%d}"


@pytest.mark.databases("sqlite")
def test_a_judge_is_told_as_it_was_asked(engine: Engine, disputed: int) -> None:
    first = facts(engine, disputed)["judges"][0]
    assert first["model"] == "openai/always-first"
    assert (first["provider"], first["batching"], first["order"], first["repeats"]) == ("openai", "all", "both", 1)
    assert (first["calls"], first["attempts"], first["imported"], first["settings_tried"]) == (4, 4, False, 1)
    assert first["first_call"] == first["last_call"] == f"{now():%Y-%m-%d}"
    assert len(first["prompt_sha256"]) == 64


@pytest.mark.databases("sqlite")
def test_what_left_the_estimates_is_counted(engine: Engine, disputed: int) -> None:
    with transaction(engine) as session:
        study = session.get_one(Study, disputed)
        one, other = session.scalars(select(Item).order_by(Item.id)).all()
        one.excluded_at = now()
        session.execute(update(Report).where(Report.id == other.report_a_id).values(shown_sha256="0" * 64))
        init_study(session, study.name, study.protocol_text.replace("goes deeper", "digs deeper"), study.seed)
    found = facts(engine, disputed)
    # an item is 2 people x 2 criteria and 2 judges x 2 orders x 2 criteria: 12 labels
    assert (found["items_excluded"], found["excluded_item_labels"]) == (1, 12)
    assert (found["criteria_retired"], found["retired_labels"]) == (1, 6)
    assert found["stale_labels"] == 6
    assert (found["protocol_version"], found["protocol_changed_after_labels"]) == (2, 1)


def test_labels_after_a_reveal_and_on_unproved_texts_are_counted(engine: Engine, disputed: int) -> None:
    with transaction(engine) as session:
        session.get_one(Study, disputed).revealed_at = now()
        assignment = session.scalar(select(Assignment).where(Assignment.source == "app").limit(1))
        criterion = session.scalar(select(Criterion).limit(1))
        assert assignment
        assert criterion
        session.add(
            Label(
                assignment_id=assignment.id, criterion_id=criterion.id, revision=9, choice="tie", after_reveal=True,
                left_sha256="unproved:" + "0" * 64, stripper_version="8",
            )
        )  # fmt: skip
    found = facts(engine, disputed)
    assert (found["labels_after_reveal"], found["unproved_texts"], found["labels"]) == (1, 1, {"ok": 8})
    assert found["revealed_at"] == f"{now():%Y-%m-%d}"


def test_decisions_about_texts_are_counted(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path)
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, study))
        one, two, three, *_ = session.scalars(select(Report).order_by(Report.id)).all()
        flag = {"kind": "name", "text": "alpha", "start": 0, "end": 5}
        two.flags = [{**flag, "resolution": "keep"}, {**flag, "resolution": "mask"}, {**flag, "resolution": None}]
        three.flags = [{**flag, "resolution": None}]
        edit_text(session, admin, one.id, "# Another\n\nText.", "a typo")
        exclude_report(session, admin, three.id, "empty")
    found = facts(engine, study)
    assert found["flags"] == {"keep": 1, "mask": 1, "open": 1}
    assert (found["edited_reports"], found["excluded_reports"], found["restored_reports"]) == (1, 1, 0)


@pytest.mark.databases("sqlite")
def test_the_plan_is_told_relative_to_the_labels(engine: Engine, disputed: int) -> None:
    with transaction(engine) as session:
        study = session.get_one(Study, disputed)
        keep_plan(session, study, {"plan_sha256": "ab" * 32})
        keep_plan(session, study, {"plan_sha256": "cd" * 32})
    found = facts(engine, disputed)
    assert (found["plan_sha256"], found["plans_kept"], found["labels_before_plan"]) == ("ab" * 32, 2, 8)


def test_whoever_only_settled_disputes_is_no_annotator(engine: Engine, disputed: int) -> None:
    with transaction(engine) as session:
        person = a_person(session, disputed, "Cyd", "adjudicator")
        item = session.scalar(select(Item.id).limit(1))
        work = Assignment(
            study_id=disputed, item_id=item, rater_id=person.rater_id, purpose="adjudicate", plan_seed=1, left="A",
            status="submitted", submitted_at=now(),
        )  # fmt: skip
        session.add(work)
        session.flush()
        criterion = session.scalar(select(Criterion.id).limit(1))
        session.add(
            Label(
                assignment_id=work.id, criterion_id=criterion, revision=1, choice="tie", left_sha256="0" * 64,
                stripper_version="8",
            )
        )  # fmt: skip
    found = facts(engine, disputed)
    assert (found["annotators"], found["staff_labelled"], found["purposes"]) == (2, 0, {"adjudicate": 1, "label": 8})


@pytest.mark.databases("sqlite")
def test_a_plan_that_changed_after_its_root_was_kept_says_how_often(engine: Engine, disputed: int) -> None:
    before = facts(engine, disputed)["plan_roots"]
    with transaction(engine) as session:
        study = session.get_one(Study, disputed)
        keep_plan_root(session, study)
        session.scalars(select(Item).limit(1)).one().excluded_at = now()
        keep_plan_root(session, study)
        keep_plan_root(session, study)
    found = facts(engine, disputed)
    assert found["plan_roots"] >= 2
    assert found["plan_roots"] - before in (1, 2), "a plan that stayed as it was is kept once"


def test_the_day_of_an_import_is_no_day_of_labelling(engine: Engine, disputed: int) -> None:
    with transaction(engine) as session:
        session.execute(update(Assignment).where(Assignment.source == "app").values(source="import"))
    found = facts(engine, disputed)
    assert (found["imported_labels"], found["first_label"], found["last_label"]) == (8, None, None)


def test_a_maker_is_known_by_its_name_and_by_its_models(engine: Engine, disputed: int) -> None:
    def own(families: tuple[str, str]) -> list[int | None]:
        with transaction(engine) as session:
            for system, family in zip(session.scalars(select(System)), families, strict=True):
                system.family = family
            session.scalars(select(Judge).where(Judge.name == "steady")).one().family = "openai"
        return [one["own_family_systems"] for one in facts(engine, disputed)["judges"]]

    assert own(("", "")) == [None, None]
    assert own(("OpenAI", "gpt-5-deep")) == [None, 2]
    assert own(("qwen", "")) == [None, 0]


def test_active_hours_and_pay_follow_the_protocol(engine: Engine, disputed: int) -> None:
    with transaction(engine) as session:
        study = session.get_one(Study, disputed)
        text = study.protocol_text.replace("[study]", '[study]\npay = {rate = 12.0, currency = "EUR"}')
        init_study(session, study.name, text, study.seed)
        for one in session.scalars(
            select(Assignment).where(Assignment.source == "app", Assignment.rater_id.is_not(None))
        ):
            end = now() + timedelta(minutes=10 * one.id)
            one.taken_at = end - timedelta(minutes=9)
            span = {"criterion": None, "start": (end - timedelta(minutes=9)).isoformat(), "end": end.isoformat()}
            session.add(
                Event(
                    study_id=disputed, rater_id=one.rater_id, assignment_id=one.id, kind="activity", what="intervals",
                    data={"intervals": [span]}, client_ts=end.isoformat(), created_at=end,
                )
            )  # fmt: skip
    found = facts(engine, disputed)
    assert found["active_hours"] == pytest.approx(4 * 9 / 60)
    assert (found["pay_rate"], found["pay_currency"]) == (12.0, "EUR")
    assert found["pay_total"] == pytest.approx(4 * 9 / 60 * 12)


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(("protocol", "kind"), [(RATING, "pointwise_rating"), (PROBES, "probe_label")])
def test_items_that_are_no_pairs_have_no_sides(engine: Engine, tmp_path: Path, protocol: str, kind: str) -> None:
    found = facts(engine, make_study(engine, tmp_path, protocol=protocol))
    assert (found["task_type"], found["orders"], found["allow_tie"], found["annotators"]) == (kind, {}, None, 0)
    assert "pairs" in found
    assert found["pairs"] is None
    assert {"stale_labels": found["stale_labels"], "labels": found["labels"]} == {"stale_labels": 0, "labels": {}}


def test_nobody_is_named_and_no_host_or_path_is_told(engine: Engine, disputed: int) -> None:
    with transaction(engine) as session:
        last = session.scalars(select(JudgeConfig).order_by(JudgeConfig.id)).all()[-1]
        kept = {
            name: getattr(last, name) for name in ("judge_id", "template", "template_sha256", "structured", "batching")
        }
        for stress, model in (
            (None, "hosted_vllm//home/ada/models/secret-7b"),
            ("paraphrase", "openai/of-a-stress-test"),
        ):
            config = JudgeConfig(
                **kept, sha256=model, model=model, max_output_tokens=9, price={},
                api_base="http://10.1.2.3:8000/v1", asked_params={"top_p": 1}, price_source="none",
                params={"user": "ada@example.org", "temperature": 0.5, "extra_headers": {"x": "sk-1234567890"}},
            )  # fmt: skip
            session.add(config)
            session.flush()
            call = {"key": model, "judge_id": config.judge_id, "config_id": config.id, "stress": stress}
            session.add(JudgeCall(**call, state="done", done_at=now(), criteria=[], shown_sha256=[]))
        handles = [*session.scalars(select(Rater.handle).where(Rater.kind == "human"))]
    told = json.dumps(facts(engine, disputed), ensure_ascii=False)
    assert handles == ["Ada", "Ben"]
    for private in (
        *handles,
        "annotator-01",
        "of-a-stress-test",
        "/home",
        "10.1.2.3",
        "example.org",
        "sk-1234",
        "atlas-9000",
    ):
        assert private not in told
    assert "secret-7b" in told
    assert '"extra_headers": "set"' in told
    assert '"settings_tried": 2' in told


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        ("openai/gpt-4o-mini", "openai/gpt-4o-mini"),
        ("together_ai/meta-llama/Llama-3-70b", "together_ai/meta-llama/Llama-3-70b"),
        ("/data/models/qwen", "qwen"),
        ("hosted_vllm//data/models/qwen/", "qwen"),
        ("~/qwen.gguf", "qwen.gguf"),
        ("C:\\models\\qwen", "qwen"),
        ("openai/http://10.0.0.1/qwen", "qwen"),
        ("ollama/./qwen", "qwen"),
    ],
)
def test_a_model_is_told_without_the_path_of_a_machine(model: str, shown: str) -> None:
    assert public_model(model) == shown


@pytest.mark.databases("sqlite")
def test_an_audit_is_told_without_the_names_of_systems(engine: Engine, disputed: int) -> None:
    with reading(engine) as session:
        audit = audit_study(session, local_admin(session.get_one(Study, disputed)))
    told = audit_facts(audit)
    assert (told["systems"], told["topics"], told["reports"]) == (2, 2, 4)
    assert told["sentence"].startswith("Reports were label-blind, not style-blind")
    assert "atlas" not in json.dumps(told)


@contextmanager
def statements(engine: Engine) -> Iterator[list[str]]:
    sent: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        sent.extend([statement] * (not statement.startswith("PRAGMA")))  # of a connection that wrote before

    event.listen(engine, "before_cursor_execute", note)
    yield sent
    event.remove(engine, "before_cursor_execute", note)


def test_more_labels_cost_no_more_statements(engine: Engine, disputed: int) -> None:
    with statements(engine) as before:
        facts(engine, disputed)
    with transaction(engine) as session:
        attempt = session.scalar(select(JudgeAttempt).limit(1))
        labels = session.scalars(select(Label)).all()
        assert attempt
        for number in range(2, 40):
            for one in labels:
                session.add(
                    Label(
                        assignment_id=one.assignment_id, criterion_id=one.criterion_id, revision=number,
                        choice=one.choice, left_sha256=one.left_sha256, right_sha256=one.right_sha256,
                        stripper_version=one.stripper_version,
                    )
                )  # fmt: skip
    with statements(engine) as after:
        assert facts(engine, disputed)["labels"] == {"ok": 8}
    assert len(after) == len(before) < 60
    assert not any("labels.rationale" in one and "count" not in one for one in after), "rows of labels are never read"


@pytest.mark.databases("sqlite")
def test_judges_are_told_in_the_order_of_their_names_unless_they_were_planned_alone(
    engine: Engine, disputed: int
) -> None:
    with transaction(engine) as session:
        session.add(unasked := Rater(kind="judge", handle="never asked"))
        session.flush()
        session.add(Judge(study_id=disputed, rater_id=unasked.id, name="never asked", family=""))
    with reading(engine) as session:
        assert [one["name"] for one in judge_facts(session, session.get_one(Study, disputed))] == [
            "always-first",
            "steady",
        ]
