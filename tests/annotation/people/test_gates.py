"""Before the first item: agreement to the text as it reads now, then training that was passed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from annotation.errors import AnnotationError
from annotation.labelling import reopen, save, skip, submit
from annotation.participation.standing import withdraw_consent
from annotation.people.consent import consent_needed, consent_version, give_consent, view_consent
from annotation.people.principals import Principal, local_admin
from annotation.studies import init_study
from annotation.training.gold import gold_results
from annotation.training.training import (
    closed_gate,
    feedback,
    next_training,
    pass_training,
    training_side,
    training_state,
)
from annotation.verdicts import load_verdicts
from annotation.work.claiming import in_work, take
from annotation.work.open_and_close import move_study
from annotation.work.own_work import own_work
from annotation.work.page import assignment_page
from annotation.work.progress import position
from db.connect import reading, transaction
from db.people_tables import Enrollment
from db.tables import Assignment, Event, Item, Study
from tests.small_study import a_person, answer, answer_all, make_study
from tests.trained_study import CONSENT, TRAINED, do_training, make_trained_study

AGREE = consent_version(CONSENT)


@pytest.fixture
def study_id(engine: Engine, tmp_path: Path) -> int:
    return make_trained_study(engine, tmp_path)


def train(engine: Engine, person: Principal, right: tuple[bool, ...]) -> list[dict[str, Any]]:
    """Hand in one training item after another, each as agreed or not; the replies."""
    replies = []
    for is_right in right:
        with transaction(engine) as session:
            given = take(session, person)
            assert given is not None
            assert given.purpose == "training"
            replies.append(do_training(session, person, given.aid, right=is_right))
    return replies


def audited(engine: Engine, study_id: int, what: str) -> list[dict[str, Any]]:
    with reading(engine) as session:
        rows = session.scalars(select(Event).where(Event.study_id == study_id, Event.what == what).order_by(Event.id))
        return [event.data for event in rows]


@pytest.mark.databases("sqlite")
def test_no_item_before_consent_and_only_to_the_text_as_it_reads_now(engine: Engine, study_id: int) -> None:
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        assert (closed_gate(session, ada), take(session, ada)) == ("consent", None)
        with pytest.raises(AnnotationError, match="changed meanwhile") as refused:
            give_consent(session, ada, consent_version("an older text"))
        assert refused.value.code == "out_of_date"
        give_consent(session, ada, AGREE)
        give_consent(session, ada, AGREE)  # a double click
        person = session.get_one(Enrollment, ada.enrollment_id)
        assert (person.consent_sha256, person.consented_at is not None) == (AGREE, True)
        assert closed_gate(session, ada) is None
        assert take(session, ada) is not None
    assert audited(engine, study_id, "consent") == [{"sha256": AGREE, "before": "asked"}]


@pytest.mark.databases("sqlite")
def test_a_new_text_asks_again_before_more_work_and_loses_none_in_hand(engine: Engine, study_id: int) -> None:
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        give_consent(session, ada, AGREE)
        session.get_one(Enrollment, ada.enrollment_id).training_passed_at = session.get_one(Study, study_id).created_at
        given = take(session, ada)
        assert given is not None
        init_study(session, "small", TRAINED.replace("at any time", "whenever you like"), 7)
        assert view_consent(session, ada).state == "outdated"
        revs = answer_all(session, ada, given.aid)  # work in hand is still saved
        page = assignment_page(session, ada, given.aid)
        reply = submit(session, ada, given.aid, page["page"], "submit-1234", revs)
        assert (reply["next"], reply["gate"]) == (None, "consent")
        with pytest.raises(AnnotationError, match="agree to the study's consent text first"):
            reopen(session, ada, given.aid)
        give_consent(session, ada, view_consent(session, ada).sha256)
        assert take(session, ada) is not None
        reopen(session, ada, given.aid)


def test_who_withdraws_gets_and_saves_nothing_more_and_what_was_handed_in_stays(engine: Engine, study_id: int) -> None:
    with transaction(engine) as session:
        ada, bob = a_person(session, study_id), a_person(session, study_id, "Bob")
        for person in (ada, bob):
            give_consent(session, person, AGREE)
            session.get_one(Enrollment, person.enrollment_id).training_passed_at = session.get_one(
                Study, study_id
            ).created_at
        first = take(session, ada)
        assert first is not None
        page = assignment_page(session, ada, first.aid)
        submit(session, ada, first.aid, page["page"], "submit-1", answer_all(session, ada, first.aid))
        second = in_work(session, ada)
        assert second is not None
        page = assignment_page(session, ada, second.aid)
        assert withdraw_consent(session, ada) == 1
        assert (view_consent(session, ada).state, closed_gate(session, ada)) == ("withdrawn", "consent")
        assert session.get_one(Assignment, second.id).returned == "withdrawn"
        assert take(session, ada) is None
        assert [line["code"] for line in save(session, ada, [answer(page, "clear", "left")]).refused] == ["returned"]
        with pytest.raises(AnnotationError):
            reopen(session, ada, first.aid)
        labels = session.get_one(Study, study_id)
        counted = {"label": first.id} if first.purpose == "label" else {}
        assert load_verdicts(session, labels)["item_id"].nunique() == len(counted)
        assert session.get_one(Assignment, first.id).status == "submitted"
        with pytest.raises(AnnotationError, match="no agreement of yours"):
            withdraw_consent(session, ada)
        work = own_work(session, ada)
        assert (work.consent_state, work.goes_on) == ("withdrawn", False)
        give_consent(session, ada, AGREE)  # they may come back
        assert take(session, ada) is not None
    assert [told["returned"] for told in audited(engine, study_id, "withdraw_consent")] == [1]


@pytest.mark.databases("sqlite")
def test_training_comes_first_says_what_was_agreed_and_opens_the_gate(engine: Engine, study_id: int) -> None:
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        give_consent(session, ada, AGREE)
        given = take(session, ada)
        assert given is not None
        page = assignment_page(session, ada, given.aid)
        assert page["training"] == {"item": 1, "of": 3, "attempt": 1, "attempts": 2, "feedback": None}
        assert "says more on" not in str(page)  # no agreed answer before the own one
        with pytest.raises(AnnotationError, match="no such work"):
            feedback(session, ada, given.aid)
        with pytest.raises(AnnotationError, match="cannot be skipped"):
            skip(session, ada, given.aid, "too hard")
    one, two, three = train(engine, ada, (True, False, True))
    told = one["feedback"]
    assert (told["item"], told["of"], told["matching"], told["verdicts"], told["result"]) == (1, 3, 2, 2, None)
    assert [line["matches"] for line in told["answers"]] == [True, True]
    # the file names systems; people read sides
    for line in told["answers"]:
        assert line["reason"].startswith(f"The {line['agreed']} report says more on ")
    wrong = two["feedback"]["answers"]
    assert {line["yours"] for line in wrong} == {"left", "right"}
    assert [line["agreed"] for line in wrong] == [{"left": "right", "right": "left"}[line["yours"]] for line in wrong]
    assert (two["feedback"]["matching"], two["feedback"]["verdicts"]) == (2, 4)
    # 4 of 6 is .67: below the mark of .7
    assert (three["feedback"]["result"], three["feedback"]["matching"]) == ("again", 4)
    with reading(engine) as session:
        state = training_state(session, session.get_one(Study, study_id), ada)
        assert (state.status, state.attempt, state.done) == ("under_way", 2, 0)
    assert train(engine, ada, (True, True, True))[-1]["feedback"]["result"] == "passed"
    with transaction(engine) as session:
        assert session.get_one(Enrollment, ada.enrollment_id).training_passed_at is not None
        real = take(session, ada)
        assert real is not None
        assert real.purpose != "training"
        work = own_work(session, ada)
        assert (work.training.status, work.training.matching, work.training.verdicts) == ("passed", 6, 6)
        trained = [item for item in work.items if item.is_training]
        assert len(trained) == 6
        assert not any(item.may_reopen for item in trained)
        assert work.submitted == 0  # training is no progress of the study
        assert position(session, ada)[0] == 0
        with pytest.raises(AnnotationError, match="cannot be reopened"):
            reopen(session, ada, trained[0].aid)
        shown = assignment_page(session, ada, trained[0].aid)["training"]["feedback"]
        assert shown["result"] == "passed"
    assert [(told["attempt"], told["passed"]) for told in audited(engine, study_id, "training")] == [
        (1, False),
        (2, True),
    ]


@pytest.mark.databases("sqlite")
def test_after_the_last_attempt_only_an_admin_opens_the_gate_with_a_reason(engine: Engine, study_id: int) -> None:
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        give_consent(session, ada, AGREE)
    last = train(engine, ada, (False,) * 6)[-1]
    assert (last["next"], last["gate"], last["feedback"]["result"]) == (None, "training", "failed")
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        assert (closed_gate(session, ada), take(session, ada), next_training(session, study, ada)) == (
            "training",
            None,
            None,
        )
        with pytest.raises(AnnotationError, match="needs the role admin"):
            pass_training(session, ada, "Ada", "I am good at this")
        with pytest.raises(AnnotationError, match="needs a reason"):
            pass_training(session, local_admin(study), "Ada", " ")
        with pytest.raises(AnnotationError, match="nobody called"):
            pass_training(session, local_admin(study), "Eve", "why not")
        pass_training(session, local_admin(study), "Ada", "talked it over by phone")
        assert closed_gate(session, ada) is None
        given = take(session, ada)
        assert given is not None
        assert given.purpose == "label"
    assert audited(engine, study_id, "pass_training")[0]["reason"] == "talked it over by phone"


def test_training_and_attention_enter_no_verdict_and_their_results_can_be_had(engine: Engine, study_id: int) -> None:
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        give_consent(session, ada, AGREE)
    train(engine, ada, (True, True, True))
    purposes, pages = [], {}
    for number in range(4):
        with transaction(engine) as session:
            given = take(session, ada)
            assert given is not None
            page = assignment_page(session, ada, given.aid)
            purposes.append(given.purpose)
            pages[given.purpose] = page
            submit(session, ada, given.aid, page["page"], f"submit-{number}", answer_all(session, ada, given.aid))
    assert "attention" in purposes
    # nothing tells an attention item from the others: the same keys, and no word of its purpose
    assert set(pages["attention"]) == set(pages["label"])
    assert pages["attention"]["training"] is None
    assert "attention" not in str(pages["attention"])
    with transaction(engine) as session:
        again = session.scalar(
            select(Assignment).where(Assignment.rater_id == ada.rater_id, Assignment.purpose == "label").limit(1)
        )
        assert again is not None
        retest = Assignment(
            study_id=study_id, item_id=again.item_id, rater_id=ada.rater_id, purpose="retest", slot_no=again.slot_no,
            pass_no=2, repeat_no=2, left=again.left, plan_seed=7, status="taken",
        )  # fmt: skip
        session.add(retest)
        session.flush()
        page = assignment_page(session, ada, retest.aid)
        assert set(page) == set(pages["label"])
        assert page["training"] is None
        assert "retest" not in str(page)
        retest.status, retest.returned = "returned", "skipped"
    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        verdicts = load_verdicts(session, study)
        gold = {f"item-{item:05d}" for item in session.scalars(select(Item.id).where(Item.purpose != "label"))}
        assert len(gold) == 4
        assert not set(verdicts["item_id"]) & gold
        assert len(verdicts) == 2 * purposes.count("label")
        results = gold_results(session, study, "training")
        assert [result.matches for result in results] == [True] * 6
        (attention,) = gold_results(session, study, "attention")
        assert (attention.criterion, attention.matches) == ("clear", attention.gold == "left")


@pytest.mark.databases("sqlite")
def test_who_settles_disputes_agrees_and_is_not_trained(engine: Engine, study_id: int) -> None:
    with transaction(engine) as session:
        judge = a_person(session, study_id, "Cy", "adjudicator")
        assert closed_gate(session, judge) == "consent"
        give_consent(session, judge, AGREE)
        assert closed_gate(session, judge) is None
        assert training_state(session, session.get_one(Study, study_id), judge).status == "none"


def test_each_person_gets_sides_of_their_own_and_every_attempt_turns_them() -> None:
    sides = [training_side(7, item, person, 1) for item in range(20) for person in range(20)]
    assert 160 < sides.count("A") < 240
    for item in range(20):
        assert training_side(7, item, 3, 1) != training_side(7, item, 3, 2)
        assert training_side(7, item, 3, 1) == training_side(7, item, 3, 3)


@pytest.mark.databases("sqlite")
def test_opening_is_refused_with_both_numbers_while_training_items_lack(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(AnnotationError, match="trains its people on 4 items and has 3"):
        make_trained_study(engine, tmp_path, protocol=TRAINED.replace("items = 3", "items = 4"))


@pytest.mark.databases("sqlite")
def test_without_text_and_training_nobody_is_asked_anything(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path / "reports")
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        assert not consent_needed(session, ada)
        assert closed_gate(session, ada) is None
        assert take(session, ada) is not None
        move_study(session, session.get_one(Study, study_id), "closed")
