"""Active time: the union of the intervals a page reported, never more than the server's own clock allows."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, TypeVar

from sqlalchemy import orm, select

from annotation.items.twins import beside_by_id
from annotation.studies import codes_by_topic
from db.tables import Assignment, Event, Item, Study

CLOCK_SLACK = timedelta(seconds=5)
CHUNK = 1_000  # sends read at a time
MOST_PER_SEND = timedelta(minutes=10)  # a page sends every 15 s; one that was offline may send more, but not a day
Spent = dict[str | None, float]  # criterion (None: reading) -> seconds
T = TypeVar("T")


@dataclass(frozen=True)
class SharedSeconds:
    """Active seconds by assignment and criterion, a million of them in some ten megabytes."""

    asked: Mapping[int, Mapping[str, int]]  # topic -> place of each criterion
    spent: Mapping[int, tuple[int, Sequence[float]]]  # assignment -> topic, seconds in the places of its criteria

    def of(self, assignment: int, criterion: str) -> float | None:
        """Its own active seconds plus an equal share of the reading time; None if unknown."""
        topic, seconds = self.spent.get(assignment, (None, ()))
        place = None if topic is None else self.asked[topic].get(criterion)
        return None if place is None else seconds[place]


def seconds_by_criterion(session: orm.Session, study: Study) -> SharedSeconds:
    """What each answer took, from what the pages of the study's people reported.

    Two reports rated in one view were read at once: each has half of that reading.
    """
    beside = beside_by_id(session, study)
    topics = select(Assignment.id, Item.topic_id).join(Item, Item.id == Assignment.item_id)
    reported = select(Event.id).where(Event.assignment_id == Assignment.id, Event.kind == "activity").exists()
    topic_of = dict(session.execute(topics.where(Assignment.study_id == study.id, reported)).all())
    if beside:
        topic_of |= dict(session.execute(topics.where(Assignment.id.in_(beside))).all())
    asked = codes_by_topic(session, study, set(topic_of.values()))
    places = {topic: {code: place for place, code in enumerate(codes)} for topic, codes in asked.items()}
    found = {}
    for assignment, own in _reading_halved(_spent(session, study), beside):
        if assignment not in topic_of:
            continue  # its first send came in between the two queries
        codes = places[topic_of[assignment]]
        reading = sum(value for code, value in own.items() if code not in codes)
        seconds = array("d", (own.get(code, 0.0) + reading / len(codes) for code in codes))
        found[assignment] = topic_of[assignment], seconds
    return SharedSeconds(places, found)


def _reading_halved(spent: Iterable[tuple[int, Spent]], beside: Mapping[int, int]) -> Iterable[tuple[int, Spent]]:
    if not beside:
        return spent
    own = dict(spent)
    reading = {
        mine: own.get(mine, {}).get(None, 0.0) + own.get(twin, {}).get(None, 0.0) for mine, twin in beside.items()
    }
    known = (mine for mine, twin in beside.items() if mine in own or twin in own)
    return (own | {mine: own.get(mine, {}) | {None: reading[mine] / 2} for mine in known}).items()


def seconds_by_assignment(session: orm.Session, study: Study, rater_id: int | None = None) -> dict[int, Spent]:
    """assignment -> seconds by criterion, of one rater or of all; absent where nothing was ever reported.

    What overlaps counts once for its person, also between two items that were open at the same time.
    """
    return dict(_spent(session, study, rater_id))


def _spent(session: orm.Session, study: Study, rater_id: int | None = None) -> Iterator[tuple[int, Spent]]:
    """The same, one person after the other: only the intervals of one are in memory at a time."""
    rows = (
        select(Assignment.id, Assignment.rater_id, Assignment.taken_at, Event.data, Event.client_ts, Event.created_at)
        .join(Assignment, Assignment.id == Event.assignment_id)
        .where(Assignment.study_id == study.id, Event.kind == "activity")
        .order_by(Assignment.rater_id, Event.id)
    )
    if rater_id is not None:
        rows = rows.where(Assignment.rater_id == rater_id)
    sent = session.execute(rows.execution_options(yield_per=CHUNK))
    for _, theirs in groupby(sent, key=lambda row: row.rater_id):
        intervals: list[tuple[tuple[int, str | None], datetime, datetime]] = []
        possible: dict[int, float] = defaultdict(float)
        heard: dict[int, datetime] = {}
        for assignment, _, taken, data, client_ts, received in theirs:
            intervals += [((assignment, code), start, end) for code, start, end in _intervals(data, client_ts or "")]
            # from send to send, so that a server's clock that jumps back takes away no more than one of them
            possible[assignment] += max(0.0, (received - heard.get(assignment, taken or received)).total_seconds())
            heard[assignment] = received
        found: dict[int, Spent] = {assignment: {} for assignment in possible}
        for (assignment, code), seconds in split(intervals).items():
            found[assignment][code] = seconds
        yield from ((assignment, clamp(own, possible[assignment])) for assignment, own in found.items())


def active_seconds(session: orm.Session, study: Study, assignment: Assignment, *twin: Assignment) -> dict[str, float]:
    """{item, study}: its person's active seconds so far on this item, and on everything of theirs in the study."""
    spent = seconds_by_assignment(session, study, assignment.rater_id)
    return {
        "item": sum(sum(spent.get(part.id, {}).values()) for part in (assignment, *twin)),
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
