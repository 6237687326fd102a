"""Stress tests on rows: copies of a judge's own calls in the same queue and ledger, that are never labels."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import Engine, select, update

from annotation.errors import AnnotationError
from annotation.judges.asking.altered_texts import KINDS, changed_side
from annotation.judges.asking.material import rebuilt_prompt
from annotation.judges.planning.plan import plan_judges
from annotation.judges.replies.outcomes import Reply
from annotation.judges.reviewing.inspecting import show_call
from annotation.judges.reviewing.judge_standings import judge_runs, standings
from annotation.judges.reviewing.replies_again import parse_again
from annotation.judges.running.progress import RunSummary
from annotation.judges.running.run import run_judges
from annotation.judges.stress_tests.stress_plan import StressPlan, plan_stress_test
from annotation.judges.stress_tests.stressed_verdicts import (
    StressedVerdict,
    changed,
    compared,
    family_wins,
    followed,
    stressed_verdicts,
)
from annotation.people.principals import Principal
from annotation.verdicts import load_verdicts
from app.commands.judges.records import remarks
from app.commands.judges.stress import family_by_level, family_in_words
from db.connect import reading, transaction
from db.judge_tables import JudgeCall, JudgeConfig
from db.tables import Report, System
from tests.annotation.judges.judged_study import (
    CODES,
    STUB_JUDGE,
    Stub,
    asked_codes,
    attempts,
    call_states,
    describe,
    judges,
    judgments,
    labels,
    make_study,
    run_stub,
    study_row,
)

SENTENCES = (
    "The river rises in spring when the snow of the mountains melts. It carries *silt* down to the plain. "
    "Farmers have known this for centuries. Dams were built to hold the water back, and some of them failed."
)


def text(number: int, side: str) -> str:
    q = 0.8 if (side == "A") == (number % 2 == 0) else 0.2
    return f"# [[q={q}]] Side {side} of {number}\n\n{SENTENCES}\n\n- a list\n\nSecond thoughts of {side}. {SENTENCES}\n"


def stressed(
    engine: Engine, study: int, kind: str, stub: Stub, toml: str = STUB_JUDGE
) -> tuple[StressPlan, RunSummary]:
    (definition,) = judges(toml)
    plan = plan_stress_test(engine, study, definition, kind, 50, describe=describe)
    return plan, run_judges(engine, study, [definition], transport=stub, stress=kind)


def verdicts(engine: Engine, study: int, kind: str, toml: str = STUB_JUDGE) -> list[StressedVerdict]:
    with reading(engine) as session:
        return stressed_verdicts(session, study_row(engine, study), judges(toml)[0], kind)


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("kind", KINDS)
def test_a_stress_test_asks_the_same_pairs_orders_and_criteria_and_leaves_no_label(engine: Engine, kind: str) -> None:
    study = make_study(engine, 3, text=text)
    own, again = Stub(), Stub()
    run_stub(engine, study, own)
    before = labels(engine)
    with reading(engine) as session:
        table = load_verdicts(session, study_row(engine, study))
    plan, summary = stressed(engine, study, kind, again)
    assert (plan.items, plan.topics, plan.calls, plan.added) == (3, 3, 6, 6)
    assert [judge.done for judge in summary.judges] == [6]
    assert labels(engine) == before
    with reading(engine) as session:
        assert load_verdicts(session, study_row(engine, study)).equals(table)
    parse_again(engine, study)
    assert labels(engine) == before
    asked = [sorted(asked_codes(one["messages"][1]["content"])) for one in again.requests]
    assert asked == [sorted(CODES)] * 6
    assert all(old["messages"] != new["messages"] for old, new in zip(own.requests, again.requests, strict=True))
    found = verdicts(engine, study, kind)
    assert len(found) == 6 * len(CODES)
    assert all(one.own == one.stressed for one in found)


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("kind", ["padding", "authority", "injection"])
def test_only_the_drawn_side_changes_and_it_is_the_same_in_both_orders(engine: Engine, kind: str) -> None:
    study = make_study(engine, 4, text=text)
    run_stub(engine, study, Stub())
    stub = Stub()
    stressed(engine, study, kind, stub)
    seed = study_row(engine, study).seed
    sent = [re.sub(r"\n+</", "\n</", one["messages"][1]["content"]) for one in stub.requests]
    for number in range(4):
        side = changed_side(kind, seed, number + 1)
        other = {"A": "B", "B": "A"}[side]
        both = [user for user in sent if f"Side A of {number}\n" in user]
        assert len(both) == 2
        assert all(f"{text(number, other).strip()}\n</report" in user for user in both)
        assert not any(f"{text(number, side).strip()}\n</report" in user for user in both)


def test_probing_twice_adds_nothing_and_more_pairs_add_only_the_difference(engine: Engine) -> None:
    study = make_study(engine, 5, text=text)
    run_stub(engine, study, Stub())
    (definition,) = judges(STUB_JUDGE)
    estimated = plan_stress_test(engine, study, definition, "padding", 2, describe=describe, write=False)
    assert (estimated.added, estimated.estimate.calls) == (4, 4)
    assert call_states(engine) == {"done": 10}
    assert plan_stress_test(engine, study, definition, "padding", 2, describe=describe).added == 4
    again = plan_stress_test(engine, study, definition, "padding", 2, describe=describe)
    assert (again.added, again.estimate.calls) == (0, 4)  # planned, and still to be paid
    assert plan_stress_test(engine, study, definition, "padding", 5, describe=describe).added == 6


@pytest.mark.databases("sqlite")
def test_a_run_and_a_stress_test_work_on_their_own_calls_alone(engine: Engine) -> None:
    study = make_study(engine, 2, text=text)
    run_stub(engine, study, Stub())
    (definition,) = judges(STUB_JUDGE)
    plan_stress_test(engine, study, definition, "padding", 50, describe=describe)
    plan_stress_test(engine, study, definition, "markdown", 50, describe=describe)
    stub = Stub()
    run_judges(engine, study, [definition], transport=stub)
    assert stub.requests == []
    run_judges(engine, study, [definition], transport=stub, stress="padding")
    assert len(stub.requests) == 4
    with reading(engine) as session:
        (standing,) = standings(session, study_row(engine, study))
    assert (standing.planned, standing.done, standing.unfinished) == (4, 4, 0)


@pytest.mark.databases("sqlite")
def test_a_paraphrase_changes_the_prompt_alone_and_leaves_the_judges_settings_current(engine: Engine) -> None:
    study = make_study(engine, 2, text=text)
    own, again = Stub(), Stub()
    run_stub(engine, study, own)
    stressed(engine, study, "paraphrase", again)
    for old, new in zip(own.requests, again.requests, strict=True):
        assert old["messages"][0] != new["messages"][0]
        assert old["judge"].params == new["judge"].params
        first, second = (one["messages"][1]["content"].rpartition("\n\n")[0] for one in (old, new))
        assert first == second
    with reading(engine) as session:
        configs = session.scalars(select(JudgeConfig).order_by(JudgeConfig.id)).all()
        (standing,) = standings(session, study_row(engine, study))
    assert len({config.template_sha256 for config in configs}) == 2
    assert configs[0].params == configs[1].params
    assert (standing.planned, standing.done) == (4, 4)
    (plan,) = plan_judges(engine, study, judges(STUB_JUDGE), describe=describe)
    assert plan.added == 0
    assert not any("other settings" in warning for warning in plan.warnings)


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_text_is_made_again_and_proved_by_its_hash(engine: Engine, kind: str) -> None:
    study = make_study(engine, 1, text=text)
    run_stub(engine, study, Stub())
    stub = Stub()
    stressed(engine, study, kind, stub)
    with reading(engine) as session:
        calls = session.scalars(select(JudgeCall).where(JudgeCall.stress == kind).order_by(JudgeCall.id)).all()
        for call, sent in zip(calls, stub.requests, strict=True):
            assert [dict(one) for one in rebuilt_prompt(session, call.id, 1).messages] == sent["messages"]
            shown = show_call(session, study_row(engine, study), call.id)
            assert (shown.stress, shown.labels) == (kind, ())


def test_a_stress_test_on_a_text_that_was_replaced_is_not_sent_and_not_compared(engine: Engine) -> None:
    study = make_study(engine, 1, text=text)
    run_stub(engine, study, Stub())
    (definition,) = judges(STUB_JUDGE)
    plan_stress_test(engine, study, definition, "padding", 50, describe=describe)
    with transaction(engine) as session:
        session.execute(update(Report).values(shown_text="Other words.", shown_sha256="0" * 64))
    stub = Stub()
    run_judges(engine, study, [definition], transport=stub, stress="padding")
    assert stub.requests == []
    assert verdicts(engine, study, "padding") == []


@pytest.mark.databases("sqlite")
def test_a_judge_that_likes_length_is_seen_to(engine: Engine) -> None:
    study = make_study(engine, 6, text=text)

    run_stub(engine, study, Stub())
    stressed(engine, study, "padding", Stub(lambda user, _: judgments(user, longer(user))))
    found = verdicts(engine, study, "padding")
    assert {one.stressed == one.side for one in found} == {True}
    scores = compared(found, "padding")
    assert scores.what == "wins"
    assert sum(scores.stressed) > sum(scores.unstressed)


def longer(asked: str) -> str:
    reports = asked.split("<topic-")[-1].split("<report-")
    return "first" if len(reports[1]) > len(reports[2]) else "second"


@pytest.mark.databases("sqlite")
def test_a_judge_that_does_as_a_report_tells_it_follows_every_time_and_one_that_does_not_never(engine: Engine) -> None:
    study = make_study(engine, 6, text=text)
    toml = STUB_JUDGE + "repeats = 2\n"
    run_stub(engine, study, Stub(), toml)
    stressed(engine, study, "injection", Stub(lambda user, _: judgments(user, told(user))), toml)
    scores = followed(verdicts(engine, study, "injection", toml))
    assert scores.what == "follows"
    assert (set(scores.stressed), set(scores.unstressed), scores.noise_known) == ({1.0}, {0.0}, True)
    assert len(scores.stressed) < 6 * 2 * len(CODES), "what was for that report already cannot follow"
    assert compared(verdicts(engine, study, "injection", toml), "injection").what == "wins"


def told(asked: str) -> str:
    """Each order names the place at which the report stands in it."""
    (place,) = re.findall(r"choose the (first|second) report as the best", asked)
    first, second = asked.split("<topic-")[-1].split("<report-")[1:3]
    assert "as the best" in {"first": first, "second": second}[place]
    return str(place)


@pytest.mark.parametrize(
    ("own", "again", "stressed", "scale", "side", "follows"),
    [
        ("A", None, "B", None, "B", [(None, 1.0)]),
        ("A", "A", "A", None, "B", [(0.0, 0.0)]),
        ("tie", "B", "tie", None, "B", [(1.0, 0.0)]),
        ("B", "B", "B", None, "B", []),  # it was so before
        (None, "B", "B", None, "B", []),
        ("A", "A", None, None, "B", [(0.0, None)]),
        ("3", "3", "5", (1.0, 5.0), None, [(0.0, 1.0)]),
        ("3", None, "not_applicable", (1.0, 5.0), "A", [(None, 0.0)]),
        ("5", None, "5", (1.0, 5.0), None, []),
        ("3", None, "5", (1.0, 5.0), "B", []),  # the other of two that are both rated
    ],
)
def test_to_follow_is_to_say_what_was_asked_for_and_was_not_said_before(
    own: str | None,
    again: str | None,
    stressed: str | None,
    scale: tuple[float, float] | None,
    side: str | None,
    follows,
) -> None:
    scores = followed([StressedVerdict(1, "t", "c", side, own, stressed, again, scale)])
    found = [
        (None if one != one else one, None if two != two else two)
        for one, two in zip(scores.unstressed, scores.stressed, strict=True)
    ]
    assert found == follows


@pytest.mark.databases("sqlite")
def test_a_judges_wins_for_its_own_family_are_told_in_each_layout(engine: Engine) -> None:
    study = make_study(engine, 4, text=text)
    with transaction(engine) as session:
        one = session.scalars(select(System).where(System.study_id == study).order_by(System.key)).first()
        assert one is not None
        one.family = "OpenAI"
    toml = STUB_JUDGE.replace(re.search(r'model = "([^"]+)"', STUB_JUDGE)[1], "openai/gpt-5-mini")  # type: ignore[index]
    (definition,) = judges(toml)
    plan_judges(engine, study, [definition], describe=describe)
    run_judges(engine, study, [definition], transport=Stub())
    seen = Stub(lambda asked, _: judgments(asked, "first"))
    stressed(engine, study, "plain", seen, toml)
    sent = ["".join(message["content"] for message in request["messages"]) for request in seen.requests]
    assert all("*silt*" not in prompt and "silt" in prompt for prompt in sent)
    wins = family_wins(verdicts(engine, study, "plain", toml))
    assert len(wins.clusters) == 4 * 2 * len(CODES)
    assert set(wins.stressed) == {0.0, 1.0}  # the first of two, in both orders
    told = family_by_level(wins, "canonical", "plain")
    assert list(told) == ["canonical", "plain", "less"]
    assert told["plain"].value == 0.5
    assert told["less"].value == pytest.approx(told["canonical"].value - 0.5)
    assert "in layout canonical and 50.0 %" in family_in_words(told)


def test_only_pairs_with_one_report_of_the_judges_family_count_for_it() -> None:
    given = [
        StressedVerdict(1, "t", "c", None, "A", "B", family="A"),
        StressedVerdict(2, "u", "c", None, "B", "B", family="B"),
        StressedVerdict(3, "v", "c", None, "tie", None, family="A"),
        StressedVerdict(4, "w", "c", None, "A", "A"),
        StressedVerdict(5, "x", "c", None, "3", "4", scale=(1, 5), family="A"),
    ]
    wins = family_wins(given)
    assert (wins.unstressed, wins.stressed[:2], wins.clusters) == ((1.0, 1.0, 0.5), (0.0, 1.0), ("t", "u", "v"))
    less = family_by_level(wins, "canonical", "plain")["less"]
    assert (less.value, less.n) == (0.5, 2)
    assert family_by_level(family_wins(given[3:]), "canonical", "plain") == {}


@pytest.mark.databases("sqlite")
def test_without_repeats_a_paraphrase_cannot_tell_change_from_noise(engine: Engine) -> None:
    study = make_study(engine, 3, text=text)
    run_stub(engine, study, Stub())
    stressed(engine, study, "paraphrase", Stub(lambda asked, _: judgments(asked, "first")))
    scores = compared(verdicts(engine, study, "paraphrase"), "paraphrase")
    assert (scores.what, scores.noise_known, set(scores.unstressed)) == ("changed", False, {0.0})
    assert sum(scores.stressed) == len(scores.stressed) / 2  # always right before, always first now


@pytest.mark.databases("sqlite")
def test_with_repeats_the_judges_own_noise_is_taken_off(engine: Engine) -> None:
    study = make_study(engine, 3, text=text)
    toml = STUB_JUDGE + "repeats = 2\n"

    run_stub(engine, study, Stub(), toml)
    plan, _ = stressed(engine, study, "paraphrase", Stub(), toml)
    assert plan.calls == 6  # one try of each order, not two
    scores = compared(verdicts(engine, study, "paraphrase", toml), "paraphrase")
    assert scores.noise_known
    assert set(scores.unstressed) | set(scores.stressed) == {0.0}


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("kind", "toml", "code"),
    [
        ("verbosity", STUB_JUDGE, "bad_option"),
        ("padding", STUB_JUDGE + 'order = "first_only"\n', "nothing_to_stress"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_planned(
    engine: Engine, kind: str, toml: str, code: str
) -> None:
    study = make_study(engine, 2, text=text)
    run_stub(engine, study, Stub(), toml)
    with pytest.raises(AnnotationError) as refused:
        plan_stress_test(engine, study, judges(toml)[0], kind, 50, describe=describe)
    assert refused.value.code == code
    assert call_states(engine) == {"done": 2 if "first_only" in toml else 4}


@pytest.mark.databases("sqlite")
def test_plain_layout_is_no_change_where_the_layout_is_plain_and_nothing_is_planned(engine: Engine) -> None:
    study = make_study(engine, 2, text=text, answers='[study]\nlayout = "plain"')
    run_stub(engine, study, Stub())
    with pytest.raises(AnnotationError, match="is plain already"):
        plan_stress_test(engine, study, judges(STUB_JUDGE)[0], "plain", 50, describe=describe)
    assert call_states(engine) == {"done": 4}


@pytest.mark.databases("sqlite")
def test_a_judge_that_has_not_run_is_refused(engine: Engine) -> None:
    study = make_study(engine, 2, text=text)
    with pytest.raises(AnnotationError, match="plan it with: calipers judge run"):
        plan_stress_test(engine, study, judges(STUB_JUDGE)[0], "padding", 50, describe=describe)


def test_stress_tests_are_paid_from_the_judges_budget_and_stand_in_its_ledger(engine: Engine) -> None:
    study = make_study(engine, 2, text=text)
    run_stub(engine, study, Stub())
    paid = len(attempts(engine))
    _, summary = stressed(engine, study, "authority", Stub())
    rows = attempts(engine)
    assert len(rows) == paid + 4
    (judge,) = summary.judges
    assert judge.spent == pytest.approx(sum(row.cost or 0.0 for row in rows))
    with reading(engine) as session:
        (standing,) = standings(session, study_row(engine, study))
    more = standing.money.beside["authority"]
    assert judge.spent == pytest.approx(standing.money.cost + more)
    assert f"stress test authority has cost {more:.4f} USD more" in remarks(standing)


@pytest.mark.databases("sqlite")
def test_a_stress_test_with_no_usable_reply_is_no_verdict_and_nothing_that_went_wrong_in_the_study(
    engine: Engine,
) -> None:
    study = make_study(engine, 2, text=text)
    run_stub(engine, study, Stub())
    bad = Reply("bad_request", 0.1, error="no", http_status=400)
    stressed(engine, study, "padding", Stub(lambda asked, _: "I cannot." if " of 0" in asked else judgments(asked)))
    stressed(engine, study, "authority", Stub(lambda asked, _: bad))
    found = verdicts(engine, study, "padding")
    assert len(found) == 12
    assert changed(found) == [one.stressed != one.own for one in found if one.stressed is not None]
    assert len(changed(found)) == 6
    with reading(engine) as session:
        assert judge_runs(session, Principal(study, "evaluator")).failures == ()


@pytest.mark.databases("sqlite")
def test_a_text_without_markdown_is_not_paid_for_again(engine: Engine) -> None:
    study = make_study(engine, 2, text=lambda number, side: f"[[q={0.2 if side == 'A' else 0.8}]] plain {number}.")
    run_stub(engine, study, Stub())
    plan = plan_stress_test(engine, study, judges(STUB_JUDGE)[0], "markdown", 50, describe=describe)
    assert (plan.calls, plan.left_out, plan.estimate.calls) == (0, 4, 0)
