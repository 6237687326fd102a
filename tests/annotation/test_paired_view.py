"""Two reports rated in one view: two items, one page, and nothing that happens to one of them without the other."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from annotation.designs.sides_and_orders import OTHER
from annotation.errors import AnnotationError, Incomplete
from annotation.facts.soundness import find_faults
from annotation.items.twins import twin_items, with_twin
from annotation.labelling import reopen, save, skip, submit
from annotation.labels.entries import Beside, read_entry
from annotation.offline.packets import reserve_packet
from annotation.open_work.item_slots import list_items, release, reserve, set_priority
from annotation.open_work.returns import return_stale
from annotation.participation.people_list import pay_lines
from annotation.participation.standing import equal_quota, resume, set_quota, void_work, withdraw
from annotation.people.active_time import seconds_by_criterion
from annotation.people.principals import Principal, local_admin
from annotation.planning.plan_summary import summary
from annotation.planning.planned_items import Asked
from annotation.planning.slots import apply_plan, make_plan
from annotation.studies import init_study
from annotation.verdicts import load_verdicts
from annotation.work.claiming import take
from annotation.work.history import work_log
from annotation.work.open_and_close import move_study, set_status
from annotation.work.own_work import own_work
from annotation.work.page import assignment_page, own_assignment
from annotation.work.progress import position
from app.progress import study_parts, study_progress
from db.connect import transaction
from db.tables import LIVE, Assignment, Event, Item, Report, Study, System
from db.types import now
from tests.annotation.work.test_stale_work import days_pass
from tests.racing import Door, at_once
from tests.small_study import BESIDE, BOTH, a_person, answer, make_study, with_reference, write_reports

PAGES = 9  # three topics with three systems: every two of them


def page_and_beside(session: Session, person: Principal, aid: str) -> tuple[dict, dict]:
    """A page's own part and the one beside, each as `answer` takes it."""
    page = assignment_page(session, person, aid)
    return page, page["beside"]


def rate(session: Session, person: Principal, aid: str, own: str = "4", beside: str = "7", seq: int = 1) -> dict:
    """Every criterion of both reports; what a submit needs."""
    parts = page_and_beside(session, person, aid)
    codes = [one["id"] for one in parts[0]["criteria"]]
    revs: list[dict[str, int]] = []
    for part, score in zip(parts, (own, beside), strict=True):
        stored = part["answers"]
        entries = [
            answer(part, code, score, writer=f"writer-{seq}", seq=seq, base_rev=stored.get(code, {}).get("rev", 0))
            for code in codes
        ]
        saved = save(session, person, entries)
        assert saved.refused == []
        revs.append({code: ack["rev"] for code, ack in zip(codes, saved.acks, strict=True)})
    beside_part = Beside(aid=parts[1]["aid"], page=parts[1]["page"], revs=revs[1])
    return {"page": parts[0]["page"], "revs": revs[0], "beside": beside_part}


def hand_in(session: Session, person: Principal, aid: str, number: int, **scores: str) -> dict:
    ready = rate(session, person, aid, seq=number + 1, **scores)
    return submit(session, person, aid, ready["page"], f"submit-{number:04d}", ready["revs"], beside=ready["beside"])


def test_a_page_is_two_items_and_one_coin(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, overlap=2, protocol=BOTH)
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        twins = twin_items(session, study)
        assert len(twins) == 2 * PAGES
        assert all(twins[twin] == item for item, twin in twins.items())
        rows = session.scalars(select(Assignment)).all()
        assert len(rows) == 2 * PAGES * 2
        side = {(row.item_id, row.slot_no): row.left for row in rows}
        assert all(side[twins[item], slot] == OTHER[left] for (item, slot), left in side.items())
        lefts: Counter[str] = Counter()
        of = select(Assignment.left, System.key).join(Item, Item.id == Assignment.item_id)
        of = of.join(Report, Report.id == Item.report_a_id).join(System, System.id == Report.system_id)
        for left, system in session.execute(of):
            lefts[system] += 1 if left == "A" else -1
        assert all(abs(lean) <= 1 for lean in lefts.values())
        assert find_faults(session) == []


@pytest.mark.databases("sqlite")
def test_a_plan_with_a_reference_rates_each_target_beside_it_and_counts_a_page_once(
    engine: Engine, tmp_path: Path
) -> None:
    with_reference(tmp_path)
    with transaction(engine) as session:
        study = init_study(session, "small", BOTH, 7)
        admin = local_admin(study)
        from annotation.importing.reports.folder import read_folder
        from annotation.importing.reports.write import import_reports

        import_reports(session, admin, read_folder(tmp_path), layout="folder", source="here")
        plan = make_plan(session, admin, overlap=2)
        told = summary(session, admin, plan)
        assert (told.items, told.slots, told.new_slots) == (6, 12, 12)  # two targets on each of three topics
        words = sum(session.scalars(select(Report.words)).all())
        reference = sum(session.scalars(select(Report.words).join(System).where(System.is_reference)).all())
        assert told.words == 2 * (words + reference)  # both reports of a page, once a slot
        assert {use.system: use.items for use in told.systems} == {"alpha": 3, "beta": 3, "gamma": 6}
        assert apply_plan(session, admin, plan) == 12
        again = make_plan(session, admin, overlap=3)
        assert [slot.slot_no for slot in again.slots] == [3] * 6
        assert apply_plan(session, admin, again) == 6
        assert session.query(Item).count() == 12
        assert session.query(Assignment).count() == 36
        assert find_faults(session) == []


@pytest.mark.databases("sqlite")
def test_items_of_another_view_are_not_planned_on(engine: Engine, tmp_path: Path) -> None:
    with_reference(tmp_path)
    study_id = make_study(engine, tmp_path, protocol=BESIDE)
    with transaction(engine) as session:
        study = init_study(session, "small", BOTH, 7)
        assert study.id == study_id
        with pytest.raises(AnnotationError) as caught:
            make_plan(session, local_admin(study), overlap=2)
        assert caught.value.code == "other_view"


@pytest.mark.databases("sqlite")
def test_one_person_takes_both_and_rates_both_or_nothing_is_handed_in(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, protocol=BOTH)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        assert position(session, ada) == (0, PAGES)
        first = take(session, ada)
        assert first is not None
        assert first.left == "A"  # the left report's
        own, twin = with_twin(session, first)
        assert (own.rater_id, own.status, own.taken_at) == (twin.rater_id, twin.status, twin.taken_at)
        page, beside = page_and_beside(session, ada, first.aid)
        assert [pane["name"] for pane in page["panes"]] == ["Left", "Right"]
        assert page["rates"] == "left"
        assert assignment_page(session, ada, beside["aid"]) == page  # whichever of the two is asked for
        ready = rate(session, ada, first.aid)
        both = ready["beside"]
        alone = own_assignment(session, ada, first.aid)
        with pytest.raises(AnnotationError, match="other reports"):
            submit(session, ada, alone.aid, ready["page"], "submit-0001", ready["revs"])
        with pytest.raises(Incomplete) as unsaved:
            stale = Beside(aid=both.aid, page=both.page, revs={"clear": 1})
            submit(session, ada, alone.aid, ready["page"], "submit-0002", ready["revs"], beside=stale)
        assert unsaved.value.details == [{"criterion": "deep", "aid": both.aid}]
        assert save(session, ada, [answer(beside, "deep", None, seq=2)]).refused == []
        cleared = Beside(aid=both.aid, page=both.page, revs={**both.revs, "deep": 2})
        with pytest.raises(Incomplete) as lacking:
            submit(session, ada, alone.aid, ready["page"], "submit-0003", ready["revs"], beside=cleared)
        assert lacking.value.details == [{"criterion": "deep", "reason": "no_choice", "aid": both.aid}]
        assert {own.status, twin.status} == {"taken"}
        assert save(session, ada, [answer(beside, "deep", "7.5", seq=3)]).refused == []
        done = Beside(aid=both.aid, page=both.page, revs={**both.revs, "deep": 3})
        told = submit(session, ada, alone.aid, ready["page"], "submit-0004", ready["revs"], beside=done)
        assert told["position"] == {"done": 1, "of": PAGES}
        assert submit(session, ada, alone.aid, ready["page"], "submit-0004", ready["revs"], beside=done) == told
        assert {own.status, twin.status} == {"submitted"}
        assert find_faults(session) == []


@pytest.mark.databases("sqlite")
def test_scores_are_filed_under_the_report_that_was_rated_whichever_side_it_stood(
    engine: Engine, tmp_path: Path
) -> None:
    """Everybody gives each system its own score; the verdicts give them back, whoever stood left."""
    write_reports(tmp_path, ("tides", "bread"))
    study_id = make_study(engine, tmp_path, overlap=2, protocol=BOTH)
    truth = {"alpha": "2", "beta": "5", "gamma": "9"}
    with transaction(engine) as session:
        people = [a_person(session, study_id, name) for name in ("Ada", "Bea")]
        number = 0
        for person in people:
            while (mine := take(session, person)) is not None:
                systems = [
                    session.scalar(
                        select(System.key)
                        .join(Report, Report.system_id == System.id)
                        .join(Item, Item.report_a_id == Report.id)
                        .where(Item.id == one.item_id)
                    )
                    for one in with_twin(session, mine)
                ]
                number += 1
                hand_in(session, person, mine.aid, number, own=truth[systems[0]], beside=truth[systems[1]])
        study = session.get_one(Study, study_id)
        set_status(session, local_admin(study), "closed")
        frame = load_verdicts(session, study)
        assert len(frame) == 2 * 6 * 2 * 2  # both reports of six pages, two criteria, two people
        assert {(row.system_a, str(float(row.label))) for row in frame.itertuples()} == {
            (system, str(float(score))) for system, score in truth.items()
        }
        assert set(frame["presentation"]) == {"AB", "BA"}
        assert find_faults(session) == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)  # each act is told to Postgres elsewhere
@pytest.mark.parametrize("seed", range(2))
def test_whatever_happens_in_whatever_order_twins_never_part(engine: Engine, tmp_path: Path, seed: int) -> None:
    study_id = make_study(engine, tmp_path, overlap=2, protocol=BOTH)
    draw = random.Random(seed)
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        admin = local_admin(study)
        people = {name: a_person(session, study_id, name) for name in ("Ada", "Bea", "Cyd")}
    numbers = iter(range(10_000))

    def mine(session: Session, person: Principal, *statuses: str) -> list[Assignment]:
        rows = select(Assignment).where(Assignment.rater_id == person.rater_id, Assignment.status.in_(statuses))
        return list(session.scalars(rows.order_by(Assignment.id)))

    def act(session: Session, what: str) -> None:
        name = draw.choice(sorted(people))
        person = people[name]
        if what == "take":
            take(session, person)
        elif what == "stale":
            days_pass(session)
            return_stale(session, session.get_one(Study, study_id))
        elif what == "void":
            void_work(session, admin, name, "not themselves")
        elif what == "leave":
            withdraw(session, admin, name)
            resume(session, admin, name)
        elif what == "close":
            move_study(session, session.get_one(Study, study_id), "closed")
            move_study(session, session.get_one(Study, study_id), "open")
        elif what == "reserve":
            session.execute(update(Assignment).where(Assignment.status == "open").values(reserved_for=None))
            one = draw.choice(list_items(session, admin))
            reserve(session, admin, [one.item], name)
            set_priority(session, admin, [one.item], draw.randint(-3, 3))
        elif what == "release":
            release(session, admin, [])
        elif what == "quota":
            set_quota(session, admin, draw.choice([None, 3, 9]), name)
        else:
            statuses = {"answer": ("taken", "returned", "submitted"), "submit": ("taken", "returned")}
            held = mine(session, person, *statuses.get(what, ("taken", "submitted", "returned")))
            if not held:
                return
            aid = draw.choice(held).aid  # of either of the two
            if what == "answer":
                page, beside = page_and_beside(session, person, aid)
                entries = [
                    answer(part, "clear", str(draw.randint(0, 10)), writer=f"w-{next(numbers):08d}",
                           base_rev=part["answers"].get("clear", {}).get("rev", 0))
                    for part in draw.sample([page, beside], draw.randint(1, 2))
                ]  # fmt: skip
                save(session, person, entries)
            elif what == "submit":
                page = assignment_page(session, person, aid)
                hand_in(session, person, page["aid"], next(numbers) + 5000)
            elif what == "skip":
                skip(session, person, aid, "cannot tell")
            elif what == "reopen":
                reopen(session, person, aid)

    often = ["take"] * 4 + ["answer"] * 3 + ["submit"] * 4 + ["skip", "reopen", "reopen", "stale"]
    seldom = ["void", "leave", "close", "reserve", "release", "quota"]
    refused = Counter[str]()
    steps = 2 * settings().max_examples  # 30, and 4,000 with --hypothesis-profile=explore
    for step in range(steps):
        what = draw.choice(often if draw.random() < 0.85 else seldom)
        try:
            with transaction(engine) as session:
                act(session, what)
        except AnnotationError as error:
            refused[error.code] += 1
        except AssertionError:  # a save that was refused, because the work went back
            refused["save"] += 1
        if step % 3 == 2:
            with transaction(engine) as session:
                assert find_faults(session) == [], (seed, step)
    with transaction(engine) as session:
        rows = session.scalars(select(Assignment).where(Assignment.status.in_(LIVE))).all()
        assert len(rows) == 2 * PAGES * 2
        # what was handed in holds a label of both reports
        for row in rows:
            twin = with_twin(session, row)
            assert {one.status for one in twin} == {row.status}
            assert {one.rater_id for one in twin} == {row.rater_id}
            assert Counter(one.left for one in twin) == {"A": 1, "B": 1}
    assert sum(refused.values()) < 0.8 * steps  # some of it did something


def test_many_at_once_fill_every_page_exactly_and_never_half(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, overlap=2, protocol=BOTH)
    with transaction(engine) as session:
        people = [a_person(session, study_id, f"Rater {number}") for number in range(6)]

    def work(person: Principal, door: Door) -> None:
        for number in range(2 * PAGES):
            with door, transaction(engine) as session:
                mine = take(session, person)
                if mine is None:
                    return
                aid = mine.aid
            with door, transaction(engine) as session:
                if number % 4 == 3:
                    skip(session, person, aid, "cannot tell")
                else:
                    hand_in(session, person, aid, number)

    at_once(people, work)
    with transaction(engine) as session:
        done = Counter(session.scalars(select(Assignment.item_id).where(Assignment.status == "submitted")))
        taken = session.scalars(select(Assignment).where(Assignment.status == "taken")).all()
        waiting = session.scalars(select(Assignment).where(Assignment.status == "open")).all()
        assert sum(done.values()) + len(taken) + len(waiting) == 2 * 2 * PAGES
        assert max(done.values()) == 2
        assert all(
            done[item] == done[twin] for item, twin in twin_items(session, session.get_one(Study, study_id)).items()
        )
        assert find_faults(session) == []


@pytest.mark.databases("sqlite")
def test_a_skipped_page_goes_to_somebody_else_with_the_same_sides(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, protocol=BOTH)
    with transaction(engine) as session:
        ada, bea = a_person(session, study_id), a_person(session, study_id, "Bea")
        mine = take(session, ada)
        assert mine is not None
        _, right = with_twin(session, mine)
        again = skip(session, ada, right.aid, "broken")  # asked for by the right one's aid
        assert again["next"] not in (mine.aid, right.aid)
        assert position(session, ada) == (0, PAGES - 1)
        seen = set()
        for number in range(PAGES):
            one = take(session, bea)
            assert one is not None
            seen.add((one.item_id, one.left))
            hand_in(session, bea, one.aid, number)
            if session.get_one(Assignment, one.id).item_id == mine.item_id:
                break
        assert (mine.item_id, "A") in seen
        told = [event.data for event in session.scalars(select(Event).where(Event.what == "give_back"))]
        assert len(told) == 1  # one skip, with its reason once
        assert find_faults(session) == []


def test_work_is_counted_by_pages_on_every_list(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, overlap=2, protocol=BOTH)
    with transaction(engine) as session:
        ada, study = a_person(session, study_id), session.get_one(Study, study_id)
        admin = local_admin(study)
        for number in range(2):
            mine = take(session, ada)
            assert mine is not None
            hand_in(session, ada, mine.aid, number)
        take(session, ada)
        own = own_work(session, ada)
        assert (own.submitted, own.in_work, own.to_come, len(own.items)) == (2, 1, PAGES - 3, 3)
        assert {(item.answered, item.criteria) for item in own.items} == {(0, 4), (4, 4)}
        told, parts = study_progress(session, admin), study_parts(session, admin)
        assert (told.items, told.slots, told.submitted, len(told.by_item)) == (PAGES, 2 * PAGES, 2, PAGES)
        assert {part.slots for part in parts.by_criterion} == {4 * PAGES}
        assert sum(part.slots for part in parts.by_system) == 4 * PAGES
        assert [(one.submitted, one.in_work) for one in told.raters] == [(2, 1)]
        items = list_items(session, admin)
        assert (len(items), sum(one.handed_in for one in items), sum(one.taken for one in items)) == (PAGES, 2, 1)
        assert equal_quota(session, admin) == 2 * PAGES
        set_quota(session, admin, 3)
        assert position(session, ada) == (2, 3)
        assert set_priority(session, admin, [items[-1].item], 5) == items[-1].open


@pytest.mark.databases("sqlite")
def test_quotas_and_topics_count_a_page_once(engine: Engine, tmp_path: Path) -> None:
    once = BOTH.replace("topic_once = false", "topic_once = true")
    study_id = make_study(engine, tmp_path, protocol=once)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        set_quota(session, local_admin(session.get_one(Study, study_id)), 2)
        assert position(session, ada) == (0, 2)
        for number in range(2):
            mine = take(session, ada)
            assert mine is not None
            hand_in(session, ada, mine.aid, number)
        assert take(session, ada) is None
        topics = select(Item.topic_id).join(Assignment, Assignment.item_id == Item.id)
        assert len(set(session.scalars(topics.where(Assignment.rater_id == ada.rater_id)))) == 2


@pytest.mark.databases("sqlite")
def test_a_roster_gives_both_to_the_same_person_with_even_sides(engine: Engine, tmp_path: Path) -> None:
    from annotation.importing.reports.folder import read_folder
    from annotation.importing.reports.write import import_reports

    write_reports(tmp_path)
    with transaction(engine) as session:
        study = init_study(session, "small", BOTH, 7)
        admin = local_admin(study)
        import_reports(session, admin, read_folder(tmp_path), layout="folder", source="here")
        for name in ("Ada", "Bea", "Cyd"):
            a_person(session, study.id, name)
        plan = make_plan(session, admin, design="all", overlap=2, roster=True)
        assert set((plan.loads or {}).values()) == {6}
        assert summary(session, admin, plan).uneven_sides in (0, 1)
        apply_plan(session, admin, plan)
        promised = Counter(row.reserved_for for row in session.scalars(select(Assignment)))
        assert set(promised.values()) == {12}
        assert find_faults(session) == []


@pytest.mark.databases("sqlite")
def test_a_second_reading_repeats_both(engine: Engine, tmp_path: Path) -> None:
    topics = tuple(f"topic{number}" for number in range(12))
    write_reports(tmp_path, topics, ("alpha", "beta"))
    protocol = BOTH.replace("[study]", "[study]\nretest_share = 0.1")
    study_id = make_study(engine, tmp_path, protocol=protocol)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        for number in range(12):
            mine = take(session, ada)
            assert mine is not None
            hand_in(session, ada, mine.aid, number)
        assert position(session, ada) == (12, 13)
        session.execute(update(Assignment).values(submitted_at=now().replace(year=2025)))
        session.expire_all()
        again = take(session, ada)
        assert again is not None
        own, twin = with_twin(session, again)
        assert (own.purpose, twin.purpose, own.pass_no, twin.pass_no) == ("retest", "retest", 2, 2)
        assert {own.left, twin.left} == {"A", "B"}
        hand_in(session, ada, again.aid, 99)
        assert position(session, ada) == (13, 13)
        assert take(session, ada) is None
        assert find_faults(session) == []


@pytest.mark.databases("sqlite")
def test_nothing_in_the_page_tells_which_is_the_reference(engine: Engine, tmp_path: Path) -> None:
    with_reference(tmp_path)
    study_id = make_study(engine, tmp_path, protocol=BOTH)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        own_is_reference = set()
        for number in range(PAGES):
            mine = take(session, ada)
            assert mine is not None
            page = assignment_page(session, ada, mine.aid)
            texts = ("panes", "study", "topic", "preferences")
            said = json.dumps({name: value for name, value in page.items() if name not in texts})
            assert not any(word in said.lower() for word in ("reference", "target", "alpha", "beta", "gamma"))
            item = session.get_one(Item, mine.item_id)
            system = session.get_one(System, session.get_one(Report, item.report_a_id).system_id)
            own_is_reference.add(system.is_reference)
            hand_in(session, ada, mine.aid, number)
        assert own_is_reference == {True, False}  # the page's own part is now the one, now the other


@pytest.mark.databases("sqlite")
def test_what_two_reports_in_one_view_cannot_have_is_refused_in_a_sentence(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, protocol=BOTH)
    with transaction(engine) as session:
        a_person(session, study_id)
        with pytest.raises(AnnotationError) as caught:
            reserve_packet(session, local_admin(session.get_one(Study, study_id)), "Ada", 2)
        assert caught.value.code == "no_packets"


def test_time_is_the_pages_and_each_report_has_half_of_the_reading(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, protocol=BOTH)
    with transaction(engine) as session:
        ada, study = a_person(session, study_id), session.get_one(Study, study_id)
        mine = take(session, ada)
        assert mine is not None
        session.execute(update(Assignment).values(taken_at=now() - timedelta(hours=1)))
        session.expire_all()
        parts = page_and_beside(session, ada, mine.aid)
        at = now() - timedelta(minutes=30)
        for part, spans in zip(parts, ([(None, 0, 100), ("clear", 100, 130)], [("clear", 130, 140)]), strict=True):
            intervals = [
                {"criterion": code, "start": (at + timedelta(seconds=start)).isoformat(),
                 "end": (at + timedelta(seconds=end)).isoformat()}
                for code, start, end in spans
            ]  # fmt: skip
            raw = {"kind": "activity", "aid": part["aid"], "page": part["page"], "client_uuid": f"act-{part['aid']}",
                   "client_ts": now().isoformat(), "intervals": intervals}  # fmt: skip
            assert save(session, ada, [read_entry(raw)]).refused == []
        page = assignment_page(session, ada, mine.aid)
        assert page["active_s"] == pytest.approx({"item": 140, "study": 140})
        hand_in(session, ada, mine.aid, 1)
        assert own_work(session, ada).active_s == pytest.approx(140)
        log = work_log(session, study)
        assert (len(log), log["active_s"].sum()) == (1, pytest.approx(140))
        twin = with_twin(session, mine)[1]
        seconds = seconds_by_criterion(session, study)
        told = {(row.id, code): seconds.of(row.id, code) for row in (mine, twin) for code in ("clear", "deep")}
        assert told == pytest.approx(
            {(mine.id, "clear"): 55, (mine.id, "deep"): 25, (twin.id, "clear"): 35, (twin.id, "deep"): 25}
        )
        (line,) = [one for one in pay_lines(session, local_admin(study)) if one.items]
        assert line.items == 1


@pytest.mark.databases("sqlite")
def test_a_dispute_is_settled_for_one_report_beside_the_other(engine: Engine, tmp_path: Path) -> None:
    write_reports(tmp_path, ("tides",))
    study_id = make_study(engine, tmp_path, overlap=2, protocol=BOTH)
    with transaction(engine) as session:
        people = [a_person(session, study_id, name) for name in ("Ada", "Bea")]
        number = 0
        for person, score in zip(people, ("1", "9"), strict=True):
            while (mine := take(session, person)) is not None:
                number += 1
                hand_in(session, person, mine.aid, number, own=score, beside=score)
        judge = a_person(session, study_id, "Cyd", "adjudicator")
        sides = set()
        for _ in range(6):
            one = take(session, judge)
            assert one is not None
            page = assignment_page(session, judge, one.aid)
            sides.add(page["rates"])
            assert page["beside"] is None
            assert [pane["name"] for pane in page["panes"]] == ["Left", "Right"]
            revs = {}
            for code in [asked["id"] for asked in page["criteria"]]:
                revs[code] = save(session, judge, [answer(page, code, "5")]).acks[0]["rev"]
            number += 1
            submit(session, judge, one.aid, page["page"], f"settled-{number}", revs)
        assert sides == {"left", "right"}
        assert find_faults(session) == []


@pytest.mark.databases("sqlite")
def test_a_list_names_the_pages_and_which_come_first(engine: Engine, tmp_path: Path) -> None:
    from annotation.designs.listed_pairs import read_list

    study_id = make_study(engine, tmp_path / "reports", protocol=BOTH)
    listed = tmp_path / "pairs.csv"
    listed.write_text("topic,system_a,system_b,priority\ntides,beta,alpha,4\n", encoding="utf-8")
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        plan = make_plan(session, admin, listed=read_list(listed), overlap=2)
        assert [slot.slot_no for slot in plan.slots] == [2]
        assert apply_plan(session, admin, plan) == 1
        urgent = session.scalars(select(Assignment).where(Assignment.priority == 4)).all()
        assert len(urgent) == 4  # two slots of two items
        assert find_faults(session) == []


@pytest.mark.databases("sqlite")
def test_a_broken_couple_is_found(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, protocol=BOTH)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        mine = take(session, ada)
        assert mine is not None
        mine.status, mine.submitted_at = "submitted", now()
        session.flush()
        assert "two reports rated in one view share person, status and coin" in {
            fault.rule for fault in find_faults(session)
        }
        session.rollback()


@pytest.mark.databases("sqlite")
def test_asking_for_pairs_is_asking_for_pages(engine: Engine, tmp_path: Path) -> None:
    assert Asked("all", per_topic=1).amount == {"per_topic": 1, "per_category": None, "total": None}
    from annotation.importing.reports.folder import read_folder
    from annotation.importing.reports.write import import_reports

    write_reports(tmp_path)
    with transaction(engine) as session:
        admin = local_admin(init_study(session, "small", BOTH, 7))
        import_reports(session, admin, read_folder(tmp_path), layout="folder", source="here")
        for design, asked, pages in (("all", {}, 9), ("all", {"per_topic": 1}, 3), ("balanced", {"total": 6}, 6)):
            assert len(make_plan(session, admin, design=design, overlap=1, **asked).items) == pages
