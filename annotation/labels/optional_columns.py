"""Optional columns of `labels.csv`: what a label of a judge took and cost, weights, items of one view, probes."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Row, func, orm, select

from annotation.items import shown, twins
from annotation.studies import protocol_of
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment
from db.tables import Criterion, Item, Study

CHUNK = 1_000
UNKNOWN = (None, None)
NEVER = 2**63  # no assignment has this number: there are no more calls
Share = tuple[float | None, float | None]  # seconds, USD


class JudgeShares:
    """Shares of a label in its calls' seconds and USD; None where one is unknown.

    Read beside the labels, in the same order: ask for assignments by rising number. So none is kept in memory.
    """

    def __init__(self, session: orm.Session, study: Study) -> None:
        self._calls = _answering(session, Judge.study_id == study.id)
        self._assignment = -1
        self._answers: Mapping[int, Row[Any]] = {}

    def of(self, assignment: int, criterion: int) -> Share:
        """(seconds, USD) of the label on `criterion`, a row's id."""
        while self._assignment < assignment:
            self._assignment, self._answers = next(self._calls, (NEVER, {}))
        call = self._answers.get(criterion) if self._assignment == assignment else None
        if call is None or not call.attempts:
            return UNKNOWN
        labels = _labels(call)
        # half a cost is not a cost
        return call.seconds / labels, call.cost / labels if call.priced == call.attempts else None


def usd_in_force(session: orm.Session, judge: Judge) -> float:
    """The known USD of the calls whose answers count now: of each label those of the call that answered it last."""
    found = _answering(session, Judge.id == judge.id)
    return sum((call.cost or 0.0) / _labels(call) for _, calls in found for call in calls.values())


def _answering(session: orm.Session, *whose: ColumnElement[bool]) -> Iterator[tuple[int, Mapping[int, Row[Any]]]]:
    """Each assignment in turn, and of each criterion the call that answered it last: its sums, and what it served."""
    mine = select(JudgeCall.id).join(Judge, Judge.id == JudgeCall.judge_id).where(*whose, JudgeCall.stress.is_(None))
    tried = (
        select(
            JudgeAttempt.call_id,
            func.sum(JudgeAttempt.seconds).label("seconds"),
            func.sum(JudgeAttempt.cost).label("cost"),
            func.count(JudgeAttempt.id).label("attempts"),
            func.count(JudgeAttempt.cost).label("priced"),
        )
        .where(JudgeAttempt.call_id.in_(mine))
        .group_by(JudgeAttempt.call_id)
        .subquery()
    )
    served = (
        select(JudgeCallAssignment.call_id, func.count().label("assignments"))
        .where(JudgeCallAssignment.call_id.in_(mine))
        .group_by(JudgeCallAssignment.call_id)
        .subquery()
    )
    rows = (
        select(JudgeCallAssignment.assignment_id, JudgeCall.criteria, tried, served.c.assignments)
        .join(JudgeCall, JudgeCall.id == JudgeCallAssignment.call_id)
        .outerjoin(tried, tried.c.call_id == JudgeCall.id)
        .join(served, served.c.call_id == JudgeCall.id)
        .where(JudgeCall.outcome.is_distinct_from("stale"))  # it left no label
        .order_by(JudgeCallAssignment.assignment_id, JudgeCall.done_at.nulls_first(), JudgeCall.id)
    )
    in_turn = groupby(session.execute(rows.execution_options(yield_per=CHUNK)), key=lambda row: int(row.assignment_id))
    for assignment, calls in in_turn:
        yield assignment, {criterion: call for call in calls for criterion in call.criteria}


def _labels(call: Row[Any]) -> int:
    return max(1, int(call.assignments) * len(call.criteria))


def settings_tried(session: orm.Session, study: Study) -> dict[str, int]:
    """Judge -> with how many settings, its prompt among them, it has answered; only where these are several.

    Later ones replace the answers of earlier ones, which were tried all the same. Stress tests and what `align` tries
    on topics that it may see are no answers of the study.
    """
    rows = (
        select(Judge.name, func.count(JudgeCall.config_id.distinct()))
        .join(JudgeCall, JudgeCall.judge_id == Judge.id)
        .where(Judge.study_id == study.id, JudgeCall.state == "done", JudgeCall.stress.is_(None))
        .group_by(Judge.name)
    )
    return {judge: count for judge, count in session.execute(rows) if count > 1}


def weights_of(session: orm.Session, study: Study) -> dict[int, float]:
    """Row of a criterion still asked -> its weight; empty where all weigh 1."""
    rows = select(Criterion.id, Criterion.weight).where(Criterion.study_id == study.id, Criterion.retired_at.is_(None))
    weights = {row.id: row.weight for row in session.execute(rows)}
    return weights if any(weight != 1 for weight in weights.values()) else {}


def items_beside(session: orm.Session, study: Study) -> dict[int, str]:
    """Item -> the item that is rated in the same view: its report is this one's reference, and the other way round."""
    return {item: shown.item_code(twin) for item, twin in twins.twin_items(session, study).items()}


def first_of_claims(session: orm.Session, study: Study) -> dict[int, str]:
    """Probe -> the first of the probes that put its text to the same report, each with a source of its own; only those.

    By text alone: of two pages that could not be fetched neither has any. Where raters read the report and no sources,
    probes of one text are no sources of one claim.
    """
    if protocol_of(study).answers.context == "report":
        return {}
    rows = session.execute(
        select(Item.id, Item.topic_id, Item.report_a_id, Item.probe)
        .where(Item.study_id == study.id, Item.kind == "probe", Item.purpose == "label")
        .order_by(Item.id)
    )
    claims: dict[tuple[int, int | None, str | None], list[int]] = defaultdict(list)
    for item, topic, report, probe in rows:
        claims[topic, report, probe].append(item)
    return {item: shown.item_code(items[0]) for items in claims.values() if len(items) > 1 for item in items}
