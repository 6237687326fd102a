"""What must hold in every database, whatever was done to it: slots exact, orders kept, answers without gaps,
and everything there once that a client was told is stored.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from sqlalchemy import Select, and_, case, func, or_, orm, select, text

from annotation.items.twins import COUPLED
from annotation.judges.money.queue_rules import SHOWN, Fault, queue_rules
from annotation.planning.plan_root import root_of, study_plan
from db.people_tables import Enrollment, Packet
from db.tables import (
    HANDED_IN,
    LIVE,
    REPORT_A,
    REPORT_B,
    SLOT_SOURCES,
    Assignment,
    Criterion,
    Event,
    Item,
    Label,
    Source,
    Study,
)
from plain.hashes import text_sha256

OURS = Assignment.source.in_(SLOT_SOURCES)
Rules = dict[str, Select[*tuple[Any, ...]]]
LIVE_ROWS = func.sum(case((Assignment.status.in_(LIVE), 1), else_=0))


def find_faults(session: orm.Session) -> list[Fault]:
    """Every rule that is broken in this database, of all its studies; empty when all hold. Writes nothing."""
    found = []
    for rule, broken in (_slot_rules() | _work_rules() | _answer_rules() | queue_rules(session)).items():
        rows = session.execute(broken).all()
        if rows:
            first = (", ".join(f"{name} {value}" for name, value in row._mapping.items()) for row in rows[:SHOWN])
            found.append(Fault(rule, len(rows), tuple(first)))
    found += _changed_plans(session) + _changed_sources(session)
    return found + (_damage(session) if session.get_bind().dialect.name == "sqlite" else [])


def _slot_rules() -> Rules:
    """rule -> the rows that break it."""
    slots = (
        select(Assignment.item_id.label("item"), Assignment.slot_no.label("slot"))
        .join(Item, Item.id == Assignment.item_id)
        .where(OURS, Assignment.purpose == "label", Item.excluded_at.is_(None))
        .group_by(Assignment.item_id, Assignment.slot_no)
    )
    return {
        "every slot is open, in work or done exactly once": slots.having(LIVE_ROWS != 1),
        "a slot keeps its order when it changes hands": slots.having(
            (func.count(Assignment.left.distinct()) > 1) | (func.count(Assignment.plan_seed.distinct()) > 1)
        ),
        "two reports rated in one view share person, status and coin": _views_that_differ(),
    }


def _views_that_differ() -> Select[*tuple[Any, ...]]:
    """Of two reports rated in one view, those whose other half is not given to the same person in the same state."""
    is_first = Item.report_a_id < Item.reference_id
    page = (
        case((is_first, Item.report_a_id), else_=Item.reference_id),
        case((is_first, Item.reference_id), else_=Item.report_a_id),
        case((Assignment.left == "A", Item.report_a_id), else_=Item.reference_id),
        *(Assignment.purpose, Assignment.source, Assignment.slot_no, Assignment.pass_no, Assignment.repeat_no),
        *(Assignment.rater_id, Assignment.status),
    )
    return (
        select(func.min(Assignment.item_id).label("item"), Assignment.slot_no.label("slot"))
        .join(Item, Item.id == Assignment.item_id)
        .where(OURS, Item.kind == "report", Assignment.left.is_not(None), Assignment.purpose.in_(COUPLED))
        .group_by(*page)
        .having(func.sum(case((is_first, 1), else_=-1)) != 0)
    )


def _work_rules() -> Rules:
    """The same for who works on what."""
    packet, row = orm.aliased(Packet), select(Assignment.id.label("assignment"))
    fits = or_(Assignment.purpose == Item.purpose, Assignment.purpose.in_(("retest", "adjudicate")))
    return {
        "nobody has an item twice in one pass": (
            select(Assignment.item_id.label("item"), Assignment.rater_id.label("rater"))
            .where(Assignment.status.in_(LIVE), Assignment.rater_id.is_not(None))
            .group_by(Assignment.item_id, Assignment.purpose, Assignment.rater_id, Assignment.pass_no)
            .having(func.count() > 1)
        ),
        "items for training and attention have no label slots, and label items nothing else": (
            row.join(Item, Item.id == Assignment.item_id).where(
                or_(~fits, and_(Assignment.purpose.in_(("retest", "adjudicate")), Item.purpose != "label"))
            )
        ),
        "a retest repeats work that its person handed in": row.where(
            Assignment.purpose == "retest", Assignment.status.in_(LIVE), ~_handed_in_before().exists()
        ),
        "work in a packet belongs to the person the packet was made for": (
            row.join(packet, packet.id == Assignment.packet_id)
            .join(Enrollment, Enrollment.id == packet.enrollment_id)
            .where(or_(Enrollment.rater_id != Assignment.rater_id, packet.study_id != Assignment.study_id))
        ),
        "work that was handed in says when": row.where(
            OURS, Assignment.status.in_(HANDED_IN), Assignment.submitted_at.is_(None)
        ),
    }


def _handed_in_before() -> Select[int]:
    """The label work that a retest repeats."""
    first = orm.aliased(Assignment)
    return select(first.id).where(
        first.item_id == Assignment.item_id,
        first.slot_no == Assignment.slot_no,
        first.rater_id == Assignment.rater_id,
        first.purpose == "label",
        first.id != Assignment.id,
        first.submitted_at.is_not(None),
    )


def _answer_rules() -> Rules:
    """The same for what was answered."""
    a, b = REPORT_A, REPORT_B
    is_a_left = Assignment.left == "A"
    left = case((is_a_left, a.shown_sha256), else_=b.shown_sha256)
    right = case((is_a_left, b.shown_sha256), else_=a.shown_sha256)
    return {
        "work that was handed in holds answers": select(Assignment.id.label("assignment")).where(
            OURS,
            Assignment.status.in_(HANDED_IN),
            ~select(Label.id).where(Label.assignment_id == Assignment.id).exists(),
        ),
        "an answer about a pair stands on its two texts, each on its side": (
            select(Label.id.label("label"), Label.assignment_id.label("assignment"))
            .join(Assignment, Assignment.id == Label.assignment_id)
            .join(Item, Item.id == Assignment.item_id)
            .join(a, a.id == Item.report_a_id)
            .join(b, b.id == Item.report_b_id)
            .where(
                Assignment.source != "import",
                Item.kind == "pair",
                Assignment.left.is_not(None),
                or_(Label.left_sha256 != left, Label.right_sha256.is_(None), Label.right_sha256 != right),
            )
        ),
        "revisions of an answer are numbered 1, 2, 3 without a gap": (
            select(Label.assignment_id.label("assignment"), Label.criterion_id.label("criterion"))
            .group_by(Label.assignment_id, Label.criterion_id)
            .having(or_(func.min(Label.revision) != 1, func.max(Label.revision) != func.count()))
        ),
        "an answer belongs to a question of its own study": (
            select(Label.id.label("label"))
            .join(Assignment, Assignment.id == Label.assignment_id)
            .join(Criterion, Criterion.id == Label.criterion_id)
            .where(Criterion.study_id != Assignment.study_id)
        ),
        "a probe is checked against sources of its own study": (
            select(Item.id.label("item"))
            .join(Source, Source.id == Item.source_id)
            .where(Source.study_id != Item.study_id)
        ),
    }


def _changed_plans(session: orm.Session) -> list[Fault]:
    """Studies whose items, texts, slots and orders are no longer those whose root was kept."""
    changed = []
    for study in session.scalars(select(Study).where(Study.plan_root.is_not(None)).order_by(Study.id)):
        root = root_of(study_plan(session, study))
        if root != study.plan_root:
            changed.append(f"study {study.name}: root kept {str(study.plan_root)[:12]}, root now {root[:12]}")
    rule = "the plan of a study is the one whose root was kept"
    return [Fault(rule, len(changed), tuple(changed[:SHOWN]))] if changed else []


def _changed_sources(session: orm.Session) -> list[Fault]:
    """Sources whose text is no longer the one of their hash, which plans and labels name."""
    rows = session.execute(select(Source.id, Source.sha256, Source.text).execution_options(yield_per=50))
    changed = [f"source {number}" for number, sha256, said in rows if text_sha256(said) != sha256]
    return [Fault("sources are what their sha256 says", len(changed), tuple(changed[:SHOWN]))] if changed else []


def _damage(session: orm.Session) -> list[Fault]:
    """What SQLite itself finds wrong with its file."""
    said = [str(line) for line in session.scalars(text("PRAGMA integrity_check(5)")) if line != "ok"]
    said += [f"{row[0]} {row[1]} points nowhere" for row in session.execute(text("PRAGMA foreign_key_check"))]
    return [Fault("the file is whole", len(said), tuple(said[:SHOWN]))] if said else []


AT_ONCE = 500  # ids in one query


def acknowledged_faults(session: orm.Session, client_uuids: Iterable[str]) -> list[Fault]:
    """`client_uuids`: of answers, remarks and flags whose acknowledgement arrived. All that is missing is named."""
    asked = dict.fromkeys(client_uuids)
    times: Counter[str] = Counter()
    for some in _parts(uuid for uuid in asked if "\0" not in uuid):  # Postgres would not even look for it
        for table in (Label, Event):
            times.update(session.scalars(select(table.client_uuid).where(table.client_uuid.in_(some))))
    missing = [uuid for uuid in asked if times[uuid] == 0]
    doubled = [uuid for uuid in asked if times[uuid] > 1]
    found = {"what was acknowledged is stored": missing, "what was acknowledged is stored once": doubled}
    return [Fault(rule, len(ids), tuple(ids)) for rule, ids in found.items() if ids]


def _parts(ids: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(ids)
    while some := list(islice(rest, AT_ONCE)):
        yield some
