"""A judge's wording made from people's verdicts: split first, paid by the queue, measured where nobody looked."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, func, select

from annotation.errors import AnnotationError
from annotation.judges.aligning import align_plan, measuring, spending, trying, wording
from annotation.judges.aligning.search import Scored
from annotation.judges.asking.examples import items_shown_to, judge_prompt, keep_topics_shown
from annotation.judges.asking.own_prompts import refuse_unfit
from annotation.judges.asking.prompt import template_of
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.money.queue_rules import queue_rules
from annotation.judges.planning.plan import plan_judges
from annotation.judges.replies.outcomes import Reply
from annotation.judges.reviewing.replies_again import Said
from annotation.judges.running.run import run_judges
from annotation.judges.stress_tests import stress_plan, stressed_verdicts
from annotation.people.principals import local_admin
from annotation.protocol import parse_protocol
from annotation.studies import clusters_of
from annotation.verdicts import load_verdicts
from app.commands.judges import align
from app.commands.judges.align import _entry, _plan_in_words, shortcuts
from app.results.study_reports import study_report
from db.connect import reading, transaction
from db.judge_tables import Judge, JudgeAttempt, JudgeCall
from db.tables import Study, Topic
from tests.aligned_study import Movable, make_labelled
from tests.annotation.judges.judged_study import STUB_JUDGE, describe, judges, protocol_text
from tests.annotation.judges.test_prompt import material as a_material


def judged(engine: Engine, model: Movable, topics: int = 13, seed: int = 3) -> tuple[int, JudgeDefinition]:
    """A labelled study that judge `mini` has answered whole."""
    study = make_labelled(engine, topics, seed)
    (mini,) = judges(STUB_JUDGE)
    plan_judges(engine, study, [mini], describe=describe)
    run_judges(engine, study, [mini], transport=model)
    return study, mini


def planned(engine: Engine, study: int, mini: JudgeDefinition, count: int = 8, **more: Any) -> align_plan.Alignment:
    given = {"variants": 6, "examples": 2, "budget": 1.0, **more}
    with transaction(engine) as session:
        row = session.get_one(Study, study)
        plan = align_plan.plan_alignment(session, row, mini, "mini-aligned", count, **given)
        align_plan.keep_alignment(session, row, plan)
    return plan


def tried(engine: Engine, study: int, mini: JudgeDefinition, plan: align_plan.Alignment, model: Movable, **more: Any):
    trial = trying.Trial(engine, study, mini, plan, mini, transport=model, describe=describe, **more)
    return trial.run(), trial


def texts(*given: str) -> Callable[..., None]:
    """An optimiser that tries these instructions and nothing else."""

    def search(
        written_from: Sequence[int], chosen_on: Sequence[int], score: Callable[[str, Sequence[int]], list[Scored]],
        rewrite: object, request: str, over: Callable[[], bool], **more: object,
    ) -> None:  # fmt: skip
        for text in given:
            score(text, [*written_from, *chosen_on])

    return search


def test_topics_are_split_by_the_seed_before_anything_is_tried_and_stay_so(sqlite: Engine) -> None:
    model = Movable()
    study, mini = judged(sqlite, model)
    plan = planned(sqlite, study, mini)
    assert (len(plan.written_from), len(plan.chosen_on), len(plan.unseen)) == (4, 4, 5)
    assert len({*plan.seen, *plan.unseen}) == 13
    assert planned(sqlite, study, mini, budget=2.0) == replace(plan, budget=2.0), "a larger budget goes on"
    with pytest.raises(AnnotationError, match="was planned from 'mini' with labels of 8 topics"):
        planned(sqlite, study, mini, count=6)


def test_a_topic_in_two_languages_is_drawn_seen_and_measured_as_one(sqlite: Engine) -> None:
    model = Movable()
    study, mini = judged(sqlite, model, topics=18)
    with transaction(sqlite) as session:
        for number, topic in enumerate(session.scalars(select(Topic).order_by(Topic.id))):
            topic.features = {"cluster_id": f"c{number // 2}"}
    with pytest.raises(AnnotationError, match=r"answered on 9 topics \(18 with each language counted\); 5 to learn"):
        planned(sqlite, study, mini, 5)
    plan = planned(sqlite, study, mini, 4)
    template = wording.with_instructions(template_of(parse_protocol(protocol_text())), "Weigh sources.")
    with transaction(sqlite) as session:
        row = session.get_one(Study, study)
        of = clusters_of(session, row)
        keep_topics_shown(session, row, "mini-aligned", plan.seen, template)
        assert len(align_plan.items_on(session, row, plan.seen)) == 8, "of which its file says that it knows them"
        own = stress_plan.own_account(session, row, mini)
        mean = spending.usd_a_call(session, row, own)
        assert spending.kept_for_measuring(session, row, own, plan.seen) == pytest.approx(1.5 * 20 * mean)
        assert {one.cluster for one in stressed_verdicts.answers_of(session, row, own)} == {*of.values()}
        drawn = [mini.model_copy(update={"examples_drawn": count}) for count in (3, 9)]
        shown = judge_prompt(session, row, drawn[0])
        with pytest.raises(
            AnnotationError, match=r"examples from 9 topics, but 9 \(18 with each language counted\) have"
        ):
            judge_prompt(session, row, drawn[1])
    assert [len({of[key] for key in part}) for part in (plan.written_from, plan.chosen_on, plan.unseen)] == [2, 2, 5]
    assert len({of[key] for key in (*plan.seen, *plan.unseen)}) == 9, "none shares a cluster with another part"
    assert (len(plan.seen), len(plan.unseen)) == (4, 10)
    assert "labels of 2 topics and chosen on 2 more; the one chosen is measured on 5 others" in _plan_in_words(plan, of)
    assert (len({of[key] for key in shown.drawn["topics"]}), len(shown.topics)) == (3, 6)
    aligned = mini.model_copy(update={"name": "mini-aligned", "template": template})
    plan_judges(sqlite, study, [aligned], describe=describe)
    run_judges(sqlite, study, [aligned], transport=model)
    with reading(sqlite) as session:
        found = measuring.beside(session, session.get_one(Study, study), mini, aligned, plan)
    assert {*found.agreement.clusters} == {of[key] for key in plan.unseen}


@pytest.mark.slow
def test_gepa_finds_words_that_help_pays_by_the_queue_and_a_second_run_asks_nothing(sqlite: Engine) -> None:
    model = Movable(3)
    study, mini = judged(sqlite, model)
    plan = planned(sqlite, study, mini, variants=8)
    before = len(model.asked)
    outcome, _ = tried(sqlite, study, mini, plan, model)
    assert outcome.tried >= 8
    assert outcome.best.mean > outcome.start.mean
    assert not outcome.ended
    with reading(sqlite) as session:
        assert not any(session.execute(rows).all() for rows in queue_rules(session).values())
        account = session.scalars(select(Judge)).one()
        assert align_plan.tried_for(session, account) == pytest.approx(outcome.spent)
        assert account.max_cost == mini.max_cost
        paid = select(func.count(JudgeAttempt.id)).join(JudgeCall).where(JudgeCall.stress == align_plan.ALIGN)
        assert session.scalar(paid) == len(model.asked) - before, "every request is a line of the ledger"
    unseen = [f"Report of topic {topic.removeprefix('t')} of" for topic in plan.unseen]
    assert not any(text in asked for text in unseen for asked in model.asked[before:]), "no step sees them"
    asked = len(model.asked)
    again, _ = tried(sqlite, study, mini, plan, model)
    assert (again.best.text, again.tried, len(model.asked)) == (outcome.best.text, outcome.tried, asked)


@pytest.mark.slow
def test_the_budget_is_kept_and_what_measuring_needs_is_set_aside(sqlite: Engine) -> None:
    model = Movable(3)
    study, mini = judged(sqlite, model)
    plan = planned(sqlite, study, mini, variants=50, budget=0.012)
    outcome, trial = tried(sqlite, study, mini, plan, model)
    assert outcome.ended == "the budget"
    assert outcome.spent <= plan.budget - trial.measuring
    assert 0 < trial.measuring < plan.budget
    with pytest.raises(AnnotationError, match="measuring the result alone may take"):
        tried(sqlite, study, mini, replace(plan, budget=trial.measuring), model)
    with pytest.raises(AnnotationError, match="has no price, so no budget can be kept"):
        free = mini.model_copy(update={"price": None, "name": "free"})
        plan_judges(sqlite, study, [free], describe=describe)
        run_judges(sqlite, study, [free], transport=model)
        tried(sqlite, study, free, plan, model)


class TimesOut(Movable):
    """A model whose seventh request never comes back."""

    async def __call__(self, *request: Any) -> Reply:
        reply = await super().__call__(*request)
        return Reply("timeout", 60.0) if len(self.asked) == 7 else reply


def test_one_request_that_timed_out_takes_no_limit_away_and_other_calls_cost_nothing_of_it(sqlite: Engine) -> None:
    model = TimesOut(3)
    study, mini = judged(sqlite, model)
    plan = planned(sqlite, study, mini, variants=50, examples=0, budget=0.005)
    more = mini.model_copy(update={"repeats": 2})
    plan_judges(sqlite, study, [more], describe=describe)
    run_judges(sqlite, study, [more], transport=model)
    with reading(sqlite) as session:
        before = session.scalars(select(Judge)).one()
        unknown = select(func.count(JudgeAttempt.id)).where(JudgeAttempt.cost.is_(None))
        assert session.scalar(unknown) == 1
        own = stress_plan.own_account(session, session.get_one(Study, study), mini)
        mean = spending.usd_a_call(session, session.get_one(Study, study), own)
        calls = session.scalar(select(func.count(JudgeCall.id)))
    assert mean == pytest.approx(before.spent / calls), "what nobody knows counts as much as was reserved for it"
    wordings = texts(*(f"Weigh {number} things." for number in range(50)))
    outcome, trial = tried(sqlite, study, mini, plan, model, search=wordings)
    assert outcome.ended == "the budget"
    assert 0 < outcome.spent <= plan.budget - trial.measuring
    with reading(sqlite) as session:
        paid = select(func.sum(JudgeAttempt.cost)).join(JudgeCall).where(JudgeCall.stress == align_plan.ALIGN)
        assert outcome.spent == pytest.approx(session.scalar(paid))
        assert session.scalars(select(Judge)).one().spent == pytest.approx(before.spent + outcome.spent)
    assert spending.spent_on(sqlite, study, plan) == pytest.approx(outcome.spent)
    assert spending.left_of(sqlite, study, plan) == pytest.approx(plan.budget - outcome.spent)


@pytest.mark.parametrize("budget", [float("nan"), float("inf")])
def test_a_budget_that_is_no_number_of_usd_is_refused(sqlite: Engine, budget: float) -> None:
    study, mini = judged(sqlite, Movable())
    with pytest.raises(AnnotationError, match="say a number of USD"):
        planned(sqlite, study, mini, budget=budget)


def test_a_constant_answer_is_never_chosen_and_one_that_follows_the_order_or_the_length_is_told(sqlite: Engine) -> None:
    model = Movable(3, moves=False, obeys={"obey": "first"})
    study, mini = judged(sqlite, model)
    plan = planned(sqlite, study, mini, examples=0)
    outcome, trial = tried(sqlite, study, mini, plan, model, search=texts("obey the order", "{% raw %}", "x" * 7000))
    assert list(trial.variants) == ["", "obey the order"], "what is no text of instructions is not tried"
    constant = wording.Variant("always", "", answers={1: ("A", "A"), 2: ("A",)})
    assert constant.is_constant(["A", "B"])
    assert not constant.is_constant(["A", "A"])
    shown = wording.with_instructions(template_of(parse_protocol(protocol_text())), "obey the order")
    aligned = mini.model_copy(update={"name": "mini-aligned", "template": shown})
    plan_judges(sqlite, study, [aligned], describe=describe)
    run_judges(sqlite, study, [aligned], transport=model)
    with reading(sqlite) as session:
        found = measuring.beside(session, session.get_one(Study, study), mini, aligned, plan)
    assert set(found.agreement.clusters) == set(plan.unseen)
    assert "in 100 % of answers" in shortcuts(found)["the report shown first"]
    assert outcome.best in trial.variants.values()
    texts_of = ("two", "long"), ("long", "two")
    before = [
        Said(n, f"t{n}", "AB"[n // 4 % 2], 1, "c", 1, "AB"[n % 2], None, texts_of[n // 2 % 2], 0) for n in range(24)
    ]
    longer = [replace(one, verdict="AB"[one.texts[1] == "long"]) for one in before]
    people, topics = {one.thing: [str(one.verdict)] for one in before}, tuple(one.cluster for one in before)
    rules = measuring._shortcuts(list(zip(before, longer, strict=True)), people, topics)
    told = shortcuts(measuring.Beside(found.agreement, rules))
    assert list(told) == ["the longer report"], "neither one answer nor the order"
    assert "in 100 % of answers, 50 % before" in told["the longer report"]


def test_a_judge_with_the_wording_that_was_made_is_never_asked_about_a_topic_that_a_step_saw(sqlite: Engine) -> None:
    model = Movable()
    study, mini = judged(sqlite, model)
    plan = planned(sqlite, study, mini)
    template = wording.with_instructions(template_of(parse_protocol(protocol_text())), "Weigh sources.")
    with transaction(sqlite) as session:
        keep_topics_shown(session, session.get_one(Study, study), "mini-aligned", plan.seen, template)
    aligned = mini.model_copy(update={"name": "mini-aligned", "prompt": "made.txt", "prompt_text": template})
    (made,) = plan_judges(sqlite, study, [aligned], describe=describe)
    assert (made.items, made.calls) == (5, 10)
    asked = len(model.asked)
    run_judges(sqlite, study, [aligned], transport=model)
    assert not any(f"topic {topic.removeprefix('t')} of" in text for topic in plan.seen for text in model.asked[asked:])
    with reading(sqlite) as session:
        row = session.get_one(Study, study)
        verdicts = load_verdicts(session, row)
        assert set(verdicts["cluster_id"][verdicts["rater_id"] == "mini-aligned"]) == set(plan.unseen)
        assert items_shown_to(session, row) == {"mini-aligned": 8}, "what exports say beside its numbers"
        (told,) = (
            one
            for one in study_report(session, local_admin(row), resamples=99).report.warnings
            if one.code == "aligned"
        )
    assert "tried on 8 topics; it has no label there" in told.text
    edited = aligned.model_copy(update={"prompt_text": f"{template}\nCare."})
    other = aligned.model_copy(update={"name": "any"})
    plans = plan_judges(sqlite, study, [edited, other], describe=describe)
    assert [one.items for one in plans] == [5, 5], "edited, or under another name, it was made from the same labels"
    both = edited.model_copy(update={"name": "fourth"})
    shipped = template_of(parse_protocol(protocol_text()))
    unlike = both.model_copy(update={"prompt_text": shipped.replace("careful expert", "stern and hurried")})
    known = both.model_copy(update={"examples": ("item-00001",)})
    told = [
        plan_judges(sqlite, study, [one], describe=describe, write=False)[0].warnings for one in (both, unlike, known)
    ]
    assert ["most like that of 'mini-aligned'" in " ".join(one) for one in told] == [True, False, False]
    with reading(sqlite) as session:
        shown = items_shown_to(session, session.get_one(Study, study))
    assert shown == {"any": 8, "mini-aligned": 8}


def test_what_is_made_from_a_wording_that_was_made_is_asked_about_none_of_the_topics_of_either(
    sqlite: Engine, tmp_path: Path
) -> None:
    model = Movable()
    study, mini = judged(sqlite, model)
    plan = planned(sqlite, study, mini, 4)
    template = wording.with_instructions(template_of(parse_protocol(protocol_text())), "Weigh sources.")
    with transaction(sqlite) as session:
        keep_topics_shown(session, session.get_one(Study, study), "mini-aligned", plan.made_from, template)
    aligned = mini.model_copy(update={"name": "mini-aligned", "prompt": "made.txt", "prompt_text": template})
    plan_judges(sqlite, study, [aligned], describe=describe)
    run_judges(sqlite, study, [aligned], transport=model)
    with reading(sqlite) as session:
        row = session.get_one(Study, study)
        again = align_plan.plan_alignment(session, row, aligned, "second", 4, variants=6, examples=0, budget=1.0)
        known = aligned.model_copy(update={"examples": ("item-00001",)})
        other = align_plan.plan_alignment(session, row, known, "other", 4, variants=6, examples=0, budget=1.0)
    assert (len(again.seen), len(again.unseen), len(again.made_from)) == (4, 5, 8)
    assert again.inherited == plan.seen
    assert {*other.inherited} == {*plan.seen, "t0"}, "the topics of examples that it names, too"
    (tmp_path / "judges.toml").write_text("[[judge]]\n" + STUB_JUDGE.replace('"mini"', '"mini-aligned"'))
    best = SimpleNamespace(template=f"{template}\nWeigh them well.")
    second = align._enter(sqlite, study, tmp_path / "judges.toml", aligned, again, SimpleNamespace(best=best, tried=2))
    drawn = aligned.model_copy(update={"name": "drawn", "examples_drawn": 2})
    plans = plan_judges(sqlite, study, [second, drawn], describe=describe)
    assert [one.items for one in plans] == [5, 9], "examples are drawn from what it was made from already"
    run_judges(sqlite, study, [second, drawn], transport=model)
    with reading(sqlite) as session:
        assert items_shown_to(session, session.get_one(Study, study)) == {"drawn": 4, "mini-aligned": 4, "second": 8}


def test_instructions_are_plain_words_of_a_prompt_that_stays_whole() -> None:
    material = a_material()
    text = "Weigh {{ sources }} over {# style #} 100 %} of the time."
    made = wording.with_instructions(material.template, text)
    refuse_unfit(made, material, "made")
    assert wording.with_instructions(material.template, "") == material.template


def test_the_entry_of_a_new_judge_has_the_keys_of_the_old_one() -> None:
    own = 'name = "mini"\nmodel = "m"\nmax_cost = 1\nparams = {temperature = 0.5, stop = ["x\\n", {odd = true}]}\n'
    own += "batch_api = true\nimages = false\nconcurrency = 4\ntimeout_s = 2.5\n"
    named = SimpleNamespace(name="mini"), SimpleNamespace(name="new", judge="mini"), SimpleNamespace(tried=2)
    (entry,) = tomllib.loads(_entry(f"[[judge]]\n{own}", *named, ["item-00001"]))["judge"]
    assert entry.pop("params") == {"temperature": 0.5, "stop": ["x\n", {"odd": True}]}
    assert [entry.pop(key) for key in ("batch_api", "images", "concurrency", "timeout_s")] == [True, False, 4, 2.5]
    assert entry == {"name": "new", "model": "m", "prompt": "prompts/new.txt", "examples": ["item-00001"]}


@pytest.mark.parametrize(
    ("verdict", "people", "scale", "score"),
    [
        ("A", ["A", "B"], None, 0.5),
        (None, ["A"], None, 0.0),
        ("7", ["9", "5"], (0.0, 10.0), 0.8),
        ("not_applicable", ["5"], (0.0, 10.0), 0.0),
        ("not_applicable", ["not_applicable"], (0.0, 10.0), 1.0),
    ],
)
def test_agreement_is_the_share_that_said_the_same_or_nearness_on_a_scale(
    verdict: str | None, people: list[str], scale: tuple[float, float] | None, score: float
) -> None:
    assert wording.agreement(verdict, [(one, "") for one in people], scale) == pytest.approx(score)
