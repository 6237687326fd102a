"""Who gets in by which link, exactly as many as there are places, and how an admin moves people and their work."""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select, update
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.labelling import reopen, save, skip, submit
from annotation.participation import standing
from annotation.participation.people_list import PersonLine, list_people, pay_lines
from annotation.people.links import invite, invite_all, open_link, open_links, revoke, revoke_open_link
from annotation.people.principals import Principal, local_admin
from annotation.people.sign_ins import sign_in, who
from annotation.studies import not_yet_active, protocol_of
from annotation.verdicts import load_verdicts
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.page import assignment_page
from annotation.work.progress import completion_code, position
from db.connect import reading, transaction
from db.people_tables import Enrollment, Invite, OpenLink, SignIn
from db.tables import Assignment, Event, Label, Study
from db.types import Record, now
from tests.small_study import PROTOCOL, a_person, answer, answer_all, make_study

ONCE = PROTOCOL.replace("[study]", "[study]\nlimits = {single_use_invites = true}")


def the_admin(session: Session, study_id: int) -> Principal:
    return local_admin(session.get_one(Study, study_id))


def get_in(engine: Engine, token: str, participant: str = "", **how: Any) -> Principal | None:
    with transaction(engine) as session:
        return who(session, sign_in(session, token, "127.0.0.1", participant=participant, **how))


def hand_in(engine: Engine, person: Principal, choice: str = "left") -> str:
    with transaction(engine) as session:
        mine = take(session, person)
        assert mine is not None
        page = assignment_page(session, person, mine.aid)
        submit(
            session, person, mine.aid, page["page"], f"submit-{mine.aid}", answer_all(session, person, mine.aid, choice)
        )
        return mine.aid


def listed(engine: Engine, study_id: int) -> dict[str, PersonLine]:
    with reading(engine) as session:
        return {one.name: one for one in list_people(session, the_admin(session, study_id))}


def refusal(engine: Engine, act: Any, study_id: int, *arguments: Any, **more: Any) -> str:
    with pytest.raises(AnnotationError) as caught, transaction(engine) as session:
        act(session, the_admin(session, study_id), *arguments, **more)
    return caught.value.code


@pytest.mark.databases("sqlite")
def test_several_get_a_link_each_and_a_new_link_ends_the_older_ones_and_their_sign_ins(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        links = invite_all(session, the_admin(session, study_id), ["Ada", " Ben ", "Ada"], "adjudicator")
    assert list(links) == ["Ada", "Ben"]
    with transaction(engine) as session:
        cookie = sign_in(session, links["Ada"], "127.0.0.1")
        assert who(session, cookie) is not None
        fresh = invite(session, the_admin(session, study_id), "Ada", "adjudicator", new_link=True)
        assert who(session, cookie) is None
    assert get_in(engine, links["Ada"]) is None
    assert [getattr(get_in(engine, token), "role", None) for token in (fresh, links["Ben"])] == ["adjudicator"] * 2
    ada = listed(engine, study_id)["Ada"]
    assert (ada.pseudonym, ada.links, ada.link_uses) == ("adjudicator-01", 1, 2)


@pytest.mark.databases("sqlite")
def test_an_invitation_that_makes_no_sense_invites_none_of_them(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        invite(session, the_admin(session, study_id), "Ada", "annotator")
    for name, role, code in (
        ("Ada", "evaluator", "role_fixed"),
        ("Ben", "reviewer", "bad_role"),
        (" ", "annotator", "bad_name"),
        ("two\nlines", "annotator", "bad_name"),
        ("a\0b", "annotator", "bad_name"),
        ("\x1b[31mred", "annotator", "bad_name"),
        ("A" * 201, "annotator", "bad_name"),
        ("ADA", "annotator", "bad_name"),  # one person would count as two
        ("\uff21da", "annotator", "bad_name"),
    ):
        assert refusal(engine, invite_all, study_id, ["Zoe", name], role) == code
    assert set(listed(engine, study_id)) == {"Ada"}


def test_a_link_for_single_use_waits_for_the_button_and_lets_in_one_of_two_who_press_it(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, tmp_path, protocol=ONCE)
    with transaction(engine) as session:
        token = invite(session, the_admin(session, study_id), "Ada", "annotator")
        assert not_yet_active(protocol_of(session.get_one(Study, study_id))) == []
    for _ in range(3):  # a mail scanner
        with pytest.raises(AnnotationError, match="works once"):
            get_in(engine, token)
    with ThreadPoolExecutor(4) as pool:
        came = list(pool.map(lambda _: get_in(engine, token, confirmed=True), range(4)))
    assert sum(one is not None for one in came) == 1
    assert get_in(engine, token) is None
    ada = listed(engine, study_id)["Ada"]
    assert (ada.links, ada.link_uses) == (0, 1)


def test_an_open_link_has_exactly_as_many_places_as_it_says_however_many_come_at_once(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        token = open_link(session, the_admin(session, study_id), places=5, quota=2)

    def come(number: int) -> Principal | str | None:
        try:
            return get_in(engine, token, participant=f"worker-{number % 8}")
        except AnnotationError as error:
            return error.code

    with ThreadPoolExecutor(12) as pool:
        came = list(pool.map(come, range(24)))
    people = {one.enrollment_id for one in came if isinstance(one, Principal)}
    assert len(people) == 5
    assert {one for one in came if not isinstance(one, Principal)} == {"no_places"}
    by_id = {n % 8: {getattr(came[k], "enrollment_id", None) for k in range(n % 8, 24, 8)} for n in range(8)}
    assert all(len(ids) == 1 for ids in by_id.values()), "one id is one person"
    lines = listed(engine, study_id)
    assert sorted(one.pseudonym for one in lines.values()) == [f"annotator-{n:02d}" for n in range(1, 6)]
    assert all(name.startswith("participant ") and one.quota == 2 for name, one in lines.items())
    with reading(engine) as session:
        assert [(one.taken, one.places, one.state) for one in open_links(session, the_admin(session, study_id))] == [
            (5, 5, "working")
        ]


@pytest.mark.databases("sqlite")
def test_a_participants_id_is_stored_nowhere_and_means_the_same_person_by_every_link_of_the_study(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        first, second = (open_link(session, the_admin(session, study_id), places=1) for _ in range(2))
    one = get_in(engine, first, participant="5f3c9d2e1b")
    assert one is not None
    aid = hand_in(engine, one)
    again = get_in(engine, second, participant="5f3c9d2e1b")
    assert again is not None
    assert again.rater_id == one.rater_id
    assert get_in(engine, second, participant="another").rater_id != one.rater_id  # type: ignore[union-attr]
    with reading(engine) as session:
        stored = " ".join(
            str(tuple(row)) for table in Record.metadata.sorted_tables for row in session.execute(select(table))
        )
    assert aid in stored
    assert "5f3c9d2e1b" not in stored


@pytest.mark.databases("sqlite")
def test_without_an_id_of_ones_own_nobody_gets_in_and_no_place_is_used(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        token = open_link(session, the_admin(session, study_id), places=1)
    for participant in ("", "{{%PROLIFIC_PID%}}", "${workerId}", "a b", "é", "x" * 129):
        with pytest.raises(AnnotationError) as caught:
            get_in(engine, token, participant=participant)
        assert caught.value.code == "no_participant", participant
    assert listed(engine, study_id) == {}


@pytest.mark.parametrize("end", ["revoked", "expired"])
def test_a_withdrawn_or_expired_open_link_lets_nobody_in_also_not_back_in(
    engine: Engine, tmp_path: Path, end: str
) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        token = open_link(session, the_admin(session, study_id), places=3)
        cookie = sign_in(session, token, "127.0.0.1", participant="w1")
    with transaction(engine) as session:
        if end == "revoked":
            revoke_open_link(session, the_admin(session, study_id), session.scalars(select(OpenLink.id)).one())
        else:
            session.execute(update(OpenLink).values(expires_at=now()))
        assert (who(session, cookie) is None) == (end == "revoked")
    assert get_in(engine, token, participant="w1") is None
    assert get_in(engine, token, participant="w2") is None
    assert refusal(engine, revoke_open_link, study_id, 999) == "unknown_link"


@pytest.mark.databases("sqlite")
def test_one_participant_who_is_sent_away_does_not_come_back_by_the_same_link(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        token = open_link(session, the_admin(session, study_id), places=3)
    get_in(engine, token, participant="w1")
    (name,) = listed(engine, study_id)
    with transaction(engine) as session:
        revoke(session, the_admin(session, study_id), name)
    assert get_in(engine, token, participant="w1") is None
    assert get_in(engine, token, participant="w2") is not None


def test_a_participants_code_comes_with_the_last_item_stays_the_same_and_is_theirs_alone(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        token = open_link(session, the_admin(session, study_id), places=2, quota=2)
        invited = a_person(session, study_id, "Ada")
    one, other = (get_in(engine, token, participant=name) for name in ("w1", "w2"))
    assert one is not None
    assert other is not None

    def code(person: Principal) -> str | None:
        with reading(engine) as session:
            return completion_code(session, person)

    hand_in(engine, one)
    assert code(one) is None
    aid = hand_in(engine, one)
    first = code(one)
    assert first is not None
    assert (len(first), first.isalnum()) == (8, True)
    hand_in(engine, invited)
    assert code(invited) is None
    hand_in(engine, other)
    hand_in(engine, other)
    assert code(other) not in (first, None)
    assert code(one) == first
    assert first in {line.completion_code for line in listed(engine, study_id).values()}
    with transaction(engine) as session:
        session.execute(update(Assignment).where(Assignment.aid == aid).values(status="taken"))  # reopened
    assert code(one) is None


@pytest.mark.databases("sqlite")
def test_nobody_earns_the_code_by_skipping_all_but_one_item(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)  # nine items
    with transaction(engine) as session:
        token = open_link(session, the_admin(session, study_id), places=1, quota=5)
    lazy = get_in(engine, token, participant="w1")
    assert lazy is not None
    hand_in(engine, lazy)
    with transaction(engine) as session:
        while mine := take(session, lazy):
            skip(session, lazy, mine.aid, "no")
        assert (position(session, lazy), completion_code(session, lazy)) == ((1, 1), None)


@pytest.mark.databases("sqlite")
def test_who_is_paused_finishes_and_gets_nothing_new_until_resumed(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        mine = take(session, ada)
        assert mine is not None
        standing.pause(session, the_admin(session, study_id), "Ada")
    hand_in(engine, ada)
    with transaction(engine) as session:
        assert take(session, ada) is None
        standing.resume(session, the_admin(session, study_id), "Ada")
        assert take(session, ada) is not None


def test_who_leaves_in_the_middle_is_signed_out_and_nothing_is_lost_or_doubled(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        token = invite(session, the_admin(session, study_id), "Ada", "annotator")
    ada = get_in(engine, token)
    assert ada is not None
    done, reopened = hand_in(engine, ada), hand_in(engine, ada)
    with transaction(engine) as session:
        mine = take(session, ada)
        assert mine is not None
        page = assignment_page(session, ada, mine.aid)
        assert save(session, ada, [answer(page, "clear", "left")]).refused == []
        reopen(session, ada, reopened)
    with transaction(engine) as session:
        assert standing.withdraw(session, the_admin(session, study_id), "Ada") == 1
    with transaction(engine) as session:
        # a page that was still open
        assert save(session, ada, [answer(page, "deep", "left")]).refused[0]["code"] == "returned"
    assert get_in(engine, token) is None
    assert refusal(engine, invite, study_id, "Ada", "annotator") == "withdrawn"
    with reading(engine) as session:
        assert session.scalar(select(func.count()).where(SignIn.revoked_at.is_(None))) == 0
        rows = session.scalars(select(Assignment)).all()
    states = {row.aid: row.status for row in rows if row.rater_id == ada.rater_id}
    slots = sum(row.status in ("open", "submitted") for row in rows)
    assert states == {done: "submitted", reopened: "submitted", mine.aid: "returned"}
    assert slots == 9, "as many as were planned"
    with transaction(engine) as session:
        standing.resume(session, the_admin(session, study_id), "Ada")
    assert get_in(engine, token) is not None


def test_work_taken_out_leaves_the_verdicts_keeps_its_history_and_is_open_to_others(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        ada, ben = a_person(session, study_id), a_person(session, study_id, "Ben")
    for _ in range(2):
        hand_in(engine, ada)
    kept = hand_in(engine, ben)
    with transaction(engine) as session:
        in_hand = take(session, ada)
        assert in_hand is not None
        before = session.scalar(select(func.count(Label.id)))
    assert refusal(engine, standing.void_work, study_id, "Ada", "  ") == "no_reason"
    with transaction(engine) as session:
        assert standing.void_work(session, the_admin(session, study_id), "Ada", "always left") == 3
    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        verdicts = load_verdicts(session, study)
        rows = session.scalars(select(Assignment).order_by(Assignment.id)).all()
        assert session.scalar(select(func.count(Label.id))) == before
        trail = session.scalars(select(Event.data).where(Event.what == "void_work")).all()
    assert set(verdicts["rater_id"]) == {"annotator-02"}
    assert [data["reason"] for data in trail] == ["always left"]
    void = [row for row in rows if row.status == "void"]
    again = [
        next(r for r in rows if r.status == "open" and (r.item_id, r.slot_no) == (v.item_id, v.slot_no)) for v in void
    ]
    assert [(r.left, r.criteria_order) for r in again] == [(v.left, v.criteria_order) for v in void]
    assert len({row.aid for row in (*void, *again)}) == 6
    assert kept in {row.aid for row in rows if row.status == "submitted"}
    ada_line = listed(engine, study_id)["Ada"]
    assert (ada_line.handed_in, ada_line.in_work, ada_line.void) == (0, 0, 3)
    with transaction(engine) as session:  # the same nine slots, and Ada does not get the voided items again
        taken = take(session, ada)
        assert taken is not None
        assert taken.item_id not in {row.item_id for row in void}
        move_study(session, session.get_one(Study, study_id), "closed")
        move_study(session, session.get_one(Study, study_id), "locked")
    assert refusal(engine, standing.void_work, study_id, "Ben", "too") == "locked"


def test_an_equal_share_is_rounded_up_and_leaves_out_who_left(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, overlap=2)  # 18 slots
    assert refusal(engine, standing.equal_quota, study_id) == "nobody"
    with transaction(engine) as session:
        for name in ("Ada", "Ben", "Cy", "Dee", "Eve"):
            a_person(session, study_id, name)
        a_person(session, study_id, "Val", "evaluator")
        admin = the_admin(session, study_id)
        standing.withdraw(session, admin, "Eve")
        assert standing.equal_quota(session, admin) == 5  # 18 / 4
        standing.set_quota(session, admin, 2, "Ada")
    quotas = {name: one.quota for name, one in listed(engine, study_id).items()}
    assert quotas == {"Ada": 2, "Ben": 5, "Cy": 5, "Dee": 5, "Eve": None, "Val": None}
    for items in (-1, 10**20):  # of more than a database counts too
        assert refusal(engine, standing.set_quota, study_id, items) == "bad_number"
        assert refusal(engine, open_link, study_id, 1, items) == "bad_number"
        assert refusal(engine, open_link, study_id, items) == "bad_number"
    assert refusal(engine, standing.pause, study_id, "Zoe") == "unknown_person"


@pytest.mark.databases("sqlite")
def test_only_an_admin_sees_names_and_moves_people(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    acts: list[tuple[Any, ...]] = [
        (invite, "Zoe", "annotator"), (invite_all, ["Zoe"], "annotator"), (revoke, "Ada"), (open_link, 3),
        (open_links,), (revoke_open_link, 1), (list_people,), (pay_lines,), (standing.pause, "Ada"),
        (standing.resume, "Ada"), (standing.withdraw, "Ada"), (standing.void_work, "Ada", "no"),
        (standing.set_quota, 3), (standing.equal_quota,),
    ]  # fmt: skip
    with transaction(engine) as session:
        people = [a_person(session, study_id, role, role) for role in ("annotator", "adjudicator", "evaluator")]
        for person, (act, *arguments) in itertools.product(people, acts):
            with pytest.raises(AnnotationError) as caught:
                act(session, person, *arguments)
            assert caught.value.code == "forbidden", act


def test_the_trail_of_links_and_moves_names_pseudonyms_only(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        admin = the_admin(session, study_id)
        token = invite(session, admin, "Adalbert", "annotator")
        sign_in(session, token, "127.0.0.1")
        standing.pause(session, admin, "Adalbert")
        standing.withdraw(session, admin, "Adalbert")
        revoke(session, admin, "Adalbert")
        session.flush()
        trail = json.dumps([(one.what, one.data) for one in session.scalars(select(Event))])
        assert session.scalar(select(Invite.revoked_at)) is not None
        assert session.scalar(select(Enrollment.status)) == "withdrawn"
    assert all(what in trail for what in ("invite", "sign_in", "pause", "withdraw", "revoke"))
    assert "Adalbert" not in trail
    assert token not in trail
