"""Active time: the union of the intervals a page reported, never more than the server's own clock allows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.studies import codes_by_topic
from db.tables import Assignment, Event, Item, Study

CLOCK_SLACK = timedelta(seconds=5)
MOST_PER_SEND = timedelta(minutes=10)  # a page sends every 15 s; one that was offline may send more, but not a day
Spent = dict[str | None, float]  # criterion (None: reading) -> seconds
T = TypeVar("T")


def seconds_by_criterion(session: Session, study: Study) -> dict[tuple[int, str], float]:
    """(assignment, criterion) -> its own active seconds plus an equal share of the reading time; absent if unknown."""
    spent = seconds_by_assignment(session, study)
    topics = dict(
        session.execute(
            select(Assignment.id, Item.topic_id)
            .join(Item, Item.id == Assignment.item_id)
            .where(Assignment.study_id == study.id)
        ).all()
    )
    asked = codes_by_topic(session, study, {topics[assignment] for assignment in spent})
    seconds: dict[tuple[int, str], float] = {}
    for assignment, own in spent.items():
        codes = asked[topics[assignment]]
        reading = sum(value for code, value in own.items() if code not in codes)
        for code in codes:
            seconds[assignment, code] = own.get(code, 0.0) + reading / len(codes)
    return seconds


def seconds_by_assignment(session: Session, study: Study, rater_id: int | None = None) -> dict[int, Spent]:
    """assignment -> seconds by criterion, of one rater or of all; absent where nothing was ever reported.

    What overlaps counts once for its person, also between two items that stood open at the same time.
    """
    rows = (
        select(Assignment.id, Assignment.rater_id, Assignment.taken_at, Event.data, Event.client_ts, Event.created_at)
        .join(Assignment, Assignment.id == Event.assignment_id)
        .where(Assignment.study_id == study.id, Event.kind == "activity")
        .order_by(Event.created_at)
    )
    if rater_id is not None:
        rows = rows.where(Assignment.rater_id == rater_id)
    sent: dict[int | None, list[tuple[tuple[int, str | None], datetime, datetime]]] = defaultdict(list)
    possible: dict[int, float] = {}
    for assignment, rater, taken, data, client_ts, received in session.execute(rows):
        sent[rater] += [((assignment, code), start, end) for code, start, end in _intervals(data, client_ts or "")]
        possible[assignment] = (received - taken).total_seconds() if taken else 0.0
    found: dict[int, Spent] = {assignment: {} for assignment in possible}
    for intervals in sent.values():
        for (assignment, code), seconds in split(intervals).items():
            found[assignment][code] = seconds
    return {assignment: clamp(own, possible[assignment]) for assignment, own in found.items()}


def active_seconds(session: Session, study: Study, assignment: Assignment) -> dict[str, float]:
    """{item, study}: its person's active seconds so far on this item, and on everything of theirs in the study."""
    spent = seconds_by_assignment(session, study, assignment.rater_id)
    return {
        "item": sum(spent.get(assignment.id, {}).values()),
        "study": sum(sum(seconds.values()) for seconds in spent.values()),
    }


def clamp(spent: Spent, possible: float) -> Spent:
    """The same shares, but no more seconds in all than passed on the server: a browser's clock is never trusted."""
    total = sum(spent.values())
    return spent if total <= possible else {code: value * max(possible, 0.0) / total for code, value in spent.items()}


def split(intervals: Iterable[tuple[T, datetime, datetime]]) -> dict[T, float]:
    """Seconds per first member, such as a criterion. Overlaps, as from two tabs, count once, for the earlier begun."""
    spent: dict[T, float] = defaultdict(float)
    until: datetime | None = None
    for whose, start, end in sorted(intervals, key=lambda interval: (interval[1], interval[2])):
        begin = max(start, until) if until else start
        if end > begin:
            spent[whose] += (end - begin).total_seconds()
            until = end
    return dict(spent)


def _intervals(data: dict[str, Any], client_ts: str) -> list[tuple[str | None, datetime, datetime]]:
    """The intervals of one send that agree with the same clock's time of sending and are not absurdly long."""
    found = []
    for entry in data.get("intervals", []):
        try:
            start, end, sent = (datetime.fromisoformat(text) for text in (entry["start"], entry["end"], client_ts))
        except ValueError:
            continue
        if start.tzinfo is None or end.tzinfo is None or sent.tzinfo is None or end - sent > CLOCK_SLACK:
            continue
        if timedelta(0) < end - start <= MOST_PER_SEND:
            found.append((entry.get("criterion"), start, end))
    return found
