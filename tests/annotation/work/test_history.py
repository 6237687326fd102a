"""Every revision is kept; its own annotator sees what changed, with typing in progress folded."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select, update

from annotation.errors import AnnotationError
from annotation.labelling import reopen, save, submit
from annotation.studies import init_study
from annotation.work.claiming import take
from annotation.work.history import Revision, answer_history, fold
from annotation.work.page import assignment_page
from db.connect import reading, transaction
from db.tables import Event, Label, Study
from tests.small_study import PROTOCOL, a_person, answer, make_study

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def revision(seconds: float, **changes: object) -> Revision:
    first = Revision(
        time=NOON + timedelta(seconds=seconds), choice="left", confidence=None, rationale="", evidence=0, writer="w",
        reopens=0, wording=1, earlier_words=False,
    )  # fmt: skip
    return replace(first, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("second", "lines"),
    [
        (revision(5, rationale="more"), 1),  # typing goes on
        (revision(120, rationale="more"), 1),  # a pause of exactly two minutes
        (revision(121, rationale="more"), 2),
        (revision(5, evidence=1), 1),
        (revision(5, choice="right"), 2),
        (revision(5, choice=None), 2),
        (revision(5, confidence=3), 1),  # said right after the answer
        (revision(121, confidence=3), 2),
        (revision(5, writer="another page"), 2),
        (revision(5, reopens=1), 2),
        (revision(5, wording=2), 2),
    ],
)
def test_typing_in_one_sitting_is_one_line_and_every_other_change_its_own(second: Revision, lines: int) -> None:
    folded = fold([revision(0), second])
    assert len(folded) == lines
    assert folded[-1] == second


def test_another_confidence_is_a_line_of_its_own_and_so_is_one_taken_back() -> None:
    said = [revision(0), revision(5, confidence=3), revision(9, confidence=4), revision(12)]
    assert [one.confidence for one in fold(said)] == [3, 4, None]


def test_a_long_sitting_is_one_line_as_long_as_no_pause_interrupts_it() -> None:
    typing = [revision(100 * n, rationale="x" * n) for n in range(30)]
    assert fold(typing) == typing[-1:]


@given(st.lists(st.tuples(st.integers(0, 300), st.sampled_from(["left", "right", None]), st.booleans())))
def test_folding_keeps_order_the_last_answer_and_every_change_of_choice(steps: list) -> None:
    at, revisions = 0, []
    for number, (pause, choice, other) in enumerate(steps):
        at += pause
        revisions.append(revision(at, choice=choice, writer="other" if other else "w", rationale=str(number)))
    folded = fold(revisions)
    assert folded[-1:] == revisions[-1:]
    assert [one for one in revisions if one in folded] == folded
    changes = [one.choice for n, one in enumerate(revisions) if n == 0 or one.choice != revisions[n - 1].choice]
    kept = [one.choice for n, one in enumerate(folded) if n == 0 or one.choice != folded[n - 1].choice]
    assert kept == changes
    assert fold(folded) == folded


def told(engine: Engine, principal: object, aid: str) -> dict[str, list[dict]]:
    with reading(engine) as session:
        return {line["criterion"]: line["revisions"] for line in answer_history(session, principal, aid)}  # type: ignore[arg-type]


@pytest.mark.databases("sqlite")
def test_history_tells_choices_rationales_quotes_and_what_came_after_a_reopen(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        aid = take(session, ada).aid  # type: ignore[union-attr]
        page = assignment_page(session, ada, aid)
    span = {"side": "left", "start": 0, "end": 1, "quote": "?"}
    steps = [
        answer(page, "clear", "left", rationale="bec", seq=1),
        answer(page, "clear", "left", rationale="because it is", seq=2),
        answer(page, "clear", "right", rationale="because it is", seq=3, evidence=[span]),
        answer(page, "deep", "tie", seq=4),
    ]
    for step in steps:
        with transaction(engine) as session:
            assert save(session, ada, [step]).refused == []
    with transaction(engine) as session:
        submit(session, ada, aid, page["page"], "submit-00001", {"clear": 3, "deep": 1})
        reopen(session, ada, aid)
    with transaction(engine) as session:
        late = answer(page, "clear", "right", rationale="because it is, on second thoughts", seq=5)
        assert save(session, ada, [late]).refused == []
    history = told(engine, ada, aid)
    assert [
        (line["choice"], line["rationale"], line["evidence"], line["reopened"]) for line in history["clear"]
    ] == [
        ("left", "because it is", 0, False),
        ("right", "because it is", 1, False),
        ("right", "because it is, on second thoughts", 0, True),
    ]  # fmt: skip
    assert [line["choice"] for line in history["deep"]] == ["tie"]
    times = [datetime.fromisoformat(line["time"]) for line in history["clear"]]
    assert times == sorted(times)
    assert all(time.tzinfo is not None for time in times)
    with reading(engine) as session:
        assert session.scalar(select(func.count(Label.id))) == 5  # nothing was folded in the database


@pytest.mark.databases("sqlite")
def test_another_persons_reopen_does_not_count(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        aid = take(session, ada).aid  # type: ignore[union-attr]
        page = assignment_page(session, ada, aid)
        session.add(Event(study_id=study_id, kind="audit", what="reopen", data={"assignment": 10_000}))
        session.flush()
        save(session, ada, [answer(page, "clear", "left")])
    assert [line["reopened"] for line in told(engine, ada, aid)["clear"]] == [False]


@pytest.mark.databases("sqlite")
def test_an_answer_to_earlier_words_stays_in_the_history_and_says_so(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        aid = take(session, ada).aid  # type: ignore[union-attr]
        page = assignment_page(session, ada, aid)
        save(session, ada, [answer(page, "clear", "left")])
    with transaction(engine) as session:
        init_study(session, "small", PROTOCOL.replace("Which is clearer?", "Which is easier to follow?"), 7)
    with transaction(engine) as session:
        save(session, ada, [answer(page, "clear", "right", seq=2)])
    lines = told(engine, ada, aid)["clear"]
    assert [(line["choice"], line["earlier_words"]) for line in lines] == [("left", True), ("right", False)]


@pytest.mark.databases("sqlite")
def test_only_ones_own_history_is_told_and_foreign_and_unknown_work_are_refused_alike(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, tmp_path, overlap=2)
    with transaction(engine) as session:
        ada, bea = a_person(session, study_id, "Ada"), a_person(session, study_id, "Bea")
        eve = a_person(session, study_id, "Eve", "evaluator")
        aid = take(session, ada).aid  # type: ignore[union-attr]
        save(session, ada, [answer(assignment_page(session, ada, aid), "clear", "left")])
    refusals = set()
    for who, what in ((bea, aid), (eve, aid), (ada, "f" * 32)):
        with reading(engine) as session, pytest.raises(AnnotationError) as refused:
            answer_history(session, who, what)
        refusals.add((refused.value.code, refused.value.text))
    assert len(refusals) == 1
    assert refusals.pop()[0] == "not_found"


def test_history_holds_no_hash_no_order_and_nothing_of_the_database(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        aid = take(session, ada).aid  # type: ignore[union-attr]
        save(session, ada, [answer(assignment_page(session, ada, aid), "clear", "left")])
        session.execute(update(Study).values(revealed_at=NOON))
    (line,) = told(engine, ada, aid)["clear"]
    assert set(line) == {"time", "choice", "confidence", "rationale", "evidence", "reopened", "earlier_words"}
