"""A plan becomes rows: named work, orders of questions, lists by hand, and what a plan tells before it is made."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.designs.listed_pairs import read_list
from annotation.designs.pairing import seeded
from annotation.designs.sides_and_orders import CriteriaOrders, Question, shuffled
from annotation.errors import AnnotationError, ImportingError
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.items.shown import asked_of
from annotation.people.principals import Principal, local_admin
from annotation.planning.plan_root import plan_roots, root_of, study_plan
from annotation.planning.plan_summary import summary
from annotation.planning.slots import Plan, apply_plan, make_plan
from annotation.studies import init_study, not_yet_active, protocol_of
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from db.connect import transaction
from db.people_tables import Enrollment
from db.tables import Assignment, Criterion, Event, Item, Report, Study, System, Topic
from tests.small_study import PROTOCOL, RATING, a_person, with_reference, write_reports

PAID = PROTOCOL.replace("[study]", "[study]\npay = {rate = 10}\nattention = {every = 2}\nretest_share = 0.5")
SHUFFLED = PROTOCOL.replace("[study]", '[study]\ncriteria_order = "shuffled"')
ONCE = PROTOCOL.replace("topic_once = false", "topic_once = true")


def begun(session: Session, root: Path, protocol: str = PROTOCOL, people: int = 0) -> tuple[Principal, list[Principal]]:
    """A study with three topics of three systems, no items yet; its admin and its annotators."""
    study = init_study(session, "small", protocol, 7)
    admin = local_admin(study)
    import_reports(session, admin, read_folder(root), layout="folder", source="here")
    return admin, [a_person(session, study.id, f"p{number}") for number in range(people)]


def made(session: Session, admin: Principal, **asked: Any) -> Plan:
    plan = make_plan(session, admin, **({"design": "all", "overlap": 1} | asked))
    apply_plan(session, admin, plan)
    return plan


def slots(session: Session) -> list[Assignment]:
    return list(session.scalars(select(Assignment).order_by(Assignment.item_id, Assignment.slot_no)))


def leans(session: Session, rows: list[Assignment]) -> Counter[tuple[int | None, int]]:
    """(person, system) -> how much more often left than right."""
    lean: Counter[tuple[int | None, int]] = Counter()
    for row in rows:
        item = session.get_one(Item, row.item_id)
        a, b = (session.get_one(Report, report).system_id for report in (item.report_a_id, item.report_b_id))
        lean[row.reserved_for, a] += 1 if row.left == "A" else -1
        lean[row.reserved_for, b] -= 1 if row.left == "A" else -1
    return lean


@pytest.mark.databases("sqlite")
def test_a_roster_names_every_slot_and_each_person_gets_that_work_and_no_other(engine: Engine, tmp_path: Path) -> None:
    write_reports(tmp_path)
    with transaction(engine) as session:
        admin, people = begun(session, tmp_path, people=4)
        plan = made(session, admin, overlap=2, roster=True)
        rows = slots(session)
        reserved: dict[int | None, list[int]] = defaultdict(list)
        for row in rows:
            reserved[row.reserved_for].append(row.item_id)
        assert sorted(map(len, reserved.values())) == sorted((plan.loads or {}).values()) == [4, 4, 5, 5]
        assert set(reserved) == {person.rater_id for person in people}
        assert all(abs(lean) <= 1 for lean in leans(session, rows).values())
        move_study(session, session.get_one(Study, admin.study_id), "open")
        for person in people:
            done = []
            while (mine := take(session, person)) is not None:
                done.append(mine.item_id)
                mine.status = "submitted"
                session.flush()
            assert sorted(done) == sorted(reserved[person.rater_id])
        assert made(session, admin, overlap=2, roster=True).slots == ()


def test_a_roster_continues_without_changing_who_has_what_or_any_order(engine: Engine, tmp_path: Path) -> None:
    write_reports(tmp_path)
    with transaction(engine) as session:
        admin, people = begun(session, tmp_path, people=4)
        made(session, admin, overlap=2, roster=True)
        before = {row.id: (row.reserved_for, row.left, row.item_id) for row in slots(session)}
        more = made(session, admin, overlap=3, roster=True)
        after = {row.id: (row.reserved_for, row.left, row.item_id) for row in slots(session)}
        assert before.items() <= after.items()
        assert sorted((more.loads or {}).values()) == [6, 7, 7, 7]
        assert len({(row.item_id, row.reserved_for) for row in slots(session)}) == len(after) == 27
        gone = session.get_one(Enrollment, people[0].enrollment_id)
        gone.status = "withdrawn"
        a_person(session, admin.study_id, "new")
        made(session, admin, overlap=3, roster=True)
        assert gone.rater_id not in {row.reserved_for for row in slots(session)}
        assert {row.id: (row.left, row.item_id) for row in slots(session)} == {k: v[1:] for k, v in after.items()}


@pytest.mark.databases("sqlite")
def test_open_slots_of_the_pool_can_be_named_later_with_the_order_they_have(engine: Engine, tmp_path: Path) -> None:
    write_reports(tmp_path)
    with transaction(engine) as session:
        admin, people = begun(session, tmp_path, people=3)
        made(session, admin, overlap=2)
        sides = {row.id: row.left for row in slots(session)}
        move_study(session, session.get_one(Study, admin.study_id), "open")
        mine = take(session, people[0])
        plan = made(session, admin, overlap=2, roster=True)
        assert mine is not None
        assert (len(plan.slots), len(plan.reserve), mine.reserved_for) == (0, 17, None)
        assert list((plan.loads or {}).values()) == [6, 6, 6]
        assert {row.id: row.left for row in slots(session)} == sides
        assert all(row.reserved_for for row in slots(session) if row.status == "open")


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("protocol", "people", "quota", "code", "said"),
    [
        (PROTOCOL, 0, None, "no_people", "invite the annotators first"),
        (PROTOCOL, 1, None, "too_few_people", "one item takes 2 different annotators and 1 is active; invite 1 more"),
        (ONCE, 5, None, "too_few_people", "3 items with 6 labels in all, nobody is to see a topic twice, and 5 are"),
        (PROTOCOL, 2, 8, "quota", "annotator-01 would have 9 items and may take 8"),
    ],
)
def test_what_the_invited_people_cannot_cover_is_refused_by_a_roster_and_warned_of_by_a_pool(
    engine: Engine, tmp_path: Path, protocol: str, people: int, quota: int | None, code: str, said: str
) -> None:
    write_reports(tmp_path)
    with transaction(engine) as session:
        admin, invited = begun(session, tmp_path, protocol, people)
        if quota:
            session.get_one(Enrollment, invited[0].enrollment_id).quota = quota
        with pytest.raises(AnnotationError, match=said) as caught:
            make_plan(session, admin, design="all", overlap=2, roster=True)
        assert caught.value.code == code
        pool = make_plan(session, admin, design="all", overlap=2)
        warning = summary(session, admin, pool).warning
        assert (said in warning) if code == "too_few_people" else warning == ""


def test_questions_are_shuffled_by_group_and_within_once_for_each_slot(engine: Engine, tmp_path: Path) -> None:
    write_reports(tmp_path)
    with transaction(engine) as session:
        admin, _ = begun(session, tmp_path, SHUFFLED)
        study = session.get_one(Study, admin.study_id)
        assert not_yet_active(protocol_of(study)) == []
        made(session, admin, overlap=2)
        rows = slots(session)
        orders = [tuple(row.criteria_order or ()) for row in rows]
        assert set(orders) == {("clear", "deep"), ("deep", "clear")}
        assert [[one.code for one in asked_of(session, study, row)] for row in rows] == list(map(list, orders))
        plan = study_plan(session, study)
        assert [tuple(slot["criteria_order"]) for slot in plan["slots"]] == orders
        move_study(session, study, "open")
        assert plan_roots(session, study)[-1]["root"] == root_of(plan)
        made(session, admin, overlap=3)
        assert [tuple(row.criteria_order or ()) for row in slots(session) if row.slot_no < 3] == orders
        # questions that come with a topic are drawn for its slots alone
        topic = session.scalars(select(Topic.id).order_by(Topic.id)).first()
        session.add(Criterion(
            study_id=study.id, topic_id=topic, code="own", position=9, label="Own", text="?", text_sha256="0" * 64
        ))  # fmt: skip
        session.flush()
        drawn = CriteriaOrders(session, study)
        assert sorted(drawn.draw(topic or 0, "x") or ()) == ["clear", "deep", "own"]
        assert sorted(drawn.draw((topic or 0) + 1, "x") or ()) == ["clear", "deep"]
        study.protocol_text = PROTOCOL
        assert CriteriaOrders(session, study).draw(topic or 0, "x") is None


def test_groups_of_questions_stay_whole_and_every_order_of_them_comes_up() -> None:
    asked = [Question(f"{c}{s}{n}", c, s) for c in "ab" for s in "xy" for n in (1, 2)] + [Question("loose")]
    drawn = [shuffled(asked, seeded(number)) for number in range(200)]
    for order in drawn:
        assert sorted(order) == sorted(question.code for question in asked)
        for group in ({"ax1", "ax2", "ay1", "ay2"}, {"ax1", "ax2"}, {"by1", "by2"}):
            at = [place for place, code in enumerate(order) if code in group]
            assert max(at) - min(at) == len(group) - 1
    assert len({tuple(code[0] for code in order) for order in drawn}) == 6
    assert drawn == [shuffled(asked, seeded(number)) for number in range(200)]


def test_a_list_by_hand_is_planned_with_its_priorities_and_moves_open_slots_only(
    engine: Engine, tmp_path: Path
) -> None:
    write_reports(tmp_path / "reports")
    written = tmp_path / "pairs.tsv"
    written.write_text("topic\tsystem_a\tsystem_b\tpriority\ntides\tbeta\talpha\t5\nbread\tgamma\talpha\t\n")
    with transaction(engine) as session:
        admin, (person,) = begun(session, tmp_path / "reports", people=1)
        made(session, admin, listed=read_list(written), overlap=2)
        assert sorted(row.priority for row in slots(session)) == [0, 0, 5, 5]
        move_study(session, session.get_one(Study, admin.study_id), "open")
        mine = take(session, person)
        assert mine is not None
        assert mine.priority == 5
        other = next(row for row in slots(session) if row.priority == 0)
        session.get_one(Item, other.item_id).priority = 3  # set otherwise: the list says nothing about it
        written.write_text(written.read_text().replace("\t5\n", "\t-2\n"))
        plan = made(session, admin, listed=read_list(written), overlap=2)
        assert plan.slots == ()
        assert sorted(row.priority for row in slots(session)) == [-2, 0, 0, 5]
        assert session.get_one(Item, other.item_id).priority == 3
        assert len(made(session, admin, overlap=1).items) == 9, "the rest of the pairs can still be planned"
        data = session.scalars(select(Event.data).where(Event.what == "pairs").order_by(Event.id)).all()
        assert [(one["design"], one["roster"], len(one["list_sha256"] or "")) for one in data] == [
            ("file", False, 64), ("file", False, 64), ("all", False, 0),
        ]  # fmt: skip


def test_every_bad_line_of_a_list_is_refused_at_once_with_what_to_do(engine: Engine, tmp_path: Path) -> None:
    write_reports(tmp_path / "reports")
    lines = [
        "tides,alpha,beta,1", "tides,beta,alpha,", "tidse,alpha,beta,", "bread,alpha,delta,", "bread,beta,beta,",
        "bread,alpha,beta,high", ",alpha,beta,", "noise,alpha,gamma,",
    ]  # fmt: skip
    (tmp_path / "pairs.csv").write_text("topic,system_a,system_b,priority\n" + "\n".join(lines) + "\n")
    with transaction(engine) as session:
        admin, _ = begun(session, tmp_path / "reports")
        practice = made(session, admin).pairs
        item = session.scalars(select(Item).join(Topic, Topic.id == Item.topic_id).where(Topic.key == "noise")).all()
        alpha_gamma = next(
            one for one in item
            if {session.get_one(System, session.get_one(Report, r).system_id).key
                for r in (one.report_a_id, one.report_b_id)} == {"alpha", "gamma"}
        )  # fmt: skip
        alpha_gamma.purpose = "training"
        session.flush()
        assert len(practice) == 9
        assert len(make_plan(session, admin, design="all", overlap=1).items) == 8, "a training item is no pair to label"
        with pytest.raises(ImportingError) as caught:
            make_plan(session, admin, listed=read_list(tmp_path / "pairs.csv"), overlap=1)
    assert list(caught.value.problems) == [
        "pairs.csv:3: this pair is listed twice (first at line 2); remove one",
        "pairs.csv:4: no topic 'tidse' with a report to show (did you mean 'tides'?); correct it or remove the line",
        "pairs.csv:5: no report to show on topic 'bread' by system 'delta'; correct it, import the report, or remove "
        "the line",
        "pairs.csv:6: system 'beta' beside itself; name two systems",
        "pairs.csv:7: priority 'high' is not a whole number (higher comes first); correct it or leave it empty",
        "pairs.csv:8: topic is empty; fill it in or remove the line",
        "pairs.csv:9: these two reports are a training or attention item already; remove the line",
    ]


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("protocol", "asked", "said"),
    [
        (RATING, {"listed": True}, "a list of pairs is for pairwise_choice"),
        (PROTOCOL, {"listed": True, "per_topic": 1}, "a list says itself which pairs"),
        (PROTOCOL, {"per_topic": 1, "total": 3}, "exclude each other"),
        (PROTOCOL, {"design": "balanced"}, "say how many"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    engine: Engine, tmp_path: Path, protocol: str, asked: dict[str, Any], said: str
) -> None:
    write_reports(tmp_path / "reports")
    (tmp_path / "pairs.csv").write_text("topic,system_a,system_b\ntides,alpha,beta\n")
    if "listed" in asked:
        asked = asked | {"listed": read_list(tmp_path / "pairs.csv")}
    with transaction(engine) as session:
        admin, _ = begun(session, tmp_path / "reports", protocol)
        with pytest.raises(AnnotationError, match=said):
            make_plan(session, admin, overlap=1, **asked)


def test_a_plan_tells_its_words_hours_and_money_and_what_comes_on_top(engine: Engine, tmp_path: Path) -> None:
    with_reference(tmp_path)
    rows = "".join(f"{topic},{category}\n" for topic, category in (("tides", "sea"), ("bread", ""), ("noise", "sea")))
    (tmp_path / "topics.csv").write_text("topic,category\n" + rows)
    with transaction(engine) as session:
        admin, _ = begun(session, tmp_path, PAID, people=2)
        for report in session.scalars(select(Report)):
            report.words = 1150  # five minutes
        attention = made(session, admin, design="reference").items[0]
        session.scalars(select(Item).order_by(Item.id)).all()[0].purpose = "attention"
        session.flush()
        assert attention.topic == "bread"
        told = summary(session, admin, make_plan(session, admin, design="reference", overlap=2))
        # five pairs of two texts, two labels each: 20 texts of 1,150 words at 230 a minute are 100 minutes
        assert (told.items, told.standing_items, told.topics, told.slots, told.new_slots) == (5, 5, 3, 10, 5)
        assert told.categories == {"": 1, "sea": 4}
        assert (told.words, told.reading_hours, told.pay) == (23_000, pytest.approx(100 / 60), pytest.approx(1000 / 60))
        assert {one.system: (one.items, one.slots) for one in told.systems}["gamma"] == (5, 10)
        assert all(abs(one.left - one.right) <= 2 for one in told.systems)
        # five labels a person: two attention checks each were due, one item exists; nothing is ten items old
        assert (told.attention_shown, told.attention_items, told.retests, told.training_items) == (2, 1, 0, 0)
        few = summary(session, admin, make_plan(session, admin, design="reference", per_category=1, overlap=1))
        assert few.topics == 3, "what stands stays, also where less is asked for"
