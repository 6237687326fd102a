"""What a person is given between the items: one of their own again, for self-agreement, and attention items.

Both follow from the study's seed and the person alone, never from the hour of the day, so that their number is known
before they come. Neither is a slot: their assignments are made when they are given out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select, orm, select

from annotation.designs import pairing, sides_and_orders
from annotation.items.twins import once_a_page, twin_item
from annotation.open_work.quotas import RATER, may_be_shown
from annotation.studies import audit, built_once, protocol_of
from db import connect, types
from db.tables import ATTENTION, LIVE, Assignment, Item, Study
from plain.hashes import identity_digest

RETEST_AFTER = timedelta(hours=24)  # too long to remember the answers
RETEST_AFTER_ITEMS = 10
GIVEN = ("attention", "retest")


HAD: tuple[Any, ...] = (
    Assignment.id, Assignment.item_id, Assignment.purpose, Assignment.status, Assignment.slot_no, Assignment.left,
    Assignment.submitted_at,
)  # fmt: skip
Had = Row[Any]  # of these columns
ALIKE = (
    "study_id", "rater_id", "purpose", "slot_no", "pass_no", "repeat_no", "criteria_order", "plan_seed", "status",
    "taken_at", "active_at",
)  # fmt: skip


@dataclass(frozen=True)
class Own:
    """A person's work in a study so far, in the order it was taken; voided work is not among it."""

    handed_in: tuple[Had, ...]  # label work that was handed in at least once
    attention: tuple[Had, ...]
    retests: tuple[Had, ...]
    last: Had | None


def take_due(session: orm.Session, study: Study, rater_id: int, enrollment_id: int) -> Assignment | None:
    """The retest or attention item this person is to get now, taken; None when none is due."""
    protocol = protocol_of(study).study
    own = own_so_far(session, study, rater_id)
    again = _retest_due(session, own, repeats(own, study, rater_id))
    if again is not None:
        left = _side(study.seed, "retest", rater_id, len(own.retests), again.left)
        made = Assignment(
            item_id=again.item_id, purpose="retest", slot_no=again.slot_no, pass_no=2, repeat_no=2, left=left
        )
        twin = twin_item(session, session.get_one(Item, again.item_id)) if left is not None else None
        taken = _taken(session, study, rater_id, made)
        if twin is not None:
            _along(session, taken, twin)
        return taken
    is_behind = len(own.attention) < attention_by(study.seed, rater_id, protocol.attention.every, len(own.handed_in))
    if not is_behind or (own.last is not None and own.last.purpose == "attention"):
        return None
    unseen = _unseen(session, study, own)
    if not unseen:
        return None
    drawn = min(unseen, key=lambda candidate: identity_digest(study.seed, "attention", rater_id, candidate))
    item = session.get_one(Item, drawn)
    left = _side(study.seed, "attention", rater_id, len(own.attention), "A") if item.kind == "pair" else None
    made = Assignment(item_id=item.id, purpose="attention", slot_no=enrollment_id, left=left)
    return _taken(session, study, rater_id, made)


def still_due(session: orm.Session, study: Study, rater_id: int, items: int) -> int:
    """How many retests and attention items are still to come for somebody who labels `items` items in all."""
    protocol = protocol_of(study).study
    retests = retests_of(items, protocol.retest_share)
    wanted = attention_by(study.seed, rater_id, protocol.attention.every, items)
    if not retests and not wanted:
        return 0
    own = own_so_far(session, study, rater_id)
    unseen = len(_unseen(session, study, own)) if wanted > len(own.attention) else 0
    return max(0, retests - len(own.retests)) + min(max(0, wanted - len(own.attention)), unseen)


def waits_until(session: orm.Session, study: Study, rater_id: int) -> datetime | None:
    """When the next retest is ready, where it and others like it are all that is due; None otherwise."""
    own = own_so_far(session, study, rater_id)
    every = protocol_of(study).study.attention.every
    is_behind = attention_by(study.seed, rater_id, every, len(own.handed_in)) > len(own.attention)
    if is_behind and _unseen(session, study, own):
        return None
    ready = min(
        (_ready_at(repeat) for repeat in repeats(own, study, rater_id) if not _was_repeated(own, repeat)), default=None
    )
    return ready if ready is not None and ready > types.now() else None


def own_so_far(session: orm.Session, study: Study, rater_id: int) -> Own:
    """What this person had so far: one query."""
    rows = connect.rows_of(session, _had(study), {"rater": rater_id})
    labels = (row for row in rows if row.purpose == "label" and row.status in LIVE and row.submitted_at is not None)
    attention, retests = (tuple(row for row in rows if row.purpose == purpose) for purpose in GIVEN)
    return Own(tuple(labels), attention, retests, rows[-1] if rows else None)


@built_once
def _had(study: Study) -> Select[*tuple[Any, ...]]:
    ours = Assignment.purpose.in_(("label", *GIVEN)), Assignment.status != "void", *once_a_page(study)
    mine = select(*HAD).where(Assignment.study_id == study.id, Assignment.rater_id == RATER, *ours)
    return mine.order_by(Assignment.taken_at, Assignment.id)


def retests_of(items: int, share: float) -> int:
    """How many of a person's `items` come again: their share, but only items with ten others after them."""
    return max(0, min(math.floor(items * share + 1e-9), items - RETEST_AFTER_ITEMS))


def repeats(own: Own, study: Study, rater_id: int) -> list[Had]:
    """Which of the items handed in so far come again, in the order that was decided.

    Each is drawn as soon as the share calls for one, among those with ten items after them.
    """
    share = protocol_of(study).study.retest_share
    draw = {work.id: identity_digest(study.seed, "retest", rater_id, work.item_id) for work in own.handed_in}
    chosen: list[Had] = []
    for items in range(len(own.handed_in) + 1):
        while len(chosen) < retests_of(items, share):
            old = [work for work in own.handed_in[: items - RETEST_AFTER_ITEMS] if work not in chosen]
            chosen.append(min(old, key=lambda work: draw[work.id]))
    return chosen


def attention_by(seed: int, rater_id: int, every: int, items: int) -> int:
    """How many attention items belong to a person's first `items` items: one in each `every`, at a drawn place."""
    whole, rest = divmod(items, every)
    return whole + (pairing.seeded(seed, "attention", rater_id, whole).randint(1, every) <= rest)


def _retest_due(session: orm.Session, own: Own, chosen: Sequence[Had]) -> Had | None:
    for again in chosen:
        is_ready = again.status == "submitted" and _ready_at(again) <= types.now()
        if is_ready and not _was_repeated(own, again) and not _has_retest(session, again):
            return again
    return None


def _ready_at(had: Had) -> datetime:
    at: datetime = had.submitted_at
    return at + RETEST_AFTER


def _was_repeated(own: Own, had: Had) -> bool:
    return any(retest.item_id == had.item_id for retest in own.retests)


def _has_retest(session: orm.Session, had: Had) -> bool:
    """Whether somebody who had this slot before was given it a second time too."""
    same = select(Assignment.id).where(
        Assignment.item_id == had.item_id,
        Assignment.purpose == "retest",
        Assignment.slot_no == had.slot_no,
        Assignment.status.in_(LIVE),
    )
    return session.scalar(same.limit(1)) is not None


def _unseen(session: orm.Session, study: Study, own: Own) -> list[int]:
    """Attention items this person did not have yet."""
    items = connect.rows_of(session, _attention_items(study))
    return sorted({row.id for row in items} - {check.item_id for check in own.attention})


@built_once
def _attention_items(study: Study) -> Select[int]:
    shown = may_be_shown(study, protocol_of(study))
    return select(Item.id).where(Item.study_id == study.id, ATTENTION, *shown)


def _taken(session: orm.Session, study: Study, rater_id: int, made: Assignment) -> Assignment:
    made.study_id, made.rater_id, made.plan_seed = study.id, rater_id, study.seed
    made.status, made.taken_at, made.active_at = "taken", types.now(), types.now()
    topic = session.get_one(Item, made.item_id).topic_id
    made.criteria_order = sides_and_orders.CriteriaOrders(session, study).draw(
        topic, made.item_id, made.purpose, rater_id
    )
    session.add(made)
    session.flush()
    audit(session, study.id, rater_id, "take", assignment=made.id)
    return made


def _along(session: orm.Session, taken: Assignment, twin: Item) -> None:
    """The report beside is rated again with it."""
    same = {name: getattr(taken, name) for name in ALIKE}
    session.add(Assignment(item_id=twin.id, left=sides_and_orders.OTHER[taken.left or ""], **same))
    session.flush()


def _side(seed: int, what: str, rater_id: int, number: int, left: str | None) -> str | None:
    """Who stands left in the `number`th: in every two, one keeps `left` and the other is swapped."""
    if left is None:
        return None
    keeps = pairing.seeded(seed, what, "sides", rater_id, number // 2).random() < 0.5
    return left if keeps == (number % 2 == 0) else sides_and_orders.OTHER[left]
