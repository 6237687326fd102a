"""Where judges and annotators differ: counted from verdicts, shown in one order, without names until they may be."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.judges.reviewing.disagreements import (
    Filters,
    compare_answers,
    compared_answers,
    disagreements,
    look_at,
    narrowed,
    sent_call,
)
from annotation.people.principals import Principal
from annotation.work.open_and_close import move_study
from db.connect import reading, transaction
from db.tables import Study
from tests.annotation.result_trees import bring_results, labels_file
from tests.disputed_study import EVIL, QUOTE, SYSTEMS, make_disputed
from tests.small_study import make_study

pytestmark = pytest.mark.databases("sqlite")  # but where a test says otherwise


def verdicts(*answers: tuple[str, str], **columns: Any) -> pd.DataFrame:
    """One question; each answer by whom (a name in capitals is a judge) and what."""
    rows = [
        {"rater_id": who, "rater_kind": "judge" if who.isupper() else "human", "label": label, "item_id": "item-00001",
         "criterion": "clear", "cluster_id": "t", "category": "", "system_a": "x", "system_b": "y", "run": 1,
         "pass_no": 1, "status": "ok"} | columns
        for who, label in answers
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("judge", "people", "kind", "unlike"),
    [
        (["A"], ["A"], "", 0),
        (["A"], ["B"], "hard", 1),
        (["A"], ["tie"], "soft", 1),
        (["tie"], ["B", "tie"], "soft", 1),
        (["not_applicable"], ["A"], "soft", 1),
        (["A", "B"], ["A"], "hard", 1),
        (["A", "B"], ["A", "B"], "hard", 2),
        (["A", "tie"], ["A", "tie"], "soft", 2),
        (["7"], ["8"], "soft", 1),
        (["7"], ["9"], "hard", 1),
        (["full"], ["part"], "hard", 1),
    ],
)
def test_hard_contradicts_and_soft_is_a_tie_or_a_neighbour(
    judge: list[str], people: list[str], kind: str, unlike: int
) -> None:
    frame = verdicts(*(("MINI", label) for label in judge), *((f"p{n}", label) for n, label in enumerate(people)))
    (row,) = compare_answers(frame, {"clear": 1.0}).to_dict("records")
    assert (row["kind"], row["unlike"], row["compared"]) == (kind, unlike, len(judge) * len(people))


@pytest.mark.parametrize(
    ("scale", "answers", "kinds"),
    [
        ((), ("7.1", "7.2", "7.1"), ("unlike scores", "")),
        ((), ("2", "3", "0"), ("soft", "hard")),
        ((), ("50", "75", "0"), ("hard", "hard")),  # of which nothing says that there is none between
        ((), ("1", "0", "1"), ("hard", "")),
        (("1", "2", "4"), ("2", "4.0", "1"), ("soft", "soft")),
        (("1", "2", "4"), ("1", "4", "3"), ("hard", "hard")),
        (("none", "mild", "severe"), ("none", "mild", "severe"), ("soft", "hard")),
        (("fail", "pass"), ("fail", "pass", "fail"), ("hard", "")),
    ],
    ids=str,
)
def test_neighbours_are_those_of_the_declared_scale_or_of_three_whole_numbers(
    scale: tuple[str, ...], answers: tuple[str, str, str], kinds: tuple[str, str]
) -> None:
    judge, *people = answers
    rows = pd.concat([verdicts(("MINI", judge), ("p", one), item_id=f"i{n}") for n, one in enumerate(people)])
    found = compare_answers(rows, scales={"clear": scale} if scale else {})
    assert tuple(found["kind"]) == kinds


@pytest.mark.parametrize("change", [{"status": "invalid"}, {"run": 2}, {"rater_kind": "judge"}])
def test_unusable_answers_retests_and_other_judges_are_not_compared(change: dict[str, Any]) -> None:
    assert compare_answers(pd.concat([verdicts(("MINI", "A")), verdicts(("p", "B"), **change)])).empty


@given(st.lists(st.tuples(st.sampled_from(["MINI", "BIG", "p", "q"]), st.sampled_from(["A", "B", "tie"])), min_size=1))
def test_naming_a_and_b_the_other_way_round_changes_nothing(answers: list[tuple[str, str]]) -> None:
    turned = [(who, {"A": "B", "B": "A"}.get(label, label)) for who, label in answers]
    assert compare_answers(verdicts(*answers)).equals(compare_answers(verdicts(*turned)))


def test_filters_narrow_and_the_hard_ones_come_first() -> None:
    found = pd.concat(
        [
            compare_answers(verdicts(("MINI", "tie"), ("p", "A"), item_id="item-00001")),
            compare_answers(verdicts(("BIG", "B"), ("p", "A"), item_id="item-00002", system_b="z", category="food")),
            compare_answers(verdicts(("BIG", "A"), ("p", "A"), item_id="item-00003")),
        ],
        ignore_index=True,
    )
    assert disagreements(found)["item_id"].tolist() == ["item-00002", "item-00001"]
    for filters, items in (
        (Filters(judge="BIG"), ["item-00002", "item-00003"]),
        (Filters(kind="soft"), ["item-00001"]),
        (Filters(system="z"), ["item-00002"]),
        (Filters(system="x", judge="MINI"), ["item-00001"]),
        (Filters(category="food"), ["item-00002"]),
        (Filters(criterion="deep"), []),
        (Filters(), ["item-00001", "item-00002", "item-00003"]),
    ):
        assert narrowed(found, filters)["item_id"].tolist() == items


@pytest.fixture
def disputed(engine: Engine, tmp_path: Path) -> int:
    return make_disputed(engine, tmp_path / "reports", blind_until="closed")


def test_every_question_is_counted_and_systems_wait_for_the_end_of_the_study(engine: Engine, disputed: int) -> None:
    evaluator = Principal(disputed, "evaluator")
    with reading(engine) as session:
        blind = compared_answers(session, evaluator)
    # always-first: once for each report; Ada and Ben name one each on `clear`, Ben ties on `deep`. steady always ties.
    counts = blind.groupby(["judge", "criterion"])[["unlike", "compared"]].sum()
    assert counts["unlike"].to_dict() == {
        ("always-first", "clear"): 4, ("always-first", "deep"): 6, ("steady", "clear"): 8, ("steady", "deep"): 4,
    }  # fmt: skip
    assert (counts["compared"] == 8).all()
    assert blind.groupby("judge")["kind"].unique().map(list).to_dict() == {"always-first": ["hard"], "steady": ["soft"]}
    assert set(blind["topic"].str.lower()) == {"tides", "bread"}
    assert not any(name in blind.to_csv() for name in SYSTEMS)
    with transaction(engine) as session:
        move_study(session, session.get_one(Study, disputed), "closed")
    with reading(engine) as session:
        shown = compared_answers(session, evaluator)
        line = shown.iloc[0]
        one = look_at(session, evaluator, line["judge"], line["item_id"], line["criterion"])
    assert set(shown["system_a"]) | set(shown["system_b"]) == set(SYSTEMS)
    assert tuple(pane.system for pane in one.panes) == (line["system_a"], line["system_b"])


def test_all_answers_stand_in_one_order_under_pseudonyms(engine: Engine, disputed: int) -> None:
    evaluator = Principal(disputed, "evaluator")
    with reading(engine) as session:
        line = compared_answers(session, evaluator).query("judge == 'always-first' and criterion == 'clear'").iloc[0]
        one = look_at(session, evaluator, line["judge"], line["item_id"], line["criterion"])
    assert [pane.name for pane in one.panes] == ["Left", "Right"]
    assert sorted(answer.choice for answer in one.judge) == ["Left", "Right"]
    for answer in one.judge:  # the first shown is Left unless the sides were swapped
        assert answer.choice == ("Right" if answer.swapped else "Left")
    ada, ben = one.people
    assert (ada.rater, ben.rater) == ("annotator-01", "annotator-02")
    assert ada.choice == ("Right" if ada.swapped else "Left")
    assert ben.choice == ("Left" if ben.swapped else "Right")
    # each quoted from what stood left on their own page
    quoted = {("Right" if person.swapped else "Left") for person in one.people}
    assert {pane.name for pane in one.panes if f"<mark>{QUOTE}</mark>" in pane.html} == quoted
    assert all(person.quotes == (QUOTE,) for person in one.people)
    assert EVIL in ada.rationale
    assert not any(name in repr(one) for name in ("Ada", "Ben", *SYSTEMS))
    assert not any(tag in pane.html for pane in one.panes for tag in ("<img", "<a ", "src="))


@pytest.mark.databases("sqlite", "postgres")
def test_the_prompt_that_was_sent_is_built_again_and_proved(engine: Engine, disputed: int) -> None:
    evaluator = Principal(disputed, "evaluator")
    with reading(engine) as session:
        one = look_at(session, evaluator, "steady", "item-00001", "deep")
        calls = [sent_call(session, evaluator, answer.call_id or 0) for answer in one.judge]
    assert len({call.call_id for call in calls}) == 2
    for call in calls:
        (attempt,) = call.attempts
        assert attempt.unproved == ""
        assert "criterion: deep" in attempt.messages[-1]["content"]
        assert not any(name in repr(attempt.messages) for name in SYSTEMS)


def test_only_evaluators_may_look_and_what_is_gone_is_said_to_be_gone(engine: Engine, disputed: int) -> None:
    def refusal(principal: Principal, ask: Callable[[Session, Principal], object]) -> str:
        with reading(engine) as session, pytest.raises(AnnotationError) as refused:
            ask(session, principal)
        return refused.value.code

    for role in ("annotator", "adjudicator"):
        assert refusal(Principal(disputed, role), compared_answers) == "forbidden"
        looking = partial(look_at, judge="steady", item_id="item-00001", criterion="deep")
        assert refusal(Principal(disputed, role), looking) == "forbidden"
        assert refusal(Principal(disputed, role), partial(sent_call, call_id=1)) == "forbidden"
    for item, criterion in (("item-99999", "deep"), ("item-00001", "none")):
        looking = partial(look_at, judge="steady", item_id=item, criterion=criterion)
        assert refusal(Principal(disputed, "admin"), looking) == "not_found"


@pytest.mark.databases("sqlite", "postgres")
def test_answers_made_elsewhere_are_shown_beside_each_other_though_nobody_proved_their_texts(
    engine: Engine, tmp_path: Path
) -> None:
    study = make_study(engine, tmp_path / "reports")
    rows = [{"label": "A"}, {"rater_id": "Ada", "rater_kind": "human", "label": "B"}]
    bring_results(engine, study, labels_file(tmp_path / "labels.csv", rows), "labels", kind="labels")
    with reading(engine) as session:
        (line,) = compared_answers(session, Principal(study, "evaluator")).to_dict("records")
        one = look_at(session, Principal(study, "evaluator"), line["judge"], line["item_id"], line["criterion"])
    assert line["kind"] == "hard"
    assert sorted(answer.choice for answer in (*one.judge, *one.people)) == ["Left", "Right"]
