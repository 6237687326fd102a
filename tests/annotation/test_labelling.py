"""Answers are appended, acknowledged once, and never land where they do not belong."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select

from annotation.errors import AnnotationError, Incomplete
from annotation.judges.planning.calls import Pass
from annotation.judges.planning.plan import open_assignments
from annotation.labelling import record_answers, reopen, save, skip, submit
from annotation.labels.answers import Answer, Answered
from annotation.labels.entries import read_entry
from annotation.people.principals import local_admin
from annotation.planning.slots import apply_plan, make_plan
from annotation.studies import init_study
from annotation.verdicts import load_verdicts
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.page import assignment_page, current_answers, own_assignment
from db.connect import open_database, reading, transaction
from db.people_tables import Rater
from db.tables import Assignment, Item, Label, Report, Study
from tests.migrated import new_sqlite
from tests.small_study import PROTOCOL, a_person, answer, answer_all, make_study


def start(engine: Engine, root: Path, **kinds: object) -> tuple:
    study_id = make_study(engine, root, **kinds)  # type: ignore[arg-type]
    with transaction(engine) as session:
        principal = a_person(session, study_id)
        assignment = take(session, principal)
        assert assignment is not None
        return study_id, principal, assignment_page(session, principal, assignment.aid)


def stored(engine: Engine, aid: str) -> list[tuple[str | None, str, int]]:
    with reading(engine) as session:
        rows = select(Label.choice, Label.rationale, Label.revision).join(
            Assignment, Assignment.id == Label.assignment_id
        )
        return [tuple(row) for row in session.execute(rows.where(Assignment.aid == aid).order_by(Label.id))]


@pytest.mark.databases("sqlite")
def test_each_edit_is_a_new_revision_and_the_last_one_counts(engine: Engine, tmp_path: Path) -> None:
    _, principal, page = start(engine, tmp_path)
    for seq, choice in enumerate(("left", "right", None, "tie"), start=1):
        with transaction(engine) as session:
            saved = save(session, principal, [answer(page, "clear", choice, seq=seq)])
        assert [(ack["seq"], ack["rev"]) for ack in saved.acks] == [(seq, seq)]
    assert [row[0] for row in stored(engine, page["aid"])] == ["left", "right", None, "tie"]
    with reading(engine) as session:
        assert current_answers(session, own_assignment(session, principal, page["aid"]))["clear"].choice == "tie"


def test_the_same_entry_again_is_acknowledged_and_not_stored_twice(engine: Engine, tmp_path: Path) -> None:
    _, principal, page = start(engine, tmp_path)
    entry = answer(page, "clear", "left")
    for _ in range(3):
        with transaction(engine) as session:
            saved = save(session, principal, [entry])
        assert saved.acks == [{"client_uuid": entry.client_uuid, "seq": 1, "rev": 1}]
    assert len(stored(engine, page["aid"])) == 1


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("writer", "seq", "base_rev", "accepted"),
    [
        ("writer-1", 6, 0, True),  # the same page, a later edit
        ("writer-1", 5, 1, False),  # the same page, not later
        ("writer-1", 4, 1, False),  # an old edit that comes late
        ("writer-2", 1, 1, True),  # another computer that has seen revision 1
        ("writer-2", 9, 0, False),  # another computer that has not
    ],
)
def test_a_newer_answer_from_elsewhere_is_never_overwritten(
    engine: Engine, tmp_path: Path, writer: str, seq: int, base_rev: int, accepted: bool
) -> None:
    _, principal, page = start(engine, tmp_path)
    with transaction(engine) as session:
        save(session, principal, [answer(page, "clear", "left", seq=5)])
    with transaction(engine) as session:
        saved = save(session, principal, [answer(page, "clear", "right", writer=writer, seq=seq, base_rev=base_rev)])
    assert bool(saved.acks) is accepted
    if not accepted:
        assert saved.refused[0]["code"] == "stale"
        assert saved.refused[0]["current"]["choice"] == "left"


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"criterion": "nonsense"}, "no criterion"),
        ({"choice": "not_applicable"}, "not an answer this study allows"),
        ({"choice": "A"}, "not an answer this study allows"),
        ({"page": "0" * 32}, "shows another item"),
        ({"aid": "f" * 32}, "no such work"),
        ({"confidence": 3}, "does not ask for confidence"),
    ],
)
def test_what_the_protocol_does_not_allow_is_refused_by_reason_and_spoils_no_other(
    engine: Engine, tmp_path: Path, change: dict, says: str
) -> None:
    _, principal, page = start(engine, tmp_path)
    wrong = answer(page, **({"criterion": "clear", "choice": "left"} | change))
    with transaction(engine) as session:
        saved = save(session, principal, [wrong, answer(page, "deep", "right")])
    assert [says in line["text"] for line in saved.refused] == [True]
    assert stored(engine, page["aid"]) == [("right", "because of that", 1)]


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    "field",
    [{"rationale": "x" * 10_001}, {"choice": 3}, {"confidence": 6}, {"seq": 0}, {"unknown": 1}, {"client_uuid": "a"}],
)
def test_an_entry_that_is_no_entry_names_its_field(engine: Engine, tmp_path: Path, field: dict) -> None:
    _, _, page = start(engine, tmp_path)
    raw = answer(page, "clear", "left").model_dump() | field
    with pytest.raises(AnnotationError, match=next(iter(field))):
        read_entry(raw)


def test_text_no_database_can_hold_is_cleaned_not_lost(engine: Engine, tmp_path: Path) -> None:
    _, principal, page = start(engine, tmp_path)
    with transaction(engine) as session:
        saved = save(session, principal, [answer(page, "clear", "left", rationale="good\0 half \ud83d and 😀 中")])
    assert saved.refused == []
    assert stored(engine, page["aid"])[0][1] == "good half ? and 😀 中"


@pytest.mark.databases("sqlite")
def test_every_label_carries_the_hash_of_both_texts_as_shown(engine: Engine, tmp_path: Path) -> None:
    _, principal, page = start(engine, tmp_path)
    with transaction(engine) as session:
        save(session, principal, [answer(page, "clear", "left")])
        label = session.scalars(select(Label)).one()
        assignment = session.scalars(select(Assignment).where(Assignment.aid == page["aid"])).one()
        from annotation.work.page import shown_reports

        shown = shown_reports(session, assignment)
        assert shown.right is not None
        assert (label.left_sha256, label.right_sha256) == (shown.left.shown_sha256, shown.right.shown_sha256)
        assert label.renderer_version


@pytest.mark.databases("sqlite")
def test_submit_lists_what_is_missing(engine: Engine, tmp_path: Path) -> None:
    _, principal, page = start(engine, tmp_path)
    with transaction(engine) as session:
        save(session, principal, [answer(page, "clear", "left", rationale="no")])
    with pytest.raises(Incomplete) as caught, transaction(engine) as session:
        submit(session, principal, page["aid"], page["page"], "submit-00001", {"clear": 1})
    assert caught.value.details == [
        {"criterion": "clear", "reason": "short_rationale"},
        {"criterion": "deep", "reason": "no_choice"},
    ]


@pytest.mark.databases("sqlite")
def test_submit_refuses_a_page_that_is_behind(engine: Engine, tmp_path: Path) -> None:
    _, principal, page = start(engine, tmp_path)
    with transaction(engine) as session:
        revs = answer_all(session, principal, page["aid"])
    with pytest.raises(Incomplete) as caught, transaction(engine) as session:
        submit(session, principal, page["aid"], page["page"], "submit-00001", revs | {"deep": 0})
    assert (caught.value.code, caught.value.details) == ("unsaved", ["deep"])


@pytest.mark.databases("sqlite")
def test_submit_hands_in_and_takes_the_next_once(engine: Engine, tmp_path: Path) -> None:
    _, principal, page = start(engine, tmp_path)
    with transaction(engine) as session:
        revs = answer_all(session, principal, page["aid"])
    replies = []
    for _ in range(2):
        with transaction(engine) as session:
            replies.append(submit(session, principal, page["aid"], page["page"], "submit-00001", revs))
    assert replies[0] == replies[1]
    assert replies[0]["next"] not in (None, page["aid"])
    assert replies[0]["position"] == {"done": 1, "of": 9}


def test_handed_in_work_is_changed_only_after_reopening_and_never_once_locked(engine: Engine, tmp_path: Path) -> None:
    study_id, principal, page = start(engine, tmp_path)
    with transaction(engine) as session:
        revs = answer_all(session, principal, page["aid"])
        submit(session, principal, page["aid"], page["page"], "submit-00001", revs)
    with transaction(engine) as session:
        assert save(session, principal, [answer(page, "clear", "tie", seq=2)]).refused[0]["code"] == "locked"
        reopen(session, principal, page["aid"])
        assert save(session, principal, [answer(page, "clear", "tie", seq=2)]).acks[0]["rev"] == 2
    with transaction(engine) as session:
        submit(session, principal, page["aid"], page["page"], "submit-00002", revs | {"clear": 2})
        study = session.get_one(Study, study_id)
        move_study(session, study, "closed")
        move_study(session, study, "locked")
    with pytest.raises(AnnotationError, match="locked"), transaction(engine) as session:
        reopen(session, principal, page["aid"])


def test_a_skipped_slot_waits_for_somebody_else_with_the_same_order(engine: Engine, tmp_path: Path) -> None:
    _, principal, page = start(engine, tmp_path)
    with transaction(engine) as session:
        save(session, principal, [answer(page, "clear", "left")])
        skip(session, principal, page["aid"], "the text is broken")
    with reading(engine) as session:
        old = session.scalars(select(Assignment).where(Assignment.aid == page["aid"])).one()
        new = session.scalars(
            select(Assignment).where(Assignment.item_id == old.item_id, Assignment.status == "open")
        ).one()
        assert (old.status, old.rater_id) == ("returned", principal.rater_id)
        assert (new.left, new.slot_no, new.plan_seed) == (old.left, old.slot_no, old.plan_seed)
        assert new.aid != old.aid
    assert stored(engine, page["aid"]) == [("left", "because of that", 1)]
    with transaction(engine) as session:
        assert save(session, principal, [answer(page, "clear", "right", seq=2)]).refused[0]["code"] == "returned"
        offered = set()
        while (mine := take(session, principal)) is not None:
            offered.add(mine.item_id)
            answer_all(session, principal, mine.aid)
            mine.status = "submitted"
            session.flush()
    assert old.item_id not in offered
    assert len(offered) == 8


@pytest.mark.databases("sqlite")
def test_one_persons_work_does_not_exist_for_another(engine: Engine, tmp_path: Path) -> None:
    study_id, _, page = start(engine, tmp_path)
    with transaction(engine) as session:
        stranger = a_person(session, study_id, "Bea")
        assert save(session, stranger, [answer(page, "clear", "left")]).refused[0]["code"] == "not_found"
        for call in (
            lambda: assignment_page(session, stranger, page["aid"]),
            lambda: submit(session, stranger, page["aid"], page["page"], "submit-00001", {}),
            lambda: skip(session, stranger, page["aid"], "x"),
            lambda: reopen(session, stranger, page["aid"]),
        ):
            with pytest.raises(AnnotationError, match="no such work"):
                call()
    assert stored(engine, page["aid"]) == []


def test_two_pages_saving_at_once_lose_nothing(engine: Engine, tmp_path: Path) -> None:
    _, principal, page = start(engine, tmp_path)
    failures: list[BaseException] = []

    def type_away(criterion: str, writer: str) -> None:
        try:
            for seq in range(1, 16):
                with transaction(engine) as session:
                    saved = save(session, principal, [answer(page, criterion, "left", writer=writer, seq=seq)])
                assert saved.acks
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=type_away, args=pair) for pair in (("clear", "writer-1"), ("deep", "writer-2"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(stored(engine, page["aid"])) == 30


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.lists(st.integers(0, 5), min_size=6, max_size=18))
def test_any_order_of_late_and_doubled_entries_ends_in_the_last_accepted_edit(
    tmp_path_factory: pytest.TempPathFactory, order: list[int]
) -> None:
    root = tmp_path_factory.mktemp("study")
    engine = open_database(new_sqlite(root / "calipers.db"))
    _, principal, page = start(engine, root / "reports")
    edits = [answer(page, "clear", ("left", "right", "tie")[k % 3], seq=k + 1) for k in range(6)]
    accepted = []
    for k in order:
        with transaction(engine) as session:
            saved = save(session, principal, [edits[k]])
        if saved.acks and k not in accepted:
            accepted.append(k)
    assert accepted == sorted(accepted)
    with reading(engine) as session:
        current = current_answers(session, own_assignment(session, principal, page["aid"]))["clear"]
        assert current.seq == accepted[-1] + 1
        assert session.scalar(select(func.count()).select_from(Label)) == len(accepted)
    engine.dispose()


def test_a_judges_failure_is_a_row_with_a_status_and_no_choice(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        rater = Rater(kind="judge", handle="mini")
        session.add(rater)
        session.flush()
        item = session.scalars(select(Item)).first()
        assert item is not None
        passes = {(item.id, 1): Pass(1, 1, "B")}
        (assignment,) = open_assignments(session, study, rater.id, passes).values()
        assert list(open_assignments(session, study, rater.id, passes).values()) == [assignment]
        reply = Answered((assignment,), (Answer("clear", "ok", "left", "why"), Answer("deep", "truncated")))
        assert record_answers(session, [reply], parser_version="1") == [True]
        assert record_answers(session, [reply, reply], parser_version="1") == [True, True]
        assert session.get_one(Assignment, assignment).status == "submitted"
        rows = session.execute(select(Label.status, Label.choice, Label.revision).order_by(Label.id)).all()
    assert rows == [("ok", "left", 1), ("truncated", None, 1)]


def test_a_judges_equal_answer_on_a_changed_text_is_a_new_revision(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        rater = Rater(kind="judge", handle="mini")
        session.add(rater)
        session.flush()
        item = session.scalars(select(Item)).first()
        assert item is not None
        study, passes = session.get_one(Study, study_id), {(item.id, 1): Pass(1, 1, "A")}
        (assignment,) = open_assignments(session, study, rater.id, passes).values()
        reply = Answered((assignment,), (Answer("clear", "ok", "left", "why"),))
        record_answers(session, [reply], parser_version="1")
        session.get_one(Report, item.report_a_id).shown_sha256 = "0" * 64
        record_answers(session, [reply], parser_version="1")
        assert session.scalars(select(Label.left_sha256).order_by(Label.id)).all()[1] == "0" * 64


@pytest.mark.databases("sqlite")
def test_an_answer_to_words_that_changed_is_no_answer_to_the_new_ones(engine: Engine, tmp_path: Path) -> None:
    study_id, principal, page = start(engine, tmp_path, overlap=2)
    with transaction(engine) as session:
        ann = a_person(session, study_id, "Ann")
        theirs = take(session, ann)
        assert theirs is not None
        revs = answer_all(session, ann, theirs.aid)
        submit(session, ann, theirs.aid, assignment_page(session, ann, theirs.aid)["page"], "submit-00009", revs)
        mine = answer_all(session, principal, page["aid"])
        study = init_study(session, "small", PROTOCOL.replace("Which is clearer?", "Which is much clearer?"), 7)
        assert set(assignment_page(session, principal, page["aid"])["answers"]) == {"deep"}
        with pytest.raises(Incomplete) as caught:
            submit(session, principal, page["aid"], page["page"], "submit-00001", {"deep": mine["deep"]})
        assert caught.value.details == [{"criterion": "clear", "reason": "no_choice"}]
        save(session, principal, [answer(page, "clear", "tie", seq=2)])
        submit(session, principal, page["aid"], page["page"], "submit-00002", {"clear": 1, "deep": mine["deep"]})
        verdicts = load_verdicts(session, study)
    rows = sorted(zip(verdicts["rater_id"], verdicts["criterion"], strict=True))
    assert rows == [("annotator-01", "clear"), ("annotator-01", "deep"), ("annotator-02", "deep")]


def test_work_reopened_before_closing_still_counts_and_unfinished_work_waits_for_its_person(
    engine: Engine, tmp_path: Path
) -> None:
    study_id, ada, page = start(engine, tmp_path)
    with transaction(engine) as session:
        revs = answer_all(session, ada, page["aid"])
        following = submit(session, ada, page["aid"], page["page"], "submit-00001", revs)["next"]
        save(session, ada, [answer(assignment_page(session, ada, following), "clear", "left")])
        reopen(session, ada, page["aid"])
        study = session.get_one(Study, study_id)
        before = slots(session)
        move_study(session, study, "closed")
        assert len(load_verdicts(session, study)) == 2
        move_study(session, study, "open")
        assert slots(session) == before
        again = take(session, ada)
        assert again is not None
        assert again.aid == following
        assert slots(session) == before
        move_study(session, study, "closed")
        reopen(session, ada, page["aid"])
        move_study(session, study, "locked")
        assert len(load_verdicts(session, study)) == 2


def slots(session) -> int:  # type: ignore[no-untyped-def]
    live = ("open", "taken", "submitted", "locked")
    return session.scalar(select(func.count()).select_from(Assignment).where(Assignment.status.in_(live)))


def test_slots_lost_in_the_middle_are_planned_again(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, overlap=3)
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        gone = session.scalars(select(Assignment).where(Assignment.slot_no == 2)).first()
        assert gone is not None
        gone.status = "void"
        session.flush()
        plan = make_plan(session, admin, design="all", per_topic=None, overlap=3)
        assert [slot.slot_no for slot in plan.slots] == [2]
        assert apply_plan(session, admin, plan) == 1


@pytest.mark.every_case
@pytest.mark.parametrize("field", ["client_ts", "start", "end"])
@pytest.mark.parametrize("wrong", ["9999-12-31T23:59:59+00:00", "notatime", "0001-01-01"])
def test_a_time_nobody_can_read_later_is_refused_at_once(field: str, wrong: str) -> None:
    interval = {"criterion": None, "start": "2026-11-20T10:00:00+00:00", "end": "2026-11-20T10:00:05+00:00"}
    raw = {
        "kind": "activity",
        "aid": "a" * 32,
        "page": "b" * 32,
        "client_uuid": "active-001",
        "client_ts": "",
        "intervals": [interval],
    }
    (raw if field == "client_ts" else interval)[field] = wrong
    with pytest.raises(AnnotationError, match=field):
        read_entry(raw)


@pytest.mark.databases("sqlite")
def test_a_late_copy_of_an_old_submit_does_not_hand_reopened_work_in(engine: Engine, tmp_path: Path) -> None:
    _, principal, page = start(engine, tmp_path)
    with transaction(engine) as session:
        revs = answer_all(session, principal, page["aid"])
        first = submit(session, principal, page["aid"], page["page"], "submit-00001", revs)
        reopen(session, principal, page["aid"])
        assert submit(session, principal, page["aid"], page["page"], "submit-00001", revs) == first
        assert own_assignment(session, principal, page["aid"]).status == "taken"
